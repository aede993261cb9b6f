"""Item statistics that depend on an output only through its bin, and the bins of a pool.

A bin is named by its upper end: bin j holds the values in (edge j-1, edge j], and what is above the last edge. The
edges of a curve are the pool's own scores, those of a calibration error are few; a measure is given them by `settled`
and keeps them, so that labels are read as the draw was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.bases import Plain, Shares, spread_unevenly, unlike
from sondage.core.predictions import Floats, Items, class_probabilities
from sondage.errors import MeasureError

__all__ = [
    "NO_PROBABILITIES",
    "Confidence",
    "Edges",
    "Gaps",
    "ItemValues",
    "JoinedValues",
    "Places",
    "Quantity",
    "Score",
    "ScoreCounts",
    "Values",
    "as_edges",
    "edges_of",
    "mass_ends",
]

NO_PROBABILITIES = "this measure needs class probabilities; the model has predictions only"

Edges = tuple[Floats, ...]
"""Upper ends of the bins for each model of a pool, increasing; empty for a model that is not concerned."""


@dataclass(frozen=True)
class Score:
    """A model's probability of one class."""

    positive: int

    def of(self, items: Items, model: int) -> Floats:
        """Return it for every item, shape (n,)."""
        return _of_class(items, model, self.positive)


@dataclass(frozen=True)
class Confidence:
    """A model's probability of the class it predicts: its top label, unless told otherwise."""

    def of(self, items: Items, model: int) -> Floats:
        """Return it for every item, shape (n,)."""
        return _of_class(items, model, items.classes(model).predictions)


Quantity = Score | Confidence
"""What bins are made of."""


def _of_class(items: Items, model: int, classes: Any) -> Floats:
    """Return a model's probability of a class, one for all items or one for each, shape (n,)."""
    p = items.classes(model).probabilities
    if p is None:
        raise MeasureError(NO_PROBABILITIES)
    return class_probabilities(p, classes)


class Values(Protocol):
    """A pool's values of a quantity, wherever they are."""

    def ends(self, quantity: Quantity, model: int, count: int, *, singly: bool = False) -> Floats:
        """Return the upper ends of bins that hold equal shares of the base weight, as far as ties allow.

        With `singly` every different value is an end, if they are no more than the bins.
        """
        ...

    def extremes(self, models: Sequence[int]) -> tuple[float, float]:
        """Return the least and the greatest number that any of these models predicts."""
        ...


@dataclass(frozen=True, eq=False)
class ItemValues:
    """Values in memory.

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> values = ItemValues(Items((Classes(np.zeros(4), np.array([0.1, 0.2, 0.2, 0.7])),), np.ones(4)))
    >>> values.ends(Score(1), 0, 2).tolist(), values.ends(Score(1), 0, 3, singly=True).tolist()
    ([0.2, 0.7], [0.1, 0.2, 0.7])
    """

    items: Items

    def ends(self, quantity: Quantity, model: int, count: int, *, singly: bool = False) -> Floats:
        distinct, place = np.unique(quantity.of(self.items, model), return_inverse=True)
        if singly and len(distinct) <= count:
            return distinct
        mass = np.cumsum(np.bincount(place, weights=self.items.weights), dtype=np.float64)
        return np.asarray(distinct[np.unique(mass_ends(mass, count))])

    def extremes(self, models: Sequence[int]) -> tuple[float, float]:
        columns = [self.items.means(model).means for model in models]
        return min(float(column.min()) for column in columns), max(float(column.max()) for column in columns)


@dataclass(frozen=True, eq=False)
class JoinedValues:
    """Those of several pools together, of which the extremes are known and no bins are made.

    Attributes
    ----------
    measure : str
        Who takes them, for messages.
    parts : sequence of Values
        Of each pool.
    """

    measure: str
    parts: Sequence[Values]

    def ends(self, quantity: Quantity, model: int, count: int, *, singly: bool = False) -> Floats:
        raise MeasureError(f"measure {self.measure!r} takes its bins from one pool: join the pools, with slices=")

    def extremes(self, models: Sequence[int]) -> tuple[float, float]:
        lows, highs = zip(*(part.extremes(models) for part in self.parts), strict=True)
        return min(lows), max(highs)


def mass_ends(mass: Floats, count: int) -> NDArray[np.intp]:
    """Return at which of increasing values, whose weights sum up to `mass`, each of so many equal shares ends.

    Examples
    --------
    >>> mass_ends(np.array([1.0, 3.0, 4.0]), 2).tolist()
    [1, 2]
    """
    # Rounded, so that the last bits of a sum, which follow the order of rows, move no edge.
    reached = np.round(mass / mass[-1] * count, 6)
    return np.searchsorted(reached, np.arange(1, count + 1), side="left")


