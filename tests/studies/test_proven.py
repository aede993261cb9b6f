"""Estimates and intervals keep within what the labels prove."""

import numpy as np
import pytest

from sondage import Classifier, Pool, evaluate, select

SIZE = 3000


@pytest.fixture(scope="module")
def surely_right():
    """Return probabilities of a model that is in doubt of a few per cent, and right of all others; and the labels."""
    random = np.random.default_rng(3)
    sure, doubtful = np.where(random.random(SIZE) < 0.2, 0.97, 0.02), random.random(SIZE)
    p = np.where(random.random(SIZE) < 0.04, doubtful, sure)
    return p, (random.random(SIZE) < np.where((p == 0.97) | (p == 0.02), p > 0.5, p)).astype(int)


def ends(p, labels, asked, measure):
    """Return the measure with the predictions for all other items wrong and right, counted item by item."""
    predicted, rest = (p > 0.5).astype(int), np.setdiff1d(np.arange(SIZE), asked)
    values = []
    for of_rest in (1 - predicted[rest], predicted[rest]):
        y = labels.copy()
        y[rest] = of_rest
        hits, off = np.sum((y == 1) & (predicted == 1)), np.sum(y != predicted)
        values.append(off / SIZE if measure == "error_rate" else 2 * hits / (2 * hits + off))
    return tuple(sorted(values))


@pytest.mark.parametrize("measure", ["error_rate", "f1"])
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_nothing_that_the_labels_exclude_is_said(surely_right, measure, precision):
    p, labels = surely_right
    pool, at_an_end = Pool(p.astype(precision)), 0
    for seed in range(6):
        asked = []

        def answer(ids, asked=asked):
            asked.extend(ids)
            return labels[np.array(ids)].tolist()

        estimate = evaluate(pool, measure, answer, 300, seed)
        assert estimate.possible == pytest.approx(ends(p, labels, asked, measure), abs=1e-7)
        interval, (least, most) = estimate.interval(), estimate.possible
        assert least <= interval.low <= estimate.value <= interval.high <= most
        assert interval.width > 0
        at_an_end += interval.low == least or interval.high == most
        free = estimate.interval(kind="wilson_effective")
        assert free.low <= interval.low + 0.01
    assert at_an_end  # else nothing was shown


@pytest.mark.parametrize(
    "options", [{"method": "thesis"}, {"target": "population"}, {"interval": "wald"}, {"measure": "mcc"}], ids=str
)
def test_what_is_kept_to_the_letter_has_the_bounds_of_the_measure(surely_right, options):
    p, labels = surely_right
    estimate = evaluate(Pool(p), options.pop("measure", "error_rate"), labels, 200, 1, **options)
    assert estimate.possible == estimate.bounds


def test_of_several_models_values_stay_as_they_rank_them(surely_right):
    p, labels = surely_right
    found = select(
        Pool(models={"a": Classifier(p), "b": Classifier(1 - p), "c": Classifier(p**2)}),
        "error_rate",
        labels=labels,
        budget=200,
    )
    assert all(one.possible == one.bounds for one in found.estimates.values())


def test_slices_prove_something_of_the_whole_together(surely_right):
    p, labels = surely_right
    parts = np.where(np.arange(SIZE) % 3 == 0, "few", "many")
    asked = []

    def answer(ids):
        asked.extend(ids)
        return labels[np.array(ids)].tolist()

    found = evaluate(Pool(p), "f1", answer, 300, slices=parts)
    assert found.overall.possible == pytest.approx(ends(p, labels, asked, "f1"), abs=1e-12)
    assert found["few"].possible != found["many"].possible
    least, most = found.overall.possible
    assert least <= found.overall.interval().low <= found.overall.value <= found.overall.interval().high <= most


def test_the_estimate_is_nearer_for_it(surely_right):
    p, labels = surely_right
    truth, closer = np.mean(labels != (p > 0.5)), []
    for seed in range(20):
        estimate = evaluate(Pool(p), "error_rate", labels, 300, seed)
        free = estimate.evidence.fit.value
        assert abs(estimate.value - truth) <= abs(free - truth) + 1e-12
        closer.append(abs(estimate.value - truth) < abs(free - truth) - 1e-9)
    assert any(closer)
