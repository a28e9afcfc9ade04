"""Compares runs with runs or GPUs with GPUs, task by task."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_report import merge, metrics, rollup, stats, tables, write
from kb_report.metrics import THRESHOLDS, Outcome
from kb_report.model import (
    PRIMARY_LANE,
    REFUSED,
    Problem,
    ReportError,
    Suite,
    natural_key,
)


@dataclass
class Side:
    """One sample of one run on one machine."""

    suite: Suite
    path: str
    run: str
    sample: str | None
    label: str = ""
    records: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)

    @property
    def machine(self) -> str:
        """Fingerprint of the machines that judged it."""
        found = sorted({c["machine"] for c in self.records.values() if c["machine"]})
        return " + ".join(found) or "unknown machine"

    def enters(self, level: int) -> bool:
        """True if it has a candidate for a task of the level."""
        return any(key[0] == level for key in self.records)

    def outcome(self, key: tuple[int, str], lane: str) -> Outcome:
        """What this side says about a task; a failed outcome where it has no candidate."""
        record = self.records.get(key)
        if record is None:
            return Outcome(key[1], False, False, False, None)
        return metrics.outcome(record, lane)


def named_sides(
    arguments: list[str], entry: Callable[[Suite, str], str | None] = lambda suite, run: None
) -> tuple[list[Side], list[Problem]]:
    """Sides named as PATH, PATH#RUN or PATH#RUN/SAMPLE; a path alone means all of its runs.

    entry: the sample that enters where none is named. The second list names paths that cannot be
    used, and what the others left out. Raises ReportError.
    """
    sides: list[Side] = []
    suites, problems = merge.read_suites([Path(a.partition("#")[0]) for a in arguments])
    problems += dict.fromkeys(p for suite in suites.values() for p in suite.problems)
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


def sides_of(arguments: list[str]) -> tuple[list[Side], list[Problem]]:
    """The sides that named_sides() finds. Raises ReportError if fewer than two are left."""
    sides, problems = named_sides(arguments)
    if len(sides) < 2:
        bad = "".join(f"; {p.path} {p.message}" for p in problems)
        raise ReportError(f"a comparison needs two runs or two reports{bad}")
    set_labels(sides)
    return sides, problems


def side_of(suite: Suite, path: str, run: str, sample: str | None) -> Side:
    """One sample of a run, the only one where none is named. Raises ReportError."""
    samples = sorted({c["sample"] for c in suite.of(run)}, key=natural_key)
    if sample is None and len(samples) > 1:
        names = ", ".join(s or "-" for s in samples)
        raise ReportError(
            f"run {run} of {path} has the samples {names}: name one as {path}#{run}/{samples[-1]}"
        )
    if sample is None and samples:
        sample = samples[0]
    if sample not in samples:
        raise ReportError(f"run {run} of {path} has no sample {sample}")
    side = Side(suite, path, run, sample)
    side.records = {(c["level"], c["task"]): c for c in suite.of(run) if c["sample"] == side.sample}
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


def mixed(sides: list[Side], lane: str) -> list[str]:
    """Why the numbers of these sides do not belong side by side, apart from their machines."""
    suites = list({id(s.suite): s.suite for s in sides}.values())
    labels = [next(s.path for s in sides if s.suite is suite) for suite in suites]
    found = merge.differences(suites, labels, same_machine=False)
    for what, get in (
        ("contracts", lambda r: (r.get("correctness") or {}).get("contract")),
        ("inputs", lambda r: (r.get("correctness") or {}).get("inputs")),
        ("timing modes", lambda r: _lane(r, lane).get("mode")),
        ("confidence levels", lambda r: _lane(r, lane).get("confidence")),
    ):
        tasks = []
        for key in sorted({k for s in sides for k in s.records}):
            results = [s.records[key]["result"] for s in sides if key in s.records]
            values = {v for r in results if r and (v := get(r)) is not None}
            if len(values) > 1:
                tasks.append((key[1], values))
        if tasks:
            shown = ", ".join(sorted(map(str, tasks[0][1])))
            found.append(f"different {what} in {len(tasks)} task(s): {tasks[0][0]} ({shown})")
    for s in sides:
        has = [r["result"] for r in s.records.values() if metrics.outcome(r).correct]
        timed = [r for r in has if (r.get("timing") or {}).get("lanes")]
        if timed and not any(_lane(r, lane) for r in timed):
            found.append(f"{s.label} has no times in lane {lane}")
    return found


def _lane(result: dict[str, Any], lane: str) -> dict[str, Any]:
    return ((result.get("timing") or {}).get("lanes") or {}).get(lane) or {}


def compare(
    sides: list[Side],
    lane: str = PRIMARY_LANE,
    allow_mixed: bool = False,
    problems: Sequence[Problem] = (),
) -> dict[str, Any]:
    """The comparison as a document; `_base` says which side each is held against.

    problems: inputs that were left out, to be named in it.

    Raises ReportError with status REFUSED if the sides must not be mixed.
    """
    merge.require_lane([s.suite for s in sides], lane)
    reasons = mixed(sides, lane)
    if reasons and not allow_mixed:
        raise ReportError(
            f"refused to compare: {'; '.join(reasons)}. --allow-mixed does it all the same",
            REFUSED,
        )
    machines = [s.machine for s in sides]
    levels = sorted({lv for s in sides for lv in s.suite.levels if s.enters(lv)})
    return {
        "schema": 1,
        "kind": "kb_report.comparison",
        "time": rollup.now(),
        "lane": lane,
        "mixed": reasons,
        "problems": [p.as_json() for p in problems],
        "across_machines": len(set(machines)) > 1,
        "sides": [
            {
                "label": s.label, "run": s.run, "sample": s.sample, "machine": s.machine,
                "preset": s.suite.preset, "path": s.path,
            }
            for s in sides
        ],
        "levels": [_level(sides, level, lane) for level in levels],
        "run_ranks": _run_ranks(sides, levels, lane),
    }  # fmt: skip


def tasks_of(sides: list[Side], level: int) -> list[str]:
    """Tasks of a level in any of the sides' suites, in order."""
    return sorted({t for s in sides for t in s.suite.levels.get(level, [])})


