"""Confidence sequences from estimates and their standard errors, for measures of any form."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sondage.core.checks import SIGNS, require, require_alternative, require_level
from sondage.core.intervals.ends import UNBOUNDED, checked
from sondage.core.predictions import Floats
from sondage.core.sequences.confidence import ConfidenceSequence

__all__ = ["asymptotic_critical", "asymptotic_log_evalues", "asymptotic_sequence"]

USUAL_LEVEL = 0.95
"""Stands in for a level where evidence has none, to check the other arguments."""


def asymptotic_critical(n: ArrayLike, level: float = 0.95, *, tightest: float, pool_size: float = math.inf) -> Floats:
    r"""Return the normal quantiles of intervals that hold at all numbers of labels at once.

    With information :math:`\iota = n / (1 - n/N)`, on which the estimate's error runs like Brownian motion,

    .. math:: c_n = \sqrt{\Bigl(1 + \frac1x\Bigr) \Bigl(\ln(1 + x) + 2 \ln \frac1\alpha\Bigr)},
       \qquad x = \frac{\iota(n)}{\iota(n^*)} x^*, \quad x^* = -W_{-1}(-\alpha^2 / e) - 1,

    where :math:`W_{-1}` is the lower branch of Lambert's function: at :math:`n^*` labels no :math:`x` gives less.

    Parameters
    ----------
    n : array_like of float, shape (T,)
        Numbers of labels, above 0, ascending; not each number need be there.
    level : float
        Confidence level, in (0, 1), for all numbers of labels at once.
    tightest : float
        Number of labels :math:`n^*`, fixed beforehand, at which the sequence is to be narrowest for its level.
    pool_size : float
        Number of items :math:`N`, for draws without replacement.

    Returns
    -------
    ndarray of float, shape (T,)
        Infinite where all items are labelled.

    Raises
    ------
    InputError
        If ``n`` is not ascending in (0, ``pool_size``], or ``tightest`` is outside (0, ``pool_size``).

    References
    ----------
    I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas, Time-uniform central limit theory and asymptotic
    confidence sequences, Annals of Statistics, 2024, 2613-2640.

    Examples
    --------
    >>> asymptotic_critical([30, 200, 1000], tightest=200).round(2).tolist()
    [3.51, 3.04, 3.16]
    """
    x, doubled = _relative_information(n, level, tightest, pool_size)
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt((1.0 + 1.0 / x) * (np.log1p(x) + doubled)))


def asymptotic_sequence(
    values: ArrayLike,
    std_errors: ArrayLike,
    n: ArrayLike,
    level: float = 0.95,
    *,
    tightest: float,
    pool_size: float = math.inf,
    bounds: tuple[float, float] = UNBOUNDED,
) -> ConfidenceSequence:
    r"""Return the normal-mixture confidence sequence around running estimates, :math:`\hat\theta \pm c_n \mathrm{se}`.

    The critical values are those of `asymptotic_critical`.

    Parameters
    ----------
    values, std_errors : array_like of float, shape (T,)
        Running estimates and their standard errors. A NaN in either, or an infinite standard error, gives ``bounds``.
    n, level, tightest, pool_size
        As for `asymptotic_critical`.
    bounds : tuple of float
        Range of possible values.

    Returns
    -------
    ConfidenceSequence
        Of kind ``"asymptotic"``. Intervals are not intersected, for they could become empty.

    Raises
    ------
    InputError
        If shapes differ, a standard error is negative, or as for `asymptotic_critical`.

    Notes
    -----
    The level is reached in the limit of a late first look: begin at some 30 labels or more, where the estimate is
    nearly normal and its standard error reliable. Where all labels agree the standard error says nothing. Exact
    validity for means and ratios of means: `betting_sequence`.

    Examples
    --------
    >>> sequence = asymptotic_sequence([0.3, 0.3], [0.05, 0.02], [100, 625], tightest=100)
    >>> sequence.low.round(3).tolist(), sequence.high.round(3).tolist()
    ([0.148, 0.236], [0.452, 0.364])
    """
    value, error = _checked(values, std_errors, n)
    critical = asymptotic_critical(n, level, tightest=tightest, pool_size=pool_size)
    least, most = checked(bounds)
    with np.errstate(invalid="ignore"):
        half = np.where(error > 0, error * critical, 0.0)
    unknown = np.isnan(value) | ~np.isfinite(error)
    low, high = np.where(unknown, -np.inf, value - half), np.where(unknown, np.inf, value + half)
    return ConfidenceSequence(np.clip(low, least, most), np.clip(high, least, most), level, "asymptotic")


def asymptotic_log_evalues(
    values: ArrayLike,
    std_errors: ArrayLike,
    n: ArrayLike,
    null: float,
    alternative: str = "two-sided",
    *,
    tightest: float,
    pool_size: float = math.inf,
) -> Floats:
    r"""Return the logarithms of the normal-mixture evidence against one value.

    With :math:`z = (\hat\theta - \theta_0) / \mathrm{se}` and x as in `asymptotic_critical`, for 95 %,

    .. math:: \ln e = \frac{z^2}{2 (1 + 1/x)} - \frac12 \ln(1 + x):

    the values with :math:`e < 1/\alpha` are its intervals. One-sided, an estimate on the side of the null hypothesis
    is no evidence: :math:`z = 0`.

    Parameters
    ----------
    values, std_errors, n
        As for `asymptotic_sequence`; where it gives all possible values, here is no evidence.
    null : float
        The value :math:`\theta_0`.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"`` is evidence against values up to ``null``.
    tightest, pool_size
        As for `asymptotic_sequence`.

    Returns
    -------
    ndarray of float, shape (T,)
        Reach :math:`\ln(1/\alpha)` at any time with probability at most about :math:`\alpha` if the null hypothesis is
        true; infinite where an exact value differs from ``null``.

    Raises
    ------
    InputError
        As for `asymptotic_sequence`, or if ``alternative`` is unknown.

    Examples
    --------
    >>> asymptotic_log_evalues([0.3, 0.3], [0.1, 0.05], [100, 400], 0.1, tightest=100).round(2).tolist()
    [0.67, 6.0]
    """
    require_alternative(alternative)
    value, error = _checked(values, std_errors, n)
    x, _ = _relative_information(n, USUAL_LEVEL, tightest, pool_size)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(value == null, 0.0, (value - null) / error)
        z = np.where(np.isnan(z) | (SIGNS[alternative] * z < 0), 0.0, z)
        return np.asarray(np.where(np.isinf(z), np.inf, z**2 / (2.0 * (1.0 + 1.0 / x)) - 0.5 * np.log1p(x)))


def _checked(values: ArrayLike, std_errors: ArrayLike, n: ArrayLike) -> tuple[Floats, Floats]:
    """Return values and standard errors, one of each for each number of labels."""
    value, error = np.asarray(values, dtype=float), np.asarray(std_errors, dtype=float)
    require(value.ndim == 1, f"values of shape {value.shape}; one row is needed")
    for name, shape in (("std_errors", error.shape), ("n", np.shape(n))):
        require(shape == value.shape, f"{name} of shape {shape} for values of shape {value.shape}")
    require(not np.any(error < 0), "a standard error is negative")
    return value, error


def _relative_information(n: ArrayLike, level: float, tightest: float, pool_size: float) -> tuple[Floats, float]:
    """Return x, and twice the logarithm of one over the error."""
    count = np.asarray(n, dtype=float)
    require_level("level", level)
    ascending = bool(np.all(np.diff(count) > 0)) and bool(np.all((count > 0) & (count <= pool_size)))
    require(ascending, f"n must be ascending, above 0 and at most {pool_size}")
    require(0 < tightest < pool_size, f"tightest {tightest} is outside (0, {pool_size})")
    doubled = -2.0 * math.log1p(-level)
    optimum = -float(special.lambertw(-math.exp(-1.0 - doubled), -1).real) - 1.0
    with np.errstate(divide="ignore"):
        x = optimum * (count / (1.0 - count / pool_size)) / (tightest / (1.0 - tightest / pool_size))
    return x, doubled
