r"""From a draw in key order to steps, each with an unbiased estimate of what is asked for.

A mean or a ratio of pool means is a value m with

.. math:: Z(m) = \sum_i z_i(m) = 0, \qquad z_i(m) = t_i - m \, d_i,

where :math:`t_i` and :math:`d_i \ge 0` are the unit's parts of the top and the bottom, base weights included:
:math:`t_i = b_i \ell_i, d_i = b_i` for a risk, :math:`t_i = b_i [f_i = y_i = 1]` and
:math:`d_i = b_i (\eta [f_i = 1] + (1 - \eta) [y_i = 1])` for :math:`F_\eta`. Let :math:`A_t` be the units not asked
before step t. In key order the next one is i with probability :math:`q_t(i) = a_i / R_t`, :math:`R_t = \sum_{j \in A_t}
a_j`, and with any belief :math:`h_i(m)` of :math:`z_i(m)` that was fixed before,

.. math:: X_t(m) = \sum_{j \notin A_t} z_j(m) + \sum_{j \in A_t} h_j(m) + \frac{z_i(m) - h_i(m)}{q_t(i)}

has, given all that happened before, the mean :math:`Z(m)`, which is 0 at the truth. It is linear in m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sondage.core.checks import require
from sondage.core.predictions import Floats
from sondage.core.sequences.units import Rest, Units, payoffs, slack

__all__ = ["Stage", "Steps", "draw_steps"]

ROUNDING = 1e-12
"""Share of the largest part by which rounding may take a label out of its unit's range."""
LEAST_DEVIATION, MOST_DEVIATION = 0.01, 0.5
"""Of a step, as shares of how far it could reach."""


@dataclass(frozen=True, eq=False)
class Stage:
    """The labelled units of one stage of a draw.

    Attributes
    ----------
    units : Units
        Those asked for, first to last, all with a rate above 0.
    top, bottom : ndarray of float, shape (n,)
        Their parts at the labels given.
    rest : Rest
        What was left: asked for neither by this stage nor by one before it, with this stage's rates and belief.
    """

    units: Units
    top: Floats
    bottom: Floats
    rest: Rest


@dataclass(frozen=True, eq=False)
class Steps:
    r"""One unbiased estimate for each label, and what each could have been.

    Attributes
    ----------
    nodes : ndarray of float, shape (K,)
        Values m at which bounds are given.
    top, bottom : ndarray of float, shape (T,)
        :math:`X_t(m) = \mathrm{top}_t - m \, \mathrm{bottom}_t`.
    lowest, highest : ndarray of float, shape (T, K)
        Bounds of :math:`X_t(m)` that were known before the step.
    least, most : ndarray of float, shape (T, K)
        Bounds of :math:`Z(m)` known after the step: what is seen, and the lowest or highest of the rest.
    deviations : ndarray of float, shape (T,)
        About how far :math:`X_t` was expected to lie from its mean, above 0.
    """

    nodes: Floats
    top: Floats
    bottom: Floats
    lowest: Floats
    highest: Floats
    least: Floats
    most: Floats
    deviations: Floats

    def __len__(self) -> int:
        return len(self.top)


def draw_steps(stages: Sequence[Stage], nodes: ArrayLike) -> Steps:
    r"""Return the steps of a draw without replacement in key order, in one stage or several.

    Parameters
    ----------
    stages : sequence of Stage
        In their order. Rates and belief of a stage may depend on all labels of the stages before it, and on no other.
    nodes : array_like of float, shape (K,)
        Ascending values m, the first and the last of them the ends of the range of the mean or ratio. Between nodes
        bounds are taken from straight lines, which is safe: the largest of linear functions is convex. More nodes
        make tighter bounds for ratios, five are enough for F; for means two are exact.

    Returns
    -------
    Steps
        One for each labelled unit.

    Raises
    ------
    InputError
        If nodes are not ascending, there is no stage, a drawn unit has no rate, a bottom is negative, a number is not
        finite (unbounded losses), or a label or belief is outside the range given for its unit.

    Notes
    -----
    The order must be the order of the keys, and every unit up to the last must be answered: cut the draw before the
    first pending or skipped unit. A unit without a rate must have one possible value, see `rest_of`.

    Examples
    --------
    >>> from sondage.core.sequences import rest_of
    >>> thirds = np.full(3, 1 / 3)
    >>> units = Units(np.ones(3), 0.5 * thirds, thirds, np.outer(thirds, [0, -1]), np.outer(thirds, [1, 0]), np.ones(3))
    >>> rest = rest_of(units.take(np.array([2])), [0, 1])
    >>> steps = draw_steps([Stage(units.take(np.array([0, 1])), thirds[:2] * [1, 0], thirds[:2], rest)], [0, 1])
    >>> steps.top.round(3).tolist(), steps.lowest[1].round(3).tolist()  # (1 + 0 + 0) / 3 was the lowest possible
    ([1.0, 0.333], [0.333, -0.667])
    """
    at = np.asarray(nodes, dtype=float)
    require(at.ndim == 1 and at.size > 1 and bool(np.all(np.diff(at) > 0)), f"nodes {at} are not ascending")
    require(len(stages) > 0, "no stage was drawn; at least 1")
    seen, parts = (0.0, 0.0), []
    for stage in stages:
        if not stage.top.size:  # ended before anything of it was asked for
            continue
        _require_possible(stage, at)
        parts.append(_stage_steps(stage, at, seen))
        seen = (seen[0] + float(stage.top.sum()), seen[1] + float(stage.bottom.sum()))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Steps(at, *columns)


