"""How labellers share the items of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sondage.core.checks import require, require_count, require_number
from sondage.core.hashing import hash_ids, uniforms
from sondage.errors import InputError

__all__ = ["Sharing", "make_sharing"]

MOST_RATERS = 1_000
"""People who label one item."""
LONGEST_LEASE = 366 * 24 * 60
"""Minutes."""

_SHARED_STAGE = -1
"""In place of a stage's number, so that no draw uses these numbers."""


@dataclass(frozen=True)
class Sharing:
    """How labellers share the items of a study.

    Attributes
    ----------
    raters : int
        How many people label each item of the share `overlap`; one person labels each other item.
    overlap : float
        Share of the items that several people label, in [0, 1].
    lease : float
        Minutes that a claim holds.
    """

    raters: int = 1
    overlap: float = 0.0
    lease: float = 30.0

    @property
    def labels_each(self) -> float:
        """How many labels an item is to get, on average."""
        return 1 + self.overlap * (self.raters - 1)

    def of(self, ids: Sequence[Any], seed: int) -> list[int]:
        """Return how many people label each item: chosen by a number of its own, whatever the others are."""
        if self.raters == 1 or not len(ids):
            return [1] * len(ids)
        keys = np.concatenate([hash_ids(np.array([name])) for name in ids])
        numbers = uniforms(keys, seed, _SHARED_STAGE)
        return [self.raters if number < self.overlap else 1 for number in numbers.tolist()]


def make_sharing(raters: int | None, overlap: float | None, lease: float) -> Sharing:
    """Return how labellers share the items.

    Raises
    ------
    InputError
        If a number is not allowed.
    """
    if raters is not None:
        require_count("raters", raters)
        require(raters <= MOST_RATERS, f"raters={raters:,} must be at most {MOST_RATERS:,}")
    if overlap is not None:
        require_number("overlap", overlap)
    require_number("lease", lease)
    several = raters is not None and raters > 1
    sharing = Sharing(
        int(raters) if raters is not None else 2 if overlap else 1,
        overlap if overlap is not None else float(several),
        lease,
    )
    if not 0 <= sharing.overlap <= 1:
        raise InputError(f"overlap={sharing.overlap:g} is not a share; allowed is 0 to 1")
    if sharing.overlap and sharing.raters == 1:
        raise InputError(f"overlap={sharing.overlap:g} needs raters of 2 or more, not 1")
    if not 0 < sharing.lease <= LONGEST_LEASE:
        raise InputError(f"lease={sharing.lease:g} must be above 0 and at most {LONGEST_LEASE:,} minutes (a year)")
    return sharing
