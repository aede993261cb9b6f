"""Problems with known labels for the simulations: anyone can rebuild them, and two real pools where they are stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from data import read
from scipy.special import expit, logit
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, mean_squared_error, recall_score, zero_one_loss
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

import sondage

SHARPENED = 3.0


@dataclass(frozen=True)
class Problem:
    """One model, its pool and all labels.

    Attributes
    ----------
    pool : sondage.Pool
        What the model says.
    labels : ndarray
        True labels of the whole pool.
    truth : mapping of str to float
        Values of the measures on the whole pool, by scikit-learn.
    """

    pool: sondage.Pool
    labels: np.ndarray
    truth: dict[str, float]


@dataclass(frozen=True)
class Pair:
    """Two models named a and b, and all labels; the models can be swapped item by item."""

    models: tuple[Any, Any]
    labels: np.ndarray
    measure: str
    truth: float

    @property
    def pool(self) -> sondage.Pool:
        return sondage.Pool(models=dict(zip("ab", self.models, strict=True)))

    def swapped(self, generator: np.random.Generator) -> sondage.Pool:
        """Return the pool in which each item's two outputs have changed places with probability 1/2."""
        swap = generator.random(len(self.labels)) < 0.5
        columns = [vars(model) for model in self.models]
        kind = type(self.models[0])
        exchanged = [
            kind(**{name: _choose(swap, other[name], own[name]) for name in own})
            for own, other in (columns, columns[::-1])
        ]
        return sondage.Pool(models=dict(zip("ab", exchanged, strict=True)))


def _choose(swap: np.ndarray, other: Any, own: Any) -> Any:
    if own is None:
        return None
    own, other = np.asarray(own), np.asarray(other)
    return np.where(swap.reshape(-1, *[1] * (own.ndim - 1)), other, own)


def _classifier(probability: np.ndarray, labels: np.ndarray, predictions: np.ndarray | None = None) -> Problem:
    predicted = (probability > 0.5).astype(int) if predictions is None else predictions
    truth = {
        "error_rate": float(zero_one_loss(labels, predicted)),
        "f1": float(f1_score(labels, predicted)),
        "recall": float(recall_score(labels, predicted)),
    }
    return Problem(sondage.Pool(probabilities=probability, predictions=predictions), labels, truth)


def digits() -> Problem:
    """Is it an 8? 1,797 images, 10 % positive, logistic regression, cross-validated."""
    features, digit = load_digits(return_X_y=True)
    labels = (digit == 8).astype(int)
    model = LogisticRegression(C=0.2, max_iter=2000)
    return _classifier(cross_val_predict(model, features / 16, labels, cv=5, method="predict_proba")[:, 1], labels)


@lru_cache
def _logistic(positives: float, separation: float) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and labels of 20,000 items, from a logistic regression trained on 2,000 others."""
    features, labels = make_classification(
        22_000, 20, n_informative=5, weights=[1 - positives], flip_y=0.01, class_sep=separation, random_state=7
    )
    model = LogisticRegression(max_iter=2000).fit(features[:2000], labels[:2000])
    return model.predict_proba(features[2000:])[:, 1], labels[2000:]


def balanced() -> Problem:
    """20,000 items of make_classification, half of them positive, logistic regression trained on 2,000 others."""
    return _classifier(*_logistic(0.5, 0.8))


def rare() -> Problem:
    """Make positives rare, 2.4 %, and the classes further apart."""
    return _classifier(*_logistic(0.02, 1.5))


def overconfident() -> Problem:
    """Triple all logits of the balanced problem: the same predictions, probabilities far too sure."""
    probability, labels = _logistic(0.5, 0.8)
    return _classifier(expit(SHARPENED * logit(probability)), labels)


def overconfident_rare() -> Problem:
    """Triple all logits of the rare problem."""
    probability, labels = _logistic(0.02, 1.5)
    return _classifier(expit(SHARPENED * logit(probability)), labels)


def thin() -> Problem:
    """6,000 items with log odds from N(-10, 4) that are right: few positives, doubt thin over many items."""
    generator = np.random.default_rng(3)
    probability = expit(-10.0 + 4.0 * generator.standard_normal(6_000))
    return _classifier(probability, (generator.random(6_000) < probability).astype(int))


def regression() -> Problem:
    """10,000 numbers predicted with errors whose standard deviation varies eightfold and is known."""
    means, labels, deviation = _regression()
    return _regressor(means, labels, deviation**2)


def regression_flat() -> Problem:
    """Say of the same numbers that every error has the same variance."""
    means, labels, deviation = _regression()
    return _regressor(means, labels, np.full_like(means, np.mean(deviation**2)))


def regression_heavy() -> Problem:
    """Say so of 10,000 numbers whose deviations are log-normal: a tenth of them has three quarters of the loss."""
    generator = np.random.default_rng(11)
    deviation = np.exp(generator.normal(0.0, 0.7, 10_000))
    means = generator.normal(size=10_000)
    labels = means + deviation * generator.normal(size=10_000)
    return _regressor(means, labels, np.full_like(means, np.mean(deviation**2)))


def _regression() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(11)
    deviation = np.exp(generator.uniform(np.log(0.25), np.log(2.0), 10_000))
    means = generator.normal(size=10_000)
    return means, means + deviation * generator.normal(size=10_000), deviation


def _regressor(means: np.ndarray, labels: np.ndarray, variances: np.ndarray) -> Problem:
    truth = {"mse": float(mean_squared_error(labels, means))}
    return Problem(sondage.Pool(means=means, variances=variances), labels, truth)


def tweets() -> Problem:
    """20,000 tweets, half positive, linear SVM; probabilities by Platt's method on the scores (real, stored)."""
    data = read("pools/tweets100k_svm.npz")
    labels, scores = data["labels"].astype(int), data["scores"].reshape(-1, 1)
    probability = cross_val_predict(LogisticRegression(), scores, labels, cv=5, method="predict_proba")[:, 1]
    return _classifier(probability, labels, data["preds"].astype(int))


