"""Limits of a measure that no label speaks against, and how far intervals reach then."""

import numpy as np
import pytest

from sondage import Classifier, Pool, compare, estimate_from, evaluate
from sondage.core.intervals import wald_interval, wilson_interval
from sondage.core.parts import denominator_labels
from sondage.core.possible import unrefuted_limits

SIZE = 4000


@pytest.mark.parametrize(
    ("measure", "predictions", "labels", "expected"),
    [
        ("error_rate", [0, 1, 1, 0], [0, 1, 1, 0], (True, False)),
        ("error_rate", [0, 1, 1, 0], [0, 1, 0, 0], (False, False)),
        ("error_rate", [0, 1], [1, 0], (False, True)),
        ("accuracy", [0, 1, 1, 0], [0, 1, 1, 0], (False, True)),
        ("recall", [0, 1, 1, 1], [0, 1, 1, 0], (False, True)),  # a false positive says nothing of recall
        ("recall", [0, 1, 0], [0, 0, 0], (True, True)),  # no positive: nothing is known
        ("precision", [0, 1, 0], [1, 1, 0], (False, True)),
        ("f1", [0, 1, 1], [0, 1, 0], (False, False)),
        ("f1", [0, 1, 0], [0, 0, 1], (True, False)),
        ("mcc", [0, 1, 1], [0, 1, 1], (False, True)),
        ("mcc", [0, 1, 0], [0, 1, 1], (False, False)),
        ("expected_cost:costs=0/1/5/0", [0, 1, 1], [0, 1, 1], (True, False)),
    ],
)
def test_a_limit_is_refuted_by_the_first_label_against_it(measure, predictions, labels, expected):
    drawn = np.full(len(labels), 0.1)
    assert estimate_from(measure, predictions=predictions, labels=labels, inclusion=drawn).unrefuted == expected


def test_weights_and_shares_leave_the_limit_where_it_is():
    found = estimate_from(
        "accuracy", predictions=[0, 1, 1], labels=[0, 1, 1], inclusion=[0.3, 0.7, 0.1], weights=[0.1, 1 / 3, 7.0]
    )
    contrast, sample = found.evidence.contrast, found.evidence.sample
    assert unrefuted_limits(contrast, [(0.3, sample), (0.7, sample)]) == found.unrefuted == (False, True)


def test_differences_have_no_limit_of_this_kind():
    random = np.random.default_rng(0)
    p, labels = random.random(SIZE), random.integers(0, 2, SIZE)
    pool = Pool(models={"a": Classifier(p), "b": Classifier(1 - p)})
    assert compare(pool, "a", "b", "f1", labels=labels, budget=60).estimate.unrefuted == (False, False)


@pytest.fixture(scope="module")
def never_missed():
    """Return a model that finds every positive, and says of many others that it is not sure; and the labels."""
    random = np.random.default_rng(1)
    labels = (random.random(SIZE) < 0.1).astype(int)
    p = np.where(labels == 1, random.uniform(0.55, 1.0, SIZE), random.uniform(0.0, 0.6, SIZE))
    return p, labels


def test_a_limit_that_is_the_truth_is_held_by_every_interval(never_missed):
    p, labels = never_missed
    pool = Pool(p)
    for seed in range(30):
        interval = evaluate(pool, "recall", labels=labels, budget=100, seed=seed).interval()
        assert interval.high == 1.0
        assert 0.0 < interval.low < 1.0


def test_the_other_end_is_no_nearer_than_the_number_of_labels_has_it(never_missed):
    p, labels = never_missed
    estimate = evaluate(Pool(p), "recall", labels=labels, budget=100, seed=3)
    assert estimate.interval().low <= wilson_interval(1.0, denominator_labels(estimate)).low


@pytest.mark.parametrize("options", [{"target": "population"}, {"method": "passive"}], ids=str)
def test_it_holds_for_populations_and_equal_draws(never_missed, options):
    p, labels = never_missed
    found = evaluate(Pool(p), "recall", labels=labels, budget=200, **options)
    assert found.unrefuted == (False, True)
    assert found.interval().high == 1.0


def test_it_holds_for_slices_and_the_whole(never_missed):
    p, labels = never_missed
    found = evaluate(Pool(p), "recall", labels=labels, budget=200, slices=np.arange(SIZE) % 2)
    for estimate in (*found.estimates.values(), found.overall):
        assert estimate.unrefuted == (False, True)
        assert estimate.interval().high == 1.0


def test_named_intervals_are_kept_to_the_letter(never_missed):
    p, labels = never_missed
    estimate = evaluate(Pool(p), "recall", labels=labels, budget=100, seed=2)
    wald = wald_interval(estimate.value, estimate.std_error, bounds=(0.0, 1.0))
    assert estimate.interval(kind="wald").low == wald.low > estimate.interval().low


def test_coverage_of_a_model_that_is_sure_and_seldom_wrong():
    random = np.random.default_rng(5)
    p = np.where(random.random(SIZE) < 0.9, 0.9999, random.uniform(0.5, 0.9, SIZE))
    labels = np.where(p == 0.9999, random.random(SIZE) >= 0.01, random.random(SIZE) < 0.999).astype(int)
    truth, pool, held = float(np.mean(labels != 1)), Pool(p), []
    for seed in range(100):  # of the intervals by the standard error alone half hold
        interval = evaluate(pool, "error_rate", labels=labels, budget=100, seed=seed).interval()
        held.append(interval.low <= truth <= interval.high)
    assert np.mean(held) > 0.9


@pytest.mark.parametrize("seed", range(5))
def test_doubt_is_not_taken_for_a_lack_of_labels(seed):
    p = np.where(np.arange(SIZE) % 2 == 0, 0.97, 0.02)
    estimate = evaluate(Pool(p), "error_rate", labels=(p > 0.5).astype(int), budget=50, seed=seed)
    assert estimate.interval().low == 0.0
    assert wilson_interval(0.0, 50).high <= estimate.interval().high < 1.3 * wilson_interval(0.0, 50).high


@pytest.mark.parametrize(("measure", "value"), [("accuracy", 1.0), ("recall", 1.0), ("f1", 1.0), ("error_rate", 0.0)])
def test_labels_drawn_elsewhere_that_all_agree_are_counted(measure, value):
    labels = np.repeat([0, 1], [60, 40])
    found = estimate_from(measure, predictions=labels, labels=labels, inclusion=np.full(100, 0.001))
    expected = wilson_interval(value, denominator_labels(found))
    assert (found.value, np.isnan(found.std_error)) == (value, True)
    assert (found.interval().low, found.interval().high) == (expected.low, expected.high)
    assert found.interval(kind="wald").kind == "undefined"
