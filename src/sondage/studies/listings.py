"""Ranked lists of drawn queries as data for a study's rows, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from sondage.core.predictions import Items, Ranks
from sondage.core.rankings import Documents, offsets_of

__all__ = ["has_ranks", "listing_layout", "listings_from_data", "listings_to_data"]


def has_ranks(items: Items) -> bool:
    """Return whether these are queries with ranked lists."""
    return bool(items.models) and isinstance(items.models[0], Ranks)


def listing_layout(items: Items) -> dict[str, Any]:
    """Return what all queries have in common."""
    table = cast(Ranks, items.models[0]).documents
    p = table.probabilities
    return {"models": len(items.models), "grades": table.n_grades, "probabilities": None if p is None else p.dtype.str}


def listings_to_data(items: Items) -> list[dict[str, Any]]:
    """Return each query's documents: names, costs, probabilities, and every rank."""
    outputs = [cast(Ranks, output) for output in items.models]
    table = outputs[0].documents
    found = []
    for row in outputs[0].rows.tolist():
        part = table.part(row)
        found.append(
            {
                "documents": table.names_of(row),
                "costs": None if table.costs is None else table.costs[part].tolist(),
                "probabilities": None if table.probabilities is None else table.probabilities[part].tolist(),
                "ranks": [output.positions[part].tolist() for output in outputs],
            }
        )
    return found


def listings_from_data(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> tuple[Ranks, ...]:
    """Return every system's ranks from the queries' data."""

    def joined(name: str, kind: Any) -> Any:
        if not data or data[0][name] is None:
            return None
        return np.array([value for query in data for value in query[name]], dtype=kind)

    counts = [len(query["documents"]) for query in data]
    p = layout["probabilities"]
    names = [name for query in data for name in query["documents"]]
    column = np.array(names) if len({type(name) for name in names}) < 2 else np.array(names, dtype=object)
    table = Documents(
        offsets_of(counts),
        column,
        int(layout["grades"]),
        None if p is None else np.reshape(joined("probabilities", p), (-1, int(layout["grades"]))),
        costs=joined("costs", np.float64),
    )
    every = np.arange(len(data))
    positions = (
        np.array([place for query in data for place in query["ranks"][model]], dtype=np.int32)
        for model in range(int(layout["models"]))
    )
    return tuple(Ranks(table, own, every) for own in positions)
