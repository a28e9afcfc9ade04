"""Writes files atomically; results.json, summary.md and junit.xml of a report."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kb_report import columns, cost, metrics, overview, tables, validity
from kb_report.model import JUDGED, PRIMARY_LANE, ReportError, clean, machine_name, one_line


def write_atomic(path: Path, content: str | bytes, durable: bool = True) -> None:
    """Replace a file as a whole; readers see the old or the new one. Raises ReportError.

    durable: also survive a crash of the machine; costs milliseconds per file.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as f:
            temporary = f.name
            f.write(data)
            if durable:
                f.flush()
                os.fsync(f.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as e:
        if temporary:
            with contextlib.suppress(OSError):  # the original error is the one to tell
                os.unlink(temporary)
        raise ReportError(f"cannot write {path}: {e.strerror}") from None


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which then takes the place of `path` with all that is in it.

    So nothing stays of what an earlier report wrote there. Raises ReportError.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as temporary:
            fresh, old = Path(temporary, "new"), Path(temporary, "old")
            fresh.mkdir()
            yield fresh
            with contextlib.suppress(FileNotFoundError):
                os.rename(path, old)
            os.rename(fresh, path)
    except OSError as e:
        raise ReportError(f"cannot write {path}: {e.strerror}") from None


def as_json(value: Any) -> str:
    """JSON as all our files are written: readable but not long, and refusing NaN."""
    return _layout(value, 0) + "\n"


def json_lines(rows: list[dict[str, Any]]) -> str:
    """One line of JSON per row, in ASCII: kernels are exact, and no character steers a terminal."""
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def _layout(value: Any, depth: int, width: int = 200) -> str:
    """What fits into a line, or is a list of numbers, takes one line; all else one per member."""
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, (dict, list)) or depth + len(flat) <= width:
        return flat
    if isinstance(value, list) and all(isinstance(v, (int, float)) for v in value):
        return flat
    inner = depth + 1
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(k, ensure_ascii=False)}: {_layout(v, inner)}" for k, v in value.items()
        ]
    else:
        parts = [_layout(v, inner) for v in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    space = "\n" + " " * inner
    return f"{opening}{space}{f',{space}'.join(parts)}\n{' ' * depth}{closing}"


def resources(result: dict[str, Any] | None) -> dict[str, Any]:
    """Largest registers and shared memory, summed spills over the kernels of one candidate."""
    rows = ((result or {}).get("build") or {}).get("resources") or []
    if not rows:
        return {"registers": None, "spill_bytes": None, "shared_bytes": None}
    return {
        "registers": max((r.get("registers") or 0) for r in rows),
        "spill_bytes": sum(
            (r.get("spill_stores_bytes") or 0) + (r.get("spill_loads_bytes") or 0) for r in rows
        ),
        "shared_bytes": max((r.get("shared_bytes") or 0) for r in rows),
    }


def verdict_at(outcome: metrics.Outcome, p: float) -> str | None:
    """WIN, LOSS, TIE or UNDECIDED of a correct and timed candidate, else None."""
    if not outcome.correct or outcome.lo is None:
        return None
    if outcome.wins(p):
        return "WIN"
    if outcome.loses(p):
        return "LOSS"
    return "TIE" if outcome.ties(p) else "UNDECIDED"


def anomalies(record: dict[str, Any]) -> dict[str, list[str]]:
    """What was wrong while a lane was measured and stayed so after repetition: lane -> words.

    Only of times that are shown: those of a correct candidate on a GPU.
    """
    result = record["result"]
    if not metrics.outcome(record).correct or metrics.is_functional(result):
        return {}
    lanes = (result.get("timing") or {}).get("lanes") or {}
    return {name: t["anomalies"] for name, t in lanes.items() if t.get("anomalies")}


def anomalies_text(found: dict[str, list[str]]) -> str:
    """Anomalies by lane on one line: "eager: throttle; graph: drift, busy"."""
    return "; ".join(f"{lane}: {', '.join(words)}" for lane, words in found.items())


def lane_ms(record: dict[str, Any], lane: str = PRIMARY_LANE) -> float | None:
    """Measured time of a correct candidate in a lane, in ms; None without."""
    result = record["result"]
    if not metrics.outcome(record).correct or metrics.is_functional(result):
        return None
    lanes = (result.get("timing") or {}).get("lanes") or {}
    return lanes[lane]["candidate_ms"] if lane in lanes else None


# Before a name or a domain; sizes such as full@24g stay as they are.
_AT = re.compile(r"(?<!\w)@|@(?=[\w-]*\.)", re.ASCII)
_ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)


