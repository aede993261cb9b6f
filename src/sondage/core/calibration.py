r"""Recalibration of a belief on the labels so far: two or three numbers, found by their posterior mean.

A probability p of an event becomes :math:`\mathrm{logit}^{-1}(a + b \, \mathrm{logit}\, p)`, a predictive variance
:math:`v` becomes :math:`e^a v^b`. The prior trusts the model (a near 0, b near 1), doubts it, or mistrusts it, in
shares 65, 25 and 10 %. Of two classes a model may be sure and wrong of one and right of the other: there the slope is
:math:`b e^c` for log odds of 0 and more and :math:`b e^{-c}` below, alike or independent with a probability of a half
each. The posterior *mean of (a, ln b, c)* is taken, not the mean probability: averaging probabilities would be ruled by
the heaviest tail that the labels do not exclude, and spend the labels there. What labels do not exclude matters for how
far off an estimate may be; for that there are points of the posterior of a and b. They have one more number: the share
:math:`\lambda` of events that were told nothing, and happen by chance however sure the model is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from sondage.core.predictions import Floats

__all__ = [
    "IDENTITY",
    "LAPSES",
    "LAPSES_OF_SURE",
    "Calibration",
    "Lapses",
    "another_unit",
    "bent",
    "calibrate_events",
    "calibrate_sides",
    "calibrate_variances",
    "lapse_evidence",
    "plausible_events",
]

SHIFTS = 9.0 * np.sinh(np.linspace(-3.0, 3.0, 41)) / np.sinh(3.0)
SLOPES = np.exp(np.linspace(-2.5, 2.0, 46))
PRIOR = ((0.65, 0.35, 0.12), (0.25, 1.0, 0.5), (0.10, 4.0, 1.0))
"""(share, standard deviation of a, standard deviation of ln b): the model is trusted, doubted, mistrusted."""
FAR_OFF, LARGEST_OFF = 5.0, 60.0
"""Log factors: variances that are off by more than the first, 150 times, are of another unit, which is taken off."""
LEAST_SQUARE = 0.01
"""Of the mean square: how much less a residual is moves no measure, and a normal density would reward it for ever."""
MOST_LAPSES = 0.5
"""The largest share of lapses."""
ROUNDING = 1e-9
"""A smaller shift is none, but for rounding."""

_Counted = tuple[Floats, Floats, Floats]
"""U log odds that differ under every calibration of the grid (cells, U), how often events had each, and had not."""


@dataclass(frozen=True)
class Calibration:
    """Shift a, slope b, log probability of the data with all of them integrated out, share of lapses, and bend c."""

    shift: float = 0.0
    slope: float = 1.0
    log_evidence: float = 0.0
    lapse: float = 0.0
    bend: float = 0.0


IDENTITY = Calibration()


@dataclass(frozen=True)
class Lapses:
    """What is believed of lapses before any label.

    Attributes
    ----------
    none : tuple of float
        The probability that there are none, for each part of the prior.
    rates : tuple of float
        How many surprises come from them, one number as likely as another, for each that the calibrated model expects.
    """

    none: tuple[float, float, float]
    rates: tuple[float, ...]


LAPSES = Lapses((0.8, 0.65, 0.5), (0.3, 1.0, 3.0, 10.0))
LAPSES_OF_SURE = Lapses((0.95, 0.4, 0.1), (0.3, 1.0, 3.0, 10.0, 30.0))
"""Where items decide that are all but certain: whoever is found to be too sure elsewhere is likely to lapse there."""


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
    return _mean(_likelihood(_counted(logits, events))) if len(logits) else IDENTITY


def calibrate_sides(logits: Floats, events: NDArray[np.bool_]) -> Calibration:
    r"""Return the posterior mean calibration of events where the slopes of log odds of either sign may differ.

    Given the shift a the likelihood is :math:`L_+(a, b e^c) \, L_-(a, b e^{-c})`, of the events of either sign. With a
    probability of a half c is 0, else both slopes are independent given which part of the prior holds
    (docs/statistics.md, section 3.1; Kull, Silva Filho and Flach, Beta calibration, 2017, join two slopes smoothly).

    Parameters
    ----------
    logits, events
        As for `calibrate_events`.

    Returns
    -------
    Calibration
        Its bend is the posterior mean of c; the identity without events.

    Examples
    --------
    >>> sure = np.repeat([-6.0, 2.0, 6.0], 40)  # a quarter of the positives are wrong, however sure, and no negative
    >>> calibrate_sides(sure, (sure > 0) & (np.arange(120) % 4 > 0)).bend < -0.5
    True
    """
    if not len(logits):
        return IDENTITY
    above = logits >= 0
    sides = [_likelihood(_counted(logits[rows], events[rows])) for rows in (above, ~above)]
    one, two = _mean(sides[0] + sides[1]), _of_two_slopes(*sides)
    evidence = float(np.logaddexp(one.log_evidence, two.log_evidence))
    share = float(np.exp(two.log_evidence - evidence))
    slope = np.log(one.slope) + share * np.log(two.slope / one.slope)
    shift = one.shift + share * (two.shift - one.shift)
    return Calibration(shift, float(np.exp(slope)), evidence - np.log(2.0), bend=share * two.bend)


def _of_two_slopes(above: Floats, below: Floats) -> Calibration:
    """Return the posterior mean where both slopes are independent but for how far the model is to be trusted.

    Parameters
    ----------
    above, below : ndarray of float, shape (cells,)
        Log likelihoods of events whose log odds are not negative, and are.
    """
    logs = np.log(SLOPES)
    tables = [side.reshape(len(SHIFTS), len(SLOPES)) for side in (above, below)]
    log_posterior, means = [], []
    for shifts, slopes in _TRUST:
        sides = [logsumexp(table + slopes, axis=1, keepdims=True) for table in tables]
        means.append([np.exp(table + slopes - side) @ logs for table, side in zip(tables, sides, strict=True)])
        log_posterior.append(shifts + (sides[0] + sides[1])[:, 0])
    evidence = float(logsumexp(log_posterior))
    posterior = np.exp(np.stack(log_posterior) - evidence)
    up, down = np.einsum("ti,tsi->s", posterior, np.stack(means))
    shift = float(np.sum(posterior @ SHIFTS))
    return Calibration(shift, float(np.exp((up + down) / 2.0)), evidence, bend=float(up - down) / 2.0)


def bent(logits: Floats, bend: float) -> Floats:
    r"""Return log odds times :math:`e^c` where they are not negative and times :math:`e^{-c}` below.

    Parameters
    ----------
    logits : ndarray of float, shape (n,)
        Log odds.
    bend : float
        c.

    Examples
    --------
    >>> bent(np.array([-1.0, 1.0]), np.log(2.0)).tolist()
    [-0.5, 2.0]
    """
    return logits * np.where(logits >= 0, np.exp(bend), np.exp(-bend)) if bend else logits


def plausible_events(
    logits: Floats,
    events: NDArray[np.bool_],
    weights: Floats,
    count: int,
    *,
    offsets: Floats | None = None,
    chance: float = 0.5,
    prior: Lapses = LAPSES,
) -> tuple[Calibration, ...]:
    r"""Return calibrations that such events leave possible, each as likely as another.

    An event of log odds x and offset o happens with :math:`(1 - \lambda) q + \lambda c`, where
    :math:`\mathrm{logit} \, q = a + b x + o`. The points are quantiles
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
    offsets : ndarray of float, shape (n,), optional
        What is added to the log odds after calibration.
    chance : float
        The probability c of an event that was told nothing, in (0, 1).
    prior : Lapses
        What is believed of lapses before any label.

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
    beyond = np.zeros(len(logits)) if offsets is None else offsets
    counted = _counted(logits, events, beyond)
    mean = _mean(_likelihood(counted))
    surprise = expit(-np.abs(mean.shift + mean.slope * logits + beyond))
    lapses, log_posteriors = _lapsed(counted, float(np.sum(weights * surprise) / np.sum(weights)), chance, prior)
    order = _MIRRORED if chance == 0.5 and mean.shift < -ROUNDING else _IN_ORDER
    log_posterior = log_posteriors[:, order].ravel()
    posterior = np.exp(log_posterior - logsumexp(log_posterior))
    places = np.searchsorted(np.cumsum(posterior), (np.arange(count) + 0.5) / count)
    which, cells = np.divmod(np.minimum(places, len(posterior) - 1), len(order))
    return tuple(
        Calibration(float(_SHIFT[cell]), float(_SLOPE[cell]), lapse=float(lapse))
        for cell, lapse in zip(order[cells], lapses[which], strict=True)
    )


