"""A comparison as text and as Markdown, and the columns of its tables, which the page shares."""

from __future__ import annotations

from typing import Any

from kb_report import columns, tables, write
from kb_report.columns import Column, Row, number
from kb_report.metrics import THRESHOLDS

_ROWS_AT_EACH_END = 5


def of_sides(level: dict[str, Any]) -> list[Column]:
    """Columns of the table of a level's sides."""
    counts = [Column(key, lambda s, key=key: str(s[key])) for key in ("judged", "correct")]
    speeds = [
        Column(
            f"fast_{p:g}", lambda s, p=p: number(s["fast_p"][f"{p:g}"]["value"]), small=_upper(p)
        )
        for p in THRESHOLDS[1:]
    ]
    speeds.append(Column("geo-mean", lambda s: number(s["geo_mean_speedup_correct"]), _limits))
    return [
        Column("side", lambda s: s["label"], _samples, left=True),
        *counts,
        Column("fast_0", lambda s: number(s["fast_0"])),
        *([] if level["functional"] else speeds),
        Column("rank", lambda s: str(s["rank"])),
    ]


def of_ranks(doc: dict[str, Any]) -> list[Column]:
    """Columns of the one table with the ranks of all runs: per level rank, of how many, and share."""

    def rank(level: dict[str, Any]) -> Column:
        key = str(level["level"])
        return Column(
            f"level {key}, {'fast_0' if level['functional'] else 'fast_1'}",
            lambda r: str(r["levels"][key]["rank"]) if key in r["levels"] else "-",
            lambda r: f"({number(r['levels'][key]['share'])})" if key in r["levels"] else "",
        )

    machines = len({r["machine"] for r in doc["ranks"]}) > 1
    where = [Column("machine", lambda r: r["machine"].split(" | ")[0], left=True)] * machines
    first = Column("run", lambda r: r["label"], left=True)
    return [first, *where, *map(rank, doc["levels"])]


def of_tasks(level: dict[str, Any]) -> list[Column]:
    """Columns of the table of tasks: how each side does."""

    def side(i: int, label: str) -> Column:
        return Column(label, lambda r: _standing(r["sides"][i]), left=True)

    sides = [side(i, s["label"]) for i, s in enumerate(level["sides"])]
    return [Column("task", lambda r: r["task"], left=True), *sides]


def of_k(pair: dict[str, Any]) -> list[Column]:
    """Columns of the table of pass@k and fast_p@k with their intervals."""

    def estimate(head: str, key: str) -> Column:
        return Column(
            head,
            lambda r: number(r[key]["value"]),
            lambda r: f"[{number(r[key]['lo'])}, {number(r[key]['hi'])}]",
        )

    return [
        Column("metric", lambda r: f"{r['metric']}@{r['k']}", left=True),
        estimate(pair["a"], "a"),
        estimate(pair["b"], "b"),
        estimate("difference", "difference"),
    ]


def of_speedups(pair: dict[str, Any]) -> list[Column]:
    """Columns of the table of the tasks that both sides of a pair solve."""
    times = [Column("time ratio", lambda r: f"{r['time_ratio']:.3f}")]
    return [
        Column("task", lambda r: r["task"], left=True),
        Column(pair["a"], lambda r: f"{r['a']:.3f}"),
        Column(pair["b"], lambda r: f"{r['b']:.3f}"),
        Column("ratio", lambda r: f"{r['ratio']:.3f}", _ratio_limits, chart=True),
        Column("verdict", lambda r: r["verdict"], left=True),
        *([] if pair["same_machine"] else times),
        Column("rank", lambda r: f"{r['rank_a']} → {r['rank_b']}"),
    ]


def rows(table: list[Row]) -> list[list[Row]]:
    """Rows as groups of one."""
    return [[row] for row in table]


def _samples(side: Row) -> str:
    """What the numbers of a side are over, where it has several kernels per task."""
    if side["samples"] < 2:
        return ""
    return f"({'all' if side['turns'] else 'mean of'} {side['samples']} " + (
        "turns)" if side["turns"] else "samples)"
    )


def _upper(p: float) -> Any:
    def small(side: Row) -> str:
        share = side["fast_p"][f"{p:g}"]
        return f"to {number(share['upper'])}" if share["upper"] != share["value"] else ""

    return small


