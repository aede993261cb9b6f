r"""The variance of one label of each stage, which weighs the stages: estimates of variances, shrunk to their mean.

The variance :math:`V_k` that a belief expects of stage k follows from the :math:`n_k` units that were drawn, and is
small where none that matters was. So the variance of one label, :math:`n_k V_k`, is shrunk towards the mean over all
stages,

.. math:: e_k = \frac{n_k^2 \cdot n_k V_k + 15^2 \, \bar e}{n_k^2 + 15^2}, \qquad
    \bar e = \frac{\sum_k n_k \cdot n_k V_k}{\sum_k n_k},

by half with 15 labels, hardly with a hundred. Where a stage's estimate is more than four standard errors away from that
of the later ones, whose designs and beliefs have learned from it, :math:`V_k` was not true: the square of the distance,
less their variance, takes its place (for measures with bounds). Stages drawn with equal chances have one variance of a
label, the mean of theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, is_broad, is_limit
from sondage.core.comparisons import Contrast, Sums, moments
from sondage.core.designs import broad_root
from sondage.core.estimators import Fit, residuals_of
from sondage.core.measures.bases import ROUNDING, ClassLoss
from sondage.core.predictions import Floats
from sondage.core.samples import LabelledStage

__all__ = ["levelled", "may_contradict", "stage_variance", "tempered", "uncontradicted"]

CONTRADICTED = 4.0
"""How many standard errors from the later stages contradict a stage's variance."""
PRIOR_LABELS = 15.0
"""With how many labels a stage is half drawn towards what labels of all stages err by."""


def uncontradicted(values: Floats, variances: Floats) -> Floats:
    r"""Return variances of successive stages' estimates, raised where the later ones contradict them.

    From the last stage but one to the first, with :math:`\bar\theta_{>k}` the mean of the later estimates weighted by
    their variances and :math:`V_{>k}` its variance: where :math:`d_k^2 = (\theta_k - \bar\theta_{>k})^2` is above
    :math:`4^2 (V_k + V_{>k})`, :math:`V_k` becomes :math:`d_k^2 - V_{>k}` (docs/statistics.md, section 6.1).

    Parameters
    ----------
    values, variances : ndarray of float, shape (K,)
        Estimates, NaN where there is none, and what their variances are thought to be, 0 or more.

    Returns
    -------
    ndarray of float, shape (K,)
        The variances, none smaller; those next to an estimate that is NaN as they are.

    Examples
    --------
    >>> uncontradicted(np.array([0.9, 0.5, 0.6]), np.array([1e-4, 2e-3, 2e-3])).round(4).tolist()
    [0.1215, 0.002, 0.002]
    >>> uncontradicted(np.array([0.65, 0.5, 0.6]), np.array([1e-4, 2e-3, 2e-3])).round(4).tolist()
    [0.0001, 0.002, 0.002]
    """
    found = variances.copy()
    for at in reversed(range(len(values) - 1)):
        later = slice(at + 1, None)
        weights = 1.0 / np.maximum(found[later], 1e-300)
        mean, other = np.average(values[later], weights=weights / weights.max()), 1.0 / float(np.sum(weights))
        off = values[at] - mean
        if off**2 > CONTRADICTED**2 * (found[at] + other) and abs(off) > ROUNDING * float(np.max(np.abs(values[at:]))):
            found[at] = off**2 - other
    return found


def tempered(errors: Floats, sizes: Floats) -> Floats:
    r"""Return :math:`e_k` from :math:`n_k V_k` and :math:`n_k`, shape (K,) each.

    Examples
    --------
    >>> tempered(np.array([1.0, 3.0]), np.array([15.0, 15.0])).tolist()
    [1.5, 2.5]
    """
    own = sizes**2 / (sizes**2 + PRIOR_LABELS**2)
    return np.asarray(own * errors + (1.0 - own) * np.average(errors, weights=sizes))


def levelled(errors: Floats, sizes: Floats, equal: NDArray[np.bool_]) -> Floats:
    r"""Return :math:`n_k V_k`, of stages drawn with equal chances their mean: one label of each varies alike.

    What differs is which units came, and a stage of which none is surprising would weigh the more for it.

    Parameters
    ----------
    errors, sizes : ndarray of float, shape (K,)
        :math:`n_k V_k` and :math:`n_k`.
    equal : ndarray of bool, shape (K,)
        Which stages were.

    Examples
    --------
    >>> levelled(np.array([1.0, 4.0, 2.0]), np.array([20.0, 40.0, 30.0]), np.array([True, True, False])).tolist()
    [3.0, 3.0, 2.0]
    """
    if not equal.any():
        return errors
    found = errors.copy()
    found[equal] = np.average(errors[equal], weights=sizes[equal])
    return found


def may_contradict(contrast: Contrast, belief: Belief) -> bool:
    """Return whether the stages' variances are of use: a limit has none, and one item may have most of a loss."""
    bounded = np.isfinite(contrast.bounds).all() and not isinstance(contrast.functional.basis, ClassLoss)
    return bool(bounded) and not is_limit(belief)


def stage_variance(contrast: Contrast, stage: LabelledStage, fit: Fit, sums: Sums, belief: Belief) -> float:
    r"""Return :math:`V_k = \sum_u k_u E[e_u^2]` under the belief, e the residuals that the stage's own belief leaves.

    They vary with the labels, and are off by what the stage believed otherwise; a belief that is sure of every label,
    or a limit, tells nothing of that. Of one that is infinitely broad the root is its leading coefficient, as in sizes.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    stage : LabelledStage
        The stage's labelled rows, and what was known of the pool before them.
    fit : Fit
        The stage's own estimate, whose centre and coefficient residuals have.
    sums : mapping of int to ndarray
        Estimated pool means, by model.
    belief : Belief
        After all labels.
    """
    influence, sample = contrast.influence(sums), stage.sample
    if is_broad(belief):
        noise = sample.unit_sums(sample.items.weights * broad_root(influence, sample.items))
        return float(np.sum(sample.expansion.spread * np.square(noise)))
    mean, second = moments(influence, belief, sample.items)
    variance = second - np.square(mean)
    noise = sample.unit_sums(sample.items.weights * np.sqrt(np.where(variance > ROUNDING * second, variance, 0.0)))
    squares = np.square(noise)
    if noise.any() and not is_limit(belief):
        off = residuals_of(mean, influence, sample, stage.known, centre=fit.centre, coefficient=fit.coefficient)
        squares += np.square(off)
    return float(np.sum(sample.expansion.spread * squares))
