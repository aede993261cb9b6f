r"""Uncertainty that the number of labels tells: of a ratio, and of each of the ratios whose mean a measure is.

For a ratio the labels in its denominator count, for an area under a curve those of the rarer class. A measure that is
the mean of k ratios :math:`R_c`, balanced accuracy or macro F, may have some that no label speaks against: three
positives, all of them found. Their spread is 0, but they rest on few labels. Such a ratio has Wilson's interval
:math:`[l_c, u_c]` of its own labels, and the interval :math:`[L, U]` that follows from the variance becomes

.. math:: \hat\theta - \sqrt{(\hat\theta - L)^2 + \sum_c (\hat R_c - l_c)_+^2 / k^2}, \qquad
    \hat\theta + \sqrt{(U - \hat\theta)^2 + \sum_c (u_c - \hat R_c)_+^2 / k^2}

(G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a general approach, Statistics in
Medicine, 2008, 1693-1702). The squares are right for independent errors. Ratios of which no label tells follow the
belief and share its error: their distances are added before the sum is squared. So are all of them where the labels
refute how many items of each class the belief expects (decision 0075). A ratio of which neither labels nor a belief
tell may be anything. A class of which only a belief tells may not occur; where the mean is over the classes that do,
the square of the distance to the mean of the others is added.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from sondage.core.comparisons import Contrast, Sums
from sondage.core.estimators import Fit
from sondage.core.intervals import wilson_interval
from sondage.core.measures.bases import ROUNDING
from sondage.core.measures.binned import ScoreCounts
from sondage.core.measures.functionals import ClassRatios
from sondage.core.possible import labelled_sums
from sondage.core.predictions import Floats
from sondage.core.results import Estimate, Interval
from sondage.core.samples import LabelledStage, Sample, effective_number
from sondage.core.smoothing import expected_labels, labels_by_class
from sondage.core.stages import Estimation
from sondage.core.variances import labels_of_rarer

__all__ = [
    "EstimatedRatios",
    "believed_stages",
    "decided_by_untold",
    "denominator_labels",
    "estimated_ratios",
    "ratios_from_labels",
    "unknown_variance",
    "untold",
    "with_unseen_ratios",
]

REFUTING = 0.01
"""The chance below which the classes of the labels refute what was expected of them."""


@dataclass(frozen=True, eq=False)
class EstimatedRatios:
    """The k ratios of one model's balanced accuracy or macro F.

    Attributes
    ----------
    labelled : ndarray of float, shape (k,)
        Each ratio among the labelled items alone, in [0, 1]; NaN where none of them is in its denominator.
    estimated : ndarray of float, shape (k,)
        Its estimate; NaN where neither labels nor a belief tell of it.
    counts : ndarray of float, shape (k,)
        The effective number of labels in its denominator.
    told : float
        The mean of the estimates of those ratios of which labels tell: the measure if the other classes do not occur;
        NaN if they count where they do not, or if labels tell of none.
    refuted : bool
        Whether the labels refute how many of them the belief expects of each class.
    binomial : bool
        Whether each is the share of some items among others, as recalls are, and F, which counts some twice, is not.
    """

    labelled: Floats
    estimated: Floats
    counts: Floats
    told: float
    refuted: bool = False
    binomial: bool = True

    def parabola(self, variance: float) -> tuple[float, float] | None:
        r"""Return the slope c and the n of the variance :math:`\sigma^2 + c \delta - \delta^2 / n` of their mean.

        With :math:`V_c = R_c (1 - R_c) / n_c` the variance of the mean is :math:`\sum_c V_c / k^2`. If the mean is off
        by :math:`\delta`, the ratio c is off by :math:`k V_c \delta / \sum V` on average, and its variance is that of
        another ratio:

        .. math:: c = \frac{\sum_c V_c (1 - 2 R_c) / n_c}{k \sum_c V_c}, \qquad
            \frac{1}{n} = \frac{\sum_c V_c^2 / n_c}{(\sum_c V_c)^2} .

        One ratio alone has Wilson's. All :math:`n_c` are so many times the numbers of labels that the variance is this.

        Parameters
        ----------
        variance : float
            :math:`\sigma^2`, of the mean, above 0.

        Returns
        -------
        tuple of float, or None
            c and n; None of ratios that are not binomial, and where each is 0 or 1, or nothing is known of it.

        Examples
        --------
        >>> one = EstimatedRatios(np.array([0.2]), np.array([0.2]), np.array([50.0]), np.nan)
        >>> [round(found, 4) for found in one.parabola(0.2 * 0.8 / 100)]  # as many labels as say so, not 50
        [0.006, 100.0]
        """
        inside = (self.counts > 0) & (np.abs(self.estimated - 0.5) < 0.5 - ROUNDING)
        if not self.binomial or not inside.any():
            return None
        k, ratios = int(np.count_nonzero(np.isfinite(self.estimated))), self.estimated[inside]
        of_one = ratios * (1.0 - ratios)
        n = self.counts[inside] * float(np.sum(of_one / self.counts[inside])) / (k**2 * variance)
        shares = of_one / n / float(np.sum(of_one / n))
        return float(np.sum(shares * (1.0 - 2.0 * ratios) / n)) / k, 1.0 / float(np.sum(shares**2 / n))


def ratios_from_labels(
    contrast: Contrast, samples: Sequence[tuple[float, Sample]], sums: Floats, stages: Sequence[LabelledStage] = ()
) -> EstimatedRatios | None:
    """Return what labels tell of each ratio; None of a measure that is no mean of ratios, and of a difference.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    samples : sequence of (share, Sample)
        What is labelled, of each part of the pool, with shares that sum to 1.
    sums : ndarray of float
        The estimated pool mean of its item statistic.
    stages : sequence of LabelledStage
        What was labelled in each stage, and what was believed before it; none if the estimate does not rest on that.

    Examples
    --------
    >>> from sondage import estimate_from
    >>> told = {"predictions": [1, 1, 0, 0], "labels": [1, 1, 0, 1], "inclusion": [0.5, 0.5, 0.1, 0.1]}
    >>> evidence = estimate_from("balanced_accuracy", **told).evidence
    >>> found = ratios_from_labels(evidence.contrast, [(1.0, evidence.sample)], evidence.fit.sums[0])
    >>> found.labelled.round(3).tolist(), found.counts.round(2).tolist()
    ([1.0, 0.667], [1.0, 1.81])
    """
    class_ratios = contrast.functional.class_ratios
    if contrast.compares or class_ratios is None:
        return None
    (model,) = contrast.models
    labelled, estimated = _ratios(class_ratios, labelled_sums(contrast, samples)), _ratios(class_ratios, sums)
    counts = []
    for code in range(len(class_ratios)):
        pairs = [(one.items.classes(model).predictions, one.labels) for _, one in samples]
        counts.append(_effective(samples, [class_ratios.counted(code, *pair) for pair in pairs]))
    estimated = np.where(np.isnan(estimated), labelled, estimated)
    told = estimated[~np.isnan(labelled)] if class_ratios.occurring else np.empty(0)
    mean = float(np.mean(told)) if len(told) else np.nan
    refuted = _refuted(contrast, stages)
    return EstimatedRatios(labelled, estimated, np.array(counts), mean, refuted, class_ratios.binomial)


def untold(contrast: Contrast, sample: Sample) -> list[Any]:
    """Return the classes of which no labelled item tells: of whose ratio, in a mean of ratios, the denominator is 0.

    Of a difference it is 0 for one of the models, or for both.
    """
    class_ratios = contrast.functional.class_ratios
    if class_ratios is None:
        return []
    return [name for name, own in zip(class_ratios.classes, _told_in_all(contrast, sample), strict=True) if not own]


def decided_by_untold(contrast: Contrast, sums: Sums, shown: Collection[int]) -> bool:
    """Return whether the value of a mean over the classes that occur follows from which of them do.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    sums : mapping of int to ndarray
        Its pool means, by model; of classes that occur and that may not.
    shown : collection of int
        Codes of the classes that labels show.

    Examples
    --------
    A model calls all items 0. Half of them are found if there is a 1 among them, else all.

    >>> from sondage.core.measures import Task, parse_measure
    >>> functional = parse_measure("balanced_accuracy").ready(Task("classification", (0, 1)))
    >>> one, sums = Contrast(functional, ((0, 1.0),)), {0: np.array([[0.9, 0.1], [0.0, 0.0]])}
    >>> decided_by_untold(one, sums, shown={0}), decided_by_untold(one, sums, shown={0, 1})
    (True, False)
    """
    class_ratios = contrast.functional.class_ratios
    if class_ratios is None or not class_ratios.occurring or len(shown) == len(class_ratios):
        return False
    ratios = np.sum([weight * _ratios(class_ratios, sums[model]) for model, weight in contrast.weights], axis=0)
    return bool(np.ptp(np.nan_to_num(ratios)) > ROUNDING)


def unknown_variance(contrast: Contrast, sample: Sample, sums: Sums) -> float:
    r"""Return the squared error by ratios of which no label tells, in a difference of their means.

    One of k of which neither labels nor a belief tell may make 1 / k either way, which is two standard errors; but
    where few of the pool's items are left, R, that one of them is of a class that n labels do not have is no likelier
    than :math:`R / (n + 1)`. Classes that a belief alone tells of may not occur; where the mean is over classes that
    do, it is then that of the others, d away: as likely as not, :math:`d^2 / 2`.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows.
    sums : mapping of int to ndarray
        Estimated pool means, by model.

    Returns
    -------
    float
        0 of one model, and of what is no mean of ratios.

    Examples
    --------
    >>> from sondage import Classifier, Pool, compare
    >>> pool = Pool(models={"a": Classifier([0, 1] * 20), "b": Classifier([0, 0] * 20)})
    >>> evidence = compare(pool, "a", "b", "balanced_accuracy", labels=[0] * 40, budget=20).estimate.evidence
    >>> unknown_variance(evidence.contrast, evidence.sample, evidence.fit.sums)
    0.0625
    """
    class_ratios = contrast.functional.class_ratios
    if not contrast.compares or class_ratios is None:
        return 0.0
    ratios = np.sum([weight * _ratios(class_ratios, sums[model]) for model, weight in contrast.weights], axis=0)
    known, told = np.isfinite(ratios), _told_in_all(contrast, sample)
    rest = max(float(np.sum(sample.expansion.weights - 1.0)), 0.0)
    occurs = min(rest / (effective_number(sample.unit_expanded) + 1.0), 0.25)
    found = occurs * float(np.count_nonzero(~known)) / len(class_ratios) ** 2
    if class_ratios.occurring and np.any(known & told):
        found += 0.5 * float(np.mean(ratios[known]) - np.mean(ratios[known & told])) ** 2
    return found


def _told_in_all(contrast: Contrast, sample: Sample) -> NDArray[np.bool_]:
    """Return of each ratio whether labelled items tell of it, for every model."""
    class_ratios = contrast.functional.class_ratios
    assert class_ratios is not None
    singles = [Contrast(contrast.functional, ((model, 1.0),)) for model in contrast.models]
    ratios = [_ratios(class_ratios, labelled_sums(one, [(1.0, sample)])) for one in singles]
    return np.asarray(np.isfinite(np.sum(ratios, axis=0)))


def denominator_labels(estimate: Estimate) -> float:
    """Return the effective number of labels in the proportion's denominator: for recall, of the positives only.

    Areas under curves follow from pairs of a positive and a negative: there it is that of the rarer class.
    """
    if estimate.evidence is None:
        return estimate.n_effective
    sample, contrast = estimate.evidence.sample, estimate.evidence.contrast
    functional = contrast.functional
    if isinstance(functional.basis, ScoreCounts):
        return labels_of_rarer(functional.basis, sample)
    if functional.ratio is None:
        return estimate.n_effective
    model, _ = contrast.weights[0]
    counted = functional.basis.project(sample.items, model, sample.labels, functional.ratio[1])
    return _effective([(1.0, sample)], [counted])


def with_unseen_ratios(found: Interval, estimate: Estimate) -> Interval:
    """Return the interval of a mean of ratios with the uncertainty of those that no label speaks against.

    Parameters
    ----------
    found : Interval
        As the variance has it.
    estimate : Estimate
        Of one model's measure; of others, or without its sample, the interval is returned as it is.
    """
    ratios = estimated_ratios(estimate)
    if ratios is None:
        return found
    k, gaps = len(ratios.counts), np.zeros((2, len(ratios.counts)))
    for c, (own, value, count) in enumerate(zip(ratios.labelled, ratios.estimated, ratios.counts, strict=True)):
        if ROUNDING < own < 1.0 - ROUNDING or np.isnan(value):
            continue
        ends = wilson_interval(1.0 if own > 0.5 else 0.0, count, found.level)
        gaps[:, c] = max(value - ends.low, 0.0) / k, max(ends.high - value, 0.0) / k
    alike = np.isnan(ratios.labelled) | ratios.refuted
    down, up = (float(np.sum(side[alike]) ** 2 + np.sum(np.square(side[~alike]))) for side in gaps)
    if not np.isnan(ratios.told):
        down += max(estimate.value - ratios.told, 0.0) ** 2
        up += max(ratios.told - estimate.value, 0.0) ** 2
    low = estimate.value - math.hypot(estimate.value - found.low, math.sqrt(down))
    high = estimate.value + math.hypot(found.high - estimate.value, math.sqrt(up))
    absent = int(np.isnan(ratios.estimated).sum())
    if absent:
        total = float(np.nansum(ratios.estimated))
        low -= max(estimate.value - total / k, 0.0)
        high += max((total + absent) / k - estimate.value, 0.0)
    least, most = estimate.bounds
    return replace(found, low=max(low, least), high=min(high, most))


def estimated_ratios(estimate: Estimate) -> EstimatedRatios | None:
    """Return what labels tell of each ratio: of the whole of slices as it is kept, else from the sample.

    Returns
    -------
    EstimatedRatios or None
        None of a measure that is no mean of ratios, of a difference, and without the sample.
    """
    evidence = estimate.evidence
    if evidence is None or estimate.ratios is not None:
        return estimate.ratios
    sums, stages = evidence.fit.sums[evidence.contrast.models[0]], believed_stages(evidence.fit, evidence.estimation)
    return ratios_from_labels(evidence.contrast, [(1.0, evidence.sample)], sums, stages)


def believed_stages(fit: Fit, estimation: Estimation) -> list[LabelledStage]:
    """Return the stages of a fit with what was believed before them; none of one that does not use the belief."""
    return [stage for stage in estimation.stages if fit.coefficient and stage.known.belief is not None]


def _refuted(contrast: Contrast, stages: Sequence[LabelledStage]) -> bool:
    """Return whether labels refute how many the belief expects of each class: Pearson's test, stage by stage summed."""
    if not stages or contrast.functional.class_ratios is None:
        return False
    k = len(contrast.functional.class_ratios)
    found, expected = np.zeros(k), np.zeros(k)
    for stage in stages:
        found += labels_by_class(stage.sample, k)
        expected += expected_labels(contrast, stage.sample, stage.known.belief)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(found == expected, 0.0, np.square(found - expected) / expected)
    return bool(chdtrc(k - 1, np.sum(squares)) < REFUTING)


def _effective(samples: Sequence[tuple[float, Sample]], counted: Sequence[NDArray[Any]]) -> float:
    """Return the effective number of labels of which each row counts so much, shape (n,) or () for each sample."""
    weights = np.concatenate(
        [
            share * sample.unit_sums(sample.row_weights * np.broadcast_to(own, len(sample.items)))
            for (share, sample), own in zip(samples, counted, strict=True)
        ]
    )
    return effective_number(weights)


def _ratios(class_ratios: ClassRatios, sums: Floats) -> Floats:
    """Return each ratio's value at these means, within [0, 1], and NaN where its denominator is not positive."""
    above, below = class_ratios.at(sums)
    return np.where(below > 0, np.clip(above / np.where(below > 0, below, 1.0), 0.0, 1.0), np.nan)
