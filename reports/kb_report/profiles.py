"""What a profiler saw of a candidate's kernels (`profile` of a result, by harness/judge/profile)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb_report import columns
from kb_report.columns import Column
from kb_report.model import one_line

Row = dict[str, Any]


def _rate(per_second: str, of_peak: str, unit: float, digits: int) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        if row.get(per_second) is None:
            return "-"
        share = row.get(of_peak)
        text = f"{row[per_second] / unit:.{digits}f}"
        return text if share is None else f"{text} ({100 * share:.0f} %)"

    return cell


def _percent(*keys: str) -> Callable[[Row], str]:
    return lambda row: " / ".join(
        "-" if row.get(key) is None else f"{row[key]:.0f} %" for key in keys
    )


def _waits(row: Row) -> str:
    found = row.get("stalls") or []
    return "; ".join(f"{s['waits_for']} ({100 * s['share']:.0f} %)" for s in found) or "-"


def _extent(text: str | None) -> str:
    """Of "(16, 8, 1)", as Nsight Compute writes sizes of grids and blocks: "16, 8"."""
    sizes = one_line(text, 40).strip("() ").split(", ")
    while len(sizes) > 1 and sizes[-1] == "1":
        sizes.pop()
    return ", ".join(sizes) or "-"


def _shape(row: Row) -> str:
    return f"{_extent(row.get('grid'))} x {_extent(row.get('block'))}"


COLUMNS = (
    Column("kernel", lambda row: one_line(row["name"], 120).replace("`", "'"), left=True),
    Column("launches", lambda row: str(row["launches"])),
    Column("blocks x threads", _shape),
    Column("registers", lambda row: "-" if (n := row.get("registers")) is None else f"{n:.0f}"),
    Column("ms", lambda row: f"{row['ms']:.4g}"),
    Column("share", lambda row: f"{100 * row['share']:.0f} %"),
    Column("TB/s", _rate("bytes_per_second", "bytes_of_peak", 1e12, 2)),
    Column("TFLOP/s", _rate("flops_per_second", "flops_of_peak", 1e12, 1)),
    Column("memory busy", _percent("memory_busy_pct")),
    Column("SMs busy", _percent("multiprocessors_busy_pct")),
    Column("occupancy", _percent("occupancy_pct")),
    Column("of loads / stores used", _percent("load_use_pct", "store_use_pct")),
    Column("warps wait for", _waits, left=True),
)

NOTE = (
    "One call, watched after all timing; in brackets the share of what this GPU was measured to do "
    "at best. TFLOP/s counts fp32 arithmetic outside of the tensor cores. Used: bytes that threads "
    "asked for, of those that memory moved for them; far below 100 % they are not coalesced."
)


def rows(profile: Row | None) -> list[list[Row]]:
    """The kernels as groups of columns.py, those that took longest first."""
    return [[kernel] for kernel in (profile or {}).get("kernels") or []]


def reason(profile: Row | None) -> str | None:
    """Why there is nothing to show although a profile was asked for."""
    return (profile or {}).get("reason")


def markdown(profile: Row | None) -> list[str]:
    """The part of feedback.md about it; nothing where no profile was asked for."""
    if reason(profile):
        return [f"No profile: {one_line(reason(profile), 300)}.", ""]
    found = rows(profile)
    if not found:
        return []
    more = (profile or {}).get("more_kernels")
    text = ["## Profile", "", NOTE, "", *columns.markdown(COLUMNS, found, _escape), ""]
    return [*text, f"And {more} more kernels.", ""] if more else text


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|")
