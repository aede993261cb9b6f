"""Evidence against one value of a mean or ratio, at every number of labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sondage.core.checks import require, require_alternative
from sondage.core.predictions import Floats
from sondage.core.sequences.betting import SCALES, between, log_capital, side_of
from sondage.core.sequences.steps import Steps

__all__ = ["anytime_pvalues", "log_evalues"]


def log_evalues(steps: Steps, null: float, alternative: str = "two-sided") -> Floats:
    r"""Return the logarithms of the e-process against one value.

    An e-process is a capital :math:`e_t \ge 0` with :math:`E[e_T] \le 1` under the null hypothesis whenever one
    stops; so :math:`P(\text{some } e_t \ge 1/\alpha) \le \alpha`. Two-sided it is the mean of both sides' capitals.

    Parameters
    ----------
    steps : Steps
        From `draw_steps`.
    null : float
        The value :math:`m_0`, within the range of the nodes.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"`` is evidence against :math:`\theta \le m_0`, ``"less"`` against :math:`\theta \ge m_0`. For
        non-inferiority with a margin put the null value there.

    Returns
    -------
    ndarray of float, shape (T,)
        :math:`\ln e_t`; infinite once the labels rule the null hypothesis out.

    Raises
    ------
    InputError
        If ``null`` is outside the range of the nodes, or ``alternative`` is unknown.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, Journal of the Royal
    Statistical Society B, 2024, 1-27.

    Examples
    --------
    >>> one, nodes = np.ones(40) / 40, np.array([0.0, 1.0])
    >>> from sondage.core.sequences import Stage, Units, draw_steps, rest_of
    >>> units = Units(one, one / 2, one, np.outer(one, -nodes), np.outer(one, 1 - nodes), one**2 / 4)
    >>> stage = Stage(units.take(np.arange(12)), one[:12], one[:12], rest_of(units.take(np.arange(12, 40)), nodes))
    >>> log_evalues(draw_steps([stage], nodes), 0.5)[[3, 11]].round(1).tolist()  # 4 and 12 ones, no zero
    [0.7, 5.8]
    """
    require(steps.nodes[0] <= null <= steps.nodes[-1], f"null {null} is outside {steps.nodes[[0, -1]]}")
    require_alternative(alternative)
    signs = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[alternative]
    sides = [_one_sided(steps, null, sign) for sign in signs]
    return np.asarray(np.logaddexp.reduce(sides, axis=0) - np.log(len(sides)))


def anytime_pvalues(log_evalues: ArrayLike) -> Floats:
    r"""Return p-values that hold at every number of labels: :math:`\min(1, 1 / \max_{r \le t} e_r)`.

    Parameters
    ----------
    log_evalues : array_like of float, shape (T,)
        Logarithms of an e-process.

    Examples
    --------
    >>> anytime_pvalues(np.log([0.5, 4.0, 2.0])).tolist()
    [1.0, 0.25, 0.25]
    """
    most = np.maximum.accumulate(np.asarray(log_evalues, dtype=float))
    return np.asarray(np.exp(-np.maximum(most, 0.0)))


def _one_sided(steps: Steps, null: float, sign: int) -> Floats:
    """Return the log capital of one side."""
    logs = log_capital(side_of(steps, sign), np.array([null]))[0]
    capital = np.logaddexp.reduce(logs, axis=0) - np.log(len(SCALES))
    bounds = steps.least if sign > 0 else -steps.most
    after = between(steps.nodes, bounds, null)
    slack = 1e-12 * float(np.abs(bounds).max(initial=0.0))
    return np.asarray(np.where(np.maximum.accumulate(after) > slack, np.inf, capital))
