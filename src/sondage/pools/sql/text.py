"""Pieces of SQL that mean the same to every engine.

Numbers are written with an exponent: a bare decimal is a DECIMAL to some, many times slower and with other last digits.
Long sums are balanced, since engines limit how deep an expression is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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

_JOIN = 3000
"""Characters that a joined table counts for: it is a layer of its own."""

_NAMES = re.compile(r"\b[a-z_]\w*")
"""Of columns, and of functions."""

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


@dataclass(frozen=True, eq=False)
class _Step:
    """What a query does with the rows of the one inside it.

    Attributes
    ----------
    around : callable
        Returns the query around a text, with so many of its columns.
    columns : mapping of str to str
        Columns that it adds or chooses, each with what it is made of; it can do without.
    reads : str
        What it reads besides.
    """

    around: Callable[[str, Sequence[str]], str]
    columns: Mapping[str, str]
    reads: str = ""


def _layer(columns: Mapping[str, str]) -> _Step:
    """Return the step of columns beside those that are there."""

    def around(text: str, left: Sequence[str]) -> str:
        added = "".join(f", {columns[name]} AS {name}" for name in left)
        return f"SELECT t.*{added} FROM ({text}) t" if left else text

    return _Step(around, columns)


class Select:
    """A query that grows by columns, in as few layers as they need; each layer sees the columns of those before.

    Examples
    --------
    >>> select = Select("SELECT x FROM rows")
    >>> select.one("x + 1e0"), select.one("e0 * e0"), select.one("x * x")
    ('e0', 'e1', 'e2')
    >>> select.text
    'SELECT t.*, e0 * e0 AS e1 FROM (SELECT t.*, x + 1e0 AS e0, x * x AS e2 FROM (SELECT x FROM rows) t) t'
    >>> select.only(["e2"])
    'SELECT e2 FROM (SELECT t.*, x * x AS e2 FROM (SELECT x FROM rows) t) t'
    """

    room = math.inf
    """Characters by which it may still grow before there is no form."""

    def __init__(self, text: str, tables: Tables | None = None) -> None:
        self.text = text
        self.tables: dict[str, Mapping[str, NDArray[Any]]] = dict(tables or {})
        self.memo: dict[Any, Any] = {}
        self._fresh = count()
        self._named: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The query so far, with all its columns; a new one in its place has all of its own."""
        return self._of(None)

    @text.setter
    def text(self, text: str) -> None:
        self._inner = text
        self._steps: list[_Step] = []
        self._begin()

    def _begin(self) -> None:
        self._layers: list[dict[str, str]] = []
        self._depths: dict[str, int] = {}

    def _of(self, shown: str | None) -> str:
        """Return the query with the columns that an expression needs, by whatever they are made of; None for all.

        An engine plans what it then does not compute: of one model among hundreds for longer than the pass takes.
        """
        wanted = None if shown is None else set(_NAMES.findall(shown))
        plan = []
        for step in reversed([*self._steps, *map(_layer, self._layers)]):
            left = [n for n in step.columns if wanted is None or n in wanted or not n.isidentifier()]
            if wanted is not None:
                wanted.update(_NAMES.findall(" ".join([step.reads, *(step.columns[name] for name in left)])))
            plan.append((step, left))
        text = self._inner
        for step, left in reversed(plan):
            text = step.around(text, left)
        return text

    def _step(self, step: _Step) -> None:
        """Take a step that is not of added columns alone: what comes after it begins new layers."""
        self._steps += [*map(_layer, self._layers), step]
        self._begin()

    def choose(self, columns: Mapping[str, str]) -> None:
        """Have these columns in place of all others, each by its expression."""

        def around(text: str, left: Sequence[str]) -> str:
            shown = (f"{columns[name]} AS {name}" for name in left or list(columns)[:1])
            return f"SELECT {', '.join(shown)} FROM ({text}) t"

        self._step(_Step(around, columns))

    def joined(self, columns: Sequence[str], table: str, on: str) -> None:
        """Add columns of a table, of which each row meets one row or none; `on` tells which, by t and m."""

        def around(text: str, left: Sequence[str]) -> str:
            shown = "".join(f", m.{name}" for name in columns)
            return f"SELECT t.*{shown} FROM ({text}) t LEFT JOIN {{{table}}} m ON {on}" if left else text

        self._step(_Step(around, dict.fromkeys(columns, on)))

    def kept(self, around: Callable[[str], str]) -> None:
        """Keep rows by a query around this one."""
        self._step(_Step(lambda text, left: around(text), {}, around("")))

    def let(self, expressions: Sequence[str]) -> list[str]:
        """Add columns; return their names. Numbers and columns stay what they are."""
        return [self.one(text) for text in expressions]

    def one(self, expression: str) -> str:
        """Add a column; return its name."""
        if expression.isidentifier() or literal(expression) is not None:
            return expression
        if expression not in self._named:
            self._named[expression] = f"e{next(self._fresh)}"
            self.add({self._named[expression]: expression})
        return self._named[expression]

    def add(self, columns: Mapping[str, str]) -> None:
        """Add columns of these names, which are new, each in the first layer that sees all that it is made of.

        Raises
        ------
        NoForm
            If there is no room for them.
        """
        self._grow(sum(map(len, columns.values())))
        for name, expression in columns.items():
            depth = max((self._depths.get(part, 0) for part in _NAMES.findall(expression)), default=0)
            if depth == len(self._layers):
                self._layers.append({})
            self._layers[depth][name] = expression
            self._depths[name] = depth + 1

    def _grow(self, characters: int) -> None:
        """Take room, or refuse."""
        self.room -= characters
        if self.room < 0:
            raise NoForm("a query that is too long")

    def where(self, condition: str) -> None:
        """Keep rows."""
        self.kept(lambda text: f"SELECT t.* FROM ({text}) t WHERE {condition}")

    def among(self, column: str, name: str, values: NDArray[Any]) -> None:
        """Keep rows whose value of a column is among different ones."""
        self.tables[name] = {f"{name}_one": values}
        self.kept(lambda text: f"SELECT t.* FROM ({text}) t JOIN {{{name}}} m ON m.{name}_one = t.{column}")

    def apart(self, column: str, name: str, values: NDArray[Any]) -> None:
        """Drop rows whose value of a column is among these: a join, for nested queries some optimisers unfold."""
        self.tables[name] = {f"{name}_one": values}
        joined = f"LEFT JOIN {{{name}}} m ON m.{name}_one = t.{column}"
        self.kept(lambda text: f"SELECT t.* FROM ({text}) t {joined} WHERE m.{name}_one IS NULL")

    def looked_up(self, key: str, values: NDArray[Any]) -> list[str]:
        """Return expressions of the columns of a table (rows, columns) at the row that a column of codes names."""
        if len(values) <= MOST_CASES:
            return [_cases(key, column) for column in values.T]
        self._grow(_JOIN)
        name = f"look{len(self.tables)}"
        columns = {f"{name}_{at}": np.ascontiguousarray(column, dtype=np.float64) for at, column in enumerate(values.T)}
        self.tables[name] = {f"{name}_row": np.arange(len(values))} | columns
        self.joined(list(columns), name, f"m.{name}_row = t.{key}")
        return list(columns)

    def only(self, columns: Sequence[str]) -> str:
        """Return the query of some columns."""
        shown = ", ".join(columns)
        return f"SELECT {shown} FROM ({self._of(shown)}) t"

    def aggregated(self, columns: Mapping[str, str], by: Sequence[str] = ()) -> str:
        """Return the query of aggregates over all rows, or for each group."""
        groups = ", ".join(by)
        shown = ", ".join([*by, *(f"{text} AS {name}" for name, text in columns.items())])
        return f"SELECT {shown} FROM ({self._of(shown)}) t" + (f" GROUP BY {groups}" if by else "")


def _cases(key: str, column: NDArray[Any]) -> str:
    if np.all(column == column[0]):
        return number(column[0])
    if len(column) == 2:
        return chosen(f"CAST({key} AS DOUBLE)", number(column[1]), number(column[0]))
    cases = " ".join(f"WHEN {row} THEN {number(value)}" for row, value in enumerate(column[:-1]))
    return f"CASE {key} {cases} ELSE {number(column[-1])} END"
