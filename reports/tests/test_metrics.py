"""Metrics against hand-computed numbers and against KernelBench's published formulas."""

import itertools
import math
import random

import pytest

from kb_report import charts, metrics, stats, write
from kb_report.metrics import Outcome
from kb_report.occupancy import occupancy_limit


def out(speedup=None, half=0.0, correct=True, task="t"):
    if speedup is None:
        return Outcome(task, True, True, correct, "pass" if correct else "incorrect")
    lo, hi = speedup * (1 - half), speedup * (1 + half)
    return Outcome(task, True, True, correct, "pass" if correct else "incorrect", speedup, lo, hi)


# Upstream's cases (is_correct, baseline times, candidate times) and the numbers of its own tests.
UPSTREAM = [
    ([1, 0, 1, 1, 0], [0.1, 0.15, 0.2, 0.05, 0.3], [0.2, 0.15, 0.3, 0.01, 0.2],
     1.185631101, 5.0, {1.0: 0.2, 0.5: 0.4}),
    ([1, 1, 1, 1, 0], [0.24, 0.31, 100.0, 0.0001, 0.3], [0.3, 0.3, 200.0, 0.0001, 0.3],
     0.801816719, 1.033333333, {1.0: 0.2, 0.5: 0.6}),
    ([0, 0, 0, 0, 0], [0.1, 0.15, 0.2, 0.05, 0.3], [0.2, 0.15, 0.3, 0.01, 0.2],
     None, None, {1.0: 0.0, 0.5: 0.0}),
]  # fmt: skip


@pytest.mark.parametrize(("correct", "base", "actual", "geo", "faster", "fast"), UPSTREAM)
def test_agrees_with_upstreams_test_cases(correct, base, actual, geo, faster, fast):
    outs = [out(b / a, correct=bool(c)) for c, b, a in zip(correct, base, actual)]
    lane = metrics.lane_summary(outs, 5)
    # Upstream says 0 where nothing is correct; we say that there is no mean.
    assert lane["geo_mean_speedup_correct"] == (geo and pytest.approx(geo, abs=1e-7))
    assert lane["geo_mean_speedup_faster"] == (faster and pytest.approx(faster, abs=1e-7))
    for p, want in fast.items():
        assert metrics.fast_p(outs, 5, p)["point"] == pytest.approx(want)


def test_agrees_with_upstreams_formulas_on_random_runs():
    rng = random.Random(1)
    for _ in range(50):
        n = rng.randint(1, 40)
        rows = [(rng.random() < 0.6, math.exp(rng.gauss(0, 1))) for _ in range(n)]
        outs = [out(s, correct=c) for c, s in rows]
        for p in metrics.THRESHOLDS:
            # fast_p = (1/N) sum [correct and speedup > p]
            want = sum(c and s > p for c, s in rows) / n
            assert metrics.fast_p(outs, n, p)["point"] == pytest.approx(want)
        good = [s for c, s in rows if c]
        if good:
            want = math.prod(good) ** (1 / len(good))
            assert metrics.geo_mean(good) == pytest.approx(want)


def test_fast_p_is_strict():
    outs = [out(1.0), out(2.0)]
    assert metrics.fast_p(outs, 2, 1.0)["point"] == 0.5
    assert metrics.fast_p(outs, 2, 1.0)["wins"] == 1 and metrics.fast_p(outs, 2, 1.0)["losses"] == 1
    assert metrics.fast_p(outs, 2, 2.0)["wins"] == 0


def test_bounds_hold_the_point_and_failures_count():
    outs = [out(1.05, 0.1), out(0.95, 0.1), out(3.0), out(), out(9.0, correct=False)]
    f = metrics.fast_p(outs, 10, 1.0)
    assert (f["wins"], f["undecided"], f["losses"], f["points"]) == (1, 3, 0, 2)
    assert (f["lower"], f["point"], f["upper"]) == (0.1, 0.2, 0.4)
    assert f["lower"] == f["value"]


def test_fast_0_is_the_share_of_correct():
    outs = [out(), out(0.01), out(5.0, correct=False)]
    f = metrics.fast_p(outs, 4, 0.0)
    assert f["value"] == f["point"] == f["upper"] == 0.5


def test_empty_level():
    lane = metrics.lane_summary([], 0)
    assert lane["fast_p"]["1"]["value"] == 0 and lane["geo_mean_speedup_correct"] is None
    assert lane["fast_p"]["1"]["wilson95"] == [0, 1]


def test_area_is_the_integral_of_the_curve():
    speedups = [0.3, 0.9, 1.4, 2.5, 7.0]
    steps = 20000
    curve = [
        sum(s > 2.0 * (i + 0.5) / steps for s in speedups) / 8 for i in range(steps)
    ]  # midpoint rule
    want = sum(curve) / steps
    assert metrics.fast_p_area(speedups, 8) == pytest.approx(want, abs=1e-4)
    assert metrics.fast_p_area([1.0] * 4, 4) == 0.5
    assert metrics.fast_p_area([100.0] * 4, 4) == 1.0


@pytest.mark.parametrize("n", range(1, 7))
def test_pass_at_k_counts_all_draws(n):
    for c, k in itertools.product(range(n + 1), range(1, n + 1)):
        draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
        assert metrics.pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_pass_at_k_agrees_with_upstreams_product():
    for n, c, k in [(10, 3, 1), (10, 3, 5), (100, 7, 10), (5, 5, 3), (5, 0, 5)]:
        product = math.prod(1 - k / i for i in range(n - c + 1, n + 1))
        want = 1.0 if n - c < k else 1 - product
        assert metrics.pass_at_k(n, c, k) == pytest.approx(want)
    with pytest.raises(ValueError):
        metrics.pass_at_k(2, 1, 3)


