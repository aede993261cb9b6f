"""Beliefs about each system's own outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sondage.core.beliefs.classes import PLAUSIBLE
from sondage.core.beliefs.columns import class_column, doubted, log_odds
from sondage.core.beliefs.lapses import lapsing
from sondage.core.beliefs.protocol import Distribution, Supposed
from sondage.core.calibration import calibrate_events, plausible_events
from sondage.core.predictions import Floats, Grades, Items

__all__ = ["OutcomeBelief"]


@dataclass(frozen=True)
class OutcomeBelief:
    """Independent outcomes of the systems: a judge's probabilities of the grades, or uniform.

    Parameters
    ----------
    uniform : bool
        Ignore the judges.
    shift, slope : float
        Calibration of the log odds of the second of two outcomes; several grades stay as they are.
    doubts : tuple of float
        Of every judge's probabilities the share that all grades get alike, from `doubt_of`; empty for none.
    """

    uniform: bool = False
    shift: float = 0.0
    slope: float = 1.0
    doubts: tuple[float, ...] = ()

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield label vectors over all systems (NaN for those not concerned) and weights (n,)."""
        concerned = sorted(set(models))
        outputs = [items.outcomes(index) for index in concerned]
        for choice in product(*(range(len(output.grades)) for output in outputs)):
            label = np.full(len(items.models), np.nan)
            weight: Any = 1.0
            for index, output, grade in zip(concerned, outputs, choice, strict=True):
                label[index] = output.grades[grade]
                weight = weight * self._probability(items, index, grade)
            yield label, weight

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield every combination of the systems' grades."""
        yield from (label for label, _ in self.supposed(items, models))

    def _probability(self, items: Items, index: int, grade: int) -> Any:
        output = items.outcomes(index)
        if self.uniform or output.judge is None:
            return 1.0 / len(output.grades)
        if not output.binary or (self.shift, self.slope) == (0.0, 1.0):
            return self._judged(output, index, grade)
        second = expit(self.shift + self.slope * log_odds(self._judged(output, index, 1)))
        return second if grade == 1 else 1.0 - second

    def _judged(self, output: Grades, index: int, grade: int) -> NDArray[Any]:
        return np.asarray(doubted(class_column(output.judge, grade), self.doubts, index, len(output.grades)))

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief calibrated on these outcomes, shape (n, M), of all judged systems together."""
        logits, events, _ = self._odds_and_events(items, labels)
        fitted = calibrate_events(logits, events)
        return replace(self, shift=fitted.shift, slope=fitted.slope)

    def plausible(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return the belief under calibrations, and with lapses, that these outcomes, shape (n, M), leave possible."""
        logits, events, rows = self._odds_and_events(items, labels)
        return lapsing(self, plausible_events(logits, events, weights[rows], PLAUSIBLE))

    def _odds_and_events(
        self, items: Items, labels: NDArray[Any]
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]:
        """Return the judges' log odds of every second outcome that is known, whether it happened, and its row."""
        logits, events, rows = [np.zeros(0)], [np.zeros(0, dtype=np.bool_)], [np.zeros(0, dtype=np.int64)]
        for index, output in enumerate(cast(tuple[Grades, ...], items.models)):
            if output.judge is not None and output.binary:
                given = np.flatnonzero(np.isfinite(labels[:, index]))
                logits.append(log_odds(self._judged(output, index, 1))[given])
                events.append(labels[given, index] == output.grades[1])
                rows.append(given)
        return np.concatenate(logits), np.concatenate(events), np.concatenate(rows)
