"""The roll-up of a build directory: tables against hand-computed numbers, and every bad input."""

import re
import xml.etree.ElementTree as ET

import pytest

from kb_report import metrics, model, schema
from kb_report.rollup import suite_of
from synthetic import BuildDir, read_json, sha, tasks_of


def row_of(doc, run="seed", level=1, sample=None):
    levels = next(r for r in doc["runs"] if r["run"] == run)["levels"]
    rows = next(lv for lv in levels if lv["level"] == level)["samples"]
    return next(r for r in rows if r["sample"] == sample)


@pytest.fixture
def hand(tmp_path):
    """Ten tasks: 4 timed, 1 correct but not timed, 2 wrong, 1 no result, 2 not provided."""
    build = BuildDir(tmp_path / "h200", levels={1: tasks_of(1, 10)})
    t = build.levels[1]
    for task, speedup, half in ((t[0], 2.5, 0.1), (t[1], 1.01, 0.02), (t[2], 0.9, 0.02)):
        build.judged(task, "pass", speedup, half=half)
    build.result(build.add(t[3]), "pass", 1.6, 0.1)  # interval 1.44 .. 1.76
    build.judged(t[4], "pass")
    build.judged(t[5], "incorrect")
    build.judged(t[6], "compile_error")
    build.add(t[7])
    return build


def test_table_by_hand(hand, capsys):
    row = row_of(hand.report())
    assert (row["n"], row["provided"], row["judged"]) == (10, 8, 7)
    assert (row["compiled"], row["correct"]) == (6, 5)
    assert row["fast_0"] == 0.5
    lane = row["lanes"]["eager"]
    wins = {p: f["wins"] for p, f in lane["fast_p"].items()}
    assert wins == {"0": 5, "0.5": 4, "0.8": 4, "1": 2, "1.5": 1, "2": 1}
    points = {p: f["points"] for p, f in lane["fast_p"].items()}
    assert points == {"0": 5, "0.5": 4, "0.8": 4, "1": 3, "1.5": 2, "2": 1}
    # 1.01 is undecided at 1, 1.6 at 1.5; the candidate without times is undecided for p > 0.
    undecided = {p: f["undecided"] for p, f in lane["fast_p"].items()}
    assert undecided == {"0": 0, "0.5": 1, "0.8": 1, "1": 2, "1.5": 2, "2": 1}
    assert lane["fast_p"]["1"]["upper"] == 0.4
    product = 2.5 * 1.01 * 0.9 * 1.6
    assert lane["geo_mean_speedup_correct"] == pytest.approx(product**0.25)
    assert lane["geo_mean_speedup_faster"] == pytest.approx((2.5 * 1.01 * 1.6) ** (1 / 3))
    assert lane["mean_speedup_correct"] == pytest.approx((2.5 + 1.01 + 0.9 + 1.6) / 4)
    assert lane["fast_p_area_point"] == pytest.approx((2 + 1.01 + 0.9 + 1.6) / 20)
    # Limits: 2.25 .. 2.75, 0.9898 .. 1.0302, 0.882 .. 0.918, 1.44 .. 1.76; each at most 2.
    assert lane["fast_p_area_lower"] == pytest.approx((2 + 0.9898 + 0.882 + 1.44) / 20)
    assert lane["fast_p_area_upper"] == pytest.approx((2 + 1.0302 + 0.918 + 1.76) / 20)
    assert row["verdicts"] == {"pass": 5, "incorrect": 1, "compile_error": 1}
    assert row["not_provided"] == hand.levels[1][8:]
    assert [x["state"] for x in row["not_judged"]] == ["no_result"]

    out = capsys.readouterr().out
    fast = next(line for line in out.splitlines() if line.startswith("  seed "))
    counts = ["1", "10", "7", "6", "5", "eager"]
    shares = ["0.500", "0.400", "0.400", "0.200", "(0.300)", "0.100", "(0.200)", "0.100"]
    assert fast.split()[1:] == [*counts, *shares, f"{product**0.25:.3f}", "3"]
    assert f"not judged (no result): 1: {hand.levels[1][7]}" in out
    assert "not provided: 2 of 10 tasks" in out
    assert out.rstrip().splitlines()[-1].startswith("report: ")


