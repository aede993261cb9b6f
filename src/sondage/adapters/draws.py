"""What was drawn, with its probabilities and what the models say of it: a table for one's own estimates."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.adapters.formats import table_writer
from sondage.adapters.whole_files import require_no_pool, whole_file
from sondage.core.checks import exactly
from sondage.core.predictions import Classes, Grades, Means, Outputs
from sondage.core.samples import bin_sums
from sondage.errors import InputError
from sondage.pools.duckdb import quoted
from sondage.pools.files import PARQUET_ENDS
from sondage.studies.drawing import DRAWS
from sondage.studies.session import Session
from sondage.studies.study import Study

__all__ = ["draws_table", "plain_rows", "write_draws"]

Columns = dict[str, NDArray[Any]]


def draws_table(study: Study, *, everything: bool = False) -> Columns:
    r"""Return the items asked for with their probabilities, as columns.

    The sum of ``weight * design_weight * t`` over a stage's rows estimates the sum of ``weight * t`` over what the
    stage drew from: the pool without the items that earlier stages asked for.

    Parameters
    ----------
    study : Study
        The study.
    everything : bool
        With the items that are drawn and not yet asked for, as if the stage were asked for to its end.

    Returns
    -------
    dict of str to ndarray, shape (n,)
        ``id`` (of rankings ``query``), ``stage`` and ``position`` from 0, ``size`` (a share of the stage's total),
        ``inclusion_probability`` in (0, 1], given what was asked for, or of draws with replacement
        ``draw_probability`` of one draw, ``design_weight`` (one over the inclusion probability, or draws over their
        number times the probability), ``weight`` (base weight, the pool's sum to 1), and where each item is
        a row the models' outputs, named as a pool's columns.

    Raises
    ------
    InputError
        If nothing was asked for.

    Examples
    --------
    >>> import tempfile
    >>> import sondage
    >>> pool = sondage.Pool(probabilities=[0.2, 0.6, 0.9, 0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with sondage.Study.create(f"{folder}/study.db", pool, budget=4) as study:
    ...         table = draws_table(study, everything=True)
    >>> list(table)[:6]
    ['id', 'stage', 'position', 'size', 'inclusion_probability', 'design_weight']
    >>> table["inclusion_probability"].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    session = study.snapshot()
    asked = np.array(session.asked, dtype=np.int64)
    if everything:
        asked = np.union1d(asked, np.arange(session.firsts[-2], len(session.asked) + session.room))
    if not len(asked):
        raise InputError(f"{study.name}: nothing was asked for yet; everything=True has what is drawn")
    stages = [_of_stage(session, number, asked) for number in range(len(session.stages))]
    found = {name: np.concatenate([part[name] for part in stages]) for name in stages[0]}
    positions = found["position"]
    names = {"query" if session.task.kind == "ranking" else "id": _column([session.ids[p] for p in positions.tolist()])}
    kept = {name: column for name, column in found.items() if not np.isnan(column).all()}
    return names | kept | {"weight": _base_weights(session)[positions]} | _outputs(session, positions)


def write_draws(
    study: Study, path: str | os.PathLike[str], *, everything: bool = False, form: str | None = None
) -> None:
    """Write `draws_table` to a file, as a whole: in this format (CSV or JSON lines), by default as its name ends.

    That may be Parquet's, and is CSV if it tells nothing.

    Raises
    ------
    InputError
        If nothing was asked for, or the file cannot be written, or is the study's pool; what stood there stays.
    """
    import duckdb

    require_no_pool(path, study)
    columns = draws_table(study, everything=everything)
    write = None if form is None and Path(path).suffix.lower() in PARQUET_ENDS else table_writer(path, form)
    try:
        with whole_file(path) as place:
            if write is None:
                _write_parquet(columns, place)
            else:
                with open(place, "w", encoding="utf-8", newline="") as file:
                    write(plain_rows(columns), list(columns), file)
    except (OSError, duckdb.IOException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(f"{path} cannot be written: {reason}; nothing was written") from None


def plain_rows(columns: Columns) -> list[dict[str, Any]]:
    """Return the table's rows; what has no value is None."""
    lists = [[None if value != value else value for value in column.tolist()] for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _write_parquet(columns: Columns, path: Path) -> None:
    """Write columns as Parquet, NaN as missing."""
    import duckdb

    raw = {f"c{at}": column for at, column in enumerate(columns.values())}
    shown = []
    for (plain, column), name in zip(raw.items(), columns, strict=True):
        text = f"CASE WHEN isnan({plain}) THEN NULL ELSE {plain} END" if column.dtype.kind == "f" else plain
        shown.append(f"{text} AS {quoted(name)}")
    place = str(path).replace("'", "''")
    with duckdb.connect() as connection:
        connection.register("the_rows", raw)
        connection.execute(f"COPY (SELECT {', '.join(shown)} FROM the_rows) TO '{place}' (FORMAT parquet)")


def _of_stage(session: Session, number: int, asked: NDArray[np.int64]) -> Columns:
    """Return the columns of what was asked for of one stage."""
    first, last = session.firsts[number : number + 2]
    here = asked[(asked >= first) & (asked < last)]
    drawn, place = session.stages[number].drawn, here - first
    weights = DRAWS[session.method.draw].expansion(drawn, place).weights if len(here) else np.empty(0)
    sizes, none = drawn.sizes[place], np.full(len(here), np.nan)
    again = "sequence" in drawn.settings
    return {
        "stage": np.full(len(here), number),
        "position": here,
        "size": sizes,
        "inclusion_probability": none if again else 1.0 / weights,
        "draw_probability": sizes if again else none,
        "design_weight": weights,
    }


def _column(values: list[Any]) -> NDArray[Any]:
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        least, most = min(values, default=0), max(values, default=0)
        kinds = [kind for kind in (np.int64, np.uint64) if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max]
        if kinds:
            return np.array(values, dtype=kinds[0])
    column = np.empty(len(values), dtype=object)
    column[:] = [str(value) for value in values]
    return column


def _base_weights(session: Session) -> NDArray[np.float64]:
    weights = np.asarray(session.items.weights, dtype=np.float64)
    return weights if session.units is None else bin_sums(session.units, weights, len(session.ids))


def _outputs(session: Session, positions: NDArray[np.int64]) -> Columns:
    """Return what the models say, where an item is one row."""
    if session.units is not None:
        return {}
    found: Columns = {}
    for model, outputs in zip(session.models, session.items.take(positions).models, strict=True):
        columns = _output_columns(outputs, session.task.classes)
        found |= columns if len(session.models) == 1 else {f"{model}.{name}": c for name, c in columns.items()}
    return found


def _output_columns(outputs: Outputs, classes: tuple[Any, ...]) -> Columns:
    """Return what one model says, as the columns of a pool have it."""
    if isinstance(outputs, Classes):
        codes, p = np.asarray(outputs.predictions, dtype=np.int64), outputs.probabilities
        found: Columns = {"prediction": _column([classes[code] for code in codes.tolist()])}
        if p is None:
            return found
        table = np.column_stack([1.0 - p, p]) if p.ndim == 1 else p
        return found | {f"p_{name}": np.asarray(table[:, at], np.float64) for at, name in enumerate(classes)}
    if isinstance(outputs, Means):
        given = {"prediction": outputs.means, "variance": outputs.variances}
        return {name: np.asarray(column, np.float64) for name, column in given.items() if column is not None}
    if isinstance(outputs, Grades) and outputs.judge is not None:
        if outputs.judge.ndim == 1:
            return {"judge": np.asarray(outputs.judge, np.float64)}
        columns = zip(outputs.grades.tolist(), np.asarray(outputs.judge, np.float64).T, strict=True)
        return {f"judge.p_{exactly(grade)}": column for grade, column in columns}
    return {}
