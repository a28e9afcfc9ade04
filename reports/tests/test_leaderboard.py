"""leaderboard: ranks, groups and the page, from invented results."""

import pytest
from chromium import (
    DESKTOP,
    PHONE,
    Browser,
    assert_background,
    assert_it_looks_right,
    needs_browser,
)
from test_page import assert_one_file_that_loads_nothing

from kb_report import leaderboard, metrics, stats
from kb_report.cli import main
from kb_report.sides import Side
from synthetic import BuildDir, full_suite, tasks_of

pytest.importorskip("jinja2")


def runs_build(root, wins, gpu="h200", backend="cuda", count=20, info=None):
    """A build directory in which each run wins its first so many tasks of level 1."""
    build = BuildDir(root, backend, gpu, {1: tasks_of(1, count)})
    for run, number in wins.items():
        build.fill({i: 2.0 if i < number else "incorrect" for i in range(count)}, run=run)
    build.runs = info or {}
    build.finish()
    return build


@pytest.fixture
def five(tmp_path):
    return runs_build(tmp_path / "h200", {"m": 5})


@pytest.fixture
def out(tmp_path):
    return tmp_path / "page.html"


def ranking(*arguments, **options):
    sides, problems = leaderboard.sides_of([str(a) for a in arguments])
    return leaderboard.document(sides, problems=problems, **options)


def table(doc, machine=0, level=0):
    return doc["machines"][machine]["levels"][level]


def test_runs_are_ranked_by_wins_with_intervals(tmp_path):
    build = runs_build(tmp_path / "h200", {"low": 2, "high": 18, "same": 2})
    level = table(ranking(build))
    assert level["n"] == 20 and level["pairs"] == 3
    ranks = [(r["rank"], r["label"]) for r in level["rows"]]
    assert ranks == [(1, "high"), (2, "low"), (2, "same")]
    share = level["rows"][0]["fast_p"]["1"]
    assert share["value"] == 0.9 and share["wilson95"] == list(metrics.wilson(18, 20))


def test_groups_are_those_of_the_paired_test(tmp_path):
    """18 against 10: 8 tasks that only one wins, p = 2 / 2**8; 10 against 5: p = 2 / 2**5."""
    build = runs_build(tmp_path / "h200", {"a": 18, "b": 10, "c": 5})
    level = table(ranking(build))
    assert [r["groups"] for r in level["rows"]] == ["a", "b", "b"]
    build = runs_build(tmp_path / "other", {"a": 12, "b": 9, "c": 5})
    # 7 tasks: 2 / 2**7 is 0.016, times three pairs 0.047; the others are far above.
    assert [r["groups"] for r in table(ranking(build))["rows"]] == ["a", "ab", "b"]


@pytest.mark.parametrize(
    ("count", "different", "groups"),
    [
        (1, [], [[0]]),
        (3, [], [[0, 1, 2]]),
        (3, [(0, 2)], [[0, 1], [1, 2]]),
        (3, [(0, 1), (0, 2), (1, 2)], [[0], [1], [2]]),
        (4, [(0, 2), (0, 3), (1, 3)], [[0, 1], [1, 2], [2, 3]]),
        (4, [(1, 2)], [[0, 1, 3], [0, 2, 3]]),
    ],
)
def test_alike(count, different, groups):
    assert stats.alike(count, different) == groups
    together = {(a, b) for g in groups for a in g for b in g if a < b}
    every = {(a, b) for a in range(count) for b in range(a + 1, count)}
    assert together == every - set(different)


def test_too_many_groups_are_told():
    pairs = [(2 * i, 2 * i + 1) for i in range(8)]
    assert stats.alike(16, pairs) is None


