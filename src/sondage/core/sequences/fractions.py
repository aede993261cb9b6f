r"""Measures as a mean, or a ratio of two, and what is known of units under them.

A mean loss has the parts :math:`t_i = b_i \ell_i, d_i = b_i`; a ratio of pool means of one item statistic has
:math:`t_i = b_i \langle n, s_i \rangle, d_i = b_i \langle d, s_i \rangle` with the coefficients of its numerator and
denominator. Both are data, so that a pool's rows and a study's labelled ones give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Contrast, Influence
from sondage.core.measures import Task
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Floats, Items
from sondage.core.samples import bin_sums
from sondage.core.sequences.units import Rest, Units

__all__ = ["Fraction", "at_nodes", "fraction_of", "parts_of", "units_of"]

RATIO_NODES = np.linspace(0.0, 1.0, 5)

Ranged = TypeVar("Ranged", Units, Rest)


@dataclass(frozen=True, eq=False)
class Fraction:
    """A mean, or a ratio of pool means.

    Attributes
    ----------
    top : Influence
        Each item's part of the top, before its base weight.
    bottom : Influence, optional
        Each item's part of the bottom; None for a mean, where it is 1.
    bounds : tuple of float, optional
        Range of an item's top where labels are numbers; None where the allowed labels can be counted.
    """

    top: Influence
    bottom: Influence | None = None
    bounds: tuple[float, float] | None = None

    @property
    def nodes(self) -> Floats:
        """Where ranges are kept: of a mean at 0 only, since they are straight lines; see `at_nodes`."""
        return np.zeros(1) if self.bottom is None else RATIO_NODES


def fraction_of(contrast: Contrast, task: Task) -> Fraction | None:
    """Return a contrast as a mean or ratio; None where it is neither, or its losses have no bounds.

    Examples
    --------
    >>> from sondage.core.measures import parse_measure
    >>> task = Task("classification", ("ham", "spam"))
    >>> [fraction_of(Contrast(parse_measure(name).ready(task), ((0, 1.0),)), task) is None for name in ("f1", "mcc")]
    [False, True]
    """
    functional = contrast.functional
    if functional.ratio is not None and not contrast.compares:
        top, bottom = (Influence(functional.basis, ((contrast.models[0], part),), 0.0) for part in functional.ratio)
        return Fraction(top, bottom)
    if not functional.linear:
        return None
    if task.kind == "regression" and not np.all(np.isfinite(contrast.bounds)):
        return None
    gradient = functional.gradient(np.zeros(1))  # the same everywhere
    terms = tuple((model, weight * gradient) for model, weight in contrast.weights)
    at_zero = functional.value(np.zeros_like(gradient)) * sum(weight for _, weight in contrast.weights)
    bounds = contrast.bounds if task.kind == "regression" else None
    return Fraction(Influence(functional.basis, terms, -at_zero), bounds=bounds)


def parts_of(
    fraction: Fraction, items: Items, labels: Any, count: int, units: NDArray[np.int64] | None = None
) -> tuple[Floats, Floats]:
    """Return each unit's top and bottom if these are the labels, shape (n,) each, base weights included.

    Parameters
    ----------
    fraction : Fraction
        The mean or ratio.
    items : Items
        Rows.
    labels : ndarray or label
        Of the rows, or one for all.
    count : int
        Number of units n.
    units : ndarray of int, optional
        Unit of each row; None where each row is its own.
    """
    weights = np.asarray(items.weights, dtype=np.float64)
    top = weights * fraction.top.at(items, labels)
    bottom = weights if fraction.bottom is None else weights * fraction.bottom.at(items, labels)
    if units is None:
        return top, bottom
    return bin_sums(units, top, count), bin_sums(units, bottom, count)


def units_of(
    fraction: Fraction,
    belief: Belief,
    items: Items,
    rates: Floats,
    *,
    centre: float,
    units: NDArray[np.int64] | None = None,
) -> Units:
    """Return what is known of units before they are labelled, ranges at the fraction's nodes.

    Rows that share a label also share the belief, the mean of theirs by base weight: the believed parts are then
    within the range that one label for all of them can give.

    Parameters
    ----------
    fraction : Fraction
        The mean or ratio.
    belief : Belief
        What the labels are expected to be.
    items : Items
        The units' rows.
    rates : ndarray of float, shape (n,)
        Rates of the units.
    centre : float
        About the value that is expected; has no part in validity.
    units : ndarray of int, optional
        Unit of each row; None where each row is its own.
    """
    count, nodes, statistic = len(rates), fraction.nodes, fraction.top
    weights = np.asarray(items.weights, dtype=np.float64)
    share = weights if units is None else bin_sums(units, weights, count)
    total, top, bottom, second = (np.zeros(count) for _ in range(4))
    lowest, highest = np.full((len(nodes), count), np.inf), np.full((len(nodes), count), -np.inf)
    for label, weight in belief.supposed(
        items, statistic.models, nodes=statistic.basis.nodes, kinks=statistic.kinks(items)
    ):
        t, d = parts_of(fraction, items, label, count, units)
        w = weight if units is None else bin_sums(units, weights * weight, count) / share
        total += w
        top += w * t
        bottom += w * d
        second += w * np.square(t - centre * d)
        for node, low, high in zip(nodes, lowest, highest, strict=True):
            z = t - node * d if node else t
            np.minimum(low, z, out=low)
            np.maximum(high, z, out=high)
    if isinstance(statistic.basis, ListLoss):
        lowest, highest = (weights * end for end in statistic.extremes(items, belief))
        lowest, highest = lowest[None], highest[None]
    elif fraction.bounds is not None:
        lowest, highest = (np.array([end * share]) for end in fraction.bounds)
    top, bottom, second = top / total, bottom / total, second / total  # 32-bit probabilities do not quite sum to 1
    variances = np.maximum(second - np.square(top - centre * bottom), 0.0)
    return Units(rates, top, bottom, lowest.T, highest.T, variances)


def at_nodes(known: Ranged, nodes: Floats) -> Ranged:
    """Return the units or the rest of a mean with their ranges at other nodes than 0."""
    fall = np.multiply.outer(known.bottom, nodes)
    moved = replace(known, lowest=known.lowest - fall, highest=known.highest - fall)
    if isinstance(moved, Rest):
        flat = np.zeros(len(nodes))
        moved = replace(moved, least=moved.least + flat, most=moved.most + flat)
    return moved
