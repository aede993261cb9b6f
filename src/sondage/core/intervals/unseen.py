"""The upper bound of an error rate when no error was seen and items were drawn with unequal probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sondage.core.checks import require, require_level, require_weights
from sondage.core.results import Interval

__all__ = ["unseen_bound"]


def unseen_bound(
    weights: ArrayLike, inclusion: ArrayLike, level: float = 0.95, *, labelled: ArrayLike | None = None
) -> Interval:
    r"""Return the upper confidence bound of an error rate when no error was seen.

    If :math:`E` is the set of errors, a Poisson sample misses it with probability
    :math:`\prod_{i \in E} (1 - \pi_i)`. Sets that would be missed with less than :math:`\alpha` are rejected, so that
    the bound is the largest pool share of those that are left:

    .. math:: \max_E \sum_{i \in E} b_i \quad\text{with}\quad \sum_{i \in E} -\ln(1 - \pi_i) \le -\ln \alpha.

    Parameters
    ----------
    weights : array_like of float, shape (N,)
        The pool's base weights, above 0, on any scale; normalised to :math:`b_i`.
    inclusion : array_like of float, shape (N,)
        Inclusion probabilities :math:`\pi_i` of all items, in [0, 1].
    level : float
        Confidence level of the one-sided bound, :math:`1 - \alpha`, in (0, 1).
    labelled : array_like of bool, shape (N,), optional
        The items that were labelled. They are known not to be errors and are left out, which lowers the bound and
        keeps its level: it fails only if no error is seen though that had a probability below :math:`\alpha`.

    Returns
    -------
    Interval
        From 0 to the bound, of kind ``"unseen"``.

    Raises
    ------
    InputError
        If the shapes differ, the pool is empty, or a number is outside the range given above.

    Notes
    -----
    Items are taken in ascending order of :math:`-\ln(1 - \pi_i) / b_i`, and the last one in part. That part makes it
    the solution with divisible items, never below the best whole set: at most the share of one item too high and
    never too low, while whole items taken greedily can fall short of the best set. Items that could not be
    drawn cost nothing and are always counted. For simple random samples and draws with replacement (then
    :math:`\pi_i = 1 - (1 - q_i)^n`) the product is an upper bound of the true probability: the level holds too.

    Examples
    --------
    >>> import numpy as np
    >>> round(unseen_bound(np.ones(1000), np.full(1000, 0.1)).high, 6)  # ln(0.05) / ln(0.9) = 28.433 items
    0.028433
    """
    require_level("level", level)
    base, probability = np.asarray(weights, dtype=float), np.asarray(inclusion, dtype=float)
    require(base.ndim == 1 and base.size > 0, f"weights of shape {base.shape}; one number for each of 1 or more items")
    require(base.shape == probability.shape, f"inclusion of shape {probability.shape} for {base.size} weights")
    require_weights(base)
    wrong = ~((probability >= 0) & (probability <= 1))
    require(not wrong.any(), f"inclusion {probability[wrong][:1]} is outside [0, 1]")
    base = base / base.sum()
    open_ = probability < 1
    if labelled is not None:
        known = np.asarray(labelled, dtype=bool)
        require(known.shape == base.shape, f"labelled of shape {known.shape} for {base.size} weights")
        open_ &= ~known
    return Interval(0.0, _fill(base[open_], -np.log1p(-probability[open_]), -math.log1p(-level)), level, "unseen")


def _fill(gain: NDArray[np.float64], cost: NDArray[np.float64], budget: float) -> float:
    """Return the largest total gain of divisible items whose cost is within the budget."""
    order = np.argsort(cost / gain, kind="stable")
    gain, cost = gain[order], cost[order]
    spent = np.cumsum(cost)
    whole = int(np.searchsorted(spent, budget, side="right"))
    if whole == gain.size:
        return float(min(1.0, gain.sum()))
    left = budget - (spent[whole - 1] if whole else 0.0)
    return float(gain[:whole].sum() + gain[whole] * left / cost[whole])
