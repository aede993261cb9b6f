"""Differences of two ratios, held against the variance that they would have."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import t as student

import sondage
from sondage.core.beliefs import Lapsing
from sondage.core.intervals import fieller_interval, inverted_interval, t_interval
from sondage.core.measures import FMeasure, Recall, Task
from sondage.core.measures.functionals import numerical_gradient
from sondage.core.pivots import Combined, Pivot
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
@pytest.mark.parametrize("shares", [(1.0, 0.0), (0.0, 1.0), (1.0, -0.3)])
def test_influences_are_gradients_of_the_difference_and_of_the_logarithm_of_the_denominator(
    measure: FMeasure | Recall, shares: tuple[float, float], rng: np.random.Generator
) -> None:
    functional = measure.ready(TASK)
    both = rng.dirichlet(np.ones(4), size=2).reshape(2, 2, 2)
    below = functional.ratio[1]

    def combined(both: np.ndarray) -> float:
        difference = functional.value(both[0]) - functional.value(both[1])
        return shares[0] * difference + shares[1] * np.mean([np.log(np.sum(below * mu)) for mu in both])

    found = Combined(functional, ((0, 1.0), (1, -1.0)), *shares).influence({0: both[0], 1: both[1]})
    for (model, coefficients), wanted in zip(found.terms, numerical_gradient(combined, both), strict=True):
        assert coefficients == pytest.approx(wanted, abs=1e-6), model
    assert found.constant == pytest.approx(sum(np.sum(a * both[m]) for m, a in found.terms), abs=1e-12)


@pytest.mark.parametrize("target", ["pool", "population"])
def test_variances_are_those_of_the_combined_influence(target: str) -> None:
    pool, y, _ = rare(1)
    estimate = sondage.compare(pool, "a", "b", "f1", labels=y, budget=80, seed=2, target=target).estimate
    evidence, pivot = estimate.evidence, estimate.pivot
    spread = evidence.sample.expansion.spread
    for gap in (-0.2, 0.0, 0.03, 0.3):
        contrast = Combined(evidence.contrast.functional, evidence.contrast.weights, 1.0, gap)
        one = evidence.estimation.around(contrast, evidence.fit)
        powers = np.array([1.0, 2.0 * gap, gap**2])
        assert pivot.sampled @ powers == pytest.approx(one.variance, rel=1e-8)
        drawn = one.spread / len(y) if target == "population" else 0.0
        assert pivot.drawn @ powers == pytest.approx(drawn, rel=1e-8)
        parts = (pivot.residuals[0] + gap * pivot.residuals[1]) ** 2
        assert parts == pytest.approx((spread * one.residuals**2)[spread > 0], rel=1e-6, abs=1e-15)
    variance, df = pivot.at(estimate.value)
    assert float(variance) == pytest.approx(estimate.std_error**2, rel=1e-9)
    assert float(df) == pytest.approx(estimate.df, rel=1e-9)


@pytest.mark.parametrize("difference", [-0.5, -0.1, 0.05, 0.4, 0.9])
@pytest.mark.parametrize("most", [0.1, 0.5, np.inf])
def test_a_difference_is_as_far_off_as_the_nearest_errors_that_make_it(difference: float, most: float) -> None:
    value, own, both, square = 0.1, 0.04, -0.03, 0.09
    pivot = Pivot(value, np.ones((2, 9)), np.array([own, both, square]), NONE, NONE, 9.0, most=most)
    inverse = np.linalg.inv([[own, both], [both, square]])

    def distance(u: float) -> float:
        point = np.array([value * (1 - u) - difference * np.exp(-u), u])
        return float(point @ inverse @ point)

    grid = np.linspace(-4.0, 4.0, 4001)
    at = grid[np.argmin([distance(u) for u in grid])]
    nearest = minimize_scalar(distance, bounds=(at - 0.01, at + 0.01), method="bounded")
    expected = nearest.fun
    if nearest.x > most:
        expected = max(expected, (value * (1 - most) - difference * np.exp(-most)) ** 2 / own)
    assert (value - difference) ** 2 / float(pivot.at(difference)[0]) == pytest.approx(expected, rel=1e-5)


def test_where_no_smaller_denominator_is_possible_a_smaller_difference_is_as_far_off_as_by_students() -> None:
    covariance = np.array([4e-4, 2e-3 * (1 - 1e-12), 1e-2])  # of one surprise, which moves both
    pivot = Pivot(0.1, np.ones((2, 9)), covariance, NONE, NONE, 9.0, most=0.0)
    assert float(pivot.at(0.07)[0]) == pytest.approx(4e-4, rel=1e-6)


def test_denominators_beyond_all_numbers_do_not_overflow() -> None:
    most = np.array([6.494426171057716e-11, 9.741609652636772e-10, 1.4612399297949385e-08])
    pivot = Pivot(-1.0 / 30.0, np.ones((2, 9)), most, NONE, NONE, 9.0)
    with np.errstate(over="raise"):
        variance, _ = pivot.without_lapses(np.linspace(0.0332, 0.0335, 2_001))
    assert np.all(variance >= 0.0)


def test_a_denominator_that_is_known_leaves_the_variance_as_it_is() -> None:
    pivot = Pivot(0.1, np.ones((2, 9)), np.array([0.04, 0.0, 0.0]), NONE, NONE, 9.0)
    assert pivot.at(np.array([-0.4, 0.0, 0.1, 0.7]))[0] == pytest.approx(np.full(4, 0.04))


def test_lapses_mix_what_a_smaller_and_a_larger_denominator_leave_possible() -> None:
    """Where D is known but for lapses, the difference is Student's over 1 + r, a mixture over the beliefs."""
    lapses = ((0.0, 0.6), (0.5, 0.3), (-0.2, 0.1))
    pivot = Pivot(0.2, np.ones((2, 30)), np.array([0.0025, 0.0, 0.0]), NONE, NONE, 30.0, lapses=lapses)
    _, df = pivot.without_lapses(0.2)
    ends = inverted_interval(0.2, pivot.at, bounds=(-1.0, 1.0))
    below, above = (
        sum(share * student.cdf(sign * (0.2 - end * (1 + more)) / 0.05, df) for more, share in lapses)
        for sign, end in ((-1, ends.low), (1, ends.high))
    )
    plain = t_interval(0.2, 0.05, float(df), bounds=(-1.0, 1.0))
    assert (below, above) == pytest.approx((0.025, 0.025))
    assert ends.low < plain.low
    assert ends.high > plain.high
    for null in (0.0, 0.2):
        assert pivot.at(null) == pivot.without_lapses(null)


