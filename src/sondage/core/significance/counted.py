r"""Exact tests and interval of a difference of accuracies, from a random part of the items where two models differ.

Outside those :math:`D` of :math:`N` items the difference is known to be 0. Inside, the first model's item statistic
is higher on :math:`K_+`, lower on :math:`K_-` and equal on :math:`K_0` of them, so that

.. math:: \Delta = (K_+ - K_-) / N .

Of the :math:`n` labelled items, drawn equally without replacement, :math:`k_+` and :math:`k_-` are such. Given their
number :math:`k_+ + k_-` and the number :math:`M = K_+ + K_-` of decisive items, :math:`k_+` is hypergeometric. With
two classes every difference is decisive, :math:`M = D`; with more, :math:`M` lies between :math:`k_+ + k_-` and
:math:`D - k_0` and is otherwise unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from sondage.core.checks import NEAREST, require, require_target
from sondage.core.intervals.ends import tail_level
from sondage.core.intervals.proportions import hypergeometric_interval
from sondage.core.results import Interval, Significance
from sondage.core.significance.tails import null_difference, tail_pvalue

__all__ = ["Counts", "counted_interval", "counted_test", "hypergeometric_test", "mcnemar_test"]

UNSURE = 0.1
"""Share of an interval's error that goes to the unknown number of decisive items."""
UNSURE_TEST = 0.001
"""The same of a test with a negative margin."""
STEP = 16
"""Every how many totals an end is looked for from nothing."""


@dataclass(frozen=True)
class Counts:
    """A simple random sample, without replacement, of the items on which two models' predictions differ.

    Attributes
    ----------
    positive, negative, zero : int
        Labelled items on which the first model's item statistic is higher than the second's, lower, the same.
    disagreement_size : int
        Items on which the predictions differ.
    pool_size : float
        All items; where others have other base weights, as many as weigh as much as they all, in items that differ.
    ties : bool
        Whether the statistics can be the same although the predictions differ; not with two classes.

    Raises
    ------
    InputError
        If a count is negative, or more items are labelled than there are.

    Examples
    --------
    >>> counts = Counts(9, 3, 0, disagreement_size=20, pool_size=100)
    >>> counts.decisive, counts.labelled
    (12, 12)
    """

    positive: int
    negative: int
    zero: int
    disagreement_size: int
    pool_size: float
    ties: bool = False

    def __post_init__(self) -> None:
        told = (self.positive, self.negative, self.zero)
        require(min(told) >= 0, f"counts {told} must be 0 or more")
        size = self.disagreement_size
        require(self.labelled <= size, f"{self.labelled} labels for a disagreement set of {size}")

    @property
    def decisive(self) -> int:
        """Number of labelled items on which the statistics differ."""
        return self.positive + self.negative

    @property
    def labelled(self) -> int:
        """Number of labelled items."""
        return self.decisive + self.zero


def hypergeometric_test(
    first_better: int, second_better: int, disagreement_size: int, alternative: str = "two-sided"
) -> Significance:
    r"""Test which of two models is right on more items of a disagreement set, one of them being right on each.

    Of :math:`D` such items n are labelled, drawn equally without replacement. If the first model is right on
    :math:`K`, its count is hypergeometric; the null hypothesis is :math:`K = D / 2`, the neighbour on the null's side
    if D is odd. It is `counted_test` of two classes and a difference of 0.

    Parameters
    ----------
    first_better, second_better : int
        Labelled items on which the first, the second model is right.
    disagreement_size : int
        Number of items on which the models disagree, at least the number labelled.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"``: the first model is right on more items.

    Returns
    -------
    Significance
        Of kind ``"hypergeometric"``; the statistic is ``first_better``. Once all is labelled the p-value is 0 or 1.

    Raises
    ------
    InputError
        If a count is negative, more items are labelled than there are, or ``alternative`` is unknown.

    Examples
    --------
    >>> round(hypergeometric_test(9, 3, 20).pvalue, 4)
    0.0198
    """
    return counted_test(Counts(first_better, second_better, 0, disagreement_size, disagreement_size), alternative)


