"""Calibration of events by the log odds that they were believed to have."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from sondage.core.calibration.grid import (
    CELL_SHIFTS,
    CELL_SLOPES,
    IDENTITY,
    PRIOR,
    SHIFTS,
    SLOPES,
    Calibration,
    posterior_mean,
)
from sondage.core.predictions import Floats

__all__ = ["CountedOdds", "bent", "calibrate_events", "calibrate_sides", "counted_odds", "likelihood"]

KEPT = 512
"""Log odds of which the grid is kept: all that are rounded to a tenth, where none has an offset."""


class CountedOdds(NamedTuple):
    """U log odds that differ, and what events had them.

    Attributes
    ----------
    moved, log_expit : ndarray of float, shape (U, cells)
        The log odds under every calibration of the grid, and the log probability of an event that has them.
    hits, misses : ndarray of float, shape (U,)
        How often events had each, and had not.
    """

    moved: Floats
    log_expit: Floats
    hits: Floats
    misses: Floats


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
    return posterior_mean(likelihood(counted_odds(logits, events))) if len(logits) else IDENTITY


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
    sides = [likelihood(counted_odds(logits[rows], events[rows])) for rows in (above, ~above)]
    one, two = posterior_mean(sides[0] + sides[1]), _of_two_slopes(*sides)
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
        sides = [np.logaddexp.reduce(table + slopes, axis=1, keepdims=True) for table in tables]
        means.append([np.exp(table + slopes - side) @ logs for table, side in zip(tables, sides, strict=True)])
        log_posterior.append(shifts + (sides[0] + sides[1])[:, 0])
    evidence = float(np.logaddexp.reduce(log_posterior, axis=None))
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


def likelihood(counted: CountedOdds) -> Floats:
    """Return the log likelihood of every calibration of the grid, shape (cells,)."""
    return np.asarray((counted.hits + counted.misses) @ counted.log_expit - counted.misses @ counted.moved)


def counted_odds(logits: Floats, events: NDArray[np.bool_], offsets: Floats | None = None) -> CountedOdds:
    """Return log odds and offsets, both rounded to a tenth, as `CountedOdds` has them."""
    pairs = np.round(np.column_stack([logits, np.zeros(len(logits)) if offsets is None else offsets]), 1)
    values, inverse = np.unique(pairs.view(np.complex128)[:, 0], return_inverse=True)  # as numbers: no rows are sorted
    hits = np.bincount(inverse, weights=events).astype(np.float64)
    of_grid = np.reshape([_of_grid(one.real, one.imag) for one in values.tolist()], (-1, 2, len(CELL_SHIFTS)))
    return CountedOdds(of_grid[:, 0], of_grid[:, 1], hits, np.bincount(inverse) - hits)


@lru_cache(maxsize=KEPT)
def _of_grid(value: float, offset: float) -> Floats:
    """Return log odds under every calibration of the grid, and the log probabilities of these, shape (2, cells)."""
    moved = CELL_SHIFTS + CELL_SLOPES * value + offset
    return np.stack([moved, log_expit(moved)])


def _trust() -> list[tuple[Floats, Floats]]:
    """Return for each part of the prior the log probabilities of the shifts, with its share, and of the slopes."""
    parts = []
    for share, of_shift, of_slope in PRIOR:
        shifts = -0.5 * (SHIFTS / of_shift) ** 2 + np.log(np.gradient(SHIFTS))
        slopes = -0.5 * (np.log(SLOPES) / of_slope) ** 2
        shifts -= np.logaddexp.reduce(shifts)
        parts.append((np.log(share) + shifts, slopes - np.logaddexp.reduce(slopes)))
    return parts


_TRUST = _trust()
