"""Where a study is kept: a SQLite file, or a PostgreSQL database by its URL.

Every write is one transaction and is on the disk when it returns. In a file it takes the lock first (BEGIN IMMEDIATE,
synchronous=FULL), so that processes queue instead of failing, and a connection lives as long as a transaction: at rest
a study is one file. In PostgreSQL writers of labels queue for the study's row, and connections are kept.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from reprlib import repr as brief
from typing import Any
from weakref import finalize

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from sondage.errors import SondageError, StudyError, WaitingWarning, warn
from sondage.studies.ledger import Ledger
from sondage.studies.tables import SCHEMA

__all__ = ["Store"]

PATIENCE, WAIT = 3_000, 57_000
"""Milliseconds for another process to finish: until that is said, and from then on until it is given up."""

_DAMAGES = ("malformed", "no such table", "no such column", "has no column", "Could not decode", "found when")
"""Parts of what SQLite says of files whose bytes are not those that were written."""
_RESTORE = "nothing was written: put a copy of it back in its place"

_SECTOR = 512
"""Bytes that files of SQLite have a multiple of; it reads one that lacks fewer as if they were zeros."""


class Store:
    """A database that holds one study.

    Parameters
    ----------
    place : str or Path
        Path of a SQLite file, or a PostgreSQL URL, ``postgresql://user:password@host:5432/name``.

    Raises
    ------
    StudyError
        If the name is none, empty, that of a folder or of a database in memory, or a URL that cannot be used.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        name: str | bytes | None = os.fspath(place) if isinstance(place, str | os.PathLike) else None
        if not isinstance(name, str) or "\0" in name:
            raise StudyError(f"{brief(place)} is no name of a study; name a file or a database URL")
        self.place = name
        if not self.place:
            raise StudyError("the study has an empty name; name a file or a database URL")
        if self.place == ":memory:":
            raise StudyError(
                f"{self.place}: a study is kept in a file or in PostgreSQL; sondage.evaluate needs neither"
            )
        self.is_file = "://" not in self.place
        if self.is_file and (os.path.isdir(self.place) or not os.path.basename(self.place)):
            raise StudyError(f"{self.place} names a folder; name a file or a database URL")
        self._engine = _file_engine(Path(self.place)) if self.is_file else _url_engine(self.place)
        finalize(self, self._engine.dispose)
        self.name = self.place if self.is_file else self._engine.url.set(drivername="postgresql").render_as_string()

    def require_free(self) -> None:
        """Make sure that a new study can begin here; its tables are made in its first transaction.

        Raises
        ------
        StudyError
            If there is something already, or the folder does not exist.
        """
        if self.is_file and not os.path.isdir(Path(self.place).absolute().parent):
            raise StudyError(f"{self.place}: the folder {Path(self.place).absolute().parent} does not exist")
        if self.is_file and not os.path.exists(self.place):
            return
        with self.reading() as records:
            records.require_empty()

    def use_log(self) -> None:
        """Switch a new SQLite file to its write-ahead log, which cannot be done inside a transaction."""
        if self.is_file:
            with self._errors_told(), closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA journal_mode=WAL")

    def require_study(self) -> None:
        """Make sure that there is a study of this release; one of an earlier release is upgraded, all of it or nothing.

        Raises
        ------
        StudyError
            If there is none, it is damaged, or it was written by a newer release.
        """
        with self.reading() as records, self.damage_told():
            older = records.require_study() < SCHEMA
        if self.is_file and os.path.getsize(self.place) % _SECTOR:
            raise StudyError(f"{self.name}: it is damaged (its end is missing); {_RESTORE}")
        if older:
            with self.writing() as records, self.damage_told():
                records.upgrade()

    @contextmanager
    def writing(self) -> Iterator[Ledger]:
        """Open a transaction that writes: all of it or, on any error, nothing."""
        self._require_file()
        with self._errors_told(), self._engine.connect() as connection:
            connection = connection.execution_options(sondage_writes=True)
            with connection.begin():
                yield Ledger(connection, self.name)

    @contextmanager
    def reading(self) -> Iterator[Ledger]:
        """Open a transaction that reads one state of the study."""
        self._require_file()
        with self._errors_told(), self._engine.connect() as connection:
            if not self.is_file:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield Ledger(connection, self.name)

    def _require_file(self) -> None:
        """Raise `StudyError` if the file is not there; SQLite would make an empty one.

        For `os.path` a name that is too long is not there either; `pathlib` raises.
        """
        if self.is_file and not os.path.isfile(self.place):
            raise StudyError(f"there is no study {self.place}")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep a connection open: SQLite writes its log back when the last one closes, else after every transaction."""
        if not self.is_file:
            yield
            return
        with self._errors_told():
            opened = self._engine.raw_connection()
        with closing(opened) as connection:
            with self._errors_told():
                connection.cursor().execute("SELECT count(*) FROM sqlite_master").fetchall()  # opens the log
            yield

    @contextmanager
    def _errors_told(self) -> Iterator[None]:
        """Turn a database's errors into one line."""
        try:
            yield
        except (sqlite3.Error, SQLAlchemyError) as error:
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            known = {
                "file is not a database": "it is not a study file",
                "unable to open database file": "it cannot be opened; file and folder must be readable and writable",
                "database is locked": "another program holds it; nothing was written",
                "attempt to write a readonly database": "it cannot be written: file or folder is read-only",
                "database or disk is full": "the disk is full; nothing was written",
                "disk I/O error": "the disk is full, or does not work; nothing was written",
            }
            if any(part in reason for part in _DAMAGES):
                raise StudyError(f"{self.name}: it is damaged ({reason}); {_RESTORE}") from error
            raise StudyError(f"{self.name}: {known.get(reason, reason)}") from error

    @contextmanager
    def damage_told(self) -> Iterator[None]:
        """Turn what breaks on rows that no release wrote into one line."""
        try:
            yield
        except (SondageError, SQLAlchemyError):
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise StudyError(f"{self.name}: it is damaged (what it keeps cannot be read); {_RESTORE}") from error

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()


