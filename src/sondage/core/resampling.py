"""Resamples of weighted units, a block at a time to bound the memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 2**22  # numbers held at once: 32 MiB


def block_sizes(resamples: int, n: int, most: int = BLOCK) -> Iterator[int]:
    """Yield how many resamples of n numbers to take at once, until there are enough."""
    size = max(1, most // max(1, n))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def resampled_means(
    rows: NDArray[np.float64], weights: NDArray[np.float64], generator: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """Return weighted means, shape (resamples, d), of units (n, d) drawn with replacement with their weights."""
    n = len(weights)
    even, scaled = np.full(n, 1 / n), weights / weights.max()
    blocks = []
    for size in block_sizes(resamples, n):
        drawn = generator.multinomial(n, even, size=size) * scaled
        # Each resample is summed up by itself: a matrix product's last bits would follow the size of the block.
        sums = np.stack([(drawn * column).sum(axis=1) for column in rows.T], axis=1)
        blocks.append(sums / drawn.sum(axis=1, keepdims=True))
    return np.concatenate(blocks)
