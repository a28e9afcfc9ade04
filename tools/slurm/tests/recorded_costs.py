"""What judging one kernel of a task costs, from the results and timings of reports/hardware."""

from __future__ import annotations

import gzip
import json
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_fleet import shards
from kb_report import cost

ROOT = Path(__file__).resolve().parents[3]
HARDWARE = ROOT / "reports/hardware"
FACTS = ROOT / "reports/kb_report/data/tasks.json"

# All shipped kernels, made by two calls of ctest on four GPUs side by side in what it calls their total test times.
RECORD = HARDWARE / "h100/results.json.gz"
RECORD_GPUS = 4
RECORD_SECONDS = 491.5 + 437.6
REPEATED = HARDWARE / "h200/timer/aa.jsonl.gz"

Task = tuple[int, str]


@dataclass
class Cost:
    """What judging one kernel of a task takes; None where it is not on record.

    correct, bench: seconds on the GPU. compile: seconds of CPU. The others are bytes.
    """

    correct: float | None = None
    bench: float | None = None
    compile: float | None = None
    object_bytes: int | None = None
    result_bytes: int | None = None


@dataclass
class Records:
    """All that is on record, and what the program derives from it.

    between: seconds of a GPU per kernel outside of the programs' own phases: their starts, CTest, a GPU that waits.
    spread: standard deviation of the logarithm of a bench's seconds when it is done again.
    """

    costs: dict[Task, Cost] = field(default_factory=lambda: defaultdict(Cost))
    estimates: shards.Seconds = field(default_factory=shards.Seconds)
    between: float = 0.0
    spread: float = 0.0

    def held(self, task: Task) -> float:
        """Seconds that a kernel of the task holds a GPU; what is not on record is the median of all others."""
        return self._of(task, "correct") + self._of(task, "bench") + self.between

    def _of(self, task: Task, part: str) -> float:
        found = getattr(self.costs[task], part)
        return self.median(part) if found is None else found

    def median(self, part: str) -> float:
        """Over all tasks that have it."""
        return statistics.median(
            v for c in self.costs.values() if (v := getattr(c, part)) is not None
        )


def correct_seconds(result: dict[str, Any]) -> float:
    """Seconds of all sets of inputs."""
    return math.fsum(
        s.get("seconds") or 0.0 for s in (result.get("correctness") or {}).get("sets") or []
    )


def bench_seconds(result: dict[str, Any]) -> float:
    """Seconds for which timing held a GPU; 0 without times."""
    return cost.held_seconds((result.get("timing") or {}).get("wall_seconds") or {})


def read() -> Records:
    """Everything on record of the kernels that passed."""
    records = Records()
    with gzip.open(RECORD, "rt", encoding="utf-8") as f:
        shipped = [c["result"] for c in json.load(f)["candidates"] if c["run"] == "seed"]
    for result in shipped:
        if result["verdict"] != "pass":
            continue
        records.costs[result["level"], result["task"]] = Cost(
            correct=correct_seconds(result),
            bench=bench_seconds(result),
            compile=result["build"]["cpu_seconds"],
            object_bytes=result["build"]["object_bytes"],
            result_bytes=len(json.dumps(result)),
        )
        records.estimates.add(result)  # as tools/fleet --seconds does
    own = math.fsum(correct_seconds(r) + bench_seconds(r) for r in shipped)
    records.between = (RECORD_GPUS * RECORD_SECONDS - own) / len(shipped)
    records.spread = _spread()
    return records


def _spread() -> float:
    """Pooled over the kernels whose bench was done several times on the same GPU."""
    logs: dict[tuple[str, str], list[float]] = defaultdict(list)
    with gzip.open(REPEATED, "rt", encoding="utf-8") as f:
        for line in f:
            row = json.loads(line)
            logs[row["candidate"], row["gpu"]].append(
                math.log(cost.held_seconds(row["wall_seconds"]))
            )
    variances = [statistics.variance(v) for v in logs.values() if len(v) > 1]
    return math.sqrt(statistics.mean(variances))


def suite() -> list[Task]:
    """All 270 tasks."""
    return [(f["level"], f["task"]) for f in json.loads(FACTS.read_text(encoding="utf-8"))]
