r"""Item statistics of ranked lists: one loss a query and system, with its moments under independent grades.

A label holds the grades of all documents of a query, far too many combinations to suppose one by one. What designs
need of the losses :math:`\ell_m` of systems m is the mean and the variance of :math:`\sum_m a_m \ell_m`, and these
follow from two moments of each document's gain (thesis 6.12 and appendix A.1) in time linear in the documents, or for
two cascades in the product of the lists' lengths (`sondage.core.measures.cascades`). What has no such programme is
averaged over the label vectors that a belief supposes.

Labels are grade codes: one for all documents, or one a document, shape (d,), query after query; or a table (n, W) with
-1 beyond a query's documents.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.bases import OneLoss
from sondage.core.predictions import Floats, Items, Ranks
from sondage.core.rankings import in_chunks, narrowed, offsets_of, segment_sums

__all__ = ["Additive", "GradeBelief", "ListLoss", "Normalised", "Terms", "gain_moments", "kept", "moved"]

Terms = Sequence[tuple[int, float]]
"""Model index and weight."""


class GradeBelief(Protocol):
    """What the grades of documents are expected to be, each independent of the others."""

    def probabilities(self, items: Items, index: Any) -> Floats:
        """Return the probabilities of the grades of some documents, shape (d, G)."""
        ...

    def supposed(self, items: Items, models: Sequence[int]) -> Iterator[tuple[Any, Any]]:
        """Yield grade codes of all documents, shape (d,), and weights."""
        ...


def _chunks(items: Items) -> list[tuple[slice, Items]]:
    """Return slices of the queries and the queries in them, few enough documents at a time; the same ones each time."""
    return items.once(_chunks, lambda: [(part, items.take(part)) for part in in_chunks(items.ranks(0))])


def _flat_codes(ranks: Ranks, label: Any) -> NDArray[Any]:
    """Return a label as one grade code a document, shape (d,)."""
    codes, counts = np.asarray(label), ranks.counts
    if codes.ndim == 1:
        return codes
    if codes.ndim == 0:
        return np.full(int(counts.sum()), codes)
    return codes[np.arange(codes.shape[1]) < counts[:, None]]


class ListLoss(OneLoss):
    """One loss a query and system, shape (1,)."""

    nodes = 1
    depth: int | None

    @abstractmethod
    def losses_of_each(self, ranks: Ranks, labels: Sequence[NDArray[Any]]) -> Floats:
        """Return the loss of each query if these are the grades of all documents, shape (labels, n)."""

    def losses(self, ranks: Ranks, codes: NDArray[Any]) -> Floats:
        """Return the loss of each query if these are the grades of its documents, shape (n,)."""
        return np.asarray(self.losses_of_each(ranks, [codes])[0])

    @abstractmethod
    def extremes(self, items: Items, terms: Terms) -> tuple[Floats, Floats]:
        """Return bounds of the weighted sum of losses over all grades, equal where no grade can move it."""

    def judged(self, ranks: Ranks) -> NDArray[np.bool_]:
        """Return which documents must be judged, bool (D,): those in the list, up to the depth."""
        return kept(ranks.positions, self.depth) > 0

    def _loss(self, items: Items, model: int, label: Any) -> Floats:
        ranks = items.ranks(model)
        return self.losses(ranks, _flat_codes(ranks, label))

    def expected(self, items: Items, model: int, belief: GradeBelief) -> Floats:
        """Return the believed mean loss of each query, shape (n,)."""
        return self.spread(items, ((model, 1.0),), belief)[0]

    def spread(self, items: Items, terms: Terms, belief: GradeBelief) -> tuple[Floats, Floats]:
        """Return believed mean and variance of the weighted sum of losses, (n,) each: here from supposed labels."""
        mean, variance = np.zeros(len(items)), np.zeros(len(items))
        for part, some in _chunks(items):
            values = np.sum([a * self._supposed_losses(some, model, belief) for model, a in terms], axis=0)
            mean[part], variance[part] = np.mean(values, axis=0), np.var(values, axis=0)
        return mean, variance

    def _supposed_losses(self, items: Items, model: int, belief: GradeBelief) -> Floats:
        """Return the losses of supposed labels, shape (labels, n): all pairs of a system share them."""
        return items.once((self, belief, model), lambda: self.under_each(items, model, belief))

    def under_each(self, items: Items, model: int, belief: GradeBelief) -> Floats:
        """Return the loss of each query under each label that a belief supposes, shape (labels, n)."""
        return self.losses_of_each(items.ranks(model), [codes for codes, _ in belief.supposed(items, (model,))])


def gain_moments(items: Items, belief: GradeBelief, values: tuple[float, ...], depth: int | None) -> Floats:
    """Return believed mean and mean square of what each document's grade is worth, shape (d, 2).

    Parameters
    ----------
    items : Items
        Queries.
    belief : GradeBelief
        Of their documents' grades.
    values : tuple of float
        What each grade is worth.
    depth : int or None
        Documents that no system lists up to here are not asked for, and are 0.
    """

    def made() -> Floats:
        index, _ = items.ranks(0).index()
        positions = (items.ranks(model).positions[index] for model in range(len(items.models)))
        listed = np.logical_or.reduce([kept(places, depth) > 0 for places in positions])
        powers = np.stack([values, np.square(values)], axis=1)
        if listed.all():
            return np.asarray(belief.probabilities(items, index) @ powers)
        found = np.zeros((len(listed), 2))
        found[np.flatnonzero(listed)] = belief.probabilities(items, narrowed(index, listed)) @ powers
        return found

    return items.once((gain_moments, belief, values, depth), made)


def kept(positions: NDArray[Any], depth: int | None) -> NDArray[Any]:
    """Return positions, 0 beyond the depth."""
    return positions if depth is None else np.where(positions <= depth, positions, 0)


def moved(items: Items, terms: Terms, depth: int | None) -> NDArray[np.bool_]:
    """Return where the systems' lists, up to the depth, are neither the same nor all empty, bool (n,)."""
    found = np.zeros(len(items), dtype=np.bool_)
    for part, some in _chunks(items):
        index, starts = some.ranks(0).index()
        places = [kept(some.ranks(model).positions[index], depth) for model, _ in terms]
        differs = places[0] > 0 if len(places) == 1 else np.any([place != places[0] for place in places[1:]], axis=0)
        found[part] = segment_sums(differs, starts) > 0
    return found


