r"""One estimate from several stages, each drawn from what the earlier ones had not asked for.

Given the past, every stage is a sample of its own with known probabilities: labelled items count as they are, the
rest is estimated from the stage's draw. Stages are combined with weights :math:`a_k \propto 1 / V_k`, where
:math:`V_k` is the variance that the belief expects after all labels; nothing is pooled into one weighted mean,
which would be biased, since later designs depend on earlier labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Contrast, moments
from sondage.core.estimators import Estimator, Fit, linearise
from sondage.core.predictions import Floats
from sondage.core.samples import Known, Sample

__all__ = ["Part", "believed_variance", "combined"]

PRIOR_DF = 3.0


@dataclass(frozen=True, eq=False)
class Part:
    """One stage's labelled sample, and what was known of the pool when it was drawn."""

    sample: Sample
    known: Known


def combined(contrast: Contrast, parts: Sequence[Part], estimator: Estimator, belief: Belief | None) -> Fit:
    """Return the fit of all stages together.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    parts : sequence of Part
        The stages with a label, in order.
    estimator : callable
        Applied to each stage.
    belief : Belief, optional
        What the labels are expected to be now; weighs the stages. Without it the largest stage decides alone.
    """
    fits = [estimator(contrast, part.sample, part.known) for part in parts]
    if len(parts) == 1:
        return fits[0]
    shares = _shares(contrast, parts, fits, belief)
    sums = {
        model: np.sum([a * fit.sums[model] for a, fit in zip(shares, fits, strict=True)], axis=0)
        for model in contrast.models
    }
    settled = [
        linearise(contrast, part.sample, part.known, sums, coefficient=fit.coefficient)
        for part, fit in zip(parts, fits, strict=True)
    ]
    contributions = np.concatenate(
        [
            a**2 * part.sample.expansion.spread * fit.residuals**2
            for a, part, fit in zip(shares, parts, settled, strict=True)
        ]
    )
    square = float(np.sum(contributions**2))
    last = settled[-1]
    return replace(
        last,
        residuals=np.concatenate([a * fit.residuals for a, fit in zip(shares, settled, strict=True)]),
        variance=float(sum(a**2 * fit.variance for a, fit in zip(shares, settled, strict=True))),
        df=max(float(np.sum(contributions)) ** 2 / square - 1.0, 1.0) if square > 0 else last.df,
        spread=float(sum(a * fit.spread for a, fit in zip(shares, settled, strict=True))),
        influence=np.concatenate([fit.influence for fit in settled]),
    )


def _shares(contrast: Contrast, parts: Sequence[Part], fits: Sequence[Fit], belief: Belief | None) -> Floats:
    """Return the stages' weights; a stage without uncertainty takes all."""
    sizes = np.array([part.sample.size for part in parts], dtype=np.float64)
    usable = np.array([np.isfinite(fit.value) for fit in fits])
    if belief is None or not usable.any():
        return np.asarray(sizes / sizes.sum())
    variances = np.array([believed_variance(contrast, part.sample, fits[-1].sums, belief) for part in parts])
    certain = usable & (variances <= 0)
    if certain.any():
        return np.asarray(certain / certain.sum())
    weights = np.where(usable, 1.0 / np.where(variances > 0, variances, 1.0), 0.0)
    return np.asarray(weights / weights.sum())


def believed_variance(contrast: Contrast, sample: Sample, sums: dict[int, Floats], belief: Belief) -> float:
    r"""Return :math:`\sum_u k_u b_u^2 \mathrm{Var}[\psi_u]` under the belief, an estimate of the draw's variance."""
    mean, second = moments(contrast.influence(sums), belief, sample.items)
    believed = np.maximum(second - np.square(mean), 0.0) + np.zeros(len(sample.items))
    return float(np.sum(sample.expansion.spread * sample.unit_sums(np.square(sample.items.weights) * believed)))