def test_groups_by_hand(tmp_path):
    """Two tasks of one operator in different categories, one of two operators."""
    tasks = ["019_relu", "023_softmax", "041_max_pooling_1d", "096_huber_loss"]
    facts = {t: (model.task_facts(1, t)["category"], model.difficulty(1, t)) for t in tasks}
    build = BuildDir(tmp_path / "h200", levels={1: tasks}).fill({0: 2.0, 1: 0.5, 2: "incorrect"})
    row = row_of(build.report())
    for key, of in (("categories", 0), ("difficulties", 1)):
        assert {g["name"] for g in row[key]} == {f[of] for f in facts.values()}
        for g in row[key]:
            mine = [t for t in tasks if facts[t][of] == g["name"]]
            right = sum(t in tasks[:2] for t in mine)
            assert (g["n"], g["correct"]) == (len(mine), right)
            f = g["lanes"]["eager"]["fast_p"]["1"]
            assert (f["wins"], f["value"]) == (tasks[0] in mine, (tasks[0] in mine) / len(mine))
        assert sum(g["n"] for g in row[key]) == 4


def test_resources_and_speed_of_light_by_hand(build):
    resources = [
        {"kernel": "a", "registers": 40, "spill_stores_bytes": 8, "spill_loads_bytes": 4},
        {"kernel": "b", "registers": 96, "spill_stores_bytes": 0, "spill_loads_bytes": 16},
    ]
    light = {"floor_ms": 0.2, "fraction": 0.4, "bound": "memory"}
    changes = {"build.resources": resources, "timing.speed_of_light": light}
    entry = build.judged(0, "pass", 2.0, changes)
    build.report()
    line = build.rows()[0]
    assert (line["max_registers"], line["spill_bytes"]) == ("96", "28")
    assert line["speed_of_light_fraction"] == "0.4"
    told = "40 % of what this GPU allows, least possible time 0.2 ms, bound by memory"
    assert told in build.feedback(entry)


def test_what_prepare_took_stands_next_to_the_speedup(build):
    alone = {"flops": 0.0, "bytes": 0.9, "operator_bytes": 0.1, "most": True}
    work = {"bytes": 3e7, "flops": 2e7, "counted_bytes": 3e8, "counted_flops": 1e11}
    changes = {
        "timing.prepare": {"ms": 12.5, "bytes": 3 << 20},
        "timing.work": {**work, "weights_alone": alone},
    }
    prepared = build.judged(0, "pass", 2.0, changes)
    plain = build.judged(1, "pass", 2.0, {"timing.prepare": None})
    build.report()
    first, second = build.rows()[:2]
    columns = ("prepare_ms", "prepare_bytes", "most_depends_on_weights")
    assert [first[c] for c in columns] == ["12.5", str(3 << 20), "true"]
    assert [second[c] for c in columns] == ["", "", ""]
    told = build.feedback(prepared)
    assert "prepare() took 12.5 ms" in told and "3 MiB" in told and "weights alone" in told
    assert "prepare()" not in build.feedback(plain)
    page = build.text()
    assert "mostly weights" in page and "Prepare</abbr>" in page


def test_every_metric_is_defined():
    """docs/metrics.md names every number of results.json that is no plain count of tasks."""
    text = (schema.SCHEMA_DIR.parent.parent / "docs/metrics.md").read_text()
    o = metrics.Outcome("t", True, True, True, "pass", 2.0, 1.9, 2.1)
    names = set(metrics.lane_summary([o], 1)) | set(metrics.fast_p([o], 1, 1.0))
    names |= set(metrics.over_samples({"t": [o]}, 1, 1, False))
    names |= set(metrics.over_turns({"t": [o]}, 1, 1, False)) | {"fast_0_wilson95"}
    assert {n for n in names if f"`{n}`" not in text} == {"timed"} and "| timed |" in text


def test_files_agree_with_each_other(hand):
    hand.report()
    rows = hand.rows()
    assert [r["state"] for r in rows] == ["judged"] * 7 + ["no_result"] + ["not_provided"] * 2
    assert [r["verdict_at_1"] for r in rows] == ["WIN", "UNDECIDED", "LOSS", "WIN", *[""] * 6]
    suites = ET.fromstring(hand.text("junit.xml"))
    assert suites.get("tests") == "24" and suites.get("failures") == "2"
    texts = [f.text for f in suites.iter("failure")]
    assert any("__shfl_down_synch" in t for t in texts) and any("0.731059" in t for t in texts)
    row = "| seed | 1 | 10 | 7 | 6 | 5 | eager | 0.500 | 0.400 | 0.400 | 0.200 (0.300) |"
    assert row in hand.text("summary.md")
    assert not [p for p in (hand.root / "reports").iterdir() if p.name.startswith(".")]


