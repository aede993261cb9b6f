"""How far off an estimate may be where labels tell what other models and features know: never more than without."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import sondage.core.variances as variances
from sondage import Classifier, Pool, compare, evaluate
from sondage.core.beliefs.classes import PLAUSIBLE
from sondage.core.calibration import plausible_events
from sondage.core.plausible import plausible, plausible_corrected
from sondage.core.variances import believed_variance, plausible_variance


def pool_of_two(n=4000, seed=0):
    """Return a pool of a model that is sure and wrong of a quarter of the items and one that knows, and labels."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    wrong = random.random(n) < 0.25
    own = np.where(np.where(wrong, 1 - y, y) == 1, 0.97, 0.03) + random.uniform(-0.02, 0.02, n)
    other = expit(random.normal(0.0, 1.0, n) + 5.0 * (2 * y - 1))
    return Pool(models={"a": Classifier(own), "b": Classifier(other)}), y, float(np.mean((own > 0.5) != y))


def test_points_given_offsets_find_the_calibration_of_the_rest():
    random = np.random.default_rng(0)
    odds, offsets = random.normal(0.0, 3.0, (2, 6000))
    events = random.random(6000) < expit(0.5 + 0.6 * odds + offsets)
    points = plausible_events(odds, events, np.ones(6000), 9, offsets=offsets)
    assert np.mean([point.shift for point in points]) == pytest.approx(0.5, abs=0.1)
    assert np.mean([point.slope for point in points]) == pytest.approx(0.6, abs=0.05)
    without = plausible_events(odds, events, np.ones(6000), 9)
    assert np.mean([point.slope for point in without]) < 0.5
    assert plausible_events(odds, events, np.ones(6000), 9, offsets=np.zeros(6000)) == without


@pytest.mark.parametrize("chance", [0.5, 0.1])
def test_points_given_offsets_are_quantiles_of_the_posterior_by_direct_summation(chance):
    """Events of one log odds with two offsets: the grid's posterior means, each likelihood written out."""
    from sondage.core import calibration

    odds, offsets = np.array([2.0, 2.0, 2.0]), np.array([-3.0, -3.0, 1.0])
    events, weights = np.array([True, False, True]), np.array([5.0, 2.0, 1.0])
    none = calibration.Lapses((1.0 - 1e-12,) * 3, (1.0,))
    count = 4000
    found = plausible_events(odds, events, weights, count, offsets=offsets, chance=chance, prior=none)
    posterior = np.zeros((len(calibration.SHIFTS), len(calibration.SLOPES)))
    steps = np.gradient(calibration.SHIFTS)[:, None] * np.gradient(calibration.SLOPES)
    for row, a in enumerate(calibration.SHIFTS):
        for column, b in enumerate(calibration.SLOPES):
            prior = sum(
                share / (s * t * b) * np.exp(-0.5 * (a / s) ** 2 - 0.5 * (np.log(b) / t) ** 2)
                for share, s, t in calibration.PRIOR
            )
            p, q = 1 / (1 + np.exp(-a - 2 * b + 3)), 1 / (1 + np.exp(-a - 2 * b - 1))
            posterior[row, column] = prior * p * (1 - p) * q
    posterior *= steps / np.sum(posterior * steps)
    assert np.mean([one.shift for one in found]) == pytest.approx(posterior.sum(axis=1) @ calibration.SHIFTS, abs=0.01)
    assert np.mean([one.slope for one in found]) == pytest.approx(posterior.sum(axis=0) @ calibration.SLOPES, abs=0.01)


def test_no_label_is_held_against_what_it_told_itself():
    pool, y, _ = pool_of_two()
    evidence = evaluate(pool, "error_rate", y, 80, 1, model="a").evidence
    belief, items, labels = evidence.estimation.belief, evidence.sample.items, evidence.sample.labels
    before = belief._told_by_others(items, labels)
    turned = labels.copy()
    turned[5] = 1 - turned[5]
    after = belief._told_by_others(items, turned)
    fold = np.arange(len(labels)) % 4 == 5 % 4
    np.testing.assert_array_equal(after[fold], before[fold])
    assert np.all(after[~fold] != before[~fold])


def test_what_others_know_narrows_intervals_that_hold(monkeypatch):
    def simulated():
        held, widths = [], []
        for seed in range(60):
            pool, y, truth = pool_of_two(seed=seed)
            found = evaluate(pool, "error_rate", y, 100, seed, model="a").interval()
            held.append(truth in found)
            widths.append(found.high - found.low)
        return np.mean(held), np.mean(widths)

    held, width = simulated()
    monkeypatch.setattr(variances, "plausible_corrected", lambda *parts: ())
    _, without = simulated()
    assert held >= 0.88
    assert width < 0.8 * without


def test_features_that_know_nothing_leave_intervals_that_hold():
    held = []
    for seed in range(60):
        random = np.random.default_rng([1, seed])
        p = random.beta(0.4, 0.4, 3000)
        y = (random.random(3000) < p).astype(int)
        pool = Pool(p, features=random.normal(size=(3000, 40)))
        held.append(np.mean((p > 0.5) != y) in evaluate(pool, "error_rate", y, 80, seed).interval())
    assert np.mean(held) >= 0.88


@pytest.mark.parametrize("measure", ["error_rate", "f1", "auc"])
def test_it_is_never_more_than_without(measure):
    for seed in range(3):
        pool, y, _ = pool_of_two(seed=seed)
        evidence = evaluate(pool, measure, y, 60, seed, model="a").evidence
        parts = evidence.contrast, evidence.sample, evidence.fit.sums
        belief = evidence.estimation.belief
        without = believed_variance(*parts, *plausible(evidence.contrast, belief, evidence.sample))
        assert len(plausible_corrected(evidence.contrast, belief, evidence.sample)) == PLAUSIBLE
        assert 0 < plausible_variance(*parts, belief) <= without


def test_nothing_is_corrected_of_one_model_of_losses_and_of_differences():
    pool, y, _ = pool_of_two()
    alone = evaluate(Pool(expit(np.linspace(-4, 4, 4000))), "error_rate", y, 60, 1).evidence
    loss = evaluate(pool, "log_loss", y, 60, 1, model="a").evidence
    between = compare(pool, "a", "b", "f1", labels=y, budget=60, seed=1).estimate.evidence
    for evidence in (alone, loss, between):
        parts = evidence.contrast, evidence.sample, evidence.fit.sums
        belief = evidence.estimation.belief
        assert plausible_corrected(evidence.contrast, belief, evidence.sample) == ()
        wanted = believed_variance(*parts, *plausible(evidence.contrast, belief, evidence.sample))
        assert plausible_variance(*parts, belief) == wanted
    untaught = replace(loss.estimation.belief, correction=type(loss.estimation.belief.correction)())
    assert untaught.plausible_corrected(loss.sample.items, loss.sample.labels, np.ones(60)) == ()
