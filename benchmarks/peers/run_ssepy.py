"""ssepy: stratified sampling with Neyman or proportional allocation; run by `peers.environments`."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
from problems import Problem
from sklearn.cluster import KMeans
from ssepy import ModelPerformanceEvaluator
from ssepy.model_performance_evaluator import Estimator

from peers.protocol import Jobs, Rows, serve
from peers.statistic import Floats, Statistic, newton

STRATA = 10
Z = 1.959963984540054


def run(problem: Problem, method: str, jobs: Jobs) -> Rows:
    """Yield the answer to each (seed, budget)."""
    statistic = Statistic.of(problem)
    theta = statistic.intrinsic if statistic.is_ratio else 0.0
    proxy = statistic.believed(theta)
    strata = _strata(proxy)
    spread = _variances(strata, proxy, statistic.variance(theta))
    for seed, budget in jobs:
        random.seed(1_000_003 * seed + budget)
        np.random.seed((1_000_003 * seed + budget) % 2**32)  # noqa: NPY002 - ssepy draws from the global generator
        evaluator = ModelPerformanceEvaluator(Yh=proxy, budget=budget)
        evaluator.sampler.strata_labels = strata
        if method == "ssepy-neyman":
            evaluator.allocate_budget("neyman", variances=spread)
        else:
            evaluator.allocate_budget("proportional")
        rows = evaluator.sample("ssrs")
        mean = partial(_mean, evaluator, rows, method)
        yield seed, budget, *newton(statistic, mean), len(rows)


def _strata(proxy: Floats) -> Any:
    """Return ssepy's own strata; the same for every seed, so clustered once."""
    evaluator = ModelPerformanceEvaluator(Yh=proxy, budget=1)
    k = min(STRATA, len(np.unique(proxy)))
    evaluator.stratify_data(KMeans(n_clusters=k, random_state=0, n_init=3), X=proxy.reshape(-1, 1))
    return evaluator.strata_labels


def _variances(strata: Any, proxy: Floats, variance: Floats) -> Floats:
    """Return each stratum's believed variance, at least 5 % of the largest so that none is left without labels."""
    found = np.array([variance[strata == s].mean() + proxy[strata == s].var() for s in np.unique(strata)])
    return np.maximum(found, 0.05 * found.max())


def _mean(
    evaluator: ModelPerformanceEvaluator, rows: Any, method: str, terms: Floats, believed: Floats
) -> tuple[float, float, float]:
    """Return the pool mean of terms and its normal interval by ssepy's estimator."""
    estimator = Estimator(
        Yh=believed,
        strata_labels=evaluator.strata_labels,
        sampled_indices=rows,
        sampling_method="ssrs",
        samples_per_stratum=evaluator.samples_per_stratum,
        budget=len(rows),
    )
    tuned = method == "ssepy-df"
    estimate, variance = estimator.compute(terms[rows], "df" if tuned else "ht", tune_power=tuned)
    half = Z * float(np.sqrt(variance[0]))
    return float(estimate[0]), float(estimate[0]) - half, float(estimate[0]) + half


if __name__ == "__main__":
    serve(run)
