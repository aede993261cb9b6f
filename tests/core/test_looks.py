"""Group-sequential looks: published constants, simulation, and one look as the ordinary test."""

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from sondage.core.significance import (
    exit_probabilities,
    obrien_fleming_bounds,
    obrien_fleming_spending,
    pocock_bounds,
    pocock_spending,
    repeated_interval,
    repeated_pvalues,
    spending_bounds,
)
from sondage.errors import InputError


def equal(looks: int) -> NDArray[np.float64]:
    return np.arange(1, looks + 1) / looks


# C. Jennison and B. W. Turnbull, Group Sequential Methods, 2000, tables 2.1 and 2.3: two-sided, K: alpha -> constant.
POCOCK = {
    2: {0.01: 2.772, 0.05: 2.178, 0.1: 1.875},
    3: {0.01: 2.873, 0.05: 2.289, 0.1: 1.992},
    5: {0.01: 2.986, 0.05: 2.413, 0.1: 2.122},
    10: {0.01: 3.117, 0.05: 2.555, 0.1: 2.270},
}
OBRIEN_FLEMING = {
    2: {0.01: 2.580, 0.05: 1.977, 0.1: 1.678},
    3: {0.01: 2.595, 0.05: 2.004, 0.1: 1.710},
    5: {0.01: 2.621, 0.05: 2.040, 0.1: 1.751},
    10: {0.01: 2.660, 0.05: 2.087, 0.1: 1.801},
}


@pytest.mark.parametrize("looks", POCOCK)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_constants_are_the_published_ones(looks: int, alpha: float) -> None:
    assert pocock_bounds(equal(looks), alpha) == pytest.approx(np.full(looks, POCOCK[looks][alpha]), abs=6e-4)
    wanted = OBRIEN_FLEMING[looks][alpha] / np.sqrt(equal(looks))
    assert obrien_fleming_bounds(equal(looks), alpha) == pytest.approx(wanted, abs=6e-4 * np.sqrt(looks))


def test_spending_is_the_published_one() -> None:
    # R package ldbounds 2.0, ldBounds(1:5 / 5) with iuse 1 and 2, two-sided alpha 0.05.
    assert spending_bounds(equal(5)) == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=2e-4)
    found = spending_bounds(equal(5), spending=pocock_spending)
    assert found == pytest.approx([2.4380, 2.4268, 2.4101, 2.3966, 2.3859], abs=2e-4)


def test_repeated_plain_tests_reject_too_often() -> None:
    # P. Armitage, C. K. McPherson and B. C. Rowe, 1969, table 2: 0.05, 0.083, 0.107, 0.126, 0.142, ... 0.193 at 10.
    found = np.cumsum(exit_probabilities(equal(10), np.full(10, stats.norm.isf(0.025))))
    assert found[-1] == pytest.approx(0.193, abs=5e-4)
    assert exit_probabilities(equal(5), [stats.norm.isf(0.025)] * 5).sum() == pytest.approx(0.142, abs=5e-4)


def test_two_looks_equal_the_bivariate_normal() -> None:
    times, critical = np.array([0.3, 1.0]), np.array([2.5, 2.0])
    joint = stats.multivariate_normal(cov=[[1, np.sqrt(0.3)], [np.sqrt(0.3), 1]])
    below = joint.cdf(critical)
    assert exit_probabilities(times, critical, sides=1).sum() == pytest.approx(1 - below, abs=1e-5)
    inside = below - joint.cdf(critical * [-1, 1]) - joint.cdf(critical * [1, -1]) + joint.cdf(-critical)
    assert exit_probabilities(times, critical).sum() == pytest.approx(1 - inside, abs=1e-5)


