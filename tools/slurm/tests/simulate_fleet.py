"""A fleet of GPUs that judges many kernels, and the tables of reports/hardware/h100/scale.md.

Run as a program it prints the tables of that page, with --write it puts them there. It needs the scheduler of
tools/fleet (kb_fleet/shards.py), whose shards it simulates: each GPU takes the next shard of the list, as an array
job does, and is idle once none is left.
"""

from __future__ import annotations

import heapq
import math
import random
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "reports"))
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kb_fleet import shards
from kb_report import columns
from kb_report.stats import percentile_90
from recorded_costs import ROOT, Records, read, suite

PAGE = ROOT / "reports/hardware/h100/scale.md"

# Not on record, so assumed: from a free GPU to the first kernel of a shard (Slurm's cycle, LibTorch from a cold disk),
# and kernels that hang, with what their deadlines hold a GPU.
START_SECONDS = 30.0
HANGING = 0.01
HANG_SECONDS = 20.0
SEED = 1


@dataclass
class Night:
    """How GPUs spent the time until the last one was done; all in seconds of all GPUs together."""

    gpus: int
    shards: int
    wall: float
    judging: float
    starting: float

    def share(self, part: float) -> float:
        """A part of all GPUs' time."""
        return part / (self.gpus * self.wall)

    @property
    def waiting(self) -> float:
        """GPUs without a shard, while the last ones were busy."""
        return max(0.0, self.gpus * self.wall - self.judging - self.starting)


def simulate(
    records: Records,
    samples: int,
    gpus: int,
    count: int | None = None,
    start: float = START_SECONDS,
    known: bool = False,
) -> Night:
    """`samples` kernels of every task on `gpus`, in the scheduler's shards; count: as tools/fleet --shards.

    The scheduler knows what results.json.gz says, or, if all is `known`, how long each task takes. What a kernel takes
    comes from all records and varies as benches on record do, and now and then it hangs.
    """
    kernels = [{"level": lv, "task": task} for lv, task in suite() for _ in range(samples)]
    chance = random.Random(SEED)
    queue = shards.split(kernels, _true_seconds(records) if known else records.estimates, count)
    free = [0.0] * gpus
    judging = 0.0
    for shard in queue:
        seconds = math.fsum(_takes(records, k, chance) for k in shard.kernels())
        judging += seconds
        heapq.heapreplace(free, free[0] + start + seconds)
    return Night(gpus, len(queue), max(free), judging, start * len(queue))


def _true_seconds(records: Records) -> shards.Seconds:
    found = shards.Seconds()
    for level, task in suite():
        checks = {"sets": [{"seconds": records.held((level, task))}]}
        found.add({"level": level, "task": task, "correctness": checks, "timing": None})
    return found


def _takes(records: Records, kernel: dict[str, Any], chance: random.Random) -> float:
    if chance.random() < HANGING:
        return HANG_SECONDS
    # The mean of the factor is 1.
    factor = math.exp(chance.gauss(-(records.spread**2) / 2, records.spread))
    return records.held((kernel["level"], kernel["task"])) * factor


def table(sides: str, heads: list[str], rows: Iterable[list[str]]) -> str:
    """Markdown; sides: see columns.pipes()."""
    return "\n".join(columns.pipes([heads, *rows], sides))


def cost_table(records: Records) -> str:
    """Cost per verdict by level, and over the suite."""

    def row(level: int | None) -> list[str]:
        tasks = [t for t in suite() if level in (None, t[0])]
        held = [records.held(t) for t in tasks]

        def known(part: str) -> list[float]:
            costs = (getattr(records.costs[t], part) for t in tasks)
            return [v for v in costs if v is not None]

        def seconds(part: str) -> str:
            found = known(part)
            return f"{statistics.mean(found):.1f} ({len(found)})" if found else "- (0)"

        kilobytes = [statistics.mean(known(f"{x}_bytes")) / 1000 for x in ("object", "result")]
        return [
            str(level or "all"), str(len(tasks)), seconds("correct"), seconds("bench"),
            f"{statistics.mean(held):.1f}", f"{percentile_90(held):.1f}", seconds("compile"),
            *(f"{k:,.0f}" for k in kilobytes),
        ]  # fmt: skip

    heads = [
        "level", "tasks", "checks, GPU s", "times, GPU s", "GPU held, s", "90th percentile",
        "compiling, CPU s", "object, kB", "result, kB",
    ]  # fmt: skip
    return table("lrrrrrrrr", heads, map(row, (1, 2, 3, 4, None)))


