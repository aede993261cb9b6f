"""Differences of two ratios, held against the variance that they would have."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

import sondage
from sondage.core.comparisons import Contrast
from sondage.core.intervals import fieller_interval, inverted_interval, t_interval
from sondage.core.measures import FMeasure, Recall, Task
from sondage.core.measures.functionals import numerical_gradient
from sondage.core.pivots import Pivot, _Supposed
from sondage.errors import InputError

TASK = Task("classification", ("ham", "spam"))
NONE = np.zeros(3)


def rare(seed: int, rows: int = 3_000) -> tuple[sondage.Pool, np.ndarray, float]:
    """Return two models of a class that is rare and often missed, the labels, and by how much their F1 differ."""
    random = np.random.default_rng(seed)
    logits = random.normal(-6.0, 2.5, size=rows)
    y = random.random(rows) < expit(logits)
    p, q = (expit(logits - 1.0 + random.normal(0.0, spread, size=rows)) for spread in (0.5, 1.5))
    models = {"a": sondage.Classifier(p), "b": sondage.Classifier(q)}
    first, second = (2 * np.sum(y & (o > 0.5)) / (np.sum(y) + np.sum(o > 0.5)) for o in (p, q))
    return sondage.Pool(models=models), y.astype(int), float(first - second)


@pytest.mark.parametrize("measure", [FMeasure(), FMeasure(0.3), Recall()])
@pytest.mark.parametrize("gap", [-0.3, 0.0, 0.1])
def test_influence_is_the_gradient_of_the_difference_over_the_common_denominator(
    measure: FMeasure | Recall, gap: float, rng: np.random.Generator
) -> None:
    functional = measure.ready(TASK)
    sums = {0: rng.dirichlet(np.ones(4)).reshape(2, 2), 1: rng.dirichlet(np.ones(4)).reshape(2, 2)}
    weights = ((0, 1.0), (1, -1.0))
    at = Contrast(functional, weights).value(sums)
    below = functional.ratio[1]

    def times_denominator(both: np.ndarray) -> float:
        root = np.sqrt(np.prod([np.sum(below * mu) for mu in both]))
        return (functional.value(both[0]) - functional.value(both[1]) - (at - gap)) * root

    here = np.stack([sums[0], sums[1]])
    expected = numerical_gradient(times_denominator, here) / np.sqrt(np.prod([np.sum(below * mu) for mu in here]))
    found = _Supposed(functional, weights, gap).influence(sums)
    for (model, coefficients), wanted in zip(found.terms, expected, strict=True):
        assert coefficients == pytest.approx(wanted, abs=1e-6), model
    assert found.constant == pytest.approx(sum(np.sum(a * sums[m]) for m, a in found.terms), abs=1e-12)


@pytest.mark.parametrize("target", ["pool", "population"])
def test_variances_are_those_of_the_estimate_held_against_each_difference(target: str) -> None:
    pool, y, _ = rare(1)
    estimate = sondage.compare(pool, "a", "b", "f1", labels=y, budget=80, seed=2, target=target).estimate
    evidence, pivot = estimate.evidence, estimate.pivot
    for difference in (-0.2, 0.0, 0.03, 0.3):
        gap = estimate.value - difference
        one = evidence.estimation.around(
            _Supposed(evidence.contrast.functional, evidence.contrast.weights, gap), evidence.fit
        )
        powers = gap ** np.arange(3)
        assert pivot.sampled @ powers == pytest.approx(one.variance, rel=1e-8)
        parts = (pivot.residuals + gap * pivot.shifts) ** 2
        spread = evidence.sample.expansion.spread
        assert parts == pytest.approx((spread * one.residuals**2)[spread > 0], rel=1e-6, abs=1e-15)
        drawn = one.spread / len(y) if target == "population" else 0.0
        assert pivot.drawn @ powers == pytest.approx(drawn, rel=1e-8)
    variance, df = pivot.at(estimate.value)
    assert float(variance) == pytest.approx(estimate.std_error**2, rel=1e-12)
    assert float(df) == pytest.approx(estimate.df, rel=1e-9)


@pytest.mark.parametrize("gap", [0.3, 0.6, -0.5])
def test_denominators_that_labels_exclude_do_not_make_a_difference_likely(gap: float) -> None:
    first, together, square, most = 0.04, -0.03, 0.16, 0.2
    pivot = Pivot(
        0.1, np.ones(9), np.zeros(9), np.array([first, 2 * together, square]), NONE, NONE, 9.0, others=0.0, most=most
    )
    inverse = np.linalg.inv([[first, together], [together, square]])

    def distance(u: float) -> float:  # of (e, u) with e + gap u = gap
        point = np.array([gap * (1 - u), u])
        return float(point @ inverse @ point)

    nearest = minimize_scalar(distance, bounds=(-5.0, most), method="bounded", options={"xatol": 1e-10}).fun
    variance, _ = pivot.at(0.1 - gap)
    assert gap**2 / float(variance) == pytest.approx(nearest, rel=1e-6)
    assert variance <= replace(pivot, most=np.inf).at(0.1 - gap)[0]


def test_inverted_interval_of_a_constant_variance_is_students() -> None:
    found = inverted_interval(0.2, lambda theta: (0.01 + 0 * theta, 7.0 + 0 * theta), 0.9, bounds=(-1.0, 1.0))
    wanted = t_interval(0.2, 0.1, 7.0, 0.9)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


@pytest.mark.parametrize(("a", "b", "r"), [(1.0, 2.0, 0.0), (-0.3, 1.0, 0.7), (0.5, 0.9, -0.9)])
def test_inverted_interval_of_a_ratio_is_fiellers(a: float, b: float, r: float) -> None:
    va, vb = 0.02, 0.01
    wanted = fieller_interval(a, b, va, vb, r * np.sqrt(va * vb))

    def variance(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (va - 2 * theta * r * np.sqrt(va * vb) + theta**2 * vb) / b**2, np.full_like(theta, 1e9)

    found = inverted_interval(a / b, variance, bounds=(-9.0, 9.0))
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-8)


def test_inverted_interval_ends_at_its_bounds_and_before_a_gap() -> None:
    # b = 0.5 +- 0.39, a = 1 +- 0.02: above the ratio nothing is excluded, where b may be 0
    found = inverted_interval(2.0, lambda t: ((4e-4 + t**2 * 0.0625) / 0.25, 1e9 + 0 * t), bounds=(-4.0, 9.0))
    assert found.high == 9.0
    assert 0 < found.low < 2.0
    assert inverted_interval(0.5, lambda t: (0 * t, 9 + 0 * t), bounds=(0.0, 1.0)).width == pytest.approx(0, abs=1e-12)
    with pytest.raises(InputError, match="finite"):
        inverted_interval(0.5, lambda t: (0 * t, 9 + 0 * t), bounds=(0.0, np.inf))


@pytest.mark.parametrize("measure", ["f1", "recall"])
def test_the_interval_and_the_test_agree(measure: str) -> None:
    pool, y, _ = rare(3)
    inside = []
    for seed in range(12):
        found = sondage.compare(pool, "a", "b", measure, labels=y, budget=60, seed=seed)
        ends = found.interval(0.95)
        assert ends.kind == "fieller"
        inside.append(ends.low <= 0 <= ends.high)
        assert inside[-1] == (found.pvalue > 0.05)
    assert len(set(inside)) == 2


def test_precision_has_a_denominator_that_is_known() -> None:
    pool, y, _ = rare(4)
    found = sondage.compare(pool, "a", "b", "precision", labels=y, budget=60, seed=0)
    plain = found.interval(0.95, "t")
    assert (found.interval(0.95).low, found.interval(0.95).high) == pytest.approx((plain.low, plain.high), rel=1e-3)


@pytest.mark.parametrize("measure", ["error_rate", "mcc", "log_loss", "balanced_accuracy"])
def test_only_differences_of_ratios_have_a_pivot(measure: str) -> None:
    pool, y, _ = rare(5)
    assert sondage.compare(pool, "a", "b", measure, labels=y, budget=60, seed=0).estimate.pivot is None


def test_a_named_interval_stays_as_it_is() -> None:
    pool, y, _ = rare(6)
    assert sondage.compare(pool, "a", "b", "f1", labels=y, budget=60, seed=0, method="thesis").estimate.pivot is None


@pytest.mark.slow
def test_intervals_hold_where_labels_tell_little_of_the_denominators() -> None:
    held, found_by_t, found = [], [], []
    for seed in range(200):
        pool, y, truth = rare(seed)
        one = sondage.compare(pool, "a", "b", "f1", labels=y, budget=60, seed=seed)
        ends, plain = one.interval(0.95), one.interval(0.95, "t")
        held.append(ends.low - 1e-9 <= truth <= ends.high + 1e-9)
        found.append(not ends.low <= 0 <= ends.high)
        found_by_t.append(not plain.low <= 0 <= plain.high)
    assert np.mean(held) > 0.91  # .95 less 2.6 standard errors
    assert np.mean(found) > np.mean(found_by_t)
