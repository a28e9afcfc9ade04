"""Runs on several GPUs: speed-ups of each task on each GPU, ranks of runs, and where orders change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from kb_report import compare, merge, metrics, rollup, stats, write
from kb_report.metrics import Outcome
from kb_report.model import PRIMARY_LANE, REFUSED, Problem, ReportError, natural_key
from kb_report.sides import Side, of_the_same_tasks, set_labels

Run = tuple[str, str | None]  # run and sample


def document(
    sides: list[Side],
    lane: str = PRIMARY_LANE,
    allow_mixed: bool = False,
    problems: list[Problem] | None = None,
) -> dict[str, Any]:
    """The matrix as a document: level -> ranks, tasks, and what differs between GPUs.

    Of a run that was judged several times on a GPU the newest report counts. Raises ReportError
    with status REFUSED if what is not the GPU must not be mixed.
    """
    merge.require_lane([s.suite for s in sides], lane)
    left_out: list[str] = []
    if not allow_mixed:
        sides, left_out = of_the_same_tasks(sides, 1)
    grid, notes = _grid(sides)
    kept = [side for runs in grid.values() for side in runs.values()]
    set_labels(kept)
    reasons = compare.mixed(kept, lane)
    if reasons and not allow_mixed:
        raise ReportError(
            f"refused to put side by side: {'; '.join(reasons)}. --allow-mixed does it all the same",
            REFUSED,
        )
    numbers = sorted({lv for s in kept for lv in s.suite.levels if s.enters(lv)})
    return {
        "schema": 1,
        "kind": "kb_report.matrix",
        "time": rollup.now(),
        "lane": lane,
        "mixed": reasons,
        "notes": left_out + notes + _different_sources(grid),
        "problems": [p.as_json() for p in problems or []],
        "gpus": [_gpu(machine, list(grid), list(runs.values())) for machine, runs in grid.items()],
        "levels": [_level(grid, level, lane) for level in numbers],
    }


def _grid(sides: list[Side]) -> tuple[dict[str, dict[Run, Side]], list[str]]:
    """machine -> run -> side, in order of their names; and what an older report had to give way."""
    grid: dict[str, dict[Run, Side]] = {}
    notes = []
    for side in sorted(sides, key=lambda s: (s.machine, _newest(s), s.path)):
        run = (side.run, side.sample)
        older = grid.setdefault(side.machine, {}).get(run)
        if older:
            notes.append(
                f"{_name(run)} was judged several times on {side.machine}: {side.path} counts, not "
                f"{older.path}"
            )
        grid[side.machine][run] = side
    order = {m: sorted(runs, key=_run_key) for m, runs in grid.items()}
    return {m: {run: grid[m][run] for run in order[m]} for m in sorted(grid)}, notes


def _run_key(run: Run) -> tuple[Any, ...]:
    return run[0] != "seed", natural_key(run[0]), natural_key(run[1])


def _name(run: Run) -> str:
    return "/".join(filter(None, run))


def _newest(side: Side) -> str:
    return max(((c["result"] or {}).get("time") or "" for c in side.every), default="")


def _gpu(machine: str, machines: list[str], sides: list[Side]) -> dict[str, Any]:
    """A column. Its name is the GPU's, with driver and run time only where two have the same GPU."""
    name = machine.split(" | ")[0]
    alike = [m for m in machines if m.split(" | ")[0] == name]
    return {
        "machine": machine,
        "name": name if len(alike) == 1 else machine,
        "functional": all(s.suite.backend != "cuda" for s in sides),
        "judged": max(map(_newest, sides), default=""),
        "runs": len(sides),
    }


def _different_sources(grid: dict[str, dict[Run, Side]]) -> list[str]:
    """Runs whose kernels are not the same files on all GPUs: their columns compare two kernels."""
    seen: dict[tuple[Run, str], set[str]] = {}
    for runs in grid.values():
        for run, side in runs.items():
            for c in side.every:
                source = ((c["result"] or {}).get("hashes") or {}).get("source")
                if source:
                    seen.setdefault((run, c["name"]), set()).add(source)
    unlike: dict[Run, list[str]] = {}
    for (run, name), sources in seen.items():
        if len(sources) > 1:
            unlike.setdefault(run, []).append(name)
    return [
        f"{len(names)} kernel(s) of {_name(run)} are not the same file on all GPUs, such as {names[0]}"
        for run, names in unlike.items()
    ]