def _level(every: list[Side], level: int, lane: str) -> dict[str, Any]:
    """A level's numbers of the sides that enter it; a side that does not is only named, since its
    numbers would be those of a run that failed everywhere.
    """
    tasks = tasks_of(every, level)
    sides = [s for s in every if s.enters(level)]
    n = len(tasks)
    outcomes = [[s.outcome((level, t), lane) for t in tasks] for s in sides]
    functional = all(s.suite.backend != "cuda" for s in sides)
    summaries = []
    for s, outs in zip(sides, outcomes):
        found: dict[str, Any] = {"label": s.label, "n": n, **metrics.counts(outs)}
        found["fast_0"] = metrics.share(found["correct"], n)
        if not functional:
            found |= metrics.lane_summary(outs, n)
        summaries.append(found)
    fast_1 = [sum(o.wins(1) for o in outs) for outs in outcomes]
    for s, rank in zip(summaries, stats.ranks(fast_1 if not functional else
                                              [s["correct"] for s in summaries])):  # fmt: skip
        s["rank"] = rank
    return {
        "level": level,
        "n": n,
        "functional": functional,
        "without_candidates": [s.label for s in every if not s.enters(level)],
        "sides": summaries,
        "pairs": [
            _pair(sides[a], sides[b], outcomes[a], outcomes[b], level, lane, functional)
            for a, b in _pairs(sides)
        ],
        "spread": _spread(sides, outcomes, tasks),
    }


def _pairs(sides: list[Side]) -> list[tuple[int, int]]:
    """Each side but the first with what it is held against; the same run elsewhere comes first."""
    pairs = [(_base(sides, i), i) for i in range(1, len(sides))]
    return sorted(pairs, key=lambda p: sides[p[0]].run != sides[p[1]].run)


def _base(sides: list[Side], i: int) -> int:
    """Which side the i-th is held against: an earlier one that differs in one thing, if there is one.

    That is the same run and sample elsewhere, or else another run on the same machine.
    """
    side = sides[i]
    for same in (lambda s: (s.run, s.sample) == (side.run, side.sample),
                 lambda s: s.machine == side.machine):  # fmt: skip
        for j in range(i):
            if same(sides[j]):
                return j
    return 0


def _timed(o: Outcome) -> bool:
    return o.correct and o.speedup is not None