def _limits(side: Row) -> str:
    limits = side["geo_mean_speedup_correct_ci95"]
    return f"[{limits[0]:.2f}, {limits[1]:.2f}]" if limits else ""


def _ratio_limits(row: Row) -> str:
    return f"[{row['ci_lo']:.3f}, {number(row['ci_hi']) if row['ci_hi'] else '∞'}]"


def _standing(s: Row) -> str:
    if s["samples"] > 1:
        lacking = s["samples"] - s["kernels"]
        parts = [
            f"{s['correct']} of {s['kernels']} correct" if s["kernels"] else "",
            f"{s['wins']} faster" if s["wins"] else "",
            f"{lacking} not provided" if lacking else "",
        ]
        return ", ".join(filter(None, parts))
    if s["speedup"] is not None:
        return f"{s['speedup']:.3f}×"
    return (s["verdict"] or ("not judged" if s["provided"] else "not provided")).replace("_", " ")


def interval(mean: dict[str, Any]) -> str:
    """A mean with its interval, as text."""
    value, lo, hi = (number(mean[k]) for k in ("value", "lo", "hi"))
    return value if mean["lo"] is None else f"{value} [{lo}, {hi}]"


def title(doc: dict[str, Any]) -> str:
    """A heading for a comparison: its two sides, or the first and how many there are besides."""
    first, second, *more = [s["label"] for s in doc["sides"]]
    return f"{first} against {f'{len(more) + 1} others' if more else second}"


def text(doc: dict[str, Any]) -> str:
    """What `kb-report compare` prints."""
    lines = [f"lane {doc['lane']}"]
    lines += [f"MIXED: {reason}" for reason in doc["mixed"]]
    lines += [f"note: {sentence}" for sentence in doc["left_out"]]
    lines += [f"  {i}  {s['label']}  ({s['machine']})" for i, s in enumerate(doc["sides"], 1)]
    if len(doc["sides"]) > 2:
        lines += ["", "ranks", columns.text(of_ranks(doc), rows(doc["ranks"]))]
    for level in doc["levels"]:
        lines += ["", f"level {level['level']}, N {level['n']}"]
        lines.append(columns.text(of_sides(level), rows(level["sides"])))
        lines += [f"  {label}: no candidates" for label in level["without_candidates"]]
        for pair in level["pairs"]:
            lines += _pair_text(pair)
        for run, spread in (level["spread"] or {}).items():
            lines.append(f"  {spread_text(run, spread)}")
    return "\n".join(lines)


def spread_text(run: str, spread: dict[str, Any]) -> str:
    """How much the speed-ups of a run differ between machines, in a sentence."""
    return (
        f"{run} across machines: speed-ups of a task differ by a factor of "
        f"{spread['pooled_factor']:.3f} (geometric standard deviation, {spread['tasks']} tasks)"
    )


def counts_text(found: dict[str, Any], a: str, b: str) -> str:
    """How many tasks only one side solves, and the test where there is one."""
    p = f" ({tables.p_value(found['p_value'])})" if found["p_value"] is not None else ""
    return f"only {b} {found['only_b']}, only {a} {found['only_a']}, both {found['both']}{p}"


def named(found: dict[str, Any], a: str, b: str, shown: int | None = None) -> list[str]:
    """The tasks behind the counts of those that only one side solves; all, or the first `shown`."""
    groups = (("only_b", f"only {b}"), ("only_a", f"only {a}"))
    return [
        f"{words}: {tables.names(found['tasks'][key], shown or len(found['tasks'][key]))}"
        for key, words in groups
        if found["tasks"][key]
    ]


