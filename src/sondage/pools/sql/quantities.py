"""What bins are made of, as SQL."""

from __future__ import annotations

from sondage.core.measures.binned import NO_PROBABILITIES, Quantity, Score
from sondage.errors import MeasureError
from sondage.pools.schema import Schema

__all__ = ["quantity_of"]


def quantity_of(quantity: Quantity, schema: Schema, model: int) -> str:
    """Return the expression of a row's value, the same double as `quantity.of` gives."""
    source = schema.models[model]
    told = source.probabilities
    if told is None:
        raise MeasureError(NO_PROBABILITIES)
    if isinstance(quantity, Score):
        return told.of(quantity.positive)
    columns = [told.of(label) for label in range(len(schema.task.classes))]
    if source.prediction is None:  # it predicts the largest
        return f"greatest({', '.join(columns)})"
    return f"CASE {source.code} {' '.join(f'WHEN {label} THEN {text}' for label, text in enumerate(columns))} END"
