"""The quantile of an interval, and its ends inside the range of possible values."""

from __future__ import annotations

import math

from scipy import special

from sondage.core.checks import require, require_error, require_level, require_number
from sondage.core.results import Interval

UNBOUNDED = (-math.inf, math.inf)
MOST_LEVEL = 1.0 - 1e-11
"""Of an interval whose critical value nothing reaches."""


def quantile(level: float, df: float | None = None) -> float:
    """Return the two-sided quantile of Student's t, or of the normal distribution."""
    upper = 1 - tail_level(level)
    if df is None:
        return float(special.ndtri(upper))
    require(df > 0, f"df {df} is not above 0")
    return float(special.ndtri(upper) if math.isinf(df) else special.stdtrit(df, upper))


def tail_level(level: float) -> float:
    """Return the probability that a two-sided interval leaves on each side."""
    require_level("level", level)
    return (1 - level) / 2


def level_at(critical: float) -> float:
    """Return the level of a two-sided interval with this normal quantile, above 0; less than 1 however large it is."""
    return min(1.0 - 2.0 * float(special.ndtr(-critical)), MOST_LEVEL)


def around(
    value: float, std_error: float, multiple: float, level: float, kind: str, bounds: tuple[float, float]
) -> Interval:
    """Return the value plus and minus a multiple of its standard error, inside the bounds."""
    require_number("value", value)
    require_error(std_error)
    half = multiple * std_error if std_error > 0 else 0.0
    return clipped(value - half, value + half, level, kind, bounds)


def clipped(low: float, high: float, level: float, kind: str, bounds: tuple[float, float]) -> Interval:
    """Return the interval with both ends moved into the bounds."""
    least, most = checked(bounds)
    return Interval(float(min(max(low, least), most)), float(min(max(high, least), most)), level, kind)


def checked(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the bounds if they are in order."""
    require(bounds[0] < bounds[1], f"bounds {bounds}: the first must be below the second")
    return bounds
