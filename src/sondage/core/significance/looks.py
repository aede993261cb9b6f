r"""Group-sequential tests: a test repeated at a few looks, planned by their information.

At look k the standardised statistic is compared with a critical value :math:`c_k`, such that the null hypothesis is
rejected at any look with probability :math:`\alpha`. With information fractions :math:`r_1 < \dots < r_K = 1`
(information is 1 / standard error squared, over that of the last look) the statistics are jointly normal under the
null hypothesis, :math:`Z_k \sqrt{r_k}` being a Brownian motion at time :math:`r_k`. The probability of passing the
looks before, as a function of where the motion stands, is carried from look to look by Gauss-Legendre quadrature.

Looks at all numbers of labels need `sondage.core.sequences`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy  # scipy.optimize is loaded when it is used
from numpy.typing import ArrayLike
from scipy import special

from sondage.core.checks import require, require_level
from sondage.core.predictions import Floats
from sondage.core.significance.walks import start_walk

__all__ = [
    "exit_probabilities",
    "obrien_fleming_bounds",
    "obrien_fleming_spending",
    "pocock_bounds",
    "pocock_spending",
    "spending_bounds",
]

Spending = Callable[[Floats, float], Floats]

LEAST_STEP = 1e-3
"""Share of all information between two looks."""


def exit_probabilities(fractions: ArrayLike, critical: ArrayLike, *, sides: int = 2) -> Floats:
    """Return the null probabilities of crossing first at each look.

    Parameters
    ----------
    fractions : array_like of float, shape (K,)
        Information fractions, ascending in (0, 1], at least 0.001 apart.
    critical : array_like of float, shape (K,)
        Critical values; infinite for a look that cannot reject.
    sides : {1, 2}
        1: the statistic crosses upwards only.

    Raises
    ------
    InputError
        If the fractions are not as above, the shapes differ, or sides is neither 1 nor 2.

    References
    ----------
    P. Armitage, C. K. McPherson and B. C. Rowe, Repeated significance tests on accumulating data, Journal of the
    Royal Statistical Society A, 1969, 235-244.

    Examples
    --------
    >>> exit_probabilities([0.2, 0.4, 0.6, 0.8, 1.0], [1.96] * 5).sum().round(4).tolist()  # five looks at 5 %
    0.1417
    """
    times = _checked(fractions, sides)
    values = np.asarray(critical, dtype=float)
    require(values.shape == times.shape, f"critical values of shape {values.shape} for {len(times)} looks")
    walk, found = start_walk(times, sides), []
    for time, value in zip(times.tolist(), values.tolist(), strict=True):
        found.append(walk.exit(time, value))
        walk = walk.passed(time, value)
    return np.array(found)


def pocock_bounds(fractions: ArrayLike, alpha: float = 0.05, *, sides: int = 2) -> Floats:
    r"""Return equal critical values for all looks, :math:`c_k = c`.

    Parameters
    ----------
    fractions : array_like of float, shape (K,)
        Planned information fractions, ascending in (0, 1], at least 0.001 apart; the last one is 1.
    alpha : float
        Type I error over all looks, in (0, 1).
    sides : {1, 2}
        1: only large values reject.

    Returns
    -------
    ndarray of float, shape (K,)
        Critical values of the standardised statistic.

    Raises
    ------
    InputError
        If an argument is outside the range given above.

    References
    ----------
    S. J. Pocock, Group sequential methods in the design and analysis of clinical trials, Biometrika, 1977, 191-199.

    Examples
    --------
    >>> pocock_bounds([0.2, 0.4, 0.6, 0.8, 1.0]).round(3).tolist()
    [2.413, 2.413, 2.413, 2.413, 2.413]
    """
    return _shaped(_planned(fractions, sides), np.ones(np.size(fractions)), alpha, sides)


def obrien_fleming_bounds(fractions: ArrayLike, alpha: float = 0.05, *, sides: int = 2) -> Floats:
    r"""Return critical values that are strict at early looks, :math:`c_k = c / \sqrt{r_k}`.

    Parameters
    ----------
    fractions, alpha, sides
        As for `pocock_bounds`.

    Returns
    -------
    ndarray of float, shape (K,)
        Critical values of the standardised statistic; the last is little above that of a single test.

    Raises
    ------
    InputError
        As for `pocock_bounds`.

    References
    ----------
    P. C. O'Brien and T. R. Fleming, A multiple testing procedure for clinical trials, Biometrics, 1979, 549-556.

    Examples
    --------
    >>> obrien_fleming_bounds([0.2, 0.4, 0.6, 0.8, 1.0]).round(3).tolist()
    [4.562, 3.226, 2.634, 2.281, 2.04]
    """
    times = _planned(fractions, sides)
    return _shaped(times, 1.0 / np.sqrt(times), alpha, sides)


def obrien_fleming_spending(fractions: Floats, alpha: float) -> Floats:
    r"""Return what a one-sided test spends up to each fraction: :math:`2 - 2 \Phi(z_{1 - \alpha/2} / \sqrt r)`.

    Examples
    --------
    >>> obrien_fleming_spending(np.array([0.5, 1.0]), 0.05).round(4).tolist()
    [0.0056, 0.05]
    """
    return np.asarray(2.0 * special.ndtr(special.ndtri(alpha / 2.0) / np.sqrt(fractions)))


def pocock_spending(fractions: Floats, alpha: float) -> Floats:
    r"""Return what a one-sided test spends up to each fraction: :math:`\alpha \ln(1 + (e - 1) r)`.

    Examples
    --------
    >>> pocock_spending(np.array([0.5, 1.0]), 0.05).round(4).tolist()
    [0.031, 0.05]
    """
    return np.asarray(alpha * np.log1p((math.e - 1.0) * fractions))


def spending_bounds(
    fractions: ArrayLike, alpha: float = 0.05, *, sides: int = 2, spending: Spending = obrien_fleming_spending
) -> Floats:
    r"""Return critical values that spend the type I error as information comes in.

    :math:`c_k` is such that the probability of crossing first at look k is what the spending function has grown by.
    Looks need not be planned, only the information at the end; a value does not depend on later looks.

    Parameters
    ----------
    fractions : array_like of float, shape (K,)
        Information fractions of the looks so far, ascending in (0, 1], at least 0.001 apart.
    alpha : float
        Type I error once all information is in, in (0, 1).
    sides : {1, 2}
        2: each side spends :math:`\alpha / 2`.
    spending : callable
        From fractions and level to the one-sided error spent: `obrien_fleming_spending`, `pocock_spending`, ...

    Returns
    -------
    ndarray of float, shape (K,)
        Critical values; infinite where nothing to speak of is spent.

    Raises
    ------
    InputError
        If an argument is outside the range given above.

    References
    ----------
    K. K. G. Lan and D. L. DeMets, Discrete sequential boundaries for clinical trials, Biometrika, 1983, 659-663.

    Examples
    --------
    >>> spending_bounds([0.2, 0.4, 0.6, 0.8, 1.0]).round(2).tolist()
    [4.88, 3.36, 2.68, 2.29, 2.03]
    """
    times = _checked(fractions, sides)
    require_level("alpha", alpha)
    spent = np.diff(sides * spending(times, alpha / sides), prepend=0.0)
    walk, found = start_walk(times, sides), []
    for time, part in zip(times.tolist(), spent.tolist(), strict=True):
        found.append(walk.critical(time, part))
        walk = walk.passed(time, found[-1])
    return np.array(found)


def _shaped(times: Floats, shape: Floats, alpha: float, sides: int) -> Floats:
    """Return the multiple of a shape that is crossed with probability alpha."""
    require_level("alpha", alpha)

    def gap(factor: float) -> float:
        return float(exit_probabilities(times, factor * shape, sides=sides).sum()) - alpha

    single, each = (-float(special.ndtri(alpha / sides / tests)) for tests in (1, len(times)))
    factor = single if gap(single) <= 0 else float(scipy.optimize.brentq(gap, single, each, xtol=1e-10))
    return factor * shape


def _checked(fractions: ArrayLike, sides: int) -> Floats:
    times = np.asarray(fractions, dtype=float)
    require(times.ndim == 1 and times.size > 0, f"fractions of shape {times.shape}; one for each of 1 or more looks")
    apart = np.diff(times, prepend=0.0).min() >= LEAST_STEP * (1 - 1e-9)
    require(bool(apart and times[-1] <= 1), f"fractions {times} are not {LEAST_STEP} or more apart within (0, 1]")
    require(sides in (1, 2), f"sides {sides} is neither 1 nor 2")
    return times


def _planned(fractions: ArrayLike, sides: int) -> Floats:
    times = _checked(fractions, sides)
    require(times[-1] == 1, f"the last of the fractions {times} is not 1")
    return times
