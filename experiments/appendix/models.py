"""The classifiers of appendix A.2: Reuters topics by a model that chose its training documents, digits under shift."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks import data
from benchmarks.data import Arrays
from experiments.appendix.one_against_rest import OneClass, of_class
from experiments.problems import TOPICS, Problem, load, tuned_words

__all__ = ["digits", "topics"]

START, TRAINING, BATCH = 100, 500, 20


@cache
def topics() -> list[OneClass]:
    """Return the ten topics, by a classifier that chose its training documents; these are not in the pool."""
    arrays = data.cached("experiments", "reuters-active", _active_topics)
    labels = arrays.pop("labels")
    problem = Problem("reuters-active", arrays, labels, TOPICS)
    return [of_class(problem, code, name) for code, name in enumerate(TOPICS)]


@cache
def digits() -> list[OneClass]:
    """Return the ten digits of MNIST, by a classifier that was trained on USPS."""
    problem = load("usps-mnist")
    return [of_class(problem, code, str(code)) for code in range(10)]


def _active_topics() -> Arrays:
    """Train on 100 documents drawn at random and 400 on which the classifier was least sure, 20 at a time."""
    from sklearn.preprocessing import normalize

    counts, meta = data.reuters()
    codes = [list(meta["topic_names"]).index(name) for name in TOPICS]
    inside = np.flatnonzero(np.isin(meta["topic"], codes))
    label = np.array([codes.index(t) for t in np.asarray(meta["topic"])[inside]])
    rows = normalize(counts[inside].log1p())
    chosen = np.random.default_rng(0).permutation(len(label))[:START]
    model = data.logistic(C=10.0)  # too few documents of the rare topics to tune on, yet
    while len(chosen) < TRAINING:
        model.fit(rows[chosen], label[chosen])
        rest = np.setdiff1d(np.arange(len(label)), chosen)
        doubt = 1.0 - model.predict_proba(rows[rest]).max(axis=1)
        chosen = np.concatenate([chosen, rest[np.argsort(-doubt, kind="stable")[:BATCH]]])
    pool = np.setdiff1d(np.arange(len(label)), chosen)
    return data.classify(tuned_words(rows[chosen], label[chosen]), rows[chosen], label[chosen], rows[pool], label[pool])
