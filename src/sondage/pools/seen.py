"""Rows of a stored pool that were looked at: what is drawn is asked for again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.hashing import hash_ids
from sondage.errors import InputError
from sondage.pools.engines import Rows, column_of
from sondage.pools.ids import TWICE
from sondage.pools.kernels import Reader

__all__ = ["Seen"]


class Seen:
    """Rows by the hash keys of their units."""

    def __init__(self) -> None:
        self._at: dict[int, tuple[Rows, NDArray[np.int64]]] = {}
        self._ids: dict[int, Any] = {}

    def names_only(self) -> Seen:
        """Return one that shares the ids and has no rows: for the same items with other things said of them."""
        found = Seen()
        found._ids = self._ids
        return found

    def add(self, rows: Rows, reader: Reader) -> None:
        """Take rows; those that share a label stand together, and all of them are there.

        Raises
        ------
        InputError
            If an id stands in several rows, or is white space: engines trim fewer kinds of it than label files.
        """
        keys, units = reader.keys(rows), reader.units(rows)
        _require_names(rows["id"])
        _require_unique(keys, rows["id"])
        of_row = np.arange(len(units)) if units.of_row is None else units.of_row
        parts = np.split(np.lexsort((keys, of_row)), np.flatnonzero(np.diff(of_row)) + 1)
        own, names = keys[units.first].tolist(), rows["id"][units.first].tolist()
        for key, name, part in zip(own, names, parts, strict=bool(own)):
            self._at[key], self._ids[key] = (rows, part), name

    def know(self, names: Sequence[Any], hashed: bool) -> NDArray[np.int64]:
        """Take ids without their rows; return their keys."""
        keys = hash_ids(np.array(names, dtype=object if hashed else np.int64))
        self._ids |= dict(zip(keys.tolist(), names, strict=True))
        return keys

    def missing(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the keys whose rows were not looked at."""
        return np.array([key for key in keys.tolist() if key not in self._at], dtype=np.int64)

    def ids(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        """Return the ids of keys."""
        names = [self._ids[key] for key in keys.tolist()]
        return column_of(names) if names else np.empty(0, dtype=np.int64)

    def groups(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        """Return the groups of keys whose rows were looked at."""
        found = [self._at[key] for key in keys.tolist()]
        return np.array([rows["g"][part[0]] for rows, part in found])

    def rows(self, keys: NDArray[np.int64], names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return the rows of keys, in their order."""
        found = [self._at[key] for key in keys.tolist()]
        return {name: _joined([rows[name][part] for rows, part in found]) for name in names}


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return parts of a column in one; of signed and unsigned whole numbers NumPy would make floats."""
    if {part.dtype.kind for part in parts} == {"i", "u"}:
        parts = [part.astype(np.uint64) for part in parts]
    return np.concatenate(parts)


def _require_names(ids: NDArray[Any]) -> None:
    for name in ids.tolist() if ids.dtype.kind == "O" else ():
        if isinstance(name, str) and not name.strip():
            raise InputError(f"an id is {name!r}; it must be more than spaces")


def _require_unique(keys: NDArray[np.int64], ids: NDArray[Any]) -> None:
    order = np.argsort(keys, kind="stable")
    for at in np.flatnonzero(keys[order][1:] == keys[order][:-1]).tolist():
        one, other = (ids[order[place]] for place in (at, at + 1))
        if one == other:
            raise InputError(TWICE.format(one))
