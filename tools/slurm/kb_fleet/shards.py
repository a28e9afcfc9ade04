"""Splits the kernels that are to be judged into shards of equal work, for tools/fleet."""

from __future__ import annotations

import hashlib
import heapq
import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_report import cost, load, merge, pending, write
from kb_report.model import ReportError, Suite

# What a kernel takes where no result file says it: a little more than the median on an H200.
DEFAULT_SECONDS = 5.0
# Starting a shard takes seconds, and a lost node loses at most this much of one.
SHARD_SECONDS = 600
# Slurm's MaxArraySize is 1001 where nothing else is configured.
MOST_SHARDS = 1000


def harness_sha256(build_dir: Path) -> str:
    """The harness that results of this build folder name, whatever env.json says: a hash over what
    the manifest lists.

    Raises ReportError if it is not built.
    """
    hashes = []
    for program in load.read_json(build_dir / "manifest.json")["harness"]:
        digest = load.sha256_file(build_dir / program)
        if digest is None:
            raise ReportError(f"{build_dir / program} is missing: build first")
        hashes.append(digest)
    return hashlib.sha256("".join(hashes).encode()).hexdigest()


def sha256_of(paths: Iterable[Path]) -> dict[Path, str]:
    """Hashes of files. Raises ReportError naming the first that cannot be read."""
    found = {}
    for path in paths:
        digest = load.sha256_file(path)
        if digest is None:
            raise ReportError(f"{path} is missing: build first")
        found[path] = digest
    return found


@dataclass
class Work:
    """Some kernels of one task, which go to one shard. seconds: what judging all of them takes."""

    kernels: list[dict[str, Any]]
    seconds: float


@dataclass(order=True)
class Shard:
    """What one element of the array job judges, ordered by the seconds that it takes."""

    seconds: float = 0.0
    number: int = 0
    parts: list[Work] = field(default_factory=list, compare=False)

    def kernels(self) -> list[dict[str, Any]]:
        """Its kernels, those of a task one after the other."""
        return [kernel for part in self.parts for kernel in part.kernels]


class Seconds:
    """What judging a kernel of a task took in earlier result files, whatever their verdicts."""

    def __init__(self) -> None:
        self._by_task: dict[tuple[int, str], list[float]] = {}

    def add(self, result: Any) -> None:
        """Take the seconds of one result; one that tells none, or is none, is passed over."""
        try:
            sets = (result["correctness"] or {}).get("sets") or []
            walls = (result["timing"] or {}).get("wall_seconds") or {}
            checks = math.fsum(s.get("seconds") or 0.0 for s in sets)
            seconds = checks + cost.held_seconds(walls)
            task = (result["level"], result["task"])
        except (AttributeError, KeyError, TypeError):
            return
        if seconds > 0:
            self._by_task.setdefault(task, []).append(seconds)

    def of(self, level: int, task: str) -> float:
        """The median of the task; without one that of its level, of everything, or a constant."""
        alike = [s for (lv, _), found in self._by_task.items() for s in found if lv == level]
        every = [s for found in self._by_task.values() for s in found]
        found = self._by_task.get((level, task)) or alike or every or [DEFAULT_SECONDS]
        return statistics.median(found)


def recorded_seconds(build_dir: Path, suite: Suite, reports: list[Path]) -> Seconds:
    """The seconds of the build folder's result files, stale ones too, and of further reports.

    Raises ReportError if a report cannot be used.
    """
    seconds = Seconds()
    for path in sorted((build_dir / "results").rglob("*.json")):
        try:
            seconds.add(load.read_json(path))
        except (FileNotFoundError, load.BadFile):
            continue  # a table names it; here it only lacks a number
    for report in reports:
        for record in merge.read_suite(report).candidates:
            seconds.add(record["result"])
    return seconds


def split(kernels: list[dict[str, Any]], seconds: Seconds, count: int | None) -> list[Shard]:
    """Shards of about the same seconds, the longest first, none without a kernel.

    Kernels of a task stay together, unless they are more than a shard's work. count: how many
    shards at most; None: as many as give each SHARD_SECONDS.
    """
    by_task: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for kernel in kernels:
        by_task.setdefault((kernel["level"], kernel["task"]), []).append(kernel)
    total = math.fsum(seconds.of(*task) * len(found) for task, found in by_task.items())
    if count is None:
        count = math.ceil(total / SHARD_SECONDS)
    count = max(1, min(count, MOST_SHARDS, len(kernels)))
    work = []
    for task, found in by_task.items():
        each = seconds.of(*task)
        # More than one shard's share is cut, so that no shard waits for it.
        size = (
            max(1, int(total / count / each)) if each * len(found) > total / count else len(found)
        )
        work += [
            Work(found[i : i + size], each * len(found[i : i + size]))
            for i in range(0, len(found), size)
        ]
    shards = [Shard(number=i) for i in range(count)]
    # The longest piece goes to the shard with the least work.
    for part in sorted(work, key=lambda w: -w.seconds):
        shard = heapq.heappop(shards)
        shard.parts.append(part)
        shard.seconds += part.seconds
        heapq.heappush(shards, shard)
    return sorted((s for s in shards if s.parts), key=lambda s: (-s.seconds, s.number))


