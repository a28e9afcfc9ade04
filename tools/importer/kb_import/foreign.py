"""Reads kernels in the forms of other projects: what `tools/import` takes.

Reads only; of a source that cannot be read a Program with a `problem` remains, so that it is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_report.model import ReportError

FORMATS = ("kernelbench", "cuda-l1", "robust-kbench", "kernelbook")

MOST_FILE = 1_000_000  # bytes of one source
MOST_JSON = 2_000_000_000

RUN_FILE = "level_<L>_problem_<N>_sample_<S>_kernel.py"
_RUN_FILE = re.compile(r"(?:level_(\d+)_)?problem_(\d+)(?:_sample_(\d+))?_kernel\.py")
_RUN_LEVEL = re.compile(r"level_?(\d+)", re.IGNORECASE)
_ROBUST_TASK = re.compile(r"level_(\d+)/task_(\d+)(?:/|$)")
# Tasks of robust-kbench's own that are one of ours.
_ROBUST_NAMES = {"layernorm": (1, 40)}

UNREADABLE = "cannot be read"
NO_TASK = "belongs to no task of this suite"
MISSING = "lacks a column"
EMPTY = "has no source"
NO_NAME = "has a name that says no task"


@dataclass
class Program:
    """One kernel of a collection, as its author wrote it."""

    origin: str
    """Where it comes from, as a path or an entry below the source."""
    level: int | None = None
    number: int | None = None
    sample: str = ""
    text: str = ""
    cuda: str | None = None
    """robust-kbench's extension; `text` is the Python around it then."""
    settings: dict[str, Any] = field(default_factory=dict)
    problem: tuple[str, str] | None = None
    """Why it cannot be used: a heading and a detail."""


@dataclass
class Pair:
    """A row of KernelBook: a module of PyTorch, and Triton."""

    origin: str
    name: str
    text: str
    has_cuda: bool
    problem: tuple[str, str] | None = None


def kernelbench(source: Path) -> Iterator[Program]:
    """A run folder: level_1_problem_19_sample_0_kernel.py and so on.

    Scripts around KernelBench write problem_19_kernel.py into a folder whose name has the level.
    """
    if not source.is_dir():
        raise ReportError(f"{source} is no folder: give KernelBench's folder of the run")
    levels = set(_RUN_LEVEL.findall(source.resolve().name))
    level_of_folder = levels.pop() if len(levels) == 1 else None
    paths = sorted(source.glob("*.py"), key=lambda p: _natural(p.name))
    if not paths and (inner := sorted(p.parent.name for p in source.glob("*/*_kernel.py"))):
        raise ReportError(f"{source} holds no kernels: give one of its folders, such as {inner[0]}")
    if not any(_RUN_FILE.fullmatch(p.name) for p in paths):
        return
    for path in paths:
        match = _RUN_FILE.fullmatch(path.name)
        level = match and (match[1] or level_of_folder)
        if not level:
            yield Program(path.name, problem=(NO_NAME, f"call it {RUN_FILE}"))
            continue
        text, problem = _text(path)
        yield Program(path.name, int(level), int(match[2]), match[3] or "0", text, problem=problem)


def cuda_l1(source: Path) -> Iterator[Program]:
    """JSON with level_id, task_id and custom_code; of a folder each file is a sample."""
    files = sorted(source.glob("*.json")) if source.is_dir() else [source]
    if not files:
        raise ReportError(f"{source} holds no .json: give CUDA-L1's file or its folder")
    for path in files:
        sample = path.stem if source.is_dir() else ""
        for place, row in _rows(path):
            origin = f"{path.name} {place}"
            if not isinstance(row, dict):
                yield Program(origin, problem=(UNREADABLE, str(row)))
                continue
            lacking = [k for k in ("level_id", "task_id", "custom_code") if k not in row]
            if lacking:
                yield Program(origin, problem=(MISSING, ", ".join(lacking)))
                continue
            level, number, code = row["level_id"], row["task_id"], row["custom_code"]
            numbers = [
                int(v) if re.fullmatch(r"\d{1,4}", str(v)) else None for v in (level, number)
            ]
            if None in numbers:
                problem = (NO_TASK, f"level_id {str(level)[:40]}, task_id {str(number)[:40]}")
                yield Program(origin, problem=problem)
            elif not isinstance(code, str) or not code.strip():
                yield Program(origin, *numbers, sample, problem=(EMPTY, ""))
            else:
                yield Program(origin, *numbers, sample, code)


