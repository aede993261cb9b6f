"""Files of labels that there are already, of items drawn from a pool with equal chances: they begin a study."""

from __future__ import annotations

import os
from typing import Any

from sondage.core.checks import refusals_of, require_column
from sondage.errors import InputError, LabelError
from sondage.pools import Pool
from sondage.pools.files import read_columns
from sondage.pools.missing import is_blank

__all__ = ["read_start"]


def read_start(source: str | os.PathLike[str], pool: Pool) -> dict[Any, Any]:
    r"""Return the labels of a CSV or Parquet file, id -> label; a row without a label is no item drawn.

    Parameters
    ----------
    source : path
        The file. Columns are ``id`` and ``label`` or, for several systems with outcomes, ``<system>.label``; others
        may be there.
    pool : Pool
        The pool that the items were drawn from.

    Raises
    ------
    InputError
        If the file cannot be read or lacks a column, or the pool is of rankings.
    LabelError
        If a labelled row has no id, or an id is labelled twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.csv")
    ...     _ = file.write_text("id,label\n3,spam\n5,\n7,ham\n")
    ...     read_start(file, Pool(probabilities=[0.1, 0.9], classes=["ham", "spam"]))
    {'3': 'spam', '7': 'ham'}
    """
    if pool.task.kind == "ranking":
        raise InputError("labels that there are already begin a study of rankings from Python only: start=")
    place = os.fspath(source)
    columns, _ = read_columns(place)
    with refusals_of(place):
        told_apart = pool.task.kind == "outcomes" and (len(pool.models) > 1 or "label" not in columns)
        systems = {model: f"{model}.label" for model in pool.models} if told_apart else {}
        for name in ("id", *(systems.values() or ["label"])):
            require_column(name, columns)
        told = {model: columns[name].tolist() for model, name in (systems or {"": "label"}).items()}
        found: dict[Any, Any] = {}
        for row, name in enumerate(columns["id"].tolist()):
            given = {model: labels[row] for model, labels in told.items() if not is_blank(labels[row])}
            if not given:
                continue
            if is_blank(name):
                raise LabelError(f"row {row} has a label and no id")
            if name in found:
                raise LabelError(f"id {name!r} is labelled twice", ids=(name,))
            found[name] = given if systems else given[""]
        return found
