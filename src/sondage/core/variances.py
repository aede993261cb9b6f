r"""What the belief expects of an estimate's variance, where the labels' own spread says too little.

The spread of a few labels knows nothing of rare, heavy surprises until one was seen. The belief, calibrated on the
labels, tells how often each surprise is expected in the sample and how far it would move the estimate. Those that
are expected often enough have a variance that can be computed. The heaviest, together expected less than once, are
most likely not in the sample at all: then the estimate is off by their whole effect on the pool, which the belief
may have wrong by as much again. Their expected effect is therefore counted as an error, not as a variance:

.. math:: V_b = \sum_{often} k_u b_u^2 \, p_{uy} (\psi_u(y) - \bar\psi_u)^2
    + \Big(\sum_{rare} w_u b_u \, p_{uy} |\psi_u(y) - \bar\psi_u|\Big)^2 .

The larger of this and the sampled variance is used, the latter with Student's t, of 4.6 degrees of freedom at least.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from sondage.core.beliefs import Belief, GaussianBelief
from sondage.core.comparisons import Contrast
from sondage.core.samples import Sample

__all__ = ["believed_variance", "larger_variance"]

LEAST_DF = 4.6
MOST_DF = 1e6
RARE = 1.0
"""How often the surprises that count as unseen are expected in the sample, together."""


def believed_variance(contrast: Contrast, sample: Sample, sums: dict[int, np.ndarray], belief: Belief) -> float:
    """Return the squared error that the belief expects of the estimate; 0 if it says nothing.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows; the labels are not used.
    sums : mapping of int to ndarray
        Estimated pool means, by model.
    belief : Belief
        Calibrated on the labels.
    """
    if isinstance(belief, GaussianBelief) and (belief.broad or belief.peaked):  # a limit has no variance to expect
        return 0.0
    influence, items = contrast.influence(sums), sample.items
    supposed = belief.supposed(items, influence.models, nodes=influence.basis.nodes + 2, kinks=influence.kinks(items))
    pairs = [(weight + np.zeros(len(items)), influence.at(items, label)) for label, weight in supposed]
    expected, psi = (np.stack(column) for column in zip(*pairs, strict=True))
    moves = items.weights * np.abs(psi - np.sum(expected * psi, axis=0))
    root = moves * np.sqrt(sample.of_rows(sample.expansion.spread))
    unseen = _rarest(expected, root)
    effect = float(np.sum((expected * moves * sample.of_rows(sample.expansion.weights))[unseen & (root > 0)]))
    by_row = np.sum(np.where(unseen, 0.0, expected * root**2), axis=0)
    return float(np.sum(by_row)) + effect**2


def _rarest(expected: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return which of the (label, row) pairs are the largest that together are expected less than `RARE` times."""
    order = np.argsort(-sizes, axis=None, kind="stable")
    rare = np.zeros(expected.size, dtype=np.bool_)
    rare[order[np.cumsum(expected.ravel()[order]) <= RARE]] = True
    return rare.reshape(expected.shape)


def larger_variance(sampled: float, df: float, believed: float) -> tuple[float, float]:
    """Return the variance to rely on and its degrees of freedom.

    Parameters
    ----------
    sampled : float
        Variance estimated from the labels' spread.
    df : float
        Its degrees of freedom as the labels show them.
    believed : float
        What the calibrated belief expects.

    Examples
    --------
    >>> larger_variance(0.0, 99.0, 0.04)
    (0.04, 1000000.0)
    >>> larger_variance(0.05, 1.0, 0.04)
    (0.05, 4.6)
    """
    df = max(df, LEAST_DF)
    normal, t = stdtrit(np.array([MOST_DF, df]), 0.975)
    return (sampled, df) if sampled * t**2 >= believed * normal**2 else (believed, MOST_DF)
