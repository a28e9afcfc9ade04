"""compare, merge, gate, feedback and export, on small invented suites."""

import gzip
import json
import os
import re
import subprocess
import sys

import pytest

from kb_report import merge, model, rollup, schema, write
from kb_report.cli import main
from kb_report.feedback import trim_diagnostics
from synthetic import DIAGNOSTICS, BuildDir, details, full_suite, tasks_of


def suite(root, speedups, gpu="h200", run="m", **options):
    """A build directory with one run; speedups: task index -> speed-up, verdict or None."""
    build = BuildDir(root, gpu=gpu, levels={1: tasks_of(1, 6)})
    for i, value in speedups.items():
        entry = build.add(build.levels[1][i], run=run)
        if isinstance(value, str):
            build.result(entry, value)
        elif value is not None:
            build.result(entry, "pass", value, options.get("half", 0.01))
    build.finish()
    return build


# compare


def test_compare_runs(tmp_path, capsys):
    a = suite(tmp_path / "a", {0: 1.0, 1: 2.0, 2: 0.5, 3: "incorrect", 4: 1.5})
    b = suite(tmp_path / "b", {0: 2.0, 1: 2.0, 2: 0.25, 3: 1.5})
    out = tmp_path / "out"
    assert main(["compare", str(a.root), str(b.root), "--out", str(out)]) == 0
    doc = json.loads((out / "compare.json").read_text())
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
    text = capsys.readouterr().out
    assert "geo-mean" in text and f"only m a: {a.levels[1][4]}" in text
    assert (out / "compare.md").read_text().count("| x") == 0
    html = (out / "compare.html").read_text()
    assert "001_<wbr>square" in html and "<script" not in html


def test_compare_gpus(tmp_path, capsys):
    a = full_suite(tmp_path / "h200", ("seed", "mymodel"))
    b = full_suite(tmp_path / "l40s", ("seed", "mymodel"), gpu="l40s")
    a.finish(), b.finish()
    out = tmp_path / "out"
    assert main(["compare", str(a.root), str(b.root), "--out", str(out)]) == 0
    doc = json.loads((out / "compare.json").read_text())
    assert doc["across_machines"] and len(doc["sides"]) == 4
    spread = doc["levels"][0]["spread"]["seed"]
    # The generator's noise between GPUs has a standard deviation of 0.1 on one side.
    assert 1.04 < spread["pooled_factor"] < 1.11
    assert len(doc["ranks"]) == 4 and all(len(r["levels"]) == 4 for r in doc["ranks"])
    assert {x["of"] for r in doc["ranks"] for x in r["levels"].values()} == {2}
    pair = next(p for p in doc["levels"][0]["pairs"] if p["b"] == "seed NVIDIA L40S")
    assert not pair["same_machine"] and pair["geo_mean_time_ratio"]["value"] < 0.5
    assert "\nranks\n" in capsys.readouterr().out
    row = pair["tasks"][0]
    times = [
        next(
            json.loads(b.path(c["result"]).read_text())["timing"]["lanes"]["eager"]["candidate_ms"]
            for c in b.candidates
            if (c["run"], c["task"]) == ("seed", row["task"])
        )
        for b in (a, b)
    ]
    assert row["time_ratio"] == pytest.approx(times[0] / times[1])
    assert row["ratio"] == pytest.approx(row["b"] / row["a"])
    assert "<h2>Ranks</h2>" in (out / "compare.html").read_text()


def test_each_side_is_held_against_its_own_run(tmp_path, capsys):
    builds = []
    for gpu in ("h200", "l40s"):
        build = BuildDir(tmp_path / gpu, gpu=gpu)
        runs = ("seed", "m", "only") if gpu == "l40s" else ("seed", "m")
        for run in runs:
            for task, speedup in zip(build.levels[1], (1.0, 2.0)):
                value = speedup * (1.25 if gpu == "l40s" else 1) * (2 if run == "m" else 1)
                build.result(build.add(task, run=run), "pass", value)
        builds.append(str(build.finish()))
    out = tmp_path / "out"
    assert main(["compare", *builds, "--out", str(out)]) == 0
    doc = json.loads((out / "compare.json").read_text())
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
    text = (out / "compare.md").read_text()
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
    assert "rank agreement 1.00" in (out / "compare.html").read_text()


@pytest.mark.parametrize("command", ["compare", "gate"])
def test_a_lane_that_nobody_has_is_told_with_those_that_there_are(tmp_path, capsys, command):
    root = str(suite(tmp_path / "a", {0: 1.0}).root)
    others = ["--against", root] if command == "gate" else [root]
    assert main([command, root, *others, "--lane", "foo"]) == 2
    err = capsys.readouterr().err
    assert err == "kb-report: there are no times in lane foo; the lanes are eager\n"


def test_compare_uses_one_lane_throughout(tmp_path):
    builds = [suite(tmp_path / x, {0: 2.0}) for x in "ab"]
    for build, ms in zip(builds, (3.0, 6.0)):
        entry = build.candidates[0]
        value = json.loads(build.path(entry["result"]).read_text())
        eager = value["timing"]["lanes"]["eager"]
        value["timing"]["lanes"]["graph"] = eager | {"candidate_ms": ms, "speedup": 1.0 / ms}
        value["timing"]["lanes"]["graph"] |= {"ci_lo": 0.9 / ms, "ci_hi": 1.1 / ms}
        build.write(entry["result"], value)
    out = tmp_path / "out"
    roots = [str(b.root) for b in builds]
    assert main(["compare", *roots, "--lane", "graph", "--out", str(out)]) == 0
    doc = json.loads((out / "compare.json").read_text())
    row = doc["levels"][0]["pairs"][0]["tasks"][0]
    assert (row["ratio"], row["time_ratio"]) == pytest.approx((0.5, 0.5))


