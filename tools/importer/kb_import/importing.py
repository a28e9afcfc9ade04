"""Imports kernels of other projects as a run of candidates/, and says what became of each of them."""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_import import follow_state, foreign, launch, translate
from kb_import.foreign import Pair, Program
from kb_import.symbols import Untranslatable
from kb_report import model, tree, write
from kb_report.model import ReportError, clean

DUPLICATE = "is a second kernel for its task and sample"
NO_CUDA = "holds Triton and no CUDA"
MOST_DETAILS = 10
NO_LAUNCH = "belongs to a task whose launch is not understood"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_VENDOR = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](cublas|cudnn)", re.MULTILINE)
_TAKEN = re.compile(
    r"seed|adversar(y|ies)|honest|containment|validity|kb|harness|selftest|build|correct|bench"
    r"|examples|level[0-9]*"
)


@dataclass
class Entry:
    """What became of one source."""

    origin: str
    task: str | None = None
    sample: str = ""
    reason: str | None = None
    """The heading under which it counts; None if it was translated."""
    detail: str = ""
    notes: list[str] = field(default_factory=list)
    sha256: str = ""
    tasks: list[str] = field(default_factory=list)
    """Of a pair: tasks with the same operators."""

    def as_json(self) -> dict[str, Any]:
        """A row of import.json: what is empty is left out."""
        row = {
            "source": self.origin, "task": self.task, "sample": self.sample, "reason": self.reason,
            "detail": self.detail, "notes": self.notes, "sha256": self.sha256, "tasks": self.tasks,
        }  # fmt: skip
        return {k: v for k, v in row.items() if v not in (None, "", [])}


def run(form: str, source: Path, name: str, root: Path = tree.PROJECT) -> tuple[str, int]:
    """Writes candidates/<name>; the summary, and how many kernels there are. Raises ReportError."""
    if _NAME.fullmatch(name) is None or _TAKEN.fullmatch(name):
        raise ReportError(
            f"'{name}' is no name for a run: take at most 64 letters, digits, _ and -, the first a "
            "letter or digit, and no word that the suite uses"
        )
    folder = root / "candidates" / name
    if os.path.lexists(folder):
        raise ReportError(f"candidates/{name} exists: choose another name, or remove it first")
    if not source.exists():
        raise ReportError(f"there is no {source}")
    if form == "kernelbook":
        entries, kernels = [_pair(p, root) for p in foreign.kernelbook(source)], {}
    else:
        readers = {
            "kernelbench": foreign.kernelbench, "cuda-l1": foreign.cuda_l1,
            "robust-kbench": foreign.robust_kbench,
        }  # fmt: skip
        entries, kernels = _kernels(list(readers[form](source)), form, root)
    if not entries:
        named = f": its files are called {foreign.RUN_FILE}" if form == "kernelbench" else ""
        raise ReportError(f"{source} holds nothing in the form of {form}{named}")
    text = summary(form, entries)
    with write.new_folder(folder) as new:
        facts = {"imported": form, "headers": ["torch"]}
        if (library := _library(kernels.values())) is not None:
            facts["library"] = library
        write.write_atomic(new / "run.json", write.as_json(facts))
        rows = {
            "format": form,
            "summary": text.splitlines(),
            "sources": [e.as_json() for e in entries],
        }
        write.write_atomic(new / "import.json", write.as_json(rows))
        for place, kernel in kernels.items():
            write.write_atomic(new / place, kernel, durable=False)
    return text, len(kernels)


