"""Variance and degrees of freedom of an estimate, from the residuals that it leaves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from sondage.core.comparisons import Contrast
from sondage.core.predictions import Floats
from sondage.core.samples import Sample

__all__ = [
    "LEAST_DF",
    "bessel_factor",
    "degrees",
    "joint_degrees",
    "larger_variance",
    "of_population",
    "paired_degrees",
    "pool_roots",
    "skewed_degrees",
    "variance",
]

LEAST_DF = 4.6
"""Of a sampled variance, however few labels show it."""
MOST_DF = 1e6
"""Of a believed variance, where Student's t is the normal distribution."""


def variance(sample: Sample, residuals: Floats, *, bessel: bool = True) -> float:
    r"""Return :math:`\frac{n}{n-1} \sum_u k_u e_u^2` over the n units that were not certain, or by strata."""
    spread, strata = sample.expansion.spread, sample.expansion.strata
    if strata is not None:
        return _stratified_variance(residuals, spread, strata)
    return (bessel_factor(sample) if bessel else 1.0) * float(np.sum(spread * residuals**2))


def bessel_factor(sample: Sample) -> float:
    """Return n / (n - 1) for the n units that were not certain; 1 for fewer than two."""
    uncertain = int(np.count_nonzero(sample.expansion.spread))
    return uncertain / (uncertain - 1) if uncertain > 1 else 1.0


def _stratified_variance(residuals: Floats, spread: Floats, strata: NDArray[np.int64]) -> float:
    """Return the sum over strata of n_h / (n_h - 1) times the centred squares; a lone unit is not centred."""
    counts = np.bincount(strata)
    means = np.bincount(strata, weights=residuals) / np.maximum(counts, 1)
    lone = counts[strata] < 2
    centred = np.where(lone, residuals, residuals - means[strata])
    factor = np.where(lone, 1.0, counts[strata] / np.maximum(counts[strata] - 1, 1))
    return float(np.sum(factor * spread * centred**2))


def degrees(contrast: Contrast, sample: Sample, residuals: Floats) -> float:
    """Return Satterthwaite degrees of freedom: `paired_degrees` of a difference, else `skewed_degrees`."""
    parts = sample.expansion.spread * residuals**2
    if contrast.compares:
        return float(paired_degrees(parts[sample.expansion.spread > 0]))
    return float(skewed_degrees(parts))


