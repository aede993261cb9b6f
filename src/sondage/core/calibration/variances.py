"""Calibration of the variances of numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sondage.core.calibration.grid import CELL_SHIFTS, CELL_SLOPES, IDENTITY, Calibration, posterior_mean
from sondage.core.predictions import Floats

__all__ = ["another_unit", "calibrate_variances", "variance_power"]

FAR_OFF, LARGEST_OFF = 5.0, 400.0
"""Log factors: variances that are off by more than the first, 150 times, are of another unit, which is taken off."""
LARGEST_LOG = 500.0
"""Of a variance's reciprocal: what is beyond is as good as impossible, and would leave the range of numbers."""
LEAST_SQUARE = 0.01
"""Of the mean square: how much less a residual is moves no measure, and a normal density would reward it for ever."""

POWERS = np.linspace(-2.0, 3.0, 51)
"""The grid of powers of a predicted number that variances may follow."""
POWER_PRIOR = ((0.5, 0.2), (0.5, 1.4))
"""(share, standard deviation of the power): variances are all but equal, or may grow or fall."""
FREEDOM = 4.0
"""Degrees of freedom of Student's t: a few large residuals are not to bend the variances."""
LAST_BITS = 1e-12
"""Of the mean square: smaller squares are those of numbers that are exactly right."""
STEPS = 30
"""Of the EM algorithm for its scale: enough for eleven digits where residuals have that distribution."""


def calibrate_variances(variances: Floats, squares: Floats) -> Calibration:
    """Return the posterior mean calibration of Gaussian residuals with these believed variances.

    Each square counts as at least a hundredth of their mean: numbers that are exactly right tell nothing of the others.

    Parameters
    ----------
    variances : ndarray of float, shape (n,)
        Believed variances, positive.
    squares : ndarray of float, shape (n,)
        Squared residuals.

    Examples
    --------
    >>> round(calibrate_variances(np.ones(200), np.full(200, 4.0)).shift, 1)
    1.4
    """
    if not len(variances):
        return IDENTITY
    centre = float(np.mean(np.log(variances)))  # slopes turn about it, so that units of measurement do not matter
    beyond = another_unit(variances, squares)
    squares = np.maximum(squares, LEAST_SQUARE * float(np.mean(squares)))
    logs = centre + beyond + CELL_SHIFTS[:, None] + CELL_SLOPES[:, None] * (np.log(variances) - centre)
    found = posterior_mean(-0.5 * np.sum(logs + squares * np.exp(np.minimum(-logs, LARGEST_LOG)), axis=1))
    return replace(found, shift=found.shift + beyond + (1.0 - found.slope) * centre)


def another_unit(variances: Floats, squares: Floats) -> float:
    """Return how far variances are off beyond what models get wrong: their log factor, 0 where it is within 150.

    Examples
    --------
    >>> another_unit(np.ones(3), np.full(3, 100.0)), another_unit(np.ones(3), np.full(3, np.exp(8.0)))
    (0.0, 3.0)
    """
    if not np.any(squares) or not np.any(variances):
        return 0.0
    off = round(float(np.log(np.mean(squares)) - np.log(np.mean(variances))), 9)
    off = float(np.clip(off, -LARGEST_OFF, LARGEST_OFF))
    return off - float(np.clip(off, -FAR_OFF, FAR_OFF))


def variance_power(heights: Floats, squares: Floats) -> float:
    r"""Return the posterior mean of k, of residuals whose variances are in proportion to :math:`h^k`.

    .. math:: p(r \mid k, c) \propto \prod_i v_i^{-1/2} (1 + r_i^2 / (4 v_i))^{-5/2}, \qquad v_i = c \, h_i^k

    at the most likely c of each k (variances that are a power of the mean: Carroll and Ruppert, Transformation and
    Weighting in Regression, 1988, chapter 2).

    Parameters
    ----------
    heights : ndarray of float, shape (n,)
        What variances may follow, h, positive.
    squares : ndarray of float, shape (n,)
        Squared residuals.

    Examples
    --------
    >>> h = np.exp(np.linspace(-2.0, 2.0, 200))
    >>> round(variance_power(h, h**2), 1), round(variance_power(h, 1 / h), 1)
    (2.0, -1.0)
    """
    if not np.any(squares):
        return 0.0
    logs, squares = np.log(heights), np.maximum(squares, LAST_BITS * float(np.mean(squares)))
    scaled = squares * np.exp(-POWERS[:, None] * (logs - np.mean(logs)))
    factor = np.mean(scaled, axis=1, keepdims=True)
    for _ in range(STEPS):
        factor = np.mean((FREEDOM + 1.0) * scaled / (FREEDOM + scaled / factor), axis=1, keepdims=True)
    tails = (FREEDOM + 1.0) * np.sum(np.log1p(scaled / (FREEDOM * factor)), axis=1)
    log_likelihood = -0.5 * (len(squares) * np.log(factor[:, 0]) + tails)
    priors = [np.log(share / scale) - 0.5 * (POWERS / scale) ** 2 for share, scale in POWER_PRIOR]
    log_posterior = np.logaddexp.reduce(priors, axis=0) + log_likelihood
    return float(np.exp(log_posterior - np.logaddexp.reduce(log_posterior)) @ POWERS)