def abt_buy() -> Problem:
    """53,753 product pairs, 50 positive, linear SVM with calibrated probabilities (real, stored)."""
    data = read("pools/abt_buy_svm.npz")
    return _classifier(data["probs"], data["labels"].astype(int), data["preds"].astype(int))


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "digits": digits,
    "balanced": balanced,
    "rare": rare,
    "overconfident": overconfident,
    "overconfident_rare": overconfident_rare,
    "thin": thin,
    "regression": regression,
    "regression_flat": regression_flat,
    "regression_heavy": regression_heavy,
    "tweets": tweets,
    "abt_buy": abt_buy,
}
STORED = ("tweets", "abt_buy")


def digits_pair() -> Pair:
    """1,797 images of ten digits, two decision trees, cross-validated."""
    features, labels = load_digits(return_X_y=True)
    both = [
        cross_val_predict(model, features, labels, cv=5, method="predict_proba")
        for model in (
            DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
            DecisionTreeClassifier(criterion="entropy", min_samples_leaf=5, random_state=0),
        )
    ]
    return classifiers(both, labels)


def tweets_like() -> Pair:
    """10,000 items, half positive, error rates of 0.3: logistic regressions on two overlapping dozens of features."""
    features, labels = make_classification(
        11_000, 20, n_informative=12, n_redundant=0, flip_y=0.2, class_sep=0.6, shuffle=False, random_state=3
    )
    order = np.random.default_rng(3).permutation(len(labels))
    features, labels = features[order], labels[order]
    train, test = slice(1000), slice(1000, None)
    both = [
        LogisticRegression(max_iter=2000).fit(features[train, part], labels[train]).predict_proba(features[test, part])
        for part in (slice(3, 15), slice(0, 12))
    ]
    return classifiers(both, labels[test])


def regression_pair() -> Pair:
    """4,000 numbers with noise whose standard deviation varies eightfold, a linear model against a sine."""
    generator = np.random.default_rng(13)
    x = generator.uniform(-2, 2, 4_000)
    deviation = np.exp(generator.uniform(np.log(0.25), np.log(2.0), len(x)))
    labels = x + 0.3 * np.sin(3 * x) + deviation * generator.normal(size=len(x))
    linear, bent = x, x + 0.5 * np.sin(3 * x)
    models = tuple(sondage.Regressor(mean, deviation**2) for mean in (linear, bent))
    truth = float(mean_squared_error(labels, linear) - mean_squared_error(labels, bent))
    return Pair(models, labels, "mse", truth)


def classifiers(probabilities: list[np.ndarray], labels: np.ndarray) -> Pair:
    predictions = [p.argmax(axis=1) for p in probabilities]
    first, second = (zero_one_loss(labels, f) for f in predictions)
    models = tuple(sondage.Classifier(p, f) for p, f in zip(probabilities, predictions, strict=True))
    return Pair(models, labels, "error_rate", float(first - second))


PAIRS: dict[str, Callable[[], Pair]] = {
    "digits": digits_pair,
    "tweets_like": tweets_like,
    "regression": regression_pair,
}
