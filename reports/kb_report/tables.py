"""The tables that rollup prints: plain text, one block per run and level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kb_report import metrics, validity
from kb_report.metrics import THRESHOLDS
from kb_report.model import (
    BAD_RESULT,
    BUILT_ONLY,
    NO_RESULT,
    PRIMARY_LANE,
    STALE,
    VERDICTS,
    machine_name,
    one_line,
)

FUNCTIONAL_NOTE = "functional, not a GPU measurement"
_NAMES_SHOWN = 6
_STATE_SHORT = {
    STALE: "stale",
    NO_RESULT: "no result",
    BAD_RESULT: "bad result file",
    BUILT_ONLY: "only built",
}


def number(value: float | None, digits: int = 3) -> str:
    """A share or a speed-up with fixed digits; '-' where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """`p = 0.012`; below 1e-9 only that, since no approximation holds there."""
    return f"p = {p:.2g}" if p >= 1e-9 else "p < 1e-9"


def grid(rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Rows as aligned columns: the first to the left, the others to the right."""
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def names(tasks: Sequence[str], shown: int = _NAMES_SHOWN) -> str:
    """Task names, abbreviated after the first few."""
    more = len(tasks) - shown
    text = ", ".join(tasks[:shown])
    return f"{text}, and {more} more" if more > 0 else text


def not_judged_text(row: dict[str, Any]) -> list[str]:
    """One line per reason why candidates were not judged, with their names."""
    lines = []
    for state, words in _STATE_SHORT.items():
        found = [x["task"] for x in row["not_judged"] if x["state"] == state]
        if found:
            lines.append(f"not judged ({words}): {len(found)}: {names(found)}")
    if row["not_provided"]:
        lines.append(f"not provided: {len(row['not_provided'])}: {names(row['not_provided'])}")
    return lines


def verdict_text(row: dict[str, Any]) -> str:
    """Counts per verdict, in the order of the words."""
    found = [f"{v} {row['verdicts'][v]}" for v in VERDICTS if row["verdicts"].get(v)]
    return ", ".join(found) or "none"


def block(run: dict[str, Any], level: dict[str, Any]) -> str:
    """The table of one run on one level: a line per sample, then what explains it."""
    functional = level["functional"]
    several = len(level["samples"]) > 1
    lines = [f"{run['run']}  level {level['level']}"]
    head = ["sample" if several else "", "N", "judged", "compiled", "correct"]
    ps = [f"{p:g}" for p in THRESHOLDS]
    head += ["fast_0"] if functional else [f"fast_{p}" for p in ps] + ["geo-mean"]
    rows = [head]
    for row in level["samples"]:
        first = (row["sample"] or "-") if several else "fast_p"
        cells = [first] + [str(row[k]) for k in ("n", "judged", "compiled", "correct")]
        if functional:
            rows.append([*cells, number(row["fast_0"])])
            continue
        lane = row["lanes"][PRIMARY_LANE]
        cells += [number(lane["fast_p"][p]["value"]) for p in ps]
        rows.append([*cells, number(lane["geo_mean_speedup_correct"])])
        point = ["fast_p_point" if not several else f"{first} fast_p_point", "", "", "", ""]
        rows.append([*point, *[number(lane["fast_p"][p]["point"]) for p in ps], ""])
    lines.append(grid(rows))
    if functional:
        lines.append(f"  fast_p for p > 0 and speed-ups: {FUNCTIONAL_NOTE}")
    for row in level["samples"]:
        prefix = f"  {row['sample'] or '-'}: " if several else "  "
        lines.append(f"{prefix}verdicts: {verdict_text(row)}")
        lines += [prefix + text for text in not_judged_text(row)]
        if not functional:
            lines += _timing_lines(row, prefix)
    lines += _sample_lines(level)
    return "\n".join(lines)


def _timing_lines(row: dict[str, Any], prefix: str) -> list[str]:
    lines = []
    lane = row["lanes"][PRIMARY_LANE]
    undecided = lane["fast_p"]["1"]["undecided"]
    untimed = row["correct"] - lane["timed"]
    if untimed:
        lines.append(f"{prefix}correct but not timed: {untimed}")
    if undecided - untimed > 0:
        lines.append(f"{prefix}undecided at p = 1: {undecided - untimed}")
    for name, other in row["lanes"].items():
        if name != PRIMARY_LANE:
            shown = "  ".join(
                f"fast_{p} {number(other['fast_p'][p]['value'])}" for p in ("1", "1.5", "2")
            )
            lines.append(
                f"{prefix}lane {name}: {shown}  "
                f"geo-mean {number(other['geo_mean_speedup_correct'])}"
            )
    for base in row["baselines"]:
        shown = "  ".join(
            f"fast_{p}_point {number(base['fast_p_point'][p])}" for p in ("1", "1.5", "2")
        )
        missing = f"; {len(base['missing'])} task(s) missing in it" if base["missing"] else ""
        if base["other_sizes"]:
            missing += f"; timed at other sizes, left out: {names(base['other_sizes'])}"
        where = f" ({base['hardware']})" if base["hardware"] else ""
        lines.append(f"{prefix}against {base['name']}{where}: {shown}{missing}")
    return lines


def _sample_lines(level: dict[str, Any]) -> list[str]:
    table: list[list[str]] = []
    if "over_samples" in level:
        over = level["over_samples"]
        ks = list(over["pass_at_k"])
        table = [["", *[f"k={k}" for k in ks]]]
        table.append(["pass@k", *[number(over["pass_at_k"][k]) for k in ks]])
        for p, values in over.get("fast_p_at_k", {}).items():
            table.append([f"fast_{p}@k", *[number(values[k]) for k in ks]])
    elif "over_turns" in level:
        over = level["over_turns"]["fast_p_at_n"]
        turns = list(over["0"])
        table = [["", *[f"N={t}" for t in turns]]]
        for p, values in over.items():
            table.append([f"fast_{p}@N", *[number(values[t]) for t in turns]])
    return [grid(table)] if table else []


def conditions(doc: dict[str, Any]) -> str:
    """What was judged under which contract, and timed at which sizes; '' where nothing was."""
    contracts, sizes = set(), set()
    for c in doc["candidates"]:
        result = c["result"] or {}
        contracts.add((result.get("correctness") or {}).get("contract"))
        if result and not metrics.is_functional(result):
            sizes.add((result.get("timing") or {}).get("sizes"))
    found = {"contract": contracts - {None}, "sizes": sizes - {None}}
    return ", ".join(f"{what} {' and '.join(sorted(x))}" for what, x in found.items() if x)


def validity_text(level: dict[str, Any]) -> str:
    """The mutation score of a level's tasks, then those that accept a trivial answer."""
    lines = [
        f"task validity  level {level['level']}: {level['assessed']} of {level['n']} tasks "
        f"assessed, mutation score {level['killed']}/{level['applicable']}"
    ]
    for r in level["accepting"]:
        lines.append(f"  accepts trivial answers: {r['task']}: {names(r['survivors'])}")
    for r in level["degenerate"]:
        lines.append(f"  degenerate, no pass possible: {r['task']}: {one_line(r['degenerate'])}")
    return "\n".join(lines)


def text(doc: dict[str, Any]) -> str:
    """Everything rollup prints about a results document."""
    parts = []
    where = one_line(machine_name(doc["machine"]))
    parts.append(f"KernelBench Native, preset {doc['preset']}, {where}")
    for run in doc["runs"]:
        parts += [block(run, level) for level in run["levels"]]
        if not run["levels"]:
            parts.append(f"{run['run']}: has no candidates")
        elif run["levels_without_candidates"]:
            without = ", ".join(map(str, run["levels_without_candidates"]))
            parts.append(f"{run['run']}: no candidates for level {without}")
    if not doc["runs"]:
        parts.append("no candidates")
    assessed = validity.by_level(doc)
    if assessed:
        parts.append("\n".join(map(validity_text, assessed)))
    return "\n\n".join(parts)
