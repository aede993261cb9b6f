"""The interval of a difference of two independent estimates, from their own intervals."""

from __future__ import annotations

import math

from sondage.core.checks import require, require_number
from sondage.core.intervals.ends import UNBOUNDED, clipped
from sondage.core.results import Interval

__all__ = ["mover_interval"]


def mover_interval(
    first: float,
    first_interval: Interval,
    second: float,
    second_interval: Interval,
    *,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Interval:
    r"""Return the interval of the difference of two independent estimates: the method of variance estimates recovery.

    .. math::
        d - \sqrt{(\hat\theta_1 - l_1)^2 + (u_2 - \hat\theta_2)^2}, \quad
        d + \sqrt{(u_1 - \hat\theta_1)^2 + (\hat\theta_2 - l_2)^2}, \qquad d = \hat\theta_1 - \hat\theta_2

    It is as uneven as the intervals are, and of Wald's it is Wald's.

    Parameters
    ----------
    first : float
        The first estimate.
    first_interval : Interval
        Its interval.
    second : float
        The second estimate.
    second_interval : Interval
        Its interval, of the same level.
    bounds : tuple of float
        Range of possible differences.

    Returns
    -------
    Interval
        Of kind ``"mover"``.

    Raises
    ------
    InputError
        If an estimate is not finite, or the levels differ.

    References
    ----------
    R. G. Newcombe, Interval estimation for the difference between independent proportions, Statistics in Medicine,
    1998, 873-890, method 10.

    G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a general approach, Statistics in
    Medicine, 2008, 1693-1702.

    Examples
    --------
    >>> from sondage.core.intervals import wilson_interval
    >>> found = mover_interval(56 / 70, wilson_interval(56 / 70, 70), 48 / 80, wilson_interval(48 / 80, 80))
    >>> round(found.low, 4), round(found.high, 4)
    (0.0524, 0.3339)
    """
    require_number("value", first)
    require_number("value", second)
    levels = first_interval.level, second_interval.level
    require(levels[0] == levels[1], f"intervals of levels {levels[0]} and {levels[1]}: both must have the same")
    below, above = (max(gap, 0.0) for gap in (first - first_interval.low, first_interval.high - first))
    under, over = (max(gap, 0.0) for gap in (second - second_interval.low, second_interval.high - second))
    gap = first - second
    return clipped(gap - math.hypot(below, over), gap + math.hypot(above, under), levels[0], "mover", bounds)
