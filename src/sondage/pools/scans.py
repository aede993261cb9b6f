"""Passes over a table that stays where it is: each a query, or batches of rows for what has no SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.beliefs.columns import doubtful
from sondage.core.checks import refusals_of
from sondage.core.hashing import PRIMES
from sondage.core.measures.bases import Basis, Confusion
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Floats
from sondage.core.samples import SumKey
from sondage.errors import InputError
from sondage.pools.ahead import Coming, Gathered, columns_of
from sondage.pools.coding import SUM_ROUNDING
from sondage.pools.engines import Engine, Join, Result, Rows
from sondage.pools.kernels import Reader, added, merged
from sondage.pools.queries import SHOWN, Queries, both, surveyed
from sondage.pools.schema import Schema
from sondage.pools.sql.canonical import checks, extremes, raw_rows, survey
from sondage.pools.sql.hashing import leading, leading_in_step
from sondage.pools.sql.passes import Base, Chosen, Mixed, believed, found_totals, masses, near, rows_of, weighed
from sondage.pools.sql.text import NoForm, Select

__all__ = ["Scan"]


class Scan:
    """All rows of a table, or those with one value in a column.

    Parameters
    ----------
    engine : Engine
        Where the table is, and who reads it.
    schema : Schema
        What its columns mean; the first pass may find more to be done to them.
    within : (str, value), optional
        Keep rows with this value in a column of the source.
    """

    def __init__(self, engine: Engine, schema: Schema, within: tuple[str, Any] | None = None) -> None:
        self.engine, self.schema, self.within = engine, schema, within
        self._surveyed: dict[str, Any] | None = None
        self._count: int | None = None
        self._units: dict[str, Any] | None = None
        self._coming: Coming | None = None
        self.gathered: Gathered | None = None

    def expect(self, coming: Coming) -> None:
        """Hear which draw comes next: the next pass looks for its rows on the way."""
        self._coming = coming

    def __len__(self) -> int:
        if self._surveyed is not None:
            return int(self._surveyed["n"])
        if self._count is None:  # which files know without being read, if items are rows
            select = self.base.select() if self.within else raw_rows()
            what = "COUNT(*)" if self.schema.lists is None else f"COUNT(DISTINCT {self.schema.id.raw})"
            ((found,),) = (row.values() for row in self.ask(select.aggregated({"n": what}), select, "counting"))
            self._count = int(found)
        return self._count

    @property
    def survey(self) -> Mapping[str, Any]:
        """Number of rows, weights, costs: what the first pass finds. The pass is made now if there was none.

        Raises
        ------
        InputError
            If rows are not as they must be: how many, and the first ids.
        """
        if self._surveyed is None:
            if not self._check():
                self._check()  # as the rows are known to be now
            if self.schema.lists is not None:
                rows: Mapping[str, Any] = self._surveyed or {}
                self._surveyed = None  # a refusal is one the next time too
                self._surveyed = {**rows, **self._of_lists(), "n_rows": rows["n"]}
        assert self._surveyed is not None
        return self._surveyed

    def _check(self) -> bool:
        """Make the survey; return whether it holds."""
        select = self.base.select()
        return self._take_survey(self.ask(select.aggregated(survey(self.schema)), select, "checking the pool"))

    @property
    def reaches_certainty(self) -> bool:
        """Whether a source may call a class impossible; if the rows were not checked yet, by the quickest of passes.

        Extremes of columns as they are stand in the files' own statistics, or take one look at each value.
        """
        columns = extremes(self.schema) if self._surveyed is None else None
        if columns is None:
            return True
        if not columns:
            return False
        select = raw_rows(self.within)
        (found,) = self.ask(select.aggregated(columns), select, "looking for certain probabilities")
        told = {name: np.nan if value is None else float(value) for name, value in found.items()}  # decimals too
        least = (value if name.startswith("min") else 1.0 - value for name, value in told.items())
        return any(np.isnan(value) or doubtful(value) for value in least)

    def _of_lists(self) -> dict[str, Any]:
        """Return what only whole lists tell: number, weights and costs of queries."""
        kernel, select = Queries(self.schema).survey, self.base.select()
        text, step = select.only(self.schema.read), "checking lists"
        with refusals_of(self.engine.name):
            return surveyed(self.engine.mapped(text, select.tables, kernel, step, join=both, whole="id"))

    def judged(self, models: Sequence[int], statistics: Sequence[ListLoss]) -> Scan:
        """Return the pass over ranked lists as a question sees them."""
        assert self.schema.lists is not None
        asked = replace(self.schema.lists, asked=(tuple(models), tuple(statistics)))
        found = Scan(self.engine, replace(self.schema, lists=asked), self.within)
        found._surveyed = self._surveyed if self.schema.cost is None else None
        return found

    @property
    def queries(self) -> Queries:
        """What makes queries of documents."""
        known = self.survey  # which may change the schema
        return Queries(self.schema, 0.0 if self.schema.cost is None else float(known["min_c"]))

    @property
    def base(self) -> Base:
        """What every query starts from."""
        return Base(self.schema, self.engine.text_key, self.engine.kept, self.within)

    @property
    def unit(self) -> float:
        """Base weight of a row, or of a unit of weight."""
        return 1.0 / float(self.survey["n" if self.schema.weight is None else "sum_w"])

    @property
    def reader(self) -> Reader:
        """What turns rows of answers into rows as core reads them."""
        return Reader(self.schema, self.unit)

    def ask(self, text: str, select: Select, step: str) -> list[dict[str, Any]]:
        """Return the rows of an answer; missing values are None."""
        return _by_row(self.engine.query(text, select.tables, step))

    def _take_survey(self, groups: Sequence[Mapping[str, Any]]) -> bool:
        """Take what a first pass found; return whether it holds, or has to be made again with what is known now."""
        names = survey(self.schema)
        found = merged([{name: group[name] for name in names} for group in groups])
        with refusals_of(self.engine.name):
            if not found or not found["n"]:
                raise InputError("the pool is empty: it has no rows")
            if found["unsound"]:
                self._refuse()
        uneven = {name.removeprefix("max_off_") for name, off in found.items() if "off" in name and off > SUM_ROUNDING}
        hashed = self.schema.hashed or found["min_key"] < 0
        again = uneven - self.schema.even or hashed != self.schema.hashed
        if again:
            self.schema = replace(self.schema, even=self.schema.even | uneven, hashed=hashed)
        if self.schema.weight is not None:  # the last digits of a sum depend on the order of rows
            found["sum_w"] = float(f"{found['sum_w']:.12e}")
        self._surveyed = found | ({"max_key": 2**60} if hashed else {})
        return not again

    def _refuse(self) -> None:
        """Say what is wrong, in how many rows, and in which first."""
        found = checks(self.schema)
        select = self.base.select()
        columns = {f"n{at}": f"SUM(CASE WHEN {c.condition} THEN 0 ELSE 1 END)" for at, c in enumerate(found)}
        (counts,) = self.ask(select.aggregated(columns), select, "looking for bad rows")
        at = next(at for at in range(len(found)) if counts[f"n{at}"])
        check, select = found[at], self.base.select()
        names = {"id": "id"} if self.schema.lists is None else {"id": "query", "d": "document"}
        select.text = (
            f"SELECT {', '.join(names)}, {check.shown} AS shown FROM ({select.text}) t "
            f"WHERE CASE WHEN {check.condition} THEN 0 ELSE 1 END = 1 ORDER BY {', '.join(names)} LIMIT {SHOWN}"
        )
        rows = self.ask(select.text, select, "looking for bad rows")
        places = (", ".join(f"{word} {row[name]}" for name, word in names.items()) for row in rows)
        first = ", ".join(f"{row['shown']} ({place})" for row, place in zip(rows, places, strict=True))
        number = int(counts[f"n{at}"])
        wrong = f"{number:,} row{'s' * (number > 1)}"
        raise InputError(f"{check.name} must be {check.allowed}; in {wrong} it is not: {first}")

    def believed(
        self, requests: Iterable[tuple[Basis, Sequence[int]]], belief: Belief, chosen: Chosen
    ) -> dict[SumKey, Floats]:
        """Return believed totals for every (basis, models); the first time the rows are checked in the same pass."""
        wanted = [(basis, tuple(models)) for basis, models in requests]
        totals: dict[SumKey, Floats] = {}
        for group in _apart(wanted):
            totals |= self._believed(group, belief, chosen)
        return totals

    def _believed(
        self, wanted: list[tuple[Basis, tuple[int, ...]]], belief: Belief, chosen: Chosen
    ) -> dict[SumKey, Floats]:
        """Return the believed totals of some statistics by one query, or row by row where there is none."""
        first = self._surveyed is None
        try:
            coming, reach = self._coming, self._reach()
            gather = None if coming is None or reach is None else partial(self._near, coming, reach)
            text, select = believed(self.base, wanted, belief, None if first else chosen, first, gather)
        except NoForm:
            if first:
                _ = self.survey
            return self._believed_by_kernel(wanted, belief, chosen)
        rows = dict(self.engine.query(text, select.tables, "pass 1: believed sums"))
        lists = rows.pop("near", None)
        if first and not self._take_survey(_by_row(rows)):
            return self._believed(wanted, belief, chosen)
        if coming is not None and reach is not None and lists is not None:
            known = not first or self.schema.hashed or self.small
            found = columns_of(lists.tolist(), self.schema.columns)
            self._coming, self.gathered = None, Gathered(coming, reach, found) if known else None
        return found_totals(wanted, self.schema, rows, self.unit)

    def _reach(self) -> float | None:
        """Return how far from 1 the numbers of the rows may be that the next pass gathers; None for none."""
        if self._coming is None or (self.within is not None and self._surveyed is None):
            return None
        if self.schema.group is not None or self.schema.lists is not None or self.engine.gathering([], "") is None:
            return None
        return self._coming.reach(len(self), len(self.schema.columns))

    def _near(self, coming: Coming, reach: float, select: Select, columns: Sequence[str]) -> str:
        """Return the aggregate of the rows that a coming draw may take."""
        place = coming.seed, coming.stage
        digits = leading(select, *place, small=False) if self.small is False else leading_in_step(select, *place)
        return str(self.engine.gathering(columns, near(digits, reach)))

    @property
    def small(self) -> bool | None:
        """Whether all keys are below the primes of the hash; None while that is not known."""
        if self._surveyed is None:
            return False if self.schema.hashed else None
        return int(self._surveyed["max_key"]) < PRIMES[1]

    def _believed_by_kernel(
        self, wanted: list[tuple[Basis, tuple[int, ...]]], belief: Belief, chosen: Chosen
    ) -> dict[SumKey, Floats]:
        kernel = partial(self.reader.believed, wanted, belief, chosen)
        return self.summed(Chosen(chosen.asked), kernel, added, "pass 1: believed sums")

    def mapped(
        self, chosen: Chosen, kernel: Callable[[Rows], Result], step: str, join: Join[Result] | None = None
    ) -> Iterator[Result]:
        """Yield what a function makes of the chosen rows, some thousands at a time."""
        select = rows_of(self.base, chosen.asked)
        text = select.only(self.schema.read)
        whole = None if self.schema.group is None else "g"
        if self.schema.lists is not None:
            kernel, whole = partial(_of_queries, self.queries, kernel), "id"
        return self.engine.mapped(text, select.tables, kernel, step, join=join, whole=whole)

    def summed(self, chosen: Chosen, kernel: Callable[[Rows], Result], join: Join[Result], step: str) -> Result:
        """Return what a function makes of the chosen rows, joined."""
        nothing = kernel({name: np.empty(0) for name in self.schema.columns})
        return reduce(join, self.mapped(chosen, kernel, step, join), nothing)

    def masses(self, sizes: Mixed, asked: NDArray[Any] | None) -> dict[str, Any]:
        """Return what the parts of sizes sum up to over the rows not asked for, in units of weight."""
        try:
            text, select = masses(self.base, sizes, asked)
        except NoForm:
            kernel = partial(self.reader.masses, sizes)
            return self.summed(Chosen(asked), kernel, lambda *parts: merged(parts), "pass 2: sizes")
        (found,) = self.ask(text, select, "pass 2: sizes")
        counted = {name: int(value or 0) if name.startswith("n") else value for name, value in found.items()}
        return counted | {"n_units": counted["n_sized"]}

    def rows_with(self, ids: NDArray[Any]) -> Rows:
        """Return the rows with these ids, and those that share a label with one; these stand together."""
        found = self._rows_among("id", ids)
        if self.schema.group is None:
            return found
        rows = self._rows_among("g", np.unique(found["g"]))
        order = np.argsort(rows["g"], kind="stable")
        return {name: column[order] for name, column in rows.items()}

    def _rows_among(self, column: str, values: NDArray[Any]) -> Rows:
        """Return the rows whose column has one of these values."""
        _ = self.survey  # which may find ids to be hashed, and probabilities to be divided by their sum
        select = self.base.select()
        select.among(column, "wanted", values)
        found = self.engine.query(select.only(self.schema.read), select.tables, "looking up items")
        if self.schema.lists is None:
            return found
        order = np.argsort(found["id"], kind="stable")
        return self.queries.rows({name: column[order] for name, column in found.items()})

    @property
    def units(self) -> Mapping[str, Any]:
        """Number of units, and what they cost: all, the cheapest, the dearest."""
        if self.schema.group is None:
            return {"n": len(self)} | dict(self.survey if self.schema.cost is not None else {})
        if self._units is None:
            _ = self.survey
            select, costs = self.base.select(), {}
            inner = select.aggregated({"c": "MAX(c)"} if self.schema.cost is not None else {}, ["g"])
            if self.schema.cost is not None:
                costs = {"sum_c": "SUM(c)", "min_c": "MIN(c)", "max_c": "MAX(c)"}
            outer = Select(inner, select.tables)
            (self._units,) = self.ask(outer.aggregated({"n": "COUNT(*)"} | costs), outer, "counting units")
        return self._units

    def share_of(self, chosen: Chosen) -> float:
        """Return the base weight of some rows."""
        try:
            select, weight = weighed(self.base, chosen)
        except NoForm:
            kernel = partial(self.reader.share_of, chosen)
            return float(self.summed(Chosen(chosen.asked), kernel, add, "weighing rows"))
        (found,) = self.ask(select.aggregated({"mass": f"SUM({weight})"}), select, "weighing rows")
        return float(found["mass"] or 0.0) * self.unit


def _by_row(columns: Rows) -> list[dict[str, Any]]:
    """Return an answer row by row."""
    lists = [column.tolist() for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _of_queries(queries: Queries, kernel: Callable[[Rows], Result], documents: Rows) -> Result:
    return kernel(queries.rows(documents))


def _apart(wanted: list[tuple[Basis, tuple[int, ...]]]) -> list[list[tuple[Basis, tuple[int, ...]]]]:
    """Return the requests of one query each: those of a confusion matrix are grouped by predictions."""
    others = [request for request in wanted if not isinstance(request[0], Confusion)]
    found = [[request] for request in wanted if isinstance(request[0], Confusion)]
    return found + ([others] if others else [])
