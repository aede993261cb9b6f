"""OASIS: adaptive importance sampling of strata for F-measures; run by `peers.environments`."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from oasis import OASISSampler
from oasis.stratification import stratify_by_scores
from problems import Problem

from peers.protocol import Jobs, Rows, serve

STRATA, BINS = 30, 100
MOST_DRAWS = 20  # times the budget: items are drawn with replacement until enough distinct ones are labelled


def run(problem: Problem, _method: str, jobs: Jobs) -> Rows:
    """Yield the answer to each (seed, budget); one run of a seed gives its estimates after every budget."""
    p = np.asarray(problem.p_positive(), dtype=float)
    said, true = (problem.prediction == problem.positive).astype(int), (problem.labels == problem.positive).astype(int)
    strata = _strata(p)
    budgets: dict[int, list[int]] = defaultdict(list)
    for seed, budget in jobs:
        budgets[seed].append(budget)
    for seed, wanted in budgets.items():
        np.random.seed(seed)  # noqa: NPY002 - oasis draws from the global generator
        sampler = OASISSampler(
            0.5, said, p, lambda row: true[row], proba=True, strata=strata, max_iter=MOST_DRAWS * max(wanted)
        )
        _sample(sampler, max(wanted))
        count = np.cumsum(sampler.queried_oracle_)
        for budget in wanted:
            at = min(int(np.searchsorted(count, budget)), len(count) - 1)
            yield seed, budget, float(sampler.estimate_[at]), float("nan"), float("nan"), int(count[at])


def _strata(p: Any) -> Any:
    """Return strata by the square root rule, more bins where too few are filled."""
    for bins in (BINS, 10 * BINS, 100 * BINS):
        strata = stratify_by_scores(p, goal_n_strata=STRATA, method="cum_sqrt_F", n_bins=bins)
        if strata.n_strata_ >= STRATA // 2:
            break
    return strata


def _sample(sampler: Any, budget: int) -> None:
    """Label as many distinct items, or as many as the most draws reach."""
    left = budget
    while left > 0 and sampler.t_ < MOST_DRAWS * budget:
        before = sampler.t_
        sampler.sample(min(left, MOST_DRAWS * budget - before))
        left -= int(np.sum(sampler.queried_oracle_[before:]))


if __name__ == "__main__":
    serve(run)
