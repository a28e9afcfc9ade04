"""compare, merge, gate, feedback and export, on small invented suites."""

import gzip
import json
import os
import re
import subprocess
import sys

import pytest

from kb_report import cli, load, merge, model, schema, write
from kb_report.cli import main
from kb_report.feedback import trim_diagnostics
from synthetic import DIAGNOSTICS, BuildDir, full_suite, read_json, tasks_of


def suite(root, speedups, gpu="h200", run="m", half=0.01):
    """A build directory with one run; speedups: task index -> speed-up, verdict or None."""
    build = BuildDir(root, gpu=gpu, levels={1: tasks_of(1, 6)}).fill(speedups, half, run=run)
    build.finish()
    return build


@pytest.fixture
def one(tmp_path):
    """One kernel, as fast as the reference."""
    return suite(tmp_path / "a", {0: 1.0})


# compare


def test_compare_runs(tmp_path, compared):
    a = suite(tmp_path / "a", {0: 1.0, 1: 2.0, 2: 0.5, 3: "incorrect", 4: 1.5})
    b = suite(tmp_path / "b", {0: 2.0, 1: 2.0, 2: 0.25, 3: 1.5})
    doc, text = compared(a, b)
    level = doc["levels"][0]
    assert level["n"] == 6
    pair = level["pairs"][0]
    assert pair["correct"]["tasks"] == {
        "both": a.levels[1][:3], "only_a": [a.levels[1][4]], "only_b": [a.levels[1][3]],
        "neither": [a.levels[1][5]],
    }  # fmt: skip
    assert (pair["correct"]["both"], pair["correct"]["p_value"]) == (3, 1.0)
    assert [round(r["ratio"], 6) for r in pair["tasks"]] == [2.0, 1.0, 0.5]
    assert [r["verdict"] for r in pair["tasks"]] == ["faster", "undecided", "slower"]
    assert pair["geo_mean_ratio"]["value"] == pytest.approx(1.0)
    assert [(r["rank_a"], r["rank_b"]) for r in pair["tasks"]] == [(2, 1), (1, 1), (3, 3)]
    assert [s["fast_p"]["1"]["wins"] for s in level["sides"]] == [2, 3]
    assert [s["rank"] for s in level["sides"]] == [2, 1]
    assert "geo-mean" in text and f"only m a: {a.levels[1][4]}" in text
    assert (tmp_path / "out/compare.md").read_text().count("| x") == 0
    html = (tmp_path / "out/compare.html").read_text()
    assert "001_<wbr>square" in html and "<script" not in html


def test_compare_gpus(tmp_path, compared):
    a = full_suite(tmp_path / "h200", ("seed", "mymodel"))
    b = full_suite(tmp_path / "l40s", ("seed", "mymodel"), gpu="l40s")
    doc, text = compared(a.finish(), b.finish())
    assert doc["across_machines"] and len(doc["sides"]) == 4
    spread = doc["levels"][0]["spread"]["seed"]
    # The generator's noise between GPUs has a standard deviation of 0.1 on one side.
    assert 1.04 < spread["pooled_factor"] < 1.11
    assert len(doc["ranks"]) == 4 and all(len(r["levels"]) == 4 for r in doc["ranks"])
    assert {x["of"] for r in doc["ranks"] for x in r["levels"].values()} == {2}
    pair = next(p for p in doc["levels"][0]["pairs"] if p["b"] == "seed NVIDIA L40S")
    assert not pair["same_machine"] and pair["geo_mean_time_ratio"]["value"] < 0.5
    assert "\nranks\n" in text
    row = pair["tasks"][0]
    times = []
    for build in (a, b):
        where = ("seed", row["task"])
        entry = next(c for c in build.candidates if (c["run"], c["task"]) == where)
        result = build.read(entry)
        times.append(result["timing"]["lanes"]["eager"]["candidate_ms"])
    assert row["time_ratio"] == pytest.approx(times[0] / times[1])
    assert row["ratio"] == pytest.approx(row["b"] / row["a"])
    assert "<h2>Ranks</h2>" in (tmp_path / "out/compare.html").read_text()


def test_each_side_is_held_against_its_own_run(tmp_path, compared):
    builds = []
    for gpu, factor in (("h200", 1), ("l40s", 1.25)):
        build = BuildDir(tmp_path / gpu, gpu=gpu)
        for run in ("seed", "m", "only") if gpu == "l40s" else ("seed", "m"):
            own = factor * (2 if run == "m" else 1)
            build.fill({0: own, 1: 2.0 * own}, run=run)
        builds.append(build.finish())
    doc, _ = compared(*builds)
    pairs = {p["b"]: p for p in doc["levels"][0]["pairs"]}
    assert {b: p["a"] for b, p in pairs.items()} == {
        "m NVIDIA H200": "seed NVIDIA H200",
        "seed NVIDIA L40S": "seed NVIDIA H200",
        "m NVIDIA L40S": "m NVIDIA H200",
        "only NVIDIA L40S": "seed NVIDIA L40S",
    }
    assert pairs["m NVIDIA L40S"]["geo_mean_ratio"]["value"] == pytest.approx(1.25)
    assert doc["levels"][0]["spread"]["m"]["pooled_factor"] == pytest.approx(1.171, abs=5e-4)
    ranks = {r["label"]: r["levels"]["1"]["rank"] for r in doc["ranks"]}
    assert ranks == {
        "m NVIDIA H200": 1, "seed NVIDIA H200": 2,
        "m NVIDIA L40S": 1, "seed NVIDIA L40S": 1, "only NVIDIA L40S": 1,
    }  # fmt: skip
    text = (tmp_path / "out/compare.md").read_text()
    for words in (
        "- m NVIDIA L40S: NVIDIA L40S \\| 580.1 \\| 13.0, preset l40s",
        "**m NVIDIA H200 against seed NVIDIA H200**",
        "(p = 1)",
        "geo-mean ratio of times",
        " time ratio |",
        "m across machines",
        "| m NVIDIA H200 | NVIDIA H200 | 1 (0.500) |",
        "rank agreement 1.00",
    ):
        assert words in text, words
    assert "rank agreement 1.00" in (tmp_path / "out/compare.html").read_text()


