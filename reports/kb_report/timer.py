"""How good the timer is: what `tools/measure-timing` measured, summed up.

Each line of such a file is one process that timed a module against its task's reference
(`reference`), or against another module: the same code (`identical`, an A/A run) or a known
slow-down of it.

What such lines cannot show is what happens to the reference only, since modules are on both sides:
a chain's first block, say, or each one after something was set up anew. `places` looks for that in
the results of kernels timed against their references.
"""

from __future__ import annotations

import gzip
import json
import math
import statistics
import zlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kb_report import cost, metrics
from kb_report.model import ReportError, Suite
from kb_report.stats import percentile_90

FIRST_PLACES = 16  # most chains have ended by then
FEW = 10  # chains say nothing about a place


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
        try:
            record = json.loads(line)
            record["candidate"], record["identical"], record["lanes"]
        except (ValueError, TypeError, KeyError):
            raise ReportError(
                f"{path}:{number} is no line of tools/measure-timing; remove it or measure again"
            ) from None
        lines.append(record)
    if not lines:
        raise ReportError(f"{path} is empty: run tools/measure-timing first")
    return lines


def summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Per lane: A/A runs over all tasks, what became of each known slow-down, and how far
    estimates of the same kernel against its reference lie apart on one GPU.

    The coefficient of variation is that of one task's estimates over its processes, with n - 1;
    percentiles are over tasks. `covered` is the share of intervals that hold the mean of the other
    processes' estimates.
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
            others = math.exp((sum(logs) - own) / (len(runs) - 1))
            covered.append(run["ci_lo"] <= others <= run["ci_hi"])
    return {
        "tasks": len({candidate.rsplit(".level", 1)[1] for candidate, _ in groups}),
        **_decided([run for runs in groups.values() for run in runs]),
        **_variations(groups.values()),
        "covered": statistics.fmean(covered) if covered else None,
    }


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
    out = [
        "| lane | pair | tasks | processes | WIN | LOSS | TIE | UNDECIDED | mean speed-up | CV median | CV p90 | CV max | covered |",
        "|:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for lane, groups in found["lanes"].items():
        for pair in ("identical", "repeated"):
            if groups[pair]:
                out.append(_row(lane, pair, groups[pair]))
        out += [_row(lane, run, decided) for run, decided in groups["slowed"].items()]
    seconds = cost.markdown(found["seconds"], "process")
    return "\n".join(out) + "\n" + (f"\n{seconds}" if seconds else "")


def _row(lane: str, pair: str, found: dict[str, Any]) -> str:
    def percent(name: str) -> str:
        value = found.get(name)
        return "" if value is None else f"{100 * value:.3f} %"

    cells = [
        lane, pair, str(found.get("tasks", "")), str(found["runs"]), str(found["WIN"]),
        str(found["LOSS"]), str(found["TIE"]), str(found["UNDECIDED"]), f"{found['mean']:.5f}",
        percent("variation_median"), percent("variation_p90"), percent("variation_max"), percent("covered"),
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def places(suite: Suite) -> dict[str, list[dict[str, Any]]]:
    """Per lane: how far the blocks at each place of a chain lie from their chain's median.

    A row has the place (1 is the first), the number of chains that reach it, and mean and standard
    error of ln(block / median) over them. Only chains that were measured once: what is done again
    goes on in the same processes, where a first block is none.

    Raises ReportError where nothing was timed on a GPU.
    """
    chains = defaultdict(list)
    for candidate in suite.candidates:
        result = candidate["result"]
        if not result or not result["timing"] or metrics.is_functional(result):
            continue
        for name, lane in result["timing"]["lanes"].items():
            if lane.get("redone") or lane.get("second_look") or not lane.get("block_speedups"):
                continue
            logs = [math.log(block) for block in lane["block_speedups"]]
            middle = statistics.median(logs)
            chains[name].append([x - middle for x in logs])
    found = {}
    for lane, runs in sorted(chains.items()):
        at_places = ([run[i] for run in runs if i < len(run)] for i in range(FIRST_PLACES))
        rows = [
            {
                "place": place,
                "chains": len(off),
                "mean": statistics.fmean(off),
                "error": statistics.stdev(off) / math.sqrt(len(off)),
            }
            for place, off in enumerate(at_places, 1)
            if len(off) >= FEW
        ]
        if rows:
            found[lane] = rows
    if not found:
        raise ReportError(
            f"fewer than {FEW} candidates here were timed on a GPU, so no place of a chain can be "
            "told from its noise: judge more, for example ctest -L seed"
        )
    return found


def places_markdown(found: dict[str, list[dict[str, Any]]]) -> str:
    """The places as a table; what lies more than three standard errors off is bold."""

    def cell(row: dict[str, Any] | None) -> str:
        if row is None:
            return ""
        text = f"{100 * row['mean']:+.2f} ± {100 * row['error']:.2f} %"
        return f"**{text}**" if abs(row["mean"]) > 3 * row["error"] else text

    out = [f"| block | {' | '.join(found)} |", "|--:" * (1 + len(found)) + "|"]
    for place in range(1, 1 + max(rows[-1]["place"] for rows in found.values())):
        rows = [next((r for r in rows if r["place"] == place), None) for rows in found.values()]
        out.append(f"| {place} | {' | '.join(map(cell, rows))} |")
    return "\n".join(out) + "\n"
