"""Records of task validity: how they are read, added up, shown and merged."""

import pytest

from kb_report import merge, rollup, schema, validity
from synthetic import BuildDir, read_json, tasks_of


@pytest.fixture
def build(build):
    """Four tasks: sound, accepting zeros, degenerate, not assessed."""
    sound, accepting, degenerate, _ = build.levels[1]
    build.validity(sound, canary=["a", "b"], equivalent=["tf32_operands"])
    build.validity(accepting, killed=17, survivors=["zeros", "mean"])
    build.validity(degenerate, killed=18, survivors=["zeros"], degenerate="always zero <b>")
    return build.fill({0: 2.0, 2: "degenerate"})


def test_records_enter_the_report(build, capsys):
    doc = build.report()
    assert doc["problems"] == [] and doc["notes"] == []
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
    row = build.report()["runs"][0]["levels"][0]["samples"][0]
    assert (row["n"], row["judged"], row["correct"]) == (4, 2, 1)
    assert row["verdicts"] == {"pass": 1, "degenerate": 1}
    assert row["lanes"]["eager"]["fast_p"]["1"]["wins"] == 1
    junit = build.text("junit.xml")
    assert 'failures="0"' in junit and "degenerate:" in junit


def test_page_and_summary_name_them(build):
    pytest.importorskip("jinja2")
    build.report()
    page, summary = build.text(), build.text("summary.md")
    assert '<section id="validity"' in page and 'href="#validity"' in page
    assert "1 degenerate task, which no candidate can pass; 1 task not known" in page
    assert "degenerate: always zero &lt;b&gt;" in page
    assert "54 of 57" in page and "integer canary on a, b" in page
    assert "accepts zeros, mean" in page
    assert "mutation score 54/57" in summary and "<b>" not in summary


def test_without_records_nothing_is_said(tmp_path, capsys):
    build = BuildDir(tmp_path / "b").fill({0: 2.0})
    assert build.report()["validity"] == []
    assert "validity" not in capsys.readouterr().out
    page = build.root / "reports/index.html"
    assert not page.exists() or "Task validity" not in page.read_text()


@pytest.mark.parametrize("what", ["task", "program"])
def test_stale_records_are_left_out(build, what):
    changed = {"task": f"lib/tasks/level1.{build.levels[1][0]}.so", "program": "bin/kb_validity"}
    build.path(changed[what]).write_text("rebuilt")
    doc = build.report()
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
    name = f"validity/level1.{task}.json"
    build.write(name, read_json(build.path(name)) | change)
    doc = build.report(status=1)
    assert [(p["kind"], p["path"]) for p in doc["problems"]] == [(kind, name)]
    assert task not in [r["task"] for r in doc["validity"]]


def test_other_sets_and_inputs_are_not_mixed_in(build):
    task = build.levels[1][3]
    build.write(f"validity/level1.{task}.odd.json", {"schema": 1, "set": "odd"})
    build.write(f"validity/level1.{task}.compat.json", "{")
    assert len(build.report()["validity"]) == 3


def test_reports_keep_them_when_read_back_and_merged(build, tmp_path, kb):
    doc = build.report()
    assert rollup.document(merge.read_suite(build.root / "reports")) == doc
    kb("merge", build, build, "--out", tmp_path / "m")
    assert read_json(tmp_path / "m/results.json")["validity"] == doc["validity"]


def test_reports_of_before_have_none(build):
    doc = build.report()
    del doc["validity"]
    assert schema.check(doc, "results") == []
    assert rollup.suite_of(doc).validity == []
    assert validity.by_level(doc) == []


def test_of_several_records_the_worst_counts(build):
    task = tasks_of(1, 1)[0]
    good = {"level": 1, "task": task, "survivors": [], "degenerate": None}
    bad = good | {"survivors": ["zeros"]}
    assert validity.merged([[good], [bad]]) == validity.merged([[bad], [good]]) == [bad]
