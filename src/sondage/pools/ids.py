"""The names of rows: checked, all different, and their keys in the hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.hashing import hash_ids
from sondage.errors import InputError, LabelError
from sondage.pools.missing import as_array, in_microseconds, require_given
from sondage.pools.numeric import numeric
from sondage.pools.texts import HALF

__all__ = ["TWICE", "check_ids", "require_found", "whole_numbers"]

TWICE = "id {} stands in more than one row; ids must be unique"


def require_found(names: Sequence[Any], places: Sequence[int | None]) -> NDArray[np.int64]:
    """Return the places of ids, shape (n,), in the order of the names.

    Raises
    ------
    LabelError
        If an id has no place, or that of another one.

    Examples
    --------
    >>> require_found(["a", "b"], [3, 1]).tolist()
    [3, 1]
    """
    owner: dict[int, Any] = {}
    for name, place in zip(names, places, strict=True):
        if place is None:
            raise LabelError(f"id {name!r} is not in the pool", ids=(name,))
        if place in owner:
            raise LabelError(f"id {name!r} comes twice, also as {owner[place]!r}", ids=(name,))
        owner[place] = name
    return np.array(list(owner), dtype=np.int64)


def check_ids(values: Any, size: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the ids, all different, by default the row numbers, and their keys in the hash."""
    if values is None:
        numbers = np.arange(size)
        return numbers, numbers
    kinds = {type(value) for value in values} if isinstance(values, Sequence) else set()
    if len(kinds) > 1 or (kinds == {int} and np.asarray(values).dtype.kind == "f"):  # NumPy would change these
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
    else:
        array = in_microseconds(as_array(values, "the id"))
    if array.ndim != 1:
        raise InputError(f"ids have shape {array.shape}; they must be one column (join the columns to one text)")
    array = whole_numbers(array)
    if len(array) != size:
        raise InputError(f"there are {len(array)} ids; the pool has {size} rows")
    if array.dtype.kind == "f":
        numeric(array, "the id", "row {}".format)
    require_given(array, array, "the id", "row {}".format)
    _require_names(array)
    try:
        keys = hash_ids(array)
    except UnicodeEncodeError as error:
        raise InputError(f"id {error.object!r} {HALF}") from None
    ordered = np.sort(keys)
    if (ordered[1:] == ordered[:-1]).any():
        _require_different(array)
    return array, keys


def whole_numbers(ids: NDArray[Any]) -> NDArray[Any]:
    """Return objects that are all whole numbers as an array of these, as files of them are read."""
    names = ids.tolist() if ids.dtype.kind == "O" else []
    if not names or not all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in names):
        return ids
    whole = np.array([int(name) for name in names])
    return whole if whole.dtype.kind in "iu" else ids


def _require_names(ids: NDArray[Any]) -> None:
    """Refuse ids of spaces only, which no label file can name, lists, and numbers that are equal in two types."""
    if ids.dtype.kind == "U":
        blank = np.char.isspace(ids) | (ids == "")
    elif ids.dtype.kind == "O":
        blank = np.fromiter((isinstance(name, str) and not name.strip() for name in ids), np.bool_, len(ids))
    else:
        return
    if blank.any():
        row = int(np.argmax(blank))
        raise InputError(f"the id of row {row} is {str(ids[row])!r}; it must be more than spaces")
    if ids.dtype.kind == "O":
        odd = next((row for row, name in enumerate(ids) if not isinstance(name, Hashable)), None)
        if odd is not None:
            raise InputError(f"the id of row {odd} is {ids[odd]!r}; it must be a text or a number")
        numbers = Counter(name for name in ids if isinstance(name, int | float))
        twice = next((name for name, count in numbers.items() if count > 1), None)
        if twice is not None:
            raise InputError(TWICE.format(twice))


def _require_different(ids: NDArray[Any]) -> None:
    """Refuse ids of the same text; those of equal keys only are rare, and allowed."""
    texts = sorted(str(name) for name in ids.tolist())
    for name, following in pairwise(texts):
        if name == following:
            raise InputError(TWICE.format(name))
