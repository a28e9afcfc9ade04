"""Reads reports back and merges those of shards; the order and repetition of inputs do not matter."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from kb_report import load, rollup, schema, validity
from kb_report.load import BadFile
from kb_report.model import (
    BAD_RESULT,
    BUILT_ONLY,
    JUDGED,
    NO_RESULT,
    REFUSED,
    STALE,
    BadReport,
    Problem,
    ReportError,
    Suite,
    candidate_key,
    candidate_name,
    chosen_tasks,
)
from kb_report.tree import PROJECT

# Where a report lies below the folder that is named; one that is kept may be compressed.
REPORT_NAMES = ("results.json", "results.json.gz", "reports/results.json")

# A note with all of the names, so that reports can be merged again; what shows it cuts it short.
SEVERAL = " candidate(s) have several results, of which the newest counts: "

_RANK = {NO_RESULT: 0, STALE: 1, BAD_RESULT: 2, BUILT_ONLY: 3, JUDGED: 4}


def read_suite(path: Path) -> Suite:
    """Read a build directory, a report directory or a results.json.

    Raises BadReport if it is none of them.
    """
    if path.is_dir() and (path / "manifest.json").exists():
        return load.load_build_dir(path)
    file = path
    if path.is_dir():
        file = next(
            (path / n for n in REPORT_NAMES if (path / n).exists()),
            path / "results.json",
        )
    try:
        doc = load.read_json(file, load.MAX_REPORT_BYTES)
    except FileNotFoundError:
        chosen = "; only compare takes #RUN" if "#" in path.name else ""
        raise BadReport("unreadable", file, f"does not exist{chosen}") from None
    except BadFile as e:
        raise BadReport(e.kind, file, str(e)) from None
    if not isinstance(doc, dict) or doc.get("kind") != rollup.KIND:
        raise BadReport("foreign", file, "is not a results.json of kb-report")
    if doc.get("schema") != rollup.SCHEMA_VERSION:
        version = f"has schema {doc.get('schema')}, this program reads {rollup.SCHEMA_VERSION}"
        raise BadReport("schema", file, version)
    errors = schema.check(doc, "results") or _result_errors(doc)
    if errors:
        raise BadReport("invalid", file, f"is damaged: {'; '.join(errors[:3])}")
    suite = rollup.suite_of(doc)
    suite.problems = [Problem(**p) for p in doc["problems"]]
    suite.tree = PROJECT
    for c in suite.candidates:
        c["source_text"] = _source(c)
    return suite


def read_suites(paths: list[Path]) -> tuple[dict[str, Suite], list[Problem]]:
    """The suites of all paths that can be used, by path, and what is wrong with the others.

    Raises ReportError, naming all of them, if none can be used.
    """
    suites: dict[str, Suite] = {}
    problems: list[Problem] = []
    for path in dict.fromkeys(paths):
        try:
            suites[str(path)] = read_suite(path)
        except BadReport as e:
            problems.append(e.problem)
    if not suites:
        raise ReportError("; ".join(f"{p.path} {p.message}" for p in problems))
    return suites, problems


def _source(record: dict[str, Any]) -> str | None:
    """The source that a report does not carry, if this project still has it unchanged."""
    path = PROJECT / record["source"]
    said = ((record["result"] or {}).get("hashes") or {}).get("source")
    if said is None or not path.resolve().is_relative_to(PROJECT) or load.sha256_file(path) != said:
        return None
    return load.read_text(path)


def _result_errors(doc: dict[str, Any]) -> list[str]:
    errors = []
    names: set[str] = set()
    for c in doc["candidates"]:
        if c["name"] in names:
            errors.append(f"it names {c['name']} twice")
        names.add(c["name"])
        if c["name"] != candidate_name(c):
            errors.append(f"it names a candidate {c['name']} that should be {candidate_name(c)}")
        if c["task"] not in doc["levels"].get(str(c["level"]), {"tasks": []})["tasks"]:
            errors.append(f"{c['name']} belongs to no task of level {c['level']}")
        if c["result"] is not None:
            found = schema.check(c["result"], "result")
            errors += [f"{c['name']}: {e}" for e in found[:1]]
            if found:
                continue
            errors += [
                f"the result of {c['name']} belongs to another candidate: {key} is "
                f"{json.dumps(c['result'][key])}"
                for key in ("name", "run", "sample", "level", "task")
                if c["result"][key] != c[key]
            ][:1]
            if wrong := load.contradiction(c["result"]):
                errors.append(f"{c['name']} {wrong}")
            if (c["result"]["verdict"] is None) != (c["state"] == BUILT_ONLY):
                errors.append(f"{c['name']} is {c['state']}, which its verdict contradicts")
        elif c["state"] in (JUDGED, BUILT_ONLY):
            errors.append(f"{c['name']} is {c['state']} without a result")
    return errors


def differences(suites: list[Suite], labels: list[str], same_machine: bool) -> list[str]:
    """Sentences about what must be equal for the numbers of these suites to belong together."""
    found = []

    def compare(what: str, values: list[Any]) -> None:
        if len({json.dumps(v, sort_keys=True) for v in values}) > 1:
            shown = ", ".join(sorted(f"{label}: {v}" for label, v in zip(labels, values)))
            found.append(f"different {what} ({shown})")

    compare("backends", [s.backend for s in suites])
    # Binaries of the same sources differ between GPUs and between folders.
    if all(s.harness.get("sources") for s in suites):
        compare("sources of harness or tasks", [s.harness["sources"][:12] for s in suites])
    else:
        compare("harnesses", [(s.harness.get("sha256") or "unknown")[:12] for s in suites])
    compare("LibTorch versions", [s.machine.get("torch") for s in suites])
    found += _different_sizes(suites)
    for level in sorted({lv for s in suites for lv in s.levels}):
        lists = [s.levels[level] for s in suites if level in s.levels]
        if any(tasks != lists[0] for tasks in lists):
            found.append(f"different tasks in level {level}")
    if same_machine:
        machines = sorted({m for s in suites for m in s.machines})
        if len(machines) > 1:
            found.append(f"different machines ({'; '.join(machines)})")
        contracts = {
            contract
            for s in suites
            for c in s.candidates
            if (contract := ((c["result"] or {}).get("correctness") or {}).get("contract"))
        }
        if len(contracts) > 1:
            found.append(f"different contracts ({', '.join(sorted(contracts))})")
    return found


def require_lane(suites: list[Suite], lane: str) -> None:
    """Raise ReportError, naming the lanes that there are, if none of the suites has this one."""
    timings = [(c["result"] or {}).get("timing") or {} for s in suites for c in s.candidates]
    lanes = sorted({name for t in timings for name in t.get("lanes") or {}})
    if lanes and lane not in lanes:
        raise ReportError(f"there are no times in lane {lane}; the lanes are {', '.join(lanes)}")


def _different_sizes(suites: list[Suite]) -> list[str]:
    """Whether times of the same task, or of tasks scaled down at all, are of different sizes.

    Tasks that fit keep `full`; of the others it becomes full@24g, after KB_SIZES.
    """
    by_task: dict[str, set[str]] = {}
    for s in suites:
        for c in s.candidates:
            if sizes := ((c["result"] or {}).get("timing") or {}).get("sizes"):
                by_task.setdefault(f"level{c['level']}.{c['task']}", set()).add(sizes)
    chosen = {sizes.partition("@")[2] for found in by_task.values() for sizes in found} - {""}
    if len(chosen) > 1:
        return [f"different choices of full sizes (KB_SIZES) ({', '.join(sorted(chosen))})"]
    unlike = [task for task, found in sorted(by_task.items()) if len(found) > 1]
    if unlike:
        shown = ", ".join(sorted(by_task[unlike[0]]))
        return [f"different sizes (KB_SIZES) in {len(unlike)} task(s): {unlike[0]} ({shown})"]
    return []


def _different_choices(suites: list[Suite]) -> list[str]:
    """Runs whose run.json chooses tasks, and not the same in all of the suites: N is one number."""
    chosen: dict[str, set[tuple[str, ...]]] = {}
    for s in suites:
        for run in {c["run"] for c in s.candidates}:
            tasks = chosen_tasks(s.runs_info.get(run, {}))
            chosen.setdefault(run, set()).add(tuple(sorted(tasks)))
    unlike = sorted(run for run, choices in chosen.items() if len(choices) > 1)
    return [f"different tasks in the run.json of {', '.join(unlike)}"] if unlike else []


def refusal(mixed: list[str]) -> ReportError:
    """What is said where suites must not become one."""
    words = f"refused to merge: {'; '.join(mixed)}. --allow-mixed does it all the same"
    return ReportError(words, REFUSED)


def merge(suites: list[Suite], labels: list[str], allow_mixed: bool = False) -> Suite:
    """One suite with every candidate of the given ones.

    Of several records of a candidate, a judged one wins over others, then the newest. Raises
    ReportError with status REFUSED when they must not be mixed.
    """
    mixed = differences(suites, labels, same_machine=True) + _different_choices(suites)
    if mixed and not allow_mixed:
        raise refusal(mixed)
    first = min(suites, key=_canonical)
    levels: dict[int, list[str]] = {}
    for s in suites:
        for level, tasks in s.levels.items():
            levels[level] = sorted({*levels.get(level, []), *tasks})
    notes = {n for s in suites for n in s.told()} | {f"mixed: {m}" for m in mixed}
    several = {name for n in notes if SEVERAL in n for name in n.partition(SEVERAL)[2].split(", ")}
    notes = {n for n in notes if SEVERAL not in n}
    best: dict[str, dict[str, Any]] = {}
    for s in suites:
        for c in s.candidates:
            kept = best.get(c["name"])
            best[c["name"]] = max(kept, c, key=_quality) if kept else c
    for s in suites:
        for c in s.candidates:
            kept = best[c["name"]]
            if c["source_text"] and not kept["source_text"]:
                kept = best[c["name"]] = {**kept, "source_text": c["source_text"]}
            if c["state"] == JUDGED and c["result"] != kept["result"]:
                several.add(c["name"])
    if several:
        notes.add(f"{len(several)}{SEVERAL}{', '.join(sorted(several))}")
    runs_info: dict[str, dict[str, Any]] = {}
    for s in sorted(suites, key=_canonical):
        runs_info |= s.runs_info
    merged = Suite(
        backend=first.backend,
        preset="+".join(sorted({p for s in suites for p in s.preset.split("+")})),
        levels=dict(sorted(levels.items())),
        candidates=sorted(best.values(), key=candidate_key),
        runs_info=dict(sorted(runs_info.items())),
        harness=first.harness,
        machine=first.machine,
        problems=sorted(
            {p for s in suites for p in s.problems}, key=lambda p: (p.path, p.kind, p.message)
        ),
        notes=sorted(notes),
        validity=validity.merged(s.validity for s in suites),
        time=max((t for s in suites for t in times(s)), default=None),
    )
    for s in sorted(suites, key=_canonical):
        merged.machines |= s.machines
    return merged


def times(suite: Suite) -> list[str]:
    """When a report was made; of a build directory, which tells no time, when it judged."""
    if suite.time:
        return [suite.time]
    times = [(c["result"] or {}).get("time") or "" for c in suite.candidates]
    return [t for t in times if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}Z", t)]


def _canonical(suite: Suite) -> str:
    return json.dumps([suite.backend, suite.harness, suite.machine, suite.preset], sort_keys=True)


def _quality(c: dict[str, Any]) -> tuple[int, str, str]:
    plain = {k: v for k, v in c.items() if k != "source_text"}
    time = (c["result"] or {}).get("time") or ""
    return _RANK[c["state"]], time, json.dumps(plain, sort_keys=True)
