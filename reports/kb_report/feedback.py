"""What the author of a candidate needs for the next attempt, short enough for a prompt."""

from __future__ import annotations

import re
from typing import Any

from kb_report import advice, columns, metrics, prepare, profiles, write
from kb_report.model import JUDGED, SOURCE_CHANGED, STATE_WORDS, clean, one_line
from kb_report.occupancy import limit_of

_ERROR = re.compile(r"\b(error|fatal|undefined|unsupported)\b", re.IGNORECASE)
_WARNING = re.compile(r"\bwarning\b", re.IGNORECASE)
_MESSAGE = re.compile(r"\b(error|warning|note|remark)\b\s*(#[\w-]+)?\s*:", re.IGNORECASE)
# Folders of where a line points to, and of files that are named by a path of the machine or of the
# candidates. Not those of other names: "torch/extension.h" is the author's own text. Lines may be
# long and all of spaces, so the + keeps each to one of the two parts that could take it.
_LOCATION = re.compile(
    r"^((?:In file included from|\s+from)?\s*+)(?:[\w.+ -]*/)+(?=[\w.+-]+[(:]\d)"
)
_FOLDERS = re.compile(
    r"(?<![\w./<+-])(?:/|candidates/|level\d+/)(?:[\w.+-]+/)*(?=[\w.+-]+\.(?:cuh?|h|hpp|cpp|cc)\b)"
)
_LINES_PER_ERROR = 4
_ERRORS_SHOWN = 6
_LINE_LENGTH = 200
NOT_WRITTEN = "not written"


def _without_folders(line: str) -> str:
    return _FOLDERS.sub("", _LOCATION.sub(r"\1", line))


def trim_diagnostics(text: str | None, failed: bool) -> str:
    """The compiler's errors with the lines that show where, or its warnings if it built.

    Drops repetitions, template backtraces, notes, directories and all after the first few.
    """
    wanted = _ERROR if failed else _WARNING
    lines = [_without_folders(line)[:_LINE_LENGTH] for line in clean(text).splitlines()]
    kept: list[str] = []
    seen: set[str] = set()
    found = left = dropped = 0
    for line in lines:
        if re.match(r"\d+ (errors?|warnings?) ", line):
            continue
        if _MESSAGE.search(line) or (failed and _ERROR.search(line)):
            left = 0
            if wanted.search(line) and line in seen:
                continue  # compilers go over a file more than once
            if wanted.search(line):
                seen.add(line)
                found += 1
                if found > (_ERRORS_SHOWN if failed else 3):
                    dropped += 1
                    continue
                left = _LINES_PER_ERROR
        if left > 0 and line.strip():
            kept.append(line.rstrip())
            left -= 1
    if failed and not kept:
        kept = [line.rstrip() for line in lines if line.strip()][-15:]
    if dropped:
        kept.append(f"[{dropped} more {'errors' if failed else 'warnings'}]")
    return "\n".join(kept)


def document(record: dict[str, Any]) -> dict[str, Any]:
    """feedback.json of a candidate. Never holds the judge's random seeds."""
    result = record["result"] or {}
    judged = record["state"] == JUDGED
    build = result.get("build") or {}
    correctness = result.get("correctness") or {}
    timing = result.get("timing") or {}
    found: dict[str, Any] = {
        "schema": 1,
        "kind": "kb_report.feedback",
        "name": record["name"],
        "level": record["level"],
        "task": record["task"],
        "verdict": result["verdict"] if judged else None,
        "stage": result.get("stage"),
        "state": record["state"],
        "source_changed": record["source_changed"],
        "summary": one_line(result.get("evidence") if result else record["reason"], 600),
        "advice": advice.of(record),
        "diagnostics": trim_diagnostics(
            build.get("diagnostics"), build.get("status", "ok") != "ok"
        ),
        "warnings": [one_line(w, 400) for w in correctness.get("warnings") or []],
        "worst": correctness.get("worst"),
        "sets": [
            {
                "set": s["set"],
                "sizes": s.get("sizes"),
                "outputs": [
                    {k: o.get(k) for k in ("name", "shape", "dtype", "error", "bound")}
                    for o in s.get("outputs") or []
                ],
            }
            for s in correctness.get("sets") or []
        ],
        "contract": correctness.get("contract"),
        "machine": (record["machine"] or "").split(" | ")[0] or None,
        "functional": bool(judged and timing and metrics.is_functional(result)),
        "lanes": {},
        "resources": [r | {"occupancy_limit": limit_of(r)} for r in build.get("resources") or []],
        "speed_of_light": None,
        "prepare": None,
        "most_depends_on_weights": False,
        "profile": result.get("profile") if judged else None,
    }
    if judged and timing and not found["functional"]:
        for lane, t in timing["lanes"].items():
            keys = ("reference_ms", "candidate_ms", "speedup", "ci_lo", "ci_hi")
            found["lanes"][lane] = {k: t[k] for k in keys} | {
                "verdict": write.verdict_at(metrics.outcome(record, lane), 1.0),
                "pairs": t.get("pairs") or 1,
                "anomalies": write.anomalies(record).get(lane, []),
            }
        found["speed_of_light"] = timing.get("speed_of_light")
        found["prepare"] = timing.get("prepare")
        found["most_depends_on_weights"] = prepare.most_depends_on_weights(timing)
    return found


