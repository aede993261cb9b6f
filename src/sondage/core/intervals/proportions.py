"""Intervals of a proportion: Wilson's, at an effective size, and the exact ones of two count distributions."""

from __future__ import annotations

import math
from bisect import bisect_left

from scipy import special

from sondage.core.checks import require, require_error
from sondage.core.intervals.ends import quantile, tail_level
from sondage.core.results import Interval
from sondage.errors import InputError

__all__ = ["clopper_pearson_interval", "hypergeometric_interval", "wilson_effective_interval", "wilson_interval"]


def wilson_interval(proportion: float, n: float, level: float = 0.95) -> Interval:
    r"""Return Wilson's score interval of a proportion.

    The two roots :math:`R` of :math:`(\hat R - R)^2 = z^2 R (1 - R) / n`, with
    :math:`z = \Phi^{-1}(1 - \alpha / 2)`:

    .. math:: \frac{n \hat R + z^2 / 2 \pm z \sqrt{n \hat R (1 - \hat R) + z^2 / 4}}{n + z^2}

    Parameters
    ----------
    proportion : float
        The estimate :math:`\hat R`, in [0, 1].
    n : float
        Sample size, 0 or more. A fraction is allowed, so that an effective sample size may stand here. 0 gives
        [0, 1], infinity a single point.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    Interval
        Of kind ``"wilson"``, inside [0, 1].

    Raises
    ------
    InputError
        If an argument is outside the range given above.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, equations 3.19 and 3.20.
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association, 1927, 209-212.

    Examples
    --------
    >>> ends = wilson_interval(0.0, 10)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.0, 0.2775)
    """
    return _wilson(proportion, n, quantile(level), level)


def wilson_effective_interval(
    proportion: float, std_error: float, level: float = 0.95, *, df: float | None = None, n: float | None = None
) -> Interval:
    r"""Return Wilson's interval at the sample size that explains a standard error.

    An estimate from unequal draws is as precise as one from
    :math:`n_{\mathrm{eff}} = \hat R (1 - \hat R) / \mathrm{se}^2` equal draws. With ``df`` the standard error is
    first enlarged by :math:`t_{\nu, 1 - \alpha / 2} / z_{1 - \alpha / 2}`, as it is itself uncertain.

    Parameters
    ----------
    proportion : float
        The estimate :math:`\hat R`, in [0, 1].
    std_error : float
        Its standard error, 0 or more. 0 at a proportion strictly inside (0, 1) gives a single point, infinity [0, 1].
    level : float
        Confidence level, in (0, 1).
    df : float, optional
        Degrees of freedom of the standard error, above 0.
    n : float, optional
        Sample size for a proportion of exactly 0 or 1, where the standard error says nothing; not used otherwise.
        It counts labels as if they were drawn equally; `unseen_bound` takes the draw into account.

    Returns
    -------
    Interval
        Of kind ``"wilson"``, inside [0, 1].

    Raises
    ------
    InputError
        If an argument is outside its range, or the proportion is 0 or 1 and ``n`` is missing.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, equations 3.19 and 3.20.
    E. L. Korn and B. I. Graubard, Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data, Survey Methodology, 1998, 193-201 (effective sample size with ``df``).

    Examples
    --------
    >>> ends = wilson_effective_interval(0.2, 0.04)  # as wilson_interval(0.2, 100)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.1334, 0.2888)
    """
    z = quantile(level)
    require_error(std_error)
    require(0 <= proportion <= 1, f"proportion {proportion} is outside [0, 1]")
    shrink = 1.0 if df is None else (z / quantile(level, df)) ** 2
    if proportion in (0, 1):
        if n is None:
            raise InputError(f"proportion {proportion} has no effective sample size; give n, the number of labels")
        return _wilson(proportion, shrink * n, z, level)
    effective = math.inf if std_error == 0 else proportion * (1 - proportion) / std_error / std_error
    return _wilson(proportion, shrink * effective, z, level)


