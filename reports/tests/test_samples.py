"""Runs of several samples or turns: what counts in tables, on cards and in categories."""

import pytest

from kb_report import compare_tables, merge, metrics, rollup, stats
from kb_report.metrics import Outcome
from synthetic import BuildDir, full_suite

TASKS = ["019_relu", "020_leaky_relu", "023_softmax", "040_layer_norm"]


def many(build, samples, are=None, run="m"):
    """A run of samples: name -> task index -> speed-up or verdict."""
    build.runs[run] = {"samples_are": are} if are else {}
    for sample, given in samples.items():
        build.fill(given, run=run, sample=sample)
    return build


def level_of(doc, run="m"):
    return next(r for r in doc["runs"] if r["run"] == run)["levels"][0]


# Task 0 is won in turn 1 and lost again in turn 3; 1 is won in turn 2 and not sent again; 2 becomes
# correct in turn 3 and is slower; 3 is never right.
TURNS = {
    "t1": {0: 2.0, 1: "compile_error", 2: "incorrect", 3: "incorrect"},
    "t2": {1: 1.5, 2: "timeout"},
    "t10": {0: "incorrect", 2: 0.5},
}

SAMPLES = {
    "s1": {0: 2.0, 1: 2.0, 2: "incorrect"},
    "s2": {0: 2.0, 1: "incorrect", 2: "incorrect", 3: "timeout"},
    "s3": {0: 0.5, 1: "incorrect", 2: 1.5},
}


def test_of_turns_any_that_solves_a_task_counts(build, capsys):
    level = level_of(many(build, TURNS, "turns").report())
    assert [r["sample"] for r in level["samples"]] == ["t1", "t2", "t10"]
    head = level["headline"]
    assert (head["turns"], head["n"], head["judged"], head["correct"]) == (3, 4, 4, 3)
    shares = {p: f["value"] for p, f in head["lanes"]["eager"]["fast_p"].items()}
    over = level["over_turns"]["fast_p_at_n"]
    assert shares == {p: values["3"] for p, values in over.items()}
    assert (shares["0"], shares["1"]) == (0.75, 0.5)
    assert head["fast_0_wilson95"] == list(metrics.wilson(3, 4))
    assert head["verdicts"] == {"pass": 3, "incorrect": 1}
    assert head["not_provided"] == [] == head["not_judged"]
    wins = {g["name"]: g["lanes"]["eager"]["fast_p"]["1"]["wins"] for g in head["categories"]}
    assert sum(wins.values()) == 2
    line = next(x for x in capsys.readouterr().out.splitlines() if "m all 3 turns" in x)
    assert line.split()[4:9] == ["1", "4", "4", "4", "3"]
    assert "| m all 3 turns | 1 | 4 |" in build.text("summary.md")


def test_headlines_of_samples_are_means_over_their_rows(build):
    level = level_of(many(build, SAMPLES).report())
    head, rows = level["headline"], level["samples"]
    assert (head["samples"], head["provided"], head["correct"]) == (3, 10, 5)
    assert head["fast_0"] == pytest.approx(sum(r["fast_0"] for r in rows) / 3)
    f = head["lanes"]["eager"]["fast_p"]
    for p, shares in f.items():
        for key in ("value", "upper", "point"):
            mean = sum(r["lanes"]["eager"]["fast_p"][p][key] for r in rows) / 3
            assert shares[key] == pytest.approx(mean)
    assert f["0"]["value"] == pytest.approx(5 / 12) == level["over_samples"]["pass_at_k"]["1"]
    assert f["1"]["value"] == pytest.approx(4 / 12)
    assert level["over_samples"]["fast_p_at_k"]["1"]["1"] == pytest.approx(4 / 12)
    assert f["1"]["wilson95"] == list(metrics.wilson(4 / 3, 4))
    assert head["lanes"]["eager"]["geo_mean_speedup_correct_ci95"] is None
    groups = {g["name"]: g for g in head["categories"]}
    relu = groups["Activation"]  # the first two
    assert (relu["n"], relu["correct"]) == (2, 4)
    assert relu["lanes"]["eager"]["fast_p"]["1"]["value"] == pytest.approx(3 / 6)
    page = build.text()
    assert '<td class="n">4 of 6</td>' in page and "mean of 3 samples: by category" in page


def test_the_best_of_turns_takes_every_limit_from_the_best():
    def out(speedup=None, lo=None, hi=None, verdict="pass"):
        return Outcome("t", True, True, verdict == "pass", verdict, speedup, lo, hi)

    best = metrics.best_of([out(1.2, 1.1, 1.3), out(1.25, 0.9, 1.6), out(verdict="incorrect")])
    assert (best.speedup, best.lo, best.hi, best.verdict) == (1.25, 1.1, 1.6, "pass")
    assert best.wins(1) and not best.loses(1.5)
    wrong = metrics.best_of([out(verdict="timeout"), out(verdict="incorrect")])
    assert (wrong.correct, wrong.verdict, wrong.speedup) == (False, "incorrect", None)
    untimed = metrics.best_of([out(), out(0.5, 0.4, 0.6)])
    assert untimed.speedup == 0.5 and untimed.loses(1)


