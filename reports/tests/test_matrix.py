"""matrix: tasks by GPUs, ranks on each, and orders that change, from invented results."""

import csv
import io

import pytest
from chromium import DESKTOP, PHONE, Browser, assert_it_looks_right, needs_browser
from test_page import assert_one_file_that_loads_nothing

from kb_report import leaderboard, matrix
from kb_report.cli import main
from synthetic import BuildDir, full_suite, tasks_of

pytest.importorskip("jinja2")

TASKS = tasks_of(1, 4)


def judged(root, speedups, gpu="h200", backend="cuda", half=0.02):
    """A build directory: run -> a speed-up, a verdict or None (no candidate) for each task."""
    build = BuildDir(root, backend, gpu, {1: TASKS})
    for run, values in speedups.items():
        for i, value in enumerate(values):
            if value is not None:
                # The same file everywhere: what it is called says nothing about the folder.
                build.fill({i: value}, half, run=run, source=f"// {run} {TASKS[i]}\n")
    return build.finish()


@pytest.fixture
def out(tmp_path):
    return tmp_path / "matrix.html"


def two_gpus(folder, first, second, **options):
    """The same runs on an H200 and an L40S."""
    a = judged(folder / "h200", first, **options)
    b = judged(folder / "l40s", second, gpu="l40s", **options)
    sides, problems = leaderboard.sides_of([str(a), str(b)])
    return matrix.document(sides, problems=problems)


def level(doc):
    (found,) = doc["levels"]
    return found


def row(doc, task, run):
    return next(r for r in level(doc)["tasks"] if (r["task"], r["run"]) == (TASKS[task], run))


def test_a_row_has_the_speedup_on_each_gpu(tmp_path):
    doc = two_gpus(
        tmp_path,
        {"m": [2.0, "incorrect", 1.0, None]},
        {"m": [0.5, 1.5, 1.0, None]},
    )
    assert [g["name"] for g in doc["gpus"]] == ["NVIDIA H200", "NVIDIA L40S"]
    assert doc["notes"] == [] and doc["mixed"] == []
    first = row(doc, 0, "m")
    assert [c["speedup"] for c in first["cells"]] == [2.0, 0.5]
    assert [c["at_1"] for c in first["cells"]] == ["WIN", "LOSS"]
    assert first["spread"] == pytest.approx(4) and first["unlike"] == "faster"
    second = row(doc, 1, "m")
    assert [c["verdict"] for c in second["cells"]] == ["incorrect", "pass"]
    assert second["spread"] is None and second["unlike"] == "verdict"
    assert row(doc, 2, "m")["unlike"] is None
    assert {r["task"] for r in level(doc)["tasks"]} == set(TASKS[:3])
    assert [r["task"] for r in level(doc)["unlike"]] == TASKS[:2]


def test_runs_have_a_rank_on_each_gpu(tmp_path):
    doc = two_gpus(
        tmp_path,
        {"m": [2.0, 2.0, 2.0, 0.5], "n": [2.0, 0.5, 0.5, 0.5], "o": [0.5] * 4},
        {"m": [0.5, 0.5, 2.0, 0.5], "n": [2.0, 2.0, 0.5, 0.5], "o": [0.5] * 4},
    )
    ranks = {r["run"]: r for r in level(doc)["ranks"]}
    assert [c["rank"] for c in ranks["m"]["cells"]] == [1, 2]
    assert [c["rank"] for c in ranks["n"]["cells"]] == [2, 1]
    assert [c["share"] for c in ranks["n"]["cells"]] == [0.25, 0.5]
    assert ranks["m"]["moves"] and ranks["n"]["moves"] and not ranks["o"]["moves"]


def test_a_gpu_without_times_ranks_what_is_correct(tmp_path):
    """Such as one on which only verdicts were made: nobody has won or lost there."""
    doc = two_gpus(
        tmp_path,
        {"m": [2.0, 0.5, 0.5], "n": [2.0, 2.0, 0.5]},
        {"m": ["pass", "pass", "pass"], "n": ["pass", "incorrect", "pass"]},
    )
    ranks = {r["run"]: r["cells"] for r in level(doc)["ranks"]}
    assert [(c["rank"], c["metric"], c["share"]) for c in ranks["m"]] == [
        (2, "fast_1", 0.25),
        (1, "fast_0", 0.75),
    ]
    assert not level(doc)["untimed"] and level(doc)["orders"]["compared"] == 0


