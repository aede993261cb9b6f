"""Estimators by enumeration of a 6-item pool, and against textbooks and the thesis's formulas."""

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from sondage import Classifier, Outcome, Pool, Regressor, compare, evaluate
from sondage.core.assisted import Assisted, least_variance
from sondage.core.beliefs import ClassBelief, GaussianBelief
from sondage.core.catalogue.estimators import ESTIMATORS
from sondage.core.centres import least_uncertain, normalising
from sondage.core.comparisons import Contrast, believed_totals
from sondage.core.draws import inclusion
from sondage.core.estimators import Fit, hajek, horvitz_thompson
from sondage.core.measures import MCC, MSE, R2, Accuracy, ErrorRate, FMeasure, Measure, Precision, Specificity, Task
from sondage.core.planning import budget_for, poisson_variance, repeated_variance
from sondage.core.predictions import Classes, Items, Means
from sondage.core.residuals import degrees, paired_degrees
from sondage.core.samples import Expansion, Known, Sample, from_counts, from_inclusion
from sondage.studies.method import Method, Question
from sondage.studies.session import Session

Floats = NDArray[np.float64]
N = 6
WEIGHTS = {"equal": np.full(N, 1 / N), "unequal": np.array([1, 4, 2, 3, 2, 8]) / 20}
RATES = np.array([0.3, 1.1, 0.5, 0.9, 0.4, 2.0])
F, Y = np.array([1.0, 2.0, -1.0, 0.5, 3.0, 1.5]), np.array([0.0, 2.5, 1.0, 0.0, 1.0, 1.75])
BINARY = Task("classification", (0, 1))


@pytest.fixture(params=list(WEIGHTS))
def b(request: pytest.FixtureRequest) -> Floats:
    return WEIGHTS[request.param]


def known(share: float = 1.0, **sums: Any) -> Known:
    return Known(share, sums.get("belief"), sums.get("expected", {}), sums.get("outside", {}), 0.1)


def regression(b: Floats) -> Items:
    return Items((Means(F, None),), b)


def single(measure: Measure, task: Task) -> Contrast:
    return Contrast(measure.ready(task), ((0, 1.0),))


SQUARED = single(MSE(), Task("regression"))


def sample_of(items: Items, labels: Any, taken: list[int], expansion: Expansion) -> Sample:
    return Sample(items.take(taken), np.asarray(labels)[taken], expansion)


def over_keys(n: int, estimate: Callable[[list[int], float], Floats]) -> Floats:
    """Return the mean of `estimate` over all samples of n items by exponential keys with the rates `RATES`.

    Given the set, the first key not taken has the density  R exp(-R t) prod (1 - exp(-a t)),  R the sum of the rates
    left; x = 1 - exp(-R t) = 1 - (1 - z)^4 makes it smooth on (0, 1).
    """
    nodes, weights = np.polynomial.legendre.leggauss(30)
    z, total = (nodes + 1) / 2, np.zeros(3)
    for taken in map(list, combinations(range(N), n)):
        rest = RATES.sum() - RATES[taken].sum()
        times = -4 * np.log1p(-z) / rest
        density = weights / 2 * 4 * (1 - z) ** 3 * np.prod(-np.expm1(-np.outer(times, RATES[taken])), axis=1)
        total += sum(w * estimate(taken, t) for t, w in zip(times.tolist(), density, strict=True))
    return total


@pytest.mark.parametrize("n", [2, 3, 5])
def test_horvitz_thompson_is_unbiased_and_so_is_its_variance(n: int, b: Floats) -> None:
    # Given tau the draw is Poisson; over tau, the cross terms vanish (Duffield, Lund and Thorup, JACM 54, 2007).
    items = regression(b)

    def estimate(taken: list[int], tau: float) -> Floats:
        expansion = from_inclusion(inclusion(RATES[taken], tau))
        fit = horvitz_thompson(SQUARED, sample_of(items, Y, taken, expansion), known())
        return np.array([fit.value, fit.value**2, fit.variance])

    truth = float(b @ (F - Y) ** 2)
    mean, square, variance = over_keys(n, estimate)
    assert mean == pytest.approx(truth, rel=1e-8)
    assert variance == pytest.approx(square - truth**2, rel=1e-6)


def test_horvitz_thompson_of_a_fixed_number_of_draws_is_unbiased_and_so_is_its_variance(b: Floats) -> None:
    # Hansen and Hurwitz, Annals of Mathematical Statistics 14, 1943: what varies is how far draws are from their mean.
    items, q, values = regression(b), RATES / RATES.sum(), []
    for drawn in map(list, product(range(N), repeat=3)):
        sample = sample_of(items, Y, drawn, from_counts(np.ones(3), q[drawn]))
        fit = horvitz_thompson(SQUARED, sample, known())
        values.append((fit.value, fit.variance, fit.value**2, float(np.prod(q[drawn]))))
    mean, variance, square = np.array(values).T[:3] @ np.array(values)[:, 3]
    assert mean == pytest.approx(b @ (F - Y) ** 2, rel=1e-12)
    assert variance == pytest.approx(square - mean**2, rel=1e-9)
    counted = sample_of(items, Y, [1, 4], from_counts(np.array([2, 2]), q[[1, 4]]))
    single = sample_of(items, Y, [1, 4], from_counts(np.ones(2), q[[1, 4]]))
    assert horvitz_thompson(SQUARED, counted, known()).variance == pytest.approx(
        horvitz_thompson(SQUARED, single, known()).variance / 2, rel=1e-12
    )


