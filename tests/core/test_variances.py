"""Calibration of beliefs, and the variance that a belief expects."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit, logit
from scipy.stats import norm

from sondage.core.beliefs import ClassBelief, Divided, GaussianBelief, Lapsing
from sondage.core.calibration import IDENTITY, calibrate_events, calibrate_variances, plausible_events, variance_power
from sondage.core.comparisons import Contrast
from sondage.core.measures import Task, parse_measure
from sondage.core.plausible import plausible
from sondage.core.predictions import Classes, Items, Means
from sondage.core.samples import NOT_YET, Sample, from_inclusion
from sondage.core.variances import believed_variance, variance_slope


@pytest.mark.parametrize(("shift", "slope"), [(0.0, 1.0), (-2.0, 1.0), (0.0, 0.4), (1.0, 2.0)])
def test_calibration_finds_shift_and_slope(shift: float, slope: float, rng: np.random.Generator) -> None:
    logits = 2.0 * rng.normal(size=20_000)
    found = calibrate_events(logits, rng.random(20_000) < expit(shift + slope * logits))
    assert (found.shift, found.slope) == pytest.approx((shift, slope), abs=0.15)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_calibration_of_variances_knows_no_units(unit: float, rng: np.random.Generator) -> None:
    variances = np.exp(rng.normal(size=5_000))
    squares = 3.0 * variances**0.5 * rng.normal(size=5_000) ** 2
    found = calibrate_variances(unit * variances, unit * squares)
    assert np.exp(found.shift) * (unit * 2.0) ** found.slope == pytest.approx(unit * 3.0 * 2.0**0.5, rel=0.1)


def test_numbers_that_are_exactly_right_tell_nothing_of_the_others(rng: np.random.Generator) -> None:
    large = np.exp(rng.normal(size=10))
    squares = np.concatenate([np.zeros(90), large * rng.normal(size=10) ** 2])
    found = calibrate_variances(np.concatenate([np.full(90, 0.01), large]), squares)
    assert np.exp(found.shift) * 100.0**found.slope < 100.0 * 100.0


def test_a_square_counts_as_a_hundredth_of_the_mean_at_least() -> None:
    # Of equal variances only the sum of squares tells: here half of them 0, and the others 1.
    half = calibrate_variances(np.ones(100), np.repeat([0.0, 1.0], 50))
    even = calibrate_variances(np.ones(100), np.full(100, (0.01 * 0.5 + 1.0) / 2.0))
    assert (half.shift, half.slope) == pytest.approx((even.shift, even.slope), rel=1e-12)


@pytest.mark.parametrize("size", [30, 300])
def test_the_power_that_variances_follow_is_the_posterior_mean(size: int, rng: np.random.Generator) -> None:
    """SciPy's density, its scale fitted by a search, and the prior's mixture, on a finer grid."""
    heights = np.exp(rng.normal(0.0, 0.7, size))
    residuals = 3.0 * np.sqrt(heights) * rng.standard_t(4.0, size)
    powers = np.linspace(-2.0, 3.0, 101)

    def fit(power: float) -> float:
        def less(log_scale: float) -> float:
            return -float(np.sum(stats.t.logpdf(residuals, 4.0, scale=np.exp(log_scale) * heights ** (power / 2))))

        return -float(optimize.minimize_scalar(less, bounds=(-8.0, 8.0), method="bounded").fun)

    log_likelihood = np.array([fit(power) for power in powers])
    prior = 0.5 * stats.norm.pdf(powers, 0.0, 0.2) + 0.5 * stats.norm.pdf(powers, 0.0, 1.4)
    weights = prior * np.exp(log_likelihood - log_likelihood.max())
    assert variance_power(heights, residuals**2) == pytest.approx(weights @ powers / weights.sum(), abs=0.01)


@pytest.mark.parametrize("power", [-1.0, 0.0, 1.0, 2.0])
def test_the_power_that_variances_follow_is_found(power: float, rng: np.random.Generator) -> None:
    heights = np.exp(rng.normal(size=2_000))
    squares = heights**power * rng.normal(size=2_000) ** 2
    found = variance_power(heights, squares)
    assert found == pytest.approx(power, abs=0.12)
    assert variance_power(7.0 * heights, 1e6 * squares) == pytest.approx(found, rel=1e-9, abs=1e-9)  # no units
    assert variance_power(heights, np.where(np.arange(2_000) < 1_900, 0.0, squares)) < 3.0  # most exactly right


def test_where_nothing_was_told_every_class_is_as_likely() -> None:
    p = np.array([[0.7, 0.2, 0.1]])
    items = Items((Classes(np.array([0]), p),), np.ones(1))
    found = [float(w[0]) for _, w in Lapsing(ClassBelief(3, models=((0, 1.0),)), 0.3).supposed(items, (0,))]
    assert found == pytest.approx((0.7 * p[0] + 0.1).tolist(), rel=1e-12)


def test_plausible_calibrations_are_spread_as_the_posterior(rng: np.random.Generator) -> None:
    logits, weights = rng.normal(size=60), rng.random(60)
    events = rng.random(60) < expit(1.0 + 2.0 * logits)
    points = plausible_events(logits, events, weights, 4000)
    expected = posterior(logits, events, weights)
    for at, found in enumerate(zip(*((p.shift, np.log(p.slope), p.lapse) for p in points), strict=True)):
        assert np.mean(found) == pytest.approx(expected[0][at], abs=0.05 * expected[1][at])
        assert np.std(found) == pytest.approx(expected[1][at], rel=0.05)
    assert plausible_events(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0), 5) == (IDENTITY,)


def test_either_of_two_classes_may_be_the_event(rng: np.random.Generator) -> None:
    for above in (-1.0, 0.3, 1.0):
        logits, weights = np.round(2.0 * rng.normal(size=40), 1), rng.random(40)
        events = rng.random(40) < expit(above + logits)
        one, other = (plausible_events(x, e, weights, 30) for x, e in ((logits, events), (-logits, ~events)))
        for p, q in zip(one, other, strict=True):
            assert (p.shift, p.slope, p.lapse) == pytest.approx((-q.shift, q.slope, q.lapse), rel=1e-9)


def posterior(logits: np.ndarray, events: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and deviations of (shift, ln slope, lapse), by a grid of its own and the sum over all events."""
    shifts, slopes = (grid.ravel() for grid in np.meshgrid(np.linspace(-8, 8, 161), np.linspace(-2.5, 2.0, 91)))
    mean = calibrate_events(logits, events)
    q = expit(mean.shift + mean.slope * logits)
    doubt = np.average(np.minimum(q, 1 - q), weights=weights)
    rows = []
    for lapse in (0.0, *(min(2.0 * times * doubt, 0.5) for times in (0.3, 1.0, 3.0, 10.0))):
        p = (1 - lapse) * expit(shifts[:, None] + np.exp(slopes)[:, None] * logits) + lapse / 2
        prior = sum(
            share * norm.pdf(shifts, 0, a) * norm.pdf(slopes, 0, b) * (none if lapse == 0 else (1 - none) / 4)
            for share, a, b, none in ((0.65, 0.35, 0.12, 0.8), (0.25, 1.0, 0.5, 0.65), (0.10, 4.0, 1.0, 0.5))
        )
        rows.append((np.full(len(shifts), lapse), prior * np.prod(np.where(events, p, 1 - p), axis=1)))
    weight = np.concatenate([row[1] for row in rows])
    values = np.stack([np.tile(shifts, 5), np.tile(slopes, 5), np.concatenate([row[0] for row in rows])])
    means = np.average(values, axis=1, weights=weight)
    return means, np.sqrt(np.average((values - means[:, None]) ** 2, axis=1, weights=weight))


