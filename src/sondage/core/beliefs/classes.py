"""Beliefs about classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sondage.core.beliefs.columns import LEAST_LEFT, LEAST_POOLED, LEAST_TOLD, class_column, doubted, log_odds
from sondage.core.beliefs.lapses import lapsing
from sondage.core.beliefs.protocol import Distribution, Supposed
from sondage.core.beliefs.votes import count_votes, voted_column
from sondage.core.calibration import (
    LAPSES,
    LAPSES_OF_SURE,
    LAPSES_OF_UNSEEN,
    Lapses,
    bent,
    calibrate_classes,
    calibrate_events,
    calibrate_sides,
    plausible_events,
)
from sondage.core.predictions import Floats, Items

__all__ = ["PLAUSIBLE", "PLAUSIBLE_OF_SURE", "ClassBelief", "Reference"]

PLAUSIBLE, PLAUSIBLE_OF_SURE = 30, 60
"""How many calibrations stand for those that labels leave possible."""
LABELS_OF_EACH = 10
"""Labels of each class, on average, from which ends of intervals count on what labels tell of all classes."""
MANY_MODELS = 10
"""Mixtures of so many models are computed once for the same items: a selection asks for them for every pair."""


@dataclass(frozen=True, eq=False)
class Reference:
    """The class of every item whose log odds are calibrated.

    Attributes
    ----------
    classes : ndarray of int, shape (n,)
        The class.
    log_odds : ndarray of float, shape (n,)
        Its log odds before calibration.
    columns : ndarray of float, shape (k, n)
        Every class's probability, where there are more than two.
    others : ndarray of float, shape (n,)
        The sum of all but that class's, `LEAST_LEFT` added to each.
    """

    classes: NDArray[Any]
    log_odds: Floats
    columns: Floats
    others: Floats

    def among_others(self, labels: NDArray[Any], rows: NDArray[np.int64]) -> Floats:
        """Return the shares of these rows' labels, which are other classes of more than two, among all others.

        A little of the uniform is in them: one surprise must not decide.
        """
        told = self.columns[labels[rows], rows] / self.others[rows]
        return np.asarray(0.99 * told + 0.01 / (len(self.columns) - 1))


class PerModel(tuple[Any, ...]):
    """What a belief has of each model: of hundreds it is hashed once, not at every use as a key."""

    def __new__(cls, values: Iterable[Any]) -> Self:
        return values if isinstance(values, cls) else super().__new__(cls, values)

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True)
class ClassBelief:
    r"""A mixture of class probabilities: of models, of a class prior, uniform (thesis 5.11, 4.2.2), pooled with judges.

    Where a share w is the judges', with the probabilities :math:`q_y`, and the rest a mixture :math:`p_y`, the belief
    is :math:`p_y^{1 - w} q_y^w` over its sum, the logarithmic opinion pool (C. Genest and J. V. Zidek, Combining
    probability distributions, Statistical Science, 1986, 114-135): log odds are averaged, not probabilities, so that a
    source that is sure says more than one that is not, and one that is hardly believed, little.

    Parameters
    ----------
    n_classes : int
        Number of classes k.
    models : tuple of (int, float)
        Model index and share.
    judge, uniform : float
        Shares of the judges' probabilities and of 1/k each.
    prior : tuple of float
        Class probabilities, times their share, that are the same for all items; empty for none.
    shift, slope : float
        Calibration of the log odds of the second of two classes, or of the most probable of several; the others
        keep their proportions.
    among : tuple of float
        Shares of the judges among themselves; empty for equal ones.
    votes : tuple of int
        Models that predict classes without probabilities: calibration then learns what their predictions mean.
    counts : tuple of tuple of int
        What it learned, from `count_votes`; empty before.
    sure : tuple of (int, float)
        Model index and share of models that are taken to be sure of their predictions.
    doubts, judge_doubts : tuple of float
        Of every model's and every judge's probabilities the share that all classes get alike, from `doubt_of`; empty
        for none.
    bend : float
        Of two classes: how much steeper the calibration is above even odds, and flatter below (`bent`).
    class_shifts, class_slope : tuple of float, float
        Of more than two classes: :math:`\alpha` and :math:`\beta` of :math:`p_y^\beta e^{\alpha_y}` over its sum, which
        is calibrated before the most probable is (`calibrate_classes`); no shifts before any label.

    Examples
    --------
    >>> from sondage.core.predictions import Classes
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
    among: tuple[float, ...] = ()
    votes: tuple[int, ...] = ()
    counts: tuple[tuple[int, ...], ...] = ()
    sure: tuple[tuple[int, float], ...] = ()
    doubts: tuple[float, ...] = ()
    judge_doubts: tuple[float, ...] = ()
    bend: float = 0.0
    class_shifts: tuple[float, ...] = ()
    class_slope: float = 1.0

    def __post_init__(self) -> None:
        for name in ("models", "votes", "counts", "sure", "doubts"):
            object.__setattr__(self, name, PerModel(getattr(self, name)))

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield every class code with its probability, shape (n,)."""
        if self.as_given:
            yield from enumerate(self._columns(items))
        else:
            yield from self._moved_columns(items)

    @property
    def _mixture(self) -> tuple[Any, ...]:
        """All that the reference's probabilities follow from: what is computed of them is kept under it."""
        sources = (self.models, self.sure, self.uniform, self.prior, self.doubts, self.votes, self.counts)
        calibrated = (self.class_shifts, self.class_slope)
        return (self.n_classes, *sources, self.judge, self.among, self.judge_doubts, *calibrated)

    @property
    def as_given(self) -> bool:
        """Whether probabilities are left as they are."""
        return (self.shift, self.slope, self.bend) == (0.0, 1.0, 0.0) and not self.class_shifts

    @property
    def sided(self) -> bool:
        """Whether each of two classes has a slope of its own: one model is believed, and nobody else."""
        others = bool(self.judge or self.uniform or self.prior or self.sure)
        return self.n_classes == 2 and len(self.models) == 1 and not others

    @property
    def by_class(self) -> bool:
        """Whether labels tell how frequent each of several classes is, and how sure its sources are of all of them."""
        return self.n_classes > 2

    def _moved_columns(self, items: Items) -> Iterator[Supposed]:
        """Yield every class code with its probability after the reference class's log odds are moved."""
        reference = self.reference(items)
        moved = expit(self._moved(items, reference))
        if self.n_classes == 2:
            yield from ((0, 1.0 - moved), (1, moved))
            return
        rest = (1.0 - moved) / reference.others
        for label, column in enumerate(reference.columns):
            yield label, np.where(reference.classes == label, moved, (column + LEAST_LEFT) * rest)

    def right(self, items: Items, predicted: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the probability of more than two classes' predicted one, and of all others, shape (n,) each."""
        if self.as_given:
            return _hits(predicted, self._columns(items))
        reference = self.reference(items)
        moved = expit(self._moved(items, reference))
        own = reference.columns[predicted, np.arange(len(items))] + LEAST_LEFT
        hit = np.where(reference.classes == predicted, moved, own * ((1.0 - moved) / reference.others))
        return hit, 1.0 - hit

    def _moved(self, items: Items, reference: Reference) -> Floats:
        """Return the log odds of the reference class after calibration, shape (n,)."""
        return self.shift + self.slope * bent(reference.log_odds, self.bend)

    def reference(self, items: Items) -> Reference:
        """Return the class of every item whose log odds are calibrated: the second of two, else the most probable."""
        return items.once((Reference, self._mixture), lambda: self._reference(items))

    def _reference(self, items: Items) -> Reference:
        if self.n_classes == 2:
            second = np.broadcast_to(self.probability(items, 1), len(items))
            nothing = np.empty((0, len(items)))
            return Reference(np.ones(len(items), dtype=np.int64), log_odds(second), nothing, nothing)
        columns, classes = np.empty((self.n_classes, len(items))), np.zeros(len(items), dtype=np.int64)
        largest, rows = np.full(len(items), -1.0), np.arange(len(items))
        for label, column in enumerate(self._columns(items)):
            columns[label] = column
            np.copyto(classes, label, where=column > largest)
            np.maximum(largest, column, out=largest)
        columns[classes, rows] = 0.0
        others = columns.sum(axis=0) + (self.n_classes - 1) * LEAST_LEFT
        columns[classes, rows] = largest
        return Reference(classes, log_odds(largest), columns, others)

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief calibrated on these class codes, shape (n,); without probabilities, their table."""
        if self.votes:
            return replace(self, counts=count_votes(self.votes, items, labels))
        own = self._calibrated_by_class(items, labels) if self.by_class else self
        fitted = (calibrate_sides if self.sided else calibrate_events)(*own._odds_and_events(items, labels))
        return replace(own, shift=fitted.shift, slope=fitted.slope, bend=fitted.bend)

    def _calibrated_by_class(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief with the shift of every class, and their common slope, that these labels ask for."""
        told = [np.broadcast_to(column, len(items)) for column in self._told(items)]
        found = calibrate_classes(np.log(np.stack(told, axis=1)), labels)
        return replace(self, class_shifts=found.shifts, class_slope=found.slope)

    def plausible(
        self, items: Items, labels: NDArray[Any], weights: Floats, rows: Any = slice(None)
    ) -> Sequence[Distribution]:
        """Return the belief under calibrations, and with lapses, that these class codes, shape (n,), leave possible.

        Those of some rows may be asked alone: what is believed of them is computed once for all rows.
        """
        if self.votes:
            return (self,)
        odds, events = (column[rows] for column in self._odds_and_events(items, labels))
        return self._bent_by(odds, events)._left_possible(odds, events, weights[rows], PLAUSIBLE)

    def plausible_of_sure(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return the same where items decide that are all but certain: more points, more lapses, and a single slope."""
        if self.votes:
            return (self,)
        one = replace(self, bend=0.0, class_shifts=())  # one slope of all classes would have sure items less sure
        return one._left_possible(*one._odds_and_events(items, labels), weights, PLAUSIBLE_OF_SURE, LAPSES_OF_SURE)

    def plausible_of_unseen(
        self, items: Items, labels: NDArray[Any], weights: Floats, *, wrong_differ: bool = False
    ) -> Sequence[Distribution]:
        """Return the same where items that nobody has seen may be wrong by chance, as labels are.

        Where it matters which class is wrong, labels tell whether that is by chance too, or in believed proportions.
        """
        if self.votes:
            return (self,)
        told = self.class_shifts if len(labels) >= LABELS_OF_EACH * self.n_classes else ()
        one = replace(self, bend=0.0, class_shifts=told)
        (odds, events), offsets = one._odds_and_events(items, labels), one._told_by_others(items, labels)
        among = one._among_others(items, labels, events) if wrong_differ and self.n_classes > 2 else None
        return one._left_possible(odds, events, weights, PLAUSIBLE_OF_SURE, LAPSES_OF_UNSEEN, offsets, among)

    def _among_others(self, items: Items, labels: NDArray[Any], events: NDArray[np.bool_]) -> Floats:
        """Return the share of every label that is not the reference class among all others, shape (n,); 1 of it."""
        found, missed = np.ones(len(labels)), np.flatnonzero(~events)
        found[missed] = self.reference(items).among_others(labels, missed)
        return found

    def _told_by_others(self, items: Items, labels: NDArray[Any]) -> Floats | None:
        """Return what is added to the calibrated log odds, shape (n,): nothing, since nobody else is asked."""
        return None

    def _bent_by(self, odds: Floats, events: NDArray[np.bool_]) -> Self:
        """Return the belief with the bend that these labels alone ask for."""
        return replace(self, bend=calibrate_sides(odds, events).bend if self.sided else 0.0)

    def _left_possible(
        self,
        odds: Floats,
        events: NDArray[np.bool_],
        weights: Floats,
        count: int,
        prior: Lapses = LAPSES,
        offsets: Floats | None = None,
        among: Floats | None = None,
    ) -> tuple[Distribution, ...]:
        own, chance = bent(odds, self.bend), 1.0 / self.n_classes
        points = plausible_events(own, events, weights, count, offsets=offsets, chance=chance, prior=prior, among=among)
        return lapsing(self, points)

    def _odds_and_events(self, items: Items, labels: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the log odds of the reference classes, and whether the labels are these."""
        reference = self.reference(items)
        return reference.log_odds, labels == reference.classes

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield every class code."""
        yield from range(self.n_classes)

    @property
    def others(self) -> float:
        """The share of all but the judges."""
        return sum(share for _, share in (*self.models, *self.sure)) + self.uniform + sum(self.prior)

    def probability(self, items: Items, label: int) -> NDArray[Any]:
        """Return the believed probability of one class before calibration, shape (n,)."""
        if self.counts:
            return voted_column(self.counts, self.votes, self.n_classes, items, label)
        if not self.judge:
            return self._mixed(items, label)
        if not self.others:
            return self._judged(items, label)
        return self._product(items, label) / self._products(items)

    def _columns(self, items: Items) -> Iterator[NDArray[Any]]:
        """Yield the believed probability of every class before that of the reference is calibrated, shape (n,) each."""
        if not self.class_shifts:
            yield from self._mixtures(items)
            return
        told = zip(self.class_shifts, self._told(items), strict=True)
        columns = [np.exp(shift) * p**self.class_slope for shift, p in told]
        total = sum(columns)
        yield from (column / total for column in columns)

    def _mixtures(self, items: Items) -> Iterator[NDArray[Any]]:
        """Yield the believed probability of every class before calibration, shape (n,) each."""
        if self.judge and self.others and not self.counts:  # the sum once, not once for every class
            total = self._products(items)
            yield from (self._product(items, label) / total for label in range(self.n_classes))
        else:
            yield from (self.probability(items, label) for label in range(self.n_classes))

    def _told(self, items: Items) -> Iterator[Floats]:
        """Yield the same, of which logarithms may be taken, shape (n,) each."""
        return (np.maximum(column, LEAST_TOLD, dtype=np.float64) for column in self._mixtures(items))

    def _products(self, items: Items) -> Floats:
        return np.asarray(sum(self._product(items, label) for label in range(self.n_classes)))

    def _product(self, items: Items, label: int) -> Floats:
        """Return what judges and models say of one class, their log probabilities averaged, times a constant."""
        w = self.judge / (self.judge + self.others)
        models = np.maximum(self._mixed(items, label) / self.others, LEAST_POOLED, dtype=np.float64)
        judges = np.maximum(self._judged(items, label), LEAST_POOLED, dtype=np.float64)
        return np.asarray(models ** (1.0 - w) * judges**w)

    def _mixed(self, items: Items, label: int) -> NDArray[Any]:
        """Return what all but the judges say of one class, times their share."""
        if len(self.models) + len(self.sure) < MANY_MODELS:
            return self._sum(items, label)
        return items.once((label, self._mixture), lambda: self._sum(items, label))

    def _sum(self, items: Items, label: int) -> NDArray[Any]:
        """Return the sum of what they say, in their shares."""
        sources = [(share, self._column(items, index, label)) for index, share in self.models]
        sources += [(share, items.classes(m).predictions == label) for m, share in self.sure]
        flat = self.uniform / self.n_classes + (self.prior[label] if self.prior else 0.0)
        return _weighted(sources, flat, len(items))

    def _judged(self, items: Items, label: int) -> NDArray[Any]:
        """Return what the judges say of one class, in their shares."""
        shares = self.among or (1.0 / len(items.judges),) * len(items.judges)
        told = [(share, self._judge_column(items, index, label)) for index, share in enumerate(shares) if share]
        return _weighted(told, 0.0, len(items))

    def _column(self, items: Items, index: int, label: int) -> NDArray[Any]:
        column = class_column(items.classes(index).probabilities, label)
        return np.asarray(doubted(column, self.doubts, index, self.n_classes))

    def _judge_column(self, items: Items, index: int, label: int) -> NDArray[Any]:
        return np.asarray(doubted(class_column(items.judges[index], label), self.judge_doubts, index, self.n_classes))


def _hits(predicted: NDArray[Any], columns: Iterable[NDArray[Any]]) -> tuple[Floats, Floats]:
    """Return what these columns, one a class, have at the predicted class, and the sum of all others."""
    hit, others, part = np.zeros(len(predicted)), np.zeros(len(predicted)), np.empty(len(predicted))
    for label, column in enumerate(columns):
        np.multiply(column, predicted == label, out=part)
        hit += part
        np.subtract(column, part, out=part)  # exact: the column, or 0
        others += part
    return hit, others


def _weighted(sources: Sequence[tuple[float, NDArray[Any]]], flat: float, size: int) -> NDArray[Any]:
    """Return the sum of shares times columns, and a number; a single column of share 1 is not copied."""
    if not sources:
        return np.broadcast_to(flat, size)
    total = sources[0][1] if sources[0][0] == 1 else sources[0][0] * sources[0][1]
    for share, column in sources[1:]:
        total = total + share * column
    return total + flat if flat else total
