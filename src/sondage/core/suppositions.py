r"""What a belief supposes of an influence: label by label its weight and the influence there.

Where it matters only whether the label is the predicted class, as for the error rate, all other labels are supposed
together: two columns in place of one a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.beliefs import Belief, ClassBelief, RankingBelief
from sondage.core.measures.bases import Confusion
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Floats, Items

if TYPE_CHECKING:
    from sondage.core.comparisons import Influence

__all__ = ["right_or_wrong", "supposed_influences", "under_each"]


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
    if isinstance(belief, ClassBelief) and belief.n_classes > 2:
        found = right_or_wrong(influence)
        if found is not None:
            predicted = items.classes(influence.models[0]).predictions
            for weight, column in zip(belief.right(items, predicted), found.T, strict=True):
                yield weight, float(column[0]) if np.all(column == column[0]) else column.take(predicted)
            return
    for label, weight in belief.supposed(
        items, influence.models, nodes=nodes or influence.basis.nodes, kinks=influence.kinks(items)
    ):
        yield weight, influence.at(items, label)


def under_each(influence: Influence, belief: Belief, items: Items, labels: Sequence[Any]) -> Floats:
    """Return the influence under each of the labels that a belief supposes, shape (labels, n).

    Parameters
    ----------
    influence, belief, items
        As for `supposed_influences`.
    labels : sequence
        All of them, in the belief's order.
    """
    basis = influence.basis
    if isinstance(basis, ListLoss):
        assert isinstance(belief, RankingBelief)
        parts = [a * basis.under_each(items, model, belief) for model, a in influence.weights]
        return np.asarray(np.sum(parts, axis=0) - influence.constant)
    return np.stack([influence.at(items, label) for label in labels], dtype=np.float64)
