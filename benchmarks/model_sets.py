"""Several real models of one pool, trained here: what comparing and selecting are measured on beside made pairs.

Spam filters for one Enron mailbox that were trained on others, classifiers of one Reuters topic against the rest,
classifiers of handwritten digits, and two regressions of each of two data sets. Data and cache as in ``data.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from data import Arrays, bayes, cached, classify, digits, enron, logistic, reuters
from known_problems import Pair
from problems import load_pool, truth_of

import sondage

__all__ = ["REAL_PAIRS", "SETS", "load_set"]

SEED_OF_ROWS = 0
IMAGES = 10_000


def _spam(target: int) -> Arrays:
    """Return logistic regressions and naive Bayes of one other mailbox, and logistic regressions of three more."""
    words, data = enron()
    label, corpus = data["label"], data["corpus"]
    pool, first = corpus == target, corpus == (5 if target == 1 else 1)
    kinds = {"C=0.01": logistic(C=0.01), "C=1": logistic(), "C=10": logistic(C=10.0), "bayes": bayes()}
    models = {name: (model, first) for name, model in kinds.items()}
    models |= {f"mailbox {box}": (logistic(), corpus == box) for box in (2, 3, 4) if box != target}
    return _joined(
        {
            name: classify(model, words[train], label[train], words[pool], label[pool])
            for name, (model, train) in models.items()
        }
    )


def _filters(target: int) -> Arrays:
    """Return 64 logistic regressions: four penalties, each on four halves of the mails of each of four mailboxes."""
    words, data = enron()
    label, corpus = data["label"], data["corpus"]
    pool, random, found = corpus == target, np.random.default_rng(SEED_OF_ROWS), {}
    for box in [box for box in range(1, 6) if box != target][:4]:
        mails = np.flatnonzero(corpus == box)
        for part in range(4):
            half = random.permutation(mails)[: len(mails) // 2]
            for c in (0.01, 0.1, 1.0, 10.0):
                fitted = classify(logistic(C=c), words[half], label[half], words[pool], label[pool])
                found[f"mailbox {box}, half {part}, C={c:g}"] = fitted
    return _joined(found)


def _topic(topic: str) -> Arrays:
    """Return logistic regressions of several penalties, one of half of the documents, and naive Bayes."""
    from sklearn.preprocessing import normalize

    counts, data = reuters()
    label = (data["topic"] == list(data["topic_names"]).index(topic)).astype(int)
    train, rows = np.flatnonzero(data["is_train"]), normalize(counts.log1p())
    pool = ~data["is_train"]
    half = np.random.default_rng(SEED_OF_ROWS).permutation(train)[: len(train) // 2]
    models = {f"C={c}": (logistic(C=float(c)), rows, train) for c in (1, 10, 100)}
    models["balanced"] = (logistic(C=30.0, class_weight="balanced"), rows, train)
    models["half"] = (logistic(C=10.0), rows, half)
    models["bayes"] = (bayes(counts=True), counts, train)
    return _joined(
        {name: classify(model, x[fit], label[fit], x[pool], label[pool]) for name, (model, x, fit) in models.items()}
    )


def _images() -> Arrays:
    """Return logistic regressions of USPS, of several penalties and numbers of images, on MNIST."""
    sets = digits()
    (images, label), (pool, labels) = sets["usps"], sets["mnist"]
    order = np.random.default_rng(SEED_OF_ROWS).permutation(len(images))
    choices = {f"C={c}": (c, 5000) for c in (0.003, 0.03, 0.3)} | {f"{n} images": (0.1, n) for n in (500, 1500, 3000)}
    return _joined(
        {
            name: classify(logistic(C=c), images[order[:rows]], label[order[:rows]], pool[:IMAGES], labels[:IMAGES])
            for name, (c, rows) in choices.items()
        }
    )


def _joined(models: dict[str, Arrays]) -> Arrays:
    """Return the arrays of all models under one roof."""
    first = next(iter(models.values()))
    outputs = {
        f"{part} of {name}": arrays[part]
        for name, arrays in models.items()
        for part in ("probabilities", "predictions")
    }
    return outputs | {"labels": first["labels"]}


SETS: dict[str, Callable[[], Arrays]] = {
    "spam-1": partial(_spam, 1),
    "spam-2": partial(_spam, 2),
    "filters": partial(_filters, 1),
    "topic-crude": partial(_topic, "crude"),
    "topic-ship": partial(_topic, "ship"),
    "images": _images,
}


@lru_cache(maxsize=2)
def load_set(name: str) -> tuple[dict[str, sondage.Classifier], np.ndarray]:
    """Return the models of a set, by name, and the labels."""
    arrays = cached("sets", name, SETS[name])
    models = [key.removeprefix("predictions of ") for key in arrays if key.startswith("predictions of ")]
    outputs = {m: sondage.Classifier(arrays[f"probabilities of {m}"], arrays[f"predictions of {m}"]) for m in models}
    return outputs, arrays["labels"]


def _two_of(name: str, first: str, second: str, measure: str) -> Pair:
    models, labels = load_set(name)
    both = (models[first], models[second])
    values = [truth_of(measure, model.predictions, labels) for model in both]
    return Pair(both, labels, measure, values[0] - values[1])


def _regressors(name: str) -> Pair:
    pools = [load_pool(f"{name}-{kind}") for kind in ("gp", "forest")]
    labels = pools[0]["labels"]
    values = [truth_of("mse", pool["means"], labels) for pool in pools]
    both = tuple(sondage.Regressor(pool["means"], pool["variances"]) for pool in pools)
    return Pair((both[0], both[1]), labels, "mse", values[0] - values[1])


REAL_PAIRS: dict[str, Callable[[], Pair]] = {
    "spam": partial(_two_of, "spam-1", "mailbox 2", "mailbox 3", "f1"),
    "spam_alike": partial(_two_of, "spam-1", "C=1", "C=10", "f1"),
    "spam_recall": partial(_two_of, "spam-1", "C=1", "mailbox 2", "recall"),
    "topic": partial(_two_of, "topic-crude", "C=10", "balanced", "f1"),
    "topic_bayes": partial(_two_of, "topic-ship", "balanced", "bayes", "f1"),
    "images": partial(_two_of, "images", "C=0.03", "3000 images", "accuracy"),
    "rings": partial(_regressors, "abalone"),
    "torque": partial(_regressors, "sarcos"),
}
"""Two real models each, named after what they tell; `images` and `spam_alike` hardly differ."""
