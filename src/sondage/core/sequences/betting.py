r"""Bets on steps: how much, and what became of the capital.

Who believes that a candidate m is too low bets that :math:`X_t(m)` is positive, and multiplies a capital of 1 by
:math:`1 + \lambda_t X_t(m)` at each step. If m is the truth, no bet :math:`\lambda_t \ge 0` fixed before the step
wins on average, and the capital reaches :math:`1/\alpha` with probability at most :math:`\alpha`, ever. The capital is
spread equally over bets of several sizes,

.. math:: \lambda_{tc} = \min \Bigl( \frac{c \, s_1}{s_t^2 \sqrt{\hat v_{t-1}}}, \frac{0.95}{-\mathrm{lowest}_t(m)}
   \Bigr), \qquad \hat v_{t-1} = \frac{2 + \sum_{r < t} X_r(m)^2 / s_r^2}{2 + t - 1},

with the deviations :math:`s_t` that were expected: of each c one is near the best at some number of labels, and steps
count by their precision :math:`s_t^{-2}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Floats
from sondage.core.sequences.steps import Steps

__all__ = ["SCALES", "Side", "between", "log_capital", "side_of"]

SCALES = 0.8 * 1.5 ** -np.arange(9.0)
"""Sizes of bets, with equal shares of the capital, over the one that the expected deviation suggests."""
MOST_AT_STAKE = 0.95
"""Share of the capital that the worst outcome of a step may take."""
PRIOR_STEPS = 2.0
"""Imagined steps before the first, with deviations as expected."""
LEAST_DEVIATION, TINY = 1e-9, 1e-100
"""What the deviation of a step is taken to be at least: a share of the largest one, and a number above 0."""


@dataclass(frozen=True, eq=False)
class Side:
    """Steps as one who bets sees them: positive values win, and no loss is larger than known before.

    Attributes
    ----------
    nodes : ndarray of float, shape (K,)
        As in `Steps`.
    top, bottom, deviations : ndarray of float, shape (T,)
        As in `Steps`; top and bottom with the sign of the side.
    losses : ndarray of float, shape (T, K)
        Largest possible loss at the nodes.
    """

    nodes: Floats
    top: Floats
    bottom: Floats
    deviations: Floats
    losses: Floats


def side_of(steps: Steps, sign: int) -> Side:
    """Return the side that bets on candidates being too low (1) or too high (-1)."""
    losses = -steps.lowest if sign > 0 else steps.highest
    return Side(steps.nodes, sign * steps.top, sign * steps.bottom, steps.deviations, losses)


def log_capital(side: Side, candidates: Floats) -> Floats:
    r"""Return the logarithms of the capitals that bets on nearby candidates have made.

    All candidates share their bets, which suit the one in the middle and can be paid at all. With shared bets the
    logarithm of each capital is concave in m, being a sum of logarithms of linear functions.

    Parameters
    ----------
    side : Side
        From `side_of`.
    candidates : ndarray of float, shape (C,)
        Ascending values m, no node strictly between them.

    Returns
    -------
    ndarray of float, shape (C, J, T)
        For each candidate, bet size and step.
    """
    # Where a label is known beforehand, or none can matter, it has no deviation: bets are then what can be paid.
    scale = np.maximum(side.deviations, max(LEAST_DEVIATION * np.max(side.deviations), TINY))
    steps = side.top - candidates[:, None] * side.bottom
    steps[np.abs(steps) <= ROUNDING * np.abs(side.top)] = 0.0  # or what is known would win or lose whole bets
    middle = (side.top - candidates.mean() * side.bottom) / scale
    past = np.cumsum(middle**2) - middle**2
    variance = (PRIOR_STEPS + past) / (PRIOR_STEPS + np.arange(len(scale)))
    worst = np.maximum(*(between(side.nodes, side.losses, float(end)) for end in candidates[[0, -1]]))
    wanted = scale[0] / (scale**2 * np.sqrt(variance))
    bets = SCALES[:, None] * wanted
    affordable = MOST_AT_STAKE / np.maximum(worst, np.finfo(float).tiny)
    bets = np.minimum(bets, affordable)
    return np.asarray(np.cumsum(np.log1p(bets * steps[:, None, :]), axis=2))


def between(nodes: Floats, values: Floats, candidate: float) -> Floats:
    """Return values of shape (T, K), given at the nodes, at a candidate: by straight lines, shape (T,)."""
    right = int(np.clip(np.searchsorted(nodes, candidate), 1, len(nodes) - 1))
    share = (candidate - nodes[right - 1]) / (nodes[right] - nodes[right - 1])
    return np.asarray((1 - share) * values[:, right - 1] + share * values[:, right])
