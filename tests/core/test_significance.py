"""Tests of two models' difference: textbook values, enumeration of sizes, simulated type I error (slow)."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sondage.core import resampling
from sondage.core.intervals import hypergeometric_interval, t_interval, wald_interval
from sondage.core.results import Significance
from sondage.core.significance import (
    Counts,
    bootstrap_test,
    hypergeometric_test,
    mcnemar_test,
    null_difference,
    permutation_test,
    t_test,
    wald_test,
)
from sondage.errors import InputError

Agrees = Callable[[int, int, float], bool]
ALTERNATIVES = ["two-sided", "less", "greater"]
RNG = np.random.default_rng(0)

# A. R. Cushny and A. R. Peebles, 1905: hours of sleep gained by ten patients with two drugs (R: sleep).
SLEEP = np.array(
    [
        [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
        [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
    ]
)
# C. Darwin's maize: cross- minus self-fertilised height of 15 pairs, in eighths of an inch.
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


# Wald and t


@pytest.mark.parametrize("difference", [-0.07, 0.0, 0.03])
def test_wald_is_the_normal_distribution(difference: float) -> None:
    z = difference / 0.025
    assert wald_test(difference, 0.025).pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)
    assert wald_test(difference, 0.025, "less").pvalue == pytest.approx(stats.norm.cdf(z), rel=1e-12)
    assert wald_test(difference, 0.025, "greater").pvalue == pytest.approx(stats.norm.sf(z), rel=1e-12)
    assert wald_test(difference, 0.025).statistic == pytest.approx(z)


def test_wald_keeps_tiny_pvalues() -> None:
    # 1 - Phi as printed in thesis 3.24 would be 0.
    assert wald_test(20.0, 1.0).pvalue == pytest.approx(2 * stats.norm.sf(20), rel=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_equals_scipy_on_the_sleep_data(alternative: str) -> None:
    gaps = SLEEP[0] - SLEEP[1]
    found = t_test(gaps.mean(), gaps.std(ddof=1) / math.sqrt(10), 9, alternative)
    wanted = stats.ttest_rel(SLEEP[0], SLEEP[1], alternative=alternative)
    assert (found.statistic, found.pvalue) == pytest.approx((wanted.statistic, wanted.pvalue), rel=1e-10)
    assert found.df == 9
    if alternative == "two-sided":  # R: t = -4.0621, p-value = 0.002833
        assert (found.statistic, found.pvalue) == pytest.approx((-4.0621, 0.002833), abs=1e-4)


@given(st.floats(-5, 5), st.floats(0.1, 2), st.floats(0.5, 0.99))
def test_significant_exactly_where_the_interval_leaves_zero_out(value: float, error: float, level: float) -> None:
    # Thesis 3.2.2.
    assert (wald_test(value, error).pvalue < 1 - level) == (0.0 not in wald_interval(value, error, level))
    assert (t_test(value, error, 4).pvalue < 1 - level) == (0.0 not in t_interval(value, error, 4, level))


def test_t_with_infinite_df_is_wald() -> None:
    assert t_test(0.3, 0.2, math.inf).pvalue == wald_test(0.3, 0.2).pvalue


@pytest.mark.parametrize("test", [wald_test, lambda *args: t_test(args[0], args[1], 5.0, *args[2:])])
@pytest.mark.parametrize(("difference", "pvalues"), [(0.1, (0, 1, 0)), (-0.1, (0, 0, 1)), (0.0, (1, 1, 1))])
def test_a_known_difference_leaves_no_doubt(
    test: Callable[..., Significance], difference: float, pvalues: tuple[float, ...]
) -> None:
    found = [test(difference, 0.0, alternative) for alternative in ALTERNATIVES]
    assert tuple(one.pvalue for one in found) == pvalues
    assert found[0].statistic == (math.copysign(math.inf, difference) if difference else 0)
    assert test(difference, math.inf).pvalue == 1


def test_margin_moves_the_null_hypothesis() -> None:
    moved = wald_test(-0.01 + 0.03, 0.01, "greater")
    assert wald_test(-0.01, 0.01, "greater", margin=0.03).pvalue == pytest.approx(moved.pvalue, rel=1e-12)
    mirrored = t_test(0.01, 0.01, 7, "less", margin=0.03)
    assert mirrored.pvalue == pytest.approx(t_test(-0.01, 0.01, 7, "greater", margin=0.03).pvalue, rel=1e-12)
    assert wald_test(0.02, 0.01, "greater", margin=-0.02).pvalue == 0.5
    with pytest.raises(InputError, match=r"margin 0.1 needs alternative 'less' or 'greater'"):
        wald_test(0.1, 0.1, margin=0.1)


def test_the_null_hypothesis_of_a_margin() -> None:
    assert [null_difference(side, 0.03) for side in ("greater", "less")] == [-0.03, 0.03]
    assert [str(null_difference(side)) for side in ("two-sided", "greater", "less")] == ["0.0", "0.0", "0.0"]  # not -0
    with pytest.raises(InputError, match="margin=nan must be a finite number"):
        null_difference("less", math.nan)


# Counts


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_mcnemar_is_the_binomial_test(alternative: str) -> None:
    for first, second in product(range(9), repeat=2):
        found = mcnemar_test(first, second, alternative).pvalue
        wanted = stats.binomtest(first, first + second, 0.5, alternative).pvalue if first + second else 1.0
        assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("first", "second", "pvalue"), [(5, 5, 1.0), (0, 0, 1.0), (9, 1, 22 / 1024), (0, 6, 1 / 32)])
def test_mcnemar_by_hand(first: int, second: int, pvalue: float) -> None:
    k, total = min(first, second), first + second
    printed = 2.0 ** (1 - total) * sum(math.comb(total, j) for j in range(k + 1))
    assert mcnemar_test(first, second).pvalue == pytest.approx(pvalue, rel=1e-12)
    assert min(1.0, printed) == pytest.approx(pvalue, rel=1e-12)


@pytest.mark.parametrize(
    ("alternative", "size", "drawn"),
    [
        (alternative, size, drawn)
        for alternative, (size, drawn) in product(ALTERNATIVES, [(1, 1), (8, 5), (11, 6), (12, 12)])
        if alternative != "two-sided" or size % 2 == 0  # two models cannot be equally often right of an odd number
    ],
)
def test_hypergeometric_keeps_its_level(alternative: str, size: int, drawn: int) -> None:
    pvalues = np.array([hypergeometric_test(k, drawn - k, size, alternative).pvalue for k in range(drawn + 1)])
    nulls = {"two-sided": [size // 2], "greater": range(size // 2 + 1)}
    for total in nulls.get(alternative, range(size - size // 2, size + 1)):
        chances = stats.hypergeom.pmf(np.arange(drawn + 1), size, total, drawn)
        assert all(chances[pvalues <= alpha].sum() <= alpha + 1e-12 for alpha in pvalues)


def test_hypergeometric_agrees_with_its_interval() -> None:
    for first, level in product(range(9), [0.5, 0.8, 0.95]):
        significant = hypergeometric_test(first, 8 - first, 20).pvalue <= 1 - level
        assert significant == (0.5 not in hypergeometric_interval(first, 8, 20, level))


def test_hypergeometric_between_census_and_binomial() -> None:
    assert [hypergeometric_test(4, 3, 7, alternative).pvalue for alternative in ALTERNATIVES] == [0, 1, 0]
    assert hypergeometric_test(3, 3, 6).pvalue == 1
    assert hypergeometric_test(0, 0, 0).pvalue == 1
    assert hypergeometric_test(9, 2, 10**8).pvalue == pytest.approx(mcnemar_test(9, 2).pvalue, rel=1e-5)


# Permutation and bootstrap


def test_permutation_of_darwins_maize() -> None:
    # R. A. Fisher, The Design of Experiments, 1935, section 21: 863 of 2^15 sums are as large.
    assert permutation_test(MAIZE, "greater", resamples=2**15).pvalue == 863 / 2**15
    assert permutation_test(MAIZE, resamples=2**15).pvalue == 2 * 863 / 2**15
    assert permutation_test(MAIZE, resamples=2**15).statistic == pytest.approx(314 / 15)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_weighted_permutation_equals_scipy(rng: np.random.Generator, alternative: str) -> None:
    delta, weights = rng.normal(0.3, 1, 9), rng.uniform(0.2, 5, 9)
    wanted = stats.permutation_test(
        (delta,), lambda x: x @ weights, permutation_type="samples", alternative=alternative, vectorized=False
    )
    found = permutation_test(delta, alternative, weights=weights)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-12)
    assert found.statistic == pytest.approx(np.average(delta, weights=weights), rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_permutation_of_wins_is_mcnemar(alternative: str) -> None:
    for first, second in product(range(5), repeat=2):
        wins = [1] * first + [-1] * second + [0] * 30
        assert permutation_test(wins, alternative).pvalue == pytest.approx(
            mcnemar_test(first, second, alternative).pvalue, rel=1e-12
        )


def test_random_swaps_approach_the_exact_value(
    rng: np.random.Generator, agrees: Agrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resampling, "BLOCK", 15 * 1000)
    found = permutation_test(MAIZE, "greater", generator=rng, resamples=20_000).pvalue
    assert agrees(round(found * 20_001) - 1, 20_000, 863 / 2**15)
    assert permutation_test(np.ones(5000), generator=rng, resamples=99).pvalue == 2 / 100
    with pytest.raises(InputError, match=r"15 differences have more than resamples = 9999 swaps; give a generator"):
        permutation_test(MAIZE)


def test_bootstrap_of_two_differences(
    rng: np.random.Generator, agrees: Agrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Weights 1 and 3: mean 1/2; shifted resampled means are -3/2, 0 and 1/2 with probabilities 1/4, 1/2, 1/4.
    monkeypatch.setattr(resampling, "BLOCK", 1000)
    found = bootstrap_test([-1, 1], "greater", weights=[1, 3], generator=rng, resamples=4999)
    assert found.statistic == 0.5
    assert agrees(round(found.pvalue * 5000) - 1, 4999, 0.25)
    assert bootstrap_test([-1, 1], "less", weights=[1, 3], generator=rng).pvalue == 1


def test_bootstrap_without_spread(rng: np.random.Generator) -> None:
    assert bootstrap_test([0.2] * 6, generator=rng, resamples=99).pvalue == 2 / 100
    assert bootstrap_test([0.0] * 6, generator=rng).pvalue == 1


def test_bootstrap_is_near_the_wald_test_for_many_items(rng: np.random.Generator) -> None:
    delta, w = rng.normal(0.08, 1, 400), rng.uniform(0.5, 2, 400)
    mean = np.average(delta, weights=w)
    error = math.sqrt(np.sum(w**2 * (delta - mean) ** 2)) / w.sum()
    found = bootstrap_test(delta, "greater", weights=w, generator=rng).pvalue
    assert found == pytest.approx(wald_test(mean, error, "greater").pvalue, abs=0.02)


# Bad arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wald_test(0.1, 0.1, "larger"), r"alternative 'larger' is none of 'two-sided', 'less', 'greater'"),
        (lambda: wald_test(math.nan, 0.1), "difference=nan must be a finite number"),
        (lambda: wald_test(0.1, -1), r"std_error -1 is not 0 or more"),
        (lambda: wald_test(0.1, 1, "less", margin=math.inf), "margin=inf must be a finite number"),
        (lambda: t_test(0.1, 1, -2), r"df -2 is not above 0"),
        (lambda: mcnemar_test(-1, 2), r"counts -1 and 2 must be 0 or more"),
        (lambda: Counts(3, -2, 0, 5, 5), r"counts \(3, -2, 0\) must be 0 or more"),
        (lambda: Counts(3, 2, 1, 5, 5), r"6 labels for a disagreement set of 5"),
        (lambda: permutation_test([]), r"differences of shape \(0,\)"),
        (lambda: permutation_test([1, math.nan]), r"differences must be finite"),
        (lambda: permutation_test([1, 2], weights=[1]), r"weights of shape \(1,\) for 2 items"),
        (lambda: permutation_test([1, 2], weights=[1, 0]), r"weight \[0.\] is not above 0"),
        (lambda: permutation_test([1, 2], resamples=0), r"resamples 0 is below 1"),
        (lambda: permutation_test([1, 2], "more"), r"alternative 'more' is none of"),
        (lambda: bootstrap_test([1, 2], generator=RNG, resamples=0), r"resamples 0 is below 1"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# Simulated type I error


@pytest.mark.slow
def test_wald_and_t_reject_as_often_as_they_say(rng: np.random.Generator, agrees: Agrees) -> None:
    runs, n = 20_000, 6
    drawn = rng.normal(size=(runs, n))
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(n)
    known = sum(wald_test(mean, 1 / math.sqrt(n), "less").pvalue <= 0.1 for mean in means)
    student = sum(t_test(m, e, n - 1).pvalue <= 0.1 for m, e in zip(means, errors, strict=True))
    assert agrees(known, runs, 0.1)
    assert agrees(student, runs, 0.1)


@pytest.mark.slow
def test_random_permutations_reject_as_often_as_they_say(rng: np.random.Generator, agrees: Agrees) -> None:
    # Skewed weights, small n, few resamples: the level is exact at multiples of 1 / (resamples + 1).
    runs, weights = 4000, np.array([10.0, 3, 3, 1, 1, 1, 0.2, 0.2])
    hits = sum(
        permutation_test(delta, "greater", weights=weights, generator=rng, resamples=99).pvalue <= 0.1
        for delta in rng.normal(size=(runs, 8))
    )
    assert agrees(hits, runs, 0.1)
