"""The pools of the experiments, each with all its labels; built on first use and kept (see benchmarks/data.py).

    enron-1-2             mailbox 2 by a spam filter trained on mailbox 1: the shift between mailboxes
    enron-time            the later 60 % of all mailboxes by one trained on the first 40 %: the shift in time
    enron-time-5          the same with 5 % spam in both parts (1, 2, 5, 10, 20, 50)
    enron-late            trained on the first 25 %, evaluated on the rest
    usps-mnist, ...-4v9   digits of one collection by a classifier trained on the other; 4 against 9
    reuters               ten topics, 500 training documents
    abalone, sarcos       numbers, 500 training rows, Gaussian process

What the thesis calls kernel logistic regression is logistic regression on words for texts, and for images on 500
Nystroem features of a Gaussian kernel. Hyperparameters are tuned by cross-validation on the training part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.data import Arrays
from sondage import Pool

__all__ = [
    "POOLS",
    "SPAM_PERCENT",
    "TOPICS",
    "Problem",
    "digit_rows",
    "enron_rank",
    "load",
    "tuned_kernel",
    "tuned_words",
]

DIGIT_ROWS = 10_000
TUNING_ROWS = 3_000
SPAM_PERCENT = (1, 2, 5, 10, 20, 50)
TOPICS = ("earn", "acq", "crude", "trade", "money-fx", "interest", "ship", "sugar", "coffee", "gold")


@dataclass(frozen=True, eq=False)
class Problem:
    """A pool and its labels.

    Attributes
    ----------
    name : str
        One of `POOLS`, or a name for what was made of one.
    arrays : dict
        Arguments of `sondage.Pool`: probabilities and predictions, or means and variances.
    labels : ndarray, shape (N,)
        Class codes, or numbers.
    classes : tuple, optional
        Names of the classes.
    rows : ndarray of int, shape (N,), optional
        Rows of the data set, where something else is wanted of them.
    """

    name: str
    arrays: Arrays
    labels: NDArray[Any]
    classes: tuple[str, ...] | None = None
    rows: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def pool(self, costs: NDArray[Any] | None = None) -> Pool:
        """Return the `sondage.Pool`."""
        arrays: dict[str, Any] = dict(self.arrays)
        if self.classes is not None:
            arrays["predictions"] = np.asarray(self.classes)[arrays["predictions"]]
        return Pool(**arrays, classes=self.classes, costs=costs)

    @property
    def told(self) -> NDArray[Any]:
        """The labels as the pool names them."""
        return self.labels if self.classes is None else np.asarray(self.classes)[self.labels]

    def take(self, rows: NDArray[Any], name: str) -> Problem:
        """Return some of the items."""
        return Problem(name, {key: part[rows] for key, part in self.arrays.items()}, self.labels[rows], self.classes)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Probabilities of all classes, shape (N, k)."""
        p = self.arrays["probabilities"]
        return np.stack([1 - p, p], axis=1) if p.ndim == 1 else p

    @property
    def label_likelihood(self) -> float:
        """Geometric mean of the labels' probabilities (thesis 2.9)."""
        p = self.probabilities[np.arange(len(self)), self.labels]
        return float(np.exp(np.mean(np.log(np.maximum(p, 1e-300)))))


def tuned(model: Any, grid: dict[str, Any], rows: Any, target: Any) -> Any:
    """Return the model with the hyperparameters that cross-validation prefers, by the labels' likelihood."""
    from sklearn.model_selection import GridSearchCV

    few = np.random.default_rng(0).permutation(rows.shape[0])[:TUNING_ROWS]
    search = GridSearchCV(model, grid, cv=3, scoring="neg_log_loss", refit=False).fit(rows[few], target[few])
    return model.set_params(**search.best_params_)


def tuned_words(rows: Any, target: Any) -> Any:
    """Return logistic regression on words."""
    return tuned(data.logistic(), {"C": [0.01, 0.1, 1.0, 10.0]}, rows, target)