def _kernels(programs: list[Program], form: str, root: Path) -> tuple[list[Entry], dict[str, str]]:
    """What became of each program, and the kernels by their places in the run."""
    numbers = {}
    for task in tree.tasks(root):
        level, slug = tree.split(task)
        numbers[level, int(slug[:3])] = task
    several = len({p.sample for p in programs if p.problem is None}) > 1
    entries, kernels, launches = [], {}, {}
    taken: set[tuple[str, str]] = set()
    for program in programs:
        sample = _sample(program.sample) if several else ""
        entry = Entry(program.origin, numbers.get((program.level, program.number)), sample)
        entries.append(entry)
        try:
            if program.problem is not None:
                raise Untranslatable(*program.problem)
            entry.sha256 = _hash(program.cuda or program.text)
            if entry.task is None:
                which = f"level {program.level}, number {program.number}"
                raise Untranslatable(foreign.NO_TASK, which)
            if (entry.task, sample) in taken:
                raise Untranslatable(DUPLICATE)
            taken.add((entry.task, sample))
            if entry.task not in launches:
                launches[entry.task] = _launch(entry.task, root)
            made = translate.translate(
                program.text, launches[entry.task], _line(f"{form}, {program.origin}"), program.cuda,
                program.settings,
            )  # fmt: skip
        except Untranslatable as e:
            entry.reason, entry.detail = e.kind, _line(e.detail)
            continue
        vendor = [f"calls {name}" for name in dict.fromkeys(_VENDOR.findall(made.source))]
        entry.notes = made.notes + vendor
        place = f"{entry.task}.cu"
        kernels[f"{sample}/{place}" if sample else place] = made.source
    return entries, kernels


def _launch(task: str, root: Path) -> launch.Launch:
    try:
        return launch.read(task, root)
    except ReportError as e:
        raise Untranslatable(NO_LAUNCH, str(e)) from None


def _library(kernels: Iterable[str]) -> str | None:
    """The vendor library that some kernel includes, as run.json calls it; cuDNN includes cuBLAS."""
    found = {name for kernel in kernels for name in _VENDOR.findall(kernel)}
    return "cudnn" if "cudnn" in found else "cublas" if found else None


def _sample(name: str) -> str:
    sample = f"s{name}" if name.isdigit() else name
    if _NAME.fullmatch(sample) is None or _TAKEN.fullmatch(sample):
        raise ReportError(
            f"'{name}' is no name for a sample: rename the file to letters and digits"
        )
    return sample


def _hash(text: str) -> str:
    # JSON may hold halves of characters, which no file can.
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _line(text: str) -> str:
    """Untrusted text as part of a line."""
    return " ".join(clean(text).split())[:300]


def summary(form: str, entries: list[Entry]) -> str:
    """How many were read and translated, and the reasons of the others with their details."""
    lines = []
    if form == "kernelbook":
        matched = [e for e in entries if e.tasks]
        lines.append(f"{len(entries)} read, {len(matched)} with the operators of a task")
    else:
        good = [e for e in entries if e.reason is None]
        partial = [e for e in good if any(n.startswith("only for some") for n in e.notes)]
        lines.append(f"{len(entries)} read, {len(good)} translated")
        if partial:
            lines.append(f"{len(partial)} of them only for some sizes, as import.json says")
        calling = [e for e in good if any(n.startswith("calls cu") for n in e.notes)]
        if calling:
            lines.append(f"{len(calling)} of them call a vendor library, which run.json declares")
    reasons = Counter(e.reason for e in entries if e.reason is not None)
    if reasons:
        lines.append("not translated:" if form != "kernelbook" else "no kernels:")
    width = len(str(max(reasons.values(), default=0)))
    for reason, count in reasons.most_common():
        lines.append(f"  {count:{width}}  {reason}")
        if form != "kernelbook":
            of_reason = [e for e in entries if e.reason == reason]
            lines += [f"  {'':{width}}    {line}" for line in _details(of_reason)]
    return "\n".join(lines) + "\n"


def _details(entries: list[Entry]) -> list[str]:
    """Details of one reason, the most common first, each with the first source that has it."""
    sources: dict[str, list[str]] = {}
    for e in entries:
        sources.setdefault(e.detail, []).append(e.origin)
    ordered = sorted(sources.items(), key=lambda item: -len(item[1]))
    lines = []
    for detail, origins in ordered[:MOST_DETAILS]:
        more = f" and {len(origins) - 1} more" if len(origins) > 1 else ""
        lines.append(f"{detail}: {origins[0]}{more}" if detail else f"{origins[0]}{more}")
    if len(ordered) > MOST_DETAILS:
        rest = sum(len(origins) for _, origins in ordered[MOST_DETAILS:])
        lines.append(f"{rest} others with {len(ordered) - MOST_DETAILS} other details")
    return lines


# KernelBook

