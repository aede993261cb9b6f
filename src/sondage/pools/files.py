"""Pools in files, CSV and Parquet, one or many; in relations of DuckDB and tables of Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.checks import listed, refusals_of
from sondage.errors import InputError
from sondage.pools.arrays import Pool
from sondage.pools.columns import MOST_CLASSES, pool_from_columns
from sondage.pools.csv_files import csv_header
from sondage.pools.duckdb import DuckDB, as_they_are, connected_errors, parquet, plainly_named, quoted, require_apart
from sondage.pools.engines import Engine, ProgressHook
from sondage.pools.reading import schema_of
from sondage.pools.schema import Column
from sondage.pools.sql.canonical import raw_rows
from sondage.pools.stored import StoredPool

if TYPE_CHECKING:
    import duckdb

__all__ = ["PARQUET_ENDS", "is_database", "is_part", "is_table", "read_columns", "read_pool"]

CSV_ENDS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_ENDS = (".parquet", ".pq")
JSON_ENDS = (".jsonl", ".ndjson", ".json")
PATTERNS = ("*.parquet", "*.csv", "*/*.parquet", "*/*/*.parquet")
"""Where the files of a folder may be, as a table's parts are in folders of their own."""
SQLITE = b"SQLite format 3\0"
"""What every file of SQLite begins with."""
MOST_CELLS = 100_000_000
"""Values of a Parquet pool that is read into memory unless told otherwise."""


def read_pool(
    source: Any,
    *,
    classes: Any = None,
    task: str | None = None,
    features: Sequence[str] = (),
    lazy: bool | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: ProgressHook | None = None,
) -> Pool:
    """Read a pool from CSV or Parquet files, a relation of DuckDB, or a table of Spark.

    The parameters are those of `sondage.read_pool`, which reads frames too.

    Raises
    ------
    InputError
        If a file cannot be read, or a value is not allowed; the message names column, row and id.
    """
    features = listed("features", features)
    options = {"classes": classes, "task": task, "features": features or None}
    options |= {"lazy": lazy, "settings": None if settings is None else dict(settings)}
    reading = {name: value for name, value in options.items() if value is not None}
    if hasattr(source, "fetchnumpy"):
        if lazy if lazy is not None else _size(source) > MOST_CELLS:
            return _stored(DuckDB(source, progress=progress), reading, True)
        with connected_errors():
            columns = plainly_named(source).fetchnumpy()
        return pool_from_columns(columns, classes=classes, task=task, features=features)
    if not isinstance(source, str | os.PathLike):
        return _stored(_engine(source, progress), reading, lazy is not False)
    path, files = os.path.abspath(os.fspath(source)), _files(os.fspath(source))
    with refusals_of(os.fspath(source)):
        typed = _kind(files[0]) == "parquet"
        if lazy and not typed:
            raise InputError("CSV is read into memory; write it as Parquet to leave it where it is")
        if typed and (lazy if lazy is not None else _cells(files) > MOST_CELLS):
            pool = _stored(DuckDB(files, settings, progress, name=os.fspath(source)), reading, True)
        else:
            columns, _ = _columns(files)
            pool = pool_from_columns(columns, classes=classes, task=task, features=features, typed=typed)
    pool.source, pool.reading = path, reading
    return pool


def read_columns(source: str) -> tuple[dict[str, Any], bool]:
    """Return the columns of files that are one table, and whether they have types; those of CSV are text."""
    files = _files(source)
    with refusals_of(source):
        return _columns(files)


def is_table(name: str) -> bool:
    """Return whether a file, by the end of its name, is one that a table is read from; a study of such a name is none.

    Examples
    --------
    >>> is_table("labels.csv"), is_table("study.db"), is_table("postgresql://localhost/a.csv")
    (True, False, False)
    """
    return name.lower().endswith((*CSV_ENDS, *PARQUET_ENDS)) and "://" not in name and not is_database(name)


