"""Degrees of freedom of sums, in whatever unit."""

import numpy as np
import pytest

from sondage.core.residuals import joint_degrees, paired_degrees, skewed_degrees
from sondage.core.samples import Expansion


@pytest.mark.parametrize("unit", [1e-250, 1.0, 1e250])
def test_joint_degrees_do_not_hang_on_the_unit(unit):
    # (1 + 3)^2 / (1 / 4 + 9 / 12)
    assert joint_degrees([unit, 3.0 * unit], [4.0, 12.0]) == pytest.approx(16.0, rel=1e-12)
    assert joint_degrees([0.0, 0.0], [4.0, 12.0]) == 16.0


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