@dataclass(frozen=True)
class Additive(ListLoss):
    r"""Discounted gains :math:`\sum_j d_j g(y_{r(j)})`: of DCG (thesis 6.1) and RBP.

    Mean and variance of :math:`\sum_z c_z g(y_z)`, :math:`c_z = \sum_m a_m d_{m}(z)`, are
    :math:`\sum_z c_z E[g_z]` and :math:`\sum_z c_z^2 \mathrm{Var}[g_z]`: thesis A.3 and A.12 in a simpler form.

    Attributes
    ----------
    name : str
        Of the statistic.
    gains : tuple of float
        g of each grade.
    depth : int or None
        Positions that count; None for all.
    persistence : float, optional
        p of discounts :math:`(1 - p) p^{j-1}`; by default they are :math:`1 / \log_2(j + 1)`.
    """

    name: str
    gains: tuple[float, ...]
    depth: int | None
    persistence: float | None = None

    def discounts(self, positions: NDArray[Any]) -> Floats:
        """Return the discount at each position, 0 where the document is not in the list or beyond the depth."""
        last = int(positions.max(initial=0))
        places = np.arange(1, last + 1)
        p = self.persistence
        table = np.zeros(last + 1)
        table[1:] = 1.0 / np.log2(places + 1.0) if p is None else (1.0 - p) * p ** (places - 1.0)
        if self.depth is not None:
            table[self.depth + 1 :] = 0.0
        return np.asarray(table[positions])

    def losses_of_each(self, ranks: Ranks, labels: Sequence[NDArray[Any]]) -> Floats:
        index, starts = ranks.index()
        c, gains = self.discounts(ranks.positions[index]), np.array(self.gains)
        return np.stack([segment_sums(c * gains[codes], starts) for codes in labels])

    def expected(self, items: Items, model: int, belief: GradeBelief) -> Floats:
        mean = np.empty(len(items))
        for part, some in _chunks(items):
            c, counts, starts = self._counting(some, ((model, 1.0),))
            mean[part] = segment_sums(c * gain_moments(some, belief, self.gains, self.depth)[counts][:, 0], starts)
        return mean

    def spread(self, items: Items, terms: Terms, belief: GradeBelief) -> tuple[Floats, Floats]:
        mean, variance = np.empty(len(items)), np.empty(len(items))
        for part, some in _chunks(items):
            c, counts, starts = self._counting(some, terms)
            first, second = gain_moments(some, belief, self.gains, self.depth)[counts].T
            mean[part] = segment_sums(c * first, starts)
            variance[part] = segment_sums(np.square(c) * np.maximum(second - np.square(first), 0.0), starts)
        return mean, variance

    def extremes(self, items: Items, terms: Terms) -> tuple[Floats, Floats]:
        least, most = min(self.gains), max(self.gains)
        lowest, highest = np.empty(len(items)), np.empty(len(items))
        for part, some in _chunks(items):
            c, _, starts = self._counting(some, terms)
            lowest[part] = segment_sums(np.where(c > 0, c * least, c * most), starts)
            highest[part] = segment_sums(np.where(c > 0, c * most, c * least), starts)
        return lowest, highest

    def _counting(self, items: Items, terms: Terms) -> tuple[Floats, Any, NDArray[np.int64]]:
        """Return the coefficients that are not 0, whose they are of all documents, and where each query's begin."""
        index, starts = items.ranks(0).index()
        c = np.sum([a * self.discounts(items.ranks(model).positions[index]) for model, a in terms], axis=0)
        counts = c != 0
        if counts.all():
            return c, slice(None), starts
        return c[counts], np.flatnonzero(counts), offsets_of(counts)[starts]


