"""What a profiler saw, on a candidate's page, in its feedback and in the next prompt."""

from __future__ import annotations

from typing import Any

from kb_report import profiles
from synthetic import BuildDir

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


def judged(build: BuildDir, profile: dict[str, Any] | None) -> dict[str, Any]:
    entry = build.judged(0, "pass", 2.0, {"profile": profile} if profile else {})
    build.report()
    return entry


def test_kernels_are_a_table_in_feedback(build):
    profile = {"reason": None, "kernels": [KERNEL], "more_kernels": 3}
    text = build.feedback(judged(build, profile))
    (line,) = (x for x in text.splitlines() if "relu<4>" in x)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1:5] == ["2", "4 x 256", "32", "1.5"]
    assert cells[5:10] == ["75 %", "3.20 (80 %)", "1.0", "81 %", "20 %"]
    assert cells[10:] == ["62 %", "100 % / -", "data from global memory (90 %)"]
    assert "And 3 more kernels." in text


def test_the_reason_stands_where_there_is_no_profile(build):
    entry = judged(build, {"reason": "this user may not read the counters"})
    assert "No profile: this user may not read the counters." in build.feedback(entry)


def test_nothing_is_said_where_none_was_asked_for(build):
    assert "rofile" not in build.feedback(judged(build, None))


def test_names_of_kernels_make_no_markup():
    row = KERNEL | {"name": "a`b|c\x1b[31m\nd"}
    (line,) = (x for x in profiles.markdown({"reason": None, "kernels": [row]}) if "a'b" in x)
    assert "\\|c" in line and "\x1b" not in line and "\n" not in line


def test_kernels_are_a_table_on_the_page(build):
    card = build.details(judged(build, {"reason": None, "kernels": [KERNEL]}))
    assert "<h4>Profile</h4>" in card
    assert "relu&lt;4&gt;(float const*, float*)" in card.replace("<wbr>", "")
