"""Strata: equal parts of the pool by score, and how labels are spread over them.

Neyman allocation fixes the numbers beforehand from believed deviations; the online stratified sampling of
Bennett and Carvalho (thesis section 4.4, there called strat) chooses the next stratum by the deviations seen so far.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sondage.core.hashing import uniforms
from sondage.core.predictions import Floats

__all__ = ["N_STRATA", "next_stratum", "neyman_allocation", "strata_by_score", "stratum_deviations"]

N_STRATA = 10


def strata_by_score(scores: Floats, keys: NDArray[np.int64], n_strata: int = N_STRATA) -> NDArray[np.int64]:
    """Return each item's stratum: equal numbers of items, by score, ties by key.

    Examples
    --------
    >>> strata_by_score(np.array([0.3, 0.1, 0.2, 0.4]), np.arange(4), 2).tolist()
    [1, 0, 0, 1]
    """
    order = np.lexsort((keys, scores))
    strata = np.empty(len(scores), dtype=np.int64)
    strata[order] = np.arange(len(scores)) * n_strata // len(scores)
    return strata


def neyman_allocation(sizes: Floats, total: int, capacities: NDArray[np.int64]) -> NDArray[np.int64]:
    r"""Return whole numbers near :math:`n_h \propto W_h \sigma_h`, at least 2 and at most the capacity each.

    Parameters
    ----------
    sizes : ndarray of float, shape (H,)
        Stratum weight times believed deviation.
    total : int
        Labels to spread.
    capacities : ndarray of int, shape (H,)
        Items in each stratum.

    Examples
    --------
    >>> neyman_allocation(np.array([1.0, 3.0]), 8, np.array([100, 100])).tolist()
    [2, 6]
    """
    counts = np.minimum(2, capacities)
    sizes = sizes if sizes.sum() > 0 else capacities.astype(np.float64)
    while counts.sum() < total and np.any(counts < capacities):
        open_strata = counts < capacities
        gain = np.where(open_strata, (sizes + 1e-300) / (counts + 1.0), -1.0)
        counts[int(np.argmax(gain))] += 1
    while counts.sum() > total:
        counts[int(np.argmax(np.where(counts > 0, counts, -1)))] -= 1
    return counts


def stratum_deviations(influence: Floats, strata: NDArray[np.int64], n_strata: int, prior: float) -> Floats:
    """Return each stratum's deviation of the influence, two imagined labels of variance `prior` added.

    Examples
    --------
    >>> stratum_deviations(np.array([1.0, 1.0]), np.array([0, 0]), 2, prior=0.25).round(3).tolist()
    [0.354, 0.5]
    """
    counts = np.bincount(strata, minlength=n_strata)
    means = np.bincount(strata, weights=influence, minlength=n_strata) / np.maximum(counts, 1)
    squares = np.bincount(strata, weights=(influence - means[strata]) ** 2, minlength=n_strata)
    return np.sqrt((squares + 2.0 * prior) / (counts + 2.0))


def next_stratum(sizes: Floats, seed: int, stage: int, step: int) -> int:
    """Return a stratum drawn in proportion to size, from the seeded hash."""
    point = float(uniforms(np.array([step]), seed, stage, 1)[0]) * float(sizes.sum())
    return int(min(np.searchsorted(np.cumsum(sizes), point), np.flatnonzero(sizes)[-1]))
