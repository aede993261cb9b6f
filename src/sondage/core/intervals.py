r"""Confidence intervals from a value and its error, from counts, and from the labels themselves.

Every function returns an `Interval`. ``bounds`` is the range that the true value cannot leave; both ends are moved
into it, which never loses a true value.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from sondage.core.results import Interval
from sondage.errors import InputError

__all__ = [
    "bootstrap_interval",
    "clopper_pearson_interval",
    "fieller_interval",
    "hypergeometric_interval",
    "t_interval",
    "unseen_bound",
    "wald_interval",
    "wilson_effective_interval",
    "wilson_interval",
]

_UNBOUNDED = (-math.inf, math.inf)
_BLOCK = 2**22  # numbers held at once while resampling: 32 MiB


def wald_interval(
    value: float, std_error: float, level: float = 0.95, *, bounds: tuple[float, float] = _UNBOUNDED
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
    C. Sawade, Active Evaluation of Predictive Models, 2012, Lemma 3.3.

    Examples
    --------
    >>> ends = wald_interval(0.3, 0.05)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.202, 0.398)
    """
    return _around(value, std_error, _quantile(level), level, "wald", bounds)


def t_interval(
    value: float, std_error: float, df: float, level: float = 0.95, *, bounds: tuple[float, float] = _UNBOUNDED
) -> Interval:
    r"""Return the value plus and minus a quantile of Student's t times its standard error.

    .. math:: \hat\theta \pm t_{\nu, 1 - \alpha / 2} \, \mathrm{se}

    Parameters
    ----------
    value, std_error, level, bounds
        As for `wald_interval`.
    df : float
        Degrees of freedom :math:`\nu`, above 0; infinity gives the Wald interval.

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
    C. Sawade, Active Evaluation of Predictive Models, 2012, section 3.2.2.

    Examples
    --------
    >>> ends = t_interval(0.3, 0.05, df=10)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.1886, 0.4114)
    """
    return _around(value, std_error, _quantile(level, df), level, "t", bounds)


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
    C. Sawade, Active Evaluation of Predictive Models, 2012, equations 3.19 and 3.20.
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association, 1927, 209-212.

    Examples
    --------
    >>> ends = wilson_interval(0.0, 10)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.0, 0.2775)
    """
    return _wilson(proportion, n, _quantile(level), level)


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
    C. Sawade, Active Evaluation of Predictive Models, 2012, equations 3.19 and 3.20.
    E. L. Korn and B. I. Graubard, Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data, Survey Methodology, 1998, 193-201 (effective sample size with ``df``).

    Examples
    --------
    >>> ends = wilson_effective_interval(0.2, 0.04)  # as wilson_interval(0.2, 100)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.1334, 0.2888)
    """
    z = _quantile(level)
    _require_error(std_error)
    _require(0 <= proportion <= 1, f"proportion {proportion} is outside [0, 1]")
    shrink = 1.0 if df is None else (z / _quantile(level, df)) ** 2
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
        Of kind ``"clopper-pearson"``, inside [0, 1].

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
    tail = _tail(level)
    _require_counts(successes, n)
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(special.betainccinv(successes + 1, n - successes, tail))
    return Interval(low, high, level, "clopper-pearson")


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

    tail = _tail(level)
    _require(pool_size >= 1, f"pool_size {pool_size} is below 1")
    _require_counts(successes, n)
    _require(n <= pool_size, f"n {n} is above the pool's {pool_size} items")
    totals = range(successes, pool_size - n + successes + 1)
    # Both tail probabilities are monotone in the total, so that each end is found by bisection.
    first = bisect_left(totals, True, key=lambda total: bool(hypergeom.sf(successes - 1, pool_size, total, n) > tail))
    beyond = bisect_left(totals, True, key=lambda total: bool(hypergeom.cdf(successes, pool_size, total, n) <= tail))
    return Interval(totals[first] / pool_size, totals[beyond - 1] / pool_size, level, "hypergeometric")


