"""Which kernels of a run are still to be judged: those that a table would not count as judged."""

from __future__ import annotations

from typing import Any

from kb_report.model import JUDGED, ReportError, Suite


def records_of(suite: Suite, run: str, sample: str | None) -> list[dict[str, Any]]:
    """The candidates of a run, or of one of its samples. Raises ReportError if there are none."""
    found = [c for c in suite.candidates if c["run"] == run and sample in (None, c["sample"])]
    if not found:
        name = run if sample is None else f"{run}/{sample}"
        there = ", ".join(suite.runs())
        raise ReportError(f"no kernel of {name} is configured here; the runs that are: {there}")
    return found


def is_pending(record: dict[str, Any]) -> bool:
    """Whether a step of judging is missing, or its result belongs to another source or build."""
    if record["state"] != JUDGED or record["source_changed"]:
        return True
    result = record["result"]
    # What passed is timed next; an interrupt in between leaves it without times.
    return result["verdict"] == "pass" and not result["timing"]


def summary(records: list[dict[str, Any]]) -> str:
    """One sentence: how many pass, how many do not compile, how many are still to be judged."""
    done = [c["result"]["verdict"] for c in records if not is_pending(c)]
    n = len(records)
    parts = [f"{done.count('pass')} of {n} pass"]
    broken = done.count("compile_error")
    if broken:
        parts.append(f"{broken} of {n} {'does' if broken == 1 else 'do'} not compile")
    if len(done) < n:
        parts.append(f"{n - len(done)} of {n} {'is' if n - len(done) == 1 else 'are'} not judged")
    return ", ".join(parts)
