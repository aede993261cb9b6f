"""Strata of a stored pool: where they begin is found by counting, a pass at a time; only what is drawn is fetched.

Units are in the order of their scores, and of equal scores in that of their keys. A pass counts the units in equal
parts of the intervals that hold the beginning of a stratum; once few are left in one, they are looked at themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Influence
from sondage.core.hashing import uniforms
from sondage.core.predictions import Floats
from sondage.core.samples import bin_sums
from sondage.core.strata import Firsts, first_of, stratum_stakes
from sondage.pools.engines import Rows
from sondage.pools.kernels import Reader, picked
from sondage.pools.scans import Scan
from sondage.pools.sql.passes import Chosen
from sondage.pools.strata import averaged, believed_moments, scores_of

__all__ = ["StoredStrata", "stored_strata"]

PARTS = 4096
"""That an interval of scores, or of keys, is cut into at a time."""
FEW_UNITS = 4096
"""Up to so many units each is a part of its own."""
SLACK = 6.0
"""Standard deviations by which more keys of a stratum are looked at than its labels are expected to need."""


@dataclass(frozen=True, eq=False)
class Placing:
    """What orders the units: the score, then the key."""

    reader: Reader
    influence: Influence
    belief: Belief
    largest: float = 1.0

    def largest_in(self, rows: Rows) -> float:
        """Return the largest second moment in some rows."""
        return float(self._moments(rows)[2].max(initial=0.0))

    def places(self, rows: Rows) -> tuple[Floats, NDArray[np.int64]]:
        """Return score and key of each unit."""
        return scores_of(self._moments(rows)[1], self.largest), self.reader.unit_keys(rows)

    def sums(self, starts: Starts, rows: Rows) -> Floats:
        """Return number, weight, mean and second moment, summed up over the units of each stratum, shape (4, H)."""
        weights, mean, second = self._moments(rows)
        strata = starts.strata(scores_of(mean, self.largest), self.reader.unit_keys(rows))
        columns = (np.ones(len(weights)), weights, weights * mean, weights * second)
        return np.stack([bin_sums(strata, column, len(starts) + 1) for column in columns])

    def near(self, starts: Starts, slopes: Floats, seed: int, stage: int, rows: Rows) -> dict[str, NDArray[np.generic]]:
        """Return the rows of units whose number is near enough to 1 for their stratum."""
        scores, keys = self.places(rows)
        kept = 1.0 - uniforms(keys, seed, stage) < slopes[starts.strata(scores, keys)]
        return picked(rows, self.reader.units(rows).spread(kept))

    def counted(self, cuts: tuple[Cut, ...], rows: Rows) -> list[Found]:
        """Return what is in each interval."""
        scores, keys = self.places(rows)
        return [cut.counted(scores, keys) for cut in cuts]

    def _moments(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        items = self.reader.items(rows)
        mean, second = believed_moments(self.influence, self.belief, items)
        return averaged(np.asarray(items.weights), mean, second, self.reader.units(rows))


@dataclass(frozen=True, eq=False)
class Starts:
    """Score and key of the first unit of every stratum but the lowest."""

    scores: Floats
    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.scores)

    def strata(self, scores: Floats, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the stratum of each unit."""
        found = np.zeros(len(scores), dtype=np.int64)
        for score, key in zip(self.scores.tolist(), self.keys.tolist(), strict=True):
            found += (scores > score) | ((scores == score) & (keys >= key))
        return found


Found = tuple[NDArray[np.int64], NDArray[np.generic], NDArray[np.generic]]
"""Of the parts of an interval: how many units, and the least and the greatest of the values there are."""


