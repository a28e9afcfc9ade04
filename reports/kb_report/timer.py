"""How good the timer is: what `harness/lab/measure-timing` measured, summed up.

Each line of such a file is one process that timed a module against its task's reference
(`reference`), or against another module: the same code (`identical`, an A/A run) or a known
slow-down of it.

What such lines cannot show is what happens to the reference only, since modules are on both sides.
`of_results` looks for that in the results of kernels timed against their references: blocks at one
place of a chain that differ from the others, the first, say, or each one after something was set up
anew; and more of one side's units than the other's that its own events do not hold.
"""

from __future__ import annotations

import gzip
import math
import statistics
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kb_report import columns, cost, load, metrics, schema, write
from kb_report.columns import Column, Row
from kb_report.model import ReportError, Suite
from kb_report.stats import percentile_90

FIRST_PLACES = 16  # of a chain; most have ended by then
FEW = 10  # kernels say nothing that is common to all


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, compressed if its name ends in .gz.

    Raises ReportError with the number of a line that is none.
    """
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except OSError as e:
        raise ReportError(f"cannot read {path}: {e.strerror or e}") from None
    except (EOFError, zlib.error, UnicodeDecodeError):
        raise ReportError(f"{path} is damaged: copy it again, or measure again") from None
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        record = _record(line)
        if record is None:
            raise ReportError(
                f"{path}:{number} is no line of harness/lab/measure-timing; remove it or measure "
                "again"
            )
        lines.append(record)
    if not lines:
        raise ReportError(f"{path} is empty: run harness/lab/measure-timing first")
    return lines


def _record(line: str) -> dict[str, Any] | None:
    """What a line says, None if it is none of harness/lab/measure-timing."""
    try:
        record = load.parse(line)
    except (ValueError, RecursionError):
        return None
    return None if schema.check(record, "measurement") else record


def summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Per lane: A/A runs over all tasks, what became of each known slow-down, and how far
    estimates of the same kernel against its reference lie apart on one GPU.

    docs/metrics.md defines the coefficients of variation and `covered`.
    """
    lanes: dict[str, Any] = {}
    for lane in sorted({name for line in lines for name in line["lanes"]}):
        same, slowed, repeated = (defaultdict(list) for _ in range(3))
        for line in lines:
            if lane not in line["lanes"]:
                continue
            found = line["lanes"][lane]
            run, task = line["candidate"].rsplit(".level", 1)
            if line.get("reference"):
                repeated[line["candidate"], line["gpu"]].append(found)
            else:
                (same[task] if line["identical"] else slowed[run]).append(found)
        lanes[lane] = {
            "identical": _identical(same) if same else None,
            "repeated": _repeated(repeated) if repeated else None,
            "slowed": {run: _decided(runs) for run, runs in sorted(slowed.items())},
        }
    seconds = cost.of_phases(line["wall_seconds"] for line in lines if "wall_seconds" in line)
    return {"runs": len(lines), "lanes": lanes, "seconds": seconds}


def is_summary(path: Path) -> bool:
    """True for a file that `summary` or `markdown` may have made."""
    if path.suffix == ".md":
        return (load.read_text(path) or "").startswith("| lane |")
    try:
        found = load.read_json(path)
    except (FileNotFoundError, load.BadFile):
        return False
    return isinstance(found, dict) and {"runs", "lanes"} <= set(found) and "kind" not in found


def _decided(runs: list[dict[str, Any]]) -> dict[str, Any]:
    verdicts = [run["verdict"] for run in runs]
    return {
        "runs": len(runs),
        **{word: verdicts.count(word) for word in ("WIN", "LOSS", "TIE", "UNDECIDED")},
        "mean": math.exp(statistics.fmean(math.log(run["speedup"]) for run in runs)),
    }


def _variations(groups: Iterable[list[dict[str, Any]]]) -> dict[str, float | None]:
    found = sorted(
        statistics.stdev(r["speedup"] for r in runs) / statistics.fmean(r["speedup"] for r in runs)
        for runs in groups
        if len(runs) > 1
    )
    return {
        "variation_median": statistics.median(found) if found else None,
        "variation_p90": percentile_90(found) if found else None,
        "variation_max": found[-1] if found else None,
    }


def _repeated(groups: dict[tuple[str, str], list[dict[str, Any]]]) -> dict[str, Any]:
    covered = []
    for runs in groups.values():
        logs = [math.log(run["speedup"]) for run in runs]
        for run, own in zip(runs, logs, strict=True):
            if len(runs) == 1:
                continue
            covered.append(_holds(run, (sum(logs) - own) / (len(runs) - 1), len(runs) - 1))
    return {
        "tasks": len({candidate.rsplit(".level", 1)[1] for candidate, _ in groups}),
        **_decided([run for runs in groups.values() for run in runs]),
        **_variations(groups.values()),
        "covered": statistics.fmean(covered) if covered else None,
    }


def _holds(run: dict[str, Any], others: float, count: int) -> bool:
    """True if an interval, widened by the error of the mean of `count` others, holds that mean.

    others: the mean of ln(speed-up). All are taken to be equally exact.
    """
    own = math.log(run["speedup"])
    limit = run["ci_lo"] if others < own else run["ci_hi"]
    if not limit:
        return True  # too few blocks for a limit
    return abs(others - own) <= math.sqrt(1 + 1 / count) * abs(math.log(limit) - own)


