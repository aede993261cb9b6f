r"""Recalibration of a belief on the labels so far: two numbers, found by their posterior mean.

A probability p of an event becomes :math:`\mathrm{logit}^{-1}(a + b \, \mathrm{logit}\, p)`, a predictive variance
:math:`v` becomes :math:`e^a v^b`. The prior trusts the model (a near 0, b near 1), doubts it, or mistrusts it, in
shares 65, 25 and 10 %. The posterior *mean of (a, ln b)* is taken, not the mean probability: averaging probabilities
would be ruled by the heaviest tail that the labels do not exclude, and spend the labels there. What labels do not
exclude matters for how far off an estimate may be; for that there are points of the posterior. They have a third
number: the share :math:`\lambda` of events that were told nothing, and happen by chance however sure the model is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from sondage.core.predictions import Floats

__all__ = [
    "IDENTITY",
    "Calibration",
    "another_unit",
    "calibrate_events",
    "calibrate_variances",
    "plausible_events",
]

SHIFTS = 9.0 * np.sinh(np.linspace(-3.0, 3.0, 41)) / np.sinh(3.0)
SLOPES = np.exp(np.linspace(-2.5, 2.0, 46))
PRIOR = ((0.65, 0.35, 0.12, 0.8), (0.25, 1.0, 0.5, 0.65), (0.10, 4.0, 1.0, 0.5))
"""(share, standard deviation of a, standard deviation of ln b, probability that there are no lapses)."""
LAPSES = (0.3, 1.0, 3.0, 10.0)
"""How many surprises come from lapses, one number as likely as another, for each that the calibrated model expects."""
FAR_OFF, LARGEST_OFF = 5.0, 60.0
"""Log factors: variances that are off by more than the first, 150 times, are of another unit, which is taken off."""
MOST_LAPSES = 0.5
"""The largest share of lapses."""


@dataclass(frozen=True)
class Calibration:
    """The shift a, the slope b, the log probability of the data with both integrated out, and the share of lapses."""

    shift: float = 0.0
    slope: float = 1.0
    log_evidence: float = 0.0
    lapse: float = 0.0


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


def plausible_events(
    logits: Floats, events: NDArray[np.bool_], weights: Floats, count: int, *, chance: float = 0.5
) -> tuple[Calibration, ...]:
    r"""Return calibrations that such events leave possible, each as likely as another.

    An event of calibrated probability q happens with :math:`(1 - \lambda) q + \lambda c`. The points are quantiles
    of the posterior in the order of lapses, slope and shift, at the middles of `count` equal shares; without events
    nothing is known to be moved, and only the identity is returned.

    Parameters
    ----------
    logits, events
        As for `calibrate_events`.
    weights : ndarray of float, shape (n,)
        How many events each stands for, on any scale: lapses are measured by the doubt that the pool's events leave.
    count : int
        How many points, at least 1.
    chance : float
        The probability c of an event that was told nothing, in (0, 1).

    Returns
    -------
    tuple of Calibration, of length `count` or 1
        Without log evidence, which is that of `calibrate_events`.

    Examples
    --------
    >>> sure = np.full(50, 9.0)
    >>> [round(point.lapse, 4) for point in plausible_events(sure, np.ones(50, dtype=bool), np.ones(50), 4)]
    [0.0, 0.0, 0.0, 0.0005]
    """
    if not len(logits):
        return (IDENTITY,)
    likelihood = _likelihood(logits, events)
    mean = _mean(likelihood)
    surprise = expit(-np.abs(mean.shift + mean.slope * logits))
    doubt = float(np.sum(weights * surprise) / np.sum(weights)) / (1.0 - chance)
    lapses = np.minimum(np.multiply(LAPSES, doubt), MOST_LAPSES)
    log_likelihood = np.stack([likelihood, *_likelihoods(logits, events, lapses, chance)])
    log_posterior = (_LOG_PRIORS + log_likelihood)[:, _IN_ORDER].ravel()
    posterior = np.exp(log_posterior - logsumexp(log_posterior))
    places = np.searchsorted(np.cumsum(posterior), (np.arange(count) + 0.5) / count)
    which, cells = np.divmod(np.minimum(places, len(posterior) - 1), len(_IN_ORDER))
    return tuple(
        Calibration(float(_SHIFT[cell]), float(_SLOPE[cell]), lapse=float(lapse))
        for cell, lapse in zip(_IN_ORDER[cells], np.append(0.0, lapses)[which], strict=True)
    )


def _likelihood(logits: Floats, events: NDArray[np.bool_]) -> Floats:
    """Return the log likelihood of every calibration of the grid, shape (cells,)."""
    moved, hits, misses = _counted(logits, events)
    return np.asarray(log_expit(moved) @ (hits + misses) - moved @ misses)


def _likelihoods(logits: Floats, events: NDArray[np.bool_], lapses: Floats, chance: float) -> list[Floats]:
    """Return the same with each positive share of lapses."""
    moved, hits, misses = _counted(logits, events)
    hit, missed = hits > 0, misses > 0
    yes, no = expit(moved[:, hit]), expit(-moved[:, missed])
    return [
        np.log((1.0 - lapse) * yes + lapse * chance) @ hits[hit]
        + np.log((1.0 - lapse) * no + lapse * (1.0 - chance)) @ misses[missed]
        for lapse in lapses
    ]


def _counted(logits: Floats, events: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Return log odds, rounded to a tenth, under every calibration (cells, U), and how often events happened or not."""
    values, inverse = np.unique(np.round(logits, 1), return_inverse=True)
    hits = np.bincount(inverse, weights=events).astype(np.float64)
    return _SHIFT[:, None] + _SLOPE[:, None] * values, hits, np.bincount(inverse) - hits


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
    beyond = another_unit(variances, squares)
    logs = centre + beyond + _SHIFT[:, None] + _SLOPE[:, None] * (np.log(variances) - centre)
    found = _mean(-0.5 * np.sum(logs + squares * np.exp(-logs), axis=1))
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


