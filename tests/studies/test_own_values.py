"""Each model's own value in a selection, whose labels are chosen for differences."""

from dataclasses import replace

import numpy as np
import pytest

from sondage import Classifier, Pool, evaluate, select

N, BUDGET = 4000, 120


def filters(seed: int = 0) -> tuple[Pool, np.ndarray]:
    """Return eight models that mostly agree, and labels of which one in fifty is wrong by chance."""
    rng = np.random.default_rng(seed)
    z = rng.normal(-4.0, 5.0, N)
    labels = (rng.random(N) < 1 / (1 + np.exp(-z))) ^ (rng.random(N) < 0.02)
    said = {f"m{model}": 1 / (1 + np.exp(-z - rng.normal(0, 1, N))) for model in range(8)}
    return Pool(models={name: Classifier(p) for name, p in said.items()}), labels.astype(int)


@pytest.mark.parametrize("measure", ["f1", "recall", "mcc", "brier", "log_loss"])
def test_own_intervals_reach_for_what_nobody_has_seen(measure: str) -> None:
    pool, labels = filters()
    longer = []
    for seed in range(4):
        found = select(pool, measure, labels=labels, budget=BUDGET, seed=seed)
        for estimate in found.estimates.values():
            assert estimate.plausible is not None
            reaches, short = estimate.interval(), replace(estimate, plausible=None).interval()
            assert reaches.low <= short.low
            assert reaches.high >= short.high
            longer.append(reaches.width > short.width)
        assert all(found.comparisons[pair].estimate.plausible is None for pair in list(found.comparisons)[:3])
    assert any(longer)


@pytest.mark.parametrize(
    ("measure", "grows"),
    [("f1", False), ("balanced_accuracy", False), ("mcc", False), ("auc", False), ("brier", True), ("log_loss", True)],
)
def test_the_variance_of_a_loss_grows_with_its_value_and_that_of_counts_as_proportions_do(
    measure: str, grows: bool
) -> None:
    pool, labels = filters()
    found = select(pool, measure, labels=labels, budget=BUDGET, seed=1)
    assert all((estimate.slope != 0) == grows for estimate in found.estimates.values())
    assert all(pair.estimate.slope == 0 for pair in list(found.comparisons.values())[:3])
    assert evaluate(pool, measure, labels, budget=BUDGET, seed=1, model="m0").slope != 0


def test_own_values_are_as_far_apart_as_the_models_are() -> None:
    pool, labels = filters()
    found = select(pool, "f1", labels=labels, budget=BUDGET, seed=2)
    for (first, second), pair in list(found.comparisons.items())[:7]:
        apart = found.estimates[first].value - found.estimates[second].value
        assert pair.difference == pytest.approx(apart, abs=1e-12)


def test_own_intervals_hold() -> None:
    pool, labels = filters()
    truth = {name: evaluate(pool, "f1", labels, budget=N, model=name).value for name in pool.models}
    runs = [select(pool, "f1", labels=labels, budget=BUDGET, seed=seed).estimates for seed in range(20)]
    held = [[truth[name] in one.interval() for name, one in run.items()] for run in runs]
    off = [[(one.value - truth[name]) / one.std_error for name, one in run.items()] for run in runs]
    assert np.mean(held) > 0.93
    assert np.std(off) < 1.2
