"""Models to compare on a pool with all its labels; ten sets of models in each domain, each from its own training part.

spam             logistic regression on 5,000 messages of the first 30 % of the mailboxes, and of the next 30 %;
                 the pool is the rest
digits           500 training images of USPS: logistic regression with a linear and with a Gaussian kernel
abalone, sarcos  500 training rows: Gaussian processes with a linear and with a Matern kernel
...-degrees      the same rows: polynomial kernels of degree 1 to 5
paraphrases      13 of 51 published classifiers of paraphrases (MRPC), with predictions only; one set
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.data import Arrays
from experiments import problems
from experiments.problems import digit_rows, enron_rank, tuned_kernel, tuned_words
from sondage import Classifier, Pool, Regressor

__all__ = ["CONTESTS", "SETS", "Contest", "contest"]

SETS = 10
TRAINING = 500
MESSAGES = 5000
CONTENDERS = 13
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contest:
    """Models, a pool and its labels.

    Attributes
    ----------
    name : str
        Domain and number of the set.
    measure : str
        ``"error_rate"`` or ``"mse"``.
    models : mapping of str to dict of ndarray
        Arguments of `sondage.Classifier` or `sondage.Regressor`.
    labels : ndarray, shape (N,)
        Class codes or numbers.
    """

    name: str
    measure: str
    models: Mapping[str, Arrays]
    labels: NDArray[Any]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def domain(self) -> str:
        """Name without the number of the set."""
        return self.name.rpartition("-")[0]

    @property
    def pool(self) -> Pool:
        """The `sondage.Pool`."""
        kind: Any = Regressor if self.measure == "mse" else Classifier
        return Pool(models={name: kind(**arrays) for name, arrays in self.models.items()})

    @property
    def losses(self) -> Floats:
        """Loss of every model on every item, shape (k, N)."""
        if self.measure == "mse":
            return np.stack([np.square(arrays["means"] - self.labels) for arrays in self.models.values()])
        return np.stack([(arrays["predictions"] != self.labels).astype(float) for arrays in self.models.values()])

    @property
    def risks(self) -> Floats:
        """Risk of every model on the whole pool, shape (k,)."""
        return np.asarray(self.losses.mean(axis=1))

    def doubled(self) -> Contest:
        """Return the null hypothesis: each item stands twice, once with the two models' outputs swapped.

        To draw from it is to swap the outputs with probability 1/2 whenever an item is drawn (thesis 5.4.2). The two
        risks on this pool are the same number.
        """
        (a, first), (b, second) = self.models.items()
        swapped = {
            a: {key: np.concatenate([first[key], second[key]]) for key in first},
            b: {key: np.concatenate([second[key], first[key]]) for key in first},
        }
        return Contest(self.name, self.measure, swapped, np.concatenate([self.labels, self.labels]))


def _mail(number: int) -> Arrays:
    words, meta = data.enron()
    label, place = np.asarray(meta["label"]).astype(int), enron_rank(meta)
    pool, rng = place >= 0.6, np.random.default_rng(number)
    found: Arrays = {"labels": label[pool]}
    for name, window in {"older": place < 0.3, "newer": (place >= 0.3) & (place < 0.6)}.items():
        rows = rng.permutation(np.flatnonzero(window))[:MESSAGES]
        model = tuned_words(words[rows], label[rows])
        found |= _classifier(name, data.classify(model, words[rows], label[rows], words[pool], label[pool]))
    return found


def _digits(number: int) -> Arrays:
    images, label = digit_rows()["usps"]
    order = np.random.default_rng(number).permutation(len(label))
    train, pool = order[:TRAINING], np.sort(order[TRAINING:])
    linear = problems.tuned(data.logistic(), {"C": [0.01, 0.1, 1.0, 10.0]}, images[train], label[train])
    found: Arrays = {"labels": label[pool]}
    for name, model in {"linear": linear, "Gaussian": tuned_kernel(images[train], label[train])}.items():
        found |= _classifier(name, data.classify(model, images[train], label[train], images[pool], label[pool]))
    return found


def _classifier(name: str, outputs: Arrays) -> Arrays:
    return {f"{name}/{key}": outputs[key] for key in ("probabilities", "predictions")}


def _kernels() -> dict[str, Any]:
    """Return the kernels of the two Gaussian processes; inputs are standardised."""
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel

    noise = WhiteKernel(0.1, (1e-4, 10.0))
    return {
        "linear": ConstantKernel(1.0, (1e-5, 1e5)) * DotProduct(1.0) + noise,
        "Matern": ConstantKernel(1.0, (1e-5, 1e5)) * Matern(3.0, (0.1, 1e3), nu=1.5) + noise,
    }


def _degrees() -> dict[str, Any]:
    """Return polynomial kernels of degree 1 to 5."""
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, WhiteKernel

    noise = WhiteKernel(0.1, (1e-4, 10.0))
    return {f"degree {d}": ConstantKernel(1.0, (1e-5, 1e5)) * DotProduct(1.0) ** d + noise for d in range(1, 6)}


def _processes(name: str, kernels: Any, number: int) -> Arrays:
    """Return predictive means and variances of Gaussian processes with these kernels, on the same training rows."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.preprocessing import StandardScaler, normalize

    x, y = data.regression_data(name)
    order = np.random.default_rng(number).permutation(len(y))
    train, pool = order[:TRAINING], np.sort(order[TRAINING:])
    x = StandardScaler().fit(x[train]).transform(x)
    if (
        kernels is _degrees
    ):  # of unit length, or a polynomial runs away at an outlier: an error of 10^5 where 5 is usual
        x = normalize(np.hstack([x / np.sqrt(x.shape[1]), np.ones((len(x), 1))]))
    found: Arrays = {"labels": y[pool]}
    for model, kernel in kernels().items():
        process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a parameter may end at a bound
            process.fit(x[train], y[train])
        means, spread = process.predict(x[pool], return_std=True)
        found |= {f"{model}/means": means, f"{model}/variances": spread**2}
    return found


