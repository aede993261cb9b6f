"""Penalised regressions: coefficients with standard normal priors at their posterior mode, and the log evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax

from sondage.core.definite import factor, solve
from sondage.core.predictions import Floats

__all__ = ["Fitted", "fit_events", "fit_grades", "fit_numbers", "places"]

ROUNDING = 1e-12
"""Of the largest element of a precision: what is added to the diagonal keeps it positive definite."""
STEPS = tuple(0.5**halved for halved in range(20))
"""Sizes of a Newton step, of which the first that gains is taken."""
REACH = 4.0
"""How far the last of many grades is from the first: as far as of five."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Coefficients (m,) at their posterior mode, and the log evidence."""

    coefficients: Floats
    log_evidence: float


def fit_events(design: Floats, offset: Floats, events: NDArray[np.bool_]) -> Fitted:
    r"""Return the mode of a logistic regression with a standard normal prior, by damped Newton steps.

    The mode minimises :math:`-\sum_i \ln p(y_i \mid o_i + D_i w) + \frac12 \lVert w \rVert^2`, which is convex.

    Examples
    --------
    >>> fit_events(np.zeros((2, 1)), np.zeros(2), np.array([True, False])).coefficients.tolist()
    [0.0]
    """
    sign = np.where(events, 1.0, -1.0)

    def told(moved: Floats) -> float:
        return -float(log_expit(sign * moved).sum())

    def derivatives(moved: Floats) -> tuple[Floats, Floats]:
        p = expit(moved)
        return p - events, p * (1.0 - p)

    return _mode(design, offset, told, derivatives)


def fit_grades(design: Floats, logits: Floats, codes: NDArray[Any]) -> Fitted:
    r"""Return the mode of a regression of grades with a standard normal prior (adjacent-category logits).

    Of :math:`p_c \propto \exp(l_{ic} + r_c \, D_i w)` with the places r of grades; of two it is that of `fit_events`.

    Parameters
    ----------
    design : ndarray of float, shape (n, m)
        D.
    logits : ndarray of float, shape (n, k)
        l.
    codes : ndarray of int, shape (n,)
        The grades, from 0.

    References
    ----------
    A. Agresti, Analysis of Ordinal Categorical Data, 2nd edition, 2010, chapter 4.

    Examples
    --------
    >>> x = np.array([[1.0], [2.0], [-1.0]])
    >>> odds, codes = np.array([0.5, -1.0, 0.0]), np.array([1, 0, 1])
    >>> of_grades = fit_grades(x, np.column_stack([np.zeros(3), odds]), codes)
    >>> bool(np.isclose(of_grades.coefficients[0], fit_events(x, odds, codes == 1).coefficients[0]))
    True
    """
    at = places(logits.shape[1])

    def moved_logs(moved: Floats) -> Floats:
        return np.asarray(log_softmax(logits + np.multiply.outer(moved, at), axis=1))

    def told(moved: Floats) -> float:
        return -float(np.sum(moved_logs(moved)[np.arange(len(codes)), codes]))

    def derivatives(moved: Floats) -> tuple[Floats, Floats]:
        p = np.exp(moved_logs(moved))
        mean = p @ at
        return mean - at[codes], np.maximum(p @ at**2 - mean**2, 0.0)

    return _mode(design, np.zeros(len(codes)), told, derivatives)


def places(k: int) -> Floats:
    """Return the places of k grades about their middle: one apart, of more than five as far as five reach.

    A scale of a hundred points says as much of an item as one of five.

    Examples
    --------
    >>> places(4).tolist(), places(9).tolist()
    ([-1.5, -0.5, 0.5, 1.5], [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0])
    """
    apart = min(1.0, REACH / max(k - 1, 1))
    return apart * (np.arange(k, dtype=np.float64) - (k - 1) / 2.0)


def _mode(
    design: Floats,
    offset: Floats,
    told: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
) -> Fitted:
    """Return the w, by damped Newton steps, with the least sum of half its square and a convex function.

    The function is a sum over rows of offset + design @ w, of which both derivatives are told.
    """
    w, moved = np.zeros(design.shape[1]), offset
    value = told(moved)
    factored = None
    for _ in range(30):
        first, second = derivatives(moved)
        factored = _factored_precision(design, second)
        gradient = design.T @ first + w
        step = solve(factored, gradient)
        gain = float(gradient @ step)
        if gain < 1e-8:
            break
        for size in STEPS:
            trial = w - size * step
            at = offset + design @ trial
            tried = told(at) + 0.5 * float(trial @ trial)
            if tried <= value - 0.1 * size * gain:
                break
        w, moved, value = trial, at, tried
    assert factored is not None
    return Fitted(w, -value - float(np.log(factored.diagonal()).sum()))


def fit_numbers(design: Floats, residuals: Floats, variances: Floats) -> Fitted:
    r"""Return the mean of a linear regression with a standard normal prior, and its exact log evidence.

    Examples
    --------
    >>> fit_numbers(np.ones((4, 1)), np.full(4, 5.0), np.ones(4)).coefficients.tolist()
    [4.0]
    """
    factored = _factored_precision(design, 1.0 / variances)
    pull = design.T @ (residuals / variances)
    w = solve(factored, pull)
    plain = -0.5 * float(np.sum(np.log(2 * np.pi * variances) + residuals**2 / variances))
    return Fitted(w, plain + 0.5 * float(pull @ w) - float(np.log(factored.diagonal()).sum()))


def _factored_precision(design: Floats, weights: Floats) -> Floats:
    """Return the Cholesky factor of the posterior precision."""
    precision = design.T @ (design * weights[:, None])
    diagonal = np.einsum("ii->i", precision)  # a view
    diagonal += max(1.0, ROUNDING * float(diagonal.max(initial=0.0)))  # sources far off, and alike
    return factor(precision)