def test_compare_names_one_run_and_sample(tmp_path, capsys):
    build = BuildDir(tmp_path / "h200")
    task = build.levels[1][0]
    for sample, speedup in (("s0", 1.0), ("s1", 2.0)):
        build.result(build.add(task, run="m", sample=sample), "pass", speedup)
    build.finish()
    root = str(build.root)
    assert main(["compare", f"{root}#m/s0", f"{root}#m/s1"]) == 0
    assert " 2.000 [" in capsys.readouterr().out
    assert main(["compare", f"{root}#none", root]) == 2
    assert main(["compare", f"{root}#m/s7", f"{root}#m/s1"]) == 2
    assert main(["compare", f"{root}#m/s0"]) == 2


def test_a_level_that_a_run_does_not_enter_is_no_defeat(tmp_path, capsys):
    builds = []
    for name, entered in (("a", (1,)), ("b", (1, 2)), ("c", (2,))):
        build = BuildDir(tmp_path / name, levels={1: tasks_of(1, 6), 2: tasks_of(2, 6)})
        for level in entered:
            for task in build.levels[level]:
                build.result(build.add(task, level, run=name), "pass", 1.5)
        builds.append(str(build.finish()))
    out = tmp_path / "out"
    assert main(["compare", *builds, "--out", str(out)]) == 0
    one, two = json.loads((out / "compare.json").read_text())["levels"]
    assert one["without_candidates"] == ["c"] and two["without_candidates"] == ["a"]
    assert [(s["label"], s["rank"]) for s in one["sides"]] == [("a", 1), ("b", 1)]
    assert [(p["a"], p["b"]) for p in one["pairs"]] == [("a", "b")]
    assert [(p["a"], p["b"]) for p in two["pairs"]] == [("b", "c")]
    texts = [capsys.readouterr().out]
    texts += [(out / f"compare.{suffix}").read_text() for suffix in ("md", "html")]
    for text in texts:
        assert text.count(": no candidates") == 2


@pytest.mark.parametrize(("count", "has_interval"), [(4, False), (5, True)])
def test_the_mean_of_few_ratios_has_no_interval(tmp_path, count, has_interval):
    builds = [
        suite(tmp_path / name, {i: factor * (1 + i / 10) for i in range(count)})
        for name, factor in (("a", 1.0), ("b", 1.1))
    ]
    out = tmp_path / "out"
    assert main(["compare", *(str(b.root) for b in builds), "--out", str(out)]) == 0
    mean = json.loads((out / "compare.json").read_text())["levels"][0]["pairs"][0]["geo_mean_ratio"]
    assert mean["value"] == pytest.approx(1.1)
    assert (mean["lo"] is not None, mean["hi"] is not None) == (has_interval, has_interval)


def change_env(build, **changes):
    env = json.loads(build.path("env.json").read_text()) | changes
    build.write("env.json", env)


@pytest.mark.parametrize(
    "what", ["contract", "sizes", "lane", "harness", "sources", "torch", "tasks"]
)
def test_compare_refuses_what_must_not_be_mixed(tmp_path, capsys, what):
    a = suite(tmp_path / "a", {0: 1.0})
    b = suite(tmp_path / "b", {0: 2.0})
    entry = b.candidates[0]
    value = json.loads(b.path(entry["result"]).read_text())
    if what == "contract":
        value["correctness"]["contract"] = "tf32"
    elif what == "sizes":
        value["timing"]["sizes"] = "odd"
    elif what == "lane":
        value["timing"]["lanes"] = {"graph": value["timing"]["lanes"]["eager"]}
    elif what == "harness":
        value["hashes"]["harness"] = "other"
        change_env(b, harness_sha256="other")
    elif what == "sources":
        change_env(a, sources_sha256="one")
        change_env(b, sources_sha256="other")
    elif what == "torch":
        change_env(b, torch="2.6.0")
    else:
        b.levels = {1: tasks_of(1, 3)}
        b.finish()
    b.write(entry["result"], value)
    assert main(["compare", str(a.root), str(b.root)]) == 3
    err = capsys.readouterr().err
    assert "refused to compare" in err and len(err.splitlines()) == 1
    assert main(["compare", "--allow-mixed", str(a.root), str(b.root)]) == 0
    assert "MIXED: " in capsys.readouterr().out


def test_gpus_whose_binaries_differ_are_compared(tmp_path):
    a = suite(tmp_path / "h200", {0: 1.0})
    b = suite(tmp_path / "l40s", {0: 2.0}, gpu="l40s")
    entry = b.candidates[0]
    value = json.loads(b.path(entry["result"]).read_text())
    value["hashes"]["harness"] = "for another architecture"
    b.write(entry["result"], value)
    change_env(b, harness_sha256="for another architecture")
    assert main(["compare", str(a.root), str(b.root)]) == 3
    for build in (a, b):
        change_env(build, sources_sha256="the same")
    assert main(["compare", str(a.root), str(b.root)]) == 0


