"""An interval, and the outcome of a test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

__all__ = ["Interval", "Significance"]


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        Ends, in the units of the measure; infinite where unbounded.
    level : float
        Confidence level, in (0, 1).
    kind : str
        How it was made, e.g. ``"wald"``, ``"wilson"``, ``"exact"``.

    Examples
    --------
    >>> 0.2 in Interval(0.1, 0.3, 0.95, "wald")
    True
    """

    low: float
    high: float
    level: float
    kind: str

    @property
    def width(self) -> float:
        """High minus low."""
        return self.high - self.low

    def __contains__(self, value: object) -> bool:
        """Return whether a number lies inside; one that rounding alone keeps out, as an exact result's may be, does."""
        if not isinstance(value, Real):
            return False
        number = float(value)
        least = 1e-12 * (max(map(abs, filter(math.isfinite, (self.low, self.high))), default=0.0) or 1e-3)
        return self.low <= number <= self.high or min(abs(number - self.low), abs(number - self.high)) <= least


@dataclass(frozen=True)
class Significance:
    """The outcome of a statistical test.

    Attributes
    ----------
    statistic : float
        Value of the test statistic.
    pvalue : float
        Probability, under the null hypothesis, of a statistic at least as extreme.
    alternative : str
        ``"two-sided"``, ``"less"`` or ``"greater"``.
    kind : str
        Name of the test.
    df : float or tuple of float, optional
        Degrees of freedom, where the test has them.
    """

    statistic: float
    pvalue: float
    alternative: str
    kind: str
    df: float | tuple[float, ...] | None = None
