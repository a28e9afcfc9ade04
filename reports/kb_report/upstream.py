"""Reads and writes the files of KernelBench: baseline timings, eval_results and analysis JSON."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from kb_report import metrics, write
from kb_report.load import BadFile, read_json
from kb_report.model import (
    PRIMARY_LANE,
    Problem,
    ReportError,
    Suite,
    natural_key,
    task_facts,
    task_number,
)


def add_baselines(suite: Suite, paths: list[Path]) -> None:
    """Read timing files of KernelBench into a suite; their damaged entries become problems."""
    for path in paths:
        baseline, bad = read_baseline(path)
        suite.baselines.append(baseline)
        if bad:
            more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
            text = f"has entries without a time, left out: {', '.join(bad[:5])}{more}"
            suite.problems.append(Problem("invalid", str(path), text))


def read_baseline(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Read a timing file of KernelBench (results/timing/<hardware>/<baseline>.json).

    Returns {"name", "hardware", "ms": {level: {problem id: mean time in ms}}} and the names of
    damaged entries. Problems are matched by their number, as upstream's ids are. Raises ReportError
    if it is no such file.
    """
    try:
        value = read_json(path)
    except FileNotFoundError:
        raise ReportError(f"baseline {path} does not exist") from None
    except BadFile as e:
        raise ReportError(f"baseline {path} {e}") from None
    times: dict[int, dict[int, float]] = {}
    hardware: set[str] = set()
    bad: list[str] = []
    levels = value.items() if isinstance(value, dict) else ()
    for level_name, problems in levels:
        m = re.fullmatch(r"level(\d+)", level_name)
        if not m or not isinstance(problems, dict):
            bad.append(level_name)
            continue
        for problem, stats in problems.items():
            number, mean = re.match(r"(\d+)_", problem), _mean(stats)
            if not number or mean is None:
                bad.append(f"{level_name}/{problem}")
                continue
            times.setdefault(int(m.group(1)), {})[int(number.group(1))] = mean
            if isinstance(stats.get("hardware"), str):
                hardware.add(stats["hardware"])
    if not times:
        raise ReportError(
            f"baseline {path} is not a KernelBench timing file: it holds no "
            '{"level1": {"1_Name.py": {"mean": ms}}}'
        )
    return {
        "name": f"{path.parent.name}/{path.stem}" if path.parent.name else path.stem,
        "hardware": ", ".join(sorted(hardware)) or None,
        "ms": times,
    }, bad


def _mean(stats: Any) -> float | None:
    """The mean time of an entry, None if it is no time."""
    mean = stats.get("mean") if isinstance(stats, dict) else None
    number = isinstance(mean, (int, float)) and not isinstance(mean, bool)
    return float(mean) if number and math.isfinite(mean) and mean > 0 else None


def at_full_sizes(record: dict[str, Any]) -> bool:
    """True if a candidate was timed at upstream's sizes; scaled ones are called full@24g, say."""
    return (record["result"].get("timing") or {}).get("sizes") == "full"


def row(
    baseline: dict[str, Any],
    level: int,
    tasks: list[str],
    records: list[dict[str, Any]],
    samples: int = 1,
) -> dict[str, Any]:
    """Upstream's point metrics against a baseline measured elsewhere: the mean over the samples.

    Tasks that the baseline lacks, or that were timed at other sizes than upstream's, are named and
    stay in N as not faster.
    """
    times = baseline["ms"].get(level, {})
    speedups: dict[str, float] = {}
    values: list[float] = []
    other_sizes: list[str] = []
    for c in records:
        ms, reference = write.lane_ms(c), times.get(task_number(c["task"]) or -1)
        if not (ms and reference):
            continue
        if at_full_sizes(c):
            speedups[c["task"]] = reference / ms
            values.append(reference / ms)
        else:
            other_sizes.append(c["task"])
    n = len(tasks) * samples
    points = {f"{p:g}": metrics.share(sum(s > p for s in values), n) for p in metrics.THRESHOLDS}
    # Times play no part in it, as everywhere.
    points["0"] = metrics.share(sum(metrics.outcome(c).correct for c in records), n)
    return {
        "name": baseline["name"],
        "hardware": baseline["hardware"],
        "timed": len(values),
        "fast_p_point": points,
        "geo_mean_speedup_correct": metrics.geo_mean(values),
        "geo_mean_speedup_faster": metrics.geo_mean([s for s in values if s > 1]),
        "speedups": speedups if samples == 1 else {},  # by task, which has one
        "missing": [t for t in tasks if (task_number(t) or -1) not in times],
        "other_sizes": other_sizes,
    }


def sample_ids(samples: list[str | None]) -> dict[str | None, int]:
    """Upstream numbers samples from 0; ours are counted in natural order."""
    return {s: i for i, s in enumerate(sorted(set(samples), key=natural_key))}


