"""Whether what was believed before any label agrees with the labels: observed against believed, in bins and in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, chdtrc, pdtr, pdtrc, rel_entr

from sondage.core.beliefs import Belief, ClassBelief, GaussianBelief
from sondage.core.evidence import Evidence
from sondage.core.intervals import t_interval, wilson_interval
from sondage.core.measures import Task
from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Floats, Items
from sondage.core.results import Interval
from sondage.core.samples import Sample, effective_number

__all__ = ["Bin", "Reliability", "contradicted", "log_chance", "reliability"]

MOST_BINS, LEAST_IN_BIN = 10, 12
"""Bins at most, and labels in each at least."""
BY_CHANCE = 1e-3
"""Probability below which labels are not taken to differ from what was believed by chance, on either side."""
MUCH = 1.5
"""By which factor, at least, they differ by more than is worth no mention."""


@dataclass(frozen=True)
class Bin:
    """Labelled items of which about the same was believed.

    Attributes
    ----------
    n_labels : int
        Their number.
    believed, observed : float
        Weighted means of what was believed and of what the labels say.
    interval : Interval
        Of the observed mean.
    """

    n_labels: int
    believed: float
    observed: float
    interval: Interval


@dataclass(frozen=True)
class Reliability:
    """What was believed against what the labels say.

    Attributes
    ----------
    event : str
        What the probability or number is of.
    bins : tuple of Bin
        By what was believed, ascending.
    overall : Bin
        All labelled items.
    probability : bool
        Whether it is of probabilities, in [0, 1].
    """

    event: str
    bins: tuple[Bin, ...]
    overall: Bin
    probability: bool


def reliability(evidence: Evidence, task: Task, level: float = 0.95) -> Reliability | None:
    """Return what was believed before any label against the labels, by the pool's weights.

    Parameters
    ----------
    evidence : Evidence
        The labelled sample behind an estimate.
    task : Task
        Its classes.
    level : float
        Confidence level of the intervals: Wilson's at the effective number of labels, or Student's t.

    Returns
    -------
    Reliability or None
        Of two classes the probability of the second, of several that of the most probable, of numbers the mean, of
        outcomes each system's mean outcome. None where nothing was believed.
    """
    belief, sample = evidence.before.belief, evidence.sample
    if belief is None or task.kind not in _READERS:  # a ranking's grades are many
        return None
    items, labels = sample.items.take(sample.first_rows), sample.unit_labels
    event, expected, observed = _READERS[task.kind](belief, items, labels, evidence.contrast.models, task)
    weights = np.tile(sample.unit_expanded, len(expected) // len(items))
    known = np.isfinite(observed)
    expected, observed, weights = expected[known], observed[known], weights[known]
    if not len(expected):
        return None
    probability = task.kind != "regression" and (task.kind != "outcomes" or set(task.grades) == {0.0, 1.0})

    def summed_up(chosen: NDArray[Any]) -> Bin:
        return _bin(expected[chosen], observed[chosen], weights[chosen], level=level, probability=probability)

    bins = tuple(summed_up(places) for places in _groups(expected))
    return Reliability(event, bins, summed_up(np.arange(len(expected))), probability)


def contradicted(belief: Belief, sample: Sample, n_classes: int) -> tuple[float, float] | None:
    """Return how far labels were expected to be from what was believed, and how far they are, if that is much else.

    Parameters
    ----------
    belief : Belief
        What was believed before any label.
    sample : Sample
        The labelled rows; given its output a label does not depend on how its item was drawn.
    n_classes : int
        Number of classes; 0 for numbers.

    Returns
    -------
    (float, float) or None
        Of classes the numbers, expected and seen, of labels that are not the most probable class (Poisson's
        distribution); of numbers the sum of squared residuals over their variances (chi squared), expected and seen.
        None where they agree within a factor of 1.5 or by a chance of .001, where nothing was believed, and where
        rows share labels.
    """
    if sample.units is not None or not _is_informed(belief):
        return None
    if n_classes:
        columns = _columns(belief, sample.items, (), n_classes)
        top, most = columns.argmax(axis=0), columns.max(axis=0)
        told = most > 1.0 / n_classes + 1e-9
        expected, seen = float(np.sum(1.0 - most[told])), float(np.count_nonzero((sample.labels != top)[told]))
        chance = min(pdtrc(seen - 1.0, expected), pdtr(seen, expected))
    else:
        pairs = list(belief.supposed(sample.items, ()))
        mean = sum(weight * label for label, weight in pairs)
        variances = sum(weight * (label - mean) ** 2 for label, weight in pairs)
        told = variances > 0  # where it is 0 no ratio says how far off a label is
        squares = np.square(sample.labels - mean)[told]
        expected, seen = float(np.count_nonzero(told)), float(np.sum(squares / variances[told]))
        chance = min(chdtrc(expected, seen), chdtr(expected, seen))
    much = max(seen, expected) > MUCH * min(seen, expected)
    return (expected, seen) if much and chance < BY_CHANCE else None


def log_chance(seen: Floats, expected: Floats, count: int) -> Floats:
    r"""Return the logarithm of a bound of the chance that a mean of n numbers in [0, 1] is so far off, on either side.

    .. math:: \log 2 - n \Bigl(m \log \frac{m}{\mu} + (1 - m) \log \frac{1 - m}{1 - \mu}\Bigr)

    of a sample with or without replacement, whatever the numbers' distribution.

    Parameters
    ----------
    seen, expected : ndarray of float, shape (...)
        The sample's means m and the pool's :math:`\mu`, in [0, 1] but for rounding.
    count : int
        n.

    Returns
    -------
    ndarray of float, shape (...)
        0 or less.

    References
    ----------
    W. Hoeffding, Probability inequalities for sums of bounded random variables, Journal of the American Statistical
    Association, 1963, 13-30, theorem 1 and section 6.

    Examples
    --------
    >>> log_chance(np.array([0.0, 0.1, 0.5]), np.array([0.1, 0.1, 0.1]), 50).round(2).tolist()
    [-4.57, 0.0, -24.85]
    """
    m, mu = np.clip(seen, 0.0, 1.0), np.clip(expected, 0.0, 1.0)
    apart = np.where(np.abs(m - mu) > ROUNDING, rel_entr(m, mu) + rel_entr(1.0 - m, 1.0 - mu), 0.0)
    return np.asarray(np.minimum(np.log(2.0) - count * apart, 0.0))


def _is_informed(belief: Belief) -> bool:
    """Return whether a belief says how sure it is: not by predicted classes alone, nor with limits of variances."""
    if isinstance(belief, ClassBelief):
        return not (belief.sure or belief.votes)
    return isinstance(belief, GaussianBelief) and not belief.limit


def _groups(expected: Floats) -> list[NDArray[np.int64]]:
    """Return the items of each bin: equally many of each, and equal beliefs together."""
    count = int(np.clip(len(expected) // LEAST_IN_BIN, 1, MOST_BINS))
    edges = np.unique(np.quantile(expected, np.arange(1, count) / count))
    codes = np.searchsorted(edges, expected, side="left")
    return [np.flatnonzero(codes == code) for code in np.unique(codes)]


def _bin(expected: Floats, observed: Floats, weights: Floats, *, level: float, probability: bool) -> Bin:
    """Return what was believed and observed in one bin, with the interval of the latter."""
    total = float(np.sum(weights))
    mean = float(np.sum(weights * observed)) / total
    believed = float(np.sum(weights * expected)) / total
    effective = effective_number(weights)
    if probability:
        interval = wilson_interval(min(max(mean, 0.0), 1.0), effective, level)
    elif effective <= 1.0 + 1e-9:
        interval = Interval(-np.inf, np.inf, level, "undefined")
    else:
        square = float(np.sum((weights * (observed - mean)) ** 2)) / total**2
        error = np.sqrt(square * effective / (effective - 1.0))
        interval = t_interval(mean, float(error), effective - 1.0, level)
    return Bin(len(expected), believed, mean, interval)


def _of_classes(
    belief: Belief, items: Items, labels: NDArray[Any], models: Sequence[int], task: Task
) -> tuple[str, Floats, Floats]:
    """Return the event, what was expected of it, and what was observed: whether the label is that class."""
    columns = _columns(belief, items, models, len(task.classes))
    if len(task.classes) == 2:
        return f"the label is {task.classes[1]!r}", columns[1], (labels == 1).astype(np.float64)
    top = columns.argmax(axis=0)
    return "the label is the most probable class", columns.max(axis=0), (labels == top).astype(float)


def _columns(belief: Belief, items: Items, models: Sequence[int], n_classes: int) -> Floats:
    """Return the believed probability of every class, shape (k, n)."""
    columns = np.zeros((n_classes, len(items)))
    for label, weight in belief.supposed(items, models):
        columns[label] += weight
    return columns


def _of_numbers(
    belief: Belief, items: Items, labels: NDArray[Any], models: Sequence[int], task: Task
) -> tuple[str, Floats, Floats]:
    """Return the same of numbers: what is observed is the label itself."""
    mean = np.asarray(sum(weight * label for label, weight in belief.supposed(items, models)))
    return "the label", mean, np.asarray(labels, dtype=np.float64)


def _of_outcomes(
    belief: Belief, items: Items, labels: NDArray[Any], models: Sequence[int], task: Task
) -> tuple[str, Floats, Floats]:
    """Return the same of systems' outcomes, one system after the other."""
    expected = []
    for model in models:
        mean = np.zeros(len(items))
        for label, weight in belief.supposed(items, (model,)):
            mean = mean + weight * label[model]
        expected.append(mean)
    grades = items.outcomes(models[0]).grades
    event = "the outcome is 1" if set(grades.tolist()) == {0.0, 1.0} else "the outcome"
    return event, np.concatenate(expected), np.concatenate([labels[:, model] for model in models])


_READERS = {"classification": _of_classes, "regression": _of_numbers, "outcomes": _of_outcomes}
