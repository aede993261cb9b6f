"""Rows in memory, and the passes over them, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, Doubts
from sondage.core.blocks import row_blocks
from sondage.core.comparisons import Influence, believed_totals
from sondage.core.designs import PASSIVE, Design, Equal, Mixture, Term, any_matters
from sondage.core.measures.bases import Basis
from sondage.core.predictions import Classes, Floats, Grades, Items, Means, Ranks
from sondage.core.samples import SumKey
from sondage.core.strata import Strata
from sondage.core.urns import ArrayUrn, Prices, Urn
from sondage.errors import warn
from sondage.pools.doubts import doubts_of
from sondage.pools.numeric import floats
from sondage.pools.results import Filled, Profile, RowChoice, Undrawn
from sondage.pools.strata import array_strata, averaged, believed_moments
from sondage.pools.units import RowUnits

__all__ = ["ArrayRows"]

Result = TypeVar("Result")

MANY_TERMS = 9
"""Up to so many terms of a design are computed one after the other, with one column at a time."""
HELD = 1 << 24
"""Numbers in the columns of more terms, which are computed together: what they share is computed once a block."""


class ArrayRows:
    """Rows and what is summed up over them."""

    items: Items
    keys: NDArray[np.int64]
    _units: RowUnits | None
    """Of rows that share labels."""

    def __len__(self) -> int:
        return len(self.items)

    @property
    def all_rows(self) -> RowChoice:
        """The choice of all rows."""
        return np.ones(len(self), dtype=np.bool_)

    @property
    def equal_weights(self) -> bool:
        """Whether all rows have the same base weight."""
        weights = self.items.weights
        return weights.strides[0] == 0 or bool(np.ptp(weights) <= 1e-12 * weights[0])

    @property
    def squared_weights(self) -> float:
        r"""The sum of squares of the base weights, :math:`\sum_i b_i^2`."""
        weights = self.items.weights
        return float(np.sum(np.square(weights))) if weights.strides[0] else 1.0 / len(self)

    @property
    def doubts(self) -> Doubts:
        """How far to doubt models and judges that call classes impossible (docs/statistics.md, section 3).

        Examples
        --------
        >>> from sondage import Pool
        >>> round(Pool([0.0, 0.1, 0.4, 1.0]).doubts.models[0], 3)
        0.091
        """
        return doubts_of(self.items)

    @property
    def prices(self) -> Prices | None:
        """What the labels cost: all, the cheapest, the dearest; None where every label costs 1."""
        costs = self.unit_costs
        return None if costs is None else Prices(float(costs.sum()), float(costs.min()), float(costs.max()))

    @property
    def unit_of_row(self) -> NDArray[np.int64] | None:
        """Unit of each row, shape (N,), where rows share labels; None where each row is a unit."""
        return None if self._units is None else self._units.of_row

    @property
    def grouped(self) -> bool:
        """Whether rows share labels."""
        return self._units is not None

    @property
    def n_units(self) -> int:
        """Number of items that can be labelled: rows, or groups."""
        return len(self) if self._units is None else len(self._units)

    @property
    def unit_keys(self) -> NDArray[np.int64]:
        """Hash keys of the units."""
        return self.keys if self._units is None else self.keys[self._units.first]

    @property
    def unit_costs(self) -> Floats | None:
        """Cost of each unit's label, the largest of its rows'; None where labels cost 1."""
        if self.items.costs is None:
            return None
        return floats(self.items.costs) if self._units is None else self._units.largest(self.items.costs)

    def rows_of(self, units: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return all rows of these units, and for each row the position of its unit; None where they are the rows."""
        of_row = self.unit_of_row
        if of_row is None:
            return units, None
        position = np.full(self.n_units, -1, dtype=np.int64)
        position[units] = np.arange(len(units))
        rows = np.flatnonzero(position[of_row] >= 0)
        at = position[of_row[rows]]
        order = np.lexsort((self.keys[rows], at))  # whatever the order of the pool's rows
        return rows[order], at[order]

    def without(self, units: NDArray[np.int64]) -> RowChoice:
        """Return the choice of all rows but those of these units."""
        rest = self.all_rows
        rest[self.rows_of(units)[0]] = False
        return rest

    def blocks(self) -> Iterator[tuple[slice, Items]]:
        """Yield slices of rows and the items in them, as views."""
        features = self.items.features
        width = max([1 if features is None else features.shape[1], *(_width(output) for output in self.items.models)])
        for part in row_blocks(len(self), width):
            yield part, self.items.take(part)

    def expect(self, seed: int, stage: int, budget: float) -> None:
        """Hear which draw follows the next plan; rows in memory are at hand."""

    def believed(
        self, requests: Iterable[tuple[Basis, Sequence[int]]], belief: Belief, rows: NDArray[np.bool_] | None = None
    ) -> dict[SumKey, Floats]:
        """Return believed totals for every (basis, models): the first pass over the pool.

        Parameters
        ----------
        requests : iterable of (Basis, sequence of int)
            Statistics and models wanted.
        belief : Belief
            Distribution of the labels.
        rows : ndarray of bool, shape (N,), optional
            Sum over these rows only.

        Returns
        -------
        dict of (str, int) to ndarray
            By the name of the statistic and the model's index: its sum over rows, each by its base weight.
        """
        wanted = list(requests)
        totals: dict[SumKey, Floats] = {}
        for part, items in self.blocks():
            weights = items.weights if rows is None else items.weights * rows[part]
            for basis, models in wanted:
                for model, total in believed_totals(basis, models, belief, items, weights).items():
                    key = (basis.name, model)
                    totals[key] = totals[key] + total if key in totals else np.asarray(total)
        return totals

    def relevant(
        self, influences: Sequence[Influence], belief: Belief, rest: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """Return whether any allowed label of the row, one of the rest, moves any of these influences, bool (N,)."""
        mask = np.zeros(len(self), dtype=np.bool_)
        for part, items in self.blocks():
            mask[part] = any_matters(influences, belief, items)
        return mask if rest is None else mask & rest

    def sizes(
        self, design: Design, relevant: NDArray[np.bool_] | None, rest: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return every unit's size, summing to 1: the second pass over the pool.

        Parameters
        ----------
        design : Design
            Terms, shares and floor.
        relevant : ndarray of bool, shape (N,), optional
            Rows over which the floor is spread; None for all.
        rest : ndarray of bool, shape (N,), optional
            Rows that can be drawn at all; None for all.

        Returns
        -------
        ndarray of float, shape (U,)
            One for each unit; a group's is the sum of its rows'.
        """
        total: Floats | None = None
        for share, column in self._columns(design.terms):
            if rest is not None:
                column *= rest
            mass = float(column.sum())
            if mass > 0:
                column *= share * (1.0 - design.floor) / mass
                total = column if total is None else np.add(total, column, out=total)
            del column  # before the next one is made
        if total is None and design.floor < 1:
            warn(PASSIVE.format(design.name))
        if total is None:
            total = np.zeros(len(self))
            self._spread(total, design.ground, 1.0, relevant if relevant is not None and relevant.any() else rest)
        elif design.floor:
            self._spread(total, design.ground, design.floor, relevant)
        if not total.any():  # no label can move the result
            self._spread(total, Equal(), 1.0, rest)
        return total if self._units is None else self._units.sums(total)

    def filled(
        self, design: Design, relevant: RowChoice, rest: RowChoice | None = None, *, strict: bool = False
    ) -> Filled:
        """Return the urn of a design, and what it reaches.

        Parameters
        ----------
        design : Design
            Terms, shares and floor.
        relevant : choice of rows
            Those that can matter.
        rest : choice of rows, optional
            Those not asked for yet; None for all.
        strict : bool
            Whether only rows that can matter have a size, if there are any.

        Returns
        -------
        Filled
            The urn, and whether every row that can matter is in it.
        """
        if rest is not None:
            relevant = relevant & rest
        immovable = not relevant.any()
        drawn = relevant if strict and relevant.any() else rest
        sizes = self.sizes(
            design, None if relevant.all() else relevant, None if drawn is None or drawn.all() else drawn
        )
        urn = ArrayUrn(sizes, self.unit_keys, self.unit_costs)
        covered = self._of_rows(sizes > 0)
        if covered.all():
            return Filled(urn, 1.0, True, None, immovable)
        if design.evened is not None and not covered[relevant].all():
            return self.filled(design.evened, relevant, rest, strict=strict)
        left = ~covered if rest is None else ~covered & rest
        share = float(np.sum(self.items.weights[covered]))
        return Filled(urn, share, bool(covered[relevant].all()), left if left.any() else None, immovable)

    def masses(self, terms: Sequence[Term], urn: Urn) -> list[float]:
        """Return the sum of each term over the rows that have a size."""
        assert isinstance(urn, ArrayUrn)
        there = self._of_rows(urn.sizes > 0)
        return [float(self.column(term)[there].sum()) for term in terms]

    def _of_rows(self, of_units: NDArray[Any]) -> NDArray[Any]:
        """Return a unit's value for each of its rows."""
        return of_units if self._units is None else self._units.spread(of_units)

    def share_of(self, rows: RowChoice) -> float:
        """Return the base weight of some rows."""
        return float(np.sum(self.items.weights[rows]))

    def strata(self, influence: Influence, belief: Belief, most: int) -> Strata:
        """Return at most so many strata of equal numbers of units, by the believed mean influence."""
        mean, second = np.empty(len(self)), np.empty(len(self))
        for part, items in self.blocks():
            mean[part], second[part] = believed_moments(influence, belief, items)
        units = self._units or RowUnits.alone(len(self))
        return array_strata(*averaged(self.items.weights, mean, second, units), keys=self.unit_keys, most=most)

    def profile(self, urn: Urn, term: Term) -> Profile:
        """Return sizes, and with them the sizes that another term gives: what a design's variance depends on."""
        assert isinstance(urn, ArrayUrn)
        others = self.column(term)
        return Profile(urn.sizes, others if self._units is None else self._units.sums(others), urn.costs)

    def undrawn(
        self, urn: Urn, drawn: NDArray[np.int64], rest: RowChoice | None, kernel: Callable[[Undrawn], Result]
    ) -> Iterator[Result]:
        """Yield what a function makes of the units left, block by block; grouped rows come all at once.

        Parameters
        ----------
        urn : Urn
            What was drawn from.
        drawn : ndarray of int
            Units drawn from it.
        rest : choice of rows, or None
            Those not asked for before; None for all.
        kernel : callable
            Where the pool is not in memory, it and what it returns travel between processes.

        Yields
        ------
        object
            What the function returns of a block.
        """
        assert isinstance(urn, ArrayUrn)
        left = np.ones(self.n_units, dtype=np.bool_)
        left[drawn] = False
        if rest is not None:
            left &= rest if self._units is None else rest[self._units.first]
        of_row = self.unit_of_row
        if of_row is not None:
            rows, place = left[of_row], np.cumsum(left) - 1
            yield kernel(Undrawn(self.items.take(rows), urn.sizes[left], place[of_row[rows]]))
            return
        for part, items in self.blocks():
            kept = left[part]
            whole = bool(kept.all())
            yield kernel(Undrawn(items if whole else items.take(kept), urn.sizes[part][kept], None))

    def column(self, term: Term) -> Floats:
        """Return one term's sizes of every row, shape (N,), not normalised."""
        ((_, column),) = self._columns(((1.0, term),))
        return column

    def _columns(self, terms: Mixture) -> Iterator[tuple[float, Floats]]:
        """Yield each term's share and its sizes of every row, shape (N,), not normalised."""
        together = max(1, HELD // len(self)) if len(terms) > MANY_TERMS else 1
        for start in range(0, len(terms), together):
            some = terms[start : start + together]
            columns = [np.empty(len(self)) for _ in some]
            for part, items in self.blocks():
                for at, (_, term) in enumerate(some):
                    columns[at][part] = term.sizes(items)
            for share, _ in some:
                yield share, columns.pop(0)

    def _spread(self, total: Floats, term: Term, share: float, rows: NDArray[np.bool_] | None) -> None:
        """Add this share of the mass as a term has it over some rows, or all; no second column is held."""

        def sizes(part: slice, items: Items) -> Floats:
            return term.sizes(items) if rows is None else term.sizes(items) * rows[part]

        mass = sum(float(sizes(part, items).sum()) for part, items in self.blocks())
        for part, items in self.blocks():
            total[part] += sizes(part, items) * (share / mass if mass else 0.0)


def _width(output: Any) -> int:
    """Return how many numbers one row of this output holds."""
    if isinstance(output, Classes):
        p = output.probabilities
        return 1 if p is None or p.ndim == 1 else p.shape[1]
    if isinstance(output, Grades):
        return len(output.grades)
    if isinstance(output, Ranks):
        return len(output.positions) * output.documents.n_grades // max(len(output), 1)
    return 2 if isinstance(output, Means) else 1
