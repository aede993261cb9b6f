"""Regressors without variances that are right on all that is labelled: how often they are not, labels alone tell."""

import numpy as np
import pytest

from sondage import Pool, Regressor, compare, evaluate
from sondage.core.variances import unseen_numbers_variance

MEANS = np.round(np.random.default_rng(4).exponential(5.0, 1000))
ALONE = "all labels agree and there are no predictive variances: nothing tells how far off the estimate may be"


ALL = [(measure, 0.0) for measure in ("mse", "mae", "bias", "rmse", "r2")]


@pytest.mark.parametrize(("measure", "off"), [*ALL, ("mse", 1.0), ("mae", 1.0), ("rmse", 1.0), ("bias", 1.0)])
def test_nothing_tells_how_far_off_others_are(measure, off):
    found = evaluate(Pool(means=MEANS), measure, labels=MEANS + off, budget=30)
    assert np.isnan(found.std_error)
    assert found.interval(0.95).kind == "undefined"
    assert ALONE in found.warnings


def test_variances_tell():
    found = evaluate(Pool(means=MEANS, variances=np.ones(1000)), "mse", labels=MEANS, budget=30)
    assert 0.1 < found.interval(0.95).width < 1.0


def test_intervals_of_differences_hold_where_a_few_items_are_wrong():
    random = np.random.default_rng(1)
    apart = random.random(1000) < 0.067
    other, labels = MEANS + 10.0 * apart, MEANS.copy()
    wrong = np.flatnonzero(apart)[:2]
    labels[wrong] = other[wrong]
    pool = Pool(models={"a": Regressor(MEANS), "b": Regressor(other)})
    truth = np.mean((MEANS - labels) ** 2) - np.mean((other - labels) ** 2)
    runs = [compare(pool, "a", "b", "mse", labels=labels, budget=25, seed=seed) for seed in range(60)]
    assert np.mean([truth in run.interval(0.95) for run in runs]) >= 0.93  # .63 by the spread of the labels


def test_as_many_may_have_the_label_of_the_other_as_wilson_leaves_open():
    # 60 of 100 items are predicted 2 apart: one that is the other's moves the difference from -2 to 2.
    other = MEANS[:100] + 2.0 * (np.arange(100) < 60)
    pool = Pool(models={"right": Regressor(MEANS[:100]), "off": Regressor(other)})
    found = compare(pool, "right", "off", "mae", labels=MEANS[:100], budget=20, method="passive").estimate
    evidence = found.evidence
    weights, spread = evidence.sample.expansion.weights, evidence.sample.expansion.spread
    apart = np.abs(evidence.sample.items.means(1).means - evidence.sample.labels) > 0
    n, moved = np.count_nonzero(apart), 4.0 / 100
    assert np.ptp(weights) < 1e-9
    most = np.sum(weights[apart] - 1.0) * moved + 2.0 * moved * np.sqrt(np.sum(spread[apart]))
    variance = unseen_numbers_variance(evidence.contrast, evidence.sample, evidence.fit.sums)
    assert variance == pytest.approx((2.0 * most / (n + 4)) ** 2, rel=1e-9)
    assert found.std_error**2 >= variance * (1.0 - 1e-9)


def test_a_model_that_is_wrong_on_a_label_tells_by_itself():
    labels = MEANS.copy()
    labels[:500] += 1.0
    pool = Pool(models={"a": Regressor(MEANS), "b": Regressor(MEANS + np.random.default_rng(0).normal(size=1000))})
    evidence = compare(pool, "a", "b", "mse", labels=labels, budget=60).estimate.evidence
    assert unseen_numbers_variance(evidence.contrast, evidence.sample, evidence.fit.sums) == 0.0