def escape_markdown(text: str | None, limit: int = 160) -> str:
    """Untrusted text for a Markdown table cell: no markup, no mathematics, no links."""
    flat = one_line(text, limit)
    # GitHub makes links of bare addresses. It looks for those of mail, and for @names, after it has
    # taken backslashes away; a word joiner has no width.
    flat = _AT.sub("@\u2060", flat)
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for char in "\\`*_[]|~#!$":
        flat = flat.replace(char, "\\" + char)
    return _ADDRESS.sub(lambda m: re.sub(r"([:.])", r"\\\1", m[0]), flat)


def summary_md(doc: dict[str, Any]) -> str:
    """The report as Markdown, for a pull request or a CI summary page."""
    where = escape_markdown(machine_name(doc["machine"]))
    facts = [
        doc["time"],
        f"backend {doc['backend']}",
        f"harness {escape_markdown(str(doc['harness'].get('version') or 'unknown'))}",
        escape_markdown(tables.conditions(doc)),
    ]
    lines = [
        f"## KernelBench Native: {escape_markdown(doc['preset'])} on {where}",
        "",
        " · ".join(filter(None, facts)),
        "",
    ]
    functional = overview.all_functional(doc)
    table = overview.columns(functional)
    lines += [*columns.markdown(table, overview.groups(doc), escape_markdown), ""]
    if functional:
        lines += [f"fast_p for p > 0 and speed-ups: {tables.FUNCTIONAL_NOTE}.", ""]
    else:
        lines += [
            "fast_p counts a task only if the whole confidence interval of its speed-up lies "
            "above p; in brackets KernelBench's point rule (estimate above p). Geo-mean over the "
            "correct, with its 95 % interval. N is every task of the level.",
            "",
        ]
    lines += _summary_details(doc)
    lines += [_summary_failures(doc), "", _summary_cost(doc)]
    return "\n".join(lines).rstrip() + "\n"


def _summary_details(doc: dict[str, Any]) -> list[str]:
    lines = []
    for run in doc["runs"]:
        for level in run["levels"]:
            for row in [overview.headline(level)] if "over_turns" in level else level["samples"]:
                texts = [f"verdicts: {tables.verdict_text(row)}"]
                texts += tables.not_judged_text(row)
                title = escape_markdown(" ".join([run["run"], overview.row_name(row)]).rstrip())
                lines.append(f"- **{title}, level {level['level']}**: {'; '.join(texts)}")
            if "over_samples" in level and (lacking := level["headline"]["not_provided"]):
                lines.append(
                    f"  - not provided by any sample: {len(lacking)} of {level['n']} tasks"
                )
            if "over_samples" in level:
                shown = "  ".join(
                    f"k={k}: {tables.number(v)}"
                    for k, v in level["over_samples"]["pass_at_k"].items()
                )
                lines.append(f"  - pass@k: {shown}")
            if "over_turns" in level:
                p = "0" if level["functional"] else "1"
                shown = "  ".join(
                    f"N={t}: {tables.number(v)}"
                    for t, v in level["over_turns"]["fast_p_at_n"][p].items()
                )
                lines.append(f"  - fast<sub>{p}</sub>@N: {shown}")
    for level in validity.by_level(doc):
        head, *rest = tables.validity_text(level).split("\n")
        lines.append(f"- {escape_markdown(head)}")
        lines += [f"  - {escape_markdown(line.strip(), 300)}" for line in rest]
    lines += _summary_anomalies(doc)
    for note in doc["notes"]:
        lines.append(f"- note: {escape_markdown(note, 400)}")
    for problem in doc["problems"]:
        lines.append(
            f"- **bad input** {escape_markdown(problem['path'])}: "
            f"{escape_markdown(problem['message'], 300)}"
        )
    return [*lines, ""]


def _summary_anomalies(doc: dict[str, Any], shown: int = 8) -> list[str]:
    """One line about the lanes whose anomalies stayed; none without."""
    found = {c["name"]: x for c in doc["candidates"] if (x := anomalies(c))}
    if not found:
        return []
    lanes = sum(map(len, found.values()))
    names = [f"{name} ({anomalies_text(x)})" for name, x in list(found.items())[:shown]]
    names += [f"and {len(found) - shown} more"] if len(found) > shown else []
    return [
        f"- anomalies that measuring again did not remove, in {lanes} lane(s) of {len(found)} "
        f"candidate(s): {escape_markdown(', '.join(names), 1000)}"
    ]