def test_what_lapses_is_as_likely_as_any_label() -> None:
    items = Items((Classes(np.array([1, 0]), np.array([0.99, 0.01])),), np.full(2, 0.5))
    sure = ClassBelief(2, models=((0, 1.0),))
    assert [w.tolist() for _, w in Lapsing(sure, 1.0).supposed(items, (0,))] == [[0.5, 0.5], [0.5, 0.5]]
    columns = np.stack([w for _, w in Lapsing(sure, 0.2).supposed(items, (0,))])
    assert columns == pytest.approx(np.array([[0.108, 0.892], [0.892, 0.108]]))


@pytest.mark.parametrize("sure", [-28.0, 0.0, 28.0])
def test_lapses_of_the_surest_and_the_least_sure_are_numbers(sure: float) -> None:
    with np.errstate(all="raise", under="ignore"):
        points = plausible_events(np.full(300, sure), np.full(300, sure > 0), np.ones(300), 30)
    assert all(np.isfinite([point.shift, point.slope]).all() and 0 <= point.lapse <= 0.5 for point in points)


def test_lapses_are_believed_in_once_they_are_seen() -> None:
    logits, weights = np.full(200, 8.0), np.ones(200)
    events = np.ones(200, dtype=bool)
    none = np.mean([point.lapse for point in plausible_events(logits, events, weights, 400)])
    events[:6] = False
    some = np.mean([point.lapse for point in plausible_events(logits, events, weights, 400)])
    assert some > 3 * none