def test_nothing_stays_of_candidates_that_were_removed(hand):
    hand.report()
    folders = [hand.root / "reports" / name for name in ("feedback", "kernelbench")]
    kept = sorted(p.name for p in (folders[0] / "seed/level1").iterdir())
    for name, text in (("feedback/gone/level1/x.md", "old"), ("kernelbench/runs/gone/a.json", "")):
        hand.write(f"reports/{name}", text)
    hand.candidates.pop()
    hand.report()
    assert [p.name for p in folders[0].iterdir()] == ["seed"]
    assert sorted(p.name for p in (folders[0] / "seed/level1").iterdir()) == kept[:-2]
    assert [p.name for p in (folders[1] / "runs").iterdir()] == ["seed_level1"]
    assert not [p for p in (hand.root / "reports").iterdir() if p.name.startswith(".")]
    assert folders[0].stat().st_mode == folders[0].parent.stat().st_mode


@pytest.mark.parametrize("folder", ["kernelbench", "feedback"])
@pytest.mark.parametrize("report", [None, "{", '{"kind": "another"}'])
def test_folders_of_no_report_stay(hand, tmp_path, refused, folder, report):
    out = tmp_path / "out"
    mine = out / folder / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    if report:
        (out / "results.json").write_text(report)
    before = sorted(out.rglob("*"))
    err = refused("rollup", "--build-dir", hand.finish(), "--out", out)
    assert f"{out / folder} is of no earlier report" in err and "choose another --out" in err
    assert sorted(out.rglob("*")) == before and mine.read_text() == "mine"


def test_a_report_may_be_much_larger_than_a_result(hand, tmp_path, kb):
    entry = hand.candidates[0]
    hand.report()
    files = [hand.path("reports/results.json"), hand.path(entry["result"])]
    for file in files:
        file.write_text(file.read_text() + " " * (64 << 20))
    kb("leaderboard", files[0].parent, "--out", tmp_path / "page.html")
    assert hand.report(status=1)["problems"] == [
        {"kind": "unreadable", "path": entry["result"], "message": "is larger than 64 MiB"}
    ]


def test_step_summary_is_appended(hand, monkeypatch, tmp_path):
    target = tmp_path / "step.md"
    target.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    hand.report()
    assert target.read_text().startswith("before\n## KernelBench Native")


def test_cdash_measurements_only_under_ctest(hand, monkeypatch, capsys):
    hand.report()
    assert "CTestMeasurement" not in capsys.readouterr().out
    monkeypatch.setenv("DASHBOARD_TEST_FROM_CTEST", "3.25")
    hand.report()
    want = '<CTestMeasurement type="numeric/double" name="seed.level1.fast_1">0.2</'
    assert want in capsys.readouterr().out


def test_sizes_and_contract_are_told(tmp_path):
    build = BuildDir(tmp_path / "l40s", gpu="l40s")
    build.judged(0, "pass", 2.0)
    entry = build.judged(1, "pass", 2.0, {"timing.sizes": "full@24g"})
    build.report()
    assert "· contract fp32, sizes full and full@24g\n" in build.text("summary.md")
    assert "· contract fp32, sizes full and full@24g ·" in build.text()
    assert "<dt>Timed at sizes</dt><dd>full@24g</dd>" in build.details(entry)
    assert [r["sizes"] for r in build.rows() if r["sizes"]] == ["full", "full@24g"]


def test_cpu_prints_only_fast_0(tmp_path, capsys):
    build = BuildDir(tmp_path / "cpu", backend="cpu").fill(dict.fromkeys(range(3), 5.0))
    row = row_of(build.report())
    out = capsys.readouterr().out
    assert "fast_0" in out and "functional, not a GPU measurement" in out
    assert not re.search(r"fast_(0\.5|0\.8|1|1\.5|2)\b", out) and "geo-mean" not in out
    assert row["fast_0"] == 0.75 and row["lanes"] == {}
    summary = build.text("summary.md")
    assert "functional, not a GPU measurement" in summary and "fast<sub>1</sub>" not in summary


