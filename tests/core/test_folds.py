"""Corrected standard errors of scores on folds."""

import numpy as np
import pytest

from sondage.core.folds import fold_roots
from sondage.errors import InputError


def test_variance_is_nadeau_and_bengios():
    # 15 random divisions into 9 parts training and 1 part held out: (1/15 + 1/9) s^2.
    scores = np.random.default_rng(0).normal(size=15)
    assert np.sum(fold_roots([scores], 1 / 9) ** 2) == pytest.approx((1 / 15 + 1 / 9) * scores.var(ddof=1), rel=1e-12)


def test_roots_of_differences_are_differences_of_roots():
    scores = np.random.default_rng(1).normal(size=(2, 10))
    roots = fold_roots(scores, 0.25)
    np.testing.assert_allclose(fold_roots([scores[0] - scores[1]], 0.25)[0], roots[0] - roots[1], rtol=1e-12)
    covariance = np.cov(scores) * (1 / 10 + 0.25)
    np.testing.assert_allclose(roots @ roots.T, covariance, rtol=1e-12)


def test_unbiased_where_folds_have_the_supposed_correlation():
    # Scores with correlation rho / (1 + rho) and variance 1: the mean's variance is 1/J + (1 - 1/J) rho / (1 + rho).
    rng, folds, ratio, runs = np.random.default_rng(2), 8, 0.25, 20_000
    shared = ratio / (1 + ratio)
    scores = np.sqrt(shared) * rng.normal(size=(runs, 1)) + np.sqrt(1 - shared) * rng.normal(size=(runs, folds))
    variance = np.sum(fold_roots(scores, ratio) ** 2, axis=1).mean()
    assert variance == pytest.approx(scores.mean(axis=1).var(), rel=0.04)


def test_equal_scores_leave_nothing():
    assert not fold_roots([[0.1 + 0.2] * 3 + [0.3]], 0.5).any()


@pytest.mark.parametrize(("scores", "ratio", "message"), [([[1.0]], 0.5, "at least 2 folds"), ([[1, 2]], 0, "above 0")])
def test_bad_arguments(scores, ratio, message):
    with pytest.raises(InputError, match=message):
        fold_roots(scores, ratio)