def as_edges(edges: Iterable[Any]) -> Edges:
    """Return edges as arrays."""
    return tuple(np.asarray(one, dtype=np.float64) for one in edges)


def edges_of(models: Sequence[int], ends: Callable[[int], Floats]) -> Edges:
    """Return the ends of the bins of these models."""
    return tuple(ends(model) if model in models else np.zeros(0) for model in range(max(models) + 1))


def _bins(values: Floats, edges: Edges, model: int) -> NDArray[np.intp]:
    """Return the bin of each value."""
    if model >= len(edges) or not len(edges[model]):
        raise MeasureError("the bins of this measure come from a pool's outputs; settle it with the pool first")
    return np.minimum(np.searchsorted(edges[model], values, side="left"), len(edges[model]) - 1)


class Places:
    """The bins of rows, which take long to find among many.

    Of the rows looked at last they are at hand, since a pass asks for those of a block for every supposed label and
    term. Of the blocks of a pool, which every pass looks at, they are kept, in two bytes a row or one: a block is a
    view of the pool's array, and known by its place there.
    """

    def __init__(self) -> None:
        self._last: tuple[Callable[[], Items | None], dict[int, NDArray[np.intp]]] = (lambda: None, {})
        self._kept: dict[tuple[Any, ...], tuple[NDArray[Any], NDArray[np.unsignedinteger]]] = {}

    def __reduce__(self) -> tuple[type[Places], tuple[()]]:
        return Places, ()

    def of(self, items: Items, model: int, quantity: Quantity, edges: Edges) -> NDArray[np.intp]:
        """Return the bin of each row."""
        last, found = self._last
        if last() is not items:
            found = {}
            self._last = ref(items), found
        if model not in found:
            found[model] = self._found(items, model, quantity, edges)
        return found[model]

    def _found(self, items: Items, model: int, quantity: Quantity, edges: Edges) -> NDArray[np.intp]:
        view = items.classes(model).probabilities
        if view is None or view.base is None:  # a copy of some rows, which no other pass sees
            return _bins(quantity.of(items, model), edges, model)
        key = (model, view.ctypes.data, view.shape, view.strides)
        if key not in self._kept:
            bins = _bins(quantity.of(items, model), edges, model)
            self._kept[key] = view, bins.astype(np.min_scalar_type(len(edges[model]) - 1))  # the view keeps its place
        return self._kept[key][1].astype(np.intp)


@dataclass(frozen=True, eq=False)
class ScoreCounts(Shares):
    """Indicator of (bin of the score, whether the label is positive), shape (bins, 2), negatives first.

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([0, 1, 1]), np.array([0.2, 0.9, 0.9])),), np.ones(3))
    >>> ScoreCounts(1, (np.array([0.2, 0.9]),)).totals(items, 0, np.array([0, 0, 1]), np.ones(3)).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    positive: int
    edges: Edges
    places: Places = field(default_factory=Places, repr=False)

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

    def improved(self, mu: Floats) -> Floats:
        moved = unlike(len(mu)) * mu[:, 0]
        return np.stack([mu[:, 0] - moved, mu[:, 1] + moved], axis=1)

    def uneven(self, mu: Floats) -> Floats:
        return spread_unevenly(mu)

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        bins = self._bins(items, model)
        if np.ndim(label) == 0:
            return np.ascontiguousarray(coefficients[:, int(label == self.positive)]).take(bins)
        return np.asarray(coefficients[bins, (label == self.positive).astype(np.intp)])

    def _bins(self, items: Items, model: int) -> NDArray[np.intp]:
        return self.places.of(items, model, Score(self.positive), self.edges)


@dataclass(frozen=True, eq=False)
class Gaps(Plain):
    """Confidence less 1 if the prediction is right, in the bin of the confidence, shape (bins,).

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([0, 1]), np.array([0.25, 0.75])),), np.ones(2))
    >>> Gaps((np.array([0.5, 1.0]),), "gaps").totals(items, 0, np.array([0, 0]), np.ones(2)).tolist()
    [0.0, 0.5]
    """

    edges: Edges
    name: str
    places: Places = field(default_factory=Places, repr=False)

    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats:
        bins, gaps = self._parts(items, model, label)
        return np.bincount(bins, weights=weight * gaps, minlength=len(self.edges[model])).astype(np.float64, copy=False)

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        bins, gaps = self._parts(items, model, label)
        return np.asarray(coefficients[bins] * gaps)

    def _parts(self, items: Items, model: int, label: Any) -> tuple[NDArray[np.intp], Floats]:
        confidence = Confidence()
        right = items.classes(model).predictions == label
        return self.places.of(items, model, confidence, self.edges), confidence.of(items, model) - right
