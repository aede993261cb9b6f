"""glide-py: active statistical inference; run by `peers.environments`.

Its sampler finds probabilities that would be above 1 with an optimiser, which takes minutes and gigabytes for a pool of
5,000 items. It is given their solution, min(1, k u), in which it finds nothing to change.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from glide.estimators import ASIMeanEstimator
from glide.samplers import ActiveSampler
from numpy.typing import NDArray
from problems import Problem
from scipy.optimize import brentq

from peers.protocol import Jobs, Rows, serve
from peers.statistic import Floats, Statistic, newton

FLOOR, ALMOST = 0.1, 1.0 - 1e-9


def run(problem: Problem, _method: str, jobs: Jobs) -> Rows:
    """Yield the answer to each (seed, budget)."""
    statistic = Statistic.of(problem)
    deviation = np.sqrt(statistic.variance(statistic.intrinsic if statistic.is_ratio else 0.0))
    uncertainty = np.maximum(deviation, FLOOR * deviation.mean())
    chances = {budget: _chances(uncertainty, budget) for budget in {budget for _, budget in jobs}}
    for seed, budget in jobs:
        pi, drawn = ActiveSampler().sample(chances[budget], budget, random_seed=1_000_003 * seed + budget)
        yield seed, budget, *newton(statistic, partial(_mean, pi, drawn == 1)), int(np.sum(drawn == 1))


def _chances(uncertainty: Floats, budget: int) -> Floats:
    """Return min(1, k u) with the sum of the budget."""
    factor = brentq(lambda k: np.minimum(ALMOST, k * uncertainty).sum() - budget, 0.0, 1.0 / uncertainty.min())
    return np.asarray(np.minimum(ALMOST, factor * uncertainty))


def _mean(pi: Floats, drawn: NDArray[np.bool_], terms: Floats, believed: Floats) -> tuple[float, float, float]:
    """Return the pool mean of terms and its normal interval by glide's estimator; it raises where all labels are 0."""
    labels = np.where(drawn, terms, np.nan)
    try:
        found = ASIMeanEstimator().estimate(labels, believed, pi)
    except ValueError:
        return (float("nan"),) * 3
    interval = found.confidence_interval
    return float(interval.mean), float(interval.lower_bound), float(interval.upper_bound)


if __name__ == "__main__":
    serve(run)
