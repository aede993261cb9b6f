r"""The variance that the belief expects of an estimate, where the labels' own spread says too little.

The belief, calibrated on the labels, tells how often each surprise is expected in the sample and how far it would move
the estimate (`surprises`).

For a belief of classes :math:`\sqrt{V_b}` is its mean over calibrations and lapses that the labels leave possible
(`plausible`); for losses of probabilities, and for a difference of two functions of the confusion matrix, :math:`V_b`
itself is averaged. What labels tell of judges, other models and features may lessen it (`plausible_corrected`).

For such a difference nearly all drawn items are those that the two models predict differently; the beliefs of these and
of all others are judged by the labels of each kind.

The larger of this and the sampled variance is used, the latter with Student's t of 4.6 degrees of freedom at least.
"""

from __future__ import annotations

import numpy as np

from sondage.core.beliefs import Belief, Distribution, is_limit, predicted_apart
from sondage.core.comparisons import Contrast, Influence, Sums
from sondage.core.measures.bases import ROUNDING, ClassLoss, Residuals
from sondage.core.measures.binned import ScoreCounts
from sondage.core.plausible import plausible, plausible_corrected
from sondage.core.predictions import Floats
from sondage.core.samples import Sample, effective_number
from sondage.core.surprises import Linearised, differs_in_predictions, expected_squares, supposed_moves

__all__ = [
    "believed_variance",
    "labels_of_rarer",
    "plausible_variance",
    "unseen_numbers_variance",
    "unseen_variance",
    "variance_slope",
]

MOST_SLOPE = 0.5
"""The largest slope of the variance, in standard errors."""
DOUBTED = 50.0
"""After how many labels half of the slope that the belief expects is believed."""


def believed_variance(contrast: Contrast, sample: Sample, sums: Sums, *beliefs: Distribution) -> float:
    """Return the squared error that beliefs expect of the estimate; 0 if they say nothing.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows.
    sums : mapping of int to ndarray
        Estimated pool means, by model.
    *beliefs : Distribution
        As the labels leave them possible, one as likely as another: the mean of their standard errors is squared. Of
        losses of probabilities, where one sure item that is wrong outweighs all others, and of differences in
        predictions it is the mean of their squares.
    """
    linearised = Linearised(contrast, sample, sums)
    expected = expected_squares(linearised, beliefs)
    if isinstance(contrast.functional.basis, ClassLoss) or differs_in_predictions(contrast):
        return float(np.mean(expected))
    return float(np.mean(np.sqrt(expected)) ** 2)


def plausible_variance(
    contrast: Contrast, sample: Sample, sums: Sums, belief: Belief, told: Sample | None = None
) -> float:
    """Return the squared error that what labels leave possible has one expect of the estimate.

    Where labels tell of judges, other models or features, it is the lesser of two: as if nothing of that were known,
    and if it is right. Of the latter, which may be wrong of many items at once, mean squares are taken.

    Parameters
    ----------
    contrast, sample, sums
        As for `believed_variance`; the sample may hold units whose labels are still to come.
    belief : Belief
        Calibrated on all labels.
    told : Sample, optional
        Whose labels leave it possible, all of which are there; by default the sample.

    Returns
    -------
    float
        :math:`V_b` of docs/statistics.md, section 7, in the measure's unit squared.
    """
    told = sample if told is None else told
    found = believed_variance(contrast, sample, sums, *plausible(contrast, belief, told))
    corrected = plausible_corrected(contrast, belief, told)
    if not corrected:
        return found
    linearised = Linearised(contrast, sample, sums)
    return min(found, float(np.mean(expected_squares(linearised, corrected))))


