r"""The mean by which residuals are centred, which also makes the weights of an estimate sum to the pool.

The weights of an expanded total :math:`\sum w b s` rarely sum to the share B of the pool that could be drawn. With a
mean c of s the estimate :math:`\sum w b s + (B - \sum w b) c` has weights that sum to B, and its residuals are :math:`s
- c`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.core.predictions import Floats
from sondage.core.samples import Known, Sample

__all__ = ["Centre", "deviations", "least_uncertain", "normalising", "summing_weights"]


@dataclass(frozen=True, eq=False)
class Centre:
    """A weighted mean of the rows.

    Attributes
    ----------
    weights : ndarray of float, shape (n,)
        The rows' weights in it, of any sum.
    scale : float
        By what residuals are multiplied.
    """

    weights: Floats
    scale: float = 1.0


def normalising(sample: Sample, known: Known) -> Centre:
    """Return the mean with which an estimate is normalised (Hajek): all weights are multiplied by the same."""
    weights = sample.row_weights
    total = float(np.sum(weights))
    return Centre(weights, known.share / total if total > 0 else 0.0)


def least_uncertain(sample: Sample, known: Known) -> Centre:
    r"""Return the mean at which the estimated variance is least.

    Of a unit's share :math:`B_u = \sum b` and residual :math:`R_u = \sum b r` the variance
    :math:`\sum_u k_u (R_u - B_u c)^2` is least at :math:`c = \sum_u k_u B_u R_u / \sum_u k_u B_u^2` (Montanari 1987).

    References
    ----------
    G. E. Montanari, Post-sampling efficient QR-prediction in large-sample surveys, International Statistical Review,
    1987, 191-202.
    """
    return Centre(np.asarray(sample.items.weights * sample.of_rows(sample.expansion.spread * sample.unit_base)))


def summing_weights(sample: Sample, known: Known, centre: Centre | None) -> Floats:
    r"""Return row weights :math:`w b` that sum to B, what they lack given to rows by the centre.

    Parameters
    ----------
    sample : Sample
        The labelled rows.
    known : Known
        Its share is B, in (0, 1].
    centre : Centre, optional
        Without one the weights stay as they are.

    Returns
    -------
    ndarray of float, shape (n,)

    Examples
    --------
    >>> from sondage.core.predictions import Items, Means
    >>> from sondage.core.samples import from_inclusion
    >>> items = Items((Means(np.zeros(2), None),), np.full(2, 0.25))
    >>> sample = Sample(items, np.zeros(2), from_inclusion(np.array([0.5, 0.25])))
    >>> pool = Known(1.0, None, {}, {}, 0.25)
    >>> summing_weights(sample, pool, normalising(sample, pool)).round(3).tolist()
    [0.333, 0.667]
    >>> summing_weights(sample, pool, least_uncertain(sample, pool)).round(3).tolist()
    [0.429, 0.571]
    """
    weights = sample.row_weights
    if centre is None:
        return weights
    total = float(np.sum(centre.weights))
    return weights + ((known.share - float(np.sum(weights))) / total if total > 0 else 0.0) * centre.weights


def deviations(column: Floats, weights: Floats) -> Floats:
    """Return a row column less its weighted mean."""
    total = float(np.sum(weights))
    return np.asarray(column - (np.sum(weights * column) / total if total > 0 else 0.0))