def test_shares_by_which_lapses_move_denominators_are_what_beliefs_expect_of_items_predicted_alike() -> None:
    pool, y, _ = rare(4)
    estimate = sondage.compare(pool, "a", "b", "recall", labels=y, budget=60, seed=1).estimate
    evidence = estimate.evidence
    belief, sample, (first, second) = evidence.estimation.belief, evidence.sample, evidence.contrast.models
    beliefs = belief.plausible_of_unseen(sample.items, sample.labels, sample.unit_expanded)
    items, sums = sample.items, evidence.fit.sums
    alike = items.classes(first).predictions == items.classes(second).predictions
    base, weights = items.weights, sample.expansion.weights - 1.0
    positives = [float(np.sum(sums[model][:, 1])) for model in (first, second)]
    shares = []
    for one in beliefs:
        more = np.zeros(len(items))
        if isinstance(one, Lapsing):
            (_, _), (_, positive) = one.belief.supposed(items, (first, second))
            more = one.share * (0.5 - positive)  # of a positive, by chance and not by what was told
        shares.append(sum(0.5 / total * np.sum((weights * base * more)[alike]) for total in positives))
    found = sum(share * more for more, share in estimate.pivot.lapses)
    assert found == pytest.approx(np.mean(np.maximum(shares, np.expm1(-estimate.pivot.most))))