def counted_test(
    counts: Counts, alternative: str = "two-sided", *, margin: float = 0.0, target: str = "pool"
) -> Significance:
    r"""Test whether the difference of two models is 0, or one-sided with a margin.

    For the pool the p-value of ``"greater"`` is the largest over the possible numbers of decisive items,

    .. math:: p = \max_M P(X \ge k_+), \qquad
       X \sim \mathrm{Hypergeometric}\bigl(M, \lfloor (M - m N) / 2 \rfloor, k_+ + k_-\bigr),

    with margin :math:`m`. Two-sided it is twice the smaller tail, at most 1. For a population it is `mcnemar_test`.

    Parameters
    ----------
    counts : Counts
        What the labels say.
    alternative : {"two-sided", "less", "greater"}
        What is to be shown about the difference.
    margin : float
        Of a one-sided test: ``"greater"`` asks whether the difference is above ``-margin``, ``"less"`` whether it is
        below ``margin``.
    target : {"pool", "population"}
        Whose difference is tested; the population's only against 0.

    Returns
    -------
    Significance
        Of kind ``"hypergeometric"`` or ``"mcnemar"``; the statistic is :math:`k_+`.

    Raises
    ------
    InputError
        If ``alternative`` or ``target`` is unknown, or a margin does not fit them.

    Notes
    -----
    The type I error is at most the level, whatever the models. With a margin of 0 or more only the two largest
    :math:`M` are tried: one of them has the maximum wherever that is below .7 (by enumeration). With a negative margin
    (superiority by more than that) and more than two classes, :math:`M` is limited to its exact 99.9 % interval and
    0.001 is added to the p-value.

    References
    ----------
    R. L. Berger and D. D. Boos, P values maximized over a confidence set for the nuisance parameter, Journal of the
    American Statistical Association, 1994, 1012-1016.

    Examples
    --------
    >>> round(counted_test(Counts(9, 3, 0, 20, 100)).pvalue, 4), round(mcnemar_test(9, 3).pvalue, 4)
    (0.0198, 0.146)
    """
    require_target(target)
    null_difference(alternative, margin)  # refuses what no test takes
    if target == "population":
        require(margin == 0, f"margin {margin}: counts test a population's difference against 0 only")
        return mcnemar_test(counts.positive, counts.negative, alternative)
    above = _exceeding(counts, counts.positive, margin if alternative == "greater" else 0.0)
    below = _exceeding(counts, counts.negative, margin if alternative == "less" else 0.0)
    return Significance(float(counts.positive), tail_pvalue(alternative, below, above), alternative, "hypergeometric")


def mcnemar_test(first_only: int, second_only: int, alternative: str = "two-sided") -> Significance:
    r"""Test two classifiers' accuracies by the items that only one of them gets right.

    If both are right equally often, the first count is binomial with probability 1/2. Two-sided, with
    :math:`k = \min(c_{10}, c_{01})`,

    .. math:: p = \min\Bigl(1, 2^{1 - c_{10} - c_{01}} \sum_{j \le k} \binom{c_{10} + c_{01}}{j}\Bigr).

    Parameters
    ----------
    first_only, second_only : int
        Number of items that only the first, only the second model gets right, each 0 or more; if both are 0 the
        p-value is 1.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"``: the first model is right more often.

    Returns
    -------
    Significance
        Of kind ``"mcnemar"``; the statistic is ``first_only``.

    Raises
    ------
    InputError
        If a count is negative or ``alternative`` is unknown.

    References
    ----------
    Q. McNemar, Note on the sampling error of the difference between correlated proportions or percentages,
    Psychometrika, 1947, 153-157.
    N. A. Smith, Practical Issues, lecture CSE 446, 2017 (without the minimum with 1, so that 5 and 5 give 1.246).

    Examples
    --------
    >>> mcnemar_test(8, 1).pvalue
    0.0390625
    >>> mcnemar_test(5, 5).pvalue
    1.0
    """
    require(min(first_only, second_only) >= 0, f"counts {first_only} and {second_only} must be 0 or more")
    total = first_only + second_only
    below, above = float(special.bdtr(first_only, total, 0.5)), float(special.bdtr(second_only, total, 0.5))
    return Significance(float(first_only), tail_pvalue(alternative, below, above), alternative, "mcnemar")


def _exceeding(counts: Counts, favourable: int, margin: float) -> float:
    """Return the largest probability of as many favourable items if the difference is at most -margin."""
    from scipy.stats import hypergeom  # here, for scipy.stats doubles the time to import sondage

    shift, extra = margin * counts.pool_size, 0.0
    totals = _decisive_totals(counts)
    if shift >= 0:  # tails grow with the total, but for its parity
        totals = totals[-2:]
    elif len(totals) > 1:
        totals, extra = _likely_totals(counts, UNSURE_TEST), UNSURE_TEST
    wanted = np.floor((totals - shift) / 2 + 1e-9).astype(np.int64)
    possible = wanted >= 0
    if not possible.any():
        return 0.0
    of_pool = np.minimum(wanted[possible], totals[possible])
    found = hypergeom.sf(favourable - 1, totals[possible], of_pool, counts.decisive)
    return min(1.0, float(np.max(found)) + extra)