def _mean(log_likelihood: Floats) -> Calibration:
    weights, evidence = _posterior(log_likelihood)
    return Calibration(float(weights @ _SHIFT), float(np.exp(weights @ np.log(_SLOPE))), evidence)


def _posterior(log_likelihood: Floats) -> tuple[Floats, float]:
    """Return the probability of every calibration of the grid, and the log evidence."""
    evidence = float(logsumexp(_LOG_PRIOR + log_likelihood))
    return np.exp(_LOG_PRIOR + log_likelihood - evidence), evidence


def _log_priors() -> Floats:
    """Return the log prior of every calibration of the grid (cells,) without lapses and with each share of them."""
    parts = [
        np.log(share) - 0.5 * (_SHIFT / of_shift) ** 2 - 0.5 * (np.log(_SLOPE) / of_slope) ** 2
        - np.log(of_shift * of_slope * _SLOPE)
        for share, of_shift, of_slope, _ in PRIOR
    ]  # fmt: skip
    cells = np.log(np.outer(np.gradient(SHIFTS), np.gradient(SLOPES)).ravel())
    none = np.array([none for *_, none in PRIOR])[:, None]
    rows = [logsumexp(parts, axis=0, b=none)] + [logsumexp(parts, axis=0, b=(1.0 - none) / len(LAPSES))] * len(LAPSES)
    found = np.stack(rows) + cells
    return np.asarray(found - logsumexp(found))


_SHIFT, _SLOPE = (grid.ravel() for grid in np.meshgrid(SHIFTS, SLOPES, indexing="ij"))
_LOG_PRIORS = _log_priors()
_LOG_PRIOR = np.asarray(logsumexp(_LOG_PRIORS, axis=0))
_IN_ORDER = np.lexsort((_SHIFT, _SLOPE))