def test_functional_times_on_a_gpu_never_count(build):
    build.judged(0, "pass", 3.0)
    build.judged(1, "pass", 3.0, {"timing.functional": True})
    f = row_of(build.report())["lanes"]["eager"]["fast_p"]
    assert f["0"]["wins"] == 2 and f["1"]["wins"] == 1


def test_stale_results(tmp_path, capsys):
    build = BuildDir(tmp_path / "h200", levels={1: tasks_of(1, 7)})
    rebuilt, missing, harness, source, task, no_task, _ = (
        build.judged(i, "pass", 2.0) for i in range(7)
    )
    build.path(rebuilt["module"]).write_text("rebuilt")
    build.path(missing["module"]).unlink()
    build.change(harness, {"hashes.harness": "another"})
    failed = build.result(source, "compile_error")
    assert failed["hashes"]["module"] is None
    (build.source_dir / source["source"]).write_text("fixed")
    build.library(task["task"], 1).write_text("the task, changed")
    build.library(no_task["task"], 1).unlink()
    row = row_of(build.report())
    assert (row["n"], row["judged"], row["correct"]) == (7, 1, 1)
    assert [x["reason"] for x in row["not_judged"]] == [
        "rebuilt: judge again",
        "module missing: rebuild",
        "harness changed: judge again",
        "source changed: rebuild",
        "task changed: judge again",
        "task changed: judge again",
    ]
    out = capsys.readouterr().out
    assert f"not judged (stale): 6: {', '.join(build.levels[1][:6])}" in out


@pytest.mark.parametrize("verdict", ["policy_violation", "compile_error"])
def test_another_failure_of_the_same_source_is_stale(build, verdict):
    """Declaring headers in run.json changes neither the source nor the stub that is the module."""
    entry = build.add(build.levels[1][0])
    failed = build.result(entry, verdict)["build"] | {"status": verdict}
    build.change(entry, {"build": failed, "hashes.module": sha(f"module of {entry['name']}")})
    for change, state in (
        ({"command": ["nvcc"], "diagnostics": "/with/longer/paths"}, "judged"),
        ({"seconds": 2.5}, "stale"),
        ({"status": "crash"}, "stale"),
    ):
        build.write(entry["build_json"], failed | change)
        (candidate,) = build.report()["candidates"]
        assert candidate["state"] == state, change
    assert candidate["reason"] == "rebuilt: judge again"


def test_a_source_that_changed_after_judging_is_noted(build, capsys):
    entry = build.judged(0, "pass", 2.0)
    build.judged(1, "pass", 2.0)
    assert build.report()["notes"] == []
    (build.source_dir / entry["source"]).write_text("// edited, not built yet")
    capsys.readouterr()
    doc = build.report()
    assert doc["candidates"][0]["source_changed"]
    note = "the source of 1 candidate(s) is no longer the one that was judged"
    assert doc["notes"] == [f"{note} (build and judge again): {entry['name']}"]
    assert f"note: {note}" in capsys.readouterr().out
    assert f"- note: {note}" in build.text("summary.md")


def test_whatever_has_no_result_has_a_category_all_the_same(tmp_path):
    build = BuildDir(tmp_path / "h200", levels={1: ["019_relu", "023_softmax", "040_layer_norm"]})
    build.judged(0, "compile_error", category=None)
    build.add("023_softmax")
    build.judged(2, "pass", category="of the result")
    doc = build.report()
    want = ["Activation", model.task_facts(1, "023_softmax")["category"], "of the result"]
    assert [c["category"] for c in doc["candidates"]] == want
    for c in doc["candidates"]:
        c["category"] = None  # as in reports of before
    assert suite_of(doc).candidates[0]["category"] == "Activation"


def test_results_under_another_contract_are_stale(build, capsys):
    build.judged(0, "pass", 2.0)
    for contract, status in (("fp32", "judged"), ("tf32", "stale")):
        build.manifest = {"contract": contract}
        assert build.report()["candidates"][0]["state"] == status
    assert "not judged (stale): 1" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["correctness.sets.2.set", "timing.sizes"])
