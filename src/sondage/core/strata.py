"""Strata: equal parts of the pool by score, or slices that a user names, and how labels are spread over them.

Neyman allocation fixes the numbers beforehand from believed deviations; the online stratified sampling of
Bennett and Carvalho (thesis section 4.4, there called strat) chooses the next stratum by the deviations seen so far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sondage.core.draws import key_order
from sondage.core.hashing import uniforms
from sondage.core.measures.bases import rounded
from sondage.core.predictions import Floats
from sondage.core.rankings import offsets_of

__all__ = [
    "N_STRATA",
    "Firsts",
    "Strata",
    "first_of",
    "further_allocation",
    "mixed_stakes",
    "next_stratum",
    "neyman_allocation",
    "strata_by_score",
    "stratum_deviations",
    "stratum_stakes",
]

N_STRATA = 10
"""By score, where there are labels for so many."""
CHEAPEST, BISECTIONS = 1e-12, 60
"""Least price that is looked at, as a share of the largest size, and by how many halvings."""


@dataclass(frozen=True, eq=False)
class Firsts:
    """Units drawn from strata, in the order of their keys: the units, their keys and strata, shape (n,) each."""

    units: NDArray[np.int64]
    keys: Floats
    strata: NDArray[np.int64]


class Strata(Protocol):
    """Units in strata, wherever they are."""

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Units in each stratum, shape (H,)."""
        ...

    @property
    def deviations(self) -> Floats:
        """Weight of each stratum times the believed deviation in it, shape (H,)."""
        ...

    def first(self, counts: NDArray[np.int64], seed: int, stage: int) -> Firsts:
        """Return so many units of each stratum, the first by the keys of the draw."""
        ...


def first_of(
    strata: NDArray[np.int64], keys: NDArray[np.int64], counts: NDArray[np.int64], *, seed: int, stage: int
) -> Firsts:
    """Return so many units of each stratum, the first in the order in which equal sizes are drawn.

    Parameters
    ----------
    strata, keys : ndarray of int, shape (U,)
        Stratum and hash key of each unit.
    counts : ndarray of int, shape (H,)
        How many of each stratum.
    seed, stage : int
        Of the draw.
    """
    order = key_order(np.ones(len(keys)), keys, to_rates=lambda sizes: sizes, seed=seed, stage=stage, count=len(keys))
    ordered = strata[order.rows]
    taken = _rank_within(ordered, len(counts)) < counts[ordered]
    return Firsts(order.rows[taken], order.keys[taken], ordered[taken])


