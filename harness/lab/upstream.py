"""Upstream's modules at our sizes, for tools that hold our references against them.

How upstream's module gets our sizes: each is assigned in place of upstream's constant of that
name, or passed as a parameter of Model, or stands for a literal that upstream's functions assign to
that name or pass by it. What has no such place (`width_div`, sizes of images) changes layers: a
width n becomes n / width_div, except num_classes and what a layer reads, which forward() checks;
a width that equals a size's default becomes that size. What is an input here and not upstream is
set as the attribute of its name, or given to forward() in place of what it draws (torch.randn,
dropout). Buffers that our reference reads must hold upstream's values; integers, which it never
reads, stay upstream's own.
"""

import ast
import contextlib
import inspect
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

THREADS = 2
BUILD_IT = "build it with: cmake --build --preset cpu --target kb_reference"
CLASSES = ("num_classes", "output_classes")  # outputs that width_div leaves alone
PARAMETERS = {"image_size": "img_size"}  # of Model, where it calls a constant by another name

Sizes = dict[str, Any]


class Different(Exception):
    """Upstream's module and our task differ in more than values, or cannot be compared."""


def import_torch():
    """Returns torch and safetensors' load_file, or ends with the remedy."""
    try:
        import torch
        from safetensors.torch import load_file
    except ImportError as error:
        sys.exit(
            f"{sys.executable} has no complete PyTorch ({error}); "
            "use a Python with: pip install torch numpy safetensors einops"
        )
    return torch, load_file