def test_results_at_sizes_for_other_memory_are_stale(build, capsys, path):
    build.judged(0, "pass", 2.0, {path: "full@24g"})
    build.judged(1, "pass", 2.0)  # fits as it is
    for sizes, status in (("24g", "judged"), ("16g", "stale"), ("full", "stale")):
        build.manifest = {"sizes": sizes}
        states = [c["state"] for c in build.report()["candidates"]]
        assert states == [status, "judged"]
    assert "not judged (stale): 1" in capsys.readouterr().out


@pytest.mark.parametrize("stale", ["module", "task", "harness"])
@pytest.mark.parametrize(
    "change",
    [
        {"verdict": None},
        {"verdict": "great"},
        {"schema": 0},
        {"stage": 7, "timing": {"lanes": 3}},
        {"run": "another"},
        {"backend": "cpu"},
    ],
    ids=str,
)
def test_what_is_stale_is_stale_first(build, capsys, stale, change):
    """Whatever else is wrong with it: an older program wrote it, and that is no bad input."""
    entry = build.judged(0, "pass", 2.0, {f"hashes.{stale}": sha("an older one")} | change)
    build.judged(1, "pass", 2.0)
    doc = build.report()
    assert doc["problems"] == []
    row = row_of(doc)
    assert (row["n"], row["judged"], row["correct"]) == (4, 1, 1)
    assert [(x["task"], x["state"]) for x in row["not_judged"]] == [(entry["task"], "stale")]
    assert f"not judged (stale): 1: {entry['task']}" in capsys.readouterr().out
    assert next(c for c in doc["candidates"] if c["state"] == "stale")["result"] is None


@pytest.mark.parametrize(
    "speedup, half, word",
    [(1.2, 0.01, "WIN"), (1.0, 0.005, "TIE"), (1.0, 0.1, "UNDECIDED"), (0.9, 0.01, "LOSS")],
)
def test_every_word_of_the_judge_is_known(build, speedup, half, word):
    value = build.result(build.add(build.levels[1][0]), "pass", speedup, half=half)
    assert value["timing"]["lanes"]["eager"]["verdict"]["1"] == word
    assert schema.check(value, "result") == []


def test_an_interval_without_upper_limit_is_undecided(build, kb):
    lane = {"ci_lo": 0.0, "ci_hi": None, "blocks": 3, "block_speedups": [1.9, 2.0, 2.1]}
    entry = build.judged(0, "pass", 2.0, {"timing.lanes.eager": lane})
    lane = row_of(build.report())["lanes"]["eager"]
    f = lane["fast_p"]["1"]
    assert (f["wins"], f["undecided"], f["losses"], f["points"]) == (0, 1, 0, 1)
    assert lane["fast_p_area_upper"] == 0.25
    kb("compare", build, build)
    kb("gate", build, "--against", build)
    kb("feedback", build, entry["name"])
    assert "0.00 \u2013 \u221e" in build.text()


def test_a_level_without_tasks_is_not_missed(tmp_path, capsys):
    build = BuildDir(tmp_path / "cpu", backend="cpu", levels={1: tasks_of(1, 2), 4: []})
    build.judged(0)
    assert build.report()["runs"][0]["levels_without_candidates"] == []
    assert "level 4" not in capsys.readouterr().out


def test_built_only_is_not_judged(build, capsys, kb):
    """What `ctest -L build`, or an interrupted run, leaves behind: no verdict yet."""
    entry = build.judged(0, None, evidence="compiled; not judged yet")
    doc = build.report()
    assert doc["problems"] == []
    row = row_of(doc)
    assert (row["n"], row["judged"], row["compiled"], row["correct"]) == (4, 0, 1, 0)
    assert (row["fast_0"], row["verdicts"]) == (0.0, {})
    assert row["not_judged"][0]["state"] == "built_only"
    assert f"not judged (only built): 1: {entry['task']}" in capsys.readouterr().out
    suite = ET.fromstring(build.text("junit.xml"))
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "2")
    assert "not judged" in build.feedback(entry)
    assert "not judged (only built)" in build.text()
    results = build.root / "reports/results.json"
    kb("gate", results, "--against", results, status=2)  # nothing passed before


