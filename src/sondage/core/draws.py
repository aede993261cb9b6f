r"""Drawing items: with and without replacement, from sizes and the seeded hash.

Without replacement every item has a rate :math:`a_i` and a key :math:`-\ln(h_i) / a_i`, an exponential time; items
are taken in the order of their keys. Given :math:`\tau`, the first key not taken, an item was taken with
probability :math:`1 - e^{-a_i \tau}`, independently of the others, which makes Horvitz-Thompson sums exactly
unbiased; the next item is :math:`i` with probability :math:`a_i` over the remaining rates. A fixed number, any
prefix, a cost limit, and later extensions share this one order.

With replacement every item sends arrivals at rate :math:`u_i`; the first n arrivals are n independent draws from
:math:`q_i = u_i / \sum u` (thesis, Algorithms 2 and 3), and a prefix of every longer draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sondage.core.blocks import row_blocks
from sondage.core.hashing import uniforms
from sondage.core.predictions import Floats
from sondage.errors import InputError

__all__ = [
    "Arrivals",
    "Order",
    "arrivals",
    "filled_factor",
    "first_keys",
    "inclusion",
    "key_order",
    "keys_below",
    "lookahead",
    "poisson_rates",
    "successive_rates",
    "waterfill",
]

CAP = 0.995
"""Inclusion probability beyond which a rate no longer follows from it, but grows as a straight line."""
MOST_ARRIVALS = 200
"""Draws with replacement for each distinct row wanted."""
ROUNDING = 1e-12
"""Share of a budget, or of a rate, that the last bits of a sum may be."""
TRIES = 6
"""How often a limit of keys is raised before all rows are looked at."""


def waterfill(sizes: Floats, total: float, costs: Floats | None = None, *, beyond: float = 0.0) -> float:
    r"""Return k such that :math:`\sum_i c_i \min(1, k u_i)` is `total`; infinite if all items fit.

    Parameters
    ----------
    sizes : ndarray of float, shape (N,)
        Sizes :math:`u_i`, not negative.
    total : float
        Number of items, or their cost.
    costs : ndarray of float, shape (N,), optional
        :math:`c_i`; 1 where not given.
    beyond : float
        :math:`\sum c_i u_i` of further items, none of which is large enough for :math:`k u_i \ge 1`.

    Examples
    --------
    >>> waterfill(np.array([1.0, 1.0, 8.0]), 2.0)
    0.5
    """
    mass = sizes if costs is None else sizes * costs
    spent, count, free = 0.0, 0, float(np.sum(mass)) + beyond
    while free > 0:
        k = (total - spent) / free
        certain = sizes >= 1.0 / k
        before, count = count, int(np.count_nonzero(certain))
        if count <= before:  # fewer: sizes that are equal but for their last bits
            return float(k)
        spent = float(count) if costs is None else float(np.sum(costs[certain]))
        if spent >= total or (count == np.count_nonzero(sizes) and not beyond):
            return float("inf") if spent <= total else float(k)
        free = float(np.sum(mass, where=~certain)) + beyond
    return float("inf")


def filled_factor(sizes: Floats, total: float, costs: Floats | None = None) -> float:
    """Return the k of `waterfill`; where all items fit, the one that makes the smallest size certain.

    Examples
    --------
    >>> filled_factor(np.array([1.0, 1.0, 8.0]), 2.0), filled_factor(np.array([0.5, 8.0]), 2.0)
    (0.5, 2.0)
    """
    factor = waterfill(sizes, total, costs)
    return factor if np.isfinite(factor) else 1.0 / float(sizes[sizes > 0].min())


def poisson_rates(sizes: Floats, k: float) -> Floats:
    r"""Return the rates whose inclusion probability at :math:`\tau = 1` is :math:`\pi^* = k u`, up to certainty.

    :math:`a = -\ln(1 - \pi^*)` up to :math:`\pi^* = 0.995`; from there on it continues as a straight line, so that
    items with :math:`k u \ge 1` come first and practically surely, and every prefix is still a sample with known
    probabilities.

    Parameters
    ----------
    sizes : ndarray of float, shape (N,)
        Sizes :math:`u_i`, not negative.
    k : float
        Their factor, from `waterfill`; finite.

    Examples
    --------
    >>> poisson_rates(np.array([0.0, 1.0, 2.0]), 0.5).round(4).tolist()
    [0.0, 0.6931, 6.2983]
    """
    target = sizes * k
    inner = -np.log1p(-np.minimum(target, CAP))
    return np.asarray(inner + np.maximum(target - CAP, 0.0) / (1.0 - CAP))


def successive_rates(sizes: Floats, k: float) -> Floats:
    """Return the sizes times k as rates: successive sampling, each step proportional to the remaining sizes.

    Parameters
    ----------
    sizes, k
        As for `poisson_rates`; an infinite k counts as 1.

    Examples
    --------
    >>> successive_rates(np.array([1.0, 2.0]), 0.5).tolist()
    [0.5, 1.0]
    """
    return sizes * (1.0 if np.isinf(k) else k)


@dataclass(frozen=True, eq=False)
class Order:
    r"""The head of the key order.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Rows taken, first to last.
    keys, rates : ndarray of float, shape (n,)
        Their keys and rates.
    tau : float
        Key of the first row not taken; infinite if all rows with a rate were taken.
    """

    rows: NDArray[np.int64]
    keys: Floats
    rates: Floats
    tau: float


def key_order(
    sizes: Floats,
    ids: NDArray[np.int64],
    *,
    to_rates: Callable[[Floats], Floats],
    seed: int,
    stage: int,
    count: int,
    costs: Floats | None = None,
    budget: float = np.inf,
    horizon: float = 1.0,
) -> Order:
    """Return the first rows by key: `count` of them, or fewer if the next does not fit the cost budget.

    Parameters
    ----------
    sizes : ndarray of float, shape (N,)
        Sizes; rows of size 0 are never taken.
    ids : ndarray of int64, shape (N,)
        Row keys of the hash; ties go to the smaller.
    to_rates : callable
        Turns sizes into rates, element by element; increasing and convex, 0 for 0.
    seed, stage : int
        Of the hash.
    count : int
        Most rows to take.
    costs, budget : optional
        Stop before the first row whose cost does not fit; its key is then tau.
    horizon : float
        About where the last key is expected: only rows with keys up to somewhat more are looked at.

    Examples
    --------
    >>> sizes, ids = np.array([1.0, 4.0, 2.0, 0.0]), np.arange(4)
    >>> k = waterfill(sizes, 2.0)
    >>> found = key_order(sizes, ids, to_rates=lambda u: poisson_rates(u, k), seed=1, stage=0, count=2)
    >>> found.rows.tolist(), inclusion(found.rates, found.tau).round(3).tolist()
    ([1, 0], [1.0, 0.454])
    """
    return first_keys(
        below=lambda limit: keys_below(sizes, ids, to_rates, seed=seed, stage=stage, limit=limit),
        costs_of=lambda rows: None if costs is None else costs[rows],
        positive=int(np.count_nonzero(sizes)),
        dearest=None if costs is None else float(costs.max()),
        count=count,
        budget=budget,
        horizon=horizon,
    )


def first_keys(
    below: Callable[[float], tuple[NDArray[np.int64], Floats, Floats]],
    costs_of: Callable[[NDArray[np.int64]], Floats | None],
    *,
    positive: int,
    dearest: float | None,
    count: int,
    budget: float,
    horizon: float,
) -> Order:
    """Return the head of the key order of items that need not be in memory; `key_order` with arrays.

    Parameters
    ----------
    below : callable
        ``below(limit)`` returns rows, keys and rates of all keys below a limit, in key order.
    costs_of : callable
        The costs of rows; None where every label costs 1.
    positive : int
        Number of rows with a size.
    dearest : float or None
        Largest cost of all rows.
    count, budget, horizon
        As for `key_order`.
    """
    room = float(min(count, positive)) if dearest is None else budget * (1 + ROUNDING)
    least = room if dearest is None else room / dearest
    everything = dearest is None and count >= positive
    limit = np.inf if everything else horizon * lookahead(least)
    tries = 0
    while True:
        rows, keys, rates = below(limit)
        costs = costs_of(rows)
        used = np.cumsum(np.ones(len(rows)) if costs is None else costs)
        taken = min(count, int(np.count_nonzero(used <= room)))
        if taken < len(rows) or np.isinf(limit):
            tau = float(keys[taken]) if taken < len(rows) else float("inf")
            return Order(rows[:taken], keys[:taken], rates[:taken], tau)
        tries += 1
        reached = max(float(used[-1]) / room, 0.01) if len(rows) else 0.01
        limit = limit * max(2.0, 1.5 / reached) if tries < TRIES else np.inf


def lookahead(count: float) -> float:
    """Return how many times further than expected the last of so many keys may be, but for rare draws."""
    return float(1.0 + 6.0 / np.sqrt(count + 1.0) + 20.0 / (count + 1.0))


def keys_below(
    sizes: Floats,
    ids: NDArray[np.int64],
    to_rates: Callable[[Floats], Floats],
    *,
    seed: int,
    stage: int,
    limit: float,
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return rows, keys and rates of all keys below the limit, in key order.

    Most rows are told to be later without a logarithm: -ln h >= 1 - h, and the rate is below its chord.
    """
    found, numbers = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for part in row_blocks(len(sizes)):
        size = sizes[part]
        largest = size.max()
        if largest > 0:
            h = uniforms(ids[part], seed, stage)
            steepest = float(to_rates(largest) / largest) * (1 + ROUNDING)
            rows = np.flatnonzero(size > 0 if np.isinf(limit) else 1.0 - h < size * (steepest * limit))
            found.append(rows + part.start)
            numbers.append(h[rows])
    rows, h = np.concatenate(found), np.concatenate(numbers)
    rates = to_rates(sizes[rows])
    with np.errstate(divide="ignore"):
        keys = -np.log(h) / rates
    inside = keys < limit
    rows, keys, rates = rows[inside], keys[inside], rates[inside]
    order = np.lexsort((ids[rows], keys))
    return rows[order], keys[order], rates[order]


