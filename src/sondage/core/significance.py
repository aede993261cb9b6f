r"""Tests of differences: between two models, on the items where they disagree, among k models.

A difference is the first model's minus the second's, so that ``"greater"`` asks whether the first has the larger
value. Every function returns a `Significance`, or holds one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from sondage.core.results import Significance
from sondage.errors import InputError

__all__ = [
    "Disagreement",
    "anova_test",
    "bonferroni",
    "bootstrap_test",
    "disagreement_test",
    "holm",
    "hypergeometric_test",
    "mcnemar_test",
    "permutation_test",
    "t_test",
    "tukey_test",
    "wald_test",
]

_BLOCK = 2**22  # numbers held at once while resampling: 32 MiB
_TIE = 1e-12  # resampled statistics this close to the observed one, on the scale of the terms, count as equal


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
    C. Sawade, Active Evaluation of Predictive Models, 2012, equations 3.23 and 3.24.

    Examples
    --------
    >>> round(wald_test(0.049, 0.025).pvalue, 4)
    0.05
    >>> round(wald_test(-0.01, 0.01, "greater", margin=0.03).pvalue, 4)
    0.0228
    """
    statistic = _standardised(difference, std_error, alternative, margin)
    below, above = _tails(statistic, std_error, float(special.ndtr(statistic)), float(special.ndtr(-statistic)))
    return Significance(statistic, _pvalue(alternative, below, above), alternative, "wald")


def t_test(
    difference: float, std_error: float, df: float, alternative: str = "two-sided", *, margin: float = 0.0
) -> Significance:
    """Test a difference against Student's t distribution.

    Parameters
    ----------
    difference, std_error, alternative, margin
        As for `wald_test`.
    df : float
        Degrees of freedom, above 0; infinity gives the Wald test.

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
    C. Sawade, Active Evaluation of Predictive Models, 2012, section 3.2.2.

    Examples
    --------
    >>> round(t_test(0.0555, 0.025, df=10).pvalue, 3)
    0.051
    """
    statistic = _standardised(difference, std_error, alternative, margin)
    _require(df > 0, f"df {df} is not above 0")
    below, above = _tails(statistic, std_error, _student(df, statistic), _student(df, -statistic))
    return Significance(statistic, _pvalue(alternative, below, above), alternative, "t", float(df))


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
    _require(min(first_only, second_only) >= 0, f"counts {first_only} and {second_only} must be 0 or more")
    total = first_only + second_only
    below, above = float(special.bdtr(first_only, total, 0.5)), float(special.bdtr(second_only, total, 0.5))
    return Significance(float(first_only), _pvalue(alternative, below, above), alternative, "mcnemar")


def hypergeometric_test(
    first_better: int, second_better: int, disagreement_size: int, alternative: str = "two-sided"
) -> Significance:
    r"""Test which of two models is right on more items of a finite disagreement set, one of them being right on each.

    Of :math:`D` such items :math:`n` are labelled, drawn equally without replacement. If the first model is right
    on :math:`K` of them, its count in the sample is hypergeometric; the null hypothesis is :math:`K = D / 2`, the
    neighbour on the null's side if :math:`D` is odd. Two-sided, the p-value is twice the smaller tail, at most 1.

    Parameters
    ----------
    first_better, second_better : int
        Labelled items on which the first, the second model is right.
    disagreement_size : int
        Number of items :math:`D` on which the models disagree, at least the number labelled.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"``: the first model is right on more items.

    Returns
    -------
    Significance
        Of kind ``"hypergeometric"``; the statistic is ``first_better``.

    Raises
    ------
    InputError
        If a count is negative, more items are labelled than there are, or ``alternative`` is unknown.

    Notes
    -----
    With two classes one model is always right where they disagree. With more, both can be wrong; use `mcnemar_test`
    on the decisive items, which is conservative for a finite pool. The p-value is 0 or 1 once all is labelled.

    Examples
    --------
    >>> round(hypergeometric_test(9, 3, 20).pvalue, 4), round(mcnemar_test(9, 3).pvalue, 4)
    (0.0198, 0.146)
    """
    from scipy.stats import hypergeom  # here, for scipy.stats doubles the time to import sondage

    drawn = first_better + second_better
    _require(min(first_better, second_better) >= 0, f"counts {first_better} and {second_better} must be 0 or more")
    _require(drawn <= disagreement_size, f"{drawn} labels for a disagreement set of {disagreement_size}")
    most, least = disagreement_size // 2, disagreement_size - disagreement_size // 2
    below = float(hypergeom.cdf(first_better, disagreement_size, least, drawn))
    above = float(hypergeom.sf(first_better - 1, disagreement_size, most, drawn))
    return Significance(float(first_better), _pvalue(alternative, below, above), alternative, "hypergeometric")


