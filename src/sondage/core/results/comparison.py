"""The difference of two models, with its test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sondage.core.display import Result
from sondage.core.results.estimate import Estimate
from sondage.core.results.statements import Interval, Significance

if TYPE_CHECKING:
    from sondage.core.courses import EValue
    from sondage.core.sequences import ConfidenceSequence

__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """The difference of two models' measures, and whether it is more than chance.

    Attributes
    ----------
    estimate : Estimate
        The difference, first model minus second.
    significance : Significance
        The test of no difference (or of the margin).
    alpha : float
        Level of the test, in (0, 1).
    higher_is_better : bool or None
        Direction of the measure.
    null : float
        The difference under the null hypothesis: 0, or the margin with its sign.

    Examples
    --------
    >>> import sondage
    >>> models = {"a": sondage.Classifier([0.1, 0.9, 0.4, 0.7]), "b": sondage.Classifier([0.1, 0.2, 0.4, 0.7])}
    >>> found = sondage.compare(sondage.Pool(models=models), "a", "b", labels=[0, 1, 0, 1], budget=4)
    >>> found.difference, found.better
    (-0.25, 'a')
    """

    estimate: Estimate
    significance: Significance
    alpha: float
    higher_is_better: bool | None
    null: float = 0.0

    def __str__(self) -> str:
        return f"{self.estimate}, p = {self.pvalue:.3g}, better: {self.better or 'not decided'}"

    @property
    def difference(self) -> float:
        """The measure of the first model minus that of the second."""
        return self.estimate.value

    @property
    def std_error(self) -> float:
        """Standard error of the difference."""
        return self.estimate.std_error

    @property
    def pvalue(self) -> float:
        """Of the test."""
        return self.significance.pvalue

    @property
    def n_labels(self) -> int:
        """Distinct items labelled."""
        return self.estimate.n_labels

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know."""
        return self.estimate.warnings

    @property
    def significant(self) -> bool:
        """Whether the null hypothesis is rejected at alpha."""
        return self.pvalue <= self.alpha

    @property
    def better(self) -> str | None:
        """The better model; None while the p-value is above alpha or the measure has no direction.

        None too where a test with a margin is significant: that one model is not worse by the margin does not say
        which is better.
        """
        within_margin = {"two-sided": False, "greater": self.null < 0, "less": self.null > 0}
        undecided = not self.significant or self.difference == 0 or within_margin[self.significance.alternative]
        if undecided or self.higher_is_better is None:
            return None
        first_leads = (self.difference > 0) == self.higher_is_better
        return self.estimate.models[0 if first_leads else 1]

    def interval(
        self, level: float = 0.95, kind: str | None = None, *, generator: np.random.Generator | None = None
    ) -> Interval:
        """Return a confidence interval of the difference; parameters and errors are those of `Estimate.interval`.

        Returns
        -------
        Interval
            Of the first model's measure minus the second's.

        Examples
        --------
        >>> import sondage
        >>> models = {name: sondage.Classifier([0.1, p, 0.4, 0.7] * 5) for name, p in (("a", 0.9), ("b", 0.2))}
        >>> found = sondage.compare(sondage.Pool(models=models), "a", "b", labels=[0, 1, 0, 1] * 5, budget=3)
        >>> ends = found.interval()
        >>> round(ends.low, 2), round(ends.high, 2), ends.kind
        (-0.25, -0.05, 'hypergeometric')
        """
        return self.estimate.interval(level, kind, generator=generator)

    def sequence(self, level: float = 0.95) -> ConfidenceSequence:
        """Return the confidence sequence of the difference; parameters and errors are those of `Estimate.sequence`.

        Returns
        -------
        ConfidenceSequence
            Of the first model's measure minus the second's.

        Examples
        --------
        >>> import sondage
        >>> models = {name: sondage.Classifier([0.1, p, 0.4, 0.7] * 5) for name, p in (("a", 0.9), ("b", 0.2))}
        >>> found = sondage.compare(sondage.Pool(models=models), "a", "b", labels=[0, 1, 0, 1] * 5, budget=3)
        >>> found.sequence().high.round(2).tolist()
        [0.15, 0.05, -0.05]
        """
        return self.estimate.sequence(level)

    @property
    def evalue(self) -> EValue:
        """The evidence against the null hypothesis of the test, which holds however often one has looked.

        An `EValue`, with the logarithm of the e-process after the last label and the p-value that is valid at any time.

        Examples
        --------
        >>> import sondage
        >>> models = {name: sondage.Classifier([0.1, p, 0.4, 0.7] * 5) for name, p in (("a", 0.9), ("b", 0.2))}
        >>> found = sondage.compare(sondage.Pool(models=models), "a", "b", labels=[0, 1, 0, 1] * 5, budget=3)
        >>> found.evalue.null, round(found.evalue.log_evalue, 2), round(found.evalue.pvalue, 2)
        (0.0, 0.45, 0.64)
        """
        return self.estimate.evalue(self.null, self.significance.alternative)

    @property
    def stopped(self) -> str | None:
        """Why labelling ended, where it was to stop early."""
        return self.estimate.stopped
