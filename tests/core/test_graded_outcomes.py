"""Systems with several grades: what labels tell of their judges and of features, and what they leave possible."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import norm

from sondage import Outcome, Pool, evaluate
from sondage.core.beliefs import Lapsing, LearnedOutcomeBelief, OutcomeBelief
from sondage.core.beliefs.classes import PLAUSIBLE, PLAUSIBLE_OF_SURE
from sondage.core.calibration import calibrate_grades
from sondage.core.catalogue.beliefs import Expectation, named_belief
from sondage.core.learning import NONE, fit_grades, learn_grades
from sondage.errors import SondageWarning
from sondage.studies.forms import belief_from_data, belief_to_data

SIZE = 3000
GRADES = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
ENDS = np.array([-np.inf, 1.5, 2.5, 3.5, 4.5, np.inf])


def believe(pool, belief=None):
    return named_belief(belief, Expectation(pool.task, pool.items, (0,), pool.models))


def drawn(random, probabilities):
    """Return a code of each row of probabilities."""
    return (random.random((len(probabilities), 1)) > np.cumsum(probabilities, axis=1)).sum(axis=1)


def of_grades(belief, items, model=0):
    """Return the believed probabilities of a system's grades in the order that they were given, shape (n, k)."""
    weights = [np.broadcast_to(weight, len(items)) for _, weight in belief.supposed(items, (model,))]
    found = np.stack(weights, axis=1)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-9)
    return found


def rated(random, off=0.0, spread=0.7, least=0.0):
    """Return grades 1 to 5, and what a judge says who expects them higher by so much, as sure as the spread."""
    seen = random.normal(3.3, 1.0, SIZE)
    grades = np.clip(np.round(seen + random.normal(0.0, 0.7, SIZE)), 1, 5)
    told = np.diff(norm.cdf((ENDS - seen[:, None] - off) / spread), axis=1) + least
    return grades, told / told.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("slope", [0.4, 2.0])
@pytest.mark.parametrize("lift", [0.0, 1.0])
def test_labels_tell_how_frequent_grades_are_and_what_the_judge_means(slope, lift):
    random = np.random.default_rng(1)
    p, at = softmax(1.5 * random.normal(size=(8000, 4)), axis=1), np.arange(4) - 1.5
    shifts = np.array([0.8, 0.0, -0.3, -0.5])
    chances = softmax(slope * np.log(p) + shifts + lift * np.multiply.outer(p @ at, at), axis=1)
    found = calibrate_grades(np.log(p), drawn(random, chances))
    assert found.slope == pytest.approx(slope, abs=0.15)
    assert found.lift == pytest.approx(lift, abs=0.15)
    assert np.array(found.shifts) - np.mean(found.shifts) == pytest.approx(shifts, abs=0.15)


def test_a_judge_that_is_right_is_hardly_moved():
    moved = []
    for seed in range(8):
        random = np.random.default_rng(seed)
        grades, p = rated(random)
        rows = slice(200)
        belief = OutcomeBelief().calibrated(pool_of(p).items.take(rows), grades[rows, None])
        moved.append(np.abs(of_grades(belief, pool_of(p).items) - p).mean())
    assert np.mean(moved) < 0.01


def test_no_labels_move_nothing():
    found = calibrate_grades(np.zeros((0, 3)), np.zeros(0, dtype=int))
    assert (found.shifts, found.slope, found.lift) == ((), 1.0, 0.0)
    pool = pool_of(rated(np.random.default_rng(0))[1])
    unknown = OutcomeBelief().calibrated(pool.items.take(slice(3)), np.full((3, 1), np.nan))
    np.testing.assert_array_equal(of_grades(unknown, pool.items), pool.items.models[0].judge)


def pool_of(judge, grades=GRADES, **options):
    return Pool(models={"a": Outcome(judge, grades)}, ids=np.arange(SIZE), **options)


@pytest.mark.parametrize("off", [-1.0, 1.0])
def test_a_sure_judge_that_is_a_grade_off_is_understood(off):
    """The next grade is as unlikely by its probabilities as the last: their mean tells which is next."""
    random = np.random.default_rng(2)
    grades, told = rated(random, off, 0.3, 1e-4)
    items, rows = pool_of(told).items, slice(300)
    belief = OutcomeBelief().calibrated(items.take(rows), grades[rows, None])
    codes = np.searchsorted(GRADES, grades)
    losses = [-np.log(p[np.arange(SIZE), codes]).mean() for p in (of_grades(belief, items), told)]
    assert losses[0] < 1.1 < 2.5 < losses[1]
    assert np.mean(of_grades(belief, items) @ GRADES) == pytest.approx(grades.mean(), abs=0.1)
    assert np.mean(told @ GRADES) - grades.mean() == pytest.approx(off, abs=0.2)


