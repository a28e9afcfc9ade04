"""What a report is made from: candidates with their results, machines, and what went wrong."""

from __future__ import annotations

import difflib
import fnmatch
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

# Exit statuses of the program.
OK = 0
BAD_INPUT = 1  # a report was written, but some input was bad or a gate found a regression
USAGE = 2  # nothing could be done: wrong arguments, no manifest, output not writable
REFUSED = 3  # the inputs must not be compared or merged
NO_PAGE = 77  # everything but index.html was written, because Jinja2 is missing

PRIMARY_LANE = "eager"

# States of a candidate. Only "judged" has a result that counts.
JUDGED = "judged"
STALE = "stale"
NO_RESULT = "no_result"
BAD_RESULT = "bad_result"
BUILT_ONLY = "built_only"

STATE_WORDS = {
    STALE: "not judged (stale)",
    NO_RESULT: "not judged (no result)",
    BAD_RESULT: "not judged (bad result file)",
    BUILT_ONLY: "not judged (only built)",
}

# Why a result is stale, or will be after the next build.
SOURCE_CHANGED = "source changed: rebuild"

VERDICTS = (
    "pass",
    "incorrect",
    "compile_error",
    "runtime_error",
    "timeout",
    "cheat",
    "policy_violation",
    "skipped",
    "degenerate",
)


# What a report keeps of a record of kb_validity.
VALIDITY_KEYS = (
    "level", "task", "killed", "applicable", "survivors", "equivalent", "degenerate", "canary",
)  # fmt: skip


class ReportError(Exception):
    """A sentence for the user that ends the program; `status` is the exit status."""

    def __init__(self, message: str, status: int = USAGE):
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Problem:
    """A bad input. kind: empty, truncated, not_json, foreign, schema, invalid, duplicate, unreadable."""

    kind: str
    path: str
    message: str

    def as_json(self) -> dict[str, str]:
        return {"kind": self.kind, "path": self.path, "message": self.message}


class BadReport(ReportError):
    """A report or build directory that cannot be used: named and left out where others remain."""

    def __init__(self, kind: str, path: Path | str, message: str):
        super().__init__(f"{path} {message}")
        self.problem = Problem(kind, str(path), message)


def _matching(globs: list[str], names: set[str], what: str) -> set[str]:
    """The names that match one of the globs; all without any. Raises ReportError."""
    for glob in globs:
        if not fnmatch.filter(names, glob):
            there = sorted(names, key=natural_key) or ["none"]
            verb = "is" if len(there) == 1 else "are"
            raise ReportError(f"no {what} here matches '{glob}'; there {verb} {first_names(there)}")
    return {name for glob in globs for name in fnmatch.filter(names, glob)} if globs else names


def first_names(names: Sequence[str], shown: int = 5) -> str:
    """The first names, and how many more there are."""
    more = len(names) - shown
    text = ", ".join(names[:shown])
    return f"{text}, and {more} more" if more > 0 else text


def cut(names: Sequence[str], most: int = 8) -> str:
    """The first names, and dots for the others, where their number is told already."""
    return ", ".join(names[:most]) + (" \u2026" if len(names) > most else "")


def _shown(names: list[str], most: int = 8) -> str:
    """The names of candidates; of many how many each run has, since a folder may hold hundreds."""
    runs = Counter(name.partition(".")[0] for name in names)
    if len(names) <= most or len(runs) == 1:
        return cut(names, most)
    return cut([f"{n} of {run}" for run, n in runs.most_common()], most)


