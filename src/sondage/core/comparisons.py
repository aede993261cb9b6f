r"""Contrasts: one model's measure, the difference of two, any weighted sum over models.

The value is :math:`\theta = \sum_m w_m g(\mu_m)`. Evaluation is the contrast with the single weight 1,
comparison the one with weights 1 and -1 (thesis 5.1), so that everything after this line is written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, ClassBelief, GaussianBelief, RankingBelief, rests_on
from sondage.core.measures.bases import ROUNDING, Basis, ClassLoss, Residuals
from sondage.core.measures.functionals import Functional, linear
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Floats, Items
from sondage.core.suppositions import supposed_influences

__all__ = ["Contrast", "Differences", "Influence", "Sums", "believed_totals", "moments"]

Sums = Mapping[int, Floats]
"""Pool means of one basis: model index -> :math:`\\mu`."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """A weighted sum over models of one measure.

    Parameters
    ----------
    functional : Functional
        The measure.
    weights : tuple of (int, float)
        Model index and weight.
    """

    functional: Functional
    weights: tuple[tuple[int, float], ...]

    @property
    def models(self) -> tuple[int, ...]:
        """The models concerned."""
        return tuple(model for model, _ in self.weights)

    @property
    def compares(self) -> bool:
        """Whether it tells models from each other."""
        return len(self.weights) > 1

    def part(self, model: int, coefficients: Floats) -> Contrast:
        r"""Return a linear function :math:`a \cdot \mu` of a model's pool means, a of the shape of :math:`\mu`."""
        return Contrast(linear("part", self.functional.basis, coefficients), ((model, 1.0),))

    @property
    def sure_decide(self) -> bool:
        """Whether sure items move it most, as one model's AUC; a difference follows those that models tell apart."""
        return self.functional.sure_decide and not self.compares

    @property
    def has_slope(self) -> bool:
        """Whether its interval reckons with a variance that grows with the value.

        One model's does, and so does a difference of which few sure items may be most: in the AUC, and in losses of
        probabilities with a limit. Of the log loss, which has none, the standard error knows by itself.
        """
        functional = self.functional
        limited = isinstance(functional.basis, ClassLoss) and bool(np.isfinite(functional.bounds[1]))
        return not self.compares or functional.sure_decide or limited

    def rests_on_model(self, belief: Belief) -> bool:
        """Return whether sure items decide, and how sure they are is known by nothing but the model itself."""
        return self.sure_decide and rests_on(belief, self.models[0])

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        low, high = self.functional.bounds
        ends = [sorted((weight * low, weight * high)) for _, weight in self.weights if weight]
        return float(sum(end[0] for end in ends)), float(sum(end[1] for end in ends))

    def value(self, sums: Sums) -> float:
        """Return the value at these pool means; NaN where the measure is undefined, and 0 for equal models."""
        value, means = self.functional.value, self._means(sums)
        terms = [weight * value(means[model]) for model, weight in self.weights]
        total = float(sum(terms))
        return 0.0 if abs(total) <= ROUNDING * sum(map(abs, terms)) else total

    def influence(self, sums: Sums) -> Influence:
        r"""Return how far each item's label moves the value: :math:`\psi_i(y)` linearised at these pool means."""
        gradient, means = self.functional.gradient, self._means(sums)
        terms = tuple((model, weight * gradient(means[model])) for model, weight in self.weights)
        parts = [coefficients * means[model] for model, coefficients in terms]
        constant, scale = float(sum(np.sum(part) for part in parts)), float(sum(np.sum(np.abs(part)) for part in parts))
        # Designs see sums rounded to 9 digits: what is below that is 0, or items that cannot matter would get a size.
        return Influence(self.functional.basis, terms, constant if abs(constant) > 1e-8 * scale else 0.0)

    def _means(self, sums: Sums) -> dict[int, Floats]:
        return {model: self.functional.basis.without_rounding(sums[model]) for model in self.models}


@dataclass(frozen=True, eq=False)
class Differences(Sequence[Contrast]):
    """The differences of pairs of models by one measure; of hundreds of models each is made when it is looked at.

    Parameters
    ----------
    functional : Functional
        The measure.
    pairs : tuple of (int, int)
        Indices of the models.
    """

    functional: Functional
    pairs: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, place: int) -> Contrast: ...
    @overload
    def __getitem__(self, place: slice) -> Differences: ...
    def __getitem__(self, place: int | slice) -> Contrast | Differences:
        if isinstance(place, slice):
            return Differences(self.functional, self.pairs[place])
        first, second = self.pairs[place]
        return Contrast(self.functional, ((first, 1.0), (second, -1.0)))


