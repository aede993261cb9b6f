"""Losses of the class probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.core.measures.bases import ClassLoss
from sondage.core.measures.functionals import Functional, Task, linear, require_kind

__all__ = ["Brier", "LogLoss"]


@dataclass(frozen=True)
class LogLoss:
    r"""Mean of -ln p(label), in nats; probabilities clipped to [1e-15, 1 - 1e-15].

    .. math:: -\sum_i b_i \ln p_i(y_i)

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> round(evaluate(Pool(probabilities=[0.1, 0.9]), "log_loss", labels=[0, 0], budget=2).value, 4)
    1.204
    """

    name = "log_loss"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require_kind("classification", task, self.name)
        return linear(self.name, ClassLoss("log"), [1.0], bounds=(0.0, np.inf))


@dataclass(frozen=True)
class Brier:
    r"""Brier score as scikit-learn has it: mean (p - y)^2 for two classes, summed over the classes for more.

    .. math:: \sum_i b_i (p_i - y_i)^2, \qquad \sum_i b_i \sum_c (p_{ic} - [y_i = c])^2

    in [0, 1] and [0, 2].

    Examples
    --------
    >>> from sondage import Pool, evaluate
    >>> round(evaluate(Pool(probabilities=[0.1, 0.9]), "brier", labels=[0, 0], budget=2).value, 4)
    0.41
    """

    name = "brier"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require_kind("classification", task, self.name)
        return linear(self.name, ClassLoss("brier"), [1.0], bounds=(0.0, 1.0 if len(task.classes) == 2 else 2.0))
