"""Beliefs: quadrature against closed forms and scipy, mixtures, outcomes, priors, names."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, stats
from scipy.special import expit, logit

from sondage import Classifier, Outcome, Pool, Regressor
from sondage.core.beliefs import ClassBelief, GaussianBelief, OutcomeBelief
from sondage.core.beliefs.columns import log_odds
from sondage.core.catalogue.beliefs import Expectation, named_belief, uninformed_belief
from sondage.core.comparisons import Contrast, believed_totals, moments
from sondage.core.measures import MAE, MSE, R2, ErrorRate, MeanOutcome, Task
from sondage.core.measures.bases import Residuals
from sondage.core.predictions import Classes, Items, Means
from sondage.errors import InputError

Floats = NDArray[np.float64]
OWN = GaussianBelief(((0, 1.0),))


def regression(f: Any, tau: Any, *others: Any) -> Items:
    """Model 0 makes the belief; the others predict only."""
    f = np.atleast_1d(np.asarray(f, dtype=float))
    models = [Means(f, np.broadcast_to(np.square(np.asarray(tau, dtype=float)), f.shape))]
    models += [Means(np.atleast_1d(np.asarray(g, dtype=float)), None) for g in others]
    return Items(tuple(models), np.full(len(f), 1 / len(f)))


def expectation(belief: Any, items: Items, value: Callable[[Any], Any], **options: Any) -> Floats:
    return np.asarray(sum(weight * value(label) for label, weight in belief.supposed(items, (0,), **options)))


@pytest.mark.parametrize("nodes", [2, 3, 5])
def test_gauss_hermite_moments(nodes: int) -> None:
    # Central moments of N(m, t^2): 0, t^2, 0, 3 t^4, 0, 15 t^6, ...; a rule of n nodes has them up to 2n - 1.
    mean, tau = np.array([0.0, -3.0, 100.0]), np.array([1.0, 0.2, 7.0])
    items = regression(mean, tau)
    for power in range(2 * nodes):
        found = expectation(OWN, items, lambda y, power=power: (y - mean) ** power, nodes=nodes)
        np.testing.assert_allclose(found, stats.norm.moment(power) * tau**power, rtol=1e-11, atol=1e-9)
    assert expectation(OWN, items, lambda y: (y - mean) ** (2 * nodes), nodes=nodes)[0] < stats.norm.moment(2 * nodes)


def folded(shift: Floats, tau: Floats) -> Floats:
    """E|N(shift, tau^2)|, the folded normal mean: Leone, Nelson and Nottingham, Technometrics 1961, 3, 543-550."""
    z = shift / tau
    return np.asarray(tau * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + shift * (2 * stats.norm.cdf(z) - 1))


@pytest.mark.parametrize("tau", [1e-12, 1e-6, 0.01, 1.0, 30.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 1e-9, 0.3, -2.0, 50.0])
def test_absolute_loss_is_the_folded_normal(shift: float, tau: float) -> None:
    items = regression([1.0], [tau], [1.0 + shift])
    kink = [np.array([1.0 + shift])]
    found = expectation(OWN, items, lambda y: np.abs(y - kink[0]), kinks=kink)
    shift = float(kink[0][0] - 1.0)  # as it is after rounding
    np.testing.assert_allclose(found, folded(np.array([shift]), np.array([tau])), rtol=1e-10, atol=1e-15)
    square = expectation(OWN, items, lambda y: (y - kink[0]) ** 2, kinks=kink)
    np.testing.assert_allclose(square, shift**2 + tau**2, rtol=1e-10, atol=1e-24)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=3), st.floats(-3, 3), st.floats(0.01, 20))
def test_split_rule_is_a_distribution_with_the_right_moments(kinks: list[float], mean: float, tau: float) -> None:
    items = regression([mean], [tau])
    for power, expected in enumerate((1.0, mean, mean**2 + tau**2, mean**3 + 3 * mean * tau**2)):
        found = expectation(OWN, items, lambda y, power=power: y**power, kinks=[np.array([k]) for k in kinks])
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(abs(mean), tau) ** power)


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-5, 5)), min_size=1, max_size=3),
    st.floats(-2, 2),
    st.floats(0.01, 20),
    st.booleans(),
)
def test_folded_moments_are_those_of_the_split_rule(
    folds: list[tuple[float, float]], slope: float, tau: float, peaked: bool
) -> None:
    items, places = regression([0.7, -1.0], [tau, 0.0]), [np.full(2, place) for _, place in folds]
    belief, coefficients = replace(OWN, peaked=peaked), [c for c, _ in folds]
    found = belief.folded_moments(items, 0.4, slope, list(zip(coefficients, places, strict=True)))

    def value(y: Any) -> Any:
        return 0.4 + slope * y + sum(c * np.abs(y - place) for c, place in zip(coefficients, places, strict=True))

    size = max(float(np.max(expectation(belief, items, lambda y: value(y) ** 2, kinks=places))), 1e-12)
    for power, moment in enumerate(found, start=1):
        wanted = expectation(belief, items, lambda y, power=power: value(y) ** power, kinks=places)
        np.testing.assert_allclose(moment, wanted, rtol=1e-8, atol=1e-9 * size ** (power / 2))


PAIRS = [(0.0, 1.0), (0.3, 0.30001), (-2.0, 5.0), (4.0, 4.5), (0.5, 0.5)]


@pytest.mark.parametrize("tau", [1e-4, 0.1, 1.0, 25.0])
@pytest.mark.parametrize(("f1", "f2"), PAIRS)
def test_squared_difference_of_absolute_losses(f1: float, f2: float, tau: float) -> None:
    # A comparison by mean absolute error of two models, believed by a third.
    items = regression([0.4], [tau], [f1], [f2])
    contrast = Contrast(MAE().ready(Task("regression")), ((1, 1.0), (2, -1.0)))
    influence = contrast.influence({1: np.zeros(5), 2: np.zeros(5)})
    mean, second = moments(influence, OWN, items)
    ends = 0.4 - 12 * tau, 0.4 + 12 * tau
    kinks = sorted(x for x in (f1, f2) if ends[0] < x < ends[1])
    for found, power in ((mean, 1), (second, 2)):
        edges = sorted({ends[0], *kinks, 0.4, ends[1]})
        parts = [_quad(f1, f2, tau, power, low, high) for low, high in pairwise(edges)]
        assert float(found[0]) == pytest.approx(sum(parts), rel=1e-8, abs=1e-13 * abs(f1 - f2) ** power)


def _quad(f1: float, f2: float, tau: float, power: int, low: float, high: float) -> float:
    def integrand(y: float) -> float:
        return float((abs(y - f1) - abs(y - f2)) ** power * stats.norm.pdf(y, 0.4, tau))

    return float(integrate.quad(integrand, low, high, epsabs=1e-15, epsrel=1e-11)[0])


def test_second_moment_of_absolute_loss() -> None:
    # E (|y - f| - R)^2 = tau^2 - 2 R tau sqrt(2/pi) + R^2 for a belief centred on the prediction.
    tau, risk = np.array([0.3, 1.0, 2.5]), 0.8
    items = regression([1.0, 5.0, -2.0], tau)
    influence = Contrast(MAE().ready(Task("regression")), ((0, 1.0),)).influence({0: np.array([0, 0, risk, 0, 0])})
    second = moments(influence, OWN, items)[1]
    np.testing.assert_allclose(second, tau**2 - 2 * risk * tau * np.sqrt(2 / np.pi) + risk**2, rtol=1e-12)


def test_believed_totals_of_residuals() -> None:
    # ((y-f)^2, f-y, |y-f|, y, y^2) under a mixture of two Gaussians, unequal weights.
    f, g = np.array([0.0, 1.0, -2.0]), np.array([0.5, 1.0, 3.0])
    t, s, b = np.array([1.0, 0.5, 2.0]), np.array([0.2, 2.0, 1.0]), np.array([0.5, 0.3, 0.2])
    items = Items((Means(f, t**2), Means(g, s**2)), b)
    belief = GaussianBelief(((0, 0.25), (1, 0.75)))
    found = believed_totals(Residuals(), (1,), belief, items, b)[1]
    of_first = [(f - g) ** 2 + t**2, g - f, folded(f - g, t), f, f**2 + t**2]
    of_second = [s**2, 0 * g, s * np.sqrt(2 / np.pi), g, g**2 + s**2]
    expected = [b @ (0.25 * x + 0.75 * y) for x, y in zip(of_first, of_second, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
@pytest.mark.parametrize("limit", [{}, {"peaked": True}, {"broad": True}], ids=["variances of 0", "peaked", "broad"])
def test_believed_totals_lose_nothing_in_any_unit(unit: float, limit: dict[str, bool]) -> None:
    f, g = unit * np.array([0.25, 1.0, -2.0]), unit * np.array([0.5, 3e9, 3.0])
    items = Items((Means(f, np.zeros(3)), Means(g, np.zeros(3))), np.full(3, 0.25))
    found = believed_totals(Residuals(), (1,), GaussianBelief(((0, 1.0),), **limit), items, items.weights)[1]
    assert (found[1], found[3]) == (0.25 * np.sum(g - f), 0.25 * np.sum(f))
    if "broad" not in limit:
        np.testing.assert_allclose(found[[0, 2, 4]], 0.25 * np.sum([(f - g) ** 2, np.abs(f - g), f**2], axis=1))


def test_second_moment_of_squared_loss_is_exact_far_from_zero() -> None:
    # 4.23 with means of 1e5: house prices.
    tau2 = np.array([1e6, 4e6])
    items = regression([3e5, 1e5], np.sqrt(tau2))
    sums = believed_totals(Residuals(), (0,), OWN, items, items.weights)
    influence = Contrast(MSE().ready(Task("regression")), ((0, 1.0),)).influence(sums)
    risk = tau2.mean()
    np.testing.assert_allclose(moments(influence, OWN, items)[1], (3 * tau2 - 2 * risk) * tau2 + risk**2, rtol=1e-9)


def test_peaked_and_broad() -> None:
    items = regression([1.0, 2.0], [0.5, 3.0], [4.0, 4.0])
    peaked = GaussianBelief(((0, 0.5), (1, 0.5)), peaked=True)
    assert [(y.tolist(), w) for y, w in peaked.supposed(items, (0,))] == [([1.0, 2.0], 0.5), ([4.0, 4.0], 0.5)]
    broad = GaussianBelief(((0, 1.0),), broad=True)
    np.testing.assert_allclose(expectation(broad, items, lambda y: (y - np.array([1.0, 2.0])) ** 2), 1.0, rtol=1e-12)


def test_zero_variance_is_a_point() -> None:
    items = regression([1.0, -2.0], [0.0, 0.0])
    kink = [np.array([1.5, -2.0])]
    np.testing.assert_allclose(expectation(OWN, items, lambda y: np.abs(y - kink[0]), kinks=kink), [0.5, 0.0])
    np.testing.assert_allclose(expectation(OWN, items, lambda y: y**2), [1.0, 4.0])


P, Q, J = np.array([0.2, 0.9, 0.5]), np.array([0.6, 0.3, 1.0]), np.array([0.1, 0.2, 0.7])


def classifiers(**columns: Any) -> Pool:
    models = {"a": Classifier(P), "b": Classifier(np.stack([1 - Q, Q], axis=1)), "c": Classifier(predictions=[0, 1, 1])}
    return Pool(models=models, **columns)


def believed(pool: Pool, belief: Any, *models: int) -> Floats:
    chosen = named_belief(belief, Expectation(pool.task, pool.items, models))
    table = np.stack([weight for _, weight in chosen.supposed(pool.items, models)])
    np.testing.assert_allclose(table.sum(axis=0), 1.0, rtol=1e-14)
    return np.asarray(table[1])


@pytest.mark.parametrize(
    ("belief", "models", "expected"),
    [
        ("model", (0,), P),
        ("model", (1,), Q),
        ("model", (0, 1), (P + Q) / 2),  # 5.11
        ("model", (0, 2), P),  # the third tells no probabilities
        ("model", (2,), [0.5, 0.5, 0.5]),
        ("uniform", (0, 1), [0.5, 0.5, 0.5]),
        ("judge", (0,), J),
        (None, (0,), expit(0.2 * logit(J) + 0.8 * logit(P))),  # decisions 0028 and 0048
        (None, (2,), J),
        ({0: 0.3, 1: 0.7}, (0,), [0.7, 0.7, 0.7]),
        ({1: 1.0}, (0,), [1.0, 1.0, 1.0]),
        ([0.25, 0.75], (0, 1), [0.75, 0.75, 0.75]),
        ((1 / 3, 0.6667), (0,), [0.6667 / (1 / 3 + 0.6667)] * 3),
    ],
)
def test_class_beliefs_by_name(belief: Any, models: tuple[int, ...], expected: Any) -> None:
    np.testing.assert_allclose(believed(classifiers(judge=J), belief, *models), expected, rtol=1e-14)


def test_without_a_judge_the_models_are_believed() -> None:
    np.testing.assert_allclose(believed(classifiers(), None, 0, 1), (P + Q) / 2, rtol=1e-14)


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        ("nobody", "no belief 'nobody'; there are model, uniform"),
        ("judge", "the pool has no judge; give judge= to the pool, in files columns judge.p_<class>"),
        ("broad", "is for regression"),
        ({"spam": 1.0}, "the prior names 'spam'"),
        ([0.5, 0.4], "sum to 1"),
        ([1.5, -0.5], "must be 2 probabilities"),
        ([1.0], "must be 2 probabilities"),
    ],
)
def test_wrong_class_beliefs_are_refused(belief: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        believed(classifiers(), belief, 0)


def test_mixture_with_a_judge_and_a_prior() -> None:
    items = classifiers(judge=J).items
    belief = ClassBelief(2, models=((0, 0.4), (1, 0.2)), judge=0.1, uniform=0.1, prior=(0.05, 0.15))
    mixed = (0.4 * P + 0.2 * Q + 0.05 + 0.15) / 0.9
    expected = expit(0.9 * logit(mixed) + 0.1 * logit(J))
    np.testing.assert_allclose(belief.probability(items, 1), expected, rtol=1e-14)
    np.testing.assert_allclose(belief.probability(items, 0) + belief.probability(items, 1), 1.0, rtol=1e-14)


def test_judges_and_models_are_pooled_by_log_odds_in_any_number_of_classes() -> None:
    random = np.random.default_rng(7)
    p, q, r = random.dirichlet(np.ones(4), (3, 50))
    items = Items((Classes(p.argmax(axis=1), p),), np.ones(50), judges=(q, r))
    belief = ClassBelief(4, models=((0, 0.7),), judge=0.3, among=(0.25, 0.75))
    expected = p**0.7 * (0.25 * q + 0.75 * r) ** 0.3
    expected /= expected.sum(axis=1, keepdims=True)
    found = dict(belief.supposed(items, [0]))
    for label in range(4):
        np.testing.assert_allclose(found[label], expected[:, label], rtol=1e-12)
        np.testing.assert_allclose(belief.probability(items, label), expected[:, label], rtol=1e-12)
    np.testing.assert_array_equal(belief.reference(items).classes, expected.argmax(axis=1))


def test_who_is_surest_says_most_and_who_is_hardly_believed_little() -> None:
    items = Items((Classes(np.zeros(1, dtype=int), np.array([1e-5])),), np.ones(1), judges=(np.array([0.9]),))
    half, hardly = (float(ClassBelief(2, models=((0, 1 - w),), judge=w).probability(items, 1)[0]) for w in (0.5, 0.01))
    assert half == pytest.approx(float(expit((logit(1e-5) + logit(0.9)) / 2)))
    assert hardly < 1.2e-5  # of a mixture .009
    sure = Items((Classes(np.zeros(1, dtype=int), np.array([0.0])),), np.ones(1), judges=(np.array([1.0]),))
    assert float(ClassBelief(2, models=((0, 0.5),), judge=0.5).probability(sure, 1)[0]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("belief", "models", "broad", "peaked"),
    [
        ("model", (0, 1), False, False),
        ("model", (2,), True, False),
        ("broad", (0,), True, False),
        ("peaked", (0,), False, True),
    ],
)
def test_gaussian_beliefs_by_name(belief: str, models: tuple[int, ...], broad: bool, peaked: bool) -> None:
    pool = Pool(models={"a": Regressor(P, J), "b": Regressor(Q, J), "c": Regressor(J)})
    found = named_belief(belief, Expectation(pool.task, pool.items, models))
    assert found == GaussianBelief(tuple((m, 1 / len(models)) for m in models), broad=broad, peaked=peaked)
    with pytest.raises(InputError, match="is for classes"):
        named_belief("uniform", Expectation(pool.task, pool.items, models))


def outcomes() -> Pool:
    graded = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.8, 0.1]])
    return Pool(
        models={"a": Outcome(judge=P), "b": Outcome(judge=graded, grades=[0, 2, 5]), "c": Outcome()}, ids=[5, 6, 7]
    )


def test_outcomes_are_independent() -> None:
    pool = outcomes()
    graded = pool.items.models[1].judge  # type: ignore[union-attr]
    found = {tuple(y[:2]): np.asarray(w) for y, w in OutcomeBelief().supposed(pool.items, (1, 0))}
    assert set(found) == set(product((0.0, 1.0), (0.0, 2.0, 5.0)))
    for (first, second), weight in found.items():
        own = P if first else 1 - P
        np.testing.assert_allclose(weight, own * graded[:, [0.0, 2.0, 5.0].index(second)], rtol=1e-14)
    np.testing.assert_allclose(sum(found.values()), 1.0, rtol=1e-14)
    assert all(np.isnan(y[2]) for y, _ in OutcomeBelief().supposed(pool.items, (0, 1)))


def test_moments_of_a_difference_of_outcomes() -> None:
    # Independent: the mean is a difference of means, the variance a sum of variances.
    pool = outcomes()
    graded, grades = pool.items.models[1].judge, np.array([0.0, 2.0, 5.0])  # type: ignore[union-attr]
    contrast = Contrast(MeanOutcome().ready(pool.task), ((0, 1.0), (1, -1.0)))
    influence = contrast.influence({0: np.zeros(1), 1: np.zeros(1)})
    mean, second = moments(influence, OutcomeBelief(), pool.items)
    means, squares = graded @ grades, graded @ grades**2
    np.testing.assert_allclose(mean, P - means, rtol=1e-14)
    np.testing.assert_allclose(second - mean**2, P * (1 - P) + squares - means**2, rtol=1e-12, atol=1e-14)


def test_an_outcome_without_a_judge_is_uniform() -> None:
    pool = outcomes()
    weights = [w for _, w in OutcomeBelief().supposed(pool.items, (2,))]
    assert weights == [0.5, 0.5]
    uniform = [w for _, w in OutcomeBelief(uniform=True).supposed(pool.items, (1,))]
    np.testing.assert_allclose(uniform, 1 / 3)
    made = [named_belief(name, Expectation(pool.task, pool.items, (0,))) for name in ("model", "judge", "uniform")]
    assert made == [OutcomeBelief(), OutcomeBelief(), OutcomeBelief(uniform=True)]


def test_class_moments_are_sums_over_classes() -> None:
    pool = classifiers()
    contrast = Contrast(ErrorRate().ready(pool.task), ((0, 1.0),))
    influence = contrast.influence({0: np.array([[0.5, 0.2], [0.1, 0.2]])})
    mean, second = moments(influence, ClassBelief(2, models=((1, 1.0),)), pool.items)
    wrong = np.where(np.array([0, 1, 0]) == 1, 1 - Q, Q)
    np.testing.assert_allclose(mean, wrong - 0.3, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(second, wrong * 0.49 + (1 - wrong) * 0.09, rtol=1e-12)


def test_uninformed_beliefs() -> None:
    pool = classifiers()
    assert uninformed_belief(Expectation(pool.task, pool.items, (0,))) == ClassBelief(2, uniform=1.0)
    pool = Pool(means=P)
    assert uninformed_belief(Expectation(pool.task, pool.items, (0,))) == GaussianBelief(((0, 1.0),), broad=True)


def test_missing_outputs_are_named() -> None:
    pool = classifiers()
    with pytest.raises(InputError, match="needs class probabilities"):
        list(ClassBelief(2, models=((2, 1.0),)).supposed(pool.items, (2,)))
    pool = Pool(means=P)
    with pytest.raises(InputError, match="needs predictive variances"):
        list(OWN.supposed(pool.items, (0,)))


def test_quadratic_influences_need_three_nodes(rng: np.random.Generator) -> None:
    # R^2 and MSE have influences of degree 2, second moments of degree 4: the rule of 3 nodes has degree 5.
    items = regression(rng.normal(size=6), rng.uniform(0.1, 2, size=6), rng.normal(size=6))
    for measure in (MSE(), R2()):
        functional = measure.ready(Task("regression"))
        sums = believed_totals(functional.basis, (1,), OWN, items, items.weights)
        influence = Contrast(functional, ((1, 1.0),)).influence(sums)
        exact = sum(w * influence.at(items, y) ** 2 for y, w in OWN.supposed(items, (0,), nodes=12))
        np.testing.assert_allclose(moments(influence, OWN, items)[1], exact, rtol=1e-11)


def test_grades_are_calibrated_at_the_mode_of_their_posterior():
    """The Newton steps against a general minimiser, on documents that the prior misjudges."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    from sondage.core.beliefs import RankingBelief
    from sondage.core.beliefs.grades import ALIKE
    from sondage.core.rankings import Documents, Ranks

    random = np.random.default_rng(0)
    counts = np.array([4, 25, 0, 12])
    p = random.dirichlet(np.ones(3), counts.sum())
    offsets = np.concatenate([[0], np.cumsum(counts)])
    table = Documents(offsets, np.arange(counts.sum()), 3, p)
    places = np.concatenate([random.permutation(n) + 1 for n in counts]).astype(int)
    items = Items((Ranks(table, places, np.arange(4)),), np.full(4, 0.25))
    codes = np.where(places < 4, 2, random.integers(2, size=len(p)))
    labels = np.full((4, 25), -1)
    for query, (start, stop) in enumerate(pairwise(offsets)):
        labels[query, : stop - start] = codes[start:stop]

    found = RankingBelief(3).calibrated(items, labels)
    weights = np.concatenate([np.full(n, min(1, ALIKE / max(n, 1))) for n in counts])

    def loss(x):
        logits = x[:3] + x[3] * np.log(p) + x[4] * np.outer(1 / np.log2(places + 1), [0, 0.5, 1])
        fit = log_softmax(logits, axis=1)[np.arange(len(p)), codes]
        prior = np.sum(x[:3] ** 2) / 2 + 2 * (x[3] - 1) ** 2 + x[4] ** 2 / 18
        return prior - np.sum(weights * fit)

    wanted = minimize(loss, [0, 0, 0, 1, 0], tol=1e-10).x
    assert [*found.shifts, found.slope, found.lift] == pytest.approx(wanted, abs=1e-4)
    assert found.probabilities(items, slice(None)).sum(axis=1) == pytest.approx(1)
    assert found.lift > 0