UNEVEN = np.array([0.1, 0.15, 0.5, 0.9, 1.0])
FAMILIES = {
    "pocock": pocock_bounds,
    "obrien-fleming": obrien_fleming_bounds,
    "spent as o'brien-fleming": spending_bounds,
    "spent as pocock": partial(spending_bounds, spending=pocock_spending),
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("sides", [1, 2])
def test_level_holds_in_simulated_walks(name: str, sides: int) -> None:
    steps = np.sqrt(np.diff(UNEVEN, prepend=0.0))
    walks = np.cumsum(np.random.default_rng(0).normal(size=(40_000, 5)) * steps, axis=1) / np.sqrt(UNEVEN)
    critical = FAMILIES[name](UNEVEN, 0.1, sides=sides)
    crossed = int(((np.abs(walks) if sides == 2 else walks) >= critical).any(axis=1).sum())
    assert stats.binomtest(crossed, 40_000, 0.1).pvalue > 1e-3
    assert exit_probabilities(UNEVEN, critical, sides=sides).sum() == pytest.approx(0.1, abs=1e-8)


@pytest.mark.parametrize("name", FAMILIES)
def test_one_look_is_the_ordinary_test(name: str) -> None:
    assert FAMILIES[name]([1.0], 0.05) == pytest.approx([stats.norm.isf(0.025)], rel=1e-9)
    assert FAMILIES[name]([1.0], 0.05, sides=1) == pytest.approx([stats.norm.isf(0.05)], rel=1e-9)
    assert repeated_pvalues([-1.5], [1.0], FAMILIES[name]) == pytest.approx([2 * stats.norm.sf(1.5)], rel=1e-6)


def test_spending_does_not_look_ahead() -> None:
    all_looks = spending_bounds(UNEVEN)
    for looks in (1, 3):
        assert spending_bounds(UNEVEN[:looks]) == pytest.approx(all_looks[:looks], rel=1e-9)
    assert obrien_fleming_spending(np.array([1.0]), 0.05) == pytest.approx([0.05])
    assert pocock_spending(np.array([1.0]), 0.05) == pytest.approx([0.05])
    # So early that nothing is spent.
    assert spending_bounds([0.01, 1.0])[0] == np.inf
    assert spending_bounds([0.01, 1.0])[1] == pytest.approx(stats.norm.isf(0.025))


@pytest.mark.parametrize("name", FAMILIES)
def test_repeated_pvalue_is_the_level_at_which_the_look_would_reject(name: str) -> None:
    pvalues = repeated_pvalues([1.3, 2.9, 2.2], UNEVEN, FAMILIES[name])
    for look, (value, level) in enumerate(zip([1.3, 2.9, 2.2], pvalues, strict=True)):
        if level < 1:
            assert FAMILIES[name](UNEVEN, float(level))[look] == pytest.approx(value, abs=1e-5)
    assert repeated_pvalues([-2.0], UNEVEN, FAMILIES[name], sides=1)[0] > 0.9
    assert repeated_pvalues([39.99], [1.0], FAMILIES[name])[0] == pytest.approx(1e-12)


def test_repeated_interval_is_the_estimate_and_its_critical_errors() -> None:
    found = repeated_interval(0.4, 0.1, 2.5, bounds=(0.0, 0.6))
    assert (found.low, found.high, found.kind) == (pytest.approx(0.15), 0.6, "repeated")
    assert repeated_interval(0.4, 0.0, np.inf).width == 0.0


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="not 1"):
        pocock_bounds([0.5, 0.9])
    with pytest.raises(InputError, match="apart"):
        spending_bounds([0.5, 0.5])
    with pytest.raises(InputError, match="apart"):
        spending_bounds([0.5, 1.5])
    with pytest.raises(InputError, match="shape"):
        spending_bounds([])
    with pytest.raises(InputError, match="sides 3"):
        obrien_fleming_bounds([1.0], sides=3)
    with pytest.raises(InputError, match="alpha=0"):
        pocock_bounds([1.0], 0.0)
    with pytest.raises(InputError, match="alpha=1"):
        spending_bounds([1.0], 1.0)
    with pytest.raises(InputError, match="shape"):
        exit_probabilities([0.5, 1.0], [2.0])
    with pytest.raises(InputError, match="2 statistics"):
        repeated_pvalues([1.0, 2.0], [1.0], pocock_bounds)
    with pytest.raises(InputError, match="NaN"):
        repeated_pvalues([np.nan], [1.0], pocock_bounds)
    with pytest.raises(InputError, match="value=nan must be a finite number"):
        repeated_interval(np.nan, 0.1, 2.0)
