"""What we expect the labels to be.

A belief supposes labels: for every item a few labels with weights that sum to 1. Classes are supposed one by
one; a Gaussian by the nodes of a Gauss-Hermite rule, exact for polynomial losses, and split at the points where
a loss has a kink; outcomes by every combination of the grades of the systems concerned. Expectations of whatever
a measure computes from labels are then plain weighted sums, and nothing else in `core` knows of distributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr

from sondage.core.calibration import calibrate_events, calibrate_variances
from sondage.core.predictions import Classes, Floats, Grades, Items, Means
from sondage.errors import InputError

__all__ = ["Belief", "ClassBelief", "GaussianBelief", "OutcomeBelief", "Supposed"]

NARROW = 0.004
Supposed = tuple[Any, Any]


class Belief(Protocol):
    """A distribution over labels for every item, as data that a pool engine can also express in its own way."""

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield (label, weight) pairs; over all pairs an item's weights sum to 1."""
        ...

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield labels that are possible whatever the belief says: enough of them to tell whether a label matters."""
        ...

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Belief:
        """Return the belief with its calibration fitted to these labels."""
        ...


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
    votes : tuple of (int, float)
        Model index and share of models that are taken to be sure of their predictions.

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
    votes: tuple[tuple[int, float], ...] = ()

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
            second = expit(self.shift + self.slope * _logit(self.probability(items, 1)))
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
            return columns, np.ones(len(items), dtype=np.int64), _logit(columns[1])
        stacked = np.stack(columns)
        reference = stacked.argmax(axis=0)
        return columns, reference, _logit(stacked[reference, np.arange(len(items))])

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
        sources += [(share, cast(Classes, items.models[m]).predictions == label) for m, share in self.votes]
        if self.judge:
            sources.append((self.judge, _class_column(items.judge, label)))
        flat = self.uniform / self.n_classes + (self.prior[label] if self.prior else 0.0)
        if not sources:
            return np.broadcast_to(flat, len(items))
        total = sources[0][1] if sources[0][0] == 1 else sources[0][0] * sources[0][1]
        for share, column in sources[1:]:
            total = total + share * column
        return total + flat if flat else total

    @staticmethod
    def _column(items: Items, index: int, label: int) -> NDArray[Any]:
        return _class_column(cast(Classes, items.models[index]).probabilities, label)


def _logit(probabilities: NDArray[Any]) -> Floats:
    """Return log odds, probabilities clipped to [1e-12, 1 - 1e-12]."""
    return np.asarray(logit(np.clip(probabilities, 1e-12, 1.0 - 1e-12)), dtype=np.float64)


def _class_column(probabilities: NDArray[Any] | None, label: int) -> NDArray[Any]:
    """Return a class's column; one-dimensional probabilities are those of the second class."""
    if probabilities is None:
        raise InputError("this belief needs class probabilities, and there are none")
    if probabilities.ndim == 2:
        return probabilities[:, label]
    return probabilities if label == 1 else 1.0 - probabilities


@dataclass(frozen=True)
class GaussianBelief:
    r"""A mixture of Gaussians :math:`N(f_j, \tau_j^2)` (thesis 5.13).

    Parameters
    ----------
    models : tuple of (int, float)
        Model index and share.
    peaked : bool
        Variances taken as 0 (the limit :math:`\tau \to 0` of section 5.2.2).
    broad : bool
        Variances infinitely large and equal (:math:`\tau \to \infty`). Designs use the leading coefficient of the
        influence; expectations are taken at unit variance, which is the same up to scale.
    shift, slope : float
        Calibration: a variance v becomes :math:`e^a v^b`.
    """

    models: tuple[tuple[int, float], ...]
    peaked: bool = False
    broad: bool = False
    shift: float = 0.0
    slope: float = 1.0

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield quadrature nodes (n,) and weights; exact for polynomials of degree 2 nodes - 1 between kinks."""
        for index, share in self.models:
            output = cast(Means, items.models[index])
            mean = np.asarray(output.means, dtype=np.float64)
            deviation = self._deviation(output)
            if self.peaked:
                yield mean, share
            elif kinks:
                for label, weight in _split_nodes(mean, deviation, kinks):
                    yield label, share * weight
            else:
                points, weights = np.polynomial.hermite_e.hermegauss(nodes)
                for point, weight in zip(points, weights / weights.sum(), strict=True):
                    yield mean + point * deviation, share * weight

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield three points, which tell any quadratic from a constant, and the models' means."""
        yield from (-1.0, 0.0, 1.0)
        yield from (cast(Means, items.models[model]).means for model in models)

    def _deviation(self, output: Means) -> Floats | float:
        if self.broad or self.peaked:
            return 1.0
        if output.variances is None:
            raise InputError("this belief needs predictive variances, and there are none")
        variances = np.asarray(output.variances, dtype=np.float64)
        if (self.shift, self.slope) == (0.0, 1.0):
            return np.sqrt(variances)
        return np.asarray(np.exp(0.5 * self.shift) * np.maximum(variances, 1e-300) ** (0.5 * self.slope))

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Belief:
        """Return the belief with variances calibrated on these numbers, shape (n,); a limit stays as it is."""
        if self.peaked or self.broad:
            return self
        outputs = [cast(Means, items.models[index]) for index, _ in self.models]
        variances = [np.maximum(np.asarray(output.variances, dtype=np.float64), 1e-300) for output in outputs]
        squares = [(labels - output.means) ** 2 for output in outputs]
        fitted = calibrate_variances(np.concatenate(variances), np.concatenate(squares) + 1e-300)
        return replace(self, shift=fitted.shift, slope=fitted.slope)