def permutation_test(
    differences: ArrayLike,
    alternative: str = "two-sided",
    *,
    weights: ArrayLike | None = None,
    generator: np.random.Generator | None = None,
    resamples: int = 9999,
) -> Significance:
    r"""Test paired differences by swapping the two models at random, item by item.

    Under the null hypothesis that the models are exchangeable on each item, :math:`\delta_i` is as likely as
    :math:`-\delta_i`, whatever the weights. The weighted mean :math:`\sum_i w_i \delta_i / \sum_i w_i` is compared
    with its values under such swaps.

    Parameters
    ----------
    differences : array_like of float, shape (n,)
        Differences :math:`\delta_i` of the labelled items.
    alternative : {"two-sided", "less", "greater"}
        What is to be shown about the mean difference. Two-sided is twice the smaller tail, at most 1.
    weights : array_like of float, shape (n,), optional
        Weights above 0, on any scale.
    generator : numpy.random.Generator, optional
        Source of the swaps; needed only if there are more than ``resamples`` different ones.
    resamples : int
        Number of random swaps, at least 1. If the :math:`2^m` swaps of the :math:`m` items with
        :math:`\delta_i \ne 0` are no more than this, all are used and the p-value is exact; else a tail is
        (1 + number as extreme) / (1 + resamples), which keeps the level.

    Returns
    -------
    Significance
        Of kind ``"permutation"``; the statistic is the weighted mean.

    Raises
    ------
    InputError
        If there is no item, the shapes differ, a number is not finite, a weight is not above 0, ``alternative`` is
        unknown, or swaps must be random and there is no generator.

    References
    ----------
    E. J. G. Pitman, Significance tests which may be applied to samples from any populations, Journal of the Royal
    Statistical Society Supplement, 1937, 119-130.
    B. Phipson and G. K. Smyth, Permutation p-values should never be zero, Statistical Applications in Genetics and
    Molecular Biology, 2010, article 39.

    Examples
    --------
    >>> permutation_test([1, 1, 0, 2, 1, 0]).pvalue  # 2 / 2^4
    0.125
    """
    delta, share = _paired(differences, weights, alternative)
    _require(resamples >= 1, f"resamples {resamples} is below 1")
    terms = (share * delta)[delta != 0]
    observed = float(terms.sum())
    exact = terms.size <= math.log2(resamples)
    if exact:
        values = ((np.arange(2**terms.size)[:, None] >> np.arange(terms.size)) % 2 * 2 - 1) @ terms
    else:
        values = _swapped(terms, generator, resamples)
    below, above = _shares(values, observed, float(np.abs(terms).sum()), extra=0 if exact else 1)
    return Significance(observed, _pvalue(alternative, below, above), alternative, "permutation")


