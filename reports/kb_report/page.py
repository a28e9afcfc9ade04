"""Builds index.html: one file without outside references, from a suite and its document."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kb_report import (
    advice,
    charts,
    columns,
    compare_tables,
    cost,
    leaderboard,
    matrix_tables,
    metrics,
    overview,
    pending,
    prepare,
    profiles,
    rollup,
    tables,
    validity,
    write,
)
from kb_report.feedback import worst_element
from kb_report.metrics import THRESHOLDS, Outcome
from kb_report.model import (
    JUDGED,
    NO_PAGE,
    PRIMARY_LANE,
    SOURCE_CHANGED,
    STALE,
    STATE_WORDS,
    VERDICTS,
    ReportError,
    Suite,
    clean,
    difficulty,
    machine_name,
    one_line,
)
from kb_report.occupancy import limit_of

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"

# Sources and diagnostics are cut to these lengths, and left out altogether once the page carries
# PAGE_TEXT_BYTES of them (compressed), so that a page with many runs still opens quickly.
SOURCE_BYTES = 24_000
DIAGNOSTICS_BYTES = 6_000
PAGE_TEXT_BYTES = 600_000

NEAR_1 = (0.9, 1.1)

SPEED_WORDS = {"WIN": "won", "TIE": "tie", "UNDECIDED": "undecided", "LOSS": "lost"}

# Failures that few readers would overlook stand open above the tasks; more of them would hide these.
FEW_FAILURES = 20

# What the runs of this repository are.
RUN_MEANING = {
    "seed": "the kernels that come with the tasks",
    "examples": "kernels of the repository that show the verdicts; most are meant to fail",
}

VERDICT_MEANING = {
    "incorrect": "an output was outside its bound, not written, or an input was modified",
    "compile_error": "the file did not compile",
    "runtime_error": "a CUDA error, a signal or an exit while it ran",
    "timeout": "it did not answer within its deadline",
    "cheat": "it passed the checks of its outputs, but not those of how they came about",
    "policy_violation": "it uses something that a candidate may not use",
    "skipped": "it could not be judged on this machine",
    "degenerate": "right, but the task accepts a trivial answer too, so it counts for nobody",
}


def environment() -> Any:
    """The Jinja2 environment of our templates. Raises ImportError without Jinja2."""
    import jinja2
    import markupsafe

    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=lambda v: clean(v) if type(v) is str else v,  # not of our own markup
        undefined=jinja2.ChainableUndefined,  # most members of a result are optional
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def or_none(function: Any) -> Any:
        return lambda v, *more: function(None if isinstance(v, jinja2.Undefined) else v, *more)

    filters = {
        "share": tables.number,
        "interval": compare_tables.interval,
        "p_value": tables.p_value,
        "percent": lambda v: f"{100 * v:.0f}",
        "num": _number,
        "bytes": columns.size,
        "preparing": prepare.sentence,
        "times": _times,
        "ratio": _ratio,
        "ms": _milliseconds,
        "amount": _amount,
        "limit": lambda v, form: "\u221e" if v is None else form % v,
        "clean": clean,
        "one_line": one_line,
        "indexed": columns.markup,
        # Long task names may break after an underscore.
        "breakable": lambda v: markupsafe.Markup("_<wbr>").join(clean(str(v)).split("_")),
    }
    env.filters |= {name: or_none(function) for name, function in filters.items()}
    env.globals["occupancy_limit"] = limit_of
    env.globals["prepare_mark"] = prepare.MARK
    return env


def render(suite: Suite, doc: dict[str, Any]) -> str:
    """The page as HTML text."""
    env = environment()
    rows = [_row(c, doc) for c in suite.candidates]
    details = _details(env, suite, rows)
    failures = _failures(rows)
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    script = (TEMPLATES / "script.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return env.get_template("index.html.j2").render(
        doc=doc,
        style=style,
        script=script,
        script_hash=f"sha256-{digest}",
        title=_title(doc),
        where=machine_name(doc["machine"]),
        conditions=tables.conditions(doc),
        functional=overview.all_functional(doc),
        overview=overview,
        ps=[f"{p:g}" for p in THRESHOLDS],
        lane=PRIMARY_LANE,
        speed_words=SPEED_WORDS,
        levels=[_level(suite, doc, level) for level in suite.levels],
        multi_run=len(doc["runs"]) > 1,
        multi_sample=any(c["sample"] for c in suite.candidates),
        rows=rows,
        lanes=_lane_names({lane for r in rows for lane in r["lanes"]}),
        has_baselines=any(
            s["baselines"] for r in doc["runs"] for lv in r["levels"] for s in lv["samples"]
        ),
        has_sol=any(r["sol"] is not None for r in rows),
        has_prepare=any(r["prepare"] for r in rows),
        has_resources=any(r["registers"] is not None for r in rows),
        verdicts=[v for v in (*VERDICTS, *STATE_WORDS) if any(r["status"] == v for r in rows)],
        failures=failures,
        few_failures=sum(len(f["rows"]) for f in failures) < FEW_FAILURES,
        run_meaning=RUN_MEANING,
        skipped=_not_judged(doc),
        validity=validity.by_level(doc),
        costs=[[row] for row in cost.of_candidates(doc)],
        cost_columns=cost.table("timed candidate"),
        draw_tables=_draw_tables(doc),
        contracts=sorted(
            {
                contract
                for r in rows
                if (contract := (r["result"].get("correctness") or {}).get("contract"))
            }
        ),
        curve_axes=charts.curve_axes(),
        details=details,
    )


def write_page(path: Path, suite: Suite, doc: dict[str, Any]) -> bool:
    """Write index.html; False if Jinja2 is missing. Raises ReportError."""
    try:
        html = render(suite, doc)
    except ImportError:
        return False
    write.write_atomic(path, html)
    return True


def _write(path: Path, template: str, doc: dict[str, Any], **values: Any) -> bool:
    """Write the page of a template; False if Jinja2 is missing. Raises ReportError."""
    try:
        env = environment()
    except ImportError:
        return False
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    write.write_atomic(path, env.get_template(template).render(doc=doc, style=style, **values))
    return True


def write_comparison(path: Path, doc: dict[str, Any]) -> bool:
    """Write compare.html; False if Jinja2 is missing. Raises ReportError."""
    title = compare_tables.title(doc)
    return _write(
        path, "compare.html.j2", doc, show=compare_tables, title=title, with_bars=_with_bars
    )


def write_matrix(path: Path, doc: dict[str, Any]) -> bool:
    """Write the page of a matrix; False if Jinja2 is missing. Raises ReportError."""
    return _write(path, "matrix.html.j2", doc, show=matrix_tables)


def _with_bars(pair: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The rows of a pair's tasks with the bars that the page draws."""
    kinds = {"faster": "w", "slower": "l", "undecided": "u"}
    return [
        [
            row
            | {
                "bar": charts.interval_bar(row["ratio"], row["ci_lo"], row["ci_hi"] or 1e9),
                "bar_kind": kinds[row["verdict"]],
            }
        ]
        for row in pair["tasks"]
    ]


