"""The table of fast_p: a row for each lane of each run, level and sample."""

from __future__ import annotations

from typing import Any

from kb_report.columns import Column, Row, number
from kb_report.metrics import THRESHOLDS

PS = tuple(f"{p:g}" for p in THRESHOLDS)


def row_name(row: dict[str, Any]) -> str:
    """Which samples a row of a level is about; '' where there are none."""
    if "turns" in row:
        return f"all {row['turns']} turns"
    if "samples" in row:
        return f"mean of {row['samples']} samples"
    return row["sample"] or ""


def headline(level: dict[str, Any]) -> dict[str, Any]:
    """The row of a level that stands for the run."""
    return level.get("headline") or level["samples"][0]


def rows_of(level: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a level, first the one that stands for the run."""
    return [*filter(None, [level.get("headline")]), *level["samples"]]


def all_functional(doc: dict[str, Any]) -> bool:
    """True if no table of the report can have a time of a GPU."""
    levels = [level["functional"] for run in doc["runs"] for level in run["levels"]]
    return all(levels) if levels else doc["functional"]


def groups(doc: dict[str, Any]) -> list[list[Row]]:
    """The table's rows: per run, level and sample one for each lane and each baseline."""
    return [
        _group(run["run"], level, row)
        for run in doc["runs"]
        for level in run["levels"]
        for row in rows_of(level)
    ]


def _group(run: str, level: dict[str, Any], row: dict[str, Any]) -> list[Row]:
    name = " ".join(filter(None, (run, row_name(row))))
    shared: Row = {"run": name, "level": level["level"], **row, "lane": None, "baseline": None}
    lanes = [shared | {"against": lane, "lane": x} for lane, x in row["lanes"].items()]
    lanes += [shared | {"against": b["name"], "baseline": b} for b in row["baselines"]]
    return lanes or [shared | {"against": "-"}]


def columns(functional: bool) -> list[Column]:
    """The table's columns; without a GPU there are no speed-ups."""
    counts = [
        Column(key if key != "n" else "N", lambda r, key=key: str(r[key]), shared=True)
        for key in ("level", "n", "judged", "compiled", "correct")
    ]
    first = [Column("run", lambda r: r["run"], left=True, shared=True), *counts]
    if functional:
        return [*first, Column("fast_0", lambda r: number(r["fast_0"]))]
    return [
        *first,
        Column("against", lambda r: r["against"], small=_about_baseline, left=True),
        *[
            Column(f"fast_{p}", lambda r, p=p: _share(r, p), lambda r, p=p: _point(r, p),
                   lambda r, p=p: _upper(r, p))
            for p in PS
        ],
        Column("geo-mean", lambda r: number(_value(r, "geo_mean_speedup_correct")), _limits),
        Column("faster", lambda r: str((r["lane"] or {}).get("faster", "")) or "-", small=_faster),
        Column("area", lambda r: number((r["lane"] or {}).get("fast_p_area_point")), page_only=True),
    ]  # fmt: skip


def _share(row: Row, p: str) -> str:
    if row["lane"]:
        return number(row["lane"]["fast_p"][p]["value"])
    if row["baseline"]:
        return f"({number(row['baseline']['fast_p_point'][p])})"
    return number(row["fast_0"] if p == "0" else None)


def _point(row: Row, p: str) -> str:
    """KernelBench's rule in brackets, where it says something else."""
    share = row["lane"] and row["lane"]["fast_p"][p]
    return f"({number(share['point'])})" if share and share["point"] != share["value"] else ""


def _upper(row: Row, p: str) -> str:
    share = row["lane"] and row["lane"]["fast_p"][p]
    return f"to {number(share['upper'])}" if share and share["upper"] != share["value"] else ""


def _value(row: Row, key: str) -> float | None:
    return (row["lane"] or row["baseline"] or {}).get(key)


def _limits(row: Row) -> str:
    limits = (row["lane"] or {}).get("geo_mean_speedup_correct_ci95")
    return f"[{limits[0]:.2f}, {limits[1]:.2f}]" if limits else ""


def _faster(row: Row) -> str:
    mean = (row["lane"] or {}).get("geo_mean_speedup_faster")
    return f"geo-mean {number(mean)}" if mean else ""


def _about_baseline(row: Row) -> str:
    base = row["baseline"]
    if not base:
        return ""
    found = [base["hardware"] or "", "points only"]
    found += [f"lacks {len(base['missing'])}"] if base["missing"] else []
    found += [f"{len(o)} timed at other sizes left out"] if (o := base["other_sizes"]) else []
    return ", ".join(filter(None, found))
