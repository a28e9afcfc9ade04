"""Geometry of the page's charts: numbers in, SVG path data and coordinates out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kb_report.metrics import Outcome


def _f(value: float) -> str:
    """A coordinate with one decimal, short."""
    return f"{value:.1f}".removesuffix(".0")


class LogAxis:
    """Speed-ups on a logarithmic axis of `length` pixels from 1/span to span."""

    def __init__(self, length: float, span: float = 4.0):
        self.length = length
        self.span = span

    def at(self, value: float) -> float:
        """Pixel of a speed-up; values beyond the ends stay at the ends."""
        if value <= 0:
            return 0.0
        x = 0.5 + math.log(value) / (2 * math.log(self.span))
        return min(max(x, 0.0), 1.0) * self.length


# The style sheet draws the lines at 1/2, 1 and 2, a quarter of this apart.
BAR_AXIS = LogAxis(160)


def interval_bar(speedup: float, lo: float, hi: float) -> dict[str, str]:
    """The bar from 1 to a speed-up in a table row, and the path of its interval with both ends."""
    x1, x2 = BAR_AXIS.at(lo), BAR_AXIS.at(hi)
    middle = (x1 + x2) / 2
    if x2 - x1 < 2:  # stays visible where the interval is narrower than a pixel
        x1, x2 = middle - 1, middle + 1
    one, x = BAR_AXIS.at(1.0), BAR_AXIS.at(speedup)
    return {
        "x": _f(min(one, x)),
        "width": _f(abs(x - one)),
        "interval": f"M{_f(x1)} 2v10m0-5H{_f(x2)}m0-5v10",
    }


# Both charts of a level are drawn in a box of 380 x 220 pixels.
CHART_RIGHT = 376
CURVE_LEFT, CURVE_RIGHT, CURVE_TOP, CURVE_BOTTOM = 38, 372, 10, 190
CURVE_P_MAX = 3.0


def _px(p: float) -> float:
    return CURVE_LEFT + (CURVE_RIGHT - CURVE_LEFT) * p / CURVE_P_MAX


def _py(share: float) -> float:
    return CURVE_BOTTOM - (CURVE_BOTTOM - CURVE_TOP) * share


def curve_axes() -> dict[str, list[dict[str, str]]]:
    """Grid lines of the curve chart with their labels."""
    return {
        "x": [{"at": _f(_px(p)), "label": f"{p:g}"} for p in (0, 0.5, 1, 1.5, 2, 2.5, 3)],
        "y": [{"at": _f(_py(s)), "label": f"{s:.0%}"} for s in (0, 0.25, 0.5, 0.75, 1)],
    }


def _steps(limits: Sequence[float], always: int, n: int) -> list[tuple[float, float]]:
    """Corners of p -> (always + number of limits above p) / n over [0, CURVE_P_MAX]."""
    limits = sorted(x for x in limits if x > 0)
    share = (always + len(limits)) / n
    corners = [(0.0, share)]
    for i, limit in enumerate(limits):
        if limit > CURVE_P_MAX:
            break
        corners.append((limit, share))
        share = (always + len(limits) - i - 1) / n
        corners.append((limit, share))
    corners.append((CURVE_P_MAX, share))
    return corners


def curve(outcomes: Sequence[Outcome], n: int) -> dict[str, Any]:
    """The fast_p curve over `n` samples of tasks.

    line: path of what is won; band: path of the area up to what is not yet lost.
    """
    correct = [o for o in outcomes if o.correct]
    untimed = sum(o.lo is None for o in correct)
    lower = _steps([o.lo for o in correct if o.lo is not None], 0, n)
    upper = _steps([o.hi for o in correct if o.hi is not None], untimed, n)
    to_path = lambda corners: "L".join(f"{_f(_px(p))} {_f(_py(s))}" for p, s in corners)  # noqa: E731
    return {
        "line": "M" + to_path(lower),
        "band": "M" + to_path(lower) + "L" + to_path(upper[::-1]) + "Z",
        "end_y": _f(_py(lower[-1][1])),
    }


FALL_LEFT, FALL_LENGTH, FALL_BOTTOM = 42, 180, 190


def reach(outcomes: Sequence[Outcome]) -> float:
    """Power of two that bounds the speed-ups and their inverses, from 2 to 64."""
    values = [o.speedup for o in outcomes if o.correct and o.speedup is not None]
    far = max((max(v, 1 / v) for v in values), default=1.0)
    return next((s for s in (2.0, 4.0, 8.0, 16.0, 32.0) if s >= far), 64.0)


def waterfall(
    outcomes: Sequence[Outcome], names: Sequence[str], span: float
) -> dict[str, Any] | None:
    """Every timed and correct task in order of its speed-up, with its interval.

    The axis goes from 1/span to span; None if nothing was timed.
    """
    timed = sorted(
        ((o, name) for o, name in zip(outcomes, names) if o.correct and o.speedup is not None),
        key=lambda pair: (-pair[0].speedup, pair[1]),
    )
    if not timed:
        return None
    step = (CHART_RIGHT - FALL_LEFT) / len(timed)
    axis = LogAxis(FALL_LENGTH, span)
    width = min(max(step * 0.8, 1.0), 9.0)
    one = FALL_BOTTOM - axis.at(1.0)
    marks, intervals = [], []
    for i, (o, name) in enumerate(timed):
        x, y = FALL_LEFT + i * step, FALL_BOTTOM - axis.at(o.speedup)
        marks.append(
            {
                "x": _f(x),
                "y": _f(min(y, one)),
                "height": _f(max(abs(y - one), 1)),
                "kind": "w" if o.wins(1) else "l" if o.loses(1) else "u",
                "name": name,
                "title": f"{o.task} {o.speedup:.3g}\u00d7",
            }
        )
        top, bottom = FALL_BOTTOM - axis.at(o.hi), FALL_BOTTOM - axis.at(o.lo)
        middle, half = (top + bottom) / 2, max((bottom - top) / 2, 0.8)
        intervals.append(f"M{_f(x + width / 2)} {_f(middle - half)}V{_f(middle + half)}")
    powers = range(-int(math.log2(span)), int(math.log2(span)) + 1)
    ticks = [{"y": _f(FALL_BOTTOM - axis.at(2.0**i)), "label": _ratio(i)} for i in powers]
    return {"marks": marks, "intervals": "".join(intervals), "width": _f(width), "ticks": ticks}


def _ratio(power: int) -> str:
    """2^power as a factor: 4x, 1x, 1/4x."""
    return f"{2**power}\u00d7" if power >= 0 else f"1/{2**-power}\u00d7"


STRIP_POINTS = 60


def sample_strip(values: Sequence[float], lo: float, hi: float) -> dict[str, Any]:
    """Single speed-ups in the order measured, around the interval [lo, hi].

    `values` must not be empty; an endless `hi` is drawn up to the largest of them. Of more than
    STRIP_POINTS every n-th is drawn, and `every` says which n.
    """
    every = -(-len(values) // STRIP_POINTS)
    values = values[::every]
    width, height = 420, 70
    low, high = min(*values, lo), max(*values, hi)
    if not math.isfinite(high):
        high = hi = max(values)
    margin = (high - low) * 0.08 or high * 0.01
    low, high = low - margin, high + margin
    y = lambda v: height - 4 - (height - 8) * (v - low) / (high - low)  # noqa: E731
    step = (width - 60) / max(len(values), 1)
    return {
        "points": [(_f(54 + i * step), _f(y(v))) for i, v in enumerate(values)],
        "band_y": _f(y(hi)),
        "band_height": _f(max(y(lo) - y(hi), 1)),
        "top": f"{high:.3g}\u00d7",
        "bottom": f"{low:.3g}\u00d7",
        "one": _f(y(1)) if low < 1 < high else None,
        "every": every,
    }
