"""What comes back of slices: an estimate for each, and one of the whole."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sondage.core.checks import require_level, those_there
from sondage.core.display import Result
from sondage.core.intervals import mover_interval
from sondage.core.results import Estimate, Interval
from sondage.errors import InputError

__all__ = ["Slices", "named_whole"]


@dataclass(frozen=True, eq=False)
class Slices(Result, Mapping[Any, Estimate]):
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
            raise InputError(f"no slice {name!r}; {those_there(name, self.estimates)}")
        return self.estimates[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        whole = named_whole("overall", self)
        return "\n".join(f"{name}: {estimate}" for name, estimate in (*self.items(), (whole, self.overall)))

    def change(self, first: Any, second: Any, level: float = 0.95) -> Interval:
        """Return the interval of one slice's value less another's: how much better or worse a month is than another.

        Slices are drawn apart, so that the intervals of both say how far their difference may be off: `mover_interval`
        (Newcombe 1998, method 10; docs/statistics.md, section 6.2).

        Parameters
        ----------
        first, second : name
            Two slices.
        level : float
            Confidence level, in (0, 1).

        Returns
        -------
        Interval
            Of kind ``"mover"``; all differences that there can be where one of the slices has no value.

        Raises
        ------
        InputError
            If there is no such slice, both are the same, or the level is not in (0, 1).

        Examples
        --------
        >>> from sondage import Pool, evaluate
        >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
        >>> found = evaluate(pool, "error_rate", labels=[0, 1, 1, 1], budget=4, slices=["a", "a", "b", "b"])
        >>> found.change("b", "a")
        Interval(low=0.5, high=0.5, level=0.95, kind='mover')
        """
        one, other = self[first], self[second]
        if first == second:
            raise InputError(f"slice {first!r} does not differ from itself: name two")
        require_level("level", level)
        span = one.bounds[1] - one.bounds[0]
        if not (math.isfinite(one.value) and math.isfinite(other.value)):
            return Interval(-span, span, level, "undefined")
        if span == 0:  # one value is possible: of a single grade, or of costs that are all the same
            return Interval(0.0, 0.0, level, "mover")
        return mover_interval(one.value, one.interval(level), other.value, other.interval(level), bounds=(-span, span))

    @property
    def n_labels(self) -> int:
        """Distinct items labelled, in all slices."""
        return self.overall.n_labels

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know, with the slice that it is of."""
        return self.overall.warnings


def named_whole(name: str, slices: Collection[Any]) -> str:
    """Return a name of all slices together: this one, with a word more where a slice has it.

    Examples
    --------
    >>> named_whole("overall", ["a", "b"]), named_whole("overall", ["a", "overall"])
    ('overall', 'overall (all slices)')
    """
    return named_whole(f"{name} (all slices)", slices) if name in map(str, slices) else name
