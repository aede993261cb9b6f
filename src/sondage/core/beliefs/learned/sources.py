"""What corrections are learned from: what sources say, bounded, in a column each; and what other labels tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.learning import Correction
from sondage.core.predictions import Floats

__all__ = ["LARGEST_ODDS", "bounded", "by_other_folds", "stacked"]

FOLDS = 4
"""Parts of the labels; what others know is told to each by the labels of the other parts."""
LARGEST_ODDS = 8.0
"""Log odds of sources are taken up to this size."""


def bounded(odds: Floats) -> Floats:
    """Return log odds of a source, none further from 0 than `LARGEST_ODDS`."""
    return np.clip(odds, -LARGEST_ODDS, LARGEST_ODDS)


def stacked(sources: Sequence[Floats], size: int) -> Floats:
    """Return sources, each of shape (size,), as columns: shape (size, 0) where there are none."""
    return np.column_stack([np.zeros((size, 0)), *sources])


def by_other_folds(
    learn: Callable[..., Correction], told: Sequence[NDArray[Any]], sources: Floats, features: NDArray[Any] | None
) -> Floats:
    """Return the correction of every item, shape (n,), that the labels of the other folds ask for."""
    moved, fold_of = np.zeros(len(sources)), np.arange(len(sources)) % FOLDS
    for fold in np.unique(fold_of):
        held, others = fold_of == fold, fold_of != fold
        of_held, of_others = (None if features is None else features[rows] for rows in (held, others))
        learned = learn(*(column[others] for column in told), sources[others], of_others)
        moved[held] = learned.at(list(sources[held].T), of_held)
    return moved
