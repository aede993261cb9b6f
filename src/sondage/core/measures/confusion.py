"""What measures on the confusion matrix M[prediction, label] of pool shares are built with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from sondage.core.measures.bases import Confusion, clean_sum
from sondage.core.measures.functionals import Functional, Task, require_kind
from sondage.core.predictions import Floats

__all__ = ["Gradient", "cells", "ratio", "share"]

Gradient = Callable[[Floats], Floats]


def share(
    name: str, task: Task, value: Callable[[Floats], float], gradient: Gradient, *, low: float = 0.0
) -> Functional:
    """Return a measure of the confusion matrix where higher is better."""
    require_kind("classification", task, name)
    basis = Confusion(len(task.classes))
    return Functional(name, basis, value, gradient, (low, 1.0), higher_is_better=True, proportion=low == 0.0)


def ratio(name: str, task: Task, numerator: Floats, denominator: Floats) -> Functional:
    """Return <n, M> / <d, M>; its gradient is (n - value d) / <d, M>; NaN where the denominator is not positive."""
    value, gradient = partial(_ratio, numerator, denominator), partial(_ratio_gradient, numerator, denominator)
    return replace(share(name, task, value, gradient), ratio=(numerator, denominator))


def _ratio(numerator: Floats, denominator: Floats, mu: Floats) -> float:
    total = float(clean_sum(denominator * mu))
    return float(np.sum(numerator * mu)) / total if total > 0 else float("nan")


def _ratio_gradient(numerator: Floats, denominator: Floats, mu: Floats) -> Floats:
    total = float(clean_sum(denominator * mu))
    return (numerator - _ratio(numerator, denominator, mu) * denominator) / total if total > 0 else np.zeros_like(mu)


def cells(task: Task, row: int | None = None, column: int | None = None) -> Floats:
    """Return a (k, k) indicator of one row, one column, or one cell."""
    k = len(task.classes)
    table = np.zeros((k, k))
    table[slice(None) if row is None else row, slice(None) if column is None else column] = 1.0
    return table
