"""The experiments' simulation is Algorithm 2: against enumeration, and against the package's own method."""

from itertools import permutations

import numpy as np
import pytest

from experiments.accuracy import average, summary, wrong_sign
from experiments.rows import labels_for
from experiments.simulation import Target, _estimate, plan_of, race, simulate, targets_of
from experiments.stratified import _deviations, simulate_strata, strata_of
from sondage import Classifier, Pool
from sondage.core.measures import parse_measure
from sondage.core.strata import stratum_deviations
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.method import Question, choose_method
from sondage.studies.session import Session

Q = np.array([0.4, 0.3, 0.15, 0.1, 0.05])


def expected_counts(q, n):
    """Return how often each item is expected to be drawn until n distinct ones are, over all orders of arrival."""
    counts = np.zeros(len(q))
    for order in permutations(range(len(q)), n):
        chance, left = 1.0, 1.0
        for i in order:
            chance, left = chance * q[i] / left, left - q[i]
        for k in range(n):
            counts[order[k]] += chance
            seen = list(order[:k])  # repeats while these are known: geometric, each in proportion to q
            counts[seen] += chance * q[seen] / (1.0 - q[seen].sum())
    return counts


def test_counts_are_those_of_enumeration(rng):
    found = {2: [], 4: []}
    for drawn in race(Q, [2, 4], 40_000, rng):
        for budget, counts in zip(found, drawn.counts, strict=True):
            for item in range(5):
                found[budget].append((counts * (drawn.items[:, :budget] == item)).sum(axis=1))
    for budget, columns in found.items():
        counts = np.array(columns)
        error = counts.std(axis=1) / np.sqrt(counts.shape[1])
        assert np.all(np.abs(counts.mean(axis=1) - expected_counts(Q, budget)) < 4 * error)


def test_each_budget_labels_so_many(rng):
    runs = simulate(Q, [Target(np.ones(5), np.ones(5))], [1, 3, 4], 50, rng)
    assert np.array_equal(runs.labels, np.tile([1.0, 3.0, 4.0], (50, 1)))
    assert np.all(np.diff(runs.draws, axis=1) > 0)
    assert np.allclose(runs.values, 1.0)
    assert np.allclose(runs.std_errors, 0.0)


def test_costs_stop_before_what_does_not_fit(rng):
    costs, budget = np.array([1.0, 2.0, 3.0, 1.5, 0.5]), 4.0
    runs = simulate(Q, [Target(np.ones(5), np.ones(5))], [2.0, budget], 20_000, rng, costs=costs)
    assert runs.spent.max() <= budget
    drawn = rng.choice(5, p=Q, size=(20_000, 60))
    labels, draws = [], []
    for row in drawn:
        _, first = np.unique(row, return_index=True)
        first = np.sort(first)
        fits = int(np.count_nonzero(np.cumsum(costs[row[first]]) <= budget))
        labels.append(fits)
        draws.append(first[fits])
    for ours, theirs in ((runs.labels[:, 1], labels), (runs.draws[:, 1], draws)):
        error = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(20_000)
        assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error


def started(pool, question, labels, design="optimal"):
    """Return a session by the thesis's method with 40 labels."""
    session = Session.start(pool, question, choose_method("thesis", design=design), budget=40, seed=3)
    ids = session.ask(40)
    session.tell(ids, labels[np.asarray(ids)])
    return session


def ours_from(session, pool, plan, target):
    """Return our estimate from the draws of a session of the package."""
    drawn = session.stage.drawn
    items, counts = np.asarray(drawn.units)[None], np.bincount(drawn.settings["sequence"])[None].astype(float)
    b = np.asarray(pool.items.weights)
    w = np.divide(b, plan.sizes, out=np.zeros(len(b)), where=plan.sizes > 0)
    first, second = counts * w[items], counts * w[items] ** 2
    share = b[plan.sizes > 0].sum()
    value, error = _estimate(target, items, first, second, share / first.sum(axis=1))
    return value[0], error[0]


