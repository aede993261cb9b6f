"""Agreement of predictions and labels over all classes: functions of the confusion matrix M[prediction, label].

All sums below are of shares, so totals are 1; rows are predictions, columns labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sondage.core.measures.bases import ROUNDING, clean_sum
from sondage.core.measures.classification import Accuracy
from sondage.core.measures.confusion import share
from sondage.core.measures.functionals import ClassRatios, Functional, Task, require_kind
from sondage.core.predictions import Floats

__all__ = ["MCC", "BalancedAccuracy", "Kappa", "MacroF", "MicroF"]


@dataclass(frozen=True)
class BalancedAccuracy:
    r"""Mean over the classes that occur of their recall, in [0, 1].

    .. math:: \frac1k \sum_c M_{cc} / L_c,

    with the shares :math:`M` of items by prediction and label, and :math:`L_c` that of the label :math:`c`.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> round(BalancedAccuracy().ready(Task("classification", ("a", "b"))).value(table), 4)
    0.6667
    """

    name = "balanced_accuracy"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        class_ratios = ClassRatios(task.classes, predicted=0.0, labelled=1.0, occurring=True)
        return replace(share(self.name, task, _mean_recall, _mean_recall_gradient), class_ratios=class_ratios)


def _mean_recall(mu: Floats) -> float:
    labelled = clean_sum(mu, axis=0)
    present = labelled > 0
    return float(np.mean(np.diag(mu)[present] / labelled[present])) if present.any() else float("nan")


def _mean_recall_gradient(mu: Floats) -> Floats:
    labelled = clean_sum(mu, axis=0)
    present = labelled > 0
    safe = np.where(present, labelled, 1.0)
    recall = np.diag(mu) / safe
    scale = np.where(present, 1.0 / safe / max(int(present.sum()), 1), 0.0)
    return (np.eye(len(mu)) - recall[None, :]) * scale[None, :]


@dataclass(frozen=True)
class MacroF:
    r"""Mean over all classes of their F1, in [0, 1]; a class that is neither predicted nor labelled counts 0.

    .. math:: \frac1k \sum_c 2 M_{cc} / (P_c + L_c),

    with the shares :math:`M` of items by prediction and label, :math:`P_c` and :math:`L_c` those of the prediction and
    the label :math:`c`.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> round(MacroF().ready(Task("classification", ("a", "b"))).value(table), 4)
    0.6703
    """

    name = "macro_f"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        class_ratios = ClassRatios(task.classes, predicted=0.5, labelled=0.5)
        return replace(share(self.name, task, _macro_f, _macro_f_gradient), class_ratios=class_ratios)


def _f_and_total(mu: Floats) -> tuple[Floats, Floats]:
    """Return F1 of each class, and the sum of its predicted and labelled shares."""
    total = clean_sum(np.concatenate([mu, mu.T]), axis=0)
    return 2.0 * np.diag(mu) / np.where(total > 0, total, 1.0), total


def _macro_f(mu: Floats) -> float:
    return float(np.mean(_f_and_total(mu)[0]))


def _macro_f_gradient(mu: Floats) -> Floats:
    f, total = _f_and_total(mu)
    scale = np.where(total > 0, 1.0 / np.where(total > 0, total, 1.0), 0.0) / len(mu)
    own = f * scale
    return 2.0 * np.diag(scale) - own[:, None] - own[None, :]


@dataclass(frozen=True)
class MicroF:
    r"""F1 of the pooled one-against-rest decisions, in [0, 1]; with one label an item it equals accuracy.

    .. math:: \mathrm{tr}\, M,

    with the shares :math:`M` of items by prediction and label.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> round(MicroF().ready(Task("classification", ("a", "b"))).value(table), 4)
    0.7
    """

    name = "micro_f"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require_kind("classification", task, self.name)
        return replace(Accuracy().ready(task), name=self.name)


@dataclass(frozen=True)
class MCC:
    r"""Matthews' correlation coefficient, in [-1, 1], for two classes or more; NaN where a margin is a single class.

    .. math:: \frac{\mathrm{tr}\, M - \sum_c P_c L_c}{\sqrt{(1 - \sum_c P_c^2)(1 - \sum_c L_c^2)}},

    with the shares :math:`M` of items by prediction and label, :math:`P_c` and :math:`L_c` those of the prediction and
    the label :math:`c`.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> round(float(MCC().ready(Task("classification", ("a", "b"))).value(table)), 4)
    0.3563
    """

    name = "mcc"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        return share(self.name, task, _mcc, _mcc_gradient, low=-1.0)


def _covariances(mu: Floats) -> tuple[float, float, float]:
    """Return numerator and both factors under the root."""
    rows, columns = mu.sum(axis=1), mu.sum(axis=0)
    total = float(mu.sum())
    covariance = float(np.trace(mu)) * total - float(rows @ columns)
    return covariance, total**2 - float(rows @ rows), total**2 - float(columns @ columns)


def _mcc(mu: Floats) -> float:
    covariance, predicted, labelled = _covariances(mu)
    return covariance / np.sqrt(predicted * labelled) if min(predicted, labelled) > ROUNDING else float("nan")


def _mcc_gradient(mu: Floats) -> Floats:
    covariance, predicted, labelled = _covariances(mu)
    if not min(predicted, labelled) > ROUNDING:
        return np.zeros_like(mu)
    k, total = len(mu), float(mu.sum())
    rows, columns = mu.sum(axis=1)[:, None], mu.sum(axis=0)[None, :]
    of_covariance = np.eye(k) * total + np.trace(mu) - rows.T - columns.T
    of_predicted, of_labelled = 2 * total - 2 * rows, 2 * total - 2 * columns
    root = np.sqrt(predicted * labelled)
    shrink = 0.5 * covariance * (of_predicted / predicted + of_labelled / labelled)
    return np.asarray((of_covariance - shrink) / root)


@dataclass(frozen=True)
class Kappa:
    r"""Cohen's kappa: agreement of predictions and labels beyond chance, up to 1; NaN where chance agreement is 1.

    .. math:: \frac{\mathrm{tr}\, M - \sum_c P_c L_c}{1 - \sum_c P_c L_c},

    with the shares :math:`M` of items by prediction and label, :math:`P_c` and :math:`L_c` those of the prediction and
    the label :math:`c`.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2], [0.1, 0.2]])
    >>> round(Kappa().ready(Task("classification", ("a", "b"))).value(table), 4)
    0.3478
    """

    name = "kappa"

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        return share(self.name, task, _kappa, _kappa_gradient, low=-1.0)


def _kappa(mu: Floats) -> float:
    total = float(mu.sum())
    chance = float(mu.sum(axis=1) @ mu.sum(axis=0))
    slack = total**2 - chance
    return (float(np.trace(mu)) * total - chance) / slack if slack > ROUNDING else float("nan")


def _kappa_gradient(mu: Floats) -> Floats:
    rows, columns, total = mu.sum(axis=1)[:, None], mu.sum(axis=0)[None, :], float(mu.sum())
    slack = total**2 - float((rows.T @ columns.T).item())
    if not slack > ROUNDING:
        return np.zeros_like(mu)
    of_chance = rows.T + columns.T  # P_c L_c grows by the other margin of prediction and label
    of_agreement = np.eye(len(mu)) * total + np.trace(mu)
    return np.asarray((of_agreement - of_chance - _kappa(mu) * (2 * total - of_chance)) / slack)
