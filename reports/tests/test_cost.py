"""Sums of wall time against numbers worked out by hand."""

import pytest

from kb_report import cost, load, rollup, write
from synthetic import BuildDir

BENCHES = [
    {"load": 0.75, "start": 1.0, "checks": 0.5, "reference": 2.0, "candidate": 1.0},
    {"start": 3.0, "reference": 4.0, "candidate": 2.0, "end": 0.25},
]


def test_arms_and_protocol_add_up_to_the_whole():
    rows = {row["name"]: row for row in cost.of_phases(BENCHES)}
    assert list(rows) == ["bench: timed units", "bench: protocol", "load", "start", "checks", "end"]
    arms, protocol = rows["bench: timed units"], rows["bench: protocol"]
    assert arms | {"median": 4.5, "p90": 6.0, "sum": 9.0, "phase": False} == arms
    assert rows["start"]["phase"]
    assert protocol["sum"] == pytest.approx(1.5 + 3.25)
    assert rows["checks"]["median"] == pytest.approx(0.25)
    whole = sum(sum(bench.values()) for bench in BENCHES)
    assert arms["sum"] + protocol["sum"] == pytest.approx(whole - 0.75), "without loading"


def test_nothing_timed_has_no_table():
    assert cost.of_phases([]) == []
    assert cost.markdown([], "process") == ""


@pytest.mark.parametrize(("backend", "shown"), [("cuda", True), ("cpu", False)])
def test_only_gpu_times_are_summed_up(tmp_path, backend, shown):
    build = BuildDir(tmp_path, backend=backend).fill({0: 2.0, 1: 2.0})
    build.finish()
    text = write.summary_md(rollup.document(load.load_build_dir(build.root)))
    assert ("| compile | 1.31 | 1.31 | 3 |" in text) == shown
    assert ("| correct | 0.60 | 0.60 | 1 |" in text) == shown
    assert ("| bench: protocol | 1.50 | 1.50 | 3 |" in text) == shown
