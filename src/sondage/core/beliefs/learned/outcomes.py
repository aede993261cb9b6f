"""Beliefs in outcomes of systems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sondage.core.beliefs.columns import log_odds
from sondage.core.beliefs.learned.sources import bounded, stacked
from sondage.core.beliefs.outcomes import OutcomeBelief
from sondage.core.learning import NONE, Correction, learn_events
from sondage.core.predictions import Floats, Grades, Items

__all__ = ["LearnedOutcomeBelief"]


@dataclass(frozen=True)
class LearnedOutcomeBelief(OutcomeBelief):
    """Outcomes of the systems, each corrected by what labels tell of features and of the other systems' judges.

    Parameters
    ----------
    others : bool
        Whether the other systems' judges enter the corrections.
    corrections : tuple of Correction
        What was learned of each system with two outcomes.

    Examples
    --------
    >>> features = np.cos(np.arange(80.0))[:, None]
    >>> items = Items((Grades(np.array([0.0, 1.0]), None),), np.ones(80), features=features)
    >>> learned = LearnedOutcomeBelief().calibrated(items, (features > 0).astype(float))
    >>> bool(learned.corrections[0].features[0] > 1)
    True
    """

    others: bool = False
    corrections: tuple[Correction, ...] = ()

    def _probability(self, items: Items, index: int, grade: int) -> Any:
        if not items.outcomes(index).binary or not self.corrections:
            return super()._probability(items, index, grade)
        correction = self.corrections[index].at(self._sources(items, index), items.features)
        second = expit(self._offset(items, index) + correction)
        return second if grade == 1 else 1.0 - second

    def _offset(self, items: Items, index: int) -> Floats:
        """Return the log odds of a system's second outcome before correction."""
        return log_odds(np.broadcast_to(super()._probability(items, index, 1), len(items)))

    def _sources(self, items: Items, index: int) -> list[Floats]:
        """Return the log odds of the other judged systems with two outcomes."""
        outputs = enumerate(cast(tuple[Grades, ...], items.models if self.others else ()))
        return [
            bounded(log_odds(self._judged(output, other, 1)))
            for other, output in outputs
            if other != index and output.judge is not None and output.binary
        ]

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief fitted to these outcomes, shape (n, M)."""
        fitted = super().calibrated(items, labels)
        return replace(fitted, corrections=tuple(fitted._learned(items, labels, i) for i in range(len(items.models))))

    def _learned(self, items: Items, labels: NDArray[Any], index: int) -> Correction:
        """Return the correction of one system."""
        output = items.outcomes(index)
        given = np.isfinite(labels[:, index])
        if not output.binary or not given.any():
            return NONE
        rows = items.take(given)
        events = labels[given, index] == output.grades[1]
        sources = stacked(self._sources(rows, index), len(rows))
        return learn_events(self._offset(rows, index), events, sources, rows.features)
