"""Columns that a user hands over, as arrays of numbers; the first row that has none is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.blocks import row_blocks
from sondage.core.checks import LARGEST_NUMBER
from sondage.core.predictions import Floats
from sondage.errors import InputError
from sondage.pools.missing import as_array, is_missing
from sondage.pools.table import as_number

__all__ = [
    "AMOUNTS",
    "LARGEST_VARIANCE",
    "LEAST_VARIANCE",
    "Where",
    "as_column",
    "floats",
    "numeric",
    "positive_column",
    "require_each",
]

LARGEST_VARIANCE = LARGEST_NUMBER**2
LEAST_VARIANCE = 1e-100
"""Of a variance that is not 0: less is taken as this, since what is computed of it, and of its root, would be 0."""
AMOUNTS = (1e-100, 1e100)
"""The least and the largest weight or cost: squares are summed over a pool."""

Where = Callable[[int], str]
"""Names a row in messages."""


def as_column(values: Any, name: str, size: int | None) -> NDArray[Any]:
    """Return a one-dimensional array of this size; lists, frames' columns and Arrow arrays are taken."""
    array = as_array(values, name)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; it must be one column")
    if size is not None and len(array) != size:
        raise InputError(f"{name} has {len(array)} rows; it must have {size}")
    return array


def numeric(array: NDArray[Any], name: str, where: Where) -> NDArray[Any]:
    """Return the array if it is numbers and finite, or name the first row that is not."""
    if array.dtype.kind not in "fiub":
        array = _parsed(array, name, where)
    if array.dtype.kind == "f":
        require_each(array, np.isfinite, name=name, where=where, allowed="finite")
        if array.dtype.itemsize not in (4, 8):  # NumPy reckons in half and in extended precision if nobody stops it
            array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    return array


def require_each(
    array: NDArray[Any], holds: Callable[[NDArray[Any]], NDArray[np.bool_]], *, name: str, where: Where, allowed: str
) -> None:
    """Name the first number for which something does not hold: of a table its row and column, from 0."""
    for part in row_blocks(len(array), array.size // max(len(array), 1)):
        bad = ~holds(array[part])
        if bad.any():
            at, *column = np.unravel_index(int(np.argmax(bad)), bad.shape)
            row, place = part.start + int(at), "".join(f" in column {number}" for number in column)
            raise InputError(f"{name} of {where(row)} is {array[row, *column]}{place}; it must be {allowed}")


def _parsed(array: NDArray[Any], name: str, where: Where) -> NDArray[np.float64]:
    """Return texts and objects as numbers, NaN where a value is missing, or name the first row that has none."""
    if array.dtype.kind not in "OUS":
        raise InputError(f"{name} must be numbers, not {array.dtype}")
    numbers: list[float] = []
    for value in array.ravel().tolist():
        try:
            numbers.append(np.nan if is_missing(value) else as_number(value))
        except (TypeError, ValueError):
            row = len(numbers) * len(array) // array.size
            raise InputError(f"{name} of {where(row)} is {value!r}; it must be a number") from None
    return np.array(numbers).reshape(array.shape)


def positive_column(values: Any, name: str, size: int, where: Where) -> NDArray[Any]:
    """Return a column of positive finite numbers, or name the first row that is not."""
    array = numeric(as_column(values, name, size), name, where)
    if len(array) and not array.min() > 0:
        row = int(np.argmin(array > 0))
        raise InputError(f"{name} of {where(row)} is {array[row]}; it must be positive")
    low, high = AMOUNTS
    require_each(
        array,
        lambda part: (floats(part) >= low) & (floats(part) <= high),
        name=name,
        where=where,
        allowed=f"{low:g} to {high:g}",
    )
    return array


def floats(array: NDArray[Any]) -> Floats:
    """Return a float64 view or copy."""
    return np.asarray(array, dtype=np.float64)
