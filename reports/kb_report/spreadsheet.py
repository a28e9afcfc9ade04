"""results.csv, a row per candidate and lane, and tasks.csv, a row per run and task."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

from kb_report import metrics, rollup, write
from kb_report.metrics import THRESHOLDS, Outcome
from kb_report.model import PRIMARY_LANE, are_turns, category, clean, natural_key, one_line

Row = dict[str, Any]

NOT_PROVIDED = "not_provided"  # the state of a row without a candidate


def _of_result(*keys: str) -> Callable[[Row], Any]:
    """A member of a row's result, by the names of those that lead to it."""

    def value(row: Row) -> Any:
        found = row["result"] or {}
        for key in keys:
            found = (found or {}).get(key)
        return found

    return value


def _counted(value: Callable[[Row], Any]) -> Callable[[Row], Any]:
    """What may be added up stands in one row of a candidate, whatever the number of its lanes."""
    return lambda row: value(row) if row["counts"] else None


def _flag(name: str) -> Callable[[Row], Any]:
    return _counted(lambda row: int(getattr(row["outcome"], name)))


RESULTS: dict[str, Callable[[Row], Any]] = {
    **{key: lambda row, key=key: row[key] for key in ("run", "sample", "level", "task")},
    "category": lambda row: row.get("category") or category(row),
    "counts": lambda row: row["counts"],
    "state": lambda row: row["state"],
    "verdict": _of_result("verdict"),
    "stage": _of_result("stage"),
    "judged": _flag("judged"),
    "compiled": _flag("compiled"),
    "correct": _flag("correct"),
    "functional": lambda row: row["functional"],
    "lane": lambda row: row["lane"],
    **{
        key: lambda row, key=key: row["times"].get(key)
        for key in (
            "reference_ms", "candidate_ms", "speedup", "ci_lo", "ci_hi", "confidence", "blocks",
        )
    },
    "verdict_at_1": lambda row: write.verdict_at(row["outcome"], 1.0) if row["times"] else None,
    "speed_of_light_fraction": _counted(_of_result("timing", "speed_of_light", "fraction")),
    "prepare_ms": _counted(_of_result("timing", "prepare", "ms")),
    "prepare_bytes": _counted(_of_result("timing", "prepare", "bytes")),
    "most_depends_on_weights": _counted(
        _of_result("timing", "work", "weights_alone", "most")
    ),
    "build_seconds": _counted(_of_result("build", "seconds")),
    "max_registers": _counted(lambda row: write.resources(row["result"])["registers"]),
    "spill_bytes": _counted(lambda row: write.resources(row["result"])["spill_bytes"]),
    "contract": _of_result("correctness", "contract"),
    "sizes": _of_result("timing", "sizes"),
    "machine": lambda row: row["machine"],
    "evidence": lambda row: one_line((row["result"] or {}).get("evidence") or row["reason"], 500),
}  # fmt: skip


def results(doc: dict[str, Any]) -> str:
    """results.csv: a row per candidate and lane, and one for each candidate that N counts in vain."""
    rows = (row for c in [*doc["candidates"], *_missing(doc)] for row in _rows(c))
    return text(RESULTS, rows)


def _rows(c: Row) -> Iterator[Row]:
    """A candidate's rows: its lanes, first the primary one, or one row without times."""
    timing = (c["result"] or {}).get("timing") or {}
    lanes = timing.get("lanes") or {}
    functional = metrics.is_functional(c["result"]) if timing else None
    for i, lane in enumerate(sorted(lanes, key=lambda x: x != PRIMARY_LANE) or [None]):
        yield c | {
            "counts": int(i == 0),
            "lane": lane,
            "times": lanes.get(lane, {}),
            "functional": functional,
            "outcome": metrics.outcome(c, lane or PRIMARY_LANE),
        }