@pytest.mark.parametrize("command", ["compare", "gate"])
def test_a_lane_that_nobody_has_is_told_with_those_that_there_are(one, refused, command):
    others = ["--against", one] if command == "gate" else [one]
    err = refused(command, one, *others, "--lane", "foo")
    assert err == "kb-report: there are no times in lane foo; the lanes are eager\n"


def test_compare_uses_one_lane_throughout(tmp_path, compared):
    builds = [suite(tmp_path / x, {0: 2.0}) for x in "ab"]
    for build, ms in zip(builds, (3.0, 6.0)):
        entry = build.candidates[0]
        eager = build.read(entry)["timing"]["lanes"]["eager"]
        graph = {"candidate_ms": ms, "speedup": 1.0 / ms, "ci_lo": 0.9 / ms, "ci_hi": 1.1 / ms}
        build.change(entry, {"timing.lanes.graph": eager | graph})
    doc, _ = compared(*builds, "--lane", "graph")
    row = doc["levels"][0]["pairs"][0]["tasks"][0]
    assert (row["ratio"], row["time_ratio"]) == pytest.approx((0.5, 0.5))


def test_compare_names_one_run_and_sample(build, kb):
    build.fill({0: 1.0}, run="m", sample="s0").fill({0: 2.0}, run="m", sample="s1").finish()
    assert " 2.000 [" in kb("compare", f"{build}#m/s0", f"{build}#m/s1").out
    for sides in (("#none", ""), ("#m/s7", "#m/s1"), ("#m/s0",)):
        kb("compare", *(f"{build}{side}" for side in sides), status=2)


def test_a_level_that_a_run_does_not_enter_is_no_defeat(tmp_path, compared):
    builds = []
    for name, entered in (("a", (1,)), ("b", (1, 2)), ("c", (2,))):
        build = BuildDir(tmp_path / name, levels={1: tasks_of(1, 6), 2: tasks_of(2, 6)})
        for level in entered:
            for task in build.levels[level]:
                build.judged(task, "pass", 1.5, level=level, run=name)
        builds.append(build.finish())
    doc, printed = compared(*builds)
    one, two = doc["levels"]
    assert one["without_candidates"] == ["c"] and two["without_candidates"] == ["a"]
    assert [(s["label"], s["rank"]) for s in one["sides"]] == [("a", 1), ("b", 1)]
    assert [(p["a"], p["b"]) for p in one["pairs"]] == [("a", "b")]
    assert [(p["a"], p["b"]) for p in two["pairs"]] == [("b", "c")]
    files = [(tmp_path / f"out/compare.{suffix}").read_text() for suffix in ("md", "html")]
    for text in (printed, *files):
        assert text.count(": no candidates") == 2


@pytest.mark.parametrize(("count", "has_interval"), [(4, False), (5, True)])
def test_the_mean_of_few_ratios_has_no_interval(tmp_path, compared, count, has_interval):
    builds = [
        suite(tmp_path / name, {i: factor * (1 + i / 10) for i in range(count)})
        for name, factor in (("a", 1.0), ("b", 1.1))
    ]
    mean = compared(*builds)[0]["levels"][0]["pairs"][0]["geo_mean_ratio"]
    assert mean["value"] == pytest.approx(1.1)
    assert (mean["lo"] is not None, mean["hi"] is not None) == (has_interval, has_interval)


def other_harness(build, name):
    """Makes everything in it the work of this harness."""
    build.env["harness_sha256"] = name
    for entry in build.candidates:
        build.change(entry, {"hashes.harness": name})


@pytest.mark.parametrize(
    "what", ["contract", "sizes", "lane", "harness", "sources", "torch", "tasks"]
)
def test_compare_refuses_what_must_not_be_mixed(tmp_path, kb, refused, one, what):
    b = suite(tmp_path / "b", {0: 2.0})
    entry = b.candidates[0]
    if what == "contract":
        b.change(entry, {"correctness.contract": "tf32"})
    elif what == "sizes":
        b.change(entry, {"timing.sizes": "odd"})
    elif what == "lane":
        lanes = b.read(entry)["timing"]["lanes"]
        b.change(entry, {"timing.lanes": None})
        b.change(entry, {"timing.lanes": {"graph": lanes["eager"]}})
    elif what == "harness":
        other_harness(b, "other")
    elif what == "sources":
        one.env["sources_sha256"], b.env["sources_sha256"] = "one", "other"
    elif what == "torch":
        b.env["torch"] = "2.6.0"
    else:
        b.levels = {1: tasks_of(1, 3)}
    sides = (one.finish(), b.finish())
    assert "refused to compare" in refused("compare", *sides, status=3)
    assert "MIXED: " in kb("compare", "--allow-mixed", *sides).out


def test_gpus_whose_binaries_differ_are_compared(tmp_path, kb):
    a = suite(tmp_path / "h200", {0: 1.0})
    b = suite(tmp_path / "l40s", {0: 2.0}, gpu="l40s")
    other_harness(b, "for another architecture")
    kb("compare", a, b.finish(), status=3)
    for build in (a, b):
        build.env["sources_sha256"] = "the same"
    kb("compare", a.finish(), b.finish())


def scale(build, sizes):
    """Names the sizes that all candidates were timed at."""
    for entry in build.candidates:
        build.change(entry, {"timing.sizes": sizes})


@pytest.mark.parametrize("command", ["merge", "gate", "compare"])
def test_scaled_sizes_are_not_mixed_with_full_ones(tmp_path, kb, one, command):
    b = suite(tmp_path / "b", {0: 2.0})
    scale(b, "full@24g")
    others = ["--against", one] if command == "gate" else [one]
    out = ["--out", tmp_path / "out"] if command == "merge" else []
    error = kb(command, *out, b, *others, status=3).err
    assert error.count("different sizes (KB_SIZES) in 1 task(s)") == 1
    scale(one, "full@16g")
    error = kb(command, *out, b, *others, status=3).err
    assert "different choices of full sizes (KB_SIZES) (16g, 24g)" in error


def test_shards_of_one_choice_of_sizes_are_merged(tmp_path, kb, one):
    scaled = suite(tmp_path / "b", {1: 1.0})
    scale(scaled, "full@24g")
    untimed = suite(tmp_path / "c", {2: "incorrect"})
    kb("merge", one, scaled, untimed, "--out", tmp_path / "out")


