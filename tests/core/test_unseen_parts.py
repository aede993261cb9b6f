"""Means of ratios of which labels leave some at a limit: balanced accuracy and macro F where a class is rare."""

import tracemalloc
from dataclasses import replace
from math import hypot

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binom

from sondage import Classifier, Pool, compare, estimate_from, evaluate
from sondage.core.intervals import wilson_interval
from sondage.core.measures import Task, parse_measure
from sondage.core.ratios import EstimatedRatios, estimated_ratios, ratios_from_labels, with_unseen_ratios
from sondage.core.results import Interval
from sondage.studies.method import METHODS

DRAWN = 0.001  # of a pool so large that a sample is next to none of it


def drawn(measure, predictions, labels, **options):
    """Return the estimate from equal draws."""
    inclusion = np.full(len(labels), DRAWN)
    return estimate_from(measure, predictions=predictions, labels=labels, inclusion=inclusion, **options)


def test_positives_that_are_all_found_count_as_what_they_are():
    predictions = np.repeat([1, 0, 1], [5, 90, 5])  # five of five found, five false alarms among 95
    labels = np.repeat([1, 0], [5, 95])
    found = drawn("balanced_accuracy", predictions, labels)
    auto, specificity = found.interval(), drawn("specificity", predictions, labels).interval()
    recall, below = wilson_interval(1.0, 5), found.value - (1.0 + specificity.low) / 2
    assert auto.low == pytest.approx(found.value - hypot(below, (1.0 - recall.low) / 2))
    assert auto.high == pytest.approx((1.0 + specificity.high) / 2)  # above 1 there is no recall
    assert auto.low < 0.76 < found.value - below


def test_the_variance_of_a_mean_of_shares_has_the_slope_of_its_parts():
    sizes, shares = (40, 10), (0.8, 0.3)  # of two classes, enumerated
    counts = [np.arange(n + 1) for n in sizes]
    chances = np.multiply.outer(*(binom.pmf(c, n, r) for c, n, r in zip(counts, sizes, shares, strict=True)))
    found = [count / n for count, n in zip(counts, sizes, strict=True)]
    means = np.add.outer(*found) / 2
    variances = np.add.outer(*(r * (1 - r) / (n - 1) / 4 for r, n in zip(found, sizes, strict=True)))
    off = means - np.sum(chances * means)
    variance = np.sum(chances * off**2)
    slope, n = EstimatedRatios(np.array(shares), np.array(shares), np.array(sizes) * 1.0, np.nan).parabola(variance)
    assert slope == pytest.approx(np.sum(chances * off * variances) / variance)
    assert 10 < n < 40
    many = EstimatedRatios(np.full(3, 0.4), np.full(3, 0.4), np.full(3, 20.0), np.nan).parabola(0.4 * 0.6 / 60)
    assert many == pytest.approx(((1 - 2 * 0.4) / 60, 60))  # alike: as of one share with all their labels


def test_all_labels_right_leave_each_class_its_own_doubt():
    labels = np.repeat([0, 1, 2], [60, 12, 3])
    low = drawn("balanced_accuracy", labels, labels).interval(0.9).low
    ends = [1.0 - wilson_interval(1.0, n, 0.9).low for n in (60, 12, 3)]
    assert low == pytest.approx(1.0 - hypot(1.0 - wilson_interval(1.0, 75, 0.9).low, *(end / 3 for end in ends)))


def test_a_class_without_any_label_may_be_anything():
    labels, predictions = np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    both = drawn("balanced_accuracy", predictions, labels)
    with_third = drawn("balanced_accuracy", predictions, labels, classes=[0, 1, 2])
    assert both.value == with_third.value == pytest.approx(0.8)
    narrow, wide = both.interval(), with_third.interval()
    assert wide.low == pytest.approx(narrow.low - 0.8 / 3)  # the third class is there, and never found
    assert wide.high == pytest.approx(narrow.high + 0.2 / 3)  # or always
    assert drawn("macro_f", predictions, labels, classes=[0, 1, 2]).interval().high == pytest.approx(
        drawn("macro_f", predictions, labels).interval().high * 2 / 3 + 1 / 3, abs=0.03
    )


