"""A pool that stays where it is: each pass is a query, and only what is drawn comes into memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Influence
from sondage.core.designs import Design, Term
from sondage.core.measures import Measure
from sondage.core.measures.bases import Basis, Confusion
from sondage.core.measures.functionals import OfPool
from sondage.core.predictions import Floats, Items
from sondage.core.samples import SumKey
from sondage.core.urns import Prices, Urn
from sondage.errors import InputError, SondageWarning
from sondage.pools.arrays import Pool, Result
from sondage.pools.engines import Engine, Rows
from sondage.pools.fingerprints import digest_of, side_of
from sondage.pools.kernels import Reader, joined
from sondage.pools.parts import Filled, Profile, Taken, Undrawn
from sondage.pools.schema import Column, Schema
from sondage.pools.slicing import check_slices, ordered_names
from sondage.pools.sql.canonical import checks
from sondage.pools.sql.passes import Base, Chosen, Mixed, Part, believed, found_totals, masses, rows_of, survey, weighed
from sondage.pools.sql.text import NoForm, Select
from sondage.pools.urns import StoredUrn

__all__ = ["StoredPool"]

SHOWN = 3
ROUNDING = 1e-6
BINS = 2048


class StoredPool(Pool):
    """Unlabelled items in files, a database or a cluster; made by `sondage.read_pool`.

    It does all that a pool in memory does, and draws the same items; what it never does is hold all rows.

    Parameters
    ----------
    engine : Engine
        Where the table is, and who reads it.
    schema : Schema
        What its columns mean.
    outline : Pool
        A small pool of the same make.
    """

    def __init__(self, engine: Engine, schema: Schema, outline: Pool) -> None:
        self.engine, self.schema = engine, schema
        self.task, self.models, self.judges = outline.task, outline.models, outline.judges
        self._outline = outline.items
        self._within: tuple[str, Any] | None = None
        self._surveyed: dict[str, Any] | None = None
        self._count: int | None = None
        self._seen = Seen()
        self._fingerprint: str | None = None
        self.source, self.reading = None, {}
        self._units = None

    def __getattr__(self, name: str) -> Any:
        if name in ("ids", "keys", "items", "fields"):
            raise InputError(f"this needs the pool's {name} in memory, and the pool is not: .load() it first")
        raise AttributeError(name)

    def __len__(self) -> int:
        if self._surveyed is not None:
            return int(self._surveyed["n"])
        if self._count is None:  # which files know without being read
            select = self.base.select() if self._within else Select("SELECT * FROM {source}")
            ((found,),) = (row.values() for row in self._ask(select.aggregated({"n": "COUNT(*)"}), select, "counting"))
            self._count = int(found)
        return self._count

    def load(self) -> Pool:
        """Return the pool in memory."""
        from sondage.pools.columns import pool_from_columns

        names = {column.raw: column.name for column in self.engine.columns}
        select = Select("SELECT * FROM {source}")
        rows = self.engine.query(select.text, select.tables, "reading the pool")
        features = [column.name for column in self.schema.features]
        pool = pool_from_columns(
            {names[name]: column for name, column in rows.items()},
            classes=self.reading.get("classes"),
            task=self.reading.get("task"),
            features=[name for name in features if not name.startswith("feature.")],
        )
        pool.source, pool.reading = self.source, dict(self.reading)
        return pool

    @property
    def survey(self) -> Mapping[str, Any]:
        """Number of rows, weights, costs: what the first pass finds. The pass is made now if there was none.

        Raises
        ------
        InputError
            If rows are not as they must be: how many, and the first ids.
        """
        if self._surveyed is None:
            select = self.base.select()
            self._take_survey(self._ask(select.aggregated(survey(self.schema)), select, "checking the pool"))
        assert self._surveyed is not None
        return self._surveyed

    @property
    def base(self) -> Base:
        """What every query starts from."""
        return Base(self.schema, self.engine.text_key, self._within)

    @property
    def base_weight(self) -> float:
        """Base weight of a row, or of a unit of weight."""
        return 1.0 / float(self.survey["n" if self.schema.weight is None else "sum_w"])

    @property
    def reader(self) -> Reader:
        """What turns rows of answers into rows as core reads them."""
        return Reader(self.schema, self.base_weight)

    def _ask(self, text: str, select: Select, step: str) -> list[dict[str, Any]]:
        """Return the rows of an answer, as they are named; missing values are None."""
        columns = self.engine.query(text, select.tables, step)
        lists = [column.tolist() for column in columns.values()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]

    def _take_survey(self, groups: Sequence[Mapping[str, Any]]) -> bool:
        """Take what a first pass found; return whether it holds, or has to be made again with what is known now."""
        names = survey(self.schema)
        found = joined([{name: group[name] for name in names} for group in groups])
        if not found or not found["n"]:
            raise InputError("the pool is empty: it has no rows")
        if found["unsound"]:
            self._refuse(int(found["unsound"]))
        uneven = {name.removeprefix("max_off_") for name, off in found.items() if "off" in name and off > ROUNDING}
        hashed = self.schema.hashed or found["min_key"] < 0
        again = uneven - self.schema.even or hashed != self.schema.hashed
        if again:
            self.schema = replace(self.schema, even=self.schema.even | uneven, hashed=hashed)
        if self.schema.weight is not None:  # the last digits of a sum depend on the order of rows
            found["sum_w"] = float(f"{found['sum_w']:.12e}")
        self._surveyed = found | ({"max_key": 2**60} if hashed else {})
        return not again

    def _refuse(self, count: int) -> None:
        """Say what is wrong, in how many rows, and in which first."""
        found = checks(self.schema)
        select = self.base.select()
        columns = {f"n{at}": f"SUM(CASE WHEN {c.condition} THEN 0 ELSE 1 END)" for at, c in enumerate(found)}
        (counts,) = self._ask(select.aggregated(columns), select, "looking for bad rows")
        at = next(at for at in range(len(found)) if counts[f"n{at}"])
        check, select = found[at], self.base.select()
        select.text = (
            f"SELECT id, {check.shown} AS shown FROM ({select.text}) t "
            f"WHERE CASE WHEN {check.condition} THEN 0 ELSE 1 END = 1 ORDER BY id LIMIT {SHOWN}"
        )
        rows = self._ask(select.text, select, "looking for bad rows")
        first = ", ".join(f"{row['shown']} (id {row['id']})" for row in rows)
        number = int(counts[f"n{at}"])
        wrong = f"{number:,} row{'s' * (number > 1)}"
        raise InputError(f"{check.name} must be {check.allowed}; in {wrong} it is not: {first}")

    @property
    def n_units(self) -> int:
        """Number of items."""
        return len(self)

    @property
    def outline(self) -> Items:
        """A few rows, which tell what the pool says of each."""
        return self._outline

    @property
    def all_rows(self) -> Any:
        """The choice of all rows."""
        return Chosen()

    @property
    def equal_weights(self) -> bool:
        """Whether all rows have the same base weight."""
        if self.schema.weight is None:
            return True
        return bool(self.survey["max_w"] - self.survey["min_w"] <= 1e-12 * self.survey["max_w"])

    @property
    def squared_weights(self) -> float:
        r"""The sum of squares of the base weights, :math:`\sum_i b_i^2`."""
        return self.base_weight if self.schema.weight is None else float(self.survey["sum_ww"]) * self.base_weight**2

    @property
    def prices(self) -> Prices | None:
        """What the labels cost: all, the cheapest, the dearest; None where every label costs 1."""
        if self.schema.cost is None:
            return None
        return Prices(*(float(self.survey[f"{name}_c"]) for name in ("sum", "min", "max")))

    def believed(
        self, requests: Iterable[tuple[Basis, Sequence[int]]], belief: Belief, rows: Any = None
    ) -> dict[SumKey, Floats]:
        """Return believed totals for every (basis, models); the first time the rows are checked in the same pass."""
        wanted, chosen = [(basis, tuple(models)) for basis, models in requests], rows or Chosen()
        totals: dict[SumKey, Floats] = {}
        for group in _apart(wanted):
            totals |= self._believed(group, belief, chosen)
        return totals

    def _believed(
        self, wanted: list[tuple[Basis, tuple[int, ...]]], belief: Belief, chosen: Chosen
    ) -> dict[SumKey, Floats]:
        first = self._surveyed is None
        try:
            text, select = believed(self.base, wanted, belief, None if first else chosen, first)
        except NoForm:
            if first:
                _ = self.survey
            return self._believed_by_kernel(wanted, belief, chosen)
        rows = self.engine.query(text, select.tables, "pass 1: believed sums")
        if first:
            listed = {name: column.tolist() for name, column in rows.items()}
            held = self._take_survey(
                [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]
            )
            if not held:
                return self._believed(wanted, belief, chosen)
        return found_totals(wanted, self.schema, rows, self.base_weight)

    def _believed_by_kernel(
        self, wanted: list[tuple[Basis, tuple[int, ...]]], belief: Belief, chosen: Chosen
    ) -> dict[SumKey, Floats]:
        kernel = partial(self.reader.believed, wanted, belief, chosen)
        totals: dict[SumKey, Floats] = {}
        for part in self.mapped(Chosen(chosen.asked), kernel, "pass 1: believed sums"):
            for key, total in part.items():
                totals[key] = totals[key] + total if key in totals else total
        return totals

    def mapped(self, chosen: Chosen, kernel: Callable[[Rows], Result], step: str) -> Iterator[Result]:
        """Yield what a function makes of the chosen rows, some thousands at a time."""
        select = rows_of(self.base, chosen.asked)
        select.text = f"SELECT {', '.join(self.schema.columns)} FROM ({select.text}) t"
        return self.engine.mapped(select.text, select.tables, kernel, step)

    def relevant(self, influences: Sequence[Influence], belief: Belief) -> Any:
        """Return the choice of rows of which an allowed label moves any of these influences."""
        return Chosen(moving=tuple(influences), belief=belief)

    def without(self, units: NDArray[np.int64]) -> Any:
        """Return the choice of all rows but those of these units."""
        return Chosen(asked=self._seen.ids(units))

    def filled(self, design: Design, relevant: Any, rest: Any = None, *, strict: bool = False) -> Filled:
        """Return the urn of a design, and what it reaches: the second pass over the pool."""
        asked = None if rest is None else rest.asked
        parts = [Part(1.0, term, strict) for _, term in design.terms]
        shares = [share * (1.0 - design.floor) for share, _ in design.terms]
        if design.floor:
            parts, shares = [*parts, Part(1.0, design.ground, True)], [*shares, design.floor]
        sizes = Mixed(tuple(parts), relevant.moving, relevant.belief)
        found = self._masses(sizes, asked)
        if relevant.moving is not None and not found["n_relevant"] and strict:
            sizes = replace(sizes, parts=tuple(replace(part, restricted=part.term is design.ground) for part in parts))
            found = self._masses(sizes, asked)
        count = len(design.terms)
        if design.floor < 1 and not any(found[f"sum_{at}"] for at in range(count)):
            message = f"design {design.name!r}: by the belief nothing is uncertain; the draw is passive"
            warnings.warn(message, SondageWarning, stacklevel=2)
            some = relevant.moving is None or found["n_relevant"] > 0
            sizes, shares = replace(sizes, parts=(Part(1.0, design.ground, some),)), [1.0]
            found = self._masses(sizes, asked)
        return self._reached(sizes, shares, found, asked)

    def _reached(
        self, sizes: Mixed, shares: Sequence[float], found: Mapping[str, Any], asked: NDArray[Any] | None
    ) -> Filled:
        """Return the urn of parts in these shares of the whole, and what it reaches."""
        sums = [float(found[f"sum_{at}"] or 0.0) for at in range(len(shares))]
        # What the query sums up is in units of weight; core's sizes are in base weights.
        factors = [share / (mass * self.base_weight) if mass else 0.0 for share, mass in zip(shares, sums, strict=True)]
        parts = tuple(replace(part, factor=f) for part, f in zip(sizes.parts, factors, strict=True) if f)
        urn = StoredUrn(self, replace(sizes, parts=parts), shares, found, asked)
        share = float(found["sum_w"] or 0.0) * self.base_weight
        if found["n_sized"] == len(self):
            return Filled(urn, 1.0, True, None)
        left = found["n_sized"] < found["n"]
        return Filled(urn, share, not found["n_missed"], Chosen(asked, unsized=urn.sizes) if left else None)

    def _masses(self, sizes: Mixed, asked: NDArray[Any] | None) -> dict[str, Any]:
        try:
            text, select = masses(self.base, sizes, asked)
        except NoForm:
            kernel = partial(self.reader.masses, sizes)
            return joined(list(self.mapped(Chosen(asked), kernel, "pass 2: sizes")))
        (found,) = self._ask(text, select, "pass 2: sizes")
        return {name: int(value or 0) if name.startswith("n") else value for name, value in found.items()}

    def taken(self, units: NDArray[np.int64]) -> Taken:
        """Return what the pool says of these units; those not seen before are looked up."""
        self._look_up(units)
        rows = self._seen.rows(units, self.schema.columns)
        items = self.reader.items(rows)
        costs = None if items.costs is None else np.asarray(items.costs, dtype=np.float64)
        return Taken(rows["id"].tolist(), items, None, costs)

    def _look_up(self, units: NDArray[np.int64]) -> None:
        missing = self._seen.missing(units)
        if not len(missing):
            return
        select = self.base.select()
        select.among("id", "wanted", self._seen.ids(missing))
        select.text = f"SELECT {', '.join(self.schema.columns)} FROM ({select.text}) t"
        self.see(self.engine.query(select.text, select.tables, "looking up items"))

    def see(self, rows: Rows) -> None:
        """Remember rows, of which some are asked for again."""
        self._seen.add(rows, self.reader)

    def shown(self, units: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the fields of these units, for the labeller."""
        fields = self.schema.fields
        if not fields or not len(units):
            return {}
        names, raw = self._seen.ids(units), self.schema.id.raw
        select = Select("SELECT * FROM {source}")
        select.among(raw, "wanted", names)
        wanted = ", ".join([raw, *(column.raw for column in fields)])
        rows = self.engine.query(f"SELECT {wanted} FROM ({select.text}) t", select.tables, "fetching fields")
        place = {name: at for at, name in enumerate(rows[raw].tolist())}
        order = [place[name] for name in names.tolist()]
        return {column.name: _shown(rows[column.raw])[order] for column in fields}

    def units_of(self, names: list[Any], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the units of these ids."""
        return self._seen.know(names, self.schema.hashed)

    def share_of(self, rows: Any) -> float:
        """Return the base weight of some rows."""
        select, weight = weighed(self.base, rows)
        (found,) = self._ask(select.aggregated({"mass": f"SUM({weight})"}), select, "weighing rows")
        return float(found["mass"] or 0.0) * self.base_weight

    def masses(self, terms: Sequence[Term], urn: Urn) -> list[float]:
        """Return the sum of each term over the rows that have a size."""
        assert isinstance(urn, StoredUrn)
        parts = tuple(Part(1.0, term, True) for term in terms)
        found = self._masses(Mixed(parts, urn.sizes.moving, urn.sizes.belief), urn.asked)
        return [float(found[f"sum_{at}"] or 0.0) * self.base_weight for at in range(len(terms))]

    def profile(self, urn: Urn, term: Term) -> Profile:
        """Return sizes in bins a hundredth apart, with what is in each."""
        assert isinstance(urn, StoredUrn)
        edges = np.geomspace(1e-16, 1.0, BINS)
        kernel = partial(self.reader.profile, urn.sizes, term, edges)
        counts, sizes, squares, costs = np.sum(list(self.mapped(Chosen(urn.asked), kernel, "profile of sizes")), axis=0)
        there = counts > 0
        mean = sizes[there] / counts[there]
        each = None if self.schema.cost is None else costs[there] / counts[there]
        return Profile(mean, np.sqrt(squares[there]), each, counts[there])

    def undrawn(
        self, urn: Urn, drawn: NDArray[np.int64], rest: Any, kernel: Callable[[Undrawn], Result]
    ) -> Iterator[Result]:
        """Yield what a function makes of the units left, some thousands at a time."""
        assert isinstance(urn, StoredUrn)
        asked = [self._seen.ids(drawn), *([] if rest is None or rest.asked is None else [rest.asked])]
        left = Chosen(np.concatenate(asked))
        return self.mapped(left, partial(self.reader.undrawn, urn.sizes, kernel), "what is not drawn")

    def cut(self, slices: Any) -> dict[Any, tuple[float, Pool]]:
        """Return each slice's base weight and rows: slices by a field's name."""
        column = next((one for one in self.schema.fields if one.name == slices), None)
        if not isinstance(slices, str) or column is None:
            names = [one.name for one in self.schema.fields]
            raise InputError(f"slices={slices!r} must be a field of a pool that is not in memory; it has {names}")
        weight = "1e0" if self.schema.weight is None else f"CAST({self.schema.weight.raw} AS DOUBLE)"
        select = Select("SELECT * FROM {source}")
        text = select.aggregated({"mass": f"SUM({weight})"}, [column.raw])
        masses = {row[column.raw]: float(row["mass"]) for row in self._ask(text, select, "slices")}
        check_slices(masses)
        return {name: (masses[name], self._within_slice(column, name)) for name in ordered_names(masses)}

    def _within_slice(self, column: Column, name: Any) -> StoredPool:
        part = copy(self)
        part._within = (column.raw, name)
        part._surveyed = part._count = part._fingerprint = part.source = None
        part._seen = Seen()
        return part

    def settled(self, measure: Measure, models: tuple[int, ...]) -> Measure:
        """Return the measure; one that takes bins from the pool's scores needs them in memory."""
        if isinstance(measure, OfPool):
            raise InputError(f"measure {measure.name!r} sorts the pool's scores, which are not in memory: .load() it")
        return measure

    def by_id(self, column: NDArray[Any]) -> Callable[[Sequence[Any]], NDArray[Any]]:
        """Refuse labels by row: rows of files have no order."""
        raise InputError("rows that are not in memory have no order: give labels as a mapping or a function of ids")

    @property
    def fingerprint(self) -> str:
        """A hash of all columns but those shown to the labeller, the same as of the pool in memory."""
        if self._fingerprint is None:
            digest = np.zeros(4, dtype=np.uint64)
            for part in self.mapped(Chosen(), self.reader.hashes, "fingerprint"):
                digest += part
            side = side_of(self.judges, self.outline)
            self._fingerprint = digest_of(len(self), (self.task, self.models), digest, side)
        return self._fingerprint


def _apart(wanted: list[tuple[Basis, tuple[int, ...]]]) -> list[list[tuple[Basis, tuple[int, ...]]]]:
    """Return the requests of one query each: those of a confusion matrix are grouped by predictions."""
    others = [request for request in wanted if not isinstance(request[0], Confusion)]
    found = [[request] for request in wanted if isinstance(request[0], Confusion)]
    return found + ([others] if others else [])


def _shown(column: NDArray[Any]) -> NDArray[Any]:
    values = np.empty(len(column), dtype=object)
    values[:] = column.tolist()
    return values


class Seen:
    """Rows that were looked at, by their hash keys; what is drawn is asked for again and again."""

    def __init__(self) -> None:
        self._at: dict[int, tuple[Rows, int]] = {}
        self._ids: dict[int, Any] = {}

    def add(self, rows: Rows, reader: Reader) -> None:
        """Take rows."""
        for at, (key, name) in enumerate(zip(reader.keys(rows).tolist(), rows["id"].tolist(), strict=True)):
            self._at[key], self._ids[key] = (rows, at), name

    def know(self, names: Sequence[Any], hashed: bool) -> NDArray[np.int64]:
        """Take ids without their rows; return their keys."""
        from sondage.core.hashing import hash_ids

        keys = hash_ids(np.array(names, dtype=object if hashed else np.int64))
        self._ids |= dict(zip(keys.tolist(), names, strict=True))
        return keys

    def missing(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the keys whose rows were not looked at."""
        return np.array([key for key in keys.tolist() if key not in self._at], dtype=np.int64)

    def ids(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        """Return the ids of keys."""
        return np.array([self._ids[key] for key in keys.tolist()])

    def rows(self, keys: NDArray[np.int64], names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return the rows of keys, in their order."""
        found = [self._at[key] for key in keys.tolist()]
        return {name: np.array([rows[name][at] for rows, at in found]) for name in names}
