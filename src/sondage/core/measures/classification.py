"""Measures that are functions of the confusion matrix M[prediction, label] of pool shares.

All sums below are of shares, so totals are 1. `TP` is M[c, c] of the positive class c, `P` its predicted share
(row sum), `L` its labelled share (column sum). Thesis chapter 3.3 and Corollary 3.1 for the F-measures.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from sondage.core.checks import BOUNDED, LARGEST_NUMBER, exactly
from sondage.core.measures.bases import Confusion, OutcomeValue
from sondage.core.measures.confusion import cells, ratio
from sondage.core.measures.functionals import Functional, Task, linear, named, require_kind
from sondage.core.predictions import Floats
from sondage.errors import MeasureError

__all__ = [
    "Accuracy",
    "ErrorRate",
    "ExpectedCost",
    "FMeasure",
    "Precision",
    "Recall",
    "Specificity",
]


@dataclass(frozen=True)
class Accuracy:
    """Share of items whose prediction is their label; for outcomes, the mean outcome (graded 0 to 1).

    Examples
    --------
    >>> Accuracy().ready(Task("classification", ("a", "b"))).value(np.array([[0.5, 0.1], [0.1, 0.3]]))
    0.8
    """

    name = "accuracy"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification or an outcomes task."""
        options: dict[str, Any] = {"bounds": (0.0, 1.0), "higher_is_better": True, "proportion": True}
        if task.kind == "outcomes":
            _require_unit_grades(task, self.name)
            return linear(self.name, OutcomeValue(), [1.0], **options)
        require_kind("classification", task, self.name)
        k = len(task.classes)
        return linear(self.name, Confusion(k), np.eye(k), **options)