def inclusion(rates: Floats, tau: float, share: float | None = None) -> Floats:
    r"""Return the inclusion probabilities :math:`1 - e^{-a \tau}`; 1 if all rows were taken.

    Parameters
    ----------
    rates : ndarray of float, shape (n,)
        Rates of the rows taken.
    tau : float
        First key not taken.
    share : float, optional
        Rows taken over rows that could be, given where all sizes are equal: the draw is then a simple random
        sample, and this its inclusion probability.

    Examples
    --------
    >>> inclusion(np.array([1.0, 2.0]), np.log(2)).round(3).tolist()
    [0.5, 0.75]
    """
    if np.isinf(tau):
        return np.ones(len(rates))
    if share is not None:
        return np.full(len(rates), share)
    return -np.expm1(-rates * tau)


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Independent draws with replacement, in order.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Row of each draw; a row can come again.
    times : ndarray of float, shape (n,)
        Arrival times.
    """

    rows: NDArray[np.int64]
    times: Floats


def arrivals(
    sizes: Floats, ids: NDArray[np.int64], *, seed: int, stage: int, distinct: int, total: float | None = None
) -> Arrivals:
    """Return draws with probability proportional to size, up to the one that brings the last distinct row.

    Parameters
    ----------
    sizes, ids : ndarray, shape (N,)
        As for `key_order`.
    seed, stage : int
        Of the hash.
    distinct : int
        Number of distinct rows wanted; fewer if fewer have a size.
    total : float, optional
        Sum of all sizes, where these are only those of the first rows to arrive.

    Raises
    ------
    InputError
        If all sizes are 0.

    Notes
    -----
    Repeated draws stop at 200 for each distinct row wanted: a draw that would only repeat a few heavy rows ends
    with fewer distinct rows.

    Examples
    --------
    >>> arrivals(np.array([1.0, 3.0]), np.array([3, 4]), seed=1, stage=0, distinct=2).rows.tolist()
    [1, 1, 1, 0]
    """
    total = float(np.sum(sizes)) if total is None else total
    if not total > 0:
        raise InputError("all sizes are 0: nothing can be drawn")
    first = key_order(
        sizes, ids, to_rates=lambda u: u / total, seed=seed, stage=stage, count=distinct, horizon=float(distinct)
    )
    most = MOST_ARRIVALS * max(distinct, 1)
    horizon = min(float(first.keys[-1]), float(most))
    soon = first.keys <= horizon
    current, clock, arrival = first.rows[soon], first.keys[soon], 0
    rows, times = [current], [clock]
    while len(current):
        arrival += 1
        clock = clock - np.log(uniforms(ids[current], seed, stage, arrival)) / (sizes[current] / total)
        inside = clock <= horizon
        current, clock = current[inside], clock[inside]
        rows.append(current)
        times.append(clock)
    every, when = np.concatenate(rows), np.concatenate(times)
    order = np.lexsort((ids[every], when))[:most]
    return Arrivals(every[order], when[order])