def _pair(
    a: Side,
    b: Side,
    outs_a: list[Outcome],
    outs_b: list[Outcome],
    level: int,
    lane: str,
    functional: bool,
) -> dict[str, Any]:
    """B against A over the tasks of a level."""
    found: dict[str, Any] = {
        "a": a.label,
        "b": b.label,
        "same_machine": a.machine == b.machine,
        "correct": paired_test([o.correct for o in outs_a], [o.correct for o in outs_b]),
    }
    if functional:
        return found
    found["fast_1"] = paired_test([o.wins(1) for o in outs_a], [o.wins(1) for o in outs_b])
    rows = []
    for oa, ob in zip(outs_a, outs_b):
        if not (_timed(oa) and _timed(ob)):
            continue
        value, lo, hi = stats.ratio_interval((oa.speedup, oa.lo, oa.hi), (ob.speedup, ob.lo, ob.hi))
        ms_a = write.lane_ms(a.records[(level, oa.task)], lane)
        ms_b = write.lane_ms(b.records[(level, ob.task)], lane)
        rows.append(
            {
                "task": oa.task,
                "a": oa.speedup,
                "b": ob.speedup,
                "ratio": value,
                "ci_lo": lo,
                "ci_hi": hi if hi < 1e300 else None,
                "time_ratio": ms_a / ms_b,
                "verdict": "faster" if lo > 1 else "slower" if hi < 1 else "undecided",
            }
        )
    rank_a = stats.ranks([r["a"] for r in rows])
    rank_b = stats.ranks([r["b"] for r in rows])
    for r, ra, rb in zip(rows, rank_a, rank_b):
        r |= {"rank_a": ra, "rank_b": rb}
    rows.sort(key=lambda r: (-r["ratio"], r["task"]))
    for key in ("ratio", "time_ratio"):
        found[f"geo_mean_{key}"] = _geo_mean([r[key] for r in rows])
    found["verdicts"] = {
        v: sum(r["verdict"] == v for r in rows) for v in ("faster", "undecided", "slower")
    }
    found["kendall_tau"] = stats.kendall_tau([r["a"] for r in rows], [r["b"] for r in rows])
    found["tasks"] = rows
    return found


def _geo_mean(ratios: list[float]) -> dict[str, Any] | None:
    """Geometric mean with its interval, whose limits are None for too few ratios."""
    if not ratios:
        return None
    enough = len(ratios) >= metrics.ENOUGH_FOR_INTERVAL
    lo, hi = (enough and stats.geo_mean_interval(ratios)) or (None, None)
    return {"value": metrics.geo_mean(ratios), "lo": lo, "hi": hi}


def interval(mean: dict[str, Any]) -> str:
    """A mean with its interval, as text."""
    value, lo, hi = (tables.number(mean[k]) for k in ("value", "lo", "hi"))
    return value if mean["lo"] is None else f"{value} [{lo}, {hi}]"


def paired_test(a: list[bool], b: list[bool]) -> dict[str, Any]:
    """Who succeeds where the other one does not, and how likely that is by chance (McNemar)."""
    only_a = sum(x and not y for x, y in zip(a, b))
    only_b = sum(y and not x for x, y in zip(a, b))
    return {
        "both": sum(x and y for x, y in zip(a, b)),
        "only_a": only_a,
        "only_b": only_b,
        "neither": sum(not x and not y for x, y in zip(a, b)),
        "p_value": stats.mcnemar(only_a, only_b),
    }


def _spread(
    sides: list[Side], outcomes: list[list[Outcome]], tasks: list[str]
) -> dict[str, Any] | None:
    """How much a run's speed-ups differ between machines: pooled spread of ln(speed-up)."""
    found = {}
    for run in sorted({s.run for s in sides}):
        members = [i for i, s in enumerate(sides) if s.run == run]
        if len({sides[i].machine for i in members}) < 2:
            continue
        rows = {}
        for t, task in enumerate(tasks):
            outs = [outcomes[i][t] for i in members]
            if all(map(_timed, outs)):
                rows[task] = stats.log_spread([o.speedup for o in outs])
        if rows:
            pooled = math.sqrt(math.fsum(v * v for v in rows.values()) / len(rows))
            found[run] = {
                "tasks": len(rows),
                "pooled_factor": math.exp(pooled),
                "largest": [
                    {"task": t, "factor": math.exp(v)}
                    for t, v in sorted(rows.items(), key=lambda i: (-i[1], i[0]))[:10]
                ],
            }
    return found or None


def _run_ranks(sides: list[Side], levels: list[int], lane: str) -> list[dict[str, Any]]:
    """Ranks of runs by fast_1 on each machine, where several runs meet several machines."""
    machines = sorted({s.machine for s in sides})
    if len(machines) < 2 or len({s.run for s in sides}) < 2:
        return []
    found = []
    for level in levels:
        tasks = tasks_of(sides, level)
        for machine in machines:
            here = [s for s in sides if s.machine == machine and s.enters(level)]
            if not here:
                continue
            wins = [sum(s.outcome((level, t), lane).wins(1) for t in tasks) for s in here]
            ranked = zip(here, stats.ranks(wins), wins)
            found.append(
                {
                    "level": level,
                    "machine": machine,
                    "ranks": {s.run: {"rank": r, "wins": w} for s, r, w in ranked},
                }
            )
    return found