def call(program: pathlib.Path, *words: object) -> str:
    """Runs kb_reference and returns what it prints. It says itself what is wrong."""
    try:
        done = subprocess.run(
            [str(program), *map(str, words)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": str(THREADS)},
        )
    except OSError as error:
        sys.exit(
            f"cannot run {program} ({error.strerror}); {BUILD_IT}, or name it with --reference"
        )
    if done.returncode != 0:
        sys.exit(f"{program} ended with status {done.returncode}")
    return done.stdout


# ---- Sizes ----


def size_text(value: Any) -> str:
    """As kb_reference takes it."""
    if isinstance(value, list):
        return ",".join(map(size_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def size_value(text: str, like: Any) -> Any:
    """The reverse. kb_reference refuses what is wrong."""
    if isinstance(like, list):
        return [size_value(part, like[0]) for part in text.split(",")]
    if isinstance(like, bool):
        return text == "true"
    try:
        return type(like)(text)
    except ValueError:
        sys.exit(f"--size takes {type(like).__name__}, not '{text}'")


def chosen_sets(described: dict[str, Any], settings: list[str]) -> dict[str, Sizes]:
    """Both sets of the task, or the one that was asked for."""
    if not settings:
        return described["sets"]
    sizes = dict(described["sets"]["smoke"])
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in sizes:
            sys.exit(f"--size takes NAME=VALUE with a NAME of {', '.join(sizes)}, not '{setting}'")
        sizes[name] = size_value(text, sizes[name])
    return {"given": sizes}


# ---- Upstream's module ----


def upstream_file(checkout: pathlib.Path, task: str) -> pathlib.Path:
    """A task's number names upstream's file."""
    level, slug = task.split("/")
    pattern = f"KernelBench/{level}/{int(slug[:3])}_*.py"
    found = list(checkout.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{checkout} has {len(found)} files {pattern}; name a checkout of KernelBench")
    return found[0]


def in_form_of(ours: Any, theirs: Any) -> Any:
    """Our size, as a tuple if upstream has one."""
    return tuple(ours) if isinstance(ours, list) and isinstance(theirs, tuple) else ours


def assigned_names(statement: ast.stmt) -> set[str]:
    """What an assignment assigns to; nothing if it is none."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return set()
    nodes = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}


def constructor_parameters(tree: ast.Module) -> set[str]:
    """What Model.__init__ takes."""
    models = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Model"]
    parts = [part for model in models for part in model.body if isinstance(part, ast.FunctionDef)]
    taken = [part.args for part in parts if part.name == "__init__"]
    return {p.arg for args in taken for p in (*args.args, *args.kwonlyargs)} - {"self"}


def replace_literals(tree: ast.Module, sizes: Sizes, defaults: Sizes) -> set[str]:
    """Puts our sizes where a function names a literal so that is the default. Returns which."""
    replaced = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif isinstance(node, ast.keyword):
            name = node.arg
        else:
            continue
        with contextlib.suppress(ValueError):
            theirs = ast.literal_eval(node.value)
            if name in sizes and theirs == in_form_of(defaults[name], theirs):
                text = repr(in_form_of(sizes[name], theirs))
                node.value = ast.parse(text, mode="eval").body
                replaced.add(name)
    return replaced


class Upstream:
    """Upstream's module at our sizes."""

    def __init__(self, torch, path: pathlib.Path, sizes: Sizes, defaults: Sizes) -> None:
        """Runs upstream's file with our sizes in place of its own, and makes its Model."""
        self.torch = torch
        self.sizes = sizes
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = set().union(*map(assigned_names, tree.body)) & sizes.keys()
        taken = constructor_parameters(tree)
        names = {k: k if k in taken else PARAMETERS.get(k) for k in sizes}
        parameters = {k: name for k, name in names.items() if name in taken}
        elsewhere = {k: v for k, v in sizes.items() if k not in constants | parameters.keys()}
        placed = constants | parameters.keys() | replace_literals(tree, elsewhere, defaults)
        self.unplaced = {k: (defaults[k], v) for k, v in sizes.items() if k not in placed}
        # get_inputs() knows constants; what is a parameter alone it writes as a number.
        self.literals = [(defaults[k], sizes[k]) for k in parameters.keys() - constants]
        self.scope = self.execute(ast.fix_missing_locations(tree), path)
        torch.manual_seed(0)
        signature = inspect.signature(self.scope["Model"])
        arguments = signature.bind(*self.scope["get_init_inputs"]())
        for size, name in parameters.items():
            theirs = arguments.arguments.get(name, signature.parameters[name].default)
            # A constant that upstream does not pass still stands for a parameter with its value.
            unpassed = name not in arguments.arguments
            same = theirs == in_form_of(defaults[size], theirs)
            if size not in constants or (unpassed and same):
                arguments.arguments[name] = in_form_of(sizes[size], theirs)
        self.model = self.scope["Model"](*arguments.args, **arguments.kwargs)

    def execute(self, tree: ast.Module, path: pathlib.Path) -> dict[str, Any]:
        """Statement by statement, so that what follows from a constant is computed from ours."""
        scope: dict[str, Any] = {"__name__": "upstream"}
        for statement in tree.body:
            code = compile(ast.Module([statement], []), str(path), "exec")
            exec(code, scope)
            for name in assigned_names(statement) & self.sizes.keys():
                scope[name] = in_form_of(self.sizes[name], scope[name])
        return scope

    def load(self, state: dict[str, Any], constants: set[str]) -> None:
        """Gives the Model our weights. Names and shapes must be the same, and values of constants.

        Constants are buffers that our reference reads: upstream computes them from the sizes.
        """
        self.change_widths(state)
        own = self.model.state_dict()
        problems = [f"we lack {name}" for name in own.keys() - state.keys()]
        problems += [f"upstream lacks {name}" for name in state.keys() - own.keys()]
        problems += [
            f"{name} is {list(state[name].shape)}, upstream's is {list(own[name].shape)}"
            for name in own.keys() & state.keys()
            if own[name].shape != state[name].shape
        ]
        problems += [
            f"{name} has other values than upstream's"
            for name in constants & own.keys() & state.keys()
            if own[name].shape == state[name].shape and not own[name].allclose(state[name])
        ]
        if problems:
            more = f"; and {len(problems) - 6} more" if len(problems) > 6 else ""
            raise Different("weights differ: " + "; ".join(sorted(problems)[:6]) + more)
        floats = {name: value for name, value in state.items() if value.is_floating_point()}
        self.model.load_state_dict(own | floats)

    # ---- Widths that are literals ----

    def change_widths(self, state: dict[str, Any]) -> None:
        """Gives layers the widths that our sizes without a place of their own ask for."""
        nn = self.torch.nn
        for name, layer in self.model.named_modules():
            ours = state.get(f"{name}.weight")
            if not self.unplaced or ours is None or ours.shape == layer.weight.shape:
                continue
            if isinstance(layer, nn.modules.batchnorm._BatchNorm):
                self.resize(layer, ours.shape)
                layer.num_features = ours.shape[0]
            elif isinstance(layer, nn.LayerNorm):
                self.resize(layer, ours.shape)
                layer.normalized_shape = tuple(ours.shape)
            elif isinstance(layer, nn.Linear):
                before, after = layer.weight.shape, ours.shape
                self.check_width(name, before[::-1], after[::-1])
                self.resize(layer, after)
                layer.out_features, layer.in_features = after
            elif isinstance(layer, nn.modules.conv._ConvNd):
                self.change_convolution(name, layer, ours)

    def change_convolution(self, name: str, layer: Any, ours: Any) -> None:
        """Groups that are as many as channels stay so."""
        before = (layer.in_channels, layer.out_channels)
        if ours.dim() != layer.weight.dim():
            return  # the caller tells
        own, other = ours.shape[:2]
        groups = own if layer.groups == layer.in_channels > 1 else layer.groups
        if layer.groups == layer.in_channels > 1 and not layer.transposed:
            groups = own * before[0] // before[1]
        after = (own, other * groups) if layer.transposed else (other * groups, own)
        self.check_width(name, before, after)
        self.resize(layer, (own, other, *layer.weight.shape[2:]), after[1])
        layer.in_channels, layer.out_channels = after
        layer.groups = groups

    def check_width(self, name: str, before: tuple[int, int], after: tuple[int, int]) -> None:
        """Whether a layer may write so many channels where upstream's writes others.

        What it reads need not be a quotient (a sum of quotients is less than that of the sum), and
        a width that upstream computes from it is in proportion.
        """
        full, ours = before[1], after[1]
        divisor = self.sizes.get("width_div", 1)
        allowed = {full} if full in [self.sizes.get(name) for name in CLASSES] else set()
        allowed |= {value for default, value in self.unplaced.values() if default == full}
        if not allowed:
            allowed = {full // divisor, after[0] * full // before[0]}
        if ours not in allowed:
            wanted = " or ".join(map(str, sorted(allowed)))
            raise Different(f"{name} writes {ours} channels; {wanted} was to be expected")

    def resize(self, layer: Any, shape: tuple[int, ...], width: int | None = None) -> None:
        """Makes room for a weight of this shape; the rest has `width` values, or its first."""
        empty, parameter = self.torch.empty, self.torch.nn.Parameter
        layer.weight = parameter(empty(tuple(shape)))
        rest = shape[:1] if width is None else (width,)
        if isinstance(layer, self.torch.nn.LayerNorm):
            rest = shape
        if getattr(layer, "bias", None) is not None:
            layer.bias = parameter(empty(tuple(rest)))
        for name in ("running_mean", "running_var"):
            if getattr(layer, name, None) is not None:
                setattr(layer, name, empty(tuple(rest)))

    # ---- Inputs ----

    def run(
        self,
        inputs: list[tuple[str, Any]],
        watch: contextlib.AbstractContextManager[Any] | None = None,
    ) -> list[Any]:
        """Outputs of forward() for our inputs, by name and in order, called while `watch` holds."""
        arguments, further = self.arguments(inputs)
        masks, drawn = [], []
        for name, tensor in further:
            kept = getattr(self.model, name, None)
            if isinstance(kept, self.torch.Tensor):
                if kept.shape != tensor.shape:
                    raise Different(
                        f"{name} is {list(tensor.shape)}, upstream's is {list(kept.shape)}"
                    )
                setattr(self.model, name, tensor)
            else:
                (masks if tensor.dtype == self.torch.bool else drawn).append((name, tensor))
        with self.torch.no_grad(), self.instead_of_draws(masks, drawn):
            try:
                with watch or contextlib.nullcontext():
                    results = self.model(*arguments)
            except (RuntimeError, IndexError, TypeError, ValueError, AssertionError) as error:
                raise Different(f"upstream's module cannot run: {error}") from error
        if masks or drawn:
            names = ", ".join(name for name, _ in masks + drawn)
            raise Different(f"upstream draws nothing like the input {names}: compare by hand")
        return list(results) if isinstance(results, tuple | list) else [results]

    def arguments(self, inputs: list[tuple[str, Any]]) -> tuple[list[Any], list[tuple[str, Any]]]:
        """What forward() takes, and the inputs that are left over."""
        with self.torch.device("meta"):  # of which only the shapes matter
            arguments = list(self.scope["get_inputs"]())
        left = list(inputs)
        fixed = self.unplaced.keys() <= {"width_div"}
        for i, theirs in enumerate(arguments):
            if not isinstance(theirs, self.torch.Tensor):
                continue  # a number, which is one of our sizes
            if not left:
                raise Different("upstream has more inputs")
            name, ours = left.pop(0)
            fits = all(a == b or (b, a) in self.literals for a, b in zip(ours.shape, theirs.shape))
            if ours.dim() != theirs.dim() or (fixed and not fits):
                raise Different(f"{name} is {list(ours.shape)}, upstream's is {list(theirs.shape)}")
            arguments[i] = ours if ours.is_floating_point() else ours.to(theirs.dtype)
        return arguments, left

    @contextlib.contextmanager
    def instead_of_draws(
        self, masks: list[tuple[str, Any]], drawn: list[tuple[str, Any]]
    ) -> Iterator[None]:
        """While this holds, torch.randn and dropout take our tensors, until there are none left."""
        torch = self.torch
        randn, dropout = torch.randn, torch.nn.functional.dropout

        def given(*shape, **options):
            if not drawn:
                raise Different("upstream draws more from torch.randn than we have as inputs")
            name, tensor = drawn.pop(0)
            wanted = shape[0] if shape and not isinstance(shape[0], int) else shape
            if tuple(options.get("size", wanted)) != tensor.shape:
                raise Different(f"{name} is {list(tensor.shape)}, upstream draws {list(wanted)}")
            return tensor

        def masked(x, p=0.5, training=True, inplace=False):
            if p == 0 or not training:
                return dropout(x, p, training, inplace)
            if not masks:
                raise Different("upstream drops more than we have masks as inputs")
            name, mask = masks.pop(0)
            if mask.shape != x.shape:
                raise Different(f"{name} is {list(mask.shape)}, upstream drops of {list(x.shape)}")
            return x * mask / (1 - p)

        torch.randn, torch.nn.functional.dropout = given, masked
        try:
            yield
        finally:
            torch.randn, torch.nn.functional.dropout = randn, dropout


# ---- Our tensors ----


def size_words(sizes: Sizes) -> list[str]:
    """Sizes as arguments of kb_reference."""
    return [word for k, v in sizes.items() for word in ("--size", f"{k}={size_text(v)}")]


def numbered(tensors: dict[str, Any], role: str) -> list[Any]:
    """The tensors role.0, role.1, ..., or the only one."""
    if role in tensors:
        return [tensors[role]]
    keys = [name for name in tensors if name.startswith(f"{role}.")]
    return [tensors[name] for name in sorted(keys, key=lambda name: int(name.split(".")[1]))]


def loaded(
    torch, path: pathlib.Path, described: dict[str, Any], sizes: Sizes, given: dict[str, Any]
) -> tuple[Upstream, list[tuple[str, Any]]]:
    """Upstream's module with our weights, and our inputs by name.

    `described` is the task's entry of kb_reference --list, `given` what --make-inputs has written.
    """
    names = [tensor["name"] for tensor in described["inputs"]]
    inputs = list(zip(names, numbered(given, "input"), strict=True))
    state = {
        k.partition(".")[2]: v for k, v in given.items() if k.startswith(("param.", "buffer."))
    }
    weights = described["weights"]
    constants = {w["name"] for w in weights if w["kind"] == "buffer" and w["read"]}
    upstream = Upstream(torch, path, sizes, described["sizes"])
    upstream.load(state, constants)
    return upstream, inputs