def test_compare_on_cpu_shows_verdicts_only(tmp_path, compared):
    builds = [BuildDir(tmp_path / x, backend="cpu").fill({0: 5.0}).finish() for x in "ab"]
    _, text = compared(*builds)
    assert "fast_0" in text and "fast_1" not in text and "geo-mean" not in text


# merge


def results_of(path):
    doc = read_json(path / "results.json")
    assert schema.check(doc, "results") == []
    return doc


def test_merge_is_idempotent_and_independent_of_order(tmp_path, kb, monkeypatch):
    shards = [
        suite(tmp_path / "s1", {0: 1.0, 1: 2.0, 4: None}),
        suite(tmp_path / "s2", {2: 0.5, 3: "incorrect"}),
        suite(tmp_path / "s3", {1: 2.5, 4: "timeout"}),
    ]
    shards[2].change(shards[2].candidates[0], {"time": "2026-02-01T00:00:00Z"})
    for name, order in {"a": [0, 1, 2], "b": [2, 0, 1], "c": [1, 2, 0, 1]}.items():
        kb("merge", *(shards[i] for i in order), "--out", tmp_path / name)
    want = results_of(tmp_path / "a")
    assert results_of(tmp_path / "b") == want and results_of(tmp_path / "c") == want
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")  # a later day
    again = [tmp_path / "a", shards[1], tmp_path / "b/results.json", shards[0]]
    kb("merge", *again, "--out", tmp_path / "d")
    assert results_of(tmp_path / "d") == want
    row = want["runs"][0]["levels"][0]["samples"][0]
    assert (row["n"], row["judged"], row["correct"]) == (6, 5, 3)
    assert row["verdicts"] == {"pass": 3, "incorrect": 1, "timeout": 1}
    speedups = [
        c["result"]["timing"]["lanes"]["eager"]["speedup"]
        for c in want["candidates"]
        if c["state"] == "judged" and c["result"]["timing"]
    ]
    assert 2.5 in speedups and 2.0 not in speedups, "the newest result counts"
    assert want["notes"] == [f"1{merge.SEVERAL}m.level1.002_standard_matrix_multiplication"]
    assert want["time"] == "2026-02-01T00:00:00Z", "when the newest was judged"
    assert "2026-02-01 00:00 UTC" in (tmp_path / "d/index.html").read_text()


def test_a_mixed_merge_is_independent_of_order_and_says_each_thing_once(tmp_path, kb):
    shards = [suite(tmp_path / x, dict.fromkeys(range(4), 1.0 + i)) for i, x in enumerate("abc")]
    for shard, harness in zip(shards, ("one", "two", "two")):
        other_harness(shard, harness)
        shard.finish()
    docs = []
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        out = tmp_path / f"out{order[0]}"
        kb("merge", "--allow-mixed", *(shards[i] for i in order), "--out", out)
        docs.append(results_of(out))
    assert docs[0] == docs[1] == docs[2]
    several, mixed = docs[0]["notes"]
    names = [e["name"] for e in shards[0].candidates]
    assert several == f"4{merge.SEVERAL}{', '.join(sorted(names))}"
    assert mixed.startswith("mixed: different harnesses")
    assert mixed.index(str(shards[0])) < mixed.index(str(shards[1]))
    kb("merge", "--allow-mixed", tmp_path / "out0", shards[2], "--out", tmp_path / "again")
    notes = results_of(tmp_path / "again")["notes"]
    assert several in notes and len([n for n in notes if merge.SEVERAL in n]) == 1


def test_merge_refuses_other_machines_and_contracts(tmp_path, kb, one):
    b = suite(tmp_path / "b", {1: 1.0}, gpu="l40s")
    c = suite(tmp_path / "c", {1: 1.0})
    c.change(c.candidates[0], {"correctness.contract": "tf32"})
    for other, why in ((b, "different machines"), (c, "different contracts (fp32, tf32)")):
        assert why in kb("merge", one, other, "--out", tmp_path / "out", status=3).err


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("{", "truncated"),
        ("[]", "foreign"),
        ("{}", "foreign"),
        ('{"kind": "kb_report.results", "schema": 0}', "schema"),
        ('{"kind": "kb_report.results", "schema": 1}', "invalid"),
        (None, "unreadable"),
    ],
)
def test_merge_and_compare_leave_out_what_is_bad(tmp_path, kb, refused, one, text, kind):
    other, bad, out = suite(tmp_path / "b", {0: 1.0}), tmp_path / "bad.json", tmp_path / "out"
    if text is not None:
        bad.write_text(text)
    told = f"bad input ({kind}): {bad} "
    assert told in kb("merge", bad, one, "--out", out, status=1).err
    doc = read_json(out / "results.json")
    assert [(p["kind"], p["path"]) for p in doc["problems"]] == [(kind, str(bad))]
    assert [c["state"] for c in doc["candidates"]] == ["judged"]
    assert "bad.json" in (out / "index.html").read_text()
    assert told in kb("compare", one, bad, other, "--out", out, status=1).err
    for name in ("compare.json", "compare.md", "compare.html"):
        assert "bad.json" in (out / name).read_text()
    for command in (
        ["merge", bad, "--out", tmp_path / "none"],
        ["compare", one, bad],
        ["gate", one, "--against", bad],
    ):
        assert "bad.json" in refused(*command)  # nothing can be said
    assert not (tmp_path / "none").exists()


