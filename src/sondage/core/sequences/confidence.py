r"""Confidence sequences by betting, for means and ratios of means.

The range of candidates is cut into fixed blocks. Within a block all candidates share their bets, so that the
logarithm of the capital is concave in m and its chord over the block a safe lower bound: a candidate is rejected
where the bound reaches :math:`2/\alpha`, whichever candidate of the block it is, and no grid is too coarse to be valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import require_level
from sondage.core.predictions import Floats
from sondage.core.results import Interval
from sondage.core.sequences.betting import Side, log_capital, side_of
from sondage.core.sequences.steps import Steps

__all__ = ["ConfidenceSequence", "betting_sequence", "intersected"]

BLOCKS = 100
"""Blocks of equal length that the range is divided into; the values in one are rejected together."""
NEAR_THE_ENDS = np.geomspace(1e-4, 1e-2, 16)
"""Ends of further blocks, as shares of the range, next to its two ends: there rare events have their rates."""
CUTS = np.linspace(0.0, 1.0, 17)
"""Shares of a block up to which it may be rejected."""
ENOUGH = 100.0
"""Logarithm of a capital at which it is cut off: no level asks for more."""


@dataclass(frozen=True, eq=False, repr=False)
class ConfidenceSequence:
    """An interval after each label; all of them hold at once with the given level.

    Attributes
    ----------
    low, high : ndarray of float, shape (T,)
        Ends after each label, in the units of the measure.
    level : float
        Probability that no interval misses the true value, in (0, 1).
    kind : str
        How it was made: ``"betting"``, ``"exact"`` or ``"asymptotic"``.

    Examples
    --------
    >>> ConfidenceSequence(np.array([0.0, 0.1]), np.array([1.0, 0.75]), 0.95, "betting")
    <ConfidenceSequence: 0.1 to 0.75 after 2 labels, level 0.95, betting>
    """

    low: Floats
    high: Floats
    level: float
    kind: str

    def __repr__(self) -> str:
        ends = f"{self.low[-1]:.4g} to {self.high[-1]:.4g} after {len(self)} labels, " if len(self) else "no labels, "
        return f"<{type(self).__name__}: {ends}level {self.level:g}, {self.kind}>"

    def __len__(self) -> int:
        return len(self.low)

    @property
    def last(self) -> Interval:
        """The interval after the last label."""
        return Interval(float(self.low[-1]), float(self.high[-1]), self.level, self.kind)


def betting_sequence(steps: Steps, level: float = 0.95) -> ConfidenceSequence:
    r"""Return the confidence sequence of a mean or a ratio of means.

    A candidate m is rejected from the step on at which the capital of the bets that it is too low, or of those that
    it is too high, reaches :math:`2 / \alpha`. What the labels leave possible is used as well: m stays within
    :math:`\mathrm{least}_t(m) \le 0 \le \mathrm{most}_t(m)`, so that the interval is a point once all is labelled.

    Parameters
    ----------
    steps : Steps
        From `draw_steps`.
    level : float
        Confidence level, in (0, 1), for all numbers of labels at once.

    Returns
    -------
    ConfidenceSequence
        Of kind ``"betting"``, inside the range of the nodes; each interval is inside the one before.

    Raises
    ------
    InputError
        If ``level`` is outside (0, 1).

    Notes
    -----
    Valid for any pool, labels, belief and sizes; good beliefs and sizes make it narrow. Where the belief is sure of an
    item that is seldom drawn, it is trusted only as far as such items have been drawn: with a floor :math:`\phi` an
    upper end cannot come below about :math:`\ln(2 / \alpha) / (\phi n)` above the estimate.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, Journal of the Royal
    Statistical Society B, 2024, 1-27.

    Examples
    --------
    >>> from sondage.core.sequences import Stage, Units, draw_steps, rest_of
    >>> share, labels = np.full(100, 0.01), np.arange(100) % 5 == 0
    >>> nodes = np.array([0.0, 1.0])
    >>> units = Units(share, 0.2 * share, share, np.outer(share, -nodes), np.outer(share, 1 - nodes), share**2 / 8)
    >>> rest = rest_of(units.take(np.arange(60, 100)), nodes)
    >>> stage = Stage(units.take(np.arange(60)), (share * labels)[:60], share[:60], rest)
    >>> sequence = betting_sequence(draw_steps([stage], nodes))
    >>> [(round(float(sequence.low[n - 1]), 2), round(float(sequence.high[n - 1]), 2)) for n in (20, 60)]
    [(0.04, 0.54), (0.13, 0.33)]
    """
    require_level("level", level)
    threshold = 2.0 / (1.0 - level)
    edges = _edges(steps.nodes)
    ends = (
        _rejected_up_to(side_of(steps, 1), edges, threshold),
        _rejected_up_to(side_of(steps, -1), edges[::-1], threshold),
    )
    low, high = intersected(*ends, (float(edges[0]), float(edges[-1])))
    first = np.maximum.accumulate(_crossing(steps.nodes, steps.least))
    last = np.minimum.accumulate(_crossing(steps.nodes, steps.most))
    return ConfidenceSequence(np.clip(low, first, last), np.clip(high, first, last), level, "betting")


def intersected(low: Floats, high: Floats, whole: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return the intersections of all intervals so far; an empty one is a miss that shows, and the last one stays.

    Parameters
    ----------
    low, high : ndarray of float, shape (n,)
        Ends of the intervals in their order.
    whole : (float, float)
        What there is before the first.

    Examples
    --------
    >>> low, high = intersected(np.array([0.1, 0.2, 0.6]), np.array([0.9, 0.5, 0.8]), (0.0, 1.0))
    >>> low.tolist(), high.tolist()
    ([0.1, 0.2, 0.2], [0.9, 0.5, 0.5])
    """
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high)
    apart = int(np.argmax(np.append(low > high, True)))
    low[apart:], high[apart:] = (low[apart - 1], high[apart - 1]) if apart else whole
    return low, high


