"""Which rows of a block share a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats
from sondage.core.samples import bin_sums

__all__ = ["RowUnits"]


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
