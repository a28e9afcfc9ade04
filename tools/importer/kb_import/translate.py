"""Makes a kernel of this suite from a PyTorch extension, without running any of its Python.

`translate` follows ModelNew.forward (`follow`), once per way through it, and writes `task::launch`
with the ways as branches. The extension's own source stays as it is but for two things: PyTorch's
headers are `kb/torch.h`, and kernels on the default stream are launched on that of launch().
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

from kb_import.follow import Follower
from kb_import.follow_state import MOST_ITEMS, OPERATORS, PYTHON, TRITON, known_sizes
from kb_import.launch import Launch, split
from kb_import.symbols import Extension, Fresh, Scalar, Sequence, Tensor, Untranslatable, Weight
from kb_report import cxx
from kb_report.model import clean

OTHER_TASK = "is written for another task"
SEVERAL = "has several extensions with the same names"
RANDOM = "draws at random in forward"
NEVER_CALLED = "never calls its extension"
SYNTAX = "does not parse as Python"
NO_CUDA = "holds no CUDA"
LARGE = "is larger than 1 MB"
MOST_BYTES = 1_000_000
MOST_WAYS = 64
# Functions within functions are read once for each.
MOST_READ = 10 * MOST_BYTES
# How far before the name of a function its type begins, and how long the list of its parameters is.
MOST_BEFORE = 300
MOST_PARAMETERS = 5000

# None of these patterns may scan further than it matches: a long source would take quadratic time.
_TORCH_INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch/|ATen/|c10/|pybind11/|THC/|Python\.h)[^>\"\n]*[>\"].*$",
    re.MULTILINE,
)
_BINDING = re.compile(r'\bm\s*\.\s*def\s*\(\s*"(\w+)"\s*,\s*+&?\s*+(?:\w+::)*(\w+)')
# Operators of libtorch: an extension that calls one of them needs more than names.
_OPERATOR = re.compile(
    r"\b(?:torch|at)::(?!"
    r"Tensor|TensorOptions|empty\b|zeros\b|ones\b|full\b|empty_like\b|zeros_like\b|ones_like\b"
    r"|full_like\b|k[A-Z]\w*|cuda\b|ScalarType|Device\b|DeviceType|IntArrayRef|MemoryFormat|Half\b"
    r"|tensor\b|maybe_wrap_dim\b|dtype\b|device\b|TensorList|optional\b|nullopt|Dtype|device_of|BFloat16|Layout|elementSize"
    r"|toString)(\w+)(?:::\w+)*|\.(matmul|mm|bmm|sum|mean|softmax|exp|log|sqrt|relu|mul|add|sub|div"
    r"|mul_|add_|sub_|div_|clamp|clamp_|max|min|argmax|index_select|expand"
    r"|item|cpu|packed_accessor\w*|accessor|pow|norm|repeat|masked_fill_?|triu|tril|cumsum|flip"
    r"|amax|sort|topk)(?:<[^<>]*>)?\s*\("
)  # fmt: skip
_OF_TENSORS = re.compile(r"(?:torch|at)::Tensor\b[^;{}]*")
_TENSOR = re.compile(r"\bTensor\s*+&?\s*+(\w+)\s*[,)=;]")
_MADE = re.compile(r"\bauto\s+(\w+)\s*=\s*(?:torch|at)::(?:empty|zeros|full|ones)")
# Arithmetic: a name, or the end of an expression; the sign; what follows.
_SIGN = re.compile(
    r"(?:\b(?P<left>\w++)|\))\s*+(?P<sign>[*/+-])(?=(?P<more>[=*/+>-])?\s*(?P<right>\w*)(?P<call>\s*[.(])?)"
)
_NUMBER = re.compile(r"\b(?:float|double|bool|int|long|unsigned|size_t|u?int\d+_t)\s++(\w++)")
_ALL_ELEMENTS = re.compile(
    r"\.(?:sum|mean)\s*+\(\s*+\)|(?:torch|at)::(?:sum|mean)\s*+\(\s*+\w++\s*+\)"
)
_CONDITION = re.compile(r"\s*(?:if|else)(?!\S)")
_DEFINED = re.compile(
    r"\b(\w++)\s*+\([^(){};]*\)\s*+\{|^[ \t]*#[ \t]*define[ \t]++(\w+)", re.MULTILINE
)
_NO_NAMES = {"if", "for", "while", "switch", "PYBIND11_MODULE"}
_CALL = re.compile(r"\b(\w++)\s*\(")
_RETURNS = re.compile(
    r"((?:std::)?(?:vector|tuple|pair)\s*<[^;{}()]*>|(?<![\w:])[\w:]++)\s+"
    r"(?:__launch_bounds__\([^)]*\)\s*)?\Z"
)

# Those of them that kb/torch.h has as names, so that a fallback compiles; to call one is an error.
_FUNCTIONS = {"max_pool2d", "argmax", "argmin", "cumsum", "cumprod", "conv2d", "log", "exp", "tanh",
              "clamp", "matmul", "relu", "softmax", "mean", "sum"}  # fmt: skip
_METHODS = {"flip", "sum", "mean", "max", "min"}
_SIGNS = {"*", "/", "+", "-"}


@dataclass(frozen=True)
class Signature:
    """A function that an extension defines."""

    function: str
    returns: str
    is_kernel: bool
    parameters: tuple[str, ...] = ()
    """Types of a kernel's parameters."""