def worst_element(worst: dict[str, Any] | None) -> dict[str, Any] | None:
    """`worst` of a result with words for what JSON has no number for.

    None where no element is meant: a write out of bounds, or a modified input, expects no value.
    """
    if not worst or "expected" not in worst:
        return None
    got, expected = worst.get("got"), worst["expected"]
    words = {"nan": "nan", "unwritten": NOT_WRITTEN}
    return worst | {
        "expected": "a value that is not finite" if expected is None else expected,
        "got": words.get(worst.get("reason"), "a value that is not finite") if got is None else got,
    }


def markdown(found: dict[str, Any]) -> str:
    """feedback.md: the same as text for a prompt."""
    title = f"# Level {found['level']}, {found['task']}: {verdict_words(found)}"
    changed = f"{SOURCE_CHANGED}. This is the result of what was built before."
    lines = [title, "", *([changed, ""] if found["source_changed"] else [])]
    return _text([*lines, *_evidence(found), *_speed(found)])


def verdict_words(found: dict[str, Any]) -> str:
    """The verdict, or why there is none."""
    return (found["verdict"] or STATE_WORDS.get(found["state"], found["state"])).replace("_", " ")


def evidence(found: dict[str, Any]) -> str:
    """The part of feedback.md that says why the verdict is what it is."""
    return _text(_evidence(found))


def profile(found: dict[str, Any]) -> str | None:
    """The part of feedback.md about times and resources; None where nothing was measured."""
    return _text(_speed(found)) if found["lanes"] or found["resources"] else None


def _text(lines: list[str]) -> str:
    return clean("\n".join(lines)).rstrip() + "\n"


def _evidence(found: dict[str, Any]) -> list[str]:
    lines = [_said_once(found["summary"], found["diagnostics"]), ""]
    lines += [*(f"- {sentence}" for sentence in found["advice"]), ""] if found["advice"] else []
    if found["diagnostics"]:
        title = "Compiler errors" if found["verdict"] == "compile_error" else "Compiler messages"
        lines += [f"## {title}", "", *fence(found["diagnostics"]), ""]
    if found["warnings"]:
        lines += ["## Warnings", "", *(f"- {w}" for w in found["warnings"]), ""]
    w = worst_element(found["worst"])
    if w:
        index = ", ".join(map(str, w.get("index") or []))
        text = f"Output {w.get('output') or '-'}[{index}] at set {w.get('set') or '-'}: expected "
        unwritten = w["got"] == NOT_WRITTEN
        text += f"{_short(w['expected'], 7)}, {'' if unwritten else 'got '}{_short(w['got'], 7)}"
        if w.get("bound") is not None:
            text += f", allowed difference {_short(w['bound'])}"
        if not unwritten and w.get("reason") not in (None, w["got"]):
            text += f" ({w['reason']})"
        lines += ["## Worst element", "", f"{text}.", ""]
        lines += _wrong_elements(w)
    if found["sets"] and found["verdict"] == "incorrect":
        rows = [["set", "sizes", "output", "error", "bound"]]
        for s in found["sets"]:
            sizes = " ".join(f"{k}={v}" for k, v in (s["sizes"] or {}).items())
            for o in s["outputs"]:
                shape = "x".join(map(str, o["shape"] or []))
                output = f"{o['name']} {shape} {o['dtype']}"
                rows.append([s["set"], sizes, output, _short(o["error"]), _short(o["bound"])])
        lines += [*columns.pipes(rows, "lllrr"), ""]
    return lines


def _wrong_elements(worst: dict[str, Any]) -> list[str]:
    """How many elements are wrong, where they lie, and the first of them."""
    if not worst.get("wrong"):
        return []
    where = f": {worst['where'].rstrip(',')}" if worst.get("where") else ""
    rows = [["index", "got", "expected"]]
    for pair in worst.get("first") or []:
        values = [
            "not finite" if pair[side] is None else _short(pair[side], 7)
            for side in ("got", "expected")
        ]
        rows.append([", ".join(map(str, pair["index"])), *values])
    count = f"{worst['wrong']} of {worst['elements']} elements are wrong{where}. The first:"
    return [count, "", *columns.pipes(rows, "lrr"), ""]


