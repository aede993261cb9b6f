"""Queries of a pool that stays where it is: from batches of documents to rows that are queries, and their faults.

The engine sorts the long table by query and hands over whole queries. Each then is one row, its documents one value of
the column ``lists``, so that all passes see rows which are items, as of any other pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats
from sondage.core.rankings import Documents, Ranks, segment_sums
from sondage.errors import InputError
from sondage.pools.engines import Rows
from sondage.pools.kernels import merged
from sondage.pools.listings import judged_documents
from sondage.pools.rankings import positions_of
from sondage.pools.schema import Schema, Span

__all__ = ["SHOWN", "Queries", "both", "fields_by_query", "surveyed"]

SHOWN = 3
"""Faulty rows that a message names."""


@dataclass(frozen=True, eq=False)
class Queries:
    """What makes queries of documents; one with nothing to judge costs `cheapest`."""

    schema: Schema
    cheapest: float = 0.0

    def rows(self, documents: Rows) -> Rows:
        """Return the queries of some documents, of which those of a query stand together."""
        starts = _starts(documents["id"])
        table, offsets = self._kept(self._coded(documents, starts), starts)
        lists = np.empty(len(starts) - 1, dtype=object)
        for query, (start, stop) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
            lists[query] = Span(table, start, stop)
        first = starts[:-1]
        found = {name: documents[name][first] for name in ("id", "key", *("w",) * (self.schema.weight is not None))}
        if self.schema.cost is None:
            return found | {"lists": lists}
        costs = self._costs(table, offsets)
        return found | {"lists": lists, "c": np.where(costs > 0, costs, self.cheapest)}

    def survey(self, documents: Rows) -> dict[str, Any]:
        """Return number, weights and costs of the queries, and their faults: how many of each kind, and the first."""
        starts = _starts(documents["id"])
        found: dict[str, Any] = {"n": len(starts) - 1, "faults": self._faults(documents, starts)}
        if self.schema.weight is not None:
            weights = np.asarray(documents["w"], dtype=np.float64)[starts[:-1]]
            found |= {"sum_w": float(weights.sum()), "sum_ww": float(np.sum(weights**2))}
            found |= {"min_w": float(weights.min(initial=np.inf)), "max_w": float(weights.max(initial=0.0))}
        if self.schema.cost is not None:
            costs = self._costs(*self._kept(self._coded(documents, starts), starts))
            some = costs[costs > 0]
            found |= {"sum_c": float(some.sum()), "n_free": len(costs) - len(some)}
            found |= {"min_c": float(some.min(initial=np.inf)), "max_c": float(some.max(initial=0.0))}
        return found

    def _coded(self, documents: Rows, starts: NDArray[np.int64]) -> NDArray[Any]:
        """Return the table of documents, of each query in the order of their names."""
        schema = self.schema
        assert schema.lists is not None
        queries, names = _numbers(starts), _names(documents["d"])
        order = np.lexsort((names, queries))
        kinds = schema.no_documents.dtype.descr
        table = np.empty(len(order), dtype=[("name", names.dtype), *kinds[1:]])
        table["name"] = names[order]
        for at in range(len(schema.lists.ranks)):
            table["places"][:, at] = positions_of(queries, _numbered(documents[f"r{at}"]))[0][order]
        if schema.lists.grades is not None:
            p = np.asarray(schema.lists.grades.array(documents), dtype=np.float64)[order]
            uneven = schema.lists.grades.stem in schema.even
            table["p"] = p / p.sum(axis=1)[:, None] if uneven else p
        if schema.cost is not None:
            table["cost"] = documents["c"][order]
        return table

    def _kept(self, table: NDArray[Any], offsets: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the documents that are judged for the question, and where a query's begin."""
        assert self.schema.lists is not None
        if self.schema.lists.asked is None:
            return table, offsets
        documents = Documents(offsets, table["name"], len(self.schema.task.grades))
        every = np.arange(len(offsets) - 1)
        ranks = [Ranks(documents, table["places"][:, at], every) for at in range(len(self.schema.lists.ranks))]
        kept = judged_documents(ranks, *self.schema.lists.asked)
        return table[kept], documents.only(kept).offsets

    def _costs(self, table: NDArray[Any], offsets: NDArray[np.int64]) -> Floats:
        """Return what the documents of each query cost, 0 where there are none."""
        return segment_sums(np.ascontiguousarray(table["cost"]), offsets)

    def _faults(self, documents: Rows, starts: NDArray[np.int64]) -> dict[str, tuple[int, list[str]]]:
        """Return what is wrong with lists, not with one row: how often, and the first places."""
        assert self.schema.lists is not None
        queries, names = _numbers(starts), _names(documents["d"])
        order = np.lexsort((names, queries))
        same = (queries[order][1:] == queries[order][:-1]) & (names[order][1:] == names[order][:-1])
        found = {"document must stand once in a query's list": order[1:][same]}
        for at, column in enumerate(self.schema.lists.ranks):
            ranks = _numbered(documents[f"r{at}"])
            found[f"{column.name} must be different for different documents of a query"] = positions_of(queries, ranks)[
                1
            ]
        if self.schema.weight is not None:
            weights = np.asarray(documents["w"], dtype=np.float64)
            differs = weights != weights[starts[:-1]][queries]
            found["weight must be the same in all rows of a query"] = np.flatnonzero(differs)
        return {rule: (len(rows), [_place(documents, row) for row in rows[:SHOWN]]) for rule, rows in found.items()}