P = np.array([0.1, 0.8, 0.35, 0.6, 0.95, 0.5])
LABELS = np.array([0, 1, 1, 0, 1, 1])


def classification(b: Floats) -> Items:
    return Items((Classes((P > 0.5).astype(int), P),), b)


def helped(items: Items, contrast: Contrast) -> Known:
    belief = ClassBelief(2, models=((0, 1.0),))
    totals = believed_totals(contrast.functional.basis, (0,), belief, items, items.weights)
    return known(belief=belief, expected={(contrast.functional.basis.name, 0): totals[0]})


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("coefficient", [0.0, 0.4, 1.0])
def test_difference_estimate_is_unbiased_and_so_is_its_variance(n: int, coefficient: float) -> None:
    # All simple random samples; Cochran, Sampling Techniques, 1977, 7.2: the regression estimate with a preassigned b.
    items, contrast = classification(WEIGHTS["equal"]), single(Accuracy(), BINARY)
    facts, values, variances = helped(items, contrast), [], []
    for taken in map(list, combinations(range(N), n)):
        sample = sample_of(items, LABELS, taken, from_inclusion(np.full(n, n / N)))
        fit = Assisted(lambda *_: coefficient, normalising)(_unbounded(contrast), sample, facts)
        values.append(fit.value)
        variances.append(fit.variance)
    assert np.mean(values) == pytest.approx(np.mean((P > 0.5) == LABELS), rel=1e-12)
    assert np.mean(variances) == pytest.approx(np.var(values), rel=1e-12)
    rest = ((P > 0.5) == LABELS) - coefficient * np.maximum(P, 1 - P)
    assert np.var(values) == pytest.approx((1 - n / N) * np.var(rest, ddof=1) / n, rel=1e-12)


def _unbounded(contrast: Contrast) -> Contrast:
    from dataclasses import replace

    return Contrast(replace(contrast.functional, bounds=(-np.inf, np.inf)), contrast.weights)


@pytest.mark.parametrize("estimator", [ESTIMATORS["assisted"], Assisted(least_variance, least_uncertain)])
def test_assisted_estimate_by_hand(estimator: Assisted, b: Floats) -> None:
    items, contrast, taken = classification(b), single(ErrorRate(), BINARY), [0, 2, 3, 5]
    pi = np.array([0.5, 0.9, 0.4, 0.7])
    sample, facts = sample_of(items, LABELS, taken, from_inclusion(pi)), helped(items, contrast)
    error, h = ((P > 0.5) != LABELS)[taken] * 1.0, np.minimum(P, 1 - P)
    w, k = b[taken] / pi, (1 - pi) / pi**2 * b[taken] ** 2
    normalised = estimator is ESTIMATORS["assisted"]
    v = (w if normalised else k) / (w if normalised else k).sum()
    centred_error, centred_h = error - v @ error, h[taken] - v @ h[taken]
    slope = np.clip(np.sum(k * centred_error * centred_h) / np.sum(k * centred_h**2), 0, 1)
    fit = estimator(_unbounded(contrast), sample, facts)
    assert fit.coefficient == pytest.approx(slope, rel=1e-12)
    rest = error - slope * h[taken]
    assert fit.value == pytest.approx(slope * b @ h + w @ rest + (1 - w.sum()) * (v @ rest), rel=1e-12)
    residual = (centred_error - slope * centred_h) / (w.sum() if normalised else 1.0)
    assert fit.variance == pytest.approx(4 / 3 * np.sum(k * residual**2), rel=1e-12)


@pytest.mark.parametrize("units", [None, np.array([0, 1, 1, 2, 3])])
def test_residuals_are_centred_where_the_variance_is_least(units: Any, b: Floats) -> None:
    items, contrast, taken = classification(b), single(ErrorRate(), BINARY), [0, 1, 2, 3, 5]
    pi = np.array([0.5, 0.9, 0.4, 0.7, 0.2])[: 5 if units is None else 4]
    sample = Sample(items.take(taken), LABELS[taken], from_inclusion(pi), units)
    h = np.minimum(P, 1 - P)
    fit = Assisted(lambda *_: 0.6, least_uncertain)(_unbounded(contrast), sample, helped(items, contrast))
    rest = ((P > 0.5) != LABELS)[taken] - 0.6 * h[taken]
    shares, totals = sample.unit_sums(b[taken]), sample.unit_sums(b[taken] * rest)
    least = minimize_scalar(lambda c: np.sum((1 - pi) / pi**2 * (totals - shares * c) ** 2))
    assert fit.variance == pytest.approx(len(pi) / (len(pi) - 1) * least.fun, rel=1e-9)
    assert fit.value == pytest.approx(0.6 * b @ h + np.sum(totals / pi) + (1 - np.sum(shares / pi)) * least.x, rel=1e-6)


