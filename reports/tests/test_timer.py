"""The summary of timer measurements against numbers worked out by hand."""

import gzip
import json
import math
import re

import pytest

from kb_report import cli, load, timer
from kb_report.model import ReportError
from synthetic import BuildDir, read_json, tasks_of


def line(candidate, speedup, verdict, identical=True, lane="eager", **limits):
    return {
        "candidate": candidate,
        "identical": identical,
        "lanes": {lane: {"speedup": speedup, "verdict": verdict} | limits},
    }


def repeat(speedup, low, high, gpu="A"):
    """A line of a kernel that is timed against the reference."""
    found = line("seed.level1.019_relu", speedup, "WIN", identical=False, ci_lo=low, ci_hi=high)
    return found | {"reference": True, "gpu": gpu}


LINES = [
    line("seed.level1.019_relu", 1.00, "UNDECIDED"),
    line("seed.level1.019_relu", 1.02, "WIN"),
    line("seed.level1.040_layer_norm", 1.00, "UNDECIDED"),
    line("seed.level1.040_layer_norm", 1.00, "UNDECIDED"),
    line("slowed.p2.level1.019_relu", 0.98, "LOSS", identical=False),
    line("slowed.p2.level1.019_relu", 0.97, "LOSS", identical=False),
    line("seed.level1.019_relu", 0.99, "LOSS", lane="graph"),
]


def test_identical_code():
    found = timer.summary(LINES)["lanes"]["eager"]["identical"]
    assert (found["tasks"], found["runs"]) == (2, 4)
    assert (found["WIN"], found["LOSS"], found["UNDECIDED"]) == (1, 0, 3)
    assert found["mean"] == pytest.approx(1.02 ** (1 / 4))
    # 1.00 and 1.02: mean 1.01, deviation 0.02 / sqrt(2); the other task does not vary.
    of_relu = 0.02 / math.sqrt(2) / 1.01
    assert found["variation_median"] == pytest.approx(of_relu / 2)
    assert found["variation_p90"] == found["variation_max"] == pytest.approx(of_relu)
    assert found["farthest_mean"]["task"] == "level1.019_relu"
    assert found["farthest_mean"]["mean"] == pytest.approx(math.sqrt(1.02))


def test_slow_downs_and_lanes_stand_apart():
    lanes = timer.summary(LINES)["lanes"]
    slowed = lanes["eager"]["slowed"]["slowed.p2"]
    assert (slowed["runs"], slowed["LOSS"]) == (2, 2)
    assert slowed["mean"] == pytest.approx(math.sqrt(0.98 * 0.97))
    assert lanes["graph"]["identical"]["runs"] == 1
    assert lanes["graph"]["identical"]["variation_max"] is None
    table = timer.markdown(timer.summary(LINES))
    assert "| eager | identical | 2 | 4 | 1 | 0 | 0 | 3 |" in table
    assert "| eager | slowed.p2 |  | 2 | 0 | 2 | 0 | 0 |" in table


def test_estimates_of_one_kernel_on_one_gpu():
    # Another GPU's estimate says nothing about this one's repeatability.
    lines = [repeat(2.0, 1.99, 2.03), repeat(2.02, 2.01, 2.03), repeat(1.5, 1, 2, "B")]
    found = timer.summary(lines)["lanes"]["eager"]["repeated"]
    assert (found["tasks"], found["runs"], found["WIN"]) == (1, 3, 3)
    assert found["variation_max"] == pytest.approx(0.02 / math.sqrt(2) / 2.01)
    assert found["covered"] == 0.5
    assert "| eager | repeated | 1 | 3 | 3 |" in timer.markdown(timer.summary(lines))