def unseen_variance(contrast: Contrast, sample: Sample, sums: Sums) -> float:
    r"""Return the squared error by items unlike all that are labelled, where labels show no difference of two models.

    Labels that all agree show none of the items on which the models' counts differ otherwise. Of n equal labels without
    any, Wilson's interval with two standard errors has up to :math:`4 / (n + 4)` of the items that are not labelled:

    .. math:: \mathrm{se} = \frac{2}{n + 4} \, \Delta \, \Big( \sum_u w_u b_u - \sum_u b_u \Big), \qquad
        n = \frac{(\sum_u w_u)^2}{\sum_u w_u^2},

    with :math:`\Delta` the most by which an item, whatever the models predict, can differ from those that are labelled.
    Where items are labelled that the models predict differently, no more of these are open than they say:
    of the most :math:`\Delta_u` by which such predictions with another label move it,

    .. math:: \mathrm{se} = \frac{2}{n_\Delta + 4}
        \Big( \sum_u (w_u - 1) b_u \Delta_u + 2 \sqrt{\sum_u k_u b_u^2 \Delta_u^2} \Big), \qquad
        n_\Delta = \frac{(\sum_u w_u b_u \Delta_u)^2}{\sum_u (w_u b_u \Delta_u)^2},

    if that is less (docs/statistics.md, section 7). Areas under curves are means over the items of either class, and
    each of these may differ by 1: n is the number of labels of the rarer.

    Parameters
    ----------
    contrast, sample, sums
        As for `believed_variance`.

    Returns
    -------
    float
        In the measure's unit squared; 0 of one model, and of what follows neither from the confusion matrix nor from
        the order of scores. Of two regressors it is `unseen_numbers_variance`.

    Examples
    --------
    Two models are alike on 16 of 20,000 items, drawn equally. On up to .2 of the others one may be right alone.

    >>> from sondage import Classifier, Pool, compare
    >>> pool = Pool(models={"a": Classifier([0, 1] * 10_000), "b": Classifier([0, 1] * 9_990 + [1, 0] * 10)})
    >>> how = {"labels": [0, 1] * 10_000, "budget": 16, "method": "passive"}
    >>> round(compare(pool, "a", "b", "error_rate", **how).estimate.std_error, 3)
    0.1
    """
    weights, basis = sample.expansion.weights, contrast.functional.basis
    rest = max(float(np.sum((weights - 1.0) * sample.unit_base)), 0.0)
    if contrast.compares and isinstance(basis, ScoreCounts):
        return (2.0 * rest / (labels_of_rarer(basis, sample) + 4.0)) ** 2
    if isinstance(basis, Residuals):
        return unseen_numbers_variance(contrast, sample, sums)
    if not differs_in_predictions(contrast):
        return 0.0
    influence = contrast.influence(sums)
    shown = influence.at(sample.items, sample.labels) + influence.constant
    most = float(np.max(np.sum([of_model.max(axis=0) for _, of_model in influence.terms], axis=0)))
    least = float(np.min(np.sum([of_model.min(axis=0) for _, of_model in influence.terms], axis=0)))
    step = max(most - float(np.min(shown)), float(np.max(shown)) - least)
    found = step * rest / (effective_number(sample.unit_expanded) + 4.0)
    steps = _steps_of_others(influence, sample, shown)
    if np.any(predicted_apart(sample.items, contrast.models) & (steps > ROUNDING * step)):
        found = min(found, _unseen_of_steps(sample, steps))
    return (2.0 * found) ** 2


def unseen_numbers_variance(contrast: Contrast, sample: Sample, sums: Sums) -> float:
    r"""Return the squared error by items of which a regressor is not right, where it is right on all that are labelled.

    Of two regressors without variances, one of which is right on every labelled item, nothing but the number of labels
    tells how often it is not. As many items as in `unseen_variance` may have the other one's prediction for a label,
    which moves the difference by :math:`\Delta_u = 2 |\psi_u|`.

    Parameters
    ----------
    contrast, sample, sums
        As for `believed_variance`.

    Returns
    -------
    float
        In the measure's unit squared; 0 of one model, where each is wrong on some labelled item, and with variances.

    Examples
    --------
    >>> from sondage import Pool, Regressor, compare
    >>> mean, other = [0.0, 1.0] * 50, [0.0, 3.0] * 50
    >>> pool = Pool(models={"right": Regressor(mean), "off": Regressor(other)})
    >>> round(compare(pool, "right", "off", "mae", labels=mean, budget=20).estimate.std_error, 3)
    0.169
    """
    if not contrast.compares or not any(_right_on_all(sample, model) for model in contrast.models):
        return 0.0
    influence = contrast.influence(sums)
    steps = 2.0 * np.abs(influence.at(sample.items, sample.labels) + influence.constant)
    return (2.0 * _unseen_of_steps(sample, steps)) ** 2


