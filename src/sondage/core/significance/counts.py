"""Exact tests of the numbers of items that only one of two models gets right."""

from __future__ import annotations

from scipy import special

from sondage.core.checks import require
from sondage.core.results import Significance
from sondage.core.significance.tails import tail_pvalue

__all__ = ["hypergeometric_test", "mcnemar_test"]


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
    require(min(first_better, second_better) >= 0, f"counts {first_better} and {second_better} must be 0 or more")
    require(drawn <= disagreement_size, f"{drawn} labels for a disagreement set of {disagreement_size}")
    most, least = disagreement_size // 2, disagreement_size - disagreement_size // 2
    below = float(hypergeom.cdf(first_better, disagreement_size, least, drawn))
    above = float(hypergeom.sf(first_better - 1, disagreement_size, most, drawn))
    return Significance(float(first_better), tail_pvalue(alternative, below, above), alternative, "hypergeometric")
