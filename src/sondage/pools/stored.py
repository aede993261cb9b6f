"""A pool that stays where it is: each pass is a query, and only what is drawn comes into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, Doubts
from sondage.core.beliefs.columns import doubt_of
from sondage.core.checks import refusals_of
from sondage.core.comparisons import Influence
from sondage.core.designs import PASSIVE, Design, Equal, Term
from sondage.core.measures.bases import Basis
from sondage.core.measures.binned import Values
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Floats, Items
from sondage.core.samples import SumKey
from sondage.core.strata import Strata
from sondage.core.urns import Prices, Urn
from sondage.errors import InputError, warn
from sondage.pools.ahead import Coming
from sondage.pools.arrays import Pool
from sondage.pools.bins import StoredValues
from sondage.pools.engines import Engine, Result, Rows, column_of
from sondage.pools.fingerprints import digest_of, side_text
from sondage.pools.ids import require_found
from sondage.pools.queries import fields_by_query
from sondage.pools.results import Filled, Profile, RowChoice, Taken, Undrawn
from sondage.pools.scans import Scan
from sondage.pools.schema import Schema, Source
from sondage.pools.seen import Seen
from sondage.pools.slicing import slice_scans
from sondage.pools.sql.canonical import raw_rows
from sondage.pools.sql.passes import Chosen, Mixed, SizePart
from sondage.pools.stored_strata import stored_strata
from sondage.pools.table import is_int64
from sondage.pools.urns import StoredUrn

__all__ = ["StoredPool"]

BINS = 2048
"""Of a profile of sizes."""


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
        self.scan = Scan(engine, schema)
        self.task, self.models, self.judges = outline.task, outline.models, outline.judges
        self._outline = outline.items
        self._seen = Seen()
        self._fingerprint: str | None = None
        self._doubts: Doubts | None = None
        self.source, self.reading = None, {}
        self.listed, self.asked_by, self.groups, self.row_names = None, None, None, None
        self._judged: dict[Any, StoredPool] = {}

    def __getattr__(self, name: str) -> Any:
        if name in ("ids", "keys", "items", "fields", "_units"):
            what = name.removeprefix("_")
            raise InputError(f"this needs the pool's {what} in memory, and the pool is not: .load() it first")
        raise AttributeError(name)

    def __len__(self) -> int:
        return len(self.scan)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process read the files anew: connections and what was read so far stay here."""
        if self.source is None:
            of = "a relation, a table of Spark or part of a pool"
            raise InputError(f"another process has no file to read this pool from, which is {of}: .load() it")
        return _read_anew, (self.source, self.reading)

    def load(self) -> Pool:
        """Return the pool in memory."""
        from sondage.pools.columns import pool_from_columns

        names = {column.raw: column.name for column in self.scan.engine.columns}
        select = raw_rows()
        rows = self.scan.engine.query(select.text, select.tables, "reading the pool")
        features = [column.name for column in self.scan.schema.features]
        with refusals_of(self.scan.engine.name):
            pool = pool_from_columns(
                {names[name]: column for name, column in rows.items()},
                classes=self.reading.get("classes"),
                task=self.reading.get("task"),
                features=[name for name in features if not name.startswith("feature.")],
            )
        pool.source, pool.reading = self.source, self.reading | {"lazy": False}
        return pool

    @property
    def n_units(self) -> int:
        """Number of items that can be labelled: rows, or groups."""
        return len(self) if self.scan.schema.group is None else int(self.scan.units["n"])

    @property
    def grouped(self) -> bool:
        """Whether rows share labels."""
        return self.scan.schema.group is not None

    @property
    def outline(self) -> Items:
        """A few rows, which tell what the pool says of each."""
        return self._outline

    @property
    def all_rows(self) -> RowChoice:
        """The choice of all rows."""
        return Chosen()

    @property
    def equal_weights(self) -> bool:
        """Whether all rows have the same base weight."""
        if self.scan.schema.weight is None:
            return True
        survey = self.scan.survey
        return bool(survey["max_w"] - survey["min_w"] <= 1e-12 * survey["max_w"])

    @property
    def squared_weights(self) -> float:
        r"""The sum of squares of the base weights, :math:`\sum_i b_i^2`."""
        scan = self.scan
        return scan.unit if scan.schema.weight is None else float(scan.survey["sum_ww"]) * scan.unit**2

    @property
    def doubts(self) -> Doubts:
        """How far to doubt models and judges that call classes impossible."""
        if self._doubts is None:
            schema, found = self.scan.schema, Doubts()
            if schema.lists is None and self.scan.reaches_certainty:
                found = Doubts.of(map(self._doubt, schema.models), map(self._doubt, schema.judges))
            self._doubts = found
        return self._doubts

    def _doubt(self, source: Source) -> float:
        told = source.probabilities
        if told is None or told.named:
            return 0.0
        survey = self.scan.survey
        return doubt_of(*(float(survey[f"min_{name}_{told.stem}"]) for name in ("least", "positive", "smallest")))

    @property
    def prices(self) -> Prices | None:
        """What the labels cost: all, the cheapest, the dearest; None where every label costs 1."""
        if self.scan.schema.cost is None:
            return None
        return Prices(*(float(self.scan.units[f"{name}_c"]) for name in ("sum", "min", "max")))

    def expect(self, seed: int, stage: int, budget: float) -> None:
        """Hear which draw follows the next plan: where the engine can, the first pass looks for its rows."""
        self.scan.expect(Coming(seed, stage, budget))

    def believed(
        self, requests: Iterable[tuple[Basis, Sequence[int]]], belief: Belief, rows: RowChoice | None = None
    ) -> dict[SumKey, Floats]:
        """Return believed totals for every (basis, models); the first time the rows are checked in the same pass."""
        return self.scan.believed(requests, belief, rows or Chosen())

    def share_of(self, rows: RowChoice) -> float:
        """Return the base weight of some rows."""
        return self.scan.share_of(rows)

    def relevant(self, influences: Sequence[Influence], belief: Belief, rest: RowChoice | None = None) -> RowChoice:
        """Return the choice of rows, of the rest, of which an allowed label moves any of these influences."""
        return Chosen(None if rest is None else rest.asked, tuple(influences), belief)

    def without(self, units: NDArray[np.int64]) -> RowChoice:
        """Return the choice of all rows but those of these units."""
        return Chosen(asked=self._named(units))

    def _named(self, units: NDArray[np.int64]) -> NDArray[Any]:
        """Return what names these units in queries: their ids, or groups."""
        if not self.grouped:
            return self._seen.ids(units)
        self._look_up(units)
        return self._seen.groups(units)

    def filled(
        self, design: Design, relevant: RowChoice, rest: RowChoice | None = None, *, strict: bool = False
    ) -> Filled:
        """Return the urn of a design, and what it reaches: the second pass over the pool."""
        asked = None if rest is None else rest.asked
        terms = design.terms if design.floor < 1 else ()
        parts = [SizePart(1.0, term, strict) for _, term in terms]
        shares = [share * (1.0 - design.floor) for share, _ in terms]
        if design.floor:
            parts, shares = [*parts, SizePart(1.0, design.ground, True)], [*shares, design.floor]
        sizes = Mixed(tuple(parts), relevant.moving, relevant.belief)
        found = self.scan.masses(sizes, asked)
        if relevant.moving is not None and not found["n_relevant"] and strict:
            sizes = replace(sizes, parts=tuple(replace(part, restricted=part.term is design.ground) for part in parts))
            found = self.scan.masses(sizes, asked)
        immovable = relevant.moving is not None and not found["n_relevant"]
        if terms and not any(found[f"sum_{at}"] for at in range(len(terms))):
            warn(PASSIVE.format(design.name))
            some = relevant.moving is None or found["n_relevant"] > 0
            sizes, shares = replace(sizes, parts=(SizePart(1.0, design.ground, some),)), [1.0]
            found = self.scan.masses(sizes, asked)
        if not any(share and found[f"sum_{at}"] for at, share in enumerate(shares)):  # no label can move the result
            sizes, shares = replace(sizes, parts=(SizePart(1.0, Equal(), False),)), [1.0]
            found = self.scan.masses(sizes, asked)
        reached = self._reached(sizes, shares, found, asked)
        if design.evened is not None and not reached.covers:
            return self.filled(design.evened, relevant, rest, strict=strict)
        return replace(reached, immovable=immovable)

    def _reached(
        self, sizes: Mixed, shares: Sequence[float], found: Mapping[str, Any], asked: NDArray[Any] | None
    ) -> Filled:
        """Return the urn of parts in these shares of the whole, and what it reaches."""
        sums = [float(found[f"sum_{at}"] or 0.0) for at in range(len(shares))]
        # What the query sums up is in units of weight; core's sizes are in base weights.
        factors = [share / (mass * self.scan.unit) if mass else 0.0 for share, mass in zip(shares, sums, strict=True)]
        parts = tuple(replace(part, factor=f) for part, f in zip(sizes.parts, factors, strict=True) if f)
        urn = StoredUrn(self, replace(sizes, parts=parts), shares, found, asked)
        share = float(found["sum_w"] or 0.0) * self.scan.unit
        if found["n_sized"] == len(self):
            return Filled(urn, 1.0, True, None)
        left = found["n_sized"] < found["n"]
        return Filled(urn, share, not found["n_missed"], Chosen(asked, unsized=urn.sizes) if left else None)

    def taken(self, units: NDArray[np.int64]) -> Taken:
        """Return what the pool says of these units; those not seen before are looked up."""
        self._look_up(units)
        rows, reader = self._seen.rows(units, self.scan.schema.columns), self.scan.reader
        items, shared = reader.items(rows), reader.units(rows)
        costs = None if items.costs is None else shared.largest(items.costs)
        return Taken(rows["id"][shared.first].tolist(), items, shared.of_row, costs)

    def sharing(self, names: Sequence[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return group and id of each row that has its label in common with these items."""
        units = self._seen.know(names, self.scan.schema.hashed)
        self._look_up(units)
        rows = self._seen.rows(units, ("g", "id"))
        return rows["g"], rows["id"]

    def _look_up(self, units: NDArray[np.int64]) -> None:
        missing = self._seen.missing(units)
        if not len(missing):
            return
        self.see(self.scan.rows_with(self._seen.ids(missing)))

    def see(self, rows: Rows) -> None:
        """Remember rows, of which some are asked for again."""
        with refusals_of(self.scan.engine.name):
            self._seen.add(rows, self.scan.reader)

    @property
    def field_names(self) -> tuple[str, ...]:
        """Names of the fields that a labeller is shown."""
        return tuple(column.name for column in self.scan.schema.fields)

    def shown(self, units: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the fields of these units, for the labeller."""
        fields = self.scan.schema.fields
        if not fields or not len(units):
            return {}
        names, raw = self._seen.ids(units), self.scan.schema.id.raw
        select = raw_rows()
        select.among(raw, "wanted", names)
        lists = self.scan.schema.lists
        wanted = [raw, *(column.raw for column in fields), *([] if lists is None else [lists.document.raw])]
        rows = self.scan.engine.query(select.only(wanted), select.tables, "fetching fields")
        if lists is not None and len(self) < self.scan.survey["n_rows"]:
            table = rows[raw], rows[lists.document.raw]
            return {column.name: fields_by_query(*table, _shown(rows[column.raw]), names) for column in fields}
        place = {name: at for at, name in enumerate(rows[raw].tolist())}
        order = [place[name] for name in names.tolist()]
        return {column.name: _shown(rows[column.raw])[order] for column in fields}

    def units_of(self, names: list[Any], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the units of these ids."""
        return self._seen.know(names, self.scan.schema.hashed)

    def located(self, names: Sequence[Any]) -> NDArray[np.int64]:
        """Return the keys of the rows of these ids, or of their texts, as the pool in memory does their rows."""
        spelled = [_spelled(name, self.scan.schema.id.kind) for name in names]
        known = list(dict.fromkeys(name for name in spelled if name is not None))
        if not known:
            return require_found(names, spelled)
        rows = self.scan.rows_with(column_of(known))
        self.see(rows)
        there = set(rows["id"].tolist())
        units = dict(zip(there, self._seen.know(list(there), self.scan.schema.hashed).tolist(), strict=True))
        return require_found(names, [units.get(name) for name in spelled])

    def masses(self, terms: Sequence[Term], urn: Urn) -> list[float]:
        """Return the sum of each term over the rows that have a size."""
        assert isinstance(urn, StoredUrn)
        parts = tuple(SizePart(1.0, term, True) for term in terms)
        found = self.scan.masses(Mixed(parts, urn.sizes.moving, urn.sizes.belief), urn.asked)
        return [float(found[f"sum_{at}"] or 0.0) * self.scan.unit for at in range(len(terms))]

    def strata(self, influence: Influence, belief: Belief, most: int) -> Strata:
        """Return at most so many strata of equal numbers of units, by the believed mean influence."""
        return stored_strata(self.scan, self.see, influence=influence, belief=belief, most=most)

    def profile(self, urn: Urn, term: Term) -> Profile:
        """Return sizes in bins, each 1.8 % above the one before, with what is in each."""
        assert isinstance(urn, StoredUrn)
        edges = np.geomspace(1e-16, 1.0, BINS)
        kernel = partial(self.scan.reader.profile, urn.sizes, term, edges)
        counts, sizes, squares, costs = self.scan.summed(Chosen(urn.asked), kernel, np.add, "profile of sizes")
        there = counts > 0
        mean = sizes[there] / counts[there]
        each = None if self.scan.schema.cost is None else costs[there] / counts[there]
        return Profile(mean, np.sqrt(squares[there]), each, counts[there])

    def undrawn(
        self, urn: Urn, drawn: NDArray[np.int64], rest: RowChoice | None, kernel: Callable[[Undrawn], Result]
    ) -> Iterator[Result]:
        """Yield what a function makes of the units left, some thousands at a time."""
        assert isinstance(urn, StoredUrn)
        asked = [self._named(drawn), *([] if rest is None or rest.asked is None else [rest.asked])]
        left = Chosen(np.concatenate(asked))
        return self.scan.mapped(left, partial(self.scan.reader.undrawn, urn.sizes, kernel), "what is not drawn")

    def cut(self, slices: Any) -> dict[Any, tuple[float, Pool]]:
        """Return each slice's base weight and rows: slices by a field's name."""
        return {name: (mass, self._of(part)) for name, (mass, part) in slice_scans(self.scan, slices).items()}

    def _of(self, scan: Scan) -> StoredPool:
        """Return the pool of these rows."""
        part = object.__new__(StoredPool)  # a copy would be read anew, as a pickle is
        vars(part).update(vars(self))
        part.scan, part._seen = scan, Seen()
        part._fingerprint = part.source = part._doubts = None
        part._judged = {}
        return part

    def judged(self, models: Sequence[int], statistics: Sequence[ListLoss]) -> Pool:
        """Return the pool of rankings as a question sees it; the same one for the same question."""
        key = tuple(models), tuple(statistics)
        if key not in self._judged:
            found = self._of(self.scan.judged(models, statistics))
            found._seen = self._seen.names_only()
            self._judged[key] = found
        return self._judged[key]

    @property
    def values(self) -> Values:
        """What measures take from the pool before they are ready, such as bins."""
        return StoredValues(self.scan)

    def by_id(self, column: NDArray[Any]) -> Callable[[Sequence[Any]], NDArray[Any]]:
        """Refuse labels by row: rows of files have no order."""
        raise InputError("rows that are not in memory have no order: give labels as a mapping or a function of ids")

    @property
    def fingerprint(self) -> str:
        """A hash of all columns but those shown to the labeller, without weights the same as of the pool in memory.

        With weights it differs: an engine's sum of them is rounded to twelve digits.
        """
        if self._fingerprint is None:
            digest = self.scan.summed(Chosen(), self.scan.reader.hashes, np.add, "fingerprint")
            side = side_text(self.judges, self.outline)
            self._fingerprint = digest_of(len(self), (self.task, self.models), digest, side)
        return self._fingerprint


def _read_anew(source: str, reading: Mapping[str, Any]) -> Pool:
    from sondage.pools.files import read_pool

    return read_pool(source, **reading)


def _spelled(name: Any, kind: str) -> Any:
    """Return an id as a column of this kind has it; None where it can have none such."""
    if kind == "text":
        return str(name)
    if isinstance(name, str):
        return int(name) if is_int64(name) else None
    return name


def _shown(column: NDArray[Any]) -> NDArray[Any]:
    values = np.empty(len(column), dtype=object)
    values[:] = column.tolist()
    return values