def is_database(name: str | os.PathLike[str]) -> bool:
    """Return whether there is a file of SQLite, as a study is, by its first bytes."""
    try:
        with open(name, "rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:  # there is none, or what keeps it from being read is said when it is
        return False


def is_part(name: str | os.PathLike[str], source: str) -> bool:
    """Return whether a file, by whatever name, is one of those that a path or a glob means."""
    return os.path.exists(name) and any(os.path.samefile(name, one) for one in _found(source))


def _engine(source: Any, progress: ProgressHook | None) -> Engine:
    """Return what reads a table of Spark."""
    if hasattr(source, "sparkSession"):
        from sondage.pools.spark import Spark

        return Spark(source, progress)
    raise InputError(f"a pool is read from a path, a DuckDB relation or a table of Spark, not {type(source).__name__}")


def _stored(engine: Engine, reading: Mapping[str, Any], lazy: bool) -> Pool:
    """Return the pool that stays where it is, or is loaded now."""
    schema, outline = schema_of(
        engine.columns,
        partial(_distinct, engine),
        classes=reading.get("classes"),
        task=reading.get("task"),
        features=reading.get("features", ()),
    )
    pool = StoredPool(engine, schema, outline)
    pool.reading = dict(reading)
    return pool if lazy else pool.load()


def _distinct(engine: Engine, column: Column) -> Any:
    """Return the values of a column, at most as many as there can be classes and one more."""
    rows = f"({raw_rows().text}) t WHERE {column.raw} IS NOT NULL"
    text = f"SELECT DISTINCT {column.raw} FROM {rows} LIMIT {MOST_CLASSES + 1}"
    return np.sort(engine.query(text, {}, f"classes of {column.name}")[column.raw])


def _size(relation: duckdb.DuckDBPyRelation) -> int:
    """Return rows times columns of a relation."""
    with connected_errors():
        counted = relation.query("the_source", "SELECT count(*) FROM the_source")
        rows = 0 if counted is None else int(counted.fetchall()[0][0])
    return rows * len(relation.columns)


def _cells(files: Sequence[str]) -> int:
    """Return rows times columns of Parquet files, from what they say of themselves."""
    with _connected() as connection:
        counted = "SELECT sum(num_rows) FROM parquet_file_metadata($1)"
        rows = connection.execute(counted, [as_they_are(files)]).fetchone()
        columns = parquet(connection, files).columns
    return int(rows[0] or 0) * len(columns) if rows else 0


def _files(source: str) -> list[str]:
    """Return the files that a path or a glob means, all of one kind."""
    if not source:
        raise InputError("the pool has an empty name; name its file, or a glob of several")
    if os.path.isdir(source):
        patterns = (pattern for pattern in PATTERNS if any(Path(source).glob(pattern)))
        raise InputError(f"{source} is a folder; name its files, as in {Path(source) / next(patterns, PATTERNS[0])}")
    found = _found(source)
    if not found:
        raise InputError(f"there is no file {source}")
    ends = {_kind(name) for name in found}
    if len(ends) > 1:
        raise InputError(f"{source} means files of different kinds; they must all be CSV or all Parquet")
    return found


def _found(source: str) -> list[str]:
    """Return what there is of this path, or of this glob."""
    if os.path.isfile(source):
        return [source]
    return sorted(glob(source, recursive=True)) if has_magic(source) else []


def _kind(name: str) -> str:
    if name.lower().endswith(PARQUET_ENDS):
        return "parquet"
    if name.lower().endswith(CSV_ENDS):
        return "csv"
    rule = f"a pool is read from {', '.join((*CSV_ENDS, *PARQUET_ENDS))}"
    if name.lower().endswith(JSON_ENDS):
        rule += (
            f"; DuckDB makes one: duckdb.read_json({name!r}).write_parquet({str(Path(name).with_suffix('.parquet'))!r})"
        )
    raise InputError(f"{name}: {rule}")


def _columns(files: Sequence[str]) -> tuple[dict[str, Any], bool]:
    """Return all columns, and whether they have types."""
    typed = _kind(files[0]) == "parquet"
    return (_read_parquet(files) if typed else _read_csv(files)), typed


def _read_parquet(files: Sequence[str]) -> dict[str, Any]:
    """Return all columns in their types."""
    with _connected() as connection:
        return parquet(connection, files).fetchnumpy()


def _read_csv(files: Sequence[str]) -> dict[str, Any]:
    """Return all columns as text; a refusal names the file, where there are several."""
    try:
        return _csv_columns(files)
    except InputError:
        for name in files if len(files) > 1 else ():
            try:
                _csv_columns([name])
            except InputError as error:
                raise InputError(f"{name}: {error}") from None
        raise


def _csv_columns(files: Sequence[str]) -> dict[str, Any]:
    """Return the columns as they are: nothing is guessed. Rows of empty cells, as spreadsheets leave them, are none."""
    header = csv_header(files[0])
    require_apart(header.names)
    for name in files[1:]:
        other = csv_header(name)
        if other.names != header.names:
            raise InputError(f"{name} has other columns than {files[0]}: {other.names}, {header.names}")
        if other.delimiter != header.delimiter:
            raise InputError(f"{name} has {other.delimiter!r} between cells, {files[0]} {header.delimiter!r}")
        if other.blank != header.blank:
            raise InputError(f"{name} has {other.blank} empty lines before its header, {files[0]} {header.blank}")
    options: dict[str, Any] = {"delimiter": header.delimiter, "quotechar": '"', "escapechar": '"'}
    options |= {"skiprows": header.blank}
    columns = dict.fromkeys(header.names, "VARCHAR")
    names: Any = as_they_are(files)  # its types know one file only
    with _connected() as connection:
        relation = connection.read_csv(names, auto_detect=False, header=True, columns=columns, **options)
        cells = ", ".join(f"nullif(trim({quoted(name)}), '')" for name in columns)
        return relation.filter(f"coalesce({cells}) IS NOT NULL").fetchnumpy()


@contextmanager
def _connected() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open DuckDB."""
    import duckdb  # here, so that pools in memory do without it

    with connected_errors(), duckdb.connect() as connection:
        yield connection
