"""Ranks runs by fast_1 on each GPU, with groups of runs that do not differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from kb_report import columns, compare, merge, metrics, rollup, stats, tables
from kb_report.columns import Column, Row, number
from kb_report.metrics import Outcome
from kb_report.model import (
    PRIMARY_LANE,
    REFUSED,
    Problem,
    ReportError,
    Suite,
    are_turns,
    natural_key,
    one_line,
)
from kb_report.sides import Side, named_sides, of_the_same_tasks, set_labels

ALPHA = 0.05  # probability that any two runs of a table are told apart though they are alike

# Members of run.json that become columns -> their headings.
COSTS = {"cost_usd": "cost, $", "tokens": "tokens"}


def sides_of(arguments: list[str], tasks: Sequence[str] = ()) -> tuple[list[Side], list[Problem]]:
    """Runs named as PATH, PATH#RUN or PATH#RUN/SAMPLE; a path alone means all of its runs.

    tasks: globs of those that count, all without. Of samples the first one enters, as in KernelBench, of turns all, as in the report. What two
    inputs hold alike enters once. The second list names inputs that cannot be used. Raises
    ReportError.
    """
    found, problems = named_sides(arguments, _entry, tasks)
    ranked: list[Side] = []
    for side in found:
        if not any(_same(side, other) for other in ranked):
            ranked.append(side)
    if not ranked:
        raise ReportError("there is nothing to rank: judge a run first, then name its report")
    return ranked, problems


def _entry(suite: Suite, run: str) -> str | None:
    """The sample of a run that enters the table; None for all of its turns."""
    if are_turns(suite.runs_info.get(run, {})):
        return None
    return min({c["sample"] for c in suite.of(run)}, key=natural_key)


def _same(a: Side, b: Side) -> bool:
    """True if both are the same results, as of a build directory and of its own report."""
    if (a.run, a.sample, a.records.keys()) != (b.run, b.sample, b.records.keys()):
        return False
    return [c["result"] for c in a.every] == [c["result"] for c in b.every]


def document(
    sides: list[Side],
    lane: str = PRIMARY_LANE,
    allow_mixed: bool = False,
    problems: list[Problem] | None = None,
) -> dict[str, Any]:
    """The leaderboard as a document: machine -> level -> ranked runs.

    A run whose run.json chooses fewer tasks than others enter is left out and named. Raises
    ReportError with status REFUSED if the runs of a machine must not be mixed.
    """
    merge.require_lane([s.suite for s in sides], lane)
    left_out: list[str] = []
    if not allow_mixed:
        sides, left_out = of_the_same_tasks(sides, 1)
    by_machine: dict[str, list[Side]] = {}
    for side in sides:
        by_machine.setdefault(side.machine, []).append(side)
    for found in by_machine.values():
        set_labels(found)
    mixed = {m: compare.mixed(found, lane) for m, found in by_machine.items()}
    reasons = [f"on {m.split(' | ')[0]}: {reason}" for m, rs in mixed.items() for reason in rs]
    if reasons and not allow_mixed:
        raise ReportError(
            f"refused to rank: {'; '.join(reasons)}. --allow-mixed does it all the same", REFUSED
        )
    documents = {id(s.suite): rollup.document(s.suite) for s in sides}
    return {
        "time": rollup.now(),
        "lane": lane,
        "alpha": ALPHA,
        "mixed": reasons,
        "left_out": left_out,
        "problems": [p.as_json() for p in problems or []],
        "machines": [
            {
                "machine": machine,
                "name": machine.split(" | ")[0],
                "functional": all(s.suite.backend != "cuda" for s in found),
                "conditions": tables.conditions(
                    {"candidates": [c for s in found for c in s.every]}
                ),
                "levels": [
                    _level([s for s in found if s.enters(level)], level, lane, documents)
                    for level in sorted({lv for s in found for lv in s.suite.levels})
                    if any(s.enters(level) for s in found)
                ],
            }
            for machine, found in sorted(by_machine.items())
        ],
    }


def _level(
    sides: list[Side], level: int, lane: str, documents: dict[int, dict[str, Any]]
) -> dict[str, Any]:
    """The runs of a level in order of rank; a run without candidates for it does not enter."""
    tasks = compare.tasks_of(sides, level)
    functional = all(s.suite.backend != "cuda" for s in sides)
    outcomes = [[s.outcome((level, t), lane) for t in tasks] for s in sides]
    successes = [[_success(o, functional) for o in outs] for outs in outcomes]
    order = _order(sides, successes)
    rows = [
        _facts(sides[i], level, lane, documents[id(sides[i].suite)])
        | _numbers(outcomes[i], functional)
        for i in order
    ]
    _rank(rows, [sum(successes[i]) for i in order])
    different, pairs = _differences([successes[i] for i in order])
    groups = stats.alike(len(rows), different)
    for i, row in enumerate(rows):
        row["groups"] = groups and "".join(
            chr(ord("a") + g) for g, members in enumerate(groups) if i in members
        )
    return {
        "level": level,
        "n": len(tasks),
        "functional": functional,
        "rows": rows,
        "pairs": pairs,
        "costs": [key for key in COSTS if any(key in row["costs"] for row in rows)],
        "categories": _categories(sides, level, outcomes, tasks, functional),
    }


def _success(outcome: Outcome, functional: bool) -> bool:
    """What is counted: a WIN at 1; without a GPU only that it is correct."""
    return outcome.correct if functional else outcome.wins(1)


def _order(sides: list[Side], successes: list[list[bool]]) -> list[int]:
    """Indices from the most successes on; equal ones by their labels."""
    return sorted(
        range(len(sides)), key=lambda i: (-sum(successes[i]), natural_key(sides[i].label))
    )


def _rank(rows: list[dict[str, Any]], counts: list[int]) -> None:
    for row, rank in zip(rows, stats.ranks(counts)):
        row["rank"] = rank


def _differences(successes: list[list[bool]]) -> tuple[list[tuple[int, int]], int]:
    """Pairs of runs that differ significantly after Holm's correction; how many were compared."""
    pairs = list(combinations(range(len(successes)), 2))
    p_values = [compare.paired_test(successes[a], successes[b])["p_value"] for a, b in pairs]
    adjusted = stats.holm(p_values)
    return [pair for pair, p in zip(pairs, adjusted) if p < ALPHA], len(pairs)