def _identical(tasks: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    every = [run for runs in tasks.values() for run in runs]
    means = {
        task: math.exp(statistics.fmean(math.log(r["speedup"]) for r in runs))
        for task, runs in tasks.items()
    }
    farthest = max(means, key=lambda task: abs(math.log(means[task])))
    return {
        "tasks": len(tasks),
        **_decided(every),
        **_variations(tasks.values()),
        "farthest_mean": {"task": "level" + farthest, "mean": means[farthest]},
    }


def markdown(found: dict[str, Any]) -> str:
    """The summary as a table for documents."""
    rows = []
    for lane, groups in found["lanes"].items():
        for pair in ("identical", "repeated"):
            if groups[pair]:
                rows.append({"lane": lane, "pair": pair, **groups[pair]})
        rows += [{"lane": lane, "pair": run, **x} for run, x in groups["slowed"].items()]
    seconds = cost.markdown(found["seconds"], "process")
    table = columns.markdown(_COLUMNS, [[row] for row in rows], write.escape_markdown)
    return "\n".join(table) + "\n" + (f"\n{seconds}" if seconds else "")


def _percent(key: str) -> Callable[[Row], str]:
    return lambda row: "" if row.get(key) is None else f"{100 * row[key]:.3f} %"


_COLUMNS = [
    Column("lane", lambda r: r["lane"], left=True),
    Column("pair", lambda r: r["pair"], left=True),
    Column("tasks", lambda r: str(r.get("tasks", ""))),
    Column("processes", lambda r: str(r["runs"])),
    *(Column(key, lambda r, key=key: str(r[key])) for key in ("WIN", "LOSS", "TIE", "UNDECIDED")),
    Column("mean speed-up", lambda r: f"{r['mean']:.5f}"),
    *(Column(f"CV {which}", _percent(f"variation_{which}")) for which in ("median", "p90", "max")),
    Column("covered", _percent("covered")),
]


def of_results(suite: Suite) -> dict[str, Any]:
    """Per lane: its `places` and what its units take `outside` the runners' own events.

    Raises ReportError where too little was timed on a GPU.
    """
    lanes = defaultdict(list)
    for candidate in suite.candidates:
        result = candidate["result"]
        if result and result["timing"] and not metrics.is_functional(result):
            for name, lane in result["timing"]["lanes"].items():
                lanes[name].append(lane)
    found = {
        name: {"places": _places(timed), "outside": _outside(timed)}
        for name, timed in sorted(lanes.items())
        if len(timed) >= FEW
    }
    if not found:
        raise ReportError(
            f"fewer than {FEW} candidates here were timed on a GPU, so nothing common to them can "
            "be told from noise: judge more, for example ctest -L seed"
        )
    return found


def _mean(values: list[float]) -> dict[str, Any]:
    error = statistics.stdev(values) / math.sqrt(len(values))
    return {"mean": statistics.fmean(values), "error": error, "count": len(values)}


def _places(lanes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each place of a chain of blocks, the first first, as long as enough chains reach it: the
    mean of ln(block / the chain's median).

    Only chains that were measured once: what is done again goes on in the same processes, where a
    first block is none.
    """
    chains = []
    for lane in lanes:
        if lane.get("block_speedups") and not lane.get("redone") and not lane.get("second_look"):
            logs = [math.log(block) for block in lane["block_speedups"]]
            middle = statistics.median(logs)
            chains.append([x - middle for x in logs])
    at_places = ([chain[i] for chain in chains if i < len(chain)] for i in range(FIRST_PLACES))
    return [_mean(off) for off in at_places if len(off) >= FEW]


def _outside(lanes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Microseconds of a unit by the judge's clock, less an empty one, that its runner's own events
    do not hold; and by how much that moves ln(speed-up). Only of single pairs of processes: of
    several, the events are the first one's.
    """
    reference, candidate, moved = [], [], []
    for lane in lanes:
        calls = lane.get("calls_per_unit")
        events = lane.get("reference_stream_ms"), lane.get("stream_ms")
        if not (calls and all(events)) or (lane.get("pairs") or 1) > 1:
            continue
        reference.append(1e3 * calls * (lane["reference_ms"] - events[0]))
        candidate.append(1e3 * calls * (lane["candidate_ms"] - events[1]))
        moved.append(
            math.log(lane["reference_ms"] / events[0]) - math.log(lane["candidate_ms"] / events[1])
        )
    if len(moved) < FEW:
        return None
    return {
        "reference_us": _mean(reference),
        "candidate_us": _mean(candidate),
        "difference_us": _mean([r - c for r, c in zip(reference, candidate, strict=True)]),
        "moved": _mean(moved),
    }


def results_markdown(found: dict[str, Any]) -> str:
    """Both as tables, means with their standard errors. What should be 0 and lies more than three
    of them off is bold.
    """

    def cell(value: dict[str, Any], scale: float, unit: str) -> str:
        return f"{scale * value['mean']:+.2f} ± {scale * value['error']:.2f} {unit}"

    def suspect(value: dict[str, Any], scale: float, unit: str) -> str:
        text = cell(value, scale, unit)
        return f"**{text}**" if abs(value["mean"]) > 3 * value["error"] else text

    outside = [
        [
            "lane",
            "outside the events: reference",
            "candidate",
            "difference",
            "moves the speed-up by",
        ]
    ]
    for name, lane in found.items():
        if lane["outside"] is None:
            continue
        of = lane["outside"]
        arms = [cell(of[f"{arm}_us"], 1, "us") for arm in ("reference", "candidate")]
        off = [suspect(of["difference_us"], 1, "us"), suspect(of["moved"], 100, "%")]
        outside.append([name, *arms, *off])
    places = [["block", *found]]
    for i in range(max(len(lane["places"]) for lane in found.values())):
        row = [
            suspect(lane["places"][i], 100, "%") if i < len(lane["places"]) else ""
            for lane in found.values()
        ]
        places.append([str(i + 1), *row])
    both = [*columns.pipes(outside, "lrrrr"), "", *columns.pipes(places, "r" * (1 + len(found)))]
    return "\n".join(both) + "\n"