def test_ranks_are_those_of_the_leaderboard(tmp_path):
    a = full_suite(tmp_path / "h200", ("seed", "m", "n"), every=3).finish()
    b = full_suite(tmp_path / "l40s", ("seed", "m", "n"), gpu="l40s", every=3, rng_seed=8).finish()
    sides, _ = leaderboard.sides_of([str(a), str(b)])
    doc, board = matrix.document(sides, allow_mixed=True), leaderboard.document(sides)
    for i, machine in enumerate(board["machines"]):
        for ranked, shown in zip(machine["levels"], doc["levels"]):
            want = {r["run"]: (r["rank"], r["fast_p"]["1"]["value"]) for r in ranked["rows"]}
            have = {
                r["run"]: (r["cells"][i]["rank"], r["cells"][i]["share"])
                for r in shown["ranks"]
                if r["cells"][i]
            }
            assert have == want


def test_an_order_changes_only_beyond_both_intervals(tmp_path):
    """Of task 0 m is ahead on one GPU and n on the other; of task 1 by less than can be told."""
    doc = two_gpus(
        tmp_path,
        {"m": [2.0, 1.01, 1.0, 3.0], "n": [1.0, 1.00, 2.0, "incorrect"]},
        {"m": [1.0, 1.00, 1.0, 1.0], "n": [1.5, 1.01, 3.0, 2.0]},
    )
    orders = level(doc)["orders"]
    assert (orders["compared"], orders["open"]) == (3, 1)
    (changed,) = orders["changed"]
    names = {g["machine"]: g["name"] for g in doc["gpus"]}
    assert changed["task"] == TASKS[0]
    assert (changed["a"], names[changed["a_first_on"]]) == ("m", "NVIDIA H200")
    assert (changed["b"], names[changed["b_first_on"]]) == ("n", "NVIDIA L40S")
    assert changed["a_ahead"] == pytest.approx(2) and changed["b_ahead"] == pytest.approx(1.5)


def test_wide_intervals_leave_an_order_open(tmp_path):
    doc = two_gpus(tmp_path, {"m": [2.0], "n": [1.0]}, {"m": [1.0], "n": [1.5]}, half=0.5)
    orders = level(doc)["orders"]
    assert orders["changed"] == [] and orders["open"] == 1


def test_how_alike_two_gpus_are(tmp_path):
    doc = two_gpus(tmp_path, {"m": [1.0, 2.0, 3.0, 4.0]}, {"m": [2.0, 4.0, 6.0, 1.0]})
    (found,) = level(doc)["agreement"]
    assert found["tasks"] == 4 and found["kendall_tau"] == pytest.approx(0.0)
    assert found["geo_mean_ratio"] == pytest.approx((2 * 2 * 2 / 4) ** 0.25)
    # Both references take as long, so times are to each other as speed-ups are.
    assert found["geo_mean_time_ratio"] == pytest.approx(found["geo_mean_ratio"])
    assert found["largest"] == {"task": TASKS[3], "ratio": pytest.approx(0.25)}


def test_a_cell_has_the_time_of_the_kernel(tmp_path, out):
    roots = [judged(tmp_path / gpu, {"m": [2.0, "incorrect"]}, gpu) for gpu in ("h200", "l40s")]
    assert main(["matrix", *map(str, roots), "--out", str(out)]) == 0
    table = list(csv.DictReader(io.StringIO(out.with_suffix(".csv").read_text())))
    times = [r["candidate_ms"] for r in table]
    assert all(float(t) > 0 for t in times[:2]) and times[2:] == ["", ""]
    assert f"{float(times[0]):.3g} ms" in out.read_text()
    assert "no two kernels" in out.read_text().lower() and "GPUs each" not in out.read_text()


def test_names_of_gpus_keep_their_letters(tmp_path, out):
    runs = {"m": [2.0], "n": [1.0]}
    roots = [judged(tmp_path / gpu, runs, gpu) for gpu in ("h200", "l40s")]
    assert main(["matrix", *map(str, roots), "--out", str(out)]) == 0
    assert "Of 1 pairs of kernels of a task on two GPUs each" in out.read_text()


def test_a_run_on_one_gpu_only_has_an_empty_column(tmp_path):
    doc = two_gpus(tmp_path, {"m": [1.0] * 4, "n": [2.0] * 4}, {"m": [1.0] * 4})
    assert row(doc, 0, "n")["cells"][1] is None
    ranks = {r["run"]: r["cells"] for r in level(doc)["ranks"]}
    assert ranks["n"][1] is None and ranks["m"][1]["of"] == 1


def test_the_newest_report_of_a_gpu_counts(tmp_path):
    old = judged(tmp_path / "old", {"m": [1.0] * 4})
    new = judged(tmp_path / "new", {"m": [2.0] * 4})
    for file in new.glob("results/m/level1/*.json"):
        file.write_text(file.read_text().replace("2026-01-02T03", "2026-01-03T03"))
    for arguments in ([old, new], [new, old]):
        sides, _ = leaderboard.sides_of([str(a) for a in arguments])
        doc = matrix.document(sides)
        assert row(doc, 0, "m")["cells"][0]["speedup"] == 2.0
        assert doc["notes"] == [
            f"m was judged several times on {doc['gpus'][0]['machine']}: {new} counts, not {old}"
        ]


