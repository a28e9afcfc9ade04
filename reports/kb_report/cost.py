"""Where the wall time of judging goes: the seconds of each step, and of each phase of a bench."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

from kb_report import columns, metrics
from kb_report.columns import Column
from kb_report.stats import percentile_90

_ARMS = ("reference", "candidate")
# While the program loads, another judge may have the GPU.
_WITHOUT_GPU = "load"
_PHASES = (
    _WITHOUT_GPU,
    "start",
    "inputs",
    "expected",
    "oracle",
    "recording",
    "waking",
    "checks",
    "end",
    "other",
)


def held_seconds(phases: dict[str, float]) -> float:
    """Seconds for which a bench had its GPU, given its `wall_seconds`."""
    return math.fsum(seconds for phase, seconds in phases.items() if phase != _WITHOUT_GPU)


def of_phases(benches: Iterable[dict[str, float]]) -> list[dict[str, Any]]:
    """Rows of median, 90th percentile and sum in seconds, given `wall_seconds` of each bench.

    Timed units are those of reference and candidate, protocol is everything else that holds the
    GPU; the rows that follow are phases.
    """
    found = list(benches)
    if not found:
        return []
    arms = [sum(bench.get(arm, 0.0) for arm in _ARMS) for bench in found]
    protocol = [held_seconds(b) - own for b, own in zip(found, arms, strict=True)]
    rows = [_row("bench: timed units", arms), _row("bench: protocol", protocol)]
    for phase in _PHASES:
        if any(phase in bench for bench in found):
            rows.append(_row(phase, [bench.get(phase, 0.0) for bench in found]))
    return rows


def of_candidates(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """The same for a results document, after rows for compiling and checking; [] where nothing was
    timed on a GPU."""
    results = [c["result"] for c in doc["candidates"] if c["result"]]
    timed = [r for r in results if _phases(r)]
    if not timed:
        return []
    compiled = [(r.get("build") or {}).get("seconds") or 0.0 for r in timed]
    checked = [
        sum(s.get("seconds") or 0.0 for s in (r.get("correctness") or {}).get("sets") or [])
        for r in timed
    ]
    return [
        _row("compile", compiled),
        _row("correct", checked),
        *of_phases(map(_phases, timed)),
    ]


def markdown(rows: list[dict[str, Any]], what: str) -> str:
    """The rows as a table; '' without."""
    if not rows:
        return ""
    return "\n".join(columns.markdown(table(what), [[row] for row in rows])) + "\n"


def table(what: str) -> list[Column]:
    """Columns of these rows; what: what they are seconds of."""
    return [
        Column(f"seconds per {what}", lambda r: f"{'– ' * r['phase']}{r['name']}", left=True),
        Column("median", lambda r: f"{r['median']:.2f}"),
        Column("p90", lambda r: f"{r['p90']:.2f}"),
        Column("all", lambda r: f"{r['sum']:.0f}"),
    ]


def _phases(result: dict[str, Any]) -> dict[str, float]:
    if metrics.is_functional(result):
        return {}
    return (result.get("timing") or {}).get("wall_seconds") or {}


def _row(name: str, seconds: list[float]) -> dict[str, Any]:
    return {
        "name": name,
        "phase": name in _PHASES,
        "median": statistics.median(seconds),
        "p90": percentile_90(seconds),
        "sum": math.fsum(seconds),
    }