def scale(build, sizes):
    """Names the sizes that all candidates were timed at."""
    for entry in build.candidates:
        value = json.loads(build.path(entry["result"]).read_text())
        value["timing"]["sizes"] = sizes
        build.write(entry["result"], value)


@pytest.mark.parametrize("command", ["merge", "gate", "compare"])
def test_scaled_sizes_are_not_mixed_with_full_ones(tmp_path, capsys, command):
    a = suite(tmp_path / "a", {0: 1.0})
    b = suite(tmp_path / "b", {0: 2.0})
    scale(b, "full@24g")
    others = ["--against", str(a.root)] if command == "gate" else [str(a.root)]
    out = ["--out", str(tmp_path / "out")] if command == "merge" else []
    assert main([command, *out, str(b.root), *others]) == 3
    error = capsys.readouterr().err
    assert error.count("different sizes (KB_SIZES) in 1 task(s)") == 1
    scale(a, "full@16g")
    assert main([command, *out, str(b.root), *others]) == 3
    assert "different choices of full sizes (KB_SIZES) (16g, 24g)" in capsys.readouterr().err


def test_shards_of_one_choice_of_sizes_are_merged(tmp_path):
    fits = suite(tmp_path / "a", {0: 1.0})
    scaled = suite(tmp_path / "b", {1: 1.0})
    scale(scaled, "full@24g")
    untimed = suite(tmp_path / "c", {2: "incorrect"})
    paths = [str(build.root) for build in (fits, scaled, untimed)]
    assert main(["merge", *paths, "--out", str(tmp_path / "out")]) == 0


