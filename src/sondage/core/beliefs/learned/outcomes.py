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
from sondage.core.learning import NONE, Correction, learn_events, learn_grades, places
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
        What was learned of each system: by how much the log odds of every grade against the one below are moved.

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

    def _follows_from(self, index: int) -> tuple[Any, ...]:
        correction = self.corrections[index] if self.corrections else NONE
        return (*super()._follows_from(index), self.others, correction)

    def _logits(self, items: Items, index: int) -> Floats:
        logits = super()._logits(items, index)
        if not self.corrections:
            return logits
        correction = self.corrections[index].at(self._sources(items, index), items.features)
        return logits + np.multiply.outer(correction, places(logits.shape[1]))

    def _offset(self, items: Items, index: int) -> Floats:
        """Return the log odds of a system's second outcome before correction."""
        return log_odds(np.broadcast_to(super()._probability(items, index, 1), len(items)))

    def _sources(self, items: Items, index: int) -> list[Floats]:
        """Return the log odds of the other judged systems' second outcome, of more by where among them the mean is."""
        outputs = enumerate(cast(tuple[Grades, ...], items.models if self.others else ()))
        return [
            bounded(log_odds(self._height(output, other)))
            for other, output in outputs
            if other != index and output.judge is not None and len(output.grades) > 1
        ]

    def _height(self, output: Grades, index: int) -> Any:
        """Return the place of the mean that a judge expects, from 0 of the lowest grade to 1."""
        if output.binary:
            return self._judged(output, index, 1)
        _, *above = output.order.tolist()
        return sum(self._judged(output, index, grade) * (at / len(above)) for at, grade in enumerate(above, start=1))

    def _told(self, items: Items, index: int) -> bool:
        return not self.uniform

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief fitted to these outcomes, shape (n, M)."""
        fitted = super().calibrated(items, labels)
        return replace(fitted, corrections=tuple(fitted._learned(items, labels, i) for i in range(len(items.models))))

    def _learned(self, items: Items, labels: NDArray[Any], index: int) -> Correction:
        """Return the correction of one system."""
        output = items.outcomes(index)
        given = np.isfinite(labels[:, index])
        if not given.any() or not (output.binary or self.graded(index)):
            return NONE
        rows, outcomes = items.take(given), labels[given, index]
        sources = stacked(self._sources(rows, index), len(rows))
        if output.binary:
            return learn_events(self._offset(rows, index), outcomes == output.grades[1], sources, rows.features)
        return learn_grades(super()._logits(rows, index), output.codes(outcomes), sources, rows.features)