def test_no_labels_leave_grades_as_they_are():
    from sondage.core.beliefs import RankingBelief
    from sondage.core.rankings import Documents, Ranks

    table = Documents(np.array([0, 2]), np.arange(2), 3)
    items = Items((Ranks(table, np.array([1, 2]), np.zeros(0, dtype=np.int64)),), np.zeros(0))
    assert RankingBelief(3).calibrated(items, np.zeros((0, 0), dtype=np.int8)) == RankingBelief(3)


def test_a_sure_probability_in_single_precision_has_finite_log_odds() -> None:
    """1 - 1e-12 is 1 in single precision: clipped there, a calibration on such items was not a number."""
    sure = np.array([0.0, 0.25, 1.0])
    assert log_odds(sure.astype(np.float32)) == pytest.approx(log_odds(sure), rel=1e-6)
    assert np.isfinite(log_odds(sure.astype(np.float32))).all()


def test_a_belief_moved_by_a_calibration_keeps_what_it_has_of_each_model() -> None:
    belief, same = (ClassBelief(2, models=tuple((model, 0.01) for model in range(100))) for _ in range(2))
    moved = replace(belief, shift=1.0)
    assert moved.models is belief.models
    assert (belief, hash(belief)) == (same, hash(same))
    assert hash(belief.models) == hash(tuple(belief.models))
    assert moved != belief
