r"""What the number of labels says where their spread says nothing.

Of a ratio count those in its denominator, of an area under a curve those of the rarer class. A measure that is the mean
of k ratios :math:`R_c`, balanced accuracy or macro F, may have some that no label speaks against: three positives, all
of them found. Such a part has Wilson's interval :math:`[l_c, u_c]` of its own labels, and the interval
:math:`[L, U]` that follows from the variance becomes

.. math:: \hat\theta - \sqrt{(\hat\theta - L)^2 + \sum_c (\hat R_c - l_c)_+^2 / k^2}, \qquad
    \hat\theta + \sqrt{(U - \hat\theta)^2 + \sum_c (u_c - \hat R_c)_+^2 / k^2}

(G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a general approach, Statistics in
Medicine, 2008, 1693-1702). A part that neither labels nor a belief tell of may be anything. A class that a belief alone
tells of may not occur; where the mean is over classes that do, the distance to that of the others is one more square.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sondage.core.intervals import wilson_interval
from sondage.core.measures.bases import ROUNDING
from sondage.core.measures.binned import ScoreCounts
from sondage.core.parts import Parts, effective_labels, parts_of
from sondage.core.results import Estimate, Interval

__all__ = ["counted_labels", "estimated_parts", "with_unseen_parts"]


def counted_labels(estimate: Estimate) -> float:
    """Return the effective number of labels in the proportion's denominator: for recall, of the positives only.

    Areas under curves follow from pairs of a positive and a negative: there it is that of the rarer class.
    """
    if estimate.evidence is None:
        return estimate.n_effective
    sample, contrast = estimate.evidence.sample, estimate.evidence.contrast
    functional = contrast.functional
    if isinstance(functional.basis, ScoreCounts):
        positive = np.asarray(sample.labels == functional.basis.positive, dtype=np.float64)
        return min(effective_labels([(1.0, sample)], [rarer]) for rarer in (positive, 1.0 - positive))
    if functional.ratio is None:
        return estimate.n_effective
    model, _ = contrast.weights[0]
    counted = functional.basis.project(sample.items, model, sample.labels, functional.ratio[1])
    return effective_labels([(1.0, sample)], [counted])


def with_unseen_parts(found: Interval, estimate: Estimate) -> Interval:
    """Return the interval of a mean of ratios with the uncertainty of those that no label speaks against.

    Parameters
    ----------
    found : Interval
        As the variance has it.
    estimate : Estimate
        Of one model's measure; of others, or without its sample, the interval is returned as it is.
    """
    parts = estimated_parts(estimate)
    if parts is None:
        return found
    down, up, k = 0.0, 0.0, len(parts.counts)
    for own, value, count in zip(parts.labelled, parts.estimated, parts.counts, strict=True):
        if ROUNDING < own < 1.0 - ROUNDING or np.isnan(value):
            continue
        ends = wilson_interval(1.0 if own > 0.5 else 0.0, count, found.level)
        down += max(value - ends.low, 0.0) ** 2 / k**2
        up += max(ends.high - value, 0.0) ** 2 / k**2
    if not np.isnan(parts.told):
        down += max(estimate.value - parts.told, 0.0) ** 2
        up += max(parts.told - estimate.value, 0.0) ** 2
    low = estimate.value - math.hypot(estimate.value - found.low, math.sqrt(down))
    high = estimate.value + math.hypot(found.high - estimate.value, math.sqrt(up))
    absent = int(np.isnan(parts.estimated).sum())
    if absent:
        total = float(np.nansum(parts.estimated))
        low -= max(estimate.value - total / k, 0.0)
        high += max((total + absent) / k - estimate.value, 0.0)
    least, most = estimate.bounds
    return replace(found, low=max(low, least), high=min(high, most))


def estimated_parts(estimate: Estimate) -> Parts | None:
    """Return what labels tell of each ratio: of the whole of slices as it is kept, else from the sample.

    Returns
    -------
    Parts or None
        None of a measure that is no mean of ratios, of a difference, and without the sample.
    """
    evidence = estimate.evidence
    if evidence is None or estimate.parts is not None:
        return estimate.parts
    samples, sums = [(1.0, evidence.sample)], evidence.fit.sums
    return parts_of(evidence.contrast, samples, sums[evidence.contrast.models[0]])