def test_probabilities_are_those_of_the_formula_in_any_order_of_grades():
    random = np.random.default_rng(3)
    grades, told = rated(random, 0.5)
    order = np.array([4, 0, 2, 1, 3])
    sorted_items, items = pool_of(told).items, pool_of(told[:, order], GRADES[order]).items
    rows = slice(200)
    belief = OutcomeBelief().calibrated(items.take(rows), grades[rows, None])
    assert belief == OutcomeBelief().calibrated(sorted_items.take(rows), grades[rows, None])
    at, told = np.arange(5) - 2.0, np.maximum(told, 1e-12)
    wanted = softmax(
        np.array(belief.grade_shifts[0])
        + belief.grade_slopes[0] * np.log(told)
        + belief.grade_lifts[0] * np.multiply.outer(told @ at, at),
        axis=1,
    )
    np.testing.assert_allclose(of_grades(belief, sorted_items), wanted, rtol=1e-9)
    np.testing.assert_allclose(of_grades(belief, items), wanted[:, order], rtol=1e-9)
    again = belief.calibrated(items.take(rows), grades[rows, None])
    assert again == belief  # whatever it was calibrated to before
    assert belief_from_data(json.loads(json.dumps(belief_to_data(belief)))) == belief


@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_the_mode_of_a_correction_is_that_of_a_general_minimiser(scale):
    random = np.random.default_rng(4)
    design, logits = scale * random.normal(size=(50, 3)), random.normal(size=(50, 4))
    codes = random.integers(0, 4, 50)

    def loss(w):
        told = log_softmax(logits + np.multiply.outer(design @ w, np.arange(4)), axis=1)
        return 0.5 * w @ w - told[np.arange(50), codes].sum()

    found = fit_grades(design, logits, codes)
    np.testing.assert_allclose(found.coefficients, minimize(loss, np.zeros(3), tol=1e-12).x, atol=1e-4)


def test_the_evidence_of_a_correction_is_close_to_the_integral():
    random = np.random.default_rng(5)
    column, logits, codes = random.normal(size=40), random.normal(size=(40, 3)), random.integers(0, 3, 40)

    def likelihood(w):
        told = log_softmax(logits + np.multiply.outer(column * w, np.arange(3)), axis=1)
        return np.exp(told[np.arange(40), codes].sum() + stats.norm.logpdf(w))

    expected = np.log(integrate.quad(likelihood, -8, 8)[0])
    assert fit_grades(column[:, None], logits, codes).log_evidence == pytest.approx(expected, abs=0.1)


def test_features_that_tell_nothing_are_hardly_believed():
    unneeded = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        grades, told = rated(random)
        codes, x = np.searchsorted(GRADES, grades), random.normal(size=(SIZE, 8))
        unneeded.append(learn_grades(np.log(told[:150]), codes[:150], np.zeros((150, 0)), x[:150]).unneeded)
    assert np.mean(unneeded) > 0.4


@pytest.mark.parametrize("k", [5, 11, 101])
def test_features_tell_as_much_on_a_scale_of_any_number_of_points(k):
    random = np.random.default_rng(9)
    x = random.normal(size=(200, 3))
    codes = np.clip(np.round((0.5 + 0.2 * x[:, 0] + random.normal(0, 0.15, 200)) * (k - 1)), 0, k - 1).astype(int)
    found = learn_grades(np.zeros((200, k)), codes, np.zeros((200, 0)), x)
    assert found.unneeded < 1e-6
    assert np.corrcoef(found.at([], x), x[:, 0])[0, 1] > 0.98


def test_grades_are_learned_from_features_and_from_other_judges():
    random = np.random.default_rng(6)
    x, seen = random.normal(size=(2, SIZE))
    first, second = (np.clip(np.round(3.0 + seen + way * x + random.normal(0, 0.4, SIZE)), 1, 5) for way in (1, -1))
    judge = softmax(-0.5 * np.square(GRADES - 3.0 - seen[:, None]), axis=1)
    models = {"a": Outcome(judge, GRADES), "b": Outcome(grades=GRADES)}
    pool, labels = Pool(models=models, ids=np.arange(SIZE), features=x), np.column_stack([first, second])
    start, rows = believe(pool), slice(200)
    assert isinstance(start, LearnedOutcomeBelief)
    few = pool.items.take(rows)

    def loss(belief, model):
        p = of_grades(belief, pool.items, model)[np.arange(SIZE), np.searchsorted(GRADES, labels[:, model])]
        return -np.mean(np.log(p))

    learned, ensemble = (believe(pool, name).calibrated(few, labels[rows]) for name in (None, "ensemble"))
    plain = believe(pool, "model").calibrated(few, labels[rows])
    assert loss(learned, 0) < loss(plain, 0) - 0.2
    assert loss(ensemble, 1) < loss(learned, 1) - 0.2 < loss(plain, 1) - 0.4
    assert belief_from_data(json.loads(json.dumps(belief_to_data(ensemble)))) == ensemble
    missing = np.column_stack([first, np.full(SIZE, np.nan)])
    only = start.calibrated(few, missing[rows])
    assert only.corrections[1] == NONE
    assert set(of_grades(only, pool.items, 1).ravel()) == {0.2}


