r"""Beliefs that the labels leave possible, one as likely as another, and the error of the estimate under each.

A belief expects something of the items that are not labelled. Under it the value is above the estimate
:math:`\hat\theta` by what it expects of them, less what the labelled items that stand for them have shown. That has the
mean and the variance

.. math:: \delta = -\sum_u (w_u - 1) \, b_u (\psi_u(y_u) - \bar\psi_u), \qquad
    \sigma^2 = \sum_u (w_u - 1) \, b_u^2 \, \mathrm{Var}\, \psi_u .

A few items that are sure and wrong may be half of a loss of probabilities, and so may the few positives, or the few
errors, that a function of the confusion matrix counts. A sample without any of them has a small spread, and an estimate
too low by their whole effect. No standard error that goes with the value shows that, but some of the beliefs do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # scipy.optimize is loaded when it is used
from numpy.typing import NDArray
from scipy.special import ndtr

from sondage.core.beliefs import (
    Belief,
    ClassBelief,
    Distribution,
    Divided,
    Lapsing,
    LearnedClassBelief,
    OutcomeBelief,
    predicted_apart,
)
from sondage.core.comparisons import Contrast, Sums
from sondage.core.learning import NONE
from sondage.core.measures.bases import ROUNDING, ClassLoss, Confusion
from sondage.core.normal import FAR
from sondage.core.predictions import Floats
from sondage.core.samples import Sample
from sondage.core.surprises import (
    Linearised,
    differs_in_predictions,
    in_blocks,
    supposed_moves,
    wrong_classes_differ,
)

__all__ = [
    "PlausibleErrors",
    "errors_with_kinks",
    "joined_errors",
    "moved_by_lapses",
    "plausible",
    "plausible_corrected",
    "plausible_errors",
    "reckoned_with",
]


def plausible(contrast: Contrast, belief: Belief, sample: Sample) -> Sequence[Distribution]:
    """Return the beliefs that labels leave possible.

    Of a difference in predictions items that the models predict differently are judged by their own labels, and those
    that they predict alike by theirs (docs/statistics.md, section 7): these move both models' counts alike, but are in
    the denominators of both. Models lapse on both kinds of items or on neither. Rows that share a label tell it once:
    what is said of it is pooled, or of the first that differs. Losses of probabilities follow from sure items, of which
    beliefs of classes leave more possible (`plausible_of_sure`).

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    belief : Belief
        Calibrated on all labels.
    sample : Sample
        The labelled rows.

    Returns
    -------
    sequence of Distribution
        One as likely as another, in order of their lapses: `Divided` of a difference in predictions.
    """
    if not differs_in_predictions(contrast):
        return _left_possible(belief, sample, losses=isinstance(contrast.functional.basis, ClassLoss))
    apart = predicted_apart(sample.items, contrast.models)
    alike = ~apart if sample.units is None else ~np.isin(sample.units, sample.units[apart])
    both = [_left_possible_of(np.flatnonzero(rows), belief, sample) for rows in (alike, apart)]
    most = max(map(len, both))  # one of both may be the belief alone
    pairs = zip(*(tuple(beliefs) * (most // len(beliefs)) for beliefs in both), strict=True)
    return tuple(Divided(of_alike, of_apart, contrast.models) for of_alike, of_apart in pairs)


def _left_possible_of(rows: NDArray[np.int64], belief: Belief, sample: Sample) -> Sequence[Distribution]:
    """Return what the labels of these rows leave possible; the belief alone where there are none."""
    return _left_possible(belief, sample, tuple(rows.tolist())) if len(rows) else (belief,)


def plausible_corrected(contrast: Contrast, belief: Belief, sample: Sample) -> Sequence[Distribution]:
    r"""Return what labels leave possible if that is right which they tell of judges, other models and features.

    Calibrations :math:`\mathrm{logit} \, p' = a + b \, \mathrm{logit} \, p + f`, and lapses, given the correction f
    that the labels of other items ask for (docs/statistics.md, section 7). None where they tell nothing, and of
    differences in predictions and losses of probabilities.

    Parameters
    ----------
    contrast, belief, sample
        As for `plausible`.

    Returns
    -------
    sequence of Distribution
        Each as likely as another.
    """
    told = isinstance(belief, LearnedClassBelief) and not isinstance(contrast.functional.basis, ClassLoss)
    return _corrected(belief, sample) if told and not differs_in_predictions(contrast) else ()


@lru_cache(maxsize=1)
def _corrected(belief: LearnedClassBelief, sample: Sample) -> Sequence[Distribution]:
    """Return the answer, of which the last is kept."""
    return belief.plausible_corrected(sample.unit_items, sample.unit_labels, sample.unit_expanded)


@lru_cache(maxsize=2)
def _left_possible(
    belief: Belief, sample: Sample, rows: tuple[int, ...] | None = None, *, losses: bool = False
) -> Sequence[Distribution]:
    """Return what labels, of these rows alone, leave possible; the last answers are kept: slices ask again."""
    if rows is not None:
        assert isinstance(belief, ClassBelief)
        at = np.array(rows)
        if sample.units is not None:
            at = at[np.unique(sample.units[at], return_index=True)[1]]
        return belief.plausible(sample.items, sample.labels, sample.of_rows(sample.unit_expanded), at)
    told = sample.unit_items, sample.unit_labels, sample.unit_expanded
    if losses and isinstance(belief, ClassBelief):
        return belief.plausible_of_sure(*told)
    return belief.plausible(*told)


def reckoned_with(contrast: Contrast, belief: Belief, sample: Sample) -> Sequence[Distribution]:
    """Return the beliefs with which the interval of one model reckons, whatever the standard error is.

    More of them lapse than of those that the standard error averages over: an average is of what is likely, an end of
    what is not excluded. Of losses of probabilities for which labels tell of others than the model they are
    `plausible`; where it matters which wrong class a label is, labels also tell which of these come. See
    docs/statistics.md, section 8.

    Parameters
    ----------
    contrast, belief, sample
        As for `plausible`.

    Returns
    -------
    sequence of Distribution
        One as likely as another, in order of their lapses; none of differences and of other measures.
    """
    basis = contrast.functional.basis
    if contrast.compares or not isinstance(belief, ClassBelief | OutcomeBelief):
        return ()
    if isinstance(belief, OutcomeBelief):
        return _of_unseen(belief, sample)
    corrected = isinstance(belief, LearnedClassBelief) and belief.correction != NONE
    if isinstance(basis, ClassLoss) and corrected:
        return plausible(contrast, belief, sample)
    told = isinstance(basis, Confusion | ClassLoss) or contrast.functional.moments is not None
    return _of_unseen(belief, sample, wrong_differ=wrong_classes_differ(contrast.functional)) if told else ()


@lru_cache(maxsize=2)
def _of_unseen(
    belief: ClassBelief | OutcomeBelief, sample: Sample, *, wrong_differ: bool = False
) -> Sequence[Distribution]:
    """Return the answer, of which the last are kept."""
    labelled = sample.unit_items, sample.unit_labels, sample.unit_expanded
    if isinstance(belief, OutcomeBelief):
        return belief.plausible_of_unseen(*labelled)
    return belief.plausible_of_unseen(*labelled, wrong_differ=wrong_differ)


@dataclass(frozen=True, eq=False)
class PlausibleErrors:
    """How far the value may be above its estimate: normal distributions, one as likely as another.

    Attributes
    ----------
    means, deviations : ndarray of float, shape (K,)
        By what each belief has the value above the estimate, and the standard deviation of that.
    """

    means: Floats
    deviations: Floats

    def quantile(self, probability: float) -> float:
        """Return the quantile of their mixture.

        Parameters
        ----------
        probability : float
            In (0, 1).

        Examples
        --------
        >>> round(PlausibleErrors(np.array([0.0, 8.0]), np.array([1.0, 1.0])).quantile(0.75), 6)
        8.0
        """
        whole = float(np.ptp(self.means) + self.deviations.max())
        if whole == 0:
            return float(self.means[0])
        scale = np.maximum(self.deviations, ROUNDING * whole)
        low, high = float(np.min(self.means - FAR * scale)), float(np.max(self.means + FAR * scale))
        found = scipy.optimize.brentq(
            lambda error: float(np.mean(ndtr((error - self.means) / scale))) - probability,
            low,
            high,
            xtol=1e-14 * whole,
        )
        return float(found)

    def scaled(self, factor: float) -> PlausibleErrors:
        """Return the errors times this factor."""
        return PlausibleErrors(self.means * factor, self.deviations * factor)


def joined_errors(parts: Sequence[tuple[float, PlausibleErrors | None]]) -> PlausibleErrors | None:
    """Return those of a mean over parts of a pool with shares that sum to 1, of which some may have none.

    In each part beliefs are in order of their lapses: the model lapses in all parts or in none.

    Examples
    --------
    >>> one, two = (PlausibleErrors(np.array([0.0, x]), np.array([1.0, 1.0])) for x in (2.0, 4.0))
    >>> joined_errors([(0.5, one), (0.5, two)]).means.tolist()
    [0.0, 3.0]
    """
    told = [part.scaled(share) for share, part in parts if part is not None]
    if not told:
        return None
    deviations = np.sqrt(np.sum([part.deviations**2 for part in told], axis=0))
    return PlausibleErrors(np.sum([part.means for part in told], axis=0), deviations)


def plausible_errors(
    contrast: Contrast, sample: Sample, sums: Sums, beliefs: Sequence[Distribution]
) -> PlausibleErrors | None:
    r"""Return what each belief has the value above the estimate by; None of a single one, or of none.

    Of each the mean :math:`\delta` and the standard deviation :math:`\sigma` of docs/statistics.md, section 8. Weights
    of joined stages may be below 1: it is their sums that stand for the items that are not labelled.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows.
    sums : mapping of int to ndarray
        Estimated pool means, by model.
    beliefs : sequence of Distribution
        Of an interval (`reckoned_with`).

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> found = evaluate(Pool([0.02, 0.5, 0.98] * 20), "brier", [0, 1, 1] * 20, budget=20)
    >>> len(found.plausible.means)
    60
    """
    if len(beliefs) < 2:
        return None
    linearised, others = Linearised(contrast, sample, sums), sample.expansion.weights - 1.0
    means, squares = [], []
    for block in in_blocks(linearised, beliefs):
        expected, moves, shown = supposed_moves(linearised, *block)
        means.append(-np.sum(others * shown, axis=1))
        squares.append(np.sum(others * np.sum(expected * moves**2, axis=1), axis=1))
    return PlausibleErrors(np.concatenate(means), np.sqrt(np.maximum(np.concatenate(squares), 0.0)))


def errors_with_kinks(
    contrast: Contrast, sums: Sums, value: float, errors_of: Callable[[Contrast], PlausibleErrors | None]
) -> PlausibleErrors | None:
    r"""Return what each belief has the value above the estimate by, of measures too that are not smooth in pool means.

    Linearised, an absolute value would fall without end, as a belief has a pool mean move past 0, where it begins to
    grow. So the value's mean and variance are those that it has where the pool means are as the belief has them, normal
    with the means :math:`\hat\mu_b + \delta_b` and the variances :math:`\sigma_b^2` (docs/statistics.md, section 8).

    Parameters
    ----------
    contrast : Contrast
        What is estimated; of one model by a measure with `moments` each pool mean's errors are asked for, else its own.
    sums : mapping of int to ndarray
        Estimated pool means, by model, shape (d,).
    value : float
        The estimate.
    errors_of : callable
        From a contrast that is taken for linear to the same; None where nothing is known.

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> found = evaluate(Pool([0.02, 0.5, 0.98] * 20), "ece:bins=2", [0, 1, 1] * 20, budget=20)
    >>> bool(np.all(found.value + found.plausible.means >= 0))
    True
    """
    moments = contrast.functional.moments
    if moments is None or contrast.compares:
        return errors_of(contrast)
    (model,) = contrast.models
    found = [errors_of(contrast.part(model, entry)) for entry in np.eye(len(sums[model]))]
    parts = [part for part in found if part is not None]
    if len(parts) < len(found):
        return None
    errors, deviations = (np.stack([getattr(part, of) for part in parts], axis=1) for of in ("means", "deviations"))
    means, variances = moments(sums[model] + errors, deviations**2)
    return PlausibleErrors(means - value, np.sqrt(variances))


def moved_by_lapses(contrast: Contrast, belief: Belief, sample: Sample, sums: Sums) -> Floats:
    """Return by how much lapses on items that models predict alike have the value above that without them, shape (K,).

    Of each belief that the labels leave possible where items that nobody has seen may be wrong by chance, as likely one
    as another; 0 of those without lapses. Models lapse on all items alike, but only these are asked about.

    Parameters
    ----------
    contrast, belief, sample
        As for `plausible`.
    sums : mapping of int to ndarray
        Estimated pool means, by model.

    Returns
    -------
    ndarray of float, shape (K,)
        A single 0 of a belief that is not of classes.
    """
    if not isinstance(belief, ClassBelief):
        return np.zeros(1)
    linearised, items = Linearised(contrast, sample, sums), sample.items
    others = sample.of_rows(sample.expansion.weights - 1.0) * items.weights
    others = np.where(predicted_apart(items, contrast.models), 0.0, others)
    by_chance = np.mean([linearised.psi(label) for label, _ in linearised.supposed(belief, items)], axis=0)

    def moved(lapsing: Lapsing) -> float:
        told = sum(weight * linearised.psi(label) for label, weight in linearised.supposed(lapsing.belief, items))
        return lapsing.share * float(np.sum(others * (by_chance - told)))

    return np.array([moved(one) if isinstance(one, Lapsing) else 0.0 for one in _of_unseen(belief, sample)])
