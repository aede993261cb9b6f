"""Item statistics that depend on an output only through its bin, and the bins of a pool.

A bin is named by its upper end: bin j holds the values in (edge j-1, edge j], and what is above the last edge. The
edges of a curve are the pool's own scores, those of a calibration error are few; a measure is given them by `settled`
and keeps them, so that labels are read as the draw was made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.bases import Plain
from sondage.core.predictions import Classes, Floats, Items
from sondage.errors import MeasureError

__all__ = [
    "Edges",
    "Gaps",
    "ScoreCounts",
    "as_edges",
    "confidences",
    "equal_mass",
    "equal_width",
    "score_edges",
    "scores",
]

MOST_BINS = 65_536

Edges = tuple[Floats, ...]
"""Upper ends of the bins for each model of a pool, increasing; empty for a model that is not concerned."""


def scores(items: Items, model: int, positive: int) -> Floats:
    """Return a model's probabilities of one class, shape (n,)."""
    p = _probabilities(items, model)
    if p.ndim == 2:
        return np.asarray(p[:, positive], dtype=np.float64)
    second = np.asarray(p, dtype=np.float64)
    return second if positive == 1 else 1.0 - second


def confidences(items: Items, model: int) -> Floats:
    """Return a model's probability of the class it predicts, shape (n,): its top label, unless told otherwise."""
    p, predicted = _probabilities(items, model), cast(Classes, items.models[model]).predictions
    if p.ndim == 2:
        return np.asarray(p[np.arange(len(p)), predicted], dtype=np.float64)
    second = np.asarray(p, dtype=np.float64)
    return np.where(predicted == 1, second, 1.0 - second)


def _probabilities(items: Items, model: int) -> NDArray[Any]:
    p = cast(Classes, items.models[model]).probabilities
    if p is None:
        raise MeasureError("this measure needs class probabilities; the model has predictions only")
    return p


def score_edges(values: Floats, weights: NDArray[Any]) -> Floats:
    """Return every distinct value, or, of more than 65,536, the upper ends of that many bins of equal mass."""
    distinct = np.unique(values)
    return distinct if len(distinct) <= MOST_BINS else equal_mass(values, weights, MOST_BINS)


def equal_mass(values: Floats, weights: NDArray[Any], count: int) -> Floats:
    """Return the upper ends of bins that hold equal shares of the weight, as far as ties allow.

    Examples
    --------
    >>> equal_mass(np.array([0.1, 0.2, 0.2, 0.7]), np.ones(4), 2).tolist()
    [0.2, 0.7]
    """
    distinct, place = np.unique(values, return_inverse=True)
    mass = np.cumsum(np.bincount(place, weights=weights))
    # Rounded, so that the last bits of a sum, which follow the order of rows, move no edge.
    reached = np.round(mass / mass[-1] * count, 6)
    ends = np.searchsorted(reached, np.arange(1, count + 1), side="left")
    return np.asarray(distinct[np.unique(ends)])


def equal_width(values: Floats, weights: NDArray[Any], count: int) -> Floats:
    """Return the upper ends of bins of equal width on [0, 1].

    Examples
    --------
    >>> equal_width(np.zeros(0), np.zeros(0), 4).tolist()
    [0.25, 0.5, 0.75, 1.0]
    """
    return np.arange(1, count + 1) / count


def as_edges(edges: Iterable[Any]) -> Edges:
    """Return edges as arrays."""
    return tuple(np.asarray(one, dtype=np.float64) for one in edges)


def _bins(values: Floats, edges: Edges, model: int) -> NDArray[np.intp]:
    """Return the bin of each value."""
    if model >= len(edges) or not len(edges[model]):
        raise MeasureError("the bins of this measure come from a pool's outputs; settle it with the pool first")
    return np.minimum(np.searchsorted(edges[model], values, side="left"), len(edges[model]) - 1)


@dataclass(frozen=True, eq=False)
class ScoreCounts(Plain):
    """Indicator of (bin of the score, whether the label is positive), shape (bins, 2), negatives first.

    Examples
    --------
    >>> items = Items((Classes(np.array([0, 1, 1]), np.array([0.2, 0.9, 0.9])),), np.ones(3))
    >>> ScoreCounts(1, (np.array([0.2, 0.9]),)).totals(items, 0, np.array([0, 0, 1]), np.ones(3)).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    positive: int
    edges: Edges

    @property
    def name(self) -> str:
        return f"scores of {self.positive}"

    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats:
        if np.ndim(label) == 0:
            return self.believed(items, model, [(label, weight)])
        cells = 2 * self._bins(items, model) + (label == self.positive)
        counts = np.bincount(cells, weights=weight, minlength=2 * len(self.edges[model]))
        return counts.reshape(-1, 2).astype(np.float64, copy=False)

    def believed(self, items: Items, model: int, supposed: Iterable[tuple[Any, Any]]) -> Floats:
        bins, count = self._bins(items, model), len(self.edges[model])
        table = np.zeros((count, 2))
        for label, weight in supposed:
            table[:, int(label == self.positive)] += np.bincount(bins, weights=weight, minlength=count)
        return table

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        bins = self._bins(items, model)
        if np.ndim(label) == 0:
            return np.ascontiguousarray(coefficients[:, int(label == self.positive)]).take(bins)
        return np.asarray(coefficients[bins, (label == self.positive).astype(np.intp)])

    def _bins(self, items: Items, model: int) -> NDArray[np.intp]:
        return _bins(scores(items, model, self.positive), self.edges, model)


@dataclass(frozen=True, eq=False)
class Gaps(Plain):
    """Confidence less 1 if the prediction is right, in the bin of the confidence, shape (bins,).

    Examples
    --------
    >>> items = Items((Classes(np.array([0, 1]), np.array([0.25, 0.75])),), np.ones(2))
    >>> Gaps((np.array([0.5, 1.0]),), "gaps").totals(items, 0, np.array([0, 0]), np.ones(2)).tolist()
    [0.0, 0.5]
    """

    edges: Edges
    name: str

    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats:
        bins, gaps = self._parts(items, model, label)
        return np.bincount(bins, weights=weight * gaps, minlength=len(self.edges[model])).astype(np.float64, copy=False)

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        bins, gaps = self._parts(items, model, label)
        return np.asarray(coefficients[bins] * gaps)

    def _parts(self, items: Items, model: int, label: Any) -> tuple[NDArray[np.intp], Floats]:
        confidence = confidences(items, model)
        right = cast(Classes, items.models[model]).predictions == label
        return _bins(confidence, self.edges, model), confidence - right