MILLION = 1_000_000
DAY = 86_400


def day_table(records: Records) -> str:
    """What a million verdicts a day need, all tasks alike often."""
    tasks = suite()
    held = statistics.mean(records.held(t) for t in tasks)
    night = simulate(records, 100, 64, shards.MOST_SHARDS)
    used = night.share(night.judging)

    def mean(part: str) -> float:
        found = (getattr(records.costs[t], part) for t in tasks)
        return statistics.mean(records.median(part) if v is None else v for v in found)

    most, seconds = shards.MOST_SHARDS, shards.SHARD_SECONDS
    reached = f"GPUs at the {100 * used:.0f} % that 64 reach in {most} shards"
    submissions = math.ceil(MILLION * held / most / seconds)
    rows = [
        ["GPUs that judge all the time", f"{MILLION * held / DAY:.0f}"],
        [reached, f"{MILLION * held / DAY / used:.0f}"],
        ["CPU cores that compile", f"{MILLION * mean('compile') / DAY:.0f}"],
        ["objects, GB", f"{MILLION * mean('object_bytes') / 1e9:,.0f}"],
        ["results, GB", f"{MILLION * mean('result_bytes') / 1e9:,.0f}"],
        [f"submissions of {most} shards of {seconds} s", str(submissions)],
    ]
    return table("lr", ["a million verdicts a day", ""], rows)


# Samples per task, GPUs, shards as asked for (None: the scheduler's own choice), whether all seconds are known.
CASES = (
    (10, 1, None, False),
    (10, 8, None, False),
    (10, 64, None, False),
    (10, 64, 256, False),
    (10, 512, None, False),
    (10, 512, 1000, False),
    (100, 1, None, False),
    (100, 8, None, False),
    (100, 64, None, False),
    (100, 64, 1000, False),
    (100, 64, 1000, True),
    (100, 512, None, False),
    (100, 512, 1000, False),
    (100, 512, 1000, True),
)


def fleet_table(records: Records) -> str:
    """How GPUs spend their time."""
    rows = []
    for samples, gpus, count, known in CASES:
        night = simulate(records, samples, gpus, count, known=known)
        parts = (night.judging, night.starting, night.waiting)
        rows.append([
            f"{len(suite()) * samples:,}", str(gpus), f"{night.shards}{' (--shards)' * bool(count)}",
            "known" if known else "on record", f"{night.wall / 60:,.1f}",
            *(f"{100 * night.share(part):.1f} %" for part in parts),
        ])  # fmt: skip
    heads = [
        "kernels", "GPUs", "shards", "seconds", "minutes", "judging", "starting",
        "waiting for the last",
    ]  # fmt: skip
    return table("rrrlrrrr", heads, rows)


STARTS = (5.0, 30.0, 120.0)


def start_table(records: Records) -> str:
    """What another start-up costs, 27,000 kernels on 64 GPUs."""
    rows = []
    for start in STARTS:
        night = simulate(records, 100, 64, start=start)
        share = night.share(night.judging)
        rows.append([f"{start:.0f}", f"{night.wall / 60:,.1f}", f"{100 * share:.1f} %"])
    return table("rrr", ["start of a shard, s", "minutes", "judging"], rows)


def constants(records: Records) -> str:
    """What is assumed or derived, one line each."""
    return "\n".join(
        [
            f"- between the programs of a kernel a GPU is held {records.between:.2f} s longer (derived)",
            f"- the same bench takes e^±{records.spread:.2f} of its time when it is done again (derived)",
            f"- a shard starts in {START_SECONDS:.0f} s (assumed)",
            f"- {100 * HANGING:.0f} % of kernels hang, and each holds a GPU for {HANG_SECONDS:.0f} s (assumed)",
        ]
    )


TABLES = {
    "constants": constants,
    "cost": cost_table,
    "day": day_table,
    "fleet": fleet_table,
    "start": start_table,
}


def filled(page: str, records: Records) -> str:
    """The page with every table between its marks, <!-- name --> and <!-- end -->."""
    for name, make in TABLES.items():
        before, mark, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if not (mark and end):
            raise ValueError(f"reports/hardware/h100/scale.md lacks the marks of the table {name}")
        page = f"{before}{mark}\n{make(records)}\n\n{end}{after}"
    return page


def main() -> None:
    """Print the tables, or write them into the page."""
    records = read()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), records), encoding="utf-8")
    else:
        print("\n\n".join(make(records) for make in TABLES.values()))


if __name__ == "__main__":
    main()