def test_every_command_names_what_was_left_out_of_its_input(tmp_path, kb):
    build = suite(tmp_path / "a", {0: 1.0, 1: 2.0})
    build.write(build.candidates[1]["result"], "")
    name, out = build.candidates[0]["name"], tmp_path / "out"
    build.report(status=1)
    for source in (build, build.root / "reports/results.json"):
        for command in (
            ["gate", source, "--against", source],
            ["compare", source, source, "--out", out],
            ["feedback", source, name],
            ["export", "kernelbench", source, "--out", out],
            ["export", "google-benchmark", source, "--out", out],
        ):
            err = kb(*command, status=1).err
            assert f"bad input (empty): {build.candidates[1]['result']} is empty" in err, command
    assert [p["kind"] for p in read_json(out / "compare.json")["problems"]] == ["empty"]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["candidates"].append(d["candidates"][0]),
        lambda d: d["candidates"][0].update(result=None),
        lambda d: d["candidates"][0].update(task="none"),
        lambda d: d["candidates"][0]["result"].update(verdict="great"),
        lambda d: d["candidates"][0]["result"].update(verdict=None),
        lambda d: d["candidates"][0].update(source="candidates/\ud800.cu"),
        lambda d: d["candidates"][0].update(source="candidates/\0.cu"),
        lambda d: d["machine"]["gpu"].update(name=5),
        lambda d: d["machine"]["host"].update(memory_bytes="much"),
        lambda d: d.update(problems=[{"kind": "conflict", "path": "a", "message": "b"}]),
        lambda d: d.pop("levels"),
    ],
)
def test_a_damaged_report_is_no_good_input(tmp_path, one, change):
    doc = one.report()
    change(doc)
    with pytest.raises(model.BadReport) as e:
        merge.read_suite(rewritten(tmp_path, doc))
    assert e.value.problem.kind == "invalid" and "is damaged" in e.value.problem.message


@pytest.mark.parametrize("key", ["run", "sample", "task", "lane"])
@pytest.mark.parametrize("name", ["/tmp/kb-evil/x", "..", "a/../../x", "a\x1b[2J", "a\n", ""])
def test_a_report_with_names_that_no_file_may_bear_is_refused(tmp_path, refused, one, key, name):
    doc = one.report()
    c = doc["candidates"][0]
    if key == "lane":
        c["result"]["timing"]["lanes"][name] = c["result"]["timing"]["lanes"].pop("eager")
    else:
        for record in (c, c["result"]):
            record[key] = name
            record["name"] = model.candidate_name(record)
        doc["levels"]["1"]["tasks"].append(c["task"])
    doc["levels"]["1"]["tasks"] = sorted(set(doc["levels"]["1"]["tasks"]))
    bad = rewritten(tmp_path, doc)
    before = sorted(tmp_path.rglob("*"))
    for command in (["merge", bad], ["export", "google-benchmark", bad]):
        err = refused(*command, "--out", tmp_path / "out")
        assert "is damaged" in err and "\x1b" not in err
    assert sorted(tmp_path.rglob("*")) == before


def test_words_of_a_report_do_not_steer_the_terminal(tmp_path, capsys, one):
    doc = one.report()
    evil = "a\x1b[2J\x9b2J\x07"
    doc["preset"] = doc["harness"]["sha256"] = evil
    doc["problems"] = [{"kind": "empty", "path": evil, "message": evil}]
    bad = rewritten(tmp_path, doc)
    for command in (
        ["merge", bad, "--out", tmp_path / "out"],
        ["compare", bad, one],
        ["compare", bad, one, "--allow-mixed"],
        ["gate", bad, "--against", one, "--allow-mixed"],
    ):
        main([str(word) for word in command])
        shown = "".join(capsys.readouterr())
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown), command


def test_the_name_of_a_machine_is_text_wherever_it_stands(tmp_path, compared):
    """It is in headings, in cells that may break at an underscore, and in results.csv."""
    builds = [BuildDir(tmp_path / gpu, gpu=gpu) for gpu in ("h200", "l40s")]
    builds[1].gpu["name"] = "GPU_<b>\x1b[2J\x9b\u202e"
    for build in builds:
        build.fill({0: 2.0, 1: 1.5}, run="m").report()
    _, printed = compared(*builds)
    pages = [(tmp_path / f"out/compare.{form}").read_text() for form in ("md", "html")]
    for text in (printed, *pages, builds[1].text(), builds[1].text("results.csv")):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert "GPU\\_&lt;b&gt;" in pages[0]
    for text in pages:
        assert "<b>" not in text.replace("<b></b>", "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ci_lo": 2.0, "ci_hi": 0.1}, "ends before it begins"),
        ({"ci_lo": 1.1, "ci_hi": 1.2}, "outside its interval"),
        ({"ci_lo": 0.8, "ci_hi": 0.9}, "outside its interval"),
        ({"ci_lo": 1.1, "ci_hi": None}, "outside its interval"),
        ({"ci_lo": 0, "ci_hi": 1.2}, "an interval from 0"),
        ({"ci_lo": 0, "ci_hi": None}, None),
        ({"ci_lo": 1.0 + 1e-12, "ci_hi": 1.0 + 1e-12}, None),
    ],
)
def test_no_report_with_an_impossible_interval_is_read(tmp_path, kb, one, change, words):
    doc = one.report()
    doc["candidates"][0]["result"]["timing"]["lanes"]["eager"] |= change
    bad = rewritten(tmp_path, doc)
    for command in (
        ["merge", bad, "--out", tmp_path / "out"],
        ["compare", f"{bad}#m", one],
        ["gate", bad, "--against", one],
    ):
        err = kb(*command, status=2 if words else 0).err
        assert words is None or words in err


def test_a_candidate_has_the_name_of_its_place(build, tmp_path):
    build.fill({0: 2.0}, run="m").fill({0: 2.0}, run="m", sample="s0")
    doc = build.report()
    for c in doc["candidates"]:
        c["name"] = c["result"]["name"] = "m.level1.another"
        with pytest.raises(model.BadReport, match="that should be m"):
            merge.read_suite(rewritten(tmp_path, doc))
    build.candidates[0]["name"] = "m.level1.another"
    doc = build.report(status=1)
    assert [c["sample"] for c in doc["candidates"]] == ["s0"]
    assert "should be" in doc["problems"][0]["message"]


def test_a_result_in_a_report_is_that_of_its_candidate(tmp_path):
    doc = suite(tmp_path / "a", {0: 1.0, 1: 2.0}).report()
    one, other = doc["candidates"]
    one["result"] = other["result"]
    with pytest.raises(model.BadReport, match="belongs to another candidate: name is"):
        merge.read_suite(rewritten(tmp_path, doc))


def rewritten(folder, doc):
    """A report with this content."""
    path = folder / "bad.json"
    path.write_text(json.dumps(doc))
    return path


# gate