def lapse_evidence(
    logits: Floats, events: NDArray[np.bool_], doubt: float, *, chance: float = 0.5, prior: Lapses = LAPSES
) -> float:
    r"""Return how far events speak for lapses, :math:`(P - P_0)_+ / (1 - P_0)`.

    P is the probability that there are any after these events, and :math:`P_0` that before them (docs/statistics.md,
    section 4, `"adaptive"`).

    Parameters
    ----------
    logits, events, chance, prior
        As for `plausible_events`.
    doubt : float
        The share of the pool's events that the calibrated model expects to be surprises, in [0, 1].

    Returns
    -------
    float
        In [0, 1]; 0 without events.

    Examples
    --------
    >>> sure, wrong = np.full(50, 9.0), np.arange(50) < 2
    >>> [round(lapse_evidence(sure, events, 0.01), 2) for events in (np.ones(50, dtype=bool), ~wrong)]
    [0.0, 0.9]
    """
    if not len(logits):
        return 0.0
    _, log_posterior = _lapsed(_counted(logits, events), doubt, chance, prior)
    without, before = log_posterior[0], _log_priors(prior)[0]  # of which all are the logarithm of 1
    none = np.exp(logsumexp(without) - logsumexp(log_posterior) - logsumexp(before))
    return max(0.0, 1.0 - float(none))