def test_compare_on_cpu_shows_verdicts_only(tmp_path, capsys):
    builds = []
    for name in ("a", "b"):
        build = BuildDir(tmp_path / name, backend="cpu")
        build.result(build.add(build.levels[1][0]), "pass", 5.0)
        builds.append(str(build.finish()))
    assert main(["compare", *builds, "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "fast_0" in text and "fast_1" not in text and "geo-mean" not in text


# merge


def results_of(path):
    doc = json.loads((path / "results.json").read_text())
    assert schema.check(doc, "results") == []
    return doc


def test_merge_is_idempotent_and_independent_of_order(tmp_path, monkeypatch):
    shards = [
        suite(tmp_path / "s1", {0: 1.0, 1: 2.0, 4: None}),
        suite(tmp_path / "s2", {2: 0.5, 3: "incorrect"}),
        suite(tmp_path / "s3", {1: 2.5, 4: "timeout"}),
    ]
    newer = json.loads(shards[2].path(shards[2].candidates[0]["result"]).read_text())
    newer["time"] = "2026-02-01T00:00:00Z"
    shards[2].write(shards[2].candidates[0]["result"], newer)
    paths = [str(s.root) for s in shards]
    for name, order in {"a": [0, 1, 2], "b": [2, 0, 1], "c": [1, 2, 0, 1]}.items():
        assert main(["merge", *(paths[i] for i in order), "--out", str(tmp_path / name)]) == 0
    want = results_of(tmp_path / "a")
    assert results_of(tmp_path / "b") == want and results_of(tmp_path / "c") == want
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")  # a later day
    again = [str(tmp_path / "a"), paths[1], str(tmp_path / "b/results.json"), paths[0]]
    assert main(["merge", *again, "--out", str(tmp_path / "d")]) == 0
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


def test_a_mixed_merge_is_independent_of_order_and_says_each_thing_once(tmp_path):
    shards = [suite(tmp_path / x, dict.fromkeys(range(4), 1.0 + i)) for i, x in enumerate("abc")]
    for shard, harness in zip(shards, ("one", "two", "two")):
        change_env(shard, harness_sha256=harness)
        for entry in shard.candidates:
            value = json.loads(shard.path(entry["result"]).read_text())
            value["hashes"]["harness"] = harness
            shard.write(entry["result"], value)
    paths = [str(s.root) for s in shards]
    docs = []
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        out = tmp_path / f"out{order[0]}"
        arguments = [paths[i] for i in order]
        assert main(["merge", "--allow-mixed", *arguments, "--out", str(out)]) == 0
        docs.append(results_of(out))
    assert docs[0] == docs[1] == docs[2]
    several, mixed = docs[0]["notes"]
    names = [e["name"] for e in shards[0].candidates]
    assert several == f"4{merge.SEVERAL}{', '.join(sorted(names))}"
    assert mixed.startswith("mixed: different harnesses") and mixed.index(paths[0]) < mixed.index(
        paths[1]
    )
    again = [str(tmp_path / "out0"), paths[2]]
    assert main(["merge", "--allow-mixed", *again, "--out", str(tmp_path / "again")]) == 0
    assert several in results_of(tmp_path / "again")["notes"]
    assert len([n for n in results_of(tmp_path / "again")["notes"] if merge.SEVERAL in n]) == 1


def test_merge_refuses_other_machines_and_contracts(tmp_path, capsys):
    a = suite(tmp_path / "a", {0: 1.0})
    b = suite(tmp_path / "b", {1: 1.0}, gpu="l40s")
    out = str(tmp_path / "out")
    assert main(["merge", str(a.root), str(b.root), "--out", out]) == 3
    assert "different machines" in capsys.readouterr().err
    c = suite(tmp_path / "c", {1: 1.0})
    entry = c.candidates[0]["result"]
    value = json.loads(c.path(entry).read_text())
    value["correctness"]["contract"] = "tf32"
    c.write(entry, value)
    assert main(["merge", str(a.root), str(c.root), "--out", out]) == 3
    assert "different contracts (fp32, tf32)" in capsys.readouterr().err


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
def test_merge_and_compare_leave_out_what_is_bad(tmp_path, capsys, text, kind):
    a, b = (suite(tmp_path / x, {0: 1.0}) for x in "ab")
    good, bad, out = [str(a.root), str(b.root)], tmp_path / "bad.json", tmp_path / "out"
    if text is not None:
        bad.write_text(text)
    assert main(["merge", str(bad), good[0], "--out", str(out)]) == 1
    assert f"bad input ({kind}): {bad} " in capsys.readouterr().err
    doc = json.loads((out / "results.json").read_text())
    assert [(p["kind"], p["path"]) for p in doc["problems"]] == [(kind, str(bad))]
    assert [c["state"] for c in doc["candidates"]] == ["judged"]
    assert "bad.json" in (out / "index.html").read_text()
    assert main(["compare", good[0], str(bad), good[1], "--out", str(out)]) == 1
    assert f"bad input ({kind}): {bad} " in capsys.readouterr().err
    for name in ("compare.json", "compare.md", "compare.html"):
        assert "bad.json" in (out / name).read_text()
    for command in (
        ["merge", str(bad), "--out", str(tmp_path / "none")],
        ["compare", good[0], str(bad)],
        ["gate", good[0], "--against", str(bad)],
    ):
        assert main(command) == 2, "nothing can be said"
        err = capsys.readouterr().err
        assert "bad.json" in err and len(err.splitlines()) == 1
    assert not (tmp_path / "none").exists()


def test_every_command_names_what_was_left_out_of_its_input(tmp_path, capsys):
    build = suite(tmp_path / "a", {0: 1.0, 1: 2.0})
    build.write(build.candidates[1]["result"], "")
    root, name, out = str(build.root), build.candidates[0]["name"], str(tmp_path / "out")
    assert main(["rollup", "--build-dir", root]) == 1
    capsys.readouterr()
    commands = [
        ["gate", "SOURCE", "--against", "SOURCE"],
        ["compare", "SOURCE", "SOURCE", "--out", out],
        ["feedback", "SOURCE", name],
        ["export", "kernelbench", "SOURCE", "--out", out],
        ["export", "google-benchmark", "SOURCE", "--out", out],
    ]
    for source in (root, f"{root}/reports/results.json"):
        for command in commands:
            assert main([source if x == "SOURCE" else x for x in command]) == 1, command
            err = capsys.readouterr().err
            assert f"bad input (empty): {build.candidates[1]['result']} is empty" in err, command
    doc = json.loads((tmp_path / "out/compare.json").read_text())
    assert [p["kind"] for p in doc["problems"]] == ["empty"]


def test_a_damaged_report_is_no_good_input(tmp_path):
    a = suite(tmp_path / "a", {0: 1.0})
    main(["rollup", "--build-dir", str(a.root)])
    doc = json.loads((a.root / "reports/results.json").read_text())
    for change in (
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
    ):
        copy = json.loads(json.dumps(doc))
        change(copy)
        (tmp_path / "bad.json").write_text(json.dumps(copy))
        with pytest.raises(model.BadReport) as e:
            merge.read_suite(tmp_path / "bad.json")
        assert e.value.problem.kind == "invalid" and "is damaged" in e.value.problem.message


@pytest.mark.parametrize("key", ["run", "sample", "task", "lane"])
@pytest.mark.parametrize("name", ["/tmp/kb-evil/x", "..", "a/../../x", "a\x1b[2J", "a\n", ""])
def test_a_report_with_names_that_no_file_may_bear_is_refused(tmp_path, capsys, key, name):
    a = suite(tmp_path / "a", {0: 1.0})
    main(["rollup", "--build-dir", str(a.root)])
    doc = json.loads((a.root / "reports/results.json").read_text())
    c = doc["candidates"][0]
    if key == "lane":
        c["result"]["timing"]["lanes"][name] = c["result"]["timing"]["lanes"].pop("eager")
    else:
        for record in (c, c["result"]):
            record[key] = name
            record["name"] = model.candidate_name(record)
        doc["levels"]["1"]["tasks"].append(c["task"])
    doc["levels"]["1"]["tasks"] = sorted(set(doc["levels"]["1"]["tasks"]))
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(doc))
    before = sorted(tmp_path.rglob("*"))
    capsys.readouterr()
    for command in (
        ["merge", str(bad), "--out", str(tmp_path / "out")],
        ["export", "google-benchmark", str(bad), "--out", str(tmp_path / "out")],
    ):
        assert main(command) == 2
        err = capsys.readouterr().err
        assert "is damaged" in err and "\x1b" not in err and len(err.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_words_of_a_report_do_not_steer_the_terminal(tmp_path, capsys):
    a = suite(tmp_path / "a", {0: 1.0})
    main(["rollup", "--build-dir", str(a.root)])
    doc = json.loads((a.root / "reports/results.json").read_text())
    evil = "a\x1b[2J\x9b2J\x07"
    doc["preset"] = doc["harness"]["sha256"] = evil
    doc["problems"] = [{"kind": "empty", "path": evil, "message": evil}]
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(doc))
    for command in (
        ["merge", str(bad), "--out", str(tmp_path / "out")],
        ["compare", str(bad), str(a.root)],
        ["compare", str(bad), str(a.root), "--allow-mixed"],
        ["gate", str(bad), "--against", str(a.root), "--allow-mixed"],
    ):
        main(command)
        shown = "".join(capsys.readouterr())
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown), command


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
def test_no_report_with_an_impossible_interval_is_read(tmp_path, capsys, change, words):
    a = suite(tmp_path / "a", {0: 1.0})
    main(["rollup", "--build-dir", str(a.root)])
    doc = json.loads((a.root / "reports/results.json").read_text())
    doc["candidates"][0]["result"]["timing"]["lanes"]["eager"] |= change
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(doc))
    capsys.readouterr()
    for command in (
        ["merge", str(bad), "--out", str(tmp_path / "out")],
        ["compare", f"{bad}#m", str(a.root)],
        ["gate", str(bad), "--against", str(a.root)],
    ):
        assert main(command) == (2 if words else 0)
        assert words is None or words in capsys.readouterr().err


