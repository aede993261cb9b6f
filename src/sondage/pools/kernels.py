"""The passes as functions of some rows, for what has no SQL: each returns what the query would, for NumPy to join."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Influence, believed_totals
from sondage.core.designs import Term, any_matters
from sondage.core.hashing import hash_ids, uniforms
from sondage.core.measures.bases import Basis
from sondage.core.predictions import Floats, Items
from sondage.core.samples import SumKey, bin_sums
from sondage.pools.engines import Result, Rows
from sondage.pools.fingerprints import row_hashes
from sondage.pools.results import Undrawn
from sondage.pools.schema import Schema
from sondage.pools.sql.passes import Chosen, Mixed
from sondage.pools.units import RowUnits

__all__ = ["Reader", "added", "merged", "picked", "sizes_at"]


def moves(moving: Sequence[Influence] | None, belief: Belief | None, items: Items) -> NDArray[np.bool_]:
    """Return which rows can matter; all if nothing is said."""
    if moving is None or belief is None:
        return np.ones(len(items), dtype=np.bool_)
    return any_matters(moving, belief, items)


def sizes_at(sizes: Mixed, items: Items) -> Floats:
    """Return the sizes of some rows, shape (n,)."""
    total, relevant = np.zeros(len(items)), None
    for part in sizes.parts:
        column = part.term.sizes(items)
        if part.restricted and sizes.moving is not None:
            relevant = moves(sizes.moving, sizes.belief, items) if relevant is None else relevant
            column = column * relevant
        total += column * part.factor
    return total


@dataclass(frozen=True, eq=False)
class Reader:
    """What turns columns of an engine into rows as core reads them; `unit` is the base weight of a unit of weight."""

    schema: Schema
    unit: float

    def items(self, rows: Rows) -> Items:
        """Return the rows."""
        size = len(rows["id"])
        if self.schema.weight is None:
            return self.schema.items(rows, np.broadcast_to(np.float64(self.unit), size))
        return self.schema.items(rows, np.asarray(rows["w"], dtype=np.float64) * self.unit)

    def keys(self, rows: Rows) -> NDArray[np.int64]:
        """Return the hash keys, from the ids as they are; as texts where any row of the pool needs that."""
        if not self.schema.hashed:
            return np.asarray(rows["key"], dtype=np.int64)
        return hash_ids(np.asarray(rows["id"], dtype=object))

    def units(self, rows: Rows) -> RowUnits:
        """Return which of the rows share a label; those that do stand together."""
        if self.schema.group is None:
            return RowUnits.alone(len(rows["id"]))
        return RowUnits.together(rows["g"], self.keys(rows))

    def unit_keys(self, rows: Rows) -> NDArray[np.int64]:
        """Return the hash keys of the units."""
        return self.keys(rows)[self.units(rows).first]

    def chosen(self, rows: Rows, chosen: Chosen) -> Items:
        """Return the rows that are chosen; those asked for are left out by the query."""
        items = self.items(rows)
        if chosen.moving is not None:
            return items.take(moves(chosen.moving, chosen.belief, items))
        if chosen.unsized is not None:
            units = self.units(rows)
            return items.take(~units.spread(units.sums(sizes_at(chosen.unsized, items)) > 0))
        return items

    def share_of(self, chosen: Chosen, rows: Rows) -> float:
        """Return the base weight of those of these rows that are chosen."""
        return float(self.chosen(rows, chosen).weights.sum())

    def believed(
        self, requests: Sequence[tuple[Basis, Sequence[int]]], belief: Belief, chosen: Chosen, rows: Rows
    ) -> dict[SumKey, Floats]:
        """Return the believed totals of these rows."""
        items, totals = self.chosen(rows, chosen), {}
        for basis, models in requests:
            for model, total in believed_totals(basis, models, belief, items, items.weights).items():
                totals[basis.name, model] = np.asarray(total)
        return totals

    def masses(self, sizes: Mixed, rows: Rows) -> dict[str, Any]:
        """Return what each part of the sizes sums to, as `passes.masses` names it."""
        items, units, scale = self.items(rows), self.units(rows), 1.0 / self.unit
        relevant = moves(sizes.moving, sizes.belief, items)
        columns = [units.sums(p.term.sizes(items) * (relevant if p.restricted else 1.0) * scale) for p in sizes.parts]
        sized = np.any([column > 0 for column in columns], axis=0) if columns else np.zeros(len(units), dtype=np.bool_)
        there = units.spread(sized)
        found: dict[str, Any] = {
            "n": len(items),
            "n_relevant": int(relevant.sum()),
            "n_sized": int(there.sum()),
            "n_units": int(sized.sum()),
            "n_missed": int((relevant & ~there).sum()),
            "sum_w": float(np.sum(items.weights[there])) * scale,
        }
        costs = None if items.costs is None else units.largest(items.costs)
        for at, column in enumerate(columns):
            found |= {f"sum_{at}": float(column.sum()), f"max_{at}": float(column.max(initial=0.0))}
            found[f"min_{at}"] = float(column[sized].min()) if sized.any() else None
            if costs is not None:
                found[f"sum_c{at}"] = float(np.sum(costs * column))
        if costs is not None:
            some = costs[sized]
            found["sum_c"] = float(some.sum())
            found |= {"min_c": float(some.min()), "max_c": float(some.max())} if len(some) else {}
        return found

    def head(self, sizes: Mixed, seed: int, stage: int, least: float, slope: float, rows: Rows) -> dict[str, Any]:
        """Return the rows that a draw may take, as `passes.head`."""
        units = self.units(rows)
        size = units.sums(sizes_at(sizes, self.items(rows)))
        near = size > 0
        if least > 0:
            numbers = uniforms(self.keys(rows)[units.first], seed, stage)
            near &= (size >= least) | (1.0 - numbers < size * slope)
        return picked(rows, units.spread(near))

    def hashes(self, rows: Rows) -> NDArray[np.uint64]:
        """Return the sum of the rows' hashes, for the fingerprint."""
        keys, units = self.keys(rows), self.units(rows)
        shared = [] if units.of_row is None else [units.spread(keys[units.first]).astype(np.uint64)]
        return np.asarray(row_hashes(keys, self.items(rows), shared).sum(axis=0, dtype=np.uint64))

    def undrawn(self, sizes: Mixed, kernel: Callable[[Undrawn], Result], rows: Rows) -> Result:
        """Return what a function makes of rows that were not drawn."""
        items, units = self.items(rows), self.units(rows)
        return kernel(Undrawn(items, units.sums(sizes_at(sizes, items)), units.of_row))

    def profile(self, sizes: Mixed, term: Term, edges: Floats, rows: Rows) -> Floats:
        """Return counts, sizes, squares of another term, and costs, summed up in bins of the size, shape (4, bins)."""
        items, units = self.items(rows), self.units(rows)
        size, other = units.sums(sizes_at(sizes, items)), units.sums(term.sizes(items))
        place = np.searchsorted(edges, size, side="right")
        costs = np.ones(len(units)) if items.costs is None else units.largest(items.costs)
        columns = ((size > 0).astype(np.float64), size, other**2, costs * (size > 0))
        return np.stack([bin_sums(place, column, len(edges) + 1) for column in columns])


def picked(rows: Rows, kept: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return some of the rows; their documents are copied, so as not to hold those of all others."""
    found = {name: column[kept] for name, column in rows.items()}
    for query, own in enumerate(found.get("lists", ())):
        found["lists"][query] = own.alone()
    return found


def added(one: Mapping[SumKey, Floats], other: Mapping[SumKey, Floats]) -> dict[SumKey, Floats]:
    """Return totals of two blocks as those of both."""
    return {key: total + other[key] for key, total in one.items()}


def merged(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return aggregates of blocks, or of groups, as those of all: named min_ and max_ the extremes, else the sums."""
    found: dict[str, Any] = {}
    for name in {name for part in parts for name in part}:
        values = [part[name] for part in parts if part.get(name) is not None]
        reduce = {"min": min, "max": max}.get(name.split("_")[0], sum)
        found[name] = reduce(values) if values else None
    return found
