r"""Designs: how much of the labelling each item deserves.

A design is a mixture of terms; each gives every item a size :math:`u_i`, computed from the one rule

.. math:: u_i = b_i \, c_i^{-\gamma} \, r_i,

where :math:`r_i` is 1 (passive), the root of the believed second moment of the influence (the thesis's optimal
design, 4.6 and 5.5), the root of its variance (for assisted estimators), or the share of model pairs that
disagree (5.18), and :math:`\gamma` is 1/2 where costs count (4.25) and 0 where they do not. Terms are data;
a pool computes them (`Term.sizes` on arrays, SQL elsewhere).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, ClassBelief, GaussianBelief, is_broad
from sondage.core.comparisons import Influence, moments
from sondage.core.measures.bases import ROUNDING, Confusion, OwnLoss, Residuals
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Classes, Floats, Items, Means
from sondage.core.suppositions import supposed_influences
from sondage.errors import InputError

__all__ = [
    "COST_EXPONENT",
    "PASSIVE",
    "Design",
    "Deviation",
    "Equal",
    "MeanAbsolute",
    "Mixture",
    "PairwiseDisagreement",
    "Range",
    "RootMeanSquare",
    "Term",
    "any_matters",
    "broad_root",
    "extent",
    "matters",
    "mixed",
    "mixture",
    "vanishes",
]

PASSIVE = "design {!r}: by the predictions nothing is uncertain; the draw is passive"
"""What is said of a design, by its name, that gives no item a size."""
COST_EXPONENT = 0.5
"""Of the cost by which a size is divided: its root makes the variance least for a given cost."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Term:
    r"""One way to size items.

    Attributes
    ----------
    cost_exponent : float
        :math:`\gamma`: 0.5 where a label's cost counts, 0 where it does not. Pools without costs ignore it.
    """

    cost_exponent: float = COST_EXPONENT

    def sizes(self, items: Items) -> Floats:
        """Return u, shape (n,), not normalised."""
        sizes = items.weights * self.relevance(items)
        if items.costs is not None and self.cost_exponent:
            sizes = sizes * np.asarray(items.costs, dtype=np.float64) ** -self.cost_exponent
        return np.asarray(sizes, dtype=np.float64)

    def relevance(self, items: Items) -> Floats:
        """Return r, shape (n,), before base weights and costs."""
        return np.broadcast_to(np.float64(1.0), len(items))


