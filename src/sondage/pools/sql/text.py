"""Pieces of SQL that mean the same to every engine.

Numbers are written with an exponent: a bare decimal is a DECIMAL to some, many times slower and with other last digits.
Long sums are balanced, since engines limit how deep an expression is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs.columns import LEAST_TOLD

__all__ = [
    "MOST_CASES",
    "NoForm",
    "Select",
    "Tables",
    "chosen",
    "clipped",
    "literal",
    "log_odds",
    "number",
    "positive",
    "product_sum",
    "total",
]

MOST_CASES = 8
"""Rows of a table that is spelled out; longer ones are joined."""

Tables = Mapping[str, Mapping[str, NDArray[Any]]]
"""Small tables that a query joins, by name."""


class NoForm(Exception):
    """There is no SQL for this: the rows go through the NumPy kernel."""


def number(value: Any) -> str:
    """Return a double as a literal, the same bits on every engine.

    Examples
    --------
    >>> number(0.1), number(-2.0), number(1e300)
    ('0.1e0', '(-2.0e0)', '1e+300')
    """
    if not np.isfinite(value):
        raise NoForm(f"{value} has no literal")
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def literal(text: str) -> float | None:
    """Return the number that `number` wrote; None of any other expression.

    Examples
    --------
    >>> literal("(-2.0e0)"), literal("e3")
    (-2.0, None)
    """
    try:
        return float(text.removeprefix("(").removesuffix(")"))
    except ValueError:
        return None


def chosen(flag: str, yes: str, no: str) -> str:
    """Return one of two numbers exactly, by a column that is 0 or 1.

    Products and sums run over thousands of rows at a time; CASE, least and greatest branch at every row.
    """
    if (literal(yes), literal(no)) == (1.0, 0.0):
        return flag
    return f"({flag} * {yes} + (1e0 - {flag}) * {no})"


def positive(value: str) -> str:
    """Return a column where it is positive, else 0, exactly."""
    return f"({value} + abs({value})) * 5e-1"


def total(terms: Sequence[str]) -> str:
    """Return a balanced sum.

    Examples
    --------
    >>> total(["a", "b", "c"])
    '(a + (b + c))'
    """
    if not terms:
        return "0e0"
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return f"({total(terms[:middle])} + {total(terms[middle:])})"


def product_sum(first: Sequence[str], second: Sequence[str]) -> str:
    """Return the sum of products."""
    return total([f"{a} * {b}" for a, b in zip(first, second, strict=True)])


def clipped(expression: str, low: float, high: float) -> str:
    """Return an expression bounded on both sides."""
    return f"least(greatest({expression}, {number(low)}), {number(high)})"


def log_odds(probability: str) -> str:
    """Return log odds, as `sondage.core.beliefs.columns.log_odds`; the probability is a column's name."""
    inside = clipped(probability, LEAST_TOLD, 1.0 - LEAST_TOLD)
    return f"(ln({inside}) - ln(1e0 - {inside}))"


class Select:
    """A query that grows by columns; each layer sees the columns of those before."""

    def __init__(self, text: str, tables: Tables | None = None) -> None:
        self.text = text
        self.tables: dict[str, Mapping[str, NDArray[Any]]] = dict(tables or {})
        self.memo: dict[Any, Any] = {}
        self._fresh = count()
        self._named: dict[str, str] = {}

    def let(self, expressions: Sequence[str]) -> list[str]:
        """Add columns in one layer; return their names. Numbers and columns stay what they are."""
        names, added = [], []
        for text in expressions:
            if text.isidentifier() or literal(text) is not None:
                names.append(text)
                continue
            if text not in self._named:
                self._named[text] = f"e{next(self._fresh)}"
                added.append(f"{text} AS {self._named[text]}")
            names.append(self._named[text])
        if added:
            self.text = f"SELECT t.*, {', '.join(added)} FROM ({self.text}) t"
        return names

    def one(self, expression: str) -> str:
        """Add a column; return its name."""
        return self.let([expression])[0]

    def where(self, condition: str) -> None:
        """Keep rows."""
        self.text = f"SELECT t.* FROM ({self.text}) t WHERE {condition}"

    def among(self, column: str, name: str, values: NDArray[Any]) -> None:
        """Keep rows whose value of a column is among different ones."""
        self.tables[name] = {f"{name}_one": values}
        self.text = f"SELECT t.* FROM ({self.text}) t JOIN {{{name}}} m ON m.{name}_one = t.{column}"

    def apart(self, column: str, name: str, values: NDArray[Any]) -> None:
        """Drop rows whose value of a column is among these: a join, for nested queries some optimisers unfold."""
        self.tables[name] = {f"{name}_one": values}
        joined = f"LEFT JOIN {{{name}}} m ON m.{name}_one = t.{column}"
        self.text = f"SELECT t.* FROM ({self.text}) t {joined} WHERE m.{name}_one IS NULL"

    def looked_up(self, key: str, values: NDArray[Any]) -> list[str]:
        """Return expressions of the columns of a table (rows, columns) at the row that a column of codes names."""
        if len(values) <= MOST_CASES:
            return [_cases(key, column) for column in values.T]
        name = f"look{len(self.tables)}"
        columns = {f"{name}_{at}": np.ascontiguousarray(column, dtype=np.float64) for at, column in enumerate(values.T)}
        self.tables[name] = {f"{name}_row": np.arange(len(values))} | columns
        self.text = (
            f"SELECT t.*, {', '.join(f'm.{column}' for column in columns)} FROM ({self.text}) t "
            f"LEFT JOIN {{{name}}} m ON m.{name}_row = t.{key}"
        )
        return list(columns)

    def only(self, columns: Sequence[str]) -> str:
        """Return the query of some columns."""
        return f"SELECT {', '.join(columns)} FROM ({self.text}) t"

    def aggregated(self, columns: Mapping[str, str], by: Sequence[str] = ()) -> str:
        """Return the query of aggregates over all rows, or for each group."""
        groups = ", ".join(by)
        shown = ", ".join([*by, *(f"{text} AS {name}" for name, text in columns.items())])
        return f"SELECT {shown} FROM ({self.text}) t" + (f" GROUP BY {groups}" if by else "")


def _cases(key: str, column: NDArray[Any]) -> str:
    if np.all(column == column[0]):
        return number(column[0])
    if len(column) == 2:
        return chosen(f"CAST({key} AS DOUBLE)", number(column[1]), number(column[0]))
    cases = " ".join(f"WHEN {row} THEN {number(value)}" for row, value in enumerate(column[:-1]))
    return f"CASE {key} {cases} ELSE {number(column[-1])} END"
