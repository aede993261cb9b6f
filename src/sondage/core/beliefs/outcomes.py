r"""Beliefs about each system's own outcome.

Of two outcomes the log odds of the second are calibrated, :math:`a + b \, \mathrm{logit} \, p`, of all judged systems
together. Of more grades, in their order, labels tell how frequent each is, how sure the judges are, and that what is
likely graded high may be so by its neighbours too, of all judged systems with the same grades (`calibrate_grades`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from sondage.core.beliefs.classes import PLAUSIBLE, PLAUSIBLE_OF_SURE
from sondage.core.beliefs.columns import LEAST_TOLD, class_column, doubted, log_odds
from sondage.core.beliefs.lapses import lapsing
from sondage.core.beliefs.protocol import Distribution, Supposed
from sondage.core.calibration import (
    LAPSES,
    LAPSES_OF_UNSEEN,
    ByClass,
    Lapses,
    calibrate_events,
    calibrate_grades,
    plausible_events,
    plausible_lapses,
)
from sondage.core.learning import places
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
        Calibration of the log odds of the second of two outcomes.
    doubts : tuple of float
        Of every judge's probabilities the share that all grades get alike, from `doubt_of`; empty for none.
    grade_shifts : tuple of tuple of float
        Calibration of every system's grades (`ByClass`): empty where these are not more than two, and before any label.
    grade_slopes, grade_lifts : tuple of float
        The same of how sure its judge is, and of how high it grades.
    """

    uniform: bool = False
    shift: float = 0.0
    slope: float = 1.0
    doubts: tuple[float, ...] = ()
    grade_shifts: tuple[tuple[float, ...], ...] = ()
    grade_slopes: tuple[float, ...] = ()
    grade_lifts: tuple[float, ...] = ()

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
        if self.graded(index):
            return self._grades(items, index)[:, int(np.argsort(output.order)[grade])]
        if self.uniform or output.judge is None:
            return 1.0 / len(output.grades)
        if not output.binary or (self.shift, self.slope) == (0.0, 1.0):
            return self._judged(output, index, grade)
        second = expit(self.shift + self.slope * log_odds(self._judged(output, index, 1)))
        return second if grade == 1 else 1.0 - second

    def graded(self, index: int) -> bool:
        """Return whether a system has more than two grades of which labels told."""
        return bool(self.grade_shifts and self.grade_shifts[index])

    def _grades(self, items: Items, index: int) -> Floats:
        """Return the probabilities of a graded system's grades in their order, shape (n, k)."""

        def made() -> Floats:
            return np.asarray(softmax(self._logits(items, index), axis=1))

        return items.once((OutcomeBelief, index, self._follows_from(index)), made)

    def _follows_from(self, index: int) -> tuple[Any, ...]:
        """Return all that these follow from, beside the judge."""
        return (self.grade_shifts[index], self.grade_slopes[index], self.grade_lifts[index], self.doubts)

    def _logits(self, items: Items, index: int) -> Floats:
        """Return their logarithms, each row but for a constant, shape (n, k)."""
        logs = self._logs(items.outcomes(index), index, len(items))
        at = places(logs.shape[1])
        moved = self.grade_slopes[index] * logs + self.grade_shifts[index]
        return np.asarray(moved + np.multiply.outer(self.grade_lifts[index] * (np.exp(logs) @ at), at))

    def _logs(self, output: Grades, index: int, size: int) -> Floats:
        """Return the logarithms of what a judge says of grades in their order, shape (n, k); without one alike."""
        flat, order = 1.0 / len(output.grades), output.order.tolist()
        told = (flat if output.judge is None else self._judged(output, index, grade) for grade in order)
        columns = [np.broadcast_to(np.maximum(one, LEAST_TOLD, dtype=np.float64), size) for one in told]
        return np.asarray(np.log(np.stack(columns, axis=1)))

    def _judged(self, output: Grades, index: int, grade: int) -> NDArray[Any]:
        return np.asarray(doubted(class_column(output.judge, grade), self.doubts, index, len(output.grades)))

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief calibrated on these outcomes, shape (n, M)."""
        told = self._second_outcomes(items, labels)
        fitted = calibrate_events(told.log_odds, told.happened)
        by_grade = self._by_grade(items, labels)
        return replace(
            self,
            shift=fitted.shift,
            slope=fitted.slope,
            grade_shifts=tuple(one.shifts for one in by_grade),
            grade_slopes=tuple(one.slope for one in by_grade),
            grade_lifts=tuple(one.lift for one in by_grade),
        )

    def _by_grade(self, items: Items, labels: NDArray[Any]) -> list[ByClass]:
        """Return the calibration of every system's grades, that of all which have the same and a judge, or none."""
        alike: dict[Any, list[int]] = {}
        for index in range(len(items.models)):
            output = items.outcomes(index)
            if output.several and self._told(items, index):
                alike.setdefault((output.judge is None, *np.sort(output.grades)), []).append(index)
        found = [ByClass()] * len(items.models)
        for systems in alike.values():
            logs = np.concatenate([self._logs(items.outcomes(index), index, len(items)) for index in systems])
            of_all = labels[:, systems].T.ravel()
            given = np.isfinite(of_all)
            fitted = calibrate_grades(logs[given], items.outcomes(systems[0]).codes(of_all[given]))
            for index in systems:
                found[index] = fitted
        return found

    def _told(self, items: Items, index: int) -> bool:
        """Return whether anything tells items apart."""
        return items.outcomes(index).judge is not None and not self.uniform

    def plausible(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return the belief under calibrations, and with lapses, that these outcomes, shape (n, M), leave possible.

        Lapses alone of several grades, where no system has two.
        """
        return self._left_possible(items, labels, weights, PLAUSIBLE)

    def plausible_of_unseen(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return the same where outcomes that nobody has seen may be by chance."""
        return self._left_possible(items, labels, weights, PLAUSIBLE_OF_SURE, LAPSES_OF_UNSEEN)

    def _left_possible(
        self, items: Items, labels: NDArray[Any], weights: Floats, count: int, prior: Lapses = LAPSES
    ) -> Sequence[Distribution]:
        told = self._second_outcomes(items, labels)
        if len(told.rows):
            events = told.log_odds, told.happened, weights[told.rows]
            return lapsing(self, plausible_events(*events, count, prior=prior))
        graded = [index for index in range(len(items.models)) if self.graded(index)]
        parts = [self._surprised(items, labels[:, index], weights, index) for index in graded]
        chances, surprises, stood_for, by_chance = np.concatenate([np.zeros((4, 0)), *parts], axis=1)
        return lapsing(self, plausible_lapses(chances, surprises, stood_for, count, chance=by_chance, prior=prior))

    def _second_outcomes(self, items: Items, labels: NDArray[Any]) -> _Events:
        """Return the judges' log odds of every second outcome that is known, before calibration."""
        logits, events, rows = [np.zeros(0)], [np.zeros(0, dtype=np.bool_)], [np.zeros(0, dtype=np.int64)]
        for index, output in enumerate(cast(tuple[Grades, ...], items.models)):
            if output.judge is not None and output.binary:
                given = np.flatnonzero(np.isfinite(labels[:, index]))
                logits.append(log_odds(self._judged(output, index, 1))[given])
                events.append(labels[given, index] == output.grades[1])
                rows.append(given)
        return _Events(np.concatenate(logits), np.concatenate(events), np.concatenate(rows))

    def _surprised(self, items: Items, labels: NDArray[Any], weights: Floats, index: int) -> Floats:
        """Return the probabilities of known grades, of all but the likeliest, the weights and 1 / k, shape (4, m)."""
        given = np.flatnonzero(np.isfinite(labels))
        p, codes = self._grades(items, index)[given], items.outcomes(index).codes(labels[given])
        by_chance = np.full(len(given), 1.0 / p.shape[1])
        return np.stack([p[np.arange(len(given)), codes], 1.0 - p.max(axis=1), weights[given], by_chance])


class _Events(NamedTuple):
    """What judges said of events, shape (e,), whether these happened, and the rows that they are of."""

    log_odds: Floats
    happened: NDArray[np.bool_]
    rows: NDArray[np.int64]