def write_leaderboard(path: Path, doc: dict[str, Any]) -> None:
    """Write the page of a leaderboard. Raises ReportError, also without Jinja2."""
    written = _write(
        path,
        "leaderboard.html.j2",
        doc,
        costs=leaderboard.COSTS,
        ranked=leaderboard.ranked_share,
        ps=[f"{p:g}" for p in THRESHOLDS],
    )
    if not written:
        raise ReportError("a leaderboard needs Jinja2 (pip install jinja2)", NO_PAGE)


def _title(doc: dict[str, Any]) -> str:
    return f"KernelBench Native: {doc['preset']} on {machine_name(doc['machine'])}"


def _number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _times(value: float | None) -> str:
    """A speed-up with three digits, or those that `_ratio` shows."""
    if value is None:
        return "-"
    near = NEAR_1[0] <= value <= NEAR_1[1]
    return (_ratio(value, value) if near else f"{value:#.3g}".rstrip(".")) + "\u00d7"


def _ratio(value: float | None, estimate: float) -> str:
    """A speed-up or its limit with two decimals, near 1 with three: 1.00 to 1.00 tells nothing.

    estimate: the speed-up itself, which decides for its limits, too.
    """
    if value is None:
        return "\u221e"
    return f"{value:.{3 if NEAR_1[0] <= estimate <= NEAR_1[1] else 2}f}"


def remark(c: dict[str, Any]) -> str | None:
    """What to do about a candidate whose result is not that of its source; None if it is."""
    if c["source_changed"] or (c["state"] == STALE and c["reason"] == SOURCE_CHANGED):
        return SOURCE_CHANGED
    return c["reason"] if c["state"] == STALE else None


def _remarks(lane: dict[str, Any]) -> str:
    """What is special about how a lane was measured."""
    pairs = lane.get("pairs") or 0
    found = [f"{pairs} pairs of processes"] if pairs > 1 else []
    found += ["measured twice"] if lane.get("second_look") else []
    found += [", ".join(lane["anomalies"])] if lane.get("anomalies") else []
    return "; ".join(found)


