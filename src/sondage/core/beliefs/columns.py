"""A class's probability, out of what a model or a judge says, how far to doubt it, and its log odds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from sondage.core.predictions import Floats, class_probabilities
from sondage.errors import InputError

__all__ = [
    "LEAST_LEFT",
    "LEAST_POOLED",
    "LEAST_TOLD",
    "NOTHING",
    "SURE",
    "Doubts",
    "class_column",
    "doubt_of",
    "doubted",
    "doubtful",
    "log_odds",
]

NOTHING = 1e-15
"""Probabilities up to this are taken for 0: sums of votes are rounded."""
TINY = 1e-18
"""Rounding leaves nothing that is smaller and not 0: whoever says it does not vote."""
LEAST_TOLD = 1e-12
"""Probabilities below this, and above its complement, count as these where logarithms are taken."""
LEAST_LEFT = 1e-15
"""Added to the probability of every class but the most probable: what that leaves goes to some of them."""
LEAST_POOLED = 1e-6
"""Probabilities below this count as this where those of judges and models are pooled: neither may rule out a class."""
SURE = 0.95
"""Probability of the class that a model or a judge names without probabilities; labels tell what it is worth."""
LEAST_DOUBT = 1e-12
"""Less makes no difference: log odds are clipped there."""


def log_odds(probabilities: NDArray[Any]) -> Floats:
    """Return log odds, probabilities clipped to [1e-12, 1 - 1e-12]; in single precision that would be [1e-12, 1]."""
    return np.asarray(logit(np.clip(np.asarray(probabilities, dtype=np.float64), LEAST_TOLD, 1.0 - LEAST_TOLD)))


def class_column(probabilities: NDArray[Any] | None, label: int) -> NDArray[Any]:
    """Return the probabilities of a class, or refuse where there are none."""
    if probabilities is None:
        raise InputError("this belief needs class probabilities, and there are none")
    return class_probabilities(probabilities, label)


class Doubts(NamedTuple):
    """Of every model's and every judge's probabilities the share that all classes get alike; empty for none."""

    models: tuple[float, ...] = ()
    judges: tuple[float, ...] = ()

    @classmethod
    def of(cls, models: Iterable[float], judges: Iterable[float]) -> Doubts:
        """Return these doubts, empty where there are none."""
        return cls(*(found if any(found) else () for found in (tuple(models), tuple(judges))))


def doubtful(least: float) -> bool:
    """Return whether a source whose least probability this is may be one that votes."""
    return least <= NOTHING and not 0.0 < least < TINY


def doubt_of(least: float, positive: float, smallest: float) -> float:
    r"""Return the share of a source's probabilities that all classes should get alike, so that none is impossible.

    Neighbours, trees and raters vote: of n votes a class may get none, and is not impossible. The smallest probability
    h that is given at all tells their number, 1 / h. With one more vote, divided among the classes (a Dirichlet prior
    of total mass 1; W. Perks, Journal of the Institute of Actuaries, 1947, 285-334), the share is h / (1 + h). A
    source that never says 0 is not doubted, and one whose probabilities come near to 0 hardly, or not.

    Parameters
    ----------
    least : float
        The least probability that it gives any class.
    positive, smallest : float
        The least above 0, and the least above `NOTHING`.

    Examples
    --------
    >>> round(doubt_of(0.0, 0.1, 0.1), 3), doubt_of(0.0, 1.0, 1.0), doubt_of(0.02, 0.02, 0.02)
    (0.091, 0.5, 0.0)
    """
    doubt = smallest / (1.0 + smallest) if doubtful(least) and positive > TINY else 0.0
    return doubt if doubt > LEAST_DOUBT else 0.0


def doubted(column: Any, doubts: Sequence[float], index: int, n_classes: int) -> Any:
    """Return a source's probabilities of a class, of which its share is given to all classes alike; as is without."""
    doubt = doubts[index] if doubts else 0.0
    return (1.0 - doubt) * column + doubt / n_classes if doubt else column
