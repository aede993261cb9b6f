"""The problems of the label-efficiency benchmark: real pools with known labels, and a measure of each.

A *pool* is what one model says of a data set, with all labels; a *problem* is a pool and a measure, named like
``enron-1-2/error_rate`` or ``mnist-errors/f1-3`` (F1 with digit 3 as the positive class).

Run ``python benchmarks/problems.py`` to build all pools (a few minutes once; scikit-learn trains the models) and
to list the problems; ``load(name)`` gives one. Where data are read and pools are kept is in ``data.py``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from data import (
    Arrays,
    bayes,
    cached,
    classify,
    digits,
    enron,
    forest,
    gaussian_process,
    logistic,
    read,
    regress,
    reuters,
)
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["PROBLEMS", "Problem", "load", "load_pool", "names", "problem_of", "truth_of"]

DIGIT_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Problem:
    """A pool, its labels, and what is to be estimated.

    Attributes
    ----------
    name : str
        ``pool/measure``.
    pool_kwargs : dict
        Arguments of `sondage.Pool`: probabilities and predictions, or means and variances.
    labels : ndarray, shape (N,)
        Class codes, or real numbers.
    measure : str
        ``"f1"``, ``"error_rate"`` or ``"mse"``.
    positive : int or None
        Positive class of F1.
    truth : float
        The measure on all labels.
    """

    name: str
    pool_kwargs: Arrays
    labels: NDArray[Any]
    measure: str
    positive: int | None
    truth: float

    def __len__(self) -> int:
        return len(self.labels)

    def pool(self) -> Any:
        """Return the `sondage.Pool`."""
        from sondage import Pool

        return Pool(**self.pool_kwargs)

    @property
    def prediction(self) -> NDArray[Any]:
        """What the model predicts: class codes, or means."""
        return self.pool_kwargs["means" if self.measure == "mse" else "predictions"]

    def p_positive(self) -> NDArray[np.float64]:
        """Return the model's probability of the positive class (of the second of two by default)."""
        p = self.pool_kwargs["probabilities"]
        return p if p.ndim == 1 else p[:, self.positive]

    def p_predicted(self) -> NDArray[np.float64]:
        """Return the model's probability of the class it predicts."""
        p, f = self.pool_kwargs["probabilities"], self.prediction
        return np.where(f == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(p)), f]


def _abt_buy(link: bool) -> Arrays:
    """Pairs of products, 50 positives in 53,753; with ``link``, badly scaled probabilities from the SVM's margin."""
    data = read("pools/abt_buy_svm.npz")
    p = expit(data["scores"]) if link else data["probs"]
    return {"probabilities": p, "predictions": data["preds"].astype(int), "labels": data["labels"].astype(int)}


def _tweets() -> Arrays:
    """Sentiment of tweets, balanced; the SVM's margin through the logistic function."""
    data = read("pools/tweets100k_svm.npz")
    return {
        "probabilities": expit(data["scores"]),
        "predictions": data["preds"].astype(int),
        "labels": data["labels"].astype(int),
    }


def _mnist_errors() -> Arrays:
    """Cross-validated network on the MNIST test set: 87 errors in 10,000."""
    data = read("pools/mnist_label_errors.npz")
    return {
        "probabilities": data["probs"].astype(float),
        "predictions": data["preds"].astype(int),
        "labels": data["labels"].astype(int),
    }


def _enron(kind: str, source: int, target: int) -> Arrays:
    """Spam in mailbox `target` by a classifier of binary words trained on mailbox `source`."""
    words, data = enron()
    label, corpus = data["label"], data["corpus"]
    train, pool = corpus == source, corpus == target
    model = bayes() if kind == "bayes" else logistic()
    return classify(model, words[train], label[train], words[pool], label[pool])


def _reuters(kind: str, topic: str) -> Arrays:
    """One topic against the rest, ModApte split."""
    from sklearn.preprocessing import normalize

    counts, data = reuters()
    label = (data["topic"] == list(data["topic_names"]).index(topic)).astype(int)
    train = data["is_train"]
    if kind == "bayes":
        return classify(bayes(counts=True), counts[train], label[train], counts[~train], label[~train])
    rows = normalize(counts.log1p())
    return classify(logistic(C=10.0), rows[train], label[train], rows[~train], label[~train])


def _digits(source: str, target: str, pair: tuple[int, int] | None = None) -> Arrays:
    """Digits of one collection by a classifier trained on (at most 10,000 images of) the other."""
    sets = digits()
    (train, label), (pool, truth) = sets[source], sets[target]
    if pair is not None:
        keep, inside = np.isin(label, pair), np.isin(truth, pair)
        train, label, pool, truth = train[keep], label[keep] == pair[1], pool[inside], truth[inside] == pair[1]
    rows = np.random.default_rng(0).permutation(len(train))[:DIGIT_ROWS]
    return classify(logistic(C=0.1), train[rows], label[rows], pool, truth)


