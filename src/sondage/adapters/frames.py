"""Pools from pandas, polars and Arrow frames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sondage.errors import InputError
from sondage.pools import Pool, files
from sondage.pools.columns import pool_from_columns
from sondage.pools.engines import Progress

__all__ = ["read_frame", "read_pool"]


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
    """Read a pool from files, a database, a cluster or a frame.

    Parameters
    ----------
    source : path, glob, DuckDB relation, Spark table, or a pandas, polars or Arrow frame
        ``"pool.parquet"``, ``"pool.csv"``, ``"folder/*.parquet"``, or a frame. The columns are ``id``;
        ``prediction`` or ``<model>.prediction``; ``p_<class>`` or ``<model>.p_<class>`` (one is enough for two
        classes); ``variance`` (the prediction is then a mean); ``cost``; ``weight``; ``group``;
        ``judge.p_<class>`` or ``judge.prediction``, for several judges ``judge.<name>.p_<class>``;
        ``<model>.judge``; ``feature.<name>``. All others are shown to the labeller.
    classes : sequence, optional
        The classes in their order; by default in that of the columns.
    task : str, optional
        ``"classification"``, ``"regression"`` or ``"outcomes"``, where the columns leave it open: predictions
        without probabilities are numbers where there is a variance or a fraction, else classes.
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
    try:
        import narwhals as nw
    except ModuleNotFoundError:
        raise InputError("to read a frame, narwhals is needed: pip install 'sondage[frames]'") from None
    try:
        table: Any = nw.from_native(frame)
    except TypeError:
        kind = type(frame).__name__
        raise InputError(f"a pool is read from a path, a relation or a frame, not from {kind}") from None
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    columns = {str(series.name): _column(series) for series in table.iter_columns()}
    return pool_from_columns(columns, classes=classes, task=task, features=features)


def _column(series: Any) -> Any:
    """Return a column as an array, masked where values are missing."""
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    values = series.to_numpy()
    return np.ma.MaskedArray(values, mask=missing) if missing.any() else values
