r"""Estimators of a contrast from a sample: self-normalised, Hajek, Horvitz-Thompson, assisted.

Each estimates the pool means :math:`\mu`, evaluates the contrast there, and leaves for every unit a residual
whose weighted sum is the estimation error to first order; variance, intervals and tests all come from these.
With expansion weights w, base weights b, share B of the items that could be drawn, and believed totals
:math:`H^{out}` of those that could not:

self-normalised (thesis 3.11, 3.31) and Hajek
    :math:`\hat\mu = H^{out} + B \sum w b s / \sum w b`
Horvitz-Thompson
    :math:`\hat\mu = H^{out} + \sum w b s`
assisted (difference, AIPW, PPI)
    :math:`\hat\mu = \hat\mu_{Hajek} - \lambda (\hat h_{Hajek} - h)`, :math:`h = E[s]` under the belief, with the
    :math:`\lambda \in [0, 1]` that minimises the estimated variance; of a difference
    Horvitz-Thompson takes the place of Hajek (`assisted`)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sondage.core.biases import corrected_value
from sondage.core.comparisons import Contrast, believed_totals, moments
from sondage.core.predictions import Floats
from sondage.core.residuals import degrees, variance
from sondage.core.samples import Known, Sample

__all__ = [
    "ESTIMATORS",
    "Estimator",
    "Fit",
    "anchored",
    "assisted",
    "hajek",
    "horvitz_thompson",
    "is_centred",
    "joint_coefficient",
    "linearise",
    "self_normalised",
    "spread",
]


@dataclass(frozen=True, eq=False)
class Fit:
    r"""An estimate with what its uncertainty follows from.

    Attributes
    ----------
    value : float
        The estimate; NaN where the measure is undefined on the sample.
    residuals : ndarray of float, shape (n,)
        For each unit, the sum over its rows of base weight times centred influence.
    variance : float
        Estimated variance, for the pool's own value as the target.
    df : float
        Degrees of freedom of the variance (Satterthwaite).
    spread : float
        Weighted variance of the influence over the pool, for a population as the target.
    coefficient : float
        :math:`\\lambda`; 0 unless assisted.
    influence : ndarray of float, shape (n,)
        Influence of each row's label.
    sums : dict of int to ndarray
        Estimated pool means of each model.
    bias : float
        Bound of the bias that is left in the value of a measure with kinks; else 0.
    shares, coefficients : ndarray of float, tuple of float, optional
        Of several stages: their weights, and the coefficient of each.
    """

    value: float
    residuals: Floats
    variance: float
    df: float
    spread: float
    coefficient: float
    influence: Floats
    sums: dict[int, Floats]
    bias: float = 0.0
    shares: Floats | None = None
    coefficients: tuple[float, ...] = ()


Estimator = Callable[..., Fit]

PRIOR_PRECISION = 4.0
"""Of a coefficient about 1: a standard deviation of a half."""


def self_normalised(contrast: Contrast, sample: Sample, known: Known) -> Fit:
    """Estimate by weights over their sum, variance by thesis 3.14 to the letter."""
    return linearise(contrast, sample, known, _normalised_sums(contrast, sample, known), bessel=False)


def hajek(contrast: Contrast, sample: Sample, known: Known) -> Fit:
    """Estimate by weights over their sum; the variance has the factor n / (n - 1)."""
    return linearise(contrast, sample, known, _normalised_sums(contrast, sample, known))


def horvitz_thompson(contrast: Contrast, sample: Sample, known: Known) -> Fit:
    """Estimate totals without normalising: unbiased for sums, noisy with a random threshold."""
    return linearise(contrast, sample, known, _sums(contrast, sample, known, 1.0), centred=False)


def assisted(
    contrast: Contrast, sample: Sample, known: Known, coefficient: float | None = None, *, precision: float = 0.0
) -> Fit:
    r"""Estimate by the Hajek estimate less what the belief can explain of its error; the labels choose how much.

    Items that hardly tell two models apart are hardly ever drawn. A sum of weights depends on how many of them are, and
    normalising by it would multiply what the belief got wrong of all others: of a difference :math:`s - \lambda h` is
    expanded as it is.
    """
    fallback = hajek(contrast, sample, known)
    if coefficient is None:
        coefficient = joint_coefficient([contrast], sample, known, precision)
    if coefficient == 0 or not known.expected:
        return fallback
    factor = _normaliser(sample, known) if is_centred(contrast, coefficient) else 1.0
    plain, believed = _sums(contrast, sample, known, factor), _believed_sums(contrast, sample, known, factor)
    name = contrast.functional.basis.name
    sums = {
        model: plain[model] - coefficient * (believed[model] - known.expected[name, model]) for model in contrast.models
    }
    fit = linearise(contrast, sample, known, sums, coefficient=coefficient)
    low, high = contrast.bounds
    return fit if low <= fit.value <= high else fallback


def is_centred(contrast: Contrast, coefficient: float) -> bool:
    """Return whether sums are normalised, which centres their residuals: all but assisted sums of a difference."""
    return not (contrast.compares and coefficient)


def anchored(contrast: Contrast, sample: Sample, known: Known, coefficient: float | None = None) -> Fit:
    """Estimate as assisted, the coefficient drawn towards 1: a few labels do not undo a belief that is good."""
    return assisted(contrast, sample, known, coefficient, precision=PRIOR_PRECISION)


def difference(contrast: Contrast, sample: Sample, known: Known) -> Fit:
    """Estimate by the believed total and the expanded residuals: assisted, with the whole of the belief."""
    return assisted(contrast, sample, known, 1.0)


ESTIMATORS: dict[str, Estimator] = {
    "self_normalised": self_normalised,
    "hajek": hajek,
    "horvitz_thompson": horvitz_thompson,
    "assisted": assisted,
    "anchored": anchored,
    "difference": difference,
}


def _normaliser(sample: Sample, known: Known) -> float:
    total = float(np.sum(sample.row_weights))
    return known.share / total if total > 0 else 0.0


def _normalised_sums(contrast: Contrast, sample: Sample, known: Known) -> dict[int, Floats]:
    return _sums(contrast, sample, known, _normaliser(sample, known))


def _sums(contrast: Contrast, sample: Sample, known: Known, factor: float) -> dict[int, Floats]:
    """Return the expanded totals of s, with the believed ones of what could not be drawn."""
    basis, weights = contrast.functional.basis, factor * sample.row_weights
    return {
        model: basis.totals(sample.items, model, sample.labels, weights) + known.outside.get((basis.name, model), 0.0)
        for model in contrast.models
    }


def _believed_sums(contrast: Contrast, sample: Sample, known: Known, factor: float) -> dict[int, Floats]:
    """Return the same with each label replaced by its believed distribution."""
    basis = contrast.functional.basis
    assert known.belief is not None
    weights = factor * sample.row_weights
    totals = believed_totals(basis, contrast.models, known.belief, sample.items, weights)
    return {model: total + known.outside.get((basis.name, model), 0.0) for model, total in totals.items()}


def joint_coefficient(contrasts: Sequence[Contrast], sample: Sample, known: Known, precision: float = 0.0) -> float:
    r"""Return the one coefficient in [0, 1] that minimises the summed variance estimates.

    The slope :math:`\hat\lambda` of the influence on its believed mean has, if the belief is right, the variance
    :math:`N = \sum k^2 h^2 v / (\sum k h^2)^2` about 1; a prior about 1 with this precision t makes it
    :math:`(\hat\lambda / N + t) / (1 / N + t)`. For several models it is that of their deviations from the models'
    mean, since only these tell models apart.
    """
    if known.belief is None or not known.expected or not np.any(sample.expansion.spread):
        return 0.0
    outcomes: list[Floats] = []
    helpers: list[Floats] = []
    noise = np.zeros(sample.size)
    base = sample.items.weights
    for contrast in contrasts:
        influence = contrast.influence(_normalised_sums(contrast, sample, known))
        mean, second = moments(influence, known.belief, sample.items)
        for column, kept in ((influence.at(sample.items, sample.labels), outcomes), (mean, helpers)):
            column = np.broadcast_to(column, len(sample.items))
            kept.append(sample.unit_sums(base * _centred(sample, column)))
        noise += np.square(sample.unit_sums(base * np.sqrt(np.maximum(second - np.square(mean), 0.0))))
    outcome, helper = np.stack(outcomes), np.stack(helpers)
    if len(contrasts) > 1:
        outcome, helper = outcome - outcome.mean(axis=0), helper - helper.mean(axis=0)
    spread = sample.expansion.spread
    slope, square = float(np.sum(spread * outcome * helper)), float(np.sum(spread * helper**2))
    if square <= 0:
        return 0.0
    variance_of_slope = (
        float(np.sum(np.square(spread) * np.sum(helper**2, axis=0) * noise)) / len(contrasts) / square**2
    )
    weight = variance_of_slope * precision
    return float(np.clip((slope / square + weight) / (1.0 + weight), 0.0, 1.0))


def _centred(sample: Sample, column: Floats) -> Floats:
    """Return a row column less its weighted mean."""
    weights = sample.row_weights
    return np.asarray(column - np.sum(weights * column) / np.sum(weights))


def linearise(
    contrast: Contrast,
    sample: Sample,
    known: Known,
    sums: dict[int, Floats],
    *,
    coefficient: float = 0.0,
    centred: bool | None = None,
    bessel: bool = True,
) -> Fit:
    """Evaluate the contrast at the sums and linearise around it, by default centred as `is_centred` says."""
    centred = is_centred(contrast, coefficient) if centred is None else centred
    influence = contrast.influence(sums)
    psi = np.asarray(influence.at(sample.items, sample.labels), dtype=np.float64)
    explained = psi
    if coefficient:
        assert known.belief is not None
        explained = psi - coefficient * moments(influence, known.belief, sample.items)[0]
    if centred:
        scale = _normaliser(sample, known)
        residuals = scale * sample.unit_sums(sample.items.weights * _centred(sample, explained))
    else:
        residuals = sample.unit_sums(sample.items.weights * (explained + (1.0 - coefficient) * influence.constant))

    def variance_of(part: Contrast) -> float:
        return linearise(part, sample, known, sums, coefficient=coefficient, centred=centred, bessel=bessel).variance

    value, bias = corrected_value(contrast, sums, variance_of)
    return Fit(
        value=value,
        residuals=residuals,
        variance=variance(sample, residuals, bessel=bessel and centred),
        df=degrees(contrast, sample, residuals),
        spread=spread(contrast, sample, known, sums),
        coefficient=coefficient,
        influence=psi,
        sums=sums,
        bias=bias,
    )


def spread(contrast: Contrast, sample: Sample, known: Known, sums: dict[int, Floats]) -> float:
    """Return the variance of the influence over the pool; items that could not be drawn share one known influence."""
    influence, weights = contrast.influence(sums), sample.row_weights
    psi = np.asarray(influence.at(sample.items, sample.labels), dtype=np.float64)
    within = float(np.sum(weights * _centred(sample, psi) ** 2) / np.sum(weights))
    if known.share >= 1.0 or not known.outside:
        return within
    name, share = contrast.functional.basis.name, known.share
    outside = sum(float(np.sum(a * known.outside[name, model])) for model, a in influence.terms) / (1.0 - share)
    return share * within + (1.0 - share) / share * (outside - influence.constant) ** 2
