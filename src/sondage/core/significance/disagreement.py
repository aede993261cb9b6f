"""Two classifiers compared on the items where they disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sondage.core.checks import require, require_target
from sondage.core.results import Significance
from sondage.core.significance.counted import mcnemar_test

__all__ = ["DisagreementResult", "disagreement_test"]


@dataclass(frozen=True)
class DisagreementResult:
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
) -> DisagreementResult:
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
    DisagreementResult
        Difference, standard error and test. If the models never disagree, both are 0 and the p-value is 1.

    Raises
    ------
    InputError
        If a count is negative, labels exceed the disagreement set or that set the pool, there are disagreements but no
        label, or ``target`` or ``alternative`` is unknown.

    Notes
    -----
    The labelled items must be a simple random sample of the disagreement set. The McNemar test holds for both targets
    and is conservative for the pool; `counted_test` is sharper there. If all labels favour
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
    require_target(target)
    counts = (first_better, second_better, neither)
    n = sum(counts)
    require(min(counts) >= 0, f"counts {counts} must be 0 or more")
    require(n <= disagreement_size, f"{n} labels for a disagreement set of {disagreement_size}")
    require(
        pool_size >= max(1, disagreement_size), f"a disagreement set of {disagreement_size} in a pool of {pool_size}"
    )
    require(n > 0 or disagreement_size == 0, f"no label for a disagreement set of {disagreement_size}; at least 1")
    test = mcnemar_test(first_better, second_better, alternative)
    share = disagreement_size / pool_size
    if n == 0:
        return DisagreementResult(0.0, 0.0, share, target, test)
    mean = (first_better - second_better) / n
    error = _mean_variance((first_better + second_better) / n, mean, n=n, size=disagreement_size, target=target)
    drift = mean**2 * share * (1 - share) / pool_size if target == "population" else 0.0
    return DisagreementResult(share * mean, math.sqrt(share**2 * error + drift), share, target, test)


def _mean_variance(square: float, mean: float, *, n: int, size: int, target: str) -> float:
    """Return the variance of a mean of n values, from the mean of their squares."""
    remaining = 1 - n / size if target == "pool" else 1.0
    if remaining == 0:
        return 0.0
    return max(0.0, square - mean**2) / (n - 1) * remaining if n > 1 else math.inf
