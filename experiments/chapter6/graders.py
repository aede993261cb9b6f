"""Models of graded relevance, learned from query-document pairs: scores to rank by, probabilities of the grades.

They stand for the thesis's (section 6.3.1 and 6.3.2): Random Forest regression, ordinal classification with Random
Forests (Li and others, 2007), Ordered Logit, and the linear Ranking SVM.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.simulation import Floats

__all__ = ["forest", "forest_classes", "ordered_logit", "ranking_svm"]

TREES = 100
LEAF = 5
PAIRS = 20_000
"""Pairs of documents that the Ranking SVM is trained on, at most."""


def forest(train: Floats, grades: NDArray[np.int64], pool: Floats, count: int) -> tuple[Floats, Floats]:
    """Return scores, shape (D,), and probabilities, shape (D, G), of Random Forest regression.

    The probability of a grade is its share of the training rows in a row's leaf, averaged over the trees.

    Parameters
    ----------
    train : ndarray of float, shape (n, F)
        Features of the training rows.
    grades : ndarray of int, shape (n,)
        Theirs, from 0.
    pool : ndarray of float, shape (D, F)
        Rows to be graded.
    count : int
        How many grades there are, G.
    """
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(TREES, min_samples_leaf=LEAF, max_features="sqrt", random_state=0).fit(train, grades)
    known, asked = model.apply(train), model.apply(pool)
    p = np.zeros((len(pool), count))
    for tree in range(TREES):
        counts = np.zeros((int(max(known[:, tree].max(), asked[:, tree].max())) + 1, count))
        np.add.at(counts, (known[:, tree], grades), 1.0)
        seen = counts[asked[:, tree]]  # a leaf holds the rows that grew it
        p += seen / seen.sum(axis=1, keepdims=True)
    return np.asarray(model.predict(pool)), p / TREES


def forest_classes(train: Floats, grades: NDArray[np.int64], pool: Floats, count: int) -> tuple[Floats, Floats]:
    """Return expected grades and probabilities of the ordinal classification with Random Forests; as `forest`."""
    from sklearn.ensemble import RandomForestClassifier

    return _by_thresholds(
        lambda: RandomForestClassifier(TREES, min_samples_leaf=LEAF, random_state=0), train, grades, pool, count
    )


def ordered_logit(train: Floats, grades: NDArray[np.int64], pool: Floats, count: int) -> tuple[Floats, Floats]:
    """Return expected grades and probabilities of cumulative logits, each threshold with its slopes; as `forest`."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return _by_thresholds(
        lambda: make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000)), train, grades, pool, count
    )


def _by_thresholds(
    make: Callable[[], Any], train: Floats, grades: NDArray[np.int64], pool: Floats, count: int
) -> tuple[Floats, Floats]:
    """Learn p(y >= k) for each k by a classifier of its own (Li and others, 2007; Frank and Hall, 2001)."""
    above = np.ones((len(pool), count + 1))
    above[:, count] = 0.0
    for k in range(1, count):
        reached = grades >= k
        if reached.all() or not reached.any():
            above[:, k] = float(reached[0])
        else:
            above[:, k] = make().fit(train, reached).predict_proba(pool)[:, 1]
    above = np.minimum.accumulate(above, axis=1)
    return above[:, 1:].sum(axis=1), above[:, :-1] - above[:, 1:]


def ranking_svm(train: Floats, grades: NDArray[np.int64], queries: NDArray[Any], pool: Floats) -> Floats:
    """Return scores of the linear Ranking SVM (Herbrich and others, 2000), shape (D,).

    Parameters
    ----------
    train, grades, pool
        As for `forest`.
    queries : ndarray, shape (n,)
        Of the training rows; pairs are of documents of one query with different grades.
    """
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    scale = StandardScaler().fit(train)
    rows, rng = scale.transform(train), np.random.default_rng(0)
    found = []
    for query in np.unique(queries):
        here = np.flatnonzero(queries == query)
        first, second = np.nonzero(grades[here][:, None] > grades[here][None, :])
        found.append(np.stack([here[first], here[second]], axis=1))
    pairs = rng.permutation(np.concatenate(found))[:PAIRS]
    sign = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
    differences = (rows[pairs[:, 0]] - rows[pairs[:, 1]]) * sign[:, None]
    model = LinearSVC(C=0.01, dual=False, fit_intercept=False).fit(differences, sign)
    return np.asarray(scale.transform(pool) @ model.coef_[0])
