"""Files of labels that somebody else drew, with known probabilities."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sondage.core.checks import refusals_of, require_column, require_known, some_of
from sondage.core.measures import Measure
from sondage.core.predictions import Classifier, Regressor
from sondage.core.results import Estimate
from sondage.errors import InputError
from sondage.pools.columns import Layout, layout_of, read_models
from sondage.pools.files import read_columns
from sondage.pools.table import Columns, Table
from sondage.studies.drawn_elsewhere import estimate_from

__all__ = ["estimate_file"]

TASKS = ("classification", "regression")
PROBABILITIES = ("inclusion", "draw_probability")


def estimate_file(
    source: str | os.PathLike[str],
    measure: str | Measure = "error_rate",
    *,
    model: str | None = None,
    classes: Any = None,
    task: str | None = None,
    **options: Any,
) -> Estimate:
    r"""Estimate a measure from the rows of CSV or Parquet files, as `estimate_from` does from arrays.

    Parameters
    ----------
    source : path
        A file, or a glob of several. Columns are ``label``, ``inclusion`` or ``draw_probability``, those of a model as
        in pools, and perhaps ``id`` and ``weight``.
    measure
        As for `estimate_from`.
    model : str, optional
        Which of several models.
    classes
        As for `estimate_from`.
    task : {"classification", "regression"}, optional
        Where the columns leave it open, as for `read_pool`.
    **options
        More arguments of `estimate_from`.

    Returns
    -------
    Estimate

    Raises
    ------
    MeasureError
        If the measure is not known, or does not fit the columns.
    InputError
        If a file cannot be read, or a value is not allowed; the message names file, column, row and id.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.csv")
    ...     _ = file.write_text("prediction,label,inclusion\n0,0,0.25\n1,1,0.5\n1,0,0.5\n")
    ...     estimate_file(file).value
    0.25
    """
    place = os.fspath(source)
    columns, typed = read_columns(place)
    with refusals_of(place):
        return estimate_from(measure, **_arguments(columns, typed, model=model, classes=classes, task=task), **options)


def _require_once(ids: list[Any]) -> None:
    """Refuse an item that is in the file twice: without replacement it is drawn once."""
    rows: dict[Any, int] = {}
    for row, name in enumerate(ids):
        if rows.setdefault(name, row) != row:
            raise InputError(
                f"id {name!r} stands in rows {rows[name]} and {row}: with 'inclusion' an item is drawn once, with "
                "'draw_probability' as often as it comes"
            )


def _arguments(columns: Columns, typed: bool, *, model: str | None, classes: Any, task: str | None) -> dict[str, Any]:
    """Return the arguments of `estimate_from` that these columns are."""
    require_column("label", columns)
    if task is not None:
        require_known("task", task, TASKS)
    probability = _probability_of(columns)
    size = len(columns["label"])
    if not size:
        raise InputError("the file is empty: it has no rows")
    table = Table({"id": np.arange(size).astype(str), **columns}, typed, given="id" in columns)
    if probability == "inclusion":
        _require_once(table.names("id").tolist())
    models, names = read_models(table, _layout_of_one(columns, model), classes, task)
    (one,) = models.values()
    if not isinstance(one, Classifier | Regressor):
        raise InputError("labels that somebody else drew are of a classifier or a regressor, not systems' outcomes")
    numbers = {"weights": "weight", probability: probability}
    return {
        **vars(one),
        "classes": names,
        "labels": table.names("label"),
        "ids": table.ids if "id" in columns else None,
        **{argument: table.numbers(name) for argument, name in numbers.items() if name in columns},
    }


def _probability_of(columns: Columns) -> str:
    """Return the name of the column that has the probabilities of being drawn; there must be one."""
    given = [name for name in PROBABILITIES if name in columns]
    if len(given) != 1:
        raise InputError(
            f"of the columns {some_of(columns)} one must be 'inclusion' (probability of being drawn) or, with "
            "replacement, 'draw_probability': without it labels cannot be corrected for how they were chosen"
        )
    return given[0]


def _layout_of_one(columns: Columns, model: str | None) -> Layout:
    """Return what the columns mean, of several models those of the one that is named."""
    layout = layout_of(list(columns))
    if model is not None or len(layout.models) > 1:
        if not isinstance(model, str) or model not in layout.models:
            named = "name one with model=" if model is None else f"there is no {model!r}"
            raise InputError(f"columns are of the models {some_of(layout.models)}: {named}")
        layout.models = {model: layout.models[model]}
    return layout