@pytest.mark.parametrize(
    ("before", "after", "options", "status", "word"),
    [
        ({0: 1.5, 1: 1.0}, {0: 1.5, 1: 1.0}, "", 0, "no significant"),
        ({0: 1.5}, {0: 1.49}, "", 0, "no significant"),
        ({0: 1.5}, {0: 1.3}, "", 1, "SLOWER"),
        ({0: 1.5}, {0: 0.1}, "", 1, "p < 1e-9"),
        ({0: 1.5}, {0: "incorrect"}, "", 1, "now incorrect"),
        ({0: 1.5}, {}, "", 1, "now not provided"),
        ({0: 1.5}, {0: None}, "", 1, "not judged (no result)"),
        ({0: 1.5, 1: "incorrect"}, {0: 1.5, 1: 1.0}, "", 0, "no significant"),
        ({0: "incorrect"}, {0: 1.0, 1: 1.0}, "", 2, "no candidate of the base passed"),
        ({}, {0: 1.0}, "", 2, "no candidate of the base passed"),
        ({0: 1.5, 1: 1.5}, {0: 1.5, 1: "pass"}, "", 1, "now without a time in lane eager"),
        ({0: "pass"}, {0: 1.5}, "", 0, "0 of them have times in both"),
        ({0: 1.5, 1: 1.5}, {0: 1.5}, "--partial", 0, ""),
        ({0: 1.5, 1: "incorrect"}, {0: "pass"}, "--partial", 0,
         "1 candidates passed before, 0 of them have times in both"),
        # It failed before, and the base names it.
        ({0: 1.5, 1: "incorrect"}, {1: 1.5}, "--partial", 0, "0 candidates passed before"),
        ({0: 1.5, 1: "incorrect"}, {2: 1.5}, "--partial", 2, "of the base was judged now"),
        ({0: 1.5, 1: "incorrect"}, {0: None}, "--partial", 2, "of the base was judged now"),
    ],
)  # fmt: skip
def test_gate(tmp_path, kb, before, after, options, status, word):
    a, b = suite(tmp_path / "a", before), suite(tmp_path / "b", after)
    assert word in "".join(kb("gate", b, "--against", a, *options.split(), status=status))


def test_gate_names_what_became_faster(tmp_path, kb):
    a = suite(tmp_path / "a", {0: 1.5, 1: 1.0})
    b = suite(tmp_path / "b", {0: 1.8, 1: 1.01})
    faster, verdict = kb("gate", b, "--against", a).out.splitlines()[1:]
    assert faster.startswith(f"FASTER  m.level1.{tasks_of(1, 1)[0]}: 1.500x -> 1.800x (x1.200,")
    assert verdict == "gate: no significant regression, 1 faster"
    assert "FASTER" not in kb("gate", a, "--against", b, status=1).out


def test_gate_prints_ten_of_a_kind_and_writes_all(tmp_path, kb):
    tasks = tasks_of(1, 24)
    a, b = (
        BuildDir(tmp_path / name, levels={1: tasks})
        .fill({i: 1.5 if (i < 12) == first else 2.0 for i in range(24)})
        .finish()
        for name, first in (("a", True), ("b", False))
    )
    lines = kb("gate", b, "--against", a, "--out", tmp_path / "gate.txt", status=1).out.splitlines()
    kinds = [line.split()[0] for line in lines]
    assert (kinds.count("SLOWER"), kinds.count("FASTER")) == (11, 11)
    assert lines.count("SLOWER  and 2 more") == lines.count("FASTER  and 2 more") == 1
    written = (tmp_path / "gate.txt").read_text()
    assert written.count("FASTER  seed.") == written.count("SLOWER  seed.") == 12


def test_gate_refuses_another_machine(tmp_path, kb, one):
    other = suite(tmp_path / "c", {0: 1.5, 1: 1.5}, gpu="l40s")
    err = kb("gate", other, "--against", one, status=3).err
    assert "different machines" in err and "--allow-mixed does it all the same" in err


def test_gate_needs_significance(tmp_path, kb):
    a = suite(tmp_path / "a", {0: 1.0}, half=0.2)
    b = suite(tmp_path / "b", {0: 0.9}, half=0.2)
    kb("gate", b, "--against", a)
    kb("gate", b, "--against", a, "--alpha", "0.3", status=1)


@pytest.mark.parametrize("value", ["abc", "", "nan", "0", "1"])
def test_a_share_lies_between_0_and_1(tmp_path, capsys, value):
    with pytest.raises(SystemExit) as e:
        main(["gate", str(tmp_path), "--against", str(tmp_path), "--alpha", value])
    assert e.value.code == 2 and "must lie between 0 and 1" in capsys.readouterr().err


# feedback


def test_feedback(tmp_path, kb):
    build = full_suite(tmp_path / "h200")
    build.report()
    folder = build.root / "reports/feedback"
    for suffix in ("md", "json"):
        assert len(list((folder / "seed/level1").glob(f"*.{suffix}"))) == 100
    for path in folder.rglob("*.md"):
        text = path.read_text()
        assert len(text) < 4000, "short enough for a prompt"
        assert "rng" not in text and "seed:" not in text
    for path in folder.rglob("*.json"):
        assert "rng_seed" not in path.read_text()
    text = kb("feedback", build, "seed.level1.019_relu").out
    for word in ("Roofline", "registers", "occupancy", "tensor-core", "vector loads", "| eager |"):
        assert word in text
    for name, hint in (
        ("nobody", ""),
        ("019_relu", "; did you mean seed.level1.019_relu?"),
        ("seed.level1.019_rely", "; did you mean seed.level1.019_relu, "),
        ("softmax", "; did you mean seed.level1.023_softmax, "),
    ):
        err = kb("feedback", build, name, status=2).err
        assert err.startswith(f"kb-report: there is no candidate {name}{hint}"), err
        assert hint or err.endswith("nobody\n")