@pytest.fixture(scope="module")
def two_of_four():
    """Return probabilities of four classes, of which two do not occur and are hardly thought likely, and labels."""
    random = np.random.default_rng(2)
    labels = random.integers(0, 2, 600)
    right = np.where(random.random(600) < 0.9, labels, 1 - labels)
    return np.where(np.arange(4) == right[:, None], 0.86, [0.08, 0.08, 0.03, 0.03]), labels


def test_a_class_that_only_the_belief_tells_of_may_not_occur(two_of_four):
    probabilities, labels = two_of_four
    truth = evaluate(Pool(probabilities), "balanced_accuracy", labels, 600).value
    found = evaluate(Pool(probabilities), "balanced_accuracy", labels, 60)
    assert found.value < 0.6  # two of four classes are thought to be there, and never found
    assert truth in found.interval()
    told = ratios_from_labels(found.evidence.contrast, [(1.0, found.evidence.sample)], found.evidence.fit.sums[0]).told
    assert found.interval().high > told > 0.8


@pytest.mark.parametrize("told", ["probabilities", "predictions"])
def test_a_class_of_which_labels_were_expected_and_none_came_does_not_occur(two_of_four, told):
    probabilities, labels = two_of_four
    models = {
        "a": probabilities.argmax(axis=1),
        "b": np.where(np.arange(600) % 10 == 0, 2, probabilities.argmax(axis=1)),
    }
    if told == "probabilities":
        other = np.where(models["b"][:, None] == 2, [0.1, 0.1, 0.77, 0.03], probabilities)
        pool = Pool(models={"a": Classifier(probabilities), "b": Classifier(other)})
    else:
        pool = Pool(models={name: Classifier(predictions=one) for name, one in models.items()}, classes=[0, 1, 2, 3])
    truth = compare(pool, "a", "b", "balanced_accuracy", labels=labels, budget=600).difference
    runs = [compare(pool, "a", "b", "balanced_accuracy", labels=labels, budget=250, seed=seed) for seed in range(8)]
    assert np.mean([run.difference for run in runs]) == pytest.approx(truth, rel=0.15)
    assert sum(truth in run.interval() for run in runs) > 5
    one = evaluate(pool, "balanced_accuracy", labels, 250, model="a")
    assert one.value == pytest.approx(0.9, abs=0.04)
    assert one.interval().low < one.value / 2  # they may be there after all, and never found


def test_a_single_label_against_each_limit_leaves_the_interval_to_the_spread():
    labels, predictions = np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    for measure in ("balanced_accuracy", "macro_f"):
        found = drawn(measure, predictions, labels)
        assert found.interval().low == found.interval(kind="wilson_effective").low


@pytest.mark.parametrize("recall", [0.3, 0.9])
def test_rare_positives_are_held(recall):
    random = np.random.default_rng(3)
    labels = (random.random(4000) < 0.01).astype(int)
    found = random.random(4000) < np.where(labels == 1, recall, 0.002)
    pool, measures = Pool(np.where(found, 0.8, 0.05)), ["balanced_accuracy", "macro_f"]
    truth = evaluate(pool, measures, labels=labels, budget=4000, seed=0)
    runs = [evaluate(pool, measures, labels=labels, budget=80, seed=s, method="passive") for s in range(150)]
    for name in measures:
        assert np.mean([truth[name].value in run[name].interval() for run in runs]) > 0.93


def test_rare_positives_of_slices_are_held_for_the_whole():
    # Without what labels tell of each class .68 of the intervals of macro F held, .80 of balanced accuracy.
    random = np.random.default_rng(5)
    labels = (random.random(3000) < 0.02).astype(int)
    found = random.random(3000) < np.where(labels == 1, 0.8, 0.01)
    pool = Pool(np.where(found, 0.8, 0.05))
    measures, slices = ["balanced_accuracy", "macro_f"], np.arange(3000) % 3
    truth = evaluate(pool, measures, labels=labels, budget=3000, seed=0)
    found = [evaluate(pool, measures, labels, 90, seed, method="passive", slices=slices) for seed in range(80)]
    for name in measures:
        wanted, runs = truth[name].value, [one[name].overall for one in found]
        assert np.mean([wanted in run.interval() for run in runs]) > 0.9
        assert np.mean([wanted in replace(run, ratios=None, plausible=None).interval() for run in runs]) < 0.85


