"""Measures that are functions of the confusion matrix M[prediction, label] of pool shares.

All sums below are of shares, so totals are 1. `TP` is M[c, c] of the positive class c, `P` its predicted share
(row sum), `L` its labelled share (column sum). Thesis chapter 3.3 and Corollary 3.1 for the F-measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sondage.core.measures.bases import Confusion, OutcomeValue
from sondage.core.measures.functionals import Functional, Task, linear, numerical_gradient, require
from sondage.core.predictions import Floats
from sondage.errors import MeasureError

__all__ = [
    "MCC",
    "Accuracy",
    "BalancedAccuracy",
    "ConfusionMeasure",
    "ErrorRate",
    "ExpectedCost",
    "FMeasure",
    "Kappa",
    "MacroF",
    "MicroF",
    "Precision",
    "Recall",
    "Specificity",
]

Gradient = Callable[[Floats], Floats]


def _share(
    name: str, task: Task, value: Callable[[Floats], float], gradient: Gradient, *, low: float = 0.0
) -> Functional:
    """Return a measure of the confusion matrix where higher is better."""
    require("classification", task, name)
    basis = Confusion(len(task.classes))
    return Functional(name, basis, value, gradient, (low, 1.0), higher_is_better=True, proportion=low == 0.0)


def _ratio(name: str, task: Task, numerator: Floats, denominator: Floats) -> Functional:
    """Return <n, M> / <d, M>; its gradient is (n - value d) / <d, M>; NaN where the denominator is not positive."""

    def value(mu: Floats) -> float:
        total = float(np.sum(denominator * mu))
        return float(np.sum(numerator * mu)) / total if total > 0 else float("nan")

    def gradient(mu: Floats) -> Floats:
        total = float(np.sum(denominator * mu))
        return (numerator - value(mu) * denominator) / total if total > 0 else np.zeros_like(mu)

    return replace(_share(name, task, value, gradient), ratio=(numerator, denominator))


def _cells(task: Task, row: int | None = None, column: int | None = None) -> Floats:
    """Return a (k, k) indicator of one row, one column, or one cell."""
    k = len(task.classes)
    cells = np.zeros((k, k))
    cells[slice(None) if row is None else row, slice(None) if column is None else column] = 1.0
    return cells


def _named(name: str, positive: Any) -> str:
    return name if positive is None else f"{name}{',' if ':' in name else ':'}positive={positive}"


def _exact(number: float) -> str:
    """Return the shortest text that reads back as this number."""
    return repr(float(number)).removesuffix(".0")


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
        require("classification", task, self.name)
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
                lambda mu: float(1.0 - mu[0]),
                lambda mu: np.array([-1.0]),
                (0.0, 1.0),
                higher_is_better=False,
                proportion=True,
            )
        require("classification", task, self.name)
        k = len(task.classes)
        table = 1.0 - np.eye(k)
        return linear(self.name, Confusion(k), table, bounds=(0.0, 1.0), higher_is_better=False, proportion=True)


def _require_unit_grades(task: Task, name: str) -> None:
    if min(task.grades) < 0 or max(task.grades) > 1:
        raise MeasureError(f"{name!r} needs outcomes in [0, 1]; grades are {list(task.grades)}: use 'mean_outcome'")


@dataclass(frozen=True)
class ExpectedCost:
    """Mean of costs[prediction, label], the risk under a cost matrix.

    Parameters
    ----------
    costs : sequence of sequence of float
        Shape (k, k): the cost of predicting the row's class where the column's class is true, in the order of
        the pool's classes.
    """

    costs: tuple[tuple[float, ...], ...]

    def __init__(self, costs: Any) -> None:
        table = np.asarray(costs, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.all(np.isfinite(table)):
            raise MeasureError(f"costs must be a finite square table, not of shape {table.shape}")
        object.__setattr__(self, "costs", tuple(tuple(row) for row in table.tolist()))

    @property
    def name(self) -> str:
        """The measure's name with its table, row by row."""
        return "expected_cost:costs=" + "/".join(_exact(cost) for row in self.costs for cost in row)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task of as many classes as the table has rows."""
        require("classification", task, self.name)
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
        if self.beta is not None and not self.beta >= 0:
            raise MeasureError(f"beta={self.beta} must not be negative")
        if self.eta is not None and not 0 <= self.eta <= 1:
            raise MeasureError(f"eta={self.eta} must be in [0, 1]")

    @property
    def name(self) -> str:
        """The measure's name; beta = 1 is ``f1``."""
        if self.eta is not None:
            return _named(f"f_measure:eta={_exact(self.eta)}", self.positive)
        beta = 1.0 if self.beta is None else self.beta
        return _named("f1" if beta == 1 else f"f_measure:beta={_exact(beta)}", self.positive)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task with a positive class."""
        require("classification", task, self.name)
        c = task.positive(self.positive)
        beta = 1.0 if self.beta is None else self.beta
        eta = self.eta if self.eta is not None else 1.0 / (1.0 + beta**2)
        return _ratio(
            self.name, task, _cells(task, c, c), eta * _cells(task, row=c) + (1 - eta) * _cells(task, column=c)
        )


@dataclass(frozen=True)
class Precision:
    """Share of the items predicted positive that are positive: TP / P."""

    positive: Any = None

    @property
    def name(self) -> str:
        """The measure's name."""
        return _named("precision", self.positive)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task with a positive class."""
        require("classification", task, self.name)
        c = task.positive(self.positive)
        return _ratio(self.name, task, _cells(task, c, c), _cells(task, row=c))


@dataclass(frozen=True)
class Recall:
    """Share of the positive items that are predicted positive: TP / L."""

    positive: Any = None

    @property
    def name(self) -> str:
        """The measure's name."""
        return _named("recall", self.positive)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task with a positive class."""
        require("classification", task, self.name)
        c = task.positive(self.positive)
        return _ratio(self.name, task, _cells(task, c, c), _cells(task, column=c))


@dataclass(frozen=True)
class Specificity:
    """Share of the negative items that are predicted negative: TN / (TN + FP)."""

    positive: Any = None

    @property
    def name(self) -> str:
        """The measure's name."""
        return _named("specificity", self.positive)

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task with a positive class."""
        require("classification", task, self.name)
        c = task.positive(self.positive)
        negative = 1.0 - _cells(task, column=c)
        return _ratio(self.name, task, negative * (1.0 - _cells(task, row=c)), negative)


@dataclass(frozen=True)
class BalancedAccuracy:
    """Mean over the classes that occur of their recall."""

    name = "balanced_accuracy"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""

        def value(mu: Floats) -> float:
            labelled = mu.sum(axis=0)
            present = labelled > 0
            return float(np.mean(np.diag(mu)[present] / labelled[present])) if present.any() else float("nan")

        def gradient(mu: Floats) -> Floats:
            labelled = mu.sum(axis=0)
            present = labelled > 0
            safe = np.where(present, labelled, 1.0)
            recall = np.diag(mu) / safe
            scale = np.where(present, 1.0 / safe / max(int(present.sum()), 1), 0.0)
            return (np.eye(len(mu)) - recall[None, :]) * scale[None, :]

        return _share(self.name, task, value, gradient)


@dataclass(frozen=True)
class MacroF:
    """Mean over all classes of their F1; a class that is neither predicted nor labelled counts 0."""

    name = "macro_f"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""

        def parts(mu: Floats) -> tuple[Floats, Floats]:
            total = mu.sum(axis=0) + mu.sum(axis=1)
            return 2.0 * np.diag(mu) / np.where(total > 0, total, 1.0), total

        def value(mu: Floats) -> float:
            return float(np.mean(parts(mu)[0]))

        def gradient(mu: Floats) -> Floats:
            f, total = parts(mu)
            scale = np.where(total > 0, 1.0 / np.where(total > 0, total, 1.0), 0.0) / len(mu)
            own = f * scale
            return 2.0 * np.diag(scale) - own[:, None] - own[None, :]

        return _share(self.name, task, value, gradient)


@dataclass(frozen=True)
class MicroF:
    """F1 of the pooled one-against-rest decisions; with one label an item it equals accuracy."""

    name = "micro_f"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require("classification", task, self.name)
        k = len(task.classes)
        return _ratio(self.name, task, np.eye(k), np.ones((k, k)))


@dataclass(frozen=True)
class MCC:
    """Matthews' correlation coefficient, for two classes or more; NaN where a margin is a single class."""

    name = "mcc"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""

        def parts(mu: Floats) -> tuple[float, float, float]:
            rows, columns = mu.sum(axis=1), mu.sum(axis=0)
            total = float(mu.sum())
            covariance = float(np.trace(mu)) * total - float(rows @ columns)
            return covariance, total**2 - float(rows @ rows), total**2 - float(columns @ columns)

        def value(mu: Floats) -> float:
            covariance, predicted, labelled = parts(mu)
            return covariance / np.sqrt(predicted * labelled) if predicted * labelled > 0 else float("nan")

        def gradient(mu: Floats) -> Floats:
            covariance, predicted, labelled = parts(mu)
            if not predicted * labelled > 0:
                return np.zeros_like(mu)
            k, total = len(mu), float(mu.sum())
            rows, columns = mu.sum(axis=1)[:, None], mu.sum(axis=0)[None, :]
            of_covariance = np.eye(k) * total + np.trace(mu) - rows.T - columns.T
            of_predicted, of_labelled = 2 * total - 2 * rows, 2 * total - 2 * columns
            root = np.sqrt(predicted * labelled)
            shrink = 0.5 * covariance * (of_predicted / predicted + of_labelled / labelled)
            return np.asarray((of_covariance - shrink) / root)

        return _share(self.name, task, value, gradient, low=-1.0)


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa: agreement of predictions and labels beyond chance; NaN where chance agreement is 1."""

    name = "kappa"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""

        def value(mu: Floats) -> float:
            total = float(mu.sum())
            chance = float(mu.sum(axis=1) @ mu.sum(axis=0))
            slack = total**2 - chance
            return (float(np.trace(mu)) * total - chance) / slack if slack > 0 else float("nan")

        def gradient(mu: Floats) -> Floats:
            rows, columns, total = mu.sum(axis=1)[:, None], mu.sum(axis=0)[None, :], float(mu.sum())
            slack = total**2 - float((rows.T @ columns.T).item())
            if not slack > 0:
                return np.zeros_like(mu)
            of_chance = rows.T + columns.T  # P_c L_c grows by the other margin of prediction and label
            of_agreement = np.eye(len(mu)) * total + np.trace(mu)
            return np.asarray((of_agreement - of_chance - value(mu) * (2 * total - of_chance)) / slack)

        return _share(self.name, task, value, gradient, low=-1.0)


@dataclass(frozen=True, eq=False)
class ConfusionMeasure:
    """A user's own function of the confusion matrix.

    Parameters
    ----------
    function : callable
        ``function(M) -> float`` of the (k, k) table of pool shares, predictions in rows, labels in columns.
    gradient : callable, optional
        Its derivative by the entries, shape (k, k); by default central differences.
    name : str
        What to call it.
    bounds : (float, float)
        Smallest and largest value.
    higher_is_better : bool or None
        Direction.

    Examples
    --------
    >>> lift = ConfusionMeasure(lambda m: m[1, 1] / (m[1].sum() * m[:, 1].sum()), name="lift")
    >>> lift.ready(Task("classification", (0, 1))).value(np.array([[0.4, 0.1], [0.1, 0.4]])).round(3)
    np.float64(1.6)
    """

    function: Callable[[Floats], float]
    gradient: Gradient | None = None
    name: str = "own measure"
    bounds: tuple[float, float] = field(default=(-np.inf, np.inf))
    higher_is_better: bool | None = True

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require("classification", task, self.name)
        gradient = self.gradient or (lambda mu: numerical_gradient(self.function, mu))
        proportion = self.bounds == (0.0, 1.0)
        basis = Confusion(len(task.classes))
        return Functional(self.name, basis, self.function, gradient, self.bounds, self.higher_is_better, proportion)
