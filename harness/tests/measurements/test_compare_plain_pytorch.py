"""lab/compare-plain-pytorch: which times meet, and what the table says."""

import gzip
import json
import pathlib
import subprocess
import sys
from typing import Any

TOOL = pathlib.Path(__file__).parents[2] / "lab/compare-plain-pytorch"


def candidate(task: str, eager: float, graph: float | None, **timing: Any) -> dict[str, Any]:
    """A judged kernel in a report."""
    lanes = {"eager": {"reference_ms": eager}}
    if graph:
        lanes["graph"] = {"reference_ms": graph}
    timed = {"sizes": "full", "contract": "kernelbench", "lanes": lanes} | timing
    level, _, slug = task.removeprefix("level").partition("/")
    return {"level": int(level), "task": slug, "result": {"timing": timed}}


def compared(tmp_path: pathlib.Path, plain: list[Any], ours: list[Any], *options: str) -> list[str]:
    """The lines that it prints."""
    lines, report = tmp_path / "plain.jsonl", tmp_path / "results.json.gz"
    lines.write_text("".join(json.dumps(line) + "\n" for line in plain))
    with gzip.open(report, "wt") as file:
        json.dump({"candidates": ours}, file)
    done = subprocess.run(
        [sys.executable, TOOL, lines, report, *options], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return (done.stdout + done.stderr).splitlines()


def plain(task: str, eager: float, **more: Any) -> dict[str, Any]:
    """A line of harness/lab/measure-plain-pytorch."""
    return {"task": task, "contract": "kernelbench", "eager_ms": eager} | more


def test_shows_references_that_are_far_from_plain_pytorch(tmp_path: pathlib.Path) -> None:
    ours = [
        candidate("level1/001_a", 1.0, 1.0),
        candidate("level1/001_a", 1.02, 1.0),
        candidate("level1/001_a", 9.0, 1.0),
        candidate("level1/002_b", 2.0, 1.5),
        candidate("level1/003_c", 5.0, 5.0, contract="fp32"),
        candidate("level1/004_d", 5.0, 5.0, sizes="24g"),
        {"level": 1, "task": "005_e", "result": None},
    ]
    theirs = [plain(f"level1/{t}", 1.0, graph_ms=1.0) for t in ("001_a", "003_c", "004_d", "005_e")]
    theirs.append(plain("level1/002_b", 2.5, graph_error="cannot copy"))
    said = compared(tmp_path, theirs, ours)
    assert said[:2] == [
        "eager: 1 of 2 references within 5%",
        "graph: 1 of 1 references within 5%",
    ]
    rows = [line for line in said if line.startswith("| level")]
    assert rows == ["| level1/002_b | kernelbench | 2 | 2.5 | 0.800 | 1.5 |  |  | cannot copy |"]
    shown = compared(tmp_path, theirs, ours, "--all")
    assert "| level1/001_a | kernelbench | 1.02 | 1 | 1.020 | 1 | 1 | 1.000 |  |" in shown


def test_reports_without_a_common_task_are_named(tmp_path: pathlib.Path) -> None:
    ours = [candidate("level1/001_a", 1, 1)]
    said = compared(tmp_path, [plain("level1/001_a", 1) | {"contract": "fp32"}], ours)
    assert len(said) == 1 and "plain.jsonl" in said[0] and "same contract" in said[0]
