"""The tables that rollup prints: plain text, one block per run and level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kb_report import columns, metrics, overview, validity
from kb_report.columns import number
from kb_report.model import (
    BAD_RESULT,
    BUILT_ONLY,
    NO_RESULT,
    PRIMARY_LANE,
    STALE,
    VERDICTS,
    first_names,
    machine_name,
    one_line,
)

FUNCTIONAL_NOTE = "functional, not a GPU measurement"
NAMES_SHOWN = 6
_STATE_SHORT = {
    STALE: "stale",
    NO_RESULT: "no result",
    BAD_RESULT: "bad result file",
    BUILT_ONLY: "only built",
}


def p_value(p: float) -> str:
    """`p = 0.012`; below 1e-9 only that, since no approximation holds there."""
    return f"p = {p:.2g}" if p >= 1e-9 else "p < 1e-9"


def names(tasks: Sequence[str], shown: int = NAMES_SHOWN) -> str:
    """Task names, as many as tables show."""
    return first_names(tasks, shown)


def not_judged_text(row: dict[str, Any]) -> list[str]:
    """One line per reason why candidates were not judged, with their names.

    What a run does not provide is a number alone: it was never meant to be judged, and the names
    would hide those that were.
    """
    lines = []
    for state, words in _STATE_SHORT.items():
        found = [x["task"] for x in row["not_judged"] if x["state"] == state]
        if found:
            lines.append(f"not judged ({words}): {len(found)}: {names(found)}")
    if row["not_provided"]:
        lines.append(f"not provided: {len(row['not_provided'])} of {row['n']} tasks")
    return lines


def verdict_text(row: dict[str, Any]) -> str:
    """Counts per verdict, in the order of the words."""
    found = [f"{v} {row['verdicts'][v]}" for v in VERDICTS if row["verdicts"].get(v)]
    return ", ".join(found) or "none"


def block(run: dict[str, Any], level: dict[str, Any]) -> str:
    """What explains the numbers of one run on one level, and what several samples make together."""
    lines = [f"{run['run']}  level {level['level']}"]
    rows = overview.rows_of(level)
    for row in rows:
        prefix = f"  {overview.row_name(row) or '-'}: " if len(rows) > 1 else "  "
        lines.append(f"{prefix}verdicts: {verdict_text(row)}")
        # A turn brings what is tried again, and no more.
        if "headline" not in level or "over_turns" not in level or row is level["headline"]:
            lines += [prefix + text for text in not_judged_text(row)]
        if not level["functional"]:
            lines += [prefix + text for text in _timing_text(row)]
    lines += _sample_lines(level)
    return "\n".join(lines)


def _timing_text(row: dict[str, Any]) -> list[str]:
    lines = []
    lane = row["lanes"][PRIMARY_LANE]
    untimed = row["correct"] - lane["timed"]
    undecided = lane["fast_p"]["1"]["undecided"] - untimed
    if untimed:
        lines.append(f"correct but not timed: {untimed}")
    if undecided > 0:
        lines.append(f"undecided at p = 1: {undecided}")
    for base in row["baselines"]:
        about = [base["hardware"] or ""]
        if base["missing"]:
            about.append(f"lacks {len(base['missing'])} task(s)")
        if base["other_sizes"]:
            about.append(f"timed at other sizes, left out: {names(base['other_sizes'])}")
        lines.append(f"against {base['name']}: {'; '.join(filter(None, about))}")
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
    return [columns.aligned(table, "l" + "r" * len(table[0]))] if table else []


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
    if any(run["levels"] for run in doc["runs"]):
        functional = overview.all_functional(doc)
        table = columns.text(overview.columns(functional), overview.groups(doc))
        parts.append(
            table + (f"\n  fast_p for p > 0 and speed-ups: {FUNCTIONAL_NOTE}" * functional)
        )
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
