"""How far to doubt the sources of a pool in memory that call classes impossible."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sondage.core.beliefs import Doubts
from sondage.core.beliefs.columns import NOTHING, doubt_of, doubtful
from sondage.core.blocks import row_blocks
from sondage.core.predictions import Classes, Grades, Items, Outputs

__all__ = ["doubts_of"]


def doubts_of(items: Items) -> Doubts:
    """Return the doubts of all models and judges, as `doubt_of` has them, from all rows of the pool.

    Parameters
    ----------
    items : Items
        All rows.

    Returns
    -------
    Doubts
        Of models and of judges, in their order; empty where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> doubts_of(Items((Classes(np.array([0, 1]), np.array([0.0, 0.75])),), np.ones(2))).models
    (0.2,)
    """
    return Doubts.of((_doubt(_probabilities(output)) for output in items.models), map(_doubt, items.judges))


def _probabilities(output: Outputs) -> NDArray[Any] | None:
    """Return a model's class probabilities, or its judge's of outcomes."""
    if isinstance(output, Classes):
        return output.probabilities
    return output.judge if isinstance(output, Grades) else None


def _doubt(told: NDArray[Any] | None) -> float:
    """Return how far to doubt these probabilities; a column is the second class's, and stands for the first's too."""
    if told is None or not told.size:
        return 0.0
    least = float(told.min())
    if told.ndim == 1:
        least = min(least, 1.0 - float(told.max()))
    if not doubtful(least):
        return 0.0
    blocks = [told[part] for part in row_blocks(len(told), told.size // len(told))]
    positive, smallest = (min(_least_above(block, bound) for block in blocks) for bound in (0.0, NOTHING))
    return doubt_of(least, positive, smallest)


def _least_above(told: NDArray[Any], bound: float) -> float:
    """Return the least of these probabilities above a bound; 1 if there is none."""
    least = float(told.min(where=told > bound, initial=1.0))
    return least if told.ndim > 1 else min(least, 1.0 - float(told.max(where=told < 1.0 - bound, initial=0.0)))