@dataclass
class Suite:
    """Everything one report is about.

    levels: level -> its tasks; their number is N.
    candidates: records as described in reports/schema/results.schema.json, sorted by name.
    machines: fingerprint key -> {"host", "gpu", "torch"} for every machine that judged.
    validity: for tasks that were assessed, VALIDITY_KEYS of their records.
    named: notes about candidates: a sentence with their number -> their names.
    time: when the report was made that this was read from, None for a build directory.
    tree: where the sources of candidates and tasks are, None if that is unknown.
    build_dir: the build directory that this was read from, None for a report.
    """

    backend: str
    preset: str
    levels: dict[int, list[str]]
    candidates: list[dict[str, Any]]
    runs_info: dict[str, dict[str, Any]] = field(default_factory=dict)
    harness: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    machines: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    baselines: list[dict[str, Any]] = field(default_factory=list)
    validity: list[dict[str, Any]] = field(default_factory=list)
    named: dict[str, list[str]] = field(default_factory=dict)
    time: str | None = None
    tree: Path | None = None
    build_dir: Path | None = None

    def runs(self) -> list[str]:
        """Names of the runs, the shipped seed first."""
        names = {c["run"] for c in self.candidates} | set(self.runs_info)
        return sorted(names, key=lambda r: (r != "seed", natural_key(r)))

    def of(self, run: str, level: int | None = None) -> list[dict[str, Any]]:
        """Candidates of a run, of one level where given."""
        return [
            c for c in self.candidates if c["run"] == run and (level is None or c["level"] == level)
        ]

    def tasks_of(self, run: str, level: int) -> list[str]:
        """The tasks of a level that a run enters; their number is its N.

        All, unless its run.json chooses some. What it has kernels for counts in any case: in
        reports of before the choice had an effect they were counted.
        """
        tasks = self.levels.get(level, [])
        globs = chosen_tasks(self.runs_info.get(run, {}))
        if not globs:
            return tasks
        there = {c["task"] for c in self.of(run, level)}
        return [t for t in tasks if t in there or _is_chosen(f"level{level}/{t}", globs)]

    def told(self) -> list[str]:
        """All notes but choices()."""
        found = [
            f"{text.format(len(names))}: {_shown(names)}"
            for text, names in self.named.items()
            if names
        ]
        return [*self.notes, *found]

    def choices(self) -> list[str]:
        """A sentence for each run that enters only some tasks."""
        found = []
        for run in self.runs():
            globs = chosen_tasks(self.runs_info.get(run, {}))
            if globs:
                n = sum(len(self.tasks_of(run, level)) for level in self.levels)
                found.append(
                    f"{run} is judged by {n} task(s) alone, those that its run.json chooses "
                    f"({first_names(globs)}): its N counts these, not the whole of a level"
                )
        return found

    def narrow(self, runs: list[str], tasks: list[str]) -> None:
        """Leave only runs and tasks (levelN/NNN_slug) that match one of the globs.

        N of a level is then the number of its tasks that are left. No glob is all of them. Raises
        ReportError for a glob that matches nothing.
        """
        named = {f"level{level}/{task}" for level, of in self.levels.items() for task in of}
        kept_runs, kept = _matching(runs, set(self.runs()), "run"), _matching(tasks, named, "task")
        if runs:
            self.notes.append(f"only the runs that match {' or '.join(runs)} are in these tables")
        if tasks:
            self.notes.append(
                f"only the tasks that match {' or '.join(tasks)} are in these tables: N counts "
                "these, not the whole of a level"
            )

        def is_kept(record: dict[str, Any]) -> bool:
            return f"level{record['level']}/{record['task']}" in kept

        for text, about in self.named.items():
            parts = {name: name.split(".") for name in about}  # no name holds a dot
            self.named[text] = [
                name
                for name, found in parts.items()
                if (not runs or found[0] in kept_runs)
                and (not tasks or "/".join(found[-2:]) in kept)
            ]
        self.levels = {
            level: left
            for level, of in self.levels.items()
            if (left := [task for task in of if f"level{level}/{task}" in kept])
        }
        self.candidates = [c for c in self.candidates if c["run"] in kept_runs and is_kept(c)]
        self.runs_info = {run: info for run, info in self.runs_info.items() if run in kept_runs}
        self.validity = [v for v in self.validity if is_kept(v)]

    def candidate(self, name: str) -> dict[str, Any]:
        """The candidate of this name. Raises ReportError, with the names that are most like it."""
        names = [c["name"] for c in self.candidates]
        if name in names:
            return self.candidates[names.index(name)]
        like = [n for n in names if n.endswith(f".{name}")]
        like = like or difflib.get_close_matches(name, names) or [n for n in names if name in n]
        hint = f"; did you mean {', '.join(like[:3])}?" if like else ""
        raise ReportError(f"there is no candidate {name}{hint}")

    def categories(self, level: int, tasks: list[str] | None = None) -> dict[str, str]:
        """task -> category for every task of the level, or for those that are given."""
        said = {
            c["task"]: c["category"]
            for c in self.candidates
            if c["level"] == level and c.get("category")
        }
        return {
            t: said.get(t) or task_facts(level, t).get("category") or "other"
            for t in (self.levels.get(level, []) if tasks is None else tasks)
        }


