"""A user's own loss, or own function of the confusion matrix, as a measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.bases import Confusion, OwnLoss
from sondage.core.measures.confusion import Gradient
from sondage.core.measures.functionals import Functional, Task, linear, numerical_gradient, require_kind
from sondage.core.predictions import Floats
from sondage.errors import MeasureError

__all__ = ["ConfusionMeasure", "Loss"]


def _require_own(function: Any, name: Any, bounds: Any) -> None:
    """Refuse what cannot be called, or has no name, or no range of values."""
    if not callable(function):
        raise MeasureError(f"function={function!r} is no function")
    if not isinstance(name, str) or not name.strip():
        raise MeasureError(f"name={name!r} must be a text")
    ends: Any = bounds if isinstance(bounds, tuple | list) and len(bounds) == 2 else (None, None)
    if not (all(isinstance(end, Real) for end in ends) and ends[0] < ends[1]):
        raise MeasureError(f"bounds={bounds!r} must be two numbers, the smallest and the largest value")


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

    Raises
    ------
    MeasureError
        If the function is not callable, the name is no text, or the bounds are not two numbers in ascending order; when
        it is used, if the function returns anything but n numbers, at most 1e100 in absolute value and, for classes,
        within the bounds.

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

    def __post_init__(self) -> None:
        _require_own(self.function, self.name, self.bounds)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification or regression task."""
        if task.kind == "outcomes":
            raise MeasureError(f"measure {self.name!r}: outcomes are their own loss; use 'mean_outcome'")
        classes = np.array(task.classes) if task.kind == "classification" else None
        proportion = self.bounds == (0.0, 1.0)
        return linear(
            self.name,
            OwnLoss(self.function, classes, self.name, self.bounds),
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
        ``function(M) -> float`` of the (k, k) table of pool shares, predictions in rows, labels in columns; NaN or
        infinite where the measure is undefined.
    gradient : callable, optional
        Its derivative by the entries, shape (k, k); by default central differences.
    name : str
        What to call it.
    bounds : (float, float)
        Smallest and largest value.
    higher_is_better : bool or None
        Direction.

    Raises
    ------
    MeasureError
        If function or gradient is not callable, the name is no text, or the bounds are not two numbers in ascending
        order; when it is used, if they return anything but a number and a finite table of its shape.

    Examples
    --------
    >>> lift = ConfusionMeasure(lambda m: m[1, 1] / (m[1].sum() * m[:, 1].sum()), name="lift")
    >>> round(lift.ready(Task("classification", (0, 1))).value(np.array([[0.4, 0.1], [0.1, 0.4]])), 3)
    1.6
    """

    function: Callable[[Floats], float]
    gradient: Gradient | None = None
    name: str = "own measure"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    higher_is_better: bool | None = True

    def __post_init__(self) -> None:
        _require_own(self.function, self.name, self.bounds)
        if self.gradient is not None and not callable(self.gradient):
            raise MeasureError(f"gradient={self.gradient!r} is no function")

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require_kind("classification", task, self.name)
        gradient = self._told_gradient if self.gradient else partial(numerical_gradient, self._value)
        proportion = self.bounds == (0.0, 1.0)
        basis = Confusion(len(task.classes))
        return Functional(
            self.name, basis, self._value, gradient, self.bounds, self.higher_is_better, proportion, own=True
        )

    def _value(self, means: Floats) -> float:
        """Return what the function does, NaN where that is infinite; what is no number is refused."""
        found = self.function(means)
        if not isinstance(found, Real | np.ndarray) or np.ndim(found):
            raise MeasureError(
                f"the function of {self.name!r} returned a {type(found).__name__}; it must return a number"
            )
        return float(found) if np.isfinite(found) else float("nan")

    def _told_gradient(self, means: Floats) -> Floats:
        """Return what the gradient does, refused where it is no table of numbers though the value is one."""
        assert self.gradient is not None
        found = np.asarray(self.gradient(means), dtype=np.float64)
        if found.shape != means.shape:
            raise MeasureError(f"the gradient of {self.name!r} has shape {found.shape}; it must be {means.shape}")
        if not np.all(np.isfinite(found)) and np.isfinite(self._value(means)):
            raise MeasureError(f"the gradient of {self.name!r} has an entry that is not finite, where its value is")
        return found
