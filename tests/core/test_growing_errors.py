"""Regressors that tell no variances: labels tell them, and how they grow with the predicted number."""

import numpy as np
import pytest

from sondage import Pool, evaluate

SIZE, RUNS = 2_000, 40


def amounts():
    """Return predicted amounts, and true ones that differ in proportion to them."""
    random = np.random.default_rng(11)
    means = np.exp(random.normal(1.0, 0.8, SIZE))
    return means, means * np.exp(random.normal(-0.18, 0.6, SIZE))


@pytest.mark.parametrize(
    ("belief", "measure", "most"),
    [("growing", "mse", 0.8), ("growing", "r2", 0.65), ("growing", "mae", 0.9), (None, "r2", 0.7)],
)
def test_where_labels_tell_variances_estimates_are_nearer(belief, measure, most):
    means, labels = amounts()
    pool = Pool(means=means)
    truth = evaluate(pool, measure, labels, SIZE, method="passive").value
    runs = {
        name: [evaluate(pool, measure, labels, 300, seed, belief=name) for seed in range(RUNS)]
        for name in (belief, "broad")
    }
    error = {name: np.mean([(run.value - truth) ** 2 for run in found]) ** 0.5 for name, found in runs.items()}
    assert error[belief] < most * error["broad"]
    assert np.mean([truth in run.interval() for run in runs[belief]]) > 0.8


@pytest.mark.parametrize("budget", [90, 150])
def test_the_draw_is_another_from_the_second_stage_on(budget):
    means, labels = amounts()
    asked = {}
    for belief in ("growing", None):
        names = asked[belief] = []

        def ask(ids, names=names):
            names.extend(ids)
            return labels[ids]

        evaluate(Pool(means=means), "mse", ask, budget, belief=belief)
    assert asked["growing"][:60] == asked[None][:60]
    assert (asked["growing"] == asked[None]) == (budget < 120)
    if budget > 120:  # larger numbers, of which less is known
        assert np.mean(means[asked["growing"][-60:]]) > 1.3 * np.mean(means[asked[None][-60:]])


@pytest.mark.parametrize("measure", ["mse", "mae"])
def test_one_variance_leaves_draw_and_estimate_as_they_were(measure):
    means, labels = amounts()
    one, other = (evaluate(Pool(means=means), measure, labels, 300, 1, belief=belief) for belief in (None, "broad"))
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert one.interval().width >= 0.99 * other.interval().width
