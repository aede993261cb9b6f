r"""Expected reciprocal rank: a reader goes down the list and stops at a document with probability :math:`\kappa`.

With :math:`X_i` the loss that the documents from position i on add once they are reached,

.. math:: X_i = \kappa_i / i + (1 - \kappa_i) X_{i+1},

where :math:`\kappa_i` and :math:`X_{i+1}` are independent, so that two moments follow from the end of the list in
linear time, without a product that could underflow (thesis A.4 to A.9 in a form that is stable for any length):

.. math:: E[X_i^2] = E[\kappa_i^2] / i^2 + 2 E[\kappa_i (1 - \kappa_i)] E[X_{i+1}] / i
    + E[(1 - \kappa_i)^2] E[X_{i+1}^2].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.lists import GradeBelief, ListLoss, Terms, gain_moments, kept, moved
from sondage.core.predictions import Floats, Items, Ranks
from sondage.core.rankings import CHUNK, in_chunks, narrowed, offsets_of, reduced_segments, segments_of

__all__ = ["Cascade"]

TINY = 1e-200
"""Below it a product over passed documents is 0: it adds nothing, and denormal numbers are slow."""
NEGLIGIBLE = 1e-18
"""Share of the largest term below which positions that are hardly ever reached add nothing."""
PAIRS_CHUNK = 1 << 14
"""Documents in one pass over pairs, so that its tables stay in the processor's cache."""


@dataclass(frozen=True)
class Cascade(ListLoss):
    r"""Expected reciprocal rank (thesis 6.2), :math:`\sum_i \frac{1}{i} \kappa_i \prod_{l<i} (1 - \kappa_l)`.

    Attributes
    ----------
    name : str
        Of the statistic.
    stops : tuple of float
        :math:`\kappa` of each grade, in [0, 1), ascending.
    depth : int or None
        Positions that count; None for all.
    """

    name: str
    stops: tuple[float, ...]
    depth: int | None

    def losses_of_each(self, ranks: Ranks, labels: Sequence[NDArray[Any]]) -> Floats:
        losses, stops = np.empty((len(labels), len(ranks))), np.array(self.stops)
        ends = offsets_of(ranks.counts)
        for part in in_chunks(ranks):
            some = ranks.take(part)
            index, _ = some.index()
            query = np.repeat(np.arange(len(some)), some.counts)
            document = np.arange(1, len(query) + 1)  # 0 beyond a list's end
            table = _by_position(kept(some.positions[index], self.depth), query, document, len(some))
            for row, codes in zip(losses, labels, strict=True):
                stop = np.concatenate([[0.0], stops[codes[ends[part.start] : ends[part.stop]]]])
                row[part] = _first(stop[table])
        return losses

    def expected(self, items: Items, model: int, belief: GradeBelief) -> Floats:
        mean = np.empty(len(items))
        for part, lists in self._lists(items, (model,), belief):
            mean[part] = _first(lists[0].stop)
        return mean

    def spread(self, items: Items, terms: Terms, belief: GradeBelief) -> tuple[Floats, Floats]:
        models, weights = tuple(model for model, _ in terms), np.array([a for _, a in terms])
        mean, variance = np.empty(len(items)), np.empty(len(items))
        for part, lists in self._lists(items, models, belief):
            firsts, seconds = (np.stack(both) for both in zip(*(_moments(one) for one in lists), strict=True))
            mean[part] = weights @ firsts
            total = np.square(weights) @ (seconds - np.square(firsts))
            for a, b in combinations(range(len(lists)), 2):
                product = _product(lists[a], lists[b])
                total += 2.0 * weights[a] * weights[b] * (product - firsts[a] * firsts[b])
            variance[part] = np.maximum(total, 0.0)
        return mean, variance

    def extremes(self, items: Items, terms: Terms) -> tuple[Floats, Floats]:
        lowest, highest = np.zeros(len(items)), np.zeros(len(items))
        start = _first_difference(items, terms, self.depth)
        least = min(self.stops) if len(terms) == 1 else 0.0
        for model, a in terms:
            size = _lengths(items.ranks(model), self.depth)
            ends = [a * _tail(start, size, stop) for stop in (least, max(self.stops))]
            lowest, highest = lowest + min(ends, key=np.sum), highest + max(ends, key=np.sum)
        same = ~moved(items, terms, self.depth)
        lowest[same] = highest[same] = 0.0
        return lowest, highest

    def _lists(
        self, items: Items, models: tuple[int, ...], belief: GradeBelief
    ) -> Iterator[tuple[NDArray[np.int64], list[_Lists]]]:
        """Yield places of queries of about equal length, and their lists, one for each model."""
        lengths = np.max([_lengths(items.ranks(model), self.depth) for model in models], axis=0)
        order = np.argsort(lengths, kind="stable")
        table = gain_moments(items, belief, self.stops, self.depth)
        _, offsets = items.ranks(0).index()
        size = CHUNK if len(models) == 1 else PAIRS_CHUNK
        for part in in_chunks(items.ranks(0).take(order), size):
            rows = order[part]
            ranks = [items.ranks(model).take(rows) for model in models]
            index, _ = ranks[0].index()
            places = [kept(one.positions[index], self.depth) for one in ranks]
            listed = np.any([place > 0 for place in places], axis=0)
            query = np.repeat(np.arange(len(rows)), ranks[0].counts)[listed]
            moments = table.take(narrowed(segments_of(offsets, rows)[0], listed), axis=0)
            places = [place[listed] for place in places]
            yield rows, [_lists(query, places, own, moments, len(rows)) for own in range(len(places))]


