"""The labelled sample, the estimation and the fit behind an estimate."""

from __future__ import annotations

from dataclasses import dataclass

from sondage.core.comparisons import Contrast
from sondage.core.estimators import Fit
from sondage.core.samples import Known, Sample
from sondage.core.stages import Estimation

__all__ = ["Evidence"]


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