def test_one_sample_is_its_own_headline(build):
    assert "headline" not in level_of(many(build, {"s1": {0: 2.0}}).report())


def test_a_changed_source_is_told_on_the_card(build):
    many(build, {"s1": {0: 2.0, 1: "compile_error", 2: 2.0, 3: 2.0}})
    for entry in build.candidates[:2]:
        (build.source_dir / entry["source"]).write_text("// edited")
    build.path(build.candidates[2]["module"]).write_text("built again")
    states = [c["state"] for c in build.report()["candidates"]]
    assert states == ["judged", "stale", "stale", "judged"]
    text = build.text()
    assert '<p class="warn">2 of 4: source changed: rebuild</p>' in text
    assert '<p class="warn">1 of 4: rebuilt: judge again</p>' in text
    assert text.count("<small>source changed: rebuild</small>") == 2
    for entry, words in zip(build.candidates, ["rebuild", "rebuild", "judge again", ""]):
        assert words in build.details(entry)


@pytest.mark.parametrize("are", [None, "turns"])
def test_a_report_survives_the_round_trip(tmp_path, are):
    build = full_suite(tmp_path / "b", ("seed", "m"), samples=("s0", "s1"), every=5)
    build.runs["m"] = {"samples_are": are}
    doc = build.report()
    assert rollup.document(merge.read_suite(build.root / "reports")) == doc


def test_runs_of_samples_are_compared_at_every_k_that_both_have(build, tmp_path, compared):
    many(build, SAMPLES)
    many(build, {"s1": {0: 2.0, 3: 2.0}, "s2": {0: "incorrect", 3: 0.5}}, run="o")
    doc, printed = compared(build.finish())
    pair = doc["levels"][0]["pairs"][0]
    assert {r["k"] for r in pair["at_k"]} == {1, 2}
    one = {r["k"]: r for r in pair["at_k"] if r["metric"] == "pass"}
    # m: 3, 1, 1 and 0 of 3 samples are right; o: 1, 0, 0 and 2 of 2.
    assert one[1]["a"]["value"] == pytest.approx(5 / 12)
    assert one[1]["b"]["value"] == pytest.approx(3 / 8)
    assert one[2]["a"]["value"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 4)
    assert one[2]["b"]["value"] == pytest.approx(0.5)
    for row in pair["at_k"]:
        for key in ("a", "b", "difference"):
            assert row[key]["lo"] <= row[key]["value"] <= row[key]["hi"]
        assert row["difference"]["value"] == pytest.approx(row["b"]["value"] - row["a"]["value"])
    assert one[1]["a"]["lo"] < one[1]["a"]["value"] < one[1]["a"]["hi"]
    assert pair["correct"]["tasks"] == {
        "both": [TASKS[0]], "only_a": TASKS[1:3], "only_b": [TASKS[3]], "neither": [],
    }  # fmt: skip
    assert pair["correct"]["p_value"] is None and "tasks" not in pair
    for text in (printed, (tmp_path / "out/compare.md").read_text()):
        assert "fast" in text and "only o" in text and "mean of 3 samples" in text
    html = (tmp_path / "out/compare.html").read_text()
    assert "pass@2" in html and "1 of 3 correct" in html


def test_a_task_that_a_sample_lacks_is_no_wrong_kernel(build, tmp_path, compared):
    many(build, {"s1": {0: 2.0, 1: 0.5}, "s2": {0: "incorrect"}})
    many(build, {"s1": {0: 2.0}, "s2": {0: 2.0}}, run="o")
    doc, _ = compared(build.finish())
    table = {row["task"]: row["sides"] for row in doc["levels"][0]["tasks"]}
    said = {task: [compare_tables._standing(s) for s in sides] for task, sides in table.items()}
    assert said[TASKS[0]] == ["1 of 2 correct, 1 faster", "2 of 2 correct, 2 faster"]
    assert said[TASKS[1]] == ["1 of 1 correct, 1 not provided", "2 not provided"]


def test_turns_are_compared_by_what_any_of_them_solves(build, compared):
    many(build, TURNS, "turns").fill({0: 1.0, 3: 2.0}, run="o")
    level = compared(build.finish())[0]["levels"][0]
    assert [s["correct"] for s in level["sides"]] == [3, 2]
    pair = level["pairs"][0]
    assert pair["correct"]["tasks"]["only_a"] == TASKS[1:3]
    assert [(r["task"], r["a"], r["b"]) for r in pair["tasks"]] == [(TASKS[0], 2.0, 1.0)]
    assert pair["tasks"][0]["time_ratio"] == pytest.approx(0.5)
    first = next(r for r in pair["at_k"] if (r["metric"], r["k"]) == ("pass", 1))
    assert (first["a"]["value"], first["b"]["value"]) == (0.25, 0.5)