@dataclass(frozen=True, eq=False)
class _Lists:
    """Lists of n queries by position, shape (L, n): moments of kappa, and positions in all lists (0: not there)."""

    stop: Floats
    square: Floats
    places: list[NDArray[np.int64]]
    index: int


def _lists(query: NDArray[Any], places: list[NDArray[Any]], own: int, moments: Floats, count: int) -> _Lists:
    """Return the lists of one system, from positions and moments of documents."""
    stop, square = (_by_position(places[own], query, column, count) for column in moments.T)
    there = [_by_position(places[own], query, place.astype(np.int32), count) for place in places]
    return _Lists(stop, square, there, own)


def _by_position(places: NDArray[Any], query: NDArray[Any], values: NDArray[Any], count: int) -> NDArray[Any]:
    """Return values of documents as a table by position and query, 0 beyond a list's end."""
    here, table = places > 0, np.zeros((int(places.max(initial=0)), count), dtype=values.dtype)
    table[places[here] - 1, query[here]] = values[here]
    return table


def _first(stop: Floats) -> Floats:
    """Return the loss of each column; a product that underflows adds nothing."""
    passed = np.cumprod(1.0 - stop, axis=0)
    passed[passed < TINY] = 0.0
    found = stop / np.arange(1, len(stop) + 1)[:, None]
    found[1:] *= passed[:-1]
    return np.asarray(found.sum(axis=0))


def _moments(lists: _Lists) -> tuple[Floats, Floats]:
    """Return mean and second moment of the loss, from the end of the lists."""
    first, second = np.zeros(lists.stop.shape[1]), np.zeros(lists.stop.shape[1])
    for i in range(len(lists.stop), 0, -1):
        e, s = lists.stop[i - 1], lists.square[i - 1]
        second = s / i**2 + 2.0 / i * (e - s) * first + (1.0 - 2.0 * e + s) * second
        first = first + e * (1.0 / i - first)
    return first, second


