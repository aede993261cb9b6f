"""Beliefs in numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs.gaussian import GaussianBelief
from sondage.core.beliefs.learned.sources import by_other_folds, stacked
from sondage.core.calibration import variance_power
from sondage.core.learning import NONE, Correction, learn_numbers, short
from sondage.core.predictions import Floats, Items, Means

__all__ = ["LEAST_HEIGHT", "MOST_HEIGHT", "LearnedGaussianBelief"]

LEAST_SQUARE = 1e-12
"""Of the labels' variance: smaller residuals are last bits."""
FEWEST = 10
"""Labels that tell the variance of models that tell none, at least."""
LEAST_HEIGHT, MOST_HEIGHT = 0.2, 1e3
"""Of a predicted number above the lowest, in units of the mean: what is added, and the most."""


@dataclass(frozen=True)
class LearnedGaussianBelief(GaussianBelief):
    r"""A mixture of Gaussians that labels turn into one mean, moved by what they tell of each model and of features.

    Before any label nobody knows which of several models is right. Labels tell what share of the way from one to the
    other the truth lies (stacking, Breiman 1996), and a mixture about each would expect their distance as noise.
    Without variances the belief is broad before ten labels, and has one variance for all items after, that of the
    labels about the mixture; or, of one model, one that grows or falls with the predicted number f as labels tell,
    :math:`\propto (.2 + (f - l)_+ / u)^k`.

    Parameters
    ----------
    source_models : tuple of int
        Models whose means enter the correction.
    correction : Correction
        What was learned.
    stacked : bool
        Whether all parts have one mean, the mixture's with the correction: after any label.
    square : float
        Mean squared residual of the labels, in their unit squared: the variance of models that tell none. Where that
        grows, what makes its mean so.
    sure : float
        Variance of items of which a model tells 0: that, where no labelled item had more.
    grows : bool
        Whether variances of one model that tells none are learned to grow.
    power, lowest, unit : float
        k, l and u: the least of the labelled items' predicted numbers, and their mean less it.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 60)[:, None]
    >>> items = Items((Means(np.zeros(60), np.full(60, 4.0)),), np.ones(60), features=x)
    >>> learned = LearnedGaussianBelief(((0, 1.0),)).calibrated(items, 2.0 * x[:, 0])
    >>> round(learned.correction.features[0], 1)
    2.0
    """

    source_models: tuple[int, ...] = ()
    correction: Correction = NONE
    stacked: bool = False
    square: float = 1.0
    sure: float = 0.0
    grows: bool = False
    power: float = 0.0
    lowest: float = 0.0
    unit: float = 1.0

    def parts(self, tells: Callable[[int], bool]) -> tuple[tuple[int, float], ...]:
        """Return the parts of the mixture, model and share: one where labels gave all of them one mean and variance."""
        alike = self.stacked and not any(tells(index) for index, _ in self.models)
        return ((self.models[0][0], 1.0),) if alike else self.models

    def _centre(self, items: Items, index: int) -> Floats:
        mean = self._mixed(items) if self.stacked else super()._centre(items, index)
        return mean + self.correction.at(self._sources(items), items.features)

    def _variances(self, output: Means) -> Floats:
        if output.variances is None:
            grown = self._heights(output.means) ** self.power if self.power else np.ones(len(output.means))
            return self.square * grown
        told = super()._variances(output)
        return np.where(told > 0, told, self.sure) if self.sure else told

    def _heights(self, means: NDArray[Any]) -> Floats:
        """Return how far predicted numbers are above the lowest, in their unit, and a little more: shape (n,)."""
        above = (np.asarray(means, dtype=np.float64) - self.lowest) / self.unit
        return np.clip(above, 0.0, MOST_HEIGHT) + LEAST_HEIGHT

    def _mixed(self, items: Items) -> Floats:
        """Return the mixture's mean before correction."""
        parts = [share * GaussianBelief._centre(self, items, index) for index, share in self.models]
        return np.asarray(sum(parts))

    def _sources(self, items: Items) -> list[Floats]:
        """Return the means of other models less the mixture's."""
        mixed = self._mixed(items)
        return [GaussianBelief._centre(self, items, index) - mixed for index in self.source_models]

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief fitted to these numbers, shape (n,), all parts with one mean.

        Variances are calibrated on residuals from corrections that other labels have made.
        """
        if len(labels) < (FEWEST if self.broad else 1):
            return self
        residuals = labels - self._mixed(items)
        square = max(float(np.mean(np.square(residuals))), LEAST_SQUARE * float(np.var(labels)))
        plain = replace(self, broad=False, correction=NONE, stacked=True, square=short(square) or 1.0, sure=0.0)
        outputs = [items.means(index).variances for index, _ in plain._parts(items)]
        told = [variances for variances in outputs if variances is not None]
        if told and not np.any(told):
            plain = replace(plain, sure=plain.square)
        if self.grows:
            plain = plain._growing(items.means(self.models[0][0]).means, np.square(residuals))
        first = plain._fitted(items, [residuals**2 for _ in plain._parts(items)])
        variances = first._mean_variance(items)
        variances = np.where(variances > 0, variances, np.mean(np.square(residuals)))  # 0 tells nothing of errors
        sources = stacked(self._sources(items), len(items))
        moved = by_other_folds(learn_numbers, (residuals, variances), sources, items.features)
        fitted = plain._fitted(items, [(residuals - moved) ** 2 for _ in plain._parts(items)])
        return replace(fitted, correction=learn_numbers(residuals, variances, sources, items.features))

    def _growing(self, means: NDArray[Any], squares: Floats) -> Self:
        """Return the belief with variances that follow the predicted numbers, shape (n,), as squared residuals do."""
        lowest = float(np.min(means))
        unit = short(float(np.mean(np.asarray(means, dtype=np.float64) - lowest)))
        if not unit:
            return self
        placed = replace(self, lowest=lowest, unit=unit)
        heights = placed._heights(means)
        power = short(variance_power(heights, squares))
        return replace(placed, power=power, square=short(self.square / float(np.mean(heights**power))))

    def _mean_variance(self, items: Items) -> Floats:
        """Return the mixture's mean variance, shape (n,)."""
        parts = self._parts(items)
        deviations = [(share, self._deviation(items.means(index))) for index, share in parts]
        return np.asarray(sum(share * np.square(deviation) for share, deviation in deviations))
