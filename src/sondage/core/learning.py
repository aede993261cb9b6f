r"""Corrections of a belief, learned from labels: penalised linear regressions, averaged over their scales.

What a belief says of an item is moved by a linear function of side information,

.. math:: f_i = a + \sum_j c_j z_{ij} + x_i^\top \beta,

of *sources* z (what other models and judges say) and *features* x. Coefficients have independent Gaussian priors of
mean 0, so that without labels, and where side information says nothing, the belief stays as it is. How large they may
be is not known: every pair of scales on a grid, 0 among them, is fitted and weighted by its evidence, the probability
of the labels with the coefficients integrated out (Laplace's approximation where that integral has no closed form).
The evidence is the product of predictions of each label from those before it, so a scale gains weight only by what it
predicts. The posterior mean of the coefficients is the correction. Nowhere is it larger or smaller than on the
labelled items: an item with features unlike all of theirs is not extrapolated to.

References
----------
D. J. C. MacKay, Bayesian interpolation, Neural Computation 1992, 415-447.
C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, section 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # scipy.linalg and scipy.sparse are loaded when they are used
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, logsumexp

from sondage.core.predictions import Floats

__all__ = [
    "NONE",
    "Correction",
    "Fitted",
    "fit_events",
    "fit_grades",
    "fit_numbers",
    "learn_events",
    "learn_grades",
    "learn_numbers",
    "short",
]

SOURCE_SCALES = (0.0, 0.3, 1.0)
"""Of the coefficients of sources: prior standard deviations on the grid."""
FEATURE_SCALES = (0.4, 1.0, 2.5)
"""The same of the leading directions of features, beside 0."""
ROUNDING = 1e-12
"""Of the largest element of a precision: what is added to the diagonal keeps it positive definite."""
LEAST_VARIANCE = 1e-9
"""Of a residual, in mean squares of all: no item is known better."""
NOISES = (1.0, 0.4, 0.15, 0.05)
"""Shares of a variance that features may leave."""
RANK = 64
"""Leading directions of the labelled items' features that a fit uses."""


@dataclass(frozen=True)
class Correction:
    """The coefficients of a correction, empty ones 0, its bounds, 0 within, and how likely none is needed."""

    constant: float = 0.0
    sources: tuple[float, ...] = ()
    features: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0
    unneeded: float = 1.0

    def at(self, sources: Sequence[NDArray[np.floating]], features: NDArray[np.floating] | None) -> Floats:
        """Return the correction of every item, shape (n,): sources (m) of shape (n,), features (n, d)."""
        return np.asarray(np.clip(self._linear(sources, features), self.low, self.high), dtype=np.float64)

    def _linear(self, sources: Sequence[NDArray[np.floating]], features: NDArray[np.floating] | None) -> Any:
        total: Any = self.constant
        for coefficient, source in zip(self.sources, sources, strict=False):
            total = total + coefficient * source
        if self.features and features is not None:
            # In the features' own precision: a conversion would copy the block.
            total = total + features @ np.asarray(self.features, dtype=features.dtype)
        return total


NONE = Correction()


@dataclass(frozen=True, eq=False)
class Fitted:
    """Coefficients (m,) at their posterior mode, and the log evidence."""

    coefficients: Floats
    log_evidence: float


Fitter = Callable[[Floats], Fitted]
"""From a design of columns with unit prior variance to its fit."""


def learn_events(
    log_odds: Floats, events: NDArray[np.bool_], sources: Floats, features: NDArray[np.floating] | None = None
) -> Correction:
    """Return the correction of log odds that these events ask for.

    Parameters
    ----------
    log_odds : ndarray of float, shape (n,)
        Believed log odds, calibrated.
    events : ndarray of bool, shape (n,)
        Whether the event happened.
    sources : ndarray of float, shape (n, m)
        Log odds of the event by other sources; m may be 0.
    features : ndarray of float, shape (n, d), optional
        Any numbers.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 80)[:, None]
    >>> learned = learn_events(np.zeros(80), x[:, 0] > 0, np.zeros((80, 0)), x)
    >>> learned.features[0] > 2
    True
    """
    return _averaged(lambda design: fit_events(design, log_odds, events), sources, features)


