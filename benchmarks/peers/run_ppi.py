"""ppi-python: prediction-powered inference with power tuning on a uniform sample; run by `peers.environments`."""

from __future__ import annotations

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from problems import Problem

from peers.protocol import Jobs, Rows, serve
from peers.statistic import Floats, Statistic, as_floats, newton


def run(problem: Problem, _method: str, jobs: Jobs) -> Rows:
    """Yield the answer to each (seed, budget)."""
    statistic = Statistic.of(problem)
    for seed, budget in jobs:
        rows = np.random.default_rng([seed, budget]).permutation(len(problem))
        known, rest = rows[:budget], rows[budget:]

        def mean(terms: Floats, believed: Floats, known: Floats = known, rest: Floats = rest) -> tuple[float, ...]:
            data = (terms[known], believed[known], believed[rest])
            low, high = ppi_mean_ci(*data, alpha=0.05)
            return as_floats(ppi_mean_pointestimate(*data), low, high)

        yield seed, budget, *newton(statistic, mean), budget


if __name__ == "__main__":
    serve(run)