def test_centred_residuals_of_equal_chances_are_normalised_ones() -> None:
    items, contrast, taken = classification(WEIGHTS["equal"]), single(ErrorRate(), BINARY), [0, 2, 3, 5]
    sample, facts = sample_of(items, LABELS, taken, from_inclusion(np.full(4, 4 / 6))), helped(items, contrast)
    own = Assisted.by(contrast, sample, facts, 0.6, least_uncertain(sample, facts))
    normalised = Assisted.by(contrast, sample, facts, 0.6, normalising(sample, facts))
    assert own.value == pytest.approx(normalised.value, rel=1e-12)
    assert own.residuals == pytest.approx(normalised.residuals, rel=1e-12)


@pytest.mark.parametrize(("labels", "expected"), [([1, 0, 0, 1, 0, 0], 0.0), (LABELS, 1.0)])
def test_coefficient_stays_between_0_and_1(labels: Any, expected: float) -> None:
    # Errors where the model is sure, and errors exactly where it is not: slopes below 0 and above 1.
    items, contrast = classification(WEIGHTS["equal"]), single(ErrorRate(), BINARY)
    sample = sample_of(items, labels, list(range(5)), from_inclusion(np.full(5, 5 / 6)))
    found = least_variance([contrast], sample, helped(items, contrast), normalising(sample, known()))
    slope = np.polyfit(np.minimum(P, 1 - P)[:5], ((P > 0.5) != labels)[:5] * 1.0, 1)[0]
    assert found == expected == float(np.clip(slope, 0, 1))


@pytest.mark.parametrize(("estimator", "value"), [("assisted", 1 / 3), ("anchored", 0.25 + 1 / 3 - 0.1)])
def test_labels_that_are_expected_alike_tell_no_slope(estimator: str, value: float) -> None:
    # The labelled half has errors with 0.1, the other half with 0.4: the prior keeps the known mean of both.
    p = np.array([0.1, 0.1, 0.1, 0.6, 0.6, 0.6])
    items, contrast = Items((Classes((p > 0.5).astype(int), p),), WEIGHTS["equal"]), single(ErrorRate(), BINARY)
    sample = sample_of(items, [1, 0, 0, 1, 1, 1], [0, 1, 2], from_inclusion(np.full(3, 0.5)))
    found = ESTIMATORS[estimator](contrast, sample, helped(items, contrast))
    assert found.coefficient == float(estimator == "anchored")
    assert found.value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("budget", [30, 50])
def test_a_judge_that_is_right_is_believed_of_answers_that_no_label_is_about(budget: int) -> None:
    random = np.random.default_rng(0)
    right = (random.random(2000) < 0.97) * 1.0
    judged = Pool(models={"bot": Outcome(np.where(right == 1, 0.999, 0.001))})
    for seed in range(10):
        found = evaluate(judged, "accuracy", labels=right, budget=budget, seed=seed)
        assert found.value == pytest.approx(right.mean(), abs=1e-3)


@pytest.mark.parametrize("measure", [ErrorRate(), Precision(), Specificity()], ids=lambda measure: measure.name)
def test_counts_below_0_are_0_and_each_class_is_predicted_as_often_as_it_is(measure: Measure, b: Floats) -> None:
    # Labels are the predicted ones on all that is drawn, where the belief expected errors: fewer than none are left.
    items, contrast, taken = classification(b), single(measure, BINARY), [1, 2, 4]
    predicted = np.array((P > 0.5) * 1)
    drawn = [0.05, 0.2, 0.1] if isinstance(measure, ErrorRate) else [0.2, 0.4, 0.3]
    sample = sample_of(items, predicted, taken, from_inclusion(np.array(drawn)))
    facts = helped(items, contrast)
    free = Assisted.by(_unbounded(contrast), sample, facts, 1.0, None)
    assert not 0.0 <= free.value <= 1.0
    found = Assisted.by(contrast, sample, facts, 1.0, None)
    kept = np.maximum(free.sums[0], 0.0)
    shares = np.array([b[predicted == 0].sum(), b[predicted == 1].sum()])
    kept *= (shares / kept.sum(axis=1))[:, None]
    assert found.sums[0] == pytest.approx(kept, rel=1e-12)
    assert found.value == pytest.approx(contrast.value({0: kept}), rel=1e-12)
    assert found.coefficient == 1.0


def test_a_useless_belief_changes_nothing() -> None:
    items, contrast = classification(WEIGHTS["unequal"]), single(ErrorRate(), BINARY)
    sample = sample_of(items, LABELS, [0, 2, 4], from_inclusion(np.array([0.2, 0.5, 0.8])))
    assert ESTIMATORS["assisted"](contrast, sample, known()).value == hajek(contrast, sample, known()).value
    certain = sample_of(items, LABELS, list(range(N)), from_inclusion(np.ones(N)))
    assert least_variance([contrast], certain, helped(items, contrast), least_uncertain(certain, known())) == 0.0