def test_many_runs_are_ranked_in_one_table(build, tmp_path, compared):
    for i in range(4):
        build.fill(dict.fromkeys(range(i + 1), 2.0), run=f"r{i}")
    doc, text = compared(many(build, SAMPLES, run="many").finish())
    assert [(r["label"], r["levels"]["1"]["rank"]) for r in doc["ranks"]] == [
        ("r3", 1), ("r2", 2), ("r1", 3), ("many", 4), ("r0", 5),
    ]  # fmt: skip
    table = text.split("\nranks\n")[1]
    assert table.index("r3 ") < table.index("r2 ") and "(1.000)" in table
    assert "### Ranks" in (tmp_path / "out/compare.md").read_text()


def test_a_bootstrap_interval_has_the_width_of_a_mean():
    column = [0.0, 1.0] * 50
    (lo, hi), (other, same) = stats.bootstrap_means([column, [0.3] * 100])
    # The mean of 100 such draws has a standard deviation of 0.05.
    assert lo == pytest.approx(0.5 - 1.96 * 0.05, abs=0.02)
    assert hi == pytest.approx(0.5 + 1.96 * 0.05, abs=0.02)
    assert other == same == pytest.approx(0.3)
    assert stats.bootstrap_means([column]) == [(lo, hi)], "the same rows every time"


def total(rows, key, **where):
    chosen = [r for r in rows if all(r[k] == v for k, v in where.items())]
    return sum(float(r[key] or 0) for r in chosen)


def test_nothing_counts_twice_in_the_rows_of_a_spreadsheet(build):
    many(build, SAMPLES).fill({0: 2.0, 1: "incorrect"}, run="o")
    entry = build.candidates[0]
    eager = build.read(entry)["timing"]["lanes"]["eager"]
    build.change(entry, {"timing.lanes": None})
    lanes = {"graph": eager | {"candidate_ms": 9.0}, "eager": eager}
    build.change(entry, {"timing.lanes": lanes})
    doc = build.report()
    rows = build.rows()
    assert [(r["lane"], r["counts"]) for r in rows[:2]] == [("eager", "1"), ("graph", "0")]
    for run in doc["runs"]:
        for level in run["levels"]:
            where = {"run": run["run"], "level": str(level["level"])}
            assert total(rows, "counts", **where) == level["n"] * len(level["samples"])
            for key in ("judged", "compiled", "correct"):
                want = sum(row[key] for row in level["samples"])
                assert total(rows, key, **where) == want, key
    missing = [(r["run"], r["sample"], r["task"]) for r in rows if r["state"] == "not_provided"]
    assert missing == [
        ("m", "s1", TASKS[3]), ("m", "s3", TASKS[3]), ("o", "", TASKS[2]), ("o", "", TASKS[3]),
    ]  # fmt: skip


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_functional_means_the_same_in_every_file(tmp_path, backend):
    build = BuildDir(tmp_path / "b", backend=backend, levels={1: TASKS})
    many(build, {"s1": {0: 2.0, 1: 2.0, 2: "incorrect"}})
    build.change(build.candidates[1], {"timing.functional": True})
    said = {
        c["task"]: str(c["result"]["timing"]["functional"]).lower() if c["result"]["timing"] else ""
        for c in build.report()["candidates"]
    }
    assert set(said.values()) == ({"true", ""} if backend == "cpu" else {"true", "false", ""})
    assert {r["task"]: r["functional"] for r in build.rows()} == {TASKS[3]: "", **said}


def test_each_task_has_n_c_and_its_estimates(build):
    many(build, SAMPLES)
    doc = many(build, TURNS, "turns", run="t").report()
    rows = build.rows("tasks.csv")
    mine = [r for r in rows if r["run"] == "m"]
    assert [(r["task"], r["n"], r["c"], r["c_fast_1"]) for r in mine] == [
        (TASKS[0], "3", "3", "2"), (TASKS[1], "3", "1", "1"),
        (TASKS[2], "3", "1", "1"), (TASKS[3], "3", "0", "0"),
    ]  # fmt: skip
    over = level_of(doc)["over_samples"]
    for k in ("1", "2", "3"):
        assert total(mine, f"pass_at_{k}") / 4 == pytest.approx(over["pass_at_k"][k])
        for p, values in over["fast_p_at_k"].items():
            assert total(mine, f"fast_{p}_at_{k}") / 4 == pytest.approx(values[k])
    turns = [r for r in rows if r["run"] == "t"]
    assert [r["first_turn_pass"] for r in turns] == ["1", "2", "3", ""]
    assert [r["first_turn_fast_1"] for r in turns] == ["1", "2", "", ""]
    assert {r["pass_at_1"] for r in turns} == {""} == {r["first_turn_pass"] for r in mine}


def test_without_a_gpu_tasks_have_no_fast_p(tmp_path):
    build = BuildDir(tmp_path / "b", backend="cpu", levels={1: TASKS})
    many(build, {"s1": {0: 2.0}, "s2": {0: "incorrect"}}).report()
    row = build.rows("tasks.csv")[0]
    assert (row["c"], row["pass_at_1"], row["pass_at_2"]) == ("1", "0.5", "1.0")
    assert {row["c_fast_1"], row["fast_1_at_1"], row["first_turn_fast_1"]} == {""}


@pytest.fixture
def build(tmp_path):
    return BuildDir(tmp_path / "b", levels={1: TASKS})