def text(doc: dict[str, Any]) -> str:
    """What `kb-report compare` prints."""
    lines = [f"lane {doc['lane']}"]
    lines += [f"MIXED: {reason}" for reason in doc["mixed"]]
    lines += [
        f"  {chr(65 + i)}  {s['label']}  ({s['machine']})" for i, s in enumerate(doc["sides"])
    ]
    for level in doc["levels"]:
        lines += ["", f"level {level['level']}, N {level['n']}"]
        head = ["", "judged", "correct", "fast_0"]
        if not level["functional"]:
            head += [f"fast_{p:g}" for p in THRESHOLDS[1:]] + ["geo-mean"]
        rows = [[*head, "rank"]]
        for s in level["sides"]:
            cells = [s["label"], str(s["judged"]), str(s["correct"]), tables.number(s["fast_0"])]
            if not level["functional"]:
                cells += [tables.number(s["fast_p"][f"{p:g}"]["value"]) for p in THRESHOLDS[1:]]
                cells.append(tables.number(s["geo_mean_speedup_correct"]))
            rows.append([*cells, str(s["rank"])])
        lines.append(tables.grid(rows))
        lines += [f"  {label}: no candidates" for label in level["without_candidates"]]
        for pair in level["pairs"]:
            lines += _pair_text(pair)
        for run, spread in (level["spread"] or {}).items():
            lines.append(f"  {_spread_text(run, spread)}")
    for r in doc["run_ranks"]:
        machine = r["machine"].split(" | ")[0]
        lines.append(f"rank by fast_1, level {r['level']}, {machine}: {_ranked(r)}")
    return "\n".join(lines)


def _ranked(row: dict[str, Any]) -> str:
    ranks = sorted(row["ranks"].items(), key=lambda i: i[1]["rank"])
    return ", ".join(f"{x['rank']}. {run} ({x['wins']})" for run, x in ranks)


def _spread_text(run: str, spread: dict[str, Any]) -> str:
    return (
        f"{run} across machines: speed-ups of a task differ by a factor of "
        f"{spread['pooled_factor']:.3f} (geometric standard deviation, {spread['tasks']} tasks)"
    )


def _paired_text(test: dict[str, Any], a: str, b: str) -> str:
    p = tables.p_value(test["p_value"])
    return f"only {b} {test['only_b']}, only {a} {test['only_a']}, both {test['both']} ({p})"


def _pair_text(pair: dict[str, Any]) -> list[str]:
    a, b = pair["a"], pair["b"]
    lines = [f"  {b} against {a}:", f"    correct: {_paired_text(pair['correct'], a, b)}"]
    if "tasks" not in pair:
        return lines
    lines.append(f"    fast_1: {_paired_text(pair['fast_1'], a, b)}")
    if not pair["tasks"]:
        return [*lines, "    no task is correct and timed in both"]
    g, v = pair["geo_mean_ratio"], pair["verdicts"]
    tau = pair["kendall_tau"]
    lines.append(
        f"    speed-up ratio over {len(pair['tasks'])} tasks: geo-mean {interval(g)}; "
        f"faster {v['faster']}, undecided {v['undecided']}, "
        f"slower {v['slower']}; rank agreement {tables.number(tau, 2)}"
    )
    if not pair["same_machine"]:
        lines.append(
            f"    time of {pair['a']} over that of {pair['b']}: geo-mean "
            f"{interval(pair['geo_mean_time_ratio'])}"
        )
    shown = pair["tasks"]
    middle = [None] if len(shown) > 10 else []
    for r in [*shown[:5], *middle, *shown[-5:]] if len(shown) > 10 else shown:
        if r is None:
            lines.append("      ...")
            continue
        lines.append(
            f"      {r['task']}  {r['a']:.3f} -> {r['b']:.3f}  x{r['ratio']:.3f} "
            f"[{r['ci_lo']:.3f}, {tables.number(r['ci_hi'])}] {r['verdict']}, "
            f"rank {r['rank_a']} -> {r['rank_b']}"
        )
    return lines


def title(doc: dict[str, Any]) -> str:
    """A heading for a comparison: its two sides, or the first and how many there are besides."""
    first, second, *more = [s["label"] for s in doc["sides"]]
    return f"{first} against {f'{len(more) + 1} others' if more else second}"


