"""What a translation needs to know of a task: `launch`, the sizes, names and shapes of tensors.

Read from the text of `task.h` and `reference.cpp`; nothing is compiled.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import Any

from kb_report import model, tree
from kb_report.model import ReportError

_LAUNCH = re.compile(r"^void launch\(([^;]*)\);", re.MULTILINE)
_SIZES = re.compile(r"^struct Sizes \{(.*?)^\};", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(
    r"^\s*(int64_t|double|bool|std::array<int64_t, \d+>)\s+(\w[^;]*);", re.MULTILINE
)
_TENSORS = re.compile(r"auto tensors\(const Sizes&(?: s)?\) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_NETWORK = re.compile(r"^struct Network \{(.*?)^\};", re.MULTILINE | re.DOTALL)
_MEMBER = re.compile(
    r"^\s*(?P<layer>[A-Z]\w+) \w+\{\s*net\[\"(?P<scope>[\w.]+)\"\](?P<options>.*?)\};"
    r"|net\.(?P<kind>weight|buffer|unread_buffer)\(\"(?P<name>[\w.]+)\"",
    re.MULTILINE | re.DOTALL,
)
_CALL = re.compile(r"(?<![\w.])([a-z]\w*)\(")
_AFFINE = ("Conv", "Linear", "BatchNorm", "LayerNorm", "GroupNorm")


@dataclass(frozen=True)
class Argument:
    """A tensor among the arguments of `launch`."""

    role: str
    """`input`, `weight` or `output`."""
    type: str
    """Its elements, as task.h writes them: `real`, `int64_t`."""
    name: str
    """Of the parameter."""
    state: str | None = None
    """Of a weight, upstream's name in the state_dict."""
    shape: str | None = None
    """The statements of a function of `s` that returns the shape; None if it is not known."""
    rank: int | None = None


@dataclass(frozen=True)
class Upstream:
    """What upstream's file of a task hands to the models that it compares."""

    arguments: list[Any]
    """Of __init__: a name is one of the constants, a list is a tuple."""
    constants: dict[str, Any]
    """Names of its module with their values."""
    inputs: list[Any]
    """Of forward: the shape of a tensor, or a number."""


@dataclass(frozen=True)
class Launch:
    """A task as a translation sees it."""

    task: str
    arguments: tuple[Argument, ...]
    by_name: bool
    """Whether weights come as one `kb::Weights`."""
    sizes: dict[str, str] = field(default_factory=dict)
    """Names of the sizes and their types."""
    defaults: dict[str, float] = field(default_factory=dict)
    """Upstream's values of those sizes that are single numbers."""
    upstream: Upstream | None = None
    """None for a task that upstream's levels 1 to 3 do not have."""

    def of(self, role: str) -> list[Argument]:
        """Inputs, weights or outputs, in their order."""
        return [a for a in self.arguments if a.role == role]


def read(name: str, root=tree.PROJECT) -> Launch:
    """The launch of the task `levelN/NNN_slug`. Raises ReportError for what cannot be read."""
    task = tree.task(name, root)
    declared = _LAUNCH.search(task.header)
    tensors = _TENSORS.search(task.reference)
    sizes = _SIZES.search(task.header)
    if not (declared and tensors and sizes):
        raise ReportError(f"{name}: launch, Sizes or tensors() are not written as in other tasks")
    types, defaults = _fields(sizes[1])
    parameters = [_parameter(p) for p in split(declared[1])[1:-1]]
    by_name = any(t == "kb::Weights" for _, t, _ in parameters)
    pointers = [p for p in parameters if p[1] != "kb::Weights"]
    preamble, entries = _entries(tensors[1])
    state = _state(task.reference, entries, name)
    inputs = [e for e in entries if e[0] == "input"]
    outputs = [e for e in entries if e[0] == "output"]
    read_only = [p for p in pointers if p[0]]
    written = [p for p in pointers if not p[0]]
    weights = read_only[len(inputs) :]
    if len(written) != len(outputs) or (not by_name and len(weights) != len(state)):
        raise ReportError(f"{name}: tensors() and launch do not name the same tensors")
    arguments = []
    for role, group, found in (("input", read_only, inputs), ("output", written, outputs)):
        for (_, type_, parameter), (_, shape) in zip(group, found, strict=False):
            code, rank = _shape(preamble, shape)
            arguments.append(Argument(role, type_, parameter, shape=code, rank=rank))
    shapes = [e for e in entries if e[0] in ("weight", "buffer")]
    made = []
    for i, (_, type_, parameter) in enumerate([] if by_name else weights):
        code, rank = _shape(preamble, shapes[i][1]) if len(shapes) == len(state) else (None, None)
        made.append(Argument("weight", type_, parameter, state[i], code, rank))
    weights = made
    for w in weights:
        words = {w.name, *w.name.rstrip("0123456789").split("_")}
        if not words & set(w.state.split(".")):
            raise ReportError(f"{name}: '{w.name}' of launch does not look like '{w.state}'")
    ordered = [a for a in arguments if a.role == "input"] + weights
    ordered += [a for a in arguments if a.role == "output"]
    return Launch(name, tuple(ordered), by_name, types, defaults, _upstream(name))


