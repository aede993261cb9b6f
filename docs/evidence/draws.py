"""Many draws for one question, each by a seed of its own: how far estimates are off, and how often intervals hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import sondage

__all__ = ["Draws", "draws"]


@dataclass(frozen=True, eq=False)
class Draws:
    """Estimates, and what they are estimates of."""

    truth: float
    estimates: Sequence[sondage.Estimate]

    @cached_property
    def intervals(self) -> list[sondage.Interval]:
        """Those of 95 %."""
        return [estimate.interval(0.95) for estimate in self.estimates]

    @property
    def values(self) -> np.ndarray:
        """Of the estimates; NaN where one is undefined."""
        return np.array([estimate.value for estimate in self.estimates])

    @property
    def error(self) -> float:
        """Mean absolute error of the estimates that are defined."""
        return float(np.nanmean(np.abs(self.values - self.truth)))

    @property
    def root_mean_square(self) -> float:
        """Root mean squared error."""
        return float(np.sqrt(np.mean((self.values - self.truth) ** 2)))

    @property
    def coverage(self) -> float:
        """Share of the intervals that hold the truth."""
        return float(np.mean([self.truth in interval for interval in self.intervals]))

    @property
    def width(self) -> float:
        """Mean width of the intervals."""
        return float(np.mean([interval.width for interval in self.intervals]))


def draws(
    truth: float, pool: sondage.Pool, measure: str, labels: np.ndarray, budget: int, count: int, **options: Any
) -> Draws:
    """Evaluate so many times with the seeds 0, 1, ...; options are those of `sondage.evaluate`."""
    return Draws(
        truth,
        [sondage.evaluate(pool, measure, labels=labels, budget=budget, seed=seed, **options) for seed in range(count)],
    )
