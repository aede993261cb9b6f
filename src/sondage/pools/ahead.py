"""Rows for a draw that comes later, found on the way of a pass that is made before sizes are known.

A draw takes rows whose numbers are close to 1 for their size. While no row's size is far above the mean, those whose
numbers are closest to 1 of all are enough, whatever the sizes turn out to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sondage.core.draws import lookahead
from sondage.pools.engines import Rows, column_of

__all__ = ["Coming", "Gathered", "allowance", "columns_of"]

SLACK = 1.1
"""By how much more rows are gathered than a draw is expected to look at."""
MARGIN = 16.0
"""How far the largest size may be above the mean; rows are gathered in proportion."""
MOST = 1 << 19
"""Values of the rows that are gathered: where many models make rows wide, a further look at them takes less time."""


def allowance(labels: float) -> float:
    """Return how many times the labels wanted a draw looks at, so that it seldom has to look again."""
    return SLACK * lookahead(labels)


@dataclass(frozen=True)
class Coming:
    """A draw of so many labels, of sizes that are not known yet."""

    seed: int
    stage: int
    budget: float

    def reach(self, count: int, width: int) -> float | None:
        """Return how far from 1 the numbers of the rows may be that are gathered of so many; None of rows too wide."""
        found = min(1.0, MARGIN * self.budget * allowance(self.budget) / max(count, 1))
        return found if found * count * width <= MOST else None


@dataclass(frozen=True, eq=False)
class Gathered:
    """All rows whose numbers for a draw are this close to 1."""

    coming: Coming
    reach: float
    rows: Rows

    def serves(self, seed: int, stage: int, limit: float) -> bool:
        """Return whether rows this far from 1 are all among them."""
        return (seed, stage) == (self.coming.seed, self.coming.stage) and (limit <= self.reach or self.reach >= 1)


def columns_of(lists: Sequence[Any], names: Sequence[str]) -> Rows:
    """Return columns from lists of rows, one for each group; None of a group that has none."""
    rows = [row for group in lists if group is not None for row in group]
    return {name: column_of([row[name] for row in rows]) for name in names}