def _missing(doc: dict[str, Any]) -> Iterator[Row]:
    """A row for each sample that a task lacks."""
    suite = rollup.suite_of(doc)
    there = {(c["run"], c["sample"], c["level"], c["task"]) for c in doc["candidates"]}
    for run in doc["runs"]:
        for level in run["levels"]:
            number = level["level"]
            tasks = suite.tasks_of(run["run"], number)
            for sample in (row["sample"] for row in level["samples"]):
                for task in tasks:
                    if (run["run"], sample, number, task) not in there:
                        yield {
                            "run": run["run"], "sample": sample, "level": number, "task": task,
                            "state": NOT_PROVIDED, "reason": "no candidate was provided",
                            "machine": None, "result": None,
                        }  # fmt: skip


def tasks(doc: dict[str, Any]) -> str:
    """tasks.csv: n, c, pass@k and fast_p@k of each task of each run; of turns the first that succeeds."""
    most = max((len(lv["samples"]) for run in doc["runs"] for lv in run["levels"]), default=1)
    ks = sorted({k for n in range(1, most + 1) for k in metrics.k_values(n)})
    return text(_task_columns(ks), _task_rows(doc))


def _task_columns(ks: list[int]) -> dict[str, Callable[[Row], Any]]:
    shared = ("run", "level", "task", "category", "samples_are", "n")
    found: dict[str, Callable[[Row], Any]] = {k: lambda row, k=k: row[k] for k in shared}
    for p in THRESHOLDS:
        name = "pass" if p == 0 else f"fast_{p:g}"
        found["c" if p == 0 else f"c_{name}"] = lambda row, p=p: (
            None if _no_times(row, p) else sum(_hits(row, p))
        )
        found |= {f"{name}_at_{k}": lambda row, p=p, k=k: _at_k(row, p, k) for k in ks}
        found[f"first_turn_{name}"] = lambda row, p=p: _first(row, p)
    return found


def _task_rows(doc: dict[str, Any]) -> Iterator[Row]:
    suite = rollup.suite_of(doc)
    by_task: dict[tuple[Any, ...], dict[str | None, Outcome]] = {}
    for c in doc["candidates"]:
        key = (c["run"], c["level"], c["task"])
        by_task.setdefault(key, {})[c["sample"]] = metrics.outcome(c)
    for run in doc["runs"]:
        turns = are_turns(run["info"])
        for level in run["levels"]:
            samples = sorted((row["sample"] for row in level["samples"]), key=natural_key)
            for task in suite.tasks_of(run["run"], level["level"]):
                row = {"run": run["run"], "level": level["level"], "task": task, "n": len(samples)}
                found = by_task.get((run["run"], level["level"], task), {})
                yield row | {
                    "category": category(row),
                    "samples_are": "turns" if turns else "samples",
                    "functional": level["functional"],
                    "outcomes": [found.get(s) for s in samples],
                }


def _hits(row: Row, p: float) -> list[bool]:
    return [o is not None and o.wins(p) for o in row["outcomes"]]


def _at_k(row: Row, p: float, k: int) -> float | None:
    """Empty where turns are no independent samples, and where there are fewer than k."""
    if row["samples_are"] == "turns" or k not in metrics.k_values(row["n"]) or _no_times(row, p):
        return None
    return metrics.pass_at_k(row["n"], sum(_hits(row, p)), k)


def _first(row: Row, p: float) -> int | None:
    """Which turn succeeds first, from 1; empty where none does, and where samples are no turns."""
    hits = _hits(row, p)
    return hits.index(True) + 1 if row["samples_are"] == "turns" and any(hits) else None


def _no_times(row: Row, p: float) -> bool:
    return p > 0 and row["functional"]


def text(columns: dict[str, Callable[[Row], Any]], rows: Iterator[Row]) -> str:
    """A table as CSV, with a heading."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value(row)) for value in columns.values()])
    return out.getvalue()


def _cell(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe in front."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = clean(value)
    return "'" + text if text.lstrip()[:1] in ("=", "+", "-", "@") else text