@dataclass
class Translation:
    """A kernel and what there is to say about it."""

    source: str
    notes: list[str] = field(default_factory=list)


def parse(text: str) -> ast.Module:
    """A module. Raises Untranslatable."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise Untranslatable(LARGE)
    try:
        return ast.parse(text)
    except SyntaxError as e:
        raise Untranslatable(SYNTAX, f"line {e.lineno}") from None
    except (ValueError, RecursionError, MemoryError):
        raise Untranslatable(SYNTAX, "it is nested too deeply or holds a zero byte") from None


def translate(
    text: str,
    launch: Launch,
    origin: str,
    cuda: str | None = None,
    settings: dict[str, Any] | None = None,
) -> Translation:
    """The kernel of `launch` that a source in KernelBench's form holds. Raises Untranslatable.

    cuda, settings: of robust-kbench, the extension's source and the arguments of __init__.
    """
    module = parse(text)
    if cuda is not None and len(cuda) > MOST_BYTES:
        raise Untranslatable(LARGE)
    if "triton" in text and re.search(r"^[ \t]*(?:import|from) triton", text, re.MULTILINE):
        raise Untranslatable(TRITON)
    if cuda is None and "__global__" not in text and "cpp_extension" not in text:
        raise Untranslatable(NO_CUDA)
    inputs = _inputs(module, launch)
    extension = None if cuda is None else Extension(cuda, "", None)
    ways = _Ways(module, launch, inputs, extension, settings)
    code = ways.explore([])
    if code.failed is not None:
        raise code.failed
    if not code.good:
        raise ways.failure or Untranslatable(PYTHON, "no way through forward returns")
    if not ways.called:
        raise Untranslatable(NEVER_CALLED)
    return _write(ways, code, launch, inputs, origin)


def _inputs(module: ast.Module, launch: Launch) -> list[Any]:
    """The task's inputs with the sizes that the source gives them, and numbers between them."""
    wanted = launch.of("input")
    made = Follower(launch, signatures, []).inputs(module, launch.sizes)
    numbers = {i: v for i, v in enumerate(made) if isinstance(v, (int, float, Scalar))}
    made = [v for i, v in enumerate(made) if i not in numbers]
    upstream = launch.upstream.inputs if launch.upstream is not None else []
    if len(made) < len(wanted) and len(made) == sum(isinstance(v, list) for v in upstream):
        drawn = ", ".join(a.name for a in wanted[len(made) :])
        raise Untranslatable(RANDOM, f"the task has it as an input: {drawn}")
    if made and len(made) != len(wanted):
        raise Untranslatable(OTHER_TASK, f"it has {len(made)} inputs, the task {len(wanted)}")
    tensors = []
    for i, argument in enumerate(wanted):
        if argument.shape is None:
            raise Untranslatable(PYTHON, f"the shape of the task's '{argument.name}' is not known")
        sizes = None
        given = made[i] if made else None
        if isinstance(given, Fresh) and given.shape is not None:
            if argument.rank is not None and len(given.shape) != argument.rank:
                raise Untranslatable(
                    OTHER_TASK,
                    f"input {i} has {len(given.shape)} dimensions, that of the task {argument.rank}",
                )
            sizes = known_sizes(given.shape)
        kind = {"real": "float32", "int64_t": "int64", "bool": "bool"}.get(argument.type)
        tensors.append(Tensor(f"kb_x{i}", argument.rank, sizes, kind, dense=True))
    arguments: list[Any] = list(tensors)
    names = _parameters(module)
    for i, value in numbers.items():
        name = names[i] if i < len(names) else ""
        if launch.defaults.get(name) == value:  # the task has it as a size
            value = Scalar(f"s.{name}", "float" if launch.sizes[name] == "double" else "int", value)
        arguments.insert(i, value)
    return arguments


