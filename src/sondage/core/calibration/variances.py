"""Calibration of the variances of numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sondage.core.calibration.grid import CELL_SHIFTS, CELL_SLOPES, IDENTITY, Calibration, posterior_mean
from sondage.core.predictions import Floats

__all__ = ["another_unit", "calibrate_variances"]

FAR_OFF, LARGEST_OFF = 5.0, 400.0
"""Log factors: variances that are off by more than the first, 150 times, are of another unit, which is taken off."""
LARGEST_LOG = 500.0
"""Of a variance's reciprocal: what is beyond is as good as impossible, and would leave the range of numbers."""
LEAST_SQUARE = 0.01
"""Of the mean square: how much less a residual is moves no measure, and a normal density would reward it for ever."""


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
