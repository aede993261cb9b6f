"""A grid of calibrations, their prior distribution, and their posterior mean."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from sondage.core.predictions import Floats

__all__ = [
    "CELL_SHIFTS",
    "CELL_SLOPES",
    "IDENTITY",
    "LAPSES",
    "LAPSES_OF_SURE",
    "LAPSES_OF_UNSEEN",
    "PRIOR",
    "SHIFTS",
    "SLOPES",
    "Calibration",
    "Lapses",
    "log_priors",
    "posterior_mean",
]

SHIFTS = 9.0 * np.sinh(np.linspace(-3.0, 3.0, 41)) / np.sinh(3.0)
"""Shifts a of the grid, denser about 0."""
SLOPES = np.exp(np.linspace(-2.5, 2.0, 46))
"""Slopes b of the grid, even in ln b."""
PRIOR = ((0.65, 0.35, 0.12), (0.25, 1.0, 0.5), (0.10, 4.0, 1.0))
"""(share, standard deviation of a, standard deviation of ln b): the model is trusted, doubted, mistrusted."""
CELL_SHIFTS, CELL_SLOPES = (grid.ravel() for grid in np.meshgrid(SHIFTS, SLOPES, indexing="ij"))
"""Shift and slope of every cell of the grid, shape (cells,)."""


@dataclass(frozen=True)
class Calibration:
    """A point of the grid, or the mean of many.

    Attributes
    ----------
    shift, slope : float
        a, and b above 0.
    log_evidence : float
        Log probability of the data with all the others integrated out; 0 where it is not known.
    lapse : float
        Share of events that were told nothing, in [0, 1].
    in_proportion : bool
        Whether labels of these that are not the event are in the proportions that were believed, not each as likely.
    bend : float
        c, of two slopes; 0 for one.
    """

    shift: float = 0.0
    slope: float = 1.0
    log_evidence: float = 0.0
    lapse: float = 0.0
    in_proportion: bool = False
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
    least : float
        Share of items that it is taken to be surprised by, at least.
    """

    none: tuple[float, float, float]
    rates: tuple[float, ...]
    least: float = 0.0


LAPSES = Lapses((0.8, 0.65, 0.5), (0.3, 1.0, 3.0, 10.0))
LAPSES_OF_SURE = Lapses((0.95, 0.4, 0.1), (0.3, 1.0, 3.0, 10.0, 30.0))
"""Where items decide that are all but certain: whoever is found to be too sure elsewhere is likely to lapse there."""
LAPSES_OF_UNSEEN = Lapses((0.8, 0.4, 0.1), (0.3, 1.0, 3.0, 10.0), 0.004)
"""Of what nobody has seen: labels that are wrong by chance are such lapses too, and no model tells of them; a model
that is nearly perfect may be surprised by up to 4 in 100."""


@lru_cache(maxsize=4)
def log_priors(lapses: Lapses) -> Floats:
    """Return the log prior of every calibration of the grid without lapses and with each share, (shares, cells)."""
    parts = [
        np.log(share) - 0.5 * (CELL_SHIFTS / of_shift) ** 2 - 0.5 * (np.log(CELL_SLOPES) / of_slope) ** 2
        - np.log(of_shift * of_slope * CELL_SLOPES)
        for share, of_shift, of_slope in PRIOR
    ]  # fmt: skip
    cells = np.log(np.outer(np.gradient(SHIFTS), np.gradient(SLOPES)).ravel())
    none, count = np.array(lapses.none)[:, None], len(lapses.rates)
    rows = [logsumexp(parts, axis=0, b=none)] + [logsumexp(parts, axis=0, b=(1.0 - none) / count)] * count
    found = np.stack(rows) + cells
    return np.asarray(found - np.logaddexp.reduce(found, axis=None))


_LOG_PRIOR = np.logaddexp.reduce(log_priors(LAPSES), axis=0)
"""Of every cell, whatever the share of lapses."""


def posterior_mean(log_likelihood: Floats) -> Calibration:
    """Return the posterior mean of a and ln b, from the log likelihood of every calibration, shape (cells,)."""
    evidence = float(np.logaddexp.reduce(_LOG_PRIOR + log_likelihood))
    weights = np.exp(_LOG_PRIOR + log_likelihood - evidence)
    return Calibration(float(weights @ CELL_SHIFTS), float(np.exp(weights @ np.log(CELL_SLOPES))), evidence)
