"""Further pools, by the rule that unseen.py states, which nobody had looked at before their first run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from data import Arrays, bayes, cached, classify, digits, enron, forest, gaussian_process, logistic, regress, reuters
from problems import POOLS as SEEN
from problems import Problem, problem_of
from scipy.special import expit

if TYPE_CHECKING:  # the environments of other packages have none
    import sondage

__all__ = ["Unseen", "all_unseen", "load"]


class Margins:
    """A linear support vector machine whose margins go through the logistic function, as if they were log odds."""

    def fit(self, rows: Any, target: Any) -> None:
        from sklearn.svm import LinearSVC

        self.model = LinearSVC(random_state=0).fit(rows, target)

    def predict_proba(self, rows: Any) -> Any:
        margins = self.model.decision_function(rows)
        p = expit(np.column_stack((-margins, margins)) if margins.ndim == 1 else margins)
        return p / p.sum(axis=1, keepdims=True)


def _models() -> dict[str, Callable[[], Any]]:
    """Return how each model is made, by its name."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "logistic": logistic,
        "bayes": bayes,
        "forest": partial(RandomForestClassifier, 100, random_state=0),
        "margins": Margins,
        "neighbours": partial(KNeighborsClassifier, 10),
        "tree": partial(DecisionTreeClassifier, min_samples_leaf=3, random_state=0),
        "network": partial(MLPClassifier, (32,), max_iter=30, random_state=0),
    }


def ridge(train: Any, target: Any, pool: Any) -> tuple[Any, Any]:
    """Return predictive means and variances of Bayesian linear regression."""
    from sklearn.linear_model import BayesianRidge

    means, spread = BayesianRidge().fit(train, target).predict(pool, return_std=True)
    return means, spread**2


CLASSIFIERS = ("logistic", "bayes", "forest", "margins", "neighbours", "tree", "network")
REGRESSORS = {"process": gaussian_process, "forest": forest, "ridge": ridge}
TEN_CLASSES = "usps-mnist"
TRAINED = 3_000  # documents or images to learn from, at most


def _classified(model: str, rows: Any, labels: Any, train: Any, pool: Any) -> Arrays:
    """Train on at most `TRAINED` of the rows named, drawn at random, and return what the model says of the pool."""
    train = np.random.default_rng(0).permutation(np.flatnonzero(train))[:TRAINED]
    return classify(_models()[model](), rows[train], labels[train], rows[pool], labels[pool])


def _mailboxes(source: int, target: int, model: str) -> Arrays:
    words, data = enron()
    return _classified(model, words, data["label"], data["corpus"] == source, data["corpus"] == target)


def _topic(topic: str, model: str) -> Arrays:
    from sklearn.preprocessing import normalize

    counts, data = reuters()
    label = (data["topic"] == list(data["topic_names"]).index(topic)).astype(int)
    train = data["is_train"].astype(bool)
    return _classified(model, normalize(counts.log1p()), label, train, ~train)


def _images(source: str, target: str, pair: tuple[int, int] | None, model: str) -> Arrays:
    sets = digits()
    rows = np.vstack([sets[source][0], sets[target][0]])
    labels = np.concatenate([sets[source][1], sets[target][1]]).astype(int)
    first = np.arange(len(labels)) < len(sets[source][1])
    inside = np.isin(labels, pair) if pair else np.ones(len(labels), bool)
    named = (labels == pair[1]).astype(int) if pair else labels
    return _classified(model, rows, named, first & inside, ~first & inside)


def _made(positives: float, model: str) -> Arrays:
    from sklearn.datasets import make_classification

    rows, labels = make_classification(
        23_000, 20, n_informative=8, weights=[1 - positives], flip_y=0.005, class_sep=1.2, random_state=5
    )
    return _classified(model, rows, labels, np.arange(23_000) < 3_000, np.arange(23_000) >= 3_000)


def _torque(torque: int, model: str) -> Arrays:
    return regress("sarcos", REGRESSORS[model], torque=torque)


@dataclass(frozen=True)
class Unseen:
    """A pool that the rule chose, the model whose turn it is, and the measure.

    Attributes
    ----------
    pool : str
        Its name.
    build : callable
        Returns the pool's arrays, of a model by name.
    models : tuple of str
        All models that there are.
    model : str
        The one whose turn it is.
    measure : str
        The measure.
    positive : int, optional
        Of which class, for F1.
    """

    pool: str
    build: Callable[[str], Arrays]
    models: tuple[str, ...]
    model: str
    measure: str
    positive: int | None = None

    @property
    def name(self) -> str:
        """Pool, model and measure."""
        return f"{self.pool}-{self.model}/{self.measure}"

    def arrays(self, model: str) -> Arrays:
        """Return what a model says of the pool, and the labels; trained once."""
        return cached("unseen", f"{self.pool}-{model}", partial(self.build, model))

    @property
    def two_classes(self) -> bool:
        """Whether the models are classifiers of two classes."""
        return self.models is CLASSIFIERS and self.pool != TEN_CLASSES

    def with_others(self, turns: Sequence[int], **helped: Any) -> sondage.Pool:
        """Return a pool of the model whose turn it is and those so many turns later, and of judges or features."""
        import sondage

        first = self.models.index(self.model)
        names = [self.model, *(self.models[(first + turn) % len(self.models)] for turn in turns)]
        return sondage.Pool(models={name: _output(self.arrays(name)) for name in names}, **helped)

    def problem(self) -> Problem:
        """Return the problem with the model whose turn it is."""
        return problem_of(self.name, self.arrays(self.model), self.measure, self.positive)


def _output(arrays: Arrays) -> sondage.Classifier | sondage.Regressor:
    import sondage

    told = {name: column for name, column in arrays.items() if name != "labels"}
    return sondage.Regressor(**told) if "means" in told else sondage.Classifier(**told)


def all_unseen() -> Iterator[Unseen]:
    """Yield every pool, with models and measures in turn."""
    models, measures = cycle(CLASSIFIERS), cycle((("error_rate", None), ("f1", 1)))

    def unseen(pool: str, build: Callable[..., Arrays], *parts: Any) -> Unseen:
        return Unseen(pool, partial(build, *parts), CLASSIFIERS, next(models), *next(measures))

    for source, target in permutations(range(1, 7), 2):
        if not {f"enron-{source}-{target}", f"bayes-enron-{source}-{target}"} & set(SEEN):
            yield unseen(f"enron-{source}-{target}", _mailboxes, source, target)
    for topic in ("acq", "coffee", "interest", "money-fx", "sugar", "trade", "earn"):
        yield unseen(f"reuters-{topic}", _topic, topic)
    for pair in ((0, 6), (1, 7), (2, 8), (3, 5), (5, 9)):
        yield unseen(f"mnist-usps-{pair[0]}v{pair[1]}", _images, "mnist", "usps", pair)
    for pair in ((0, 8), (2, 7), (3, 8), (4, 6)):
        yield unseen(f"usps-mnist-{pair[0]}v{pair[1]}", _images, "usps", "mnist", pair)
    for positives in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005):
        yield unseen(f"made-{positives}", _made, positives)
    for model in CLASSIFIERS[2:]:
        yield Unseen(TEN_CLASSES, partial(_images, "usps", "mnist", None), CLASSIFIERS, model, "error_rate")
    for torque, model in zip(range(1, 7), cycle(REGRESSORS), strict=False):
        yield Unseen(f"sarcos-{torque}", partial(_torque, torque), tuple(REGRESSORS), model, "mse")


def load(name: str) -> Problem:
    """Return the problem of this name."""
    return next(unseen.problem() for unseen in all_unseen() if unseen.name == name)
