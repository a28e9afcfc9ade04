"""Compares runs with runs or GPUs with GPUs, task by task."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from kb_report import merge, metrics, rollup, stats, write
from kb_report.metrics import THRESHOLDS, Outcome
from kb_report.model import PRIMARY_LANE, REFUSED, Problem, ReportError, first_names
from kb_report.sides import Key, Side, named_sides, of_the_same_tasks, set_labels

CERTAIN = 1e300  # a limit that is larger is none


def sides_of(arguments: list[str], tasks: Sequence[str] = ()) -> tuple[list[Side], list[Problem]]:
    """The sides that named_sides() finds. Raises ReportError if fewer than two are left."""
    sides, problems = named_sides(arguments, tasks=tasks)
    if len(sides) < 2:
        bad = "".join(f"; {p.path} {p.message}" for p in problems)
        raise ReportError(f"a comparison needs two runs or two reports{bad}")
    set_labels(sides)
    return sides, problems


def mixed(sides: list[Side], lane: str) -> list[str]:
    """Why the numbers of these sides do not belong side by side, apart from their machines."""
    suites = list({id(s.suite): s.suite for s in sides}.values())
    labels = [next(s.path for s in sides if s.suite is suite) for suite in suites]
    found = merge.differences(suites, labels, same_machine=False)
    for what, get in (
        ("contracts", lambda r: (r.get("correctness") or {}).get("contract")),
        ("inputs", lambda r: (r.get("correctness") or {}).get("inputs")),
        ("timing modes", lambda r: _lane(r, lane).get("mode")),
        ("confidence levels", lambda r: _lane(r, lane).get("confidence")),
    ):
        tasks = []
        for key in sorted({k for s in sides for k in s.records}):
            results = [c["result"] for s in sides for c in s.records.get(key, [])]
            values = {v for r in results if r and (v := get(r)) is not None}
            if len(values) > 1:
                tasks.append((key[1], values))
        if tasks:
            shown = ", ".join(sorted(map(str, tasks[0][1])))
            found.append(f"different {what} in {len(tasks)} task(s): {tasks[0][0]} ({shown})")
    found += _different_tasks(sides, found)
    for s in sides:
        has = [c["result"] for c in s.every if metrics.outcome(c).correct]
        timed = [r for r in has if (r.get("timing") or {}).get("lanes")]
        if timed and not any(_lane(r, lane) for r in timed):
            found.append(f"{s.label} has no times in lane {lane}")
    return found


def _different_tasks(sides: list[Side], found: list[str]) -> list[str]:
    """Levels of which sides enter different tasks, as their run.json chooses; N is one number."""
    reasons = []
    for level in sorted({key[0] for s in sides for key in s.records}):
        here = [s for s in sides if s.enters(level)]
        lists = [tasks_of([s], level) for s in here]
        reason = f"different tasks in level {level}"
        if reason not in found and any(tasks != lists[0] for tasks in lists):
            shown = [f"{s.label}: {len(tasks)}" for s, tasks in zip(here, lists)]
            reasons.append(
                f"{reason} ({first_names(shown)}; run.json chooses them, and --tasks takes "
                "the same of all runs)"
            )
    return reasons


def _lane(result: dict[str, Any], lane: str) -> dict[str, Any]:
    return ((result.get("timing") or {}).get("lanes") or {}).get(lane) or {}


def compare(
    sides: list[Side],
    lane: str = PRIMARY_LANE,
    allow_mixed: bool = False,
    problems: Sequence[Problem] = (),
) -> dict[str, Any]:
    """The comparison as a document; `_base` says which side each is held against.

    problems: inputs that were left out, to be named in it. A run whose run.json chooses fewer tasks
    than others enter is left out and named, too, if two are left.

    Raises ReportError with status REFUSED if the sides must not be mixed.
    """
    merge.require_lane([s.suite for s in sides], lane)
    left_out: list[str] = []
    if not allow_mixed:
        sides, left_out = of_the_same_tasks(sides, 2)
    reasons = mixed(sides, lane)
    if reasons and not allow_mixed:
        raise ReportError(
            f"refused to compare: {'; '.join(reasons)}. --allow-mixed does it all the same",
            REFUSED,
        )
    numbers = sorted({lv for s in sides for lv in s.suite.levels if s.enters(lv)})
    levels = [_level(sides, level, lane) for level in numbers]
    return {
        "schema": 1,
        "kind": "kb_report.comparison",
        "time": rollup.now(),
        "lane": lane,
        "mixed": reasons,
        "left_out": left_out,
        "problems": [p.as_json() for p in problems],
        "across_machines": len({s.machine for s in sides}) > 1,
        "sides": [
            {
                "label": s.label, "run": s.run, "sample": s.sample, "turns": s.turns,
                "machine": s.machine, "preset": s.suite.preset, "path": s.path,
            }
            for s in sides
        ],
        "ranks": _ranks(sides, levels),
        "levels": levels,
    }  # fmt: skip


def tasks_of(sides: list[Side], level: int) -> list[str]:
    """Tasks of a level that any of the sides enters, in order."""
    return sorted({t for s in sides for t in s.suite.tasks_of(s.run, level)})


def _level(every: list[Side], level: int, lane: str) -> dict[str, Any]:
    """A level's numbers of the sides that enter it; a side that does not is only named, since its
    numbers would be those of a run that failed everywhere.
    """
    sides = [s for s in every if s.enters(level)]
    keys = [(level, task) for task in tasks_of(sides, level)]
    functional = all(s.suite.backend != "cuda" for s in sides)
    summaries = [_summary(s, keys, lane, functional) for s in sides]
    best = [s["ranked"] for s in summaries]
    for summary, rank in zip(summaries, stats.ranks(best)):
        summary["rank"] = rank
    return {
        "level": level,
        "n": len(keys),
        "functional": functional,
        "without_candidates": [s.label for s in every if not s.enters(level)],
        "sides": summaries,
        "tasks": [
            {"task": key[1], "sides": [_standing(s, key, lane) for s in sides]} for key in keys
        ],
        "pairs": [_pair(sides[a], sides[b], keys, lane, functional) for a, b in _pairs(sides)],
        "spread": _spread([s for s in sides if s.draws(level) == 1], keys, lane),
    }


def _summary(side: Side, keys: list[Key], lane: str, functional: bool) -> dict[str, Any]:
    """A side's numbers on a level; of several samples shares are means, numbers those of kernels.

    `ranked` is the share that ranks it: fast_1, without a GPU fast_0.
    """
    level, n = keys[0][0] if keys else 0, len(keys)
    draws = side.draws(level)
    outs = [o for key in keys for o in side.outcomes(key, lane)]
    found: dict[str, Any] = {
        "label": side.label,
        "n": n,
        "samples": len(side.samples(level)),
        "turns": side.turns,
        **metrics.counts(outs),
    }
    found["fast_0"] = found["ranked"] = metrics.share(found["correct"], n * draws)
    if not functional:
        found |= metrics.lane_summary(outs, n, draws)
        found["ranked"] = found["fast_p"]["1"]["value"]
    return found


def _standing(side: Side, key: Key, lane: str) -> dict[str, Any]:
    """How a side does on one task: the tasks behind its numbers."""
    outs = side.outcomes(key, lane)
    correct = [o for o in outs if o.correct]
    found: dict[str, Any] = {
        "samples": side.draws(key[0]),
        "kernels": len(outs),
        "correct": len(correct),
        "wins": sum(o.wins(1) for o in correct),
        "verdict": next((o.verdict for o in reversed(outs) if o.verdict), None),
        "provided": bool(outs),
        "speedup": max((o.speedup for o in correct if o.speedup is not None), default=None),
    }
    if correct:
        found["verdict"] = "pass"
    return found


def _pairs(sides: list[Side]) -> list[tuple[int, int]]:
    """Each side but the first with what it is held against; the same run elsewhere comes first."""
    pairs = [(_base(sides, i), i) for i in range(1, len(sides))]
    return sorted(pairs, key=lambda p: sides[p[0]].run != sides[p[1]].run)


def _base(sides: list[Side], i: int) -> int:
    """Which side the i-th is held against: an earlier one that differs in one thing, if there is one.

    That is the same run and sample elsewhere, or else another run on the same machine.
    """
    side = sides[i]
    for same in (lambda s: (s.run, s.sample) == (side.run, side.sample),
                 lambda s: s.machine == side.machine):  # fmt: skip
        for j in range(i):
            if same(sides[j]):
                return j
    return 0


def _timed(o: Outcome) -> bool:
    return o.correct and o.speedup is not None


def _pair(a: Side, b: Side, keys: list[Key], lane: str, functional: bool) -> dict[str, Any]:
    """B against A over the tasks of a level.

    Speed-ups are compared only where both have one outcome per task: there is no one speed-up of
    several samples.
    """
    level = keys[0][0] if keys else 0
    several = max(a.draws(level), b.draws(level)) > 1
    found: dict[str, Any] = {
        "a": a.label,
        "b": b.label,
        "same_machine": a.machine == b.machine,
        "several": several,
        "correct": _counts(a, b, keys, lane, 0),
    }
    if max(len(a.samples(level)), len(b.samples(level))) > 1:
        found["at_k"] = _at_k(a, b, keys, lane, functional)
    if functional:
        return found
    found["fast_1"] = _counts(a, b, keys, lane, 1)
    if several:
        return found
    rows = [row for key in keys if (row := _speed_row(a, b, key, lane))]
    rank_a = stats.ranks([r["a"] for r in rows])
    rank_b = stats.ranks([r["b"] for r in rows])
    for r, ra, rb in zip(rows, rank_a, rank_b):
        r |= {"rank_a": ra, "rank_b": rb}
    rows.sort(key=lambda r: (-r["ratio"], r["task"]))
    for key in ("ratio", "time_ratio"):
        found[f"geo_mean_{key}"] = _geo_mean([r[key] for r in rows])
    found["verdicts"] = {
        v: sum(r["verdict"] == v for r in rows) for v in ("faster", "undecided", "slower")
    }
    found["kendall_tau"] = stats.kendall_tau([r["a"] for r in rows], [r["b"] for r in rows])
    found["tasks"] = rows
    return found


def _speed_row(a: Side, b: Side, key: Key, lane: str) -> dict[str, Any] | None:
    """The ratio of the speed-ups of a task; None unless both solve it and were timed."""
    oa, ob = a.outcome(key, lane), b.outcome(key, lane)
    if not (_timed(oa) and _timed(ob)):
        return None
    value, lo, hi = stats.ratio_interval((oa.speedup, oa.lo, oa.hi), (ob.speedup, ob.lo, ob.hi))
    ms_a, ms_b = (write.lane_ms(s.fastest(key, lane), lane) for s in (a, b))
    return {
        "task": key[1],
        "a": oa.speedup,
        "b": ob.speedup,
        "ratio": value,
        "ci_lo": lo,
        "ci_hi": hi if hi < CERTAIN else None,
        "time_ratio": ms_a / ms_b,
        "verdict": "faster" if lo > 1 else "slower" if hi < 1 else "undecided",
    }


def _counts(a: Side, b: Side, keys: list[Key], lane: str, p: float) -> dict[str, Any]:
    """Who succeeds at p where the other one does not, with the names of the tasks.

    Of several samples one has to succeed; then there is no test, since more samples succeed more.
    """
    hits = [[any(o.wins(p) for o in s.outcomes(key, lane)) for key in keys] for s in (a, b)]
    found = paired_test(*hits)
    groups: dict[str, list[str]] = {"both": [], "only_a": [], "only_b": [], "neither": []}
    for key, x, y in zip(keys, *hits):
        groups["both" if x and y else "only_a" if x else "only_b" if y else "neither"].append(
            key[1]
        )
    if keys and max(a.draws(keys[0][0]), b.draws(keys[0][0])) > 1:
        found["p_value"] = None
    return found | {"tasks": groups}


def paired_test(a: list[bool], b: list[bool]) -> dict[str, Any]:
    """Who succeeds where the other one does not, and how likely that is by chance (McNemar)."""
    only_a = sum(x and not y for x, y in zip(a, b))
    only_b = sum(y and not x for x, y in zip(a, b))
    return {
        "both": sum(x and y for x, y in zip(a, b)),
        "only_a": only_a,
        "only_b": only_b,
        "neither": sum(not x and not y for x, y in zip(a, b)),
        "p_value": stats.mcnemar(only_a, only_b),
    }


def _at_k(a: Side, b: Side, keys: list[Key], lane: str, functional: bool) -> list[dict[str, Any]]:
    """pass@k and fast_p@k of both, and B less A, with intervals from a bootstrap over the tasks.

    For every k that both have samples for; of turns it is what their first k reach.
    """
    level = keys[0][0]
    both = min(len(a.samples(level)), len(b.samples(level)))
    rows: list[dict[str, Any]] = []
    columns: list[list[float]] = []
    for p in THRESHOLDS[:1] if functional else THRESHOLDS:
        for k in metrics.k_values(both):
            x, y = (s.reaching(keys, k, _winning(p), lane) for s in (a, b))
            rows.append({"metric": "pass" if p == 0 else f"fast_{p:g}", "k": k})
            columns += [x, y, [v - u for u, v in zip(x, y)]]
    intervals = stats.bootstrap_means(columns)
    estimates = [
        {"value": math.fsum(column) / len(keys), "lo": lo, "hi": hi}
        for column, (lo, hi) in zip(columns, intervals)
    ]
    for i, row in enumerate(rows):
        row |= dict(zip(("a", "b", "difference"), estimates[3 * i : 3 * i + 3]))
    return rows


def _winning(p: float) -> Callable[[Outcome], bool]:
    return lambda o: o.wins(p)


def _geo_mean(ratios: list[float]) -> dict[str, Any] | None:
    """Geometric mean with its interval, whose limits are None for too few ratios."""
    if not ratios:
        return None
    enough = len(ratios) >= metrics.ENOUGH_FOR_INTERVAL
    lo, hi = (enough and stats.geo_mean_interval(ratios)) or (None, None)
    return {"value": metrics.geo_mean(ratios), "lo": lo, "hi": hi}


def _spread(sides: list[Side], keys: list[Key], lane: str) -> dict[str, Any] | None:
    """How much a run's speed-ups differ between machines: pooled spread of ln(speed-up)."""
    found = {}
    for run in sorted({s.run for s in sides}):
        members = [s for s in sides if s.run == run]
        if len({s.machine for s in members}) < 2:
            continue
        rows = {}
        for key in keys:
            outs = [s.outcome(key, lane) for s in members]
            if all(map(_timed, outs)):
                rows[key[1]] = stats.log_spread([o.speedup for o in outs])
        if rows:
            pooled = math.sqrt(math.fsum(v * v for v in rows.values()) / len(rows))
            found[run] = {
                "tasks": len(rows),
                "pooled_factor": math.exp(pooled),
                "largest": [
                    {"task": t, "factor": math.exp(v)}
                    for t, v in sorted(rows.items(), key=lambda i: (-i[1], i[0]))[:10]
                ],
            }
    return found or None


def _ranks(sides: list[Side], levels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per side with its rank on each level among the sides of its machine, best first."""
    shares: dict[str, dict[int, float]] = {s.label: {} for s in sides}
    for level in levels:
        for summary in level["sides"]:
            shares[summary["label"]][level["level"]] = summary["ranked"]
    rows = []
    for side in sides:
        here = [s.label for s in sides if s.machine == side.machine]
        mine = shares[side.label]
        found = {}
        for level, share in mine.items():
            others = [shares[label][level] for label in here if level in shares[label]]
            rank = 1 + sum(other > share for other in others)
            found[str(level)] = {"rank": rank, "of": len(others), "share": share}
        rows.append({"label": side.label, "machine": side.machine, "levels": found})
    rows.sort(key=lambda r: (r["machine"], [x["rank"] for x in r["levels"].values()], r["label"]))
    return rows