def rare_and_missed(seed: int) -> tuple[sondage.Pool, np.ndarray, float]:
    """Return two models that miss positives which are labels by chance, the labels, and by how much recalls differ."""
    random = np.random.default_rng(seed)
    p = np.concatenate([expit(random.normal(3.0, 1.0, 70)), np.full(8, 0.7), expit(random.normal(-6.5, 1.0, 5922))])
    q = np.where(p == 0.7, 0.35, p)
    y = (random.random(6_000) < p) ^ (random.random(6_000) < 0.01)
    models = {"a": sondage.Classifier(p), "b": sondage.Classifier(q)}
    return sondage.Pool(models=models), y.astype(int), float(np.sum(y & (p == 0.7)) / np.sum(y))


def test_intervals_reach_for_positives_that_both_models_miss_and_the_test_stays_as_it_is() -> None:
    held, without = [], []
    for seed in range(60):
        pool, y, truth = rare_and_missed(seed)
        one = sondage.compare(pool, "a", "b", "recall", labels=y, budget=60, seed=seed)
        plain = replace(one.estimate, pivot=replace(one.estimate.pivot, lapses=((0.0, 1.0),)))
        ends, shorter = one.interval(), plain.interval()
        assert ends.low <= shorter.low
        assert ends.high >= shorter.high
        assert one.estimate.pivot.at(0.0) == plain.pivot.at(0.0)
        held.append(truth in ends)
        without.append(truth in shorter)
    assert np.mean(without) < 0.75
    assert np.mean(held) > 0.86  # .95 less 3 standard errors


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


def test_the_interval_and_the_test_agree_at_planned_looks() -> None:
    pool, y, _ = rare(3)
    found = []
    for seed in range(8):
        one = sondage.compare(pool, "a", "b", "f1", labels=y, budget=120, seed=seed, stop="significant", looks=3)
        ends = one.interval(0.95)
        assert (ends.kind, ends.level) == ("repeated", 0.95)
        found.append(one.stopped)
        assert (one.stopped == "significant") == (not ends.low <= 0 <= ends.high)
        assert one.interval(0.99).width > ends.width
    assert len(set(found)) == 2


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


@pytest.mark.parametrize("target", ["pool", "population"])
@pytest.mark.parametrize("measure", ["recall", "f1", "precision"])
def test_the_other_way_round_all_signs_change(measure: str, target: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = (rng.random(80) < 0.3).astype(int)
        scores = {name: expit((2 * y - 1) * k + rng.normal(0, 1.5, 80)) for name, k in (("a", 2.0), ("b", 0.7))}
        pool = sondage.Pool(models={name: sondage.Classifier(p) for name, p in scores.items()})
        one, other = (
            sondage.compare(pool, *names, measure, labels=y, budget=25, seed=seed, target=target)
            for names in ("ab", "ba")
        )
        assert one.difference == pytest.approx(-other.difference, rel=1e-9, abs=1e-12)
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-6)
        ends, mirrored = one.interval(), other.interval()
        assert (ends.low, ends.high) == pytest.approx((-mirrored.high, -mirrored.low), rel=1e-6, abs=1e-9)


def test_where_the_denominator_is_known_it_does_not_count(rng) -> None:
    y = (rng.random(5000) < 0.3).astype(int)
    pool = sondage.Pool(models={m: sondage.Classifier(expit((2 * y - 1) + rng.normal(0, 1.5, 5000))) for m in "ab"})
    one, drawn = (
        sondage.compare(pool, "a", "b", "precision", labels=y, budget=200, seed=1, target=target).estimate
        for target in ("pool", "population")
    )
    assert one.pivot.sampled[1:].tolist() == one.pivot.believed[1:].tolist() == [0.0, 0.0]
    ends, student = one.interval(), one.interval(kind="t")
    assert (ends.low, ends.high) == pytest.approx((student.low, student.high), rel=1e-9)
    # How many are predicted positive tells nothing of how often that is right: e and u hardly go together.
    own, both, square = drawn.pivot.drawn
    assert abs(both) < 0.2 * np.sqrt(own * square)