def test_passive_hajek_is_simple_random_sampling() -> None:
    # Cochran 1977, Theorems 2.1, 2.2 and 2.4: mean, (1 - n/N) S^2 / n, and s^2 unbiased for S^2.
    items, loss, n = regression(WEIGHTS["equal"]), (F - Y) ** 2, 3
    fits = []
    for taken in map(list, combinations(range(N), n)):
        fit = hajek(SQUARED, sample_of(items, Y, taken, from_inclusion(np.full(n, n / N))), known())
        assert fit.value == pytest.approx(loss[taken].mean(), rel=1e-12)
        assert fit.variance == pytest.approx((1 - n / N) * np.var(loss[taken], ddof=1) / n, rel=1e-12)
        fits.append((fit.value, fit.variance))
    values, variances = np.array(fits).T
    assert values.mean() == pytest.approx(loss.mean(), rel=1e-12)
    assert variances.mean() == pytest.approx((1 - n / N) * np.var(loss, ddof=1) / n, rel=1e-12)
    assert values.var() == pytest.approx(variances.mean(), rel=1e-12)


def test_passive_evaluation_is_simple_random_sampling(rng: np.random.Generator) -> None:
    f, y = rng.normal(size=(2, 200))
    asked: list[int] = []

    def label(ids: list[int]) -> list[float]:
        asked.extend(ids)
        return [float(y[i]) for i in ids]

    estimate = evaluate(Pool(means=f), "mse", label, budget=30, method="passive")
    loss = (f[asked] - y[asked]) ** 2
    assert len(set(asked)) == 30
    assert estimate.value == pytest.approx(loss.mean(), rel=1e-12)
    assert estimate.std_error == pytest.approx(np.sqrt((1 - 30 / 200) * np.var(loss, ddof=1) / 30), rel=1e-12)
    satterthwaite = np.sum((loss - loss.mean()) ** 2) ** 2 / np.sum((loss - loss.mean()) ** 4) - 1
    assert estimate.df == pytest.approx(max(satterthwaite, 4.6))
    assert (estimate.n_labels, estimate.n_effective, estimate.largest_weight) == (30, pytest.approx(30), 1 / 30)


def thesis(losses: Floats, w: Floats, v: Floats) -> tuple[float, float]:
    """3.31, 3.14 with weights, and S / sqrt(n), draw by draw."""
    n = len(v)
    theta = sum(v[i] * w[i] * losses[i] for i in range(n)) / sum(v[i] * w[i] for i in range(n))
    total = sum(v[i] ** 2 * w[i] ** 2 * (losses[i] - theta) ** 2 for i in range(n))
    s2 = n * total / sum(v[i] * w[i] for i in range(n)) ** 2
    return float(theta), float(np.sqrt(s2 / n))


DRAWS = np.array([1, 4, 1, 5, 3, 1, 4])
Q = np.array([0.1, 0.3, 0.05, 0.2, 0.25, 0.1])


def drawn(items: Items, labels: Any) -> Sample:
    units, counts = np.unique(DRAWS, return_counts=True)
    return sample_of(items, labels, units.tolist(), from_counts(counts, Q[units]))


def test_self_normalised_is_3_11_and_3_14(b: Floats) -> None:
    v, ones = b[DRAWS] / Q[DRAWS], np.ones(len(DRAWS))
    for items, labels, contrast, losses in (
        (regression(b), Y, SQUARED, (F - Y) ** 2),
        (classification(b), LABELS, single(ErrorRate(), BINARY), ((P > 0.5) != LABELS) * 1.0),
    ):
        value, error = thesis(losses[DRAWS], ones, v)
        fit = ESTIMATORS["self_normalised"](contrast, drawn(items, labels), known())
        assert fit.value == pytest.approx(value, rel=1e-12)
        assert np.sqrt(fit.variance) == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("eta", [0.0, 0.3, 0.5, 1.0])
def test_self_normalised_is_3_31(eta: float, b: Floats) -> None:
    # Corollary 3.1: F_eta has w = eta f + (1 - eta) y and loss 1 - zero-one loss.
    f = (P > 0.5) * 1.0
    w, gain = eta * f + (1 - eta) * LABELS, 1.0 - (f != LABELS)
    value, error = thesis(gain[DRAWS], w[DRAWS], b[DRAWS] / Q[DRAWS])
    fit = ESTIMATORS["self_normalised"](single(FMeasure(eta=eta), BINARY), drawn(classification(b), LABELS), known())
    assert fit.value == pytest.approx(value, rel=1e-12)
    assert np.sqrt(fit.variance) == pytest.approx(error, rel=1e-12, abs=1e-15)


