r"""The item statistics :math:`s(o_i, y_i)` that measures are made of.

A measure is a function :math:`g(\mu)` of the pool means :math:`\mu = \sum_i b_i s(o_i, y_i)`. Here stand the few
forms of :math:`s`; each knows two things: the weighted total of :math:`s` over items, and its inner product with
given coefficients. Engines other than NumPy interpret the same forms, so that no measure is written twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats, Items, class_probabilities
from sondage.errors import MeasureError

__all__ = [
    "LOG_CLIP",
    "ROUNDING",
    "Basis",
    "ClassLoss",
    "Confusion",
    "OneLoss",
    "OutcomeValue",
    "OwnLoss",
    "Plain",
    "Residuals",
    "Shares",
    "clean_sum",
    "rounded",
    "spread_unevenly",
    "unlike",
]

LOG_CLIP = 1e-15
"""How near to 0 and 1 a probability may be in the log loss."""
ROUNDING = 1e-12
"""What is smaller, of the pool or of the terms of a sum, is what rounding leaves where one is taken off the other."""
LARGEST_LOSS = 1e100
"""Of a user's function, either way: squares of it are squared."""
MOST_DIGITS = 300
"""Behind the point, of rounded numbers: ten to as many is still a number."""


class Basis(Protocol):
    """One form of item statistic; labels may be (n,), or one supposed label for all items."""

    @property
    def name(self) -> str:
        """Names the statistic among those of one task; sums are kept under it."""
        ...

    @property
    def nodes(self) -> int:
        """Gauss-Hermite nodes needed for an exact second moment."""
        ...

    @property
    def of_labels(self) -> Floats | None:
        """Which entries labels tell without a prediction, 1 or 0; None where there are none."""
        ...

    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats:
        r"""Return :math:`\sum_i w_i s(o_i, y_i)`."""
        ...

    def without_rounding(self, mu: Floats) -> Floats:
        """Return pool means without what is only rounding."""
        ...

    def rounded(self, mu: Floats) -> Floats:
        """Return pool means so rounded that every engine continues with the same coefficients."""
        ...

    def improved(self, mu: Floats) -> Floats:
        """Return pool means if the same predictions were right more often; as they are where that is not known."""
        ...

    def uneven(self, mu: Floats) -> Floats:
        """Return pool means of the same outputs with labels of no pattern; as they are where that is not known."""
        ...

    def believed(self, items: Items, model: int, supposed: Iterable[tuple[Any, Any]]) -> Floats:
        """Return the sum of the totals over supposed (label, weight)."""
        ...

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        r"""Return :math:`\langle a, s(o_i, y_i) \rangle`, a new array of shape (n,)."""
        ...

    def kinks(self, items: Items, model: int, coefficients: Floats) -> Sequence[NDArray[Any]]:
        """Return the labels at which the projection is not smooth."""
        ...


class Plain(ABC):
    """What most bases have in common: three nodes, enough for the square of a quadratic, predictions, and no kinks."""

    nodes = 3
    of_labels: Floats | None = None

    @abstractmethod
    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats: ...

    def without_rounding(self, mu: Floats) -> Floats:
        return mu

    def rounded(self, mu: Floats) -> Floats:
        return rounded(mu)

    def improved(self, mu: Floats) -> Floats:
        return mu

    def uneven(self, mu: Floats) -> Floats:
        return mu

    def believed(self, items: Items, model: int, supposed: Iterable[tuple[Any, Any]]) -> Floats:
        return np.asarray(sum(self.totals(items, model, label, weight) for label, weight in supposed))

    def kinks(self, items: Items, model: int, coefficients: Floats) -> Sequence[NDArray[Any]]:
        return ()


def unlike(count: int) -> Floats:
    """Return so many numbers between 0 and 1 without a pattern: whole parts off the golden ratio's multiples.

    Examples
    --------
    >>> unlike(3).round(3).tolist()
    [0.618, 0.236, 0.854]
    """
    return np.asarray(np.arange(1.0, count + 1.0) * ((np.sqrt(5.0) - 1.0) / 2.0) % 1.0)


def spread_unevenly(mu: Floats) -> Floats:
    """Return a table with each row's sum spread over its columns in shares of no pattern.

    Examples
    --------
    >>> spread_unevenly(np.array([[0.25, 0.25], [0.5, 0.0]])).round(3).tolist()
    [[0.283, 0.217], [0.279, 0.221]]
    """
    shares = 1.0 + unlike(mu.size).reshape(mu.shape)
    return np.asarray(mu.sum(axis=1, keepdims=True) * shares / shares.sum(axis=1, keepdims=True))


def clean_sum(terms: Floats, axis: int | None = None) -> Floats:
    """Return a sum, 0 where nothing but rounding is left of terms that take each other off.

    Examples
    --------
    >>> clean_sum(np.array([[0.1, 0.5], [0.2, 0.25], [-0.3, 0.25]]), axis=0).tolist()
    [0.0, 1.0]
    """
    total = np.sum(terms, axis=axis)
    return np.where(np.abs(total) > ROUNDING * np.sum(np.abs(terms), axis=axis), total, 0.0)


