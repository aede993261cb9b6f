"""Intervals from errors, counts and ratios: textbook values, exact coverage, simulated coverage (slow)."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sondage.core.intervals import (
    clopper_pearson_interval,
    fieller_interval,
    hypergeometric_interval,
    mover_interval,
    score_interval,
    t_interval,
    wald_interval,
    wilson_effective_interval,
    wilson_interval,
)
from sondage.core.results import Interval
from sondage.errors import InputError

Agrees = Callable[[int, int, float], bool]
Z = 1.959963984540054


def test_what_is_inside():
    interval = Interval(0.1 + 0.2, 0.5, 0.95, "t")
    assert 0.4 in interval
    assert np.int64(1) in Interval(1.0, 1.0, 0.95, "exact")
    assert 0.3 in interval  # but for its last bit
    assert 0.3 - 1e-9 not in interval
    assert 0.6 not in interval
    assert 1.1e-24 not in Interval(1e-24, 1e-24, 0.95, "exact")  # squares of farads
    assert 1e-17 in Interval(0.0, 0.0, 0.95, "exact")
    assert -1e9 in Interval(-np.inf, 0.3, 0.95, "t")
    assert np.nan not in interval
    assert np.nan not in interval
    assert "0.4" not in interval


def ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


# Two estimates


def test_mover_of_two_wald_intervals_is_wald_and_of_proportions_newcombes() -> None:
    found = mover_interval(0.3, wald_interval(0.3, 0.03), 0.1, wald_interval(0.1, 0.04))
    assert ends(found) == pytest.approx(ends(wald_interval(0.2, 0.05)), rel=1e-12)
    for (a, m), (b, n), wanted in (  # Newcombe 1998, table II, method 10
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
    ):
        known = mover_interval(a / m, wilson_interval(a / m, m), b / n, wilson_interval(b / n, n), bounds=(-1.0, 1.0))
        assert ends(known) == pytest.approx(wanted, abs=5e-5)
    with pytest.raises(InputError, match=r"levels 0\.95 and 0\.9:"):
        mover_interval(0.3, wald_interval(0.3, 0.03), 0.1, wald_interval(0.1, 0.04, 0.9))


# Wald and t


def test_wald_is_value_plus_minus_z_errors() -> None:
    assert ends(wald_interval(0.3, 0.05)) == pytest.approx((0.3 - Z * 0.05, 0.3 + Z * 0.05), rel=1e-12)
    narrower = wald_interval(0.3, 0.05, 0.9)
    assert ends(narrower) == pytest.approx((0.3 - 0.05 * 1.6448536269514722, 0.3822426813475736), rel=1e-12)
    assert (narrower.level, narrower.kind) == (0.9, "wald")


def test_t_equals_scipys_paired_interval(rng: np.random.Generator) -> None:
    first, second = rng.normal(size=(2, 9))
    gaps = first - second
    wanted = stats.ttest_rel(first, second).confidence_interval(0.9)
    found = t_interval(gaps.mean(), gaps.std(ddof=1) / 3, df=8, level=0.9)
    assert ends(found) == pytest.approx((wanted.low, wanted.high), rel=1e-12)


def test_t_with_infinite_df_is_wald() -> None:
    assert ends(t_interval(0.3, 0.05, df=math.inf)) == ends(wald_interval(0.3, 0.05))
    # Thesis 3.2.2: factor 1.012 at n = 101.
    assert t_interval(0, 1, df=100).high / Z == pytest.approx(1.012, abs=5e-4)


def test_known_value_is_a_point_and_unknown_one_is_everything() -> None:
    assert ends(wald_interval(0.2, 0.0)) == (0.2, 0.2)
    assert ends(t_interval(0.2, 0.0, df=1e-3)) == (0.2, 0.2)
    assert ends(wald_interval(0.2, math.inf)) == (-math.inf, math.inf)
    assert ends(wald_interval(0.2, math.inf, bounds=(0, 1))) == (0, 1)


def test_bounds_move_the_ends_inside() -> None:
    assert ends(wald_interval(0.02, 0.05, bounds=(0, 1))) == pytest.approx((0, 0.02 + Z * 0.05))
    assert ends(t_interval(1.4, 0.05, df=5, bounds=(0, 1))) == (1, 1)


# Proportions


@pytest.mark.parametrize(
    ("successes", "n", "wilson", "exact"),
    [
        # R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine, 1998,
        # 857-872, Table I, methods 3 and 5.
        (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
        (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
        (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
        (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
    ],
)
def test_newcombes_table(successes: int, n: int, wilson: tuple[float, float], exact: tuple[float, float]) -> None:
    assert ends(wilson_interval(successes / n, n)) == pytest.approx(wilson, abs=5.1e-5)
    assert ends(clopper_pearson_interval(successes, n)) == pytest.approx(exact, abs=5.1e-5)


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_proportions_equal_scipy(n: int, level: float) -> None:
    for successes in range(n + 1):
        test = stats.binomtest(successes, n)
        wilson, exact = test.proportion_ci(level, "wilson"), test.proportion_ci(level, "exact")
        assert ends(wilson_interval(successes / n, n, level)) == pytest.approx(tuple(wilson), rel=1e-11, abs=1e-15)
        assert ends(clopper_pearson_interval(successes, n, level)) == pytest.approx(tuple(exact), rel=1e-9)


def test_wilson_is_the_thesis_at_a_fractional_size() -> None:
    rate, n = 0.13, 37.5
    centre = (rate + Z**2 / (2 * n)) / (1 + Z**2 / n)  # 3.19
    half = Z * math.sqrt(rate * (1 - rate) + Z**2 / (4 * n)) / (math.sqrt(n) + Z**2 / math.sqrt(n))  # 3.20
    assert ends(wilson_interval(rate, n)) == pytest.approx((centre - half, centre + half), rel=1e-12)


def test_proportions_at_the_ends_of_the_sizes() -> None:
    assert ends(wilson_interval(0.3, 0)) == pytest.approx((0, 1))
    assert ends(wilson_interval(0.3, math.inf)) == (0.3, 0.3)
    assert ends(clopper_pearson_interval(0, 0)) == (0, 1)
    assert clopper_pearson_interval(1, 9).kind == "clopper_pearson"  # as everywhere else
    assert wilson_interval(0, 3).low == 0
    assert wilson_interval(1, 3).high == 1


def test_wilson_effective_uses_the_size_that_explains_the_error() -> None:
    error = math.sqrt(0.2 * 0.8 / 43)
    assert ends(wilson_effective_interval(0.2, error)) == pytest.approx(ends(wilson_interval(0.2, 43)), rel=1e-12)
    shrunk = 43 * (Z / stats.t.ppf(0.975, 6)) ** 2
    found = wilson_effective_interval(0.2, error, df=6)
    assert ends(found) == pytest.approx(ends(wilson_interval(0.2, shrunk)), rel=1e-12)
    assert ends(wilson_effective_interval(0.2, 0)) == (0.2, 0.2)
    assert ends(wilson_effective_interval(0.2, math.inf)) == pytest.approx((0, 1))


def test_wilson_effective_needs_n_where_no_error_was_seen() -> None:
    assert wilson_effective_interval(0, 0, n=25) == wilson_interval(0, 25)
    assert wilson_effective_interval(1, 0, n=25, df=4).low < wilson_interval(1, 25).low
    with pytest.raises(InputError, match=r"proportion 0 has no effective sample size; give n"):
        wilson_effective_interval(0, 0)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_clopper_pearson_covers_exactly(level: float) -> None:
    n, rates = 15, np.linspace(0.001, 0.999, 400)
    found = [clopper_pearson_interval(k, n, level) for k in range(n + 1)]
    covered = np.array([[rate in interval for interval in found] for rate in rates])
    probability = stats.binom.pmf(np.arange(n + 1), n, rates[:, None])
    assert (covered * probability).sum(axis=1).min() >= level


def chance(total: int, pool: int, n: int, drawn: int) -> Fraction:
    """Probability of so many successes in the sample."""
    return Fraction(math.comb(total, drawn) * math.comb(pool - total, n - drawn), math.comb(pool, n))


@pytest.mark.parametrize("level", [0.6, 0.95])
@pytest.mark.parametrize(("pool", "n"), [(1, 1), (9, 1), (9, 4), (12, 7), (25, 10)])
def test_hypergeometric_covers_exactly(pool: int, n: int, level: float) -> None:
    found = [hypergeometric_interval(k, n, pool, level) for k in range(n + 1)]
    for total in range(pool + 1):
        covered = [chance(total, pool, n, k) for k in range(n + 1) if total / pool in found[k]]
        assert float(sum(covered)) >= level - 1e-12


def test_hypergeometric_holds_all_that_neither_tail_rejects() -> None:
    pool, n, k = 25, 10, 3
    kept = []
    for total in range(k, pool - n + k + 1):
        below = sum(chance(total, pool, n, j) for j in range(k + 1))
        above = sum(chance(total, pool, n, j) for j in range(k, n + 1))
        kept += [total] if min(below, above) > Fraction(1, 40) else []
    assert ends(hypergeometric_interval(k, n, pool)) == (kept[0] / pool, kept[-1] / pool)


def test_hypergeometric_between_ignorance_census_and_binomial() -> None:
    assert ends(hypergeometric_interval(0, 0, 7)) == (0, 1)
    assert ends(hypergeometric_interval(3, 7, 7)) == (3 / 7, 3 / 7)
    large = hypergeometric_interval(3, 50, 10**9)
    assert ends(large) == pytest.approx(ends(clopper_pearson_interval(3, 50)), rel=1e-6)


# Ratios


def test_fieller_with_a_known_denominator_is_wald() -> None:
    found = fieller_interval(0.3, 1.7, 0.0025, 0.0, 0.0)
    assert ends(found) == pytest.approx(((0.3 - Z * 0.05) / 1.7, (0.3 + Z * 0.05) / 1.7), rel=1e-12)
    assert ends(fieller_interval(0.3, 1.5, 0.0, 0.0, 0.0)) == pytest.approx((0.2, 0.2))


@given(
    a=st.floats(-3, 3),
    b=st.floats(0.5, 3),
    va=st.floats(1e-4, 0.02),
    vb=st.floats(1e-4, 0.02),
    r=st.floats(-0.99, 0.99),
)
def test_fieller_ends_are_z_errors_from_zero(a: float, b: float, va: float, vb: float, r: float) -> None:
    covariance = r * math.sqrt(va * vb)
    found = fieller_interval(a, b, va, vb, covariance, 0.9)
    assert a / b in found
    for t in ends(found):
        assert (a - t * b) ** 2 == pytest.approx(
            stats.norm.ppf(0.95) ** 2 * (va - 2 * t * covariance + t * t * vb), rel=1e-6
        )


def test_fieller_is_wider_with_few_degrees_of_freedom() -> None:
    assert fieller_interval(1, 2, 0.01, 0.01, 0, df=4).width > fieller_interval(1, 2, 0.01, 0.01, 0).width
    assert fieller_interval(1, 2, 0.01, 0.01, 0, df=math.inf) == fieller_interval(1, 2, 0.01, 0.01, 0)


def test_fieller_is_unbounded_if_the_denominator_may_be_zero() -> None:
    # b = 0.1 +- 0.196: all ratios but those between -30.1 and 2.96, where 1 - t b is significant.
    gap = np.roots([0.01 - Z**2 * 0.01, -2 * 0.1, 1 - Z**2 * 0.01])
    given_ = (1.0, 0.1, 0.01, 0.01, 0.0)
    assert ends(fieller_interval(*given_)) == (-math.inf, math.inf)
    assert ends(fieller_interval(*given_, bounds=(0, 50))) == pytest.approx((max(gap), 50))
    assert ends(fieller_interval(*given_, bounds=(-50, 0))) == pytest.approx((-50, min(gap)))
    assert ends(fieller_interval(*given_, bounds=(0, 1))) == (0, 1)
    assert ends(fieller_interval(0.1, 0.1, 0.01, 0.01, 0.0)) == (-math.inf, math.inf)


LINE = 5 / 6 * math.sqrt(3 / 2)


@pytest.mark.parametrize(
    ("a", "wanted"), [(2.0, (LINE, math.inf)), (-2.0, (-math.inf, -LINE)), (0.0, (-math.inf, math.inf))]
)
def test_fieller_at_the_border_is_a_half_line(a: float, wanted: tuple[float, float]) -> None:
    # At level 1/2 and two degrees of freedom the quantile is the root of 2/3, so that b^2 = z^2 V_b at b = z. The half
    # line then ends at (a^2 - z^2) / (2 a z).
    z = t_interval(0, 1, df=2, level=0.5).high
    assert z == pytest.approx(math.sqrt(2 / 3), rel=1e-12)
    found = fieller_interval(a, z, 1.0, 1.0, 0.0, 0.5, df=2)
    assert ends(found) == pytest.approx(wanted, rel=1e-12)


# Score


@given(value=st.floats(0.01, 0.99), n=st.floats(3, 1e6), level=st.floats(0.5, 0.999))
def test_score_with_wilsons_slope_is_wilson(value: float, n: float, level: float) -> None:
    found = score_interval(value, math.sqrt(value * (1 - value) / n), (1 - 2 * value) / n, level, n=n)
    assert ends(found) == pytest.approx(ends(wilson_interval(value, n, level)), rel=1e-9, abs=1e-12)


@given(error=st.floats(1e-3, 10), slope=st.floats(-5, 5), df=st.floats(2, 1e3))
def test_score_ends_are_t_errors_away_at_the_variance_they_have(error: float, slope: float, df: float) -> None:
    found, t = score_interval(1.0, error, slope, df=df), stats.t.ppf(0.975, df)
    for end in ends(found):
        assert (end - 1.0) ** 2 == pytest.approx(t**2 * (error**2 + slope * (end - 1.0)), rel=1e-6, abs=1e-9)
    assert ends(score_interval(1.0, error, 0.0, df=df)) == pytest.approx(ends(t_interval(1.0, error, df)))
    assert ends(score_interval(1.0, 0.0, slope, df=df)) == (1.0, 1.0)


# Bad arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wald_interval(0.1, 0.1, 1.0), "level=1.0 must be between 0 and 1"),
        (lambda: wald_interval(0.1, -0.1), r"std_error -0.1 is not 0 or more"),
        (lambda: wald_interval(0.1, math.nan), r"std_error nan is not 0 or more"),
        (lambda: wald_interval(math.nan, 0.1), "value=nan must be a finite number"),
        (lambda: wald_interval(0.1, 0.1, bounds=(1, 0)), r"bounds \(1, 0\): the first must be below"),
        (lambda: t_interval(0.1, 0.1, df=0), r"df 0 is not above 0"),
        (lambda: score_interval(0.1, 0.1, math.nan), "slope=nan must be a finite number"),
        (lambda: score_interval(0.1, 0.1, 0.0, n=0), r"n 0 is not above 0"),
        (lambda: wilson_interval(1.2, 10), r"proportion 1.2 is outside \[0, 1\]"),
        (lambda: wilson_interval(0.2, -1), r"n -1 is not 0 or more"),
        (lambda: wilson_effective_interval(-0.2, 0.1), r"proportion -0.2 is outside \[0, 1\]"),
        (lambda: clopper_pearson_interval(5, 4), r"successes 5 are outside 0 to n = 4"),
        (lambda: clopper_pearson_interval(0, -4), r"n -4 is not a number of trials"),
        (lambda: hypergeometric_interval(0, 5, 4), r"n 5 is above the pool's 4 items"),
        (lambda: hypergeometric_interval(0, 0, 0), r"pool_size 0 is below 1"),
        (lambda: fieller_interval(1, 0, 1, 0, 0), r"denominator 0 with variance 0"),
        (lambda: fieller_interval(1, 1, -1, 0, 0), r"variances \(-1, 0\) must be 0 or more"),
        (lambda: fieller_interval(1, 1, 1, 4, 2.1), r"covariance 2.1 is beyond 2.0"),
        (lambda: fieller_interval(math.inf, 1, 1, 4, 0), r"must be finite"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# Simulation


@pytest.mark.slow
@pytest.mark.parametrize("b", [8.0, 0.3])
def test_fieller_covers_whatever_the_denominator(rng: np.random.Generator, agrees: Agrees, b: float) -> None:
    runs = 20_000
    drawn = rng.multivariate_normal([2.0, b], [[1.0, 0.5], [0.5, 1.0]], size=runs)
    hits = sum(2.0 / b in fieller_interval(x, y, 1, 1, 0.5, 0.9) for x, y in drawn)
    if b == 8:
        assert agrees(hits, runs, 0.9)
    else:  # mostly unbounded: an interval cannot show the gap and covers more
        assert hits > 0.9 * runs


@pytest.mark.slow
def test_score_covers_scaled_poisson_counts_on_either_side(rng: np.random.Generator) -> None:
    # Thirty surprises expected, each of which moves the estimate by 1/2: its variance is half of its value.
    counts = rng.poisson(30, size=20_000) / 2
    found = [score_interval(value, math.sqrt(value / 2), 0.5) for value in counts]
    wald = [wald_interval(value, math.sqrt(value / 2)) for value in counts]
    above, below = np.mean([one.low > 15 for one in found]), np.mean([one.high < 15 for one in found])
    assert max(above, below) < 0.035
    assert np.mean([one.high < 15 for one in wald]) > 1.4 * below


@pytest.mark.slow
def test_wald_and_t_cover_normal_means(rng: np.random.Generator, agrees: Agrees) -> None:
    runs, n = 20_000, 8
    drawn = rng.normal(3.0, 2.0, size=(runs, n))
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(n)
    known = sum(3.0 in wald_interval(mean, 2 / math.sqrt(n), 0.9) for mean in means)
    student = sum(3.0 in t_interval(m, e, n - 1, 0.9) for m, e in zip(means, errors, strict=True))
    assert agrees(known, runs, 0.9)
    assert agrees(student, runs, 0.9)