def fieller_interval(
    numerator: float,
    denominator: float,
    var_numerator: float,
    var_denominator: float,
    covariance: float,
    level: float = 0.95,
    *,
    df: float | None = None,
    bounds: tuple[float, float] = _UNBOUNDED,
) -> Interval:
    r"""Return Fieller's interval of a ratio of two normal estimates.

    All ratios :math:`t` for which :math:`a - t b` is within :math:`z` of its standard errors of 0:

    .. math:: (b^2 - z^2 V_b) t^2 - 2 (a b - z^2 C_{ab}) t + a^2 - z^2 V_a \le 0.

    Parameters
    ----------
    numerator, denominator : float
        The estimates :math:`a` and :math:`b`.
    var_numerator, var_denominator, covariance : float
        Their variances, 0 or more, and their covariance, at most the root of the variances' product.
    level : float
        Confidence level, in (0, 1).
    df : float, optional
        Degrees of freedom of the variances; Student's quantile then takes the place of :math:`z`.
    bounds : tuple of float
        Range of possible ratios.

    Returns
    -------
    Interval
        Of kind ``"fieller"``: the smallest interval that holds all such :math:`t` inside ``bounds``. See the notes.

    Raises
    ------
    InputError
        If a variance is negative, the covariance too large, a number not finite, or the denominator and its variance
        are both 0.

    Notes
    -----
    The set is bounded only if the denominator differs significantly from 0, :math:`b^2 > z^2 V_b`. Otherwise it is
    the whole line, or the line without a gap. Ends are infinite then, as an interval cannot show the gap; where
    ``bounds`` cut off one side of the gap, what remains of the other is returned. If no ratio inside ``bounds`` is
    left, which takes an estimate outside them, a bounded set gives the nearer bound and an unbounded one both.

    References
    ----------
    E. C. Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B, 1954, 175-185.

    Examples
    --------
    >>> ends = fieller_interval(1.0, 2.0, 0.01, 0.01, 0.0)
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.3946, 0.6151)
    >>> fieller_interval(1.0, 0.1, 0.01, 0.01, 0.0).width
    inf
    """
    square = _quantile(level, df) ** 2
    given = (numerator, denominator, var_numerator, var_denominator, covariance)
    _require(all(map(math.isfinite, given)), f"estimates and variances {given} must be finite")
    _require(min(var_numerator, var_denominator) >= 0, f"variances {given[2:4]} must be 0 or more")
    limit = math.sqrt(var_numerator) * math.sqrt(var_denominator)
    _require(abs(covariance) <= limit * (1 + 1e-9), f"covariance {covariance} is beyond {limit}, what variances allow")
    _require(denominator != 0 or var_denominator > 0, "denominator 0 with variance 0: the ratio does not exist")
    a = denominator**2 - square * var_denominator
    b = numerator * denominator - square * covariance
    c = numerator**2 - square * var_numerator
    return _clipped(*_solutions(a, b, c, _checked(bounds)), level, "fieller", bounds)


def bootstrap_interval(
    statistics: NDArray[np.float64],
    weights: ArrayLike,
    function: Callable[[NDArray[np.float64]], float],
    level: float = 0.95,
    *,
    generator: np.random.Generator,
    resamples: int = 2000,
    bounds: tuple[float, float] = _UNBOUNDED,
) -> Interval:
    r"""Return the percentile bootstrap interval of a function of weighted means.

    Units are drawn with replacement together with their weights; with :math:`c_i` the number of times that unit
    :math:`i` was drawn, one resample's value is :math:`g(\sum_i c_i w_i s_i / \sum_i c_i w_i)`.

    Parameters
    ----------
    statistics : ndarray of float, shape (n, d)
        What the labelled units contribute, :math:`s_i`.
    weights : array_like of float, shape (n,)
        Their weights, above 0, on any scale.
    function : callable
        :math:`g`, from an array of shape (d,) to a number.
    level : float
        Confidence level, in (0, 1).
    generator : numpy.random.Generator
        Source of the resamples.
    resamples : int
        Their number, at least 2 / (1 - level) - 1.
    bounds : tuple of float
        Range of possible values.

    Returns
    -------
    Interval
        Of kind ``"bootstrap"``.

    Raises
    ------
    InputError
        If the shapes do not fit, a number is not finite, a weight is not above 0, or there are too few resamples.

    Notes
    -----
    A resample where ``function`` is NaN (no positive item in it, say) counts as below all others for the low end and
    above all others for the high end: the interval gets wider, up to ``bounds``, never too narrow. Units must
    have been drawn independently; after a draw without replacement from a small pool the interval is too wide.
    If all units are equal it is a single point.

    References
    ----------
    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.

    Examples
    --------
    >>> import numpy as np
    >>> losses = np.array([[0.0], [1.0], [0.0], [0.0], [1.0], [0.0]])
    >>> ends = bootstrap_interval(losses, np.ones(6), lambda mean: mean[0], generator=np.random.default_rng(0))
    >>> round(ends.low, 4), round(ends.high, 4)
    (0.0, 0.6667)
    """
    tail, _ = _tail(level), _checked(bounds)
    rank = math.floor((resamples + 1) * tail + 1e-9)
    _require(rank >= 1, f"resamples {resamples} are too few for level {level}; at least {math.ceil(1 / tail) - 1}")
    means = _resampled_means(statistics, weights, generator, resamples)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.array([float(function(mean)) for mean in means])
    low = np.sort(np.where(np.isnan(values), -np.inf, values))[rank - 1]
    high = np.sort(np.where(np.isnan(values), np.inf, values))[-rank]
    return _clipped(float(low), float(high), level, "bootstrap", bounds)


