"""Estimates, standard errors and intervals over many draws, where the asymptotics should hold (slow).

Labels are drawn from the pool's own probabilities, so that the belief is right. benchmarks/coverage.py shows where it
is not, and what remains.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sondage

pytestmark = pytest.mark.slow

Agrees = Callable[[int, int, float], bool]
Problem = tuple[sondage.Pool, np.ndarray, float]
RUNS = 600
METHODS = ["passive", "thesis", "default"]


def classified(measure: str) -> Problem:
    """A classifier sure of most items, half of them positive."""
    rng = np.random.default_rng(1)
    p = rng.beta(0.7, 0.7, 3000)
    y = (rng.random(3000) < p).astype(int)
    pool = sondage.Pool(probabilities=p)
    return pool, y, sondage.evaluate(pool, measure, labels=y, budget=3000).value


def regressed(measure: str) -> Problem:
    """A regressor whose errors have known, unequal variances."""
    rng = np.random.default_rng(2)
    means, deviation = rng.normal(size=2000), rng.uniform(0.5, 1.5, 2000)
    y = means + deviation * rng.normal(size=2000)
    return sondage.Pool(means=means, variances=deviation**2), y, float(np.mean((y - means) ** 2))


def check(found: list[sondage.Estimate], truths: list[float], agrees: Agrees) -> None:
    """Require no bias, standard errors as large as the spread, and 95 % intervals that cover."""
    away = np.array([one.value for one in found]) - truths
    spread = away.std(ddof=1)
    assert abs(away.mean()) < 4 * spread / np.sqrt(len(away))
    # The spread of 600 near-normal values has a relative error of 2.9 %.
    assert np.mean([one.std_error for one in found]) == pytest.approx(spread, rel=0.12)
    hits = sum(truth in one.interval(0.95) for one, truth in zip(found, truths, strict=True))
    assert agrees(hits, len(found), 0.95)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("problem", "measure"), [(classified, "error_rate"), (classified, "f1"), (classified, "recall"), (regressed, "mse")]
)
def test_errors_and_intervals_hold_for_the_pool(
    problem: Callable[[str], Problem], measure: str, method: str, agrees: Agrees
) -> None:
    pool, y, truth = problem(measure)
    found = [sondage.evaluate(pool, measure, labels=y, budget=300, seed=seed, method=method) for seed in range(RUNS)]
    check(found, [truth] * RUNS, agrees)


@pytest.mark.parametrize("method", METHODS)
def test_errors_and_intervals_hold_for_the_population(method: str, agrees: Agrees) -> None:
    # p is uniform, so that the error rate of the population is E min(p, 1 - p) = 1/4; half of each pool is labelled.
    rng, found = np.random.default_rng(33), []
    for seed in range(RUNS):
        p = rng.random(400)
        y = (rng.random(400) < p).astype(int)
        pool = sondage.Pool(probabilities=p)
        found.append(sondage.evaluate(pool, labels=y, budget=200, seed=seed, method=method, target="population"))
    check(found, [0.25] * RUNS, agrees)


@pytest.mark.parametrize(
    "parts",
    [{"method": "thesis"}, {}, {"design": "active_neq", "floor": 0.0, "estimator": "hajek"}],
    ids=["thesis", "default", "active_neq"],
)
def test_differences_hold_for_the_population_though_only_disagreements_are_drawn(
    parts: dict[str, Any], agrees: Agrees
) -> None:
    # The models differ on a fifth of the items; there the first is right with 0.7: the difference is -0.2 * 0.4.
    n, rng, found = 1000, np.random.default_rng(4), []
    first = np.zeros(n, dtype=int)
    for seed in range(RUNS):
        second = (rng.random(n) < 0.2).astype(int)
        y = (rng.random(n) < 0.3).astype(int)
        models = {name: sondage.Classifier(predictions=f) for name, f in (("a", first), ("b", second))}
        pool = sondage.Pool(models=models, classes=[0, 1])
        one = sondage.compare(pool, "a", "b", labels=y, budget=100, seed=seed, target="population", **parts)
        found.append(one.estimate)
    check(found, [-0.2 * 0.4] * RUNS, agrees)