def test_a_candidate_has_the_name_of_its_place(tmp_path):
    build = BuildDir(tmp_path / "h200")
    for sample in (None, "s0"):
        build.result(build.add(build.levels[1][0], run="m", sample=sample), "pass", 2.0)
    build.finish()
    assert main(["rollup", "--build-dir", str(build.root)]) == 0
    doc = json.loads((build.root / "reports/results.json").read_text())
    for c in doc["candidates"]:
        c["name"] = c["result"]["name"] = "m.level1.another"
        with pytest.raises(model.BadReport, match="that should be m"):
            rewritten(tmp_path, doc)
    build.candidates[0]["name"] = "m.level1.another"
    build.finish()
    assert main(["rollup", "--build-dir", str(build.root)]) == 1
    doc = json.loads((build.root / "reports/results.json").read_text())
    assert [c["sample"] for c in doc["candidates"]] == ["s0"]
    assert "should be" in doc["problems"][0]["message"]


def test_a_result_in_a_report_is_that_of_its_candidate(tmp_path):
    a = suite(tmp_path / "a", {0: 1.0, 1: 2.0})
    main(["rollup", "--build-dir", str(a.root)])
    doc = json.loads((a.root / "reports/results.json").read_text())
    one, other = doc["candidates"]
    one["result"] = other["result"]
    with pytest.raises(model.BadReport, match="belongs to another candidate: name is"):
        rewritten(tmp_path, doc)


def rewritten(folder, doc):
    """The suite of a results.json with this content."""
    path = folder / "results.json"
    path.write_text(json.dumps(doc))
    return merge.read_suite(path)


def test_report_survives_the_round_trip(tmp_path):
    build = full_suite(tmp_path / "h200", ("seed", "m"), samples=("s0", "s1"), every=5)
    build.finish()
    main(["rollup", "--build-dir", str(build.root)])
    doc = json.loads((build.root / "reports/results.json").read_text())
    assert rollup.document(merge.read_suite(build.root / "reports")) == doc


# gate


@pytest.mark.parametrize(
    ("before", "after", "status", "word"),
    [
        ({0: 1.5, 1: 1.0}, {0: 1.5, 1: 1.0}, 0, "no significant"),
        ({0: 1.5}, {0: 1.49}, 0, "no significant"),
        ({0: 1.5}, {0: 1.3}, 1, "SLOWER"),
        ({0: 1.5}, {0: 0.1}, 1, "p < 1e-9"),
        ({0: 1.5}, {0: "incorrect"}, 1, "now incorrect"),
        ({0: 1.5}, {}, 1, "now not provided"),
        ({0: 1.5}, {0: None}, 1, "not judged (no result)"),
        ({0: 1.5, 1: "incorrect"}, {0: 1.5, 1: 1.0}, 0, "no significant"),
        ({0: "incorrect"}, {0: 1.0, 1: 1.0}, 2, "no candidate of the base passed"),
        ({}, {0: 1.0}, 2, "no candidate of the base passed"),
        ({0: 1.5, 1: 1.5}, {0: 1.5, 1: "pass"}, 1, "now without a time in lane eager"),
        ({0: "pass"}, {0: 1.5}, 0, "0 of them have times in both"),
    ],
)
def test_gate(tmp_path, capsys, before, after, status, word):
    a, b = suite(tmp_path / "a", before), suite(tmp_path / "b", after)
    assert main(["gate", str(b.root), "--against", str(a.root)]) == status
    assert word in "".join(capsys.readouterr())


def test_gate_needs_significance(tmp_path):
    a = suite(tmp_path / "a", {0: 1.0}, half=0.2)
    b = suite(tmp_path / "b", {0: 0.9}, half=0.2)
    assert main(["gate", str(b.root), "--against", str(a.root)]) == 0
    assert main(["gate", str(b.root), "--against", str(a.root), "--alpha", "0.3"]) == 1


def test_gate_partial_and_refusal(tmp_path, capsys):
    a = suite(tmp_path / "a", {0: 1.5, 1: 1.5})
    b = suite(tmp_path / "b", {0: 1.5})
    c = suite(tmp_path / "c", {0: 1.5, 1: 1.5}, gpu="l40s")
    assert main(["gate", str(b.root), "--against", str(a.root), "--partial"]) == 0
    assert main(["gate", str(c.root), "--against", str(a.root)]) == 3
    err = capsys.readouterr().err
    assert "different machines" in err and "--allow-mixed does it all the same" in err