GOOD = object()
BAD_INPUTS = {
    "empty": ("", "empty"),
    "blank": (" \n", "empty"),
    "truncated": (GOOD, "truncated"),
    "truncated in a string": ('{"schema": 1, "name": "se', "truncated"),
    "not json": ("hello", "not_json"),
    "html": ("<html></html>", "not_json"),
    "binary": (b"\xff\xfe\x00", "not_json"),
    "deep": ("[" * 200_000, "not_json"),
    "a list": ("[]", "foreign"),
    "a number": ("3", "foreign"),
    "upstream": ('{"1": [{"sample_id": 0}]}', "foreign"),
    "no verdict": ('{"schema": 1}', "foreign"),
    "older": ({"schema": 0}, "schema"),
    "newer": ({"schema": 2}, "schema"),
    "version is text": ({"schema": "1"}, "foreign"),
    "other task": ({"task": "999_other"}, "foreign"),
    "other run": ({"run": "them"}, "foreign"),
    "other backend": ({"backend": "cpu"}, "foreign"),
    "unknown verdict": ({"verdict": "great"}, "invalid"),
    "no hashes": ({"hashes": None}, "invalid"),
    "pass unchecked": ({"stage": "build"}, "invalid"),
    "no verdict after judging": ({"verdict": None}, "invalid"),
    "negative speed-up": ("-1", "invalid"),
    "NaN speed-up": ("NaN", "invalid"),
    "endless speed-up": ("1e999", "invalid"),
    "huge speed-up": ("1" + "0" * 400, "invalid"),
    "speed-up as text": ('"2"', "invalid"),
    "interval reversed": ({"ci_lo": 3.0, "ci_hi": 2.0}, "invalid"),
    "interval elsewhere": ({"ci_lo": 2.5, "ci_hi": 3.0}, "invalid"),
    "interval from 0": ({"ci_lo": 0, "ci_hi": 3.0}, "invalid"),
}


