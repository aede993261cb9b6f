r"""The part of an estimate's variance that comes from who labels: an item's label as a random variable.

Another person might have given another label. Let :math:`\sigma_u^2` be the variance, over the people who could label
unit u, of its influence :math:`b_u \psi_u(Y_u)`. The estimate is about :math:`\sum_u w_u b_u \psi_u(Y_u)`, so that
labels add :math:`\sum_u w_u^2 \sigma_u^2` to its variance. The spread of the labels over the units has seen
:math:`\sum_u k_u \sigma_u^2` of it. What is missing,

.. math:: V_r = \sum_u (w_u^2 - k_u) \sigma_u^2,

has the mean :math:`\sum_i \sigma_i^2` over the pool, since :math:`w^2 - k = 1/\pi`: it is the whole uncertainty where
every item is labelled, and little where few are (Saerndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992,
result 4.3.1).

Units with several labels show their own variance :math:`s_u^2`. For the others the units with several labels stand, in
proportion to :math:`(w_u^2 - k_u) b_u^2`; they must be a random part of all. A mean of m labels has
:math:`\sigma_u^2 / m`. A majority is taken to be as uncertain as one label, which is too much rather than too little:
the majority of people who say yes with probability p is a number with variance :math:`q (1 - q) \le p (1 - p)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.comparisons import Contrast, Sums
from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Floats
from sondage.core.samples import Sample

__all__ = ["Opinions", "rater_roots", "rater_variance"]


@dataclass(frozen=True, eq=False)
class Opinions:
    """The labels of units that several people labelled.

    Attributes
    ----------
    units : ndarray of int, shape (K,)
        The units.
    owner : ndarray of int, shape (T,)
        For each label the place of its unit in `units`; two or more labels a unit.
    labels : ndarray, shape (T,) or (T, M)
        The labels, coded as in a `Sample`.
    """

    units: NDArray[np.int64]
    owner: NDArray[np.int64]
    labels: NDArray[Any]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many labels each unit has."""
        return np.bincount(self.owner, minlength=len(self.units)).astype(np.int64)


def rater_roots(
    contrast: Contrast, sample: Sample, sums: Sums, opinions: Opinions, *, averaged: bool = False
) -> Floats:
    r"""Return what each opinion adds to the estimate's error: numbers whose squares sum to the raters' variance.

    The products of those of two models sum to the covariance of what labellers add to both. Units with one label are
    stood for by those with several (docs/statistics.md, section 11): the opinion t of unit u, of m, has

    .. math:: \sqrt{\frac{w_u^2 - k_u}{m - 1} \Big(1 + \frac{\sum_{alone} (w^2 - k) b^2}{\sum_{several}
        (w^2 - k) b^2}\Big)} \; b_u (\psi_u(y_t) - \bar\psi_u),

    and in place of the 1 there is :math:`1/m` where labels are averaged.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows.
    sums : mapping of int to ndarray
        Estimated pool means, by model.
    opinions : Opinions
        Of units of the sample.
    averaged : bool
        Whether a unit's label is the mean of its labels, not their majority.

    Returns
    -------
    ndarray of float, shape (T,)
        In the order of `opinions.labels`; 0 where a unit's labels differ by what rounding leaves.

    Examples
    --------
    Two items, both labelled; of one two people disagree, and it stands for the other.

    >>> from sondage.core.measures import Task, parse_measure
    >>> from sondage.core.predictions import Classes, Items
    >>> from sondage.core.samples import Expansion
    >>> errors = Contrast(parse_measure("error_rate").ready(Task("classification", (0, 1))), ((0, 1.0),))
    >>> items = Items((Classes(np.array([0, 1]), None),), np.array([0.5, 0.5]))
    >>> sample = Sample(items, np.array([0, 1]), Expansion(np.ones(2), np.zeros(2)))
    >>> opinions = Opinions(np.array([0]), np.array([0, 0]), np.array([0, 1]))
    >>> rater_roots(errors, sample, {0: np.zeros((2, 2))}, opinions).round(3).tolist()
    [-0.354, 0.354]
    """
    scale, apart = _of_opinions(contrast, sample, sums, opinions, averaged=averaged)
    return np.sqrt(scale) * apart


def _of_opinions(
    contrast: Contrast, sample: Sample, sums: Sums, opinions: Opinions, *, averaged: bool
) -> tuple[Floats, Floats]:
    """Return for each opinion how much its square counts, and how far it is from the mean of its unit."""
    units, owner, counts, expansion = opinions.units, opinions.owner, opinions.counts, sample.expansion
    rows, opinion = _rows_of(sample, units[owner])
    items = sample.items.take(rows)
    psi = np.asarray(contrast.influence(sums).at(items, opinions.labels[opinion])) * items.weights
    told = np.bincount(opinion, weights=psi, minlength=len(owner))
    apart = told - (np.bincount(owner, weights=told) / counts)[owner]
    squares, whole = (np.bincount(owner, weights=one**2) for one in (apart, told))
    missing = np.maximum(expansion.weights**2 - expansion.spread, 0.0)
    sizes = missing * sample.unit_base**2
    several = np.zeros(len(sizes), dtype=np.bool_)
    several[units] = True
    shared = float(sizes[units].sum())
    alone = float(sizes[~several].sum()) / shared if shared > 0 else 0.0
    scale = missing[units] / (counts - 1) * ((1.0 / counts if averaged else 1.0) + alone)
    return np.where(squares > ROUNDING**2 * whole, scale, 0.0)[owner], apart


def _rows_of(sample: Sample, units: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of these units, one after the other, and for each row the place of its unit."""
    if sample.units is None:
        return units, np.arange(len(units))
    order = np.argsort(sample.units, kind="stable")
    first = np.searchsorted(sample.units[order], units, side="left")
    count = np.searchsorted(sample.units[order], units, side="right") - first
    place = np.repeat(np.arange(len(units)), count)
    within = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
    return order[first[place] + within], place


def rater_variance(
    contrast: Contrast, sample: Sample, sums: Sums, opinions: Opinions, *, averaged: bool = False
) -> float:
    """Return what the labellers add to the estimate's variance beyond the spread of the labels.

    Parameters
    ----------
    contrast, sample, sums, opinions
        As for `rater_roots`.
    averaged : bool
        Whether a unit's label is the mean of its labels, not their majority.

    Returns
    -------
    float
        :math:`V_r`; 0 where nobody disagrees, or no unit has several labels.
    """
    scale, apart = _of_opinions(contrast, sample, sums, opinions, averaged=averaged)
    return float(np.sum(scale * apart**2))