def _product(one: _Lists, other: _Lists) -> Floats:
    r"""Return the believed mean of the product of two losses, thesis A.13 to A.21.

    For each position i of the first list, T[j] holds for all positions j of the second

    .. math:: \frac{1}{j} E\Big[\prod_{l<i} (1 - \kappa_{r_1(l)}) \prod_{m<j} (1 - \kappa_{r_2(m)}) \,\cdot\Big],

    times the mean of :math:`\kappa_{r_2(j)}`, with the document's own factor :math:`1 - \kappa` in it where the first
    list has passed it. One product over the first list moves it on: O(L_1 L_2).
    """
    count = one.stop.shape[1]
    total = np.zeros(count)
    if not len(one.stop) or not len(other.stop):
        return total
    j = np.arange(1, len(other.stop) + 1, dtype=np.int32)[:, None]
    passed = np.cumprod(np.vstack([np.ones(count), 1.0 - other.stop[:-1]]), axis=0)
    table = passed * other.stop / j
    least = NEGLIGIBLE * float(table.max())
    columns = np.arange(count)
    for i in range(1, len(one.stop) + 1):
        if i % 8 == 1:  # what is hardly ever reached adds nothing
            reached = int(np.count_nonzero(np.maximum.accumulate(table[::-1].max(axis=1)) > least))
            table, j = np.ascontiguousarray(table[:reached]), j[:reached]
            table[table < TINY] = 0.0
            before, kept_part = np.empty_like(table), np.empty_like(table)
            if not reached:
                break
        e, s = one.stop[i - 1], one.square[i - 1]
        skip = 1.0 - e
        some = skip > 0  # nobody passes a grade of which the chance to stop rounds to 1
        after = np.divide(1.0 - 2.0 * e + s, skip, out=np.zeros(count), where=some)  # of passing it in this list too
        again = np.divide(e - s, skip, out=np.zeros(count), where=some)  # of stopping at it there, once passed here
        place = one.places[other.index][i - 1]
        there = (place > 0) & (place <= reached)
        at = np.where(there, place, 1) - 1
        meeting = np.where(there, table[at, columns], 0.0)
        np.less_equal(j, np.where(there, place, reached), out=before, casting="unsafe")
        np.multiply(table, before, out=kept_part)
        # Of all places those up to the document's own, and it itself: there both lists stop at one document.
        upper = kept_part.sum(axis=0)
        rate = np.divide(s, e, out=np.zeros(count), where=e > 0)
        total += (again * (table.sum(axis=0) - upper) + e * upper + meeting * (rate - e)) / i
        table *= after
        kept_part *= skip - after
        table += kept_part
        table[at, columns] *= np.divide(again, e, out=np.ones(count), where=there & (e > 0))
    return total


def _lengths(ranks: Ranks, depth: int | None) -> NDArray[np.int64]:
    """Return the length of each list, at most the depth."""
    lengths = np.zeros(len(ranks), dtype=np.int64)
    for part in in_chunks(ranks):
        index, starts = (some := ranks.take(part)).index()
        lengths[part] = reduced_segments(np.maximum, some.positions[index], starts, 0)
    return lengths if depth is None else np.minimum(lengths, depth)


def _first_difference(items: Items, terms: Terms, depth: int | None) -> NDArray[np.int64]:
    """Return the first position at which the lists differ, from 1; 1 for a single list."""
    first = np.ones(len(items), dtype=np.int64)
    if len(terms) == 1:
        return first
    for part in in_chunks(items.ranks(0)):
        some = items.take(part)
        index, starts = some.ranks(0).index()
        places = np.stack([kept(some.ranks(model).positions[index], depth) for model, _ in terms])
        far = np.iinfo(np.int32).max
        apart = np.where((places != places[0]).any(axis=0), np.where(places > 0, places, far).min(axis=0), far)
        first[part] = reduced_segments(np.minimum, apart, starts, 1)
    return first


def _tail(start: NDArray[np.int64], length: NDArray[np.int64], stop: float) -> Floats:
    """Return the loss from position `start` to `length` if every document there stops with this probability."""
    places = np.arange(1, int(length.max(initial=0)) + 1)
    different, which = np.unique(start * (len(places) + 1) + length, return_inverse=True)
    found = np.zeros(len(different))
    for at, (a, b) in enumerate(zip(*divmod(different, len(places) + 1), strict=True)):
        inside = places[a - 1 : b]  # none where the lists are all the same
        found[at] = np.sum(stop * (1.0 - stop) ** (inside - a) / inside)
    return found[which]
