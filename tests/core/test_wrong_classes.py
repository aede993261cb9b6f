"""Where it matters which wrong class a label is, labels tell which kind of lapses there are."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logsumexp, softmax

from sondage import Pool, evaluate, measures
from sondage.core.beliefs import ClassBelief, Lapsing, LearnedClassBelief, Mistaken
from sondage.core.calibration import LAPSES_OF_UNSEEN, calibrate_events, plausible_events
from sondage.core.calibration.grid import CELL_SHIFTS, CELL_SLOPES, log_priors
from sondage.core.measures import Task
from sondage.core.predictions import Classes, Items
from sondage.core.surprises import wrong_classes_differ

K, SIZE = 5, 60
DISTANCE = np.abs(np.subtract.outer(range(K), range(K)))
COSTS = "expected_cost:costs=" + "/".join(map(str, DISTANCE.ravel()))
ERRORS = "expected_cost:costs=" + "/".join(map(str, (DISTANCE > 0).astype(int).ravel()))
OF_LABELS = [
    measures.Recall(4),
    measures.Specificity(4),
    measures.FMeasure(positive=4),
    measures.BalancedAccuracy(),
    measures.MacroF(),
]
OF_PREDICTIONS = [measures.Precision(4), measures.ErrorRate(), measures.Accuracy()]


def ordered(size, seed=0, steep=2.0):
    """Return probabilities of ordered classes and labels that are seldom far from the likeliest."""
    random = np.random.default_rng(seed)
    seen = random.uniform(0, K - 1, size)
    p = softmax(-steep * np.abs(np.arange(K) - seen[:, None]), axis=1)
    return p, (p.cumsum(axis=1) < random.random((size, 1))).sum(axis=1), random


def by_chance(labels, share, random):
    """Return the labels, of which a share is replaced by any class."""
    return np.where(random.random(len(labels)) < share, random.integers(0, K, len(labels)), labels)


def graded(size, seed):
    """Return probabilities of five grades, most items of middle ones, and labels within one or two grades of them."""
    random = np.random.default_rng(seed)
    told = random.normal(2.0, 1.2, size)
    seen = told + random.normal(0.0, 0.9, size)
    p = np.exp(-0.5 * (np.arange(K) - seen[:, None]) ** 2 / 0.6)
    return p / p.sum(axis=1, keepdims=True), np.clip(np.round(told), 0, K - 1).astype(int), random


def items_of(p):
    return Items((Classes(p.argmax(axis=1), p),), np.ones(len(p)))


def belief_of(**options):
    return ClassBelief(K, models=((0, 1.0),), **options)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_share_is_wrong_as_often_as_by_chance_and_in_believed_proportions(share):
    p, _, _ = ordered(SIZE)
    items, belief = items_of(p), belief_of(shift=-0.3, slope=0.7)
    told = np.stack([w for _, w in belief.supposed(items, (0,))])
    mistaken, lapsing = (
        np.stack([w for _, w in one(belief, share).supposed(items, (0,))]) for one in (Mistaken, Lapsing)
    )
    first, rows = p.argmax(axis=1), np.arange(SIZE)
    assert mistaken.sum(axis=0) == pytest.approx(np.ones(SIZE), abs=1e-12)
    assert mistaken[first, rows] == pytest.approx(lapsing[first, rows], abs=1e-12)
    for of in (told, mistaken):
        of[first, rows] = 0.0
    assert mistaken / mistaken.sum(axis=0) == pytest.approx(told / told.sum(axis=0), abs=1e-9)


def test_all_wrong_classes_are_alike_where_the_model_rules_them_out():
    items = items_of(np.eye(K)[[0, 2]])
    found = np.stack([w for _, w in Mistaken(belief_of(), 0.4).supposed(items, (0,))], axis=1)
    assert found == pytest.approx(np.array([[0.68, 0.08, 0.08, 0.08, 0.08], [0.08, 0.08, 0.68, 0.08, 0.08]]))


@pytest.mark.parametrize("share", [0.0, 0.15])
def test_points_are_those_of_the_probabilities_that_beliefs_with_lapses_give_the_labels(share):
    """The posterior by the labels' probabilities under every belief of the grid, each made and asked."""
    p, labels, random = ordered(SIZE, seed=3, steep=1.0)  # a little of the uniform is in the shares
    labels = by_chance(labels, share, random)
    items, rows = items_of(p), np.arange(SIZE)
    reference = belief_of().reference(items)
    events, among = labels == reference.classes, np.ones(SIZE)
    among[~events] = reference.among_others(labels, np.flatnonzero(~events))
    chances = {"chance": 1 / K, "prior": LAPSES_OF_UNSEEN}
    points = plausible_events(reference.log_odds, events, np.ones(SIZE), 3000, among=among, **chances)
    fitted = calibrate_events(reference.log_odds, events)
    surprise = np.mean(expit(-np.abs(fitted.shift + fitted.slope * reference.log_odds)))
    shares = np.minimum(np.multiply(LAPSES_OF_UNSEEN.rates, surprise / (1 - 1 / K)), 0.5)
    few = np.flatnonzero((np.abs(CELL_SHIFTS) < 4) & (np.arange(len(CELL_SLOPES)) % 2 == 0))

    def log_posterior(kind, priors, lapse):
        found = []
        for cell in few:
            belief = belief_of(shift=float(CELL_SHIFTS[cell]), slope=float(CELL_SLOPES[cell]))
            told = np.stack([w for _, w in (kind(belief, lapse) if kind else belief).supposed(items, (0,))])
            found.append(priors[cell] + np.log(told[labels, rows]).sum())
        return logsumexp(found)

    none, *of_lapses = log_priors(LAPSES_OF_UNSEEN)
    kinds = {"none": log_posterior(None, none, 0.0)}
    for kind in (Lapsing, Mistaken):
        each = [log_posterior(kind, *one) for one in zip(of_lapses, shares.tolist(), strict=True)]
        kinds[kind.__name__] = logsumexp(each) - np.log(2.0)
    total = logsumexp(list(kinds.values()))
    expected = {name: np.exp(one - total) for name, one in kinds.items()}
    found = {
        "none": np.mean([point.lapse == 0 for point in points]),
        "Lapsing": np.mean([point.lapse > 0 and not point.in_proportion for point in points]),
        "Mistaken": np.mean([point.in_proportion for point in points]),
    }
    assert found == pytest.approx(expected, abs=0.02)
    assert (found["Lapsing"] > 0.015) == (share > 0)