def _stage_steps(stage: Stage, nodes: Floats, seen: tuple[float, float]) -> tuple[Floats, ...]:
    """Return the columns of the stage's steps; `seen` has the parts of all stages before."""
    units, rest = stage.units, stage.rest
    rates = _remaining(units.rates, rest.rates)
    top = seen[0] + _before(stage.top) + _remaining(units.top, rest.top)
    bottom = seen[1] + _before(stage.bottom) + _remaining(units.bottom, rest.bottom)
    known = top[:, None] - bottom[:, None] * nodes
    below, above = payoffs(units, nodes)
    lowest = known + rates[:, None] * _extreme(np.minimum, below, rest.least)
    highest = known + rates[:, None] * _extreme(np.maximum, above, rest.most)
    weight = rates / units.rates
    now = (seen[0] + np.cumsum(stage.top))[:, None] - (seen[1] + np.cumsum(stage.bottom))[:, None] * nodes
    variance = rates * _remaining(units.variances / units.rates, rest.variance)
    reach = (highest - lowest).max(axis=1) + np.finfo(float).tiny
    return (
        top + weight * (stage.top - units.top),
        bottom + weight * (stage.bottom - units.bottom),
        lowest,
        highest,
        now + _after(units.lowest, rest.lowest),
        now + _after(units.highest, rest.highest),
        np.clip(np.sqrt(variance), LEAST_DEVIATION * reach, MOST_DEVIATION * reach),
    )


def _before(values: Floats) -> Floats:
    """Return the sum of all values before each."""
    return np.concatenate([[0.0], np.cumsum(values)[:-1]])[: len(values)]


def _remaining(values: Floats, rest: float) -> Floats:
    """Return the sum of each value, those after it, and the rest."""
    return np.asarray(np.cumsum(np.append(values, rest)[::-1])[::-1][:-1])


def _after(values: Floats, rest: Floats) -> Floats:
    """Return the column sums of the values after each row, and the rest."""
    return np.asarray(np.cumsum(np.vstack([values, rest])[::-1], axis=0)[::-1][1:])


def _extreme(pick: np.ufunc, values: Floats, rest: Floats) -> Floats:
    """Return the extreme of each row, those after it, and the rest."""
    return np.asarray(pick.accumulate(np.vstack([values, rest])[::-1], axis=0)[::-1][:-1])


def _require_possible(stage: Stage, nodes: Floats) -> None:
    """Refuse what no draw or label can give."""
    units = stage.units
    require(bool(np.all(units.rates > 0)), "a drawn unit has rate 0")
    require(bool(np.all(stage.bottom >= 0) and np.all(units.bottom >= 0)), "a bottom is negative")
    finite = np.isfinite(units.lowest).all() and np.isfinite(units.highest).all()
    finite = finite and np.isfinite(stage.rest.lowest).all() and np.isfinite(stage.rest.highest).all()
    require(bool(finite), "a unit's range is not finite; any-time inference needs bounded losses")
    scale = np.abs(stage.top).max(initial=0.0) + np.abs(stage.bottom).max(initial=0.0) * np.abs(nodes).max()
    allowed = slack(units) + ROUNDING * scale  # where no label can matter the range is what rounding leaves
    given = stage.top[:, None] - stage.bottom[:, None] * nodes
    for name, value in {"label": given, "belief": units.believed(nodes)}.items():
        wrong = ~((units.lowest - allowed <= value) & (value <= units.highest + allowed)).all(axis=1)
        require(not wrong.any(), f"the {name} of drawn unit {int(np.argmax(wrong))} is outside the unit's range")