def _paraphrases(number: int) -> Arrays:
    """Return 13 classifiers: of those that are better than a guess, evenly spaced by their accuracy."""
    stored = data.read("many_models/glue_mrpc_train.npz")
    labels, predictions = stored["labels"].astype(int), stored["predictions"].astype(int)
    accuracy = (predictions == labels[:, None]).mean(axis=0)
    order = np.argsort(-accuracy, kind="stable")
    sound = order[accuracy[order] > max(np.mean(labels), 1 - np.mean(labels))]
    chosen = sound[np.linspace(0, len(sound) - 1, CONTENDERS).round().astype(int)]
    found: Arrays = {"labels": labels}
    return found | {f"model {rank + 1}/predictions": predictions[:, column] for rank, column in enumerate(chosen)}


CONTESTS: dict[str, Callable[[int], Arrays]] = {
    "spam": _mail,
    "digits": _digits,
    "abalone": partial(_processes, "abalone", _kernels),
    "sarcos": partial(_processes, "sarcos", _kernels),
    "abalone-degrees": partial(_processes, "abalone", _degrees),
    "sarcos-degrees": partial(_processes, "sarcos", _degrees),
    "paraphrases": _paraphrases,
}


def numbers(name: str) -> range:
    """Return the numbers of a domain's sets."""
    return range(1 if name == "paraphrases" else SETS)


@cache
def contest(name: str, number: int = 0) -> Contest:
    """Return one set of models of a domain, from the cache or trained now."""
    arrays = data.cached("experiments", f"contest-{name}-{number}", lambda: CONTESTS[name](number))
    models: dict[str, Arrays] = {}
    for key, column in arrays.items():
        model, _, part = key.rpartition("/")
        if model:
            models.setdefault(model, {})[part] = column
    measure = "mse" if "means" in next(iter(models.values())) else "error_rate"
    return Contest(f"{name}-{number}", measure, models, arrays["labels"])


if __name__ == "__main__":
    for name in CONTESTS:
        for number in numbers(name):
            print(name, number, len(contest(name, number)), contest(name, number).risks.round(4).tolist(), flush=True)
