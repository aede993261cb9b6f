"""Small positive definite systems: against NumPy."""

import numpy as np
import pytest

from sondage.core.definite import factor, solve


@pytest.mark.parametrize("size", [0, 1, 2, 7, 40])
def test_factor_and_solution_are_numpys(size):
    rng = np.random.default_rng(size)
    root, right = rng.normal(size=(size, size)), rng.normal(size=size)
    matrix = root @ root.T + np.eye(size)
    before = matrix.copy()
    factored = factor(matrix)
    np.testing.assert_allclose(np.tril(factored), np.linalg.cholesky(matrix), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(solve(factored, right), np.linalg.solve(matrix, right), rtol=1e-8)
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("matrix", [np.diag([1.0, -1.0]), np.zeros((3, 3))])
def test_what_is_not_positive_definite_is_refused(matrix):
    with pytest.raises(np.linalg.LinAlgError, match=r"rows of a matrix are not positive definite$"):
        factor(matrix)