@dataclass(frozen=True)
class Cut:
    """An interval of scores, or of keys among the units of one score, with the number of units below it and in it."""

    low: float | int
    high: float | int
    below: int
    count: int
    score: float | None = None

    def counted(self, scores: Floats, keys: NDArray[np.int64]) -> Found:
        """Return what is in each part; of few units each is a part of its own."""
        values = scores if self.score is None else keys[scores == self.score]
        values = values[(values >= self.low) & (values <= self.high)]
        if self.count <= FEW_UNITS:
            return np.ones(len(values), dtype=np.int64), values, values
        if self.score is None:
            part = np.minimum((values - self.low) * (PARTS / (self.high - self.low)), PARTS - 1).astype(np.int64)
            ends = np.array([np.inf, -np.inf])
        else:
            part = (values - self.low) // (int(self.high - self.low) // PARTS + 1)
            ends = np.array([np.iinfo(np.int64).max, -1])
        least, greatest = np.full(PARTS, ends[0]), np.full(PARTS, ends[1])
        np.minimum.at(least, part, values)
        np.maximum.at(greatest, part, values)
        return np.bincount(part, minlength=PARTS), least, greatest

    def joined(self, one: Found, other: Found) -> Found:
        """Return what is in the parts of two blocks."""
        if self.count <= FEW_UNITS:
            counts, least, greatest = (np.concatenate(pair) for pair in zip(one, other, strict=True))
            return counts, least, greatest
        return one[0] + other[0], np.minimum(one[1], other[1]), np.maximum(one[2], other[2])

    def by_key(self) -> Cut:
        """Return the interval of all keys among the units of the score, once it is known."""
        if self.score is not None or self.low < self.high:
            return self
        return Cut(0, np.iinfo(np.int64).max, self.below, self.count, float(self.low))

    def narrowed(self, found: Found, rank: int) -> Cut:
        """Return the part that holds the unit of this rank."""
        order = np.argsort(found[1], kind="stable") if self.count <= FEW_UNITS else np.arange(PARTS)
        counts, least, greatest = (column[order] for column in found)
        reached = self.below + np.cumsum(counts)
        at = int(np.searchsorted(reached, rank, side="right"))
        low, high, below = least[at].item(), greatest[at].item(), int(reached[at] - counts[at])
        if self.count <= FEW_UNITS:  # equal values are one part
            same = least == low
            below, count = int(reached[np.argmax(same)] - 1), int(same.sum())
        else:
            count = int(counts[at])
        return replace(self, low=low, high=high, below=below, count=count)


@dataclass(frozen=True, eq=False)
class StoredStrata:
    """Strata of a pool that stays where it is."""

    scan: Scan
    see: Callable[[Rows], None]
    placing: Placing
    starts: Starts
    numbers: NDArray[np.int64]
    deviations: Floats

    def first(self, counts: NDArray[np.int64], seed: int, stage: int) -> Firsts:
        """Return so many units of each stratum, the first by the keys of the draw."""
        slopes = (counts + SLACK * np.sqrt(counts) + 20.0) / self.numbers
        while True:
            kernel = partial(self.placing.near, self.starts, slopes, seed, stage)
            blocks = list(self.scan.mapped(Chosen(), kernel, "pass 3: the draw"))
            rows = {name: np.concatenate([block[name] for block in blocks]) for name in self.scan.schema.columns}
            scores, keys = self.placing.places(rows)
            strata = self.starts.strata(scores, keys)
            short = np.bincount(strata, minlength=len(counts)) < counts
            if not short.any():
                self.see(rows)
                found = first_of(strata, keys, counts, seed=seed, stage=stage)
                return replace(found, units=keys[found.units])
            slopes = np.where(short, 2.0 * slopes, slopes)


def stored_strata(
    scan: Scan, see: Callable[[Rows], None], *, influence: Influence, belief: Belief, most: int
) -> StoredStrata:
    """Return at most so many strata of equal numbers of units."""
    placing = Placing(scan.reader, influence, belief)
    placing = replace(placing, largest=scan.summed(Chosen(), placing.largest_in, max, "strata: scale"))
    size = int(scan.units["n"])
    ranks = [-(-number * size // min(most, size)) for number in range(1, min(most, size))]
    starts = _starts(scan, placing, ranks, size)
    numbers, *sums = scan.summed(Chosen(), partial(placing.sums, starts), np.add, "strata: sums")
    return StoredStrata(scan, see, placing, starts, numbers.astype(np.int64), stratum_stakes(np.stack(sums)))


def _starts(scan: Scan, placing: Placing, ranks: list[int], size: int) -> Starts:
    """Return the units of these ranks."""
    found = {rank: Cut(-1.0, 1.0, 0, size) for rank in ranks}
    while any(cut.low < cut.high for cut in found.values()):
        cuts = tuple({cut for cut in found.values() if cut.low < cut.high})
        kernel, join = partial(placing.counted, cuts), partial(_joined, cuts)
        parts = dict(zip(cuts, scan.summed(Chosen(), kernel, join, "strata: where they begin"), strict=True))
        found = {rank: cut.narrowed(parts[cut], rank) if cut in parts else cut for rank, cut in found.items()}
        found = {rank: cut.by_key() for rank, cut in found.items()}
    chosen = list(found.values())
    return Starts(
        np.array([cut.score for cut in chosen], dtype=float), np.array([cut.low for cut in chosen], dtype=int)
    )


def _joined(cuts: tuple[Cut, ...], one: list[Found], other: list[Found]) -> list[Found]:
    return [cut.joined(a, b) for cut, a, b in zip(cuts, one, other, strict=True)]
