"""Pairs of task and kernel with the verdict, for whoever trains or studies generators."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kb_report import feedback, load, tree, write
from kb_report.model import JUDGED, STATE_WORDS, ReportError, Suite, candidate_key, one_line
from kb_report.tree import Task

KIND = "kb_report.pair"
SCHEMA_VERSION = 1

# Why a candidate is left out, besides the states of STATE_WORDS.
NO_SOURCE = "source missing"
CHANGED = "source changed since it was judged, or no hash of it"
NO_TASK = "task missing in the tree"
TASK_CHANGED = "task changed since it was judged"


class LeftOut(Exception):
    """A candidate that cannot be a pair; the message is one of the reasons above."""


def pairs(suites: list[Suite]) -> tuple[list[dict[str, Any]], Counter[str]]:
    """One row per candidate with a fresh verdict, in order; reasons and numbers of the others.

    What several inputs hold alike is one row.
    """
    found: dict[str, dict[str, Any]] = {}
    left_out: Counter[str] = Counter()
    for suite in suites:
        texts = Texts(suite)
        for record in sorted(suite.candidates, key=candidate_key):
            try:
                row = _row(record, suite, texts)
            except LeftOut as e:
                left_out[str(e)] += 1
                continue
            # A report says less about the same verdict than its build directory.
            key = json.dumps([row["name"], row["hashes"], row["machine"], row["time"]])
            if key not in found or (row["task_verified"] and not found[key]["task_verified"]):
                found[key] = row
    return list(found.values()), left_out


def counts_text(left_out: Counter[str]) -> str:
    """How many candidates were left out, and why."""
    if not left_out:
        return "there are no candidates"
    reasons = "; ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
    return f"left out: {reasons}"


class Texts:
    """The sources of one suite, each as it was judged or not at all."""

    def __init__(self, suite: Suite):
        self._suite = suite
        self._tasks: dict[str, Task | str] = {}
        self._judged = self._hashes()

    def _hashes(self) -> dict[str, str]:
        """What the build saw of each task file, where the results are known to be of that build."""
        folder = self._suite.build_dir
        said = self._suite.harness.get("sources")
        if folder is None or said is None or load.sha256_file(folder / "sources.sha256") != said:
            return {}
        return tree.judged_sources(folder)

    def kernel(self, record: dict[str, Any]) -> str:
        """The judged source, exactly. Raises LeftOut."""
        root = self._suite.tree
        path = root and root / record["source"]
        if path is None or not path.resolve().is_relative_to(root.resolve()):
            raise LeftOut(NO_SOURCE)
        content = tree.text(path)
        if content is None:
            raise LeftOut(NO_SOURCE)
        if tree.sha256(content) != record["result"]["hashes"].get("source"):
            raise LeftOut(CHANGED)
        return content

    def task(self, level: int, slug: str) -> tuple[Task, bool]:
        """The task's text, and whether it is known to be the one judged. Raises LeftOut."""
        name = f"level{level}/{slug}"
        if name not in self._tasks:
            self._tasks[name] = self._read(name)
        found = self._tasks[name]
        if isinstance(found, str):
            raise LeftOut(found)
        return found, bool(self._judged)

    def _read(self, name: str) -> Task | str:
        try:
            found = tree.task(name, self._suite.tree or tree.PROJECT)
        except ReportError:
            return NO_TASK
        own = {f"{name}/{tree.HEADER}": found.header, f"{name}/{tree.REFERENCE}": found.reference}
        for file, content in (own | found.shared).items():
            if self._judged and self._judged.get(file) != tree.sha256(content):
                return TASK_CHANGED
        return found


def _row(record: dict[str, Any], suite: Suite, texts: Texts) -> dict[str, Any]:
    """A candidate as a row; members with no value are None. Raises LeftOut."""
    if record["state"] != JUDGED:
        raise LeftOut(STATE_WORDS[record["state"]])
    result = record["result"]
    kernel = texts.kernel(record)
    task, verified = texts.task(record["level"], record["task"])
    found = feedback.document(record)
    info = suite.runs_info.get(record["run"], {})
    timing = result.get("timing") or {}
    return {
        "schema": SCHEMA_VERSION,
        "kind": KIND,
        "name": record["name"],
        "run": record["run"],
        "sample": record["sample"],
        "model": _text(info.get("model")),
        "library": _text(info.get("library")) or "none",
        "level": record["level"],
        "task": record["task"],
        "category": record["category"],
        "task_h": task.header,
        "reference_cpp": task.reference,
        "reference_includes": "\n".join(task.shared.values()),
        "task_verified": verified,
        "kernel": kernel,
        "verdict": found["verdict"],
        "stage": found["stage"],
        "evidence": found["summary"],
        "diagnostics": found["diagnostics"],
        "warnings": found["warnings"],
        "contract": found["contract"],
        "backend": result["backend"],
        "gpu": _gpu(suite.machines.get(record["machine"])),
        "machine": record["machine"],
        "sizes": _text(timing.get("sizes")) if found["lanes"] else None,
        "lanes": [
            {
                "lane": lane,
                **{k: t[k] for k in ("speedup", "ci_lo", "ci_hi")},
                "confidence": timing["lanes"][lane].get("confidence"),
                **{k: t[k] for k in ("reference_ms", "candidate_ms", "anomalies")},
            }
            for lane, t in found["lanes"].items()
        ],
        "hashes": {
            "kernel": result["hashes"]["source"],
            "task_h": tree.sha256(task.header),
            "reference_cpp": tree.sha256(task.reference),
            **{k: result["hashes"].get(k) for k in ("module", "task", "harness")},
            "sources": suite.harness.get("sources"),
        },
        "time": _text(result.get("time")),
    }


def _text(value: Any) -> str | None:
    return one_line(value) if isinstance(value, str) else None


def _gpu(machine: dict[str, Any] | None) -> dict[str, Any] | None:
    gpu = (machine or {}).get("gpu")
    keys = ("name", "capability", "driver", "cuda_runtime")
    return {k: _text(gpu.get(k)) for k in keys} if gpu else None


def writer(path: Path) -> Callable[[list[dict[str, Any]]], None]:
    """What writes rows to this file, atomically. Raises ReportError for a form it cannot write."""
    if path.suffix == ".jsonl":
        return lambda rows: write.write_atomic(path, write.json_lines(rows))
    if path.suffix != ".parquet":
        raise ReportError(f"{path} must end in .jsonl or .parquet: choose one of these forms")
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise ReportError(
            f"{path} needs pyarrow (pip install pyarrow); a file .jsonl needs nothing"
        ) from None
    return lambda rows: write.write_atomic(path, parquet(rows))


def parquet(rows: list[dict[str, Any]]) -> bytes:
    """The same rows as a file of Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, number = pa.string(), pa.float64()
    lane = [("lane", text)]
    lane += [(k, number) for k in ("speedup", "ci_lo", "ci_hi", "confidence")]
    lane += [("reference_ms", number), ("candidate_ms", number), ("anomalies", pa.list_(text))]
    types = {
        "schema": pa.int64(),
        "level": pa.int64(),
        "task_verified": pa.bool_(),
        "warnings": pa.list_(text),
        "gpu": pa.struct([(k, text) for k in ("name", "capability", "driver", "cuda_runtime")]),
        "lanes": pa.list_(pa.struct(lane)),
        "hashes": pa.struct([(k, text) for k in rows[0]["hashes"]]),
    }
    columns = pa.schema([(k, types.get(k, text)) for k in rows[0]])
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=columns), out)
    return out.getvalue()