@pytest.mark.parametrize(
    ("speedups", "low", "high", "covered"),
    [
        # A difference of two estimates scatters sqrt(2) times as much as one of them.
        ((1.0, math.exp(0.013)), math.exp(-0.01), math.exp(0.01), 1.0),
        ((1.0, math.exp(0.015)), math.exp(-0.01), math.exp(0.01), 0.0),
        # The mean of two others: sqrt(3 / 2); 1.0 and the last are 0.012 and 0.006 off it.
        ((1.0, math.exp(0.012), math.exp(0.012)), math.exp(-0.01), math.exp(0.01), 1.0),
        ((1.0, math.exp(0.013), math.exp(0.013)), math.exp(-0.01), math.exp(0.01), 2 / 3),
        ((1.0, 2.0), 0, None, 1.0),
    ],
)
def test_the_mean_of_the_others_has_an_error_too(speedups, low, high, covered):
    lines = [repeat(s, low * s, high and high * s) for s in speedups]
    found = timer.summary(lines)["lanes"]["eager"]["repeated"]
    assert found["covered"] == pytest.approx(covered)


@pytest.fixture
def recorded(tmp_path):
    """A file with these lines."""

    def write(lines=LINES):
        path = tmp_path / "timer.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in lines))
        return path

    return write


@pytest.mark.parametrize("packed", [False, True])
def test_command_writes_both_files(tmp_path, kb, recorded, packed):
    path = recorded()
    if packed:
        path = path.with_suffix(".jsonl.gz")
        path.write_bytes(gzip.compress(recorded().read_bytes()))
    assert "identical" in kb("timer", path).out
    assert read_json(tmp_path / "timer.json")["runs"] == len(LINES)
    assert (tmp_path / "timer.md").read_text().startswith("| lane |")


def test_names_of_lanes_are_text(tmp_path, kb, recorded):
    evil = "x|<b>\x1b[2J\x9b\u202e"
    out = kb("timer", recorded([line("m.level1.019_relu", 1.0, "TIE", lane=evil)])).out
    for text in (out, (tmp_path / "timer.md").read_text()):
        assert "| x\\|&lt;b&gt;" in text and not re.search("[\x1b\x9b\u202e]", text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("timer.json", '{"kind": "kb_report.results", "runs": [], "levels": {}}'),
        ("timer.json", "[]"),
        ("timer.json", "notes"),
        ("timer.md", "# Notes"),
    ],
)
def test_only_an_earlier_summary_is_replaced(tmp_path, kb, recorded, name, text):
    lines, other = recorded(), tmp_path / name
    other.write_text(text)
    err = kb("timer", lines, status=2).err
    assert f"{other} is no summary of kb-report timer" in err
    assert other.read_text() == text and len(list(tmp_path.iterdir())) == 2
    other.unlink()
    kb("timer", lines)
    kb("timer", lines)  # its own summary is replaced


def test_a_compressed_file_that_is_cut_short(tmp_path):
    path = tmp_path / "timer.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}" * 1000)[:-9])
    with pytest.raises(ReportError, match="damaged"):
        timer.read(path)
    path.write_bytes(b"{}")
    with pytest.raises(ReportError, match="cannot read"):
        timer.read(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"candidate": "x"}', "[" * 100_000])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "timer.jsonl"
    path.write_text(text)
    with pytest.raises(ReportError, match="timer"):
        timer.read(path)


EAGER = {"speedup": 1.0, "verdict": "WIN", "ci_lo": 0.9, "ci_hi": 1.1}


@pytest.mark.parametrize(
    "change",
    [
        {"candidate": "019_relu"},
        {"candidate": None},
        {"lanes": None},
        {"lanes": {"eager": None}},
        {"wall_seconds": {"start": None}},
        {"reference": True},
        *(
            {"reference": True, "gpu": "A", "lanes": {"eager": lane}}
            for lane in (
                EAGER | {"speedup": 0},
                EAGER | {"speedup": -1.0},
                EAGER | {"speedup": math.nan},
                EAGER | {"speedup": None},
                EAGER | {"verdict": "GREAT"},
                EAGER | {"ci_lo": None},
                {"speedup": 1.0},
                {"verdict": "WIN"},
                {"speedup": 1.0, "verdict": "WIN", "ci_lo": 0.9},
            )
        ),
    ],
)
def test_a_line_that_lacks_what_is_summed_up_is_named(kb, recorded, change):
    path = recorded([LINES[0], LINES[0] | change])
    err = kb("timer", path, status=2).err
    assert err.startswith(
        f"kb-report: {path}:2 is no line of harness/lab/measure-timing; remove it"
    )