POOLS: dict[str, Callable[[], Arrays]] = {
    "abt-buy": partial(_abt_buy, False),
    "abt-buy-logit": partial(_abt_buy, True),
    "tweets": _tweets,
    "mnist-errors": _mnist_errors,
    "enron-1-2": partial(_enron, "logistic", 1, 2),
    "enron-3-6": partial(_enron, "logistic", 3, 6),
    "enron-5-1": partial(_enron, "logistic", 5, 1),
    "usps-mnist": partial(_digits, "usps", "mnist"),
    "usps-mnist-4v9": partial(_digits, "usps", "mnist", (4, 9)),
    "mnist-usps": partial(_digits, "mnist", "usps"),
    "mnist-usps-4v9": partial(_digits, "mnist", "usps", (4, 9)),
    "reuters-earn": partial(_reuters, "logistic", "earn"),
    "reuters-crude": partial(_reuters, "logistic", "crude"),
    "reuters-ship": partial(_reuters, "logistic", "ship"),
    "reuters-gold": partial(_reuters, "logistic", "gold"),
    "bayes-enron-1-2": partial(_enron, "bayes", 1, 2),
    "bayes-enron-4-5": partial(_enron, "bayes", 4, 5),
    "bayes-reuters-acq": partial(_reuters, "bayes", "acq"),
    "bayes-reuters-crude": partial(_reuters, "bayes", "crude"),
    "abalone-gp": partial(regress, "abalone", gaussian_process),
    "abalone-forest": partial(regress, "abalone", forest),
    "sarcos-gp": partial(regress, "sarcos", gaussian_process),
    "sarcos-forest": partial(regress, "sarcos", forest),
}

_BOTH = ("abt-buy", "abt-buy-logit", "tweets", "enron-1-2", "enron-5-1", "bayes-enron-1-2")
_ERROR = ("mnist-errors", "enron-3-6", *(pool for pool in POOLS if "usps" in pool), "reuters-earn", "bayes-enron-4-5")
_F1 = (*(pool for pool in POOLS if pool.startswith("reuters")), "bayes-reuters-acq", "bayes-reuters-crude")

PROBLEMS: dict[str, tuple[str, str, int | None]] = {
    f"{pool}/{label}": (pool, measure, positive)
    for pool in POOLS
    for label, measure, positive in (
        *([("f1", "f1", 1)] if pool in _BOTH + _F1 else []),
        *([("error_rate", "error_rate", None)] if pool in _BOTH + _ERROR else []),
        *([(f"f1-{digit}", "f1", digit) for digit in range(10)] if pool == "mnist-errors" else []),
        *([("mse", "mse", None)] if pool.endswith(("-gp", "-forest")) else []),
    )
}


def names() -> list[str]:
    """Return the names of all problems."""
    return list(PROBLEMS)


def load_pool(name: str) -> Arrays:
    """Return a pool's arrays, from the cache or built now."""
    return cached("pools", name, POOLS[name])


def load(name: str) -> Problem:
    """Return one problem by its name."""
    if name not in PROBLEMS:
        sys.exit(f"no problem {name!r}; there are {', '.join(PROBLEMS)}")
    pool, measure, positive = PROBLEMS[name]
    return problem_of(name, load_pool(pool), measure, positive)


def problem_of(name: str, arrays: Arrays, measure: str, positive: int | None) -> Problem:
    """Return a problem from a pool's arrays, labels among them."""
    labels = arrays.pop("labels")
    predicted = arrays["means" if measure == "mse" else "predictions"]
    return Problem(name, arrays, labels, measure, positive, truth_of(measure, predicted, labels, positive))


def truth_of(measure: str, predicted: NDArray[Any], labels: NDArray[Any], positive: int | None = 1) -> float:
    """Return a measure on all labels; written here so that it does not rest on the package under test."""
    if measure == "mse":
        return float(np.mean((predicted - labels) ** 2))
    if measure == "error_rate":
        return float(np.mean(predicted != labels))
    if measure == "accuracy":
        return float(np.mean(predicted == labels))
    said, true = predicted == positive, labels == positive
    found = float(np.sum(said & true))
    return found / float(np.sum(true)) if measure == "recall" else 2 * found / float(np.sum(said) + np.sum(true))


def main() -> None:
    """Build every pool and list the problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help="only these problems")
    for name in parser.parse_args().names or PROBLEMS:
        problem = load(name)
        print(f"{name:34} {len(problem):6} items   {problem.measure} = {problem.truth:.5g}", flush=True)


if __name__ == "__main__":
    main()
