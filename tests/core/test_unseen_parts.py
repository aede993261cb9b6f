"""Means of ratios of which labels leave some at a limit: balanced accuracy and macro F where a class is rare."""

from math import hypot

import numpy as np
import pytest

from sondage import Classifier, Pool, compare, estimate_from, evaluate
from sondage.core.intervals import wilson_interval

DRAWN = 0.001  # of a pool so large that a sample is next to none of it


def drawn(measure, predictions, labels, **options):
    """Return the estimate from equal draws."""
    inclusion = np.full(len(labels), DRAWN)
    return estimate_from(measure, predictions=predictions, labels=labels, inclusion=inclusion, **options)


def test_positives_that_are_all_found_count_as_what_they_are():
    predictions = np.repeat([1, 0, 1], [5, 90, 5])  # five of five found, five false alarms among 95
    labels = np.repeat([1, 0], [5, 95])
    found = drawn("balanced_accuracy", predictions, labels)
    auto, spread = found.interval(), found.interval(kind="wilson_effective")
    recall = wilson_interval(1.0, 5)
    assert auto.low == pytest.approx(found.value - hypot(found.value - spread.low, (1.0 - recall.low) / 2))
    assert auto.high == pytest.approx(spread.high)  # above 1 there is no recall
    assert auto.low < 0.76 < spread.low


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


def test_a_single_label_against_each_limit_leaves_the_interval_to_the_spread():
    labels, predictions = np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    for measure in ("balanced_accuracy", "macro_f"):
        found = drawn(measure, predictions, labels)
        assert found.interval().low == found.interval(kind="wilson_effective").low


@pytest.mark.parametrize("measure", ["balanced_accuracy", "macro_f"])
@pytest.mark.parametrize("recall", [0.3, 0.9])
def test_rare_positives_are_held(measure, recall):
    random = np.random.default_rng(3)
    labels = (random.random(4000) < 0.01).astype(int)
    found = random.random(4000) < np.where(labels == 1, recall, 0.002)
    pool = Pool(np.where(found, 0.8, 0.05))
    truth = evaluate(pool, measure, labels=labels, budget=4000, seed=0).value
    runs = [evaluate(pool, measure, labels=labels, budget=80, seed=s, method="passive") for s in range(150)]
    assert np.mean([truth in run.interval() for run in runs]) > 0.93


def test_differences_are_left_to_their_test():
    random = np.random.default_rng(0)
    labels = (random.random(1000) < 0.05).astype(int)
    pool = Pool(models={"a": Classifier(labels * 0.8 + 0.1), "b": Classifier(0.3 + 0.1 * labels)})
    found = compare(pool, "a", "b", "balanced_accuracy", labels=labels, budget=60, method="passive")
    assert found.interval().kind == "t"


def test_classes_that_no_label_tells_of_are_named():
    labels, predictions = np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 0, 2], [40, 10, 10, 40])
    found = drawn("balanced_accuracy", predictions, labels, classes=[0, 1, 2, 3])
    assert found.warnings == ("no labelled item tells of classes 2, 3: their part of balanced_accuracy is not known",)
    (warning,) = drawn("macro_f", predictions, labels, classes=[0, 1, 2, 3]).warnings
    assert warning.startswith("no labelled item tells of class 3:")
    assert drawn("f1", np.repeat([0, 1, 0, 1], [40, 10, 10, 40]), labels).warnings == ()
    many = [str(name) for name in range(9)]
    assert "of classes 2, 3, 4, 5, 6 and 2 more:" in drawn("macro_f", ["0", "1"], ["1", "0"], classes=many).warnings[-1]
    pool = Pool(np.tile([0.5, 0.5, 0.0], (60, 1)), classes=["a", "b", "c"])
    estimate = evaluate(pool, "macro_f", labels=["a", "b"] * 30, budget=20, seed=0)
    assert any("tells of class c:" in warning for warning in estimate.warnings)
