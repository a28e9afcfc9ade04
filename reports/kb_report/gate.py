"""Decides whether a report is significantly worse than an earlier one on the same machine, and names what is better."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from kb_report import merge, metrics, stats, tables
from kb_report.model import JUDGED, PRIMARY_LANE, REFUSED, STATE_WORDS, ReportError, Suite

SHOWN = 10


def gate(
    base: Suite,
    current: Suite,
    tolerance: float = 0.02,
    alpha: float = 0.01,
    lane: str = PRIMARY_LANE,
    allow_mixed: bool = False,
    partial: bool = False,
) -> dict[str, Any]:
    """Compare candidate by candidate; `regressions` is empty if the gate is open.

    A candidate regresses if it passed and no longer does, if it had a time in the lane and has none
    now, or if its speed-up fell by more than `tolerance` (a share) with a Holm-adjusted one-sided
    p-value below `alpha`; `faster` are those whose speed-up rose by more than that. partial: what was
    not judged or timed now is no regression.

    Raises ReportError where nothing can be compared, with status REFUSED if machine, harness or
    tasks differ.
    """
    merge.require_lane([base, current], lane)
    reasons = merge.differences([base, current], ["base", "current"], same_machine=True)
    if reasons and not allow_mixed:
        raise ReportError(
            f"refused to gate: {'; '.join(reasons)}. --allow-mixed does it all the same", REFUSED
        )
    _require_something(base, current, partial)
    now = {c["name"]: c for c in current.candidates}
    lost: list[dict[str, Any]] = []
    slower: list[dict[str, Any]] = []
    faster: list[dict[str, Any]] = []
    passed = 0
    for before in base.candidates:
        if not metrics.outcome(before).correct:
            continue
        after = now.get(before["name"])
        if partial and (after is None or after["state"] != JUDGED):
            continue
        passed += 1
        if after is None or not metrics.outcome(after).correct:
            lost.append({"name": before["name"], "now": _now(after)})
            continue
        row = _change(before, after, math.log1p(-tolerance), lane)
        if row is not None:
            slower.append(row)
            faster.append(_change(before, after, math.log1p(tolerance), lane))
        elif not partial and metrics.outcome(before, lane).speedup is not None:
            lost.append({"name": before["name"], "now": f"without a time in lane {lane}"})
    worse = _significant(slower, alpha)
    return {
        "mixed": reasons,
        "tolerance": tolerance,
        "alpha": alpha,
        "compared": passed,
        "timed": len(slower),
        "lost": lost,
        "slower": sorted(worse, key=lambda r: r["ratio"]),
        "faster": sorted(_significant(faster, alpha), key=lambda r: -r["ratio"]),
        "regressions": len(lost) + len(worse),
    }


def _significant(rows: list[dict[str, Any]], alpha: float) -> list[dict[str, Any]]:
    """Those below alpha after Holm's correction, which each row is told."""
    for row, p in zip(rows, stats.holm([r["p_value"] for r in rows])):
        row["p_adjusted"] = p
    return [r for r in rows if r["p_adjusted"] < alpha]


def _require_something(base: Suite, current: Suite, partial: bool) -> None:
    """Raise ReportError where the gate would be open because nothing can close it.

    In a partial report it is enough that something was judged that the base names: it may be just
    what failed before.
    """
    if not any(metrics.outcome(c).correct for c in base.candidates):
        raise ReportError("there is nothing to gate: no candidate of the base passed")
    names = {c["name"] for c in base.candidates}
    if partial and not any(c["name"] in names and c["state"] == JUDGED for c in current.candidates):
        raise ReportError("there is nothing to gate: no candidate of the base was judged now")


def _now(record: dict[str, Any] | None) -> str:
    if record is None:
        return "not provided"
    if record["state"] != JUDGED:
        return STATE_WORDS[record["state"]]
    return record["result"]["verdict"]


def _change(
    before: dict[str, Any], after: dict[str, Any], bound: float, lane: str
) -> dict[str, Any] | None:
    """Test of `the logarithm of the speed-up changed beyond the bound`, down for a negative one.

    None if one side has no GPU time.
    """
    a, b = metrics.outcome(before, lane), metrics.outcome(after, lane)
    if a.speedup is None or b.speedup is None:
        return None
    # The limits that face each other.
    ends = (a.lo, b.hi) if bound < 0 else (a.hi, b.lo)
    error = math.hypot(
        stats.log_error(a.speedup, ends[0], _confidence(before, lane)),
        stats.log_error(b.speedup, ends[1], _confidence(after, lane)),
    )
    beyond = (math.log(b.speedup / a.speedup) - bound) / error
    p = NormalDist().cdf(beyond if bound < 0 else -beyond)
    return {
        "name": before["name"],
        "before": a.speedup,
        "after": b.speedup,
        "ratio": b.speedup / a.speedup,
        "p_value": p if math.isfinite(error) else 1.0,
    }


def _confidence(record: dict[str, Any], lane: str) -> float:
    value = record["result"]["timing"]["lanes"][lane].get("confidence")
    return value if value and value < 1 else 0.99


def text(found: dict[str, Any], most: int | None = SHOWN) -> str:
    """What `kb-report gate` prints: of each kind the first `most` candidates, or all."""
    lines = [f"MIXED: {reason}" for reason in found["mixed"]]
    lines.append(
        f"{found['compared']} candidates passed before, {found['timed']} of them have times in both"
    )
    for kind in ("lost", "slower", "faster"):
        lines += [_line(kind, r) for r in found[kind][:most]]
        more = len(found[kind][most:]) if most is not None else 0
        lines += [f"{kind.upper():7} and {more} more"] if more else []
    n = found["regressions"]
    lines.append(f"gate: {n} regression(s)" if n else "gate: no significant regression")
    lines[-1] += f", {len(found['faster'])} faster" if found["faster"] else ""
    return "\n".join(lines)


def _line(kind: str, row: dict[str, Any]) -> str:
    start = f"{kind.upper():7} {row['name']}: "
    if kind == "lost":
        return f"{start}passed, now {row['now']}"
    return (
        f"{start}{row['before']:.3f}x -> {row['after']:.3f}x "
        f"(x{row['ratio']:.3f}, {tables.p_value(row['p_adjusted'])})"
    )
