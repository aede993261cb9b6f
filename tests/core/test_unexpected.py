"""How far intervals reach where all labels are those that were expected."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, matthews_corrcoef, roc_auc_score

from sondage import Classifier, Outcome, Pool, compare, estimate_from, evaluate
from sondage.core.domains import domain_estimate
from sondage.core.intervals import wilson_interval
from sondage.core.samples import effective_number

SIZE = 4000
MEASURES = {
    "brier": lambda labels, p, weights: brier_score_loss(labels, p, sample_weight=weights),
    "log_loss": lambda labels, p, weights: log_loss(labels, p, sample_weight=weights),
    "mcc": lambda labels, p, weights: matthews_corrcoef(labels, p > 0.5, sample_weight=weights),
    "auc": lambda labels, p, weights: roc_auc_score(labels, p, sample_weight=weights),
    "average_precision": lambda labels, p, weights: average_precision_score(labels, p, sample_weight=weights),
    "expected_cost:costs=0/1/5/0": lambda labels, p, weights: np.average(
        np.where(labels == 1, 1.0, 5.0) * (labels != (p > 0.5)), weights=weights
    ),
}


@pytest.fixture
def sure(rng):
    """Return probabilities of a model that is sure of every item, and labels of which 1 in 100 is another."""
    p = np.where(rng.random(SIZE) < 0.93, 0.001, 0.999)
    return p, np.where(rng.random(SIZE) < 0.01, p < 0.5, p > 0.5).astype(int)


@pytest.mark.parametrize("target", ["pool", "population"])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_end_is_the_measure_of_the_labelled_and_of_others_wrong_by_chance(measure, target, rng):
    p, inclusion = rng.uniform(0.0, 1.0, 60), rng.uniform(0.1, 0.9, 60)
    labels = (p > 0.5).astype(int)
    found = estimate_from(
        measure, probabilities=p, labels=labels, inclusion=inclusion, interval="auto", target=target, estimator="hajek"
    )
    others = 1 / inclusion - (1.0 if target == "pool" else 0.0)
    share = wilson_interval(0.0, found.n_effective, 0.9).high
    # Each item thrice: itself with what is known of it, and what stands for others with either label.
    lapsed = 2 * share * others
    weights = np.concatenate([1 / inclusion - lapsed, lapsed / 2, lapsed / 2])
    told = np.concatenate([labels, np.zeros(60, dtype=int), np.ones(60, dtype=int)])
    end = MEASURES[measure](told, np.tile(p, 3), weights)
    assert found.unexpected[0].moved(share) == pytest.approx(
        end - MEASURES[measure](labels, p, 1 / inclusion), rel=1e-9
    )
    interval, without = found.interval(), replace(found, unexpected=()).interval()
    assert interval.low == pytest.approx(min(end, without.low), rel=1e-9)
    assert interval.high == pytest.approx(max(end, without.high), rel=1e-9)


@pytest.mark.parametrize("measure", ["brier", "mcc", "ece", "average_precision"])
def test_a_model_that_is_sure_of_all_and_seldom_wrong_is_held(measure, sure, agrees):
    p, labels = sure
    pool = Pool(p)
    truth = evaluate(pool, measure, labels, budget=SIZE).value
    held, expected, runs = 0, 0, 60
    for seed in range(runs):
        found = evaluate(pool, measure, labels, budget=100, seed=seed)
        interval = found.interval()
        held += interval.low <= truth <= interval.high
        if found.unexpected:
            expected += 1
            assert interval.low <= truth <= interval.high
    assert expected > 10
    assert held >= 0.93 * runs or agrees(held, runs, 0.93)


def test_loss_of_ten_classes_where_other_classes_are_unlikely(rng):
    p = np.full((300, 10), 1e-4)
    labels = rng.integers(0, 10, 300)
    p[np.arange(300), labels] = 1 - 9e-4
    found = evaluate(Pool(p), "log_loss", labels, budget=60)
    share = wilson_interval(0.0, found.n_effective, 0.9).high
    lost = -np.log(1e-4) + np.log(1 - 9e-4)
    assert found.unexpected[0].moved(share) == pytest.approx(share * 240 / 300 * lost, rel=1e-6)


def test_one_wrong_label_is_enough(sure):
    p, labels = sure
    right = np.where((p > 0.5) == labels, labels, -1)
    rows = np.flatnonzero(right >= 0)[:50]
    told = {"probabilities": p[rows], "inclusion": np.full(50, 0.1)}
    assert estimate_from("brier", labels=labels[rows], **told).unexpected
    wrong = np.concatenate([labels[rows[:-1]], 1 - labels[rows[-1:]]])
    assert estimate_from("brier", labels=wrong, **told).unexpected == ()


def test_shares_of_items_differences_and_numbers_have_other_rules(sure, rng):
    p, _ = sure
    pool = Pool(models={"a": Classifier(p), "b": Classifier(p**2)})
    assert compare(pool, "a", "b", "brier", labels=p > 0.5, budget=50).estimate.unexpected == ()
    for measure in ("error_rate", "f1", "balanced_accuracy"):
        assert evaluate(pool, measure, p > 0.5, budget=50, model="a").unexpected == ()
    untold = Pool(models={"bot": Outcome()}, ids=range(200))
    assert evaluate(untold, "accuracy", np.ones(200), budget=50).unexpected == ()  # nobody expects anything
    means = rng.normal(size=200)
    assert evaluate(Pool(means=means), "mse", means, budget=50).unexpected == ()


@pytest.mark.parametrize(
    ("kind", "wrong"), [("outcome", 0.01), ("outcome", 0.03), ("class", 0.01), ("class", 0.03), ("grades", 0.01)]
)
def test_a_judge_that_is_sure_and_seldom_wrong_is_held(kind, wrong, rng, agrees):
    said, other = rng.random(SIZE) < 0.9, rng.permutation(SIZE) < wrong * SIZE
    right, measure = said != other, "accuracy"
    judge = np.where(said, 0.999, 0.001)
    if kind == "class":
        predictions = rng.integers(0, 2, SIZE)
        labels = np.where(right, predictions, 1 - predictions)
        pool = Pool(predictions=predictions, classes=[0, 1], judge=np.where(predictions == 1, judge, 1 - judge))
    elif kind == "outcome":
        labels, pool = right.astype(float), Pool(models={"bot": Outcome(judge)})
    else:
        measure, grades = "mean_outcome", np.array([1.0, 2.0, 5.0])
        p = np.full((SIZE, 3), 0.0005)
        p[np.arange(SIZE), np.where(said, 2, 0)] = 0.999
        labels = np.where(other, grades[rng.integers(0, 3, SIZE)], np.where(said, 5.0, 1.0))
        pool = Pool(models={"bot": Outcome(p, grades=grades)})
    truth, held, runs = evaluate(pool, measure, labels, budget=SIZE).value, 0, 60
    for seed in range(runs):
        found = evaluate(pool, measure, labels, budget=60, seed=seed)
        interval = found.interval()
        held += interval.low <= truth <= interval.high
        assert not found.unexpected or interval.low <= truth
    assert held >= 0.93 * runs or agrees(held, runs, 0.93)


def judged(rng, wrong=0.02, right=0.8, size=SIZE):
    """Return a pool of a system whose judge is wrong of so many of its right and of its wrong answers, and outcomes."""
    outcomes = (rng.random(size) < right).astype(float)
    said = np.where(rng.random(size) < wrong, 1 - outcomes, outcomes)
    return Pool(models={"bot": Outcome(np.where(said == 1, 0.99, 0.01))}), outcomes


@pytest.mark.parametrize("budget", [50, 100])
def test_answers_that_a_judge_calls_wrong_may_be_right(budget, rng, agrees):
    held, runs = 0, 100
    for seed in range(runs):
        pool, outcomes = judged(rng)
        found = evaluate(pool, "accuracy", outcomes, budget=budget, seed=seed)
        interval = found.interval()
        held += interval.low <= outcomes.mean() <= interval.high
        if len(found.unexpected) == 2:
            assert interval.low <= outcomes.mean() <= interval.high
    assert agrees(held, runs, 0.945)


def test_labels_that_would_raise_and_lower_have_bounds_of_their_own(rng):
    pool, outcomes = judged(rng, wrong=0.0)
    found = evaluate(pool, "accuracy", outcomes, budget=60)
    sample, without, ends = found.evidence.sample, replace(found, unexpected=()).interval(), [0.0, 1.0]
    said, weights, others = sample.items.models[0].judge > 0.5, sample.row_weights, sample.row_weights - 1 / SIZE
    for called, sign in ((False, 1.0), (True, -1.0)):
        rows = said == called
        labels = found.n_effective * effective_number(weights[rows]) / effective_number(weights)
        moved = wilson_interval(0.0, labels, 0.9).high * others[rows].sum() / weights.sum()
        ends[sign > 0] = found.value + sign * moved
    interval = found.interval()
    assert len(found.unexpected) == 2
    assert interval.low == pytest.approx(min(ends[0], without.low), rel=1e-9)
    assert interval.high == pytest.approx(max(ends[1], without.high), rel=1e-9)
    assert interval.high > without.high + 0.01


def test_slices_parts_and_the_whole_have_it(sure):
    p, labels = sure
    halves = np.where(np.arange(SIZE) % 2, "odd", "even")
    found = evaluate(Pool(p), "brier", (p > 0.5).astype(int), budget=200, slices=halves)
    for one in (found.overall, *found.values()):
        assert one.interval().high > 2 / one.n_effective
    whole = evaluate(Pool(p), "brier", labels, budget=400, seed=1)
    assert whole.unexpected == ()
    evidence = whole.evidence.sample
    right = (evidence.items.classes(0).predictions == evidence.labels) & (np.arange(400) % 2 == 0)
    assert domain_estimate(whole, right).interval().high > 0.01


def test_more_labels_leave_fewer_possible(sure):
    p, _ = sure
    ends = [evaluate(Pool(p), "brier", p > 0.5, budget=budget).interval().high for budget in (50, 200, 800)]
    assert ends == sorted(ends, reverse=True)
    assert ends[1] < ends[0] / 3
    exact = evaluate(Pool(p), "brier", p > 0.5, budget=SIZE).interval()
    assert exact.low == exact.high
