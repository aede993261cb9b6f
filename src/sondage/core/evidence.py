"""The labelled sample, the estimation and the fit behind an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, islice

import numpy as np

from sondage.core.comparisons import Contrast
from sondage.core.estimators import Fit
from sondage.core.predictions import Floats
from sondage.core.samples import Known, Sample
from sondage.core.stages import Estimation

__all__ = ["Evidence"]

RESAMPLES = 1999
"""Of the bootstrap."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The labelled sample behind an estimate and how it was turned into one; resampling starts from here.

    Attributes
    ----------
    contrast : Contrast
        What is estimated.
    estimation : Estimation
        The stages' samples, and the estimator.
    fit : Fit
        What they gave.
    """

    contrast: Contrast
    estimation: Estimation
    fit: Fit

    @property
    def sample(self) -> Sample:
        """All labelled rows, with the weight that each has in the estimate."""
        return self.estimation.merged(self.fit.shares)

    @property
    def before(self) -> Known:
        """What was known of the pool before any label."""
        return self.estimation.stages[0].known

    def resampled(self, generator: np.random.Generator) -> Floats:
        """Return the bootstrap's estimates, (RESAMPLES,), of units drawn with replacement, some of every stage."""
        n = self.sample.size
        even = np.full(n, 1.0 / n)
        firsts = np.cumsum([0, *(stage.sample.size for stage in self.estimation.stages[:-1])])
        drawn = (generator.multinomial(n, even) for _ in count())  # one at a time: of 1e5 labels all are 0.8 GB
        usable = islice((counts for counts in drawn if np.add.reduceat(counts, firsts).all()), RESAMPLES)
        fits = (self.estimation.resampled(counts).fit(self.contrast, self.fit.shares) for counts in usable)
        return np.array([fit.value for fit in fits])
