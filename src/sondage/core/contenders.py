r"""Which of many models still contend for being the best, from the labels so far.

With the leader :math:`l`, the gaps :math:`z_j` of the others in standard errors decide how much a further label
should tell about each:

.. math:: \omega_j \propto e^{-\min(z_j, 6)^2 / 2}, \qquad
   u_i^2 = b_i^2 \sum_j \omega_j \, \mathrm{Var}[\psi_{il} - \psi_{ij}] .

Before any label nothing tells them apart: designs then take the pairs of models as they come (5.16).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from sondage.core.beliefs import Belief, OutcomeBelief
from sondage.core.blocks import row_blocks
from sondage.core.comparisons import Contrast, Influence, moments
from sondage.core.designs import Term, extent
from sondage.core.measures.bases import rounded
from sondage.core.predictions import Floats, Items
from sondage.core.suppositions import under_each

__all__ = [
    "LEAST_VARIANCE",
    "Contention",
    "Focus",
    "Standing",
    "best_first",
    "nearness_shares",
    "standing_of",
    "vote_shares",
]

FARTHEST = 6.0
"""Standard errors behind the leader; a model that is further behind contends as little."""
LEAST_VARIANCE = 1e-18
"""Of a squared difference: less is what rounding leaves."""
LEAST_WEIGHT = 1e-3
"""Differences that count for less are left out when the stages are weighed."""
LEAST_SQUARE = 1e-6
"""Of the largest: a regressor that is right on all labels is not yet right everywhere."""


@dataclass(frozen=True)
class Standing:
    """What the labels so far say of the models.

    Attributes
    ----------
    leader : int
        Model with the best estimate.
    weights : mapping of int to float
        How much each model contends, summing to 1.
    shares : mapping of int to float
        Share of each model in the vote on what the labels are; empty for equal ones.
    """

    leader: int
    weights: Mapping[int, float]
    shares: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Focus:
    """Which differences among several models are to be estimated best.

    Attributes
    ----------
    leader : int
        Place of the model from which they are taken.
    weights : tuple of float
        How much each model's difference counts.
    """

    leader: int
    weights: tuple[float, ...]

    def differences(self, contrasts: Sequence[Contrast]) -> list[tuple[float, Contrast]]:
        """Return the differences that count, with their weights; these are contrasts of one model each."""
        ((first, _),), functional = contrasts[self.leader].weights, contrasts[self.leader].functional
        return [
            (weight, Contrast(functional, ((first, 1.0), (contrast.models[0], -1.0))))
            for place, (weight, contrast) in enumerate(zip(self.weights, contrasts, strict=True))
            if place != self.leader and weight > LEAST_WEIGHT
        ]


def best_first(values: Floats, higher_is_better: bool) -> NDArray[np.int64]:
    """Return the places of models, best first, those equal in nine digits in the order they have; undefined ones last.

    Examples
    --------
    >>> best_first(np.array([0.3, np.nan, 0.1 + 0.2, 0.4]), higher_is_better=True).tolist()
    [3, 0, 2, 1]
    >>> best_first(np.array([1e20, 2.0, 1.0]), higher_is_better=False).tolist()
    [2, 1, 0]
    """
    return np.argsort(-rounded(values) if higher_is_better else rounded(values), kind="stable")


def standing_of(
    models: Sequence[int], values: Floats, residuals: Floats, spread: Floats, *, higher_is_better: bool
) -> tuple[int, dict[int, float]]:
    """Return the leader, and how much each model contends.

    Parameters
    ----------
    models : sequence of int
        The k models.
    values : ndarray of float, shape (k,)
        Their estimates.
    residuals : ndarray of float, shape (k, n)
        Residuals of the labelled units for each model.
    spread : ndarray of float, shape (n,)
        Of the expansion: the variance of a difference is the sum of spread times its squared residuals.
    higher_is_better : bool
        Direction of the measure.

    Examples
    --------
    >>> residuals = np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    >>> values, spread = np.array([0.9, 0.9, 0.1]), np.full(2, 0.005)
    >>> leader, weights = standing_of([4, 5, 6], values, residuals, spread, higher_is_better=True)
    >>> leader, [round(weight, 3) for weight in weights.values()]
    (4, [0.5, 0.5, 0.0])
    """
    score = rounded(np.where(np.isfinite(values), values if higher_is_better else -values, -np.inf))
    first = int(np.argmax(score))
    error = np.sqrt(np.sum(spread * (residuals - residuals[first]) ** 2, axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(np.isfinite(score), score[first] - score, 0.0)
        distance = np.where(gap > 0, np.minimum(gap / error, FARTHEST), 0.0)
    weights = np.exp(-0.5 * distance**2)
    return models[first], dict(zip(models, (weights / weights.sum()).tolist(), strict=True))


def vote_shares(items: Items, labels: NDArray[np.int64], models: Sequence[int], n_classes: int) -> dict[int, float]:
    """Return each classifier's share in a vote: its log odds of being right, above those of guessing.

    Parameters
    ----------
    items : Items
        Labelled rows.
    labels : ndarray of int, shape (n,)
        Their class codes.
    models : sequence of int
        The classifiers.
    n_classes : int
        Number of classes.

    Examples
    --------
    >>> from sondage.core.predictions import Classes
    >>> items = Items((Classes(np.array([0, 1, 1]), None), Classes(np.array([1, 0, 0]), None)), np.ones(3))
    >>> vote_shares(items, np.array([0, 1, 1]), [0, 1], 2)
    {0: 1.0, 1: 0.0}
    """
    hits = np.array([np.sum(items.classes(model).predictions == labels) for model in models])
    right = (hits + 1.0) / (len(labels) + 2.0)
    excess = np.maximum(logit(right) - logit(1.0 / n_classes), 0.0)
    total = float(excess.sum())
    shares = excess / total if total > 0 else np.full(len(models), 1.0 / len(models))
    return dict(zip(models, shares.tolist(), strict=True))


def nearness_shares(items: Items, labels: Floats, models: Sequence[int]) -> dict[int, float]:
    """Return each regressor's share in a vote: one over the mean square of its residuals.

    Parameters
    ----------
    items : Items
        Labelled rows.
    labels : ndarray of float, shape (n,)
        Their numbers.
    models : sequence of int
        The regressors.

    Examples
    --------
    >>> from sondage.core.predictions import Means
    >>> items = Items((Means(np.array([1.0, 2.0]), None), Means(np.array([3.0, 4.0]), None)), np.ones(2))
    >>> nearness_shares(items, np.array([0.0, 3.0]), [0, 1])
    {0: 0.833333333, 1: 0.166666667}
    """
    squares = np.array([np.mean(np.square(labels - items.means(model).means)) for model in models])
    near = 1.0 / np.maximum(squares, LEAST_SQUARE * np.max(squares)) if squares.any() else np.ones(len(models))
    return dict(zip(models, rounded(near / near.sum()).tolist(), strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Contention(Term):
    """Root of the contenders' weighted believed variances of the difference from the leader.

    Attributes
    ----------
    influences : tuple of Influence
        How far each label moves each model's measure, in its units.
    belief : Belief
        What the labels are expected to be; one that is infinitely broad is of one model, since no distance counts.
    weights : tuple of float
        How much each model contends.
    leader : int
        Place of the leader among them.
    """

    influences: tuple[Influence, ...]
    belief: Belief
    weights: tuple[float, ...]
    leader: int

    def relevance(self, items: Items) -> Floats:
        relevance = np.empty(len(items))
        for part in row_blocks(len(items), len(self.influences)):
            relevance[part] = self._of_block(items.take(part))
        return relevance

    def _of_block(self, items: Items) -> Floats:
        """Return r of so many rows that all models' influences on them can be held."""
        influences, belief = self.influences, self.belief
        if isinstance(belief, OutcomeBelief):
            return np.sqrt(_independent(influences, belief, items, np.array(self.weights), self.leader))
        models = [model for influence in influences for model in influence.models]
        supposed = list(belief.supposed(items, models, nodes=2 * influences[0].basis.nodes))
        shares = [np.asarray(share) for _, share in supposed]
        labels = [label for label, _ in supposed]
        of_leader = under_each(influences[self.leader], belief, items, labels)
        variance, square = np.zeros(len(items)), np.zeros(len(items))
        for at, weight in enumerate(self.weights):
            if at == self.leader or not weight:
                continue
            apart = under_each(influences[at], belief, items, labels) - of_leader
            mean = sum(share * one for share, one in zip(shares, apart, strict=True))
            apart -= mean
            np.square(apart, out=apart)
            variance += weight * sum(share * one for share, one in zip(shares, apart, strict=True))
            square += weight * np.square(mean)
        size = extent(influences) ** 2 + square
        return np.sqrt(np.where(variance > LEAST_VARIANCE * size, variance, 0.0))


def _independent(
    influences: Sequence[Influence], belief: OutcomeBelief, items: Items, weights: Floats, leader: int
) -> Floats:
    """Return the same of systems whose outcomes are believed to be independent of each other."""
    pairs = [moments(influence, belief, items) for influence in influences]
    variances = np.stack([np.maximum(second - mean**2, 0.0) for mean, second in pairs])
    others = np.where(np.arange(len(weights)) == leader, 0.0, weights)
    return np.asarray(others @ variances + others.sum() * variances[leader])
