"""Queries with graded documents, split into five folds: on one fold rankers are learned, the other four are the pool.

mq2007   Million Query track 2007 (LETOR's aggregation set): features are the documents' ranks in 21 systems' lists,
         each document costs the same
mslr     10,000 rows of MSLR-WEB: features are Microsoft's, a document costs the logarithm of its length
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.data import Arrays
from experiments.chapter6 import graders
from experiments.simulation import Floats
from sondage import Pool, Ranking

__all__ = ["DOMAINS", "FOLDS", "SHARES", "Case", "learned", "query_pairs"]

FOLDS = 5
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Of the training fold's queries, for the rankers that are trained on more and more."""

OUTDATED = 0.1
"""Part of each list that an outdated index does not have."""

LENGTH = 14
"""Column of MSLR-WEB with the length of the whole document."""

PLACES = {"sixth system": 5, "median system": 10}
"""Systems of mq2007 by their DCG on the training fold."""


@dataclass(frozen=True, eq=False)
class Documents:
    """A row for each query and document.

    Attributes
    ----------
    features : ndarray of float, shape (D, F)
        What rankers learn from.
    grades : ndarray of int, shape (D,)
        From 0.
    queries, folds : ndarray of int, shape (D,)
        Of each row.
    costs : ndarray of float, shape (D,)
        Of judging each.
    systems : ndarray of int, shape (D, S)
        Ranks in the lists of given systems, 0 where a list lacks the document.
    """

    features: Floats
    grades: NDArray[np.int64]
    queries: NDArray[np.int64]
    folds: NDArray[np.int64]
    costs: Floats
    systems: NDArray[np.int64]


def _million_queries() -> Documents:
    with data.read("mq2007/mq2007_agg.npz") as found:
        ranks, grades, queries, part = (found[name].astype(np.int64) for name in ("ranks", "y", "qid", "part"))
    heights = np.where(ranks > 0, 1.0 / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)
    features = np.hstack([heights, ranks == 0])
    return Documents(features, grades, queries, part - 1, np.ones(len(grades)), ranks)


def _web() -> Documents:
    with data.read("mslr_sample/mslr_web_fold1_10k.npz") as found:
        x, y, q = (np.concatenate([found[f"{name}_train"], found[f"{name}_test"]]) for name in ("X", "y", "qid"))
    _, first, code = np.unique(q, return_index=True, return_inverse=True)
    queries = np.argsort(np.argsort(first))[code]  # numbered as they come
    features = np.sign(x) * np.log1p(np.abs(x))  # counts and page ranks go up to hundreds of millions
    none = np.zeros((len(y), 0), dtype=np.int64)
    return Documents(features, y.astype(np.int64), queries, queries % FOLDS, np.log1p(x[:, LENGTH]), none)


DOMAINS = {"mq2007": _million_queries, "mslr": _web}


@cache
def query_pairs(domain: str) -> Documents:
    """Return all query-document pairs of a domain."""
    return DOMAINS[domain]()


@cache
def learned(domain: str, fold: int) -> Arrays:
    """Return ranks ``ranks of NAME`` and grade models ``p of NAME`` on the pool, with its grades, queries and costs."""
    return data.cached("experiments", f"rankings-{domain}-{fold}", lambda: _learn(domain, fold))


def _learn(domain: str, fold: int) -> Arrays:
    pairs, rng = query_pairs(domain), np.random.default_rng(fold)
    train, pool = np.flatnonzero(pairs.folds == fold), np.flatnonzero(pairs.folds != fold)
    queries, count = pairs.queries[pool], int(pairs.grades.max()) + 1
    x, y, asked = pairs.features[train], pairs.grades[train], pairs.features[pool]
    found: Arrays = {"grades": pairs.grades[pool], "queries": queries, "costs": pairs.costs[pool]}
    makers = {"forest classes": graders.forest_classes, "ordered logit": graders.ordered_logit}
    makers |= {_forest(share): graders.forest for share in (SHARES if domain == "mq2007" else SHARES[-1:])}
    place = np.unique(pairs.queries[train], return_inverse=True)[1]
    order = rng.permutation(int(place.max()) + 1)[place] / (place.max() + 1.0)
    for name, make in makers.items():
        part = order < float(name.split()[1]) if name[-1].isdigit() else np.ones(len(train), dtype=bool)
        scores, found[f"p of {name}"] = make(x[part], y[part], asked, count)
        found[f"ranks of {name}"] = _ranks(scores, queries, rng)
    scores = graders.ranking_svm(x, y, pairs.queries[train], asked)
    found["ranks of Ranking SVM"] = _ranks(scores, queries, rng)
    for key in ("ranks", "p"):
        found[f"{key} of forest"] = found.pop(f"{key} of {_forest(1.0)}")
    found["ranks of outdated forest"] = _without(found["ranks of forest"], queries, rng)
    given = pairs.systems[train]
    discounts = np.where(given > 0, 1.0 / np.log2(np.maximum(given, 1) + 1.0), 0.0)
    best = np.argsort(-((2.0**y - 1.0) @ discounts), kind="stable")
    for name, at in PLACES.items():
        if len(best):
            found[f"ranks of {name}"] = pairs.systems[pool, best[at]]
    return found


def _forest(share: float) -> str:
    return f"forest {share:g}"


def _ranks(scores: Floats, queries: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return each document's place in its query's list by falling score, from 1; ties are decided by chance."""
    order = np.lexsort((rng.random(len(scores)), -scores, queries))
    _, first, counts = np.unique(queries[order], return_index=True, return_counts=True)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = np.arange(len(scores)) - np.repeat(first, counts) + 1
    return ranks


def _without(ranks: NDArray[np.int64], queries: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the ranks when a tenth of each query's documents, drawn by chance, is not in the index: theirs are 0."""
    lot = _ranks(rng.random(len(ranks)), queries, rng)
    _, place, counts = np.unique(queries, return_inverse=True, return_counts=True)
    kept = lot > np.round(OUTDATED * counts)[place]
    left = np.zeros(len(ranks), dtype=np.int64)
    left[kept] = _ranks(-ranks[kept].astype(float), queries[kept], rng)
    return left


@dataclass(frozen=True)
class Case:
    """What is evaluated, or compared.

    Attributes
    ----------
    name : str
        In results and pictures.
    models : tuple of str
        One ranker, or two.
    graders : tuple of str
        Whose grade models are mixed in equal parts (thesis 5.11).
    domains : tuple of str
        Where there is such a thing.
    """

    name: str
    models: tuple[str, ...]
    graders: tuple[str, ...]
    domains: tuple[str, ...] = ("mq2007", "mslr")

    def pool(self, domain: str, fold: int) -> tuple[Pool, NDArray[np.int64]]:
        """Return the pool and its documents' grades; a query costs what its documents cost, 1 on average."""
        found = learned(domain, fold)
        ranks = {name: found[f"ranks of {name}"] for name in self.models}
        judged = np.any(np.stack(list(ranks.values())) > 0, axis=0)
        unit = found["costs"][judged].sum() / len(np.unique(found["queries"]))
        mixed = np.mean([found[f"p of {name}"] for name in self.graders], axis=0)
        pool = Pool(
            models={name: Ranking(ranks=given) for name, given in ranks.items()},
            queries=found["queries"],
            documents=np.arange(len(judged)),
            grades=mixed / mixed.sum(axis=1, keepdims=True),
            classes=list(range(mixed.shape[1])),
            costs=found["costs"] / unit,
        )
        return pool, found["grades"]