@pytest.mark.parametrize(
    ("after", "status", "word"),
    [
        ({0: "pass"}, 0, "1 candidates passed before, 0 of them have times in both"),
        ({1: 1.5}, 0, "0 candidates passed before"),  # it failed before, and the base names it
        ({2: 1.5}, 2, "no candidate of the base was judged now"),
        ({0: None}, 2, "no candidate of the base was judged now"),
    ],
)
def test_a_partial_gate_is_open_only_if_something_was_judged(tmp_path, capsys, after, status, word):
    a, b = suite(tmp_path / "a", {0: 1.5, 1: "incorrect"}), suite(tmp_path / "b", after)
    assert main(["gate", str(b.root), "--against", str(a.root), "--partial"]) == status
    assert word in "".join(capsys.readouterr())


@pytest.mark.parametrize("value", ["abc", "", "nan", "0", "1"])
def test_a_share_lies_between_0_and_1(tmp_path, capsys, value):
    with pytest.raises(SystemExit) as e:
        main(["gate", str(tmp_path), "--against", str(tmp_path), "--alpha", value])
    assert e.value.code == 2 and "must lie between 0 and 1" in capsys.readouterr().err


# feedback


def test_feedback(tmp_path, capsys):
    build = full_suite(tmp_path / "h200")
    build.finish()
    assert main(["rollup", "--build-dir", str(build.root)]) == 0
    folder = build.root / "reports/feedback/seed/level1"
    assert len(list(folder.glob("*.md"))) == len(list(folder.glob("*.json"))) == 100
    for path in (build.root / "reports/feedback").rglob("*.md"):
        text = path.read_text()
        assert len(text) < 4000, "short enough for a prompt"
        assert "rng" not in text and "seed:" not in text
    for path in (build.root / "reports/feedback").rglob("*.json"):
        assert "rng_seed" not in path.read_text()
    capsys.readouterr()
    assert main(["feedback", str(build.root), "seed.level1.019_relu"]) == 0
    text = capsys.readouterr().out
    for word in ("Roofline", "registers", "occupancy", "tensor-core", "vector loads", "| eager |"):
        assert word in text
    for name, hint in (
        ("nobody", ""),
        ("019_relu", "; did you mean seed.level1.019_relu?"),
        ("seed.level1.019_rely", "; did you mean seed.level1.019_relu, "),
        ("softmax", "; did you mean seed.level1.023_softmax, "),
    ):
        assert main(["feedback", str(build.root), name]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"kb-report: there is no candidate {name}{hint}"), err
        assert hint or err.endswith("nobody\n")


def test_feedback_of_a_wrong_candidate_on_the_cpu(tmp_path, capsys):
    build = BuildDir(tmp_path / "cpu", backend="cpu")
    wrong, right = (build.add(t) for t in build.levels[1][:2])
    value = build.result(wrong, "incorrect")
    value["correctness"]["worst"] |= {"expected": 115.81993304161325, "bound": 0.005121104924738}
    value["correctness"]["warnings"] = ["__shfl_sync() reads from lane 31, which takes no part"]
    value["build"]["resources"][0]["shared_bytes"] = 2048
    build.write(wrong["result"], value)
    build.result(right, "pass", 3.0)
    build.finish()
    assert main(["feedback", str(build.root), wrong["name"]]) == 0
    text = capsys.readouterr().out
    assert "expected 115.8199, got 0.698112, allowed difference 0.00512 (value)" in text
    assert "## Warnings\n\n- __shfl_sync() reads from lane 31, which takes no part" in text
    assert "## Kernels for sm_90" in text
    assert "32 registers, no spills, 2048 bytes shared, occupancy at most 100 %" in text
    assert main(["feedback", str(build.root), right["name"]]) == 0
    text = capsys.readouterr().out
    assert "functional, not a GPU measurement" in text and "3.0" not in text


def test_wrong_elements_are_counted_located_and_shown(tmp_path, capsys):
    build = BuildDir(tmp_path / "h200")
    entry = build.add(build.levels[1][0])
    value = build.result(entry, "incorrect")
    value["correctness"]["worst"] |= {
        "wrong": 96, "elements": 960, "where": "only the last index, 9, of dimension 1",
        "first": [{"index": [0, 9], "got": None, "expected": 1.5},
                  {"index": [1, 9], "got": 0.25, "expected": 2.5}],
    }  # fmt: skip
    build.write(entry["result"], value)
    build.finish()
    assert main(["feedback", str(build.root), entry["name"]]) == 0
    text = capsys.readouterr().out
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
def test_what_json_has_no_number_for_is_told_in_words(tmp_path, worst, sentence):
    build = BuildDir(tmp_path / "h200")
    entry = build.add(build.levels[1][0])
    value = build.result(entry, "incorrect")
    at = {"set": "smoke", "output": "y"} | ({"index": [0, 7]} if sentence else {})
    value["correctness"]["worst"] = at | worst
    build.write(entry["result"], value)
    build.finish()
    assert main(["rollup", "--build-dir", str(build.root)]) == 0
    text = (build.root / f"reports/feedback/seed/level1/{entry['task']}.md").read_text()
    assert "None" not in text
    assert ("## Worst element" in text) == bool(sentence)
    assert sentence is None or f"Output y[0, 7] at set smoke: {sentence}" in text
    page = details(build.root / "reports/index.html")[entry["name"]]
    assert ("Worst element" in page) == bool(sentence)
    got = "<dt>Got</dt><dd>-</dd>"
    assert got not in page and "None" not in page


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


