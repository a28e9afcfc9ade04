"""What judging one kernel of a task costs, from the result files and timings of reports/hardware."""

from __future__ import annotations

import gzip
import json
import math
import statistics
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_report import cost, shards

ROOT = Path(__file__).resolve().parent.parent.parent
HARDWARE = ROOT / "reports/hardware"
FACTS = ROOT / "reports/kb_report/data/tasks.json"

# Result files on record.
ARCHIVES = (
    "h200/verdicts/all.tar.gz",
    "h200/verdicts/levels.tar.gz",
    "h200/verdicts/level3.tar.gz",
    "h200/verdicts/level1.tar.gz",
)
# Made by one call of ctest, on so many GPUs side by side and in what it calls its total test time.
IN_ONE_GO = "h200/verdicts/kernelbench.tar.gz"
IN_ONE_GO_GPUS = 2
IN_ONE_GO_SECONDS = 363.7
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
    """Everything on record. Of a task the newest result counts, that of its bench apart from its checks."""
    records = Records()
    results = (r for name in ARCHIVES for r in _archived(name))
    shipped = [r for r in results if r["run"] == "seed" and r["verdict"] == "pass"]
    timed: dict[Task, dict[str, Any]] = {}
    for result in sorted(shipped, key=lambda r: r["time"]):
        if result["timing"]:
            timed[result["level"], result["task"]] = result
        of_task = records.costs[result["level"], result["task"]]
        of_task.correct = correct_seconds(result) or of_task.correct
        of_task.bench = bench_seconds(result) or of_task.bench
        of_task.compile = result["build"]["cpu_seconds"]
        of_task.object_bytes = result["build"]["object_bytes"]
        of_task.result_bytes = len(json.dumps(result))
    for result in timed.values():
        records.estimates.add(result)  # as tools/fleet --seconds does
    together = list(_archived(IN_ONE_GO))
    own = math.fsum(correct_seconds(r) + bench_seconds(r) for r in together)
    records.between = (IN_ONE_GO_GPUS * IN_ONE_GO_SECONDS - own) / len(together)
    records.spread = _spread()
    return records


def _archived(name: str) -> Iterator[dict[str, Any]]:
    with tarfile.open(HARDWARE / name) as archive:
        for member in archive:
            if member.name.endswith(".json"):
                yield json.load(archive.extractfile(member))


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
