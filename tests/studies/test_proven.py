"""Estimates and intervals keep within what the labels prove."""

from itertools import product

import numpy as np
import pytest

from sondage import Classifier, Outcome, Pool, evaluate, select
from sondage.core.measures import parse_measure
from sondage.core.measures.functionals import Task
from sondage.errors import SondageWarning

from .noting import noting

SIZE = 3000


@pytest.fixture(scope="module")
def surely_right():
    """Return probabilities of a model that is in doubt of a few per cent, and right of all others; and the labels."""
    random = np.random.default_rng(3)
    sure, doubtful = np.where(random.random(SIZE) < 0.2, 0.97, 0.02), random.random(SIZE)
    p = np.where(random.random(SIZE) < 0.04, doubtful, sure)
    return p, (random.random(SIZE) < np.where((p == 0.97) | (p == 0.02), p > 0.5, p)).astype(int)


def ends(p, labels, asked, measure, weights=None):
    """Return the least and the greatest value over the labels of all others, which depend on the prediction alone."""
    weights = np.ones(SIZE) if weights is None else weights
    predicted, rest = (p > 0.5).astype(int), np.setdiff1d(np.arange(SIZE), asked)
    functional = parse_measure(measure).ready(Task("classification", (0, 1)))
    values = []
    for of_negative, of_positive in product((0, 1), (0, 1)):
        y, matrix = labels.copy(), np.zeros((2, 2))
        y[rest] = np.where(predicted[rest] == 1, of_positive, of_negative)
        np.add.at(matrix, (predicted, y), weights / weights.sum())
        values.append(functional.value(matrix))
    return min(values), max(values)


@pytest.mark.parametrize("measure", ["error_rate", "f1", "precision", "recall"])
@pytest.mark.parametrize("given", ["doubles", "singles", "weights", "costs"])
def test_nothing_that_the_labels_exclude_is_said(surely_right, measure, given):
    p, labels = surely_right
    some = 0.2 + np.random.default_rng(9).random(SIZE)
    weights = some if given == "weights" else None
    columns = {given: some} if given in ("weights", "costs") else {}
    pool = Pool(p.astype(np.float32 if given == "singles" else float), **columns)
    at_an_end = 0
    for seed in range(4):
        answer, asked = noting(labels)
        estimate = evaluate(pool, measure, answer, 300, seed)
        assert estimate.possible == pytest.approx(ends(p, labels, asked, measure, weights), abs=1e-7)
        interval, (least, most) = estimate.interval(), estimate.possible
        assert least <= interval.low <= estimate.value <= interval.high <= most
        assert estimate.exact or interval.width > 0
        at_an_end += interval.low == least or interval.high == most
    assert at_an_end  # else nothing was shown


@pytest.mark.parametrize("weighted", [False, True])
def test_a_truth_at_an_end_is_inside_however_it_is_summed(surely_right, weighted):
    p, labels = surely_right
    weights = 0.2 + np.random.default_rng(9).random(SIZE) if weighted else np.ones(SIZE)
    wrong, predicted = (p > 0.5) != labels, p > 0.5
    errors = np.sum(weights * wrong) / np.sum(weights)
    f1 = 2 * np.sum(weights * predicted * labels) / (np.sum(weights * predicted) + np.sum(weights * labels))
    at_an_end = 0
    for seed, (measure, truth) in product(range(4), (("error_rate", errors), ("f1", f1))):
        estimate = evaluate(Pool(p, weights=weights if weighted else None), measure, labels, 1200, seed)
        interval = estimate.interval()
        assert interval.low <= truth <= interval.high  # to the last bit
        at_an_end += min(truth - interval.low, interval.high - truth) < 1e-10
    assert at_an_end  # else nothing was shown


@pytest.mark.parametrize("measure", ["error_rate", "f1"])
def test_so_it_is_of_every_interval_of_a_sequence(surely_right, measure):
    p, labels = surely_right
    wrong, predicted = (p > 0.5) != labels, p > 0.5
    truth = np.mean(wrong) if measure == "error_rate" else 2 * np.sum(predicted * labels) / np.sum(predicted + labels)
    estimate = evaluate(Pool(p), measure, labels, 1200, 0)
    found = estimate.sequence()
    assert np.all((found.low <= truth) & (truth <= found.high))
    assert estimate.interval(kind="anytime").low <= truth <= estimate.interval(kind="anytime").high
    assert np.any(np.minimum(truth - found.low, found.high - truth) < 1e-10)  # else nothing was shown


@pytest.mark.parametrize(
    "options", [{"method": "thesis"}, {"target": "population"}, {"interval": "wald"}, {"measure": "mcc"}], ids=str
)
def test_what_is_kept_to_the_letter_has_the_bounds_of_the_measure(surely_right, options):
    p, labels = surely_right
    estimate = evaluate(Pool(p), options.pop("measure", "error_rate"), labels, 200, 1, **options)
    assert estimate.possible == estimate.bounds


def test_of_several_models_values_stay_as_they_rank_them(surely_right):
    p, labels = surely_right
    pool = Pool(models={"a": Classifier(p), "b": Classifier(1 - p), "c": Classifier(p**2)})
    with pytest.warns(SondageWarning, match="speak against the predictions of 'b'"):
        found = select(pool, "error_rate", labels=labels, budget=200)
    assert all(one.possible == one.bounds for one in found.estimates.values())


def test_slices_prove_something_of_the_whole_together(surely_right):
    p, labels = surely_right
    parts = np.where(np.arange(SIZE) % 3 == 0, "few", "many")
    answer, asked = noting(labels)
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


@pytest.mark.parametrize(
    ("measure", "grades"),
    [("mean_outcome", (1, 2, 3, 4, 5)), ("mean_outcome", (0, 1)), ("accuracy", (0, 1)), ("error_rate", (0, 1))],
)
def test_outcomes_that_are_known_bound_their_mean(measure, grades):
    least, most = min(grades), max(grades)
    for seed in range(30):
        random = np.random.default_rng(seed)
        size = int(random.integers(8, 40))
        judge, weights = random.dirichlet([0.3] * len(grades), size), random.random(size) + 0.1
        outcomes, share = random.choice(grades, size), weights / weights.sum()
        pool = Pool(models={"a": Outcome(judge, grades)}, weights=weights)
        answer, asked = noting(outcomes[:, None])
        found = evaluate(pool, measure, answer, int(random.integers(2, size + 1)), seed)
        rest = np.setdiff1d(np.arange(size), asked)
        means = [np.sum(share * np.where(np.isin(np.arange(size), rest), end, outcomes)) for end in (least, most)]
        low, high = sorted(1 - mean if measure == "error_rate" else mean for mean in means)
        assert found.possible == pytest.approx((low, high), abs=1e-9)
        interval = found.interval()
        assert low - 1e-9 <= interval.low <= found.value <= interval.high <= high + 1e-9
