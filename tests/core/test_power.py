"""Power and numbers of labels: textbook values, quadrature, simulated power (slow)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from sondage.core.intervals import wald_interval
from sondage.core.power import expected_pvalue, labels_for_power, labels_for_width, power
from sondage.core.significance import wald_test
from sondage.errors import InputError

ALTERNATIVES = ["two-sided", "less", "greater"]


@pytest.mark.parametrize("difference", [0.0, 0.02, -0.05, 0.3])
def test_power_is_the_folded_normal_integral(difference: float) -> None:
    # Thesis 5.3 and 5.4, the integral taken numerically.
    mu, z = math.sqrt(80) * difference / 0.4, stats.norm.ppf(0.97)
    beta, _ = integrate.quad(lambda t: stats.norm.pdf(t + mu) + stats.norm.pdf(t - mu), 0, z)
    assert power(difference, 0.4, 80, alpha=0.06) == pytest.approx(1 - beta, rel=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_power_without_a_difference_is_the_level(alternative: str) -> None:
    assert power(0.0, 1.0, 50, alpha=0.07, alternative=alternative) == pytest.approx(0.07, rel=1e-12)


def test_one_sided_power_by_the_textbook() -> None:
    # J. Cohen, Statistical Power Analysis, 1988: d = 0.5, one-sided 5 %, power 0.80 needs 24.7 normal observations.
    assert power(0.5, 1.0, 24.73, alternative="greater") == pytest.approx(0.80, abs=1e-3)
    assert power(-0.5, 1.0, 24.73, alternative="less") == pytest.approx(0.80, abs=1e-3)
    assert power(-0.5, 1.0, 24.73, alternative="greater") < 1e-4


def test_power_grows_as_the_pool_is_used_up() -> None:
    assert power(0.1, 1, 100, pool_size=400) == pytest.approx(power(0.1, 1, 100 / 0.75), rel=1e-12)
    assert power(0.1, 1, 400, pool_size=400) == 1


@pytest.mark.parametrize(("difference", "wanted"), [(0.0, (0, 0, 0)), (0.1, (1, 0, 1)), (-0.1, (1, 1, 0))])
def test_without_deviation_there_is_no_doubt(difference: float, wanted: tuple[float, ...]) -> None:
    for alternative, value in zip(ALTERNATIVES, wanted, strict=True):
        assert power(difference, 0.0, 5, alternative=alternative) == value
        assert expected_pvalue(difference, 0.0, 5, alternative=alternative) == 1 - value
        assert wald_test(difference, 0.0, alternative).pvalue == 1 - value


@given(
    st.floats(0.02, 2),
    st.floats(0.06, 0.999),
    st.sampled_from(ALTERNATIVES),
    st.one_of(st.none(), st.integers(1, 5000)),
)
def test_labels_for_power_are_enough_and_not_one_too_many(
    difference: float, wanted: float, alternative: str, pool_size: int | None
) -> None:
    difference = -difference if alternative == "less" else difference
    options: dict[str, Any] = {"alternative": alternative, "pool_size": pool_size}
    n = labels_for_power(difference, 1.3, wanted, **options)
    assert power(difference, 1.3, n, **options) >= wanted - 1e-9
    assert n == 1 or power(difference, 1.3, n - 1, **options) < wanted


def test_labels_for_power_by_the_textbook() -> None:
    # (1.959964 + 0.841621)^2 / 0.2^2 = 196.2.
    assert labels_for_power(0.2, 1.0, 0.8) == 197
    assert labels_for_power(0.2, 1.0, 0.8, pool_size=300) == math.ceil(1 / (1 / 196.2221 + 1 / 300))
    assert labels_for_power(0.2, 0.0) == labels_for_power(0.2, 0.0, pool_size=9) == 1
    assert labels_for_power(1e-200, 1.0, pool_size=300) == 300


def test_labels_for_width_by_the_textbook() -> None:
    # W. G. Cochran, Sampling Techniques, 1977, chapter 4: n0 = z^2 p q / d^2, n = n0 / (1 + n0 / N).
    assert labels_for_width(0.5, 0.1) == 385  # 384.1
    assert labels_for_width(0.5, 0.1, pool_size=1000) == 278  # 277.5
    assert labels_for_width(0.0, 0.1) == labels_for_width(0.0, 0.1, pool_size=9) == 1
    assert labels_for_width(0.5, 1e-200, pool_size=1000) == 1000


@given(st.floats(0.05, 3), st.floats(0.02, 1), st.floats(0.5, 0.999))
def test_labels_for_width_are_enough_and_not_one_too_many(deviation: float, width: float, level: float) -> None:
    n = labels_for_width(deviation, width, level)
    assert wald_interval(0, deviation / math.sqrt(n), level).width <= width * (1 + 1e-9)
    assert n == 1 or wald_interval(0, deviation / math.sqrt(n - 1), level).width > width


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("difference", [-0.2, 0.0, 0.05, 0.3])
def test_expected_pvalue_is_the_mean_type_two_error(difference: float, alternative: str) -> None:
    def beta(alpha: float) -> float:
        return 1 - power(difference, 1.0, 40, alpha=alpha, alternative=alternative)

    wanted, _ = integrate.quad(beta, 0, 1, limit=200)
    assert expected_pvalue(difference, 1.0, 40, alternative=alternative) == pytest.approx(wanted, abs=1e-7)


def test_expected_pvalue_of_nothing_is_one_half() -> None:
    assert expected_pvalue(0.0, 1.0, 10) == 0.5
    assert expected_pvalue(0.3, 1.0, 20, pool_size=40) == pytest.approx(expected_pvalue(0.3, 1.0, 40), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power(math.nan, 1, 5), "difference=nan must be a finite number"),
        (lambda: power(0.1, -1, 5), r"deviation -1 is not 0 or more"),
        (lambda: power(0.1, 1, 0), r"n 0 is not above 0"),
        (lambda: power(0.1, 1, 5, alpha=0), "alpha=0 must be between 0 and 1"),
        (lambda: power(0.1, 1, 5, alternative="more"), r"alternative 'more' is none of 'two-sided', 'less', 'greater'"),
        (lambda: power(0.1, 1, 5, pool_size=4), r"n 5 is above the pool's 4 items"),
        (lambda: expected_pvalue(0.1, 1, 5, alternative="more"), r"alternative 'more' is none of"),
        (lambda: labels_for_power(0.1, 1, 0.05), r"power 0.05 is outside \(0.05, 1\)"),
        (lambda: labels_for_power(0.1, 1, 1.0), r"power 1.0 is outside \(0.05, 1\)"),
        (lambda: labels_for_power(0.0, 1), r"difference 0.0 is not what the alternative 'two-sided' looks for"),
        (lambda: labels_for_power(0.1, 1, alternative="less"), r"difference 0.1 is not what the alternative 'less'"),
        (lambda: labels_for_power(math.inf, 1), "difference=inf must be a finite number"),
        (lambda: labels_for_power(0.1, math.inf), r"deviation inf is not 0 or more"),
        (lambda: labels_for_power(1e-200, 1), r"no finite number of labels is enough"),
        (lambda: labels_for_power(0.1, 1, pool_size=0), r"pool_size 0 is below 1"),
        (lambda: labels_for_width(1, 0), r"width 0 is not above 0"),
        (lambda: labels_for_width(-1, 1), r"deviation -1 is not 0 or more"),
        (lambda: labels_for_width(1, 1, 95), "level=95 must be between 0 and 1"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.slow
def test_power_is_how_often_the_test_is_significant(rng: np.random.Generator) -> None:
    runs, n = 20_000, 30
    means = rng.normal(0.4, 1 / math.sqrt(n), size=runs)
    pvalues = np.array([wald_test(mean, 1 / math.sqrt(n)).pvalue for mean in means])
    hits = int((pvalues <= 0.05).sum())
    assert stats.binomtest(hits, runs, power(0.4, 1.0, n)).pvalue > 1e-3
    error = pvalues.std() / math.sqrt(runs)
    assert pvalues.mean() == pytest.approx(expected_pvalue(0.4, 1.0, n), abs=4 * error)