def test_the_parts_of_slices_are_those_of_all_their_labels():
    random = np.random.default_rng(6)
    p = random.random(400)
    labels = (random.random(400) < p).astype(int)
    slices = np.arange(400) % 2
    overall = evaluate(Pool(p), "macro_f", labels, 400, slices=slices).overall
    whole = evaluate(Pool(p), "macro_f", labels, 400).evidence
    alone = ratios_from_labels(whole.contrast, [(1.0, whole.sample)], whole.fit.sums[0])
    for name in ("labelled", "estimated", "counts"):
        assert getattr(overall.ratios, name) == pytest.approx(getattr(alone, name), rel=1e-9)


def test_differences_are_left_to_their_test():
    random = np.random.default_rng(0)
    labels = (random.random(1000) < 0.05).astype(int)
    pool = Pool(models={"a": Classifier(labels * 0.8 + 0.1), "b": Classifier(0.3 + 0.1 * labels)})
    found = compare(pool, "a", "b", "balanced_accuracy", labels=labels, budget=60, method="passive")
    assert found.interval().kind == "t"


def test_differences_name_the_class_that_nobody_labelled():
    labels = np.arange(1000) % 250 == 0  # four positives, of which equal draws of 20 hardly bring one
    pool = Pool(models={"a": Classifier(labels * 0.8 + 0.1), "b": Classifier(np.full(1000, 0.3))})
    said = "no labelled item tells of class 1: their part of balanced_accuracy is not known"
    for seed in range(10):
        found = compare(pool, "a", "b", "balanced_accuracy", labels=labels * 1, budget=20, seed=seed, method="passive")
        assert (said in found.estimate.warnings) == (1 not in found.estimate.evidence.sample.labels)


def test_classes_that_no_label_tells_of_are_named():
    labels, predictions = np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 0, 2], [40, 10, 10, 40])
    found = drawn("balanced_accuracy", predictions, labels, classes=[0, 1, 2, 3])
    assert found.warnings == ("no labelled item tells of classes 2, 3: their part of balanced_accuracy is not known",)
    (warning,) = drawn("macro_f", predictions, labels, classes=[0, 1, 2, 3]).warnings
    assert warning.startswith("no labelled item tells of class 3:")
    assert drawn("f1", np.repeat([0, 1, 0, 1], [40, 10, 10, 40]), labels).warnings == ()
    many = [str(name) for name in range(9)]
    warned = drawn("macro_f", ["0", "1"], ["1", "0"], classes=many).warnings[-1]
    assert "of classes 2, 3, 4, 5, 6 and 2 others:" in warned
    pool = Pool(np.tile([0.5, 0.5, 0.0], (60, 1)), classes=["a", "b", "c"])
    estimate = evaluate(pool, "macro_f", labels=["a", "b"] * 30, budget=20, seed=0)
    assert any("tells of class c:" in warning for warning in estimate.warnings)


def many_classes(k, size, power, seed=3):
    """Return what a model that takes k classes for equally frequent says, and labels in shares of 1 / rank ** power."""
    random = np.random.default_rng(seed)
    share = np.arange(1.0, k + 1) ** -power
    labels = random.choice(k, size, p=share / share.sum())
    seen = random.normal(size=(size, k))
    seen[np.arange(size), labels] += 2.8
    return softmax(2.8 * seen, axis=1), labels