def _rank_within(groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    """Return each element's number among those of its group, in order."""
    order = np.argsort(groups, kind="stable")
    starts = offsets_of(np.bincount(groups, minlength=n_groups))
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - starts[groups[order]]
    return rank


def stratum_stakes(sums: Floats) -> Floats:
    r"""Return :math:`W_h \sigma_h` from each stratum's sums of weight, weighted mean and second moment, (3, H).

    Examples
    --------
    >>> stratum_stakes(np.array([[0.5, 0.5], [0.25, 0.0], [0.25, 0.5]])).tolist()
    [0.25, 0.5]
    """
    mass, centre, second = sums
    spread = second / mass - (centre / mass) ** 2
    return rounded(mass * np.sqrt(np.maximum(spread, 0.0)))


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


def neyman_allocation(
    sizes: Floats, total: int, capacities: NDArray[np.int64], least: int | NDArray[np.int64] = 2
) -> NDArray[np.int64]:
    r"""Return whole numbers near :math:`n_h \propto W_h \sigma_h`, at most the capacity each.

    Parameters
    ----------
    sizes : ndarray of float, shape (H,)
        Stratum weight times believed deviation.
    total : int
        Labels to spread.
    capacities : ndarray of int, shape (H,)
        Items in each stratum.
    least : int or ndarray of int, shape (H,)
        The fewest for each, as far as there are so many.

    Examples
    --------
    >>> neyman_allocation(np.array([1.0, 3.0]), 8, np.array([100, 100])).tolist()
    [2, 6]
    """
    counts = np.minimum(least, capacities)
    sizes = (sizes if sizes.sum() > 0 else capacities.astype(np.float64)) + 1e-300
    if counts.sum() < total < capacities.sum():
        counts = _surely_allocated(sizes, total, capacities, counts)
    while counts.sum() < total and np.any(counts < capacities):
        counts[int(np.argmax(np.where(counts < capacities, sizes / (counts + 1.0), -1.0)))] += 1
    while counts.sum() > total:
        counts[int(np.argmax(np.where(counts > 0, counts, -1)))] -= 1
    return counts


def _surely_allocated(
    sizes: Floats, total: int, capacities: NDArray[np.int64], fewest: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return what each stratum gets of the labels that come one by one to the largest size over count, but the last.

    With n labels a stratum has had all whose size over count is above a price; the price is bisected until these are as
    many as there are labels, or the next cheaper one would be too many.
    """

    def bought(price: float) -> NDArray[np.int64]:
        return np.clip(np.floor(sizes / price), fewest, capacities).astype(np.int64)

    low, high = CHEAPEST * float(sizes.max()), 2.0 * float(sizes.max())
    for _ in range(BISECTIONS):
        price = math.sqrt(low) * math.sqrt(high)
        low, high = (price, high) if bought(price).sum() > total else (low, price)
    return bought(high * (1.0 + 1e-9))  # rounding buys none that the next largest would not


def further_allocation(
    stakes: Floats, asked: NDArray[np.int64], *, total: int, capacities: NDArray[np.int64], least: int
) -> NDArray[np.int64]:
    r"""Return how many further labels each slice gets, so that all its labels come near :math:`n_h \propto` stake.

    A slice gets none, or at least `least`, or all that are left in it, whichever is nearer: fewer have no variance of
    their own. One that was never asked for gets so many in any case.

    Parameters
    ----------
    stakes : ndarray of float, shape (H,)
        What the labels are to be proportional to.
    asked : ndarray of int, shape (H,)
        Labels of each slice so far.
    total : int
        Labels of all slices afterwards: at least those so far, and `least` for each slice that has none.
    capacities : ndarray of int, shape (H,)
        Items of each slice that can still be drawn.
    least : int
        Fewest labels of a stage.

    Examples
    --------
    >>> stakes, many = np.array([1.0, 3.0]), np.array([100, 100])
    >>> further_allocation(stakes, np.array([20, 20]), total=80, capacities=many, least=10).tolist()
    [0, 40]
    >>> stakes, few = np.array([1.0, 9.0]), np.array([100, 30])
    >>> further_allocation(stakes, np.array([0, 0]), total=50, capacities=few, least=10).tolist()
    [20, 30]
    """
    whole, most = np.minimum(least, capacities), asked + capacities
    fewest = np.where(asked > 0, asked, whole)
    while True:
        fresh = neyman_allocation(stakes, total, most, fewest) - asked
        small = (fresh > 0) & (fresh < whole)
        if not small.any():
            return np.asarray(fresh, dtype=np.int64)
        h = int(np.argmin(np.where(small, fresh, total)))
        raised, closed = fewest.copy(), most.copy()
        raised[h], closed[h] = asked[h] + whole[h], asked[h]
        if 2 * fresh[h] >= whole[h] and raised.sum() <= total:
            fewest = raised
        elif closed.sum() >= total:
            most = closed
        else:
            return np.asarray(fresh, dtype=np.int64)


def mixed_stakes(sums: Floats, shares: Floats, power: float) -> Floats:
    r"""Return what each slice has at stake, summing to 1, where sizes are mixtures.

    .. math:: \sum_t \alpha_t \frac{A_{th}^p}{\sum_{h'} A_{th'}^p}, \quad A_{th} = \sum_{i \in h} u_{ti}.

    Parameters
    ----------
    sums : ndarray of float, shape (T, H)
        Sum of each term's sizes over each slice.
    shares : ndarray of float, shape (T,)
        Of the terms in the mixture.
    power : float
        1 for the smallest error of the whole, 2 for equal errors of the slices.

    Examples
    --------
    >>> mixed_stakes(np.array([[1.0, 3.0], [1.0, 1.0]]), np.array([0.5, 0.5]), 1.0).tolist()
    [0.375, 0.625]
    """
    powers = sums**power
    masses = powers.sum(axis=1)
    there = (masses > 0) & (shares > 0)
    if not there.any():
        return np.full(sums.shape[1], 1.0 / sums.shape[1])
    mixed = (shares[there] / masses[there]) @ powers[there]
    return np.asarray(mixed / mixed.sum())


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
