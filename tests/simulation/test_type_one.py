"""How often paired tests reject two models that are equal (slow).

As in section 5.4.2 of C. Sawade, Active Evaluation of Predictive Models, 2013: each item's two outputs change places
with probability 1/2, so that both models have the same risk in the population. benchmarks/tests.py has more designs,
budgets and levels, and the power.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sondage

pytestmark = pytest.mark.slow

Agrees = Callable[[int, int, float], bool]
RUNS, N, LABELS = 600, 2000, 200
ACTIVE_NEQ: dict[str, Any] = {"design": "active_neq", "floor": 0.0, "estimator": "hajek", "stages": 1}


def swapped(columns: tuple[np.ndarray, np.ndarray], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    first, second = columns
    swap = rng.random(len(first)) < 0.5
    return np.where(swap, second, first), np.where(swap, first, second)


def classifiers(rng: np.random.Generator) -> tuple[sondage.Pool, np.ndarray]:
    fixed = np.random.default_rng(5)
    probability = fixed.beta(0.7, 0.7, N)
    other = np.clip(probability + fixed.normal(0, 0.25, N), 0.01, 0.99)
    y = (fixed.random(N) < probability).astype(int)
    models = map(sondage.Classifier, swapped((probability, other), rng))
    return sondage.Pool(models=dict(zip("ab", models, strict=True))), y


def regressors(rng: np.random.Generator) -> tuple[sondage.Pool, np.ndarray]:
    fixed = np.random.default_rng(6)
    mean, deviation = fixed.normal(size=N), fixed.uniform(0.5, 1.5, N)
    y = mean + deviation * fixed.normal(size=N)
    pair = swapped((mean, mean + fixed.normal(0, 0.5, N)), rng)
    models = (sondage.Regressor(means, deviation**2) for means in pair)
    return sondage.Pool(models=dict(zip("ab", models, strict=True))), y


@pytest.mark.parametrize(
    ("problem", "parts"),
    [
        (classifiers, {"method": "passive"}),
        (classifiers, {}),
        (classifiers, ACTIVE_NEQ),
        (regressors, {"method": "passive"}),
        (regressors, {"method": "thesis"}),
        (regressors, {}),
        (regressors, {"method": "thesis", "design": "active_inf"}),
    ],
    ids=lambda given: given.__name__ if callable(given) else "-".join(map(str, given.values())) or "default",
)
def test_equal_models_are_told_apart_as_often_as_the_level_says(
    problem: Callable[[np.random.Generator], tuple[sondage.Pool, np.ndarray]], parts: dict[str, Any], agrees: Agrees
) -> None:
    measure = "error_rate" if problem is classifiers else "mse"
    pvalues = []
    for seed in range(RUNS):
        pool, y = problem(np.random.default_rng([7, seed]))
        found = sondage.compare(
            pool, "a", "b", measure, labels=y, budget=LABELS, seed=seed, target="population", **parts
        )
        pvalues.append(found.pvalue)
    for level in (0.05, 0.1):
        assert agrees(int(np.sum(np.array(pvalues) <= level)), RUNS, level)


@pytest.mark.parametrize(
    "parts",
    [{"method": "passive", "test": "mcnemar"}, {**ACTIVE_NEQ, "test": "mcnemar"}, {"method": "thesis"}],
    ids=["mcnemar-passive", "mcnemar-active_neq", "thesis"],
)
def test_conservative_tests_never_reject_more_often_than_the_level(parts: dict[str, Any]) -> None:
    # McNemar's test is exact. The thesis's design gives items of agreement tiny probabilities where the models seem
    # equal; drawn all the same, one of them pulls the estimate to 0.
    pvalues = []
    for seed in range(RUNS):
        pool, y = classifiers(np.random.default_rng([8, seed]))
        found = sondage.compare(pool, "a", "b", labels=y, budget=LABELS, seed=seed, target="population", **parts)
        pvalues.append(found.pvalue)
    for level in (0.05, 0.1):
        # Four standard deviations above the level are too many.
        assert np.mean(np.array(pvalues) <= level) < level + 4 * np.sqrt(level * (1 - level) / RUNS)