@dataclass(frozen=True)
class _Level:
    """What one level is made from: the runs that have candidates for it, by machine."""

    machines: list[str]
    runs: list[Run]
    tasks: list[str]
    sides: dict[str, dict[Run, Side]]
    outcomes: dict[tuple[str, Run, str], Outcome]  # only of candidates that there are
    times: dict[tuple[str, Run, str], float | None]  # of those with a speed-up, in ms

    def timed(self, machine: str, run: Run, task: str) -> Outcome | None:
        """The outcome of a correct candidate with times; None without."""
        o = self.outcomes.get((machine, run, task))
        return o if o and o.correct and o.speedup is not None else None

    def untimed(self, machine: str) -> bool:
        """True where no run has a time of a GPU."""
        return not any(
            self.timed(machine, run, task) for run in self.sides[machine] for task in self.tasks
        )


def _level(grid: dict[str, dict[Run, Side]], number: int, lane: str) -> dict[str, Any]:
    """A level of the matrix; cells are in the order of the GPUs, None where a run was not judged."""
    here = {m: {r: s for r, s in runs.items() if s.enters(number)} for m, runs in grid.items()}
    sides = [s for runs in here.values() for s in runs.values()]
    level = _Level(
        list(grid),
        sorted({r for found in here.values() for r in found}, key=_run_key),
        compare.tasks_of(sides, number),
        here,
        {
            (machine, run, key[1]): side.outcome(key, lane)
            for machine, found in here.items()
            for run, side in found.items()
            for key in side.records
            if key[0] == number
        },
        {
            (machine, run, key[1]): write.lane_ms(side.fastest(key, lane), lane)
            for machine, found in here.items()
            for run, side in found.items()
            for key in side.records
            if key[0] == number and side.outcome(key, lane).speedup is not None
        },
    )
    rows = [row for task in level.tasks for run in level.runs if (row := _row(level, task, run))]
    return {
        "level": number,
        "n": len(level.tasks),
        "untimed": all(map(level.untimed, level.machines)),
        "ranks": _ranks(level),
        "tasks": rows,
        "orders": _orders(level),
        "unlike": [row for row in rows if row["unlike"]],
        "agreement": _agreement(level),
    }


def _ranks(level: _Level) -> list[dict[str, Any]]:
    """A row per run: on each GPU its rank by wins at 1, by correct tasks where nothing is timed."""
    columns = [_ranks_on(level, machine) for machine in level.machines]
    rows = [
        {
            "run": _name(run),
            "cells": [column.get(run) for column in columns],
            "moves": len({column[run]["rank"] for column in columns if run in column}) > 1,
        }
        for run in level.runs
    ]
    return sorted(rows, key=lambda r: [c["rank"] if c else math.inf for c in r["cells"]])


def _ranks_on(level: _Level, machine: str) -> dict[Run, dict[str, Any]]:
    """Rank, share and geo-mean of each run on a GPU. What a run lacks it fails."""
    untimed = level.untimed(machine)
    hits, geo_means = {}, {}
    for run in level.sides[machine]:
        outs = [level.outcomes.get((machine, run, task)) for task in level.tasks]
        hits[run] = sum(bool(o) and (o.correct if untimed else o.wins(1)) for o in outs)
        timed = [o for task in level.tasks if (o := level.timed(machine, run, task))]
        geo_means[run] = metrics.geo_mean([o.speedup for o in timed])
    return {
        run: {
            "rank": rank,
            "of": len(hits),
            "share": metrics.share(hits[run], len(level.tasks)),
            "metric": "fast_0" if untimed else "fast_1",
            "geo_mean": geo_means[run],
        }
        for run, rank in zip(hits, stats.ranks(list(hits.values())))
    }


