"""What passes over a pool return: rows taken, an urn filled, what a draw left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats, Items
from sondage.core.urns import Urn

__all__ = ["Filled", "Profile", "RowChoice", "Taken", "Undrawn"]

RowChoice = Any
"""Some rows of a pool, that only the pool looks into: in memory a mask, bool (N,), else data for a query."""


@dataclass(frozen=True, eq=False)
class Taken:
    """Some units of a pool: their ids, rows, each row's place among them where rows share labels, and costs."""

    ids: list[Any]
    items: Items
    units: NDArray[np.int64] | None
    costs: Floats | None


@dataclass(frozen=True, eq=False)
class Undrawn:
    """Rows that were not drawn: their units' sizes, and each row's place among the units where rows share labels."""

    items: Items
    sizes: Floats
    units: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Profile:
    """Sizes of units by a design and by another term, their costs, and how many are alike; None for one each."""

    sizes: Floats
    others: Floats
    costs: Floats | None
    counts: Floats | None = None


@dataclass(frozen=True, eq=False)
class Filled:
    """An urn, and what it reaches.

    Attributes
    ----------
    urn : Urn
        Every unit with its size.
    share : float
        Base weight of the rows that have a size.
    covers : bool
        Whether every row that can matter has one, so that labelling all of them is exact.
    outside : choice of rows, or None
        Those not asked for yet that have none.
    immovable : bool
        Whether no row that was not asked for yet can matter: whatever their labels are, the result is the same.
    """

    urn: Urn
    share: float
    covers: bool
    outside: RowChoice | None
    immovable: bool = False
