r"""Scores on folds that share training items: their standard error, corrected for what they have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sondage.core.checks import require

__all__ = ["fold_roots"]


def fold_roots(scores: ArrayLike, test_ratio: float) -> NDArray[np.float64]:
    r"""Return rows whose inner products are the covariances of mean scores over folds.

    With the scores :math:`a_{jf}` of k models on the same J folds, :math:`\bar a_j` their means and :math:`\rho` the
    ratio of held-out to training items,

    .. math:: r_{jf} = (a_{jf} - \bar a_j) \sqrt{\frac{1/J + \rho}{J - 1}}, \qquad
       \widehat{\mathrm{Var}}[\bar a_j] = \sum_f r_{jf}^2 = \Bigl(\frac1J + \rho\Bigr) s_j^2 .

    Independent scores would have :math:`s_j^2 / J`. Folds whose models share training items have a correlation, which
    is taken to be :math:`\rho / (1 + \rho)`: the share of the items that is held out.

    Parameters
    ----------
    scores : array_like of float, shape (k, J)
        One row for each model, J >= 2 folds.
    test_ratio : float
        Held-out over training items, above 0.

    Returns
    -------
    ndarray of float, shape (k, J)

    Raises
    ------
    InputError
        If there are fewer than 2 folds or the ratio is not above 0.

    References
    ----------
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning, 2003, 239-281, section 3.
    R. R. Bouckaert and E. Frank, Evaluating the replicability of significance tests for comparing learning algorithms,
    PAKDD 2004, 3-12 (for repeated cross-validation).

    Examples
    --------
    >>> roots = fold_roots([[0.7, 0.8, 0.9]], 0.5)
    >>> round(float((roots**2).sum()), 6)  # (1/3 + 1/2) 0.1^2
    0.008333
    """
    rows = np.asarray(scores, dtype=float)
    require(rows.ndim == 2 and rows.shape[1] >= 2, f"scores of shape {rows.shape}; at least 2 folds are needed")
    require(test_ratio > 0, f"ratio {test_ratio} of held-out to training items is not above 0")
    folds = rows.shape[1]
    centred = rows - rows.mean(axis=1, keepdims=True)
    # What is left of equal scores after rounding is no spread.
    centred[np.ptp(rows, axis=1) <= 1e-13 * np.abs(rows).max(axis=1)] = 0.0
    return np.asarray(centred * np.sqrt((1.0 / folds + test_ratio) / (folds - 1)))
