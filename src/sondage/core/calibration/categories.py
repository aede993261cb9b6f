r"""Calibration of the probabilities of several categories: how frequent each is, and what else labels tell of them.

.. math:: p_c \propto \exp\Big(\alpha_c + \sum_j \gamma_j x_{jc}\Big)

is a multinomial logistic regression. With independent normal priors its log posterior is concave, and Newton's method
finds the mode. A column of log probabilities makes it a calibration by temperature and by how frequent the categories
are.

References
----------
C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, On calibration of modern neural networks, ICML, 2017.
M. Saerens, P. Latinne and C. Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities: a
simple procedure, Neural Computation, 2002, 21-41.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from sondage.core.blocks import row_blocks
from sondage.core.definite import factor, solve
from sondage.core.learning import places, short
from sondage.core.predictions import Floats

__all__ = ["ByClass", "Coefficients", "calibrate_classes", "calibrate_grades", "fit_categories"]

SHIFT_SCALES, SLOPE_SCALES, LIFT_SCALES = (0.0, 0.5, 2.0), (0.13, 1.7), (0.0, 0.5, 2.0)
"""Prior standard deviations on the grid: of the shifts and the lift, half of the prior on 0, of the slope about 1."""
STEPS, LARGEST_STEP, HALVINGS = 50, 2.0, 20
"""Of Newton's method, at most."""
ROUNDING = 1e-12
"""By how much of itself a log density may fall by rounding alone."""


