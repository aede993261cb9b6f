"""Whether the probabilities of a pool speak against its predictions, as where columns are in another order."""

from __future__ import annotations

import math

from sondage.core.measures import MCC
from sondage.core.measures.bases import Confusion
from sondage.errors import warn
from sondage.pools import Pool
from sondage.studies.sums import PoolSums

__all__ = ["tell_opposed"]

BY_CHANCE = 5.0
"""Standard deviations by which probabilities that have nothing to do with predictions are not against them."""


def tell_opposed(pool: Pool, sums: PoolSums) -> None:
    r"""Warn of each model that is believed to be right less often than chance would have it.

    That is, of a correlation of predictions with the labels that are expected (MCC) below :math:`-5 \sqrt{v}`, where
    :math:`v` is the larger of :math:`\sum_i b_i^2` over the rows and one over the number of units: without a connection
    its variance is at most about that. Predictions that are made from the probabilities, by whatever threshold, have a
    positive one. What is expected of several models is what all of them say, on average. Of judges, who may err,
    nothing is said.

    Parameters
    ----------
    pool : Pool
        The pool.
    sums : PoolSums
        Its believed sums before any label; where a measure is no function of the confusion matrix nothing is looked at.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np, sondage
    >>> p = np.linspace(0.01, 0.99, 500)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     advice = sondage.advise(Pool(probabilities=p, predictions=(p < 0.5).astype(int)))
    >>> str(told[0].message).partition(":")[0]
    "the probabilities speak against the predictions of 'model'"
    """
    basis = next((one for one in sums.bases.values() if isinstance(one, Confusion)), None)
    if basis is None or pool.judges:
        return
    of_pool, deviation = sums.of(sums.belief), math.sqrt(max(pool.squared_weights, 1 / pool.n_units))
    for model in sums.models:
        expected = MCC().ready(pool.task).value(of_pool[basis.name, model])
        if expected < -BY_CHANCE * deviation:
            rule = "check that their columns, the classes and the rows belong together"
            warn(f"the probabilities speak against the predictions of {pool.models[model]!r}: {rule}")
