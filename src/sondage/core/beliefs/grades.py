r"""Beliefs about the grades of documents, each independent of the others given the query (thesis 6.3).

Labels move the probabilities :math:`p_g` of a document at positions :math:`r_m` of the M systems' lists to

.. math:: p'_g \propto \exp\Big(\alpha_g + \beta \ln p_g + \gamma \, \frac{g}{G - 1} x\Big), \qquad
          x = \frac{1}{M} \sum_m \frac{1}{\log_2(1 + r_m)},

which learns how frequent the grades are, how far the grade model is to be trusted, and, above all where there is no
grade model, that documents ranked high are relevant. The coefficients are the mode of their posterior under
:math:`\alpha_g \sim N(0, 1), \beta \sim N(1, 1/4), \gamma \sim N(0, 9)`; the documents of a query count as at most
`ALIKE` independent ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from sondage.core.beliefs.protocol import Distribution, Supposed
from sondage.core.calibration import fit_categories
from sondage.core.predictions import Floats, Items
from sondage.core.rankings import grade_type

__all__ = ["POINTS", "RankingBelief"]

POINTS = 32
"""Label vectors that are supposed of each query."""
ALIKE = 10.0
"""Documents of a query that count as independent, at most."""
SMALLEST = 1e-4
"""Probabilities below this count as this in a logarithm."""
MEAN, DEVIATIONS = (0.0, 1.0, 0.0), (1.0, 0.5, 3.0)
"""Of the prior of alpha, beta and gamma."""


@dataclass(frozen=True)
class RankingBelief:
    """Independent grades of documents: a grade model's probabilities, a prior that is the same for all, or uniform.

    Parameters
    ----------
    n_grades : int
        Number of grades G.
    prior : tuple of float
        Probabilities of the grades in place of the model's; empty to use that, or equal ones where there is none.
    shifts : tuple of float
        Calibration: alpha of each grade; empty before any label.
    slope, lift : float
        beta and gamma.
    """

    n_grades: int
    prior: tuple[float, ...] = ()
    shifts: tuple[float, ...] = ()
    slope: float = 1.0
    lift: float = 0.0

    def probabilities(self, items: Items, index: Any) -> Floats:
        """Return the probabilities of the grades of some documents, shape (d, G)."""
        given = self._given(items, index)
        if not self.shifts:
            return given
        logits = self.slope * np.log(np.maximum(given, SMALLEST)) + np.array(self.shifts)
        if self.lift:
            logits += self.lift * np.multiply.outer(_height(items, index), self._relative)
        return np.asarray(softmax(logits, axis=1))

    @property
    def _relative(self) -> Floats:
        return np.arange(self.n_grades) / max(self.n_grades - 1, 1)

    def _given(self, items: Items, index: Any) -> Floats:
        """Return the probabilities before calibration."""
        ranks = items.ranks(0)
        p = ranks.documents.probabilities
        if p is None or self.prior:
            same = self.prior or (1.0 / self.n_grades,) * self.n_grades
            return np.broadcast_to(np.array(same), (len(ranks.positions[index]), self.n_grades))
        return np.asarray(p[index], dtype=np.float64)

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        r"""Yield grade codes of all documents, shape (d,), with equal weights.

        They are a Latin hypercube sample: in each document's `POINTS` grades every part of its distribution occurs
        once, in an order of its own that follows from its place among the query's documents.

        References
        ----------
        McKay, Beckman and Conover, A comparison of three methods for selecting values of input variables in the
        analysis of output from a computer code, Technometrics, 1979, 239-245.
        """
        for codes in items.once((RankingBelief, self), lambda: self._supposed(items)):
            yield codes, 1.0 / POINTS

    def _supposed(self, items: Items) -> list[NDArray[np.signedinteger]]:
        """Return the grade codes that are supposed, which are the same for all systems."""
        ranks = items.ranks(0)
        index, starts = ranks.index()
        ends = np.cumsum(self.probabilities(items, index), axis=1)[:, :-1]
        place = np.arange(starts[-1]) - np.repeat(starts[:-1], ranks.counts)
        points = _points(1 << int(place.max(initial=0)).bit_length())
        found = []
        for column in points.T:
            at, codes = column[place], np.zeros(len(place), dtype=grade_type(self.n_grades))
            for end in ends.T:
                codes += at >= end
            found.append(codes)
        return found

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield the least and the greatest grade of all documents; measures tell themselves what can matter."""
        yield from (0, self.n_grades - 1)

    def plausible(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return this belief alone."""
        return (self,)

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief calibrated on these grade codes, shape (n, W), -1 beyond a query's documents."""
        ranks = items.ranks(0)
        if not len(ranks):
            return self
        index, _ = ranks.index()
        counts = ranks.counts
        codes = labels[np.arange(labels.shape[1]) < counts[:, None]]
        weights = np.repeat(np.minimum(1.0, ALIKE / np.maximum(counts, 1)), counts)
        columns = [
            np.log(np.maximum(self._given(items, index), SMALLEST)),
            np.multiply.outer(_height(items, index), self._relative),
        ]
        mean, deviations = (np.array([first] * self.n_grades + others) for first, *others in (MEAN, DEVIATIONS))
        found = fit_categories(codes, columns, mean, deviations, weights=weights)
        slope, lift = found.slopes.tolist()
        return replace(self, shifts=tuple(found.shifts.tolist()), slope=slope, lift=lift)


def _height(items: Items, index: Any) -> Floats:
    """Return how high the systems rank documents: the mean of 1 / log2(1 + rank), 0 where they do not."""
    places = [items.ranks(model).positions[index] for model in range(len(items.models))]
    last = max(int(place.max(initial=0)) for place in places)
    of_place = np.concatenate([[0.0], 1.0 / np.log2(np.arange(1, last + 1) + 1.0)])
    total = of_place[places[0]]
    for place in places[1:]:
        total += of_place[place]
    return np.asarray(total / len(places))


@lru_cache(maxsize=4)
def _points(count: int) -> Floats:
    """Return numbers in [0, 1), shape (count, POINTS), one of each POINTS-th part in every row; rows never change."""
    cells = np.arange(count * POINTS, dtype=np.uint64)
    order = np.argsort(_mixed(cells).reshape(count, POINTS), axis=1, kind="stable")
    within = _mixed(cells + np.uint64(1 << 40)).reshape(count, POINTS) >> np.uint64(11)
    points = (order + within * 2.0**-53) / POINTS
    points.flags.writeable = False
    return np.asarray(points)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 well mixed bits of each number (splitmix64: Steele, Lea and Flood, OOPSLA, 2014)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
