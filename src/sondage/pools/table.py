"""The columns of a table, read as names or numbers, or refused by column, row and id."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.errors import InputError, warn

__all__ = [
    "NUMBER",
    "WHOLE",
    "Columns",
    "Table",
    "as_number",
    "is_int64",
    "is_row_index",
    "number_or_nan",
    "pointed",
    "reads_as_number",
    "warn_of_letters",
]

WHOLE = re.compile(r"0|-?[1-9]\d*")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
CODE = re.compile(r"0\d+")

_ROW_INDEX = re.compile(r"__index_level_\d+__")

Columns = Mapping[str, NDArray[Any]]


class Table:
    """Columns that are read as names or numbers, or refused by row and id; by row alone unless ids are `given`."""

    def __init__(self, columns: Columns, typed: bool, *, given: bool = True) -> None:
        self.columns, self.typed = columns, typed
        self.ids: NDArray[Any] = np.arange(len(columns["id"]))
        self._ids_read = False
        self.ids = self.names("id")
        self._ids_read = given

    def where(self, row: int) -> str:
        """Return how messages name a row."""
        return f"row {row} (id {self.ids[row]})" if self._ids_read else f"row {row}"

    def names(self, name: str) -> NDArray[Any]:
        """Return a column of names: whole numbers if all are written as such, else as they are."""
        column = self._complete(name)
        if column.dtype.kind == "f":
            return _whole(column)
        if not self.typed and all(map(is_int64, column.tolist())):
            return column.astype(np.int64)
        return column

    def predictions(self, name: str) -> NDArray[Any]:
        """Return a column of predictions: classes, or numbers; codes such as 0110 are names, as they are written."""
        column = self._complete(name)
        if not self.typed and all(NUMBER.fullmatch(text) and not CODE.fullmatch(text) for text in column.tolist()):
            column = column.astype(np.float64)
        return _whole(column) if column.dtype.kind == "f" else column

    def numbers(self, name: str, low: float = -np.inf, high: float = np.inf, *, above: str = "") -> NDArray[Any]:
        """Return a column of finite numbers within bounds; `above` is what to add where one is too large."""
        column = self._complete(name)
        if column.dtype.kind not in "fiub":
            column = self._parsed(name, column)
        outside = ~np.isfinite(column) | (column < low) | (column > high)
        if outside.any():
            row = int(np.argmax(outside))
            allowed = (
                f"in [{low:g}, {high:g}]" if np.isfinite(high) else "finite, not negative" if low == 0 else "finite"
            )
            told = above if high < column[row] < np.inf else ""
            raise InputError(f"{name} of {self.where(row)} is {column[row]}; it must be {allowed}{told}")
        return column

    def feature(self, name: str) -> NDArray[Any]:
        """Return a column of numbers, shape (N,), or of lists of equally many numbers, shape (N, d)."""
        column = self._complete(name)
        if not self.typed or column.dtype != object or not isinstance(column[0], list | np.ndarray):
            return self.numbers(name)
        lengths = [len(row) if isinstance(row, list | np.ndarray) else -1 for row in column]
        odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            raise InputError(f"{name} of {self.where(odd)} is not a list of {lengths[0]} numbers, as that of row 0 is")
        return np.array([np.asarray(row) for row in column])

    def _parsed(self, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
        row = next((row for row, value in enumerate(column.tolist()) if not reads_as_number(value)), None)
        if row is not None:
            raise InputError(
                f"{name} of {self.where(row)} is {column[row]!r}; it must be a number{pointed(column[row])}"
            )
        return column.astype(np.float64)

    def _complete(self, name: str) -> NDArray[Any]:
        """Return a column without missing values."""
        column = self.columns[name]
        missing = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
        if missing is not None and missing.any():
            raise InputError(f"{name} of {self.where(int(np.argmax(missing)))} is missing; every row needs one")
        return np.asarray(column)

    def shown(self, name: str) -> NDArray[Any]:
        """Return a column for the labeller; missing values are None."""
        column = self.columns[name]
        if not isinstance(column, np.ma.MaskedArray):
            return np.asarray(column)
        values = column.data.astype(object)  # a copy: that of a frame cannot be written
        values[np.ma.getmaskarray(column)] = None
        return values


def _whole(column: NDArray[Any]) -> NDArray[Any]:
    """Return whole floats as integers, others as they are."""
    whole = np.array_equal(column, np.round(column)) and np.abs(column).max() < 2**53
    return column.astype(np.int64) if whole else column


def warn_of_letters(fields: Iterable[str], meaning: Callable[[str], Any]) -> None:
    """Warn of fields whose names, in small letters, would mean something: a column ``Weight`` weighs nothing."""
    for name in fields:
        small = name.strip().casefold()
        if small != name and meaning(small):
            message = f"column {name!r} is shown to labellers, and nothing else: what counts is called {small!r}"
            warn(message)


def is_row_index(name: str) -> bool:
    """Return whether a column is the index that pandas leaves in a Parquet file, of which nobody needs to see anything.

    Examples
    --------
    >>> is_row_index("__index_level_0__"), is_row_index("index")
    (True, False)
    """
    return _ROW_INDEX.fullmatch(name) is not None


def is_int64(text: str) -> bool:
    """Return whether a text is a whole number as tables keep it in 64 bits, so that files of text say the same.

    Examples
    --------
    >>> [is_int64(text) for text in ("12", "-3", "007", "9223372036854775807", "9223372036854775808")]
    [True, True, False, True, False]
    """
    return len(text) <= 20 and WHOLE.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


def as_number(value: Any) -> float:
    """Return a number, or the text of one, as a float; texts that only Python takes for numbers are none.

    Raises
    ------
    TypeError, ValueError
        If it is no number.

    Examples
    --------
    >>> as_number(" 1.5e3 "), as_number(2)
    (1500.0, 2.0)
    >>> as_number("1_000")
    Traceback (most recent call last):
    ValueError: '1_000' is not a number
    """
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()):
        raise ValueError(f"{value!r} is not a number")
    try:
        return float(value)
    except OverflowError:  # of a whole number; its text is infinite too
        return math.inf if value > 0 else -math.inf


def number_or_nan(value: Any) -> float:
    """Return a number, or the text of one, as `as_number`; NaN for what is none."""
    try:
        return as_number(value)
    except (TypeError, ValueError):
        return math.nan


def pointed(value: Any) -> str:
    """Return what to add where a value is a number with a decimal comma, as spreadsheets of some languages write it.

    Examples
    --------
    >>> pointed("0,25"), pointed("1,2,3")
    (': write 0.25', '')
    """
    text = value.strip().replace(",", ".", 1) if isinstance(value, str) and "," in value else ""
    return f": write {text}" if NUMBER.fullmatch(text) else ""


def reads_as_number(value: Any) -> bool:
    """Return whether a value is a number or the text of one, not in Python's own spelling.

    Examples
    --------
    >>> [reads_as_number(value) for value in (2, " 1.5e3 ", "nan", "1_000", "high", None)]
    [True, True, True, False, False, False]
    """
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not (isinstance(value, str) and "_" in value)
