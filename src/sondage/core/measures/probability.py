"""Losses of the class probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.core.measures.bases import ClassLoss
from sondage.core.measures.functionals import Functional, Task, linear, require

__all__ = ["Brier", "LogLoss"]


@dataclass(frozen=True)
class LogLoss:
    """Mean of -ln p(label), probabilities clipped to [1e-15, 1 - 1e-15]."""

    name = "log_loss"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require("classification", task, self.name)
        return linear(self.name, ClassLoss("log"), [1.0], bounds=(0.0, np.inf))


@dataclass(frozen=True)
class Brier:
    """Brier score as scikit-learn has it: mean (p - y)^2 for two classes, summed over the classes for more."""

    name = "brier"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require("classification", task, self.name)
        return linear(self.name, ClassLoss("brier"), [1.0], bounds=(0.0, 1.0 if len(task.classes) == 2 else 2.0))
