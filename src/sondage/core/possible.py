r"""Which values of a measure the labels leave possible, and which of its limits they leave unrefuted.

For a measure that is linear in the confusion matrix, or a ratio of two such sums, the ends are known: labelled items
count as they are, and all other items that are predicted j get the one label that moves the value most. For a mean of
outcomes they get the lowest or the highest grade. For balanced accuracy and macro F the greatest value is known, with
all the rest right. This is arithmetic, not inference: the value of the pool lies between the two ends for certain.

A measure's limit, an error rate of 0 or a recall of 1, is refuted by the first label that speaks against it. Until then
only the belief says that the pool's value is not the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sondage.core.comparisons import Contrast
from sondage.core.measures import Functional
from sondage.core.measures.bases import ROUNDING, Confusion
from sondage.core.measures.functionals import ClassRatios
from sondage.core.predictions import Floats
from sondage.core.samples import Sample

__all__ = [
    "all_outward",
    "labelled_sums",
    "outward",
    "possible_mean",
    "possible_values",
    "unrefuted_limits",
    "unrounded",
    "within",
]

REACH = 1e-13
"""What rounding may do to an end of an interval, as a part of the measure's range, or of the end if that is larger."""


def possible_values(functional: Functional, labelled: Floats, predicted: Floats) -> tuple[float, float]:
    r"""Return the least and the greatest value that the pool can have.

    Parameters
    ----------
    functional : Functional
        The measure.
    labelled : ndarray of float, shape (k, k)
        Pool shares of the labelled items, predictions in rows, labels in columns.
    predicted : ndarray of float, shape (k,)
        Pool shares of the predicted classes, labelled or not, summing to 1.

    Returns
    -------
    tuple of float
        The measure's bounds where an end is not known: of other measures, and while a ratio's denominator is 0. Of a
        mean of ratios the lower end is the mean of what each is at least, which need not be reached.

    Notes
    -----
    With :math:`n` and :math:`d` the coefficients of a ratio's numerator and denominator, the gradient at a value t is
    :math:`n - t d` but for a factor. Moving the rest to where that is greatest, and again from there, rises to the
    maximum in a few steps, since :math:`\max_M \langle n - t d, M \rangle` is 0 there and nowhere else (W. Dinkelbach,
    On nonlinear fractional programming, Management Science, 1967, 492-498).

    Examples
    --------
    >>> from sondage.core.measures import ErrorRate, FMeasure, Task
    >>> task = Task("classification", ("ham", "spam"))
    >>> labelled = np.array([[0.3, 0.1], [0.0, 0.2]])  # a tenth of the pool is known to be spam, and missed
    >>> low, high = possible_values(ErrorRate().ready(task), labelled, np.array([0.7, 0.3]))
    >>> round(low, 3), round(high, 3)
    (0.1, 0.5)
    >>> round(possible_values(FMeasure().ready(task), labelled, np.array([0.7, 0.3]))[1], 4)  # 0.6 / 0.7
    0.8571
    """
    least, most = functional.bounds
    if not isinstance(functional.basis, Confusion):
        return least, most
    rest = np.maximum(functional.basis.without_rounding(predicted - labelled.sum(axis=1)), 0.0)
    if functional.class_ratios is not None:
        most_right = unrounded(min(functional.value(labelled + np.diag(rest)), most), least, most)
        return max(_least_mean_ratio(functional.class_ratios, labelled, rest), least), most_right
    if not functional.linear and (functional.ratio is None or not np.sum(functional.ratio[1] * labelled) > 0):
        return least, most
    value, gradient = functional.value, functional.gradient
    low, high = (_extreme(value, gradient, labelled, rest, sign=sign) for sign in (-1.0, 1.0))
    return unrounded(max(low, least), least, most), unrounded(min(high, most), least, most)


def possible_mean(functional: Functional, labelled: Floats, known: float) -> tuple[float, float]:
    """Return the least and the greatest value that a pool's mean of outcomes can have.

    Parameters
    ----------
    functional : Functional
        The measure, linear in the outcomes; its bounds are those of one item.
    labelled : ndarray of float, shape (1,)
        The labelled items' outcomes, each for its pool share, summed.
    known : float
        Pool share of the labelled items.

    Examples
    --------
    >>> from sondage.core.measures import Accuracy, Task
    >>> accuracy = Accuracy().ready(Task("outcomes", grades=(0.0, 1.0)))
    >>> possible_mean(accuracy, np.array([0.25]), 0.5)  # half the pool is labelled, and half of that right
    (0.25, 0.75)
    """
    least, most = functional.bounds
    if not known > 0:
        return least, most
    part, rest = known * functional.value(labelled / known), 1.0 - known if 1.0 - known > ROUNDING else 0.0
    return unrounded(part + rest * least, least, most), unrounded(part + rest * most, least, most)


