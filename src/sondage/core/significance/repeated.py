"""p-values and intervals of group-sequential tests that hold at whichever look one stops."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy  # scipy.optimize is loaded when it is used
from numpy.typing import ArrayLike

from sondage.core.checks import require
from sondage.core.intervals.ends import UNBOUNDED, around
from sondage.core.predictions import Floats
from sondage.core.results import Interval

__all__ = ["MOST_EXTREME", "repeated_interval", "repeated_pvalues"]

Bounds = Callable[..., Floats]

LEAST_LEVEL, MOST_LEVEL = 1e-12, 1 - 1e-6
"""Between which the smallest level is looked for that a statistic would have reached."""
MOST_EXTREME = 40.0
"""Statistics beyond this are cut off: their normal tails are 0."""


def repeated_pvalues(statistics: ArrayLike, fractions: ArrayLike, bounds: Bounds, *, sides: int = 2) -> Floats:
    r"""Return p-values that hold at whichever look one stops.

    At look k it is the smallest :math:`\alpha` whose critical values the statistic would have reached there.

    Parameters
    ----------
    statistics : array_like of float, shape (J,)
        Standardised statistics of the looks so far, at most K.
    fractions : array_like of float, shape (K,)
        As for ``bounds``.
    bounds : callable
        `pocock_bounds`, `obrien_fleming_bounds` or `spending_bounds`; options by `functools.partial`.
    sides : {1, 2}
        1: only large values reject.

    Returns
    -------
    ndarray of float, shape (J,)
        p-values, one a look; between 1e-12 and 1.

    Raises
    ------
    InputError
        If there are more statistics than fractions, one is NaN, or as for ``bounds``.

    References
    ----------
    C. Jennison and B. W. Turnbull, Group Sequential Methods with Applications to Clinical Trials, 2000, chapter 9.

    Examples
    --------
    >>> from sondage.core.significance import pocock_bounds
    >>> repeated_pvalues([1.0, 2.413], [0.2, 0.4, 0.6, 0.8, 1.0], pocock_bounds).round(3).tolist()
    [0.658, 0.05]
    """
    given = np.asarray(statistics, dtype=float)
    values = np.abs(given) if sides == 2 else given
    require(values.ndim == 1 and values.size <= np.size(fractions), f"{values.size} statistics for these looks")
    require(not np.isnan(values).any(), "a statistic is NaN")
    return np.array(
        [
            _smallest_level(look, float(value), fractions=fractions, bounds=bounds, sides=sides)
            for look, value in enumerate(values)
        ]
    )


def repeated_interval(
    value: float, std_error: float, critical: float, level: float = 0.95, *, bounds: tuple[float, float] = UNBOUNDED
) -> Interval:
    r"""Return the interval of one look that holds together with those of all: :math:`\hat\theta \pm c_k \mathrm{se}`.

    Parameters
    ----------
    value, std_error : float
        Estimate and standard error at the look.
    critical : float
        The look's two-sided critical value for :math:`\alpha = 1 - \mathrm{level}`.
    level : float
        Level of the critical values, in (0, 1).
    bounds : tuple of float
        Range of possible values.

    Raises
    ------
    InputError
        If the standard error is negative or NaN, or the value is not finite.

    References
    ----------
    C. Jennison and B. W. Turnbull, Group Sequential Methods with Applications to Clinical Trials, 2000, chapter 9.

    Examples
    --------
    >>> repeated_interval(0.3, 0.1, 2.5).high
    0.55
    """
    return around(value, std_error, critical, level, "repeated", bounds)


def _smallest_level(look: int, value: float, *, fractions: ArrayLike, bounds: Bounds, sides: int) -> float:
    """Return the smallest level whose critical value at a look is reached."""

    def gap(log_level: float) -> float:
        return min(float(bounds(fractions, math.exp(log_level), sides=sides)[look]), MOST_EXTREME) - value

    low, high = math.log(LEAST_LEVEL), math.log(MOST_LEVEL)
    if gap(high) > 0:
        return 1.0
    return LEAST_LEVEL if gap(low) <= 0 else math.exp(scipy.optimize.brentq(gap, low, high, xtol=1e-9))
