"""A Brownian motion at a few looks: its density where it has crossed no critical value so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # scipy.optimize is loaded when it is used
from numpy.typing import NDArray
from scipy import special

from sondage.core.predictions import Floats

__all__ = ["Walk", "start_walk"]

FARTHEST = 8.0
"""Standard deviations beyond which the motion is not followed."""
LEAST_SPENT = 1e-14
"""A smaller probability of crossing is practically 0."""
POINTS = 32
"""Quadrature points come in multiples of this."""


@dataclass(frozen=True, eq=False)
class Walk:
    """The motion after a look.

    Attributes
    ----------
    time : float
        Of the look.
    places, masses : ndarray of float, shape (G,)
        Quadrature points of where it stands, and the probability that goes with each.
    sides : int
        2 if it crosses upwards and downwards, 1 if upwards only.
    count : int
        Number of points after the next look.
    """

    time: float
    places: Floats
    masses: Floats
    sides: int
    count: int

    def exit(self, time: float, critical: float) -> float:
        """Return the probability that the motion over the root of the time is beyond a value at the next look."""
        end, step = critical * math.sqrt(time), math.sqrt(time - self.time)
        above = special.ndtr((self.places - end) / step)
        below = special.ndtr((-end - self.places) / step) if self.sides == 2 else 0.0
        return float(self.masses @ (above + below))

    def critical(self, time: float, probability: float) -> float:
        """Return the value that is crossed at the next look with a probability; infinite for practically 0."""
        if probability < LEAST_SPENT:
            return math.inf
        single = -float(special.ndtri(probability / self.sides))
        lowest = 0.0 if self.sides == 2 else -FARTHEST

        def gap(value: float) -> float:
            return self.exit(time, value) - probability

        # At a first look the upper end is the solution, and rounding decides the sign there.
        return single if gap(single) >= 0 else float(scipy.optimize.brentq(gap, lowest, single, xtol=1e-12))

    def passed(self, time: float, critical: float) -> Walk:
        """Return the walk after the next look, without what crossed at it."""
        high = min(critical, FARTHEST) * math.sqrt(time)
        low = -high if self.sides == 2 else -FARTHEST * math.sqrt(time)
        points, weights = _quadrature(self.count)
        places, step = low + (high - low) * points, math.sqrt(time - self.time)
        density = np.exp(-0.5 * ((places[:, None] - self.places) / step) ** 2) @ self.masses
        masses = weights * density * ((high - low) / (step * math.sqrt(2.0 * math.pi)))
        return Walk(time, places, masses, self.sides, self.count)


def start_walk(times: Floats, sides: int) -> Walk:
    """Return the walk before the first of the looks, with points close enough for the shortest way between two."""
    shortest = math.sqrt(float(np.diff(times, prepend=0.0).min()))
    count = POINTS * math.ceil((20.0 + 6.0 * FARTHEST / shortest) / POINTS)
    return Walk(0.0, np.zeros(1), np.ones(1), sides, count)


@lru_cache(maxsize=16)
def _quadrature(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Gauss-Legendre points and weights on [0, 1]."""
    points, weights = special.roots_legendre(count)
    return (points + 1.0) / 2.0, weights / 2.0
