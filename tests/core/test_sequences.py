"""Confidence sequences: enumeration of all draws of small pools, brute force, simulated misses at any time."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from sondage.core.intervals import wald_interval
from sondage.core.sequences import (
    ConfidenceSequence,
    Stage,
    Steps,
    Units,
    anytime_pvalues,
    asymptotic_critical,
    asymptotic_log_evalues,
    asymptotic_sequence,
    betting_sequence,
    draw_steps,
    log_evalues,
    rest_of,
)
from sondage.core.sequences.betting import log_capital, side_of
from sondage.errors import InputError

Floats = NDArray[np.float64]
ENDS = np.array([0.0, 1.0])
HALVES = np.array([0.0, 0.5, 1.0])


# Pools of six items, drawn in all orders


def risk_units(rates: Floats, belief: Floats, weights: Floats) -> Units:
    """A risk with losses 0 and 1, its top the loss, its bottom 1."""
    lowest, highest = np.outer(weights, -ENDS), np.outer(weights, 1 - ENDS)
    return Units(rates, weights * belief, weights, lowest, highest, weights**2 * belief * (1 - belief))


def f_units(rates: Floats, belief: Floats, weights: Floats, predicted: NDArray[np.int64], nodes: Floats) -> Units:
    """F1: top y f, bottom (f + y) / 2, at labels 0 and 1."""
    at = [weights[:, None] * (y * predicted[:, None] - nodes * (predicted[:, None] + y) / 2) for y in (0, 1)]
    return Units(
        rates,
        weights * belief * predicted,
        weights * (predicted + belief) / 2,
        np.minimum(*at),
        np.maximum(*at),
        weights**2 * belief * (1 - belief),
    )


LABELS = np.array([1, 0, 0, 1, 1, 0])
WEIGHTS = np.array([0.1, 0.2, 0.25, 0.05, 0.15, 0.25])
RATES = np.array([0.2, 3.0, 0.4, 1.0, 0.1, 0.7])
BELIEF = np.array([0.9, 0.3, 0.6, 0.05, 0.5, 0.2])
PREDICTED = np.array([1, 0, 1, 0, 1, 1])
RISK = float(WEIGHTS @ LABELS)
F1 = float(WEIGHTS @ (LABELS * PREDICTED) / (WEIGHTS @ (LABELS + PREDICTED) / 2))


def later_rates(first: tuple[int, ...]) -> Floats:
    """Rates of the second stage, from the labels of the first."""
    return np.asarray(RATES[::-1] + LABELS[list(first)].sum() * WEIGHTS)


def later_belief(first: tuple[int, ...]) -> Floats:
    return np.asarray((BELIEF + LABELS[list(first)].mean()) / 2)


def units(kind: str, rates: Floats, belief: Floats) -> tuple[Units, Floats, Floats, Floats]:
    """The units, their parts at the labels, and nodes."""
    if kind == "risk":
        return risk_units(rates, belief, WEIGHTS), WEIGHTS * LABELS, WEIGHTS, ENDS
    found = f_units(rates, belief, WEIGHTS, PREDICTED, HALVES)
    return found, WEIGHTS * LABELS * PREDICTED, WEIGHTS * (LABELS + PREDICTED) / 2, HALVES


def drawn(kind: str, order: tuple[int, ...], first: int) -> Steps:
    """The steps of one order, the stages changing after the first few items."""
    stages = []
    for part, rates, belief in (
        (order[:first], RATES, BELIEF),
        (order[first:], later_rates(order[:first]), later_belief(order[:first])),
    ):
        pool, top, bottom, nodes = units(kind, rates, belief)
        asked = order[: len(part)] if part == order[:first] else order
        left = np.setdiff1d(np.arange(6), asked)
        chosen = np.array(part)
        stages.append(Stage(pool.take(chosen), top[chosen], bottom[chosen], rest_of(pool.take(left), nodes)))
    return draw_steps(stages, nodes)


def orders(first: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """All orders of six items with their probabilities."""
    for order in permutations(range(6)):
        probability, left = 1.0, list(range(6))
        for position, item in enumerate(order):
            rates = RATES if position < first else later_rates(order[:first])
            probability *= rates[item] / rates[left].sum()
            left.remove(item)
        yield order, probability


@pytest.mark.parametrize(("kind", "truth"), [("risk", RISK), ("f1", F1)])
def test_capital_at_the_truth_stays_1_on_average_over_all_orders(kind: str, truth: float) -> None:
    total, capital, mean = 0.0, np.zeros((2, 6)), np.zeros(6)
    for order, probability in orders(first=2):
        steps = drawn(kind, order, first=2)
        for row, sign in enumerate((1, -1)):
            capital[row] += probability * np.exp(log_capital(side_of(steps, sign), np.array([truth]))[0]).mean(axis=0)
        mean += probability * (steps.top - truth * steps.bottom)
        total += probability
    assert total == pytest.approx(1.0, rel=1e-12)
    assert capital == pytest.approx(np.ones((2, 6)), rel=1e-10)
    assert mean == pytest.approx(np.zeros(6), abs=1e-12)


@pytest.mark.parametrize(("kind", "truth"), [("risk", RISK), ("f1", F1)])
def test_no_step_leaves_its_bounds_and_knowledge_ends_in_the_truth(kind: str, truth: float) -> None:
    for order, _ in islice(orders(first=3), 0, None, 17):
        steps = drawn(kind, order, first=3)
        for m in (0.0, 0.3, 0.5, 0.9, 1.0):
            value = steps.top - m * steps.bottom
            bounds = [[np.interp(m, steps.nodes, row) for row in rows] for rows in (steps.lowest, steps.highest)]
            assert np.all(bounds[0] <= value + 1e-12)
            assert np.all(value <= np.array(bounds[1]) + 1e-12)
        assert steps.least[-1] == pytest.approx(steps.most[-1], abs=1e-15)
        last = betting_sequence(steps).last
        assert (last.low, last.high) == pytest.approx((truth, truth), abs=1e-12)


def test_a_stage_of_which_nothing_was_asked_for_makes_no_step() -> None:
    units, none = risk_units(np.ones(4), np.full(4, 0.5), np.full(4, 0.25)), np.arange(0)
    parts = [np.arange(0, 2), none, np.arange(2, 4)]
    lefts = [np.arange(2, 4), np.arange(2, 4), none]
    stages = [
        Stage(units.take(part), np.full(len(part), 0.25), np.full(len(part), 0.25), rest_of(units.take(left), ENDS))
        for part, left in zip(parts, lefts, strict=True)
    ]
    found, expected = draw_steps(stages, ENDS), draw_steps(stages[::2], ENDS)
    assert len(found.top) == 4
    assert np.array_equal(found.lowest, expected.lowest)
    assert np.array_equal(found.top, expected.top)


def test_deviations_are_those_of_the_belief() -> None:
    # Items 1 and 3 are drawn: before the first, R_1 = sum a, and sum b^2 v / a over all.
    steps = drawn("risk", (1, 3, 0, 2, 4, 5), first=2)
    variance = WEIGHTS**2 * BELIEF * (1 - BELIEF) / RATES
    reach = (steps.highest - steps.lowest).max(axis=1)
    assert steps.deviations[0] == pytest.approx(min(np.sqrt(RATES.sum() * variance.sum()), reach[0] / 2))
    later = np.sqrt(np.delete(RATES, 1).sum() * np.delete(variance, 1).sum())
    assert steps.deviations[1] == pytest.approx(min(later, reach[1] / 2))


# The sequence against brute force


def simulated(seed: int, kind: str, n: int = 400, labels: int = 200) -> tuple[Steps, float]:
    """One draw from a pool that is hard in one way."""
    generator = np.random.default_rng(seed)
    belief = generator.beta(0.4, 2.0, n) if kind != "rare" else generator.beta(0.05, 4.0, n)
    wrong = belief[::-1] if kind == "wrong belief" else belief
    y = (generator.random(n) < wrong).astype(np.int64)
    weights = generator.gamma(1.0, size=n) + 0.05 if kind == "unequal" else np.ones(n)
    weights /= weights.sum()
    rates = weights * (0.05 + np.sqrt(belief * (1 - belief)))
    rates *= np.exp(generator.normal(0, 1.2, n)) if kind == "unequal" else 1.0
    order = np.argsort(generator.exponential(size=n) / rates)
    if kind == "f1":
        predicted = (belief > 0.3).astype(np.int64)
        nodes = np.linspace(0, 1, 5)
        pool = f_units(rates, belief, weights, predicted, nodes)
        top, bottom = weights * y * predicted, weights * (y + predicted) / 2
    else:
        nodes = ENDS
        pool, top, bottom = risk_units(rates, belief, weights), weights * y, weights
    head = order[:labels]
    stage = Stage(pool.take(head), top[head], bottom[head], rest_of(pool.take(order[labels:]), nodes))
    return draw_steps([stage], nodes), float(top.sum() / bottom.sum())


@pytest.mark.parametrize("kind", ["unequal", "f1"])
def test_log_capital_is_concave_within_a_block(kind: str) -> None:
    steps, _ = simulated(0, kind)
    for low, high in ((0.0, 0.01), (0.2, 0.25), (0.5, 0.75)):
        for sign in (1, -1):
            left, middle, right = log_capital(side_of(steps, sign), np.array([low, (low + high) / 2, high]))
            assert np.all(middle >= (left + right) / 2 - 1e-9)


@pytest.mark.parametrize("kind", ["unequal", "f1", "rare"])
def test_candidates_outside_have_lost_and_those_inside_have_not(kind: str) -> None:
    steps, _ = simulated(3, kind)
    found = betting_sequence(steps, 0.9)
    edges = np.linspace(0, 1, 101)  # the blocks of the package have these among their ends
    for sign, at in ((1, found.low), (-1, found.high)):
        for step in (20, 60, 199):
            for move, lost in ((-0.004 * sign, True), (0.004 * sign, False)):
                candidate = at[step] + move
                block = np.searchsorted(edges, candidate)
                if candidate < 0.02 or candidate > 0.98:
                    continue
                pair = edges[block - 1 : block + 1]
                middle = side_of(steps, sign)
                logs = log_capital(middle, np.sort([candidate, 2 * pair.mean() - candidate]))
                capital = np.exp(logs[0 if candidate <= pair.mean() else 1]).mean(axis=0)[: step + 1]
                ruled_out = (
                    sign * np.interp(candidate, steps.nodes, (steps.least if sign > 0 else steps.most)[step]) > 0
                )
                assert (ruled_out or capital.max() >= 2 / 0.1) == lost, (sign, step, move)


def test_sequence_is_nested_and_inside_its_range() -> None:
    for kind in ("unequal", "wrong belief", "rare", "f1"):
        steps, _ = simulated(1, kind)
        found = betting_sequence(steps)
        assert np.all(np.diff(found.low) >= 0)
        assert np.all(np.diff(found.high) <= 0)
        assert np.all((found.low >= 0) & (found.low <= found.high) & (found.high <= 1))
        assert len(found) == len(steps) == 200
        wider = betting_sequence(steps, 0.99)
        assert np.all(wider.low <= found.low + 1e-12)
        assert np.all(wider.high >= found.high - 1e-12)


def test_width_is_within_twice_the_normal_interval() -> None:
    # Simple random labels with a rate of 0.2, the case in which the fixed interval is at its best.
    ratios = []
    for seed in range(5):
        y = np.random.default_rng(seed).random(5000) < 0.2
        share = np.full(5000, 1 / 5000)
        pool = risk_units(share, np.full(5000, 0.2), share)
        head = np.arange(1000)
        stage = Stage(pool.take(head), (share * y)[head], share[head], rest_of(pool.take(np.arange(1000, 5000)), ENDS))
        found = betting_sequence(draw_steps([stage], ENDS))
        for n in (50, 100, 300, 1000):
            error = np.sqrt(0.2 * 0.8 / n * (1 - n / 5000))
            ratios.append((found.high[n - 1] - found.low[n - 1]) / wald_interval(0.2, error).width)
    assert np.mean(ratios) < 1.6
    assert np.max(ratios) < 2.0


def test_crossed_ends_leave_the_last_interval_standing() -> None:
    # The labels contradict each other as no pool's would: first all 1, then all 0.
    share, y = np.full(4000, 1 / 4000), np.repeat([1, 0], 300)
    pool = risk_units(share, np.full(4000, 0.5), share)
    head = np.arange(600)
    stage = Stage(pool.take(head), share[head] * y, share[head], rest_of(pool.take(np.arange(600, 4000)), ENDS))
    found = betting_sequence(draw_steps([stage], ENDS))
    ones = betting_sequence(draw_steps([replace(stage, top=share[head])], ENDS))
    assert np.all(found.low <= found.high)
    assert found.low[:300] == pytest.approx(ones.low[:300])
    assert found.high[-1] == pytest.approx(1 - 300 / 4000)  # what the zeros rule out is known, whatever was bet


# Misses at any time


@pytest.mark.parametrize("kind", ["unequal", "wrong belief", "rare", "f1"])
def test_evidence_against_the_truth_is_rarely_large_at_any_time(kind: str) -> None:
    runs, missed = 600, 0
    for seed in range(runs):
        steps, truth = simulated(seed, kind, n=150, labels=100)
        missed += anytime_pvalues(log_evalues(steps, truth))[-1] <= 0.1
    assert stats.binomtest(missed, runs, 0.1, "greater").pvalue > 1e-3


@pytest.mark.parametrize("kind", ["unequal", "wrong belief", "f1"])
def test_sequence_misses_no_more_often_than_it_may(kind: str) -> None:
    runs, missed = 60, 0
    for seed in range(runs):
        steps, truth = simulated(10_000 + seed, kind, n=150, labels=100)
        found = betting_sequence(steps, 0.8)
        missed += bool(np.any((found.low > truth + 1e-12) | (found.high < truth - 1e-12)))
    assert stats.binomtest(missed, runs, 0.2, "greater").pvalue > 1e-3


# Evidence


def test_two_sided_evidence_is_the_mean_of_both_sides() -> None:
    steps, _ = simulated(2, "unequal")
    both, above, below = (np.exp(log_evalues(steps, 0.2, side)) for side in ("two-sided", "greater", "less"))
    assert both == pytest.approx((above + below) / 2, rel=1e-12)


def test_evidence_is_infinite_once_the_labels_rule_a_value_out() -> None:
    steps = drawn("risk", (0, 1, 2, 3, 4, 5), first=3)
    seen = np.cumsum(WEIGHTS * LABELS)
    assert np.isinf(log_evalues(steps, 0.12, "greater")).tolist() == (seen > 0.12 + 1e-12).tolist()
    most = 1 - np.cumsum(WEIGHTS * (1 - LABELS))
    assert np.isinf(log_evalues(steps, 0.7, "less")).tolist() == (most < 0.7 - 1e-12).tolist()
    assert anytime_pvalues(log_evalues(steps, 0.12))[-1] == 0.0
    assert np.isfinite(log_evalues(steps, RISK)).all()


# Asymptotic sequences


def test_asymptotic_width_is_where_the_mixture_reaches_its_level() -> None:
    # Brownian motion B at information i, slope N(0, 1/r) mixed: M = sqrt(r / (i + r)) exp(B^2 / (2 (i + r))) = 1/alpha.
    n, tightest, alpha = np.array([20.0, 100.0, 400.0]), 100.0, 0.1
    found = asymptotic_sequence(np.zeros(3), 1 / np.sqrt(n), n, 1 - alpha, tightest=tightest)
    walk = found.high * n

    def half_width(r: float) -> float:
        return float(np.sqrt((tightest + r) * (np.log((tightest + r) / r) - 2 * np.log(alpha))))

    r = optimize.minimize_scalar(half_width, bounds=(0.1, 1000), method="bounded", options={"xatol": 1e-9}).x
    assert np.sqrt(r / (n + r)) * np.exp(walk**2 / (2 * (n + r))) == pytest.approx(np.full(3, 1 / alpha), rel=1e-5)
    assert found.low == pytest.approx(-found.high)


def test_asymptotic_critical_values_are_the_ends_of_a_sequence_in_standard_errors() -> None:
    n, options = [30, 200, 800, 1000], {"tightest": 200, "pool_size": 1000}
    critical = asymptotic_critical(n, 0.9, **options)
    assert asymptotic_sequence([1.0] * 4, [2.0] * 4, n, 0.9, **options).high == pytest.approx(1 + 2 * critical)
    assert critical.argmin() == 1
    assert np.isinf(critical[-1])


def test_asymptotic_sequence_of_a_mean_rarely_misses_at_any_time() -> None:
    runs, pool_size, n = 600, 1000, np.arange(30, 1001)
    generator = np.random.default_rng(0)
    missed = 0
    for _ in range(runs):
        values = generator.permutation(stats.gamma.ppf((np.arange(pool_size) + 0.5) / pool_size, 3))
        total, square = np.cumsum(values)[n - 1], np.cumsum(values**2)[n - 1]
        mean = total / n
        error = np.sqrt(np.maximum(square / n - mean**2, 0) / (n - 1) * (1 - n / pool_size))
        found = asymptotic_sequence(mean, error, n, 0.9, tightest=200, pool_size=pool_size)
        missed += bool(np.any(np.abs(values.mean() - mean) > (found.high - found.low) / 2 + 1e-9))
    assert stats.binomtest(missed, runs, 0.1, "greater").pvalue > 1e-3
    assert missed > 0


def test_asymptotic_sequence_without_an_estimate_is_the_whole_range() -> None:
    found = asymptotic_sequence([np.nan, 0.5, 0.5], [0.1, np.inf, 0.0], [1, 2, 3], tightest=2, bounds=(0.0, 1.0))
    assert (found.low.tolist(), found.high.tolist()) == ([0.0, 0.0, 0.5], [1.0, 1.0, 0.5])
    assert found.last.kind == "asymptotic"


# Refusals


def test_bad_arguments_are_refused() -> None:
    share = np.full(3, 1 / 3)
    pool = risk_units(np.ones(3), np.full(3, 0.5), share)
    stage = Stage(pool, share, share, rest_of(pool.take(np.arange(0)), ENDS))
    steps = draw_steps([stage], ENDS)
    with pytest.raises(InputError, match="not ascending"):
        draw_steps([stage], [1.0, 0.0])
    with pytest.raises(InputError, match="no stage"):
        draw_steps([], ENDS)
    with pytest.raises(InputError, match="rate 0"):
        draw_steps([replace(stage, units=replace(pool, rates=np.array([1.0, 0.0, 1.0])))], ENDS)
    with pytest.raises(InputError, match="bottom is negative"):
        draw_steps([replace(stage, bottom=-share)], ENDS)
    with pytest.raises(InputError, match="not finite"):
        draw_steps([replace(stage, units=replace(pool, highest=np.full((3, 2), np.inf)))], ENDS)
    with pytest.raises(InputError, match="label of drawn unit 1 is outside"):
        draw_steps([replace(stage, top=share * [1, 2, 1])], ENDS)
    with pytest.raises(InputError, match="belief of drawn unit 0 is outside"):
        draw_steps([replace(stage, units=replace(pool, top=share * 2))], ENDS)
    with pytest.raises(InputError, match="2 units with labels that matter"):
        rest_of(replace(pool, rates=np.array([1.0, 0.0, 0.0])), ENDS)
    with pytest.raises(InputError, match="level=1"):
        betting_sequence(steps, 1.0)
    with pytest.raises(InputError, match="null 2"):
        log_evalues(steps, 2.0)
    with pytest.raises(InputError, match="alternative 'up'"):
        log_evalues(steps, 0.5, "up")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"std_errors": [-0.1, 0.1]}, "negative"),
        ({"n": [20, 10]}, "ascending"),
        ({"pool_size": 15}, "ascending"),
        ({"tightest": 0}, "tightest"),
        ({"level": 0.0}, "level"),
        ({"values": [[0.1, 0.2]]}, "shape"),
        ({"std_errors": [0.1, 0.1, 0.2]}, r"std_errors of shape \(3,\) for values of shape \(2,\)"),
        ({"n": [10]}, r"n of shape \(1,\)"),
    ],
)
def test_bad_arguments_of_asymptotic_sequences_are_refused(changed: dict[str, object], message: str) -> None:
    given = {"values": [0.1, 0.2], "std_errors": [0.1, 0.1], "n": [10, 20], "tightest": 10} | changed
    with pytest.raises(InputError, match=message):
        asymptotic_sequence(**given)  # type: ignore[arg-type]


def test_last_is_an_interval() -> None:
    found = ConfidenceSequence(np.array([0.0, 0.1]), np.array([1.0, 0.6]), 0.9, "betting")
    assert (found.last.low, found.last.high, found.last.level) == (0.1, 0.6, 0.9)


def test_asymptotic_evidence_is_that_against_what_the_sequence_leaves_out():
    values, errors, n = [0.3, 0.34, 0.31], [0.1, 0.05, 0.02], [30, 100, 400]
    options = {"tightest": 100, "pool_size": 1000}
    found = asymptotic_sequence(values, errors, n, 0.95, **options)
    for row, (low, high) in enumerate(zip(found.low, found.high, strict=True)):
        for end, against in ((low, "greater"), (high, "less")):
            two, one = (
                asymptotic_log_evalues(values, errors, n, end, side, **options) for side in ("two-sided", against)
            )
            assert two[row] == pytest.approx(np.log(20), rel=1e-9)
            assert one[row] == two[row]
    wrong_side = asymptotic_log_evalues(values, errors, n, 0.5, "greater", **options)
    assert np.all(wrong_side < 0)
    assert asymptotic_log_evalues([0.3], [0.0], [1000], 0.31, **options).tolist() == [np.inf]
    assert asymptotic_log_evalues([np.nan], [np.inf], [1000], 0.31, tightest=100)[0] < 0
    with pytest.raises(InputError, match="alternative 'up'"):
        asymptotic_log_evalues(values, errors, n, 0.3, "up", **options)
