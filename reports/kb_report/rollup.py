"""Turns a suite into the document results.json: metrics per run, level, sample and group."""

from __future__ import annotations

import math
import os
import time
from collections import defaultdict
from typing import Any

from kb_report import __version__, metrics, upstream, write
from kb_report.metrics import Outcome
from kb_report.model import (
    DIFFICULTIES,
    PRIMARY_LANE,
    STATE_WORDS,
    Suite,
    are_turns,
    category,
    difficulty,
    natural_key,
)

SCHEMA_VERSION = 1
KIND = "kb_report.results"


def now() -> str:
    """Time of the report in UTC; SOURCE_DATE_EPOCH fixes it for reproducible output."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    stamp = int(epoch) if epoch and epoch.isdigit() else time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp))


def document(suite: Suite) -> dict[str, Any]:
    """The content of results.json, as reports/schema/results.schema.json describes it."""
    runs = [_run(suite, name) for name in suite.runs()]
    return {
        "schema": SCHEMA_VERSION,
        "kind": KIND,
        "generator": {"name": "kb-report", "version": __version__},
        "time": suite.time or now(),
        "preset": suite.preset,
        "backend": suite.backend,
        "functional": suite.backend != "cuda",
        "harness": suite.harness,
        "machine": suite.machine,
        "machines": dict(sorted(suite.machines.items())),
        "levels": {str(level): {"tasks": tasks} for level, tasks in suite.levels.items()},
        "runs": runs,
        "candidates": [
            {k: v for k, v in c.items() if k != "source_text"} for c in suite.candidates
        ],
        "validity": suite.validity,
        "problems": [p.as_json() for p in suite.problems],
        "notes": notes(suite),
    }


def notes(suite: Suite) -> list[str]:
    """What a reader of the tables has to know, each once."""
    return list(dict.fromkeys([*suite.told(), *suite.choices()]))


def suite_of(doc: dict[str, Any]) -> Suite:
    """The suite that a results.json was made from (without the candidates' sources)."""
    suite = Suite(
        backend=doc["backend"],
        preset=doc["preset"],
        levels={
            int(k): v["tasks"] for k, v in sorted(doc["levels"].items(), key=lambda i: int(i[0]))
        },
        candidates=[
            {**c, "category": c["category"] or category(c), "source_text": None}
            for c in doc["candidates"]
        ],
        runs_info={r["run"]: r["info"] for r in doc["runs"] if r["info"]},
        harness=doc["harness"],
        machine=doc["machine"],
        machines=doc["machines"],
        notes=list(doc["notes"]),
        validity=list(doc.get("validity", [])),  # reports of before it was kept have none
        time=doc["time"],
    )
    choices = suite.choices()  # told again of whatever is made of it
    suite.notes = [note for note in suite.notes if note not in choices]
    return suite


def _run(suite: Suite, run: str) -> dict[str, Any]:
    info = suite.runs_info.get(run, {})
    levels = [
        _level(suite, run, level, suite.tasks_of(run, level), info)
        for level in suite.levels
        if suite.of(run, level)
    ]
    return {
        "run": run,
        "info": info,
        "levels": levels,
        "levels_without_candidates": [
            lv for lv in suite.levels if suite.tasks_of(run, lv) and not suite.of(run, lv)
        ],
    }


def _level(
    suite: Suite, run: str, level: int, tasks: list[str], info: dict[str, Any]
) -> dict[str, Any]:
    """A row per sample; for several the `headline`, which counts all of them, comes beside."""
    records = suite.of(run, level)
    samples = sorted({c["sample"] for c in records}, key=natural_key)
    functional = _functional(suite, records)
    found: dict[str, Any] = {
        "level": level,
        "n": len(tasks),
        "functional": functional,
        "samples": [
            {
                "sample": s,
                **_row(suite, level, tasks, [c for c in records if c["sample"] == s], functional),
            }
            for s in samples
        ],
    }
    if len(samples) > 1:
        many = len(samples)
        turns = are_turns(info)
        row = _row(suite, level, tasks, records, functional, 1 if turns else many, turns)
        found["headline"] = {"sample": None, ("turns" if turns else "samples"): many, **row}
        by_task = {
            task: {c["sample"]: metrics.outcome(c) for c in records if c["task"] == task}
            for task in sorted({c["task"] for c in records})
        }
        if turns:
            reached = {task: [o.get(s) for s in samples] for task, o in by_task.items()}
            found["over_turns"] = metrics.over_turns(reached, len(tasks), many, functional)
        else:
            sets = {task: list(o.values()) for task, o in by_task.items()}
            found["over_samples"] = metrics.over_samples(sets, len(tasks), many, functional)
    return found


def outcomes(
    records: list[dict[str, Any]], lane: str = PRIMARY_LANE, turns: bool = False
) -> list[Outcome]:
    """What records say in a lane: one outcome each, or one per task where they are its turns."""
    if not turns:
        return [metrics.outcome(c, lane) for c in records]
    by_task: dict[str, list[Outcome]] = defaultdict(list)
    for c in sorted(records, key=lambda c: natural_key(c["sample"])):
        by_task[c["task"]].append(metrics.outcome(c, lane))
    return [metrics.best_of(found) for found in by_task.values()]


def _functional(suite: Suite, records: list[dict[str, Any]]) -> bool:
    """True if no time of this table is a GPU measurement."""
    timed = [c["result"] for c in records if c["result"] and c["result"].get("timing")]
    return suite.backend != "cuda" or (bool(timed) and all(map(metrics.is_functional, timed)))


def _row(
    suite: Suite,
    level: int,
    tasks: list[str],
    records: list[dict[str, Any]],
    functional: bool,
    samples: int = 1,
    turns: bool = False,
) -> dict[str, Any]:
    """All metrics of these records of one run on one level, of which it enters these tasks.

    samples: how many independent samples they are of; shares are means over them, numbers are
    those of all kernels. turns: they are turns, of which a task needs one that succeeds.
    """
    n = len(tasks)
    here = outcomes(records, turns=turns)
    by_lane = {} if functional else {x: outcomes(records, x, turns) for x in _lanes(records)}
    provided = {c["task"] for c in records}
    judged = {c["task"] for c in records if c["state"] not in STATE_WORDS}
    difficulties = {t: difficulty(level, t) for t in tasks}
    return {
        "n": n,
        "provided": len(here),
        **metrics.counts(here),
        **_fast_0(here, n, samples),
        "not_provided": [t for t in tasks if t not in provided],
        "not_judged": [
            {"task": c["task"], "state": c["state"], "reason": c["reason"]}
            for c in records
            if c["state"] in STATE_WORDS and not (turns and c["task"] in judged)
        ],
        "lanes": {x: metrics.lane_summary(outs, n, samples) for x, outs in by_lane.items()},
        "baselines": [
            upstream.row(b, level, tasks, _fastest(records) if turns else records, samples)
            for b in suite.baselines
        ]
        if not functional
        else [],
        "categories": _groups(here, suite.categories(level, tasks), functional, samples),
        "difficulties": _groups(here, difficulties, functional, samples, DIFFICULTIES),
    }


def _fast_0(found: list[Outcome], n: int, samples: int) -> dict[str, Any]:
    correct = sum(o.correct for o in found)
    return {
        "fast_0": metrics.share(correct, n * samples),
        "fast_0_wilson95": list(metrics.wilson(correct / samples, n)),
    }


def _lanes(records: list[dict[str, Any]]) -> list[str]:
    """Lanes with a time in one of the records, after the primary one."""
    timings = [(c["result"] or {}).get("timing") or {} for c in records]
    others = {lane for t in timings for lane in t.get("lanes") or {}} - {PRIMARY_LANE}
    return [PRIMARY_LANE, *sorted(others)]


def _fastest(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the turns of each task the correct one that takes the least time, or else any."""
    best: dict[str, tuple[tuple[bool, float], dict[str, Any]]] = {}
    for c in records:
        ms = write.lane_ms(c)
        merit = (metrics.outcome(c).correct, -math.inf if ms is None else -ms)
        if c["task"] not in best or merit > best[c["task"]][0]:
            best[c["task"]] = (merit, c)
    return [c for _, c in best.values()]


def _groups(
    found: list[Outcome],
    group_of: dict[str, str],
    functional: bool,
    samples: int,
    order: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """The primary lane's metrics for each group of tasks; N is the group's number of tasks."""
    groups = []
    names = sorted(set(group_of.values()), key=lambda g: (order.index(g) if g in order else 0, g))
    for name in names:
        n = sum(group == name for group in group_of.values())
        outs = [o for o in found if group_of.get(o.task) == name]
        row: dict[str, Any] = {"name": name, "n": n, "correct": sum(o.correct for o in outs)}
        row |= _fast_0(outs, n, samples)
        if not functional:
            row["lanes"] = {PRIMARY_LANE: metrics.lane_summary(outs, n, samples)}
        groups.append(row)
    return groups
