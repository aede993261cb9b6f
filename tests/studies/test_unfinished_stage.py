"""Estimates while a stage is under way, of which the surest items come first."""

import numpy as np
import pytest

import sondage
from sondage.core.draws import poisson_rates
from sondage.core.predictions import Items
from sondage.core.samples import Known, LabelledStage, Sample, from_inclusion
from sondage.studies.answers import estimate_session
from sondage.studies.drawing import Drawn, KeyOrder
from sondage.studies.responses import labelled


def part(inclusion, size, **options):
    """Return a stage of items drawn with these probabilities, from a pool of so many."""
    items = Items((), np.full(len(inclusion), 1 / size))
    known = Known(1.0, None, {}, {}, 1.0)
    return LabelledStage(Sample(items, np.zeros(len(inclusion)), from_inclusion(np.array(inclusion))), known, **options)


def test_how_many_labels_an_unfinished_stage_counts_as():
    assert part([0.999] * 10, 1000).n_labels == 10
    assert part([1.0] * 3, 1000, unfinished=True).n_labels == 0
    assert part([0.999] * 10, 1000, unfinished=True).n_labels == pytest.approx(10 * 0.01 * (10 / 999), rel=1e-3)
    assert part([0.999] * 10 + [0.01] * 10, 1000, unfinished=True).n_labels == 20
    assert part([0.999] * 10 + [0.01], 1000, unfinished=True).n_labels == pytest.approx(11 * 0.11, rel=1e-3)


@pytest.mark.parametrize("seed", [11, 35, 46])
def test_sure_items_of_a_stage_do_not_stand_for_the_pool(seed):
    # Its first items, drawn beyond doubt, have a label that nobody expected: F1 was .03 to .14 for some labels.
    rng = np.random.default_rng(seed)
    log_odds = 2 * rng.normal(np.log(0.05 / 0.95), 1, 2000)
    labels = (rng.random(2000) < 1 / (1 + np.exp(-log_odds / 0.3))).astype(int)
    predicted = log_odds > 0
    truth = 2 * np.sum(predicted & (labels == 1)) / (predicted.sum() + labels.sum())
    pool = sondage.Pool(probabilities=1 / (1 + np.exp(-log_odds)))
    session = sondage.evaluate(pool, "f1", labels=labels, budget=150, seed=seed, belief="learned").course.session
    assert session.firsts[2] == 75
    for count in range(74, 100, 2):
        found = estimate_session(session.early(count))["f1"]
        assert found.value > 0.6 * truth
        assert found.interval().low - 1e-9 <= truth <= found.interval().high + 1e-9


def test_a_stage_of_sure_items_alone_is_not_taken_for_the_whole_pool():
    # Forty items have nearly all the weight; of the last stage the first one is drawn with a probability of 1.
    rng = np.random.default_rng(2)
    p = np.clip(rng.beta(0.3, 3, 3000), 1e-6, 1 - 1e-6)
    labels, weights = (rng.random(3000) < p).astype(int), np.ones(3000)
    heavy = rng.choice(3000, 40, replace=False)
    p[heavy], weights[heavy], labels[heavy[:20]], labels[heavy[20:]] = 0.02, 5000, 1, 0
    pool = sondage.Pool(probabilities=p, weights=weights)
    parts = {"seed": 2, "stages": (0.2, 0.3, 0.5)}
    session = sondage.evaluate(pool, "error_rate", labels=labels, budget=60, **parts).course.session
    sure = [count for count in range(31, 60) if not spread_of_last(session, count).any()]
    assert sure
    for count in sure:
        found = estimate_session(session.early(count))["error_rate"]
        assert found.evidence.fit.shares[-1] == 0
        assert found.std_error > 0


def spread_of_last(session, count):
    """Return what the last stage's units vary by, after so many labels."""
    evidence = estimate_session(session.early(count))["error_rate"].evidence
    return evidence.estimation.stages[-1].sample.expansion.spread


def test_a_study_under_way_says_what_is_said_of_the_same_labels_later(tmp_path, rng):
    p = rng.beta(0.1, 2.0, 1000)
    labels = (rng.random(1000) < p).astype(int)
    pool = sondage.Pool(probabilities=p)
    session = sondage.evaluate(pool, "f1", labels=labels, budget=100, seed=3).course.session
    study = sondage.Study.create(tmp_path / "study.db", pool, measure="f1", budget=100, seed=3)
    for count in range(1, 101):
        (item,) = study.ask(1)
        study.tell([item], [int(labels[item])])
        if count in (20, 21, 35, 49, 50, 51, 99, 100):  # stages end at 20, 50 and 100
            now, later = study.estimate(), estimate_session(session.early(count))["f1"]
            assert (now.value, now.std_error) == pytest.approx((later.value, later.std_error), rel=1e-9)


