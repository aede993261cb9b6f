r"""What to expect before any label: the variance of a design at a budget, and the budget for a precision.

Under the belief, with :math:`\pi_i = \min(1, k u_i)` spending the budget, an estimator whose residual has
believed root mean square :math:`r_i` has variance :math:`\sum_i \frac{1 - \pi_i}{\pi_i} b_i^2 r_i^2`; n independent
draws have :math:`\frac1n \sum_i b_i^2 r_i^2 / q_i` (thesis 3.12).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.core.draws import filled_factor
from sondage.core.predictions import Floats

__all__ = ["budget_for", "poisson_variance", "repeated_variance"]


def poisson_variance(
    sizes: Floats, residuals: Floats, budget: float, costs: Floats | None = None, counts: Floats | None = None
) -> float:
    """Return the believed variance of a draw without replacement.

    Parameters
    ----------
    sizes : ndarray of float, shape (U,)
        Sizes, not negative.
    residuals : ndarray of float, shape (U,)
        Base weight times root mean square of the residual.
    budget : float
        Labels, or cost.
    costs : ndarray of float, shape (U,), optional
        Cost of each label.
    counts : ndarray of float, shape (U,), optional
        How many units there are of each kind; residuals are then roots of sums of squares.

    Examples
    --------
    >>> round(poisson_variance(np.ones(100), np.full(100, 0.004), 20), 6)  # (1 - n/N) s^2 / n
    0.0064
    """
    inclusion = np.minimum(1.0, filled_factor(sizes, budget, _times(costs, counts)) * sizes)
    drawn = inclusion > 0
    return float(np.sum((1.0 - inclusion[drawn]) / inclusion[drawn] * residuals[drawn] ** 2))


def _times(costs: Floats | None, counts: Floats | None) -> Floats | None:
    """Return what all units of each kind cost; None where each is one of cost 1."""
    if costs is None or counts is None:
        return costs if counts is None else counts
    return costs * counts


def repeated_variance(
    sizes: Floats, residuals: Floats, budget: float, costs: Floats | None = None, counts: Floats | None = None
) -> float:
    r"""Return the believed variance of independent draws; with costs :math:`n^* = \Lambda / E_q[c]` (thesis 4.25).

    Examples
    --------
    >>> round(repeated_variance(np.ones(100), np.full(100, 0.004), 20), 6)
    0.008
    """
    drawn, mass = sizes > 0, sizes if counts is None else sizes * counts
    draws = budget if costs is None else _draws_for_cost(mass, costs, budget)
    return float(np.sum(residuals[drawn] ** 2 / (sizes[drawn] / mass.sum())) / draws)


def _draws_for_cost(sizes: Floats, costs: Floats, budget: float) -> float:
    r"""Return the number of draws whose expected cost is the budget: :math:`n^* = \Lambda / E_q[c]` (thesis 4.25).

    Examples
    --------
    >>> _draws_for_cost(np.array([3.0, 1.0]), np.array([1.0, 5.0]), 20.0)
    10.0
    """
    return budget / float(np.sum(sizes * costs) / np.sum(sizes))


def budget_for(variance: Callable[[float], float], target: float, most: float) -> float:
    """Return the smallest budget whose variance is at most the target; infinite if the whole pool is not enough.

    Where the smallest does, because no label can move the result, it is next to nothing.

    Examples
    --------
    >>> round(budget_for(lambda n: 1.0 / n, 0.01, 1000), 3)
    100.0
    """
    if variance(most) > target:
        return float("inf")
    low, high = 0.0, float(most)
    while high - low > 1e-6 * high and high > 1e-9 * most:
        middle = (low + high) / 2
        low, high = (low, middle) if variance(middle) <= target else (middle, high)
    return high
