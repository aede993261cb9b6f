"""Strata of a pool in memory: equal numbers of units by the believed mean of the influence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, is_broad
from sondage.core.comparisons import Influence, moments
from sondage.core.designs import RootMeanSquare
from sondage.core.predictions import Floats, Items
from sondage.core.strata import Firsts, first_of, strata_by_score, stratum_stakes
from sondage.pools.units import RowUnits

__all__ = ["ArrayStrata", "array_strata", "averaged", "believed_moments", "scores_of"]


@dataclass(frozen=True, eq=False)
class ArrayStrata:
    """Units in memory: the stratum and the hash key of each."""

    of_unit: NDArray[np.int64]
    keys: NDArray[np.int64]
    deviations: Floats

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Units in each stratum."""
        return np.bincount(self.of_unit)

    def first(self, counts: NDArray[np.int64], seed: int, stage: int) -> Firsts:
        """Return so many units of each stratum, the first by the keys of the draw."""
        return first_of(self.of_unit, self.keys, counts, seed=seed, stage=stage)


def believed_moments(influence: Influence, belief: Belief, items: Items) -> tuple[Floats, Floats]:
    """Return the believed mean and second moment of the influence, shape (n,) each.

    Where variances are beyond all bounds the means are nothing beside the roots of the second moments.
    """
    if is_broad(belief):
        root = RootMeanSquare(influence=influence, belief=belief).relevance(items)
        return np.zeros(len(items)), np.square(root)
    return moments(influence, belief, items)


def averaged(weights: Floats, mean: Floats, second: Floats, units: RowUnits) -> tuple[Floats, Floats, Floats]:
    """Return the units' weights, means and second moments: of those of several rows the rows' averages."""
    if units.of_row is None:
        return weights, mean, second
    share = units.sums(weights)
    return share, units.sums(weights * mean) / share, units.sums(weights * second) / share


def scores_of(mean: Floats, largest: float) -> Floats:
    """Return the means by which units are put in strata, as shares of the root of the largest second moment.

    Rounded, so that the last bits of a sum over the pool, which follow the order of rows, break no ties.
    """
    return np.round(mean / (float(np.sqrt(largest)) or 1.0), 9)


def array_strata(weights: Floats, mean: Floats, second: Floats, *, keys: NDArray[np.int64], most: int) -> ArrayStrata:
    """Return at most so many strata, from weight, believed mean and second moment of each unit."""
    strata = strata_by_score(scores_of(mean, float(second.max())), keys, min(most, len(mean)))
    sums = np.stack([np.bincount(strata, weights=weights * x) for x in (np.ones(1), mean, second)], dtype=np.float64)
    return ArrayStrata(strata, keys, stratum_stakes(sums))