def _numbers(outcomes: list[Outcome], functional: bool) -> dict[str, Any]:
    """Every metric of one row, by the code of all other tables."""
    found: dict[str, Any] = {"n": len(outcomes), **metrics.counts(outcomes)}
    found["fast_0"] = metrics.share(found["correct"], len(outcomes))
    found["fast_0_wilson95"] = list(metrics.wilson(found["correct"], len(outcomes)))
    if not functional:
        found |= metrics.lane_summary(outcomes, len(outcomes))
    return found


def _facts(side: Side, level: int, lane: str, doc: dict[str, Any]) -> dict[str, Any]:
    """What a row says about its run, besides metrics."""
    info = side.suite.runs_info.get(side.run, {})
    samples = {c["sample"] for c in side.suite.of(side.run, level)}
    return {
        "label": side.label,
        "run": side.run,
        "sample": side.sample,
        "samples": len(samples),
        "turns": side.turns,
        "model": _word(info.get("model")),
        "library": _word(info.get("library")),
        "costs": {key: info[key] for key in COSTS if _amount(info.get(key))},
        "over_samples": _over_samples(side, level, doc) if lane == PRIMARY_LANE else None,
    }


def _over_samples(side: Side, level: int, doc: dict[str, Any]) -> dict[str, Any] | None:
    """fast_1@k of samples, or fast_1@N of turns, for 1 and for all of them; None without."""
    run = next(r for r in doc["runs"] if r["run"] == side.run)
    found = next((lv for lv in run["levels"] if lv["level"] == level), {})
    if "over_turns" in found:
        letter, values = "N", found["over_turns"]["fast_p_at_n"].get("1")
    elif "over_samples" in found:
        letter, values = "k", found["over_samples"].get("fast_p_at_k", {}).get("1")
    else:
        return None
    ends = values and [next(iter(values)), list(values)[-1]]
    return ends and {"letter": letter, "values": {k: values[k] for k in ends}}


def _word(value: Any) -> str | None:
    """Text of run.json that is worth showing."""
    text = one_line(value, 80) if isinstance(value, str) else ""
    return text if text.lower() not in ("", "none") else None


def _amount(value: Any) -> bool:
    """True for a number that can be a cost; run.json may hold anything."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= 0
    )


def _categories(
    sides: list[Side], level: int, outcomes: list[list[Outcome]], tasks: list[str], functional: bool
) -> list[dict[str, Any]]:
    """The same ranking for each category of the level; no tests, since the groups are small."""
    of_task: dict[str, str] = {}
    for side in sides:
        of_task |= side.suite.categories(level)
    found = []
    for name in sorted(set(of_task.values())):
        members = [i for i, t in enumerate(tasks) if of_task.get(t) == name]
        picked = [[outs[i] for i in members] for outs in outcomes]
        successes = [[_success(o, functional) for o in outs] for outs in picked]
        order = _order(sides, successes)
        rows = [{"label": sides[i].label} | _numbers(picked[i], functional) for i in order]
        _rank(rows, [sum(successes[i]) for i in order])
        found.append({"name": name, "n": len(members), "rows": rows})
    return found


def _columns(functional: bool) -> list[Column]:
    """Columns of the table as text; the page's stand in its template."""

    def interval(row: Row) -> str:
        lo, hi = ranked_share(row, functional)["wilson95"]
        return f"[{lo:.2f}, {hi:.2f}]"

    metric = "fast_0" if functional else "fast_1"
    return [
        Column("", lambda r: r["label"], left=True),
        Column("rank", lambda r: str(r["rank"])),
        Column(metric, lambda r: number(ranked_share(r, functional)["value"])),
        Column("95 %", interval),
        Column("correct", lambda r: str(r["correct"])),
        Column("group", lambda r: r["groups"] or "-"),
    ]


def text(doc: dict[str, Any]) -> str:
    """What `kb-report leaderboard` prints."""
    lines = [f"MIXED: {reason}" for reason in doc["mixed"]]
    lines += [f"note: {sentence}" for sentence in doc["left_out"]]
    for machine in doc["machines"]:
        for level in machine["levels"]:
            lines += ["", f"{machine['name']}, level {level['level']}, N {level['n']}"]
            lines.append(columns.text(_columns(level["functional"]), [[r] for r in level["rows"]]))
            if level["functional"]:
                lines.append(f"  fast_p for p > 0 and speed-ups: {tables.FUNCTIONAL_NOTE}")
    return "\n".join(lines).lstrip("\n")


def ranked_share(row: dict[str, Any], functional: bool) -> dict[str, Any]:
    """The number that a row is ranked by, in the form of fast_p."""
    if not functional:
        return row["fast_p"]["1"]
    return {"value": row["fast_0"], "upper": row["fast_0"], "wilson95": row["fast_0_wilson95"]}