def test_lapses_that_labels_leave_possible():
    said = np.tile([0, 1, 2, 2, 2], SIZE // 5)
    judge = np.full((SIZE, 3), 0.0005)
    judge[np.arange(SIZE), said] = 0.999
    items, rows = pool_of(judge, [1, 2, 5]).items, slice(100)
    labels = np.array([1.0, 2.0, 5.0])[said[rows]]
    shares = {}
    for wrong in (0, 3):
        labels[:wrong] = 5.0 - 4.0 * (labels[:wrong] == 5)
        belief = OutcomeBelief().calibrated(items.take(rows), labels[:, None])
        for left, count in ((belief.plausible, PLAUSIBLE), (belief.plausible_of_unseen, PLAUSIBLE_OF_SURE)):
            beliefs = left(items.take(rows), labels[:, None], np.ones(100))
            assert len(beliefs) == count
            found = [one.share if isinstance(one, Lapsing) else 0.0 for one in beliefs]
            assert found == sorted(found)
            shares[left.__name__, wrong] = np.mean(found)
        np.testing.assert_allclose(
            of_grades(beliefs[-1], items),
            (1 - found[-1]) * of_grades(beliefs[-1].belief, items) + found[-1] / 3,
        )
    assert shares["plausible", 3] > 2 * shares["plausible", 0]
    assert shares["plausible_of_unseen", 3] > shares["plausible", 3]


@pytest.mark.parametrize("grades", [[1, 2, 5], [0, 1]])
def test_intervals_hold_where_a_sure_judge_is_wrong_of_three_in_a_hundred(grades, agrees):
    held, widths, runs = 0, [], 100
    shares = [0.1, 0.2, 0.7][-len(grades) :]
    for seed in range(runs):
        random = np.random.default_rng(seed)
        said = random.choice(len(grades), SIZE, p=np.array(shares) / sum(shares))
        wrong = random.random(SIZE) < 0.03
        outcomes = np.where(wrong, random.integers(0, len(grades), SIZE), said)
        judge = np.full((SIZE, len(grades)), 0.001 / (len(grades) - 1))
        judge[np.arange(SIZE), said] = 0.999
        labels = np.array(grades, dtype=float)[outcomes]
        found = evaluate(pool_of(judge, grades), "mean_outcome", labels, 60, seed).interval()
        held += found.low <= labels.mean() <= found.high
        widths.append(found.width)
    assert held >= 0.93 * runs or agrees(held, runs, 0.93)


def test_a_biased_judge_of_grades_saves_labels():
    """Its means are off by less than a grade, its probabilities by much more."""
    judged, alone = [], []
    for seed in range(60):
        grades, told = rated(np.random.default_rng(seed), 0.7, 0.3, 1e-4)
        for judge, errors in ((told, judged), (None, alone)):
            errors.append(evaluate(pool_of(judge), "mean_outcome", grades, 150, seed).value - grades.mean())
    spread = [np.sqrt(np.mean(np.square(errors))) for errors in (judged, alone)]
    assert spread[0] < 0.75 * spread[1]


def test_one_grade_is_known():
    pool = Pool(models={"a": Outcome(grades=[2.0])}, ids=np.arange(40), features=np.arange(40.0))
    with pytest.warns(SondageWarning, match="nothing is uncertain"):
        found = evaluate(pool, "mean_outcome", np.full(40, 2.0), 20)
    assert (found.value, found.interval().width) == (2.0, 0.0)


def test_outcomes_of_two_and_of_more_grades_in_one_pool():
    random = np.random.default_rng(7)
    grades, told = rated(random, 0.5)
    right = (random.random(SIZE) < told[:, 4]).astype(float)
    pool = Pool(models={"a": Outcome(told, GRADES), "b": Outcome(told[:, 4])}, ids=np.arange(SIZE))
    belief = OutcomeBelief().calibrated(pool.items.take(slice(200)), np.column_stack([grades, right])[:200])
    alone = OutcomeBelief().calibrated(pool_of(told).items.take(slice(200)), grades[:200, None])
    assert belief.graded(0)
    assert not belief.graded(1)
    np.testing.assert_array_equal(of_grades(belief, pool.items), of_grades(alone, pool.items))
    moved = replace(belief, shift=0.0, slope=1.0)
    np.testing.assert_array_equal(of_grades(moved, pool.items, 1)[:, 1], told[:, 4])