def test_upstream_baseline(tmp_path, capsys):
    build = suite(tmp_path / "h200", {0: 1.0, 1: 1.0, 2: 1.0})  # every candidate takes 1 ms
    path = tmp_path / "H100" / "baseline_time_torch.json"
    path.parent.mkdir()
    path.write_text(json.dumps(TIMING))
    status = main(["rollup", "--build-dir", str(build.root), "--baseline", str(path)])
    assert status == 0
    doc = json.loads((build.root / "reports/results.json").read_text())
    base = doc["runs"][0]["levels"][0]["samples"][0]["baselines"][0]
    assert base["name"] == "H100/baseline_time_torch" and base["hardware"] == "NVIDIA X"
    # 3x and exactly 1x of N = 6; the strict rule leaves the second out.
    assert base["fast_p_point"]["1"] == pytest.approx(1 / 6)
    assert base["fast_p_point"]["0.8"] == pytest.approx(2 / 6)
    assert base["fast_p_point"]["0"] == 0.5, "times play no part"
    assert base["missing"] == build.levels[1][2:] and base["other_sizes"] == []
    assert schema.check(doc, "results") == []
    assert "against H100/baseline_time_torch" in capsys.readouterr().out
    reports = build.root / "reports"
    assert "H100/baseline\\_time\\_torch | (0.500)" in (reports / "summary.md").read_text()
    page = (reports / "index.html").read_text()
    assert "NVIDIA X, points only, lacks 4" in page
    out = tmp_path / "merged"
    merged = ["merge", str(reports), "--baseline", str(path), "--out", str(out)]
    assert main(merged) == 0
    again = json.loads((out / "results.json").read_text())
    assert again["runs"][0]["levels"][0]["samples"][0]["baselines"] == [base]


def test_scaled_sizes_meet_no_times_of_kernelbench(tmp_path, capsys):
    build = suite(tmp_path / "h200", {0: 1.0, 1: 1.0})
    entry = build.candidates[0]
    value = json.loads(build.path(entry["result"]).read_text())
    value["timing"]["sizes"] = "full@24g"
    build.write(entry["result"], value)
    path = tmp_path / "b.json"
    path.write_text(json.dumps(TIMING))
    assert main(["rollup", "--build-dir", str(build.root), "--baseline", str(path)]) == 0
    assert f"timed at other sizes, left out: {entry['task']}" in capsys.readouterr().out
    doc = json.loads((build.root / "reports/results.json").read_text())
    base = doc["runs"][0]["levels"][0]["samples"][0]["baselines"][0]
    assert base["other_sizes"] == [entry["task"]] and base["timed"] == 1
    assert base["fast_p_point"]["0"] == pytest.approx(2 / 6) and base["fast_p_point"]["2"] == 0
    assert "1 timed at other sizes left out" in (build.root / "reports/index.html").read_text()
    out = tmp_path / "kb"
    assert main(["export", "kernelbench", str(build.root), "--out", str(out)]) == 0
    assert f"1 candidate(s): {entry['name']}" in capsys.readouterr().out
    timing = json.loads((out / "timing/NVIDIA_H200/baseline_time_eager.json").read_text())
    assert list(timing["level1"]) == ["2_Standard_matrix_multiplication_.py"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"level1": {"1_a.py": {"mean": "x"}}}'])
def test_upstream_baseline_that_is_none(tmp_path, capsys, text):
    build = suite(tmp_path / "h200", {0: 1.0})
    path = tmp_path / "b.json"
    path.write_text(text)
    assert main(["rollup", "--build-dir", str(build.root), "--baseline", str(path)]) == 2
    assert "b.json" in capsys.readouterr().err


