"""Measures of regression models, and the mean outcome of systems."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sondage.core.measures.bases import OutcomeValue, Residuals
from sondage.core.measures.binned import Values
from sondage.core.measures.functionals import Functional, Task, linear, require_kind
from sondage.core.predictions import Floats

__all__ = ["MAE", "MSE", "R2", "RMSE", "Bias", "MeanOutcome"]

ALIKE = 1e-14
"""A variance below it, in mean squares of the labels, is what rounding leaves of labels that do not vary."""
LEAST_VARIANCE = 1e-140
"""Below it, its square would leave the range of numbers."""
RANGES_AWAY = 10.0
"""How many times their range the predictions are from 0 where a variance about 0 would lose its digits."""


@dataclass(frozen=True)
class MSE:
    r"""Mean squared error, the risk of squared loss (thesis 3.3), in the units of the labels squared.

    .. math:: \sum_i b_i (f_i - y_i)^2

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> round(evaluate(Pool(means=[1.0, 2.0, 4.0]), "mse", labels=[1.0, 3.0, 2.0], budget=3).value, 4)
    1.6667
    """

    name = "mse"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require_kind("regression", task, self.name)
        return linear(self.name, Residuals(), [1.0, 0, 0, 0, 0], bounds=(0.0, np.inf))


@dataclass(frozen=True)
class RMSE:
    r"""Root of the mean squared error, in the units of the labels.

    .. math:: \sqrt{\sum_i b_i (f_i - y_i)^2}

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> round(evaluate(Pool(means=[1.0, 2.0, 4.0]), "rmse", labels=[1.0, 3.0, 2.0], budget=3).value, 4)
    1.291
    """

    name = "rmse"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require_kind("regression", task, self.name)
        return Functional(self.name, Residuals(), _root, _root_gradient, (0.0, np.inf))


def _root(mu: Floats) -> float:
    return float(np.sqrt(mu[0])) if mu[0] >= 0 else float("nan")


def _root_gradient(mu: Floats) -> Floats:
    return np.array([0.5 / np.sqrt(mu[0]) if mu[0] > 0 else 0.0, 0, 0, 0, 0])


@dataclass(frozen=True)
class MAE:
    r"""Mean absolute error, in the units of the labels.

    .. math:: \sum_i b_i |f_i - y_i|

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> round(evaluate(Pool(means=[1.0, 2.0, 4.0]), "mae", labels=[1.0, 3.0, 2.0], budget=3).value, 4)
    1.0
    """

    name = "mae"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require_kind("regression", task, self.name)
        return linear(self.name, Residuals(), [0, 0, 1.0, 0, 0], bounds=(0.0, np.inf))


@dataclass(frozen=True)
class Bias:
    r"""Mean of prediction minus label, in the units of the labels: positive where the model predicts too much.

    .. math:: \sum_i b_i (f_i - y_i)

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> round(evaluate(Pool(means=[1.0, 2.0, 4.0]), "bias", labels=[1.0, 3.0, 2.0], budget=3).value, 4)
    0.3333
    """

    name = "bias"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require_kind("regression", task, self.name)
        return linear(self.name, Residuals(), [0, 1.0, 0, 0, 0], higher_is_better=None)


@dataclass(frozen=True)
class R2:
    r"""Share of the labels' variance explained, at most 1; NaN where the labels do not vary.

    .. math:: 1 - \frac{\sum_i b_i (f_i - y_i)^2}{\sum_i b_i (y_i - \bar y)^2}

    Parameters
    ----------
    centre : float
        Subtracted from labels before they are summed, from `settled`: the middle of predictions that are all far from
        0, else 0. It does not change the value, but keeps digits that squares of large numbers would lose.

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> round(evaluate(Pool(means=[1.0, 2.0, 4.0]), "r2", labels=[1.0, 3.0, 2.0], budget=3).value, 4)
    -1.5
    """

    centre: float = field(default=0.0, repr=False, compare=False, metadata={"of_pool": True})
    name = "r2"

    def settled(self, task: Task, values: Values, models: tuple[int, ...]) -> R2:
        """Return the measure with the centre of this pool."""
        require_kind("regression", task, self.name)
        low, high = values.extremes(models)
        middle = (low + high) / 2.0
        return replace(self, centre=middle if abs(middle) > RANGES_AWAY * (high - low) else 0.0)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require_kind("regression", task, self.name)
        basis = Residuals(self.centre)
        return Functional(self.name, basis, _explained, _explained_gradient, (-np.inf, 1.0), higher_is_better=True)


def _spread(mu: Floats) -> float:
    """Return the variance of the labels."""
    variance = float(mu[4] - mu[3] ** 2)
    return variance if variance > max(ALIKE * mu[4], LEAST_VARIANCE) else 0.0


def _explained(mu: Floats) -> float:
    return float(1.0 - mu[0] / _spread(mu)) if _spread(mu) > 0 else float("nan")


def _explained_gradient(mu: Floats) -> Floats:
    variance = _spread(mu)
    if not variance > 0:
        return np.zeros(5)
    slope = mu[0] / variance**2
    return np.array([-1.0 / variance, 0, 0, -2.0 * mu[3] * slope, slope])


@dataclass(frozen=True)
class MeanOutcome:
    r"""Mean of the systems' own outcomes: right or wrong, or grades, in their units.

    .. math:: \sum_i b_i y_i

    Examples
    --------
    >>> from sondage import Outcome, Pool, evaluate
    >>> pool = Pool(models={"ours": Outcome(judge=[0.9, 0.2])})
    >>> evaluate(pool, "mean_outcome", labels=[[1], [0]], budget=2).value
    0.5
    """

    name = "mean_outcome"

    def ready(self, task: Task) -> Functional:
        """Return the measure for an outcomes task."""
        require_kind("outcomes", task, self.name)
        bounds = (min(task.grades), max(task.grades))
        unit = bounds == (0.0, 1.0)
        return linear(self.name, OutcomeValue(), [1.0], bounds=bounds, higher_is_better=True, proportion=unit)
