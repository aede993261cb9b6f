"""What a ranking pool shows, hashes and asks to be judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.hashing import hash_ids
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Floats, Items, Ranks
from sondage.core.rankings import segment_sums
from sondage.errors import InputError
from sondage.pools.missing import as_array
from sondage.pools.rankings import Listed, paid

__all__ = ["document_field", "grades_by_query", "judged_documents", "listed_hashes", "with_judged"]


def with_judged(items: Items, models: Sequence[int], statistics: Sequence[ListLoss]) -> Items:
    """Return a pool's items as a question sees them: the documents judged for it, and what a query then costs."""
    lists: Any = items.models
    kept = judged_documents(lists, models, statistics)
    if kept.all():
        return items
    documents = lists[0].documents.only(kept)
    outputs = tuple(replace(ranks, documents=documents, positions=ranks.positions[kept]) for ranks in lists)
    return replace(items, models=outputs, costs=None if items.costs is None else _judging_costs(outputs[0]))


def judged_documents(
    lists: Sequence[Ranks], models: Sequence[int], statistics: Sequence[ListLoss]
) -> NDArray[np.bool_]:
    """Return which documents a question's models and statistics need judged, bool (D,)."""
    return np.asarray(np.any([basis.judged(lists[model]) for model in models for basis in statistics], axis=0))


def _judging_costs(ranks: Ranks) -> Floats:
    """Return what it costs to judge the documents of each query, shape (n,)."""
    index, starts = ranks.index()
    assert ranks.documents.costs is not None
    return paid(segment_sums(ranks.documents.costs[index], starts))


def document_field(values: NDArray[Any], listed: Listed) -> NDArray[Any]:
    """Return a column over the long table as one mapping of document to value for each query."""
    assert listed.order is not None
    table = listed.outputs[0].documents
    shown, column = values[listed.order], np.empty(len(listed.queries), dtype=object)
    for query in range(len(column)):
        column[query] = dict(zip(table.names_of(query), shown[table.part(query)].tolist(), strict=True))
    return column


def grades_by_query(labels: Any, listed: Listed) -> Callable[[int], Any]:
    """Return a function from a query's row to its documents' grades, out of an array over the long table."""
    column = as_array(labels, "labels")
    order, table = listed.order, listed.outputs[0].documents
    if order is None or column.shape != (len(order),):
        raise InputError(
            f"labels have shape {column.shape}; give a mapping of query to document to grade, or one grade for each of "
            f"the {len(table.names)} rows of the long table"
        )
    column = column[order]

    def look(row: int) -> dict[Any, Any]:
        return dict(zip(table.names_of(row), column[table.part(row)].tolist(), strict=True))

    return look


def listed_hashes(ranks: Ranks) -> list[NDArray[np.uint64]]:
    """Return numbers a query from all that is listed for it, for a fingerprint."""
    index, starts = ranks.index()
    table = ranks.documents
    numbers = hash_ids(table.names[index]).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    columns = [ranks.positions, *([] if table.costs is None else [table.costs])]
    columns += [] if table.probabilities is None else list(table.probabilities.T)
    for column in columns:
        numbers ^= numbers >> np.uint64(31)
        numbers *= np.uint64(0xBF58476D1CE4E5B9)
        numbers += np.ascontiguousarray(column[index], dtype=np.float64).view(np.uint64)
    numbers ^= numbers >> np.uint64(29)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(numbers, dtype=np.uint64)])
    return [sums[starts[1:]] - sums[starts[:-1]]]
