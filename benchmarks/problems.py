"""The problems of the label-efficiency benchmark: real pools with known labels, and a measure of each.

A *pool* is what one model says of a data set, with all labels; a *problem* is a pool and a measure, named like
``enron-1-2/error_rate`` or ``mnist-errors/f1-3`` (F1 with digit 3 as the positive class).

Run ``python benchmarks/problems.py`` to build all pools (a few minutes once; scikit-learn trains the models) and
to list the problems; ``load(name)`` gives one. Data are read from the folder ``SONDAGE_DATA`` (default
``../shared/data`` beside the checkout), pools are kept in ``SONDAGE_CACHE`` (default ``benchmarks/.cache``).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

__all__ = ["PROBLEMS", "Problem", "data_folder", "load", "load_pool", "names"]

HERE = Path(__file__).resolve().parent
Arrays = dict[str, NDArray[Any]]
GP_ROWS = 500
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


def data_folder() -> Path:
    """Return the folder of the data sets."""
    return Path(os.environ.get("SONDAGE_DATA") or HERE.parent.parent / "shared" / "data")


def cache_folder() -> Path:
    """Return the folder of what is built here and never committed."""
    return Path(os.environ.get("SONDAGE_CACHE") or HERE / ".cache")


def _read(path: str) -> Any:
    return np.load(data_folder() / path, allow_pickle=False)


# -- pools that come with their predictions ------------------------------------------------------------------------


def _abt_buy(link: bool) -> Arrays:
    """Pairs of products, 50 positives in 53,753; with ``link``, badly scaled probabilities from the SVM's margin."""
    data = _read("pools/abt_buy_svm.npz")
    p = expit(data["scores"]) if link else data["probs"]
    return {"probabilities": p, "predictions": data["preds"].astype(int), "labels": data["labels"].astype(int)}


def _tweets() -> Arrays:
    """Sentiment of tweets, balanced; the SVM's margin through the logistic function."""
    data = _read("pools/tweets100k_svm.npz")
    return {
        "probabilities": expit(data["scores"]),
        "predictions": data["preds"].astype(int),
        "labels": data["labels"].astype(int),
    }


def _mnist_errors() -> Arrays:
    """Cross-validated network on the MNIST test set: 87 errors in 10,000."""
    data = _read("pools/mnist_label_errors.npz")
    return {
        "probabilities": data["probs"].astype(float),
        "predictions": data["preds"].astype(int),
        "labels": data["labels"].astype(int),
    }


# -- classifiers trained here --------------------------------------------------------------------------------------


def _classify(model: Any, train: Any, target: Any, pool: Any, labels: Any) -> Arrays:
    """Train, and return what the model says of the pool; two classes keep the second's probability."""
    model.fit(train, target)
    p = model.predict_proba(pool)
    return {
        "probabilities": p[:, 1] if p.shape[1] == 2 else p,
        "predictions": np.argmax(p, axis=1),
        "labels": np.asarray(labels).astype(int),
    }


def _logistic(**options: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000, **options)


def _enron(kind: str, source: int, target: int) -> Arrays:
    """Spam in mailbox `target` by a classifier of binary words trained on mailbox `source`."""
    from sklearn.naive_bayes import BernoulliNB

    words = sparse.load_npz(data_folder() / "enron_spam/enron_bow_binary.npz").tocsr().astype(float)
    data = _read("enron_spam/enron_meta.npz")
    label, corpus = data["label"], data["corpus"]
    model = BernoulliNB() if kind == "bayes" else _logistic()
    train, pool = corpus == source, corpus == target
    return _classify(model, words[train], label[train], words[pool], label[pool])


def _reuters(kind: str, topic: str) -> Arrays:
    """One topic against the rest, ModApte split."""
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.preprocessing import normalize

    counts = sparse.load_npz(data_folder() / "reuters/reuters8293_tf.npz").tocsr().astype(float)
    data = _read("reuters/reuters8293_meta.npz")
    label = (data["topic"] == list(data["topic_names"]).index(topic)).astype(int)
    train = data["is_train"]
    if kind == "bayes":
        return _classify(MultinomialNB(), counts[train], label[train], counts[~train], label[~train])
    rows = normalize(counts.log1p())
    return _classify(_logistic(C=10.0), rows[train], label[train], rows[~train], label[~train])


