"""Degrees of freedom of sums, in whatever unit."""

import numpy as np
import pytest
from scipy.stats import norm, t

from sondage.core.predictions import Items
from sondage.core.residuals import joint_degrees, larger_variance, paired_degrees, pool_roots, skewed_degrees
from sondage.core.samples import Expansion, Sample


@pytest.mark.parametrize("unit", [1e-250, 1.0, 1e250])
def test_joint_degrees_do_not_hang_on_the_unit(unit):
    # (1 + 3)^2 / (1 / 4 + 9 / 12)
    assert joint_degrees([unit, 3.0 * unit], [4.0, 12.0]) == pytest.approx(16.0, rel=1e-12)
    assert joint_degrees([0.0, 0.0], [4.0, 12.0]) == 16.0
    assert joint_degrees([unit, np.inf], [4.0, 12.0]) == 12.0


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_what_no_stage_drew_does_not_hang_on_the_unit(unit):
    left = np.array([[3.0, -1.0, 0.5], [0.0, 1.0, 2.0]])
    totals = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    expansion = Expansion(np.ones(3), np.zeros(3), left=left)
    np.testing.assert_allclose(expansion.rest(unit * totals), unit * expansion.rest(totals), rtol=1e-12)


@pytest.mark.parametrize("degrees", [paired_degrees, skewed_degrees])
@pytest.mark.parametrize("unit", [2.0**-800, 2.0**800])
def test_degrees_do_not_hang_on_the_unit(degrees, unit):
    parts = np.array([[4.0, 2.0, 1.0, 0.5], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(degrees(unit * parts), degrees(parts))


def test_the_larger_variance_stands():
    assert larger_variance(2.0, 7.0, 1.0) == (2.0, 7.0)
    assert larger_variance(2.0, 1.0, 1.0) == (2.0, 4.6)
    believed, df = larger_variance(1.0, 7.0, 4.0)
    assert believed == 4.0
    assert df > 1000
    low, high = 1.0 * (t.ppf(0.975, 4.6) / norm.ppf(0.975)) ** 2 * np.array([0.999, 1.001])
    assert larger_variance(1.0, 4.6, low)[0] == 1.0
    assert larger_variance(1.0, 4.6, high)[0] == high


@pytest.mark.parametrize(("units", "spread"), [(None, 4.5), ([0, 0], 8.0)])
def test_the_spread_over_the_pool_is_that_of_units(units, spread):
    # two rows with a quarter of the pool each: each of the other two has -2. Units of two rows have the sums 4 and -4,
    # (.25)^2 (16 + 16) of the value's variance is 2, and four squared weights are .25
    items = Items((), np.array([0.25, 0.25]))
    expansion = Expansion(np.ones(2 if units is None else 1), np.ones(2 if units is None else 1))
    sample = Sample(items, np.zeros(2), expansion, None if units is None else np.array(units))
    assert np.sum(pool_roots(np.array([[1.0, 3.0]]), sample) ** 2) == pytest.approx(spread)