def test_calibrated_classes_sum_to_one_and_keep_proportions() -> None:
    p = np.array([[0.7, 0.2, 0.1], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    items = Items((Classes(p.argmax(axis=1), p),), np.full(3, 1 / 3))
    columns = np.stack([w for _, w in ClassBelief(3, models=((0, 1.0),), shift=-1.0, slope=0.5).supposed(items, (0,))])
    assert columns.sum(axis=0) == pytest.approx(np.ones(3))
    assert columns[0, 0] == pytest.approx(expit(-1.0 + 0.5 * logit(0.7)))
    assert columns[1, 0] / columns[2, 0] == pytest.approx(2.0)


def test_labels_move_the_belief_towards_them() -> None:
    items = Items((Classes(np.zeros(60, dtype=int), np.full(60, 0.3)),), np.full(60, 1 / 60))
    moved = ClassBelief(2, models=((0, 1.0),)).calibrated(items, np.zeros(60, dtype=int))
    assert moved.probability(items, 1)[0] == pytest.approx(0.3)  # before calibration
    assert next(iter(moved.supposed(items, (0,))))[1][0] > 0.9
    real = Items((Means(np.zeros(50), np.ones(50)),), np.full(50, 1 / 50))
    wide = GaussianBelief(((0, 1.0),)).calibrated(real, np.resize([3.0, -3.0], 50))
    assert np.exp(wide.shift) > 4


CONTRAST = Contrast(parse_measure("error_rate").ready(Task("classification", (0, 1))), ((0, 1.0),))
DIFFERENCE = Contrast(CONTRAST.functional, ((0, 1.0), (1, -1.0)))
BELIEF = ClassBelief(2, models=((0, 1.0),))
EVEN = {0: np.full((2, 2), 0.25)}


def test_believed_variance_of_common_surprises_is_that_of_labels_drawn_from_the_belief(
    rng: np.random.Generator,
) -> None:
    # 400 coin-like labels: of the heaviest label moves, two expected ones are a small part.
    n, pi = 400, rng.uniform(0.1, 0.9, size=400)
    p = rng.uniform(0.3, 0.7, size=n)
    sample = Sample(Items((Classes((p > 0.5) * 1, p),), np.full(n, 1 / n)), np.zeros(n, dtype=int), from_inclusion(pi))
    spread, variances = (1 - pi) / pi**2 / n**2, p * (1 - p)  # the influence is an indicator less a constant
    draws = ((rng.random((20_000, n)) < p) - p) ** 2 @ spread
    assert draws.mean() == pytest.approx(np.sum(spread * variances), rel=0.01)
    assert believed_variance(CONTRAST, sample, EVEN, BELIEF) == pytest.approx(draws.mean(), rel=0.25)


@pytest.mark.parametrize(("errors", "factor"), [(0, 0.25), (1, 0.625), (2, 1.0), (20, 1.5)])
def test_rare_surprises_count_with_their_whole_effect(errors: int, factor: float) -> None:
    # 1,000 sure predictions of a tenth of the pool: one error expected, none would show in the sampled variance.
    n = 1000
    items = Items((Classes(np.zeros(n, dtype=int), np.full(n, 0.001)),), np.full(n, 1e-4))
    labels = (np.arange(n) < errors) * 1
    found = believed_variance(CONTRAST, Sample(items, labels, from_inclusion(np.full(n, 0.1))), EVEN, BELIEF)
    effect = 1e4 * 1e-4 * 0.001 * 0.999  # base weight of the pool, probability and move of an error
    often = 90 * 1e-8 * n * 0.999 * 0.001**2  # a right label moves the estimate too, a thousandth as far
    expected = (factor * effect) ** 2 + often
    assert found == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("errors", [0, 1, 2, 9])
def test_labels_to_come_surprise_as_often_as_is_expected(errors: int) -> None:
    # As above, with half of the labels still to come: of the one error that is expected a half is among these.
    n = 1000
    items = Items((Classes(np.zeros(n, dtype=int), np.full(n, 0.001)),), np.full(n, 1e-4))
    labels = np.where(np.arange(n) < n // 2, np.arange(n) < errors, NOT_YET)
    found = believed_variance(CONTRAST, Sample(items, labels, from_inclusion(np.full(n, 0.1))), EVEN, BELIEF)
    effect, often = 0.001 * 0.999, 90 * 1e-8 * n * 0.999 * 0.001**2
    factor = min((errors + 0.5 + 2 / 3) / (2 + 2 / 3), 1.5)
    assert found == pytest.approx((factor * effect) ** 2 + often, rel=0.01)


@pytest.mark.parametrize("errors", [0, 2])
def test_where_models_agree_labels_to_come_err_as_many_as_are_expected(errors: int) -> None:
    n = 1000
    one = Classes(np.zeros(n, dtype=int), np.full(n, 0.001))
    contrast = Contrast(CONTRAST.functional, ((0, 1.0), (1, -0.5)))
    labels = np.where(np.arange(n) < n // 2, np.arange(n) < errors, NOT_YET)
    sample = Sample(Items((one, one), np.full(n, 1e-4)), labels, from_inclusion(np.full(n, 0.1)))
    found = believed_variance(contrast, sample, EVEN | {1: EVEN[0]}, BELIEF)
    effect, often = 0.001 * 0.5 * 0.999, 90 * 1e-8 * n * 0.999 * 0.0005**2
    assert found == pytest.approx((errors + 0.5 + 0.5) * (effect / 2) ** 2 + often, rel=0.01)


@pytest.mark.parametrize(("errors", "sides"), [(0, 2), (1, 1), (2, 0), (7, 0)])
def test_of_items_predicted_differently_what_was_not_shown_is_missing(errors: int, sides: int) -> None:
    # Half of the sure predictions are of model 1, half of model 0: errors pull a difference either way, and do not
    # cancel. One of two thousandth of the whole, shown on a side, is more than is believed to be there.
    n = 1000
    first = (np.arange(n) % 2) * 1
    models = (Classes(first, np.full(n, 0.001)), Classes(1 - first, np.full(n, 0.001)))
    labels = (np.arange(n) < errors) * 1
    sample = Sample(Items(models, np.full(n, 1e-4)), labels, from_inclusion(np.full(n, 0.1)))
    found = believed_variance(DIFFERENCE, sample, EVEN | {1: EVEN[0]}, BELIEF)
    one_way = 0.5 * 1e4 * 1e-4 * 0.001 * 2 * 0.999  # an error moves the difference by 2
    often = 90 * 1e-8 * n * 0.999 * 0.002**2
    assert found == pytest.approx(sides * one_way**2 + often, rel=0.01)


@pytest.mark.parametrize("errors", [0, 2, 7])
def test_surprises_where_models_agree_err_as_a_poisson_number(errors: int) -> None:
    # Two models that are sure of the same, one of which counts half: each error stands for half of the effect.
    n = 1000
    one = Classes(np.zeros(n, dtype=int), np.full(n, 0.001))
    contrast = Contrast(CONTRAST.functional, ((0, 1.0), (1, -0.5)))
    labels = (np.arange(n) < errors) * 1
    sample = Sample(Items((one, one), np.full(n, 1e-4)), labels, from_inclusion(np.full(n, 0.1)))
    found = believed_variance(contrast, sample, EVEN | {1: EVEN[0]}, BELIEF)
    effect = 1e4 * 1e-4 * 0.001 * 0.5 * 0.999
    often = 90 * 1e-8 * n * 0.999 * 0.0005**2
    assert found == pytest.approx((errors + 0.5) * (effect / 2) ** 2 + often, rel=0.01)


def test_labels_as_expected_are_no_surprises() -> None:
    # Ten heavy items, and so many light ones that the rare surprises reach down to those: what is shown of a heavy one
    # as expected moves more than a light one's surprise.
    p = np.r_[np.full(10, 0.01), np.full(990, 0.001)]
    weights = np.r_[np.full(10, 1e-3), np.full(990, 1e-9)]
    one = Classes(np.zeros(1000, dtype=int), p)
    contrast = Contrast(CONTRAST.functional, ((0, 1.0), (1, -0.5)))
    sample = Sample(Items((one, one), weights), np.zeros(1000, dtype=int), from_inclusion(np.full(1000, 0.1)))
    found = believed_variance(contrast, sample, EVEN | {1: EVEN[0]}, BELIEF)
    often = 90 * 1e-6 * 10 * 0.99 * 0.005**2
    assert found == pytest.approx(0.5 * (10 * 1e-3 * 10 * 0.01 * 0.5 * 0.99 / 2) ** 2 + often, rel=0.01)


def test_the_belief_of_items_predicted_differently_follows_from_their_own_labels() -> None:
    p, first = np.full(200, 0.3), np.zeros(200, dtype=int)
    second = (np.arange(200) < 60) * 1  # the first sixty are predicted differently, and none of them is of class 1
    items = Items((Classes(first, p), Classes(second, p)), np.full(200, 5e-3))
    shown = []
    for rest in (0, 1):
        labels = np.where(np.arange(200) < 60, 0, rest)
        sample = Sample(items, labels, from_inclusion(np.full(200, 0.5)))
        beliefs = plausible(DIFFERENCE, BELIEF.calibrated(items, labels), sample)
        assert {type(belief) for belief in beliefs} == {Divided}
        shown.append(np.mean([list(belief.supposed(items, (0, 1)))[1][1] for belief in beliefs], axis=0))
    np.testing.assert_allclose(shown[0][:60], shown[1][:60])
    assert shown[0][0] < 0.05
    assert shown[1][60] > 0.6  # seven in ten of all labels
    assert shown[0][60] < 0.01
    alike = Sample(Items((items.models[0],) * 2, items.weights), labels, from_inclusion(np.full(200, 0.5)))
    beliefs = plausible(DIFFERENCE, BELIEF, alike)  # as a single model is judged
    single = BELIEF.plausible(items, labels, np.full(200, 2.0))
    for one, other in zip(beliefs, single, strict=True):
        told, expected = (list(belief.supposed(alike.items, (0, 1)))[1][1] for belief in (one, other))
        np.testing.assert_allclose(told, expected)
    assert {belief.apart for belief in beliefs} == {BELIEF}


def test_rows_that_share_a_label_are_predicted_apart_together() -> None:
    # A thousand items in units of two rows, of which the first alone is predicted differently: as if units were items.
    n, units = 1000, np.repeat(np.arange(500), 2)
    first = np.zeros(n, dtype=int)
    models = (Classes(first, np.full(n, 0.001)), Classes((np.arange(n) % 2 == 0) * 1, np.full(n, 0.001)))
    expansion = from_inclusion(np.full(500, 0.1))
    sample = Sample(Items(models, np.full(n, 1e-4)), np.zeros(n, dtype=int), expansion, units=units)
    found = believed_variance(DIFFERENCE, sample, EVEN | {1: EVEN[0]}, BELIEF)
    effect = 500 * 10 * 1e-4 * 0.001 * 2 * 0.999
    often = 500 * 90 * 1e-8 * 0.999 * 0.002**2
    assert found == pytest.approx(effect**2 + often, rel=0.01)
    beliefs = plausible(DIFFERENCE, BELIEF, sample)
    assert len({belief.apart for belief in beliefs}) > 1
    assert {belief.alike for belief in beliefs} == {BELIEF}  # no label is of a unit of which all rows are alike


def test_standard_errors_are_averaged_over_beliefs_and_variances_of_losses() -> None:
    n = 50
    sample = Sample(
        Items((Classes(np.zeros(n, dtype=int), np.full(n, 0.3)),), np.full(n, 1e-3)),
        np.zeros(n, dtype=int),
        from_inclusion(np.full(n, 0.5)),
    )
    beliefs = [ClassBelief(2, models=((0, 1.0),), shift=shift) for shift in (-1.0, 0.0, 1.0)]
    apart = [believed_variance(CONTRAST, sample, EVEN, belief) for belief in beliefs]
    together = believed_variance(CONTRAST, sample, EVEN, *beliefs)
    assert together == pytest.approx(np.mean(np.sqrt(apart)) ** 2)
    loss = Contrast(parse_measure("log_loss").ready(Task("classification", (0, 1))), ((0, 1.0),))
    sums = {0: np.array([0.4])}
    squares = [believed_variance(loss, sample, sums, belief) for belief in beliefs]
    assert believed_variance(loss, sample, sums, *beliefs) == pytest.approx(np.mean(squares))
    assert np.ptp(squares) > 0.1 * np.mean(squares)


def test_the_slope_is_the_third_cumulant_over_the_variance() -> None:
    # Every draw and every labelling of five items: the cumulants of the estimate's error over the pool, and their
    # estimates from the labelled items, expected over the same draws.
    n, pi, p = 5, np.array([0.1, 0.25, 0.4, 0.7, 1.0]), np.array([0.02, 0.2, 0.35, 0.9, 0.6])
    items = Items((Classes(np.zeros(n, dtype=int), p),), np.full(n, 1 / n))
    second = third = estimated_second = estimated_third = 0.0
    for drawn in product([0, 1], repeat=n):
        taken = np.array(drawn, dtype=bool)
        chance = float(np.prod(np.where(taken, pi, 1 - pi)))
        for labels in product([0, 1], repeat=n):
            y = np.array(labels)
            weight = chance * float(np.prod(np.where(y == 1, p, 1 - p)))
            error = float(np.sum((taken / pi - 1) * (y - p))) / n
            second, third = second + weight * error**2, third + weight * error**3
        if taken.any() and chance > 0:
            sample = Sample(
                items.take(np.flatnonzero(taken)), np.zeros(taken.sum(), dtype=int), from_inclusion(pi[taken])
            )
            own = believed_without_rare(sample, p[taken], n)
            none = np.zeros(sample.size)
            slope = variance_slope(
                CONTRAST, sample, EVEN, none, belief=BELIEF, inclusion=sample.expansion.inclusion, std_error=np.inf
            )
            estimated_second, estimated_third = (
                estimated_second + chance * own,
                estimated_third + chance * own * slope * (1 + 50 / sample.size),  # of which n / (n + 50) is believed
            )
    assert estimated_second == pytest.approx(second, rel=1e-9)
    assert estimated_third == pytest.approx(third, rel=1e-9)


def believed_without_rare(sample: Sample, p: np.ndarray, n: int) -> float:
    return float(np.sum(sample.expansion.spread * p * (1 - p))) / n**2


def test_the_slope_of_equal_draws_is_wilsons_and_at_most_half_an_error() -> None:
    n, p = 400, 0.1
    items = Items((Classes(np.zeros(n, dtype=int), np.full(n, p)),), np.full(n, 1e-6))
    sample = Sample(items, np.zeros(n, dtype=int), from_inclusion(np.full(n, n * 1e-6)))
    of, inclusion = (CONTRAST, sample, EVEN, np.zeros(n)), sample.expansion.inclusion
    believed = n / (n + 50)
    slope = partial(variance_slope, *of, belief=BELIEF, inclusion=inclusion)
    assert slope(std_error=np.inf) == pytest.approx(believed * (1 - 2 * p) / n, rel=1e-3)
    assert slope(std_error=1e-3) == pytest.approx(believed * 0.5e-3)
    assert variance_slope(*of, belief=None, inclusion=inclusion, std_error=1.0) == 0.0


def test_the_slope_of_numbers_is_that_of_their_own_residuals(rng: np.random.Generator) -> None:
    n, losses = 400, rng.exponential(size=400)
    items = Items((Means(np.zeros(n), None),), np.full(n, 1e-6))
    sample = Sample(items, np.sqrt(losses), from_inclusion(np.full(n, n * 1e-6)))
    contrast = Contrast(parse_measure("mse").ready(Task("regression", ())), ((0, 1.0),))
    residuals = 1e-6 * (losses - losses.mean())
    of = (contrast, sample, {0: np.array([losses.mean(), 0.0, 0.0, 0.0, 0.0])}, residuals)
    third, second = (float(np.mean((losses - losses.mean()) ** power)) for power in (3, 2))
    for belief in (GaussianBelief(((0, 1.0),)), None):
        slope = partial(variance_slope, *of, belief=belief, inclusion=sample.expansion.inclusion)
        assert slope(std_error=np.inf) == pytest.approx(third / second / n, rel=1e-2)
        assert slope(std_error=1e-9) == pytest.approx(0.5e-9)


def test_beliefs_without_a_spread_expect_no_variance() -> None:
    items = Items((Means(np.zeros(9), None),), np.full(9, 1 / 9))
    sample = Sample(items, np.ones(9), from_inclusion(np.full(9, 0.5)))
    contrast = Contrast(parse_measure("mse").ready(Task("regression", ())), ((0, 1.0),))
    for limit in ({"broad": True}, {"peaked": True}):
        sums = {0: contrast.functional.basis.totals(items, 0, np.ones(9), items.weights)}
        assert believed_variance(contrast, sample, sums, GaussianBelief(((0, 1.0),), **limit)) == 0.0


def test_last_bits_decide_nothing() -> None:
    # Four thousand surprises tie; two are expected among the first half, and the one that was seen is the last.
    n, labels = 4000, (np.arange(4000) == 3999) * 1
    found = []
    for bit in (-1, 0, 1):
        weights = np.full(n, 1e-4)
        weights[-1] *= 1 + bit * np.finfo(np.float64).eps
        items = Items((Classes(np.zeros(n, dtype=int), np.full(n, 0.001)),), weights)
        found.append(believed_variance(CONTRAST, Sample(items, labels, from_inclusion(np.full(n, 0.1))), EVEN, BELIEF))
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