@dataclass(frozen=True)
class ByClass:
    r"""How the probabilities of k classes or grades are calibrated.

    .. math:: p'_c \propto p_c^\beta e^{\alpha_c + \gamma m r_c}, \qquad m = \sum_c p_c r_c,

    with the places :math:`r_c` of grades (`places`); :math:`\gamma` is 0 for classes, which have no order.

    Attributes
    ----------
    shifts : tuple of float
        :math:`\alpha`, of each class; empty before any label.
    slope : float
        :math:`\beta`, 0 or more.
    lift : float
        :math:`\gamma`.
    """

    shifts: tuple[float, ...] = ()
    slope: float = 1.0
    lift: float = 0.0


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients at their posterior mode, and the log evidence.

    Attributes
    ----------
    shifts : ndarray of float, shape (k,)
        Of the categories: alpha.
    slopes : ndarray of float, shape (m,)
        Of the columns: gamma.
    log_evidence : float
        Log probability of the labels with the coefficients integrated out (Laplace's approximation).
    """

    shifts: Floats
    slopes: Floats
    log_evidence: float


def calibrate_classes(logs: Floats, labels: NDArray[Any]) -> ByClass:
    r"""Return the calibration of several classes' probabilities that labels ask for.

    With :math:`\alpha_c \sim N(0, s^2)` and :math:`\beta \sim N(1, t^2)`, s 0 with a probability of a half, else 0.5
    or 2, and t 0.13 or 1.7. The modes of these are averaged in proportion to prior times evidence, as corrections are
    (`sondage.core.learning`). A slope below 0 becomes 0: a model that is worse than chance tells nothing.

    Parameters
    ----------
    logs : ndarray of float, shape (n, k)
        Logarithms of the probabilities that were believed before the labels.
    labels : ndarray of int, shape (n,)
        Class codes.

    Returns
    -------
    ByClass
        No change where there are no labels.

    Examples
    --------
    Of three classes that were taken for equally frequent, the first is:

    >>> found = calibrate_classes(np.full((900, 3), np.log(1 / 3)), np.repeat([0, 1, 2], [720, 90, 90]))
    >>> np.exp(found.shifts).round(1).tolist()
    [4.0, 0.5, 0.5]
    """
    shifts, (slope,) = _averaged(labels, [logs], (SHIFT_SCALES, SLOPE_SCALES))
    return ByClass(shifts, short(max(slope, 0.0)))


def calibrate_grades(logs: Floats, codes: NDArray[Any]) -> ByClass:
    r"""Return the calibration of the probabilities of grades, which have an order, that labels ask for.

    As `calibrate_classes`, with :math:`\gamma \sim N(0, u^2)` too, u 0 with a probability of a half, else 0.5 or 2.
    What is told of a grade may then be what is told of its neighbours: a judge who is a grade off, or names one grade
    and no probabilities, tells by m whether an item is graded high or low, while p makes the next grade as unlikely as
    the last (adjacent-category logits: A. Agresti, Analysis of Ordinal Categorical Data, 2nd edition 2010, chapter 4).

    Parameters
    ----------
    logs, codes
        As for `calibrate_classes`, classes in the order of the grades.

    Examples
    --------
    A judge names the grade above the right one:

    >>> codes = np.repeat([0, 1, 2, 3], 100)
    >>> told = np.full((400, 5), 0.01)
    >>> told[np.arange(400), codes + 1] = 0.96
    >>> calibrate_grades(np.log(told), codes).lift > 1
    True
    """
    at = places(logs.shape[1])
    shifts, (slope, lift) = _averaged(
        codes, [logs, np.multiply.outer(np.exp(logs) @ at, at)], (SHIFT_SCALES, SLOPE_SCALES, LIFT_SCALES)
    )
    return ByClass(shifts, short(max(slope, 0.0)), short(lift))


def _averaged(
    labels: NDArray[Any], columns: Sequence[Floats], scales: Sequence[Sequence[float]]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return shifts and the columns' slopes, the first about 1, averaged over their scales; none without labels."""
    grid, k = list(product(*scales)), columns[0].shape[1]
    mean = np.append(np.zeros(k), np.eye(len(columns))[0])
    if not len(labels):
        return (), tuple(mean[k:].tolist())
    fits = [fit_categories(labels, columns, mean, np.append(np.full(k, one[0]), one[1:])) for one in grid]
    log_priors = np.sum(
        [[_log_prior(scale, of) for scale, of in zip(one, scales, strict=True)] for one in grid], axis=1
    )
    weights = softmax([prior + fit.log_evidence for prior, fit in zip(log_priors, fits, strict=True)])
    shifts = weights @ [fit.shifts for fit in fits]
    slopes = tuple(float(weights @ [fit.slopes[at] for fit in fits]) for at in range(len(columns)))
    return tuple(map(short, shifts.tolist())), slopes


def _log_prior(scale: float, scales: Sequence[float]) -> float:
    """Return the log prior of one of these scales, a half on 0 if it is among them, else 0 of all."""
    if 0.0 not in scales:
        return 0.0
    return float(np.log(0.5 / (len(scales) - 1) if scale else 0.5))


def fit_categories(
    codes: NDArray[Any],
    columns: Sequence[Floats],
    mean: Floats,
    scales: Floats,
    *,
    weights: Floats | None = None,
) -> Coefficients:
    r"""Return the coefficients of the greatest posterior density, by Newton steps that are halved until it rises.

    Of :math:`p_c \propto \exp(\alpha_c + \sum_j \gamma_j x_{jc})`; the evidence is that of Laplace's approximation,

    .. math:: \ln Z \approx \sum_i w_i \ln p_{y_i} - \tfrac12 \sum_j (\hat\gamma_j - m_j)^2 / s_j^2
              - \tfrac12 \ln \lvert I + S H S \rvert,

    the second sum over all coefficients, with H the negative second derivatives of the first and S the diagonal of s
    (Rasmussen and Williams 2006, section 3.4).

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        The category of each label, in [0, k).
    columns : sequence of m ndarrays of float, shape (n, k)
        What probabilities follow from, beside the categories themselves.
    mean, scales : ndarray of float, shape (k + m,)
        Means and standard deviations of the normal priors of the coefficients, first those of the categories. Where the
        standard deviation is 0 they are their means.
    weights : ndarray of float, shape (n,), optional
        How much each label counts; 1.

    Examples
    --------
    >>> even = fit_categories(np.array([0, 1]), [], np.zeros(2), np.ones(2))
    >>> even.shifts.tolist(), round(even.log_evidence, 3)
    ([0.0, 0.0], -1.733)
    """
    counts = np.ones(len(codes)) if weights is None else weights
    free = np.flatnonzero(scales)
    precision, k = scales[free] ** -2.0, len(mean) - len(columns)
    shifted = bool(np.any(scales[:k]))

    def posterior(at: Floats) -> tuple[float, Floats, Floats]:
        """Return the log density, but for a constant, its gradient, and the second derivatives without the prior's."""
        log_likelihood, gradient, curved = _derivatives(codes, columns, at, weights=counts, shifted=shifted)
        off = at[free] - mean[free]
        value = log_likelihood - 0.5 * float(precision @ off**2)
        return value, gradient[free] - precision * off, curved[np.ix_(free, free)]

    found = mean.astype(np.float64)
    value, gradient, curved = posterior(found)
    for _ in range(STEPS):
        step = solve(factor(curved + np.diag(precision)), gradient)
        largest, rise = float(np.abs(step).max()), float(gradient @ step)
        if largest < 1e-8:
            break
        first = min(1.0, LARGEST_STEP / largest)
        for size in first * 0.5 ** np.arange(HALVINGS):  # where p is next to 0 or 1 there is hardly any curvature
            trial = found.copy()
            trial[free] += size * step
            tried = posterior(trial)
            if tried[0] >= value + 0.1 * size * rise - ROUNDING * abs(value):
                break
        found, (value, gradient, curved) = trial, tried
    volume = np.linalg.slogdet(np.eye(len(free)) + np.outer(scales[free], scales[free]) * curved)[1]
    return Coefficients(found[:k], found[k:], value - 0.5 * float(volume))


def _derivatives(
    codes: NDArray[Any], columns: Sequence[Floats], at: Floats, *, weights: Floats, shifted: bool
) -> tuple[float, Floats, Floats]:
    """Return the log likelihood, its gradient, and the negative of its second derivatives, of shifts if asked for."""
    k, total = len(at) - len(columns), 0.0
    gradient, curved = np.zeros(len(at)), np.zeros((len(at), len(at)))
    for part in row_blocks(len(codes), k):
        own, w, x = codes[part], weights[part, None], [column[part] for column in columns]
        rows = np.arange(len(own))
        logits = np.broadcast_to(at[:k], (len(own), k))
        for slope, column in zip(at[k:], x, strict=True):
            logits = logits + slope * column
        p = softmax(logits, axis=1)
        total += float(w[:, 0] @ np.log(p[rows, own]))
        weighted = w * p
        if shifted:
            gradient[:k] += np.bincount(own, w[:, 0], k) - weighted.sum(axis=0)
            curved[:k, :k] += np.diag(weighted.sum(axis=0)) - p.T @ weighted
        centred = [column - np.sum(p * column, axis=1, keepdims=True) for column in x]
        for j, one in enumerate(centred, start=k):
            gradient[j] += float(w[:, 0] @ one[rows, own])
            curved[j, :k] += np.sum(weighted * one, axis=0)
            curved[:k, j] = curved[j, :k]
            for other, another in enumerate(centred, start=k):
                curved[j, other] += float(np.sum(weighted * one * another))
    return total, gradient, curved