def _decisive_totals(counts: Counts) -> NDArray[np.int64]:
    """Return the numbers of decisive items that the labels allow."""
    top = counts.disagreement_size - counts.zero
    return np.arange(counts.decisive if counts.ties else top, top + 1)


def _likely_totals(counts: Counts, error: float) -> NDArray[np.int64]:
    """Return the numbers of decisive items in an exact interval of this error; all, if it is too small."""
    if error < NEAREST:
        return _decisive_totals(counts)
    size = counts.disagreement_size
    found = hypergeometric_interval(counts.decisive, counts.labelled, size, 1.0 - error)
    return np.arange(round(found.low * size), round(found.high * size) + 1)


def counted_interval(counts: Counts, level: float = 0.95) -> Interval:
    r"""Return the exact confidence interval of the pool's difference.

    With two classes it is :math:`(2 K - D) / N` over the :math:`K` that `hypergeometric_interval` holds. With more,
    the interval is the union of such intervals, at nine tenths of the error, over all :math:`M` in the exact
    interval of the number of decisive items at one tenth of it.

    Parameters
    ----------
    counts : Counts
        What the labels say.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    Interval
        Of kind ``"hypergeometric"``; both ends are multiples of :math:`1 / N`, and equal once all is labelled.

    Raises
    ------
    InputError
        If the level is not in (0, 1).

    Examples
    --------
    >>> found = counted_interval(Counts(9, 3, 0, 20, 100))
    >>> found.low, found.high
    (0.02, 0.14)
    """
    tail = tail_level(level)
    if not counts.disagreement_size:
        return Interval(0.0, 0.0, level, "hypergeometric")
    totals = _decisive_totals(counts)
    if len(totals) > 1:
        totals, tail = _likely_totals(counts, 2 * tail * UNSURE), tail * (1.0 - UNSURE)
    low = _least(counts.positive, counts.negative, totals, tail)
    high = _least(counts.negative, counts.positive, totals, tail)
    scale = counts.pool_size
    ends = float(np.min(2 * low - totals)) / scale, float(np.max(totals - 2 * high)) / scale
    return Interval(*ends, level, "hypergeometric")


def _least(favourable: int, against: int, totals: NDArray[np.int64], tail: float) -> NDArray[np.int64]:
    """Return for each total the smallest number of favourable items that leaves this tail to the sample.

    One more item raises it by one or not at all, so that every sixteenth total tells nearly what the others have.
    """
    low, high = np.full(len(totals), favourable), totals - against
    if len(totals) > 2 * STEP:
        some = np.append(np.arange(0, len(totals) - 1, STEP), len(totals) - 1)
        known, place = _least(favourable, against, totals[some], tail), np.arange(len(totals)) // STEP
        low = known[place]
        high = np.minimum(known[np.minimum(place + 1, len(some) - 1)], low + totals - totals[some[place]])
    while np.any(low < high):  # the tail probability grows with the number: bisection, all totals at once
        middle = (low + high) // 2
        enough = _at_least(favourable, totals, middle, favourable + against) > tail
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    return low


def _at_least(wanted: int, totals: NDArray[np.int64], favourable: NDArray[np.int64], drawn: int) -> NDArray[np.float64]:
    """Return the probability of so many favourable ones among those drawn, for all totals at once.

    Terms are summed from the largest of a tail outwards, below what is wanted where most are above it; scipy.stats goes
    through the totals one by one, and a pool of a million has tens of thousands.
    """
    others = totals - favourable
    above = wanted * (totals + 2) > (drawn + 1) * (favourable + 1)  # beyond the most probable number
    at = np.where(above, wanted, wanted - 1)
    with np.errstate(invalid="ignore"):
        log_term = _log_choose(favourable, at) + _log_choose(others, drawn - at) - _log_choose(totals, drawn)
    term = np.where(np.isfinite(log_term), np.exp(log_term), 0.0)
    total = np.zeros(len(totals))
    for _ in range(drawn + 1):
        total += term
        up = (favourable - at) * (drawn - at) / np.maximum((at + 1) * (others - drawn + at + 1), 1)
        down = at * (others - drawn + at) / np.maximum((favourable - at + 1) * (drawn - at + 1), 1)
        term = term * np.maximum(np.where(above, up, down), 0.0)
        at = np.where(above, at + 1, at - 1)
        if np.all(term <= 1e-17 * total):
            break
    return np.where(above, total, 1.0 - total)


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Return the logarithm of the binomial coefficient; that of 0 is minus infinity."""
    found = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    return np.where((np.asarray(k) >= 0) & (n >= k), found, -np.inf)