def test_feedback_of_a_wrong_candidate_on_the_cpu(tmp_path, kb):
    build = BuildDir(tmp_path / "cpu", backend="cpu")
    changes = {
        "correctness.worst": {"expected": 115.81993304161325, "bound": 0.005121104924738},
        "correctness.warnings": ["__shfl_sync() reads from lane 31, which takes no part"],
        "build.resources.0": {"shared_bytes": 2048},
    }
    wrong, right = build.judged(0, "incorrect", changes=changes), build.judged(1, "pass", 3.0)
    build.finish()
    text = kb("feedback", build, wrong["name"]).out
    assert "expected 115.8199, got 0.698112, allowed difference 0.00512 (value)" in text
    assert "## Warnings\n\n- __shfl_sync() reads from lane 31, which takes no part" in text
    assert "## Kernels for sm_90" in text
    assert "32 registers, no spills, 2048 bytes shared, occupancy at most 100 %" in text
    text = kb("feedback", build, right["name"]).out
    assert "functional, not a GPU measurement" in text and "3.0" not in text


def test_wrong_elements_are_counted_located_and_shown(build, kb):
    worst = {
        "wrong": 96, "elements": 960, "where": "only the last index, 9, of dimension 1",
        "first": [{"index": [0, 9], "got": None, "expected": 1.5},
                  {"index": [1, 9], "got": 0.25, "expected": 2.5}],
    }  # fmt: skip
    entry = build.judged(0, "incorrect", changes={"correctness.worst": worst})
    text = kb("feedback", build.finish(), entry["name"]).out
    assert "96 of 960 elements are wrong: only the last index, 9, of dimension 1." in text
    assert "| 0, 9 | not finite | 1.5 |" in text and "| 1, 9 | 0.25 | 2.5 |" in text


@pytest.mark.parametrize(
    ("worst", "sentence"),
    [
        ({"expected": 2.0, "got": None, "bound": 0.5, "reason": "nan"},
         "expected 2, got nan, allowed difference 0.5."),
        ({"expected": 2.0, "got": None, "bound": 0.5, "reason": "unwritten"},
         "expected 2, not written, allowed difference 0.5."),
        ({"expected": 2.0, "got": None, "bound": None, "reason": "value"},
         "expected 2, got a value that is not finite (value)."),
        ({"expected": None, "got": 3.0, "bound": 0.0, "reason": "value"},
         "expected a value that is not finite, got 3, allowed difference 0 (value)."),
        ({"expected": 60.0, "got": -1.0, "bound": 0.0, "reason": "integer"},
         "expected 60, got -1, allowed difference 0 (integer)."),
        ({"reason": "out_of_bounds"}, None),
        ({"reason": "input_modified"}, None),
    ],
)  # fmt: skip
def test_what_json_has_no_number_for_is_told_in_words(build, worst, sentence):
    entry = build.judged(0, "incorrect", changes={"correctness.worst": None})
    at = {"set": "smoke", "output": "y"} | ({"index": [0, 7]} if sentence else {})
    build.change(entry, {"correctness.worst": at | worst})
    build.report()
    text = build.feedback(entry)
    assert "None" not in text
    assert ("## Worst element" in text) == bool(sentence)
    assert sentence is None or f"Output y[0, 7] at set smoke: {sentence}" in text
    page = build.details(entry)
    assert ("Worst element" in page) == bool(sentence)
    assert "<dt>Got</dt><dd>-</dd>" not in page and "None" not in page


