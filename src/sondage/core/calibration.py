r"""Recalibration of a belief on the labels so far: two numbers, found by their posterior mean.

A probability p of an event becomes :math:`\mathrm{logit}^{-1}(a + b \, \mathrm{logit}\, p)`, a predictive variance
:math:`v` becomes :math:`e^a v^b`. The prior trusts the model (a near 0, b near 1), doubts it, or mistrusts it, in
shares 65, 25 and 10 %. The posterior *mean of (a, ln b)* is taken, not the mean probability: averaging probabilities
would be ruled by the heaviest tail that the labels do not exclude, and spend the labels there. What labels do not
exclude matters for how far off an estimate may be; for that there are points of the posterior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp

from sondage.core.predictions import Floats

__all__ = ["IDENTITY", "Calibration", "calibrate_events", "calibrate_variances", "plausible_events"]

SHIFTS = 9.0 * np.sinh(np.linspace(-3.0, 3.0, 41)) / np.sinh(3.0)
SLOPES = np.exp(np.linspace(-2.5, 2.0, 46))
PRIOR = ((0.65, 0.35, 0.12), (0.25, 1.0, 0.5), (0.10, 4.0, 1.0))
"""(share, standard deviation of a, standard deviation of ln b)."""


@dataclass(frozen=True)
class Calibration:
    """The shift a, the slope b, and the log probability of the data with both integrated out."""

    shift: float = 0.0
    slope: float = 1.0
    log_evidence: float = 0.0


IDENTITY = Calibration()


def calibrate_events(logits: Floats, events: NDArray[np.bool_]) -> Calibration:
    """Return the posterior mean calibration of events that had these believed log odds.

    Parameters
    ----------
    logits : ndarray of float, shape (n,)
        Believed log odds.
    events : ndarray of bool, shape (n,)
        Whether the event happened.

    Examples
    --------
    >>> calibrate_events(np.zeros(0), np.zeros(0, dtype=bool)).shift
    0.0
    >>> calibrate_events(np.full(50, -1.0), np.zeros(50, dtype=bool)).shift < -1
    True
    """
    return _mean(_likelihood(logits, events)) if len(logits) else IDENTITY


def plausible_events(logits: Floats, events: NDArray[np.bool_], count: int) -> tuple[Calibration, ...]:
    """Return calibrations that such events leave possible, each as likely as another.

    They are quantiles of the posterior in the order of slope and shift, at the middles of `count` equal shares; without
    events nothing is known to be moved, and only the identity is returned.

    Parameters
    ----------
    logits, events
        As for `calibrate_events`.
    count : int
        How many, at least 1.

    Returns
    -------
    tuple of Calibration
        Without log evidence, which is that of `calibrate_events`.

    Examples
    --------
    >>> [round(one.slope, 1) for one in plausible_events(np.linspace(-4, 4, 99), np.linspace(-4, 4, 99) > 0, 3)]
    [3.7, 5.5, 7.4]
    """
    if not len(logits):
        return (IDENTITY,)
    posterior, _ = _posterior(_likelihood(logits, events))
    places = np.searchsorted(np.cumsum(posterior[_IN_ORDER]), (np.arange(count) + 0.5) / count)
    chosen = _IN_ORDER[np.minimum(places, len(_IN_ORDER) - 1)]
    return tuple(Calibration(float(_SHIFT[at]), float(_SLOPE[at])) for at in chosen)


def _likelihood(logits: Floats, events: NDArray[np.bool_]) -> Floats:
    """Return the log likelihood of every calibration of the grid."""
    values, inverse = np.unique(np.round(logits, 1), return_inverse=True)
    hits = np.bincount(inverse, weights=events)
    misses = np.bincount(inverse) - hits
    moved = _SHIFT[:, None] + _SLOPE[:, None] * values
    return np.asarray(log_expit(moved) @ hits + log_expit(-moved) @ misses)


def calibrate_variances(variances: Floats, squares: Floats) -> Calibration:
    """Return the posterior mean calibration of Gaussian residuals with these believed variances.

    Parameters
    ----------
    variances : ndarray of float, shape (n,)
        Believed variances, positive.
    squares : ndarray of float, shape (n,)
        Squared residuals.

    Examples
    --------
    >>> calibrate_variances(np.ones(200), np.full(200, 4.0)).shift.__round__(1)
    1.4
    """
    if not len(variances):
        return IDENTITY
    centre = float(np.mean(np.log(variances)))  # slopes turn about it, so that units of measurement do not matter
    logs = centre + _SHIFT[:, None] + _SLOPE[:, None] * (np.log(variances) - centre)
    found = _mean(-0.5 * np.sum(logs + squares * np.exp(-logs), axis=1))
    return replace(found, shift=found.shift + (1.0 - found.slope) * centre)


def _mean(log_likelihood: Floats) -> Calibration:
    weights, evidence = _posterior(log_likelihood)
    return Calibration(float(weights @ _SHIFT), float(np.exp(weights @ np.log(_SLOPE))), evidence)


def _posterior(log_likelihood: Floats) -> tuple[Floats, float]:
    """Return the probability of every calibration of the grid, and the log evidence."""
    evidence = float(logsumexp(_LOG_PRIOR + log_likelihood))
    return np.exp(_LOG_PRIOR + log_likelihood - evidence), evidence


def _log_prior() -> Floats:
    parts = [
        np.log(share) - 0.5 * (_SHIFT / of_shift) ** 2 - 0.5 * (np.log(_SLOPE) / of_slope) ** 2
        - np.log(of_shift * of_slope * _SLOPE)
        for share, of_shift, of_slope in PRIOR
    ]  # fmt: skip
    cells = np.outer(np.gradient(SHIFTS), np.gradient(SLOPES)).ravel()
    log_prior = logsumexp(parts, axis=0) + np.log(cells)
    return np.asarray(log_prior - logsumexp(log_prior))


_SHIFT, _SLOPE = (grid.ravel() for grid in np.meshgrid(SHIFTS, SLOPES, indexing="ij"))
_LOG_PRIOR = _log_prior()
_IN_ORDER = np.lexsort((_SHIFT, _SLOPE))
