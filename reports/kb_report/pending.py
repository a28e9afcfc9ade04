"""Which kernels of a run are still to be judged, and what became of the others, for tools/judge."""

from __future__ import annotations

from typing import Any

from kb_report import columns
from kb_report.model import JUDGED, ReportError, Suite, one_line

FAILURES_SHOWN = 10
EVIDENCE_SHOWN = 100  # characters, here and in the rows of the page


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


def failures(records: list[dict[str, Any]]) -> str:
    """A line for each of the first kernels that failed: verdict, file, why; '' where none did.

    A degenerate kernel is right, and one that was skipped may be, so neither is a failure.
    """
    failed = [
        c
        for c in records
        if not is_pending(c) and c["result"]["verdict"] not in ("pass", "skipped", "degenerate")
    ]
    rows = [
        [
            c["result"]["verdict"],
            "/".join(filter(None, (c["sample"], f"level{c['level']}", c["task"]))),
            one_line(c["result"].get("evidence"), EVIDENCE_SHOWN),
        ]
        for c in failed[:FAILURES_SHOWN]
    ]
    lines = columns.aligned(rows, "lll") if rows else ""
    more = len(failed) - len(rows)
    return lines + (f"\n  and {more} more" if more else "")


def summary(records: list[dict[str, Any]]) -> str:
    """One sentence: how many are right, and what the others are but wrong."""
    done = [c["result"]["verdict"] for c in records if not is_pending(c)]
    n = len(records)

    def part(count: int, one: str, many: str) -> str:
        return f"{count} of {n} {one if count == 1 else many}" if count else ""

    right = done.count("pass")
    parts = [
        f"{right} of {n} submitted kernel{'s' * (n > 1)} {'is' if right == 1 else 'are'} right",
        part(done.count("compile_error"), "does not compile", "do not compile"),
        part(done.count("degenerate"), "is degenerate", "are degenerate"),
        part(done.count("skipped"), "is skipped", "are skipped"),
        part(n - len(done), "is not judged", "are not judged"),
    ]
    return ", ".join(filter(None, parts))
