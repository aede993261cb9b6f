r"""What the belief expects of an estimate's variance, and how much the labels' own spread can be trusted.

The spread of a few labels says little of a variance that rests on rare, heavy ones: it is too small until one is
seen. The belief, calibrated on the labels, expects a variance :math:`V_b` and says by its fourth moments how many
degrees of freedom :math:`\nu` the sampled variance :math:`V_s` has. Where :math:`V_b` is the larger, both are
averaged, :math:`V_b` counting as three degrees of freedom; the average, which no longer hangs on one label, is given
ten degrees of freedom at least. It is used only where that makes the t interval wider.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from sondage.core.beliefs import Belief, GaussianBelief
from sondage.core.comparisons import Contrast
from sondage.core.predictions import Floats
from sondage.core.samples import Sample

__all__ = ["BelievedVariance", "averaged_variance", "believed_variance"]

PRIOR_DF = 3.0
LEAST_DF = 10.0


@dataclass(frozen=True)
class BelievedVariance:
    """The variance that a belief expects, and the degrees of freedom of its sampled counterpart."""

    variance: float
    df: float


def believed_variance(contrast: Contrast, sample: Sample, sums: dict[int, Floats], belief: Belief) -> BelievedVariance:
    r"""Return :math:`\sum_u k_u b_u^2 \mathrm{Var}[\psi_u]` under the belief, and its degrees of freedom.

    .. math:: \nu = 2 \, \frac{(\sum_u k_u b_u^2 v_u)^2}{\sum_u k_u^2 b_u^4 (\mu_{4u} - v_u^2)},

    with the influence's believed variance v and fourth central moment; at most the number of units less one.
    """
    most = max(float(sample.size - 1), 1.0)
    if isinstance(belief, GaussianBelief) and (belief.broad or belief.peaked):  # a limit has no variance to expect
        return BelievedVariance(0.0, most)
    influence = contrast.influence(sums)
    supposed = list(
        belief.supposed(
            sample.items, influence.models, nodes=influence.basis.nodes + 2, kinks=influence.kinks(sample.items)
        )
    )
    psi = [(weight, np.asarray(influence.at(sample.items, label))) for label, weight in supposed]
    mean = sum(weight * value for weight, value in psi)
    second, fourth = (sum(weight * (value - mean) ** power for weight, value in psi) for power in (2, 4))
    square = np.square(sample.items.weights)
    parts = sample.expansion.spread * sample.unit_sums(square * second)
    wobble = sample.expansion.spread**2 * sample.unit_sums(square**2 * np.maximum(fourth - np.square(second), 0.0))
    total, noise = float(np.sum(parts)), float(np.sum(wobble))
    return BelievedVariance(total, min(2.0 * total**2 / noise, most) if noise > 0 else most)


def averaged_variance(sampled: float, df: float, believed: BelievedVariance) -> tuple[float, float]:
    """Return the variance to rely on and its degrees of freedom.

    Parameters
    ----------
    sampled : float
        Variance estimated from the labels' spread.
    df : float
        Its degrees of freedom as the labels show them.
    believed : BelievedVariance
        What the calibrated belief expects.

    Examples
    --------
    >>> averaged_variance(0.0, 99.0, BelievedVariance(0.04, 1.0))
    (0.03, 10.0)
    >>> averaged_variance(0.05, 99.0, BelievedVariance(0.04, 1.0))
    (0.05, 99.0)
    """
    if sampled >= believed.variance:
        return sampled, df
    whole = believed.df + PRIOR_DF
    average, least = (believed.df * sampled + PRIOR_DF * believed.variance) / whole, max(whole, LEAST_DF)
    wider = average * stdtrit(least, 0.975) ** 2 > sampled * stdtrit(df, 0.975) ** 2
    return (average, least) if wider else (sampled, df)
