"""Beliefs with lapses: for a share of the items the model's probabilities tell nothing, however sure they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs.columns import LEAST_LEFT
from sondage.core.beliefs.protocol import Distribution, Supposed
from sondage.core.calibration import Calibration
from sondage.core.predictions import Items

__all__ = ["Lapsing", "Mistaken", "lapsing"]


@dataclass(frozen=True)
class Lapsing:
    r"""A belief in which a share of items, no one knows which, has labels by chance: a Distribution.

    Each of k labels has :math:`(1 - \lambda) p + \lambda / k` in place of p, as an observer's lapses in
    psychophysics.

    Parameters
    ----------
    belief : Distribution
        What is believed of all others, with a fixed number of labels that may be.
    share : float
        :math:`\lambda`, in [0, 1].

    References
    ----------
    F. A. Wichmann and N. J. Hill, The psychometric function: I. Fitting, sampling, and goodness of fit, Perception and
    Psychophysics, 2001, 1293-1313.

    Examples
    --------
    >>> import numpy as np
    >>> from sondage.core.beliefs import ClassBelief
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([1]), np.array([0.8])),), np.array([1.0]))
    >>> [round(float(w[0]), 3) for _, w in Lapsing(ClassBelief(2, models=((0, 1.0),)), 0.1).supposed(items, [0])]
    [0.23, 0.77]
    """

    belief: Distribution
    share: float

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield the belief's labels, all of them as likely where nothing was told."""
        pairs = list(self.belief.supposed(items, models, nodes=nodes, kinks=kinks))
        for label, weight in pairs:
            yield label, (1.0 - self.share) * weight + self.share / len(pairs)


class OfClasses(Distribution, Protocol):
    """A belief about classes, of which one is the reference of every item."""

    def reference(self, items: Items) -> Any:
        """Return what has the reference classes' codes, shape (n,), as `classes`."""
        ...


@dataclass(frozen=True)
class Mistaken:
    r"""A belief in which a share of items is wrong as often as by chance, in believed proportions: a Distribution.

    The reference class has :math:`(1 - \lambda) p + \lambda / k` in place of p, as where it lapses; all others keep
    their proportions.

    Parameters
    ----------
    belief : OfClasses
        What is believed of all other items.
    share : float
        :math:`\lambda`, in [0, 1].

    Examples
    --------
    >>> from sondage.core.beliefs import ClassBelief
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([0]), np.array([[0.7, 0.2, 0.1]])),), np.array([1.0]))
    >>> [round(float(w[0]), 3) for _, w in Mistaken(ClassBelief(3, models=((0, 1.0),)), 0.3).supposed(items, [0])]
    [0.59, 0.273, 0.137]
    """

    belief: OfClasses
    share: float

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield every class code with its probability, shape (n,)."""
        labels, columns = zip(*self.belief.supposed(items, models, nodes=nodes, kinks=kinks), strict=True)
        told, at = np.array(columns), (self.belief.reference(items).classes, np.arange(len(items)))
        right = (1.0 - self.share) * told[at] + self.share / len(told)
        told += LEAST_LEFT
        told[at] = 0.0
        told *= (1.0 - right) / told.sum(axis=0)
        told[at] = right
        yield from zip(labels, told, strict=True)


def lapsing(belief: Any, points: Sequence[Calibration]) -> tuple[Distribution, ...]:
    """Return a belief that has a shift and a slope under these calibrations, with their lapses."""
    return tuple(_lapsing(replace(belief, shift=point.shift, slope=point.slope), point) for point in points)


def _lapsing(moved: OfClasses, point: Calibration) -> Distribution:
    """Return a belief with the lapses of a calibration, if it has any."""
    if not point.lapse:
        return moved
    return Mistaken(moved, point.lapse) if point.in_proportion else Lapsing(moved, point.lapse)