def what_counts(pair: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """What is counted about a pair: `correct`, and `faster` where there are times."""
    some = " in a sample" if pair["several"] else ""
    found = [(f"correct{some}", pair["correct"])]
    return [*found, (f"fast_1{some}", pair["fast_1"])] if "fast_1" in pair else found


def _pair_text(pair: dict[str, Any]) -> list[str]:
    a, b = pair["a"], pair["b"]
    lines = [f"  {b} against {a}:"]
    for what, found in what_counts(pair):
        lines.append(f"    {what}: {counts_text(found, a, b)}")
        lines += [f"      {line}" for line in named(found, a, b, tables.NAMES_SHOWN)]
    if "at_k" in pair:
        lines.append(columns.text(of_k(pair), rows(pair["at_k"]), "    "))
    if "tasks" not in pair:
        return lines
    if not pair["tasks"]:
        return [*lines, "    no task is correct and timed in both"]
    lines.append(f"    {_means(pair)}")
    shown, ends = rows(pair["tasks"]), _ROWS_AT_EACH_END
    if len(shown) <= 2 * ends:
        return [*lines, columns.text(of_speedups(pair), shown, "      ")]
    table = columns.text(of_speedups(pair), [*shown[:ends], *shown[-ends:]], "      ").split("\n")
    return [*lines, *table[: ends + 1], "      ...", *table[ends + 1 :]]


def _means(pair: dict[str, Any]) -> str:
    v = pair["verdicts"]
    words = (
        f"geo-mean ratio of speed-ups {interval(pair['geo_mean_ratio'])} over "
        f"{len(pair['tasks'])} tasks ({v['faster']} faster, {v['undecided']} undecided, "
        f"{v['slower']} slower; rank agreement {number(pair['kendall_tau'], 2)})"
    )
    if not pair["same_machine"]:
        words += f"; geo-mean ratio of times {interval(pair['geo_mean_time_ratio'])}"
    return words


def markdown(doc: dict[str, Any]) -> str:
    """The comparison for a pull request or a page of notes."""
    esc = write.escape_markdown
    lines = [f"## {esc(title(doc), 400)}", ""]
    lines += [
        f"**Bad input:** {esc(p['path'])} {esc(p['message'], 300)}\n" for p in doc["problems"]
    ]
    lines += [f"**Mixed:** {esc(r, 400)}\n" for r in doc["mixed"]]
    lines += [f"{esc(sentence, 400)}\n" for sentence in doc["left_out"]]
    lines += [f"Lane {esc(doc['lane'])}.", ""]
    lines += [
        f"- {esc(s['label'])}: {esc(s['machine'])}, preset {esc(s['preset'])}, {esc(s['path'])}"
        for s in doc["sides"]
    ]
    if len(doc["sides"]) > 2:
        lines += ["", "### Ranks", "", *columns.markdown(of_ranks(doc), rows(doc["ranks"]), esc)]
    lines.append("")
    for level in doc["levels"]:
        lines += _level_markdown(level)
    return "\n".join(lines).rstrip() + "\n"


def _level_markdown(level: dict[str, Any]) -> list[str]:
    esc = write.escape_markdown
    lines = [f"### Level {level['level']} (N = {level['n']})", ""]
    lines += columns.markdown(of_sides(level), rows(level["sides"]), esc)
    lines += [f"\n{esc(label)}: no candidates" for label in level["without_candidates"]]
    lines += [f"\n{esc(spread_text(run, x), 400)}" for run, x in (level["spread"] or {}).items()]
    for pair in level["pairs"]:
        lines += ["", *_pair_markdown(pair)]
    lines += [
        "",
        *_folded("Every task", columns.markdown(of_tasks(level), rows(level["tasks"]), esc)),
    ]
    return [*lines, ""]


def _pair_markdown(pair: dict[str, Any]) -> list[str]:
    esc = write.escape_markdown
    a, b = pair["a"], pair["b"]
    lines = [f"**{esc(b)} against {esc(a)}**", ""]
    for what, found in what_counts(pair):
        lines.append(f"- {esc(f'{what}: {counts_text(found, a, b)}', 400)}")
        lines += [f"  - {esc(line, 20_000)}" for line in named(found, a, b)]
    if pair.get("tasks"):
        lines.append(f"- {esc(_means(pair), 400)}")
    if "at_k" in pair:
        lines += ["", *columns.markdown(of_k(pair), rows(pair["at_k"]), esc)]
    if pair.get("tasks"):
        table = columns.markdown(of_speedups(pair), rows(pair["tasks"]), esc)
        lines += ["", *_folded(f"{len(pair['tasks'])} tasks", table)]
    return lines


def _folded(summary: str, table: list[str]) -> list[str]:
    return [f"<details><summary>{summary}</summary>\n", *table, "\n</details>"]
