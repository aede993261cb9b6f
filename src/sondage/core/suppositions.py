r"""What a belief supposes of an influence: label by label its weight and the influence there.

Where it matters only whether the label is the predicted class, as for the error rate, all other labels are supposed
together: two columns in place of one a class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, ClassBelief
from sondage.core.measures.bases import Confusion
from sondage.core.predictions import Floats, Items

if TYPE_CHECKING:
    from sondage.core.comparisons import Influence

__all__ = ["right_or_wrong", "supposed_influences"]


def right_or_wrong(influence: Influence) -> Floats | None:
    """Return the influence of a right and of a wrong prediction, shape (k, 2); None where more matters.

    Examples
    --------
    >>> from sondage.core.comparisons import Influence
    >>> right_or_wrong(Influence(Confusion(3), ((0, 1.0 - np.eye(3)),), constant=0.25))[0].tolist()
    [-0.25, 0.75]
    """
    if len(influence.terms) > 1 or not isinstance(influence.basis, Confusion):
        return None
    table = np.asarray(influence.terms[0][1], dtype=np.float64)
    k = len(table)
    wrong = table[~np.eye(k, dtype=np.bool_)].reshape(k, k - 1)
    if not np.all(wrong == wrong[:, :1]):
        return None
    return np.column_stack([np.diag(table), wrong[:, 0]]) - influence.constant


def supposed_influences(
    influence: Influence, belief: Belief, items: Items, *, nodes: int | None = None
) -> Iterator[tuple[Any, Any]]:
    """Yield weights and influences of supposed labels, each shape (n,) or a number for all items.

    Parameters
    ----------
    influence : Influence
        What is to be known of each label.
    belief : Belief
        What supposes the labels.
    items : Items
        The n rows.
    nodes : int, optional
        Quadrature nodes of a belief in numbers; by default those that the statistic needs.
    """
    several = isinstance(belief, ClassBelief) and belief.n_classes > 2
    found = right_or_wrong(influence) if several else None
    supposed = belief.supposed(
        items, influence.models, nodes=nodes or influence.basis.nodes, kinks=influence.kinks(items)
    )
    if found is not None:
        predicted = items.classes(influence.models[0]).predictions
        hits = _hits(predicted, (weight for _, weight in supposed))
        for weight, column in zip(hits, found.T, strict=True):
            yield weight, float(column[0]) if np.all(column == column[0]) else column.take(predicted)
        return
    for label, weight in supposed:
        yield weight, influence.at(items, label)


def _hits(predicted: NDArray[Any], columns: Iterable[NDArray[Any]]) -> tuple[Floats, Floats]:
    """Return the believed probability of the predicted class, and the sum of all others', shape (n,) each."""
    hit, others, part = np.zeros(len(predicted)), np.zeros(len(predicted)), np.empty(len(predicted))
    for label, column in enumerate(columns):
        np.multiply(column, predicted == label, out=part)
        hit += part
        np.subtract(column, part, out=part)  # exact: the column, or 0
        others += part
    return hit, others