def _amount(value: float | None) -> str:
    """A cost: whole numbers in groups of three digits, others with two decimals."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def _milliseconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value * 1000:.3g} \u00b5s" if value < 0.1 else f"{value:.3g} ms"


def _row(c: dict[str, Any], doc: dict[str, Any]) -> dict[str, Any]:
    """What the table of tasks shows about one candidate."""
    result = c["result"] or {}
    out = metrics.outcome(c)
    judged = c["state"] == JUDGED
    timing = result.get("timing") or {}
    lanes = {}
    if out.correct and not metrics.is_functional(result):
        for name in timing.get("lanes") or {}:
            o = metrics.outcome(c, name)
            lanes[name] = {
                **timing["lanes"][name],
                "verdict": write.verdict_at(o, 1.0),
                "bar": charts.interval_bar(o.speedup, o.lo, o.hi),
                "remarks": _remarks(timing["lanes"][name]),
            }
    sets = (result.get("correctness") or {}).get("sets") or []
    sol = (timing.get("speed_of_light") or {}).get("fraction") if lanes else None
    return {
        "candidate": c,
        "result": result,
        "outcome": out,
        "status": result["verdict"] if judged else c["state"],
        "words": result["verdict"].replace("_", " ") if judged else STATE_WORDS[c["state"]],
        "lanes": lanes,
        "remark": remark(c),
        "advice": advice.of(c),
        "anomalies": write.anomalies_text(write.anomalies(c)),
        "sol": sol,
        "prepare": timing.get("prepare") if lanes else None,
        "most_of_weights": prepare.most_depends_on_weights(timing) if lanes else False,
        "of_weights": prepare.shares(timing) if lanes else "",
        "worst": worst_element((result.get("correctness") or {}).get("worst")),
        "seconds": (result.get("build") or {}).get("seconds"),
        "check_seconds": sum(s.get("seconds") or 0 for s in sets) if sets else None,
        "difficulty": difficulty(c["level"], c["task"]),
        "category": c["category"] or "",
        "evidence": one_line(result.get("evidence") if result else c["reason"], 280),
        "why": one_line(result.get("evidence"), pending.EVIDENCE_SHOWN)
        if judged and result["verdict"] != "pass"
        else "",
        "profile": profiles.rows(result.get("profile") if judged else None),
        "no_profile": profiles.reason(result.get("profile") if judged else None),
        **write.resources(result),
    }


def _lane_names(found: Iterable[str]) -> list[str]:
    """Lanes in the order in which they are shown: the primary one first."""
    return sorted(found, key=lambda name: (name != PRIMARY_LANE, name))


def _level(suite: Suite, doc: dict[str, Any], level: int) -> dict[str, Any]:
    """Headline numbers, groups and charts of one level, over all runs that have candidates."""
    runs = []
    span = charts.reach([metrics.outcome(c) for c in suite.candidates if c["level"] == level])
    for i, run in enumerate(doc["runs"]):
        found = next((lv for lv in run["levels"] if lv["level"] == level), None)
        if not found:
            continue
        head = overview.headline(found)
        records = suite.of(run["run"], level)
        turns = "turns" in head
        outcomes = rollup.outcomes(records, turns=turns)
        slots = found["n"] * head.get("samples", 1)
        names = [c["name"] for c in records]
        if turns:  # a mark of the chart leads to the turn that it shows
            last = {c["task"]: c["name"] for c in records if metrics.outcome(c).correct}
            names = [last.get(o.task, "") for o in outcomes]
        runs.append(
            {
                "run": run["run"],
                "colour": i % 6,
                "level": found,
                "headline": head,
                "name": overview.row_name(head),
                "reached": _reached(found),
                "remarks": Counter(filter(None, map(remark, records))),
                "slots": slots,
                "stack": _stack(outcomes, slots, found["functional"]),
                "curves": {
                    lane: charts.curve(rollup.outcomes(records, lane, turns), slots)
                    for lane in head["lanes"]
                },
                "fall": None if found["functional"] else charts.waterfall(outcomes, names, span),
            }
        )
    lanes = _lane_names({lane for run in runs for lane in run["curves"]})
    n = max((run["headline"]["n"] for run in runs), default=len(suite.levels[level]))
    return {"level": level, "n": n, "runs": runs, "lanes": lanes}


def _reached(level: dict[str, Any]) -> float | None:
    """What all samples of a level reach together: fast_1@k, or pass@k without a GPU."""
    over = level.get("over_samples")
    if not over:
        return None
    values = over["pass_at_k"] if level["functional"] else over["fast_p_at_k"]["1"]
    return list(values.values())[-1]


def _draw_tables(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """pass@k and fast_p@k, or fast_p@N, of the runs that have several samples."""
    found = []
    for run in doc["runs"]:
        for level in run["levels"]:
            if "over_turns" in level:
                letter, values = "N", level["over_turns"]["fast_p_at_n"]
            elif "over_samples" in level:
                over = level["over_samples"]
                letter, values = "k", {None: over["pass_at_k"], **over.get("fast_p_at_k", {})}
            else:
                continue
            found.append(
                {
                    "run": run["run"],
                    "level": level["level"],
                    "letter": letter,
                    "columns": list(next(iter(values.values()))),
                    "rows": [{"p": p, "values": list(v.values())} for p, v in values.items()],
                }
            )
    return found


def _stack(outcomes: list[Outcome], n: int, functional: bool) -> list[dict[str, Any]]:
    """The parts that a level's tasks fall into; they add up to n."""
    failed = [o.verdict for o in outcomes if o.judged and not o.correct]
    degenerate = failed.count("degenerate")
    correct = sum(o.correct for o in outcomes)
    if functional:
        parts = [("correct", "correct", correct)]
    else:
        wins, losses = sum(o.wins(1) for o in outcomes), sum(o.loses(1) for o in outcomes)
        parts = [
            ("win", "faster than the baseline", wins),
            ("undecided", "correct, undecided or not timed", correct - wins - losses),
            ("loss", "correct, not faster", losses),
        ]
    parts += [
        ("degenerate", "degenerate", degenerate),
        ("wrong", "not correct", len(failed) - degenerate),
        ("absent", "not judged", n - correct - len(failed)),
    ]
    return [
        {"kind": kind, "label": label, "count": count, "percent": f"{100 * count / n:.2f}"}
        for kind, label, count in parts
        if count and n
    ]


