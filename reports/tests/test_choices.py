"""What a report is about: tasks that a run.json chooses, runs that are named, notes about others."""

import json
from pathlib import Path

from kb_report import model, schema
from kb_report.cli import main
from synthetic import BuildDir, tasks_of

TASKS = tasks_of(1, 4)


def of(root, run, *given, tasks=None, sample=None, build=None):
    """A build folder with a run that has these verdicts, in the order of tasks."""
    build = build or BuildDir(root, backend="cpu", levels={1: TASKS, 2: tasks_of(2, 2)})
    build.runs[run] = tasks or {}
    for task, verdict in zip(TASKS, given):
        if verdict:
            build.result(build.add(task, run=run, sample=sample), verdict)
    build.finish()
    return build


def rolled(build, *options):
    assert main(["rollup", "--build-dir", str(build.root), *map(str, options)]) == 0
    out = Path(options[-1]) if options else build.root / "reports"
    doc = json.loads((out / "results.json").read_text())
    assert schema.check(doc, "results") == []
    return doc, out


def test_what_all_samples_lack_is_said_once(tmp_path, capsys):
    build = of(tmp_path / "b", "m", "pass", sample="s0")
    of(None, "m", "pass", "pass", sample="s1", build=build)
    _, out = rolled(build)
    said = capsys.readouterr().out
    lacking = f"{TASKS[2]}, {TASKS[3]}"
    assert said.count("not provided") == 2
    assert f"  mean of 2 samples: not provided: 2: {lacking}\n" in said
    assert f"  s0: not provided: 1 more: {TASKS[1]}\n" in said
    summary = (out / "summary.md").read_text()
    assert summary.count(TASKS[2]) == 1 and "not provided by any sample: 2" in summary


def test_feedback_says_that_the_source_changed(tmp_path):
    build = of(tmp_path / "b", "m", "pass")
    path = build.root / f"reports/feedback/m/level1/{TASKS[0]}"
    rolled(build)
    assert model.SOURCE_CHANGED not in path.with_suffix(".md").read_text()
    source = build.source_dir / build.candidates[0]["source"]
    source.write_text(source.read_text() + "// edited\n")
    rolled(build)
    first, _, second, *_ = path.with_suffix(".md").read_text().splitlines()
    assert first.endswith(": pass")
    assert second == "source changed: rebuild. This is the result of what was built before."
    assert json.loads(path.with_suffix(".json").read_text())["source_changed"] is True