@pytest.mark.parametrize("measure", ["error_rate", "f1", "recall", "precision", "mse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_estimates_are_those_of_the_package(measure, weighted, rng):
    size = 200
    weights = rng.uniform(0.5, 2.0, size) if weighted else None
    if measure == "mse":
        means, variances = rng.normal(size=size), rng.uniform(0.5, 2.0, size)
        pool, labels = Pool(means=means, variances=variances, weights=weights), rng.normal(means, np.sqrt(variances))
    else:
        p = rng.uniform(size=size)
        pool, labels = Pool(probabilities=p, weights=weights), (rng.uniform(size=size) < p).astype(int)
    plan = plan_of(pool, measure)
    (target,) = targets_of(pool, labels, plan)
    session = started(pool, Question("evaluate", pool.models, (parse_measure(measure),)), labels)
    (estimate,) = estimate_session(session).values()
    value, error = ours_from(session, pool, plan, target)
    assert value == pytest.approx(estimate.value, rel=1e-12)
    assert error == pytest.approx(estimate.std_error, rel=1e-12)


@pytest.mark.parametrize(("design", "all_can_be_drawn"), [("optimal", True), ("active_neq", False)])
def test_comparisons_are_those_of_the_package(design, all_can_be_drawn, rng):
    p, other = rng.uniform(size=300), rng.uniform(size=300)
    labels = (rng.uniform(size=300) < p).astype(int)
    pool = Pool(models={"a": Classifier(probabilities=p), "b": Classifier(probabilities=other)})
    plan = plan_of(pool, "error_rate", design, kind="compare")
    assert (plan.known.share == 1) == all_can_be_drawn
    (target,) = targets_of(pool, labels, plan)
    session = started(pool, Question("compare", ("a", "b"), (parse_measure("error_rate"),)), labels, design)
    comparison = compare_session(session)
    value, error = ours_from(session, pool, plan, target)
    assert value == pytest.approx(comparison.difference, rel=1e-12)
    assert error == pytest.approx(comparison.std_error, rel=1e-12)


def test_a_budget_for_everything_is_exact(rng):
    p = rng.uniform(size=100)
    pool, labels = Pool(probabilities=p), (rng.uniform(size=100) < p).astype(int)
    plan = plan_of(pool, "precision")
    (target,) = targets_of(pool, labels, plan)
    support = int(np.count_nonzero(plan.sizes))
    runs = simulate(plan.sizes, [target], [20, support, 90], 10, rng)
    assert support < 90
    assert runs.values[:, 1:] == pytest.approx(target.truth(), rel=1e-12)
    assert runs.values[:, 0].std() > 0
    assert np.array_equal(runs.labels[0], [20, support, support])


def test_strata_weigh_their_means(rng):
    losses = (rng.uniform(size=60) < 0.3).astype(float)
    strata = strata_of(rng.uniform(size=60))
    target = Target(losses, np.ones(60))
    assert np.bincount(strata).tolist() == [6] * 10
    values = simulate_strata(strata, target, [30, 60], 400, rng)
    assert np.allclose(values[:, 1], target.truth())  # everything is labelled
    assert abs(values[:, 0].mean() - target.truth()) < 0.02
    assert values[:, 0].std() > 0


def test_strata_deviate_as_in_the_package():
    losses, strata = np.array([0.0, 1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1, 1])
    taken, sums = np.bincount(strata, minlength=3)[None].astype(float), np.bincount(strata, losses, minlength=3)[None]
    expected = stratum_deviations(losses, strata, 3, prior=float(np.var(losses)))
    assert _deviations(taken, sums, sums)[0] == pytest.approx(expected, rel=1e-12)


def test_labels_are_read_off_between_budgets():
    assert labels_for([100, 400], [0.2, 0.1], 0.2 / np.sqrt(2)) == pytest.approx(200.0, rel=1e-9)
    assert labels_for([100, 400], [0.2, 0.1], 0.3) == 100.0
    assert np.isnan(labels_for([100, 400], [0.2, 0.1], 0.05))


def test_a_single_undefined_estimate_leaves_no_error():
    found = summary(np.array([0.5, np.nan, 0.7]), 0.6)
    assert found["undefined"] == 1
    assert np.isnan(found["error"])


def test_wrong_is_the_other_sign():
    assert wrong_sign(np.array([0.1, -0.1, 0.0]), -0.2).tolist() == [1.0, 0.0, 0.5]


def test_average_counts_the_sets_alike():
    mean, error = average([np.array([[0.0], [1.0]]), np.array([[1.0], [1.0], [1.0], [1.0]])])
    assert mean.tolist() == [0.75]
    assert error[0] == pytest.approx(np.sqrt(0.5 / 2) / 2)
