"""Which rows of a block share a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats
from sondage.core.samples import bin_sums
from sondage.pools.missing import require_given
from sondage.pools.numeric import Where, as_column

__all__ = ["RowUnits", "code_units"]


@dataclass(frozen=True, eq=False)
class RowUnits:
    """Units of rows: each row's unit, or None where each row is one, and each unit's first row."""

    of_row: NDArray[np.int64] | None
    first: NDArray[np.int64]

    @staticmethod
    def alone(size: int) -> RowUnits:
        """Return those of rows that share nothing."""
        return RowUnits(None, np.arange(size))

    @staticmethod
    def together(groups: NDArray[Any], keys: NDArray[np.int64]) -> RowUnits:
        """Return those of rows that stand beside the others of their group; the first has the smallest key.

        Examples
        --------
        >>> units = RowUnits.together(np.array([7, 7, 5]), np.array([3, 1, 2]))
        >>> units.of_row.tolist(), units.first.tolist()
        ([0, 0, 1], [1, 2])
        """
        if not len(groups):
            return RowUnits(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        starts = np.concatenate([[True], groups[1:] != groups[:-1]])
        of_row = (np.cumsum(starts) - 1).astype(np.int64)
        return RowUnits(of_row, np.lexsort((keys, of_row))[starts].astype(np.int64))

    def __len__(self) -> int:
        return len(self.first)

    def sums(self, values: Floats) -> Floats:
        """Return the sum over each unit's rows."""
        return values if self.of_row is None else bin_sums(self.of_row, values, len(self))

    def largest(self, values: Floats) -> Floats:
        """Return the largest positive value among each unit's rows."""
        if self.of_row is None:
            return np.asarray(values, dtype=np.float64)
        found = np.zeros(len(self))
        np.maximum.at(found, self.of_row, values)
        return found

    def spread(self, of_units: NDArray[Any]) -> NDArray[Any]:
        """Return a unit's value for each of its rows."""
        return of_units if self.of_row is None else of_units[self.of_row]


def code_units(groups: Any, size: int, keys: NDArray[np.int64], where: Where) -> RowUnits:
    """Return which rows share a label, first rows being those of the smallest key; refuse a row without a group."""
    names = as_column(groups, "groups", size)
    require_given(groups, names, "group", where)
    if names.dtype.kind == "O":
        names = np.array([str(name) for name in names.tolist()])
    _, units = np.unique(names, return_inverse=True)
    order = np.lexsort((keys, units))
    first = order[np.concatenate([[True], np.diff(units[order]) > 0])]
    return RowUnits(units.astype(np.int64), first.astype(np.int64))