def learn_grades(
    logits: Floats, codes: NDArray[Any], sources: Floats, features: NDArray[np.floating] | None = None
) -> Correction:
    """Return the correction of how high items are graded that these grades ask for.

    It is added to the log odds of every grade against the one below.

    Parameters
    ----------
    logits : ndarray of float, shape (n, k)
        Logarithms of the believed probabilities of all grades, calibrated, each row but for a constant.
    codes : ndarray of int, shape (n,)
        The grades, from 0.
    sources, features
        As for `learn_events`.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 90)[:, None]
    >>> learned = learn_grades(np.zeros((90, 3)), np.repeat([0, 1, 2], 30), np.zeros((90, 0)), x)
    >>> learned.features[0] > 2
    True
    """
    return _averaged(lambda design: fit_grades(design, logits, codes), sources, features)


def learn_numbers(
    residuals: Floats, variances: Floats, sources: Floats, features: NDArray[np.floating] | None = None
) -> Correction:
    """Return the correction of means that these residuals ask for.

    Parameters
    ----------
    residuals : ndarray of float, shape (n,)
        Labels less believed means.
    variances : ndarray of float, shape (n,)
        Believed variances, calibrated, positive: what features explain is part of them, so shares are tried too.
    sources : ndarray of float, shape (n, m)
        Other means less the believed ones; m may be 0.
    features : ndarray of float, shape (n, d), optional
        Any numbers.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 80)[:, None]
    >>> round(learn_numbers(3.0 * x[:, 0], np.full(80, 3.0), np.zeros((80, 0)), x).features[0], 1)
    3.0
    """
    unit = float(np.sqrt(np.mean(np.square(residuals)))) if len(residuals) else 0.0
    if not unit > 0:
        return NONE
    scaled_variances = np.maximum(variances / unit**2, LEAST_VARIANCE)

    def fit(design: Floats) -> Fitted:
        fits = [fit_numbers(design, residuals / unit, share * scaled_variances) for share in NOISES]
        weights = _posterior([one.log_evidence for one in fits])
        mean = sum(weight * one.coefficients for weight, one in zip(weights, fits, strict=True))
        evidence = float(logsumexp([one.log_evidence for one in fits])) - np.log(len(NOISES))
        return Fitted(np.asarray(mean), evidence)

    found = _averaged(fit, sources / unit, features)
    constant, low, high = (short(number * unit) for number in (found.constant, found.low, found.high))
    of_features = tuple(short(beta * unit) for beta in found.features)
    return Correction(constant, found.sources, of_features, low, high, found.unneeded)


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
        return -float(np.sum(log_expit(sign * moved)))

    def derivatives(moved: Floats) -> tuple[Floats, Floats]:
        p = expit(moved)
        return p - events, p * (1.0 - p)

    return _mode(design, offset, told, derivatives)


def fit_grades(design: Floats, logits: Floats, codes: NDArray[Any]) -> Fitted:
    r"""Return the mode of a regression of grades with a standard normal prior (adjacent-category logits).

    Of :math:`p_c \propto \exp(l_{ic} + c \, D_i w)`; with two grades it is that of `fit_events`.

    Examples
    --------
    >>> x = np.array([[1.0], [2.0], [-1.0]])
    >>> odds, codes = np.array([0.5, -1.0, 0.0]), np.array([1, 0, 1])
    >>> of_grades = fit_grades(x, np.column_stack([np.zeros(3), odds]), codes)
    >>> bool(np.isclose(of_grades.coefficients[0], fit_events(x, odds, codes == 1).coefficients[0]))
    True
    """
    at = np.arange(logits.shape[1], dtype=np.float64)

    def moved_logs(moved: Floats) -> Floats:
        return np.asarray(log_softmax(logits + np.multiply.outer(moved, at), axis=1))

    def told(moved: Floats) -> float:
        return -float(np.sum(moved_logs(moved)[np.arange(len(codes)), codes]))

    def derivatives(moved: Floats) -> tuple[Floats, Floats]:
        p = np.exp(moved_logs(moved))
        mean = p @ at
        return mean - codes, np.maximum(p @ at**2 - mean**2, 0.0)

    return _mode(design, np.zeros(len(codes)), told, derivatives)