def unrounded(value: float, low: float, high: float) -> float:
    """Return the bound where only rounding keeps a value off it, else the value, outside too.

    Where 0 is the only bound, nothing tells in which unit the measure is, and what would be small.

    Examples
    --------
    >>> unrounded(1e-17, 0.0, 1.0), unrounded(1e-17, 0.0, np.inf)
    (0.0, 1e-17)
    """
    ends = [end for end in (low, high) if np.isfinite(end)]
    reach = ROUNDING * max(map(abs, ends), default=0.0)
    return next((end for end in ends if abs(value - end) <= reach), value)


def within(value: float, low: float, high: float) -> float:
    """Return a value within its bounds, and at a bound where only rounding keeps it off.

    Examples
    --------
    >>> within(1.2, 0.0, 1.0), within(0.5, 0.0, 1.0)
    (1.0, 0.5)
    """
    return float(np.clip(unrounded(value, low, high), low, high))


def outward(low: float, high: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of an interval as far out as rounding may have moved them inwards, within the measure's bounds.

    The truth is often an end, as where all errors are found and the labels prove that there are no fewer: whoever sums
    them in another order has to find it inside. A point, where everything is labelled, stays one.

    Parameters
    ----------
    low, high : float
        Ends; infinite where unbounded.
    bounds : tuple of float
        Least and greatest value of the measure.

    Examples
    --------
    >>> low, high = outward(0.1 + 0.2, 1.0, (0.0, 1.0))
    >>> low <= 0.3, high
    (True, 1.0)
    """
    lows, highs = all_outward(np.array([low]), np.array([high]), bounds)
    return float(lows[0]), float(highs[0])


def all_outward(low: Floats, high: Floats, bounds: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return the same of many intervals, ends of shape (T,)."""
    least, most = bounds
    scale = max(abs(end) if np.isfinite(end) else 0.0 for end in bounds)
    below, above = (REACH * np.maximum(scale, np.where(np.isfinite(ends), np.abs(ends), 0.0)) for ends in (low, high))
    wide = high - low > below + above
    return np.where(wide, np.maximum(low - below, least), low), np.where(wide, np.minimum(high + above, most), high)


def _least_mean_ratio(ratios: ClassRatios, labelled: Floats, rest: Floats) -> float:
    """Return what the mean of these ratios cannot fall below: each as low as it can be, whatever the others are.

    A ratio is least where the rest of its class's predictions are wrong and all others of the class. A class of which
    no label tells may not occur, or have any ratio: then it is minus infinity.
    """
    above, below = ratios.at(labelled)
    if not np.all(below > 0):
        return -np.inf
    return float(np.mean(above / (below + ratios.predicted * rest + ratios.labelled * (np.sum(rest) - rest))))


def _extreme(
    value: Callable[[Floats], float],
    gradient: Callable[[Floats], Floats],
    labelled: Floats,
    rest: Floats,
    *,
    sign: float,
) -> float:
    """Return the greatest value, or with sign -1 the least, over all labels of the rest; gradients up to a factor."""
    best, at = -np.inf, labelled
    while True:
        moved = labelled.copy()
        moved[np.arange(len(rest)), np.argmax(sign * gradient(at), axis=1)] += rest
        found = sign * value(moved)
        if not found > best:
            return sign * best
        best, at = found, moved


def unrefuted_limits(contrast: Contrast, samples: Sequence[tuple[float, Sample]]) -> tuple[bool, bool]:
    """Return whether no label speaks against the measure's least value, and whether none does against its greatest.

    Parameters
    ----------
    contrast : Contrast
        One model's measure.
    samples : sequence of (share, Sample)
        What is labelled, of each part of the pool, with shares that sum to 1.

    Returns
    -------
    tuple of bool
        Of a limit whether it is the measure of the labelled items alone: no error among them, no true positive. Both,
        where these leave the measure undefined (recall, and no positive); for a difference of models neither.

    Examples
    --------
    >>> from sondage import estimate_from
    >>> found = estimate_from("recall", predictions=[1, 1, 0], labels=[1, 1, 0], inclusion=[0.5, 0.5, 0.1])
    >>> unrefuted_limits(found.evidence.contrast, [(1.0, found.evidence.sample)])
    (False, True)
    """
    if contrast.compares:
        return False, False
    (model,) = contrast.models
    least, most = contrast.bounds
    value = unrounded(contrast.value({model: labelled_sums(contrast, samples)}), least, most)
    return not value > least, not value < most


def labelled_sums(contrast: Contrast, samples: Sequence[tuple[float, Sample]]) -> Floats:
    """Return the item statistic's mean over the labelled items alone, each for its base weight.

    Parameters
    ----------
    contrast : Contrast
        One model's measure.
    samples : sequence of (share, Sample)
        What is labelled, of each part of the pool, with shares that sum to 1.
    """
    basis, (model,) = contrast.functional.basis, contrast.models
    weights = [share * sample.items.weights for share, sample in samples]
    total = sum(float(np.sum(own)) for own in weights)
    sums = [
        basis.totals(sample.items, model, sample.labels, own) for (_, sample), own in zip(samples, weights, strict=True)
    ]
    return np.asarray(np.sum(sums, axis=0) / total)
