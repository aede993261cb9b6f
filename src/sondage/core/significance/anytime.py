r"""Two classifiers compared on the items where they disagree, at every number of labels.

Labels come one by one, drawn equally without replacement from the M items on which the predictions differ. Of t
labels S favour the first model, F the second. Under a hypothesis K, the number of all M items that favour the first,
this sequence of outcomes has the probability

.. math:: P_K = (K)_S \, (M - K)_F / (M)_t, \qquad (K)_S = K (K - 1) \cdots (K - S + 1),

and a mixture over how often the first is right :math:`Q = B(\alpha + S, \beta + F) / B(\alpha, \beta)`, as the
mean over :math:`(\alpha, \beta) = (2 a p_0, 2 a (1 - p_0))`, a in 2, 10, 50, around the share :math:`p_0` of the null
hypothesis. :math:`e_t = Q / P_K` is an e-process: if K is true it reaches :math:`1/\alpha` with probability at most
:math:`\alpha`, ever.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from sondage.core.checks import SIGNS, require, require_alternative, require_level
from sondage.core.predictions import Floats
from sondage.core.sequences import ConfidenceSequence, Stage, Steps, Units, draw_steps, intersected, rest_of

__all__ = ["decisive_log_evalues", "disagreement_log_evalues", "disagreement_sequence", "disagreement_steps"]

CONCENTRATIONS = (2.0, 10.0, 50.0)
"""Half the sums of the parameters of the beta distributions that are mixed: how near to the share they keep."""
SLACK = 1e-9
"""By how much a number of items may be off by rounding."""


def disagreement_log_evalues(
    outcomes: ArrayLike, disagreement_size: int, alternative: str = "two-sided", *, null: float = 0.0
) -> Floats:
    r"""Return the logarithms of the e-process against a difference, one model being right on each item.

    The difference on the disagreement set is :math:`2 K / M - 1`; times :math:`M / N` it is that of the accuracies.
    A null value between two possible ones stands for both: the smaller e holds. One-sided the null hypothesis is
    all K up to that of ``null`` (or from it on), Q is cut off there, and P is the largest of theirs.

    Parameters
    ----------
    outcomes : array_like of int, shape (T,)
        1 where the first, -1 where the second model is right, in the order of labelling.
    disagreement_size : int
        Number of items M on which the predictions differ, at least T.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"``: the first model's accuracy minus the second's is above ``null``.
    null : float
        Difference on the disagreement set under the null hypothesis, in [-1, 1]. Non-inferiority with a margin
        :math:`\delta` of the accuracies is ``"greater"`` with :math:`-\delta N / M`.

    Returns
    -------
    ndarray of float, shape (T,)
        :math:`\ln e_t`; infinite once the outcomes rule the null hypothesis out.

    Raises
    ------
    InputError
        If an outcome is not 1 or -1, there are more than items, ``null`` is outside [-1, 1] or ``alternative`` unknown.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, Confidence sequences for sampling without replacement, NeurIPS 2020.

    Examples
    --------
    >>> disagreement_log_evalues([1] * 8, 100)[1:].round(2).tolist()  # reject at 0.05 from ln 20 = 3.0 on
    [0.09, 0.26, 0.5, 0.8, 1.18, 1.61, 2.1]
    """
    require_alternative(alternative)
    sign = SIGNS[alternative]
    first, second, _ = _counts(outcomes, disagreement_size, (1, -1))
    require(-1 <= null <= 1, f"null {null} is outside [-1, 1]")
    if sign < 0:
        first, second, null = second, first, -null
    total = disagreement_size * (1 + null) / 2
    share = min(max(total, 0.5), disagreement_size - 0.5) / disagreement_size
    below, above = math.floor(total + SLACK), math.ceil(total - SLACK)
    if sign:
        likeliest = first * (disagreement_size + 1) // np.maximum(first + second, 1)
        given = _log_probability(first, second, np.minimum(likeliest, below), disagreement_size)
    else:
        both = [_log_probability(first, second, np.full_like(first, k), disagreement_size) for k in (below, above)]
        given = np.maximum(*both)
    return _log_mixture(first, second, share, cut=bool(sign)) - given


def decisive_log_evalues(outcomes: ArrayLike, disagreement_size: int, alternative: str = "two-sided") -> Floats:
    r"""Return the logarithms of the e-process against equal accuracies where both models may be wrong.

    Only decisive labels count. Given their order and the number D of decisive items, they are a draw from D items, so
    that with :math:`d = S + F` decisive labels :math:`P = (D/2)_S (D/2)_F / (D)_d`. D is unknown: e is the smallest of
    all even D that the labels allow.

    Parameters
    ----------
    outcomes : array_like of int, shape (T,)
        1 where only the first model is right, -1 where only the second is, 0 where both are wrong.
    disagreement_size, alternative
        As for `disagreement_log_evalues`; ``"greater"`` is against the first model being right on at most as many
        items as the second.

    Returns
    -------
    ndarray of float, shape (T,)
        :math:`\ln e_t`; infinite once equal accuracies are ruled out.

    Raises
    ------
    InputError
        If an outcome is not 1, 0 or -1, there are more than items, or ``alternative`` is unknown.

    Notes
    -----
    :math:`P_{D+2} \ge P_D` where :math:`((S - F)^2 - d) (D/2 + 1) + 2 S F \ge 0`, which is linear in D; the largest P
    follows in closed form. For a margin use `disagreement_steps`.

    Examples
    --------
    >>> decisive_log_evalues([1, 0, 1, 0, 1, 1, 1, 1, 1, 1], 100)[[2, 9]].round(2).tolist()
    [0.09, 2.11]
    """
    require_alternative(alternative)
    sign = SIGNS[alternative]
    first, second, neither = _counts(outcomes, disagreement_size, (1, -1, 0))
    if sign < 0:
        first, second = second, first
    decisive, gap = first + second, (first - second) ** 2
    largest = (disagreement_size - neither) // 2
    falls = gap < decisive
    turning = 2 * first * second // np.where(falls, decisive - gap, 1)
    half = np.where(falls, np.minimum(turning, largest), largest)
    half = np.maximum(half, np.maximum(first, second))
    given = np.where(half <= largest, _log_probability(first, second, half, 2 * half), -np.inf)
    if sign:
        # Where the second model leads, a pool of just these labels is the likeliest one.
        given = np.where(first > second, given, _log_probability(first, second, first, decisive))
    return _log_mixture(first, second, 0.5, cut=bool(sign)) - given


def disagreement_sequence(outcomes: ArrayLike, disagreement_size: int, level: float = 0.95) -> ConfidenceSequence:
    r"""Return the confidence sequence of the difference, one model being right on each item.

    It holds every K with :math:`Q / P_K < 1/\alpha`, Q around 1/2. :math:`P_K` has one peak, so that these K are
    neighbours, and the ends are found by bisection.

    Parameters
    ----------
    outcomes, disagreement_size
        As for `disagreement_log_evalues`.
    level : float
        Confidence level, in (0, 1), for all numbers of labels at once.

    Returns
    -------
    ConfidenceSequence
        Of :math:`2 K / M - 1`, of kind ``"exact"``; a point once all is labelled. Times M / N it is that of the
        difference of accuracies.

    Raises
    ------
    InputError
        If an outcome is not 1 or -1, there are more than items, or ``level`` is outside (0, 1).

    References
    ----------
    I. Waudby-Smith and A. Ramdas, Confidence sequences for sampling without replacement, NeurIPS 2020.

    Examples
    --------
    >>> sequence = disagreement_sequence([1, 1, -1, 1] * 20, 100)
    >>> sequence.low[[19, 79]].round(2).tolist(), sequence.high[[19, 79]].round(2).tolist()
    ([-0.1, 0.34], [0.86, 0.6])
    """
    require_level("level", level)
    first, second, _ = _counts(outcomes, disagreement_size, (1, -1))
    threshold = math.log1p(-level) + _log_mixture(first, second, 0.5, cut=False)
    size, likeliest = disagreement_size, first * disagreement_size // np.maximum(first + second, 1)
    start = np.clip(likeliest, first, size - second)
    ends = []
    for impossible in (first - 1, size - second + 1):
        inside, outside = start, impossible
        while np.any(np.abs(outside - inside) > 1):
            middle = (inside + outside) // 2
            kept = _log_probability(first, second, middle, size) > threshold
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        ends.append(2.0 * inside / size - 1.0)
    low, high = intersected(ends[0], ends[1], (-1.0, 1.0))
    least, most = 2.0 * first / size - 1.0, 2.0 * (size - second) / size - 1.0  # what the labels leave
    return ConfidenceSequence(np.clip(low, least, most), np.clip(high, least, most), level, "exact")


def disagreement_steps(outcomes: ArrayLike, disagreement_size: int) -> Steps:
    r"""Return the steps of the mean outcome where both models may be wrong, for bets on its value.

    `betting_sequence` makes the confidence sequence of :math:`(K_1 - K_2) / M` from them, `log_evalues` the evidence
    against a margin.

    Parameters
    ----------
    outcomes, disagreement_size
        As for `decisive_log_evalues`.

    Returns
    -------
    Steps
        With nodes -1 and 1; times M / N the mean is the difference of accuracies.

    Raises
    ------
    InputError
        If an outcome is not 1, 0 or -1, or there are more than items, or none.

    Examples
    --------
    >>> from sondage.core.sequences import betting_sequence
    >>> end = betting_sequence(disagreement_steps([1, 0, 1, -1, 1] * 20, 1000)).last
    >>> round(end.low, 2), round(end.high, 2)
    (0.14, 0.61)
    """
    _counts(outcomes, disagreement_size, (1, -1, 0))
    values = np.asarray(outcomes, dtype=float)
    require(values.size > 0, "no outcome; at least 1")
    nodes = np.array([-1.0, 1.0])
    one = np.full(disagreement_size, 1.0 / disagreement_size)
    units = Units(one, 0.0 * one, one, np.outer(one, -1.0 - nodes), np.outer(one, 1.0 - nodes), one**2 / 2.0)
    drawn = np.arange(disagreement_size) < values.size
    rest = rest_of(units.take(~drawn), nodes)
    return draw_steps([Stage(units.take(drawn), values / disagreement_size, one[drawn], rest)], nodes)


def _counts(outcomes: ArrayLike, size: int, allowed: tuple[int, ...]) -> tuple[NDArray[np.int64], ...]:
    """Return how often each of 1, -1 and 0 came up to each label."""
    values = np.asarray(outcomes)
    require(values.ndim == 1, f"outcomes of shape {values.shape}; one row is needed")
    wrong = ~np.isin(values, allowed)
    require(not wrong.any(), f"outcome {values[wrong][:1]} is none of {allowed}")
    require(len(values) <= size, f"{len(values)} labels for a disagreement set of {size}")
    return tuple(np.cumsum(values == outcome, dtype=np.int64) for outcome in (1, -1, 0))


def _log_falling(total: NDArray[np.int64], count: NDArray[np.int64]) -> Floats:
    r"""Return :math:`\ln (K)_S`; minus infinity where S is above K."""
    possible = count <= total
    left = np.where(possible, total - count, 0)
    return np.where(possible, special.gammaln(total + 1.0) - special.gammaln(left + 1.0), -np.inf)


def _log_probability(
    first: NDArray[np.int64], second: NDArray[np.int64], total: NDArray[np.int64], size: ArrayLike
) -> Floats:
    """Return the log probability of the outcomes if `total` of `size` items favour the first model."""
    size = np.broadcast_to(np.asarray(size, dtype=np.int64), first.shape)
    favourable = _log_falling(total, first) + _log_falling(size - total, second)
    return np.asarray(favourable - _log_falling(size, first + second))


def _log_mixture(first: NDArray[np.int64], second: NDArray[np.int64], share: float, *, cut: bool) -> Floats:
    """Return the log probability of the outcomes under the mixture around a share; cut, only of larger shares."""
    parts = []
    for concentration in CONCENTRATIONS:
        alpha, beta = 2 * concentration * share, 2 * concentration * (1 - share)
        part = special.betaln(alpha + first, beta + second) - special.betaln(alpha, beta)
        if cut:
            with np.errstate(divide="ignore"):
                part += np.log(special.betaincc(alpha + first, beta + second, share))
            part -= math.log(special.betaincc(alpha, beta, share))
        parts.append(part)
    return np.asarray(np.logaddexp.reduce(parts, axis=0) - math.log(len(parts)))
