"""Online stratified sampling (Bennett and Carvalho, 2010; the thesis's *strat*), all repetitions at once.

Strata hold equal numbers of items by the model's confidence. Each label is taken at random from a stratum chosen in
proportion to its number of items times the deviation of the labels seen there so far, with two imagined labels of
the deviation seen overall (`sondage.core.strata.stratum_deviations`); no item is taken twice. The estimate weighs the
strata's means by their numbers of items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.simulation import Floats, Target
from sondage.core.strata import N_STRATA, strata_by_score

__all__ = ["simulate_strata", "strata_of"]


def strata_of(scores: Floats) -> NDArray[np.int64]:
    """Return ten strata of equal numbers by score; ties are broken by chance, since rows may be sorted by class."""
    ties = np.random.default_rng(0).permutation(len(scores))
    return strata_by_score(np.round(scores, 9), ties, min(N_STRATA, len(scores)))


def simulate_strata(
    strata: NDArray[np.int64],
    target: Target,
    budgets: Sequence[int],
    repetitions: int,
    rng: np.random.Generator,
) -> Floats:
    """Return estimates, shape (R, B).

    Parameters
    ----------
    strata : ndarray of int, shape (N,)
        Of each item.
    target : Target
        A mean: what the labels' deviation is taken of.
    budgets : sequence of int
        Labels, ascending.
    repetitions, rng
        As for `experiments.simulation.simulate`.
    """
    numbers = np.bincount(strata)
    rows, budget = np.arange(repetitions), int(budgets[-1])
    queue = _queues(strata, numbers, min(budget, int(numbers.max())), repetitions, rng)
    losses = target.numerator
    taken, sums, squares = (np.zeros((repetitions, len(numbers))) for _ in range(3))
    estimates = []
    for step in range(1, budget + 1):
        sizes = np.where(taken < numbers, numbers * _deviations(taken, sums, squares), 0.0)
        chosen = _choose(sizes, rng)
        loss = losses[queue[rows, chosen, taken[rows, chosen].astype(np.int64)]]
        taken[rows, chosen] += 1.0
        sums[rows, chosen] += loss
        squares[rows, chosen] += loss**2
        if step in budgets:
            seen = taken > 0
            means = np.divide(sums, taken, out=np.zeros_like(sums), where=seen)
            estimates.append(np.sum(numbers * means, axis=1) / np.sum(numbers * seen, axis=1))
    return np.stack(estimates, axis=1)


def _queues(
    strata: NDArray[np.int64], numbers: NDArray[np.int64], length: int, repetitions: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return each repetition's random order of each stratum's items, int (R, H, length)."""
    queue = np.zeros((repetitions, len(numbers), length), dtype=np.int32)
    for h in range(len(numbers)):
        members = np.flatnonzero(strata == h)
        for r in range(repetitions):
            found = rng.permutation(members)[:length]
            queue[r, h, : len(found)] = found
    return queue


def _deviations(taken: Floats, sums: Floats, squares: Floats) -> Any:
    """Return the deviation of each stratum's labels, as `stratum_deviations` has it; equal before any label."""
    n, total, square = (part.sum(axis=1, keepdims=True) for part in (taken, sums, squares))
    if not n.any():
        return np.ones_like(taken)
    prior = np.maximum(square / n - (total / n) ** 2, 1e-12)
    within = squares - np.divide(sums**2, taken, out=np.zeros_like(sums), where=taken > 0)
    return np.sqrt((np.maximum(within, 0.0) + 2.0 * prior) / (taken + 2.0))


def _choose(sizes: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a stratum for each repetition, drawn in proportion to size."""
    up = np.cumsum(sizes, axis=1)
    point = rng.random(len(sizes)) * up[:, -1]
    return np.asarray(np.minimum(np.sum(up <= point[:, None], axis=1), sizes.shape[1] - 1))