def _said_once(summary: str, diagnostics: str) -> str:
    """The summary without the compiler's message that stands below it."""
    short = _FOLDERS.sub("", summary)
    said = next((x for x in map(str.strip, diagnostics.splitlines()) if x and x in short), None)
    if said is None:
        return summary
    before, _, after = short.partition(said)
    return f"{before.rstrip(' :')}{after.rstrip(' :')}"


def _speed(found: dict[str, Any]) -> list[str]:
    lines = []
    if found["functional"]:
        lines += ["Its times are functional, not a GPU measurement.", ""]
    if found["lanes"]:
        lines += [
            f"## Time on {found['machine']}",
            "",
        ]
        words = {
            "WIN": "faster",
            "LOSS": "not faster",
            "TIE": "equal within 1 %",
            "UNDECIDED": "undecided",
            None: "",
        }
        rows = [
            [
                lane, f"{t['reference_ms']:.4g}", f"{t['candidate_ms']:.4g}", f"{t['speedup']:.3f}",
                f"{t['ci_lo']:.3f} - {_limit(t['ci_hi'])}", words[t["verdict"]],
            ]
            for lane, t in found["lanes"].items()
        ]  # fmt: skip
        head = ["baseline", "its ms", "yours ms", "speed-up", "interval", ""]
        lines += [*columns.pipes([head, *rows], "lrrrll"), ""]
        lines += [
            f"The times in {lane} are those of the first of {t['pairs']} pairs of processes, over "
            "all of which the speed-up is taken.\n"
            for lane, t in found["lanes"].items()
            if t["pairs"] > 1
        ]
        odd = {lane: t["anomalies"] for lane, t in found["lanes"].items() if t["anomalies"]}
        if odd:
            lines += [
                f"Measuring again did not remove these anomalies in {len(odd)} of "
                f"{len(found['lanes'])} lanes: {write.anomalies_text(odd)}.",
                "",
            ]
    if found["prepare"]:
        lines.append(f"{prepare.sentence(found['prepare'])}\n")
    if found["most_depends_on_weights"]:
        lines.append(f"{prepare.MARK}\n")
    sol = found["speed_of_light"] or {}
    if sol.get("fraction") is not None:
        lines.append(
            f"Roofline: {100 * sol['fraction']:.0f} % of what this GPU allows"
            + (f", least possible time {sol['floor_ms']:.4g} ms" if sol.get("floor_ms") else "")
            + (f", bound by {sol['bound']}" if sol.get("bound") else "")
            + ".\n"
        )
    lines += profiles.markdown(found["profile"])
    rows = found["resources"]
    if rows:
        archs = sorted({r["arch"] for r in rows if r.get("arch")})
        lines += [f"## Kernels{' for ' + ', '.join(archs) if archs else ''}", ""]
        for r in rows[:12]:
            facts = [
                _fact(r, "registers", "{} registers"),
                _spills(r),
                _fact(r, "shared_bytes", "{} bytes shared") if r.get("shared_bytes") else "",
                _fact(r, "stack_bytes", "{} bytes stack") if r.get("stack_bytes") else "",
                f"occupancy at most {100 * r['occupancy_limit']:.0f} %"
                if r["occupancy_limit"] is not None
                else "",
                _fact(r, "tensor_core_instructions", "{} tensor-core instructions"),
                _fact(r, "vector_load_instructions", "{} vector loads"),
            ]
            name = one_line(r.get("kernel"), 120).replace("`", "'")
            lines.append(f"- `{name}`: " + ", ".join(f for f in facts if f))
        if len(rows) > 12:
            lines.append(f"- and {len(rows) - 12} more kernels")
        lines.append("")
    return lines


def _fact(row: dict[str, Any], key: str, text: str) -> str:
    return text.format(row[key]) if row.get(key) is not None else ""


def _spills(row: dict[str, Any]) -> str:
    stores, loads = row.get("spill_stores_bytes") or 0, row.get("spill_loads_bytes") or 0
    return f"spills {stores} + {loads} bytes" if stores or loads else "no spills"


def _limit(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _short(value: Any, digits: int = 3) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def fence(text: str, language: str = "text") -> list[str]:
    """A code block that its content cannot close."""
    longest = max((len(m) for m in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return [marks + language, text, marks]
