"""Fieller's interval of a ratio of two estimates."""

from __future__ import annotations

import math

from sondage.core.checks import require
from sondage.core.intervals.ends import UNBOUNDED, checked, clipped, quantile
from sondage.core.results import Interval

__all__ = ["fieller_interval"]


def fieller_interval(
    numerator: float,
    denominator: float,
    var_numerator: float,
    var_denominator: float,
    covariance: float,
    level: float = 0.95,
    *,
    df: float | None = None,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Interval:
    r"""Return Fieller's interval of a ratio of two normal estimates.

    All ratios :math:`t` for which :math:`a - t b` is within :math:`z` of its standard errors of 0:

    .. math:: (b^2 - z^2 V_{bb}) t^2 - 2 (a b - z^2 V_{ab}) t + a^2 - z^2 V_{aa} \le 0.

    Parameters
    ----------
    numerator, denominator : float
        The estimates :math:`a` and :math:`b`.
    var_numerator, var_denominator, covariance : float
        Their variances :math:`V_{aa}` and :math:`V_{bb}`, 0 or more, and their covariance :math:`V_{ab}`, at most the
        root of the variances' product.
    level : float
        Confidence level, in (0, 1).
    df : float, optional
        Degrees of freedom of the variances; Student's quantile then takes the place of :math:`z`.
    bounds : tuple of float
        Range of possible ratios.

    Returns
    -------
    Interval
        Of kind ``"fieller"``: the smallest interval that holds all such :math:`t` inside ``bounds``. See the notes.

    Raises
    ------
    InputError
        If a variance is negative, the covariance too large, a number not finite, or the denominator and its variance
        are both 0.

    Notes
    -----
    The set is bounded only if the denominator differs significantly from 0, :math:`b^2 > z^2 V_{bb}`. Otherwise it is
    the whole line, or the line without a gap. Ends are infinite then, as an interval cannot show the gap; where
    ``bounds`` cut off one side of the gap, what remains of the other is returned. If no ratio inside ``bounds`` is
    left, which takes an estimate outside them, a bounded set gives the nearer bound and an unbounded one both.

    References
    ----------
    E. C. Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B, 1954, 175-185.

    Examples
    --------
    >>> ends = fieller_interval(1.0, 2.0, 0.01, 0.01, 0.0)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.3946, 0.6151)
    >>> fieller_interval(1.0, 0.1, 0.01, 0.01, 0.0).width
    inf
    """
    square = quantile(level, df) ** 2
    given = (numerator, denominator, var_numerator, var_denominator, covariance)
    require(all(map(math.isfinite, given)), f"estimates and variances {given} must be finite")
    require(min(var_numerator, var_denominator) >= 0, f"variances {given[2:4]} must be 0 or more")
    limit = math.sqrt(var_numerator) * math.sqrt(var_denominator)
    require(abs(covariance) <= limit * (1 + 1e-9), f"covariance {covariance} is beyond {limit}, what variances allow")
    require(denominator != 0 or var_denominator > 0, "denominator 0 with variance 0: the ratio does not exist")
    a = denominator**2 - square * var_denominator
    b = numerator * denominator - square * covariance
    c = numerator**2 - square * var_numerator
    return clipped(*_solutions(a, b, c, checked(bounds)), level, "fieller", bounds)


def _solutions(a: float, b: float, c: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the hull of {t in bounds: a t^2 - 2 b t + c <= 0}; without the bounds where all of it lies on one side."""
    if a == 0:
        return (-math.inf, c / (2 * b)) if b < 0 else (c / (2 * b), math.inf) if b > 0 else UNBOUNDED
    root = math.sqrt(max(0.0, b * b - a * c))
    far = b + math.copysign(root, b)  # the sum that does not cancel; the other root follows from their product
    low, high = sorted((far / a, c / far if far else 0.0))
    if a > 0:
        return low, high
    if b * b <= a * c or (low < bounds[0] and high > bounds[1]):
        return UNBOUNDED
    return (high, math.inf) if low < bounds[0] else (-math.inf, low) if high > bounds[1] else UNBOUNDED
