r"""How sure a comparison will be, and how many labels it takes.

``deviation`` is :math:`\sigma` of a single label: the estimate from :math:`n` labels has the standard error
:math:`\sigma / \sqrt n`, whatever the draw and the estimator. For a mean over a pool of :math:`N` items, drawn equally
and without replacement, :math:`1 / n` becomes :math:`1 / n - 1 / N`. The normal approximation is used throughout.
"""

from __future__ import annotations

import math

import scipy  # scipy.optimize is loaded when it is used
from scipy import special

from sondage.core.checks import require, require_alternative, require_level, require_number
from sondage.core.significance.tails import refutes

__all__ = ["expected_pvalue", "labels_for_power", "labels_for_width", "power"]


def power(
    difference: float,
    deviation: float,
    n: float,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    pool_size: int | None = None,
) -> float:
    r"""Return the probability that a Wald test of the difference is significant.

    With :math:`\mu = \sqrt n \Delta / \sigma` and :math:`z = \Phi^{-1}(1 - \alpha / 2)` the absolute statistic is
    folded normal, hence two-sided

    .. math:: 1 - \beta = \Phi(\mu - z) + \Phi(-\mu - z).

    Parameters
    ----------
    difference : float
        True difference :math:`\Delta`.
    deviation : float
        Standard deviation :math:`\sigma` of a single label, 0 or more. 0, like a fully labelled pool, leaves no doubt:
        the power is 1 where the alternative is true and 0 where it is not.
    n : float
        Number of labels, above 0.
    alpha : float
        Level of the test, in (0, 1).
    alternative : {"two-sided", "less", "greater"}
        What is to be shown about the difference.
    pool_size : int, optional
        Number of items of a finite pool, at least ``n``.

    Returns
    -------
    float
        The power; ``alpha`` at a difference of 0.

    Raises
    ------
    InputError
        If an argument is outside the range given above.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, equations 5.3 and 5.4.

    Examples
    --------
    >>> round(power(0.28, 1.0, 100), 4)
    0.7996
    """
    critical = _critical(alpha, alternative)
    error = _std_error(difference, deviation, n, pool_size)
    if error == 0 and difference == 0:
        return 0.0
    return _power(_shift(difference, error), critical, alternative)


def labels_for_power(
    difference: float,
    deviation: float,
    power: float = 0.8,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    pool_size: int | None = None,
) -> int:
    r"""Return the smallest number of labels with which a test has the power asked for.

    Solves :math:`1 - \beta(\mu) =` ``power`` for :math:`\mu`; then :math:`n_0 = (\mu \sigma / \Delta)^2`, and
    :math:`n = n_0 / (1 + n_0 / N)` for a finite pool, rounded up.

    Parameters
    ----------
    difference : float
        True difference :math:`\Delta`, not 0 and in the direction of the alternative.
    deviation : float
        Standard deviation of a single label, 0 or more.
    power : float
        Power asked for, above ``alpha`` and below 1.
    alpha : float
        Level of the test, in (0, 1).
    alternative : {"two-sided", "less", "greater"}
        What is to be shown about the difference.
    pool_size : int, optional
        Number of items of a finite pool, at least 1; never more labels than that are needed.

    Returns
    -------
    int
        Number of labels, at least 1.

    Raises
    ------
    InputError
        If an argument is outside the range given above, or no finite number of labels is enough.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, equation 5.3.

    Examples
    --------
    >>> labels_for_power(0.5, 1.0, 0.8)
    32
    """
    critical = _critical(alpha, alternative)
    require(alpha < power < 1, f"power {power} is outside ({alpha}, 1): above alpha and below 1")
    require_number("difference", difference)
    told = refutes(difference, alternative)
    require(told, f"difference {difference} is not what the alternative {alternative!r} looks for")
    require(0 <= deviation < math.inf, f"deviation {deviation} is not 0 or more")
    shift = critical + float(special.ndtri(power))
    if alternative == "two-sided":  # the other tail only adds: one tail's answer bounds the root
        shift = float(scipy.optimize.brentq(lambda mu: _power(mu, critical, alternative) - power, 0.0, shift + 1))
    return _labels(shift * (deviation / abs(difference)), pool_size)