def _file_engine(path: Path) -> Engine:
    """Return the engine of a SQLite file, whose transactions begin by what they are for."""
    engine = create_engine("sqlite://", creator=lambda: _connect(path), poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        for pragma in (f"busy_timeout={PATIENCE + WAIT}", "foreign_keys=ON", "synchronous=FULL"):
            try:
                connection.execute(f"PRAGMA {pragma}")
            except UnicodeDecodeError:  # of what SQLite says, which repeats the file's bytes
                raise sqlite3.DatabaseError("malformed database schema") from None

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        raw = connection.connection.cursor()
        if connection.get_execution_options().get("sondage_writes"):
            _begin_to_write(raw, path)
        else:
            raw.execute("BEGIN")

    return engine


def _begin_to_write(cursor: Any, path: Path) -> None:
    """Take the lock; where another program holds it, say so and wait on."""
    cursor.execute(f"PRAGMA busy_timeout={PATIENCE}")
    try:
        cursor.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        seconds = (PATIENCE + WAIT) // 1000
        warn(f"{path} is held by another program; waiting for it, up to {seconds} s", WaitingWarning)
        cursor.execute(f"PRAGMA busy_timeout={WAIT}")
        cursor.execute("BEGIN IMMEDIATE")
    cursor.execute(f"PRAGMA busy_timeout={PATIENCE + WAIT}")


def _connect(path: Path) -> sqlite3.Connection:
    """Open a file; one that cannot be written, and that nobody is writing, can still be read."""
    writable = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    if os.path.exists(path) and not writable and not os.path.exists(f"{path}-wal"):
        return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)
    return sqlite3.connect(path)


def _url_engine(url: str) -> Engine:
    """Return the engine of a PostgreSQL database, or refuse the URL."""
    scheme = url.partition("://")[0]
    if scheme not in ("postgresql", "postgresql+psycopg"):
        raise StudyError(
            f"database {scheme}://...: a study is kept in a file or in PostgreSQL, postgresql://user:password@host/name"
        )
    try:
        driven = url.replace("postgresql://", "postgresql+psycopg://", 1)  # the one driver that is offered
        return create_engine(driven, pool_pre_ping=True)  # a server that was restarted is found again
    except ModuleNotFoundError:
        raise StudyError(f"database {scheme}://...: a driver is missing: pip install 'sondage[postgres]'") from None
    except (ArgumentError, ValueError):  # their messages show the password
        raise StudyError(
            f"database {scheme}://...: the URL cannot be read; it must be like postgresql://user:password@host:5432/name"
        ) from None
