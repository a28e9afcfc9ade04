"""Statistics for comparisons: ratios of measured speed-ups, paired tests, ranks."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist


def ratio_interval(
    a: tuple[float, float, float], b: tuple[float, float, float]
) -> tuple[float, float, float]:
    """b / a of two independent estimates (value, lo, hi), with an interval.

    The interval combines the distances to the limits in quadrature on the logarithmic scale (the
    MOVER method of Zou and Donner), so it has the confidence that both inputs have.
    """
    (va, la, ha), (vb, lb, hb) = a, b
    d = math.log(vb) - math.log(va)
    down = math.hypot(_gap(lb, vb), _gap(va, ha))
    up = math.hypot(_gap(vb, hb), _gap(la, va))
    return math.exp(d), math.exp(d - down), math.exp(min(d + up, 700.0))


def _gap(low: float, high: float) -> float:
    """ln(high / low), 0 where the limits are out of order, endless where low is 0."""
    return max(0.0, math.log(high / low)) if low > 0 else math.inf


def percentile_90(values: Sequence[float]) -> float:
    """The value that a tenth of them exceed, one of them."""
    return sorted(values)[math.ceil(0.9 * len(values)) - 1]


def log_error(value: float, limit: float, confidence: float) -> float:
    """Standard error of ln(value) on the side of one confidence limit, at least 1e-6."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    if limit <= 0:
        return math.inf
    return max(abs(math.log(limit / value)) / z, 1e-6)


def geo_mean_interval(
    values: Sequence[float], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Limits of the geometric mean of positive numbers from Student's t; None for fewer than two."""
    n = len(values)
    if n < 2:
        return None
    logs = [math.log(v) for v in values]
    mean = math.fsum(logs) / n
    half = student_t(confidence, n - 1) * log_spread(values) / math.sqrt(n)
    return math.exp(max(mean - half, -700.0)), math.exp(min(mean + half, 700.0))


@cache
def student_t(confidence: float, freedom: int) -> float:
    """The t with P(-t < T < t) = confidence for Student's distribution, by bisection."""
    low, high = 0.0, 1.0
    while _central_t(high, freedom) < confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if _central_t(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _central_t(t: float, freedom: int) -> float:
    """P(-t < T < t) for whole degrees of freedom: Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 or not odd else 0.0
    for i in range(2 + odd, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (i - 1) / i
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


def bootstrap_means(
    columns: Sequence[Sequence[float]], confidence: float = 0.95, draws: int = 2000
) -> list[tuple[float, float]]:
    """Percentile intervals of the mean of each column, over rows drawn again with replacement.

    All columns are over the same rows, which are drawn for all of them together, and always alike.
    """
    rows = range(len(columns[0]) if columns else 0)
    if not rows:
        return [(0.0, 0.0) for _ in columns]
    generator = random.Random(0)
    means: list[list[float]] = [[] for _ in columns]
    for _ in range(draws):
        picks = generator.choices(rows, k=len(rows))
        for column, found in zip(columns, means):
            found.append(math.fsum(column[i] for i in picks) / len(rows))
    cut = round(draws * (1 - confidence) / 2)
    return [(found[cut], found[-1 - cut]) for found in map(sorted, means)]


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided p-value that neither of two paired successes is more frequent."""
    n = only_a + only_b
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, i) for i in range(min(only_a, only_b) + 1)) / 2**n
    return min(1.0, 2 * tail)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm-Bonferroni adjusted p-values, in the given order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = running
    return adjusted


def alike(
    count: int, different: Sequence[tuple[int, int]], limit: int = 26
) -> list[list[int]] | None:
    """The largest groups of 0 .. count - 1 of which no two are `different`, in order.

    By insertion and absorption (Piepho 2004): each pair splits the groups that hold both, and a
    group within another one goes. None where that gives more than `limit` groups.
    """
    groups = [frozenset(range(count))]
    for a, b in different:
        split = {
            part for g in groups for part in ((g - {a}, g - {b}) if a in g and b in g else (g,))
        }
        groups = [g for g in split if not any(g < other for other in split)]
        if len(groups) > limit:
            return None
    return sorted(sorted(g) for g in groups if g)


def ranks(values: Sequence[float]) -> list[int]:
    """Rank of each value, 1 for the largest; equal values share the better rank."""
    return [1 + sum(other > v for other in values) for v in values]


def kendall_tau(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Kendall's tau-b of two orders of the same things; None if one of them has no order."""
    agree = ties_a = ties_b = pairs = 0
    for i in range(len(a)):
        for j in range(i):
            x = (a[i] > a[j]) - (a[i] < a[j])
            y = (b[i] > b[j]) - (b[i] < b[j])
            agree += x * y
            ties_a += x == 0
            ties_b += y == 0
            pairs += 1
    scale = math.sqrt((pairs - ties_a) * (pairs - ties_b))
    return agree / scale if scale else None


def log_spread(values: Sequence[float]) -> float:
    """Standard deviation of the logarithms (n - 1 in the denominator); 0 for fewer than two."""
    if len(values) < 2:
        return 0.0
    logs = [math.log(v) for v in values]
    mean = math.fsum(logs) / len(logs)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in logs) / (len(logs) - 1))