def test_two_kernels_of_one_name_are_told(tmp_path):
    a = judged(tmp_path / "h200", {"m": [1.0, 1.0]})
    build = BuildDir(tmp_path / "l40s", gpu="l40s", levels={1: TASKS})
    build.fill({0: 1.0}, run="m", source="// another file\n")
    sides, _ = leaderboard.sides_of([str(a), str(build.finish())])
    (note,) = matrix.document(sides)["notes"]
    assert note.startswith("1 kernel(s) of m are not the same file on all GPUs")


def test_the_program_writes_a_page_and_a_spreadsheet(tmp_path, kb, out):
    a = judged(tmp_path / "h200", {"m": [2.0, 1.0], "n": [1.0, "timeout"]})
    b = judged(tmp_path / "l40s", {"m": [1.0, 1.0], "n": [2.0, 1.0]}, gpu="l40s")
    said = kb("matrix", a, b, "--out", out).out
    assert "of 3 pairs" not in said and "1 change their order" in said and str(out) in said
    table = list(csv.DictReader(io.StringIO((tmp_path / "matrix.csv").read_text())))
    assert len(table) == 8
    where = (TASKS[1], "n", "NVIDIA H200")
    cell = next(r for r in table if (r["task"], r["run"], r["gpu"]) == where)
    assert (cell["verdict"], cell["speedup"], cell["at_1"]) == ("timeout", "", "")


def test_without_a_gpu_there_are_verdicts_and_no_orders(tmp_path, kb, out):
    build = judged(tmp_path / "cpu", {"m": ["incorrect", 1.0], "n": [1.0, 1.0]}, backend="cpu")
    said = kb("matrix", build, "--out", out).out
    assert "fast_0" in said and "fast_1" not in said and "order" not in said
    sides, _ = leaderboard.sides_of([str(build)])
    doc = matrix.document(sides)
    assert [r["run"] for r in level(doc)["ranks"]] == ["n", "m"]
    assert row(doc, 1, "m")["cells"][0]["speedup"] is None


def test_what_is_not_the_gpu_must_not_differ(tmp_path, kb, refused, out):
    a = judged(tmp_path / "h200", {"m": [1.0]})
    b = judged(tmp_path / "cpu", {"m": [1.0]}, backend="cpu")
    arguments = ["matrix", a, b, "--out", out]
    assert "backends" in refused(*arguments, status=3) and not out.exists()
    assert "MIXED" in kb(*arguments, "--allow-mixed").out and "Mixed:" in out.read_text()


@pytest.mark.parametrize(("argument", "word"), [("nobody", "nobody"), ("{root}#x", "no run x")])
def test_bad_arguments_are_told_in_one_sentence(tmp_path, refused, out, argument, word):
    root = judged(tmp_path / "h200", {"m": [1.0]})
    assert word in refused("matrix", argument.format(root=root), "--out", out)
    assert not out.exists()


def test_a_page_has_to_be_called_one(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["matrix", "x", "--out", str(tmp_path / "matrix.csv")])
    assert "must end in .html" in capsys.readouterr().err


def test_without_jinja2_there_is_the_spreadsheet(tmp_path, kb, no_jinja2, out):
    root = judged(tmp_path / "h200", {"m": [1.0]})
    said = kb("matrix", root, "--out", out, status=77).out
    assert not out.exists() and out.with_suffix(".csv").exists()
    assert str(out.with_suffix(".csv")) in said


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page of three runs on two GPUs, one of them with a name that could be markup."""
    folder = tmp_path_factory.mktemp("matrix")
    a = full_suite(folder / "h200", ("seed", "m", "n"))
    b = full_suite(folder / "l40s", ("seed", "m", "n"), gpu="l40s", rng_seed=8)
    b.gpu["name"] = "NVIDIA <b>L40S</b> with a long name"
    for c in b.candidates:
        path = b.path(c["result"])
        if path.exists():
            path.write_text(path.read_text().replace("NVIDIA L40S", b.gpu["name"]))
    out = folder / "matrix.html"
    roots = [str(build.finish()) for build in (a, b)]
    assert main(["matrix", *roots, "--out", str(out)]) == 0
    return out


def test_the_page_is_one_file_that_loads_nothing(file):
    text = file.read_text()
    assert_one_file_that_loads_nothing(text)
    assert len(text) < 1_000_000


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_it_looks_right_in_a_browser(tmp_path, file, size, dark):
    with Browser(tmp_path / "profile", dark) as b:
        name = f"matrix-{size[0]}-{'dark' if dark else 'light'}.png"
        assert_it_looks_right(b, file, size, name)
