"""LURE, the levelled unbiased risk estimator of active testing, with the thesis's q.

Items are drawn one after the other without replacement, each with probability proportional to q among those left
(by the order of exponential variables over q); F1 is the ratio of two such estimates. The interval is a normal one
with the sample variance of the weighted terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from problems import Problem
from scipy.stats import norm

from peers.statistic import Statistic

__all__ = ["lure"]


def lure(problem: Problem, jobs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, float, float, float, int]]:
    """Yield (seed, budget, estimate, low, high, labels) of each (seed, budget)."""
    statistic = Statistic.of(problem)
    q = statistic.thesis_sizes()
    for seed, budget in jobs:
        rows = _order(q, budget, np.random.default_rng([seed, budget]))
        v = _weights(q, rows)
        yield seed, budget, *_estimate(v * statistic.numerators[rows], v * statistic.denominators[rows]), len(rows)


def _order(q: NDArray[np.float64], budget: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return the first rows of a sequential draw; rows of q = 0 come last."""
    with np.errstate(divide="ignore"):
        keys = generator.exponential(size=len(q)) / q
    first = np.argpartition(keys, budget)[:budget]
    rows = first[np.argsort(keys[first])]
    return rows[np.isfinite(keys[rows])]


def _weights(q: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return v_m = 1 + (N - M) / (N - m) (1 / ((N - m + 1) q_m) - 1), q_m among the items left."""
    size, drawn = len(q), len(rows)
    m = np.arange(1, drawn + 1)
    gone = np.concatenate([[0.0], np.cumsum(q[rows])[:-1]])
    left = np.maximum(1.0 - gone, q[rows])
    return np.asarray(1 + (size - drawn) / (size - m) * (left / ((size - m + 1) * q[rows]) - 1))


def _estimate(above: NDArray[np.float64], below: NDArray[np.float64]) -> tuple[float, float, float]:
    if not below.mean() > 0:
        return (float("nan"),) * 3
    theta = float(above.mean() / below.mean())
    half = norm.ppf(0.975) * (above - theta * below).std(ddof=1) / np.sqrt(len(above)) / below.mean()
    return theta, float(theta - half), float(theta + half)