def _mode(
    design: Floats,
    offset: Floats,
    told: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
) -> Fitted:
    """Return the least of a convex function of offset + design @ w, plus half the square of w, by damped Newton steps.

    The function is the sum of one of each row, of which the first and second derivatives are told.
    """
    w, moved = np.zeros(design.shape[1]), offset
    value = told(moved)
    factor = None
    for _ in range(30):
        first, second = derivatives(moved)
        factor = _precision(design, second)
        gradient = design.T @ first + w
        step = scipy.linalg.cho_solve(factor, gradient)
        gain = float(gradient @ step)
        if gain < 1e-8:
            break
        for size in 0.5 ** np.arange(20):
            trial = w - size * step
            at = offset + design @ trial
            tried = told(at) + 0.5 * float(trial @ trial)
            if tried <= value - 0.1 * size * gain:
                break
        w, moved, value = trial, at, tried
    assert factor is not None
    return Fitted(w, -value - float(np.sum(np.log(np.diag(factor[0])))))


def fit_numbers(design: Floats, residuals: Floats, variances: Floats) -> Fitted:
    r"""Return the mean of a linear regression with a standard normal prior, and its exact log evidence.

    Examples
    --------
    >>> fit_numbers(np.ones((4, 1)), np.full(4, 5.0), np.ones(4)).coefficients.tolist()
    [4.0]
    """
    factor = _precision(design, 1.0 / variances)
    pull = design.T @ (residuals / variances)
    w = scipy.linalg.cho_solve(factor, pull)
    plain = -0.5 * float(np.sum(np.log(2 * np.pi * variances) + residuals**2 / variances))
    return Fitted(w, plain + 0.5 * float(pull @ w) - float(np.sum(np.log(np.diag(factor[0])))))


def _precision(design: Floats, weights: Floats) -> tuple[Floats, bool]:
    """Return the Cholesky factor of the posterior precision."""
    precision = design.T @ (design * weights[:, None])
    largest = float(precision.diagonal().max(initial=0.0))
    precision[np.diag_indices_from(precision)] += max(1.0, ROUNDING * largest)  # sources far off, and alike
    lower: tuple[Floats, bool] = scipy.linalg.cho_factor(precision, lower=True, check_finite=False)
    return lower


def _posterior(log_evidence: Sequence[float]) -> Floats:
    return np.asarray(np.exp(np.asarray(log_evidence) - logsumexp(log_evidence)))


@dataclass(frozen=True, eq=False)
class _Directions:
    """Features as a few directions: scores (n, r) = (features - centre) @ loadings, rows of mean square 1."""

    scores: Floats
    loadings: Floats
    centre: Floats


