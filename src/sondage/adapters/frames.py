"""Pools from pandas, polars and Arrow frames; items and labels to and from them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sondage.adapters.rows import Answer, answer_columns, answers_of_rows, item_rows, label_rows
from sondage.core.checks import listed, require_known
from sondage.errors import InputError
from sondage.pools import Pool, files
from sondage.pools.columns import pool_from_columns
from sondage.pools.engines import ProgressHook
from sondage.pools.missing import converted, is_missing
from sondage.studies.study import Study

__all__ = ["BACKENDS", "items_frame", "labels_frame", "read_answers_frame", "read_frame", "read_pool"]

BACKENDS = ("pandas", "polars", "pyarrow")


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
    """Read a pool from files, a database, a cluster or a frame.

    Parameters
    ----------
    source : path, glob, DuckDB relation, Spark table, or a pandas, polars or Arrow frame
        ``"pool.parquet"``, ``"pool.csv"``, ``"folder/*.parquet"``, or a frame; of Parquet in folders such as
        ``month=2024-01`` the month is a column. The columns are ``id``;
        ``prediction`` or ``<model>.prediction``; ``p_<class>`` or ``<model>.p_<class>`` (one is enough for two
        classes); ``variance`` (the prediction is then a mean); ``cost``; ``weight``; ``group``;
        ``judge.p_<class>`` or ``judge.prediction``, for several judges ``judge.<name>.p_<class>``;
        ``<model>.judge``; ``feature.<name>``. All others are shown to the labeller. Rankings have a
        row for each ``query`` and ``document`` and the columns ``rank`` or ``<model>.rank``, ``p_<grade>``, ``cost``,
        ``weight``.
    classes : sequence, optional
        The classes in their order; by default in that of the columns.
    task : str, optional
        ``"classification"``, ``"regression"``, ``"outcomes"`` or ``"ranking"``, where the columns leave it
        open: predictions without probabilities are numbers where there is a variance, or a fraction and no `classes`,
        else classes.
    features : sequence of str
        More columns that are features, by their names: numbers, or in memory lists of equally many numbers.
    lazy : bool, optional
        Whether the rows stay where they are: every pass over them is then a query, and only what is drawn comes into
        memory; the items are the same. By default so for tables of Spark, and for Parquet and relations of more than
        100 million values.
    settings : mapping, optional
        Settings of DuckDB for Parquet that stays where it is, such as ``{"memory_limit": "1GB", "threads": 4}``.
    progress : callable, optional
        ``progress(step, share)`` hears what is being done with rows that stay where they are, and how far it is.

    Returns
    -------
    Pool
        From files, it remembers where it came from, so that a study can read it again. `Pool.load` brings it into
        memory.

    Raises
    ------
    InputError
        If the source cannot be read, or a value is not allowed; the message names column, row and id.

    Examples
    --------
    >>> import pandas
    >>> read_pool(pandas.DataFrame({"id": ["a", "b"], "p_spam": [0.9, 0.2], "prediction": ["spam", "ham"]}))
    <Pool: 2 items, 1 model, classification ['ham', 'spam']>
    """
    if isinstance(source, str | os.PathLike) or hasattr(source, "fetchnumpy") or hasattr(source, "sparkSession"):
        options: Mapping[str, Any] = {"lazy": lazy, "settings": settings, "progress": progress}
        return files.read_pool(source, classes=classes, task=task, features=features, **options)
    if lazy:
        raise InputError("a frame is in memory already; lazy=True is for files, relations and tables of Spark")
    return read_frame(source, classes=classes, task=task, features=features)


def read_frame(frame: Any, *, classes: Any = None, task: str | None = None, features: Sequence[str] = ()) -> Pool:
    """Return the pool of a frame's columns; see `read_pool`."""
    table = _table(frame, "a pool is read from a path, a relation or a frame")
    columns = {str(series.name): _read(series) for series in table.iter_columns()}
    return pool_from_columns(columns, classes=classes, task=task, features=listed("features", features))


def _read(series: Any) -> Any:
    """Return a column as `_column` does, or refuse one of a type that NumPy does not have."""
    try:
        return _column(series)
    except (ValueError, NotImplementedError) as error:  # those of Arrow, for unions and nanoseconds
        raise InputError(f"column {series.name!r} of the type {series.dtype} cannot be read: {error}") from None


def _column(series: Any) -> Any:
    """Return a column as an array, masked where values are missing; times with a time zone are text in UTC."""
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    whole = missing.any() and series.dtype.is_integer()  # which a missing value would make fractions
    values = converted(series.fill_null(0) if whole else series)
    if series.dtype == _narwhals().Struct:  # of which polars makes a table
        values = np.empty(len(missing), dtype=object)
        values[:] = series.to_list()
    if getattr(series.dtype, "time_zone", None) is not None:
        texts = np.datetime_as_string(values.astype("datetime64[us]")).tolist()
        values = np.array([f"{text.removesuffix('.000000')}+00:00" for text in texts], dtype=object)
    return np.ma.MaskedArray(values, mask=missing) if missing.any() else values