@dataclass(frozen=True, eq=False, kw_only=True)
class Equal(Term):
    """Base weight only: the passive design, or with costs the cost-only heuristic (section 4.4.1, corrected)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RootMeanSquare(Term):
    r"""Root of the believed second moment of the influence, :math:`\sqrt{E[\psi_i^2]}`: the thesis's optimal design.

    Attributes
    ----------
    influence : Influence
        How far each label moves what is estimated, in the units of the measure.
    belief : Belief
        What the labels are expected to be.
    """

    influence: Influence
    belief: Belief

    def relevance(self, items: Items) -> Floats:
        if is_broad(self.belief):
            return broad_root(self.influence, items)
        return self._believed(items)

    def _believed(self, items: Items) -> Floats:
        """Return r under a belief that is not infinitely broad, shape (n,)."""
        return np.sqrt(moments(self.influence, self.belief, items)[1])


@dataclass(frozen=True, eq=False, kw_only=True)
class Deviation(RootMeanSquare):
    r"""Standard deviation of the influence under the belief, :math:`\sqrt{\mathrm{Var}[\psi_i]}`.

    It is optimal where the mean is known and used.

    Attributes
    ----------
    influence, belief
        As of `RootMeanSquare`.
    """

    def _believed(self, items: Items) -> Floats:
        mean, second = moments(self.influence, self.belief, items)
        # The difference of two moments leaves 1e-9 of an influence that no label moves: a size that is none.
        uncertain = matters(self.influence, self.belief, items)
        second -= np.square(mean, out=mean)
        second[~uncertain] = 0.0
        return np.sqrt(np.maximum(second, 0.0, out=second), out=second)


def broad_root(influence: Influence, items: Items) -> Floats:
    r"""Return the leading coefficient of the root second moment as :math:`\tau \to \infty`.

    A linear influence (a difference of squared losses) leaves its slope, active_inf's |f1 - f2|; a quadratic one
    its curvature, which is the same for all items, as is what is unknown: how a loss of one's own grows.

    Parameters
    ----------
    influence : Influence
        Of numbers.
    items : Items
        Rows with the models' means.

    Returns
    -------
    ndarray of float, shape (n,)
        0 or more, on a scale of its own.
    """
    if not isinstance(influence.basis, Residuals):
        return np.ones(len(items))
    square, plain, absolute, first, second = np.array([a for _, a in influence.terms]).T
    if not all(map(vanishes, (square, absolute, second))):
        return np.ones(len(items))
    slope, size = np.full((2, len(items)), float(np.sum(first - plain)))
    np.abs(size, out=size)
    for model, a in zip(influence.models, absolute - 2.0 * square, strict=True):
        part = a * np.asarray(items.means(model).means, dtype=np.float64)
        slope += part
        size += np.abs(part)
    return np.where(np.abs(slope) > ROUNDING * size, np.abs(slope), 0.0)


def vanishes(coefficients: Floats) -> bool:
    """Return whether the sum of coefficients is 0 but for rounding; they must have one unit of measurement."""
    return bool(abs(np.sum(coefficients)) <= 1e-8 * np.sum(np.abs(coefficients)))


def extent(influences: Sequence[Influence]) -> float:
    """Return the largest coefficient, beside which less is rounding; 0 of numbers, whose unit is not known."""
    if isinstance(influences[0].basis, Residuals):
        return 0.0
    return max(float(np.max(np.abs(a), initial=0.0)) for influence in influences for _, a in influence.terms)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanAbsolute(Deviation):
    r"""Mean absolute deviation of the influence under the belief, :math:`E|\psi_i - E \psi_i|`.

    It gives less than `Deviation` to items that are almost certain, and so trusts the belief's tails less: with
    rare positives far fewer labels go to the many items that are each a little uncertain.

    Attributes
    ----------
    influence, belief
        As of `RootMeanSquare`.
    """

    def _believed(self, items: Items) -> Floats:
        influence = self.influence
        if isinstance(influence.basis, ListLoss):  # a sum over documents: as if Gaussian
            return np.asarray(super()._believed(items) * np.sqrt(2.0 / np.pi))
        finer = list(supposed_influences(influence, self.belief, items, nodes=2 * influence.basis.nodes))
        if isinstance(self.belief, ClassBelief):
            mean = sum(weight * psi for weight, psi in finer)
        else:
            mean = moments(influence, self.belief, items)[0]
        distance: Any = sum(weight * np.abs(psi - mean) for weight, psi in finer)
        return np.asarray(distance * matters(influence, self.belief, items))  # as in `Deviation`: rounding is no size


@dataclass(frozen=True, eq=False, kw_only=True)
class Range(RootMeanSquare):
    """Difference of the largest and the smallest influence that an allowed label can have, whatever the belief.

    Numbers have no largest: there it is how fast the influence grows with the label.

    Attributes
    ----------
    influence, belief
        As of `RootMeanSquare`; the belief tells which labels are allowed.
    """

    def relevance(self, items: Items) -> Floats:
        if isinstance(self.belief, GaussianBelief):
            return broad_root(self.influence, items)
        if isinstance(self.influence.basis, OwnLoss) and self.influence.basis.classes is None:
            return np.ones(len(items))
        if len(self.influence.terms) == 1 and isinstance(self.influence.basis, Confusion):  # a number for each class
            ((model, a),) = self.influence.terms
            span = np.ptp(a, axis=1)
            span[span <= ROUNDING * np.max(np.abs(a))] = 0.0
            return np.asarray(span.take(items.classes(model).predictions))
        lowest, highest = self.influence.extremes(items, self.belief)
        return np.asarray((highest - lowest) * matters(self.influence, self.belief, items))


@dataclass(frozen=True, eq=False, kw_only=True)
class PairwiseDisagreement(Term):
    """Share of the pairs of these models whose predictions differ (5.18), in [0, 1]; for two models, active_neq.

    Attributes
    ----------
    models : tuple of int
        Two or more; outcomes and rankings have no predictions, and are refused with `InputError`.
    """

    models: tuple[int, ...]

    def relevance(self, items: Items) -> Floats:
        predicted = np.sort(np.stack([_predictions(items, model) for model in self.models], axis=1), axis=1)
        k, alike, run = len(self.models), np.zeros(len(items)), np.zeros(len(items))
        for before, column in pairwise(predicted.T):  # each with those before it in its run of equal ones
            run = np.where(column == before, run + 1.0, 0.0)
            alike += run
        pairs = k * (k - 1) / 2
        return (pairs - alike) / pairs


def _predictions(items: Items, model: int) -> NDArray[Any]:
    output = items.models[model]
    if isinstance(output, Classes):
        return output.predictions
    if isinstance(output, Means):
        return output.means
    raise InputError("the disagreement design needs predictions; outcomes and rankings have none")


Mixture = tuple[tuple[float, Term], ...]
"""Shares, summing to 1, and terms; each term is normalised over the pool before it is mixed."""


@dataclass(frozen=True, eq=False)
class Design:
    """A mixture of terms with a floor.

    Attributes
    ----------
    name : str
        How the design is called.
    terms : tuple of (float, Term)
        What is mixed.
    floor : float
        Share of the mass spread over the items that can matter, whatever the belief.
    ground : Term
        How it is spread.
    """

    name: str
    terms: Mixture
    floor: float
    ground: Term

    @property
    def evened(self) -> Design | None:
        """The design with a floor by base weights, which leaves out nothing that can matter; None if that is so now.

        A label may move the result without doing so where the floor's own term stands.
        """
        return replace(self, ground=Equal()) if self.floor and not isinstance(self.ground, Equal) else None


def mixture(terms: Sequence[Term]) -> Mixture:
    """Return these terms in equal shares (the risk mixture; 5.16 for all pairs).

    Examples
    --------
    >>> [share for share, _ in mixture([Equal(), Equal(cost_exponent=0.0)])]
    [0.5, 0.5]
    """
    return tuple((1.0 / len(terms), term) for term in terms)


def mixed(parts: Sequence[tuple[float, Mixture]]) -> Mixture:
    """Return mixtures mixed, each with the share before it; without those whose share is 0.

    Examples
    --------
    >>> two = mixture([Equal(), Equal(cost_exponent=0.0)])
    >>> [share for share, _ in mixed([(0.5, two), (0.5, mixture([Equal()]))])]
    [0.25, 0.25, 0.5]
    """
    return tuple((a * b, term) for a, part in parts if a for b, term in part)


def matters(influence: Influence, belief: Belief, items: Items) -> NDArray[np.bool_]:
    """Return whether two allowed labels give different influences, bool (n,); unknown losses of numbers may.

    Parameters
    ----------
    influence : Influence
        How far labels move what is estimated.
    belief : Belief
        Which labels are allowed.
    items : Items
        The n rows.
    """
    if isinstance(influence.basis, OwnLoss) and influence.basis.classes is None:
        return np.ones(len(items), dtype=np.bool_)
    if isinstance(influence.basis, Residuals):
        return broad_root(influence, items) > 0
    least = ROUNDING * extent([influence])
    if len(influence.terms) == 1 and isinstance(influence.basis, Confusion):
        ((model, a),) = influence.terms
        moved = np.ptp(a, axis=1) > least
        if moved.all():
            return np.ones(len(items), dtype=np.bool_)
        return np.asarray(moved.take(items.classes(model).predictions))
    lowest, highest = influence.extremes(items, belief)
    return np.asarray(highest - lowest > least)


def any_matters(influences: Sequence[Influence], belief: Belief, items: Items) -> NDArray[np.bool_]:
    """Return whether two allowed labels give different values of any of these influences, bool (n,); as `matters`."""
    found = np.zeros(len(items), dtype=np.bool_)
    for influence in influences:
        found |= matters(influence, belief, items)
        if found.all():
            break
    return found
