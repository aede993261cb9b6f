"""Intervals from a value and its standard error: Wald and Student's t."""

from __future__ import annotations

from sondage.core.intervals.ends import UNBOUNDED, around, quantile
from sondage.core.results import Interval

__all__ = ["t_interval", "wald_interval"]


def wald_interval(
    value: float, std_error: float, level: float = 0.95, *, bounds: tuple[float, float] = UNBOUNDED
) -> Interval:
    r"""Return the value plus and minus a normal quantile of its standard error.

    .. math:: \hat\theta \pm \Phi^{-1}(1 - \alpha / 2) \, \mathrm{se}

    Parameters
    ----------
    value : float
        The estimate.
    std_error : float
        Its standard error, 0 or more. 0 gives a single point: right for a pool that is fully labelled, far too
        narrow where merely no error was seen (see `unseen_bound`). Infinity gives the whole of ``bounds``.
    level : float
        Confidence level, in (0, 1).
    bounds : tuple of float
        Range of possible values.

    Returns
    -------
    Interval
        Of kind ``"wald"``.

    Raises
    ------
    InputError
        If ``value`` is not finite, ``std_error`` is negative or NaN, or ``level`` is outside (0, 1).

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, Lemma 3.3.

    Examples
    --------
    >>> ends = wald_interval(0.3, 0.05)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.202, 0.398)
    """
    return around(value, std_error, quantile(level), level, "wald", bounds)


def t_interval(
    value: float, std_error: float, df: float, level: float = 0.95, *, bounds: tuple[float, float] = UNBOUNDED
) -> Interval:
    r"""Return the value plus and minus a quantile of Student's t times its standard error.

    .. math:: \hat\theta \pm t_{\nu, 1 - \alpha / 2} \, \mathrm{se}

    Parameters
    ----------
    value, std_error
        As for `wald_interval`.
    df : float
        Degrees of freedom :math:`\nu`, above 0; infinity gives the Wald interval.
    level, bounds
        As for `wald_interval`.

    Returns
    -------
    Interval
        Of kind ``"t"``.

    Raises
    ------
    InputError
        As for `wald_interval`, and if ``df`` is not above 0.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, section 3.2.2.

    Examples
    --------
    >>> ends = t_interval(0.3, 0.05, df=10)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.1886, 0.4114)
    """
    return around(value, std_error, quantile(level, df), level, "t", bounds)
