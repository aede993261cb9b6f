"""An urn whose units are not in memory: only those that a draw may take are fetched, and drawn from as always.

A draw needs few rows: those so large that they may be certain, and those whose keys are small. Both are told by one
query, ``u >= least or 1 - h < slope u``, which finds a few more than are wanted. Their sizes, numbers and keys are then
computed by the same code as those of a pool in memory. If a draw turns out to need more, the query is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.draws import Arrivals, Order, arrivals, filled_factor, first_keys, keys_below, waterfill
from sondage.core.predictions import Floats
from sondage.core.samples import bin_sums
from sondage.core.urns import Prices
from sondage.errors import InputError
from sondage.pools.ahead import allowance
from sondage.pools.kernels import sizes_at
from sondage.pools.sql.passes import Chosen, Mixed, head
from sondage.pools.sql.text import NoForm

if TYPE_CHECKING:
    from sondage.pools.stored import StoredPool

__all__ = ["StoredUrn"]

LARGE = 3.0
"""Rows of at least 1 / (3 k) are all fetched, where k is the least factor that the budget can lead to."""


class StoredUrn:
    """Units of a pool that is not in memory.

    Parameters
    ----------
    pool : StoredPool
        The pool.
    sizes : Mixed
        Sizes as data, in base weights.
    shares : sequence of float
        What each part was meant to sum to.
    found : mapping
        Sums of the parts, and of the rows that have a size.
    asked : ndarray, optional
        Ids that are not in the urn.
    """

    def __init__(
        self,
        pool: StoredPool,
        sizes: Mixed,
        shares: Sequence[float],
        found: Mapping[str, Any],
        asked: NDArray[Any] | None,
    ) -> None:
        self.pool, self.sizes, self.asked, self._found = pool, sizes, asked, found
        self.support = int(found["n_units"] or 0)
        there = [at for at in range(len(shares)) if found[f"sum_{at}"]]
        self.total = float(sum(shares[at] for at in there))
        spread = [(found[f"min_{at}"], found[f"max_{at}"]) for at in there]
        prices = self.prices
        self.equal = (prices is None or prices.equal) and all(low >= high * (1 - 1e-9) for low, high in spread)
        self._mass = self.total  # cost of the sizes' sum
        if pool.scan.schema.cost is not None:
            self._mass = float(sum(shares[at] * found[f"sum_c{at}"] / found[f"sum_{at}"] for at in there))
        self._largest = float(sum(shares[at] * found[f"max_{at}"] / found[f"sum_{at}"] for at in there))
        self._draw: tuple[int, int] | None = None
        self._least, self._slope = np.inf, 0.0
        self._near = _Near.empty()

    @property
    def prices(self) -> Prices | None:
        """Costs of what can be drawn."""
        if self.pool.scan.schema.cost is None:
            return None
        return Prices(*(float(self._found[f"{name}_c"]) for name in ("sum", "min", "max")))

    def prepare(self, seed: int, stage: int, budget: float) -> None:
        """Fetch what a draw of this budget most likely needs."""
        if not self.support:
            raise InputError("all sizes are 0: nothing can be drawn")
        self._draw = (seed, stage)
        everything = self.support if self.prices is None else self.prices.total
        if budget >= everything * (1 - 1e-12):
            self._fetch(0.0, np.inf)
            return
        k = budget / self._mass
        labels = budget if self.prices is None else budget / self.prices.largest
        least = 1.0 / (LARGE * k)
        rate = -np.log1p(-k * least) / least
        self._fetch(least, rate * allowance(labels))

    def _fetch(self, least: float, slope: float) -> None:
        """Fetch all rows of at least this size, and those with a number close to 1 for their size."""
        if self._least <= least and self._slope >= slope:
            return
        assert self._draw is not None
        # The query may compute a size a little differently.
        rows = self._rows(*self._draw, least * (1 - 1e-9), min(slope, 1e300) * (1 + 1e-9))
        self._least, self._slope, self._near = least, slope, self._ordered(self._not_asked(rows))

    def _rows(self, seed: int, stage: int, least: float, slope: float) -> dict[str, NDArray[Any]]:
        """Return these rows: gathered before, where that reached far enough, or by a pass of its own."""
        scan, bounds = self.pool.scan, (seed, stage, least, slope)
        limit = self._largest * slope if self._largest < least else np.inf
        if scan.gathered is not None and scan.gathered.serves(seed, stage, limit):
            return scan.reader.head(self.sizes, *bounds, scan.gathered.rows)
        try:
            scaled = replace(self.sizes, parts=tuple(replace(p, factor=p.factor * scan.unit) for p in self.sizes.parts))
            text, select = head(
                scan.base,
                scaled,
                seed=seed,
                stage=stage,
                least=least,
                slope=slope,
                largest=self._largest,
                small=bool(scan.small),
            )
            return dict(scan.engine.query(text, select.tables, "pass 3: the draw"))
        except NoForm:
            kernel = partial(scan.reader.head, self.sizes, *bounds)
            found = list(scan.mapped(Chosen(), kernel, "pass 3: the draw"))
            return {name: np.concatenate([block[name] for block in found]) for name in scan.schema.columns}

    def _not_asked(self, rows: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the rows that were not asked for before."""
        if self.asked is None:
            return rows
        asked = set(self.asked.tolist())
        names = rows[self.pool.scan.schema.unit].tolist()
        kept = np.array([name not in asked for name in names], dtype=np.bool_)
        return {name: column[kept] for name, column in rows.items()}

    def _ordered(self, rows: dict[str, NDArray[Any]]) -> _Near:
        """Return the units in the order of their keys, and so independent of the engine's."""
        reader = self.pool.scan.reader
        self.pool.see(rows)
        items, units, keys = reader.items(rows), reader.units(rows), reader.unit_keys(rows)
        order = (
            np.argsort(keys)
            if not self.pool.scan.schema.hashed
            else np.lexsort((rows["id"][units.first].astype(str), keys))
        )
        sizes = units.sums(sizes_at(self.sizes, items))
        costs = None if items.costs is None else units.largest(items.costs)[order]
        return _Near(keys[order], sizes[order], costs)

    def factor(self, total: float) -> float:
        """Return the water-filling factor; where all fit the one that makes the smallest size certain."""
        while True:
            near = self._near
            if self._least == 0:
                return filled_factor(near.sizes, total, near.costs)
            large = near.sizes >= self._least
            sizes, costs = near.sizes[large], None if near.costs is None else near.costs[large]
            beyond = self._mass - float(np.sum(sizes if costs is None else sizes * costs))
            factor = waterfill(sizes, total, costs, beyond=beyond if int(large.sum()) < self.support else 0.0)
            if np.isfinite(factor) and factor * self._least < 1:
                return factor
            least = self._least / (2 * LARGE) if np.isfinite(factor) else 0.0
            self._fetch(least, max(self._slope, 1.0 / max(least, 1e-300)))

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
        """Return the head of the key order."""
        self._draw = (seed, stage)
        prices = self.prices

        def below(limit: float) -> tuple[NDArray[np.int64], Floats, Floats]:
            if np.isinf(limit):
                self._fetch(0.0, np.inf)
            elif self._least > 0:
                least = np.array([self._least])
                self._fetch(self._least, float(to_rates(least)[0]) / self._least * limit)
            near = self._near
            return keys_below(near.sizes, near.keys, to_rates, seed=seed, stage=stage, limit=limit)

        def costs_of(rows: NDArray[np.int64]) -> Floats | None:
            return None if self._near.costs is None else self._near.costs[rows]

        found = first_keys(
            below=below,
            costs_of=costs_of,
            positive=self.support,
            dearest=None if prices is None else prices.largest,
            count=count,
            budget=budget,
            horizon=horizon,
        )
        return replace(found, rows=self._near.keys[found.rows])

    def arrivals(self, *, seed: int, stage: int, distinct: int) -> Arrivals:
        """Return independent draws."""
        first = self.order(
            lambda u: u / self.total, seed=seed, stage=stage, count=distinct, budget=np.inf, horizon=float(distinct)
        )
        near = self._near
        found = arrivals(near.sizes, near.keys, seed=seed, stage=stage, distinct=len(first.rows), total=self.total)
        return replace(found, rows=near.keys[found.rows])

    def sizes_of(self, units: NDArray[np.int64]) -> Floats:
        """Return the sizes of these units, which were drawn."""
        if self._draw is None:  # not from here, but from strata
            taken = self.pool.taken(units)
            sizes = sizes_at(self.sizes, taken.items)
            return sizes if taken.units is None else bin_sums(taken.units, sizes, len(units))
        return np.asarray(self._near.sizes[self._near.place(units)])

    def costs_of(self, units: NDArray[np.int64]) -> Floats | None:
        """Return the costs of these units, which were drawn."""
        costs = self._near.costs
        return None if costs is None else np.asarray(costs[self._near.place(units)])


class _Near:
    """The rows fetched: keys in order, sizes, costs."""

    def __init__(self, keys: NDArray[np.int64], sizes: Floats, costs: Floats | None) -> None:
        self.keys, self.sizes, self.costs = keys, sizes, costs

    @staticmethod
    def empty() -> _Near:
        return _Near(np.empty(0, dtype=np.int64), np.empty(0), None)

    def place(self, units: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return where these units are."""
        return np.searchsorted(self.keys, units)
