"""A belief in two parts: one for items that two models predict differently, one for all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs.protocol import Distribution, Supposed
from sondage.core.predictions import Items

__all__ = ["Divided", "predicted_apart"]


@dataclass(frozen=True)
class Divided:
    """One belief of items that models predict alike, another of those that they do not: a Distribution.

    Of the variance that is believed of a difference in predictions (docs/statistics.md, section 7, "The belief's
    variance").

    Parameters
    ----------
    alike : Distribution
        Of items that all these models predict alike.
    apart : Distribution
        Of all others; both suppose the same labels.
    models : tuple of int
        The models.

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> from sondage.core.beliefs import ClassBelief
    >>> p = np.array([0.8, 0.8])
    >>> items = Items((Classes(np.array([1, 1]), p), Classes(np.array([1, 0]), p)), np.ones(2))
    >>> belief = Divided(ClassBelief(2, models=((0, 1.0),)), ClassBelief(2, uniform=1.0), (0, 1))
    >>> [weight.tolist() for _, weight in belief.supposed(items, [0])][1]
    [0.8, 0.5]
    """

    alike: Distribution
    apart: Distribution
    models: tuple[int, ...]

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield the labels of both beliefs, each with what the one that an item belongs to gives it."""
        apart = items.once((predicted_apart, self.models), lambda: predicted_apart(items, self.models))
        pairs = (belief.supposed(items, models, nodes=nodes, kinks=kinks) for belief in (self.alike, self.apart))
        for (label, here), (_, there) in zip(*pairs, strict=True):
            yield label, np.where(apart, there, here)


def predicted_apart(items: Items, models: Sequence[int]) -> NDArray[np.bool_]:
    """Return whether these classifiers predict different classes.

    Parameters
    ----------
    items : Items
        n rows, of which these models' outputs are `Classes`.
    models : sequence of int
        At least two.

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([1, 1]), None), Classes(np.array([1, 0]), None)), np.ones(2))
    >>> predicted_apart(items, (0, 1)).tolist()
    [False, True]
    """
    first, *others = (np.asarray(items.classes(model).predictions) for model in models)
    return np.asarray(np.any([first != other for other in others], axis=0))