def _row(level: _Level, task: str, run: Run) -> dict[str, Any] | None:
    """A run's kernel for a task on every GPU; None where no GPU has one."""
    outs = [level.outcomes.get((machine, run, task)) for machine in level.machines]
    if not any(outs):
        return None
    times = [level.times.get((machine, run, task)) for machine in level.machines]
    cells = [o and {**_cell(o), "candidate_ms": ms} for o, ms in zip(outs, times)]
    speedups = [c["speedup"] for c in cells if c and c["speedup"]]
    return {
        "task": task,
        "run": _name(run),
        "cells": cells,
        "spread": max(speedups) / min(speedups) if len(speedups) > 1 else None,
        "unlike": _unlike([c for c in cells if c]),
    }


def _cell(o: Outcome) -> dict[str, Any]:
    hi = None if o.hi is None or math.isinf(o.hi) else o.hi
    timed = {"speedup": o.speedup, "ci_lo": o.lo, "ci_hi": hi, "at_1": write.verdict_at(o, 1.0)}
    return {"verdict": o.verdict, **(timed if o.correct else dict.fromkeys(timed))}


def _unlike(cells: list[dict[str, Any]]) -> str | None:
    """What of a kernel is decided differently on two GPUs: 'verdict', 'faster', or nothing."""
    judged = {c["verdict"] == "pass" for c in cells if c["verdict"] not in (None, "skipped")}
    if len(judged) > 1:
        return "verdict"
    return "faster" if {"WIN", "LOSS"} <= {c["at_1"] for c in cells} else None


def _orders(level: _Level) -> dict[str, Any]:
    """Pairs of kernels of a task of which one is faster on one GPU and the other one on another.

    `changed` are those where both is beyond the intervals of the measurements, `open` how many
    change by their estimates alone, `compared` how many pairs have times on two GPUs.
    """
    changed = []
    compared = still_open = 0
    for task in level.tasks:
        for a, b in combinations(level.runs, 2):
            ratios = _ratios(level, task, a, b)
            for g, h in combinations(ratios, 2):
                compared += 1
                slow, fast = sorted((g, h), key=lambda m: ratios[m][0])
                if ratios[slow][2] < 1 < ratios[fast][1]:
                    changed.append(
                        {
                            "task": task,
                            "a": _name(a), "a_first_on": slow, "a_ahead": 1 / ratios[slow][0],
                            "b": _name(b), "b_first_on": fast, "b_ahead": ratios[fast][0],
                        }
                    )  # fmt: skip
                elif ratios[slow][0] < 1 < ratios[fast][0]:
                    still_open += 1
    changed.sort(key=lambda r: (-min(r["a_ahead"], r["b_ahead"]), r["task"]))
    return {"changed": changed, "open": still_open, "compared": compared}


def _ratios(level: _Level, task: str, a: Run, b: Run) -> dict[str, tuple[float, float, float]]:
    """machine -> T_a / T_b with its limits. Both are against the same reference, so it is s_b / s_a."""
    found = {}
    for machine in level.machines:
        x, y = level.timed(machine, a, task), level.timed(machine, b, task)
        if x and y:
            found[machine] = stats.ratio_interval((x.speedup, x.lo, x.hi), (y.speedup, y.lo, y.hi))
    return found


def _agreement(level: _Level) -> list[dict[str, Any]]:
    """How alike the speed-ups of a run are on two GPUs, over the tasks that both have times of."""
    found = []
    for run in level.runs:
        for g, h in combinations(level.machines, 2):
            pairs = {
                task: (x.speedup, y.speedup)
                for task in level.tasks
                if (x := level.timed(g, run, task)) and (y := level.timed(h, run, task))
            }
            if not pairs:
                continue
            ratios = {task: y / x for task, (x, y) in pairs.items()}
            times = [level.times[g, run, task] / level.times[h, run, task] for task in pairs]
            most = max(ratios, key=lambda t: abs(math.log(ratios[t])))
            found.append(
                {
                    "run": _name(run),
                    "a": g,
                    "b": h,
                    "tasks": len(pairs),
                    "kendall_tau": stats.kendall_tau(*zip(*pairs.values())),
                    "geo_mean_ratio": metrics.geo_mean(list(ratios.values())),
                    "geo_mean_time_ratio": metrics.geo_mean(times),
                    "largest": {"task": most, "ratio": ratios[most]},
                }
            )
    return found