def skewed_degrees(parts: Floats) -> Floats:
    r"""Return Satterthwaite degrees of freedom where residuals are skewed, 1 at least: value and variance err together.

    For shares :math:`v_u` of the variance it is :math:`1 / \sum_u v_u^2 - 1`, less than half of `paired_degrees`.

    Parameters
    ----------
    parts : ndarray of float, shape (..., n)
        Each unit's part of the variance, 0 or more; without any the degrees of freedom are n - 1.

    Examples
    --------
    >>> float(skewed_degrees(np.ones(10))), round(float(skewed_degrees(np.array([4.0, 2.0, 1.0]))), 2)
    (9.0, 1.33)
    """
    parts = _in_range(parts)
    square = np.sum(parts**2, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(square > 0, np.sum(parts, axis=-1) ** 2 / square, parts.shape[-1])
    return np.asarray(np.maximum(found - 1.0, 1.0))


def paired_degrees(parts: Floats) -> Floats:
    r"""Return Satterthwaite degrees of freedom of the variance of a difference, 1 at least.

    The variance is a sum of n parts, its own variance :math:`\sum_u (V_u - \bar V)^2`, so that (Satterthwaite 1946)

    .. math:: \nu = 2 \Bigl(\sum_u V_u\Bigr)^2 \Big/ \sum_u (V_u - \bar V)^2 ,

    at most n - 1: the number of labels where residuals are normal, fewer where few carry the variance.

    Parameters
    ----------
    parts : ndarray of float, shape (..., n)
        Each unit's part of the variance, 0 or more.

    Returns
    -------
    ndarray of float, shape (...)

    References
    ----------
    F. E. Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin, 1946,
    110-114.

    Examples
    --------
    >>> equal, few = np.ones(10), np.array([100.0] + [1.0] * 9)
    >>> float(paired_degrees(equal)), round(float(paired_degrees(few)), 2)
    (9.0, 2.69)
    """
    parts = _in_range(parts)
    count, total = parts.shape[-1], np.sum(parts, axis=-1)
    noise = np.sum(parts**2, axis=-1) - total**2 / max(count, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(noise > 1e-12 * total**2, 2.0 * total**2 / noise, np.inf)
    return np.asarray(np.clip(found, 1.0, max(count - 1.0, 1.0)))


def _in_range(parts: Floats) -> Floats:
    """Return parts of variances, of the last axis, over a power of two near the largest: their squares are numbers."""
    largest = np.max(parts, axis=-1, keepdims=True, initial=0.0)
    return np.asarray(np.ldexp(parts, -np.frexp(largest)[1]))


def joint_degrees(variances: Sequence[float] | Floats, df: Sequence[float] | Floats) -> float:
    r"""Return Satterthwaite degrees of freedom of a sum of independent variances.

    .. math:: \nu = \Bigl(\sum_h V_h\Bigr)^2 \Big/ \sum_h V_h^2 / \nu_h ,

    and the sum of the :math:`\nu_h` where all variances are 0. Beside an infinite one the others are nothing.

    Parameters
    ----------
    variances, df : array-like of float, shape (H,)
        Variances, 0 or more, and their degrees of freedom, above 0.

    Examples
    --------
    >>> joint_degrees([1.0, 1.0], [10.0, 10.0]), joint_degrees([0.0, 2.0], [1.0, 30.0])
    (20.0, 30.0)
    >>> joint_degrees([np.inf, 1.0], [5.0, 10.0])
    5.0
    """
    squares, numbers = np.asarray(variances, dtype=np.float64), np.asarray(df, dtype=np.float64)
    if not squares.any():
        return float(numbers.sum())
    unknown = np.isinf(squares)
    squares = unknown.astype(np.float64) if unknown.any() else _in_range(squares)
    return float(squares.sum()) ** 2 / float(np.sum(squares**2 / numbers))


def pool_roots(influences: Floats, sample: Sample, share: float | None = None) -> Floats:
    r"""Return rows whose inner products are the covariances of influences over the pool, as labelled rows show them.

    Rows that share a label are one unit: a population is sampled by units, so that the rows of one add up.

    Over the pool an influence has the mean 0. With the mean :math:`\bar\psi` over the share :math:`\alpha` of the pool
    that could be drawn it is :math:`-\bar\psi \alpha / (1 - \alpha)` over the rest, which is taken to be alike.

    Parameters
    ----------
    influences : ndarray of float, shape (k, n)
        Of the labelled rows on k values.
    sample : Sample
        The labelled rows; their weights say how much of the pool each stands for.
    share : float, optional
        Part of the pool that could be drawn, in (0, 1]; by default the sum of the weights.

    Returns
    -------
    ndarray of float, shape (k, U + 1)
    """
    weights = sample.row_weights
    total = float(np.sum(weights))
    share = min(total if share is None else share, 1.0)
    centre = influences @ weights / total
    inside = sample.unit_sums((influences - centre[:, None]) * np.sqrt(weights * (share / total)))
    outside = np.sqrt(share / (1.0 - share)) if share < 1.0 - 1e-9 else 0.0
    return np.column_stack([inside, outside * np.sqrt(sample.together) * centre])


def of_population(variance: float, df: float, drawn: float, labels: float) -> tuple[float, float]:
    """Return variance and degrees of freedom of an estimate of what the pool was drawn from.

    Parameters
    ----------
    variance, df : float
        Of the estimate of the pool's value.
    drawn : float
        Variance of the pool's value about the population's, as labels show it.
    labels : float
        Effective number of these labels.

    Examples
    --------
    >>> of_population(0.0, 1.0, 0.25, 17.0)
    (0.25, 16.0)
    """
    return variance + drawn, joint_degrees([variance, drawn], [df, max(labels - 1.0, 1.0)])


def larger_variance(sampled: Floats | float, df: Floats | float, believed: Floats | float) -> tuple[Floats, Floats]:
    """Return the variance to rely on and its degrees of freedom.

    Parameters
    ----------
    sampled : float or ndarray of float
        Variance estimated from the labels' spread.
    df : float or ndarray of float
        Its degrees of freedom as the labels show them.
    believed : float or ndarray of float
        What the calibrated belief expects.

    Returns
    -------
    variance, df : ndarray of float
        The sampled one where its interval at 95 % is the longer; else the believed one, as if it were known.

    Examples
    --------
    >>> [float(found) for found in larger_variance(0.0, 99.0, 0.04)]
    [0.04, 1000000.0]
    >>> [float(found) for found in larger_variance(0.05, 1.0, 0.04)]
    [0.05, 4.6]
    """
    df = np.maximum(df, LEAST_DF)
    relied = sampled * stdtrit(df, 0.975) ** 2 >= believed * stdtrit(MOST_DF, 0.975) ** 2
    return np.where(relied, sampled, believed), np.where(relied, df, MOST_DF)
