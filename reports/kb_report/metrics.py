"""The metrics, exactly as docs/metrics.md defines them. Pure functions of outcomes and N."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from kb_report import stats
from kb_report.model import JUDGED, PRIMARY_LANE

THRESHOLDS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
AREA_LIMIT = 2.0  # the area under the fast_p curve is taken over p in [0, AREA_LIMIT]
ENOUGH_FOR_INTERVAL = 5  # timed tasks; the interval of fewer spans orders of magnitude


@dataclass(frozen=True)
class Outcome:
    """What one candidate's result says, reduced to what metrics need.

    speedup, lo, hi: estimate and confidence limits of T_reference / T_candidate; None where there
    is no measurement on a GPU. hi is infinite where too few blocks were measured for a limit.
    """

    task: str
    judged: bool
    compiled: bool
    correct: bool
    verdict: str | None
    speedup: float | None = None
    lo: float | None = None
    hi: float | None = None

    def wins(self, p: float) -> bool:
        """Correct, and faster than p beyond the uncertainty of the measurement."""
        if p == 0:
            return self.correct
        return self.correct and self.lo is not None and self.lo > p

    def loses(self, p: float) -> bool:
        """Correct, and shown not to be faster than p."""
        return p != 0 and self.correct and self.hi is not None and self.hi <= p

    def ties(self, p: float) -> bool:
        """Neither, but within 1 % of p: more measuring would tell nothing that matters."""
        if p == 0 or not self.correct or self.lo is None or self.hi is None:
            return False
        decided = self.wins(p) or self.loses(p)
        return not decided and self.lo >= 0.99 * p and self.hi <= 1.01 * p

    def point(self, p: float) -> bool:
        """Upstream's rule: correct, and the estimate is above p."""
        if p == 0:
            return self.correct
        return self.correct and self.speedup is not None and self.speedup > p


def compiled(result: dict[str, Any]) -> bool:
    """True if the result shows that the candidate's file compiled."""
    status = (result.get("build") or {}).get("status")
    if status is not None:
        return status == "ok"
    return result["verdict"] != "compile_error" and result["stage"] != "build"


def is_functional(result: dict[str, Any]) -> bool:
    """True if the times of this result are no GPU measurement."""
    return result["backend"] != "cuda" or bool((result.get("timing") or {}).get("functional"))


def outcome(record: dict[str, Any], lane: str = PRIMARY_LANE) -> Outcome:
    """Reduce a candidate record to what metrics need, in one lane."""
    result = record["result"]
    if record["state"] != JUDGED or result is None:
        # "only built" still shows that it compiled.
        done = result is not None and compiled(result)
        return Outcome(record["task"], False, done, False, None)
    correct = result["verdict"] == "pass"
    timing = ((result.get("timing") or {}).get("lanes") or {}).get(lane)
    if not timing or is_functional(result):
        return Outcome(record["task"], True, compiled(result), correct, result["verdict"])
    return Outcome(
        record["task"],
        True,
        compiled(result),
        correct,
        result["verdict"],
        timing["speedup"],
        timing["ci_lo"],
        math.inf if timing["ci_hi"] is None else timing["ci_hi"],
    )


def best_of(turns: Sequence[Outcome]) -> Outcome:
    """One outcome of the turns of a task, in order: it succeeds wherever one of them does.

    The largest speed-up and the largest limits of the correct and timed turns, so that it is a WIN
    at p if one of them is, and a LOSS only if all are. The verdict is `pass`, or else the last one.
    """
    right = [o for o in turns if o.correct]
    timed = [o for o in right if o.speedup is not None]
    verdicts = [o.verdict for o in turns if o.verdict]
    return Outcome(
        turns[0].task,
        any(o.judged for o in turns),
        any(o.compiled for o in turns),
        bool(right),
        right[0].verdict if right else verdicts[-1] if verdicts else None,
        max((o.speedup for o in timed), default=None),
        max((o.lo for o in timed), default=None),
        max((o.hi for o in timed), default=None),
    )