def baseline(path, text):
    """A file with times of KernelBench."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def baseline_of(doc):
    return doc["runs"][0]["levels"][0]["samples"][0]["baselines"][0]


def test_diagnostics_keep_what_matters():
    trimmed = trim_diagnostics(DIAGNOSTICS, failed=True)
    assert trimmed.splitlines()[0].startswith("candidate.cu(14): error")
    assert "warning" not in trimmed and "Remark" not in trimmed
    many = "\n".join(f"/home/x/y/candidate.cu({i}): error: bad thing {i}" for i in range(500))
    trimmed = trim_diagnostics(many, failed=True)
    assert "/home" not in trimmed and "[494 more errors]" in trimmed and len(trimmed) < 1000
    for path in ("candidates/m/level1/019_relu.cu", "./019_relu.cu", "/a b/c/019_relu.cu"):
        line = trim_diagnostics(f"{path}(7): error: x", failed=True)
        assert line.endswith("019_relu.cu(7): error: x") and "level1" not in line
    code = "error: here\n  7 | #include <cub/block.cuh> // a/b"
    assert trim_diagnostics(code, failed=True) == code
    missing = "{}019_relu.cu:3:10: fatal error: torch/extension.h: No such file"
    for folder in ("candidates/m/level1/", "/a/b/", "level1/019_relu/", ""):
        line = trim_diagnostics(missing.format(folder), failed=True)
        assert line == missing.format("")
    for said in ('could not open source file "a/b.h"', "b.h is included", "no b.h in <a/b.h>"):
        line = f"error: {said}"
        assert trim_diagnostics(f"/x/y.cu(3): {line}", failed=True) == f"y.cu(3): {line}"
    nested = "In file included from /x/y.h:7,\n                 from candidates/m/z.cu:1:\n"
    trimmed = trim_diagnostics(f"{nested}/x/y.h:1:2: error: see /x/w.cuh", failed=True)
    assert trimmed == "y.h:1:2: error: see w.cuh"
    assert trim_diagnostics("ptxas died", failed=True) == "ptxas died"
    assert trim_diagnostics(None, failed=True) == ""
    built = "a.cu(3): warning #177-D: variable x was declared\nnote: here\n"
    assert trim_diagnostics(built, failed=False) == built.splitlines()[0]


# upstream


TIMING = {
    "level1": {
        "1_Square_matrix_multiplication_.py": {"mean": 3.0, "std": 0.1, "hardware": "NVIDIA X"},
        "2_Standard_matrix_multiplication_.py": {"mean": 1.0, "hardware": "NVIDIA X"},
    },
}


def test_upstream_baseline(tmp_path, capsys, kb):
    build = suite(tmp_path / "h200", {0: 1.0, 1: 1.0, 2: 1.0})  # every candidate takes 1 ms
    path = baseline(tmp_path / "H100/baseline_time_torch.json", TIMING)
    base = baseline_of(build.report("--baseline", path))
    assert "against H100/baseline_time_torch" in capsys.readouterr().out
    assert base["name"] == "H100/baseline_time_torch" and base["hardware"] == "NVIDIA X"
    # 3x and exactly 1x of N = 6; the strict rule leaves the second out.
    assert base["fast_p_point"]["1"] == pytest.approx(1 / 6)
    assert base["fast_p_point"]["0.8"] == pytest.approx(2 / 6)
    assert base["fast_p_point"]["0"] == 0.5, "times play no part"
    assert base["missing"] == build.levels[1][2:] and base["other_sizes"] == []
    assert "H100/baseline\\_time\\_torch | (0.500)" in build.text("summary.md")
    assert "NVIDIA X, points only, lacks 4" in build.text()
    kb("merge", build.root / "reports", "--baseline", path, "--out", tmp_path / "merged")
    assert baseline_of(read_json(tmp_path / "merged/results.json")) == base


def test_scaled_sizes_meet_no_times_of_kernelbench(tmp_path, capsys, kb):
    build = suite(tmp_path / "h200", {0: 1.0, 1: 1.0})
    entry = build.candidates[0]
    build.change(entry, {"timing.sizes": "full@24g"})
    base = baseline_of(build.report("--baseline", baseline(tmp_path / "b.json", TIMING)))
    assert f"timed at other sizes, left out: {entry['task']}" in capsys.readouterr().out
    assert base["other_sizes"] == [entry["task"]] and base["timed"] == 1
    assert base["fast_p_point"]["0"] == pytest.approx(2 / 6) and base["fast_p_point"]["2"] == 0
    assert "1 timed at other sizes left out" in build.text()
    out = tmp_path / "kb"
    assert (
        f"1 candidate(s): {entry['name']}" in kb("export", "kernelbench", build, "--out", out).out
    )
    timing = read_json(out / "timing/NVIDIA_H200/baseline_time_eager.json")
    assert list(timing["level1"]) == ["2_Standard_matrix_multiplication_.py"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"level1": {"1_a.py": {"mean": "x"}}}'])
def test_upstream_baseline_that_is_none(tmp_path, kb, one, text):
    path = baseline(tmp_path / "b.json", text)
    assert "b.json" in kb("rollup", "--build-dir", one, "--baseline", path, status=2).err


@pytest.mark.parametrize("mean", ["-1.0", "0", "NaN", '"x"', "null", "true", None])
def test_a_damaged_entry_of_a_baseline_is_named(tmp_path, capsys, mean):
    build = suite(tmp_path / "h200", {0: 1.0, 1: 1.0})
    entry = "3" if mean is None else f'{{"mean": {mean}}}'
    text = f'{{"level1": {{"1_a.py": {{"mean": 2}}, "2_b.py": {entry}}}}}'
    path = baseline(tmp_path / "fw/bl.json", text)
    doc = build.report("--baseline", path, status=1)
    captured = capsys.readouterr()
    assert f"bad input (invalid): {path} has entries without a time" in captured.err
    assert "level1/2_b.py" in captured.err and "level1/1_a.py" not in captured.err
    row = next(x for x in captured.out.splitlines() if x.split()[:1] == ["fw/bl"])
    assert "(0.167)" in row and "None" not in captured.out
    assert "<small>points only" in build.text()
    assert [p["path"] for p in doc["problems"]] == [str(path)]


def upstream_analysis(results, timing, level, names, thresholds):
    """Upstream's scoring, re-derived from its documentation, on its own file formats."""
    rows = []
    for number, name in names:
        entries = [e for e in results.get(str(number), []) if e["sample_id"] == 0]
        assert len(entries) <= 1
        entry = entries[0] if entries else {"compiled": False, "correctness": False, "runtime": -1}
        rows.append((entry, timing[f"level{level}"].get(name)))
    speedups = [b["mean"] / e["runtime"] for e, b in rows if b and e["correctness"]]
    n = len(names)
    return {
        "compiled_count": sum(e["compiled"] for e, _ in rows),
        "correct_count": sum(e["correctness"] for e, _ in rows),
        "fast_p": {str(p): sum(s > p for s in speedups) / n for p in thresholds},
    }


def test_upstream_export_gives_the_same_scores_there(tmp_path):
    build = full_suite(tmp_path / "h200", ("m",), samples=("s0", "s1"), every=2)
    doc = build.report()
    out = build.root / "reports/kernelbench"
    timing = read_json(out / "timing/NVIDIA_H200/baseline_time_eager.json")
    for run_level in doc["runs"][0]["levels"]:
        level = run_level["level"]
        there = out / f"runs/m_level{level}"
        results = read_json(there / "eval_results.json")
        assert list(results) == sorted(results, key=int)
        for entries in results.values():
            for e in entries:
                assert set(e) == {
                    "sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats",
                }  # fmt: skip
        analysis = read_json(there / "analysis.json")
        assert set(analysis) == {
            "run_name", "level", "hardware", "total_count", "total_eval", "compiled_count",
            "correct_count", "compilation_rate", "correctness_rate", "geo_mean_speedup", "fast_p",
        }  # fmt: skip
        tasks = doc["levels"][str(level)]["tasks"]
        names = {t: model.task_facts(level, t)["upstream"] for t in tasks}
        # Both samples share the reference's time here only where one was written: use sample 0's.
        own = {
            names[c["task"]]: {"mean": c["result"]["timing"]["lanes"]["eager"]["reference_ms"]}
            for c in doc["candidates"]
            if c["sample"] == "s0" and c["level"] == level and c["result"]["timing"]
        }
        assert set(own) <= set(timing[f"level{level}"])
        numbered = [(int(task[:3]), name) for task, name in names.items()]
        thresholds = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
        want = upstream_analysis(results, {f"level{level}": own}, level, numbered, thresholds)
        for key in ("compiled_count", "correct_count"):
            assert analysis[key] == want[key]
        assert analysis["fast_p"] == pytest.approx(want["fast_p"])