def test_distances_of_what_one_belief_tells_are_added():
    found = drawn("balanced_accuracy", np.repeat([0, 1], 50), np.repeat([0, 1], 50))
    same = replace(found, value=0.6, evidence=None, plausible=None)
    whole, nan = Interval(0.5, 0.7, 0.95, "score"), np.nan

    def ends(labelled, counts, *, refuted):
        ratios = EstimatedRatios(np.array(labelled), np.array([0.5, 0.6, 0.7]), np.array(counts), nan, refuted)
        interval = with_unseen_ratios(whole, replace(same, ratios=ratios))
        return 0.6 - interval.low, interval.high - 0.6

    down, up = ends([nan, nan, 0.8], [0.0, 0.0, 9.0], refuted=False)
    assert (down, up) == (pytest.approx(hypot(0.1, (0.5 + 0.6) / 3)), pytest.approx(hypot(0.1, (0.5 + 0.4) / 3)))
    one = 0.7 - wilson_interval(1.0, 4).low
    told = [nan, 0.3, 1.0], [0.0, 9.0, 4.0]
    assert ends(*told, refuted=False)[0] == pytest.approx(hypot(0.1, 0.5 / 3, one / 3))
    assert ends(*told, refuted=True)[0] == pytest.approx(hypot(0.1, (0.5 + one) / 3))


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_labels_refute_how_frequent_classes_are(power):
    probabilities, labels = many_classes(20, 4000, power)
    at_once = replace(METHODS["default"], stages=(1.0,))
    estimate = evaluate(Pool(probabilities), "macro_f", labels, 300, seed=0, method=at_once)
    assert estimated_ratios(estimate).refuted == (power > 0)
    in_stages = evaluate(Pool(probabilities), "macro_f", labels, 300, seed=0)
    assert not estimated_ratios(in_stages).refuted  # the first labels tell how frequent classes are
    passive = evaluate(Pool(probabilities), "macro_f", labels, 300, seed=0, method="passive")
    assert not estimated_ratios(passive).refuted  # which does not rest on what is believed


def test_means_over_classes_hold_where_the_belief_is_wrong_of_all():
    # With the squares of all distances added half of the intervals held.
    probabilities, labels = many_classes(40, 6000, 1.0)
    pool = Pool(probabilities)
    truth = evaluate(pool, "balanced_accuracy", labels, 6000).value
    runs = [evaluate(pool, "balanced_accuracy", labels, 300, seed) for seed in range(40)]
    assert np.mean([truth in run.interval() for run in runs]) > 0.85


def test_no_class_of_a_difference_has_a_share_below_0():
    # With 30 labels of twelve classes one had; the standard error of the difference, about .15, was 3 then.
    random = np.random.default_rng(1)
    labels = random.integers(0, 12, 800)
    seen = random.normal(size=(800, 12))
    seen[np.arange(800), labels] += 2.2
    outputs = [softmax(3.3 * (seen + noise * random.normal(size=(800, 12))), axis=1) for noise in (0.2, 0.8)]
    pool = Pool(models={name: Classifier(output) for name, output in zip("ab", outputs, strict=True)})
    truth = compare(pool, "a", "b", "balanced_accuracy", labels=labels, budget=800).difference
    runs = [compare(pool, "a", "b", "balanced_accuracy", labels=labels, budget=30, seed=seed) for seed in range(60)]
    assert max(run.estimate.std_error for run in runs) < 0.2
    assert np.mean([truth in run.interval() for run in runs]) > 0.9
    assert np.mean([run.interval().width for run in runs]) < 0.3


@pytest.mark.parametrize("name", ["balanced_accuracy", "macro_f"])
def test_ratios_of_classes_are_those_of_tables_of_which_none_is_kept(name):
    classes = tuple(range(300))
    tracemalloc.start()
    class_ratios = parse_measure(name).ready(Task("classification", classes)).class_ratios
    assert tracemalloc.get_traced_memory()[1] < 8 * 300**2 * 10  # ten tables, not two a class
    tracemalloc.stop()
    sums = np.random.default_rng(1).dirichlet(np.ones(300**2)).reshape(300, 300)
    above, below = class_ratios.at(sums)
    labels, predictions = np.array([0, 7, 7]), np.array([7, 7, 3])
    for c in (0, 7, 299):
        table = np.zeros((300, 300))
        table[:, c] += 1.0
        if name == "macro_f":
            table[c] += 1.0
            table /= 2.0
        assert above[c] == sums[c, c]
        assert below[c] == pytest.approx(np.sum(table * sums))
        assert class_ratios.counted(c, predictions, labels).tolist() == table[predictions, labels].tolist()
