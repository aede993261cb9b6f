"""A number for all that a pool says of its rows, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Grades, Items, Ranks
from sondage.pools.listings import listed_hashes

__all__ = ["digest_of", "row_hashes", "side_text"]


def digest_of(size: int, parts: Sequence[Any], hashes: NDArray[np.uint64], side: str) -> str:
    """Return the fingerprint of a pool from the sum of its rows' hashes."""
    text = ":".join([str(size), *map(str, parts), f"{hashes.tolist()}{side}"])
    return sha256(text.encode()).hexdigest()[:32]


def side_text(judges: tuple[str, ...], items: Items) -> str:
    """Return what sides there are beyond one unnamed judge, and which systems have not all outcomes, in order."""
    several = "" if judges in ((), ("judge",)) else f":{judges}"
    columns = "" if items.features is None else f":{items.features.shape[1]}"
    grades = [tuple(output.grades.tolist()) for output in items.models if isinstance(output, Grades)]
    alike = tuple(sorted({grade for told in grades for grade in told}))
    return several + columns + ("" if all(told == alike for told in grades) else f":{grades}")


def row_hashes(keys: NDArray[np.int64], items: Items, extra: Sequence[NDArray[np.uint64]] = ()) -> NDArray[np.uint64]:
    """Return four 64-bit numbers a row from its key and all that the pool says of it, wrapping around."""
    numbers = [keys.astype(np.uint64), _bits(items.weights), *extra]
    for values in (items.costs, *items.judges, items.features):
        if values is not None:
            numbers += [_bits(column) for column in np.atleast_2d(values.T)]
    for output in items.models:
        if isinstance(output, Ranks):
            numbers += listed_hashes(output)
            continue
        for value in (output.judge,) if isinstance(output, Grades) else vars(output).values():
            if value is not None:
                numbers += [_bits(column) for column in np.atleast_2d(value.T)]
    total = np.zeros((len(keys), 4), dtype=np.uint64)
    for index, column in enumerate(numbers):
        for lane in range(4):
            factor = np.uint64((0x9E3779B97F4A7C15 * (2 * (4 * index + lane) + 1)) % 2**64)
            total[:, lane] += (column ^ (column >> np.uint64(29))) * factor
    total ^= total >> np.uint64(31)
    total *= np.uint64(0xBF58476D1CE4E5B9)
    return total


def _bits(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a column's values as 64-bit patterns."""
    return np.ascontiguousarray(column, dtype=np.float64).view(np.uint64)