@pytest.mark.parametrize("kind", [ClassBelief, LearnedClassBelief])
def test_both_kinds_are_left_where_it_matters_which_class_is_wrong(kind):
    p, labels, _ = ordered(200, seed=4)
    belief = kind(K, models=((0, 1.0),))
    told = items_of(p), labels, np.ones(200)
    plain = belief.plausible_of_unseen(*told)
    both = belief.plausible_of_unseen(*told, wrong_differ=True)
    assert not any(isinstance(one, Mistaken) for one in plain)
    assert any(isinstance(one, Mistaken) for one in both)
    shares = [getattr(one, "share", 0.0) for one in both]
    assert len(both) == len(plain)
    assert shares == sorted(shares)


@pytest.mark.parametrize("right", [True, False])
def test_labels_that_are_all_right_or_all_wrong_leave_as_many_points(right):
    told = {"among": np.full(9, 0.3), "chance": 1 / K, "prior": LAPSES_OF_UNSEEN}
    points = plausible_events(np.full(9, 2.0), np.full(9, right), np.ones(9), 200, **told)
    kinds = {(point.lapse > 0, point.in_proportion) for point in points}
    assert (len(points), kinds) == (200, {(False, False), (True, False), (True, True)})


def test_with_few_labels_of_each_class_shares_are_those_before_classes_were_calibrated():
    p, _, random = ordered(40, seed=8)
    items, labels = items_of(p), random.choice(K, 40, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    belief = belief_of().calibrated(items, labels)
    as_given = replace(belief, class_shifts=())
    assert (belief.reference(items).classes != as_given.reference(items).classes).any()
    found, expected = (
        one.plausible_of_unseen(items, labels, np.ones(40), wrong_differ=True) for one in (belief, as_given)
    )
    assert found == expected


def test_of_two_classes_there_is_one_wrong_one():
    p = np.linspace(0.1, 0.9, 50)
    items, labels = Items((Classes((p > 0.5).astype(int), p),), np.ones(50)), (p > 0.3).astype(int)
    belief = ClassBelief(2, models=((0, 1.0),))
    told = items, labels, np.ones(50)
    assert belief.plausible_of_unseen(*told, wrong_differ=True) == belief.plausible_of_unseen(*told)


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_intervals_of_costs_do_not_reach_for_wrong_classes_that_never_come(share):
    """With every wrong class alike they were 1.6 times as wide as the standard error asks for."""
    p, labels, random = ordered(3000, seed=5)
    pool, labels = Pool(probabilities=p), by_chance(labels, share, random)
    truth = float(np.mean(DISTANCE[p.argmax(axis=1), labels]))
    found = [evaluate(pool, COSTS, labels, 100, seed) for seed in range(40)]
    intervals = [one.interval(0.95) for one in found]
    assert np.mean([one.low <= truth <= one.high for one in intervals]) >= 0.875  # 0.95 less 2.2 deviations
    widths, errors = [one.high - one.low for one in intervals], [one.std_error for one in found]
    assert np.mean(widths) < 1.1 * 2 * 1.96 * np.mean(errors)


def test_equal_costs_are_the_error_rate():
    p, labels, _ = ordered(1000, seed=6)
    pool = Pool(probabilities=p)
    costs, errors = (evaluate(pool, measure, labels, 100, 1) for measure in (ERRORS, "error_rate"))
    assert costs.plausible.means == pytest.approx(errors.plausible.means)


@pytest.mark.parametrize("measure", [*OF_LABELS, *OF_PREDICTIONS], ids=lambda measure: measure.name)
def test_wrong_classes_differ_where_another_wrong_label_has_another_value(measure):
    """Of every prediction the labels of its wrong items are moved from one wrong class to the next."""
    of_k = measure.ready(Task("classification", tuple(range(K))))
    shares = np.random.default_rng(7).dirichlet(np.ones(K * K)).reshape(K, K)
    moved = []
    for row in range(K):
        wrong, other = np.delete(np.arange(K), row), shares.copy()
        other[row, wrong] = np.roll(shares[row, wrong], 1)
        moved.append(of_k.value(other) != pytest.approx(of_k.value(shares), abs=1e-12))
    assert any(moved) == wrong_classes_differ(of_k) == (measure in OF_LABELS)


@pytest.mark.parametrize("measure", [type(one) for one in OF_LABELS], ids=lambda kind: kind.__name__)
def test_two_classes_never_differ(measure):
    assert not wrong_classes_differ(measure().ready(Task("classification", (0, 1))))


def test_agreement_beyond_chance_reaches_for_any_wrong_class():
    """Kappa and MCC move with any label; reaching for those alone that come held too seldom (decision 0100)."""
    task = Task("classification", tuple(range(K)))
    assert not any(wrong_classes_differ(one.ready(task)) for one in (measures.Kappa(), measures.MCC()))


@pytest.mark.parametrize("share", [0.0, 0.02])
@pytest.mark.parametrize("measure", ["recall", "balanced_accuracy"])
def test_intervals_of_classes_do_not_reach_for_labels_that_never_come(measure, share):
    """With every wrong class alike they were 1.2 to 1.3 times as wide as the standard error asks for."""
    p, labels, random = graded(3000, seed=5)
    pool, labels = Pool(probabilities=p), by_chance(labels, share, random)
    positive = {"positive": 4} if measure == "recall" else {}
    truth = evaluate(pool, measure, labels, 3000, **positive).value
    found = [evaluate(pool, measure, labels, 100, seed, **positive) for seed in range(40)]
    intervals = [one.interval(0.95) for one in found]
    assert np.mean([one.low <= truth <= one.high for one in intervals]) >= 0.875  # 0.95 less 2.2 deviations
    widths, errors = [one.high - one.low for one in intervals], [one.std_error for one in found]
    assert np.mean(widths) < 1.1 * 2 * 1.96 * np.mean(errors)
