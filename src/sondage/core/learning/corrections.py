"""What labels tell of sources and features, averaged over how large coefficients may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.learning.directions import Directions, leading_directions
from sondage.core.learning.fits import Fitted, fit_events, fit_grades, fit_numbers
from sondage.core.predictions import Floats

__all__ = ["NONE", "Correction", "learn_events", "learn_grades", "learn_numbers", "short"]

SOURCE_SCALES = (0.0, 0.3, 1.0)
"""Of the coefficients of sources: prior standard deviations on the grid."""
FEATURE_SCALES = (0.4, 1.0, 2.5)
"""The same of the leading directions of features, beside 0."""
LEAST_VARIANCE = 1e-9
"""Of a residual, in mean squares of all: no item is known better."""
NOISES = (1.0, 0.4, 0.15, 0.05)
"""Shares of a variance that features may leave."""


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

    It is added to the log odds of every grade against the one below, of more than five in part (`places`).

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
        evidence = float(np.logaddexp.reduce([one.log_evidence for one in fits])) - np.log(len(NOISES))
        return Fitted(np.asarray(mean), evidence)

    found = _averaged(fit, sources / unit, features)
    constant, low, high = (short(number * unit) for number in (found.constant, found.low, found.high))
    of_features = tuple(short(beta * unit) for beta in found.features)
    return Correction(constant, found.sources, of_features, low, high, found.unneeded)


def _posterior(log_evidence: Sequence[float]) -> Floats:
    return np.asarray(np.exp(np.asarray(log_evidence) - np.logaddexp.reduce(log_evidence)))


def _averaged(fit: Fitter, sources: Floats, features: NDArray[np.floating] | None) -> Correction:
    """Return the posterior mean correction over all scales."""
    n, m = sources.shape
    spreads = [] if features is None or n < 2 else list(leading_directions(np.asarray(features, dtype=np.float64)))
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
    directions: Directions | None = None

    def design(self, block: Floats) -> Floats:
        """Return the columns of a fit, from those of a constant and the sources, (n, m + 1)."""
        parts = [self.source * block] if self.source else [block[:, :0]]
        parts += [self.feature * self.directions.scores] if self.directions is not None else []
        return np.hstack(parts)


def _grid(spreads: Sequence[Directions]) -> Iterator[_Scales]:
    """Yield all scales; half of each prior is on 0."""
    with_features = [(scale, directions) for directions in spreads for scale in FEATURE_SCALES]
    for source_scale in SOURCE_SCALES:
        of_source = 0.5 if not source_scale else 0.5 / (len(SOURCE_SCALES) - 1)
        share = 0.5 if with_features else 1.0
        yield _Scales(float(np.log(of_source * share)), source_scale)
        for scale, directions in with_features:
            yield _Scales(float(np.log(of_source * 0.5 / len(with_features))), source_scale, scale, directions)


def short(value: float) -> float:
    """Return a number with nine digits, so that the last bits of a sum do not show.

    Examples
    --------
    >>> short(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.9g}")
