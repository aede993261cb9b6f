"""How far off an estimate is by what labels leave possible, and how far intervals reach for it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from sondage import Classifier, Pool, compare, evaluate
from sondage.core.beliefs import ClassBelief
from sondage.core.calibration import LAPSES, LAPSES_OF_SURE, plausible_events, plausible_lapses
from sondage.core.comparisons import Contrast
from sondage.core.measures import Task, parse_measure
from sondage.core.plausible import PlausibleErrors, joined_errors, plausible, plausible_errors
from sondage.core.predictions import Classes, Items
from sondage.core.samples import Sample, from_inclusion


def contrast_of(measure):
    return Contrast(parse_measure(measure).ready(Task("classification", (0, 1))), ((0, 1.0),))


def test_an_equal_draw_is_off_by_what_the_belief_has_of_the_others_less_what_their_like_showed():
    """A third of 300 items, weights 3: the others are twice the sample, and believed to have a loss each of its own."""
    random = np.random.default_rng(0)
    p, labels = random.random(100), random.integers(0, 2, 100)
    items = Items((Classes((p > 0.5).astype(int), p),), np.full(100, 1 / 300))
    sample = Sample(items, labels, from_inclusion(np.full(100, 1 / 3)))
    beliefs = [ClassBelief(2, models=((0, 1.0),), shift=shift) for shift in (-1.0, 0.5)]
    found = plausible_errors(contrast_of("brier"), sample, {0: np.array([0.3])}, beliefs)
    loss = (labels - p) ** 2
    for belief, mean, deviation in zip(beliefs, found.means, found.deviations, strict=True):
        q = 1 / (1 + (1 - p) / p * np.exp(-belief.shift))
        believed = q * (1 - p) ** 2 + (1 - q) * p**2
        variance = q * (1 - q) * ((1 - p) ** 2 - p**2) ** 2
        assert mean == pytest.approx(2 * np.sum(believed - loss) / 300)
        assert deviation == pytest.approx(np.sqrt(2 * np.sum(variance)) / 300)


@pytest.mark.parametrize("probability", [0.001, 0.025, 0.5, 0.9, 0.999])
def test_quantiles_are_those_of_the_mixture(probability):
    random = np.random.default_rng(1)
    errors = PlausibleErrors(random.normal(size=30), random.gamma(1.0, size=30))
    found = errors.quantile(probability)
    assert np.mean(norm.cdf(found, errors.means, errors.deviations)) == pytest.approx(probability)
    assert errors.scaled(3.0).quantile(probability) == pytest.approx(3.0 * found)


def test_quantiles_where_nothing_is_uncertain():
    assert PlausibleErrors(np.full(3, 2.0), np.zeros(3)).quantile(0.9) == 2.0
    assert PlausibleErrors(np.array([1.0, 1.0, 5.0, 5.0]), np.zeros(4)).quantile(0.9) == pytest.approx(5.0)


def test_parts_without_errors_are_known():
    errors = PlausibleErrors(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert joined_errors([(0.5, None), (0.5, None)]) is None
    joined = joined_errors([(0.25, errors), (0.75, None)])
    np.testing.assert_allclose(joined.means, [0.25, 0.5])
    both = joined_errors([(0.5, errors), (0.5, errors)])
    np.testing.assert_allclose(both.deviations, errors.deviations / np.sqrt(2))


def spam(generator):
    """Return probabilities of a filter that is five times too sure, and labels of which 3 % came by chance."""
    odds = generator.normal(0.0, 6.0, 3000)
    labels = generator.random(3000) < expit(odds / 5.0)
    chance = generator.random(3000) < 0.03
    return expit(odds), np.where(chance, generator.random(3000) < 0.5, labels).astype(int)


def test_intervals_of_losses_reach_for_sure_items_that_are_wrong():
    held, without = [], []
    for seed in range(60):
        p, labels = spam(np.random.default_rng([seed]))
        truth = float(-np.mean(np.log(np.clip(np.where(labels == 1, p, 1 - p), 1e-15, 1))))
        found = evaluate(Pool(p), "log_loss", labels, 50, seed)
        held.append(truth in found.interval())
        without.append(truth in replace(found, plausible=None).interval())
    assert np.mean(held) >= 0.9
    assert np.mean(held) > np.mean(without)


def test_lapses_are_likelier_where_the_model_is_found_too_sure():
    random = np.random.default_rng(2)
    odds = np.concatenate([random.normal(0.0, 3.0, 60), np.full(20, 9.0)])

    def lapsing(slope, prior):
        events = random.random(80) < 1 / (1 + np.exp(-slope * odds))
        events[60:] = True  # no sure item is wrong
        return np.mean([point.lapse > 0 for point in plausible_events(odds, events, np.ones(80), 60, prior=prior)])

    assert lapsing(0.15, LAPSES_OF_SURE) > lapsing(0.15, LAPSES)
    assert lapsing(1.0, LAPSES_OF_SURE) < lapsing(0.15, LAPSES_OF_SURE)


def noisy(generator):
    """Return right probabilities of rare positives, and labels of which one in a hundred came by chance."""
    odds = generator.normal(-9.0, 4.0, 4000)
    labels = generator.random(4000) < expit(odds)
    chance = generator.random(4000) < 0.01
    return expit(odds), np.where(chance, generator.random(4000) < 0.5, labels).astype(int)


def test_intervals_of_counts_reach_for_labels_that_are_wrong_by_chance():
    measures, held, without = ("f1", "error_rate"), [], []
    for seed in range(60):
        p, labels = noisy(np.random.default_rng([9, seed]))
        truths = evaluate(Pool(p), measures, labels, 4000, method="passive")  # of all labels: the quickest will do
        found = evaluate(Pool(p), measures, labels, 100, seed)
        held.append([truths[m].value in found[m].interval() for m in measures])
        without.append([truths[m].value in replace(found[m], plausible=None).interval() for m in measures])
    assert np.mean(held, axis=0).min() >= 0.9
    assert np.mean(held) > np.mean(without)


def nearly_perfect(random, apart, wrong):
    """Return right probabilities of two classes so far from each other, and labels of which a share is wrong."""
    side = random.random(6000) < 0.5
    p = expit(apart * (np.where(side, apart / 2, -apart / 2) + random.normal(size=6000)))
    return p, np.where(random.random(6000) < wrong, ~side, side).astype(int)


def test_a_model_that_is_nearly_perfect_may_be_surprised_as_often_as_others():
    """Ten times as often as hardly ever is hardly ever: .77 of these intervals held."""
    held = []
    for seed in range(60):
        p, labels = nearly_perfect(np.random.default_rng([12, seed]), 8.0, 0.003)
        interval = evaluate(Pool(p), "error_rate", labels, 100, seed).interval()
        held.append(interval.low <= np.mean((p > 0.5) != labels) <= interval.high)
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_losses_of_a_nearly_perfect_model_reach_for_labels_that_are_wrong_by_chance(measure):
    """Of the beliefs that the standard error averages over few lapse: with these .65 and .68 of the intervals held."""
    held = []
    for seed in range(40):
        p, labels = nearly_perfect(np.random.default_rng([13, seed]), 6.0, 0.01)
        truth = evaluate(Pool(p), measure, labels, 6000, method="passive").value
        held.append(truth in evaluate(Pool(p), measure, labels, 100, seed).interval())
    assert np.mean(held) >= 0.8


@pytest.mark.parametrize(("least", "most"), [(0.0, 0.0005), (0.003, 0.06)])
def test_lapses_have_a_share_that_a_sure_model_does_not_bound(least, most):
    sure = np.full(4, 15.0)
    points = plausible_events(sure, np.ones(4, bool), np.ones(4), 40, prior=replace(LAPSES, least=least))
    assert max(point.lapse for point in points) == pytest.approx(most, abs=0.0005)  # ten times twice the least


def test_one_models_losses_of_probabilities_and_counts_have_plausible_errors():
    p, labels = spam(np.random.default_rng(3))
    pool = Pool(models={"a": Classifier(p), "b": Classifier(p**2)})
    assert evaluate(Pool(p), "auc", labels, 50).plausible is None
    assert evaluate(Pool(predictions=(p > 0.5).astype(int)), "f1", labels, 50).plausible is None
    for measure in ("log_loss", "f1"):
        assert compare(pool, "a", "b", measure, labels=labels, budget=50).estimate.plausible is None
    assert evaluate(Pool(p), "brier", labels, 3000).plausible is None
    contrast = contrast_of("brier")
    sample = evaluate(Pool(p), "brier", labels, 50).evidence.sample
    only = (ClassBelief(2, models=((0, 1.0),)),)
    assert plausible_errors(contrast, sample, {0: np.array([0.1])}, only) is None
    assert len(plausible(contrast, only[0], sample)) == 60


def test_the_whole_of_slices_reaches_for_what_its_slices_do():
    p, labels = spam(np.random.default_rng(4))
    slices = evaluate(Pool(p), "log_loss", labels, 100, slices=np.arange(3000) % 2)
    own = [slices[key].plausible for key in (0, 1)]
    np.testing.assert_allclose(slices.overall.plausible.means, (own[0].means + own[1].means) / 2)


def test_lapses_that_labels_leave_possible_are_quantiles_of_their_posterior():
    """Of the five shares that may be, each as likely as its prior times what the labels have by it."""
    random = np.random.default_rng(5)
    told, chance = random.uniform(0.01, 0.99, 12), np.repeat([1 / 3, 1 / 5], 6)
    surprises, weights = random.uniform(0.01, 0.04, 12), random.random(12)
    doubt = np.average(surprises, weights=weights) / (1 - chance.mean())
    shares = np.append(0.0, np.minimum(np.array(LAPSES.rates) * doubt, 0.5))
    none = np.dot([0.65, 0.25, 0.10], LAPSES.none)
    likelihood = [np.prod((1 - share) * told + share * chance) for share in shares]
    posterior = np.append(none, np.full(4, (1 - none) / 4)) * likelihood
    found = [one.lapse for one in plausible_lapses(told, surprises, weights, 1000, chance=chance)]
    counts = [np.count_nonzero(np.isclose(found, share)) for share in shares]
    assert sum(counts) == 1000
    assert counts == pytest.approx(1000 * posterior / posterior.sum(), abs=1.0)
    assert found == sorted(found)
    assert len(plausible_lapses(told[:0], surprises[:0], weights[:0], 9, chance=chance[:0])) == 1