def robust_kbench(source: Path) -> Iterator[Program]:
    """Folders with .cu files; the Python around them is func_forward.py there or further up."""
    if not source.is_dir():
        raise ReportError(f"{source} is no folder: give robust-kbench's folder of kernels")
    seen: dict[str, int] = {}
    for path in sorted(source.rglob("*.cu"), key=lambda p: _natural(str(p))):
        origin = path.relative_to(source).as_posix()
        text, problem = _text(path)
        match = _ROBUST_TASK.search(origin)
        parts = origin.split("/")
        known = next((_ROBUST_NAMES[p] for p in parts if p in _ROBUST_NAMES), None)
        level, number = (int(match[1]), int(match[2])) if match else known or (None, None)
        sample = str(seen.get(f"{level}/{number}", 0))
        program = Program(origin, level, number, sample, cuda=text, problem=problem)
        around = _above(path, source, "func_forward.py")
        if problem is None and "backward" in origin:
            program.problem = (NO_TASK, "it computes gradients")
        elif problem is None and level is None:
            program.problem = (NO_TASK, parts[0] if len(parts) < 2 else "/".join(parts[:-1]))
        elif problem is None and around is None:
            program.problem = (UNREADABLE, "there is no func_forward.py in its folder or above")
        elif problem is None:
            program.text, program.problem = _text(around)
            program.settings = _settings(around.parent / "config_forward.json")
            seen[f"{level}/{number}"] = int(sample) + 1
        yield program


def _above(path: Path, top: Path, name: str) -> Path | None:
    """The nearest file of this name beside or above, not outside of `top`.

    Kernels lie apart from tasks, too: then it is that of tasks/<the same folders>.
    """
    for folder in path.parents:
        if not folder.is_relative_to(top):
            break
        for place in (folder / name, top / "tasks" / folder.relative_to(top) / name,
                      top / "tasks" / folder.name / name):  # fmt: skip
            if place.is_file() and not place.is_symlink():
                return place
    return None


def _settings(path: Path) -> dict[str, Any]:
    """Arguments of __init__: the first of those that robust-kbench tries."""
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    settings: dict[str, Any] = {}
    for key in ("single_shared_configs", "single_init_configs", "multi_init_settings"):
        value = config.get(key) if isinstance(config, dict) else None
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, dict):
            settings |= value
    return settings


def kernelbook(source: Path) -> Iterator[Pair]:
    """Rows with PyTorch and Triton."""
    for place, row in _rows(source):
        origin = f"{source.name} {place}"
        if not isinstance(row, dict):
            yield Pair(origin, "", "", False, (UNREADABLE, str(row)))
            continue
        text = row.get("pytorch_code", row.get("python_code"))
        name = row.get("entry_point", row.get("module_name"))
        if not isinstance(text, str) or not isinstance(name, str):
            lacking = "pytorch_code" if not isinstance(text, str) else "entry_point"
            yield Pair(origin, "", "", False, (MISSING, lacking))
            continue
        yield Pair(origin, name, text, isinstance(row.get("cuda_code"), str))


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Rows of a JSON list, of an object of lists, or of lines; a text in place of a bad line."""
    try:
        if path.stat().st_size > MOST_JSON:
            raise ReportError(f"{path} is larger than {MOST_JSON // 10**9} GB: split it into lines")
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as e:
        raise ReportError(f"cannot read {path}: {e.strerror}") from None
    except UnicodeDecodeError:
        raise ReportError(f"{path} is not UTF-8: convert it first") from None
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError) as e:
        lines = content.splitlines()
        if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
            raise ReportError(
                f"{path} is no JSON ({e}): give a list, or one object per line"
            ) from None
        for i, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield f"line {i}", json.loads(line)
            except (ValueError, RecursionError) as problem:
                yield f"line {i}", f"no JSON: {problem}"
        return
    if isinstance(whole, dict) and "custom_code" not in whole:
        # CUDA-L1's second form: level -> rows without it.
        for level, rows in whole.items():
            for i, row in enumerate(rows if isinstance(rows, list) else [rows], 1):
                if isinstance(row, dict):
                    row = {"level_id": level, **row}
                yield f"level {level[:20]} entry {i}", row
        return
    for i, row in enumerate(whole if isinstance(whole, list) else [whole], 1):
        yield f"entry {i}", row


def _text(path: Path) -> tuple[str, tuple[str, str] | None]:
    """The text of a source, or why there is none."""
    if path.is_symlink() or not path.is_file():
        return "", (UNREADABLE, "it is a link or no file")
    try:
        if path.stat().st_size > MOST_FILE:
            return "", ("is larger than 1 MB", f"{path.stat().st_size} bytes")
        return path.read_bytes().decode("utf-8-sig"), None
    except OSError as e:
        return "", (UNREADABLE, e.strerror or "error")
    except UnicodeDecodeError:
        return "", (UNREADABLE, "it is not UTF-8")


def _natural(name: str) -> list[Any]:
    return [(1, int(p), "") if p.isdecimal() else (0, 0, p) for p in re.split(r"(\d+)", name) if p]