def _upstream(name: str) -> Upstream | None:
    facts = model.task_facts(*tree.split(name))
    if "arguments" not in facts:
        return None
    return Upstream(facts["arguments"], facts["constants"], facts["inputs"])


def split(text: str, separator: str = ",") -> list[str]:
    """Splits C++ at commas that stand in no brackets and no string."""
    parts, depth, last, quote = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"' and (i == 0 or text[i - 1] != "\\"):
            quote = not quote
        if quote:
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[last:i].strip())
            last = i + 1
    parts.append(text[last:].strip())
    return [p for p in parts if p]


def _parameter(text: str) -> tuple[bool, str, str]:
    """Whether it is constant, its type and its name."""
    match = re.fullmatch(r"(const )?([\w:]+)\s*[*&]\s*(\w+)", " ".join(text.split()))
    return (False, "", text) if match is None else (bool(match[1]), match[2], match[3])


def _fields(body: str) -> tuple[dict[str, str], dict[str, float]]:
    types: dict[str, str] = {}
    defaults: dict[str, float] = {}
    for type_, declared in _FIELD.findall(re.sub(r"//[^\n]*", "", body)):
        for each in split(declared):
            name, _, value = (part.strip() for part in each.partition("="))
            if not name.isidentifier():
                continue
            types[name] = type_
            with contextlib.suppress(ValueError):  # a list, or an expression
                defaults[name] = float(value) if type_ == "double" else int(value)
    return types, defaults


def _entries(body: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The statements before `return`, and (kind, arguments) of each entry of the tuple."""
    body = re.sub(r"//[^\n]*", "", body)
    before, _, after = body.partition("return std::tuple{")
    entries = []
    for entry in split(after.rsplit("}", 1)[0]):
        match = re.match(r"(\w+)<[^(]*>\((.*)", entry, re.DOTALL)
        if match is None:
            continue
        depth, end = 1, len(match[2])
        for i, c in enumerate(match[2]):
            depth += (c in "([{") - (c in ")]}")
            if depth == 0:
                end = i
                break
        entries.append((match[1], match[2][:end]))
    statements = [" ".join(s.split()) + ";" for s in split(before, ";")]
    return [s for s in statements if s.startswith("const ") and "Fill" not in s], entries


def _shape(preamble: list[str], arguments: str) -> tuple[str | None, int | None]:
    """The body of a function that returns the shape, and the number of dimensions."""
    parts = split(arguments)
    if len(parts) < 2:
        return None, None
    shape = " ".join(parts[1].split())
    rank = len(split(shape[1:-1])) if shape.startswith("{") else None
    used = []
    for statement in reversed(preamble):
        names = re.findall(r"(?<![.\w])\w+", shape + " ".join(used))
        declared = _declared(statement)
        if not declared & set(names):
            continue
        used.insert(0, statement)
        if rank is None:
            for each in split(statement.removeprefix("const Shape").rstrip(";")):
                name, _, value = (p.strip() for p in each.partition("="))
                if name == shape and value.startswith("{"):
                    rank = len(split(value[1:-1]))
    code = " ".join([*used, f"return {shape};"]).replace(
        "const Shape ", "const std::vector<int64_t> "
    )
    calls = {name for name in _CALL.findall(code) if name != "return"}
    return (None, rank) if calls else (code, rank)


def _declared(statement: str) -> set[str]:
    names = re.match(r"const auto \[([^]]*)\]", statement)
    if names:
        return {n.strip() for n in names[1].split(",")}
    declared = re.sub(r"^const [\w:<>, ]+? (?=\w+ =)", "", statement.rstrip(";"))
    return {part.partition("=")[0].strip() for part in split(declared)}


def _state(reference: str, entries: list[tuple[str, str]], task: str) -> list[str]:
    """Names of the weights that `launch` gets, in its order."""
    names: list[str] = []
    for kind, arguments in entries:
        quoted = re.match(r'\s*"([^"]+)"', arguments)
        if kind in ("weight", "buffer") and quoted:
            names.append(quoted[1])
        elif kind == "weights":
            network = _NETWORK.search(reference)
            if network is None:
                return []  # the weights of a whole architecture, which launch asks for by name
            for member in _MEMBER.finditer(network[1]):
                if member["name"]:
                    names += [member["name"]] if member["kind"] != "unread_buffer" else []
                elif member["layer"].startswith(_AFFINE):
                    names.append(f"{member['scope']}.weight")
                    if not re.search(r"bias = false|bias=\*/false", member["options"] or ""):
                        names.append(f"{member['scope']}.bias")
    return names