def timed(tmp_path, lanes, backend="cuda"):
    """A build directory with one candidate for each change of a lane."""
    build = BuildDir(tmp_path, backend=backend, levels={1: tasks_of(1, len(lanes))})
    for i, lane in enumerate(lanes):
        build.judged(i, "pass", 2.0, {"timing.lanes.eager": lane})
    return build.finish()


def of_results(root):
    return timer.of_results(load.load_build_dir(root))["eager"]


def test_places_that_differ_stand_out(tmp_path, kb):
    # The third block is 1 % high, give or take; the others scatter evenly.
    blocks = [[2.0, 2.0, 2.02 + 0.002 * (i % 2), 1.99, 2.01] for i in range(12)]
    root = timed(tmp_path, [{"block_speedups": each} for each in blocks])
    table = kb("timer", root).out.split("\n\n")[1].splitlines()
    assert table[0] == "| block | eager |"
    assert table[2] == "| 1 | +0.00 ± 0.00 % |"
    off = 100 * (math.log(1.01) + math.log(1.011)) / 2
    assert table[4].startswith(f"| 3 | **+{off:.2f} ± 0.01 %**")


def test_chains_measured_again_have_no_places(tmp_path):
    again = [{"redone": [["stalls"]]}, {"second_look": True}]
    once = {"block_speedups": [2.0] * 8, "redone": []}
    found = of_results(timed(tmp_path / "all", [once] * 12))
    assert [place["count"] for place in found["places"]] == [12] * 8
    found = of_results(timed(tmp_path / "some", [once] * 10 + [once | each for each in again]))
    assert [place["count"] for place in found["places"]] == [10] * 8
    assert of_results(timed(tmp_path / "few", [once] * 9 + [once | again[0]]))["places"] == []


def test_what_only_one_side_takes_stands_out(tmp_path, kb):
    def lane(reference_us, candidate_us, **changes):
        """Units of four calls, 2 ms and 1 ms by the runners' events."""
        return {
            "calls_per_unit": 4,
            "reference_stream_ms": 0.5, "reference_ms": 0.5 + reference_us / 4e3,
            "stream_ms": 0.25, "candidate_ms": 0.25 + candidate_us / 4e3,
            **changes,
        }  # fmt: skip

    root = timed(tmp_path, [lane(9 + i % 2, 5) for i in range(10)] + [lane(90, 5, pairs=5)])
    outside = of_results(root)["outside"]
    assert outside["reference_us"]["count"] == 10
    assert outside["reference_us"]["mean"] == pytest.approx(9.5)
    assert outside["candidate_us"]["mean"] == pytest.approx(5)
    assert outside["difference_us"]["mean"] == pytest.approx(4.5)
    assert outside["moved"]["mean"] == pytest.approx(9.5 / 2000 - 5 / 1000, abs=2e-5)
    row = "+9.50 ± 0.17 us | +5.00 ± 0.00 us | **+4.50 ± 0.17 us** | -0.02 ± 0.01 %"
    assert kb("timer", root).out.splitlines()[2] == f"| eager | {row} |"


@pytest.mark.parametrize(("backend", "count"), [("cpu", 12), ("cuda", 9)])
def test_results_need_enough_times_of_a_gpu(tmp_path, capsys, backend, count):
    root = timed(tmp_path, [{"block_speedups": [2.0] * 8}] * count, backend)
    assert cli.main(["timer", str(root)]) != 0
    assert "fewer than 10 candidates here were timed on a GPU" in capsys.readouterr().err


@pytest.mark.parametrize(
    "lane", [{"stream_ms": "1"}, {"calls_per_unit": 1.5}, {"pairs": [1]}, {"redone": 1}]
)
def test_what_the_timer_reads_has_its_type(tmp_path, lane):
    suite = load.load_build_dir(timed(tmp_path, [lane]))
    assert [problem.kind for problem in suite.problems] == ["invalid"]