def _digit_sets() -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    usps, mnist = _read("usps/usps_all_11000.npz"), _read("mnist/mnist16.npz")
    return {name: (data["X"].reshape(-1, 256) / 255.0, data["y"]) for name, data in (("usps", usps), ("mnist", mnist))}


def _digits(source: str, target: str, pair: tuple[int, int] | None = None) -> Arrays:
    """Digits of one collection by a classifier trained on (at most 10,000 images of) the other."""
    sets = _digit_sets()
    (train, label), (pool, truth) = sets[source], sets[target]
    if pair is not None:
        keep, inside = np.isin(label, pair), np.isin(truth, pair)
        train, label, pool, truth = train[keep], label[keep] == pair[1], pool[inside], truth[inside] == pair[1]
    rows = np.random.default_rng(0).permutation(len(train))[:DIGIT_ROWS]
    return _classify(_logistic(C=0.1), train[rows], label[rows], pool, truth)


# -- regression ----------------------------------------------------------------------------------------------------


def _regression_data(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    if name == "abalone":
        data = _read("abalone/abalone.npz")
        return data["X"], data["y"].astype(float)
    data = _read("sarcos/sarcos_test.npz")
    return data["X"], data["T"][:, 0]


def _regress(name: str, kind: str) -> Arrays:
    """Predictive means and variances after 500 training rows; the rest is the pool."""
    from sklearn.preprocessing import StandardScaler

    x, y = _regression_data(name)
    order = np.random.default_rng(0).permutation(len(y))
    train, pool = order[:GP_ROWS], np.sort(order[GP_ROWS:])
    x = StandardScaler().fit(x[train]).transform(x)
    predict = _gaussian_process if kind == "gp" else _forest
    means, variances = predict(x[train], y[train], x[pool])
    return {"means": means, "variances": variances, "labels": y[pool]}


def _gaussian_process(train: Any, target: Any, pool: Any) -> tuple[Any, Any]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0) * RBF(np.full(train.shape[1], 3.0), (0.1, 1e3)) + WhiteKernel(0.1, (1e-4, 10.0))
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # inputs that do not matter take the largest length scale
        model.fit(train, target)
    means, spread = model.predict(pool, return_std=True)
    return means, spread**2


def _forest(train: Any, target: Any, pool: Any) -> tuple[Any, Any]:
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(200, random_state=0).fit(train, target)
    trees = np.stack([tree.predict(pool) for tree in model.estimators_])
    return trees.mean(axis=0), trees.var(axis=0)


# -- the list ------------------------------------------------------------------------------------------------------

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
    "abalone-gp": partial(_regress, "abalone", "gp"),
    "abalone-forest": partial(_regress, "abalone", "forest"),
    "sarcos-gp": partial(_regress, "sarcos", "gp"),
    "sarcos-forest": partial(_regress, "sarcos", "forest"),
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
    path = cache_folder() / "pools" / f"{name}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial_path = path.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(partial_path, **POOLS[name]())  # type: ignore[arg-type]
        partial_path.replace(path)
    with np.load(path, allow_pickle=False) as data:
        return {key: data[key] for key in data.files}


def load(name: str) -> Problem:
    """Return one problem by its name."""
    if name not in PROBLEMS:
        raise KeyError(f"no problem {name!r}; there are {', '.join(PROBLEMS)}")
    pool, measure, positive = PROBLEMS[name]
    arrays = load_pool(pool)
    labels = arrays.pop("labels")
    predicted = arrays["means" if measure == "mse" else "predictions"]
    return Problem(name, arrays, labels, measure, positive, _truth(measure, positive, predicted, labels))


def _truth(measure: str, positive: int | None, predicted: NDArray[Any], labels: NDArray[Any]) -> float:
    """Return the measure on all labels; written here so that it does not rest on the package under test."""
    if measure == "mse":
        return float(np.mean((predicted - labels) ** 2))
    if measure == "error_rate":
        return float(np.mean(predicted != labels))
    said, true = predicted == positive, labels == positive
    return float(2 * np.sum(said & true) / (np.sum(said) + np.sum(true)))


def main() -> None:
    """Build every pool and list the problems."""
    for name in PROBLEMS if len(sys.argv) < 2 else sys.argv[1:]:
        problem = load(name)
        print(f"{name:34} {len(problem):6} items   {problem.measure} = {problem.truth:.5g}", flush=True)


if __name__ == "__main__":
    main()
