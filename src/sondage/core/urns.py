"""What items are drawn from: units with sizes, in memory or wherever they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sondage.core.draws import Arrivals, Order, arrivals, filled_factor, key_order
from sondage.core.predictions import Floats

__all__ = ["ArrayUrn", "Prices", "Urn"]


@dataclass(frozen=True)
class Prices:
    """What the labels of some units cost: all of them, the cheapest, the dearest."""

    total: float
    smallest: float
    largest: float

    @property
    def equal(self) -> bool:
        """Whether all cost the same."""
        return self.smallest == self.largest


class Urn(Protocol):
    """Units with sizes that sum to 1; units of size 0 are never drawn."""

    @property
    def support(self) -> int:
        """Number of units that can be drawn."""
        ...

    @property
    def equal(self) -> bool:
        """Whether all that can be drawn have the same size and the same cost."""
        ...

    @property
    def total(self) -> float:
        """Sum of the sizes: 1, up to rounding."""
        ...

    @property
    def prices(self) -> Prices | None:
        """Costs of what can be drawn; None where every label costs 1."""
        ...

    def prepare(self, seed: int, stage: int, budget: float) -> None:
        """Hear which draw comes next, to look at the units once for all that it asks."""
        ...

    def factor(self, total: float) -> float:
        """Return the water-filling factor; where all fit the one that makes the smallest size certain."""
        ...

    def order(
        self,
        to_rates: Callable[[Floats], Floats],
        *,
        seed: int,
        stage: int,
        count: int,
        budget: float,
        horizon: float,
    ) -> Order:
        """Return the head of the key order, as `key_order`."""
        ...

    def arrivals(self, *, seed: int, stage: int, distinct: int) -> Arrivals:
        """Return independent draws, as the function `arrivals`."""
        ...

    def sizes_of(self, units: NDArray[np.int64]) -> Floats:
        """Return the sizes of these units, which were drawn."""
        ...

    def costs_of(self, units: NDArray[np.int64]) -> Floats | None:
        """Return the costs of these units, which were drawn; None where every label costs 1."""
        ...


@dataclass(frozen=True, eq=False)
class ArrayUrn:
    """Units in memory: sizes, hash keys and costs, each of shape (U,)."""

    sizes: Floats
    keys: NDArray[np.int64]
    costs: Floats | None = None

    @cached_property
    def support(self) -> int:
        return int(np.count_nonzero(self.sizes))

    @property
    def equal(self) -> bool:
        largest = self.sizes >= self.sizes.max() * (1 - 1e-9)
        prices = self.prices
        return (prices is None or prices.equal) and int(np.count_nonzero(largest)) == self.support

    @property
    def total(self) -> float:
        return float(self.sizes.sum())

    @property
    def prices(self) -> Prices | None:
        if self.costs is None:
            return None
        drawn = self.sizes > 0
        costs = self.costs[drawn]
        return Prices(float(self.costs @ drawn), float(costs.min()), float(costs.max()))

    def prepare(self, seed: int, stage: int, budget: float) -> None:
        """Do nothing: the units are at hand."""

    def factor(self, total: float) -> float:
        return filled_factor(self.sizes, total, self.costs)

    def order(self, to_rates: Callable[[Floats], Floats], **draw: Any) -> Order:
        return key_order(self.sizes, self.keys, to_rates=to_rates, costs=self.costs, **draw)

    def arrivals(self, *, seed: int, stage: int, distinct: int) -> Arrivals:
        return arrivals(self.sizes, self.keys, seed=seed, stage=stage, distinct=distinct)

    def sizes_of(self, units: NDArray[np.int64]) -> Floats:
        return np.asarray(self.sizes[units])

    def costs_of(self, units: NDArray[np.int64]) -> Floats | None:
        return None if self.costs is None else np.asarray(self.costs[units])
