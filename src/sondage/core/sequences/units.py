"""What is known of a pool's units before they are labelled, and of those that were never asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sondage.core.predictions import Floats
from sondage.errors import InputError

__all__ = ["NeverDrawn", "Rest", "Units", "joined", "nothing_left", "payoffs", "rest_of", "slack"]

TOLERANCE = 1e-9
"""Share of the largest bound by which rounding may take a value out of its range."""


class NeverDrawn(InputError):
    """A unit whose label could matter has no chance of being drawn, so that nothing can be said of the pool."""


@dataclass(frozen=True, eq=False)
class Units:
    r"""What is known of units before they are labelled.

    Attributes
    ----------
    rates : ndarray of float, shape (n,)
        Rates :math:`a_i` of the stage's draw, 0 or more; only their ratios matter.
    top, bottom : ndarray of float, shape (n,)
        Believed parts :math:`E[t_i]` and :math:`E[d_i]`.
    lowest, highest : ndarray of float, shape (n, K)
        Smallest and largest :math:`z_i(m)` that an allowed label can give, at each of the K nodes m.
    variances : ndarray of float, shape (n,)
        Believed variance of :math:`z_i(m)` at about the m that is expected, 0 or more. It steers the size of the
        bets and has no part in their validity; a quarter of (highest - lowest) squared will do where nothing is known.
    """

    rates: Floats
    top: Floats
    bottom: Floats
    lowest: Floats
    highest: Floats
    variances: Floats

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Units:
        """Return some of the units."""
        return Units(
            self.rates[rows],
            self.top[rows],
            self.bottom[rows],
            self.lowest[rows],
            self.highest[rows],
            self.variances[rows],
        )

    def believed(self, nodes: Floats) -> Floats:
        """Return h at the nodes, shape (n, K)."""
        return np.asarray((self.top - np.multiply.outer(nodes, self.bottom)).T)  # node by node in memory, as the ranges


@dataclass(frozen=True, eq=False)
class Rest:
    r"""Sums and extremes over the units that no stage up to this one has asked for.

    Attributes
    ----------
    rates, top, bottom : float
        Sums of the units' rates and believed parts.
    lowest, highest : ndarray of float, shape (K,)
        Sums of their smallest and largest :math:`z_i`.
    least, most : ndarray of float, shape (K,)
        Smallest :math:`(\mathrm{lowest}_i - h_i) / a_i` and largest :math:`(\mathrm{highest}_i - h_i) / a_i` over the
        units with a rate; 0 if there are none.
    variance : float
        Sum of variance over rate, of the units with a rate.
    """

    rates: float
    top: float
    bottom: float
    lowest: Floats
    highest: Floats
    least: Floats
    most: Floats
    variance: float


def rest_of(units: Units, nodes: ArrayLike) -> Rest:
    """Return the sums and extremes of units that were not asked for.

    Sums of several blocks of units add up; of ``least`` the smallest holds, of ``most`` the largest.

    Parameters
    ----------
    units : Units
        All units not asked for by this stage or one before it, with the stage's rates and belief; there may be none.
    nodes : array_like of float, shape (K,)
        As for `draw_steps`.

    Raises
    ------
    NeverDrawn
        If a unit without a rate has a label that could matter; an `InputError`.

    Examples
    --------
    >>> two = np.ones(2)
    >>> units = Units(two, 0.1 * two, 0.5 * two, np.zeros((2, 2)) - [0, 0.5], 0.5 - np.zeros((2, 2)), two)
    >>> rest_of(units, [0.0, 1.0]).most.round(3).tolist()
    [0.4, 0.9]
    """
    at = np.asarray(nodes, dtype=float)
    drawable = units.rates > 0
    open_ = ~drawable & ((units.highest - units.lowest).max(axis=1, initial=0.0) > slack(units))
    if open_.any():
        raise NeverDrawn(f"{int(open_.sum())} units with labels that matter have rate 0 and can never be drawn")
    able = units if drawable.all() else units.take(drawable)
    below, above = payoffs(able, at)
    return Rest(
        rates=float(able.rates.sum()),
        top=float(units.top.sum()),
        bottom=float(units.bottom.sum()),
        lowest=units.lowest.sum(axis=0),
        highest=units.highest.sum(axis=0),
        least=below.min(axis=0, initial=0.0),
        most=above.max(axis=0, initial=0.0),
        variance=float(np.sum(able.variances / able.rates)),
    )


def nothing_left(count: int) -> Rest:
    """Return the rest of no units, at so many nodes.

    Examples
    --------
    >>> nothing_left(2).lowest.tolist()
    [0.0, 0.0]
    """
    zeros = np.zeros(count)
    return Rest(0.0, 0.0, 0.0, zeros, zeros, zeros, zeros, 0.0)


def joined(rests: Iterable[Rest]) -> Rest:
    """Return the rest of several sets of units together; there must be one or more.

    Examples
    --------
    >>> part = Rest(1.0, 0.1, 0.5, np.zeros(1), np.ones(1), np.array([-0.2]), np.array([0.4]), 0.1)
    >>> whole = joined([part, part])
    >>> whole.rates, whole.highest.tolist(), whole.most.tolist()
    (2.0, [2.0], [0.4])
    """
    parts = list(rests)
    return Rest(
        rates=sum(part.rates for part in parts),
        top=sum(part.top for part in parts),
        bottom=sum(part.bottom for part in parts),
        lowest=np.sum([part.lowest for part in parts], axis=0),
        highest=np.sum([part.highest for part in parts], axis=0),
        least=np.min([part.least for part in parts], axis=0),
        most=np.max([part.most for part in parts], axis=0),
        variance=sum(part.variance for part in parts),
    )


def payoffs(units: Units, nodes: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest of (z - h) / a at the nodes, shape (n, K) each."""
    believed, rates = units.believed(nodes), units.rates[:, None]
    return (units.lowest - believed) / rates, (units.highest - believed) / rates


def slack(units: Units) -> float:
    """Return the rounding allowed in comparisons of a unit's values."""
    return TOLERANCE * float(np.abs(units.lowest).max(initial=0.0) + np.abs(units.highest).max(initial=0.0))
