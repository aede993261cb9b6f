"""Measures of regression models, and the mean outcome of systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.core.measures.bases import OutcomeValue, Residuals
from sondage.core.measures.functionals import Functional, Task, linear, require
from sondage.core.predictions import Floats

__all__ = ["MAE", "MSE", "R2", "RMSE", "Bias", "MeanOutcome"]

ROUNDING = 1e-14
"""A variance below it, in mean squares of the labels, is what rounding leaves of labels that do not vary."""


@dataclass(frozen=True)
class MSE:
    """Mean squared error, the risk of squared loss (thesis 3.3)."""

    name = "mse"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require("regression", task, self.name)
        return linear(self.name, Residuals(), [1.0, 0, 0, 0, 0], bounds=(0.0, np.inf))


@dataclass(frozen=True)
class RMSE:
    """Root of the mean squared error."""

    name = "rmse"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require("regression", task, self.name)

        def value(mu: Floats) -> float:
            return float(np.sqrt(mu[0])) if mu[0] >= 0 else float("nan")

        def gradient(mu: Floats) -> Floats:
            return np.array([0.5 / np.sqrt(mu[0]) if mu[0] > 0 else 0.0, 0, 0, 0, 0])

        return Functional(self.name, Residuals(), value, gradient, (0.0, np.inf))


@dataclass(frozen=True)
class MAE:
    """Mean absolute error."""

    name = "mae"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require("regression", task, self.name)
        return linear(self.name, Residuals(), [0, 0, 1.0, 0, 0], bounds=(0.0, np.inf))


@dataclass(frozen=True)
class Bias:
    """Mean of prediction minus label: positive where the model predicts too much."""

    name = "bias"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require("regression", task, self.name)
        return linear(self.name, Residuals(), [0, 1.0, 0, 0, 0], higher_is_better=None)


@dataclass(frozen=True)
class R2:
    """Share of the labels' variance explained, 1 - mse / Var(y); NaN where the labels do not vary."""

    name = "r2"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a regression task."""
        require("regression", task, self.name)

        def spread(mu: Floats) -> float:
            variance = float(mu[4] - mu[3] ** 2)
            return variance if variance > ROUNDING * mu[4] else 0.0

        def value(mu: Floats) -> float:
            return float(1.0 - mu[0] / spread(mu)) if spread(mu) > 0 else float("nan")

        def gradient(mu: Floats) -> Floats:
            variance = spread(mu)
            if not variance > 0:
                return np.zeros(5)
            slope = mu[0] / variance**2
            return np.array([-1.0 / variance, 0, 0, -2.0 * mu[3] * slope, slope])

        return Functional(self.name, Residuals(), value, gradient, (-np.inf, 1.0), higher_is_better=True)


@dataclass(frozen=True)
class MeanOutcome:
    """Mean of the systems' own outcomes: right or wrong, or grades."""

    name = "mean_outcome"

    def ready(self, task: Task) -> Functional:
        """Return the measure for an outcomes task."""
        require("outcomes", task, self.name)
        bounds = (min(task.grades), max(task.grades))
        unit = bounds == (0.0, 1.0)
        return linear(self.name, OutcomeValue(), [1.0], bounds=bounds, higher_is_better=True, proportion=unit)
