r"""Estimators of a contrast from a sample that use no belief: self-normalised, Hajek, Horvitz-Thompson.

Each estimates the pool means :math:`\mu`, evaluates the contrast there, and leaves for every unit a residual
whose weighted sum is the estimation error to first order; variance, intervals and tests all come from these.
With expansion weights w, base weights b, share B of the items that could be drawn, and believed totals
:math:`H^{out}` of those that could not:

self-normalised (thesis 3.11, 3.31) and Hajek
    :math:`\hat\mu = H^{out} + B \sum w b s / \sum w b`
Horvitz-Thompson
    :math:`\hat\mu = H^{out} + \sum w b s`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sondage.core.biases import corrected_value
from sondage.core.centres import Centre, deviations, normalising, summing_weights
from sondage.core.comparisons import Contrast, Influence, moments
from sondage.core.predictions import Floats
from sondage.core.residuals import degrees, pool_roots, variance
from sondage.core.samples import Known, Sample

__all__ = [
    "Estimator",
    "Fit",
    "hajek",
    "horvitz_thompson",
    "linearise",
    "put_back",
    "residuals_of",
    "self_normalised",
    "spread",
    "summed",
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
        :math:`\lambda`; 0 unless assisted.
    influence : ndarray of float, shape (n,)
        Influence of each row's label.
    sums : dict of int to ndarray
        Estimated pool means of each model.
    bias : float
        Bound of the bias that is left in the value of a measure with kinks; else 0.
    centre : Centre, optional
        The mean by which residuals are centred; None where they are not, and of several stages, which have their own.
    bessel : bool
        Whether the variance has the factor n / (n - 1) for the mean by which residuals were centred.
    shares : ndarray of float, shape (K,), optional
        Weights of several stages.
    stages : tuple of Fit
        The fits of several stages, each by itself.
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
    centre: Centre | None = None
    bessel: bool = False
    shares: Floats | None = None
    stages: tuple[Fit, ...] = ()


Estimator = Callable[[Contrast, Sample, Known], Fit]


def self_normalised(contrast: Contrast, sample: Sample, known: Known) -> Fit:
    r"""Estimate by weights over their sum, :math:`\sum w b s / \sum w b` (thesis 3.11), variance by 3.14 to the letter.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows, with the weights w that expand them.
    known : Known
        What share of the pool could be drawn, and believed totals of the rest.

    Returns
    -------
    Fit
        Its value is NaN where the measure is undefined on the sample.
    """
    return _plain(contrast, sample, known, normalising(sample, known), bessel=False)


def hajek(contrast: Contrast, sample: Sample, known: Known) -> Fit:
    """Estimate by weights over their sum; the variance has the factor n / (n - 1).

    Parameters
    ----------
    contrast, sample, known
        As for `self_normalised`.

    Examples
    --------
    >>> from sondage.core.measures import ErrorRate, Task
    >>> from sondage.core.predictions import Classes, Items
    >>> from sondage.core.samples import from_inclusion
    >>> items = Items((Classes(np.array([0, 1, 1]), None),), np.full(3, 0.1))  # three of a pool of ten
    >>> sample = Sample(items, np.array([0, 1, 0]), from_inclusion(np.array([0.25, 0.5, 0.5])))
    >>> known = Known(share=1.0, belief=None, expected={}, outside={}, squared=0.1)
    >>> contrast = Contrast(ErrorRate().ready(Task("classification", (0, 1))), ((0, 1.0),))
    >>> [round(estimator(contrast, sample, known).value, 3) for estimator in (hajek, horvitz_thompson)]
    [0.25, 0.2]
    >>> round(hajek(contrast, sample, known).variance / self_normalised(contrast, sample, known).variance, 3)
    1.5
    """
    return _plain(contrast, sample, known, normalising(sample, known))


def horvitz_thompson(contrast: Contrast, sample: Sample, known: Known) -> Fit:
    r"""Estimate totals without normalising, :math:`\sum w b s`: unbiased for sums, noisy with a random threshold.

    Parameters
    ----------
    contrast, sample, known
        As for `self_normalised`.
    """
    return _plain(contrast, sample, known, None)


def _plain(contrast: Contrast, sample: Sample, known: Known, centre: Centre | None, *, bessel: bool = True) -> Fit:
    sums = summed(contrast, sample, known, summing_weights(sample, known, centre))
    return linearise(contrast, sample, known, sums, centre=centre, bessel=bessel)


def summed(contrast: Contrast, sample: Sample, known: Known, weights: Floats) -> dict[int, Floats]:
    """Return the totals of s under these row weights, with the believed ones of what could not be drawn."""
    basis = contrast.functional.basis
    return {
        model: basis.totals(sample.items, model, sample.labels, weights) + known.outside.get((basis.name, model), 0.0)
        for model in contrast.models
    }


def linearise(
    contrast: Contrast,
    sample: Sample,
    known: Known,
    sums: dict[int, Floats],
    *,
    centre: Centre | None,
    coefficient: float = 0.0,
    bessel: bool = True,
) -> Fit:
    """Evaluate the contrast at the sums and linearise around it, residuals centred by this mean."""
    bessel = bessel and (centre is not None or (sample.expansion.fixed and not coefficient))

    def linear(one: Contrast) -> tuple[Floats, Floats, float]:
        """Return the influence of rows, and residuals and variance that follow from it."""
        influence = one.influence(sums)
        psi = np.asarray(influence.at(sample.items, sample.labels), dtype=np.float64)
        residuals = residuals_of(psi, influence, sample, known, centre=centre, coefficient=coefficient)
        return psi, residuals, variance(sample, residuals, bessel=bessel)

    psi, residuals, own = linear(contrast)
    value, bias = corrected_value(contrast, sums, lambda part: linear(part)[2])
    return Fit(
        value=value,
        residuals=residuals,
        variance=own,
        df=degrees(contrast, sample, residuals),
        spread=spread(psi, sample, known),
        coefficient=coefficient,
        influence=psi,
        sums=sums,
        bias=bias,
        centre=centre,
        bessel=bessel,
    )


def residuals_of(
    psi: Floats, influence: Influence, sample: Sample, known: Known, *, centre: Centre | None, coefficient: float
) -> Floats:
    """Return the units' residuals, shape (U,), of influences, shape (n,), less what the belief explains, centred."""
    explained = psi
    if coefficient:
        assert known.belief is not None
        explained = psi - coefficient * moments(influence, known.belief, sample.items)[0]
    if centre is None:
        constant = put_back(influence, known) if coefficient else influence.constant
        totals = sample.unit_sums(sample.items.weights * (explained + (1.0 - coefficient) * constant))
        return totals if coefficient else sample.expansion.deviations(totals)
    return np.asarray(centre.scale * sample.unit_sums(sample.items.weights * deviations(explained, centre.weights)))


def put_back(influence: Influence, known: Known) -> float:
    """Return what an assisted estimate puts back of an influence's constant where it does not centre.

    That is all but the part of what labels tell without a prediction, which it expands about the believed pool mean.

    Parameters
    ----------
    influence : Influence
        Of a basis whose `of_labels` marks that part; without one all of the constant is put back.
    known : Known
        With the believed pool means of its basis and models.
    """
    basis = influence.basis
    if basis.of_labels is None:
        return influence.constant
    parts = [a * basis.of_labels * known.expected[basis.name, model] for model, a in influence.terms]
    return influence.constant - float(np.sum(parts))


def spread(influence: Floats, sample: Sample, known: Known) -> float:
    """Return the variance of an influence over the pool, a population's share in the uncertainty."""
    share = known.share if known.outside else 1.0
    return float(np.sum(pool_roots(influence[None], sample, share) ** 2))