def test_thesis_method_is_algorithm_2(rng: np.random.Generator) -> None:
    p, weights = rng.beta(0.7, 0.7, size=300), rng.uniform(1, 4, size=300)
    y = (rng.random(300) < p) * 1
    pool = Pool(p, weights=weights)
    session = Session.start(pool, Question("evaluate", ("model",), (FMeasure(),)), _thesis(), budget=40, seed=2)
    draws = session.stage.drawn.units[session.stage.drawn.settings["sequence"]]
    assert len(draws) >= 40 == len(set(draws.tolist()))
    b, f = weights / weights.sum(), (p > 0.5) * 1.0
    g = (b @ (f * p)) / (b @ (f + p) / 2)  # 4.21
    q = b * np.where(f == 1, np.sqrt(p * (1 - g) ** 2 + 0.25 * (1 - p) * g**2), 0.5 * np.sqrt(p * g**2))  # 4.18
    v = b[draws] / (q / q.sum())[draws]
    value, error = thesis(1.0 - (f != y)[draws], (f + y)[draws] / 2, v)
    estimate = evaluate(pool, "f1", y, budget=40, seed=2, method="thesis")
    assert estimate.value == pytest.approx(value, rel=1e-7)
    assert estimate.std_error == pytest.approx(error, rel=1e-7)
    assert estimate.interval(0.95).kind == "wald"


def _thesis() -> Method:
    from sondage.studies.method import METHODS

    return METHODS["thesis"]


def test_stratified_means_by_the_textbook() -> None:
    # Cochran 1977, 5.1 and 5.13: sum W_h ybar_h, and sum W_h^2 (1 - f_h) s_h^2 / n_h.
    items, loss, strata = regression(WEIGHTS["equal"]), (F - Y) ** 2, np.array([0, 0, 0, 1, 1, 1])
    taken = [0, 2, 3, 4]
    plain = from_inclusion(np.full(4, 2 / 3))
    sample = sample_of(items, Y, taken, Expansion(plain.weights, plain.spread, strata[taken]))
    fit = hajek(SQUARED, sample, known())
    parts = [loss[[0, 2]], loss[[3, 4]]]
    assert fit.value == pytest.approx(sum(0.5 * part.mean() for part in parts), rel=1e-12)
    expected = sum(0.25 * (1 - 2 / 3) * np.var(part, ddof=1) / 2 for part in parts)
    assert fit.variance == pytest.approx(expected, rel=1e-12)


def test_degrees_of_freedom() -> None:
    items = regression(WEIGHTS["equal"])
    sample = sample_of(items, Y, [0, 1, 2, 3], from_inclusion(np.full(4, 0.5)))
    assert degrees(SQUARED, sample, np.array([1.0, -1.0, 1.0, -1.0])) == pytest.approx(3.0, rel=1e-14)
    assert degrees(SQUARED, sample, np.array([5.0, 0.0, 0.0, 0.0])) == 1.0  # never below 1
    parts = np.array([1.0, 4.0, 9.0, 0.0])
    assert degrees(SQUARED, sample, np.sqrt(parts)) == pytest.approx(14**2 / 98 - 1, rel=1e-12)
    sure = sample_of(items, Y, [0, 1, 2, 3, 4], from_inclusion(np.array([0.5, 0.5, 0.5, 0.5, 1.0])))
    residuals = np.array([3.0, 0.1, 0.2, 0.3, 7.0])  # of a difference the certain item is no part of the variance
    assert degrees(DIFFERENCE, sure, residuals) == pytest.approx(float(paired_degrees(2 * residuals[:4] ** 2)))


def test_degrees_of_a_difference_are_satterthwaite_s(rng: np.random.Generator) -> None:
    # 2 E^2 / Var of the variance, which is a sum of as many parts drawn again and again.
    parts = rng.exponential(size=(3, 40)) ** 4
    sums = parts[:, rng.integers(40, size=(20_000, 40))].sum(axis=2)
    assert paired_degrees(parts) == pytest.approx(2 * sums.mean(axis=1) ** 2 / sums.var(axis=1), rel=0.05)
    normal = np.median(paired_degrees(rng.normal(size=(500, 60)) ** 2))
    assert 55 <= normal <= 59  # chi-square with as many degrees as labels, at most n - 1
    assert paired_degrees(np.zeros(5)) == 4
    assert paired_degrees(np.ones(1)) == 1


