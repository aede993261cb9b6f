"""Label until significant: draws one after the other, a test after each, many repetitions at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.chapter5.comparing import TESTS
from experiments.simulation import Floats, Target

__all__ = ["Stops", "label_until_significant"]

BLOCK = 400_000
"""Draws made at a time."""


@dataclass(frozen=True, eq=False)
class Stops:
    """How labelling ended in all repetitions.

    Attributes
    ----------
    labels : ndarray of float, shape (R,)
        Distinct items labelled when the test was significant, or the budget.
    significant : ndarray of bool, shape (R,)
        Whether it was significant.
    differences : ndarray of float, shape (R,)
        The estimate at the end.
    """

    labels: Floats
    significant: NDArray[np.bool_]
    differences: Floats


def label_until_significant(
    q: Floats,
    target: Target,
    budget: int,
    repetitions: int,
    rng: np.random.Generator,
    *,
    test: str = "wald",
    alpha: float = 0.05,
    first: Sequence[int] = (10,),
) -> list[Stops]:
    """Draw with replacement until a difference is significant, or the budget of distinct items is spent.

    Parameters
    ----------
    q : ndarray of float, shape (N,)
        Draw probabilities; all items can be drawn.
    target : Target
        The difference, a mean over the pool.
    budget, repetitions, rng
        As for `simulate`.
    test : {"wald", "t"}
        Made after each draw.
    alpha : float
        Its level.
    first : sequence of int
        Numbers of labels from which on tests are made.

    Returns
    -------
    list of Stops
        One for each of `first`, from the same draws.
    """
    cumulative = np.cumsum(q / q.sum())
    steps = _steps(q / q.sum(), budget)
    found: list[list[Stops]] = [[] for _ in first]
    rows = max(1, BLOCK // steps)
    for start in range(0, repetitions, rows):
        block = min(rows, repetitions - start)
        items = np.searchsorted(cumulative, rng.random((block, steps)), side="right").clip(max=len(q) - 1)
        labels = _labels(items)
        while labels[:, -1].min() < budget:
            more = np.searchsorted(cumulative, rng.random((block, steps)), side="right").clip(max=len(q) - 1)
            items = np.concatenate([items, more], axis=1)
            labels = _labels(items)
        values, pvalues = _course(items, 1.0 / (q * len(q)), target.numerator, test)
        for place, least in enumerate(first):
            found[place].append(_stops(labels, values, pvalues, least, budget, alpha))
    return [
        Stops(*(np.concatenate([getattr(part, name) for part in parts]) for name in Stops.__dataclass_fields__))
        for parts in found
    ]


def _steps(q: Floats, budget: int) -> int:
    """Return how many draws bring a little more than the budget of distinct items, on average."""
    steps = float(budget)
    while np.sum(-np.expm1(steps * np.log1p(-q))) < 1.05 * budget and steps < 200 * budget:
        steps *= 1.2
    return int(steps) + 50


def _labels(items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many distinct items each row has after each draw."""
    return np.cumsum(_new(items), axis=1, dtype=np.int64)


def _new(items: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each draw brings an item that its row had not yet."""
    order = np.argsort(items, axis=1, kind="stable")
    ordered = np.take_along_axis(items, order, axis=1)
    fresh = np.ones(items.shape, dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    new = np.empty_like(fresh)
    np.put_along_axis(new, order, fresh, axis=1)
    return new


def _course(items: NDArray[np.int64], weights: Floats, differences: Floats, test: str) -> tuple[Floats, Floats]:
    """Return estimate (thesis 3.11) and p-value (3.14, 3.24) after each draw."""
    w, delta = weights[items], differences[items]
    total = np.cumsum(w, axis=1)
    square = w * w
    value = np.cumsum(w * delta, axis=1) / total
    spread = np.cumsum(square * delta**2, axis=1) - 2.0 * value * np.cumsum(square * delta, axis=1)
    spread += value**2 * np.cumsum(square, axis=1)
    error = np.sqrt(np.maximum(spread, 0.0)) / total
    error[:, 0] = np.nan  # one draw has no spread
    draws = np.arange(1.0, items.shape[1] + 1)[None, :]
    return value, np.asarray(TESTS[test](value[:, 1:], error[:, 1:], draws[:, 1:]))


def _stops(labels: NDArray[np.int64], values: Floats, pvalues: Floats, least: int, budget: int, alpha: float) -> Stops:
    """Return where each row's labelling ends."""
    rows = np.arange(len(labels))
    last = np.argmax(labels >= budget, axis=1)
    passed = np.zeros(labels.shape, dtype=bool)
    passed[:, 1:] = (pvalues <= alpha) & (labels[:, 1:] >= least)
    hit = np.where(passed.any(axis=1), passed.argmax(axis=1), labels.shape[1])
    end = np.minimum(hit, last)
    return Stops(labels[rows, end].astype(np.float64), hit <= last, values[rows, end])