def unseen_bound(
    weights: ArrayLike, inclusion: ArrayLike, level: float = 0.95, *, labelled: ArrayLike | None = None
) -> Interval:
    r"""Return the upper confidence bound of an error rate when no error was seen.

    If :math:`E` is the set of errors, a Poisson sample misses it with probability
    :math:`\prod_{i \in E} (1 - \pi_i)`. Sets that would be missed with less than :math:`\alpha` are rejected, so that
    the bound is the largest pool share of those that are left:

    .. math:: \max_E \sum_{i \in E} b_i \quad\text{with}\quad \sum_{i \in E} -\ln(1 - \pi_i) \le -\ln \alpha.

    Parameters
    ----------
    weights : array_like of float, shape (N,)
        The pool's base weights, above 0, on any scale; normalised to :math:`b_i`.
    inclusion : array_like of float, shape (N,)
        Inclusion probabilities :math:`\pi_i` of all items, in [0, 1].
    level : float
        Confidence level of the one-sided bound, :math:`1 - \alpha`, in (0, 1).
    labelled : array_like of bool, shape (N,), optional
        The items that were labelled. They are known not to be errors and are left out, which lowers the bound and
        keeps its level: it fails only if no error is seen though that had a probability below :math:`\alpha`.

    Returns
    -------
    Interval
        From 0 to the bound, of kind ``"unseen"``.

    Raises
    ------
    InputError
        If the shapes differ, the pool is empty, or a number is outside the range given above.

    Notes
    -----
    Items are taken in ascending order of :math:`-\ln(1 - \pi_i) / b_i`, and the last one in part. That part makes it
    the solution with divisible items, never below the best whole set: at most the share of one item too high and
    never too low, while whole items taken greedily can fall short of the best set. Items that could not be
    drawn cost nothing and are always counted. For simple random samples and draws with replacement (then
    :math:`\pi_i = 1 - (1 - q_i)^n`) the product is an upper bound of the true probability: the level holds too.

    Examples
    --------
    >>> import numpy as np
    >>> round(unseen_bound(np.ones(1000), np.full(1000, 0.1)).high, 6)  # ln(0.05) / ln(0.9) = 28.433 items
    0.028433
    """
    _require(0 < level < 1, f"level {level} is outside (0, 1)")
    base, probability = np.asarray(weights, dtype=float), np.asarray(inclusion, dtype=float)
    _require(base.ndim == 1 and base.size > 0, f"weights of shape {base.shape}; one number for each of 1 or more items")
    _require(base.shape == probability.shape, f"inclusion of shape {probability.shape} for {base.size} weights")
    _require_weights(base)
    wrong = ~((probability >= 0) & (probability <= 1))
    _require(not wrong.any(), f"inclusion {probability[wrong][:1]} is outside [0, 1]")
    base = base / base.sum()
    open_ = probability < 1
    if labelled is not None:
        open_ &= ~np.asarray(labelled, dtype=bool)
    return Interval(0.0, _fill(base[open_], -np.log1p(-probability[open_]), -math.log1p(-level)), level, "unseen")


def _fill(gain: NDArray[np.float64], cost: NDArray[np.float64], budget: float) -> float:
    """Return the largest total gain of divisible items whose cost is within the budget."""
    order = np.argsort(cost / gain, kind="stable")
    gain, cost = gain[order], cost[order]
    spent = np.cumsum(cost)
    whole = int(np.searchsorted(spent, budget, side="right"))
    if whole == gain.size:
        return float(min(1.0, gain.sum()))
    left = budget - (spent[whole - 1] if whole else 0.0)
    return float(gain[:whole].sum() + gain[whole] * left / cost[whole])