SECOND_MEANS = np.array([1.2, 1.5, -1.0, 0.0, 2.0, 1.6])
DIFFERENCE = Contrast(MSE().ready(Task("regression")), ((0, 1.0), (1, -1.0)))


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("coefficient", [0.0, 0.4, 1.0])
def test_assisted_difference_is_unbiased_under_unequal_draws(n: int, coefficient: float, b: Floats) -> None:
    # Without normalising: over all samples by exponential keys, given tau a Poisson draw.
    items = Items((Means(F, np.full(N, 0.3)), Means(SECOND_MEANS, np.full(N, 2.0))), b)
    belief, basis = GaussianBelief(((0, 0.5), (1, 0.5))), DIFFERENCE.functional.basis
    totals = believed_totals(basis, (0, 1), belief, items, b)
    facts = known(belief=belief, expected={(basis.name, model): total for model, total in totals.items()})

    def estimate(taken: list[int], tau: float) -> Floats:
        sample = sample_of(items, Y, taken, from_inclusion(inclusion(RATES[taken], tau)))
        fit = Assisted(lambda *_: coefficient, normalising)(_unbounded(DIFFERENCE), sample, facts)
        return np.array([fit.value, fit.value**2, fit.variance])

    mean, square, variance = over_keys(n, estimate)
    assert mean == pytest.approx(b @ ((F - Y) ** 2 - (SECOND_MEANS - Y) ** 2), rel=1e-9)
    assert variance == pytest.approx(square - mean**2, rel=1e-9)


@pytest.mark.parametrize("measure", [MSE(), R2()], ids=["mse", "r2"])
def test_a_difference_without_a_belief_is_expanded_as_it_is_but_for_what_needs_a_mean_of_labels(
    measure: Measure,
) -> None:
    items = Items((Means(F, np.full(N, 0.3)), Means(SECOND_MEANS, np.full(N, 2.0))), np.full(N, 1.0 / N))
    both = Contrast(measure.ready(Task("regression")), ((0, 1.0), (1, -1.0)))
    belief, basis = GaussianBelief(((0, 0.5), (1, 0.5))), both.functional.basis
    totals = believed_totals(basis, (0, 1), belief, items, items.weights)
    facts = known(belief=belief, expected={(basis.name, model): total for model, total in totals.items()})
    taken = [0, 2, 5]
    sample = sample_of(items, Y, taken, from_inclusion(np.array([0.9, 0.5, 0.2])))
    found = Assisted(lambda *_: 0.0, normalising)(both, sample, facts).value
    expanded = [np.sum((m[taken] - Y[taken]) ** 2 / [0.9, 0.5, 0.2]) / N for m in (F, SECOND_MEANS)]
    expected = expanded[0] - expanded[1] if measure.name == "mse" else hajek(both, sample, facts).value
    assert found == pytest.approx(expected, rel=1e-12)


EVERYTHING = [
    ("classification", name)
    for name in ("error_rate", "f1", "mcc", "balanced_accuracy", "macro_f", "kappa", "log_loss", "brier", "precision")
] + [("regression", name) for name in ("mse", "rmse", "mae", "r2", "bias")]


@pytest.mark.parametrize(("task", "name"), EVERYTHING)
@pytest.mark.parametrize("method", ["default", "thesis", "passive"])
@pytest.mark.parametrize("grouped", [False, True])
def test_everything_labelled_is_the_exact_value(task: str, name: str, method: str, grouped: bool) -> None:
    rng = np.random.default_rng(4)
    weights, groups = rng.uniform(1, 5, size=60), np.arange(60) // 3 if grouped else None
    shared = np.arange(60) // 3 * 3 if grouped else np.arange(60)  # rows of a group share the label of its first
    if task == "classification":
        p = rng.random(60)
        pool, y = Pool(p, weights=weights, groups=groups), (rng.random(60) < p)[shared] * 1
        output: Any = Classes((p > 0.5) * 1, p)
    else:
        f = rng.normal(size=60)
        pool, y = Pool(means=f, variances=f**2 + 0.1, weights=weights, groups=groups), rng.normal(size=60)[shared]
        output = Means(f, None)
    estimate = evaluate(pool, name, y, budget=pool.n_units, seed=1, method=method)
    from sondage.core.measures import parse_measure

    functional = parse_measure(name).ready(pool.task)
    items = Items((output,), weights / weights.sum())
    assert estimate.value == pytest.approx(
        functional.value(functional.basis.totals(items, 0, y, items.weights)), rel=1e-12
    )
    assert (estimate.std_error, estimate.exact) == (0.0, True)
    assert estimate.interval().low == estimate.interval().high == estimate.value


@pytest.mark.parametrize("method", ["default", "thesis", "passive"])
def test_groups_are_the_collapsed_pool(method: str) -> None:
    # Rows that are alike and share a label are one item of their summed weight.
    rng = np.random.default_rng(6)
    p, weights, size = rng.random(80), rng.uniform(1, 3, size=80), rng.integers(1, 4, size=80)
    y = (rng.random(80) < p) * 1
    rows = np.repeat(np.arange(80), size)
    ids = np.concatenate([np.arange(n) + 10 * i for i, n in enumerate(size)])
    split = np.concatenate([rng.dirichlet(np.ones(n)) * weights[i] for i, n in enumerate(size)])
    grouped = Pool(p[rows], ids=ids, weights=split, groups=rows)
    collapsed = Pool(p, ids=10 * np.arange(80), weights=weights)
    one, other = (
        evaluate(pool, "f1", labels, budget=25, seed=3, method=method)
        for pool, labels in (
            (grouped, y[rows]),
            (collapsed, y),
        )
    )
    assert one.n_labels == other.n_labels == 25
    assert one.value == pytest.approx(other.value, rel=1e-10)
    assert one.std_error == pytest.approx(other.std_error, rel=1e-9)
    assert one.df == pytest.approx(other.df, rel=1e-8)


