"""Every closed form of the thesis is the one rule u = b sqrt(E[psi^2] / c), to the last bits.

Numbers of equations are those of the thesis. Pool means are short decimals here, since designs see them rounded to
nine digits; `test_rounding_costs_nine_digits` has arbitrary ones.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from sondage import Classifier, Pool, Regressor
from sondage.core.catalogue import designs
from sondage.core.measures import MAE, MSE, ErrorRate, FMeasure, Loss, Measure, Precision, Recall
from sondage.core.planning import repeated_variance
from sondage.errors import SondageWarning
from sondage.studies.method import Method, Question
from sondage.studies.planning import Plan, make_plan

Floats = NDArray[np.float64]

P = np.array([0.02, 0.98, 0.35, 0.61, 0.5, 0.77, 0.13, 0.9, 0.44, 0.3])
P2 = np.array([0.4, 0.7, 0.65, 0.38, 0.9, 0.81, 0.76, 0.2, 0.05, 0.1])
P3 = np.array([0.9, 0.3, 0.2, 0.9, 0.58, 0.4, 0.88, 0.7, 0.08, 0.8])
F1 = np.array([1.2, -0.5, 3.0, 0.7, 2.2, -1.0, 0.0, 4.1, 1.9, 2.5])
F2 = np.array([1.0, 0.5, 3.0, 0.2, 3.2, -1.4, 0.3, 2.1, 1.9, 1.5])
V1 = np.array([0.1, 0.4, 2.0, 0.3, 0.8, 0.2, 1.5, 0.6, 0.9, 0.1])
V2 = np.array([0.5, 0.2, 1.0, 0.1, 0.4, 3.0, 0.3, 0.7, 0.2, 0.8])
COSTS = np.array([1.0, 2.0, 0.5, 4.0, 1.0, 9.0, 3.0, 1.0, 0.25, 2.0])
WEIGHTS = {"equal": None, "unequal": np.array([1.0, 3.0, 0.5, 2.0, 1.0, 0.5, 4.0, 2.0, 5.0, 1.0])}


@pytest.fixture(params=list(WEIGHTS))
def weights(request: pytest.FixtureRequest) -> Floats | None:
    return WEIGHTS[request.param]


def b_of(weights: Floats | None) -> Floats:
    return np.full(10, 0.1) if weights is None else weights / weights.sum()


def plan_of(pool: Pool, measure: Measure, *models: str, kind: str = "", **parts: Any) -> Plan:
    question = Question(kind or ("compare" if len(models) > 1 else "evaluate"), models or pool.models, (measure,))
    return make_plan(pool, question, Method(**({"floor": 0.0, "estimator": "self_normalised"} | parts)))


def two_classifiers(weights: Floats | None, **columns: Any) -> Pool:
    return Pool(models={"a": Classifier(P), "b": Classifier(P2)}, weights=weights, **columns)


def two_regressors(weights: Floats | None, **columns: Any) -> Pool:
    return Pool(models={"a": Regressor(F1, V1), "b": Regressor(F2, V2)}, weights=weights, **columns)


def normalised(u: Any) -> Floats:
    return np.asarray(u / np.sum(u))


def same(found: Floats, expected: Any) -> None:
    expected = normalised(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


def intrinsic_error(p: Floats, b: Floats) -> float:
    return float(b @ np.minimum(p, 1 - p))  # 4.22 for zero-one loss and the most probable class


def f_value(eta: float, f: Floats, p: Floats, b: Floats) -> float:
    return float(b @ (f * p) / (eta * (b @ f) + (1 - eta) * (b @ p)))  # 4.21 with the weights of Corollary 3.1


def test_zero_one_loss(weights: Floats | None) -> None:
    b = b_of(weights)
    risk = intrinsic_error(P, b)
    sizes = plan_of(Pool(P, weights=weights), ErrorRate()).sizes
    same(sizes, b * np.sqrt((1 - 2 * risk) * np.minimum(P, 1 - P) + risk**2))  # 4.14


def test_zero_one_loss_of_a_prediction_that_is_not_the_most_probable(weights: Floats | None) -> None:
    b, f = b_of(weights), np.array([1, 0, 1, 1, 0, 1, 0, 1, 1, 0])
    wrong = np.where(f == 1, 1 - P, P)
    risk = float(b @ wrong)
    sizes = plan_of(Pool(P, predictions=f, weights=weights), ErrorRate()).sizes
    same(sizes, b * np.sqrt((1 - 2 * risk) * wrong + risk**2))  # 4.14


def test_zero_one_loss_of_three_classes(weights: Floats | None) -> None:
    b, p = b_of(weights), np.stack([P / 2, (1 - P) / 4, 0.25 + P / 4 + (0.5 - P) / 1], axis=1)
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    wrong = 1 - p.max(axis=1)
    risk = float(b @ wrong)
    same(plan_of(Pool(p, weights=weights), ErrorRate()).sizes, b * np.sqrt((1 - 2 * risk) * wrong + risk**2))  # 4.14


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_f_measure(eta: float, weights: Floats | None) -> None:
    b, f = b_of(weights), (P > 0.5).astype(float)
    g, p_f = f_value(eta, f, P, b), np.maximum(P, 1 - P)
    positive = np.sqrt(p_f * (1 - g) ** 2 + eta**2 * (1 - p_f) * g**2)
    negative = (1 - eta) * np.sqrt((1 - p_f) * g**2)
    sizes = plan_of(Pool(P, weights=weights), FMeasure(eta=eta)).sizes
    same(sizes, b * np.where(f == 1, positive, negative))  # 4.18


def test_recall(weights: Floats | None) -> None:
    b, f = b_of(weights), P > 0.5
    g, p_f = f_value(0.0, f.astype(float), P, b), np.maximum(P, 1 - P)
    expected = b * np.where(f, np.sqrt(p_f * (1 - g) ** 2), np.sqrt((1 - p_f) * g**2))  # 4.19
    same(plan_of(Pool(P, weights=weights), Recall()).sizes, expected)


def test_precision(weights: Floats | None) -> None:
    b, f = b_of(weights), P > 0.5
    g, p_f = f_value(1.0, f.astype(float), P, b), np.maximum(P, 1 - P)
    plan = plan_of(Pool(P, weights=weights), Precision())
    same(plan.sizes, b * f * np.sqrt((1 - 2 * g) * p_f + g**2))  # 4.20
    assert np.all(plan.sizes[~f] == 0)
    assert plan.known.share == pytest.approx(b @ f, rel=1e-15)


def test_the_printed_eta_is_the_other_way_round(weights: Floats | None) -> None:
    # The proof of Corollary 4.4 exchanges them: eta = 1 is precision, eta = 0 recall.
    pool = Pool(P, weights=weights)
    same(plan_of(pool, FMeasure(eta=1.0)).sizes, plan_of(pool, Precision()).sizes)
    same(plan_of(pool, FMeasure(eta=0.0)).sizes, plan_of(pool, Recall()).sizes)


@pytest.mark.parametrize("positive", [0, 1])
def test_f_measure_of_the_other_class(positive: int, weights: Floats | None) -> None:
    pool, mirrored = Pool(P, weights=weights), Pool(1 - P, weights=weights, predictions=P <= 0.5)
    found = plan_of(pool, FMeasure(beta=2, positive=positive)).sizes
    same(found, plan_of(mirrored, FMeasure(beta=2, positive=1 - positive)).sizes)


def test_squared_loss(weights: Floats | None) -> None:
    b = b_of(weights)
    risk = float(b @ V1)
    expected = b * np.sqrt((3 * V1 - 2 * risk) * V1 + risk**2)  # 4.23
    same(plan_of(Pool(means=F1, variances=V1, weights=weights), MSE()).sizes, expected)


def squared_loss_root(f: Floats, mu: Floats, var: Floats, risk: float) -> Floats:
    square = (f - mu) ** 2
    return np.sqrt(square * (6 * var - 2 * risk + square) + (3 * var - 2 * risk) * var + risk**2)


def test_squared_loss_when_the_belief_has_another_mean(weights: Floats | None) -> None:
    # Corollary 4.3: a belief N(mu, var) that is not centred on the prediction; here the other model's. Only the
    # mixture of both can be had from a pool, and the second moment of a mixture is the mean of second moments.
    b = b_of(weights)
    risk = float(b @ (V1 + V2 + (F1 - F2) ** 2) / 2)
    own, other = squared_loss_root(F1, F1, V1, risk), squared_loss_root(F1, F2, V2, risk)
    plan = plan_of(two_regressors(weights), MSE(), "a", "b", design="active_risk")
    second = float(b @ (V2 + V1 + (F1 - F2) ** 2) / 2)
    theirs = [squared_loss_root(F2, F2, V2, second), squared_loss_root(F2, F1, V1, second)]
    mixed = [normalised(b * np.sqrt((x**2 + y**2) / 2)) for x, y in ((own, other), theirs)]
    same(plan.sizes, mixed[0] + mixed[1])


def test_costs(weights: Floats | None) -> None:
    b = b_of(weights)
    risk = intrinsic_error(P, b)
    root = np.sqrt((1 - 2 * risk) * np.minimum(P, 1 - P) + risk**2)
    pool = Pool(P, weights=weights, costs=COSTS)
    same(plan_of(pool, ErrorRate()).sizes, b * root / np.sqrt(COSTS))  # 4.25
    same(plan_of(pool, ErrorRate(), design="uniform_cost").sizes, b * root)
    same(plan_of(pool, ErrorRate(), design="cost_only").sizes, b * COSTS**-0.5)  # 4.4.1, exponent corrected
    same(plan_of(pool, ErrorRate(), design="passive").sizes, b)


def test_number_of_draws_that_a_budget_pays(weights: Floats | None) -> None:
    # 4.25: n* = Lambda / E_q[cost]; the variance 3.12 at n*; and Lemma 4.2: no other q does better.
    b, budget = b_of(weights), 7.0
    risk = intrinsic_error(P, b)
    root = b * np.sqrt((1 - 2 * risk) * np.minimum(P, 1 - P) + risk**2)
    q = plan_of(Pool(P, weights=weights, costs=COSTS), ErrorRate()).sizes
    found = repeated_variance(q, root, budget, COSTS)
    assert found == pytest.approx(np.sum(root**2 / q) / (budget / (q @ COSTS)), rel=1e-12)
    assert found == pytest.approx(np.sum(root * np.sqrt(COSTS)) ** 2 / budget, rel=1e-12)
    for other in np.random.default_rng(0).dirichlet(np.ones(10), size=20):
        assert repeated_variance(other, root, budget, COSTS) > found


def test_comparison_by_zero_one_loss(weights: Floats | None) -> None:
    b, p = b_of(weights), (P + P2) / 2  # 5.11
    f1, f2 = (P > 0.5).astype(float), (P2 > 0.5).astype(float)
    delta = float(b @ ((f1 - f2) * (1 - 2 * p)))  # 5.12, since (f - y)^2 is the zero-one loss
    first = np.sqrt(1 - 2 * delta * (1 - 2 * p) + delta**2)
    second = np.sqrt(1 + 2 * delta * (1 - 2 * p) + delta**2)
    expected = b * np.where(f1 > f2, first, np.where(f1 < f2, second, abs(delta)))  # Corollary 5.1
    assert {-1.0, 0.0, 1.0} == set(f1 - f2)
    plan = plan_of(two_classifiers(weights), ErrorRate(), "a", "b")
    same(plan.sizes, expected)
    assert plan.known.share == 1.0


def test_comparison_by_squared_loss(weights: Floats | None) -> None:
    b, d, square = b_of(weights), F1 - F2, F1**2 - F2**2
    mean, second = (F1 + F2) / 2, (F1**2 + F2**2 + V1 + V2) / 2  # 5.13
    expected = b * np.sqrt(4 * d**2 * second - 4 * d * square * mean + square**2)  # 5.9 with Delta = 0
    plan = plan_of(two_regressors(weights), MSE(), "a", "b")
    np.testing.assert_allclose(plan.sizes, normalised(expected), rtol=1e-12, atol=1e-15)
    same(plan.sizes, b * np.sqrt(d**2 * (d**2 + 2 * (V1 + V2))))
    assert plan.contrasts[0].value({m: plan.known.expected["residuals", m] for m in (0, 1)}) == pytest.approx(
        0.0, abs=1e-14
    )  # 5.14


def test_comparison_by_squared_loss_with_a_difference() -> None:
    # 5.9 with Delta != 0: three models in the belief, two of them compared.
    f3, v3, b = np.round(F1 * 0.5 + 1, 1), np.full(10, 0.5), b_of(WEIGHTS["unequal"])
    pool = Pool(
        models={"a": Regressor(F1, V1), "b": Regressor(F2, V2), "c": Regressor(f3, v3)}, weights=WEIGHTS["unequal"]
    )
    mean, second = (F1 + F2 + f3) / 3, (F1**2 + F2**2 + f3**2 + V1 + V2 + v3) / 3
    expected = np.zeros(10)
    for one, other in ((F1, F2), (F1, f3), (F2, f3)):
        d, square = one - other, one**2 - other**2
        delta = float(b @ (square - 2 * d * mean))
        root = 4 * d**2 * second - 4 * d * (square - delta) * mean + (square - delta) ** 2
        expected += normalised(b * np.sqrt(root)) / 3  # 5.16
    for design in ("optimal", "contenders"):  # before any label there are no contenders
        sizes = plan_of(pool, MSE(), "a", "b", "c", kind="select", design=design).sizes
        np.testing.assert_allclose(sizes, expected, rtol=1e-8)  # pool means of thirds are not short decimals


def test_of_very_many_models_pairs_at_equal_steps_are_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Four models have six pairs; of at most three the first, third and fifth are taken: ab, ad, bd.
    monkeypatch.setattr(designs, "MOST_PAIRS", 3)
    means = {"a": F1, "b": F2, "c": F1 + 1, "d": F2 * 0.5}
    pool = Pool(models={name: Regressor(mean, V1) for name, mean in means.items()})
    belief = [(weight, model) for model, weight in zip(means.values(), np.full(4, 0.25), strict=True)]
    mean = sum(weight * model for weight, model in belief)
    second = sum(weight * model**2 for weight, model in belief) + V1
    expected = np.zeros(10)
    for one, other in (("a", "b"), ("a", "d"), ("b", "d")):
        d, square = means[one] - means[other], means[one] ** 2 - means[other] ** 2
        delta = float(np.mean(square - 2 * d * mean))
        expected += normalised(np.sqrt(4 * d**2 * second - 4 * d * (square - delta) * mean + (square - delta) ** 2)) / 3
    sizes = plan_of(pool, MSE(), *means, kind="select", design="contenders").sizes
    np.testing.assert_allclose(sizes, expected, rtol=1e-8)


@pytest.mark.parametrize(("design", "power"), [("active_0", 2), ("active_inf", 1)])
@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e5])
def test_peaked_and_broad_limits(design: str, power: int, scale: float, weights: Floats | None) -> None:
    b = b_of(weights)
    pool = Pool(models={"a": Regressor(F1 * scale), "b": Regressor(F2 * scale)}, weights=weights)
    plan = plan_of(pool, MSE(), "a", "b", design=design)
    np.testing.assert_allclose(plan.sizes, normalised(b * np.abs(F1 - F2) ** power), rtol=1e-9)  # section 5.2.2
    assert np.all(plan.sizes[F1 == F2] == 0)
    assert plan.covers


@pytest.mark.parametrize("design", ["active_0", "active_inf"])
def test_absolute_loss_has_one_limit(design: str, weights: Floats | None) -> None:
    # | |y - f1| - |y - f2| | is |f1 - f2| at y = f1, at y = f2, and far out.
    sizes = plan_of(two_regressors(weights), MAE(), "a", "b", design=design).sizes
    np.testing.assert_allclose(sizes, normalised(b_of(weights) * np.abs(F1 - F2)), rtol=1e-12)


def test_regressors_without_variances_are_believed_broad(weights: Floats | None) -> None:
    pool = Pool(models={"a": Regressor(F1), "b": Regressor(F2)}, weights=weights)
    same(plan_of(pool, MSE(), "a", "b").sizes, b_of(weights) * np.abs(F1 - F2))
    same(plan_of(Pool(means=F1, weights=weights), MSE()).sizes, b_of(weights))  # 4.2.2: equal variances


def test_active_neq(weights: Floats | None) -> None:
    b, differ = b_of(weights), (P > 0.5) != (P2 > 0.5)
    plan = plan_of(two_classifiers(weights), ErrorRate(), "a", "b", design="active_neq")
    same(plan.sizes, b * differ)
    assert plan.known.share == pytest.approx(b @ differ, rel=1e-15)


def test_uniform_belief_compares_where_models_disagree(weights: Floats | None) -> None:
    # Section 5.2.2: Delta-check is 0 and Corollary 5.1 leaves the disagreement set.
    pool = two_classifiers(weights)
    uniform = plan_of(pool, ErrorRate(), "a", "b", belief="uniform")
    same(uniform.sizes, plan_of(pool, ErrorRate(), "a", "b", design="active_neq").sizes)
    assert np.all(uniform.sizes[(P > 0.5) == (P2 > 0.5)] == 0)


@pytest.mark.parametrize("seed", range(5))
def test_rounding_gives_no_size_to_what_cannot_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f1, f2 = rng.integers(0, 3, size=(2, 500))
    models = {"a": Classifier(predictions=f1), "b": Classifier(predictions=f2)}
    pool = Pool(models=models, classes=[0, 1, 2], weights=rng.uniform(0.1, 3, 500))
    for parts in (
        {},
        {"estimator": "assisted"},
        {"estimator": "assisted", "design": "absolute"},
        {"design": "bounded"},
    ):
        assert np.array_equal(plan_of(pool, ErrorRate(), "a", "b", **parts).sizes > 0, f1 != f2)
    rng = np.random.default_rng(seed)
    p1 = rng.beta(0.4, 0.4, 500)
    p2 = np.where(rng.random(500) < 0.1, 1 - p1, p1) * 0.9
    pool = Pool(models={"a": Classifier(p1), "b": Classifier(p2)}, weights=rng.uniform(0.1, 3, 500))
    for design in ("optimal", "absolute"):
        sizes = plan_of(pool, ErrorRate(), "a", "b", estimator="assisted", design=design).sizes
        assert np.array_equal(sizes > 0, (p1 > 0.5) != (p2 > 0.5))


def test_risk_mixture(weights: Floats | None) -> None:
    b, p = b_of(weights), (P + P2) / 2
    expected = np.zeros(10)
    for f in (P > 0.5, P2 > 0.5):
        wrong = np.where(f, 1 - p, p)
        risk = float(b @ wrong)
        expected += normalised(b * np.sqrt((1 - 2 * risk) * wrong + risk**2)) / 2  # section 5.4
    same(plan_of(two_classifiers(weights), ErrorRate(), "a", "b", design="active_risk").sizes, expected)


def test_mixture_over_pairs(weights: Floats | None) -> None:
    b, p = b_of(weights), (P + P2 + P3) / 3
    f = [(q > 0.5).astype(float) for q in (P, P2, P3)]
    expected = np.zeros(10)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        d = f[i] - f[j]
        delta = float(b @ (d * (1 - 2 * p)))
        expected += normalised(b * np.sqrt(d**2 - 2 * delta * d * (1 - 2 * p) + delta**2)) / 3  # 5.16 with 5.8
    pool = Pool(models={"a": Classifier(P), "b": Classifier(P2), "c": Classifier(P3)}, weights=weights)
    plan = plan_of(pool, ErrorRate(), "a", "b", "c", kind="select")
    same(plan.sizes, expected)


def test_disagreement(weights: Floats | None) -> None:
    b, f = b_of(weights), [q > 0.5 for q in (P, P2, P3)]
    share = ((f[0] != f[1]) * 1 + (f[0] != f[2]) + (f[1] != f[2])) / 3  # 5.18
    pool = Pool(models={"a": Classifier(P), "b": Classifier(P2), "c": Classifier(P3)}, weights=weights)
    same(plan_of(pool, ErrorRate(), "a", "b", "c", kind="select", design="disagreement").sizes, b * share)


def test_intrinsic_values(weights: Floats | None) -> None:
    b, f = b_of(weights), (P > 0.5).astype(float)

    def value(plan: Plan) -> float:
        contrast = plan.contrasts[0]
        name = contrast.functional.basis.name
        return contrast.value({m: plan.known.expected[name, m] for m in contrast.models})

    pool = Pool(P, weights=weights)
    assert value(plan_of(pool, ErrorRate())) == pytest.approx(intrinsic_error(P, b), rel=1e-12)  # 4.22
    assert value(plan_of(pool, FMeasure(eta=0.3))) == pytest.approx(f_value(0.3, f, P, b), rel=1e-12)  # 4.21
    assert value(plan_of(Pool(means=F1, variances=V1, weights=weights), MSE())) == pytest.approx(b @ V1, rel=1e-12)
    delta = float(b @ ((f - (P2 > 0.5)) * (1 - P - P2)))
    assert value(plan_of(two_classifiers(weights), ErrorRate(), "a", "b")) == pytest.approx(delta, rel=1e-12)  # 5.12


def test_passive(weights: Floats | None) -> None:
    for pool, measure in ((Pool(P, weights=weights), ErrorRate()), (Pool(means=F1, weights=weights), MSE())):
        same(plan_of(pool, measure, design="passive").sizes, b_of(weights))


def test_uniform_belief_is_passive_for_the_error_rate_but_not_for_f(weights: Floats | None) -> None:
    # 4.2.2 says F sampling under p(y|x) = 1/2 is uniform. It has two levels, which depend on f(x) alone.
    b, f, eta = b_of(weights), P > 0.5, 0.5
    same(plan_of(Pool(P, weights=weights), ErrorRate(), belief="uniform").sizes, b)
    g = f_value(eta, f.astype(float), np.full(10, 0.5), b)
    levels = np.where(f, np.sqrt((1 - g) ** 2 + eta**2 * g**2), (1 - eta) * g)  # 4.18 at 1/2
    sizes = plan_of(Pool(P, weights=weights), FMeasure(), belief="uniform").sizes
    np.testing.assert_allclose(sizes, normalised(b * levels), rtol=1e-8)
    assert np.ptp(sizes / b) > 0.1


def test_class_prior_leaves_the_predicted_class(weights: Floats | None) -> None:
    # 4.2.2: p(y|x) = p(y) depends on the item through f(x) only.
    b, f = b_of(weights), P > 0.5
    wrong = np.where(f, 0.75, 0.25)
    risk = float(b @ wrong)
    sizes = plan_of(Pool(P, weights=weights), ErrorRate(), belief={0: 0.75, 1: 0.25}).sizes
    same(sizes, b * np.sqrt((1 - 2 * risk) * wrong + risk**2))


def test_assisted_size_is_the_deviation(weights: Floats | None) -> None:
    # DESIGN: where the estimator knows E[psi], u = b sqrt(Var[psi]): p (1 - p) for zero-one loss, 2 tau^4 for squared.
    b = b_of(weights)
    same(plan_of(Pool(P, weights=weights), ErrorRate(), estimator="assisted").sizes, b * np.sqrt(P * (1 - P)))
    pool = Pool(means=F1, variances=V1, weights=weights)
    np.testing.assert_allclose(plan_of(pool, MSE(), estimator="assisted").sizes, normalised(b * V1), rtol=1e-12)


def test_mean_absolute_deviation(weights: Floats | None) -> None:
    # E|1[y = 1] - p| = 2 p (1 - p); Gaussian, a linear influence: E|y - f| = tau sqrt(2 / pi).
    b = b_of(weights)
    plan = plan_of(Pool(P, weights=weights), ErrorRate(), estimator="assisted", design="absolute")
    same(plan.sizes, b * 2 * P * (1 - P))
    plan = plan_of(two_classifiers(weights), ErrorRate(), "a", "b", estimator="assisted", design="absolute")
    p, differ = (P + P2) / 2, (P > 0.5) != (P2 > 0.5)
    same(plan.sizes, b * differ * p * (1 - p))


def test_bounded_design(weights: Floats | None) -> None:
    # 4.14 at a risk moved a tenth of the way to that of guessing, 1/2.
    b = b_of(weights)
    risk = 0.9 * intrinsic_error(P, b) + 0.1 * 0.5
    expected = b * np.sqrt((1 - 2 * risk) * np.minimum(P, 1 - P) + risk**2)
    same(plan_of(Pool(P, weights=weights), ErrorRate(), design="bounded").sizes, expected)


@pytest.mark.parametrize("floor", [0.1, 1.0])
def test_floor_is_spread_over_what_can_matter(floor: float, weights: Floats | None) -> None:
    b, f = b_of(weights), P > 0.5
    pool = Pool(P, weights=weights)
    plain = plan_of(pool, Precision()).sizes
    same(plan_of(pool, Precision(), floor=floor).sizes, (1 - floor) * plain + floor * normalised(b * f))


def test_mixture_of_designs(weights: Floats | None) -> None:
    pool = Pool(P, weights=weights)
    halves = [plan_of(pool, FMeasure(), design=design).sizes / 2 for design in ("optimal", "passive")]
    same(plan_of(pool, FMeasure(), design="optimal + passive").sizes, halves[0] + halves[1])
    same(plan_of(pool, FMeasure(), design="active_err").sizes, plan_of(pool, ErrorRate()).sizes)


def test_a_sure_belief_leaves_the_passive_design(weights: Floats | None) -> None:
    pool = Pool((P > 0.5).astype(float), weights=weights)
    with pytest.warns(SondageWarning, match="nothing is uncertain"):
        sizes = plan_of(pool, ErrorRate(), belief="model").sizes
    same(sizes, b_of(weights))


def test_own_loss_is_the_named_one(weights: Floats | None) -> None:
    own = Loss(lambda f, y: (f != y) * 1.0)
    same(plan_of(Pool(P, weights=weights), own).sizes, plan_of(Pool(P, weights=weights), ErrorRate()).sizes)
    pool, square = Pool(means=F1, variances=V1, weights=weights), Loss(lambda f, y: (f - y) ** 2)
    np.testing.assert_allclose(plan_of(pool, square).sizes, plan_of(pool, MSE()).sizes, rtol=1e-12)


def test_rounding_costs_nine_digits(rng: np.random.Generator) -> None:
    p, weights = rng.beta(1, 3, size=200), rng.uniform(0.1, 5, size=200)
    b = weights / weights.sum()
    risk = float(b @ np.minimum(p, 1 - p))
    expected = normalised(b * np.sqrt((1 - 2 * risk) * np.minimum(p, 1 - p) + risk**2))
    np.testing.assert_allclose(plan_of(Pool(p, weights=weights), ErrorRate()).sizes, expected, rtol=1e-8)


def test_optimal_draws_have_the_least_variance(weights: Floats | None, rng: np.random.Generator) -> None:
    # Theorem 4.1: q* minimises 3.12, sum b^2 E[psi^2] / q. Second moments by the closed forms above.
    b, eta, f = b_of(weights), 0.5, P > 0.5
    g = f_value(eta, f.astype(float), P, b)
    second = np.where(f, P * (1 - g) ** 2 + eta**2 * (1 - P) * g**2, (1 - eta) ** 2 * P * g**2)
    q = plan_of(Pool(P, weights=weights), FMeasure(eta=eta)).sizes
    least = np.sum(b**2 * second / q)
    nearby = q * np.exp(rng.normal(0, 0.1, size=(50, 10)))
    assert np.all(np.sum(b**2 * second / (nearby / nearby.sum(axis=1, keepdims=True)), axis=1) > least)


def test_normal_quantiles_of_a_belief_give_the_same_moments() -> None:
    # 4.23 once more, without moments: the mean over a fine grid of quantiles of N(f, tau^2).
    z = stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    risk = float(np.mean(V1))
    root = [np.sqrt(np.mean((v * z**2 - risk) ** 2)) for v in V1]
    np.testing.assert_allclose(plan_of(Pool(means=F1, variances=V1), MSE()).sizes, normalised(root), rtol=1e-3)
