r"""What the predictions of models without probabilities mean: a table of labels by predicted class.

The probability of label y where a model predicts f is

.. math:: P(y \mid f) = \frac{n_{fy} + M \, t_{fy}}{n_f + M}, \qquad
          t_{ff} = \alpha, \quad t_{fy} = \frac{1 - \alpha}{k - 1}, \qquad \alpha = \frac{h + 1}{n + 2},

the mean of a Dirichlet distribution whose prior counts as M = 2 labels, centred at the accuracy of all h right of n
predictions. Items on which several models agree have a table of their own; the models' tables are averaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats, Items

__all__ = ["count_votes", "voted_column"]

MASS = 2.0
"""Imagined labels of each predicted class, of which the model is right on as many as it was on average."""

VoteCounts = tuple[tuple[int, ...], ...]
"""(model, whether all agree, predicted class, label, how often), for what was seen."""


def count_votes(votes: Sequence[int], items: Items, labels: NDArray[Any]) -> VoteCounts:
    """Return how often each label was seen under each model's prediction.

    Parameters
    ----------
    votes : sequence of int
        The models.
    items : Items
        The labelled items.
    labels : ndarray of int, shape (n,)
        Class codes.

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([0, 1, 1]), None),), np.ones(3))
    >>> count_votes([0], items, np.array([0, 1, 0]))
    ((0, 1, 0, 0, 1), (0, 1, 1, 0, 1), (0, 1, 1, 1, 1))
    """
    predicted, agreed = _predictions(votes, items)
    seen: Counter[tuple[int, ...]] = Counter()
    for model, column in zip(votes, predicted, strict=True):
        seen.update((model, *row) for row in zip(agreed.tolist(), column.tolist(), labels.tolist(), strict=True))
    return tuple((*cell, count) for cell, count in sorted(seen.items()))


def voted_column(counts: VoteCounts, votes: Sequence[int], n_classes: int, items: Items, label: int) -> Floats:
    """Return the probability of one class, shape (n,).

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([0, 1, 1]), None),), np.ones(3))
    >>> voted_column(((0, 1, 0, 0, 4), (0, 1, 1, 1, 4)), [0], 2, items, 1).round(3).tolist()
    [0.033, 0.967, 0.967]
    """
    predicted, agreed = _predictions(votes, items)
    tables = _tables(counts, tuple(votes), n_classes, label)
    total = np.zeros(len(items))
    for table, column in zip(tables, predicted, strict=True):
        total += table[agreed, column] / len(votes)
    return total


def _predictions(votes: Sequence[int], items: Items) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Return the models' predictions, and 1 where they all agree, 0 elsewhere."""
    predicted = [items.classes(model).predictions for model in votes]
    agreed = np.ones(len(items), dtype=np.int64)
    for column in predicted[1:]:
        agreed &= column == predicted[0]
    return predicted, agreed


@lru_cache(maxsize=16)
def _tables(counts: VoteCounts, votes: tuple[int, ...], n_classes: int, label: int) -> Floats:
    """Return each model's probability of a label, shape (m, 2, k), by whether all agree and by predicted class."""
    rows = np.array(counts, dtype=np.int64).reshape(-1, 5)
    place = {model: at for at, model in enumerate(votes)}
    models = np.array([place[model] for model in rows[:, 0].tolist()], dtype=np.int64)
    _, together, predicted, seen, count = rows.T
    totals, hits = np.zeros((len(votes), 2, n_classes)), np.zeros((len(votes), 2, n_classes))
    right = np.zeros((len(votes), 2))
    np.add.at(totals, (models, together, predicted), count)
    np.add.at(hits, (models, together, predicted), count * (seen == label))
    np.add.at(right, (models, together), count * (seen == predicted))
    accuracy = (right + 1.0) / (totals.sum(axis=2) + 2.0)
    prior = np.repeat((MASS * (1.0 - accuracy) / (n_classes - 1))[:, :, None], n_classes, axis=2)
    prior[:, :, label] = MASS * accuracy
    return np.asarray((prior + hits) / (MASS + totals))