def bootstrap_test(
    differences: ArrayLike,
    alternative: str = "two-sided",
    *,
    weights: ArrayLike | None = None,
    generator: np.random.Generator,
    resamples: int = 9999,
) -> Significance:
    r"""Test paired differences against their bootstrap distribution, shifted to the null hypothesis.

    Items are drawn with replacement together with their weights. With :math:`\hat\Delta` the weighted mean and
    :math:`\Delta^*` that of a resample, the tails are the shares of :math:`\Delta^* - \hat\Delta` at least as extreme
    as :math:`\hat\Delta`, counting the sample itself as one more.

    Parameters
    ----------
    differences, alternative, weights
        As for `permutation_test`.
    generator : numpy.random.Generator
        Source of the resamples.
    resamples : int
        Their number, at least 1.

    Returns
    -------
    Significance
        Of kind ``"bootstrap"``; the statistic is the weighted mean.

    Raises
    ------
    InputError
        As for `permutation_test`.

    Notes
    -----
    It asks about the mean only, not about exchangeability. It rejects too often in small samples: at a level of 0.05
    and normal differences 0.11 of the time with 8 items and 0.06 with 30 (simulated). If all differences are equal
    there is no spread: the smallest possible p-value, or 1 if they are all 0.

    References
    ----------
    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 16.

    Examples
    --------
    >>> import numpy as np
    >>> bootstrap_test([0.3, 0.1, 0.2, 0.4], generator=np.random.default_rng(0), resamples=99).pvalue
    0.02
    """
    delta, share = _paired(differences, weights, alternative)
    _require(resamples >= 1, f"resamples {resamples} is below 1")
    observed = float(share @ delta)
    size, even = max(1, _BLOCK // delta.size), np.full(delta.size, 1 / delta.size)
    blocks = []
    for start in range(0, resamples, size):
        drawn = generator.multinomial(delta.size, even, size=min(size, resamples - start)) * (share / share.max())
        blocks.append(drawn @ (delta - observed) / drawn.sum(axis=1))
    below, above = _shares(np.concatenate(blocks), observed, float(share @ np.abs(delta)), extra=1)
    return Significance(observed, _pvalue(alternative, below, above), alternative, "bootstrap")


def anova_test(losses: ArrayLike, weights: ArrayLike | None = None, *, sphericity: bool = True) -> Significance:
    r"""Test whether k models have the same risk, by the analysis of variance with repeated measures.

    With :math:`e_{ij}` the losses after their item's mean is taken out, :math:`m` the weighted means of :math:`e` and
    :math:`V` the estimated covariance of :math:`m`,

    .. math:: F = \frac{\sum_j m_j^2}{\mathrm{tr} V}, \qquad
       V = \frac{n}{n - 1} \frac{\sum_i w_i^2 (e_i - m)(e_i - m)^\top}{(\sum_i w_i)^2},

    on :math:`k - 1` and :math:`(n - 1)(k - 1)` degrees of freedom. Without weights this is the usual ratio of the mean
    square between models and the residual one.

    Parameters
    ----------
    losses : array_like of float, shape (n, k)
        Losses of k >= 2 models on the same n >= 2 labelled items.
    weights : array_like of float, shape (n,), optional
        Weights above 0, on any scale. They stand for unequal draw probabilities: the means are the self-normalised
        estimates and :math:`V` is their sampling variance (squared weights, as in thesis 3.14), not that
        of a least-squares fit, for which a large weight would be a precise item.
    sphericity : bool
        Whether all pairwise differences are taken to have the same variance. If not, both degrees of freedom are
        multiplied by :math:`\hat\epsilon = (\mathrm{tr} V)^2 / ((k - 1) \, \mathrm{tr} V^2)`. With two models much
        alike and a third apart, a level of 0.05 is 0.09 without this and 0.05 with it (simulated, 10 and 30 items).

    Returns
    -------
    Significance
        Of kind ``"anova"``; the statistic is :math:`F`, ``df`` has both degrees of freedom. If every item shows the
        same differences the p-value is 0, or 1 if these are 0.

    Raises
    ------
    InputError
        If there are fewer than 2 items or models, a number is not finite, or a weight is not above 0.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2012, section 3.2.3 (names the test).
    S. W. Greenhouse and S. Geisser, On methods in the analysis of profile data, Psychometrika, 1959, 95-112.

    Examples
    --------
    >>> result = anova_test([[1, 2, 4], [2, 2, 5], [0, 2, 2], [3, 4, 5]])
    >>> round(result.statistic, 6), result.df
    (14.25, (2.0, 6.0))
    """
    table = np.asarray(losses, dtype=float)
    _require(table.ndim == 2 and min(table.shape) >= 2, f"losses of shape {table.shape}; (n, k), both at least 2")
    _require(bool(np.isfinite(table).all()), "losses must be finite")
    n, k = table.shape
    share = _normalised(weights, n)
    centred = table - table.mean(axis=1, keepdims=True)
    means = share @ centred
    spread = (centred - means) * share[:, None]
    covariance = n / (n - 1) * spread.T @ spread
    total = float(np.trace(covariance))
    epsilon = 1.0 if sphericity or total == 0 else total**2 / ((k - 1) * float(np.sum(covariance**2)))
    df = ((k - 1) * epsilon, (n - 1) * (k - 1) * epsilon)
    # What is left of equal differences after rounding is no variance.
    scale = float(np.abs(table).max()) * 1e-14
    statistic = _ratio(float(means @ means) if np.abs(means).max() > scale else 0.0, total if total > scale**2 else 0.0)
    return Significance(statistic, float(special.fdtrc(*df, statistic)), "two-sided", "anova", df)


def tukey_test(estimates: ArrayLike, pair_variances: ArrayLike, n: int) -> tuple[Significance, NDArray[np.float64]]:
    r"""Test the range of k paired estimates, and every pair, by the studentized range.

    .. math:: T = \frac{\sqrt{2 n} \, (\max_j \hat R_j - \min_j \hat R_j)}{S_k}, \qquad
       S_k^2 = \frac{1}{k (k - 1)} \sum_{i \ne j} n \, \mathrm{Var}(\hat R_i - \hat R_j),

    on :math:`\nu = (n - 1)(k - 1)` degrees of freedom. For a pair its own difference takes the place of the range.

    Parameters
    ----------
    estimates : array_like of float, shape (k,)
        Estimates of k >= 2 models on the same items.
    pair_variances : array_like of float, shape (k, k)
        Squared standard error of every difference, symmetric; the diagonal is not read.
    n : int
        Number of labelled items, at least 2.

    Returns
    -------
    range : Significance
        Of kind ``"tukey"``: whether any two models differ.
    pairs : ndarray of float, shape (k, k)
        p-values of all pairs, adjusted for their number; 1 on the diagonal. The smallest is that of the range.

    Raises
    ------
    InputError
        If the shapes do not fit, a number is not finite, a variance is negative, or ``n`` is below 2.

    Notes
    -----
    One :math:`S_k` serves all pairs, which supposes similar variances; where they differ much, `holm` over pairwise
    tests is safer. If all variances are 0 the differences are known: p-values are 0, or 1 for equal estimates. p-values
    below 1e-11 are within the error of the numerical integral.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2012, section 3.2.3. Printed there: range times :math:`S_k`, the
    chi-squared density, and :math:`\nu = (n - 1) k`, which gives no test.

    Examples
    --------
    >>> overall, pairs = tukey_test([0.1, 0.2], [[0, 0.0016], [0.0016, 0]], n=50)
    >>> round(overall.statistic, 4), round(overall.pvalue, 4)  # two models: the paired t test, t = 2.5
    (3.5355, 0.0158)
    """
    from scipy.stats import studentized_range  # here, for scipy.stats doubles the time to import sondage

    values, variances = np.asarray(estimates, dtype=float), np.asarray(pair_variances, dtype=float)
    k = values.size
    _require(values.ndim == 1 and k >= 2, f"estimates of shape {values.shape}; at least 2 models are needed")
    _require(variances.shape == (k, k), f"pair_variances of shape {variances.shape} for {k} models")
    _require(n >= 2, f"n {n} is below 2")
    upper = np.triu_indices(k, 1)
    _require(bool(np.isfinite(values).all() and np.isfinite(variances[upper]).all()), "all numbers must be finite")
    _require(float(variances[upper].min()) >= 0, f"pair variance {variances[upper].min()} is negative")
    _require(np.allclose(variances[upper], variances.T[upper], atol=0), "pair_variances must be symmetric")
    df = (n - 1) * (k - 1)
    error = math.sqrt(float(variances[upper].mean()) / 2)
    statistics = np.array([_ratio(gap, error) for gap in np.abs(np.subtract.outer(values, values))[upper]])
    pairs = np.ones((k, k))
    pairs[upper] = np.clip(studentized_range.sf(statistics, k, df), 0.0, 1.0)
    pairs.T[upper] = pairs[upper]
    overall = Significance(float(statistics.max()), float(pairs.min()), "two-sided", "tukey", float(df))
    return overall, pairs


def bonferroni(pvalues: ArrayLike) -> NDArray[np.float64]:
    r"""Return p-values adjusted for their number: :math:`\min(1, m p)`.

    Parameters
    ----------
    pvalues : array_like of float, shape (m,)
        p-values in [0, 1].

    Returns
    -------
    ndarray of float, shape (m,)
        Adjusted p-values, in the same order. All pairs of k models are k (k - 1) / 2 tests.

    Raises
    ------
    InputError
        If a p-value is outside [0, 1].

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2012, section 3.2.3.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5]).tolist()
    [0.03, 0.12, 1.0]
    """
    values = _probabilities(pvalues)
    return np.minimum(1.0, values.size * values)


def holm(pvalues: ArrayLike) -> NDArray[np.float64]:
    r"""Return p-values adjusted by Holm's step-down method.

    In ascending order :math:`\tilde p_{(j)} = \max_{l \le j} \min(1, (m - l + 1) p_{(l)})`: never above
    `bonferroni`, at the same guarantee.

    Parameters
    ----------
    pvalues : array_like of float, shape (m,)
        p-values in [0, 1].

    Returns
    -------
    ndarray of float, shape (m,)
        Adjusted p-values, in the order given.

    Raises
    ------
    InputError
        If a p-value is outside [0, 1].

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics, 1979, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = _probabilities(pvalues)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(values.size, 0, -1) * values[order]))
    return adjusted


@dataclass(frozen=True)
class Disagreement:
    """What the items on which two classifiers disagree say about their accuracies.

    Attributes
    ----------
    difference : float
        Accuracy of the first model minus that of the second, over all items.
    std_error : float
        Its standard error; infinite after a single label out of several items.
    share : float
        Share of the items on which the models disagree.
    target : str
        ``"pool"`` or ``"population"``.
    significance : Significance
        Exact McNemar test of equal accuracies.
    """

    difference: float
    std_error: float
    share: float
    target: str
    significance: Significance


def disagreement_test(
    first_better: int,
    second_better: int,
    disagreement_size: int,
    pool_size: int,
    *,
    neither: int = 0,
    target: str = "pool",
    alternative: str = "two-sided",
) -> Disagreement:
    r"""Compare two classifiers from labels of a random part of the items on which they disagree.

    Where they agree the difference is 0, so that :math:`\Delta = p_D \Delta_D` with :math:`p_D = |D| / N`, and
    :math:`\Delta_D` is estimated by the mean of the :math:`n` labelled differences, whose variance is :math:`s^2`:

    .. math:: \mathrm{Var} = p_D^2 \frac{s^2}{n} \Bigl(1 - \frac{n}{|D|}\Bigr)
       \quad\text{(pool)}, \qquad
       p_D^2 \frac{s^2}{n} + \Delta_D^2 \frac{p_D (1 - p_D)}{N} \quad\text{(population)}.

    Parameters
    ----------
    first_better, second_better : int
        Labelled items on which only the first, only the second model is right.
    disagreement_size : int
        Number of items :math:`|D|` on which the predictions differ.
    pool_size : int
        Number of items :math:`N` of the pool, at least 1.
    neither : int
        Labelled items on which both are wrong; always 0 with two classes.
    target : {"pool", "population"}
        Whether the difference on this pool is asked for, or on what the pool was drawn from.
    alternative : {"two-sided", "less", "greater"}
        ``"greater"``: the first model is right more often.

    Returns
    -------
    Disagreement
        Difference, standard error and test. If the models never disagree, both are 0 and the p-value is 1.

    Raises
    ------
    InputError
        If a count is negative, labels exceed the disagreement set or that set the pool, there are disagreements but no
        label, or ``target`` or ``alternative`` is unknown.

    Notes
    -----
    The labelled items must be a simple random sample of the disagreement set. The McNemar test holds for both targets
    and is conservative for the pool; `hypergeometric_test` is sharper there if ``neither`` is 0. If all labels favour
    one model the standard error is 0 or too small, while the test stays right.

    References
    ----------
    The note "Relative performance evaluation" (performance on the set of differences; variance by moment matching).

    Examples
    --------
    >>> result = disagreement_test(30, 10, disagreement_size=100, pool_size=1000)
    >>> result.difference, round(result.std_error, 4), round(result.significance.pvalue, 4)
    (0.05, 0.0107, 0.0022)
    """
    _require(target in ("pool", "population"), f"target {target!r} is none of 'pool', 'population'")
    counts = (first_better, second_better, neither)
    n = sum(counts)
    _require(min(counts) >= 0, f"counts {counts} must be 0 or more")
    _require(n <= disagreement_size, f"{n} labels for a disagreement set of {disagreement_size}")
    _require(
        pool_size >= max(1, disagreement_size), f"a disagreement set of {disagreement_size} in a pool of {pool_size}"
    )
    _require(n > 0 or disagreement_size == 0, f"no label for a disagreement set of {disagreement_size}; at least 1")
    test = mcnemar_test(first_better, second_better, alternative)
    share = disagreement_size / pool_size
    if n == 0:
        return Disagreement(0.0, 0.0, share, target, test)
    mean = (first_better - second_better) / n
    error = _mean_variance((first_better + second_better) / n, mean, n, disagreement_size, target)
    drift = mean**2 * share * (1 - share) / pool_size if target == "population" else 0.0
    return Disagreement(share * mean, math.sqrt(share**2 * error + drift), share, target, test)


def _mean_variance(square: float, mean: float, n: int, size: int, target: str) -> float:
    """Return the variance of a mean of n values, from the mean of their squares."""
    remaining = 1 - n / size if target == "pool" else 1.0
    if remaining == 0:
        return 0.0
    return max(0.0, square - mean**2) / (n - 1) * remaining if n > 1 else math.inf


def _pvalue(alternative: str, below: float, above: float) -> float:
    """Return the p-value from the probabilities of a statistic at most, and at least, the observed one."""
    tails = {"two-sided": min(1.0, 2 * min(below, above)), "less": below, "greater": above}
    _require(alternative in tails, f"alternative {alternative!r} is none of {', '.join(map(repr, tails))}")
    return tails[alternative]


def _standardised(difference: float, std_error: float, alternative: str, margin: float) -> float:
    """Return the distance from the null hypothesis in standard errors; infinite if these are 0."""
    _require(math.isfinite(difference), f"difference {difference} is not finite")
    _require(math.isfinite(margin), f"margin {margin} is not finite")
    _require(std_error >= 0, f"std_error {std_error} is not 0 or more")
    _require(margin == 0 or alternative != "two-sided", f"margin {margin} needs alternative 'less' or 'greater'")
    return _ratio(difference - margin if alternative == "less" else difference + margin, std_error)


def _tails(statistic: float, std_error: float, below: float, above: float) -> tuple[float, float]:
    """Return both tails; 0 or 1 each where the difference is known exactly."""
    return (below, above) if std_error > 0 else (float(statistic >= 0), float(statistic <= 0))


def _student(df: float, statistic: float) -> float:
    return float(special.ndtr(statistic) if math.isinf(df) else special.stdtr(df, statistic))


def _ratio(value: float, error: float) -> float:
    """Return value / error; infinite, or 0 for 0, where the error is 0."""
    if error > 0:
        return float(value / error)
    return math.copysign(math.inf, value) if value else 0.0


def _paired(
    differences: ArrayLike, weights: ArrayLike | None, alternative: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the differences and their normalised weights."""
    _pvalue(alternative, 1.0, 1.0)
    delta = np.asarray(differences, dtype=float)
    _require(delta.ndim == 1 and delta.size > 0, f"differences of shape {delta.shape}; at least 1 number is needed")
    _require(bool(np.isfinite(delta).all()), "differences must be finite")
    return delta, _normalised(weights, delta.size)


def _normalised(weights: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if weights is None:
        return np.full(n, 1 / n)
    values = np.asarray(weights, dtype=float)
    _require(values.shape == (n,), f"weights of shape {values.shape} for {n} items")
    wrong = ~(np.isfinite(values) & (values > 0))
    _require(not wrong.any(), f"weight {values[wrong][:1]} is not above 0 and finite")
    return np.asarray(values / values.sum())


def _swapped(terms: NDArray[np.float64], generator: np.random.Generator | None, resamples: int) -> NDArray[np.float64]:
    """Return sums of the terms with random signs, a block at a time to bound the memory."""
    if generator is None:
        raise InputError(f"{terms.size} differences have more than resamples = {resamples} swaps; give a generator")
    size = max(1, _BLOCK // terms.size)
    blocks = []
    for start in range(0, resamples, size):
        signs = generator.integers(0, 2, size=(min(size, resamples - start), terms.size), dtype=np.int8)
        blocks.append(2 * (signs @ terms) - terms.sum())
    return np.concatenate(blocks)


def _shares(values: NDArray[np.float64], observed: float, scale: float, extra: int) -> tuple[float, float]:
    """Return the shares of values at most and at least the observed one, with `extra` more counted as such."""
    slack = _TIE * scale
    total = values.size + extra
    below = (np.count_nonzero(values <= observed + slack) + extra) / total
    above = (np.count_nonzero(values >= observed - slack) + extra) / total
    return float(below), float(above)


def _probabilities(pvalues: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(pvalues, dtype=float)
    _require(values.ndim == 1, f"p-values of shape {values.shape}; one row is needed")
    wrong = ~((values >= 0) & (values <= 1))
    _require(not wrong.any(), f"p-value {values[wrong][:1]} is outside [0, 1]")
    return values


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InputError(message)
