"""From a statistic's tails to the p-value of an alternative, and what else the tests share."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sondage.core.checks import require, require_alternative, require_number, require_weights


def null_difference(alternative: str, margin: float = 0.0) -> float:
    """Return the difference under the null hypothesis of a test.

    Parameters
    ----------
    alternative : {"two-sided", "less", "greater"}
        What is to be shown about the difference.
    margin : float
        Of a one-sided test: ``"greater"`` asks whether the difference is above ``-margin``, ``"less"`` whether it is
        below ``margin``.

    Raises
    ------
    InputError
        If ``margin`` is not finite, ``alternative`` is unknown, or a two-sided test has a margin.

    Examples
    --------
    >>> [null_difference(alternative, 0.1) for alternative in ("less", "greater")]
    [0.1, -0.1]
    """
    require_alternative(alternative)
    require_number("margin", margin)
    require(margin == 0 or alternative != "two-sided", f"margin {margin} needs alternative 'less' or 'greater'")
    return {"two-sided": 0.0, "less": margin, "greater": 0.0 - margin}[alternative]


def refutes(gap: float, alternative: str) -> bool:
    """Return whether a known difference, less that under the null hypothesis, speaks against the latter.

    Examples
    --------
    >>> [refutes(0.1, alternative) for alternative in ("two-sided", "less", "greater")]
    [True, False, True]
    """
    return {"two-sided": gap != 0, "less": gap < 0, "greater": gap > 0}[alternative]


def tail_pvalue(alternative: str, below: float, above: float) -> float:
    """Return the p-value from the probabilities of a statistic at most, and at least, the observed one."""
    require_alternative(alternative)
    return {"two-sided": min(1.0, 2 * min(below, above)), "less": below, "greater": above}[alternative]


def ratio_to_error(value: float, error: float) -> float:
    """Return value / error; infinite, or 0 for 0, where the error is 0."""
    if error > 0:
        return float(value / error)
    return math.copysign(math.inf, value) if value else 0.0


def normalised(weights: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Return weights of n items that sum to 1; equal ones if none are given."""
    if weights is None:
        return np.full(n, 1 / n)
    values = np.asarray(weights, dtype=float)
    require(values.shape == (n,), f"weights of shape {values.shape} for {n} items")
    require_weights(values)
    return np.asarray(values / values.sum())