def _averaged(fit: Fitter, sources: Floats, features: NDArray[np.floating] | None) -> Correction:
    """Return the posterior mean correction over all scales."""
    n, m = sources.shape
    spreads = [] if features is None or n < 2 else list(_directions(np.asarray(features, dtype=np.float64)))
    block, grid = np.column_stack([np.ones(n), sources]), list(_grid(spreads))
    fitted = [fit(scales.design(block)) for scales in grid]
    weights = _posterior([one.log_evidence + scales.log_prior for one, scales in zip(fitted, grid, strict=True)])
    of_sources, of_features = np.zeros(m + 1), np.zeros(0 if features is None else features.shape[1])
    for weight, one, scales in zip(weights, fitted, grid, strict=True):
        taken = m + 1 if scales.source else 0
        if scales.source:
            of_sources += weight * scales.source * one.coefficients[:taken]
        if scales.directions is not None:
            beta = weight * scales.feature * (scales.directions.loadings @ one.coefficients[taken:])
            of_features += beta
            of_sources[0] -= float(scales.directions.centre @ beta)
    values = of_sources[0] + sources @ of_sources[1:]
    if features is not None:
        values = values + features @ of_features
    return Correction(
        short(of_sources[0]),
        tuple(map(short, of_sources[1:].tolist())),
        tuple(map(short, of_features.tolist())),
        short(float(values.min(initial=0.0))),
        short(float(values.max(initial=0.0))),
        short(float(weights[0])),  # both scales 0
    )


@dataclass(frozen=True, eq=False)
class _Scales:
    """How large the coefficients of sources may be, and those of which directions of features: 0 and None for none."""

    log_prior: float
    source: float
    feature: float = 0.0
    directions: _Directions | None = None

    def design(self, block: Floats) -> Floats:
        """Return the columns of a fit, from those of a constant and the sources, (n, m + 1)."""
        parts = [self.source * block] if self.source else [block[:, :0]]
        parts += [self.feature * self.directions.scores] if self.directions is not None else []
        return np.hstack(parts)


def _grid(spreads: Sequence[_Directions]) -> Iterator[_Scales]:
    """Yield all scales; half of each prior is on 0."""
    with_features = [(scale, directions) for directions in spreads for scale in FEATURE_SCALES]
    for source_scale in SOURCE_SCALES:
        of_source = 0.5 if not source_scale else 0.5 / (len(SOURCE_SCALES) - 1)
        share = 0.5 if with_features else 1.0
        yield _Scales(float(np.log(of_source * share)), source_scale)
        for scale, directions in with_features:
            yield _Scales(float(np.log(of_source * 0.5 / len(with_features))), source_scale, scale, directions)


def _directions(features: Floats) -> Iterator[_Directions]:
    """Yield the leading directions of the features as they are, and of each on the scale of its own deviation."""
    centre = features.mean(axis=0)
    centred = features - centre
    deviations = np.sqrt(np.mean(np.square(centred), axis=0))
    if not deviations.any():
        return
    yield _leading(centred, np.ones(len(centre)), centre)
    if len(centre) > 1:
        yield _leading(centred, np.where(deviations > 0, deviations, np.inf), centre)


def _leading(centred: Floats, units: Floats, centre: Floats) -> _Directions:
    """Return the `RANK` leading directions of centred features in these units."""
    scaled = centred / units
    tall = scaled.shape[0] > scaled.shape[1]
    gram = scaled.T @ scaled if tall else scaled @ scaled.T
    values, vectors = _leading_eigenvectors(gram)
    kept = values > 1e-10 * values.max()
    values, vectors = values[kept], vectors[:, kept]
    right = vectors if tall else scaled.T @ vectors / np.sqrt(values)
    loadings = right * np.sqrt(len(scaled) / np.trace(gram))
    return _Directions(scaled @ loadings, loadings / units[:, None], centre)


def _leading_eigenvectors(gram: Floats) -> tuple[Floats, Floats]:
    """Return at most `RANK` largest eigenvalues and their vectors; large matrices by Lanczos from a fixed start."""
    if len(gram) <= 4 * RANK:
        first = max(len(gram) - RANK, 0)
        return tuple(scipy.linalg.eigh(gram, subset_by_index=(first, len(gram) - 1)))
    start = np.cos(np.arange(len(gram)))  # a start of ones is orthogonal to all that is centred
    return tuple(scipy.sparse.linalg.eigsh(gram, k=RANK, v0=start, tol=1e-6))


def short(value: float) -> float:
    """Return a number with nine digits, so that the last bits of a sum do not show.

    Examples
    --------
    >>> short(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.9g}")
