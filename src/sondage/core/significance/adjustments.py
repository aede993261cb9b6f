"""p-values adjusted for their number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sondage.core.checks import require

__all__ = ["bonferroni", "holm"]


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
    C. Sawade, Active Evaluation of Predictive Models, 2013, section 3.2.3.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5]).tolist()
    [0.03, 0.12, 1.0]
    """
    values = _probabilities(pvalues)
    return np.minimum(1.0, values.size * values)


def holm(pvalues: ArrayLike, among: int | None = None) -> NDArray[np.float64]:
    r"""Return p-values adjusted by Holm's step-down method.

    In ascending order :math:`\tilde p_{(j)} = \max_{l \le j} \min(1, (m - l + 1) p_{(l)})`: never above
    `bonferroni`, at the same guarantee.

    Parameters
    ----------
    pvalues : array_like of float, shape (m,)
        p-values in [0, 1].
    among : int, optional
        Number of tests that these were chosen from, m or more; it takes the place of m.

    Returns
    -------
    ndarray of float, shape (m,)
        Adjusted p-values, in the order given.

    Raises
    ------
    InputError
        If a p-value is outside [0, 1], or `among` is below m.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics, 1979, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = _probabilities(pvalues)
    total = values.size if among is None else among
    require(total >= values.size, f"{values.size} p-values chosen among {total}")
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, (total - np.arange(values.size)) * values[order]))
    return adjusted


def _probabilities(pvalues: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(pvalues, dtype=float)
    require(values.ndim == 1, f"p-values of shape {values.shape}; one row is needed")
    wrong = ~((values >= 0) & (values <= 1))
    require(not wrong.any(), f"p-value {values[wrong][:1]} is outside [0, 1]")
    return values