def test_upstream_export_of_two_gpus_keeps_them_apart(tmp_path, kb):
    """Each GPU has its own timing file, and of the run that both judged its own results."""
    builds = [BuildDir(tmp_path / gpu, gpu=gpu) for gpu in ("h200", "l40s")]
    for build, numbers, ms in zip(builds, ((0, 1), (2,)), (1.0, 5.0), strict=True):
        for i in numbers:
            build.judged(i, "pass", 2.0, run="m", sample="s1", reference_ms=ms)
        build.finish()
    builds[1].judged(3, "pass", 2.0, run="other")
    builds[0].add(builds[0].levels[1][0], run="m", sample="s0")  # sample 0, without a result
    kb("merge", "--allow-mixed", *(b.finish() for b in builds), "--out", tmp_path / "out")
    out = tmp_path / "out/kernelbench"
    for gpu, tasks, ms in (("NVIDIA_H200", ["1", "2"], 1.0), ("NVIDIA_L40S", ["3"], 5.0)):
        timing = read_json(out / f"timing/{gpu}/baseline_time_eager.json")["level1"]
        own = [t for name, t in timing.items() if name.split("_")[0] in tasks]
        assert [(t["mean"], t["hardware"]) for t in own] == [(ms, gpu.replace("_", " "))] * len(own)
        assert len(own) == len(tasks)
        results = read_json(out / f"runs/m_level1_{gpu}/eval_results.json")
        assert list(results) == tasks and {e[0]["sample_id"] for e in results.values()} == {1}
        analysis = read_json(out / f"runs/m_level1_{gpu}/analysis.json")
        assert (analysis["hardware"], analysis["total_eval"]) == (gpu.replace("_", " "), 0)
    assert read_json(out / "runs/other_level1/analysis.json")["hardware"] == "NVIDIA L40S"


def test_google_benchmark_export(tmp_path, kb):
    build = suite(tmp_path / "h200", {0: 2.0, 1: "incorrect"})
    out = tmp_path / "gb"
    kb("export", "google-benchmark", build, "--out", out)
    (file,) = out.iterdir()
    value = read_json(file)
    times = {b["name"].rsplit("/", 1)[1]: b["real_time"] for b in value["benchmarks"]}
    assert times == {"reference": 1.0, "candidate": 0.5}
    assert "library_build_type" not in value["context"], "a report does not know it"
    assert re.fullmatch(r"m\.level1\.\w+/eager/candidate", value["benchmarks"][1]["name"])


def test_an_export_of_nothing_says_why(tmp_path, kb):
    build = suite(tmp_path / "h200", {0: "incorrect"})
    command = ("export", "google-benchmark", build, "--out", tmp_path)
    assert "was timed on a GPU" in kb(*command, status=2).err


def test_a_run_is_chosen_in_compare_only(one, kb):
    err = kb("gate", f"{one}#m", "--against", one, status=2).err
    assert "does not exist; only compare takes #RUN" in err


def test_wrapper_script_runs_from_anywhere(tmp_path):
    script = schema.SCHEMA_DIR.parent / "kb-report"
    link = tmp_path / "kb-report"
    link.symlink_to(script)
    done = subprocess.run(
        [link, "--version"], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "KB_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.strip() == "0.2.0", done.stderr


def test_the_citation_names_this_version():
    citation = schema.SCHEMA_DIR.parents[1] / "CITATION.cff"
    assert "\nversion: 0.2.0\n" in citation.read_text()


@pytest.mark.parametrize("chosen", ["", sys.executable])
def test_no_code_of_the_current_folder_runs(tmp_path, chosen):
    for module in ("argparse", "fastjsonschema", "jinja2", "json", "kb_report"):
        (tmp_path / f"{module}.py").write_text("open('ran', 'w')\n")
    done = subprocess.run(
        [schema.SCHEMA_DIR.parent / "kb-report", "--version"],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "KB_PYTHON": chosen},
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.strip() == "0.2.0", done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("buffered", [True, False])
def test_output_that_cannot_be_written_is_one_sentence(one, buffered):
    command = [sys.executable, "-m", "kb_report", "rollup", "--build-dir", str(one)]
    environment = {**os.environ, "PYTHONPATH": str(schema.SCHEMA_DIR.parent)}
    if not buffered:
        environment["PYTHONUNBUFFERED"] = "1"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment
        )
    assert done.returncode == 2
    assert done.stderr == "kb-report: cannot write standard output: No space left on device\n"


def test_a_report_finds_the_sources_that_it_does_not_carry(tmp_path, monkeypatch):
    build = suite(tmp_path / "a", {0: 1.0, 1: 2.0})
    build.report()
    monkeypatch.setattr(merge, "PROJECT", build.source_dir)
    changed = build.source_dir / build.candidates[1]["source"]
    changed.write_text("// changed")
    texts = [c["source_text"] for c in merge.read_suite(build.root / "reports").candidates]
    assert "__global__" in texts[0] and texts[1] is None


def test_a_kept_report_may_be_compressed(tmp_path, kb, one):
    one.report()
    kept = tmp_path / "kept/results.json.gz"
    kept.parent.mkdir()
    packed = gzip.compress(one.text("results.json").encode())
    kept.write_bytes(packed)
    assert merge.read_suite(kept.parent).candidates[0]["name"] == one.candidates[0]["name"]
    for damaged, word in ((packed[:99], "truncated"), (b"{}", "not compressed"), (b"", "is empty")):
        kept.write_bytes(damaged)
        assert word in kb("gate", kept, "--against", kept, status=2).err


def test_json_is_short_and_unchanged():
    value = {
        "numbers": list(range(200)),
        "text": '[\n 1,\n 2\n] "\u00e9"',
        "deep": [{"a": {"b": [None, True, {"c": ["x" * 90] * 3}]}}],
        "empty": [{}, []],
    }
    text = write.as_json(value)
    assert json.loads(text) == value
    assert text.count("\n") < 30
    with pytest.raises(ValueError):
        write.as_json([float("nan")])


def test_a_pipe_is_refused_and_not_waited_for(tmp_path, kb):
    pipe = tmp_path / "results.json"
    os.mkfifo(pipe)
    for source in (pipe, tmp_path):
        err = kb("merge", source, "--out", tmp_path / "out", status=2).err
        assert "is no regular file" in err


def test_a_file_that_python_cannot_read_is_not_called_one_to_write(build, monkeypatch, refused):
    def unreadable(build_dir):
        raise PermissionError(13, "Permission denied", str(build_dir))

    monkeypatch.setattr(load, "load_build_dir", unreadable)
    monkeypatch.setattr(cli, "_forget_output", lambda: None)  # pytest has it
    assert "cannot read or write " in refused("rollup", "--build-dir", build.root)