def _failures(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"verdict": v, "meaning": VERDICT_MEANING[v], "rows": found}
        for v in VERDICTS
        if v != "pass" and (found := [r for r in rows if r["status"] == v])
    ]


def _not_judged(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything of N without a verdict, grouped by run and level."""
    found = []
    for run in doc["runs"]:
        for level in run["levels"]:
            turns = "over_turns" in level  # each brings what is tried again, and no more
            for row in [level["headline"]] if turns else level["samples"]:
                if row["not_judged"] or row["not_provided"]:
                    found.append({"run": run["run"], "level": level["level"], **row})
    return found


def _details(env: Any, suite: Suite, rows: list[dict[str, Any]]) -> str:
    """Candidate sections as compressed, base64 coded JSON {name: html}.

    Compression keeps 270 sources below a third of their size, and keeps them out of the document
    until a reader opens one.
    """
    template = env.get_template("candidate.html.j2")
    found: dict[str, str] = {}
    room = PAGE_TEXT_BYTES
    for row in rows:
        c = row["candidate"]
        source = c.get("source_text")
        diagnostics = clean((row["result"].get("build") or {}).get("diagnostics"))
        room -= len(zlib.compress((source or "").encode("utf-8", "replace")[:SOURCE_BYTES], 1))
        left_out = source is not None and room < 0
        text = clean(source)[:SOURCE_BYTES] if source is not None and not left_out else None
        found[c["name"]] = template.render(
            row=row,
            c=c,
            result=row["result"],
            profile_columns=profiles.COLUMNS,
            profile_note=profiles.NOTE,
            source_lines=text.rstrip().split("\n") if text is not None else None,
            source_cut=source is not None and len(clean(source)) > SOURCE_BYTES,
            source_left_out=left_out,
            diagnostics=_cut(diagnostics, DIAGNOSTICS_BYTES),
            strips=_strips(row["lanes"]),
        )
    packed = zlib.compress(json.dumps(found).encode(), 9)
    return base64.b64encode(packed).decode()


def _strips(lanes: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The samples of each lane: those of its pairs of processes, or else those of its blocks."""
    found = []
    for name, lane in lanes.items():
        for key, what in (("pair_speedups", "pair of processes"), ("block_speedups", "block")):
            if lane.get(key):
                hi = math.inf if lane["ci_hi"] is None else lane["ci_hi"]
                strip = charts.sample_strip(lane[key], lane["ci_lo"], hi)
                found.append({"lane": name, "what": what, **strip})
                break
    return found


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - limit} characters left out ...]\n{text[-half:]}"