def eval_results(hardware: str, records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """eval_results.json of one run and level: problem id -> one entry per sample judged there."""
    ids = sample_ids([c["sample"] for c in records])
    found: dict[str, list[dict[str, Any]]] = {}
    for c in records:
        number = task_number(c["task"])
        if number is None or c["state"] != "judged" or hardware_of(c) != hardware:
            continue
        out = metrics.outcome(c)
        ms = write.lane_ms(c)
        entry: dict[str, Any] = {
            "sample_id": ids[c["sample"]],
            "compiled": out.compiled,
            "correctness": out.correct,
            "metadata": _metadata(c),
            "runtime": ms if ms is not None else -1.0,
            "runtime_stats": {},
        }
        if ms is not None:
            lane = c["result"]["timing"]["lanes"][PRIMARY_LANE]
            entry["runtime_stats"] = {
                "mean": ms,
                "num_trials": lane.get("blocks"),
                "hardware": hardware_of(c),
            }
        found.setdefault(str(number), []).append(entry)
    for entries in found.values():
        entries.sort(key=lambda e: e["sample_id"])
    return dict(sorted(found.items(), key=lambda i: int(i[0])))


def hardware_of(record: dict[str, Any]) -> str:
    """The GPU that a candidate was judged on, or else the CPU."""
    return (record["machine"] or "unknown").split(" | ")[0]


def _metadata(record: dict[str, Any]) -> dict[str, Any]:
    result = record["result"]
    verdict, evidence = result["verdict"], result["evidence"] or ""
    meta: dict[str, Any] = {"hardware": hardware_of(record), "kb_verdict": verdict}
    key = {
        "compile_error": "compilation_error",
        "incorrect": "correctness_issue",
        "runtime_error": "runtime_error",
        "timeout": "error",
        "pass": None,
    }.get(verdict, "other_error")
    if key:
        meta[key] = "Evaluation timed out" if verdict == "timeout" else evidence
        meta["kb_evidence"] = evidence
    return meta


def analysis(
    run: str, level: int, hardware: str, tasks: list[str], records: list[dict[str, Any]]
) -> dict[str, Any]:
    """Upstream's analysis JSON of one run and level: sample 0, point rule, times of this report."""
    ids = sample_ids([c["sample"] for c in records])
    there = [c for c in records if hardware_of(c) == hardware]
    first = [metrics.outcome(c) for c in there if ids[c["sample"]] == 0]
    n = len(tasks)
    speedups = [o.speedup for o in first if o.correct and o.speedup is not None]
    compiled = sum(o.compiled for o in first)
    correct = sum(o.correct for o in first)
    return {
        "run_name": run,
        "level": level,
        "hardware": hardware,
        "total_count": n,
        "total_eval": sum(o.judged for o in first),
        "compiled_count": compiled,
        "correct_count": correct,
        "compilation_rate": metrics.share(compiled, n),
        "correctness_rate": metrics.share(correct, n),
        "geo_mean_speedup": metrics.geo_mean(speedups) or 0.0,
        "fast_p": {str(p): metrics.fast_p(first, n, p)["point"] for p in metrics.THRESHOLDS},
    }


def baseline_timing(records: list[dict[str, Any]], lane: str) -> dict[str, Any]:
    """Our reference times as a timing file of KernelBench, so that its own analysis can use them.

    Only those at its own sizes.
    """
    found: dict[str, dict[str, Any]] = {}
    for c in records:
        result = c["result"]
        name = task_facts(c["level"], c["task"]).get("upstream")
        if not name or not result or not result.get("timing") or metrics.is_functional(result):
            continue
        timing = result["timing"]["lanes"].get(lane)
        if timing and at_full_sizes(c):
            found.setdefault(f"level{c['level']}", {}).setdefault(
                name,
                {
                    "mean": timing["reference_ms"],
                    "num_trials": timing.get("blocks"),
                    "hardware": hardware_of(c),
                },
            )
    return found


def timed_at_other_sizes(records: list[dict[str, Any]]) -> list[str]:
    """Names of the candidates whose reference times `baseline_timing` leaves out for their sizes."""
    return [c["name"] for c in records if write.lane_ms(c) is not None and not at_full_sizes(c)]


def google_benchmark(record: dict[str, Any], suite: Suite) -> dict[str, Any] | None:
    """A candidate's times as Google Benchmark writes them; None without a GPU measurement."""
    result = record["result"]
    lanes = ((result or {}).get("timing") or {}).get("lanes")
    if not lanes or not metrics.outcome(record).correct or metrics.is_functional(result):
        return None
    host = suite.machine.get("host") or {}
    rows = []
    for lane, t in lanes.items():
        for who in ("reference", "candidate"):
            name = f"{record['name']}/{lane}/{who}"
            row: dict[str, Any] = {
                "name": name,
                "run_name": name,
                "run_type": "aggregate",
                "aggregate_name": "median",
                "aggregate_unit": "time",
                "repetitions": t.get("blocks") or 1,
                "threads": 1,
                "iterations": t.get("blocks") or 1,
                "real_time": t[f"{who}_ms"],
                "cpu_time": t[f"{who}_ms"],
                "time_unit": "ms",
            }
            if who == "candidate":
                row |= {"speedup": t["speedup"], "ci_lo": t["ci_lo"], "ci_hi": t["ci_hi"]}
            rows.append(row)
    return {
        "context": {
            "date": result.get("time"),
            "host_name": "",
            "executable": record["name"],
            "num_cpus": host.get("cores") or 1,
            "mhz_per_cpu": 0,
            "cpu_scaling_enabled": False,
            "caches": [],
            "gpu": hardware_of(record),
            "harness": suite.harness.get("version"),
        },
        "benchmarks": rows,
    }