def _split_nodes(mean: Floats, deviation: Floats | float, kinks: Sequence[NDArray[Any]]) -> Iterator[Supposed]:
    """Yield two nodes for each interval between kinks, exact for polynomials of degree 3 on every interval."""
    safe = np.maximum(deviation, 1e-300)
    with np.errstate(over="ignore"):
        ends = np.sort(np.stack([np.clip((kink - mean) / safe, -40.0, 40.0) for kink in kinks]), axis=0)
    edge = np.full((1, len(mean)), np.inf)
    bounds = np.concatenate([-edge, ends, edge])
    for low, high in pairwise(bounds):
        for point, weight in _truncated_pair(low, high):
            yield mean + point * deviation, weight


def _truncated_pair(low: Floats, high: Floats) -> Iterator[Supposed]:
    """Yield the two-node Gauss rule of a standard normal truncated to [low, high], from its first four moments.

    Moments of a narrow interval cancel; there the Gauss-Legendre nodes have the density as their weight.
    """
    low_end, high_end = np.clip(low, -40.0, 40.0), np.clip(high, -40.0, 40.0)
    density_low, density_high = _density(low_end), _density(high_end)
    mass = np.where(low_end > 0, ndtr(-low_end) - ndtr(-high_end), ndtr(high_end) - ndtr(low_end))
    safe = np.maximum(mass, 1e-300)
    first = (density_low - density_high) / safe
    second = 1.0 + (low_end * density_low - high_end * density_high) / safe
    third = ((low_end**2 + 2) * density_low - (high_end**2 + 2) * density_high) / safe
    usable = mass > 1e-12
    mean = np.where(usable, first, np.clip(0.0, low_end, high_end))
    variance = np.where(usable, np.maximum(second - mean**2, 1e-12), 1e-12)
    skew = np.where(usable, (third - 3 * mean * second + 2 * mean**3) / variance**1.5, 0.0)
    root = np.sqrt(1.0 + skew**2 / 4)
    half = (high_end - low_end) / 2
    narrow = half < NARROW
    for sign in (-1.0, 1.0):
        legendre = low_end + half * (1.0 + sign / np.sqrt(3.0))
        point = np.where(narrow, legendre, mean + np.sqrt(variance) * (skew / 2 + sign * root))
        yield point, np.where(narrow, half * _density(legendre), mass * 0.5 * (1.0 - sign * skew / 2 / root))


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))


@dataclass(frozen=True)
class OutcomeBelief:
    """Independent outcomes of the systems: a judge's probabilities of the grades, or uniform.

    Parameters
    ----------
    uniform : bool
        Ignore the judges.
    shift, slope : float
        Calibration of the log odds of the second of two outcomes; several grades stay as they are.
    """

    uniform: bool = False
    shift: float = 0.0
    slope: float = 1.0

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield label vectors over all systems (NaN for those not concerned) and weights (n,)."""
        concerned = sorted(set(models))
        outputs = [cast(Grades, items.models[index]) for index in concerned]
        for choice in product(*(range(len(output.grades)) for output in outputs)):
            label = np.full(len(items.models), np.nan)
            weight: Any = 1.0
            for index, output, grade in zip(concerned, outputs, choice, strict=True):
                label[index] = output.grades[grade]
                weight = weight * self._probability(output, grade)
            yield label, weight

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield every combination of the systems' grades."""
        yield from (label for label, _ in self.supposed(items, models))

    def _probability(self, output: Grades, grade: int) -> Any:
        if self.uniform or output.judge is None:
            return 1.0 / len(output.grades)
        column = _class_column(output.judge, grade)
        if len(output.grades) != 2 or (self.shift, self.slope) == (0.0, 1.0):
            return column
        second = expit(self.shift + self.slope * _logit(_class_column(output.judge, 1)))
        return second if grade == 1 else 1.0 - second

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Belief:
        """Return the belief calibrated on these outcomes, shape (n, M), of all judged systems together."""
        logits, events = [np.zeros(0)], [np.zeros(0, dtype=np.bool_)]
        for index, output in enumerate(cast(tuple[Grades, ...], items.models)):
            if output.judge is not None and len(output.grades) == 2:
                given = np.isfinite(labels[:, index])
                logits.append(_logit(_class_column(output.judge, 1))[given])
                events.append(labels[given, index] == output.grades[1])
        fitted = calibrate_events(np.concatenate(logits), np.concatenate(events))
        return replace(self, shift=fitted.shift, slope=fitted.slope)
