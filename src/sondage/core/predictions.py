"""What the models say of the items: classes and probabilities, means and variances, outcomes, ranked lists.

`Classifier`, `Regressor`, `Outcome` and `Ranking` are what a user hands over. A pool turns them into the coded arrays
of `Classes`, `Means`, `Grades` and `Ranks`, and hands `core` blocks of its rows as `Items`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sondage.core.rankings import Ranking, Ranks

__all__ = [
    "Classes",
    "Classifier",
    "Floats",
    "Grades",
    "Items",
    "Means",
    "Outcome",
    "Outputs",
    "Ranking",
    "Ranks",
    "Regressor",
    "class_probabilities",
]

Floats = NDArray[np.float64]
_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False)
class Classifier:
    """One classifier's outputs: probabilities, predictions, or both.

    Parameters
    ----------
    probabilities : array-like of float, shape (N, k) or (N,), optional
        Class probabilities in [0, 1], summing to 1; one column is the probability of the second class.
    predictions : array-like, shape (N,), optional
        Predicted classes. They need not be the most probable class; without them the first of the largest
        probabilities is the prediction.

    Examples
    --------
    >>> Classifier(predictions=["spam", "ham"]).predictions
    ['spam', 'ham']
    """

    probabilities: Any = None
    predictions: Any = None


@dataclass(frozen=True, eq=False)
class Regressor:
    """One regression model's outputs.

    Parameters
    ----------
    means : array-like of float, shape (N,)
        Predicted values, in the units of the labels, at most 1e35 in absolute value.
    variances : array-like of float, shape (N,), optional
        Predictive variances, from 0 to 1e70, in these units squared; what is not 0 counts as 1e-100 at least. Without
        them the labels' variance is taken as equal and unknown.

    Examples
    --------
    >>> Regressor([1.0, 2.0], [0.1, 0.2]).means
    [1.0, 2.0]
    """

    means: Any
    variances: Any = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """One system whose label is its own outcome on the item: right or wrong, or a grade.

    Parameters
    ----------
    judge : array-like of float, shape (N,) or (N, g), optional
        A cheap judge's probability that the outcome is 1 (right), or its probabilities of the grades. It makes
        the belief, never the truth.
    grades : sequence of float, optional
        The values an outcome can take, one or more, at most 1e35 in absolute value; by default 0 and 1, or 0 .. g-1
        with a judge of g columns. A pool has one scale: an outcome may be what any of its systems can have. Systems on
        other scales need a pool of their own.

    Examples
    --------
    >>> Outcome(judge=[0.9, 0.2]).grades is None
    True
    """

    judge: Any = None
    grades: Any = None


@dataclass(frozen=True, eq=False)
class Classes:
    """Coded classifier outputs: predicted class codes (n,) and probabilities (n, k), (n,) or None."""

    predictions: NDArray[Any]
    probabilities: NDArray[Any] | None

    def take(self, rows: Any) -> Classes:
        """Return the outputs of these rows."""
        return Classes(self.predictions[rows], None if self.probabilities is None else self.probabilities[rows])


@dataclass(frozen=True, eq=False)
class Means:
    """Regression outputs: means (n,) and variances (n,) or None."""

    means: NDArray[Any]
    variances: NDArray[Any] | None

    def take(self, rows: Any) -> Means:
        """Return the outputs of these rows."""
        return Means(self.means[rows], None if self.variances is None else self.variances[rows])


@dataclass(frozen=True, eq=False)
class Grades:
    """A system's possible outcomes (g,) and a judge's probabilities of them, (n, g), (n,) or None."""

    grades: Floats
    judge: NDArray[Any] | None

    @property
    def binary(self) -> bool:
        """Whether there are two possible outcomes, so that the log odds of the second tell all."""
        return len(self.grades) == 2

    @property
    def several(self) -> bool:
        """Whether there are more, whose order matters."""
        return len(self.grades) > 2

    @property
    def order(self) -> NDArray[np.int64]:
        """The numbers of the outcomes from the lowest to the highest, shape (g,)."""
        return np.argsort(self.grades, kind="stable")

    def codes(self, outcomes: Floats) -> NDArray[np.int64]:
        """Return where outcomes, shape (n,), are in that order.

        Examples
        --------
        >>> Grades(np.array([5.0, 1.0, 2.0]), None).codes(np.array([1.0, 5.0])).tolist()
        [0, 2]
        """
        return np.searchsorted(self.grades[self.order], outcomes)

    def take(self, rows: Any) -> Grades:
        """Return the outputs of these rows."""
        return Grades(self.grades, None if self.judge is None else self.judge[rows])


Outputs = Classes | Means | Grades | Ranks


def class_probabilities(probabilities: NDArray[Any], classes: Any) -> Floats:
    """Return the probability of a class, one for all items or one for each: of (n, k), or (n,) of the second of two.

    What is given in single precision is reckoned with in double precision from here on, as databases do.

    Examples
    --------
    >>> p = np.array([0.25, 0.75])
    >>> class_probabilities(p, 0).tolist(), class_probabilities(p, np.array([0, 1])).tolist()
    ([0.75, 0.25], [0.75, 0.75])
    """
    if probabilities.ndim == 2:
        of_each = np.arange(len(classes)) if np.ndim(classes) else slice(None)
        return np.asarray(probabilities[of_each, classes], dtype=np.float64)
    second = np.asarray(probabilities, dtype=np.float64)
    if np.ndim(classes):
        return np.where(classes == 1, second, 1.0 - second)
    return second if classes == 1 else 1.0 - second


@dataclass(frozen=True, eq=False)
class Items:
    """Some rows of a pool, as `core` reads them.

    Attributes
    ----------
    models : tuple of Classes, Means, Grades or Ranks
        Every model's outputs on these rows, in the pool's order of models.
    weights : ndarray of float, shape (n,)
        Base weights :math:`b_i`; over the whole pool they sum to 1.
    costs : ndarray of float, shape (n,), optional
        Labelling costs, positive; None where every label costs 1.
    judges : tuple of ndarray of float, shape (n, k) or (n,)
        Proxies' class probabilities.
    features : ndarray of float, shape (n, d), optional
        Numbers that may tell where the models err, of the items and not of any model.
    memo : dict
        What was computed of these rows and takes long; rows taken from them begin anew.
    """

    models: tuple[Outputs, ...]
    weights: NDArray[Any]
    costs: NDArray[Any] | None = None
    judges: tuple[NDArray[Any], ...] = ()
    features: NDArray[Any] | None = None
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.weights)

    def once(self, key: Any, make: Callable[[], _Made]) -> _Made:
        """Return what was made of these rows under this key, making it the first time."""
        if key not in self.memo:
            self.memo[key] = make()
        return cast(_Made, self.memo[key])

    def classes(self, model: int) -> Classes:
        """Return the outputs of a classifier."""
        return cast(Classes, self.models[model])

    def means(self, model: int) -> Means:
        """Return the outputs of a regressor."""
        return cast(Means, self.models[model])

    def outcomes(self, model: int) -> Grades:
        """Return what is known of a system with outcomes."""
        return cast(Grades, self.models[model])

    def ranks(self, model: int) -> Ranks:
        """Return a system's ranked lists."""
        return cast(Ranks, self.models[model])

    def take(self, rows: Any) -> Items:
        """Return these rows only; a slice makes views, no copy."""
        return replace(
            self,
            models=tuple(model.take(rows) for model in self.models),
            weights=self.weights[rows],
            costs=None if self.costs is None else self.costs[rows],
            judges=tuple(judge[rows] for judge in self.judges),
            features=None if self.features is None else self.features[rows],
        )
