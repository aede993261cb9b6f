"""What distributions over labels can do, and beliefs, which learn from labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from sondage.core.predictions import Floats, Items

__all__ = ["Belief", "Distribution", "Supposed"]

Supposed = tuple[Any, Any]


class Distribution(Protocol):
    """A distribution over labels for every item."""

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield (label, weight) pairs; over all pairs an item's weights sum to 1."""
        ...


class Belief(Distribution, Protocol):
    """A distribution that labels calibrate, as data that a pool engine can also express in its own way."""

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield labels that are possible whatever the belief says: enough of them to tell whether a label matters."""
        ...

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Belief:
        """Return the belief with its calibration fitted to these labels."""
        ...

    def plausible(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return distributions, one as likely as another, that labels leave possible; or this one alone.

        The weights, shape (n,), say how much of the pool each label stands for, on any scale.
        """
        ...

    def __hash__(self) -> int:
        """Beliefs are values, so that what follows from them need not be computed twice."""
        ...