def _edges(nodes: Floats) -> Floats:
    """Return the ends of the blocks, closer together near the ends of the range."""
    inner = np.concatenate([np.linspace(0.0, 1.0, BLOCKS + 1), NEAR_THE_ENDS, 1.0 - NEAR_THE_ENDS])
    return np.unique(np.concatenate([nodes, nodes[0] + (nodes[-1] - nodes[0]) * inner]))


def _rejected_up_to(side: Side, edges: Floats, threshold: float) -> Floats:
    """Return for each step how far candidates are rejected, from the first edge on without a gap."""
    reached = np.full(len(side.top), edges[-1])
    still = np.arange(len(side.top))
    for start, end in pairwise(edges.tolist()):
        pair = log_capital(side, np.sort([start, end]))
        outer, inner = (pair[0], pair[1]) if start < end else (pair[1], pair[0])
        share = _rejected_share(outer[:, still], inner[:, still], threshold)
        stopped = share < 1.0
        reached[still[stopped]] = start + share[stopped] * (end - start)
        still = still[~stopped]
        if not len(still):
            break
    return reached


def _rejected_share(outer: Floats, inner: Floats, threshold: float) -> Floats:
    """Return the share of a block that is rejected, from its outer edge on; log capitals of shape (J, T)."""
    share = np.where(_mean_capital(np.minimum(outer, inner)) >= threshold, 1.0, 0.0)
    open_ = np.flatnonzero((share == 0.0) & (_mean_capital(outer) >= threshold))
    chord = outer[:, open_, None] * (1 - CUTS) + inner[:, open_, None] * CUTS
    rejected = _mean_capital(np.minimum(chord[..., :-1], chord[..., 1:])) >= threshold
    share[open_] = CUTS[np.argmin(np.pad(rejected, ((0, 0), (0, 1))), axis=1)]
    return share


def _mean_capital(logs: Floats) -> Floats:
    """Return the mean capital over bet sizes (first axis); large ones are cut off."""
    return np.asarray(np.exp(np.minimum(logs, ENOUGH)).mean(axis=0))


def _crossing(nodes: Floats, values: Floats) -> NDArray[np.float64]:
    """Return where falling functions, given at the nodes, reach 0; the nearest node where they do not."""
    before = np.clip(np.count_nonzero(values > 0, axis=1), 1, len(nodes) - 1) - 1
    rows = np.arange(len(values))
    left, right = values[rows, before], values[rows, before + 1]
    fall = np.where(left > right, left - right, 1.0)
    share = np.clip(left / fall, 0.0, 1.0)
    return np.asarray(nodes[before] + share * (nodes[before + 1] - nodes[before]))
