"""Beliefs about classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sondage.core.beliefs.columns import class_column, log_odds
from sondage.core.beliefs.protocol import Belief, Supposed
from sondage.core.calibration import calibrate_events
from sondage.core.predictions import Classes, Floats, Items

__all__ = ["ClassBelief"]


@dataclass(frozen=True)
class ClassBelief:
    """A mixture of class probabilities: of models, of a judge, of a class prior, uniform (thesis 5.11, 4.2.2).

    Parameters
    ----------
    n_classes : int
        Number of classes k.
    models : tuple of (int, float)
        Model index and share.
    judge, uniform : float
        Shares of the judge's probabilities and of 1/k each.
    prior : tuple of float
        Class probabilities, times their share, that are the same for all items; empty for none.
    shift, slope : float
        Calibration of the log odds of the second of two classes, or of the most probable of several; the others
        keep their proportions.

    Examples
    --------
    >>> items = Items((Classes(np.array([1]), np.array([0.8])),), np.array([1.0]))
    >>> [(y, float(w[0])) for y, w in ClassBelief(2, models=((0, 1.0),)).supposed(items, [0])]
    [(0, 0.19999999999999996), (1, 0.8)]
    """

    n_classes: int
    models: tuple[tuple[int, float], ...] = ()
    judge: float = 0.0
    uniform: float = 0.0
    prior: tuple[float, ...] = ()
    shift: float = 0.0
    slope: float = 1.0

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield every class code with its probability, shape (n,)."""
        if (self.shift, self.slope) == (0.0, 1.0):
            yield from ((label, self.probability(items, label)) for label in range(self.n_classes))
        else:
            yield from self._calibrated_columns(items)

    def _calibrated_columns(self, items: Items) -> Iterator[Supposed]:
        """Yield every class code with its probability after calibration of the reference class."""
        if self.n_classes == 2:
            second = expit(self.shift + self.slope * log_odds(self.probability(items, 1)))
            yield from ((0, 1.0 - second), (1, second))
            return
        columns, reference, logits = self._reference(items)
        moved = expit(self.shift + self.slope * logits)
        tiny = 1e-15
        others = sum(np.where(reference == label, 0.0, column) for label, column in enumerate(columns))
        rest = (1.0 - moved) / (others + (self.n_classes - 1) * tiny)
        for label in range(self.n_classes):
            yield label, np.where(reference == label, moved, (columns[label] + tiny) * rest)

    def _reference(self, items: Items) -> tuple[list[NDArray[Any]], NDArray[Any], Floats]:
        """Return the columns before calibration, the class that is calibrated and its log odds."""
        columns = [np.broadcast_to(self.probability(items, label), len(items)) for label in range(self.n_classes)]
        if self.n_classes == 2:
            return columns, np.ones(len(items), dtype=np.int64), log_odds(columns[1])
        stacked = np.stack(columns)
        reference = stacked.argmax(axis=0)
        return columns, reference, log_odds(stacked[reference, np.arange(len(items))])

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Belief:
        """Return the belief calibrated on these class codes, shape (n,)."""
        _, reference, logits = self._reference(items)
        fitted = calibrate_events(logits, labels == reference)
        return replace(self, shift=fitted.shift, slope=fitted.slope)

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield every class code."""
        yield from range(self.n_classes)

    def probability(self, items: Items, label: int) -> NDArray[Any]:
        """Return the believed probability of one class, shape (n,)."""
        sources = [(share, self._column(items, index, label)) for index, share in self.models]
        if self.judge:
            sources.append((self.judge, class_column(items.judge, label)))
        flat = self.uniform / self.n_classes + (self.prior[label] if self.prior else 0.0)
        if not sources:
            return np.broadcast_to(flat, len(items))
        total = sources[0][1] if sources[0][0] == 1 else sources[0][0] * sources[0][1]
        for share, column in sources[1:]:
            total = total + share * column
        return total + flat if flat else total

    @staticmethod
    def _column(items: Items, index: int, label: int) -> NDArray[Any]:
        return class_column(cast(Classes, items.models[index]).probabilities, label)
