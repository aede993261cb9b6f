"""Pools and labels in files: CSV and Parquet, one or many."""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.errors import InputError, LabelError
from sondage.pools.arrays import Pool
from sondage.pools.columns import pool_from_columns
from sondage.pools.duckdb import DuckDB, connected_errors
from sondage.pools.engines import Engine, Progress
from sondage.pools.schema import MOST_CLASSES, Column, schema_of
from sondage.pools.sql.text import Select
from sondage.pools.stored import StoredPool
from sondage.pools.table import NUMBER

if TYPE_CHECKING:
    import duckdb

__all__ = ["escaped", "gather_judgements", "plain", "read_judgements", "read_label_rows", "read_labels", "read_pool"]

CSV_ENDS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_ENDS = (".parquet", ".pq")
MOST_CELLS = 100_000_000
"""Values of a Parquet pool that is read into memory unless told otherwise."""

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def read_pool(
    source: Any,
    *,
    classes: Any = None,
    task: str | None = None,
    features: Sequence[str] = (),
    lazy: bool | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Pool:
    """Read a pool from CSV or Parquet files, a relation of DuckDB, or a table of Spark.

    The parameters are those of `sondage.read_pool`, which reads frames too.

    Raises
    ------
    InputError
        If a file cannot be read, or a value is not allowed; the message names column, row and id.
    """
    options = {"classes": classes, "task": task, "features": list(features) or None}
    options |= {"lazy": lazy, "settings": None if settings is None else dict(settings)}
    reading = {name: value for name, value in options.items() if value is not None}
    if hasattr(source, "fetchnumpy"):
        if lazy if lazy is not None else _size(source) > MOST_CELLS:
            return _stored(DuckDB(source, progress=progress), reading, True)
        return pool_from_columns(source.fetchnumpy(), classes=classes, task=task, features=features)
    if not isinstance(source, str | os.PathLike):
        return _stored(_engine(source, progress), reading, lazy is not False)
    path, files = os.path.abspath(os.fspath(source)), _files(os.fspath(source))
    try:
        typed = _kind(files[0]) == "parquet"
        if lazy and not typed:
            raise InputError("CSV is read into memory; write it as Parquet to leave it where it is")
        if typed and (lazy if lazy is not None else _cells(files) > MOST_CELLS):
            pool = _stored(DuckDB(files, settings, progress), reading, True)
        else:
            columns = _read_parquet(files) if typed else _read_csv(files)
            pool = pool_from_columns(columns, classes=classes, task=task, features=features, typed=typed)
    except InputError as error:
        raise InputError(f"{os.fspath(source)}: {error}") from None
    pool.source, pool.reading = path, reading
    return pool


def _engine(source: Any, progress: Progress | None) -> Engine:
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
    select = Select("SELECT * FROM {source}")
    text = (
        f"SELECT DISTINCT {column.raw} FROM ({select.text}) t WHERE {column.raw} IS NOT NULL LIMIT {MOST_CLASSES + 1}"
    )
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
        rows = connection.execute("SELECT sum(num_rows) FROM parquet_file_metadata($1)", [list(files)]).fetchone()
        columns = connection.read_parquet(list(files)).columns
    return int(rows[0] or 0) * len(columns) if rows else 0


def _files(source: str) -> list[str]:
    """Return the files that a path or a glob means, all of one kind."""
    if Path(source).is_dir():
        raise InputError(f"{source} is a folder; name its files, as in {Path(source) / '*.parquet'}")
    found = [source] if Path(source).is_file() else sorted(glob(source, recursive=True)) if has_magic(source) else []
    if not found:
        raise InputError(f"there is no file {source}")
    ends = {_kind(name) for name in found}
    if len(ends) > 1:
        raise InputError(f"{source} means files of different kinds; they must all be CSV or all Parquet")
    return found


def _kind(name: str) -> str:
    if name.lower().endswith(PARQUET_ENDS):
        return "parquet"
    if name.lower().endswith(CSV_ENDS):
        return "csv"
    raise InputError(f"{name}: a pool is read from {', '.join((*CSV_ENDS, *PARQUET_ENDS))}")


def _read_parquet(files: Sequence[str]) -> dict[str, Any]:
    """Return all columns in their types."""
    with _connected() as connection:
        return connection.read_parquet(list(files)).fetchnumpy()


def _read_csv(files: Sequence[str]) -> dict[str, Any]:
    """Return all columns as text: nothing is guessed."""
    delimiter, header = _header(files[0])
    for name in files[1:]:
        if _header(name) != (delimiter, header):
            raise InputError(f"{name} has other columns than {files[0]}: {_header(name)[1]}, {header}")
    options: dict[str, Any] = {"delimiter": delimiter, "quotechar": '"', "escapechar": '"'}
    columns = dict.fromkeys(header, "VARCHAR")
    names: Any = list(files)  # its types know one file only
    with _connected() as connection:
        relation = connection.read_csv(names, auto_detect=False, header=True, columns=columns, **options)
        return relation.fetchnumpy()


@contextmanager
def _connected() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open DuckDB."""
    import duckdb  # here, so that pools in memory do without it

    with connected_errors(), duckdb.connect() as connection:
        yield connection


def _header(path: str | os.PathLike[str]) -> tuple[str, list[str]]:
    """Return the delimiter, the most frequent of comma, semicolon and tab, and the names of the columns."""
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            line = str(file.readline())
            file.seek(0)
            delimiter = max(",;\t", key=line.count)
            names = next(csv.reader(file, delimiter=delimiter), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"the header cannot be read: {error}") from None
    if not names:
        raise InputError("the file is empty: it has no header")
    twice = next((name for name in names if names.count(name) > 1 or not name), None)
    if twice is not None:
        raise InputError(f"column {twice!r} stands twice or has no name; the header is {names}")
    return delimiter, names


def read_labels(path: str | os.PathLike[str], models: Sequence[str] = ()) -> tuple[list[str], list[Any]]:
    """Read labels from a CSV file with the columns ``id`` and ``label``; other columns are left alone.

    Parameters
    ----------
    path : path
        The file.
    models : sequence of str
        For systems with outcomes of their own: their names; the columns are then ``<model>.label``.

    Returns
    -------
    ids : list of str
        As text; cells that `escaped` changed are as they were.
    labels : list
        Text, for outcomes a dict; None where the cell is empty: a skip.

    Raises
    ------
    InputError
        If the file cannot be read or has no such column.
    """
    rows = read_label_rows(path, ["id", *([f"{model}.label" for model in models] or ["label"])])
    labels = [_outcomes(row, models) if models else row["label"] for _, row in rows]
    return [row["id"] for _, row in rows], labels


def read_judgements(
    path: str | os.PathLike[str], *, partial: bool = False
) -> tuple[list[str], list[dict[str, str] | None]]:
    """Read judgements of documents from a CSV file with the columns ``query``, ``document`` and ``label``.

    Parameters
    ----------
    path : path
        The file.
    partial : bool
        Leave queries out that are not judged to the end, in place of refusing them.

    Returns
    -------
    queries : list of str
        In the order of the file.
    labels : list of dict or None
        Document -> grade, as text; None where all cells are empty: a skip.

    Raises
    ------
    InputError
        If the file cannot be read, or a document is judged twice and differently.
    """
    try:
        found = gather_judgements([row for _, row in read_label_rows(path, ["query", "document", "label"])], partial)
    except LabelError as error:
        place = os.fspath(path)
        raise LabelError(str(error) if str(error).startswith(place) else f"{place}: {error}") from None
    return list(found), list(found.values())


def gather_judgements(rows: Sequence[Mapping[str, Any]], partial: bool = False) -> dict[Any, dict[Any, Any] | None]:
    """Return each query's documents and grades from rows of one document each; None where no document has a grade.

    Parameters
    ----------
    rows : sequence of mapping
        With query, document and label; None is no grade.
    partial : bool
        Leave queries out that are not judged to the end.

    Raises
    ------
    LabelError
        If a document is judged twice and differently.
    """
    found: dict[Any, dict[Any, Any]] = {}
    for row in rows:
        own, document, grade = found.setdefault(row["query"], {}), row["document"], row["label"]
        if own.setdefault(document, grade) != grade:
            raise LabelError(
                f"document {document!r} of query {row['query']!r} has two labels, {own[document]!r} and {grade!r}"
            )
    whole = {query: own for query, own in found.items() if not partial or None not in own.values()}
    return {
        query: {document: grade for document, grade in own.items() if grade is not None} or None
        for query, own in whole.items()
    }


def read_label_rows(path: str | os.PathLike[str], wanted: Sequence[str]) -> list[tuple[int, dict[str, Any]]]:
    """Return line and columns of every row of a CSV file of labels; what follows the first is None where empty.

    Parameters
    ----------
    path : path
        The file.
    wanted : sequence of str
        Columns that must be there: ids first, which are never empty, then labels.

    Raises
    ------
    InputError
        As for `read_labels`.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, delimiter=_header(path)[0], strict=True)
            missing = [name for name in wanted if name not in (reader.fieldnames or [])]
            if missing:
                raise InputError(f"no column {missing[0]!r}; there are {list(reader.fieldnames or [])}")
            rows = [(reader.line_num, _checked(row, reader.line_num, wanted[0])) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error, InputError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{os.fspath(path)}: {reason}") from None
    labels = [name for name in wanted[1:] if name == "label" or name.endswith(".label")]
    return [
        (line, {name: _label(cell) if name in labels else plain(cell) for name, cell in row.items()})
        for line, row in rows
    ]


def _checked(row: dict[str, Any], line: int, key: str) -> dict[str, str]:
    if None in row or None in row.values():
        raise LabelError(f"line {line} has more or fewer cells than the header")
    if not row[key].strip():
        raise LabelError(f"line {line} has no {key}")
    return row


def _label(cell: str) -> str | None:
    return plain(cell).strip() or None


def _outcomes(row: dict[str, Any], models: Sequence[str]) -> dict[str, str] | None:
    given = {model: row[f"{model}.label"] for model in models}
    return {model: label for model, label in given.items() if label is not None} or None


def escaped(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe.

    Examples
    --------
    >>> escaped("=1+1"), escaped("-5"), escaped("plain")
    ("'=1+1", '-5', 'plain')
    """
    if isinstance(value, str) and _FORMULA.match(value) and not NUMBER.fullmatch(value):
        return "'" + value
    return value


def plain(cell: str) -> str:
    """Return the text that `escaped` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
