"""From the columns of a long table, a row for each query and document, to a pool of rankings."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import listed, some_of
from sondage.core.predictions import Ranking
from sondage.errors import InputError
from sondage.pools.arrays import Pool
from sondage.pools.table import Columns, Table, is_row_index, reads_as_number, warn_of_letters

__all__ = ["LongLayout", "layout_of_long", "means_rankings", "pool_from_long", "read_grade"]

_RANK = re.compile(r"(?:(?P<model>.+)\.)?rank", re.DOTALL)
_GRADE = re.compile(r"p_(?P<grade>.+)", re.DOTALL)
_ONE = "model"  # the name of a single system whose column carries none


class _LongTable(Table):
    """A table whose rows are named by query and document."""

    def __init__(self, columns: Columns, typed: bool) -> None:
        self.columns, self.typed = columns, typed
        self.read: list[NDArray[Any]] = []
        for name in ("query", "document"):
            self.read.append(self.names(name))
        self.queries, self.documents = self.read

    def where(self, row: int) -> str:
        if len(self.read) < 2:
            return f"row {row}"
        return f"row {row} (query {self.read[0][row]}, document {self.read[1][row]})"

    def ranks(self, name: str) -> NDArray[Any]:
        """Return a column of ranks; NaN where it is empty or missing."""
        column = self.columns[name]
        missing = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else np.zeros(1, dtype=np.bool_)
        values = np.asarray(column.data if isinstance(column, np.ma.MaskedArray) else column)
        if values.dtype.kind in "fiub":
            return np.where(missing, np.nan, values) if missing.any() else values
        texts = np.where(missing, "", values)
        ranks = np.full(len(texts), np.nan)
        for row, text in enumerate(texts.tolist()):
            if text not in ("", None):
                if not reads_as_number(text):
                    raise InputError(f"{name} of {self.where(row)} is {text!r}; it must be a number, or empty")
                ranks[row] = float(text)
        return ranks


def means_rankings(columns: Collection[str], task: str | None, features: Sequence[str]) -> bool:
    """Return whether columns are those of a long table: where the task says so, or leaves it open and no row has an id.

    Raises
    ------
    InputError
        If they should be and are not, or there are features, which rankings have none of.
    """
    there = {"query", "document"} & set(columns)
    is_long = len(there) == 2
    meant = is_long or (there and any(_RANK.fullmatch(name) for name in columns))  # one of the two was forgotten
    if task != "ranking" and (task is not None or "id" in columns or not meant):
        return False
    if not is_long or features:
        raise InputError(f"rankings need columns 'query' and 'document', and no features; there are {some_of(columns)}")
    return True


def pool_from_long(columns: Columns, *, classes: Any = None, typed: bool = True) -> Pool:
    """Return the pool of rankings that a long table's columns describe.

    Parameters
    ----------
    columns : mapping of str to ndarray
        ``query`` and ``document``; ``rank`` or, for several systems, ``<model>.rank``, empty or 0 where a system does
        not return the document; ``p_<grade>``, a grade model's probabilities; ``cost`` of judging the document;
        ``weight`` of the query, the same in all its rows. All others are shown to the labeller.
    classes : sequence of float, optional
        The grades; by default those of the columns ``p_<grade>``.
    typed : bool
        As for `pool_from_columns`.

    Raises
    ------
    InputError
        If a column is missing or a value is not allowed; the message names column, row, query and document.
    """
    if not len(columns["query"]):
        raise InputError("the pool is empty: it has no rows")
    layout = layout_of_long(list(columns), classes)
    table = _LongTable(columns, typed)
    grades = _grades(table, list(layout.grades.values())) if layout.grades else None
    return Pool(
        models={model: Ranking(ranks=table.ranks(name)) for model, name in layout.ranks.items()},
        classes=list(layout.grades) if classes is None and layout.grades else classes,
        queries=table.queries,
        documents=table.documents,
        grades=grades,
        costs=table.numbers("cost") if "cost" in columns else None,
        weights=_of_queries(table, "weight") if "weight" in columns else None,
        fields={name: table.shown(name) for name in layout.fields},
    )


@dataclass(frozen=True)
class LongLayout:
    """Names of a long table's columns: ranks by model, probabilities by grade, ascending, and what is shown."""

    ranks: dict[str, str]
    grades: dict[float, str]
    fields: list[str]


def layout_of_long(columns: Sequence[str], classes: Any = None) -> LongLayout:
    """Return what each column of a long table means, by its name.

    Raises
    ------
    InputError
        If there are no ranks, systems have no names, or the grades are not those of `classes`.
    """
    ranked = {name: found["model"] or _ONE for name in columns if (found := _RANK.fullmatch(name))}
    if not ranked:
        raise InputError(f"no column 'rank' or '<model>.rank'; there are {some_of(columns)}")
    if "rank" in ranked and len(ranked) > 1:
        raise InputError("columns 'rank' and those of other systems: all systems need a name, as in 'a.rank'")
    graded = {name: found["grade"] for name in columns if (found := _GRADE.fullmatch(name))}
    used = {"query", "document", "cost", "weight", *ranked, *graded}
    grades = _by_grade(graded, classes) if graded else {}
    shown = [name for name in columns if name not in used and not is_row_index(name)]
    warn_of_letters(shown, lambda name: name in ("cost", "weight") or _RANK.fullmatch(name) or _GRADE.fullmatch(name))
    return LongLayout({model: name for name, model in ranked.items()}, grades, shown)


def read_grade(text: str, column: str) -> float:
    """Return the grade that a column's name has."""
    if not reads_as_number(text):
        raise InputError(f"column {column!r}: the grade {text!r} must be a number")
    return float(text)


def _by_grade(graded: dict[str, str], classes: Any) -> dict[float, str]:
    """Return the columns of a grade model in the order of the grades."""
    columns: dict[float, str] = {}
    for column, text in graded.items():
        grade = read_grade(text, column)
        if columns.setdefault(grade, column) != column:
            raise InputError(f"columns {columns[grade]!r} and {column!r} are of the same grade: drop one")
    named = sorted(columns) if classes is None else listed("classes", classes)
    if not all(map(reads_as_number, named)):
        raise InputError(f"grades are numbers; classes={classes!r}")
    wanted = [float(grade) for grade in named]
    if sorted(columns) != sorted(wanted):
        raise InputError(f"grades are {wanted}; columns of probabilities are {list(graded)}")
    return {grade: columns[grade] for grade in wanted}


def _grades(table: _LongTable, columns: Sequence[str]) -> NDArray[Any]:
    """Return the grade model's probabilities."""
    read = [table.numbers(name, 0.0, 1.0) for name in columns]
    kind = np.float32 if all(column.dtype == np.float32 for column in read) else np.float64
    return np.column_stack([column.astype(kind, copy=False) for column in read])


def _of_queries(table: _LongTable, name: str) -> NDArray[Any]:
    """Return a column of queries, in their order of appearance; refuse one that differs within a query."""
    values = table.numbers(name)
    _, first, codes = np.unique(table.queries, return_index=True, return_inverse=True)
    differs = values != values[first[codes]]
    if differs.any():
        row = int(np.argmax(differs))
        raise InputError(f"{name} of {table.where(row)} is {values[row]}; it must be the same in all rows of a query")
    return values[np.sort(first)]
