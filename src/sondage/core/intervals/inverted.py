"""The interval of all values that a test does not reject, where the variance depends on the value."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy  # scipy.optimize is loaded when it is used
from scipy.special import stdtrit

from sondage.core.checks import require
from sondage.core.intervals.ends import checked, clipped, tail_level
from sondage.core.predictions import Floats
from sondage.core.results import Interval

__all__ = ["inverted_interval"]

STEPS = 200
"""At how many values on each side the first that is too far is looked for."""
FIRST_STEP = 1e-3
"""The first of them, as a share of the way to the end."""


def inverted_interval(
    value: float,
    variance_at: Callable[[Floats], tuple[Floats, Floats]],
    level: float = 0.95,
    *,
    bounds: tuple[float, float],
) -> Interval:
    r"""Return the values around an estimate that a test of each does not reject.

    From :math:`\hat\theta` outward, on either side to the first :math:`\theta` with

    .. math:: (\hat\theta - \theta)^2 > t_{\nu(\theta), 1 - \alpha / 2}^2 \, V(\theta) .

    Of a ratio whose denominator is positive for certain this is the part of Fieller's set that holds the estimate.

    Parameters
    ----------
    value : float
        The estimate.
    variance_at : callable
        From values, shape (n,), to the variance that the estimate has if they are true, and its degrees of freedom.
    level : float
        Confidence level, in (0, 1).
    bounds : tuple of float
        Range of possible values, both finite.

    Returns
    -------
    Interval
        Of kind ``"fieller"``.

    Raises
    ------
    InputError
        If the value or a bound is not finite, or the level is not in (0, 1).

    References
    ----------
    E. C. Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B, 1954, 175-185.

    Examples
    --------
    >>> ends = inverted_interval(0.5, lambda theta: (0.0025 * (1 + theta**2), 1e6 + 0 * theta), bounds=(0.0, 9.0))
    >>> round(ends.low, 4), round(ends.high, 4)  # as fieller_interval(1.0, 2.0, 0.01, 0.01, 0.0)
    (0.3946, 0.6151)
    """
    least, most = checked(bounds)
    upper = 1 - tail_level(level)
    require(all(map(math.isfinite, (value, least, most))), f"value {value} and bounds {bounds} must be finite")

    def beyond(theta: Floats) -> Floats:
        variance, df = variance_at(theta)
        return np.asarray((value - theta) ** 2 - stdtrit(df, upper) ** 2 * variance)

    def end(limit: float) -> float:
        steps = value + (limit - value) * np.concatenate([[0.0], np.geomspace(FIRST_STEP, 1.0, STEPS)])
        outside = np.flatnonzero(beyond(steps) > 0)
        if not len(outside) or outside[0] == 0:
            return limit if not len(outside) else value
        inside, out = steps[outside[0] - 1], steps[outside[0]]
        return float(scipy.optimize.brentq(lambda theta: float(beyond(np.array([theta]))[0]), inside, out))

    return clipped(end(least), end(most), level, "fieller", bounds)
