"""Rows in blocks: every pass over a pool goes by them, so that its temporaries stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

__all__ = ["row_blocks"]

BLOCK = 65536
"""Rows of one column in a block."""
LEAST_ROWS = 4096
"""Rows in a block, however wide they are."""
TEMPORARIES = 8
"""Blocks of one column that are as large as what is freed first."""


def row_blocks(count: int, width: int = 1) -> Iterator[slice]:
    """Yield slices that cover the rows in order.

    Parameters
    ----------
    count : int
        Number of rows.
    width : int
        Numbers in a row; wide rows come in smaller blocks.

    Notes
    -----
    An array of the size of several temporaries is freed first: glibc then keeps memory up to that size, in place of
    handing every block's temporaries back to the system, and the blocks take down to a quarter of the time.

    Examples
    --------
    >>> [part.stop - part.start for part in row_blocks(70_000)]
    [65536, 4464]
    """
    np.empty(TEMPORARIES * min(count, BLOCK))
    step = max(LEAST_ROWS, 2 * BLOCK // (width + 1))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
