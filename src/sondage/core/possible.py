r"""Which values of a measure the labels leave possible, whatever the other labels are.

Of a measure that is linear in the confusion matrix, or a ratio of two such sums, they are known: what is labelled
counts as it is, and the rest of what is predicted j goes where it moves the value most, all of it to one label. Of
balanced accuracy and macro F the greatest is known, with all the rest right. No statistics is in this: the value of the
pool lies between the two ends for certain.
"""

from __future__ import annotations

import numpy as np

from sondage.core.measures import Functional
from sondage.core.measures.bases import Confusion
from sondage.core.predictions import Floats

__all__ = ["possible_values"]


def possible_values(functional: Functional, labelled: Floats, predicted: Floats) -> tuple[float, float]:
    r"""Return the least and the greatest value that the pool can have.

    Parameters
    ----------
    functional : Functional
        The measure.
    labelled : ndarray of float, shape (k, k)
        Pool shares of the labelled items, predictions in rows, labels in columns.
    predicted : ndarray of float, shape (k,)
        Pool shares of the predicted classes, labelled or not, summing to 1.

    Returns
    -------
    tuple of float
        The measure's bounds where an end is not known: of other measures, and while a ratio's denominator is 0.

    Notes
    -----
    With :math:`n` and :math:`d` the coefficients of a ratio's numerator and denominator, the gradient at a value t is
    :math:`n - t d` but for a factor. Moving the rest to where that is greatest, and again from there, rises to the
    maximum in a few steps, since :math:`\max_M \langle n - t d, M \rangle` is 0 there and nowhere else (W. Dinkelbach,
    On nonlinear fractional programming, Management Science, 1967, 492-498).

    Examples
    --------
    >>> from sondage.core.measures import ErrorRate, FMeasure, Task
    >>> task = Task("classification", ("ham", "spam"))
    >>> labelled = np.array([[0.3, 0.1], [0.0, 0.2]])  # a tenth of the pool is known to be spam, and missed
    >>> low, high = possible_values(ErrorRate().ready(task), labelled, np.array([0.7, 0.3]))
    >>> round(low, 3), round(high, 3)
    (0.1, 0.5)
    >>> round(possible_values(FMeasure().ready(task), labelled, np.array([0.7, 0.3]))[1], 4)  # 0.6 / 0.7
    0.8571
    """
    least, most = functional.bounds
    if not isinstance(functional.basis, Confusion):
        return least, most
    rest = np.maximum(predicted - labelled.sum(axis=1), 0.0)
    if functional.right_is_best:
        return least, min(functional.value(labelled + np.diag(rest)), most)
    if not functional.linear and (functional.ratio is None or not np.sum(functional.ratio[1] * labelled) > 0):
        return least, most
    low, high = (_extreme(functional, labelled, rest, sign) for sign in (-1.0, 1.0))
    return max(low, least), min(high, most)


def _extreme(functional: Functional, labelled: Floats, rest: Floats, sign: float) -> float:
    """Return the greatest value, or with sign -1 the least, over all labels of the rest."""
    value, at = -np.inf, labelled
    while True:
        moved = labelled.copy()
        moved[np.arange(len(rest)), np.argmax(sign * functional.gradient(at), axis=1)] += rest
        found = sign * functional.value(moved)
        if not found > value:
            return sign * value
        value, at = found, moved
