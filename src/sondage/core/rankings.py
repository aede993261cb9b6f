"""Ranked lists of documents: what a search system says of a query, in compressed rows.

The documents of all queries stand one after the other, in each query in the order of their names; `Documents.offsets`
tells where a query's begin. A system's output is one number for each document, its position in the list. Items of a
ranking pool are queries: taking some of them takes row numbers and copies no document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CHUNK",
    "Documents",
    "Ranking",
    "Ranks",
    "grade_type",
    "in_chunks",
    "narrowed",
    "offsets_of",
    "reduced_segments",
    "segment_sums",
    "segments_of",
]

CHUNK = 1 << 17
"""Documents in one pass, so that its temporaries stay small however long the lists are."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """One search system's ranked lists.

    Parameters
    ----------
    documents : sequence of sequences, optional
        For each query, in the pool's order, the documents that the system returns, best first; an empty list where
        it returns none.
    ranks : array-like of int, shape (D,), optional
        In place of these: the rank of each row of the pool's long table (``queries=``, ``documents=``), 1 for the
        best; 0, NaN or missing where the system does not return the document. Gaps are closed.

    Examples
    --------
    >>> Ranking([["d2", "d1"], ["d7"]]).documents
    [['d2', 'd1'], ['d7']]
    """

    documents: Any = None
    ranks: Any = None


@dataclass(frozen=True, eq=False)
class Documents:
    """All documents of all queries.

    Attributes
    ----------
    offsets : ndarray of int, shape (Q + 1,)
        Where each query's documents begin; the last is their number D.
    names : ndarray, shape (D,)
        Document ids; in each query all different, in ascending order.
    n_grades : int
        Number of relevance grades G.
    probabilities : ndarray of float, shape (D, G), optional
        A grade model's probabilities; None where there is none.
    costs : ndarray of float, shape (D,), optional
        Of judging each document; None where a query costs 1.
    """

    offsets: NDArray[np.int64]
    names: NDArray[Any]
    n_grades: int
    probabilities: NDArray[Any] | None = None
    costs: NDArray[Any] | None = None

    def of(self, rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
        """Return the index of these queries' documents, a slice where they stand together, and local offsets."""
        return segments_of(self.offsets, rows)

    def part(self, row: int) -> slice:
        """Return where one query's documents stand."""
        return slice(int(self.offsets[row]), int(self.offsets[row + 1]))

    def names_of(self, row: int) -> list[Any]:
        """Return one query's documents."""
        found: list[Any] = self.names[self.part(row)].tolist()
        return found

    def only(self, kept: NDArray[np.bool_]) -> Documents:
        """Return the table of these documents, bool (D,); queries keep their numbers."""
        before = offsets_of(kept)
        return replace(
            self,
            offsets=before[self.offsets],
            names=self.names[kept],
            probabilities=None if self.probabilities is None else self.probabilities[kept],
            costs=None if self.costs is None else self.costs[kept],
        )


@dataclass(frozen=True, eq=False)
class Ranks:
    """Some queries, and a system's positions of their documents.

    Attributes
    ----------
    documents : Documents
        All documents; shared, never copied.
    positions : ndarray of int, shape (D,)
        Position of each document in the system's list, from 1; 0 where it is not returned.
    rows : ndarray of int, shape (n,)
        The queries.
    """

    documents: Documents
    positions: NDArray[Any]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Any) -> Ranks:
        """Return the outputs of these rows."""
        return replace(self, rows=self.rows[rows])

    def index(self) -> tuple[Any, NDArray[np.int64]]:
        """Return the index of the documents of these queries, and where each query's begin."""
        return self.documents.of(self.rows)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of documents of each query."""
        return np.asarray(self.documents.offsets[self.rows + 1] - self.documents.offsets[self.rows])


def in_chunks(ranks: Ranks, most: int = CHUNK) -> Iterator[slice]:
    """Yield slices of the queries with at most so many documents each, but one query or more, in order."""
    ends = np.cumsum(ranks.counts)
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def grade_type(n_grades: int) -> np.dtype[np.signedinteger]:
    """Return the smallest type of the codes of so many grades, and of `NOT_YET`.

    Examples
    --------
    >>> grade_type(5).name, grade_type(128).name, grade_type(129).name
    ('int8', 'int8', 'int16')
    """
    return np.min_scalar_type(-n_grades)


def offsets_of(counts: ArrayLike) -> NDArray[np.int64]:
    """Return where segments of these sizes begin, and where the last one ends.

    Examples
    --------
    >>> offsets_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64, copy=False)


def segments_of(offsets: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    """Return the index of what some segments hold, a slice where they stand together, and where each begins in it.

    Examples
    --------
    >>> index, starts = segments_of(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> index.tolist(), starts.tolist()
    ([2, 3, 4, 0, 1], [0, 3, 5])
    """
    counts = offsets[rows + 1] - offsets[rows]
    starts = offsets_of(counts)
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and np.all(np.diff(rows) == 1):
        return slice(int(offsets[rows[0]]), int(offsets[rows[-1] + 1])), starts
    return np.repeat(offsets[rows] - starts[:-1], counts) + np.arange(starts[-1]), starts


def narrowed(index: Any, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the index of some documents, from that of all, as `Documents.of` has it, and which of them are kept."""
    return np.asarray(np.arange(index.start, index.stop)[kept] if isinstance(index, slice) else index[kept])


def segment_sums(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sum of each segment, 0 for an empty one; of a table, by columns.

    Examples
    --------
    >>> segment_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3])).tolist()
    [3.0, 0.0, 4.0]
    """
    return reduced_segments(np.add, values.astype(np.float64, copy=False), starts, 0.0)


def reduced_segments(how: np.ufunc, values: NDArray[Any], starts: NDArray[np.int64], empty: float) -> NDArray[Any]:
    """Return what a function of two numbers makes of each segment, along the first axis; of an empty one this number.

    Examples
    --------
    >>> reduced_segments(np.maximum, np.array([1, 2, 4]), np.array([0, 2, 2, 3]), 0).tolist()
    [2, 0, 4]
    """
    found = np.full((len(starts) - 1, *values.shape[1:]), empty)
    filled = starts[1:] > starts[:-1]
    if filled.any():
        found[filled] = how.reduceat(values, starts[:-1][filled], axis=0)
    return found
