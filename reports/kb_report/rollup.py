"""Turns a suite into the document results.json: metrics per run, level, sample and group."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from typing import Any

from kb_report import __version__, metrics, upstream
from kb_report.metrics import Outcome
from kb_report.model import (
    DIFFICULTIES,
    PRIMARY_LANE,
    STATE_WORDS,
    Suite,
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
        "notes": suite.notes,
    }


def suite_of(doc: dict[str, Any]) -> Suite:
    """The suite that a results.json was made from (without the candidates' sources)."""
    return Suite(
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


def _run(suite: Suite, run: str) -> dict[str, Any]:
    info = suite.runs_info.get(run, {})
    levels = [
        _level(suite, run, level, tasks, info)
        for level, tasks in suite.levels.items()
        if suite.of(run, level)
    ]
    return {
        "run": run,
        "info": info,
        "levels": levels,
        "levels_without_candidates": [
            lv for lv, tasks in suite.levels.items() if tasks and not suite.of(run, lv)
        ],
    }


def _level(
    suite: Suite, run: str, level: int, tasks: list[str], info: dict[str, Any]
) -> dict[str, Any]:
    records = suite.of(run, level)
    samples = sorted({c["sample"] for c in records}, key=natural_key)
    functional = _functional(suite, records)
    rows = [
        _row(suite, level, tasks, [c for c in records if c["sample"] == s], s, functional)
        for s in samples
    ]
    found: dict[str, Any] = {
        "level": level,
        "n": len(tasks),
        "functional": functional,
        "samples": rows,
    }
    if len(samples) > 1:
        outcomes: dict[str, dict[str | None, Outcome]] = defaultdict(dict)
        for c in records:
            outcomes[c["task"]][c["sample"]] = metrics.outcome(c)
        if info.get("samples_are") == "turns":
            turns = {t: [o.get(s) for s in samples] for t, o in outcomes.items()}
            found["over_turns"] = metrics.over_turns(turns, len(tasks), len(samples), functional)
        else:
            sets = {t: list(o.values()) for t, o in outcomes.items()}
            found["over_samples"] = metrics.over_samples(sets, len(tasks), len(samples), functional)
    return found


def _functional(suite: Suite, records: list[dict[str, Any]]) -> bool:
    """True if no time of this table is a GPU measurement."""
    timed = [c["result"] for c in records if c["result"] and c["result"].get("timing")]
    return suite.backend != "cuda" or (bool(timed) and all(map(metrics.is_functional, timed)))


def _row(
    suite: Suite,
    level: int,
    tasks: list[str],
    records: list[dict[str, Any]],
    sample: str | None,
    functional: bool,
) -> dict[str, Any]:
    """All metrics of one sample of one run on one level."""
    n = len(tasks)
    outcomes = [metrics.outcome(c) for c in records]
    provided = {c["task"] for c in records}
    lanes = _lanes(records, n, functional)
    return {
        "sample": sample,
        "n": n,
        "provided": len(provided),
        **metrics.counts(outcomes),
        "fast_0": metrics.share(sum(o.correct for o in outcomes), n),
        "fast_0_wilson95": list(metrics.wilson(sum(o.correct for o in outcomes), n)),
        "not_provided": [t for t in tasks if t not in provided],
        "not_judged": [
            {"task": c["task"], "state": c["state"], "reason": c["reason"]}
            for c in records
            if c["state"] in STATE_WORDS
        ],
        "lanes": lanes,
        "baselines": [upstream.row(b, level, tasks, records) for b in suite.baselines]
        if not functional
        else [],
        "categories": _groups(records, suite.categories(level), functional),
        "difficulties": _groups(
            records, {t: difficulty(level, t) for t in tasks}, functional, DIFFICULTIES
        ),
    }


def _lanes(records: list[dict[str, Any]], n: int, functional: bool) -> dict[str, Any]:
    if functional:
        return {}
    names = {PRIMARY_LANE}
    for c in records:
        if c["result"]:
            names |= set(((c["result"].get("timing") or {}).get("lanes") or {}).keys())
    return {
        lane: metrics.lane_summary([metrics.outcome(c, lane) for c in records], n)
        for lane in sorted(names, key=lambda x: (x != PRIMARY_LANE, x))
    }


def _groups(
    records: list[dict[str, Any]],
    group_of: dict[str, str],
    functional: bool,
    order: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """The primary lane's metrics for each group of tasks; N is the group's number of tasks."""
    found = []
    names = sorted(set(group_of.values()), key=lambda g: (order.index(g) if g in order else 0, g))
    for name in names:
        tasks = {t for t, g in group_of.items() if g == name}
        outcomes = [metrics.outcome(c) for c in records if c["task"] in tasks]
        correct = sum(o.correct for o in outcomes)
        row: dict[str, Any] = {
            "name": name,
            "n": len(tasks),
            "correct": correct,
            "fast_0": metrics.share(correct, len(tasks)),
            "fast_0_wilson95": list(metrics.wilson(correct, len(tasks))),
        }
        if not functional:
            row["lanes"] = {PRIMARY_LANE: metrics.lane_summary(outcomes, len(tasks))}
        found.append(row)
    return found
