"""The tables of a study within one transaction: what was decided, asked, told, and what happened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, inspect, select, update

from sondage.errors import ConflictError, StudyError
from sondage.studies import tables
from sondage.studies.assignments import Assignments, statements_of
from sondage.studies.records import dump
from sondage.studies.times import now
from sondage.version import __version__

__all__ = ["Ledger"]

Row = Mapping[str, Any]


class Ledger:
    """The rows of a study within one transaction."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self._name = connection, name
        self.assignments = Assignments(connection)

    def require_empty(self) -> None:
        """Raise `StudyError` unless the database has no tables."""
        found = inspect(self._connection).get_table_names()
        if "study" in found:
            raise StudyError(f"{self._name} holds a study already: open it, or choose another name")
        if found and self._connection.dialect.name == "sqlite":
            raise StudyError(f"{self._name} holds other tables ({found[0]}): choose another name")

    def require_study(self) -> int:
        """Return the number of the study's schema.

        Raises
        ------
        StudyError
            If there is no study, or it was written by a newer release.
        ValueError
            If it is damaged.
        """
        if not inspect(self._connection).has_table("study"):
            raise StudyError(f"{self._name} holds no study")
        columns = select(tables.study.c.schema, tables.study.c.version)
        schema, version = self._connection.execute(columns).one()
        if not isinstance(schema, int) or schema < 1:
            raise ValueError(f"no release has the schema {schema}")
        if schema > tables.SCHEMA:
            raise StudyError(
                f"{self._name} was written by sondage {version} with schema {schema}; "
                f"this release reads up to {tables.SCHEMA}: upgrade sondage"
            )
        return int(schema)

    def upgrade(self) -> None:
        """Bring a study of an earlier release up to this one, unless another process has just done so."""
        from sondage.studies.migrations import upgrade  # here, for most studies need none

        if self._connection.dialect.name == "postgresql":  # before any table is touched, for they will be changed
            self._connection.execute(select(func.pg_advisory_xact_lock(func.hashtext("sondage upgrade"))))
        before = self.require_study()
        if before == tables.SCHEMA:
            return
        upgrade(self._connection)
        self._connection.execute(update(tables.study).values(version=__version__))
        details = {"from": before, "to": tables.SCHEMA, "version": __version__}
        self.add_events([{"at": now(), "kind": "upgraded", "details": details}])

    def make_tables(self) -> None:
        """Make all tables, in this transaction."""
        self.require_empty()
        tables.metadata.create_all(self._connection, checkfirst=False)
        self._add(tables.alembic_version, [{"version_num": f"{tables.SCHEMA:04}"}])

    def study(self, *, lock: bool = False) -> Row:
        """Return the study's one row; with `lock`, other databases than SQLite let nobody else write before the end."""
        query = select(tables.study)
        return dict(self._connection.execute(query.with_for_update() if lock else query).mappings().one())

    def stages(self) -> Sequence[Row]:
        """Return the stages, first to last."""
        return self._all(select(tables.stages).order_by(tables.stages.c.number))

    def draws(self) -> Sequence[Row]:
        """Return the drawn items, in the order of asking."""
        return self._all(select(tables.draws).order_by(tables.draws.c.position))

    def rows(self) -> Sequence[Row]:
        """Return the drawn rows of the pool, in their order."""
        return self._all(select(tables.rows).order_by(tables.rows.c.number))

    def asked(self, after: int = 0) -> Sequence[Row]:
        """Return what was asked for since that number, in order."""
        return self._all(select(tables.asks).where(tables.asks.c.number > after).order_by(tables.asks.c.number))

    def labels(self, after: int = 0) -> Sequence[Row]:
        """Return all labels ever told since that number, first to last."""
        return self._all(select(tables.labels).where(tables.labels.c.number > after).order_by(tables.labels.c.number))

    def events(self) -> Sequence[Row]:
        """Return everything that happened, first to last, with the labels that it wrote."""
        told = select(tables.events, tables.labels.c.label.label("value"), tables.labels.c.reason)
        return self._all(told.outerjoin(tables.labels).order_by(tables.events.c.number))

    def _all(self, query: Any) -> Sequence[Row]:
        return [dict(row) for row in self._connection.execute(query).mappings()]

    def add_study(self, row: Row) -> None:
        """Write the study's one row."""
        self._add(tables.study, [row])

    def raise_budget(self, budget: float) -> None:
        """Write a new budget."""
        self._connection.execute(update(tables.study).values(budget=budget))

    def move_pool(self, source: str, reading: str) -> None:
        """Write where the pool is now, and the options to read it with."""
        self._connection.execute(update(tables.study).values(source=source, reading=reading))

    def count_revision(self) -> None:
        """Tell other processes that there are new draws to be read."""
        self._connection.execute(update(tables.study).values(revision=tables.study.c.revision + 1))

    def end_stage(self, stage: Row, positions: int) -> None:
        """Write a stage anew and drop the drawn items after so many in all, which were in reserve."""
        number = stage["number"]
        self._connection.execute(update(tables.stages).where(tables.stages.c.number == number).values(**stage))
        reserve = select(tables.draws.c.id).where(tables.draws.c.position >= positions)
        self._connection.execute(delete(tables.rows).where(tables.rows.c.id.in_(reserve)))
        self._connection.execute(delete(tables.draws).where(tables.draws.c.position >= positions))

    def drop_stages(self) -> None:
        """Take all stages away, to write a longer one in their place."""
        for table in (tables.rows, tables.draws, tables.stages):
            self._connection.execute(delete(table))

    def add_stage(self, stage: Row, draws: Sequence[Row], rows: Sequence[Row]) -> None:
        """Append a stage with its drawn items."""
        self._add(tables.stages, [stage])
        self._add(tables.draws, draws)
        self._add(tables.rows, rows)

    def add_asked(self, ids: Sequence[str], at: str) -> None:
        """Append what was asked for, with an assignment for each label that it is to get."""
        self._add(tables.asks, [{"id": name, "at": at} for name in ids])
        raters: dict[str, int] = {}
        for names in statements_of(ids):
            query = select(tables.draws.c.id, tables.draws.c.raters).where(tables.draws.c.id.in_(names))
            raters |= {row.id: row.raters for row in self._connection.execute(query)}
        self.assignments.add(name for name in ids for _ in range(raters[name]))

    def add_labels(self, labels: Sequence[Row]) -> list[int]:
        """Append labels and return their numbers."""
        if not labels:
            return []
        query = insert(tables.labels).returning(tables.labels.c.number, sort_by_parameter_order=True)
        return list(self._connection.execute(query, [dict(row) for row in labels]).scalars())

    def add_told(self, labels: Mapping[str, str], at: str) -> None:
        """Append items that come with their labels, which nobody here gave: asked for and labelled at once."""
        self.add_asked(list(labels), at)
        rows = [{"id": name, "label": label, "at": at, "kind": "label"} for name, label in labels.items()]
        numbers = self.add_labels(rows)
        open_ones = self.assignments.of(list(labels))
        self.assignments.finish([{"number": open_ones[name][0]["number"], "id": name, "who": None} for name in labels])
        self.add_events([{"at": at, "kind": "asked", "id": name} for name in labels])
        told = [
            {"at": at, "kind": "skipped" if row["label"] == "null" else "labelled", "id": row["id"]} for row in rows
        ]
        self.add_events([row | {"label": number} for row, number in zip(told, numbers, strict=True)])

    def add_events(self, events: Sequence[Row]) -> None:
        """Append what happened."""
        empty = {"who": None, "id": None, "label": None}
        self._add(tables.events, [empty | dict(row) | {"details": dump(row.get("details", {}))} for row in events])

    def answer(self, request: str, digest: str) -> Any:
        """Return what the same request was answered before, as a list of one; an empty one if it is new.

        Raises
        ------
        ConflictError
            If it was about something else.
        """
        found = self._all(select(tables.requests).where(tables.requests.c.request == request))
        if found and found[0]["digest"] != digest:
            raise ConflictError(f"request {request!r} wrote something else before: a new write needs a new request id")
        return [json.loads(row["answer"]) for row in found]

    def add_answer(self, request: str, digest: str, answer: Any, at: str) -> None:
        """Write what a request was answered."""
        self._add(tables.requests, [{"request": request, "digest": digest, "answer": dump(answer), "at": at}])

    def _add(self, table: Table, content: Sequence[Row]) -> None:
        if content:
            self._connection.execute(insert(table), [dict(row) for row in content])