@pytest.mark.parametrize("name", BAD_INPUTS)
def test_bad_input_is_named_and_stays_in_n(build, capsys, name):
    what, kind = BAD_INPUTS[name]
    build.judged(0, "pass", 2.0)
    bad = build.judged(1, "pass", 2.0)
    path = build.path(bad["result"])
    text = path.read_text()
    if what is GOOD:
        path.write_text(text[: len(text) // 2])
    elif isinstance(what, bytes):
        path.write_bytes(what)
    elif isinstance(what, dict):
        where = {True: "timing.lanes.eager.", False: ""}
        build.change(bad, {where[k[:3] == "ci_"] + k: v for k, v in what.items()})
    elif kind == "invalid":
        assert '"speedup": 2.0' in text
        path.write_text(text.replace('"speedup": 2.0', f'"speedup": {what}'))
    else:
        path.write_text(what)
    doc = build.report(status=1)
    assert [(p["kind"], p["path"]) for p in doc["problems"]] == [(kind, bad["result"])]
    row = row_of(doc)
    assert (row["n"], row["judged"], row["correct"]) == (4, 1, 1)
    assert row["not_judged"][0]["state"] == "bad_result"
    captured = capsys.readouterr()
    assert f"bad input ({kind}): {bad['result']}" in captured.err
    assert f"not judged (bad result file): 1: {bad['task']}" in captured.out
    assert "Traceback" not in captured.err


def test_another_candidates_result_is_bad_input_even_if_it_would_be_stale(build, capsys):
    one, other = build.judged(0, "pass", 2.0), build.judged(1, "pass", 2.0)
    build.write(one["result"], build.read(other))
    doc = build.report(status=1)
    assert [(p["kind"], p["path"]) for p in doc["problems"]] == [("foreign", one["result"])]
    assert [c["state"] for c in doc["candidates"]] == ["bad_result", "judged"]
    assert f'name is "{other["name"]}"' in capsys.readouterr().err


def test_a_directory_in_place_of_a_result(build):
    build.path(build.add(build.levels[1][0])["result"]).mkdir(parents=True)
    assert build.report(status=1)["problems"][0]["kind"] == "unreadable"


def test_files_that_no_candidate_owns(build):
    entry = build.judged(0, "pass", 2.0)
    value = build.read(entry)
    build.write("results/seed/level1/copy.json", value)
    build.write("results/gone/level1/x.json", value | {"name": "gone.level1.x"})
    build.path(entry["result"]).with_suffix(".bench.json").write_text('{"context": {')
    build.write("results/gone/level1/x.bench.json", {"context": {}, "benchmarks": []})
    build.write("results/stray.json", "{")
    doc = build.report(status=1)
    assert {(p["kind"], p["path"]) for p in doc["problems"]} == {
        ("duplicate", "results/seed/level1/copy.json"),
        ("truncated", "results/stray.json"),
    }
    assert "gone.level1.x" in doc["notes"][0]


def test_a_choice_of_tasks_is_told(build):
    build.manifest = {"chosen_tasks": "level1/0*"}
    assert "KB_TASKS='level1/0*'" in build.report()["notes"][0]


def test_a_part_of_the_tasks_counts_alone(hand, tmp_path, kb):
    out = tmp_path / "part"
    first, second = (f"level1/{task}" for task in hand.levels[1][:2])
    part = ("--tasks", first, "--tasks", second)
    kb("rollup", "--build-dir", hand.finish(), *part, "--out", out)
    doc = read_json(out / "results.json")
    row = row_of(doc)
    assert (row["n"], row["provided"], row["correct"]) == (2, 2, 2)
    assert row["lanes"]["eager"]["fast_p"]["1"]["wins"] == 1
    assert any("N counts these" in note for note in doc["notes"])


def test_runs_are_chosen_by_globs(build, tmp_path, kb):
    for run in ("seed", "alpha", "alpine"):
        build.judged(0, run=run)
    out = tmp_path / "part"
    kb("rollup", "--build-dir", build.finish(), "--run", "alp*", "--out", out)
    doc = read_json(out / "results.json")
    assert [r["run"] for r in doc["runs"]] == ["alpha", "alpine"]
    assert {c["run"] for c in doc["candidates"]} == {"alpha", "alpine"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--tasks", "level9/*", "--out", "part"], "level9"),
        (["--run", "nobody", "--out", "part"], "nobody"),
        (["--run", "seed"], "--out"),
    ],
)
def test_a_part_that_is_none_is_refused(hand, tmp_path, monkeypatch, kb, arguments, word):
    monkeypatch.chdir(tmp_path)
    command = ("rollup", "--build-dir", hand.finish(), *arguments)
    assert word in kb(*command, status=model.USAGE).err
    assert not (tmp_path / "part").exists()


def test_manifest_that_repeats_itself(tmp_path):
    build = BuildDir(tmp_path / "h200", levels={1: [*tasks_of(1, 2), tasks_of(1, 1)[0]]})
    entry = build.judged(0, "pass", 2.0)
    build.candidates.append(dict(entry))
    build.candidates.append(entry | {"name": "seed.level1.999_none", "task": "999_none"})
    doc = build.report(status=1)
    assert sorted(p["kind"] for p in doc["problems"]) == ["duplicate", "duplicate", "foreign"]
    assert row_of(doc)["n"] == 2 and row_of(doc)["correct"] == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [("run", "../up"), ("sample", "a/b"), ("task", "001_a/../../b"), ("run", "x" * 65)]
    + [(key, f"a{char}b") for key in ("source", "module", "result") for char in "\ud800\0"],
)
def test_a_manifest_with_names_that_no_file_may_bear_is_refused(build, kb, key, value):
    build.add(build.levels[1][0])[key] = value
    err = kb("rollup", "--build-dir", build.finish(), status=2).err
    assert f"candidates[0].{key}" in err and err.endswith("; configure again\n")


def test_a_result_with_a_lane_that_no_file_may_bear_is_bad_input(build):
    value = build.result(build.add(build.levels[1][0]), "pass", 2.0)
    lanes = value["timing"]["lanes"]
    build.change(build.candidates[0], {"timing.lanes": {"../eager": lanes["eager"]}})
    assert build.report(status=1)["problems"][0]["kind"] == "invalid"


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"schema": 9}', '{"schema": 1}'])
def test_without_a_manifest_there_is_one_sentence(tmp_path, kb, text):
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    err = kb("rollup", "--build-dir", tmp_path, status=2).err
    assert "manifest.json" in err and "configure" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("text", [None, "", '{"schema": 1}', "wrong backend"])
def test_without_an_environment_nothing_is_judged(hand, kb, text):
    path = hand.finish() / "env.json"
    if text is None:
        path.unlink()
    elif text == "wrong backend":
        path.write_text(path.read_text().replace('"cuda"', '"cpu"'))
    else:
        path.write_text(text)
    kb("rollup", "--build-dir", hand, status=1)
    doc = read_json(hand.root / "reports/results.json")
    assert doc["problems"][0]["path"] == "env.json"
    assert row_of(doc)["judged"] == 0 and row_of(doc)["n"] == 10


def test_nothing_judged_yet(tmp_path, capsys):
    assert BuildDir(tmp_path / "cpu", backend="cpu").report()["runs"] == []
    assert "no candidates" in capsys.readouterr().out


def test_output_that_cannot_be_written(hand, tmp_path, kb):
    blocked = tmp_path / "file"
    blocked.write_text("")
    command = ("rollup", "--build-dir", hand.finish(), "--out", blocked / "x")
    assert "cannot write" in kb(*command, status=2).err


def test_samples(tmp_path, capsys):
    build = BuildDir(tmp_path / "h200", levels={1: tasks_of(1, 2)})
    # Task 1: 2 of 4 correct, one of them a win at 1. Task 2: one sample given, which is wrong.
    build.fill({0: 1.5, 1: "incorrect"}, run="m", sample="s0")
    for sample, value in {"s1": 0.5, "s2": "incorrect", "s10": "timeout"}.items():
        build.fill({0: value}, run="m", sample=sample)
    level = build.report()["runs"][0]["levels"][0]
    assert [r["sample"] for r in level["samples"]] == ["s0", "s1", "s2", "s10"]
    assert [r["fast_0"] for r in level["samples"]] == [0.5, 0.5, 0.0, 0.0]
    over = level["over_samples"]
    assert over["pass_at_k"] == pytest.approx({"1": 0.25, "2": (1 - 1 / 6) / 2, "4": 0.5})
    assert over["fast_p_at_k"]["1"] == pytest.approx({"1": 0.125, "2": 0.25, "4": 0.5})
    # At p = 0.5 the second sample, exactly 0.5, is no point above it; the first is one.
    assert over["fast_p_point_at_k"]["0.5"] == pytest.approx({"1": 0.125, "2": 0.25, "4": 0.5})
    assert "pass@k" in capsys.readouterr().out


def test_turns(tmp_path, capsys):
    build = BuildDir(tmp_path / "h200", levels={1: tasks_of(1, 2)})
    build.runs["m"] = {"samples_are": "turns"}
    turns = ({0: "incorrect", 1: 2.5}, {0: 0.5}, {0: 1.5})
    for i, values in enumerate(turns, 1):
        build.fill(values, run="m", sample=f"t{i}")
    over = build.report()["runs"][0]["levels"][0]["over_turns"]["fast_p_at_n"]
    assert over["0"] == {"1": 0.5, "2": 1.0, "3": 1.0}
    assert over["1"] == {"1": 0.5, "2": 0.5, "3": 1.0}
    assert over["2"] == {"1": 0.5, "2": 0.5, "3": 0.5}
    assert "fast_1@N" in capsys.readouterr().out


def test_hostile_text_stays_text(build, capsys):
    evil = "=cmd|' /C calc'!A1 <script>alert(1)</script> | \x1b[31mred\x00 ]]>\ud800"
    build.judged(0, "runtime_error", evidence=evil)
    build.report()
    ET.fromstring(build.text("junit.xml"))
    summary = build.text("summary.md")
    assert "<script>" not in summary and "\x1b" not in summary
    assert build.rows()[0]["evidence"].startswith("'=cmd")
    assert "\x1b" not in capsys.readouterr().out


def test_text_of_a_candidate_makes_no_link_and_turns_no_direction(build, kb):
    evil = "https://a.example HTTP://b.example www.c.example d@e_.example @f $x$ \u202eeslaf\u2066"
    worst = {"output": "y\u202e", "reason": "\u2067value"}
    entry = build.judged(0, "incorrect", changes={"correctness.worst": worst}, evidence=evil)
    build.report()
    told = kb("feedback", build, entry["name"]).out
    summary = build.text("summary.md")
    assert (
        "https\\://a.example HTTP\\://b.example www\\.c.example d@\u2060e\\_.example @\u2060f"
        in summary
    )
    assert "\\$x\\$" in summary
    for text in (summary, build.text(), build.details(entry), told, build.feedback(entry)):
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", text)