@dataclass(frozen=True)
class ErrorRate:
    """Share of items whose prediction is not their label, the zero-one risk (thesis 3.2).

    Examples
    --------
    >>> task = Task("classification", ("a", "b"))
    >>> round(ErrorRate().ready(task).value(np.array([[0.5, 0.1], [0.1, 0.3]])), 12)
    0.2
    """

    name = "error_rate"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification or an outcomes task."""
        if task.kind == "outcomes":
            _require_unit_grades(task, self.name)
            return Functional(
                self.name,
                OutcomeValue(),
                _failures,
                _minus_one,
                (0.0, 1.0),
                linear=True,
                higher_is_better=False,
                proportion=True,
            )
        require_kind("classification", task, self.name)
        k = len(task.classes)
        table = 1.0 - np.eye(k)
        return linear(self.name, Confusion(k), table, bounds=(0.0, 1.0), higher_is_better=False, proportion=True)


def _failures(mu: Floats) -> float:
    return float(1.0 - mu[0])


def _minus_one(mu: Floats) -> Floats:
    return np.array([-1.0])


def _require_unit_grades(task: Task, name: str) -> None:
    if min(task.grades) < 0 or max(task.grades) > 1:
        raise MeasureError(f"{name!r} needs outcomes in [0, 1]; grades are {list(task.grades)}: use 'mean_outcome'")


@dataclass(frozen=True)
class ExpectedCost:
    """Mean of costs[prediction, label], the risk under a cost matrix, in the units of the costs.

    Parameters
    ----------
    costs : sequence of sequence of float
        Shape (k, k): the cost of predicting the row's class where the column's class is true, in the order of
        the pool's classes. A cost is at most 1e35 in absolute value.

    Raises
    ------
    MeasureError
        If the table is not square, or a cost is not finite or above 1e35 in absolute value.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> ExpectedCost([[0, 5], [1, 0]]).ready(Task("classification", ("a", "b"))).value(table)
    1.1
    """

    costs: tuple[tuple[float, ...], ...]

    def __init__(self, costs: Any) -> None:
        try:
            table = np.asarray(costs, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise MeasureError(f"costs={costs!r} must be a square table of numbers") from None
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise MeasureError(f"costs must be a square table, not of shape {table.shape}")
        wrong = np.argwhere(~(np.abs(table) <= LARGEST_NUMBER))
        if len(wrong):
            row, column = wrong[0]
            raise MeasureError(f"costs[{row}][{column}] is {table[row, column]}; it must be {BOUNDED}")
        object.__setattr__(self, "costs", tuple(tuple(row) for row in table.tolist()))

    @property
    def name(self) -> str:
        """The measure's name with its table, row by row."""
        return "expected_cost:costs=" + "/".join(exactly(cost) for row in self.costs for cost in row)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task of as many classes as the table has rows."""
        require_kind("classification", task, self.name)
        table, k = np.array(self.costs), len(task.classes)
        if len(table) != k:
            raise MeasureError(f"the cost table has {len(table)} classes, the pool {k}: {list(task.classes)}")
        bounds = (float(table.min()), float(table.max()))
        return linear(self.name, Confusion(k), table, bounds=bounds, higher_is_better=False)


@dataclass(frozen=True)
class FMeasure:
    r"""F-measure :math:`F_\eta = TP / (\eta P + (1 - \eta) L)` (thesis 3.26).

    Parameters
    ----------
    beta : float, optional
        Weight of recall against precision; :math:`\eta = 1 / (1 + \beta^2)`. Default 1.
    eta : float, optional
        The thesis's parameter, in [0, 1], in place of beta: 1 is precision, 0 recall, 0.5 everybody's F1.
    positive : optional
        The positive class; by default the second of two.

    Raises
    ------
    MeasureError
        If beta is negative, eta is outside [0, 1], one of them is no number, or both are given.

    Examples
    --------
    >>> table = np.array([[0.6, 0.1], [0.1, 0.2]])
    >>> round(FMeasure().ready(Task("classification", (0, 1))).value(table), 4)
    0.6667
    """

    beta: float | None = None
    eta: float | None = None
    positive: Any = None

    def __post_init__(self) -> None:
        if self.beta is not None and self.eta is not None:
            raise MeasureError(f"give beta or eta, not both (beta={self.beta}, eta={self.eta})")
        if self.beta is not None and not (isinstance(self.beta, Real) and self.beta >= 0):
            raise MeasureError(f"beta={self.beta} must be a number, and not negative")
        if isinstance(self.beta, Integral) and self.beta > sys.float_info.max:
            raise MeasureError(f"beta is above {sys.float_info.max:.3g}: give float('inf'), which is recall")
        if self.eta is not None and not (isinstance(self.eta, Real) and 0 <= self.eta <= 1):
            raise MeasureError(f"eta={self.eta} must be in [0, 1]")

    @property
    def name(self) -> str:
        """The measure's name; beta = 1 is ``f1``."""
        if self.eta is not None:
            return named(f"f_measure:eta={exactly(self.eta)}", self.positive)
        beta = 1.0 if self.beta is None else self.beta
        return named("f1" if beta == 1 else f"f_measure:beta={exactly(beta)}", self.positive)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task with a positive class."""
        require_kind("classification", task, self.name)
        c = task.positive(self.positive)
        beta = 1.0 if self.beta is None else self.beta
        # A product may be infinite, where a power overflows.
        eta = self.eta if self.eta is not None else 1.0 / (1.0 + beta * beta)
        below = eta * cells(task, row=c) + (1 - eta) * cells(task, column=c)
        return replace(ratio(self.name, task, cells(task, c, c), below), positive=task.classes[c])


@dataclass(frozen=True)
class _OfPositive(ABC):
    """What precision, recall and specificity have in common: a positive class, and a ratio of two sums of shares."""

    positive: Any = None

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """The measure's name."""
        return named(self.kind, self.positive)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task with a positive class."""
        require_kind("classification", task, self.name)
        c = task.positive(self.positive)
        return replace(ratio(self.name, task, *self._ratio(task, c)), positive=task.classes[c])

    @abstractmethod
    def _ratio(self, task: Task, c: int) -> tuple[Floats, Floats]:
        """Return the coefficients of numerator and denominator, of the positive class c."""


@dataclass(frozen=True)
class Precision(_OfPositive):
    r"""Share of the items predicted positive that are positive, in [0, 1] (thesis 3.26).

    .. math:: M_{cc} / P_c,

    with the shares :math:`M` of items by prediction and label, and :math:`P_c` that of the prediction :math:`c`.

    Parameters
    ----------
    positive : optional
        The positive class; by default the second of two.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> round(Precision().ready(Task("classification", ("a", "b"))).value(table), 4)
    0.6667
    """

    kind = "precision"

    def _ratio(self, task: Task, c: int) -> tuple[Floats, Floats]:
        return cells(task, c, c), cells(task, row=c)


@dataclass(frozen=True)
class Recall(_OfPositive):
    r"""Share of the positive items that are predicted positive, in [0, 1] (thesis 3.26).

    .. math:: M_{cc} / L_c,

    with the shares :math:`M` of items by prediction and label, and :math:`L_c` that of the label :math:`c`.

    Parameters
    ----------
    positive : optional
        The positive class; by default the second of two.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> round(Recall().ready(Task("classification", ("a", "b"))).value(table), 4)
    0.5
    """

    kind = "recall"

    def _ratio(self, task: Task, c: int) -> tuple[Floats, Floats]:
        return cells(task, c, c), cells(task, column=c)


@dataclass(frozen=True)
class Specificity(_OfPositive):
    r"""Share of the negative items that are predicted negative, in [0, 1].

    .. math:: \sum_{f \ne c} \sum_{y \ne c} M_{fy} / (1 - L_c),

    with the shares :math:`M` of items by prediction and label, and :math:`L_c` that of the label :math:`c`.

    Parameters
    ----------
    positive : optional
        The positive class; by default the second of two.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> round(Specificity().ready(Task("classification", ("a", "b"))).value(table), 4)
    0.8333
    """

    kind = "specificity"

    def _ratio(self, task: Task, c: int) -> tuple[Floats, Floats]:
        negative = 1.0 - cells(task, column=c)
        return negative * (1.0 - cells(task, row=c)), negative