def test_k_values():
    assert metrics.k_values(1) == [1]
    assert metrics.k_values(5) == [1, 2, 4, 5]
    assert metrics.k_values(8) == [1, 2, 4, 8]


def test_wilson():
    # Newcombe 1998, table I: 81 of 263 and 0 of 20.
    assert metrics.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert metrics.wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert metrics.wilson(20, 20)[1] == 1.0


def test_ratio_interval():
    value, lo, hi = stats.ratio_interval((1.0, 0.9, 1.1), (2.0, 1.8, 2.2))
    assert value == pytest.approx(2.0)
    down = math.hypot(math.log(2 / 1.8), math.log(1.1))
    up = math.hypot(math.log(1.1), math.log(1 / 0.9))
    assert (lo, hi) == (pytest.approx(2 * math.exp(-down)), pytest.approx(2 * math.exp(up)))
    assert stats.ratio_interval((1, 1, 1), (3, 3, 3)) == pytest.approx((3, 3, 3))
    assert stats.ratio_interval((1, 0, 2), (1, 1, 1))[2] > 1e300


def test_mcnemar_holm_ranks_tau_spread():
    assert stats.mcnemar(0, 0) == 1.0
    assert stats.mcnemar(1, 9) == pytest.approx(22 / 1024)
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.ranks([3, 1, 3, 2]) == [1, 4, 1, 3]
    assert (
        stats.kendall_tau([1, 2, 3], [1, 2, 3]) == 1
        and stats.kendall_tau([1, 2, 3], [3, 2, 1]) == -1
    )
    assert stats.kendall_tau([1, 1], [1, 2]) is None
    assert stats.log_spread([1.0]) == 0
    assert stats.log_spread([1.0, math.e]) == pytest.approx(math.sqrt(0.5))
    assert stats.log_error(1.0, math.exp(2.5758293), 0.99) == pytest.approx(1.0)


def test_a_strip_has_few_points():
    assert len(charts.sample_strip([1.0] * 60, 0.9, 1.1)["points"]) == 60
    strip = charts.sample_strip([1.0] * 180, 0.9, math.inf)
    assert (len(strip["points"]), strip["every"]) == (60, 3)


# NVIDIA's occupancy calculator, at the size of blocks that is best for each.
@pytest.mark.parametrize(
    ("arch", "registers", "shared", "limit"),
    [("sm_90", 32, 0, 1.0), ("sm_90", 33, 0, 0.75), ("sm_90", 64, 0, 0.5),
     ("sm_90", 128, 0, 0.25), ("sm_90", 255, 0, 0.125), ("sm_90a", 64, 0, 0.5),
     ("sm_89", 40, 0, 1.0), ("sm_89", 64, 0, 32 / 48), ("sm_75", 64, 0, 1.0),
     ("sm_90", 32, 48 << 10, 1.0), ("sm_90", 32, 227 << 10, 0.5), ("sm_80", 32, 100 << 10, 0.5),
     ("sm_35", 32, 0, None), (None, 32, 0, None), ("sm_90", None, 0, None)],
)  # fmt: skip
def test_occupancy_limit(arch, registers, shared, limit):
    assert occupancy_limit(arch, registers, shared) == limit


# Quantiles of Student's t, two-sided 95 % and 99 %, as printed in every table of it.
@pytest.mark.parametrize(
    ("freedom", "t95", "t99"),
    [(1, 12.706, 63.657), (2, 4.303, 9.925), (3, 3.182, 5.841), (4, 2.776, 4.604),
     (5, 2.571, 4.032), (10, 2.228, 3.169), (30, 2.042, 2.750), (99, 1.984, 2.626)],
)  # fmt: skip
def test_student_t(freedom, t95, t99):
    assert stats.student_t(0.95, freedom) == pytest.approx(t95, abs=6e-4)
    assert stats.student_t(0.99, freedom) == pytest.approx(t99, abs=6e-4)


def test_interval_of_the_geo_mean():
    # ln 1, ln 2, ln 4: mean ln 2, standard deviation ln 2, t of 2 degrees 4.3027.
    half = 4.302653 * math.log(2) / math.sqrt(3)
    lo, hi = stats.geo_mean_interval([1, 2, 4])
    assert (lo, hi) == pytest.approx((2 * math.exp(-half), 2 * math.exp(half)), rel=1e-5)
    speedups = [1.0, 2.0, 4.0, 2.0, 3.0]
    lane = metrics.lane_summary([out(s) for s in speedups], 5)
    assert lane["geo_mean_speedup_correct_ci95"] == list(stats.geo_mean_interval(speedups))
    few = metrics.lane_summary([out(s) for s in speedups[:4]], 5)
    assert few["geo_mean_speedup_correct_ci95"] is None
    assert stats.geo_mean_interval([3.0, 3.0]) == pytest.approx((3.0, 3.0))
    assert all(map(math.isfinite, stats.geo_mean_interval([1e-300, 1e300])))


def test_a_tie_lies_within_one_percent_and_counts_as_undecided():
    def at(lo, hi, p=1):
        outcome = Outcome("t", True, True, True, "pass", (lo + hi) / 2, lo, hi)
        return write.verdict_at(outcome, p)

    assert at(0.995, 1.005) == "TIE"
    assert at(0.985, 1.005) == at(0.995, 1.02) == "UNDECIDED"
    assert at(1.001, 1.005) == "WIN"
    assert at(1.99, 2.01, p=2) == "TIE"
