"""The percentile interval of resampled labels."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sondage.core.checks import require, require_weights
from sondage.core.intervals.ends import UNBOUNDED, checked, clipped, tail_level
from sondage.core.resampling import resampled_means
from sondage.core.results import Interval

__all__ = ["bootstrap_interval", "percentile_interval"]


def bootstrap_interval(
    statistics: NDArray[np.float64],
    weights: ArrayLike,
    function: Callable[[NDArray[np.float64]], float],
    level: float = 0.95,
    *,
    generator: np.random.Generator,
    resamples: int = 2000,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Interval:
    r"""Return the percentile bootstrap interval of a function of weighted means.

    Units are drawn with replacement together with their weights; with :math:`c_i` the number of times that unit
    :math:`i` was drawn, one resample's value is :math:`g(\sum_i c_i w_i s_i / \sum_i c_i w_i)`.

    Parameters
    ----------
    statistics : ndarray of float, shape (n, d)
        What the labelled units contribute, :math:`s_i`.
    weights : array_like of float, shape (n,)
        Their weights, above 0, on any scale.
    function : callable
        :math:`g`, from an array of shape (d,) to a number.
    level : float
        Confidence level, in (0, 1).
    generator : numpy.random.Generator
        Source of the resamples.
    resamples : int
        Their number, at least 2 / (1 - level) - 1.
    bounds : tuple of float
        Range of possible values.

    Returns
    -------
    Interval
        Of kind ``"bootstrap"``.

    Raises
    ------
    InputError
        If the shapes do not fit, a number is not finite, a weight is not above 0, or as for `percentile_interval`.

    Notes
    -----
    A resample where ``function`` is NaN (no positive item in it, say) counts as below all others for the low end and
    above all others for the high end: the interval gets wider, up to ``bounds``, never too narrow. Units must
    have been drawn independently; after a draw without replacement from a small pool the interval is too wide.
    If all units are equal it is a single point.

    References
    ----------
    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.

    Examples
    --------
    >>> import numpy as np
    >>> losses = np.array([[0.0], [1.0], [0.0], [0.0], [1.0], [0.0]])
    >>> ends = bootstrap_interval(losses, np.ones(6), lambda mean: mean[0], generator=np.random.default_rng(0))
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.0, 0.6667)
    """
    _rank(resamples, level)  # refused before anything is drawn
    checked(bounds)
    means = resampled_means(*_units(statistics, weights), generator, resamples)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.array([float(function(mean)) for mean in means])
    return percentile_interval(values, level, bounds)


def percentile_interval(values: NDArray[np.float64], level: float, bounds: tuple[float, float] = UNBOUNDED) -> Interval:
    r"""Return the interval between two of the values of B resamples, the :math:`k`-th smallest and the k-th largest.

    It has :math:`k = \lfloor (B + 1) (1 - \text{level}) / 2 \rfloor`. NaN counts as below all others for the low end
    and above all others for the high end.

    Parameters
    ----------
    values : ndarray of float, shape (B,)
        Of the resamples.
    level : float
        Confidence level, in (0, 1).
    bounds : tuple of float
        Range of possible values.

    Returns
    -------
    Interval
        Of kind ``"bootstrap"``.

    Raises
    ------
    InputError
        If the level is not in (0, 1), there are fewer than 2 / (1 - level) - 1 resamples, or bounds are out of order.

    References
    ----------
    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.

    Examples
    --------
    >>> percentile_interval(np.arange(1.0, 100.0), 0.9)
    Interval(low=5.0, high=95.0, level=0.9, kind='bootstrap')
    """
    rank = _rank(len(values), level)
    low = np.sort(np.where(np.isnan(values), -np.inf, values))[rank - 1]
    high = np.sort(np.where(np.isnan(values), np.inf, values))[-rank]
    return clipped(float(low), float(high), level, "bootstrap", bounds)


def _rank(resamples: int, level: float) -> int:
    """Return the place of the ends among the sorted resamples, from 1, or refuse a level that so few cannot tell."""
    tail = tail_level(level)
    rank, least = math.floor((resamples + 1) * tail + 1e-9), math.ceil(1 / tail - 1e-6) - 1
    require(rank >= 1, f"resamples {resamples} are too few for level {level}; at least {least}")
    return rank


def _units(statistics: NDArray[np.float64], weights: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the units' rows and weights, checked."""
    rows, w = np.asarray(statistics, dtype=float), np.asarray(weights, dtype=float)
    require(rows.ndim == 2 and len(rows) > 0, f"statistics of shape {rows.shape}; (n, d) with n at least 1 is needed")
    require(bool(np.isfinite(rows).all()), "statistics must be finite")
    require(w.shape == rows.shape[:1], f"weights of shape {w.shape} for {len(rows)} units")
    require_weights(w)
    return rows, w