def clopper_pearson_interval(successes: float, n: float, level: float = 0.95) -> Interval:
    r"""Return the exact interval of a binomial proportion.

    All :math:`R` that neither one-sided binomial test at :math:`\alpha / 2` rejects. With quantiles :math:`B` of the
    beta distribution,

    .. math:: \bigl[ B_{\alpha / 2}(k, n - k + 1), \; B_{1 - \alpha / 2}(k + 1, n - k) \bigr].

    It covers with at least ``level`` for every :math:`R`, and is wider than needed for most.

    Parameters
    ----------
    successes : float
        Number of successes :math:`k`, from 0 to ``n``.
    n : float
        Number of trials; 0 gives [0, 1]. Fractions of both are allowed, for effective sample sizes; the guarantee
        holds for whole numbers.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    Interval
        Of kind ``"clopper_pearson"``, inside [0, 1].

    Raises
    ------
    InputError
        If an argument is outside the range given above.

    References
    ----------
    C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika, 1934, 404-413.

    Examples
    --------
    >>> ends = clopper_pearson_interval(0, 10)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.0, 0.3085)
    """
    tail = tail_level(level)
    _require_counts(successes, n)
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(special.betainccinv(successes + 1, n - successes, tail))
    return Interval(low, high, level, "clopper_pearson")


def hypergeometric_interval(successes: int, n: int, pool_size: int, level: float = 0.95) -> Interval:
    r"""Return the exact interval of a proportion of a finite pool, from a simple random sample.

    The sample's count :math:`k` is hypergeometric given the pool's count :math:`K`. The interval holds every
    :math:`K / N` with :math:`P(X \le k \mid K) > \alpha / 2` and :math:`P(X \ge k \mid K) > \alpha / 2`; it covers
    with at least ``level`` for every :math:`K` and is a single point once all is labelled.

    Parameters
    ----------
    successes : int
        Number of successes in the sample, from 0 to ``n``.
    n : int
        Sample size, drawn without replacement with equal probabilities, from 0 to ``pool_size``.
    pool_size : int
        Number of items :math:`N` of the pool, at least 1.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    Interval
        Of kind ``"hypergeometric"``; both ends are multiples of :math:`1 / N`.

    Raises
    ------
    InputError
        If an argument is outside the range given above.

    References
    ----------
    J. P. Buonaccorsi, A note on confidence intervals for proportions in finite populations, The American
    Statistician, 1987, 215-218.

    Examples
    --------
    >>> ends = hypergeometric_interval(0, 10, pool_size=20)
    >>> ends.low, ends.high
    (0.0, 0.2)
    """
    from scipy.stats import hypergeom  # here, for scipy.stats doubles the time to import sondage

    tail = tail_level(level)
    require(pool_size >= 1, f"pool_size {pool_size} is below 1")
    _require_counts(successes, n)
    require(n <= pool_size, f"n {n} is above the pool's {pool_size} items")
    totals = range(successes, pool_size - n + successes + 1)
    # Both tail probabilities are monotone in the total, so that each end is found by bisection.
    first = bisect_left(totals, True, key=lambda total: bool(hypergeom.sf(successes - 1, pool_size, total, n) > tail))
    beyond = bisect_left(totals, True, key=lambda total: bool(hypergeom.cdf(successes, pool_size, total, n) <= tail))
    return Interval(totals[first] / pool_size, totals[beyond - 1] / pool_size, level, "hypergeometric")


def _wilson(proportion: float, n: float, z: float, level: float) -> Interval:
    require(0 <= proportion <= 1, f"proportion {proportion} is outside [0, 1]")
    require(n >= 0, f"n {n} is not 0 or more")
    if math.isinf(n):
        return Interval(float(proportion), float(proportion), level, "wilson")
    half = z * math.sqrt(n * proportion * (1 - proportion) + z * z / 4)
    low = (n * proportion + z * z / 2 - half) / (n + z * z)
    high = (n * proportion + z * z / 2 + half) / (n + z * z)
    # Rounding must not leave 1e-17 where the end is exact.
    return Interval(float(low) if proportion > 0 else 0.0, float(high) if proportion < 1 else 1.0, level, "wilson")


def _require_counts(successes: float, n: float) -> None:
    require(0 <= n < math.inf, f"n {n} is not a number of trials")
    require(0 <= successes <= n, f"successes {successes} are outside 0 to n = {n}")
