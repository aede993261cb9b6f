"""Beliefs with lapses: for a share of the items the model's probabilities tell nothing, however sure they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from sondage.core.beliefs.protocol import Distribution, Supposed
from sondage.core.calibration import Calibration
from sondage.core.predictions import Items

__all__ = ["Lapsing", "lapsing"]


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


def lapsing(belief: Any, points: Sequence[Calibration]) -> tuple[Distribution, ...]:
    """Return a belief that has a shift and a slope under these calibrations, with their lapses."""
    moved = [replace(belief, shift=point.shift, slope=point.slope) for point in points]
    return tuple(Lapsing(one, point.lapse) if point.lapse else one for one, point in zip(moved, points, strict=True))
