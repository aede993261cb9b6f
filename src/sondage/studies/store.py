"""All SQL of a study: a SQLite file, or any other database that SQLAlchemy knows by its URL.

Every write is one transaction that takes the lock first (BEGIN IMMEDIATE), so that processes queue instead of
failing, and is on the disk when it returns (synchronous=FULL). Connections live as long as a transaction.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Table,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from sondage.errors import StudyError
from sondage.studies import tables

__all__ = ["Records", "Store"]

WAIT = 60_000  # milliseconds for another process to finish

Row = Mapping[str, Any]


class Store:
    """A database that holds one study.

    Parameters
    ----------
    place : str or Path
        Path of a SQLite file, or a database URL such as ``postgresql+psycopg://host/name``.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = os.fspath(place)
        self.is_file = "://" not in self.place
        self._engine = _file_engine(Path(self.place)) if self.is_file else _url_engine(self.place)
        self.name = self.place if self.is_file else self._engine.url.render_as_string(hide_password=True)

    def create(self) -> None:
        """Make sure that a new study can begin here; the tables are made in its first transaction.

        Raises
        ------
        StudyError
            If there is something already, or the folder does not exist.
        """
        if self.is_file and not Path(self.place).absolute().parent.is_dir():
            raise StudyError(f"{self.place}: the folder {Path(self.place).absolute().parent} does not exist")
        if self.is_file and not Path(self.place).exists():
            return
        with self.reading() as records:
            records.require_empty()

    def begin(self) -> None:
        """Switch a new SQLite file to its write-ahead log, which cannot be done inside a transaction."""
        if self.is_file:
            with self._told(), closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA journal_mode=WAL")

    def exists(self) -> None:
        """Make sure that there is a study of this release.

        Raises
        ------
        StudyError
            If there is none, or it was written by a newer release.
        """
        if self.is_file and not Path(self.place).is_file():
            raise StudyError(f"there is no study {self.place}")
        with self.reading() as records:
            records.require_study()

    @contextmanager
    def writing(self) -> Iterator[Records]:
        """Open a transaction that writes: all of it or, on any error, nothing."""
        with self._told(), self._engine.connect() as connection:
            connection = connection.execution_options(sondage_writes=True)
            with connection.begin():
                yield Records(connection, self.name)

    @contextmanager
    def reading(self) -> Iterator[Records]:
        """Open a transaction that reads one state of the study."""
        with self._told(), self._engine.connect() as connection:
            if not self.is_file:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield Records(connection, self.name)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn a database's errors into one line."""
        try:
            yield
        except (DatabaseError, SQLAlchemyError) as error:
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            known = {
                "file is not a database": "it is not a study file",
                "unable to open database file": "it cannot be opened; file and folder must be readable and writable",
                "database is locked": "another program holds it; nothing was written",
                "attempt to write a readonly database": "it cannot be written: file or folder is read-only",
                "database or disk is full": "the disk is full; nothing was written",
            }
            raise StudyError(f"{self.name}: {known.get(reason, reason)}") from error

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()


def _file_engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        for pragma in (f"busy_timeout={WAIT}", "foreign_keys=ON", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("sondage_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _url_engine(url: str) -> Engine:
    try:
        driven = url.replace("postgresql://", "postgresql+psycopg://", 1)  # the one driver that is offered
        return create_engine(driven, poolclass=NullPool)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise StudyError(f"database {url.partition('://')[0]}://...: {error}") from None


class Records:
    """The rows of a study within one transaction."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self._name = connection, name

    def require_empty(self) -> None:
        """Raise `StudyError` unless the database has no tables."""
        found = inspect(self._connection).get_table_names()
        if "study" in found:
            raise StudyError(f"{self._name} holds a study already: open it, or choose another name")
        if found and self._connection.dialect.name == "sqlite":
            raise StudyError(f"{self._name} holds other tables ({found[0]}): choose another name")

    def require_study(self) -> None:
        """Raise `StudyError` unless there is a study with a schema of this release."""
        if not inspect(self._connection).has_table("study"):
            raise StudyError(f"{self._name} holds no study")
        columns = select(tables.study.c.schema, tables.study.c.version)
        schema, version = self._connection.execute(columns).one()
        if schema > tables.SCHEMA:
            raise StudyError(
                f"{self._name} was written by sondage {version} with schema {schema}; "
                f"this release reads up to {tables.SCHEMA}: upgrade sondage"
            )

    def make_tables(self) -> None:
        """Make all tables, in this transaction."""
        self.require_empty()
        tables.metadata.create_all(self._connection, checkfirst=False)

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

    def asked(self) -> Sequence[Row]:
        """Return what was asked for, in order."""
        return self._all(select(tables.asks).order_by(tables.asks.c.number))

    def labels(self) -> Sequence[Row]:
        """Return all labels ever told, first to last."""
        return self._all(select(tables.labels).order_by(tables.labels.c.number))

    def _all(self, query: Any) -> Sequence[Row]:
        return [dict(row) for row in self._connection.execute(query).mappings()]

    def add_study(self, row: Row) -> None:
        """Write the study's one row."""
        self._connection.execute(insert(tables.study), [dict(row)])

    def raise_budget(self, budget: float) -> None:
        """Write a new budget."""
        self._connection.execute(update(tables.study).values(budget=budget))

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
        parts: list[tuple[Table, Sequence[Row]]] = [
            (tables.stages, [stage]),
            (tables.draws, draws),
            (tables.rows, rows),
        ]
        for table, content in parts:
            self._add(table, content)

    def add_asked(self, asked: Sequence[Row]) -> None:
        """Append what was asked for."""
        self._add(tables.asks, asked)

    def add_labels(self, labels: Sequence[Row]) -> None:
        """Append labels; each supersedes the last one of its item."""
        last = func.max(tables.labels.c.number).label("last")
        query = select(tables.labels.c.id, last).group_by(tables.labels.c.id)
        earlier = {row.id: row.last for row in self._connection.execute(query)}
        self._add(tables.labels, [dict(label) | {"supersedes": earlier.get(label["id"])} for label in labels])

    def _add(self, table: Table, content: Sequence[Row]) -> None:
        if content:
            self._connection.execute(insert(table), [dict(row) for row in content])
