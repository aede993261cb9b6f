"""Where equal shares of a stored table's rows end, by a value: found by cells, which are split where an end is.

A query adds up what each of about a million cells weighs, and says which values it has, from the least to the greatest.
Those with an end in them and several values are split anew, until few rows are left in them, whose values are fetched.
Memory does not grow with the rows, and the number of queries as their logarithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.binned import Quantity, mass_ends
from sondage.core.predictions import Floats
from sondage.pools.scans import Scan
from sondage.pools.sql.quantities import quantity_of
from sondage.pools.sql.text import Select, number

__all__ = ["Cells", "StoredValues"]

MOST_CELLS = 1 << 20
"""Cells that a query counts in at most; of so few rows each value is told."""


@dataclass(frozen=True)
class StoredValues:
    """Values of rows that are not in memory, for measures that take bins from them."""

    scan: Scan

    def ends(self, quantity: Quantity, model: int, count: int, *, singly: bool = False) -> Floats:
        """Return the upper ends of bins, as `sondage.core.measures.binned.ItemValues` does."""
        cells = Cells(self.scan, lambda select: quantity_of(quantity, self.scan.schema, model))
        while singly and cells.several.any() and len(cells.low) + int(cells.several.sum()) <= count:
            cells.split(cells.several)
        if singly and not cells.several.any() and len(cells.low) <= count:
            return cells.low
        while True:
            at = np.unique(mass_ends(np.cumsum(cells.mass), count))
            more = np.zeros(len(cells.low), dtype=np.bool_)
            more[at] = True
            if not cells.split(more):
                return cells.high[at]

    def extremes(self, models: Sequence[int]) -> tuple[float, float]:
        """Return the least and the greatest number that any of these models predicts."""
        _ = self.scan.survey  # the rows are sound
        select, codes = self.scan.base.select(), [self.scan.schema.models[model].code for model in models]
        columns = {f"{of}_{code}": f"{of}({code})" for of in ("MIN", "MAX") for code in codes}
        (found,) = self.scan.ask(select.aggregated(columns), select, "extremes of predictions")
        low, high = ([float(found[f"{of}_{code}"]) for code in codes] for of in ("MIN", "MAX"))
        return min(low), max(high)


class Cells:
    """Values in [0, 1] in order: what is between the least and the greatest of each cell, and what it weighs.

    Parameters
    ----------
    scan : Scan
        The rows.
    value : callable
        Returns the expression of a row's value, a double, given the query.
    """

    def __init__(self, scan: Scan, value: Callable[[Select], str]) -> None:
        self.scan, self.value = scan, value
        self.low, self.high, self.mass = np.zeros(1), np.ones(1), np.ones(1)
        self._rows, self._number = np.array([len(scan)]), np.zeros(1, dtype=np.int64)
        self._levels: list[_Level] = []

    @property
    def several(self) -> NDArray[np.bool_]:
        """Whether a cell has several values, and can be split."""
        return (self.low < self.high) & (self._number >= 0)

    def split(self, wanted: NDArray[np.bool_]) -> bool:
        """Split those of some cells that have several values; return whether there were any."""
        wanted = wanted & self.several
        if not wanted.any():
            return False
        whole = int(self._rows[wanted].sum()) <= MOST_CELLS
        level = _Level.of(self._number[wanted], self.low[wanted], self.high[wanted])
        select, value, cell = self._located(level, whole)
        weight = "w" if self.scan.schema.weight is not None else "1e0"
        columns = {"mass": f"SUM({weight})", "n": "COUNT(*)", "low": f"MIN({value})", "high": f"MAX({value})"}
        found = self.scan.engine.query(select.aggregated(columns, [cell]), select.tables, "bins")
        self._levels.append(level)
        parts = {
            "low": np.asarray(found["low"], dtype=np.float64),
            "high": np.asarray(found["high"], dtype=np.float64),
            "mass": np.asarray(found["mass"], dtype=np.float64),
            "_rows": np.asarray(found["n"], dtype=np.int64),
            "_number": np.full(len(found["n"]), -1) if whole else np.asarray(found[cell], dtype=np.int64),
        }
        self._number = np.full(len(self.low), -1)  # split or never to be
        order = np.argsort(np.concatenate([self.low[~wanted], parts["low"]]), kind="stable")
        for name, column in parts.items():
            setattr(self, name, np.concatenate([getattr(self, name)[~wanted], column])[order])
        return True

    def _located(self, last: _Level, whole: bool) -> tuple[Select, str, str]:
        """Return the query of the rows in the cells to be split, with the columns of value and of the new cell."""
        _ = self.scan.survey  # the rows are sound, and it is known how they are read
        select = self.scan.base.select()
        value = select.one(self.value(select))
        cell = select.one("CAST(0 AS BIGINT)")
        for place, level in enumerate((*self._levels, last)):
            level.join(select, f"level{place}", cell)
            if level is last and whole:
                return select, value, value
            cell = select.one(level.cell(f"level{place}", value))
        return select, value, cell


@dataclass(frozen=True, eq=False)
class _Level:
    """Cells that are split in equal parts: their numbers, where they begin, and how many parts a unit has."""

    number: NDArray[np.int64]
    low: Floats
    scale: Floats
    parts: int

    @staticmethod
    def of(numbers: NDArray[np.int64], low: Floats, high: Floats) -> _Level:
        parts = max(2, MOST_CELLS // len(numbers))
        with np.errstate(over="ignore"):
            return _Level(numbers, low, np.minimum(parts / (high - low), np.finfo(np.float64).max), parts)

    def join(self, select: Select, name: str, cell: str) -> None:
        """Keep the rows in these cells, with the columns of the table."""
        columns = {"low": self.low, "scale": self.scale, "first": np.arange(len(self.low)) * self.parts}
        select.tables[name] = {f"{name}_cell": self.number} | {f"{name}_{key}": c for key, c in columns.items()}
        shown = ", ".join(f"m.{name}_{key}" for key in columns)
        select.kept(lambda text: f"SELECT t.*, {shown} FROM ({text}) t JOIN {{{name}}} m ON m.{name}_cell = t.{cell}")

    def cell(self, name: str, value: str) -> str:
        """Return the number of a row's part."""
        place = f"least(floor(({value} - {name}_low) * {name}_scale), {number(self.parts - 1)})"
        return f"{name}_first + CAST({place} AS BIGINT)"
