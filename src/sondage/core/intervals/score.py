"""The score interval of an estimate whose variance grows with its value."""

from __future__ import annotations

import math

from sondage.core.checks import require, require_error, require_number
from sondage.core.intervals.ends import UNBOUNDED, clipped, quantile
from sondage.core.results import Interval

__all__ = ["score_interval"]


def score_interval(
    value: float,
    std_error: float,
    slope: float,
    level: float = 0.95,
    *,
    df: float = math.inf,
    n: float = math.inf,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Interval:
    r"""Return the values that are not too far off for the variance they would have.

    The two roots :math:`\theta` of

    .. math:: (\hat\theta - \theta)^2 = t_{\nu, 1 - \alpha / 2}^2 \,
        \Big( \mathrm{se}^2 + c (\theta - \hat\theta) - \frac{(\theta - \hat\theta)^2}{n} \Big) .

    Parameters
    ----------
    value : float
        The estimate.
    std_error : float
        Its standard error at this value, 0 or more; 0 gives a single point.
    slope : float
        How fast the variance grows with the value, c, in units of the value.
    level : float
        Confidence level, in (0, 1).
    df : float
        Degrees of freedom of the standard error, above 0.
    n : float
        For a proportion the sample size that explains the standard error, above 0: its variance is a parabola.
    bounds : tuple of float
        Range of possible values.

    Returns
    -------
    Interval
        Of kind ``"score"``: longer on the side of the slope's sign than on the other.

    Raises
    ------
    InputError
        If ``value`` or ``slope`` is not finite, ``std_error`` is negative or NaN, or ``level``, ``df`` or ``n`` is
        outside its range.

    References
    ----------
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association, 1927, 209-212: of a proportion, with c = (1 - 2 value) / n.

    Examples
    --------
    >>> ends = score_interval(0.2, 0.04, 0.006, n=100)  # as wilson_interval(0.2, 100)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.1334, 0.2888)
    """
    require_number("value", value)
    require_number("slope", slope)
    require(n > 0, f"n {n} is not above 0")
    require_error(std_error)
    t = quantile(level, df)
    if std_error == 0:
        return clipped(value, value, level, "score", bounds)
    flat = 1.0 + t * t / n
    middle = t * t * slope / 2.0
    half = math.sqrt(middle * middle + t * t * std_error * std_error * flat)
    return clipped(value + (middle - half) / flat, value + (middle + half) / flat, level, "score", bounds)