def test_groups_by_hand() -> None:
    # Units {0, 1}, {2}, {3, 4, 5}; the first and the last are labelled, each with probability 1/2.
    b, items = WEIGHTS["unequal"], regression(WEIGHTS["unequal"])
    units = np.array([0, 0, 1, 1, 1])
    sample = Sample(items.take([0, 1, 3, 4, 5]), Y[[0, 1, 3, 4, 5]], from_inclusion(np.array([0.5, 0.5])), units)
    loss, taken = (F - Y) ** 2, [0, 1, 3, 4, 5]
    fit = horvitz_thompson(SQUARED, sample, known())
    totals = [b[:2] @ loss[:2], b[3:] @ loss[3:]]
    assert fit.value == pytest.approx(2 * sum(totals), rel=1e-12)
    assert fit.variance == pytest.approx(2 * sum(t**2 for t in totals), rel=1e-12)
    mean = (b[taken] @ loss[taken]) / b[taken].sum()
    assert hajek(SQUARED, sample, known()).value == pytest.approx(mean, rel=1e-12)
    residuals = [b[:2] @ (loss[:2] - mean), b[3:] @ (loss[3:] - mean)]
    expected = 2 * 2 * sum(r**2 for r in residuals) / (2 * b[taken].sum()) ** 2
    assert hajek(SQUARED, sample, known()).variance == pytest.approx(expected, rel=1e-12)


FIRST, SECOND = np.array([0, 1, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 1, 1])


def pair(b: Floats) -> tuple[Items, Contrast]:
    return Items((Classes(FIRST, None), Classes(SECOND, None)), b), Contrast(
        ErrorRate().ready(BINARY), ((0, 1.0), (1, -1.0))
    )


@pytest.mark.parametrize("estimator", ["hajek", "self_normalised", "horvitz_thompson"])
def test_difference_is_that_of_the_pool_not_of_the_disagreement_set(estimator: str) -> None:
    # Corollary 5.1 with active_neq: items where the models agree are known, and enter with their share.
    items, contrast = pair(WEIGHTS["equal"])
    differ = np.flatnonzero(FIRST != SECOND)
    values = []
    for taken in map(list, combinations(differ.tolist(), 2)):
        sample = sample_of(items, LABELS, taken, from_inclusion(np.full(2, 2 / len(differ))))
        values.append(ESTIMATORS[estimator](contrast, sample, known(len(differ) / N)).value)
    truth = np.mean((FIRST != LABELS) * 1.0 - (SECOND != LABELS))
    assert np.mean(values) == pytest.approx(truth, rel=1e-12)
    assert abs(np.mean((FIRST != LABELS)[differ] * 1.0 - (SECOND != LABELS)[differ])) > abs(truth)


@pytest.mark.parametrize("parts", [{}, {"method": "thesis"}, {"design": "active_neq"}, {"belief": "uniform"}], ids=str)
def test_comparisons_label_the_disagreement_only(parts: dict[str, Any]) -> None:
    rng = np.random.default_rng(8)
    f1 = rng.integers(0, 2, size=300)
    f2, y = np.where(rng.random(300) < 0.1, 1 - f1, f1), np.where(rng.random(300) < 0.2, 1 - f1, f1)
    weights = rng.uniform(1, 5, size=300)
    pool = Pool(models={"a": Classifier(predictions=f1), "b": Classifier(predictions=f2)}, weights=weights)
    found = compare(pool, "a", "b", labels=y, budget=200, **parts)
    b = weights / weights.sum()
    assert found.difference == pytest.approx(b @ ((f1 != y) * 1.0 - (f2 != y)), rel=1e-12)
    assert found.n_labels == np.count_nonzero(f1 != f2)
    assert found.estimate.exact


@pytest.mark.parametrize("parts", [{}, {"method": "thesis", "belief": "uniform"}], ids=["default", "thesis"])
def test_mean_of_differences_is_the_difference(parts: dict[str, Any]) -> None:
    # Models of a tenth of disagreement: estimates of the disagreement set alone would be ten times too large.
    rng = np.random.default_rng(8)
    p1 = rng.beta(0.4, 0.4, size=500)
    flip = rng.random(500) < 0.1
    p2, y = np.where(flip, 1 - p1, p1), (rng.random(500) < p1) * 1
    weights = rng.uniform(1, 5, size=500)
    models = {"a": Classifier(p1), "b": Classifier(np.clip(p2 * 0.9, 0, 1))}
    pool, b = Pool(models=models, weights=weights), weights / weights.sum()
    f1, f2 = p1 > 0.5, p2 * 0.9 > 0.5
    truth = float(b @ ((f1 != y) * 1.0 - (f2 != y)))
    found = [compare(pool, "a", "b", labels=y, budget=20, seed=s, **parts) for s in range(60)]
    values = np.array([c.difference for c in found])
    assert values.mean() == pytest.approx(truth, abs=4 * values.std() / np.sqrt(60))
    assert values.std() < abs(truth)


