"""Data sets as arrays, and the models that are trained on them; benchmarks and experiments share both.

Data are read from the folder ``SONDAGE_DATA`` (default ``../shared/data`` beside the checkout); what is built from
them is kept in ``SONDAGE_CACHE`` (default ``benchmarks/.cache``) and never committed.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = [
    "Arrays",
    "bayes",
    "cache_folder",
    "cached",
    "classify",
    "data_folder",
    "digits",
    "enron",
    "forest",
    "gaussian_process",
    "logistic",
    "read",
    "regress",
    "regression_data",
    "reuters",
]

HERE = Path(__file__).resolve().parent
Arrays = dict[str, NDArray[Any]]


def data_folder() -> Path:
    """Return the folder of the data sets."""
    return Path(os.environ.get("SONDAGE_DATA") or HERE.parent.parent / "shared" / "data")


def cache_folder() -> Path:
    """Return the folder of what is built here and never committed."""
    return Path(os.environ.get("SONDAGE_CACHE") or HERE / ".cache")


def cached(kind: str, name: str, build: Callable[[], Arrays]) -> Arrays:
    """Return arrays from the cache, or built now."""
    path = cache_folder() / kind / f"{name}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(unfinished, **build())  # type: ignore[arg-type]
        unfinished.replace(path)
    with np.load(path, allow_pickle=False) as data:
        return {key: data[key] for key in data.files}


def read(path: str) -> Any:
    """Return the arrays of a file in the data folder."""
    return np.load(_stored(path), allow_pickle=False)


def _stored(path: str) -> Path:
    """Return where a file of the data folder is, or end the script with a line that tells what is not there."""
    place = data_folder() / path
    if not place.is_file():
        sys.exit(f"no data in {place}: set SONDAGE_DATA (docs/experiments.md names the sources)")
    return place


def enron() -> tuple[Any, Any]:
    """Return binary words of all messages, sparse (33716, 41502), and what is known of them: label, corpus, num, ..."""
    words = sparse.load_npz(_stored("enron_spam/enron_bow_binary.npz")).tocsr().astype(float)
    return words, read("enron_spam/enron_meta.npz")


def reuters() -> tuple[Any, Any]:
    """Return word counts of all documents, sparse (8293, 14381), and what is known of them: topic, is_train, ..."""
    counts = sparse.load_npz(_stored("reuters/reuters8293_tf.npz")).tocsr().astype(float)
    return counts, read("reuters/reuters8293_meta.npz")


def digits() -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return images of 16 x 16 pixels in [0, 1] as rows, and digits, of USPS and MNIST."""
    usps, mnist = read("usps/usps_all_11000.npz"), read("mnist/mnist16.npz")
    return {name: (data["X"].reshape(-1, 256) / 255.0, data["y"]) for name, data in (("usps", usps), ("mnist", mnist))}


def regression_data(name: str, torque: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return inputs and numbers to predict: rings of abalone, or a torque of sarcos, 0 to 6."""
    if name == "abalone":
        data = read("abalone/abalone.npz")
        return data["X"], data["y"].astype(float)
    data = read("sarcos/sarcos_test.npz")
    return data["X"], data["T"][:, torque]


def logistic(**options: Any) -> Any:
    """Return logistic regression, with time to converge."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(**{"max_iter": 2000} | options)


def bayes(counts: bool = False) -> Any:
    """Return naive Bayes, of words that occur or of their counts."""
    from sklearn.naive_bayes import BernoulliNB, MultinomialNB

    return MultinomialNB() if counts else BernoulliNB()


def classify(model: Any, train: Any, target: Any, pool: Any, labels: Any) -> Arrays:
    """Train, and return what the model says of the pool; two classes keep the second's probability."""
    model.fit(train, target)
    p = model.predict_proba(pool)
    return {
        "probabilities": p[:, 1] if p.shape[1] == 2 else p,
        "predictions": np.argmax(p, axis=1),
        "labels": np.asarray(labels).astype(int),
    }


def regress(
    name: str, predict: Callable[[Any, Any, Any], tuple[Any, Any]], rows: int = 500, seed: int = 0, torque: int = 0
) -> Arrays:
    """Return predictive means and variances after some training rows; the rest is the pool."""
    from sklearn.preprocessing import StandardScaler

    x, y = regression_data(name, torque)
    order = np.random.default_rng(seed).permutation(len(y))
    train, pool = order[:rows], np.sort(order[rows:])
    x = StandardScaler().fit(x[train]).transform(x)
    means, variances = predict(x[train], y[train], x[pool])
    return {"means": means, "variances": variances, "labels": y[pool]}


def gaussian_process(train: Any, target: Any, pool: Any) -> tuple[Any, Any]:
    """Return predictive means and variances of a Gaussian process, a length scale for each input."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0) * RBF(np.full(train.shape[1], 3.0), (0.1, 1e3)) + WhiteKernel(0.1, (1e-4, 10.0))
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # inputs that do not matter take the largest length scale
        model.fit(train, target)
    means, spread = model.predict(pool, return_std=True)
    return means, spread**2


def forest(train: Any, target: Any, pool: Any) -> tuple[Any, Any]:
    """Return mean and variance over the trees of a random forest."""
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(200, random_state=0).fit(train, target)
    trees = np.stack([tree.predict(pool) for tree in model.estimators_])
    return trees.mean(axis=0), trees.var(axis=0)