def test_gpus_have_tables_of_their_own(tmp_path):
    a = runs_build(tmp_path / "h200", {"m": 5, "n": 3})
    b = runs_build(tmp_path / "l40s", {"m": 1}, gpu="l40s")
    doc = ranking(a, b)
    assert [m["name"] for m in doc["machines"]] == ["NVIDIA H200", "NVIDIA L40S"]
    assert [len(table(doc, i)["rows"]) for i in (0, 1)] == [2, 1]
    assert table(doc, 1)["rows"][0]["label"] == "m" and table(doc, 1)["pairs"] == 0


def test_categories_are_ranked_by_the_same_rule(tmp_path):
    doc = ranking(full_suite(tmp_path / "h200", ("m", "n")).finish())
    for level in doc["machines"][0]["levels"]:
        assert sum(c["n"] for c in level["categories"]) == level["n"]
        for row in level["rows"]:
            rows = (r for c in level["categories"] for r in c["rows"])
            wins = [r["fast_p"]["1"]["wins"] for r in rows if r["label"] == row["label"]]
            assert sum(wins) == row["fast_p"]["1"]["wins"]
    assert [lv["level"] for lv in doc["machines"][0]["levels"]] == [1, 2, 3, 4]


def test_numbers_are_those_of_the_report(tmp_path):
    build = full_suite(tmp_path / "h200", ("m",), every=3)
    want = build.report()["runs"][0]["levels"][0]["samples"][0]
    row = table(ranking(build))["rows"][0]
    for key in ("judged", "correct", "fast_0", "fast_0_wilson95"):
        assert row[key] == want[key]
    assert row["fast_p"] == want["lanes"]["eager"]["fast_p"]


def test_of_samples_the_first_enters_and_of_turns_all(tmp_path, kb, out):
    build = BuildDir(tmp_path / "h200", levels={1: tasks_of(1, 2)})
    build.fill({0: "incorrect", 1: "incorrect"}, run="m", sample="s2")
    build.fill({0: 2.0, 1: 2.0}, run="m", sample="s10")
    build.fill({0: "incorrect"}, run="m", sample="s11")
    build.finish()
    row = table(ranking(build))["rows"][0]
    assert (row["sample"], row["samples"], row["fast_p"]["1"]["wins"]) == ("s2", 3, 0)
    values = row["over_samples"]["values"]
    assert row["over_samples"]["letter"] == "k" and values == pytest.approx({"1": 1 / 3, "3": 1})
    assert table(ranking(f"{build}#m/s10"))["rows"][0]["fast_p"]["1"]["wins"] == 2
    build.runs = {"m": {"samples_are": "turns"}}
    head = build.report()["runs"][0]["levels"][0]["headline"]
    row = table(ranking(build))["rows"][0]
    assert (row["sample"], row["turns"], row["fast_p"]["1"]["wins"]) == (None, True, 2)
    assert row["over_samples"] == {"letter": "N", "values": {"1": 0.0, "3": 1.0}}
    assert row["fast_p"] == head["lanes"]["eager"]["fast_p"]
    kb("leaderboard", build, "--out", out)
    assert "all 3 turns" in out.read_text()
    assert table(ranking(f"{build}#m/s2"))["rows"][0]["fast_p"]["1"]["wins"] == 0


def test_costs_are_columns_where_they_are_numbers(tmp_path, kb, out):
    info = {
        "a": {"cost_usd": 12.5, "tokens": 1_234_567},
        "b": {"cost_usd": "free", "tokens": -1, "model": "<script>alert(1)</script>"},
        "c": {"cost_usd": True, "tokens": None},
    }
    build = runs_build(tmp_path / "h200", {"a": 3, "b": 2, "c": 1}, info=info)
    level = table(ranking(build))
    assert level["costs"] == ["cost_usd", "tokens"]
    assert [r["costs"] for r in level["rows"]] == [info["a"], {}, {}]
    kb("leaderboard", build, "--out", out)
    text = out.read_text()
    assert "12.50" in text and "1,234,567" in text and "<script" not in text
    assert table(ranking(runs_build(tmp_path / "plain", {"a": 3})))["costs"] == []