@dataclass(frozen=True, eq=False)
class Influence:
    r"""The influence :math:`\psi_i(y) = \sum_m \langle a_m, s(o_{im}, y) \rangle - c`, as data for any engine.

    Attributes
    ----------
    basis : Basis
        The item statistic s.
    terms : tuple of (int, ndarray)
        Model index and coefficients a, of the basis's shape.
    constant : float
        :math:`c = \sum_m \langle a_m, \mu_m \rangle`.
    """

    basis: Basis
    terms: tuple[tuple[int, Floats], ...]
    constant: float

    @property
    def models(self) -> tuple[int, ...]:
        """The models concerned."""
        return tuple(model for model, _ in self.terms)

    def at(self, items: Items, label: Any) -> NDArray[Any]:
        """Return the influence of the items if these are the labels, shape (n,)."""
        model, coefficients = self.terms[0]
        total = self.basis.project(items, model, label, coefficients)
        for model, coefficients in self.terms[1:]:
            total += self.basis.project(items, model, label, coefficients)
        total -= self.constant
        return total

    def extremes(self, items: Items, belief: Belief) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the least and the greatest influence that an allowed label can give, shape (n,) each."""
        if isinstance(self.basis, ListLoss):
            lowest, highest = self.basis.extremes(items, self.weights)
            return lowest - self.constant, highest - self.constant
        first, *others = (self.at(items, label) for label in belief.allowed(items, self.models))
        lowest, highest = np.array(first), np.array(first)
        for psi in others:
            np.minimum(lowest, psi, out=lowest)
            np.maximum(highest, psi, out=highest)
        return lowest, highest

    @property
    def cancels(self) -> bool:
        """Whether two models have the same coefficients, so that what they predict alike does not move it."""
        if len(self.terms) != 2:
            return False
        (_, first), (_, second) = self.terms
        alike = first.shape == second.shape
        return alike and bool(np.max(np.abs(first + second)) <= 1e-9 * np.max(np.abs(first)))

    @property
    def weights(self) -> list[tuple[int, float]]:
        """Model index and the one coefficient of a statistic that is one number."""
        return [(model, float(coefficients[0])) for model, coefficients in self.terms]

    def folded(self, items: Items) -> tuple[Floats, float, list[tuple[float, NDArray[Any]]]] | None:
        """Return a, b and (c_j, f_j) of a + b y + sum of c_j |y - f_j|; None of residuals that are squared, or none."""
        square, plain, absolute, first, second = np.array([a for _, a in self.terms]).T
        if square.any() or second.any() or not absolute.any():
            return None
        means = [items.means(model).means for model in self.models]
        centre = cast(Residuals, self.basis).centre
        intercept = sum(a * mean for a, mean in zip(plain, means, strict=True)) - centre * first.sum() - self.constant
        return intercept, float(first.sum() - plain.sum()), list(zip(absolute.tolist(), means, strict=True))

    def kinks(self, items: Items) -> list[NDArray[Any]]:
        """Return the labels at which the influence is not smooth."""
        return [kink for model, a in self.terms for kink in self.basis.kinks(items, model, a)]


def moments(influence: Influence, belief: Belief, items: Items) -> tuple[Floats, Floats]:
    r"""Return the believed mean and second moment of the influence, each shape (n,).

    These are :math:`E[\psi_i]` and :math:`E[\psi_i^2]` over the belief; the thesis's optimal size is the root of
    the second (4.6, 5.5), an assisted estimator's the root of the variance, :math:`E[\psi_i^2] - E[\psi_i]^2`.

    Parameters
    ----------
    influence : Influence
        How far labels move what is estimated.
    belief : Belief
        What the labels are expected to be; of measures of rankings a `RankingBelief`.
    items : Items
        The n rows.
    """
    if isinstance(influence.basis, ListLoss):
        assert isinstance(belief, RankingBelief)
        mean, variance = influence.basis.spread(items, influence.weights, belief)
        mean -= influence.constant
        return mean, variance + np.square(mean)
    if isinstance(influence.basis, Residuals) and isinstance(belief, GaussianBelief):
        folded = influence.folded(items)
        if folded is not None:
            return belief.folded_moments(items, *folded)
    mean, second = np.zeros(len(items)), np.zeros(len(items))
    for weight, psi in supposed_influences(influence, belief, items):
        weighted = np.multiply(weight, psi, dtype=np.float64)
        mean += weighted
        weighted *= psi
        second += weighted
    return mean, second


def believed_totals(
    basis: Basis, models: Iterable[int], belief: Belief, items: Items, weights: NDArray[Any]
) -> dict[int, Floats]:
    r"""Return :math:`\sum_i w_i E[s(o_i, y_i)]` for each model: thesis 4.21, 4.22 and 5.12 over a whole pool.

    Each model's labels are supposed alone, which is all that a mean of s needs.

    Parameters
    ----------
    basis : Basis
        The item statistic s.
    models : iterable of int
        Model indices.
    belief : Belief
        What the labels are expected to be.
    items : Items
        The n rows.
    weights : ndarray of float, shape (n,)
        :math:`w_i`.

    Returns
    -------
    dict of int to ndarray
        Model -> total, of the shape of s.
    """
    if isinstance(basis, ListLoss):
        assert isinstance(belief, RankingBelief)
        return {model: np.array([np.sum(weights * basis.expected(items, model, belief))]) for model in models}
    if isinstance(belief, ClassBelief):  # the same labels for all models: supposed once
        shared = [(label, weights * weight) for label, weight in belief.supposed(items, ())]
        return {model: basis.believed(items, model, shared) for model in models}
    if isinstance(belief, GaussianBelief) and isinstance(basis, Residuals):
        return {model: belief.residual_totals(items, model, weights, basis.centre) for model in models}

    def alone(model: int) -> Iterator[tuple[Any, Any]]:
        supposed = belief.supposed(items, (model,), nodes=basis.nodes)
        return ((label, weights * weight) for label, weight in supposed)

    return {model: basis.believed(items, model, alone(model)) for model in models}