def test_what_is_to_be_asked_for_tells_how_a_sum_over_the_first_varies(rng):
    # 200 units, the heavier the surer; of 60 that are to be asked for 15 are. Each sum is compared with the truth.
    rates, totals = np.exp(rng.normal(size=200)), rng.normal(size=200) ** 2
    squares, told, wholes = [], [], []
    for _ in range(4000):
        keys = rng.exponential(size=200) / rates
        order = np.argsort(keys)[:80]
        drawn = Drawn(order, keys[order], rates[order], rates[order], np.inf, {"equal": False, "due": 60})
        draw = KeyOrder(poisson_rates)
        first, foreseen = draw.expansion(drawn, np.arange(15)), draw.foreseen(drawn, 15)
        squares.append((np.sum(first.weights * totals[order[:15]]) - totals.sum()) ** 2)
        told.append(np.sum(foreseen.spread * totals[order[:60]] ** 2))
        wholes.append(np.sum(foreseen.weights * totals[order[:60]]))
    assert np.mean(wholes) == pytest.approx(totals.sum(), rel=0.02)
    assert np.mean(told) == pytest.approx(np.mean(squares), rel=0.08)


def test_nothing_is_foreseen_where_nothing_is_to_come_or_all_are_alike(rng):
    keys, rates = np.sort(rng.exponential(size=10)), np.ones(10)
    drawn = Drawn(np.arange(10), keys, rates, rates, np.inf, {"equal": False, "due": 8})
    assert KeyOrder(poisson_rates).foreseen(drawn, 8) is None
    alike = Drawn(np.arange(10), keys, rates, rates, np.inf, {"equal": True, "support": 10})
    assert KeyOrder(poisson_rates).foreseen(alike, 5) is None


def test_intervals_hold_with_the_first_labels_of_a_large_stage(rng):
    # A filter that is three times as sure as it may be: the first of 200 items are those it is not sure of. Of what
    # is sure, and wrong, they show nothing.
    log_odds = 4 * rng.normal(np.log(0.05 / 0.95), 1, 2000)
    labels = (rng.random(2000) < 1 / (1 + np.exp(-log_odds / 3))).astype(int)
    pool = sondage.Pool(probabilities=1 / (1 + np.exp(-log_odds)))
    truth, held = sondage.evaluate(pool, "brier", labels=labels, budget=2000).value, []
    for seed in range(8):
        session = sondage.evaluate(pool, "brier", labels=labels, budget=1000, seed=seed).course.session
        for count in (10, 15, 20):
            ends = estimate_session(session.early(count))["brier"].interval()
            held.append(ends.low <= truth <= ends.high)
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("groups", [None, np.arange(1000) // 2])
def test_pending_and_skipped_items_are_to_come(rng, groups):
    p = rng.beta(0.3, 1.0, 1000)
    labels = (rng.random(1000) < p).astype(int)
    if groups is not None:
        labels = labels[2 * groups]
    pool = sondage.Pool(probabilities=p, groups=groups)
    session = sondage.evaluate(pool, "brier", labels=labels, budget=100, seed=1).course.session.early(70)
    session.answers = session.answers | {68: None}
    del session.answers[69]
    found = labelled(session)
    assert found.ahead.whole.size == 100
    to_come = np.flatnonzero(np.bincount(found.ahead.whole.of_rows(np.arange(100))[found.ahead.whole.to_come]))
    assert to_come.tolist() == list(range(68, 100))
    assert estimate_session(session)["brier"].std_error > 0


def test_a_loss_of_ones_own_is_asked_for_labels_only(rng):
    means = rng.normal(size=400)
    labels = means + rng.normal(size=400)

    def loss(predicted, given):
        assert np.isfinite(given).all()
        return np.abs(predicted - given) ** 1.5

    measure = sondage.measures.Loss(loss, "my loss", bounds=(0.0, np.inf))
    pool = sondage.Pool(models={"a": sondage.Regressor(means, np.exp(rng.normal(size=400)))})
    session = sondage.evaluate(pool, measure, labels=labels, budget=120, seed=1).course.session
    for count in (10, 40, 59, 61, 100):
        (found,) = estimate_session(session.early(count)).values()
        assert found.std_error > 0


def test_one_label_at_a_time_is_the_same_as_many_at_the_end_of_a_stage(rng):
    p = rng.beta(0.3, 1.0, 500)
    labels = (rng.random(500) < p).astype(int)
    session = sondage.evaluate(sondage.Pool(probabilities=p), "f1", labels=labels, budget=60).course.session
    whole = estimate_session(session)["f1"]
    assert not any(stage.unfinished for stage in whole.evidence.estimation.stages)
    before = estimate_session(session.early(59))["f1"]
    assert [stage.unfinished for stage in before.evidence.estimation.stages] == [False, False, True]
    assert before.value == pytest.approx(whole.value, abs=2 * whole.std_error)


def test_no_class_has_a_share_below_0():
    # A model that knows more than it says, and nearly all labels are of items that it calls positive: it was believed
    # to find all of them, and to have found more than there are.
    rng = np.random.default_rng(9)
    log_odds = rng.normal(-1.5, 1.2, 400)
    labels = (rng.random(400) < 1 / (1 + np.exp(-log_odds / 0.3))).astype(int)
    predicted = log_odds > 0
    truth = (np.mean(predicted[labels == 1]) + np.mean(~predicted[labels == 0])) / 2
    pool, held = sondage.Pool(probabilities=1 / (1 + np.exp(-log_odds))), []
    for seed in range(10):
        session = sondage.evaluate(
            pool, "balanced_accuracy", labels=labels, budget=150, seed=seed, stages=1
        ).course.session
        for count in range(20, 40, 4):
            found = estimate_session(session.early(count))["balanced_accuracy"]
            assert np.all(found.evidence.fit.sums[0].sum(axis=0) > -1e-9)
            held.append(truth in found.interval())
    assert np.mean(held) >= 0.95