def _right_on_all(sample: Sample, model: int) -> bool:
    """Return whether each label is what a regressor without variances predicts."""
    told = sample.items.means(model)
    return told.variances is None and np.allclose(told.means, sample.labels, rtol=ROUNDING, atol=0.0)


def _unseen_of_steps(sample: Sample, steps: Floats) -> float:
    """Return half of the standard error by unseen items that move it by these steps, shape (n,), of those labelled."""
    weights, moves = sample.expansion.weights, sample.unit_sums(sample.items.weights * steps)
    if not moves.any():
        return 0.0
    spread = 2.0 * float(np.sqrt(np.sum(sample.expansion.spread * moves**2)))
    rest = max(float(np.sum((weights - 1.0) * moves)), 0.0) + spread
    return rest / (effective_number(weights * moves) + 4.0)


def labels_of_rarer(basis: ScoreCounts, sample: Sample) -> float:
    """Return the effective number of labels of the class, the positive one or the others, that has fewer."""
    positive = np.asarray(sample.labels == basis.positive, dtype=np.float64)
    return min(effective_number(sample.unit_sums(sample.row_weights * own)) for own in (positive, 1.0 - positive))


def _steps_of_others(influence: Influence, sample: Sample, shown: Floats) -> Floats:
    """Return by how much at most another label would move what each row has shown, shape (n,)."""
    _, coefficients = influence.terms[0]
    steps = np.zeros(len(sample.items))
    for label in range(coefficients.shape[1]):
        np.maximum(steps, np.abs(influence.at(sample.items, label) + influence.constant - shown), out=steps)
    return steps


def variance_slope(
    contrast: Contrast,
    sample: Sample,
    sums: Sums,
    residuals: Floats,
    *,
    belief: Belief | None,
    inclusion: Floats,
    std_error: float,
) -> float:
    r"""Return how fast the estimate's variance grows with its value: its third cumulant over its variance.

    Where heavy surprises are drawn, the estimate and its variance are both large, and both small where they are not:
    over draws and labels the variance's regression on the estimate has the slope

    .. math:: c = \frac{\sum_u (1 - \pi_u) (1 - 2 \pi_u) \pi_u^{-3} \, E r_u^3}
        {\sum_u (1 - \pi_u) \pi_u^{-2} \, E r_u^2}, \qquad r_u = b_u (\psi_u(y) - \bar\psi_u),

    sums over labelled units; of several stages with the cube and the square of each one's weight. Of a proportion from
    equal draws it is :math:`(1 - 2 \theta) / n`, as Wilson has it (docs/statistics.md, section 8). Of numbers, whose
    losses may have heavier tails than any belief says, the labels' own residuals stand for r.

    Parameters
    ----------
    contrast, sample, sums
        As for `believed_variance`.
    residuals : ndarray of float, shape (U,)
        Of the labelled units.
    belief : Belief, optional
        After the labels.
    inclusion : ndarray of float, shape (U,)
        With what probability each unit was drawn in its stage.
    std_error : float
        Of the estimate.

    Returns
    -------
    float
        In units of the estimate; 0 if neither labels nor belief say anything. It is at most half a standard error,
        since beyond that single surprises decide, and those that were not drawn are counted as an error. Of what a
        belief expects after n labelled units :math:`n / (n + 50)` is believed, for so does the belief follow from the
        labels.
    """
    spread = np.sqrt(sample.expansion.spread)
    if isinstance(contrast.functional.basis, Residuals):
        second, third, believed = (spread * residuals) ** 2, (spread * residuals) ** 3, 1.0
    elif belief is None or is_limit(belief):
        return 0.0
    else:
        expected, moves, _ = (of_all[0] for of_all in supposed_moves(Linearised(contrast, sample, sums), belief))
        steps, believed = spread * moves, sample.size / (sample.size + DOUBTED)
        second, third = np.sum(expected * steps**2, axis=0), np.sum(expected * steps**3, axis=0)
    skew = (1.0 - 2.0 * inclusion) / np.sqrt(np.maximum(1.0 - inclusion, 1e-300))
    total = float(np.sum(second))
    slope = float(np.sum(np.where(inclusion < 1.0, skew, 0.0) * third)) / total if total > 0 else 0.0
    most = MOST_SLOPE * std_error
    return float(np.clip(slope, -most, most)) * believed