def test_without_a_gpu_correct_tasks_rank(tmp_path, kb, out):
    build = runs_build(tmp_path / "cpu", {"a": 3, "b": 7}, backend="cpu")
    doc = ranking(build)
    assert doc["machines"][0]["functional"]
    assert [r["label"] for r in table(doc)["rows"]] == ["b", "a"]
    said = kb("leaderboard", build, "--out", out).out
    assert "fast_0" in said and "fast_1" not in said and "fast<sub>1" not in out.read_text()


def test_a_report_and_its_build_directory_are_one_run(five):
    five.report()
    assert len(table(ranking(five, five.root / "reports"))["rows"]) == 1


def test_what_must_not_be_mixed_is_refused(tmp_path, kb, refused, out):
    a, b = (runs_build(tmp_path / x, {x: 5}) for x in "ab")
    b.env = {"torch": "2.6.0"}
    args = ["leaderboard", a, b.finish(), "--out", out]
    assert "LibTorch" in refused(*args, status=3) and not out.exists()
    assert "MIXED" in kb(*args, "--allow-mixed").out and "Mixed:" in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("nobody",), "nobody"),
        (("{root}#nobody",), "no run nobody"),
        (("{root}#m/x",), "sample x"),
        (("{root}", "--lane", "foo"), "eager"),
        (("{empty}",), "nothing to rank"),
    ],
)
def test_bad_arguments_are_told_in_one_sentence(tmp_path, refused, five, out, arguments, word):
    empty = runs_build(tmp_path / "empty", {})
    named = [a.format(root=five, empty=empty) for a in arguments]
    assert word in refused("leaderboard", *named, "--out", out) and not out.exists()


def test_bad_input_is_named_on_the_page(five, kb, out):
    five.path(five.candidates[0]["result"]).write_text("{")
    assert "truncated" in kb("leaderboard", five, "--out", out, status=1).err
    assert "truncated" in out.read_text()


def test_without_jinja2_there_is_no_leaderboard(five, kb, no_jinja2, out):
    assert "Jinja2" in kb("leaderboard", five, "--out", out, status=77).err and not out.exists()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page of several runs, GPUs, samples and costs, with names that are markup."""
    folder = tmp_path_factory.mktemp("leaderboard")
    a = full_suite(folder / "h200", ("seed", "m", "n"))
    a.runs = {"m": {"model": "A <b>model</b> https://evil.example", "cost_usd": 1.5, "tokens": 9}}
    b = full_suite(folder / "l40s", ("m",), gpu="l40s", samples=("s1", "s2"), every=3)
    out = folder / "page.html"
    roots = [str(build.finish()) for build in (a, b)]
    assert main(["leaderboard", *roots, "--out", str(out)]) == 0
    return out


def test_the_page_is_one_file_that_loads_nothing(file):
    text = file.read_text()
    assert_one_file_that_loads_nothing(text)
    assert "McNemar" in text and "Holm" in text


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_it_looks_right_in_a_browser(tmp_path, file, size, dark):
    with Browser(tmp_path / "profile", dark) as b:
        b.size(*size, mobile=size == PHONE)
        b.open(file)
        assert b.js("document.documentElement.scrollWidth") == size[0]
        assert_background(b, dark)
        name = f"leaderboard-{size[0]}-{'dark' if dark else 'light'}.png"
        assert_it_looks_right(b, file, size, name)


def test_ranks_need_no_order_of_inputs(tmp_path):
    a = runs_build(tmp_path / "a", {"m": 5})
    b = runs_build(tmp_path / "b", {"n": 9})
    for doc in (ranking(a, b), ranking(b, a)):
        assert [r["run"] for r in table(doc)["rows"]] == ["n", "m"]
    sides, _ = leaderboard.sides_of([str(a)])
    assert isinstance(sides[0], Side) and len(sides) == 1