def rounded(values: Floats) -> Floats:
    """Return values rounded to 9 significant digits, so that every engine continues with the same coefficients.

    Examples
    --------
    >>> rounded(np.array([1 / 3, 1e9 / 7, -np.inf])).tolist()
    [0.333333333, 142857143.0, -inf]
    >>> rounded(np.array([1.25e-290, 1e-304])).tolist()
    [1.25e-290, 0.0]
    """
    values = np.asarray(values, dtype=np.float64)
    told = np.isfinite(values) & (values != 0)
    number = np.where(told, values, 1.0)
    scale = 10.0 ** np.minimum(8 - np.floor(np.log10(np.abs(number))), MOST_DIGITS)
    return np.where(told, np.round(number * scale) / scale, values + 0.0)


class Shares(Plain):
    """What bases share whose means are shares of the pool: a class that no item has is there with a share of 0."""

    def without_rounding(self, mu: Floats) -> Floats:
        return np.where(np.abs(mu) > ROUNDING, mu, 0.0)


@dataclass(frozen=True)
class Confusion(Shares):
    """Indicator of (prediction, label): the totals are the confusion matrix, shape (k, k), predictions in rows.

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([0, 1, 1]), None),), np.ones(3))
    >>> Confusion(2).totals(items, 0, np.array([0, 0, 1]), np.ones(3)).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    n_classes: int
    name = "confusion"

    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats:
        if np.ndim(label) == 0:
            return self.believed(items, model, [(label, weight)])
        k, predicted = self.n_classes, items.classes(model).predictions
        cells = np.multiply(predicted, k, dtype=np.int64) + label
        counts = np.bincount(cells, weights=weight, minlength=k * k)
        return counts.reshape(k, k).astype(np.float64, copy=False)

    def believed(self, items: Items, model: int, supposed: Iterable[tuple[Any, Any]]) -> Floats:
        k, table = self.n_classes, np.zeros((self.n_classes, self.n_classes))
        # Four bins a class in turn: an addition need not wait for the one before.
        bins = items.classes(model).predictions.astype(np.intp) * 4
        bins += np.arange(len(items)) & 3
        for label, weight in supposed:
            table[:, label] += np.bincount(bins, weights=weight, minlength=4 * k).reshape(k, 4).sum(axis=1)
        return table

    def evened(self, totals: Floats) -> Floats:
        """Return the totals if each label were as likely as the others: the same predictions, spread evenly."""
        return np.broadcast_to(totals.mean(axis=1, keepdims=True), totals.shape)

    def improved(self, mu: Floats) -> Floats:
        rises = unlike(len(mu))[:, None]
        return np.asarray((1.0 - rises) * mu + rises * np.diag(mu.sum(axis=1)))

    def uneven(self, mu: Floats) -> Floats:
        return spread_unevenly(mu)

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        predicted = items.classes(model).predictions
        if np.ndim(label) == 0:
            return np.ascontiguousarray(coefficients[:, label]).take(predicted)
        return np.asarray(coefficients[predicted, label])


class OneLoss(Plain):
    """What bases share that are one loss of each item, shape (1,)."""

    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats:
        return np.array([np.sum(weight * self._loss(items, model, label))])

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        return np.asarray(coefficients[0] * self._loss(items, model, label))

    @abstractmethod
    def _loss(self, items: Items, model: int, label: Any) -> Floats:
        """Return the loss of each item, shape (n,)."""


@dataclass(frozen=True)
class ClassLoss(OneLoss):
    """A proper loss of the class probabilities: ``"log"`` (clipped at 1e-15) or ``"brier"``; shape (1,)."""

    kind: str

    @property
    def name(self) -> str:
        return self.kind

    def _loss(self, items: Items, model: int, label: Any) -> Floats:
        p = items.classes(model).probabilities
        if p is None:
            raise MeasureError(f"{self.kind} loss needs class probabilities; this model has predictions only")
        binary = p.ndim == 1 or p.shape[1] == 2
        squares = None if binary else partial(items.once, (ClassLoss, model), partial(_sums_of_squares, p))
        return _CLASS_LOSSES[self.kind](class_probabilities(p, label), squares)


Squares = Callable[[], Floats] | None
"""Sums of the squares of more than two classes' probabilities, shape (n,), when they are asked for."""


def _log_loss(told: Floats, squares: Squares) -> Floats:
    """Return the loss of each item whose label was told with this probability."""
    return np.asarray(-np.log(np.clip(told, LOG_CLIP, 1.0 - LOG_CLIP)))


def _brier_loss(told: Floats, squares: Squares) -> Floats:
    """Binary: (p - y)^2; more classes: the sum over classes, as scikit-learn has it."""
    return np.square(1.0 - told) if squares is None else np.asarray(1.0 - 2.0 * told + squares())