def labels_for_width(deviation: float, width: float, level: float = 0.95, *, pool_size: int | None = None) -> int:
    r"""Return the smallest number of labels whose Wald interval is no wider than asked.

    .. math:: n_0 = (2 z \sigma / \mathrm{width})^2, \qquad n = \frac{n_0}{1 + n_0 / N},

    the second for a finite pool, rounded up.

    Parameters
    ----------
    deviation : float
        Standard deviation :math:`\sigma` of a single label, 0 or more; :math:`\sqrt{R (1 - R)}` for a proportion.
    width : float
        Length of the interval from end to end, above 0.
    level : float
        Confidence level, in (0, 1).
    pool_size : int, optional
        Number of items :math:`N` of a finite pool, at least 1; never more labels than that are needed.

    Returns
    -------
    int
        Number of labels, at least 1.

    Raises
    ------
    InputError
        If an argument is outside the range given above, or no finite number of labels is enough.

    References
    ----------
    W. G. Cochran, Sampling Techniques, third edition, 1977, section 4.4.

    Examples
    --------
    >>> labels_for_width(0.5, 0.1), labels_for_width(0.5, 0.1, pool_size=1000)
    (385, 278)
    """
    require_level("level", level)
    require(0 <= deviation < math.inf, f"deviation {deviation} is not 0 or more")
    require(0 < width < math.inf, f"width {width} is not above 0")
    return _labels(2 * float(special.ndtri((1 + level) / 2)) * (deviation / width), pool_size)


def expected_pvalue(
    difference: float,
    deviation: float,
    n: float,
    *,
    alternative: str = "two-sided",
    pool_size: int | None = None,
) -> float:
    r"""Return the mean p-value of a Wald test, which is the type II error averaged over all levels.

    With :math:`m = \sqrt{n / 2} \, \Delta / \sigma`, for ``"greater"`` and two-sided,

    .. math:: E[p] = \int_0^1 \beta_\alpha \, d\alpha = \Phi(-m)
       \quad\text{and}\quad 2 \, \Phi(m) \, \Phi(-m).

    Parameters
    ----------
    difference, deviation, n, alternative, pool_size
        As for `power`.

    Returns
    -------
    float
        The mean p-value; 1/2 at a difference of 0.

    Raises
    ------
    InputError
        If an argument is outside its range.

    Notes
    -----
    One-sided: the mean of :math:`\Phi(-T)`, :math:`T \sim N(\mu, 1)`, is the probability that another standard normal
    :math:`Z` exceeds :math:`T`. Two-sided it is that of :math:`|Z| > |T|`, that is, of :math:`Z - T` and :math:`Z + T`
    having the same sign; these two are independent.

    References
    ----------
    H. Sackrowitz and E. Samuel-Cahn, P values as random variables: expected p values, The American Statistician, 1999,
    326-331. C. Sawade, Active Evaluation of Predictive Models, 2013, section 5.1 (prints power for type II error).

    Examples
    --------
    >>> round(expected_pvalue(0.28, 1.0, 100), 4)
    0.0466
    """
    require_alternative(alternative)
    error = _std_error(difference, deviation, n, pool_size)
    if error == 0 and difference == 0:
        return 1.0
    half = _shift(difference, error) / math.sqrt(2)
    above, below = float(special.ndtr(-half)), float(special.ndtr(half))
    return {"greater": above, "less": below, "two-sided": 2 * above * below}[alternative]


def _std_error(difference: float, deviation: float, n: float, pool_size: int | None) -> float:
    require_number("difference", difference)
    require(0 <= deviation < math.inf, f"deviation {deviation} is not 0 or more")
    require(0 < n < math.inf, f"n {n} is not above 0")
    if pool_size is None:
        return deviation / math.sqrt(n)
    require(n <= pool_size, f"n {n} is above the pool's {pool_size} items")
    return deviation * math.sqrt((1 - n / pool_size) / n)


def _shift(difference: float, std_error: float) -> float:
    """Return the mean of the test statistic."""
    return difference / std_error if std_error > 0 else math.copysign(math.inf, difference)


def _critical(alpha: float, alternative: str) -> float:
    require_level("alpha", alpha)
    require_alternative(alternative)
    return -float(special.ndtri(alpha / 2 if alternative == "two-sided" else alpha))


def _power(shift: float, critical: float, alternative: str) -> float:
    """Return the probability that a normal statistic of this mean is beyond the critical value."""
    above, below = float(special.ndtr(shift - critical)), float(special.ndtr(-shift - critical))
    return {"greater": above, "less": below, "two-sided": above + below}[alternative]


def _labels(root: float, pool_size: int | None) -> int:
    """Return the number of labels, at least 1, from its square root in an unlimited pool."""
    labels = root * root
    if pool_size is None:
        require(math.isfinite(labels), "no finite number of labels is enough")
        return max(1, _ceil(labels))
    require(pool_size >= 1, f"pool_size {pool_size} is below 1")
    return min(pool_size, max(1, _ceil(1 / (1 / labels + 1 / pool_size) if labels > 0 else 0.0)))


def _ceil(labels: float) -> int:
    """Round up, but not for what rounding added to a whole number."""
    return math.ceil(labels * (1 - 1e-12))