def _parameters(module: ast.Module) -> list[str]:
    """Names of the arguments of ModelNew.forward."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.name == "ModelNew":
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "forward":
                    return [a.arg for a in method.args.args[1:]]
    return []


@dataclass
class _Code:
    lines: list[str]
    good: bool
    """Whether some way returns."""
    failed: Untranslatable | None
    """Why the way that the source takes at its own sizes does not."""


class _Ways:
    """All ways through a source, as a tree of branches."""

    def __init__(
        self,
        module: ast.Module,
        launch: Launch,
        inputs: list[Any],
        extension: Extension | None,
        settings: dict[str, Any] | None,
    ):
        self.extension = extension
        self.settings = settings
        self.module = module
        self.launch = launch
        self.inputs = inputs
        self.count = 0
        self.failure: Untranslatable | None = None
        self.partial: list[str] = []
        self.notes: list[str] = []
        self.called: set[str] = set()
        self.extensions: list[Extension] = []
        self.weights: dict[str, str] = {}

    def explore(self, decisions: list[bool], depth: int = 1) -> _Code:
        """Statements from the last decision on."""
        self.count += 1
        if self.count > MOST_WAYS:
            raise Untranslatable(PYTHON, f"more than {MOST_WAYS} ways through forward")
        f = Follower(self.launch, signatures, decisions)
        failed, result = None, None
        try:
            result = f.follow(
                self.module, self.launch.sizes, self.inputs, self.extension, self.settings
            )
        except Untranslatable as e:
            failed = e
        first = f.taken[len(decisions) - 1][2] if decisions else 0
        indent = "  " * depth
        if len(f.taken) > len(decisions):
            condition, _, place = f.taken[len(decisions)]
            lines = [indent + s for s in f.statements[first:place]]
            yes = self.explore([*decisions, True], depth + 1)
            no = self.explore([*decisions, False], depth + 1)
            if yes.lines == no.lines:
                return _Code([*lines, *(line[2:] for line in yes.lines)], yes.good, yes.failed)
            lines += [f"{indent}if ({condition.text}) {{", *yes.lines, f"{indent}}} else {{"]
            lines += [*no.lines, f"{indent}}}"]
            if condition.value is None:
                main = None if yes.failed is None or no.failed is None else yes.failed
            else:
                main = (yes if condition.value else no).failed
            return _Code(lines, yes.good or no.good, main)
        lines = [indent + s for s in f.statements[first:]]
        if failed is None:
            try:
                lines += [indent + s for s in self.give(result)]
                self.keep(f)
                return _Code(lines, True, None)
            except Untranslatable as e:
                failed = e
        self.failure = self.failure or failed
        self.partial.append(str(failed))
        message = " ".join(clean(f"the source {failed}, which is not translated").split())
        text = message.replace("\\", "\\\\").replace('"', '\\"')
        return _Code([*lines, f'{indent}kb::torch_names::fail("{text}");'], False, failed)

    def keep(self, f: Follower) -> None:
        """What a way that returns needs."""
        if not f.called:
            raise Untranslatable(NEVER_CALLED)
        self.called |= f.called
        self.weights |= f.weights
        self.notes = list(dict.fromkeys([*self.notes, *f.notes]))
        for each in f.extensions:
            if each not in self.extensions:
                self.extensions.append(each)

    def give(self, result: Any) -> list[str]:
        outputs = self.launch.of("output")
        results = result.items if isinstance(result, Sequence) else [result]
        if len(results) != len(outputs):
            raise Untranslatable(
                OTHER_TASK, f"it returns {len(results)} tensors, the task has {len(outputs)}"
            )
        lines = []
        for i, (each, argument) in enumerate(zip(results, outputs, strict=True)):
            if isinstance(each, Weight) or not isinstance(each, Tensor):
                raise Untranslatable(PYTHON, "forward returns something else than a tensor")
            numel = f", kb_numel{i}" if argument.shape is not None else ""
            lines.append(f"kb_scope.give({each.text}, kb_y{i}{numel});")
        return lines


def host_operators(text: str) -> list[tuple[str, bool]]:
    """PyTorch's operators in the functions of an extension that have tensors.

    With each, whether it stands in a branch: then it is what the extension does for sizes that its
    kernel does not take. `text` has no comments and no texts.
    """
    found: dict[tuple[str, bool], None] = {}
    read = 0
    for head in _OF_TENSORS.finditer(text):
        declared = head[0].rstrip()
        if "(" not in declared or declared[-1] != ")" or text[head.end() : head.end() + 1] != "{":
            continue
        body = _until_closed(text, head.end() + 1, "{}")
        read += len(body)
        if read > MOST_READ:
            raise Untranslatable(LARGE, "with the functions that stand in functions of its C++")
        names = {*_TENSOR.findall(declared), *_TENSOR.findall(body), *_MADE.findall(body)}
        matches = [(m.start(), m[1] in _FUNCTIONS or m[2] in _METHODS, _called(m[0]))
                   for m in _OPERATOR.finditer(body)
                   if not _ALL_ELEMENTS.match(body, m.start())]  # fmt: skip
        numbers = {"static_cast", *_NUMBER.findall(declared), *_NUMBER.findall(body)} - names
        for m in _SIGN.finditer(body) if names else ():
            is_member = body[max(0, m.start() - 1) : m.start()] in (".", ">")
            of_left = m["left"] in names and not is_member and m["more"] in (None, "=")
            of_right = m["right"] in names and not m["more"] and not m["call"]
            other = m["right"] if of_left else m["left"] or ""
            is_number = other in numbers or other[:1].isdigit()
            if is_number and (of_left or m["sign"] != "/"):
                continue  # which kb/torch.h has
            if of_left or of_right:
                sign = m["sign"] + (m["more"] or "")
                matches.append((m.start("sign"), sign in _SIGNS, f"{sign} of tensors"))
        matches.sort()
        branches = _in_branches(body, [place for place, _, _ in matches])
        for (_, is_known, what), branch in zip(matches, branches, strict=True):
            found[what, branch and is_known] = None
    return list(found)


def _called(text: str) -> str:
    """An operator as a note calls it, without arguments of its template."""
    return " ".join(text[:100].partition("<")[0].split()).rstrip("( ")


def _in_branches(body: str, places: list[int]) -> list[bool]:
    """Whether each place, in their order, stands in braces other than those of lambdas, or after if."""
    found: list[bool] = []
    open_braces: list[bool] = []
    branches = 0  # of the open braces
    statement = 0  # where the one that holds the place begins
    for mark in chain(re.finditer(r"[;{}]", body), [None]):
        end = mark.start() if mark else len(body)
        first = _CONDITION.match(body, statement)
        while len(found) < len(places) and places[len(found)] < end:
            found.append(branches > 0 or first is not None)
        if mark is None:
            break
        if mark[0] == "{":
            lead = body[max(0, end - 80) : end]
            is_branch = re.search(r"\]\s*(?:\([^()]*\))?\s*$", lead) is None
            open_braces.append(is_branch)
            branches += is_branch
        elif mark[0] == "}" and open_braces:
            branches -= open_braces.pop()
        statement = mark.end()
    return found


@lru_cache(16)  # a source may call its functions thousands of times
def _signatures(cuda: str, cpp: str, functions: tuple[str, ...] | None) -> dict[str, Signature]:
    if len(cuda) + len(cpp) > MOST_BYTES:  # Python can put together more than it holds
        raise Untranslatable(LARGE)
    text = cxx.blanked(cuda + "\n" + cpp, keep_strings=True)
    bound = dict(_BINDING.findall(text))
    names = {name: name for name in functions or ()} | bound
    chosen = {name: names.get(name, name) for name in list(names or _defined(text))[:MOST_ITEMS]}
    calls: dict[str, list[re.Match[str]]] = {function: [] for function in chosen.values()}
    for call in _CALL.finditer(text):
        if call[1] in calls:
            calls[call[1]].append(call)
    found = {}
    for name, function in chosen.items():
        if (signature := _signature(text, function, calls[function])) is not None:
            found[name] = signature
    return found


def signatures(extension: Extension) -> dict[str, Signature]:
    """Functions that an extension binds, or that its source defines, by their names in Python."""
    functions = None if extension.functions is None else tuple(extension.functions)
    return _signatures(extension.cuda, extension.cpp, functions)


def _defined(text: str) -> list[str]:
    found = re.findall(r"\b(?:torch|at)::Tensor>?\s+(\w+)\s*\(", text)
    return found + re.findall(r"\b__global__\s+void\s+(\w+)\s*\(", text)


def _signature(text: str, function: str, calls: list[re.Match[str]]) -> Signature | None:
    """The first of the places where the name stands before a bracket that has a type before it."""
    for call in calls:
        start = max(0, call.start() - MOST_BEFORE)
        lead = text[start : call.start()]
        if lead[-1:].isspace() or lead[-1:] == ")":
            match = _RETURNS.search(lead)
            if match is not None:
                break
    else:
        return None
    if match[1] in ("return", "new", "else"):
        return None
    before = text[max(0, start + match.start() - 200) : start + match.start()]
    before = re.split(r"[;}]", before)[-1]
    kernel = "__global__" in before or match[1] == "__global__"
    parameters = ()
    if kernel:
        if "template" in before:
            return None  # its arguments do not say which instance
        listed = _until_closed(text[: call.end() + MOST_PARAMETERS], call.end())
        parameters = tuple(_type_of(p) for p in split(listed))
    return Signature(function, re.sub(r"\s+", "", match[1]), kernel, parameters)


def _until_closed(text: str, start: int, brackets: str = "()") -> str:
    """What comes from `start` on, before the bracket that closes one which is open."""
    depth = 1
    for mark in re.compile(f"[{re.escape(brackets)}]").finditer(text, start):
        depth += 1 if mark[0] == brackets[0] else -1
        if depth == 0:
            return text[start : mark.start()]
    return text[start:]


def _type_of(parameter: str) -> str:
    """`const float*` of `const float* __restrict__ x`."""
    plain = " ".join(re.sub(r"__restrict__|__restrict\b|=.*", " ", parameter).split())
    match = re.fullmatch(r"(.*[ *&])\w+", plain)
    return (match[1] if match else plain).rstrip()


def _write(ways: _Ways, code: _Code, launch: Launch, inputs: list[Any], origin: str) -> Translation:
    body = _joined([extension_source(e) for e in ways.extensions])
    notes = list(ways.notes)
    for what, is_fallback in host_operators(cxx.blanked(body)):
        if not is_fallback:
            raise Untranslatable(OPERATORS, f"{what} in its C++")
        notes.append(f"only for some sizes: else its C++ calls {what}")
    outputs = launch.of("output")
    lines = [
        f"// From {origin}.",
        "// launch() was translated from its forward(); the rest is its own source.",
        "#include <kb/torch.h>",
        "",
        '#include "task.h"',
        "",
        body.strip("\n"),
        "",
    ]
    for i, argument in enumerate(launch.of("input")):
        lines.append(_function("static std::vector<int64_t> kb_shape", i, argument.shape))
    for i, argument in enumerate(outputs):
        if argument.shape is not None:
            lines.append(
                _function("static std::vector<int64_t> kb_result_shape", i, argument.shape)
            )
    for i, argument in enumerate(launch.of("weight")):
        if any(f"kb_weight_shape{i}(" in text for text in ways.weights.values()):
            lines.append(
                _function("static std::vector<int64_t> kb_weight_shape", i, argument.shape)
            )
    parameters = ["[[maybe_unused]] const Sizes& s"]
    parameters += [f"const {a.type}* kb_in{i}" for i, a in enumerate(launch.of("input"))]
    if launch.by_name:
        parameters.append("[[maybe_unused]] const kb::Weights& kb_weights")
    parameters += [
        f"[[maybe_unused]] const {a.type}* kb_weight{i}" for i, a in enumerate(launch.of("weight"))
    ]
    parameters += [f"{a.type}* kb_y{i}" for i, a in enumerate(outputs)]
    parameters.append("cudaStream_t kb_stream")
    lines += ["", f"void task::launch({', '.join(parameters)}) {{"]
    for i, argument in enumerate(outputs):
        if argument.shape is not None:
            lines.append(
                f"  const int64_t kb_numel{i} = kb::torch_names::product(kb_result_shape{i}(s));"
            )
    lends = len(outputs) == 1 and outputs[0].shape is not None
    scope = "kb_stream, kb_y0, kb_numel0" if lends else "kb_stream"
    lines.append(f"  const kb::torch_names::Scope kb_scope({scope});")
    for i, x in enumerate(v for v in inputs if isinstance(v, Tensor)):
        lines.append(
            f"  const at::Tensor {x.text} = kb::torch_names::tensor(kb_in{i}, kb_shape{i}(s));"
        )
    for path, text in ways.weights.items():
        name = "kb_w_" + path.replace(".", "_")
        lines.append(f"  [[maybe_unused]] const at::Tensor {name} = {text};")
    lines += [*code.lines, "}", ""]
    notes = list(dict.fromkeys(notes))
    notes += [f"only for some sizes: else it {reason}" for reason in dict.fromkeys(ways.partial)]
    return Translation("\n".join(lines), notes)


def _joined(sources: list[str]) -> str:
    """The sources of several extensions as one file, if no name is in two of them."""
    seen: set[str] = set()
    for source in sources:
        code = cxx.blanked(source)
        names = {a or b for a, b in _DEFINED.findall(code)} - _NO_NAMES
        if both := sorted(names & seen):
            raise Untranslatable(SEVERAL, ", ".join(both))
        seen |= names
    return "\n".join(sources)


def _function(head: str, number: int, body: str | None) -> str:
    return f"{head}{number}([[maybe_unused]] const task::Sizes& s) {{ {body} }}"


def extension_source(extension: Extension) -> str:
    """The C++ of an extension as one file, with launches on the stream of launch()."""
    parts = [extension.cuda]
    if "{" in cxx.blanked(extension.cpp):  # else it only declares
        parts.append(extension.cpp)
    return on_stream(_TORCH_INCLUDE.sub("", "\n".join(parts)))


def on_stream(text: str) -> str:
    """Puts kernels that are launched on PyTorch's default stream on that of launch()."""
    out, place = [], 0
    while (start := text.find("<<<", place)) >= 0:
        end = text.find(">>>", start)
        if end < 0:
            break
        parts = split(text[start + 3 : end])
        if len(parts) == 2:
            parts.append("0")
        if len(parts) == 3:
            parts.append("kb::torch_names::stream()")
        elif len(parts) == 4 and parts[3] in ("0", "nullptr", "NULL"):
            parts[3] = "kb::torch_names::stream()"
        out += [text[place:start], "<<<", ", ".join(parts), ">>>"]
        place = end + 3
    return "".join([*out, text[place:]])
