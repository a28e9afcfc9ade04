"""What a report is about: tasks that a run.json chooses, runs that are named, notes about others."""

import csv
import json
from pathlib import Path

import pytest

from kb_report import model, schema
from kb_report.cli import main
from synthetic import BuildDir, tasks_of

TASKS = tasks_of(1, 4)
CHOSEN = {"tasks": ["level1/001_*", "level1/00?_batched_matrix_multiplication"]}


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


def run_of(doc, run):
    return next(r for r in doc["runs"] if r["run"] == run)


@pytest.fixture
def two(tmp_path):
    """`few` chooses the tasks 1 and 3 and has a kernel for the first; `all` has four kernels."""
    build = of(tmp_path / "b", "few", "pass", tasks=CHOSEN)
    return of(None, "all", "pass", "pass", "incorrect", "pass", build=build)


def test_n_is_what_the_run_chooses(two):
    doc, out = rolled(two)
    few, every = run_of(doc, "few"), run_of(doc, "all")
    (level,) = few["levels"]
    (row,) = level["samples"]
    assert (level["n"], row["n"], row["correct"], row["fast_0"]) == (2, 2, 1, 0.5)
    assert row["not_provided"] == [TASKS[2]]
    assert sum(group["n"] for group in row["categories"]) == 2
    assert few["levels_without_candidates"] == []
    assert (every["levels"][0]["n"], every["levels_without_candidates"]) == (4, [2])
    (note,) = doc["notes"]
    assert note.startswith("few is judged by 2 task(s) alone, those that its run.json chooses")
    assert "its N counts these" in note
    assert "its N counts these" in (out / "summary.md").read_text()
    assert "its N counts these" in (out / "index.html").read_text()
    for name in ("results.csv", "tasks.csv"):
        rows = list(csv.DictReader((out / name).read_text().splitlines()))
        assert [r["task"] for r in rows if r["run"] == "few"] == [TASKS[0], TASKS[2]]
    said = json.loads((out / "kernelbench/runs/few_level1/analysis.json").read_text())
    assert "0.5" in json.dumps(said)


def test_a_choice_is_told_once_after_a_merge(two, tmp_path):
    """And not of a run that is not in the table."""
    rolled(two)
    out = tmp_path / "merged"
    assert main(["merge", str(two.root), str(two.root / "reports"), "--out", str(out)]) == 0
    doc = json.loads((out / "results.json").read_text())
    assert len(doc["notes"]) == 1
    assert run_of(doc, "few")["levels"][0]["n"] == 2
    doc, _ = rolled(two, "--run", "all", "--out", tmp_path / "part")
    assert not any("few" in note for note in doc["notes"])


def test_other_choices_are_not_mixed(two, tmp_path, capsys):
    rolled(two)
    other = of(tmp_path / "other", "few", "pass", tasks={"tasks": ["level1/*"]})
    words = ["merge", str(two.root), str(other.root), "--out", str(tmp_path / "merged")]
    assert main(words) == model.REFUSED
    assert "different tasks in the run.json of few" in capsys.readouterr().err
    assert main(["compare", f"{two.root}#few", f"{two.root}#all"]) == model.REFUSED
    assert "different tasks in level 1 (few: 2, all: 4; run.json chooses" in capsys.readouterr().err


def test_a_run_of_fewer_tasks_is_left_out_and_named(two, tmp_path, capsys):
    of(None, "also", "pass", "pass", build=two)
    rolled(two)
    page = tmp_path / "leaderboard.html"
    for words in (["leaderboard", "--out", str(page)], ["compare", "--out", str(tmp_path)],
                  ["matrix", "--out", str(tmp_path / "matrix.html")]):  # fmt: skip
        capsys.readouterr()
        assert main([*words, str(two.root)]) == 0
        said = capsys.readouterr().out
        assert "note: few is left out: by its run.json it enters 2 of 4 tasks of level 1" in said
    compared = json.loads((tmp_path / "compare.json").read_text())
    assert [side["label"] for side in compared["sides"]] == ["all", "also"]
    for file in (page, tmp_path / "compare.html", tmp_path / "compare.md"):
        assert "few is left out" in file.read_text()