def test_population_adds_the_variance_of_the_pool() -> None:
    # FORMULAS 5: (sum b^2) times the weighted variance of psi; equal weights: s^2/n (1 - n/N) + s^2/N = s^2/n.
    rng = np.random.default_rng(9)
    p, weights = rng.random(100), rng.uniform(1, 4, size=100)
    y = (rng.random(100) < p) * 1
    for w in (None, weights):
        pool, b = Pool(p, weights=w), np.full(100, 0.01) if w is None else w / w.sum()
        pooled, population = (
            evaluate(pool, "f1", y, budget=40, method="passive", target=target) for target in ("pool", "population")
        )
        evidence = population.evidence
        assert evidence is not None
        v = evidence.sample.row_weights / evidence.sample.row_weights.sum()
        psi = evidence.fit.influence
        extra = np.sum(b**2) * (v @ (psi - v @ psi) ** 2)
        assert population.std_error**2 == pytest.approx(pooled.std_error**2 + extra, rel=1e-10)
        assert population.value == pooled.value
    plain = evaluate(Pool(p), "error_rate", y, budget=40, method="passive", target="population")
    assert plain.std_error**2 == pytest.approx(plain.value * (1 - plain.value) / 40, rel=0.02)


def test_an_exact_value_is_uncertain_for_the_population() -> None:
    p, y = np.linspace(0.05, 0.95, 50), np.arange(50) % 2
    estimate = evaluate(Pool(p), "error_rate", y, budget=50, target="population")
    assert estimate.exact
    assert estimate.std_error == pytest.approx(np.sqrt(estimate.value * (1 - estimate.value) / 50), rel=1e-12)
    assert estimate.interval().width > 0.1


def poisson_subsets(pi: Floats) -> Iterator[tuple[list[int], float]]:
    for taken in product((False, True), repeat=len(pi)):
        mask = np.array(taken)
        yield np.flatnonzero(mask).tolist(), float(np.prod(np.where(mask, pi, 1 - pi)))


def test_expected_variance_of_a_poisson_draw() -> None:
    # All 64 subsets: the variance of a Horvitz-Thompson total of known residuals.
    sizes, residuals = np.array([1.0, 2.0, 4.0, 1.0, 3.0, 40.0]), np.array([0.3, -0.2, 0.5, 0.1, 0.7, 0.9])
    from sondage.core.draws import waterfill

    pi = np.minimum(1, waterfill(sizes, 3.0) * sizes)
    totals = [(chance, np.sum(residuals[taken] / pi[taken])) for taken, chance in poisson_subsets(pi)]
    mean = sum(chance * total for chance, total in totals)
    square = sum(chance * total**2 for chance, total in totals)
    assert mean == pytest.approx(residuals.sum(), rel=1e-12)
    assert poisson_variance(sizes, np.abs(residuals), 3.0) == pytest.approx(square - mean**2, rel=1e-10)


def test_expected_variance_of_independent_draws() -> None:
    # 3.12 by hand: sum r^2 / q / n, and the budget for half of it is twice the draws.
    sizes, residuals = np.array([1.0, 2.0, 1.0]), np.array([0.1, 0.4, 0.2])
    expected = (0.01 / 0.25 + 0.16 / 0.5 + 0.04 / 0.25) / 10
    assert repeated_variance(sizes, residuals, 10) == pytest.approx(expected, rel=1e-12)
    assert budget_for(lambda n: repeated_variance(sizes, residuals, n), expected / 2, 100) == pytest.approx(
        20, rel=1e-5
    )


def test_undefined_on_the_sample_is_nan() -> None:
    items = classification(WEIGHTS["equal"])
    sample = sample_of(items, LABELS, [0, 2], from_inclusion(np.array([0.5, 0.5])))
    for measure in (Precision(), MCC()):
        fit: Fit = hajek(single(measure, BINARY), sample, known())
        assert np.isnan(fit.value)


def test_regressors_that_agree_enter_with_their_share() -> None:
    # Corollary 5.2: where f1 = f2 the difference is 0 and nothing is labelled.
    rng = np.random.default_rng(3)
    f1 = rng.normal(1e5, 1e4, size=200)
    f2 = np.where(np.arange(200) < 20, f1 + rng.normal(0, 1e3, size=200), f1)
    y = f1 + rng.normal(0, 1e3, size=200)
    models = {"a": Regressor(f1, np.full(200, 1e6)), "b": Regressor(f2, np.full(200, 1e6))}
    for method in ("default", "thesis"):
        found = compare(Pool(models=models), "a", "b", "mse", labels=y, budget=100, method=method)
        assert found.n_labels == 20
        assert found.estimate.exact
        assert found.difference == pytest.approx(np.mean((f1 - y) ** 2 - (f2 - y) ** 2), rel=1e-9)
