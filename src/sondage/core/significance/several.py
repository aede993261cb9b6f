"""Tests that k models are equal: analysis of variance and the studentized range."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from sondage.core.checks import require
from sondage.core.results import Significance
from sondage.core.significance.tails import normalised, ratio_to_error

__all__ = ["anova_test", "range_test", "tukey_test"]


def anova_test(losses: ArrayLike, weights: ArrayLike | None = None, *, sphericity: bool = True) -> Significance:
    r"""Test whether k models have the same risk, by the analysis of variance with repeated measures.

    With :math:`e_{ij}` the losses after their item's mean is taken out, :math:`m` the weighted means of :math:`e` and
    :math:`V` the estimated covariance of :math:`m`,

    .. math:: F = \frac{\sum_j m_j^2}{\mathrm{tr} V}, \qquad
       V = \frac{n}{n - 1} \frac{\sum_i w_i^2 (e_i - m)(e_i - m)^\top}{(\sum_i w_i)^2},

    on :math:`k - 1` and :math:`(n - 1)(k - 1)` degrees of freedom. Without weights this is the usual ratio of the mean
    square between models and the residual one.

    Parameters
    ----------
    losses : array_like of float, shape (n, k)
        Losses of k >= 2 models on the same n >= 2 labelled items.
    weights : array_like of float, shape (n,), optional
        Weights above 0, on any scale. They stand for unequal draw probabilities: the means are the self-normalised
        estimates and :math:`V` is their sampling variance (squared weights, as in thesis 3.14), not that
        of a least-squares fit, for which a large weight would be a precise item.
    sphericity : bool
        Whether all pairwise differences are taken to have the same variance. If not, both degrees of freedom are
        multiplied by :math:`\hat\epsilon = (\mathrm{tr} V)^2 / ((k - 1) \, \mathrm{tr} V^2)`. With two models much
        alike and a third apart, a level of 0.05 is 0.09 without this and 0.05 with it (simulated, 10 and 30 items).

    Returns
    -------
    Significance
        Of kind ``"anova"``; the statistic is :math:`F`, ``df`` has both degrees of freedom. If every item shows the
        same differences the p-value is 0, or 1 if these are 0.

    Raises
    ------
    InputError
        If there are fewer than 2 items or models, a number is not finite, or a weight is not above 0.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, section 3.2.3 (names the test).
    S. W. Greenhouse and S. Geisser, On methods in the analysis of profile data, Psychometrika, 1959, 95-112.

    Examples
    --------
    >>> result = anova_test([[1, 2, 4], [2, 2, 5], [0, 2, 2], [3, 4, 5]])
    >>> round(result.statistic, 6), result.df
    (14.25, (2.0, 6.0))
    """
    table = np.asarray(losses, dtype=float)
    require(table.ndim == 2 and min(table.shape) >= 2, f"losses of shape {table.shape}; (n, k), both at least 2")
    require(bool(np.isfinite(table).all()), "losses must be finite")
    n, k = table.shape
    share = normalised(weights, n)
    centred = table - table.mean(axis=1, keepdims=True)
    means = share @ centred
    spread = (centred - means) * share[:, None]
    covariance = n / (n - 1) * spread.T @ spread
    total = float(np.trace(covariance))
    epsilon = 1.0 if sphericity or total == 0 else total**2 / ((k - 1) * float(np.sum(covariance**2)))
    df = ((k - 1) * epsilon, (n - 1) * (k - 1) * epsilon)
    # What is left of equal differences after rounding is no variance.
    scale = float(np.abs(table).max()) * 1e-14
    between = float(means @ means) if np.abs(means).max() > scale else 0.0
    statistic = ratio_to_error(between, total if total > scale**2 else 0.0)
    return Significance(statistic, float(special.fdtrc(*df, statistic)), "two-sided", "anova", df)


def tukey_test(estimates: ArrayLike, pair_variances: ArrayLike, n: int) -> tuple[Significance, NDArray[np.float64]]:
    r"""Test the range of k paired estimates, and every pair, by the studentized range.

    .. math:: T = \frac{\sqrt{2 n} \, (\max_j \hat R_j - \min_j \hat R_j)}{S_k}, \qquad
       S_k^2 = \frac{1}{k (k - 1)} \sum_{i \ne j} n \, \mathrm{Var}(\hat R_i - \hat R_j),

    on :math:`\nu = (n - 1)(k - 1)` degrees of freedom. For a pair its own difference takes the place of the range.

    Parameters
    ----------
    estimates : array_like of float, shape (k,)
        Estimates of k >= 2 models on the same items.
    pair_variances : array_like of float, shape (k, k)
        Squared standard error of every difference, symmetric; the diagonal is not read.
    n : int
        Number of labelled items, at least 2.

    Returns
    -------
    range : Significance
        Of kind ``"tukey"``: whether any two models differ.
    pairs : ndarray of float, shape (k, k)
        p-values of all pairs, adjusted for their number; 1 on the diagonal. The smallest is that of the range.

    Raises
    ------
    InputError
        If the shapes do not fit, a number is not finite, a variance is negative, or ``n`` is below 2.

    Notes
    -----
    One :math:`S_k` serves all pairs, which supposes similar variances; where they differ much, `holm` over pairwise
    tests is safer. If all variances are 0 the differences are known: p-values are 0, or 1 for equal estimates. p-values
    below 1e-11 are within the error of the numerical integral.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, section 3.2.3. Printed there: range times :math:`S_k`, the
    chi-squared density, and :math:`\nu = (n - 1) k`, which gives no test.

    Examples
    --------
    >>> overall, pairs = tukey_test([0.1, 0.2], [[0, 0.0016], [0.0016, 0]], n=50)
    >>> round(overall.statistic, 4), round(overall.pvalue, 4)  # two models: the paired t test, t = 2.5
    (3.5355, 0.0158)
    """
    from scipy.stats import studentized_range  # here, for scipy.stats doubles the time to import sondage

    values, variances = np.asarray(estimates, dtype=float), np.asarray(pair_variances, dtype=float)
    k = values.size
    require(variances.shape == (k, k), f"pair_variances of shape {variances.shape} for {k} models")
    upper = np.triu_indices(k, 1)
    require(bool(np.isfinite(variances[upper]).all()), "all numbers must be finite")
    require(bool(np.all(variances[upper] >= 0)), f"pair variance {np.min(variances[upper], initial=0)} is negative")
    require(np.allclose(variances[upper], variances.T[upper], atol=0), "pair_variances must be symmetric")
    mean = float(variances[upper].mean()) if k > 1 else 0.0
    overall = range_test(values, mean, n)
    gaps = np.abs(np.subtract.outer(values, values))[upper]
    statistics = np.array([ratio_to_error(gap, math.sqrt(mean / 2)) for gap in gaps])
    pairs = np.ones((k, k))
    pairs[upper] = np.clip(studentized_range.sf(statistics, k, overall.df), 0.0, 1.0)
    pairs.T[upper] = pairs[upper]
    return overall, pairs


def range_test(estimates: ArrayLike, mean_variance: float, n: int) -> Significance:
    """Test the range of k paired estimates: what `tukey_test` returns first, without its pairs.

    Parameters
    ----------
    estimates : array_like of float, shape (k,)
        Estimates of k >= 2 models on the same items.
    mean_variance : float
        Mean over all pairs of the squared standard error of their difference.
    n : int
        Number of labelled items, at least 2.

    Returns
    -------
    Significance
        Of kind ``"tukey"``.

    Raises
    ------
    InputError
        If there are fewer than 2 models or items, a number is not finite, or the variance is negative.

    Examples
    --------
    >>> round(range_test([0.1, 0.2], 0.0016, n=50).pvalue, 4)
    0.0158
    """
    from scipy.stats import studentized_range  # here, for scipy.stats doubles the time to import sondage

    values = np.asarray(estimates, dtype=float)
    require(values.ndim == 1 and values.size >= 2, f"estimates of shape {values.shape}; at least 2 models are needed")
    require(n >= 2, f"n {n} is below 2")
    require(bool(np.isfinite(values).all() and math.isfinite(mean_variance)), "all numbers must be finite")
    require(mean_variance >= 0, f"variance {mean_variance} is negative")
    df = (n - 1) * (values.size - 1)
    statistic = ratio_to_error(float(np.ptp(values)), math.sqrt(mean_variance / 2))
    pvalue = float(np.clip(studentized_range.sf(statistic, values.size, df), 0.0, 1.0))
    return Significance(statistic, pvalue, "two-sided", "tukey", float(df))
