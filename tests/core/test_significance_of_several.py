"""Tests of k models and of the disagreement set: textbook values, enumeration, simulated type I error (slow)."""

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sondage.core.significance import (
    anova_test,
    bonferroni,
    disagreement_test,
    holm,
    mcnemar_test,
    tukey_test,
)
from sondage.errors import InputError

Agrees = Callable[[int, int, float], bool]
SQUARE = np.array([[0.0, 1.0], [1.0, 0.0]])

# A. R. Cushny and A. R. Peebles, 1905: hours of sleep gained by ten patients with two drugs (R: sleep).
SLEEP = np.array(
    [
        [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
        [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
    ]
)
# Effort of nine subjects to rise from four stools (R: nlme::ergoStool).
STOOLS = np.array(
    [
        [12, 15, 12, 10],
        [10, 14, 13, 12],
        [7, 14, 13, 9],
        [7, 11, 10, 9],
        [8, 11, 8, 7],
        [9, 11, 11, 10],
        [8, 12, 12, 11],
        [7, 11, 8, 7],
        [9, 13, 10, 8],
    ]
)


# k models


def test_anova_of_the_stools() -> None:
    # R: aov(effort ~ Type + Error(Subject), ergoStool): F = 22.36 on 3 and 24, p = 3.93e-07.
    found = anova_test(STOOLS)
    assert found.df == (3, 24)
    assert found.statistic == pytest.approx(22.36, abs=5e-3)
    assert found.pvalue == pytest.approx(3.93e-7, rel=2e-3)


def test_anova_is_the_ratio_of_mean_squares(rng: np.random.Generator) -> None:
    table = rng.normal(size=(11, 4)) + rng.normal(size=(11, 1))
    residual = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    models = 11 * np.sum((table.mean(axis=0) - table.mean()) ** 2) / 3
    assert anova_test(table).statistic == pytest.approx(models / (np.sum(residual**2) / 30), rel=1e-10)
    assert anova_test(table, np.full(11, 7.0)).statistic == pytest.approx(anova_test(table).statistic, rel=1e-12)


def test_anova_of_two_models_is_the_squared_t_test(rng: np.random.Generator) -> None:
    wanted = stats.ttest_rel(SLEEP[0], SLEEP[1])
    found = anova_test(SLEEP.T, sphericity=False)
    assert found.statistic == pytest.approx(wanted.statistic**2, rel=1e-10)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-10)
    weights = rng.uniform(0.2, 3, 10)
    delta = SLEEP[0] - SLEEP[1]
    mean = np.average(delta, weights=weights)
    variance = 10 / 9 * np.sum(weights**2 * (delta - mean) ** 2) / weights.sum() ** 2
    assert anova_test(SLEEP.T, weights).statistic == pytest.approx(mean**2 / variance, rel=1e-10)


def test_anova_corrects_for_unequal_variances() -> None:
    # Greenhouse and Geisser's epsilon from the double-centred covariance (Maxwell and Delaney, chapter 11).
    covariance = np.cov(STOOLS.T)
    centred = covariance - covariance.mean(axis=0) - covariance.mean(axis=1)[:, None] + covariance.mean()
    epsilon = np.trace(centred) ** 2 / (3 * np.sum(centred**2))
    found = anova_test(STOOLS, sphericity=False)
    assert found.df == pytest.approx((3 * epsilon, 24 * epsilon), rel=1e-10)
    assert found.pvalue > anova_test(STOOLS).pvalue


@pytest.mark.parametrize("sphericity", [True, False])
def test_anova_without_residuals(sphericity: bool) -> None:
    items = np.array([[0.1], [0.7], [0.4]])
    assert anova_test(items + np.zeros(2), sphericity=sphericity).pvalue == 1
    assert anova_test(items + np.array([0.0, 0.3]), sphericity=sphericity).pvalue == 0
    assert anova_test(np.zeros((3, 2)), sphericity=sphericity).pvalue == 1


def test_tukey_of_two_models_is_the_t_test() -> None:
    gaps = SLEEP[0] - SLEEP[1]
    variances = np.full((2, 2), gaps.var(ddof=1) / 10)
    overall, pairs = tukey_test(SLEEP.mean(axis=1), variances, 10)
    assert overall.pvalue == pytest.approx(stats.ttest_rel(SLEEP[0], SLEEP[1]).pvalue, rel=1e-8)
    assert pairs.tolist() == [[1, overall.pvalue], [overall.pvalue, 1]]


def test_tukey_at_a_tabled_quantile() -> None:
    # H. L. Harter, Tables of range and studentized range, 1960: q(0.95; 4 models, 24 degrees of freedom) = 3.901.
    # A mean pair variance of 2 makes the statistic the range itself; unequal ones are averaged.
    variances = np.full((4, 4), 2.0)
    variances[0, 1] = variances[1, 0] = 1.5
    variances[2, 3] = variances[3, 2] = 2.5
    overall, pairs = tukey_test([0.0, 3.901, 1.0, 2.0], variances, n=9)
    assert overall.statistic == pytest.approx(3.901, rel=1e-12)
    assert overall.pvalue == pytest.approx(0.05, abs=2e-5)
    assert overall.df == 24
    assert pairs[0, 1] == pairs[1, 0] == overall.pvalue
    assert pairs[0, 2] == pairs[2, 3] > pairs[0, 3] > overall.pvalue


def test_tukey_of_known_differences() -> None:
    overall, pairs = tukey_test([0.1, 0.1, 0.2], np.zeros((3, 3)), 5)
    assert (overall.statistic, overall.pvalue) == (math.inf, 0)
    assert pairs.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


# Several tests


def test_holm_and_bonferroni_equal_r() -> None:
    # R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") and "bonferroni".
    pvalues = np.array([0.05, 0.02, 0.03, 0.04, 0.01])
    assert holm(pvalues) == pytest.approx([0.09, 0.08, 0.09, 0.09, 0.05], rel=1e-12)
    assert bonferroni(pvalues) == pytest.approx([0.25, 0.1, 0.15, 0.2, 0.05], rel=1e-12)
    assert holm([]).size == bonferroni([]).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_holm_is_the_closure_of_bonferroni(pvalues: list[float]) -> None:
    # A hypothesis is rejected if every intersection that contains it is, each tested by Bonferroni's inequality.
    groups = [group for size in range(1, len(pvalues) + 1) for group in combinations(range(len(pvalues)), size)]
    local = {group: min(1.0, len(group) * min(pvalues[i] for i in group)) for group in groups}
    closed = [max(value for group, value in local.items() if i in group) for i in range(len(pvalues))]
    assert holm(pvalues) == pytest.approx(closed, rel=1e-12)
    assert (holm(pvalues) <= bonferroni(pvalues)).all()


# The disagreement set


@pytest.mark.parametrize("kinds", [(4, 2, 0), (3, 1, 2), (5, 0, 1)])
def test_disagreement_is_unbiased_over_all_samples(kinds: tuple[int, int, int]) -> None:
    # Six disagreements in a pool of ten, all samples of four: mean of the estimates, and of their variances.
    items = np.repeat([0, 1, 2], kinds)
    found = []
    for chosen in combinations(range(6), 4):
        counts = np.bincount(items[list(chosen)], minlength=3)
        found.append(disagreement_test(counts[0], counts[1], 6, 10, neither=counts[2]))
    values = np.array([one.difference for one in found])
    assert values.mean() == pytest.approx((kinds[0] - kinds[1]) / 10, rel=1e-12)
    assert np.mean([one.std_error**2 for one in found]) == pytest.approx(values.var(), rel=1e-10)


def test_disagreement_for_a_population() -> None:
    found = disagreement_test(12, 5, 40, 200, neither=3, target="population", alternative="greater")
    values = np.repeat([1, -1, 0], [12, 5, 3])
    variance = 0.2**2 * values.var(ddof=1) / 20 + values.mean() ** 2 * 0.2 * 0.8 / 200
    assert found.difference == pytest.approx(0.2 * 7 / 20, rel=1e-12)
    assert found.std_error == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert found.significance == mcnemar_test(12, 5, "greater")
    assert (found.share, found.target) == (0.2, "population")


def test_disagreement_at_the_ends() -> None:
    for target in ("pool", "population"):
        none = disagreement_test(0, 0, 0, 50, target=target)
        assert (none.difference, none.std_error, none.significance.pvalue) == (0, 0, 1)
    assert disagreement_test(1, 0, 7, 50).std_error == math.inf
    assert disagreement_test(1, 0, 1, 50).std_error == 0
    census = disagreement_test(4, 3, 7, 50)
    assert (census.difference, census.std_error) == pytest.approx((1 / 50, 0))


# Bad arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: anova_test([[1, 2]]), r"losses of shape \(1, 2\)"),
        (lambda: anova_test([[1.0, 2.0], [1.0, math.inf]]), r"losses must be finite"),
        (lambda: anova_test([[1, 2], [1, 3]], [1, -1]), r"weight \[-1.\] is not above 0"),
        (lambda: tukey_test([1], [[0]], 5), r"estimates of shape \(1,\)"),
        (lambda: tukey_test([1, 2], [[0]], 5), r"pair_variances of shape \(1, 1\) for 2 models"),
        (lambda: tukey_test([1, 2], SQUARE, 1), r"n 1 is below 2"),
        (lambda: tukey_test([1, math.nan], SQUARE, 5), r"all numbers must be finite"),
        (lambda: tukey_test([1, 2], -SQUARE, 5), r"pair variance -1.0 is negative"),
        (lambda: tukey_test([1, 2], np.triu(SQUARE), 5), r"must be symmetric"),
        (lambda: holm([0.1, 1.1]), r"p-value \[1.1\] is outside \[0, 1\]"),
        (lambda: bonferroni(0.1), r"p-values of shape \(\)"),
        (lambda: disagreement_test(1, 1, 5, 9, target="world"), r"target 'world' is none of 'pool', 'population'"),
        (lambda: disagreement_test(1, -1, 5, 9), r"counts \(1, -1, 0\) must be 0 or more"),
        (lambda: disagreement_test(3, 1, 5, 9, neither=2), r"6 labels for a disagreement set of 5"),
        (lambda: disagreement_test(1, 1, 5, 4), r"a disagreement set of 5 in a pool of 4"),
        (lambda: disagreement_test(0, 0, 5, 9), r"no label for a disagreement set of 5"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# Simulated type I error


@pytest.mark.slow
def test_anova_and_tukey_reject_as_often_as_they_say(rng: np.random.Generator, agrees: Agrees) -> None:
    runs, n, k = 1000, 7, 4
    upper = np.triu_indices(k, 1)
    anova = tukey = 0
    for table in rng.normal(size=(runs, n, k)) + rng.normal(size=(runs, n, 1)):
        gaps = table[:, :, None] - table[:, None, :]
        overall, pairs = tukey_test(table.mean(axis=0), gaps.var(axis=0, ddof=1) / n, n)
        anova += anova_test(table).pvalue <= 0.1
        tukey += pairs[upper].min() <= 0.1
        assert overall.pvalue == pairs.min()
    assert agrees(anova, runs, 0.1)
    assert agrees(tukey, runs, 0.1)


@pytest.mark.slow
def test_weighted_anova_rejects_as_often_as_it_says(rng: np.random.Generator, agrees: Agrees) -> None:
    # 150 draws with probability proportional to size: losses differ by item, the risks over the pool are equal.
    runs, n = 4000, 150
    size = rng.uniform(0.5, 2, 400)
    pool = rng.normal(size=(400, 3)) * size[:, None]
    pool -= pool.mean(axis=0)
    hits = 0
    for _ in range(runs):
        drawn = rng.choice(400, n, p=size / size.sum())
        hits += anova_test(pool[drawn], 1 / size[drawn]).pvalue <= 0.1
    assert agrees(hits, runs, 0.1)


@pytest.mark.slow
def test_disagreement_errors_match_the_spread_for_a_population(rng: np.random.Generator) -> None:
    runs, pool, n = 20_000, 300, 25
    found = []
    for size in rng.binomial(pool, 0.25, size=runs):
        first, second, neither = rng.multinomial(n, [0.6, 0.3, 0.1])
        found.append(disagreement_test(first, second, max(size, n), pool, neither=neither, target="population"))
    spread = np.var([one.difference for one in found])
    # The variance of 20,000 near-normal values has a relative error of 1 %.
    assert np.mean([one.std_error**2 for one in found]) == pytest.approx(spread, rel=0.04)