def test_tasks_that_all_runs_enter_are_compared(two, tmp_path, capsys):
    rolled(two)
    words = ["--tasks", f"level1/{TASKS[0]}", "--tasks", f"level1/{TASKS[2]}", str(two.root)]
    assert main(["compare", *words, "--out", str(tmp_path)]) == 0
    (level,) = json.loads((tmp_path / "compare.json").read_text())["levels"]
    assert level["n"] == 2 and [s["label"] for s in level["sides"]] == ["all", "few"]
    assert main(["leaderboard", *words, "--out", str(tmp_path / "l.html")]) == 0
    assert "level 1, N 2" in capsys.readouterr().out


def test_runs_of_the_same_choice_are_compared(two, tmp_path):
    of(None, "also", None, None, "pass", tasks=CHOSEN, build=two)
    out = tmp_path / "compared"
    sides = [f"{two.root}#{run}" for run in ("few", "also")]
    assert main(["compare", *sides, "--out", str(out)]) == 0
    (level,) = json.loads((out / "compare.json").read_text())["levels"]
    assert level["n"] == 2
    assert [side["fast_0"] for side in level["sides"]] == [0.5, 0.5]


@pytest.mark.parametrize("tasks", [None, "level1/*", [1], {}, []])
def test_what_is_no_choice_chooses_nothing(tmp_path, tasks):
    """Reports of others may hold anything."""
    doc, _ = rolled(of(tmp_path / "b", "m", "pass", tasks={"tasks": tasks}))
    assert (run_of(doc, "m")["levels"][0]["n"], doc["notes"]) == (4, [])


def test_kernels_of_before_the_choice_count(tmp_path):
    """In reports in which the key had no effect; no share is above 1."""
    build = of(tmp_path / "b", "m", "pass", "pass", tasks={"tasks": ["level1/001_*"]})
    assert run_of(rolled(build)[0], "m")["levels"][0]["n"] == 2


@pytest.mark.parametrize(
    ("runs", "there"),
    [
        (["b", "a"], "there are a, b"),
        (["r10", "r9", "r8", "r7", "r6", "r5", "r4"], "there are r4, r5, r6, r7, r8, and 2 more"),
        (["a"], "there is a"),
    ],
)
def test_a_run_that_is_not_there_names_those_that_are(tmp_path, capsys, runs, there):
    build = BuildDir(tmp_path / "b", backend="cpu", levels={1: TASKS})
    for run in runs:
        of(None, run, "pass", build=build)
    words = [
        "rollup",
        "--build-dir",
        str(build.root),
        "--run",
        "nope",
        "--out",
        str(tmp_path / "o"),
    ]
    assert main(words) == model.USAGE
    assert f"no run here matches 'nope'; {there}\n" in capsys.readouterr().err


def test_notes_about_many_candidates_count_them_by_run(tmp_path):
    """And a table of one run has only those of this run."""
    build = of(tmp_path / "b", "m", "pass")
    value = json.loads(build.path(build.candidates[0]["result"]).read_text())
    for run, count in {"old": 6, "older": 3, "m": 1}.items():
        for i in range(count):
            name = f"{run}.level1.{i + 500}_gone"
            build.write(f"results/{run}/level1/{i + 500}_gone.json", value | {"name": name})
    (note,) = rolled(build)[0]["notes"]
    assert note.startswith("10 result(s) of candidates that are not configured were left out: ")
    assert note.endswith(": 6 of old, 3 of older, 1 of m")
    notes = rolled(build, "--run", "m", "--out", tmp_path / "part")[0]["notes"]
    assert [n for n in notes if "left out" in n] == [
        "1 result(s) of candidates that are not configured were left out: m.level1.500_gone"
    ]


def test_tasks_that_a_run_does_not_provide_are_a_number(tmp_path, capsys):
    build = of(tmp_path / "b", "m", "pass", sample="s0")
    of(None, "m", "pass", "pass", sample="s1", build=build)
    _, out = rolled(build)
    said = capsys.readouterr().out
    assert "  mean of 2 samples: not provided: 2 of 4 tasks\n" in said
    assert "  s0: not provided: 3 of 4 tasks\n" in said
    summary = (out / "summary.md").read_text()
    assert "not provided by any sample: 2 of 4 tasks" in summary
    assert TASKS[2] not in said + summary


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
