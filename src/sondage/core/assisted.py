r"""Estimators that know the belief's pool means and estimate what it explains by them (difference, AIPW, PPI).

With :math:`h = E[s]` under the belief, whose mean over the pool is known, and :math:`\lambda \in [0, 1]`,

.. math:: \hat\mu = \lambda \bar h + H^{out} (1 - \lambda) + \sum w b (s - \lambda h) + \Bigl(B - \sum w b\Bigr) c,

w, b, B and :math:`H^{out}` as in `estimators`. The last term takes out what the belief gets wrong for all items alike,
by a mean c of the residuals :math:`s - \lambda h`. For a difference c is 0, except for the part of s that labels tell
without a prediction: there it is :math:`(1 - \lambda) \bar h`, so that the origin of the labels' scale does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import tells_nothing
from sondage.core.centres import Centre, deviations, normalising, summing_weights
from sondage.core.comparisons import Contrast, Influence, believed_totals, moments
from sondage.core.estimators import Fit, hajek, linearise, put_back, summed
from sondage.core.measures.bases import Confusion, clean_sum
from sondage.core.possible import unrounded
from sondage.core.predictions import Floats
from sondage.core.samples import Known, Sample

__all__ = ["Assisted", "Coefficient", "all_of_it", "least_variance", "near_one"]

PRIOR_PRECISION = 4.0
"""Of a coefficient about 1: a standard deviation of a half."""
EQUAL = 1e-9
"""Means that differ by less of their size are equal: what is left of them follows the order of rows."""

Coefficient = Callable[[Sequence[Contrast], Sample, Known, "Centre | None"], float]
"""From contrasts, which share it, a sample and its centre to how much of the belief is used."""


@dataclass(frozen=True)
class Assisted:
    r"""An estimator by the pool's believed mean and the labels' residuals.

    Attributes
    ----------
    coefficient : callable
        Returns :math:`\lambda`, how much of the belief is used: for one contrast, or for several alike.
    centre : callable
        Returns the mean by which the residuals of one model are centred.
    """

    coefficient: Coefficient
    centre: Callable[[Sample, Known], Centre]

    def __call__(self, contrast: Contrast, sample: Sample, known: Known) -> Fit:
        """Return the estimate of one contrast that the design served.

        Items that hardly tell two models apart are hardly ever drawn. A sum of weights depends on how many of them are,
        and centring would multiply by it what the belief got wrong of all others: the residuals of a difference are
        expanded as they are.
        """
        centre = None if contrast.compares else self.centre(sample, known)
        return self.by(contrast, sample, known, self.coefficient([contrast], sample, known, centre), centre)

    @staticmethod
    def by(
        contrast: Contrast,
        sample: Sample,
        known: Known,
        coefficient: float,
        centre: Centre | None,
        beyond: float = 0.0,
    ) -> Fit:
        r"""Return the estimate with this coefficient and centre.

        Where none of the belief is used it is the Hajek estimate; of differences only with a single label, or if the
        measure depends on what labels tell without a prediction. So it is of losses and the like that leave the
        measure's range. There, and where a ratio of a mean of ratios is of a share below 0, counts of a confusion
        matrix below 0 become 0, of a mean of ratios those of classes whose ratio cannot be; and each class is predicted
        as often as it is.

        Parameters
        ----------
        contrast : Contrast
            What is estimated.
        sample : Sample
            The labelled rows.
        known : Known
            The belief and its pool means.
        coefficient : float
            :math:`\lambda`, in [0, 1].
        centre : Centre, optional
            By what mean residuals are centred; None leaves them as they are.
        beyond : float
            By how much the value may leave the measure's range, 0 or more.
        """
        if not known.expected or (coefficient == 0 and (centre is not None or _needs_mean(contrast, sample, known))):
            return hajek(contrast, sample, known)
        weights = summing_weights(sample, known, centre)
        plain, believed = summed(contrast, sample, known, weights), _believed(contrast, sample, known, weights)
        basis, sums = contrast.functional.basis, {}
        lacking = (1.0 - coefficient) * (known.share - float(np.sum(weights)))
        for model in contrast.models:
            expected = known.expected[basis.name, model]
            terms = [plain[model], -coefficient * believed[model], coefficient * expected]
            if centre is None and basis.of_labels is not None:
                terms.append(lacking * basis.of_labels * expected)
            sums[model] = clean_sum(np.stack(terms), axis=0)
        fit = linearise(contrast, sample, known, sums, coefficient=coefficient, centre=centre)
        if _within_bounds(fit, contrast, beyond):
            return fit
        if isinstance(basis, Confusion):
            counted = {
                model: _as_predicted(
                    sums[model], known.expected[basis.name, model], _may_be_negative(contrast, sums[model])
                )
                for model in contrast.models
            }
            fit = linearise(contrast, sample, known, counted, coefficient=coefficient, centre=centre)
        return fit if _within_bounds(fit, contrast, beyond) else hajek(contrast, sample, known)


def _needs_mean(contrast: Contrast, sample: Sample, known: Known) -> bool:
    """Return whether a difference cannot be expanded without a mean, nor its error be told.

    A single label says nothing of the spread about 0, and R2 depends on what labels tell without a prediction, whose
    scale has its 0 anywhere.
    """
    of_labels = contrast.functional.basis.of_labels
    if sample.size == 1:
        return True
    if of_labels is None:
        return False
    influence = contrast.influence(hajek(contrast, sample, known).sums)
    return any(bool(np.any(coefficients * of_labels)) for _, coefficients in influence.terms)


def _within_bounds(fit: Fit, contrast: Contrast, beyond: float) -> bool:
    """Return whether a value is within its range, and no ratio of a mean of ratios is of a share below 0."""
    low, high = contrast.bounds[0] - beyond, contrast.bounds[1] + beyond
    inside = bool(low <= unrounded(fit.value, low, high) <= high)
    if beyond:
        return inside
    ratios = contrast.functional.class_ratios
    return inside and (ratios is None or all(np.all(ratios.at(sums)[1] >= -EQUAL) for sums in fit.sums.values()))


def _may_be_negative(contrast: Contrast, sums: Floats) -> NDArray[np.bool_]:
    """Return which counts may stay below 0, shape (k, k): in a mean of ratios those of classes whose ratio can be."""
    stay = np.zeros(sums.shape, dtype=np.bool_)
    if contrast.functional.class_ratios is not None:
        above, below = contrast.functional.class_ratios.at(sums)
        stay[:] = (above >= -EQUAL) & (above <= below + EQUAL)
    return stay


def _as_predicted(counts: Floats, expected: Floats, stay: NDArray[np.bool_]) -> Floats:
    """Return a confusion matrix, predictions in rows, with the sums of each row expected and few counts below 0.

    Examples
    --------
    >>> told, expected = np.array([[0.8, 0.1], [-0.1, 0.2]]), np.array([[0.6, 0.3], [0.05, 0.05]])
    >>> _as_predicted(told, expected, np.zeros((2, 2), dtype=bool)).round(2).tolist()
    [[0.8, 0.1], [0.0, 0.1]]
    """
    kept = np.where(stay, counts, np.maximum(counts, 0.0))
    sums, predicted = kept.sum(axis=1, keepdims=True), expected.sum(axis=1, keepdims=True)
    return np.where(sums > 0, kept * predicted / np.where(sums > 0, sums, 1.0), expected)


def _believed(contrast: Contrast, sample: Sample, known: Known, weights: Floats) -> dict[int, Floats]:
    """Return the totals of s with each label replaced by its believed distribution."""
    basis = contrast.functional.basis
    assert known.belief is not None
    totals = believed_totals(basis, contrast.models, known.belief, sample.items, weights)
    return {model: total + known.outside.get((basis.name, model), 0.0) for model, total in totals.items()}


def least_variance(
    contrasts: Sequence[Contrast], sample: Sample, known: Known, centre: Centre | None, precision: float = 0.0
) -> float:
    r"""Return the one coefficient in [0, 1] that minimises the summed variance estimates.

    The slope :math:`\hat\lambda` of the influence on its believed mean has, if the belief is right, the variance
    :math:`v_\lambda = \sum k^2 h^2 v / (\sum k h^2)^2` about 1; a prior about 1 with this precision t makes it
    :math:`(\hat\lambda / v_\lambda + t) / (1 / v_\lambda + t)`. It is 1 where the means of all labelled items are alike
    and tell no slope; without a prior 0. For several models it is that of their deviations from the models' mean, since
    only these tell models apart, and 0 where these are alike.

    Parameters
    ----------
    contrasts : sequence of Contrast
        What is estimated with the same coefficient.
    sample : Sample
        The labelled rows.
    known : Known
        The belief and its pool means; without any the coefficient is 0.
    centre : Centre, optional
        By what mean residuals are centred.
    precision : float
        t, 0 or more.
    """
    if known.belief is None or not known.expected or not np.any(sample.expansion.spread):
        return 0.0
    if tells_nothing(known.belief, sample.items, sample.labels):
        return 0.0
    outcomes, helpers = [], []
    noise, size = np.zeros(sample.size), np.zeros(sample.size)
    base, normalised = sample.items.weights, summing_weights(sample, known, normalising(sample, known))
    for contrast in contrasts:
        influence = contrast.influence(summed(contrast, sample, known, normalised))
        mean, second = moments(influence, known.belief, sample.items)
        outcomes.append(_of_units(influence.at(sample.items, sample.labels), influence, sample, known, centre))
        helpers.append(_of_units(mean, influence, sample, known, centre))
        noise += np.square(sample.unit_sums(base * np.sqrt(np.maximum(second - np.square(mean), 0.0))))
        size += np.square(sample.unit_sums(base * (np.sqrt(second) + abs(influence.constant))))
    outcome, helper = np.stack(outcomes), np.stack(helpers)
    if len(contrasts) > 1:
        outcome, helper = outcome - outcome.mean(axis=0), helper - helper.mean(axis=0)
    spread = sample.expansion.spread
    slope, square = float(np.sum(spread * outcome * helper)), float(np.sum(spread * helper**2))
    if square <= EQUAL**2 * float(np.sum(spread * size)):  # all means alike: their deviations are last bits
        return 1.0 if precision and len(contrasts) == 1 else 0.0
    parts = spread / square  # first, for the square of a sum of squares may leave the range of numbers
    variance_of_slope = float(np.sum(parts * np.sum(helper**2, axis=0) * (parts * noise))) / len(contrasts)
    weight = variance_of_slope * precision
    return float(np.clip((slope / square + weight) / (1.0 + weight), 0.0, 1.0))


def _of_units(psi: Floats, influence: Influence, sample: Sample, known: Known, centre: Centre | None) -> Floats:
    """Return the units' sums of influences, shape (n,), centred, or without a centre of the statistic itself."""
    centred = psi + put_back(influence, known) if centre is None else deviations(psi, centre.weights)
    return sample.unit_sums(sample.items.weights * centred)


def near_one(contrasts: Sequence[Contrast], sample: Sample, known: Known, centre: Centre | None) -> float:
    """Return the coefficient of `least_variance`, drawn towards 1: a few labels do not undo a belief that is good."""
    return least_variance(contrasts, sample, known, centre, PRIOR_PRECISION)


def all_of_it(contrasts: Sequence[Contrast], sample: Sample, known: Known, centre: Centre | None) -> float:
    """Return 1."""
    return 1.0