def _resampled_means(
    statistics: NDArray[np.float64], weights: ArrayLike, generator: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """Return weighted means of resamples, shape (resamples, d), a block at a time to bound the memory."""
    rows, w = np.asarray(statistics, dtype=float), np.asarray(weights, dtype=float)
    _require(rows.ndim == 2 and len(rows) > 0, f"statistics of shape {rows.shape}; (n, d) with n at least 1 is needed")
    _require(bool(np.isfinite(rows).all()), "statistics must be finite")
    _require(w.shape == rows.shape[:1], f"weights of shape {w.shape} for {len(rows)} units")
    _require_weights(w)
    size, even = max(1, _BLOCK // len(w)), np.full(len(w), 1 / len(w))
    blocks = []
    for start in range(0, resamples, size):
        drawn = generator.multinomial(len(w), even, size=min(size, resamples - start)) * (w / w.max())
        blocks.append(drawn @ rows / drawn.sum(axis=1, keepdims=True))
    return np.concatenate(blocks)


def _solutions(a: float, b: float, c: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the hull of {t in bounds: a t^2 - 2 b t + c <= 0}; without the bounds where all of it lies on one side."""
    if a == 0:
        return (-math.inf, c / (2 * b)) if b < 0 else (c / (2 * b), math.inf) if b > 0 else _UNBOUNDED
    root = math.sqrt(max(0.0, b * b - a * c))
    far = b + math.copysign(root, b)  # the sum that does not cancel; the other root follows from their product
    low, high = sorted((far / a, c / far if far else 0.0))
    if a > 0:
        return low, high
    if b * b <= a * c or (low < bounds[0] and high > bounds[1]):
        return _UNBOUNDED
    return (high, math.inf) if low < bounds[0] else (-math.inf, low) if high > bounds[1] else _UNBOUNDED


def _around(
    value: float, std_error: float, quantile: float, level: float, kind: str, bounds: tuple[float, float]
) -> Interval:
    _require(math.isfinite(value), f"value {value} is not finite")
    _require_error(std_error)
    half = quantile * std_error if std_error > 0 else 0.0
    return _clipped(value - half, value + half, level, kind, bounds)


def _wilson(proportion: float, n: float, z: float, level: float) -> Interval:
    _require(0 <= proportion <= 1, f"proportion {proportion} is outside [0, 1]")
    _require(n >= 0, f"n {n} is not 0 or more")
    if math.isinf(n):
        return Interval(float(proportion), float(proportion), level, "wilson")
    half = z * math.sqrt(n * proportion * (1 - proportion) + z * z / 4)
    low = (n * proportion + z * z / 2 - half) / (n + z * z)
    high = (n * proportion + z * z / 2 + half) / (n + z * z)
    # Rounding must not leave 1e-17 where the end is exact.
    return Interval(float(low) if proportion > 0 else 0.0, float(high) if proportion < 1 else 1.0, level, "wilson")


def _clipped(low: float, high: float, level: float, kind: str, bounds: tuple[float, float]) -> Interval:
    least, most = _checked(bounds)
    return Interval(float(min(max(low, least), most)), float(min(max(high, least), most)), level, kind)


def _quantile(level: float, df: float | None = None) -> float:
    """Return the two-sided quantile of Student's t, or of the normal distribution."""
    upper = 1 - _tail(level)
    if df is None:
        return float(special.ndtri(upper))
    _require(df > 0, f"df {df} is not above 0")
    return float(special.ndtri(upper) if math.isinf(df) else special.stdtrit(df, upper))


def _tail(level: float) -> float:
    _require(0 < level < 1, f"level {level} is outside (0, 1)")
    return (1 - level) / 2


def _checked(bounds: tuple[float, float]) -> tuple[float, float]:
    _require(bounds[0] < bounds[1], f"bounds {bounds}: the first must be below the second")
    return bounds


def _require_error(std_error: float) -> None:
    _require(std_error >= 0, f"std_error {std_error} is not 0 or more")


def _require_counts(successes: float, n: float) -> None:
    _require(0 <= n < math.inf, f"n {n} is not a number of trials")
    _require(0 <= successes <= n, f"successes {successes} are outside 0 to n = {n}")


def _require_weights(weights: NDArray[np.float64]) -> None:
    wrong = ~(np.isfinite(weights) & (weights > 0))
    _require(not wrong.any(), f"weight {weights[wrong][:1]} is not above 0 and finite")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InputError(message)
