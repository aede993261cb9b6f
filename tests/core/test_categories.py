"""Calibration of several classes' probabilities: how frequent each is, and how sure the model is of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from scipy.stats import norm

from sondage import Pool, evaluate
from sondage.core.beliefs import ClassBelief, LearnedClassBelief
from sondage.core.calibration import calibrate_classes, fit_categories
from sondage.core.predictions import Classes, Items

SEEDS = range(6)


def drawn(random, probabilities):
    """Return a class code of each row of probabilities."""
    return (random.random((len(probabilities), 1)) > np.cumsum(probabilities, axis=1)).sum(axis=1)


def told(random, size, classes, spread=1.5):
    """Return probabilities of classes, shape (size, classes)."""
    return softmax(spread * random.normal(size=(size, classes)), axis=1)


def supposed(belief, items):
    """Return what a belief has of each class, shape (n, classes)."""
    return np.stack([column for _, column in belief.supposed(items, [0])], axis=1)


@pytest.mark.parametrize("scales", [[0.5, 1.0, 2.0, 0.7, 0.4, 3.0], [0.0, 1.0, 0.0, 0.7, 0.4, 0.0]])
def test_the_mode_is_that_of_a_general_minimiser(scales):
    random = np.random.default_rng(1)
    columns, codes = [random.normal(size=(70, 4)) for _ in range(2)], random.integers(0, 4, 70)
    weights, mean, scales = random.random(70), np.array([0.2, -1.0, 0.0, 0.4, 1.0, -0.5]), np.array(scales)
    free = scales > 0

    def loss(x):
        at = mean.copy()
        at[free] = x
        logs = log_softmax(at[:4] + at[4] * columns[0] + at[5] * columns[1], axis=1)[np.arange(70), codes]
        return np.sum(((x - mean[free]) / scales[free]) ** 2) / 2 - weights @ logs

    found = fit_categories(codes, columns, mean, scales, weights=weights)
    wanted = mean.copy()
    wanted[free] = minimize(loss, mean[free], tol=1e-12).x
    assert [*found.shifts, *found.slopes] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("power", [1.0, 4.0, 20.0])
@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_the_mode_is_found_where_a_model_is_far_too_sure(power, scale):
    """Full Newton steps went past the mode and back for ever, since there is hardly any curvature next to 0 and 1."""
    random = np.random.default_rng(10)
    p = told(random, 200, 6, 2.0)
    logs = np.maximum(log_softmax(power * np.log(p), axis=1), np.log(1e-6))
    codes, free = drawn(random, p), np.full(7, scale > 0) | (np.arange(7) == 6)
    mean, scales = np.append(np.zeros(6), 1.0), np.append(np.full(6, scale), 1.7)

    def loss(x):
        at = mean.copy()
        at[free] = x
        told = log_softmax(at[:6] + at[6] * logs, axis=1)[np.arange(200), codes]
        return np.sum(((x - mean[free]) / scales[free]) ** 2) / 2 - told.sum()

    found = fit_categories(codes, [logs], mean, scales)
    wanted = minimize(loss, mean[free], tol=1e-12)
    assert loss(np.append(found.shifts, found.slopes)[free]) == pytest.approx(wanted.fun, abs=1e-6)
    assert found.slopes[0] == pytest.approx(wanted.x[-1], abs=1e-4)


def test_the_evidence_is_the_integral_over_the_coefficients():
    random = np.random.default_rng(2)
    difference, codes = random.normal(size=40), random.integers(0, 2, 40)
    column = np.stack([np.zeros(40), difference], axis=1)
    found = fit_categories(codes, [column], np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.8, 0.5]))

    def density(slope, shift):
        chances = expit(shift + slope * difference)
        return np.prod(np.where(codes, chances, 1 - chances)) * norm.pdf(shift, 0, 0.8) * norm.pdf(slope, 1, 0.5)

    exact = np.log(dblquad(density, -5, 5, -2, 4, epsrel=1e-6, epsabs=0)[0])
    assert found.log_evidence == pytest.approx(exact, abs=0.02)


def test_a_label_that_counts_twice_is_two_labels_in_any_order():
    random = np.random.default_rng(3)
    column, codes = random.normal(size=(9, 3)), random.integers(0, 3, 9)
    counts, mean, scales = random.integers(1, 4, 9), np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4)
    rows = random.permutation(np.repeat(np.arange(9), counts))
    weighed = fit_categories(codes, [column], mean, scales, weights=counts.astype(float))
    repeated = fit_categories(codes[rows], [column[rows]], mean, scales)
    assert repeated.shifts == pytest.approx(weighed.shifts)
    assert repeated.log_evidence == pytest.approx(weighed.log_evidence)


@pytest.mark.parametrize("slope", [0.5, 1.0, 2.0])
def test_labels_tell_how_frequent_classes_are_and_how_sure_the_model_is(slope):
    random = np.random.default_rng(4)
    p, shifts = told(random, 6000, 5), np.array([1.0, 0.5, 0.0, -0.5, -1.0])
    labels = drawn(random, softmax(slope * np.log(p) + shifts, axis=1))
    found = calibrate_classes(np.log(p), labels)
    assert found.slope == pytest.approx(slope, rel=0.1)
    assert np.array(found.shifts) - np.mean(found.shifts) == pytest.approx(shifts, abs=0.15)


def test_a_model_that_is_right_is_hardly_moved():
    moved = []
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        p = told(random, 200, 8)
        found = calibrate_classes(np.log(p), drawn(random, p))
        moved.append(np.abs(softmax(found.slope * np.log(p) + found.shifts, axis=1) - p).mean())
    assert np.mean(moved) < 0.008  # .012 with how frequent each is among the labels in place of what was believed


def test_a_belief_has_the_probabilities_that_labels_move():
    random = np.random.default_rng(5)
    p = told(random, 400, 3)
    labels = drawn(random, softmax(1.5 * np.log(p) + [1.0, 0.0, -1.0], axis=1))
    items = Items((Classes(p.argmax(axis=1), p),), np.ones(400))
    belief = ClassBelief(3, models=((0, 1.0),)).calibrated(items, labels)
    again = belief.calibrated(items, labels)
    assert again == belief  # whatever it was calibrated to before
    wanted = softmax(belief.class_slope * np.log(p) + belief.class_shifts, axis=1)
    assert supposed(replace(belief, shift=0.0, slope=1.0), items) == pytest.approx(wanted)
    moved = supposed(belief, items)
    assert moved.sum(axis=1) == pytest.approx(1.0)
    assert moved.mean(axis=0) == pytest.approx(np.bincount(labels) / 400, abs=0.02)


def test_a_model_that_is_worse_than_chance_tells_nothing():
    random = np.random.default_rng(7)
    p = told(random, 500, 4)
    found = calibrate_classes(np.log(p), drawn(random, softmax(-np.log(p), axis=1)))
    assert found.slope == 0.0


@pytest.mark.parametrize("power", [3.0, 6.0])
def test_what_a_far_too_sure_model_knows_is_kept(power):
    """Labels tell that it is too sure; which classes it has for the likeliest counts as if it were not."""
    random = np.random.default_rng(11)
    right = told(random, 4000, 10, 3.0)
    sure, labels = softmax(power * np.log(right), axis=1), drawn(random, right)
    items = Items((Classes(sure.argmax(axis=1), sure),), np.ones(4000))
    belief = ClassBelief(10, models=((0, 1.0),)).calibrated(items.take(np.arange(300)), labels[:300])
    believed, own = (np.log(p[np.arange(4000), labels]).mean() for p in (supposed(belief, items), right))
    assert believed > own - 0.03  # less by 0.045 where the fit took all below 1e-6 for this, 0.7 by one class alone


@pytest.mark.parametrize(("size", "counted"), [(29, False), (30, True)])
def test_ends_of_intervals_count_on_it_from_ten_labels_of_each_class(size, counted):
    random = np.random.default_rng(9)
    p = told(random, size, 3)
    items = Items((Classes(p.argmax(axis=1), p),), np.ones(size))
    labels = drawn(random, softmax(np.log(p) + np.array([2.0, 0.0, -2.0]), axis=1))
    belief = ClassBelief(3, models=((0, 1.0),)).calibrated(items, labels)
    assert belief.class_shifts
    unseen, sure = (
        {getattr(one, "belief", one).class_shifts for one in left(items, labels, np.ones(size))}
        for left in (belief.plausible_of_unseen, belief.plausible_of_sure)
    )
    assert unseen == ({belief.class_shifts} if counted else {()})
    assert sure == {()}  # losses live by how sure the model is of items that are wrong


def test_what_others_and_features_tell_is_not_explained_by_how_frequent_classes_are():
    random = np.random.default_rng(8)
    p = told(random, 300, 3)
    labels = drawn(random, softmax(np.log(p) + np.array([1.0, 0.0, -1.0]), axis=1))
    items = Items((Classes(p.argmax(axis=1), p),), np.ones(300), features=p)
    assert ClassBelief(3, models=((0, 1.0),)).calibrated(items, labels).class_shifts
    assert not LearnedClassBelief(3, models=((0, 1.0),)).calibrated(items, labels).class_shifts


def test_two_classes_and_no_labels_are_left_as_they_were():
    p = np.linspace(0.1, 0.9, 50)
    two = Items((Classes((p > 0.5).astype(int), p),), np.ones(50))
    assert ClassBelief(2, models=((0, 1.0),)).calibrated(two, (p > 0.3).astype(int)).class_shifts == ()
    three = Items((Classes(np.zeros(0, dtype=int), np.zeros((0, 3))),), np.zeros(0))
    none = ClassBelief(3, models=((0, 1.0),))
    assert none.calibrated(three, np.zeros(0, dtype=int)) == none


def test_means_over_classes_of_unknown_frequency_take_fewer_labels():
    """Of forty classes that the model takes for equally frequent recall was believed too low everywhere, by a tenth."""
    random = np.random.default_rng(6)
    share = 1.0 / np.arange(1, 41)
    labels = random.choice(40, 6000, p=share / share.sum())
    seen = random.normal(size=(6000, 40))
    seen[np.arange(6000), labels] += 2.8
    pool = Pool(softmax(2.8 * seen, axis=1))
    truth = evaluate(pool, "balanced_accuracy", labels, 6000).value
    errors = [evaluate(pool, "balanced_accuracy", labels, 200, seed).value - truth for seed in range(12)]
    assert abs(np.mean(errors)) < 0.02  # -0.08 without
    assert np.sqrt(np.mean(np.square(errors))) < 0.05  # 0.085 without
