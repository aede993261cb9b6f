r"""Where all labels are those that were expected: what others among the remaining items would do to a measure.

Others would raise a measure on some items and lower it on the rest, by

.. math:: d_u = \frac{1}{k} \sum_y \psi(o_u, y) - \psi(o_u, y_u),

with the k labels y that an item may have, and influences at the estimate. Of the items of one sign, with m labels, up
to :math:`w = z_1^2 / (m + z_1^2)` may have another one, with :math:`z_1 = \Phi^{-1}(1 - \alpha)` for an interval of
level :math:`1 - \alpha` (Wilson's bound of 0, one-sided: the truth is on one side). Were the labels of a share
:math:`\lambda = w k / (k - 1)` of these any of the k possible ones by chance, the pool means would be

.. math:: \hat\mu + \lambda \sum_u (w_u - 1) \, b_u \Big(\frac{1}{k} \sum_y s(o_u, y) - s(o_u, y_u)\Big) .

References
----------
E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American Statistical
Association, 1927, 209-212.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Contrast, Influence, Sums
from sondage.core.intervals import wilson_interval
from sondage.core.measures import Functional
from sondage.core.measures.bases import ROUNDING, Basis, Confusion, OwnLoss
from sondage.core.predictions import Classes, Floats, Grades
from sondage.core.results import Estimate, Interval
from sondage.core.samples import Sample, effective_number

__all__ = ["Unexpected", "unexpected", "with_unexpected"]


@dataclass(frozen=True, eq=False)
class Unexpected:
    """What labels that nobody expects would do to one model's measure where they raise it, or where they lower it.

    Attributes
    ----------
    functional : Functional
        The measure.
    sums : ndarray of float
        The estimated pool mean of its item statistic.
    chance : ndarray of float
        By how much that moves if the labels of all such items that are not labelled come by chance.
    possible : int
        How many labels an item can have, k.
    part : float
        Which part of the effective number of labels is of such items, in (0, 1].
    """

    functional: Functional
    sums: Floats
    chance: Floats
    possible: int
    part: float

    def moved(self, share: float) -> float:
        """Return by how much the measure moves if this share of the other items has another label than expected.

        Parameters
        ----------
        share : float
            In [0, 1].

        Returns
        -------
        float
            In the measure's unit; NaN where the measure is undefined then.
        """
        k = self.possible
        lapsed = min(share * k / (k - 1), 1.0)
        return self.functional.value(self.sums + lapsed * self.chance) - self.functional.value(self.sums)


def unexpected(
    contrast: Contrast,
    samples: Sequence[tuple[float, Sample, Belief | None]],
    sums: Sums,
    target: str,
) -> tuple[Unexpected, ...]:
    """Return what unexpected labels would do to a measure, up and down, if no item that is labelled has one.

    Expected is the label that the belief has for the most likely one, without a belief the predicted class.

    Parameters
    ----------
    contrast : Contrast
        What is estimated: none of differences, of numbers and rankings, of ratios and their means, and of error rates
        where no label is wrong (`unrefuted_limits`).
    samples : sequence of (share, Sample, Belief or None)
        What is labelled, of each part of the pool, with shares that sum to 1, and what is believed.
    sums : mapping of int to ndarray
        Estimated pool means, by model.
    target : str
        ``"pool"``, of which the labelled items are known, or ``"population"``.

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> found = evaluate(Pool([0.02, 0.5, 0.98] * 20), "brier", [0, 0, 1] * 20, budget=20)
    >>> found.unexpected[0].moved(0.1) > 0.04
    True
    """
    functional, told = contrast.functional, [part for part in samples if part[1].size]
    if contrast.compares or not told or not isinstance(told[0][1].items.models[0], Classes | Grades):
        return ()
    (model,) = contrast.models
    if _has_limits(functional) and (not functional.linear or all(_as_predicted(part[1], model) for part in told)):
        return ()
    if not all(_as_expected(sample, model, belief) for _, sample, belief in told):
        return ()
    labels, influence = _possible(functional.basis, told[0][1], model, told[0][2]), contrast.influence(sums)
    if len(labels) < 2:
        return ()
    drifts = [_drift(sample, influence, labels) for _, sample, _ in told]
    if functional.corrected is not None:  # with kinks: what raises it by a little may lower it by more
        drifts = [np.abs(drift) for drift in drifts]
    least = ROUNDING * max(float(np.max(np.abs(drift))) for drift in drifts)
    sides = ([sign * drift > least for drift in drifts] for sign in (1.0, -1.0))
    parts = [part[:2] for part in told]
    return tuple(
        _of_side(contrast, parts, side, sums=sums[model], labels=labels, target=target)
        for side in sides
        if any(map(np.any, side))
    )


def _of_side(
    contrast: Contrast,
    told: Sequence[tuple[float, Sample]],
    side: Sequence[NDArray[np.bool_]],
    *,
    sums: Floats,
    labels: Sequence[Any],
    target: str,
) -> Unexpected:
    """Return what unexpected labels would do on these rows of each part, all of which are labelled as expected."""
    basis, (model,) = contrast.functional.basis, contrast.models
    chance = np.zeros_like(sums)
    for (share, sample), rows in zip(told, side, strict=True):
        known = sample.items.weights if target == "pool" else 0.0
        others = np.where(rows, share * (sample.row_weights - known), 0.0)
        chance += basis.believed(sample.items, model, [(label, others / len(labels)) for label in labels])
        chance -= basis.totals(sample.items, model, sample.labels, others)
    weights = np.concatenate([share * sample.row_weights for share, sample in told])
    part = effective_number(weights[np.concatenate(side)]) / effective_number(weights)
    return Unexpected(contrast.functional, sums, chance / float(np.sum(weights)), len(labels), part)


def _has_limits(functional: Functional) -> bool:
    """Return whether it is a share of items, or a mean of such, that labels may not speak against."""
    return functional.proportion and isinstance(functional.basis, Confusion)


def _as_predicted(sample: Sample, model: int) -> bool:
    """Return whether all labels are the classes that were predicted."""
    return np.array_equal(sample.items.classes(model).predictions, sample.labels)


def _as_expected(sample: Sample, model: int, belief: Belief | None) -> bool:
    """Return whether every label is likelier than any other that the item may have."""
    outcomes = isinstance(sample.items.models[model], Grades)
    if belief is None:
        return not outcomes and _as_predicted(sample, model)
    given, others = np.zeros(len(sample.items)), np.zeros(len(sample.items))
    for label, weight in belief.supposed(sample.items, (model,)):
        this = sample.labels[:, model] == label[model] if outcomes else sample.labels == label
        given = np.where(this, weight, given)
        others = np.where(this, others, np.maximum(others, weight))
    return bool(np.all(given > others))


def _drift(sample: Sample, influence: Influence, labels: Sequence[Any]) -> Floats:
    """Return by how much a label by chance moves the measure more than the label that there is, for each row."""
    by_chance = sum(np.asarray(influence.at(sample.items, label), dtype=np.float64) for label in labels) / len(labels)
    return np.asarray(by_chance - influence.at(sample.items, sample.labels))


def _possible(basis: Basis, sample: Sample, model: int, belief: Belief | None) -> list[Any]:
    """Return the labels that an item can have; without a belief class codes, by whoever knows how many there are."""
    if belief is not None:
        return list(belief.allowed(sample.items, (model,)))
    if isinstance(basis, Confusion):
        return list(range(basis.n_classes))
    if isinstance(basis, OwnLoss) and basis.classes is not None:
        return list(range(len(basis.classes)))
    p = sample.items.classes(model).probabilities
    return list(range(2 if p is None or p.ndim == 1 else p.shape[1]))


def with_unexpected(found: Interval, estimate: Estimate) -> Interval:
    """Return the interval that reaches at least as far as unexpected labels may move the estimate, either way.

    Parameters
    ----------
    found : Interval
        As variance and belief have it.
    estimate : Estimate
        Where `unexpected` is empty the interval is returned as it is.
    """
    if found.level <= 0.5:
        return found
    low, high, level = found.low, found.high, 2.0 * found.level - 1.0
    for side in estimate.unexpected:
        moved = side.moved(wilson_interval(0.0, max(side.part * estimate.n_effective, 1.0), level).high)
        if not np.isnan(moved):
            end = float(np.clip(estimate.value + moved, *estimate.bounds))
            low, high = min(low, end), max(high, end)
    return replace(found, low=low, high=high)