@dataclass
class Plan:
    """What `make` found. fresh, taken: kernels with a fresh result, and those that others judge."""

    shards: list[Shard]
    fresh: int
    taken: int

    def sentence(self) -> str:
        """For people, on one line."""
        parts = []
        if self.shards:
            kernels = sum(len(shard.kernels()) for shard in self.shards)
            minutes = max(1, round(self.shards[0].seconds / 60))
            parts.append(
                f"{kernels} kernel(s) in {len(self.shards)} shard(s) of about {minutes} min at most"
            )
        if self.taken:
            parts.append(f"{self.taken} already with a job")
        if self.fresh:
            parts.append(f"{self.fresh} with a fresh result")
        return ", ".join(parts)


def files_of(build_dir: Path, entry: dict[str, Any]) -> list[Path]:
    """What judging a candidate reads, beside what all candidates share."""
    task = f"level{entry['level']}.{entry['task']}"
    names = [entry["build_json"], entry["module"], f"lib/tasks/{task}.so"]
    names += [f"bin/{task}.test", f"bin/{task}.bench"]
    found = [build_dir / name for name in names] + [build_dir.parent.parent / entry["source"]]
    return found + sorted((build_dir / "aoti").glob(f"{task}.*.pt2"))


def shared_files(build_dir: Path) -> list[Path]:
    """The libraries and programs that judging any candidate needs."""
    harness = load.read_json(build_dir / "manifest.json")["harness"]
    found = {build_dir / name for name in (*harness, "bin/kb_env", "sources.sha256")}
    # Measured on GPUs only.
    peaks = (build_dir / "bin" / name for name in ("kb_measure_peaks", "kb_peaks"))
    return sorted({*found, *(p for p in peaks if p.exists()), *(build_dir / "lib").glob("*.so")})


def make(
    build_dir: Path, runs: list[str], count: int | None, taken: set[str], reports: list[Path],
    out: Path,
) -> Plan:  # fmt: skip
    """Write the shards of all kernels of the runs that nobody has judged or is judging.

    For shard K `out` gets K.names, a line of name and state of what is judged, K.json, a manifest of
    these kernels alone, and K.sha256, the hashes of all files that judging them reads, as sha256sum
    checks them below the source folder.
    runs: RUN or RUN/SAMPLE. taken: lines of the .names of shards that are with a job; they count
    while the state is still that one. Raises ReportError.
    """
    suite = load.load_build_dir(build_dir)
    root = build_dir.parent.parent
    manifest = load.read_json(build_dir / "manifest.json")
    entries = {c["name"]: c for c in manifest["candidates"]}
    # env.json may be of an earlier build, and then all results are.
    known = suite.harness["sha256"] == harness_sha256(build_dir)
    chosen: dict[str, dict[str, Any]] = {}
    for run in runs:
        name, _, sample = run.partition("/")
        chosen |= {c["name"]: c for c in pending.records_of(suite, name, sample or None)}
    wanted = [c for c in chosen.values() if not known or pending.is_pending(c)]
    shared = sha256_of(shared_files(build_dir))
    hashes = {c["name"]: sha256_of(files_of(build_dir, entries[c["name"]])) for c in wanted}
    lines = {name: f"{name} {_state(shared | own)}" for name, own in hashes.items()}
    mine = [record for record in wanted if lines[record["name"]] not in taken]
    shards = split(mine, recorded_seconds(build_dir, suite, reports), count)
    for number, shard in enumerate(shards, 1):
        names = [kernel["name"] for kernel in shard.kernels()]
        write.write_atomic(out / f"{number}.names", "".join(f"{lines[n]}\n" for n in names), False)
        own = manifest | {"candidates": [entries[n] for n in names]}
        write.write_atomic(out / f"{number}.json", write.as_json(own), False)
        files = shared | {p: digest for n in names for p, digest in hashes[n].items()}
        text = "".join(f"{digest}  {path.relative_to(root)}\n" for path, digest in files.items())
        write.write_atomic(out / f"{number}.sha256", text, False)
    return Plan(shards, len(chosen) - len(wanted), len(wanted) - len(mine))


def _state(files: dict[Path, str]) -> str:
    """One hash for what a kernel is judged from."""
    return hashlib.sha256("".join(sorted(files.values())).encode()).hexdigest()
