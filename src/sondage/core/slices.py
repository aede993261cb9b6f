"""What comes back of slices: an estimate for each, and one of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sondage.core.display import Shown
from sondage.core.results import Estimate
from sondage.errors import InputError

__all__ = ["Slices"]


@dataclass(frozen=True, eq=False)
class Slices(Shown, Mapping[Any, Estimate]):
    """Estimates of one measure on slices of a pool, or on several pools, that shared a budget; a mapping by name.

    Attributes
    ----------
    estimates : mapping of name to Estimate
        Each slice's own, from its own labels.
    overall : Estimate
        Of all slices together: the value of the joined pool means. Its warnings name the slice.
    shares : mapping of name to float
        Base weight of each slice in the whole, summing to 1.

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> found = evaluate(pool, "error_rate", labels=[0, 1, 1, 1], budget=4, slices=["a", "a", "b", "b"])
    >>> found["b"].value, found.overall.value
    (0.5, 0.25)
    """

    estimates: Mapping[Any, Estimate]
    overall: Estimate
    shares: Mapping[Any, float]

    def __getitem__(self, name: Any) -> Estimate:
        if name not in self.estimates:
            raise InputError(f"no slice {name!r}; there are {list(self.estimates)}")
        return self.estimates[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {estimate}" for name, estimate in (*self.items(), ("overall", self.overall)))

    @property
    def n_labels(self) -> int:
        """Distinct items labelled, in all slices."""
        return self.overall.n_labels

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know, with the slice that it is of."""
        return self.overall.warnings