def chosen_tasks(info: dict[str, Any]) -> list[str]:
    """Names or globs of the tasks that the run.json of a run chooses; [] for all."""
    globs = info.get("tasks")
    if not isinstance(globs, list) or not all(isinstance(g, str) for g in globs):
        return []  # harness/cmake/KbRuns.cmake refuses it; of an old report it had no effect
    return globs


def _is_chosen(task: str, globs: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(task, glob) for glob in globs)


def are_turns(info: dict[str, Any]) -> bool:
    """True if the run.json of a run says that its samples are refinement turns."""
    return info.get("samples_are") == "turns"


def natural_key(text: str | None) -> list[Any]:
    """Sort key that puts s2 before s10 and None first."""
    if text is None:
        return []
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in re.split(r"(\d+)", text) if p]


def candidate_name(c: dict[str, Any]) -> str:
    """The only name that a candidate may have: run[.sample].levelN.task."""
    return ".".join(p for p in (c["run"], c["sample"], f"level{c['level']}", c["task"]) if p)


def candidate_key(c: dict[str, Any]) -> tuple[Any, ...]:
    """Sort key of candidates: run (seed first), level, sample, task."""
    return (
        c["run"] != "seed",
        natural_key(c["run"]),
        c["level"],
        natural_key(c["sample"]),
        c["task"],
        c.get("machine") or "",
    )


@cache
def all_facts() -> dict[tuple[int, str], dict[str, Any]]:
    """Fixed facts of all tasks, by level and name."""
    path = Path(__file__).resolve().parent / "data" / "tasks.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {(r["level"], r["task"]): r for r in rows}


def task_facts(level: int, task: str) -> dict[str, Any]:
    """Fixed facts of a task: category, number of ATen operators, upstream file name. {} if unknown."""
    return all_facts().get((level, task), {})


def category(record: dict[str, Any]) -> str | None:
    """The category of a candidate's task, for results that do not say it."""
    return task_facts(record["level"], record["task"]).get("category")


DIFFICULTIES = (
    "1 operator",
    "2-4 operators",
    "5-10 operators",
    "11-50 operators",
    "over 50 operators",
    "whole model",
    "unknown",
)


def difficulty(level: int, task: str) -> str:
    """Band of the number of ATen operator calls of the reference; 'whole model' for level 4."""
    facts = task_facts(level, task)
    if not facts:
        return "unknown"
    n = facts["operators"]
    if n is None:
        return "whole model"
    for limit, name in zip((1, 4, 10, 50), DIFFICULTIES):
        if n <= limit:
            return name
    return "over 50 operators"


def task_number(task: str) -> int | None:
    """Upstream's problem id: the number that a task's name starts with."""
    m = re.match(r"(\d+)_", task)
    return int(m.group(1)) if m else None


def machine_key(machine: dict[str, Any] | None) -> str:
    """Fingerprint that has to be equal for times to be comparable.

    On a GPU: name, driver, CUDA run time. Without one: the CPU and its number of cores.
    """
    machine = machine or {}
    gpu = machine.get("gpu")
    host = machine.get("host") or {}
    if gpu:
        parts = [gpu.get("name"), gpu.get("driver"), gpu.get("cuda_runtime")]
    else:
        parts = [host.get("cpu"), f"{host.get('cores')} cores" if host.get("cores") else None]
    return " | ".join(str(p) for p in parts if p) or "unknown machine"


def machine_name(machine: dict[str, Any] | None) -> str:
    """What a machine is called in a heading: its GPU, or else its CPU."""
    machine = machine or {}
    gpu, host = machine.get("gpu") or {}, machine.get("host") or {}
    return gpu.get("name") or host.get("cpu") or "unknown machine"


_STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\uffff\U000e0000-\U000e0fff]"
)


def clean(text: str | None) -> str:
    """Text that came from a candidate or its compiler, without control characters.

    Nor those that end a line, cannot be seen, or turn the direction of what follows, so that it
    reads other than it is.
    """
    if not text:
        return ""
    text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text.replace("\r\n", "\n"))
    return _STEERING.sub("\ufffd", text)


def one_line(text: str | None, limit: int = 200) -> str:
    """The text on one line, cut to `limit` characters."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "\u2026"