@dataclass(frozen=True)
class Normalised(ListLoss):
    r"""Discounted gains over those of the ideal list, 0 where no document has any: nDCG.

    The ideal orders all documents that the pool lists for the query, whatever a system returns. It is as unknown as
    the rest: each supposed label vector has its own.

    Attributes
    ----------
    name : str
        Of the statistic.
    gains : tuple of float
        Gain of each grade, ascending; the least is 0.
    depth : int or None
        Positions that count; None for all.
    """

    name: str
    gains: tuple[float, ...]
    depth: int | None

    def judged(self, ranks: Ranks) -> NDArray[np.bool_]:
        return np.ones(len(ranks.positions), dtype=np.bool_)

    def losses_of_each(self, ranks: Ranks, labels: Sequence[NDArray[Any]]) -> Floats:
        return _ratio(self._plain.losses_of_each(ranks, labels), self._ideals(ranks, labels))

    def under_each(self, items: Items, model: int, belief: GradeBelief) -> Floats:
        labels = [codes for codes, _ in belief.supposed(items, (model,))]
        # The ideals are the same for all systems.
        ideals = items.once((Normalised, self, belief), lambda: self._ideals(items.ranks(0), labels))
        return _ratio(self._plain.losses_of_each(items.ranks(model), labels), ideals)

    @property
    def _plain(self) -> Additive:
        return Additive(self.name, self.gains, self.depth)

    def _ideals(self, ranks: Ranks, labels: Sequence[NDArray[Any]]) -> Floats:
        """Return the gains of ideal lists, which have, at place j, a grade of at least g if j documents have it."""
        _, starts = ranks.index()
        whole = np.concatenate([[0.0], np.cumsum(self._plain.discounts(np.arange(1, ranks.counts.max(initial=0) + 1)))])
        ideals = np.zeros((len(labels), len(ranks)))
        for ideal, codes in zip(ideals, labels, strict=True):
            for grade, step in enumerate(np.diff(self.gains), start=1):
                ideal += step * whole[segment_sums(codes >= grade, starts).astype(np.int64)]
        return ideals

    def extremes(self, items: Items, terms: Terms) -> tuple[Floats, Floats]:
        can = moved(items, terms, self.depth)
        weights = [a for _, a in terms]
        ends = (sum(min(a, 0.0) for a in weights), sum(max(a, 0.0) for a in weights))
        return np.where(can, ends[0], 0.0), np.where(can, ends[1], 0.0)


def _ratio(reached: Floats, ideal: Floats) -> Floats:
    """Return what is reached of the ideal, 0 where that is 0."""
    return np.asarray(np.divide(reached, ideal, out=np.zeros(ideal.shape), where=ideal > 0))
