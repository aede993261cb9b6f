"""Tests of a difference by its standard error: Wald and Student's t."""

from __future__ import annotations

import math

from scipy import special

from sondage.core.checks import require, require_error, require_number
from sondage.core.results import Significance
from sondage.core.significance.tails import null_difference, ratio_to_error, tail_pvalue

__all__ = ["t_test", "wald_test"]


def wald_test(
    difference: float, std_error: float, alternative: str = "two-sided", *, margin: float = 0.0
) -> Significance:
    r"""Test a difference against the normal distribution.

    .. math:: p = 2 \bigl(1 - \Phi(|\hat\Delta| / \mathrm{se})\bigr),

    or one tail of it.

    Parameters
    ----------
    difference : float
        The estimate :math:`\hat\Delta`.
    std_error : float
        Its standard error, 0 or more. 0 stands for a difference that is known exactly: the p-value is then 0 where
        the alternative is true and 1 where it is not.
    alternative : {"two-sided", "less", "greater"}
        What is to be shown about the difference.
    margin : float
        Of a one-sided test: ``"greater"`` asks whether the difference is above ``-margin``, ``"less"`` whether it is
        below ``margin``. A positive margin tests non-inferiority, a negative one superiority by more than that.

    Returns
    -------
    Significance
        Of kind ``"wald"``; the statistic is :math:`z`, infinite where ``std_error`` is 0.

    Raises
    ------
    InputError
        If ``difference`` or ``margin`` is not finite, ``std_error`` is negative or NaN, ``alternative`` is unknown, or
        a two-sided test has a margin.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, equations 3.23 and 3.24.

    Examples
    --------
    >>> round(wald_test(0.049, 0.025).pvalue, 4)
    0.05
    >>> round(wald_test(-0.01, 0.01, "greater", margin=0.03).pvalue, 4)
    0.0228
    """
    statistic = _standardised(difference, std_error, alternative, margin)
    below, above = _tails(statistic, std_error, float(special.ndtr(statistic)), float(special.ndtr(-statistic)))
    return Significance(statistic, tail_pvalue(alternative, below, above), alternative, "wald")


def t_test(
    difference: float, std_error: float, df: float, alternative: str = "two-sided", *, margin: float = 0.0
) -> Significance:
    """Test a difference against Student's t distribution.

    Parameters
    ----------
    difference, std_error
        As for `wald_test`.
    df : float
        Degrees of freedom, above 0; infinity gives the Wald test.
    alternative, margin
        As for `wald_test`.

    Returns
    -------
    Significance
        Of kind ``"t"``.

    Raises
    ------
    InputError
        As for `wald_test`, and if ``df`` is not above 0.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, section 3.2.2.

    Examples
    --------
    >>> round(t_test(0.0555, 0.025, df=10).pvalue, 3)
    0.051
    """
    statistic = _standardised(difference, std_error, alternative, margin)
    require(df > 0, f"df {df} is not above 0")
    below, above = _tails(statistic, std_error, _student(df, statistic), _student(df, -statistic))
    return Significance(statistic, tail_pvalue(alternative, below, above), alternative, "t", float(df))


def _standardised(difference: float, std_error: float, alternative: str, margin: float) -> float:
    """Return the distance from the null hypothesis in standard errors; infinite if these are 0."""
    require_number("difference", difference)
    null = null_difference(alternative, margin)
    require_error(std_error)
    return ratio_to_error(difference - null, std_error)


def _tails(statistic: float, std_error: float, below: float, above: float) -> tuple[float, float]:
    """Return both tails; 0 or 1 each where the difference is known exactly."""
    return (below, above) if std_error > 0 else (float(statistic >= 0), float(statistic <= 0))


def _student(df: float, statistic: float) -> float:
    return float(special.ndtr(statistic) if math.isinf(df) else special.stdtr(df, statistic))