def _place(documents: Rows, row: int) -> str:
    return f"query {documents['id'][row]}, document {documents['d'][row]}"


def both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of the queries of two batches as of all."""
    numbers = [{name: value for name, value in part.items() if name != "faults"} for part in (one, other)]
    faults = {
        rule: (count + other["faults"][rule][0], (first + other["faults"][rule][1])[:SHOWN])
        for rule, (count, first) in one["faults"].items()
    }
    return merged(numbers) | {"faults": faults}


def surveyed(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is known of all queries.

    Raises
    ------
    InputError
        If lists have faults: the first kind, how many rows, and the first of them.
    """
    whole: Mapping[str, Any] = reduce(both, parts)
    found = dict(whole)
    for rule, (count, first) in found.pop("faults").items():
        if count:
            raise InputError(f"{rule}; in {count:,} row{'s' * (count > 1)} it is not: {'; '.join(first)}")
    if "min_c" in found:  # a query with nothing to judge costs as little as the cheapest, not 0
        least = found["min_c"] if np.isfinite(found["min_c"]) else 1.0
        found |= {"min_c": least, "max_c": max(found["max_c"], least)}
        found["sum_c"] += least * found["n_free"]
    if "sum_w" in found:  # the last digits of a sum depend on the order of rows
        found["sum_w"] = float(f"{found['sum_w']:.12e}")
    return found


def fields_by_query(
    queries: NDArray[Any], documents: NDArray[Any], values: NDArray[Any], wanted: NDArray[Any]
) -> NDArray[Any]:
    """Return a column over documents as a mapping of document to value for each of these queries."""
    found: dict[Any, dict[Any, Any]] = {name: {} for name in wanted.tolist()}
    order = np.argsort(_names(documents), kind="stable")
    for query, document, value in zip(
        *(column[order].tolist() for column in (queries, documents, values)), strict=True
    ):
        found[query][document] = value
    shown = np.empty(len(wanted), dtype=object)
    shown[:] = list(found.values())
    return shown


def _starts(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each query's documents begin, and the end."""
    if not len(ids):
        return np.zeros(1, dtype=np.int64)
    return np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1, [len(ids)]]).astype(np.int64)


def _numbered(ranks: NDArray[Any]) -> Floats:
    """Return ranks as numbers, NaN where one is missing."""
    return np.asarray(np.ma.filled(ranks.astype(np.float64), np.nan))


def _numbers(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _names(documents: NDArray[Any]) -> NDArray[Any]:
    return documents.astype(str) if documents.dtype.kind == "O" else documents
