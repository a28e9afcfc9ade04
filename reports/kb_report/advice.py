"""Names the mistakes that generators make most, from a failed kernel and what its compiler said."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from kb_report import cxx, tree
from kb_report.model import JUDGED, ReportError, clean, one_line

# Nobody's mistake, or none at all.
_FINE = ("pass", "skipped", "degenerate", None)

# Kernels are a tenth of it. What is said of a longer file would take long to find, and of one that
# is cut, as load.read_text() does, it would be wrong.
MOST_SOURCE = 256 << 10  # characters
_PARAMETERS_SHOWN = 1000  # five times as many as the longest declaration of a task has

# None of these may look ahead further than it then goes on, or a long source takes hours.
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_PYTHON = re.compile(
    r"^(?:import [\w.]+(?: as \w+)?[ \t]*|from [\w.]+ import [^;\n]+"
    r"|(?:class|def) \w+\([^)\n]*\).*:[ \t]*)$",
    re.MULTILINE,
)
_LAUNCH = re.compile(r"\blaunch\s*\((?P<parameters>[^;{}]*)(?P<body>\{?)")
_DECLARATION = re.compile(r"\bvoid\s+launch\s*\((?P<parameters>[^;{}]*)\)\s*;")
_QUALIFIERS = re.compile(r"\b__restrict__\b|\b(?:std|task|kb)\s*::")
_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|\b__attribute__\s*\(\([^()]*\)\)")
_USING = re.compile(r"\busing\s+(\w+)\s*=\s*([\w:*& ]{1,100});")
_TYPEDEF = re.compile(r"\btypedef\s+([\w:*& ]{1,100}?)\s*\b(\w{1,100})\s*;")
_ITS_NAMESPACE = re.compile(r"\bnamespace\s+task\b")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)", re.MULTILINE)
# Headers whose functions launch kernels of their own.
_LAUNCHING = re.compile(r"^(?:kb/|cub/|thrust/|cublas|cudnn)")

# What compilers call a name that they do not know: nvcc, g++, clang, with and without a namespace.
_UNKNOWN = re.compile(
    r"identifier \"(\w+)\" is undefined|has no member \"(\w+)\""
    r"|[‘'](?:std::)?(\w+)[’'] (?:was not declared|does not name a type|has not been declared)"
    r"|[‘'](\w+)[’'] is not a member of|undeclared identifier '(\w+)'|unknown type name '(\w+)'"
    r"|no (?:member|template|type) named '(\w+)'"
)
_HEADERS = {
    "cfloat": "FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON",
    "climits": "INT_MAX INT_MIN UINT_MAX LLONG_MAX LLONG_MIN",
    "limits": "numeric_limits",
    "cmath": "INFINITY NAN M_PI M_SQRT2 M_SQRT1_2 M_2_SQRTPI HUGE_VALF",
    "algorithm": "min max clamp sort fill copy",
    "vector": "vector",
    "array": "array",
    "tuple": "tuple tie make_tuple",
    "cstdio": "printf fprintf stderr",
    "cuda_fp16.h": "half half2 __half __half2 __float2half __half2float __float2half_rn __hadd "
    "__hmul __hfma __floats2half2_rn __half22float2",
    "cuda_bf16.h": "nv_bfloat16 __nv_bfloat16 __nv_bfloat162 __float2bfloat16 __bfloat162float",
    "mma.h": "nvcuda wmma",
    "cooperative_groups.h": "cooperative_groups cg",
    "cub/cub.cuh": "cub",
    "curand_kernel.h": "curandState curand_init curand_uniform curand_normal",
}
_HEADER_OF = {name: header for header, names in _HEADERS.items() for name in names.split()}


@dataclass(frozen=True)
class Failure:
    """A kernel that did not pass. code: its source without comments and literals.

    within: what the source ends within, other than code.
    """

    task: str
    verdict: str
    source: str
    code: str
    within: str | None
    said: str

    @property
    def does_not_compile(self) -> bool:
        return self.verdict == "compile_error"


def of(record: dict[str, Any]) -> list[str]:
    """What to change in a candidate that failed, a sentence each; none where nothing is known.

    Says nothing about a source that is not the one that was judged.
    """
    result, source = record["result"], record.get("source_text")
    if record["state"] != JUDGED or result["verdict"] in _FINE:
        return []
    if source is None or record["source_changed"] or len(source) > MOST_SOURCE:
        return []
    said = f"{result.get('evidence') or ''}\n{(result.get('build') or {}).get('diagnostics') or ''}"
    failure = Failure(
        f"level{record['level']}/{record['task']}",
        result["verdict"],
        source,
        *cxx.blanked_with_end(source),
        said,
    )
    for rule in _FORM:  # where the file is none, its content tells nothing
        if found := rule(failure):
            return [clean(found)]
    return [clean(found) for rule in _CONTENT if (found := rule(failure))]


def _encoding(f: Failure) -> str | None:
    if f.does_not_compile and f.source.count("\0") * 3 > len(f.source):
        return "The file is UTF-16 text: save it as UTF-8."
    return None


def _python(f: Failure) -> str | None:
    if f.does_not_compile and _PYTHON.search(f.code):
        return (
            "The file is Python. A kernel is one .cu file in CUDA C++: keep only the kernels, and "
            "define task::launch, which gets device pointers."
        )
    return None


def _fences(f: Failure) -> str | None:
    found = _FENCE.search(f.code)
    if not (f.does_not_compile and found):
        return None
    line = f.code.count("\n", 0, found.start()) + 1
    return f"Line {line} is a Markdown fence: save only the code between the fences."


def _empty(f: Failure) -> str | None:
    return None if f.code.strip() or f.within else "The file holds no code."


def _truncated(f: Failure) -> str | None:
    """A file whose end is missing: what it opens is never closed."""
    if not f.does_not_compile:
        return None
    cut = "It was cut off: ask for a shorter kernel, or allow a longer answer."
    if f.within:
        return f"The file ends within a {f.within}. {cut}"
    opened: list[int] = []
    for found in re.finditer(r"[{}()]", f.code):
        if found[0] in "{(":
            opened.append(found.start())
        elif not opened or f.code[opened.pop()] != {"}": "{", ")": "("}[found[0]]:
            return None  # one too many, or one that is missing within, is another mistake
    if not opened:
        return None
    line = f.code.count("\n", 0, opened[0]) + 1
    return f"The file ends before the {f.code[opened[0]]} of line {line} is closed. {cut}"


def _defined(code: str) -> str | None:
    """The parameters of the first function called launch that is defined; None without."""
    for found in _LAUNCH.finditer(code):
        before = found["parameters"].rstrip()
        if found["body"] and before.endswith(")"):
            return before[:-1]
    return None


def _no_launch(f: Failure) -> str | None:
    if not f.does_not_compile or re.search(r"\btask\s*::\s*launch\b", f.code):
        return None
    defined = _defined(f.code) is not None
    if defined and _ITS_NAMESPACE.search(f.code):
        return None
    declared = _declared(f.task)
    how = f"void task::launch({declared})" if declared else "task::launch as task.h declares it"
    if defined:
        return f"launch is defined outside of namespace task: define {how}."
    return f"The file defines no task::launch: define {how}."


def _signature(f: Failure) -> str | None:
    """The definition has other parameters than the declaration, perhaps those of another task."""
    found, declared = _defined(f.code), _declared(f.task)
    if not f.does_not_compile or found is None or declared is None:
        return None
    mine, wanted = _types(_without_aliases(found, f.code)), _types(declared)
    if mine == wanted:
        return None
    other = _same_parameters().get(_plain(found), [])
    whose = f", which is the signature of {other[0]}" if len(other) == 1 else ""
    return (
        "task::launch has other parameters than task.h declares: "
        f"({one_line(found, _PARAMETERS_SHOWN)}){whose}; {f.task} wants ({declared})."
    )


def _includes(f: Failure) -> str | None:
    unknown = [next(filter(None, m.groups()), None) for m in _UNKNOWN.finditer(f.said)]
    there = set(_INCLUDE.findall(f.source))
    missing: dict[str, str] = {}
    for name in filter(None, unknown):
        header = _HEADER_OF.get(name)
        if header and header not in there:
            missing.setdefault(header, name)
    if not (f.does_not_compile and missing):
        return None
    wanted = [f"#include <{header}> for {name}" for header, name in missing.items()]
    return f"Includes are missing: {', '.join(wanted)}."


def _host_only(f: Failure) -> str | None:
    if re.search(r"\b__global__\b|<<<", f.code):
        return None
    if any(_LAUNCHING.match(header) for header in _INCLUDE.findall(f.source)):
        return None
    return (
        "The file has no __global__ function. task::launch runs on the host, which cannot read the "
        "tensors: it has to launch a kernel that does."
    )


_FORM: list[Callable[[Failure], str | None]] = [_encoding, _python, _fences, _empty, _truncated]
_CONTENT: list[Callable[[Failure], str | None]] = [_no_launch, _signature, _includes, _host_only]


def _without_aliases(parameters: str, code: str) -> str:
    """A list of parameters with the types that the code's own names stand for."""
    aliases = {name: of for name, of in _USING.findall(code)}
    aliases |= {name: of for of, name in _TYPEDEF.findall(code)}
    return re.sub(r"\w+", lambda name: aliases.get(name[0], name[0]), parameters)


