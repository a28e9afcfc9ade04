"""Records of task validity: how they are read, added up, shown and merged."""

import json

import pytest

from kb_report import merge, rollup, schema, validity
from kb_report.cli import main
from synthetic import BuildDir, tasks_of


def report(build):
    status = main(["rollup", "--build-dir", str(build.root)])
    return status, json.loads((build.root / "reports/results.json").read_text())


@pytest.fixture
def build(tmp_path):
    """Four tasks: sound, accepting zeros, degenerate, not assessed."""
    build = BuildDir(tmp_path / "h200")
    sound, accepting, degenerate, _ = build.levels[1]
    build.validity(sound, canary=["a", "b"], equivalent=["tf32_operands"])
    build.validity(accepting, killed=17, survivors=["zeros", "mean"])
    build.validity(degenerate, killed=18, survivors=["zeros"], degenerate="always zero <b>")
    build.result(build.add(sound), "pass", 2.0)
    build.result(build.add(degenerate), "degenerate")
    build.finish()
    return build


def test_records_enter_the_report(build, capsys):
    status, doc = report(build)
    assert status == 0 and doc["problems"] == [] and doc["notes"] == []
    assert schema.check(doc, "results") == []
    sound, accepting, degenerate, _ = build.levels[1]
    assert [r["task"] for r in doc["validity"]] == [sound, accepting, degenerate]
    assert doc["validity"][0] == {
        "level": 1, "task": sound, "killed": 19, "applicable": 19, "survivors": [],
        "equivalent": ["tf32_operands"], "degenerate": None, "canary": ["a", "b"],
    }  # fmt: skip
    out = capsys.readouterr().out
    assert "task validity  level 1: 3 of 4 tasks assessed, mutation score 54/57" in out
    assert f"accepts trivial answers: {accepting}: zeros, mean" in out
    assert f"degenerate, no pass possible: {degenerate}: always zero" in out


def test_a_degenerate_task_counts_in_n_and_for_nobody(build):
    _, doc = report(build)
    row = doc["runs"][0]["levels"][0]["samples"][0]
    assert (row["n"], row["judged"], row["correct"]) == (4, 2, 1)
    assert row["verdicts"] == {"pass": 1, "degenerate": 1}
    assert row["lanes"]["eager"]["fast_p"]["1"]["wins"] == 1
    junit = (build.root / "reports/junit.xml").read_text()
    assert 'failures="0"' in junit and "degenerate:" in junit


def test_page_and_summary_name_them(build):
    pytest.importorskip("jinja2")
    report(build)
    page = (build.root / "reports/index.html").read_text()
    summary = (build.root / "reports/summary.md").read_text()
    assert '<section id="validity"' in page and 'href="#validity"' in page
    assert "1 degenerate task, which no candidate can pass; 1 task not known" in page
    assert "degenerate: always zero &lt;b&gt;" in page
    assert "54 of 57" in page and "integer canary on a, b" in page
    assert "accepts zeros, mean" in page
    assert "mutation score 54/57" in summary and "<b>" not in summary


def test_without_records_nothing_is_said(tmp_path, capsys):
    build = BuildDir(tmp_path / "h200")
    build.result(build.add(build.levels[1][0]), "pass", 2.0)
    build.finish()
    _, doc = report(build)
    assert doc["validity"] == []
    assert "validity" not in capsys.readouterr().out
    page = build.root / "reports/index.html"
    assert not page.exists() or "Task validity" not in page.read_text()


@pytest.mark.parametrize("what", ["task", "program"])
def test_stale_records_are_left_out(build, what):
    changed = {"task": f"lib/tasks/level1.{build.levels[1][0]}.so", "program": "bin/kb_validity"}
    build.path(changed[what]).write_text("rebuilt")
    status, doc = report(build)
    assert status == 0
    assert len(doc["validity"]) == {"task": 2, "program": 0}[what]
    assert build.levels[1][0] in doc["notes"][0] and "ctest -L validity" in doc["notes"][0]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"schema": 2}, "schema"),
        ({"task": "other"}, "foreign"),
        ({"level": 2}, "foreign"),
        ({"killed": 18}, "invalid"),
        ({"survivors": ["zeros"]}, "invalid"),
        ({"canary": None}, "invalid"),
        ({"degenerate": 3}, "invalid"),
    ],
)
def test_bad_records_are_named(build, change, kind):
    task = build.levels[1][0]
    value = json.loads(build.path(f"validity/level1.{task}.json").read_text())
    build.write(f"validity/level1.{task}.json", value | change)
    status, doc = report(build)
    assert status == 1
    assert [(p["kind"], p["path"]) for p in doc["problems"]] == [
        (kind, f"validity/level1.{task}.json")
    ]
    assert task not in [r["task"] for r in doc["validity"]]


def test_other_sets_and_inputs_are_not_mixed_in(build):
    task = build.levels[1][3]
    build.write(f"validity/level1.{task}.odd.json", {"schema": 1, "set": "odd"})
    build.write(f"validity/level1.{task}.compat.json", "{")
    status, doc = report(build)
    assert status == 0 and len(doc["validity"]) == 3


def test_reports_keep_them_when_read_back_and_merged(build, tmp_path):
    _, doc = report(build)
    assert rollup.document(merge.read_suite(build.root / "reports")) == doc
    assert main(["merge", str(build.root), str(build.root), "--out", str(tmp_path / "m")]) == 0
    merged = json.loads((tmp_path / "m/results.json").read_text())
    assert merged["validity"] == doc["validity"]


def test_reports_of_before_have_none(build):
    _, doc = report(build)
    del doc["validity"]
    assert schema.check(doc, "results") == []
    assert rollup.suite_of(doc).validity == []
    assert validity.by_level(doc) == []


def test_of_several_records_the_worst_counts(build):
    task = tasks_of(1, 1)[0]
    good = {"level": 1, "task": task, "survivors": [], "degenerate": None}
    bad = good | {"survivors": ["zeros"]}
    assert validity.merged([[good], [bad]]) == validity.merged([[bad], [good]]) == [bad]