def _lapsed(counted: _Counted, doubt: float, chance: float, prior: Lapses) -> tuple[Floats, Floats]:
    """Return the shares of lapses, the first 0, and their log posterior with every calibration, (shares, cells)."""
    shares = np.append(0.0, np.minimum(np.multiply(prior.rates, doubt / (1.0 - chance)), MOST_LAPSES))
    log_likelihoods = [_likelihood(counted), *_likelihoods(counted, shares[1:], chance)]
    return shares, _log_priors(prior) + np.stack(log_likelihoods)


def _likelihood(counted: _Counted) -> Floats:
    """Return the log likelihood of every calibration of the grid, shape (cells,)."""
    moved, hits, misses = counted
    return np.asarray(log_expit(moved) @ (hits + misses) - moved @ misses)


def _likelihoods(counted: _Counted, lapses: Floats, chance: float) -> list[Floats]:
    """Return the same with each positive share of lapses."""
    moved, hits, misses = counted
    hit, missed = hits > 0, misses > 0
    yes, no = expit(moved[:, hit]), expit(-moved[:, missed])
    return [
        np.log((1.0 - lapse) * yes + lapse * chance) @ hits[hit]
        + np.log((1.0 - lapse) * no + lapse * (1.0 - chance)) @ misses[missed]
        for lapse in lapses
    ]


def _counted(logits: Floats, events: NDArray[np.bool_], offsets: Floats | None = None) -> _Counted:
    """Return log odds and offsets, both rounded to a tenth, as `_Counted` has them."""
    pairs = np.column_stack([logits, np.zeros(len(logits)) if offsets is None else offsets])
    values, inverse = np.unique(np.round(pairs, 1), axis=0, return_inverse=True)
    hits = np.bincount(inverse.ravel(), weights=events).astype(np.float64)
    moved = _SHIFT[:, None] + _SLOPE[:, None] * values[:, 0] + values[:, 1]
    return moved, hits, np.bincount(inverse.ravel()) - hits


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
    """Return the posterior mean, from the log likelihood of every calibration of the grid."""
    evidence = float(logsumexp(_LOG_PRIOR + log_likelihood))
    weights = np.exp(_LOG_PRIOR + log_likelihood - evidence)
    return Calibration(float(weights @ _SHIFT), float(np.exp(weights @ np.log(_SLOPE))), evidence)


def _trust() -> list[tuple[Floats, Floats]]:
    """Return for each part of the prior the log probabilities of the shifts, with its share, and of the slopes."""
    parts = []
    for share, of_shift, of_slope in PRIOR:
        shifts = -0.5 * (SHIFTS / of_shift) ** 2 + np.log(np.gradient(SHIFTS))
        slopes = -0.5 * (np.log(SLOPES) / of_slope) ** 2
        parts.append((np.log(share) + shifts - logsumexp(shifts), slopes - logsumexp(slopes)))
    return parts


@lru_cache(maxsize=4)
def _log_priors(lapses: Lapses) -> Floats:
    """Return the log prior of every calibration of the grid (cells,) without lapses and with each share of them."""
    parts = [
        np.log(share) - 0.5 * (_SHIFT / of_shift) ** 2 - 0.5 * (np.log(_SLOPE) / of_slope) ** 2
        - np.log(of_shift * of_slope * _SLOPE)
        for share, of_shift, of_slope in PRIOR
    ]  # fmt: skip
    cells = np.log(np.outer(np.gradient(SHIFTS), np.gradient(SLOPES)).ravel())
    none, count = np.array(lapses.none)[:, None], len(lapses.rates)
    rows = [logsumexp(parts, axis=0, b=none)] + [logsumexp(parts, axis=0, b=(1.0 - none) / count)] * count
    found = np.stack(rows) + cells
    return np.asarray(found - logsumexp(found))


_SHIFT, _SLOPE = (grid.ravel() for grid in np.meshgrid(SHIFTS, SLOPES, indexing="ij"))
_TRUST = _trust()
_LOG_PRIOR = np.asarray(logsumexp(_log_priors(LAPSES), axis=0))
_IN_ORDER, _MIRRORED = np.lexsort((_SHIFT, _SLOPE)), np.lexsort((-_SHIFT, _SLOPE))
