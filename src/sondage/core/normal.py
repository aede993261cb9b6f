"""What several parts take from the normal distribution."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from sondage.core.predictions import Floats

__all__ = ["FAR", "density", "deviations_away", "folded_mean"]

FAR = 40.0
"""Standard deviations from the mean beyond which a normal has no mass."""


def density(z: Floats) -> Floats:
    """Return the standard normal density."""
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))


def deviations_away(size: Floats, deviation: Floats | float) -> Floats:
    """Return how many standard deviations sizes of 0 or more are, at most `FAR`; of none they are as many.

    Examples
    --------
    >>> deviations_away(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.5, 0.0])).tolist()
    [0.0, 2.0, 40.0]
    """
    return np.asarray(size / np.maximum(np.maximum(deviation, size / FAR), 1e-300))


def folded_mean(size: Floats, deviation: Floats | float) -> Floats:
    r"""Return the mean of the absolute value of a normal variable whose mean is this far from 0, shape (n,).

    With d the mean, s the standard deviation and z = d / s it is
    :math:`d + 2 s (\varphi(z) - z (1 - \Phi(z))) = s \sqrt{2 / \pi} \, e^{-z^2 / 2} + d (1 - 2 \Phi(-z))`.

    Parameters
    ----------
    size : ndarray of float, shape (n,)
        Absolute values of the means.
    deviation : ndarray of float, shape (n,), or float
        Standard deviations, 0 or more.

    Examples
    --------
    >>> folded_mean(np.array([0.0, 3.0, 2.0]), np.array([1.0, 1.0, 0.0])).round(4).tolist()
    [0.7979, 3.0008, 2.0]
    """
    z = deviations_away(size, deviation)
    return np.asarray(size + 2.0 * deviation * (density(z) - z * ndtr(-z)))
