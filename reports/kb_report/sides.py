"""What is compared or ranked: a run, or one of its samples, on the machine that judged it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_report import merge, metrics, rollup
from kb_report.metrics import Outcome
from kb_report.model import (
    PRIMARY_LANE,
    Problem,
    ReportError,
    Suite,
    are_turns,
    machine_key,
    natural_key,
)

Key = tuple[int, str]  # level and task


@dataclass
class Side:
    """A run on one machine: one sample of it, all of its independent samples, or all of its turns.

    sample: the one that was chosen; None for all that there are.
    records: the candidates of each task, in the order of samples.
    """

    suite: Suite
    path: str
    run: str
    sample: str | None
    label: str = ""
    records: dict[Key, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def every(self) -> list[dict[str, Any]]:
        """All of its candidates."""
        return [c for found in self.records.values() for c in found]

    @property
    def machine(self) -> str:
        """Fingerprint of the machines that judged it; without a verdict that of its report."""
        found = sorted({c["machine"] for c in self.every if c["machine"]})
        return " + ".join(found) or machine_key(self.suite.machine)

    @property
    def turns(self) -> bool:
        """True if its samples are turns, one of which has to succeed."""
        return are_turns(self.suite.runs_info.get(self.run, {}))

    def enters(self, level: int) -> bool:
        """True if it has a candidate for a task of the level."""
        return any(key[0] == level for key in self.records)

    def samples(self, level: int) -> list[str | None]:
        """Names of its samples, or turns, on a level; one without a name where there are none."""
        names = {
            c["sample"] for (lv, _), found in self.records.items() if lv == level for c in found
        }
        return sorted(names, key=natural_key)

    def draws(self, level: int) -> int:
        """How many independent outcomes a task of the level has: those of turns make one."""
        return 1 if self.turns else len(self.samples(level))

    def outcomes(self, key: Key, lane: str = PRIMARY_LANE) -> list[Outcome]:
        """What it says about a task, one outcome per independent sample that it has."""
        return rollup.outcomes(self.records.get(key, []), lane, self.turns)

    def outcome(self, key: Key, lane: str = PRIMARY_LANE) -> Outcome:
        """The only outcome of a task; a failed one where it has no candidate."""
        found = self.outcomes(key, lane)
        return found[0] if found else Outcome(key[1], False, False, False, None)

    def fastest(self, key: Key, lane: str) -> dict[str, Any]:
        """The candidate whose speed-up `outcome` has."""
        speedup = self.outcome(key, lane).speedup
        timed = (c for c in self.records[key] if metrics.outcome(c, lane).correct)
        return next(c for c in timed if metrics.outcome(c, lane).speedup == speedup)

    def reaching(
        self, tasks: list[Key], k: int, success: Callable[[Outcome], bool], lane: str
    ) -> list[float]:
        """For tasks of one level the probability that one of k samples succeeds.

        Of turns whether one of the first k does.
        """
        samples = self.samples(tasks[0][0]) if tasks else []
        found = []
        for key in tasks:
            by_name = {c["sample"]: metrics.outcome(c, lane) for c in self.records.get(key, [])}
            if self.turns:
                reached = any(success(by_name[s]) for s in samples[:k] if s in by_name)
                found.append(float(reached))
            else:
                right = sum(map(success, by_name.values()))
                found.append(metrics.pass_at_k(len(samples), right, k))
        return found


def named_sides(
    arguments: list[str],
    entry: Callable[[Suite, str], str | None] = lambda suite, run: None,
    tasks: Sequence[str] = (),
) -> tuple[list[Side], list[Problem]]:
    """Sides named as PATH, PATH#RUN or PATH#RUN/SAMPLE; a path alone means all of its runs.

    entry: the sample that enters where none is named, None for all of them. tasks: globs of those that
    count, all without. The second list names
    paths that cannot be used, and what the others left out. Raises ReportError.
    """
    sides: list[Side] = []
    suites, problems = merge.read_suites([Path(a.partition("#")[0]) for a in arguments])
    problems += dict.fromkeys(p for suite in suites.values() for p in suite.problems)
    for suite in suites.values() if tasks else ():
        suite.narrow([], list(tasks))
    for argument in arguments:
        path, _, choice = argument.partition("#")
        suite = suites.get(str(Path(path)))
        if suite is None:
            continue
        run, _, sample = choice.partition("/")
        runs = [r for r in suite.runs() if suite.of(r)]
        if run and run not in runs:
            raise ReportError(f"{path} has no run {run}; it has {', '.join(runs) or 'none'}")
        for name in [run] if run else runs:
            sides.append(side_of(suite, path, name, sample or entry(suite, name)))
    return sides, problems


def of_the_same_tasks(sides: list[Side], least: int) -> tuple[list[Side], list[str]]:
    """The sides without those of which a run.json chooses fewer tasks than others enter, and who they are.

    All of them where fewer than `least` would be left: then it is for the caller to refuse.
    """
    left_out: dict[int, str] = {}
    for level in sorted({key[0] for s in sides for key in s.records}):
        here = [s for s in sides if s.enters(level)]
        tasks = {id(s): s.suite.tasks_of(s.run, level) for s in here}
        some = [s for s in here if len(tasks[id(s)]) < len(s.suite.levels[level])]
        if len(some) == len(here):
            continue
        for s in some:
            left_out.setdefault(
                id(s),
                f"{s.label or s.run} is left out: by its run.json it enters {len(tasks[id(s)])} of "
                f"{len(s.suite.levels[level])} tasks of level {level} (--tasks takes the same of "
                "all runs)",
            )
    kept = [s for s in sides if id(s) not in left_out]
    return (kept, list(left_out.values())) if len(kept) >= least else (sides, [])


def side_of(suite: Suite, path: str, run: str, sample: str | None) -> Side:
    """A run, or one sample of it where one is named. Raises ReportError."""
    samples = sorted({c["sample"] for c in suite.of(run)}, key=natural_key)
    if sample is None and len(samples) == 1:
        sample = samples[0]
    if sample is not None and sample not in samples:
        names = ", ".join(s or "-" for s in samples)
        raise ReportError(f"run {run} of {path} has no sample {sample}; it has {names}")
    side = Side(suite, path, run, sample)
    for c in sorted(suite.of(run), key=lambda c: natural_key(c["sample"])):
        if sample is None or c["sample"] == sample:
            side.records.setdefault((c["level"], c["task"]), []).append(c)
    return side


def set_labels(sides: list[Side]) -> None:
    """Short labels that differ: run, sample, machine, preset, day or folders, as far as needed."""
    folders = _folders([s.path for s in sides])
    parts = [
        lambda s: s.run,
        lambda s: s.sample or "",
        lambda s: s.machine.split(" | ")[0],
        lambda s: s.suite.preset,
        lambda s: folders[s.path][-1],
        lambda s: max(merge.times(s.suite), default="")[:10],
        lambda s: "/".join(folders[s.path]),
    ]
    chosen = [p for i, p in enumerate(parts) if i == 0 or len({p(s) for s in sides}) > 1]
    for n in range(1, len(chosen) + 1):
        labels = [" ".join(filter(None, (p(s) for p in chosen[:n]))) for s in sides]
        if len(set(labels)) == len(sides):
            break
    seen: dict[str, int] = {}
    for side, label in zip(sides, labels):
        seen[label] = seen.get(label, 0) + 1
        side.label = label if seen[label] == 1 else f"{label} ({seen[label]})"


def _folders(paths: list[str]) -> dict[str, tuple[str, ...]]:
    """For each path the last of its folders, as many as make them differ."""
    parts = {}
    for path in paths:
        names = Path(path).absolute().parts
        if names[-1].startswith("results.json"):
            names = names[:-1]
        parts[path] = names[:-1] if names[-1] == "reports" else names
    longest = max(map(len, parts.values()))
    for n in range(1, longest + 1):
        found = {path: names[-n:] for path, names in parts.items()}
        if len(set(found.values())) == len(set(parts.values())):
            break
    return found