def tuned_kernel(rows: Any, target: Any) -> Any:
    """Return logistic regression on 500 features of a Gaussian kernel (Nystroem)."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    features = Nystroem(n_components=min(500, len(rows) // 2), random_state=0)
    grid = {"nystroem__gamma": [0.005, 0.01, 0.02, 0.04], "logisticregression__C": [1.0, 10.0, 100.0]}
    return tuned(make_pipeline(features, data.logistic()), grid, rows, target)


def enron_rank(meta: Any) -> NDArray[np.float64]:
    """Return each message's place in time, in [0, 1): its rank within its mailbox and class, the classes interleaved.

    Dates would tell the classes apart: ham is older than spam.
    """
    group = np.asarray(meta["corpus"]) * 2 + np.asarray(meta["label"])
    place = np.empty(len(group))
    for part in np.unique(group):
        rows = np.flatnonzero(group == part)
        order = np.argsort(np.asarray(meta["num"])[rows], kind="stable")
        place[rows[order]] = (np.arange(len(rows)) + 0.5) / len(rows)
    return place


def _mailboxes(source: int, target: int) -> Arrays:
    words, meta = data.enron()
    label, corpus = np.asarray(meta["label"]).astype(int), np.asarray(meta["corpus"])
    train, pool = corpus == source, corpus == target
    found = data.classify(tuned_words(words[train], label[train]), words[train], label[train], words[pool], label[pool])
    return found | {"rows": np.flatnonzero(pool)}


def _later_mail(spam: float | None = None, share: float = 0.4) -> Arrays:
    """Train on the first part of all mailboxes, evaluate on the rest; with so large a part of spam in both."""
    words, meta = data.enron()
    label, place = np.asarray(meta["label"]).astype(int), enron_rank(meta)
    parts = [_thinned(np.flatnonzero(part), label, spam) for part in (place < share, place >= share)]
    train, pool = parts
    found = data.classify(tuned_words(words[train], label[train]), words[train], label[train], words[pool], label[pool])
    return found | {"rows": pool}


def _thinned(rows: NDArray[np.int64], label: NDArray[np.int64], spam: float | None) -> NDArray[np.int64]:
    """Return the rows without some spam, or some ham, taken out by chance to reach a class ratio."""
    if spam is None:
        return rows
    order = np.random.default_rng(0).permutation(rows)
    ham, junk = order[label[order] == 0], order[label[order] == 1]
    kept = min(len(junk), round(len(ham) * spam / (1 - spam)))
    others = min(len(ham), round(kept * (1 - spam) / spam))
    return np.sort(np.concatenate([ham[:others], junk[:kept]]))


def digit_rows(pair: tuple[int, int] | None = None) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return images and labels of both collections; of a pair of digits the second is class 1."""
    sets = {}
    for name, (images, label) in data.digits().items():
        keep = np.ones(len(label), dtype=bool) if pair is None else np.isin(label, pair)
        sets[name] = images[keep], (label[keep] == pair[1]).astype(int) if pair else label.astype(int)
    return sets


def _digits(source: str, target: str, pair: tuple[int, int] | None = None) -> Arrays:
    sets = digit_rows(pair)
    (train, label), (pool, truth) = sets[source], sets[target]
    rows = np.random.default_rng(0).permutation(len(train))[:DIGIT_ROWS]
    return data.classify(tuned_kernel(train[rows], label[rows]), train[rows], label[rows], pool, truth)


def _topics(training: int = 500) -> Arrays:
    from sklearn.preprocessing import normalize

    counts, meta = data.reuters()
    topics = [list(meta["topic_names"]).index(name) for name in TOPICS]
    inside = np.flatnonzero(np.isin(meta["topic"], topics))
    label = np.array([topics.index(t) for t in np.asarray(meta["topic"])[inside]])
    rows = normalize(counts[inside].log1p())
    order = np.random.default_rng(0).permutation(len(inside))
    train, pool = order[:training], np.sort(order[training:])
    return data.classify(tuned_words(rows[train], label[train]), rows[train], label[train], rows[pool], label[pool])


POOLS: dict[str, Callable[[], Arrays]] = {
    **{f"enron-{a}-{b}": partial(_mailboxes, a, b) for a in range(1, 7) for b in range(1, 7) if a != b},
    "enron-time": _later_mail,
    "enron-late": partial(_later_mail, None, 0.25),
    **{f"enron-time-{percent}": partial(_later_mail, percent / 100) for percent in SPAM_PERCENT},
    "usps-mnist": partial(_digits, "usps", "mnist"),
    "mnist-usps": partial(_digits, "mnist", "usps"),
    "usps-mnist-4v9": partial(_digits, "usps", "mnist", (4, 9)),
    "mnist-usps-4v9": partial(_digits, "mnist", "usps", (4, 9)),
    "reuters": _topics,
    "abalone": partial(data.regress, "abalone", data.gaussian_process),
    "sarcos": partial(data.regress, "sarcos", data.gaussian_process),
}


@cache
def load(name: str) -> Problem:
    """Return a pool by its name, from the cache or built now."""
    if name not in POOLS:
        raise KeyError(f"no pool {name!r}; there are {', '.join(POOLS)}")
    return made(name, POOLS[name])


def made(name: str, build: Callable[[], Arrays]) -> Problem:
    """Return a pool from the cache under this name, or built now."""
    arrays = data.cached("experiments", name, build)
    labels = arrays.pop("labels")
    rows = arrays.pop("rows", None)
    return Problem(name, arrays, labels, TOPICS if name == "reuters" else None, rows)
