"""A user's own loss, or own function of the confusion matrix, as a measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.bases import Confusion, OwnLoss
from sondage.core.measures.confusion import Gradient
from sondage.core.measures.functionals import Functional, Task, linear, numerical_gradient, require
from sondage.core.predictions import Floats
from sondage.errors import MeasureError

__all__ = ["ConfusionMeasure", "Loss"]


@dataclass(frozen=True, eq=False)
class Loss:
    """The mean of a user's own loss, thesis 3.1.

    Parameters
    ----------
    function : callable
        ``function(outputs, labels) -> losses``, arrays of shape (n,): predicted classes or means, and labels.
    name : str
        What to call it.
    bounds : (float, float)
        Smallest and largest loss.
    higher_is_better : bool or None
        Direction.

    Examples
    --------
    >>> cost = Loss(lambda f, y: 5.0 * ((f == "ham") & (y == "spam")), name="missed spam")
    >>> cost.ready(Task("classification", ("ham", "spam"))).name
    'missed spam'
    """

    function: Callable[[NDArray[Any], NDArray[Any]], Any]
    name: str = "own loss"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    higher_is_better: bool | None = False

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification or regression task."""
        if task.kind == "outcomes":
            raise MeasureError(f"measure {self.name!r}: outcomes are their own loss; use 'mean_outcome'")
        classes = np.array(task.classes) if task.kind == "classification" else None
        proportion = self.bounds == (0.0, 1.0)
        return linear(
            self.name,
            OwnLoss(self.function, classes, self.name),
            [1.0],
            bounds=self.bounds,
            higher_is_better=self.higher_is_better,
            proportion=proportion,
        )


@dataclass(frozen=True, eq=False)
class ConfusionMeasure:
    """A user's own function of the confusion matrix.

    Parameters
    ----------
    function : callable
        ``function(M) -> float`` of the (k, k) table of pool shares, predictions in rows, labels in columns.
    gradient : callable, optional
        Its derivative by the entries, shape (k, k); by default central differences.
    name : str
        What to call it.
    bounds : (float, float)
        Smallest and largest value.
    higher_is_better : bool or None
        Direction.

    Examples
    --------
    >>> lift = ConfusionMeasure(lambda m: m[1, 1] / (m[1].sum() * m[:, 1].sum()), name="lift")
    >>> lift.ready(Task("classification", (0, 1))).value(np.array([[0.4, 0.1], [0.1, 0.4]])).round(3)
    np.float64(1.6)
    """

    function: Callable[[Floats], float]
    gradient: Gradient | None = None
    name: str = "own measure"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    higher_is_better: bool | None = True

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require("classification", task, self.name)
        gradient = self.gradient or partial(numerical_gradient, self.function)
        proportion = self.bounds == (0.0, 1.0)
        basis = Confusion(len(task.classes))
        return Functional(
            self.name, basis, self.function, gradient, self.bounds, self.higher_is_better, proportion, own=True
        )