_SAME_OPERATOR = {
    "convtranspose1d": "conv_transpose1d", "convtranspose2d": "conv_transpose2d",
    "convtranspose3d": "conv_transpose3d", "linear": "matmul", "gemm": "matmul", "mm": "matmul",
    "bmm": "matmul", "silu": "swish", "maxpool1d": "max_pool", "maxpool2d": "max_pool",
    "maxpool3d": "max_pool", "max_pool1d": "max_pool", "max_pool2d": "max_pool",
    "max_pool3d": "max_pool", "avgpool1d": "avg_pool", "avgpool2d": "avg_pool",
    "avgpool3d": "avg_pool", "avg_pool1d": "avg_pool", "avg_pool2d": "avg_pool",
    "avg_pool3d": "avg_pool", "batchnorm1d": "batch_norm", "batchnorm2d": "batch_norm",
    "batchnorm3d": "batch_norm", "groupnorm": "group_norm", "layernorm": "layer_norm",
    "instancenorm2d": "instance_norm", "instancenorm3d": "instance_norm", "leakyrelu": "leaky_relu",
    "logsoftmax": "log_softmax", "softmax": "softmax", "mseloss": "mse_loss",
    "crossentropyloss": "cross_entropy_loss", "cross_entropy": "cross_entropy_loss",
    "smoothl1loss": "huber_loss", "smooth_l1_loss": "huber_loss", "kldivloss": "kl_div_loss",
    "kl_div": "kl_div_loss", "tripletmarginloss": "triplet_margin_loss", "hardswish": "hardswish",
    "hardsigmoid": "hard_sigmoid",
}  # fmt: skip
_IGNORED = {"view", "reshape", "size", "contiguous", "flatten", "float", "unsqueeze", "squeeze",
            "permute", "transpose", "dim", "identity", "sequential", "to", "type", "expand",
            "len", "range", "super", "int", "print"}  # fmt: skip


def _pair(pair: Pair, root: Path) -> Entry:
    """A row of KernelBook: which tasks have its operators. It holds no kernel for this suite."""
    entry = Entry(pair.origin, reason=NO_CUDA, detail=_line(pair.name))
    if pair.problem is not None:
        entry.reason, entry.detail = pair.problem
        return entry
    entry.sha256 = _hash(pair.text)
    try:
        found = operators(translate.parse(pair.text), pair.name)
    except Untranslatable as e:
        entry.reason, entry.detail = e.kind, e.detail
        return entry
    entry.tasks = [
        t for t, wanted in _operators_of_tasks(root).items() if found and wanted == found
    ]
    if pair.has_cuda:
        entry.reason = follow_state.NO_EXTENSION
    return entry


def operators(module: ast.Module, name: str) -> list[str]:
    """The operators that forward of the class `name` calls, in the order of the text."""
    classes = {n.name: n for n in module.body if isinstance(n, ast.ClassDef)}
    if name not in classes:
        return []
    methods = {n.name: n for n in classes[name].body if isinstance(n, ast.FunctionDef)}
    layers = {}
    for node in ast.walk(methods.get("__init__", ast.Pass())):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    layers[target.attr] = _last(node.value.func)
    found = []
    calls = [n for n in ast.walk(methods.get("forward", ast.Pass())) if isinstance(n, ast.Call)]
    for call in sorted(calls, key=lambda c: (c.end_lineno or 0, c.end_col_offset or 0)):
        own = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "self"
        called = layers.get(call.func.attr, call.func.attr) if own else _last(call.func)
        called = _SAME_OPERATOR.get(called.lower(), called.lower())
        if called not in _IGNORED:
            found.append(called)
    return found


def _last(node: ast.expr) -> str:
    """The last name of a dotted one, or of the function of a call; no operator's name otherwise."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _operators_of_tasks(root: Path) -> dict[str, list[str]]:
    """The operators in the names of the tasks of level 1 and 2, as far as they are such names."""
    found = {}
    for (level, task), row in model.all_facts().items():
        if level > 2:
            continue
        words = re.sub(r"\.py$", "", row["upstream"]).split("_")[1:]
        words = [w for w in words if w]
        if level == 1:
            words = ["_".join(words)]
        found[f"level{level}/{task}"] = [_SAME_OPERATOR.get(w.lower(), w.lower()) for w in words]
    return found