def _table(frame: Any, rule: str) -> Any:
    """Return a frame as narwhals has it, or refuse what is none."""
    nw = _narwhals()
    try:
        table: Any = nw.from_native(frame)
    except TypeError:
        raise InputError(f"{rule}, not from {type(frame).__name__}") from None
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"columns stand twice: {' '.join(str(error).split())}") from None
    return table.collect() if isinstance(table, nw.LazyFrame) else table


def _narwhals() -> Any:
    try:
        import narwhals
    except ModuleNotFoundError:
        raise InputError("to read or make a frame, narwhals is needed: pip install 'sondage[frames]'") from None
    return narwhals


def items_frame(study: Study, ids: Sequence[Any], backend: str = "pandas") -> Any:
    """Return items to be labelled as a frame: id, empty labels, and what the pool shows.

    Parameters
    ----------
    study : Study
        The study.
    ids : sequence
        Items that were asked for.
    backend : {"pandas", "polars", "pyarrow"}
        Kind of frame.

    Raises
    ------
    InputError
        If there is no such backend, or it is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"])
    >>> with TemporaryDirectory() as folder:
    ...     study = Study.create(f"{folder}/study.db", pool, budget=2)
    ...     items_frame(study, study.ask(2)).columns.tolist()
    ['id', 'label']
    """
    return _frame(item_rows(study, ids), answer_columns(study), backend)


def labels_frame(study: Study, backend: str = "pandas") -> Any:
    """Return a study's labels as a frame: id, label, who, at; a skip is missing.

    Parameters
    ----------
    study : Study
        The study.
    backend : {"pandas", "polars", "pyarrow"}
        Kind of frame.

    Raises
    ------
    InputError
        As for `items_frame`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"])
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
    ...     count = study.tell(study.ask(2), [0, 1], who="anna")
    ...     labels_frame(study)[["id", "label", "who"]].to_dict("list")
    {'id': ['a', 'b'], 'label': [0, 1], 'who': ['anna', 'anna']}
    """
    return _frame(label_rows(study), [*answer_columns(study), "who", "at"], backend)


def _frame(rows: Sequence[dict[str, Any]], columns: Sequence[str], backend: str) -> Any:
    require_known("backend", backend, BACKENDS)
    names = list(rows[0]) if rows else list(columns)
    try:
        table = {name: _listed([row[name] for row in rows], backend) for name in names}
        return _narwhals().from_dict(table, backend=backend).to_native()
    except ModuleNotFoundError:
        raise InputError(f"to make a frame of {backend}, {backend} is needed: pip install {backend}") from None


def _listed(values: list[Any], backend: str) -> Any:
    """Return values as they are, where a frame's column takes them together, else as text.

    Unsigned numbers beyond int64 are an array: of a list Arrow makes no column.
    """
    unsigned = all(isinstance(value, int) and 0 <= value < 2**64 for value in values)
    if unsigned and max(values, default=0) >= 2**63:
        return np.array(values, dtype=np.uint64)
    try:
        _narwhals().from_dict({"column": values}, backend=backend)
    except (TypeError, ValueError, OverflowError):  # values of several kinds, or numbers that no type has
        return [None if is_missing(value) else str(value) for value in values]
    return values


def read_answers_frame(frame: Any, study: Study) -> list[Answer]:
    """Return the answers of a frame with the columns id, those of the labels, and perhaps who; missing is a skip.

    Parameters
    ----------
    frame : pandas, polars or Arrow frame
        A row for each item; of rankings for each document, with the columns query and document.
    study : Study
        The study.

    Raises
    ------
    InputError
        If it is no frame.
    LabelError
        If a column is missing, or a row has no id.

    Examples
    --------
    >>> import pandas
    >>> from tempfile import TemporaryDirectory
    >>> pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"])
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
    ...     answers = read_answers_frame(pandas.DataFrame({"id": ["a"], "label": [1]}), study)
    >>> answers[0].id, answers[0].label
    ('a', 1)
    """
    table = _table(frame, "answers are read from a frame")
    columns = {str(series.name): [_plain_cell(one) for one in series.to_list()] for series in table.iter_columns()}
    cells = zip(*columns.values(), strict=True)
    rows = ((f"row {number}", dict(zip(columns, row, strict=True))) for number, row in enumerate(cells))
    return answers_of_rows(rows, study)


def _plain_cell(cell: Any) -> Any:
    """Return a cell, None where it is missing; an array, which cannot be compared as others are, as a list."""
    return None if is_missing(cell) else cell.tolist() if isinstance(cell, np.ndarray) else cell
