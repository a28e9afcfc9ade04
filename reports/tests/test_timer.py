"""The summary of timer measurements against numbers worked out by hand."""

import gzip
import json
import math

import pytest

from kb_report import cli, load, timer
from kb_report.model import ReportError
from synthetic import BuildDir, tasks_of


def line(candidate, speedup, verdict, identical=True, lane="eager"):
    return {
        "candidate": candidate,
        "identical": identical,
        "lanes": {lane: {"speedup": speedup, "verdict": verdict}},
    }


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
    def repeat(speedup, low, high, gpu):
        found = line("seed.level1.019_relu", speedup, "WIN", identical=False)
        found["lanes"]["eager"] |= {"ci_lo": low, "ci_hi": high}
        return found | {"reference": True, "gpu": gpu}

    # Another GPU's estimate says nothing about this one's repeatability.
    lines = [repeat(2.0, 1.99, 2.03, "A"), repeat(2.02, 2.01, 2.03, "A"), repeat(1.5, 1, 2, "B")]
    found = timer.summary(lines)["lanes"]["eager"]["repeated"]
    assert (found["tasks"], found["runs"], found["WIN"]) == (1, 3, 3)
    assert found["variation_max"] == pytest.approx(0.02 / math.sqrt(2) / 2.01)
    assert found["covered"] == 0.5
    assert "| eager | repeated | 1 | 3 | 3 |" in timer.markdown(timer.summary(lines))


@pytest.mark.parametrize("name", ["timer.jsonl", "timer.jsonl.gz"])
def test_command_writes_both_files(tmp_path, capsys, name):
    path = tmp_path / name
    text = "".join(json.dumps(each) + "\n" for each in LINES).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert cli.main(["timer", str(path)]) == 0
    assert "identical" in capsys.readouterr().out
    assert json.loads((tmp_path / "timer.json").read_text())["runs"] == len(LINES)
    assert (tmp_path / "timer.md").read_text().startswith("| lane |")


def test_a_compressed_file_that_is_cut_short(tmp_path):
    path = tmp_path / "timer.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}" * 1000)[:-9])
    with pytest.raises(ReportError, match="damaged"):
        timer.read(path)
    path.write_bytes(b"{}")
    with pytest.raises(ReportError, match="cannot read"):
        timer.read(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"candidate": "x"}'])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "timer.jsonl"
    path.write_text(text)
    with pytest.raises(ReportError, match="timer"):
        timer.read(path)


def chains(build, blocks_of):
    """One candidate with a chain for each list of block speed-ups."""
    for task, blocks in zip(build.levels[1], blocks_of, strict=True):
        entry = build.add(task)
        value = build.result(entry, "pass", 2.0)
        value["timing"]["lanes"]["eager"]["block_speedups"] = blocks
        build.write(entry["result"], value)
    build.finish()
    return build.root


def test_places_that_differ_stand_out(tmp_path, capsys):
    # The third block is 1 % high, give or take; the others scatter evenly.
    build = BuildDir(tmp_path, levels={1: tasks_of(1, 12)})
    root = chains(build, [[2.0, 2.0, 2.02 + 0.002 * (i % 2), 1.99, 2.01] for i in range(12)])
    assert cli.main(["timer", str(root)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0] == "| block | eager |"
    assert table[2] == "| 1 | +0.00 ± 0.00 % |"
    off = 100 * (math.log(1.01) + math.log(1.011)) / 2
    assert table[4].startswith(f"| 3 | **+{off:.2f} ± 0.01 %**")


def test_places_of_chains_measured_again_are_no_places(tmp_path):
    build = BuildDir(tmp_path, levels={1: tasks_of(1, 12)})
    root = chains(build, [[2.0] * 8] * 12)
    for entry in build.candidates[:3]:
        path = build.path(entry["result"])
        value = json.loads(path.read_text())
        value["timing"]["lanes"]["eager"]["redone"] = [["stalls"]]
        path.write_text(json.dumps(value))
    with pytest.raises(ReportError, match="fewer than 10 candidates"):
        timer.places(load.load_build_dir(root))


def test_places_need_times_of_a_gpu(tmp_path, capsys):
    build = BuildDir(tmp_path, backend="cpu", levels={1: tasks_of(1, 12)})
    root = chains(build, [[2.0] * 8] * 12)
    assert cli.main(["timer", str(root)]) != 0
    assert "timed on a GPU" in capsys.readouterr().err
