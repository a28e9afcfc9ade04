"""What a profiler saw, on a candidate's page, in its feedback and in the next prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kb_report import profiles
from kb_report.cli import main
from synthetic import BuildDir, details

KERNEL = {
    "name": "relu<4>(float const*, float*)",
    "launches": 2,
    "ms": 1.5,
    "share": 0.75,
    "bytes_per_second": 3.2e12,
    "bytes_of_peak": 0.8,
    "flops_per_second": 1e12,
    "flops_of_peak": None,
    "memory_busy_pct": 81.4,
    "multiprocessors_busy_pct": 20.0,
    "occupancy_pct": 62.5,
    "load_use_pct": 100.0,
    "store_use_pct": None,
    "stalls": [{"reason": "long_scoreboard", "waits_for": "data from global memory", "share": 0.9}],
    "grid": "(4, 1, 1)",
    "block": "(256, 1, 1)",
    "registers": 32,
}


def judged(tmp_path: Path, profile: dict[str, Any] | None) -> tuple[BuildDir, dict[str, Any]]:
    build = BuildDir(tmp_path / "h200")
    entry = build.add(build.levels[1][0])
    value = build.result(entry, "pass", 2.0)
    if profile is not None:
        value["profile"] = profile
    build.write(entry["result"], value)
    build.finish()
    return build, entry


def feedback(build: BuildDir, entry: dict[str, Any], capsys: Any) -> str:
    assert main(["feedback", str(build.root), entry["name"]]) == 0
    return capsys.readouterr().out


def test_kernels_are_a_table_in_feedback(tmp_path, capsys):
    build, entry = judged(tmp_path, {"reason": None, "kernels": [KERNEL], "more_kernels": 3})
    text = feedback(build, entry, capsys)
    (line,) = (x for x in text.splitlines() if "relu<4>" in x)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1:5] == ["2", "4 x 256", "32", "1.5"]
    assert cells[5:10] == ["75 %", "3.20 (80 %)", "1.0", "81 %", "20 %"]
    assert cells[10:] == ["62 %", "100 % / -", "data from global memory (90 %)"]
    assert "And 3 more kernels." in text


def test_the_reason_stands_where_there_is_no_profile(tmp_path, capsys):
    build, entry = judged(tmp_path, {"reason": "this user may not read the counters"})
    assert "No profile: this user may not read the counters." in feedback(build, entry, capsys)


def test_nothing_is_said_where_none_was_asked_for(tmp_path, capsys):
    build, entry = judged(tmp_path, None)
    assert "rofile" not in feedback(build, entry, capsys)


def test_names_of_kernels_make_no_markup():
    row = KERNEL | {"name": "a`b|c\x1b[31m\nd"}
    (line,) = (x for x in profiles.markdown({"reason": None, "kernels": [row]}) if "a'b" in x)
    assert "\\|c" in line and "\x1b" not in line and "\n" not in line


def test_kernels_are_a_table_on_the_page(tmp_path):
    build, entry = judged(tmp_path, {"reason": None, "kernels": [KERNEL]})
    assert main(["rollup", "--build-dir", str(build.root)]) == 0
    card = details(build.root / "reports/index.html")[entry["name"]]
    assert "<h4>Profile</h4>" in card
    assert "relu&lt;4&gt;(float const*, float*)" in card.replace("<wbr>", "")