def _sums_of_squares(p: NDArray[Any]) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", p, p, dtype=np.float64))


_CLASS_LOSSES: dict[str, Callable[[Floats, Squares], Floats]] = {"log": _log_loss, "brier": _brier_loss}


@dataclass(frozen=True)
class Residuals(Plain):
    """Regression statistics ((y-f)^2, f-y, |y-f|, y-c, (y-c)^2), shape (5,); means over the pool make every measure.

    The centre c is 0, but for labels that are all far from it.
    """

    centre: float = 0.0
    of_labels = np.array([0.0, 0.0, 0.0, 1.0, 1.0])

    @property
    def name(self) -> str:
        return f"residuals about {self.centre!r}" if self.centre else "residuals"

    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats:
        residual, label = self._residual(items, model, label)
        columns = (residual**2, residual, np.abs(residual), label, label**2)
        return np.array([np.sum(weight * column) for column in columns])

    def rounded(self, mu: Floats) -> Floats:
        """Of labels far from c the mean square is known by their variance, which 9 of its digits may not tell."""
        found, variance = rounded(mu), rounded(mu[4:] - mu[3] ** 2)
        return np.append(found[:4], found[3] ** 2 + variance)

    def improved(self, mu: Floats) -> Floats:
        return np.asarray(mu * np.array([0.5, 1.0, 1.0, 1.0, 1.0]))

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        residual, label = self._residual(items, model, label)
        square, plain, absolute, first, second = (float(a) for a in coefficients)
        value = (square * residual + plain) * residual
        if absolute:
            value = value + absolute * np.abs(residual)
        return value + (second * label + first) * label if first or second else value

    def kinks(self, items: Items, model: int, coefficients: Floats) -> Sequence[NDArray[Any]]:
        return (items.means(model).means,) if coefficients[2] else ()

    def _residual(self, items: Items, model: int, label: Any) -> tuple[Floats, Floats]:
        """Return f - y and y - c."""
        label = np.asarray(label, dtype=np.float64)
        return items.means(model).means - label, label - self.centre if self.centre else label


@dataclass(frozen=True)
class OutcomeValue(Plain):
    """The system's own outcome, shape (1,); a label holds one outcome for each system."""

    name = "outcome"

    def totals(self, items: Items, model: int, label: Any, weight: Any) -> Floats:
        return np.array([np.sum(weight * label[..., model])])

    def project(self, items: Items, model: int, label: Any, coefficients: Floats) -> NDArray[Any]:
        return np.asarray(np.zeros(len(items)) + coefficients[0] * label[..., model])


@dataclass(frozen=True, eq=False)
class OwnLoss(OneLoss):
    """A user's loss ``function(outputs, labels) -> (n,)``, shape (1,).

    `outputs` are predicted classes or means, `labels` classes or numbers; classes are passed as the user named
    them, `classes` being their array.
    """

    function: Callable[[NDArray[Any], NDArray[Any]], Any]
    classes: NDArray[Any] | None = None
    name: str = "own loss"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    nodes = 15

    def _loss(self, items: Items, model: int, label: Any) -> Floats:
        label = np.broadcast_to(label, len(items))
        try:
            if self.classes is None:
                loss = self.function(items.means(model).means, label)
            else:
                loss = self.function(self.classes[items.classes(model).predictions], self.classes[label])
        except Exception as error:
            error.add_note("a loss function is called with n outputs and n labels, arrays both; it returns n losses")
            raise
        if np.iscomplexobj(loss):
            raise MeasureError("a loss function returned complex numbers; a loss has no imaginary part")
        try:
            loss = np.asarray(loss, dtype=np.float64)
        except (TypeError, ValueError):
            kind = type(loss).__name__
            raise MeasureError(
                f"a loss function returned a {kind} of no numbers; it must return {len(items)}"
            ) from None
        if loss.shape != (len(items),):
            raise MeasureError(f"a loss function must return {len(items)} finite numbers, not shape {loss.shape}")
        allowed = np.abs(loss) <= LARGEST_LOSS
        if not allowed.all():
            self._refuse(loss, label, allowed, f"finite, at most {LARGEST_LOSS:g} either way")
        if self.classes is not None:  # numbers that are only supposed may be beyond any that there are
            low, high = self.bounds
            slack = ROUNDING * max((abs(end) for end in self.bounds if np.isfinite(end)), default=0.0)
            inside = (loss >= low - slack) & (loss <= high + slack)
            if not inside.all():
                self._refuse(loss, label, inside, f"from {low:g} to {high:g}, its bounds")
        return loss

    def _refuse(self, loss: Floats, label: NDArray[Any], allowed: NDArray[np.bool_], rule: str) -> None:
        row = int(np.argmin(allowed))
        of = (label if self.classes is None else self.classes[label])[row]
        raise MeasureError(f"a loss function returned {loss[row]} for the label {of}; it must be {rule}")