def _types(parameters: str) -> list[str]:
    """The types of a list of parameters, written in one way; the element type is `real`.

    Attributes, and whether a parameter itself is const, are no part of a function's type.
    """
    found = []
    for parameter in parameters.split(","):
        words = re.findall(r"\w+|[*&]", _QUALIFIERS.sub("", _ATTRIBUTE.sub("", parameter)))
        if len(words) > 1 and words[-1] not in "*&" and words[-1] not in ("const", "int", "float"):
            words.pop()  # its name
        behind = max((i + 1 for i, w in enumerate(words) if w in "*&"), default=0)
        words = words[:behind] + [w for w in words[behind:] if w != "const"]
        base = sorted(w for w in words if w not in "*&")
        kind = " ".join("real" if w == "float" else w for w in base)
        found.append(kind + "".join(w for w in words if w in "*&"))
    return found


def _plain(parameters: str) -> str:
    """A list of parameters, with their names, as it reads whatever the element type."""
    text = _QUALIFIERS.sub("", parameters)
    return re.sub(r"\s+", "", re.sub(r"\bfloat\b", "real", text))


@cache
def _declared(task: str) -> str | None:
    """The parameters of task::launch in the task.h of this project; None without the task."""
    try:
        found = _DECLARATION.search(cxx.blanked(tree.task(task).header))
    except ReportError:
        return None
    return one_line(found["parameters"], _PARAMETERS_SHOWN) if found else None


@cache
def _same_parameters() -> dict[str, list[str]]:
    """The tasks of this project by their lists of parameters."""
    found: dict[str, list[str]] = {}
    for task in tree.tasks():
        if declared := _declared(task):
            found.setdefault(_plain(declared), []).append(task)
    return found
