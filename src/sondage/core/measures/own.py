"""A user's own loss function as a measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.bases import OwnLoss
from sondage.core.measures.functionals import Functional, Task, linear
from sondage.errors import MeasureError

__all__ = ["Loss"]


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