def wilson(successes: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a share; (0, 1) for n = 0.

    Of the mean of n shares, whose sum is `successes`, it is wide enough: such a mean varies at most
    as much as one of n successes and failures.
    """
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / n
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # Exactly 0 and 1 at the ends, where rounding would leave 1e-17.
    lo = 0.0 if successes == 0 else max(0.0, (centre - spread) / scale)
    hi = 1.0 if successes == n else min(1.0, (centre + spread) / scale)
    return lo, hi


def share(count: float, n: int) -> float:
    """count / n, and 0 for an empty level."""
    return count / n if n else 0.0


def fast_p(outcomes: Iterable[Outcome], n: int, p: float, samples: int = 1) -> dict[str, Any]:
    """fast_p over `n` tasks with at most `samples` outcomes each: the mean over the samples.

    value (= lower) counts wins; upper adds what is undecided; point is upstream's rule. Wins and
    their like are numbers of outcomes.
    """
    slots = n * samples
    outcomes = list(outcomes)
    wins = sum(o.wins(p) for o in outcomes)
    losses = sum(o.loses(p) for o in outcomes)
    undecided = sum(o.correct for o in outcomes) - wins - losses
    points = sum(o.point(p) for o in outcomes)
    lo, hi = wilson(wins / samples, n)
    return {
        "value": share(wins, slots),
        "lower": share(wins, slots),
        "upper": share(wins + undecided, slots),
        "point": share(points, slots),
        "wins": wins,
        "undecided": undecided,
        "losses": losses,
        "points": points,
        "wilson95": [lo, hi],
    }


def geo_mean(values: Sequence[float]) -> float | None:
    """Geometric mean of positive numbers; None if there are none."""
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


def fast_p_area(speedups: Iterable[float], n: int, limit: float = AREA_LIMIT) -> float:
    """Area under p -> fast_p over [0, limit], divided by limit, so that it lies in [0, 1].

    `speedups` are those of the correct candidates; the integral of [s > p] over p is min(s, limit).
    """
    return math.fsum(min(s, limit) for s in speedups) / (n * limit) if n else 0.0


def lane_summary(outcomes: Iterable[Outcome], n: int, samples: int = 1) -> dict[str, Any]:
    """Every speed metric of one lane over `n` tasks with at most `samples` outcomes each.

    Means over several samples are those over all of their kernels. Their geo-mean has no interval:
    kernels of one task are not independent.
    """
    slots = n * samples
    outcomes = list(outcomes)
    timed = [o for o in outcomes if o.correct and o.speedup is not None]
    speedups = [o.speedup for o in timed]
    faster = [s for s in speedups if s > 1]
    enough = samples == 1 and len(speedups) >= ENOUGH_FOR_INTERVAL
    limits = stats.geo_mean_interval(speedups) if enough else None
    return {
        "timed": len(timed),
        "fast_p": {f"{p:g}": fast_p(outcomes, n, p, samples) for p in THRESHOLDS},
        "geo_mean_speedup_correct": geo_mean(speedups),
        "geo_mean_speedup_correct_ci95": limits and list(limits),
        "geo_mean_speedup_faster": geo_mean(faster),
        "faster": len(faster),
        "mean_speedup_correct": math.fsum(speedups) / len(speedups) if speedups else None,
        "fast_p_area_point": fast_p_area(speedups, slots),
        "fast_p_area_lower": fast_p_area((o.lo for o in timed), slots),
        "fast_p_area_upper": fast_p_area((o.hi for o in timed), slots),
    }


def counts(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Numbers of judged, compiled and correct candidates, and of each verdict."""
    outcomes = list(outcomes)
    return {
        "judged": sum(o.judged for o in outcomes),
        "compiled": sum(o.compiled for o in outcomes),
        "correct": sum(o.correct for o in outcomes),
        "verdicts": dict(Counter(o.verdict for o in outcomes if o.verdict)),
    }


def pass_at_k(n: int, c: int, k: int) -> float:
    """Unbiased probability that one of k samples drawn from n, of which c succeed, succeeds.

    1 - C(n-c, k) / C(n, k). Raises ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"pass_at_k needs 0 <= c <= n and 1 <= k <= n, got n={n}, c={c}, k={k}")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def k_values(n: int) -> list[int]:
    """Powers of two up to n, and n itself."""
    return sorted({1 << i for i in range(n.bit_length()) if 1 << i <= n} | {n}) if n else []


def over_samples(
    by_task: dict[str, Sequence[Outcome]], n_tasks: int, n_samples: int, functional: bool
) -> dict[str, Any]:
    """pass@k and fast_p@k of `n_samples` independent samples per task.

    A sample that a task lacks is one that failed; a task without any counts 0 in the mean over
    the `n_tasks` tasks.
    """
    ks = k_values(n_samples)

    def mean(test: Any) -> dict[str, float]:
        return {
            str(k): share(
                math.fsum(
                    pass_at_k(n_samples, sum(map(test, outs)), k) for outs in by_task.values()
                ),
                n_tasks,
            )
            for k in ks
        }

    found: dict[str, Any] = {"pass_at_k": mean(lambda o: o.correct)}
    if not functional:
        positive = [p for p in THRESHOLDS if p > 0]
        found["fast_p_at_k"] = {f"{p:g}": mean(lambda o, p=p: o.wins(p)) for p in positive}
        found["fast_p_point_at_k"] = {f"{p:g}": mean(lambda o, p=p: o.point(p)) for p in positive}
    return found


def over_turns(
    by_task: dict[str, Sequence[Outcome | None]], n_tasks: int, n_turns: int, functional: bool
) -> dict[str, Any]:
    """fast_p@N over refinement turns: one of the first N turns of a task succeeds.

    `by_task` holds per task one entry per turn, in order; None where a turn is missing.
    """

    def reach(test: Any) -> dict[str, float]:
        return {
            str(t): share(
                sum(any(o is not None and test(o) for o in outs[:t]) for outs in by_task.values()),
                n_tasks,
            )
            for t in range(1, n_turns + 1)
        }

    found: dict[str, Any] = {"fast_p_at_n": {"0": reach(lambda o: o.correct)}}
    if not functional:
        for p in THRESHOLDS[1:]:
            found["fast_p_at_n"][f"{p:g}"] = reach(lambda o, p=p: o.wins(p))
    return found
