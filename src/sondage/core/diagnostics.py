r"""Diagnostics of a labelled sample: how much each label moved the estimate, and what a uniform sample would need.

Both follow from the influence at the estimate. With expansion weights w and residuals e (see `estimators`) label u
moved the estimate by :math:`w_u e_u`, to first order the change if the item were left out. A uniform sample of n of
the N items, estimated from its labels alone, has the variance

.. math:: V(n) = \Big(\frac{1}{n} - \frac{1}{N}\Big) N \sum_u t_u^2, \qquad t_u = b_u \psi_u,

whose sum is estimated from the same labels; solved for n at the squared standard error that was reached.
"""

from __future__ import annotations

import math

import numpy as np

from sondage.core.beliefs import is_limit
from sondage.core.evidence import Evidence
from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Floats
from sondage.core.results import Estimate
from sondage.core.samples import Sample, effective_number

__all__ = ["believed_before", "contributions", "uniform_labels", "unit_count"]


def contributions(evidence: Evidence) -> Floats:
    r"""Return by how much each labelled unit moved the estimate, shape (n,), in the units of the measure.

    Parameters
    ----------
    evidence : Evidence
        The labelled sample behind an estimate.

    Notes
    -----
    Of several stages with shares :math:`a_k` a unit counts as drawn in its own stage and as labelled in all later ones.
    Against the mean of the sample or, as far as the estimator relies on it, against what the belief expected.

    Examples
    --------
    >>> from sondage import estimate_from
    >>> found = estimate_from("error_rate", predictions=[0, 0, 1, 1], labels=[0, 1, 1, 1], inclusion=[0.5] * 4)
    >>> contributions(found.evidence).tolist()
    [-0.0625, 0.1875, -0.0625, -0.0625]
    """
    estimation, fit = evidence.estimation, evidence.fit
    if fit.shares is None:
        return np.asarray(estimation.whole.expansion.weights * fit.residuals)
    weights = []
    for number, (stage, own, share) in enumerate(zip(estimation.stages, fit.stages, fit.shares, strict=True)):
        later = float(np.sum(fit.shares[number + 1 :])) / (1.0 if own.centre is None else own.centre.scale or 1.0)
        weights.append(share * stage.sample.expansion.weights + later)
    return np.asarray(np.concatenate(weights) * fit.residuals)


def unit_count(sample: Sample) -> float:
    """Return the number of units in the pool, as the sample's weights have it; exact where base weights are equal."""
    weights = sample.expansion.weights
    return float(np.sum(weights) / np.sum(weights * sample.unit_base))


def uniform_labels(estimate: Estimate) -> float:
    """Return how many labels a uniform sample would need for this standard error.

    Parameters
    ----------
    estimate : Estimate
        With its evidence.

    Returns
    -------
    float
        The whole pool where the result is exact; NaN where there is no standard error, or labels show no difference. It
        is itself an estimate.

    Examples
    --------
    >>> from sondage import estimate_from
    >>> f, y = [0, 0, 1, 1], [0, 1, 1, 1]
    >>> round(uniform_labels(estimate_from("error_rate", predictions=f, labels=y, inclusion=[0.5] * 4)), 6)
    4.0
    """
    evidence = estimate.evidence
    if evidence is None or not math.isfinite(estimate.value):
        return math.nan
    sample = evidence.sample
    total = unit_count(sample)
    if estimate.exact and estimate.target == "pool":
        return total
    squares, variance = _uniform_spread(evidence, total), estimate.std_error**2
    if estimate.target == "population":
        variance -= evidence.estimation.stages[-1].known.squared * evidence.fit.spread
    return 1.0 / (variance / squares + 1.0 / total) if variance >= 0 and squares > ROUNDING * variance else math.nan


def _uniform_spread(evidence: Evidence, total: float) -> float:
    r"""Return :math:`N \sum_u t_u^2`, with n / (n - 1) for the effective number of labels."""
    sample, fit = evidence.sample, evidence.fit
    weights = sample.expansion.weights
    base = np.asarray(sample.items.weights, dtype=np.float64)
    rows = sample.row_weights
    psi = fit.influence - float(np.sum(rows * fit.influence) / np.sum(rows))
    known = evidence.before
    scale = min(known.share, 1.0) / float(np.sum(rows))
    inside = total * scale * float(np.sum(weights * np.square(sample.unit_sums(base * psi))))
    within = scale * float(np.sum(sample.unit_sums(np.sqrt(rows) * psi) ** 2))
    outside = 0.0 if known.all_drawable else max(fit.spread - within, 0.0) / sample.together
    effective = effective_number(weights)
    return inside * (effective / (effective - 1.0) if effective > 1.0 else 1.0) + outside


def believed_before(estimate: Estimate) -> float:
    """Return the value that was believed before any label (thesis 4.21, 4.22); NaN where nothing was."""
    evidence = estimate.evidence
    if evidence is None:
        return math.nan
    known, contrast = evidence.before, evidence.contrast
    if any((contrast.functional.basis.name, model) not in known.expected for model in contrast.models):
        return math.nan
    if known.belief is not None and is_limit(known.belief):  # expects no square, whatever its sums are taken at
        return math.nan
    return contrast.value(known.means_of(contrast))