def markdown(doc: dict[str, Any]) -> str:
    """The comparison for a pull request or a page of notes."""
    esc = write.escape_markdown
    lines = [f"## {esc(title(doc), 400)}", ""]
    lines += [
        f"**Bad input:** {esc(p['path'])} {esc(p['message'], 300)}\n" for p in doc["problems"]
    ]
    lines += [f"**Mixed:** {esc(r, 400)}\n" for r in doc["mixed"]]
    lines += [f"Lane {esc(doc['lane'])}.", ""]
    lines += [
        f"- {esc(s['label'])}: {esc(s['machine'])}, preset {esc(s['preset'])}, {esc(s['path'])}"
        for s in doc["sides"]
    ]
    lines.append("")
    for level in doc["levels"]:
        lines += _level_markdown(level)
    if doc["run_ranks"]:
        lines += [
            "### Ranks by fast<sub>1</sub>",
            "",
            "| level | machine | runs |",
            "|--:|:--|:--|",
        ]
        lines += [
            f"| {r['level']} | {esc(r['machine'])} | {esc(_ranked(r), 400)} |"
            for r in doc["run_ranks"]
        ]
    return "\n".join(lines).rstrip() + "\n"


def _level_markdown(level: dict[str, Any]) -> list[str]:
    esc = write.escape_markdown
    lines = [f"### Level {level['level']} (N = {level['n']})", ""]
    head = ["", "judged", "correct", "fast<sub>0</sub>"]
    if not level["functional"]:
        head += [f"fast<sub>{p:g}</sub>" for p in THRESHOLDS[1:]] + ["geo-mean"]
    lines += ["| " + " | ".join([*head, "rank"]) + " |", "|:--|" + "--:|" * len(head)]
    for s in level["sides"]:
        cells = [esc(s["label"]), str(s["judged"]), str(s["correct"])]
        cells.append(tables.number(s["fast_0"]))
        if not level["functional"]:
            cells += [tables.number(s["fast_p"][f"{p:g}"]["value"]) for p in THRESHOLDS[1:]]
            cells.append(tables.number(s["geo_mean_speedup_correct"]))
        lines.append("| " + " | ".join([*cells, str(s["rank"])]) + " |")
    lines += [f"\n{esc(label)}: no candidates" for label in level["without_candidates"]]
    lines += [f"\n{esc(_spread_text(run, x), 400)}" for run, x in (level["spread"] or {}).items()]
    for pair in level["pairs"]:
        lines += ["", *_pair_markdown(pair)]
    return [*lines, ""]


def _pair_markdown(pair: dict[str, Any]) -> list[str]:
    esc = write.escape_markdown
    a, b = esc(pair["a"]), esc(pair["b"])
    words = [f"correct: {_paired_text(pair['correct'], a, b)}"]
    if "tasks" in pair:
        words.append(f"faster than the baseline: {_paired_text(pair['fast_1'], a, b)}")
    if not pair.get("tasks"):
        return [f"**{b} against {a}**: {'; '.join(words)}."]
    v = pair["verdicts"]
    words.append(
        f"geo-mean ratio of speed-ups {interval(pair['geo_mean_ratio'])} over "
        f"{len(pair['tasks'])} tasks ({v['faster']} faster, {v['undecided']} undecided, "
        f"{v['slower']} slower; rank agreement {tables.number(pair['kendall_tau'], 2)})"
    )
    if not pair["same_machine"]:
        words.append(f"geo-mean ratio of times {interval(pair['geo_mean_time_ratio'])}")
    more = "" if pair["same_machine"] else " time ratio |"
    lines = [
        f"**{b} against {a}**: {'; '.join(words)}.",
        "",
        f"<details><summary>{len(pair['tasks'])} tasks</summary>\n",
        f"| task | {a} | {b} | ratio | interval | rank |{more}",
        "|:--|--:|--:|--:|:--|:--|" + ("--:|" if more else ""),
    ]
    for r in pair["tasks"]:
        more = "" if pair["same_machine"] else f" {r['time_ratio']:.3f} |"
        lines.append(
            f"| {esc(r['task'])} | {r['a']:.3f} | {r['b']:.3f} | {r['ratio']:.3f} | "
            f"{r['ci_lo']:.3f} – {tables.number(r['ci_hi'])} {r['verdict']} | "
            f"{r['rank_a']} → {r['rank_b']} |{more}"
        )
    return [*lines, "\n</details>"]
