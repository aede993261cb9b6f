"""Models from more and more training data, and naive Bayes, for the influence of the predictive distribution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.data import Arrays
from experiments.problems import Problem, digit_rows, made, tuned_kernel, tuned_words

__all__ = ["DOMAINS", "batches", "bayes", "sizes", "trained"]

DOMAINS = ("enron-1-2", "mnist-usps-4v9", "usps-mnist-4v9")
LEAST, MOST = 8, 10_000


@cache
def _parts(domain: str) -> tuple[Any, Any, Any, Any]:
    """Return training rows and labels, each class evenly spread over the order; and the pool's."""
    source, target = domain.split("-")[:2]
    if source == "enron":
        words, meta = data.enron()
        label, corpus = np.asarray(meta["label"]).astype(int), np.asarray(meta["corpus"])
        train, pool = np.flatnonzero(corpus == 1), np.flatnonzero(corpus == 2)
        train = train[_spread(label[train])]
        return words[train], label[train], words[pool], label[pool]
    sets = digit_rows((4, 9))
    (images, label), (pool_images, truth) = sets[source], sets[target]
    order = _spread(label)[:MOST]
    return images[order], label[order], pool_images, truth


def _spread(label: NDArray[Any]) -> NDArray[np.int64]:
    """Return a random order in which every head has both classes in about their shares."""
    place, rng = np.empty(len(label)), np.random.default_rng(0)
    for code in np.unique(label):
        rows = np.flatnonzero(label == code)
        place[rng.permutation(rows)] = (np.arange(len(rows)) + 0.5) / len(rows)
    return np.argsort(place, kind="stable")


@cache
def _model(domain: str) -> Any:
    """Return the model with the hyperparameters tuned on all training rows."""
    rows, label, *_ = _parts(domain)
    return (tuned_words if domain.startswith("enron") else tuned_kernel)(rows, label)


def sizes(domain: str) -> Iterator[int]:
    """Yield the powers of two from 8 up to the training rows there are."""
    size = LEAST
    while size <= _parts(domain)[0].shape[0]:
        yield size
        size *= 2


def trained(domain: str, size: int) -> Problem:
    """Return the pool under a model from so many training rows."""
    return made(f"{domain}-rows-{size}", partial(_trained, domain, size))


def _trained(domain: str, size: int) -> Arrays:
    rows, label, pool, truth = _parts(domain)
    model = _model(domain)
    if "nystroem__gamma" in model.get_params():
        model.set_params(nystroem__n_components=min(500, size))
    return data.classify(model, rows[:size], label[:size], pool, truth)


def bayes(domain: str) -> Problem:
    """Return the pool under naive Bayes of words, or of pixels above one half, from all training rows."""
    return made(f"{domain}-bayes", partial(_bayes, domain))


def _bayes(domain: str) -> Arrays:
    rows, label, pool, truth = _parts(domain)
    if not domain.startswith("enron"):
        rows, pool = rows > 0.5, pool > 0.5
    return data.classify(data.bayes(), rows, label, pool, truth)


def batches(problem: Problem, place: NDArray[np.float64], count: int = 10) -> Iterator[Problem]:
    """Yield equal parts of the mails in the order of time."""
    assert problem.rows is not None
    order = np.argsort(place[problem.rows], kind="stable")
    for k, rows in enumerate(np.array_split(order, count)):
        yield problem.take(np.sort(rows), f"{problem.name}, part {k + 1}")