def _summary_failures(doc: dict[str, Any], shown: int = 40) -> str:
    failed = [
        c for c in doc["candidates"] if c["state"] == JUDGED and c["result"]["verdict"] != "pass"
    ]
    if not failed:
        return ""
    lines = [
        f"<details><summary>{len(failed)} candidate(s) did not pass</summary>\n",
    ]
    rows = [["candidate", "verdict", "stage", "evidence"]]
    for c in failed[:shown]:
        r = c["result"]
        evidence = escape_markdown(r["evidence"])
        rows.append([escape_markdown(c["name"]), r["verdict"], str(r["stage"]), evidence])
    if len(failed) > shown:
        rows.append([f"and {len(failed) - shown} more", "", "", "see results.json"])
    return "\n".join([*lines, *columns.pipes(rows, "llll"), "\n</details>"])


def _summary_cost(doc: dict[str, Any]) -> str:
    table = cost.markdown(cost.of_candidates(doc), "timed candidate")
    if not table:
        return ""
    return f"<details><summary>What judging took</summary>\n\n{table}\n</details>"


_STAGES = ("build", "correct", "bench")


def junit_xml(doc: dict[str, Any]) -> str:
    """A test case per candidate and stage; verdicts are failures, bad result files are errors."""
    root = ET.Element("testsuites", name="KernelBench Native")
    for run in doc["runs"]:
        for level in run["levels"]:
            cases = [
                case
                for c in doc["candidates"]
                if c["run"] == run["run"] and c["level"] == level["level"]
                for case in _cases(c)
            ]
            suite = ET.SubElement(
                root,
                "testsuite",
                name=clean(f"{run['run']}.level{level['level']}"),
                tests=str(len(cases)),
                failures=str(sum(c.find("failure") is not None for c in cases)),
                errors=str(sum(c.find("error") is not None for c in cases)),
                skipped=str(sum(c.find("skipped") is not None for c in cases)),
                timestamp=doc["time"].rstrip("Z"),
            )
            properties = ET.SubElement(suite, "properties")
            for row in overview.rows_of(level):
                at = f".{row['sample']}" if row["sample"] else ""
                for key in ("n", "provided", "judged", "compiled", "correct", "fast_0"):
                    ET.SubElement(properties, "property", name=clean(key + at), value=str(row[key]))
            suite.extend(cases)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(s.get(name)) for s in root)))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _cases(c: dict[str, Any]) -> list[ET.Element]:
    result = c["result"] or {}
    group = ".".join(x for x in (c["run"], c["sample"], f"level{c['level']}") if x)
    reached = _STAGES.index(result["stage"]) if result else -1
    failed = c["state"] == JUDGED and result["verdict"] != "pass"
    sets = (result.get("correctness") or {}).get("sets") or []
    seconds = {
        "build": (result.get("build") or {}).get("seconds"),
        "correct": sum(s.get("seconds") or 0 for s in sets) if sets else None,
    }
    cases = []
    for i, stage in enumerate(_STAGES):
        case = ET.Element("testcase", classname=clean(group), name=clean(f"{c['task']}.{stage}"))
        if seconds.get(stage) is not None and i <= reached:
            case.set("time", f"{seconds[stage]:.3f}")
        if c["state"] == "bad_result" and i == 0:
            ET.SubElement(case, "error", message=one_line(c["reason"]))
        elif i > reached:
            why = c["reason"] or ("an earlier stage failed" if failed else "not run")
            ET.SubElement(case, "skipped", message=one_line(why))
        elif i == reached and failed:
            # Neither an unfit machine nor an unfit task is the candidate's fault.
            tag = "skipped" if result["verdict"] in ("skipped", "degenerate") else "failure"
            evidence = clean(result["evidence"])
            element = ET.SubElement(
                case, tag, message=one_line(f"{result['verdict']}: {evidence}", 300)
            )
            if tag == "failure":
                element.set("type", result["verdict"])
                element.text = "\n".join(x for x in (evidence, _diagnostics(result, stage)) if x)
        cases.append(case)
    return cases


def _diagnostics(result: dict[str, Any], stage: str, limit: int = 4000) -> str:
    if stage != "build":
        return ""
    text = clean((result.get("build") or {}).get("diagnostics"))
    return text if len(text) <= limit else text[:limit] + "\n[cut here]"
