"""What all parts of `follow.Follower` share: its state, its tables and how a source may end."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from kb_import.launch import Launch
from kb_import.symbols import Extension, Layer, Scalar, Untranslatable, Weight

OPERATORS = "uses torch operators"
DERIVED = "its weights are not upstream's"
PYTHON = "Python that is not understood"
LAYOUT = "keeps tensors channels-last"
STREAMS = "uses streams of its own"
NO_EXTENSION = "makes no extension of one CUDA source"
TRITON = "uses Triton"
AUTOTUNING = "chooses a kernel by measuring"
BINDING = "calls what the extension cannot bind"

NOTHING = object()  # what a class without an attribute has

MOST_STEPS = 200_000
MOST_DEPTH = 60
MOST_ITEMS = 256
MOST_STEPS_OF_SIZES = 16

LAYERS = {
    "Conv1d": 1, "Conv2d": 2, "Conv3d": 3,
    "ConvTranspose1d": 1, "ConvTranspose2d": 2, "ConvTranspose3d": 3,
    "Linear": 0, "BatchNorm1d": 0, "BatchNorm2d": 0, "BatchNorm3d": 0,
    "GroupNorm": 0, "LayerNorm": 0, "InstanceNorm1d": 0, "InstanceNorm2d": 0, "InstanceNorm3d": 0,
}  # fmt: skip
CREATE = ("empty", "zeros", "ones", "full", "rand", "randn")
CREATE_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like")
NEW = {"empty", "zeros", "ones", "full"}
TYPES = {
    "float32": "at::kFloat", "float": "at::kFloat", "float64": "at::kDouble",
    "double": "at::kDouble", "int32": "at::kInt", "int": "at::kInt", "int64": "at::kLong",
    "long": "at::kLong", "bool": "at::kBool", "float16": "at::kHalf", "half": "at::kHalf",
    "bfloat16": "at::kBFloat16", "uint8": "at::kByte", "int8": "at::kChar",
}  # fmt: skip
EXISTING = {"torch.cuda.amp", "torch.channels_last", "torch.channels_last_3d", "torch.compile",
             "torch.backends.cudnn", "torch.backends.cuda", "torch.cuda.synchronize"}  # fmt: skip
PROPERTIES = {"multi_processor_count": "multiProcessorCount", "major": "major", "minor": "minor",
               "max_threads_per_multi_processor": "maxThreadsPerMultiProcessor",
               "shared_memory_per_block": "sharedMemPerBlock"}  # fmt: skip
N_TUPLES = {"_single": 1, "_pair": 2, "_triple": 3, "_quadruple": 4}
LOADERS = ("load_inline", "load")
SAME = ("contiguous", "cuda", "float", "detach", "to", "clone", "type", "requires_grad_", "data")
ARITHMETIC: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv), ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod), ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift), ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_), ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
}  # fmt: skip
COMPARISONS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq), ast.NotEq: ("!=", operator.ne), ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le), ast.Gt: (">", operator.gt), ast.GtE: (">=", operator.ge),
}  # fmt: skip


class Returned(Exception):
    """A return statement with its value."""

    def __init__(self, value: Any):
        self.value = value


class Raised(Exception):
    """A raise statement of the source."""


class Loop(Exception):
    """break, or continue if `again`."""

    def __init__(self, again: bool):
        self.again = again


_CONV = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups",
         "bias")  # fmt: skip
_CONV_TRANSPOSED = ("in_channels", "out_channels", "kernel_size", "stride", "padding",
                    "output_padding", "groups", "bias", "dilation")  # fmt: skip
PARAMETERS = {
    **{f"Conv{n}d": _CONV for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": _CONV_TRANSPOSED for n in (1, 2, 3)},
    "Linear": ("in_features", "out_features", "bias"),
    **{f"BatchNorm{n}d": ("num_features", "eps", "momentum", "affine") for n in (1, 2, 3)},
    **{f"InstanceNorm{n}d": ("num_features", "eps", "momentum", "affine") for n in (1, 2, 3)},
    "GroupNorm": ("num_groups", "num_channels", "eps", "affine"),
    "LayerNorm": ("normalized_shape", "eps", "elementwise_affine", "bias"),
}
DEFAULTS = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "output_padding": 0, "eps": 1e-5,
             "momentum": 0.1}  # fmt: skip


def argument_of(layer: Layer, name: str, default: Any = None) -> Any:
    """What __init__ of a layer of torch.nn got for a parameter."""
    names = PARAMETERS.get(layer.kind, ())
    if name in names and names.index(name) < len(layer.arguments):
        return layer.arguments[names.index(name)]
    return layer.keywords.get(name, default)


def known_sizes(shape: list[Any]) -> tuple[Any, ...]:
    """A shape at the source's own sizes."""
    return tuple(v.value if isinstance(v, Scalar) else v for v in shape)


def kind_of(what: str) -> str:
    """Under which heading something counts that launch() cannot do."""
    if "triton" in what:
        return TRITON
    if "cupy" in what:
        return NO_EXTENSION
    if "cuda.Stream" in what or "CUDAGraph" in what or "cuda.Event" in what:
        return STREAMS
    if what.startswith("torch.") and ("jit" in what or "_C" in what):
        return NO_EXTENSION
    return OPERATORS if what.startswith(("torch", "nn.")) else PYTHON


class State:
    """What is known at a place of one way through the source."""

    def __init__(
        self, launch: Launch, signatures: Callable[[Extension], Any], decisions: list[bool]
    ):
        self.launch = launch
        self.signatures = signatures
        self.given = decisions
        self.taken: list[tuple[Scalar, bool, int]] = []
        """Conditions, which branch, and how many statements came before."""
        self.statements: list[str] = []
        self.known: dict[str, bool] = {}
        self.weights: dict[str, str] = {}
        """Paths of the weights that are used -> C++ that makes them tensors."""
        self.extensions: list[Extension] = []
        self.called: set[str] = set()
        self.files: dict[str, str] = {}
        self.registered: list[Weight] = []
        """Weights in the order in which the model gets them."""
        self.notes: list[str] = []
        self.globals: dict[str, Any] = {}
        self.in_forward = False
        self.steps = 0
        self.depth = 0
        self.names = 0

    def variable(self) -> str:
        """A new name of C++ for a tensor."""
        self.names += 1
        return f"kb_t{self.names - 1}"

    def note(self, text: str) -> None:
        """Something to know about the kernel, said once."""
        if text not in self.notes:
            self.notes.append(text)

    def tick(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Untranslatable(PYTHON, f"more than {MOST_STEPS} steps")