@pytest.mark.parametrize("mean", ["-1.0", "0", "NaN", '"x"', "null", "true", None])
def test_a_damaged_entry_of_a_baseline_is_named(tmp_path, capsys, mean):
    build = suite(tmp_path / "h200", {0: 1.0, 1: 1.0})
    path = tmp_path / "fw" / "bl.json"
    path.parent.mkdir()
    entry = "3" if mean is None else f'{{"mean": {mean}}}'
    path.write_text(f'{{"level1": {{"1_a.py": {{"mean": 2}}, "2_b.py": {entry}}}}}')
    assert main(["rollup", "--build-dir", str(build.root), "--baseline", str(path)]) == 1
    captured = capsys.readouterr()
    assert f"bad input (invalid): {path} has entries without a time" in captured.err
    assert "level1/2_b.py" in captured.err and "level1/1_a.py" not in captured.err
    row = next(x for x in captured.out.splitlines() if x.split()[:1] == ["fw/bl"])
    assert "(0.167)" in row and "None" not in captured.out
    assert "<small>points only" in (build.root / "reports/index.html").read_text()
    doc = json.loads((build.root / "reports/results.json").read_text())
    assert [p["path"] for p in doc["problems"]] == [str(path)]
    assert schema.check(doc, "results") == []


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
    build.finish()
    assert main(["rollup", "--build-dir", str(build.root)]) == 0
    out = build.root / "reports/kernelbench"
    timing = json.loads((out / "timing/NVIDIA_H200/baseline_time_eager.json").read_text())
    doc = json.loads((build.root / "reports/results.json").read_text())
    for level in doc["runs"][0]["levels"]:
        there = out / f"runs/m_level{level['level']}"
        results = json.loads((there / "eval_results.json").read_text())
        assert list(results) == sorted(results, key=int)
        for entries in results.values():
            for e in entries:
                assert set(e) == {
                    "sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats",
                }  # fmt: skip
        analysis = json.loads((there / "analysis.json").read_text())
        assert set(analysis) == {
            "run_name", "level", "hardware", "total_count", "total_eval", "compiled_count",
            "correct_count", "compilation_rate", "correctness_rate", "geo_mean_speedup", "fast_p",
        }  # fmt: skip
        names = [
            (int(t[:3]), model.task_facts(level["level"], t)["upstream"])
            for t in doc["levels"][str(level["level"])]["tasks"]
        ]
        # Both samples share the reference's time here only where one was written: use sample 0's.
        first = {c["task"]: c for c in doc["candidates"] if c["sample"] == "s0"}
        own = {f"level{level['level']}": {}}
        for number, name in names:
            lane = next(
                (
                    c["result"]["timing"]["lanes"]["eager"]
                    for t, c in first.items()
                    if c["level"] == level["level"]
                    and int(t[:3]) == number
                    and c["result"]["timing"]
                ),
                None,
            )
            if lane:
                own[f"level{level['level']}"][name] = {"mean": lane["reference_ms"]}
                assert name in timing[f"level{level['level']}"]
        want = upstream_analysis(
            results, own, level["level"], names, (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
        )
        for key in ("compiled_count", "correct_count"):
            assert analysis[key] == want[key]
        assert analysis["fast_p"] == pytest.approx(want["fast_p"])


def test_google_benchmark_export(tmp_path):
    build = suite(tmp_path / "h200", {0: 2.0, 1: "incorrect"})
    out = tmp_path / "gb"
    assert main(["export", "google-benchmark", str(build.root), "--out", str(out)]) == 0
    files = list(out.iterdir())
    assert len(files) == 1
    value = json.loads(files[0].read_text())
    times = {b["name"].rsplit("/", 1)[1]: b["real_time"] for b in value["benchmarks"]}
    assert times == {"reference": 1.0, "candidate": 0.5}
    assert "library_build_type" not in value["context"], "a report does not know it"
    assert re.fullmatch(r"m\.level1\.\w+/eager/candidate", value["benchmarks"][1]["name"])


def test_an_export_of_nothing_says_why(tmp_path, capsys):
    build = suite(tmp_path / "h200", {0: "incorrect"})
    assert main(["export", "google-benchmark", str(build.root), "--out", str(tmp_path)]) == 2
    assert "was timed on a GPU" in capsys.readouterr().err


def test_a_run_is_chosen_in_compare_only(tmp_path, capsys):
    build = suite(tmp_path / "h200", {0: 2.0})
    assert main(["gate", f"{build.root}#m", "--against", str(build.root)]) == 2
    assert "does not exist; only compare takes #RUN" in capsys.readouterr().err


def test_wrapper_script_runs_from_anywhere(tmp_path):
    script = schema.SCHEMA_DIR.parent / "kb-report"
    link = tmp_path / "kb-report"
    link.symlink_to(script)
    done = subprocess.run(
        [link, "--version"], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "KB_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.strip() == "0.1.0", done.stderr


@pytest.mark.parametrize("buffered", [True, False])
def test_output_that_cannot_be_written_is_one_sentence(tmp_path, buffered):
    build = suite(tmp_path / "a", {0: 1.0})
    command = [sys.executable, "-m", "kb_report", "rollup", "--build-dir", str(build.root)]
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
    main(["rollup", "--build-dir", str(build.root)])
    monkeypatch.setattr(merge, "PROJECT", build.source_dir)
    changed = build.source_dir / build.candidates[1]["source"]
    changed.write_text("// changed")
    texts = [c["source_text"] for c in merge.read_suite(build.root / "reports").candidates]
    assert "__global__" in texts[0] and texts[1] is None


def test_a_kept_report_may_be_compressed(tmp_path, capsys):
    build = suite(tmp_path / "a", {0: 1.0})
    main(["rollup", "--build-dir", str(build.root)])
    kept = tmp_path / "kept/results.json.gz"
    kept.parent.mkdir()
    packed = gzip.compress((build.root / "reports/results.json").read_bytes())
    kept.write_bytes(packed)
    assert merge.read_suite(kept.parent).candidates[0]["name"] == build.candidates[0]["name"]
    for damaged, word in ((packed[:99], "truncated"), (b"{}", "not compressed"), (b"", "is empty")):
        kept.write_bytes(damaged)
        assert main(["gate", str(kept), "--against", str(kept)]) == 2
        assert word in capsys.readouterr().err


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


def test_a_pipe_is_refused_and_not_waited_for(tmp_path, capsys):
    pipe = tmp_path / "results.json"
    os.mkfifo(pipe)
    for source in (pipe, tmp_path):
        assert main(["merge", str(source), "--out", str(tmp_path / "out")]) == 2
        assert "is no regular file" in capsys.readouterr().err
