"""A measure that was estimated, or a difference of two."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.checks import require_alternative, require_level, require_number
from sondage.core.display import Result, label_count
from sondage.core.results.statements import Interval
from sondage.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sondage.core.courses import Course, EValue
    from sondage.core.evidence import Evidence
    from sondage.core.pivots import Pivot
    from sondage.core.plausible import PlausibleErrors
    from sondage.core.predictions import Floats
    from sondage.core.ratios import EstimatedRatios
    from sondage.core.sequences import ConfidenceSequence
    from sondage.core.significance import Counts
    from sondage.core.unexpected import Unexpected

__all__ = ["Estimate"]


@dataclass(frozen=True, eq=False)
class Estimate(Result):
    """An estimated measure, or difference of measures.

    Attributes
    ----------
    measure : str
        Name of the measure.
    models : tuple of str
        The model, or the two whose difference it is.
    value : float
        The estimate, in the units of the measure; NaN, with a warning, where the labels leave it undefined.
    std_error : float
        Estimated standard error, in the same units; 0 only where the result is exact.
    n_labels : int
        Distinct items labelled.
    target : str
        ``"pool"``: the value of this finite pool; ``"population"``: of what the pool was drawn from.
    exact : bool
        Whether everything that can matter is labelled.
    df : float
        Degrees of freedom of the standard error.
    possible : tuple of float
        Least and greatest value that the labels leave possible, whatever the others are: the estimate and its intervals
        keep within. The measure's bounds where that is not known, or the target is a population.
    unrefuted : tuple of bool
        Whether no label speaks against the measure's least value, and its greatest: intervals ``"auto"`` reach to it.
    slope : float
        How fast the estimate's variance grows with its value; 0 where that is not known, or not taken into account.
    n_effective : float
        Effective number of labels, (sum of weights)^2 over the sum of their squares.
    largest_weight : float
        Largest share of the estimate that rests on one item.
    n_pending, n_skipped : int
        Items asked for and not answered, and answered with a skip.
    if_skipped : Interval or None
        The estimates with every skipped label as bad, and as good, as it can be.
    spent : float
        Cost of the labels.
    warnings : tuple of str
        What a reader must know.
    positive : object
        The positive class, where the measure has one.
    stopped : str or None
        Why labelling ended, where it was to stop early: ``"width"``, ``"significant"`` or ``"budget"``.
    counts : Counts or None
        Of two models with losses of 0 and 1, labelled uniformly where they differ: what the exact test counts.
    ratios : EstimatedRatios or None
        Of the whole of several slices, where the measure is a mean of ratios: what labels tell of each.
    plausible : PlausibleErrors or None
        For one model's losses of probabilities, calibration error and functions of the confusion matrix: the errors of
        the estimate under beliefs that the labels leave possible.
    unexpected : tuple of Unexpected
        For one model, where no label is another than expected: what such labels among the other items would do, those
        that raise it and those that lower it.
    pivot : Pivot or None
        For a difference of two ratios: the variance that its estimate would have at other true values.
    bounds, proportion, interval_kind, evidence, course, generator
        What intervals follow from: the measure's ends, whether it is a share, the method's choice, labels, their order,
        and a source of random numbers.

    Examples
    --------
    >>> import sondage
    >>> pool = sondage.Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> found = sondage.evaluate(pool, "error_rate", labels=[0, 1, 0, 0], budget=4)
    >>> found.value, found.std_error, found.n_labels, found.exact
    (0.25, 0.0, 4, True)
    """

    measure: str
    models: tuple[str, ...]
    value: float
    std_error: float
    n_labels: int
    target: str
    exact: bool
    df: float
    bounds: tuple[float, float] = field(repr=False)
    possible: tuple[float, float] = field(repr=False)
    proportion: bool = field(repr=False)
    interval_kind: str = field(repr=False)
    unrefuted: tuple[bool, bool] = field(default=(False, False), repr=False)
    slope: float = field(default=0.0, repr=False)
    n_effective: float = float("nan")
    largest_weight: float = float("nan")
    n_pending: int = 0
    n_skipped: int = 0
    if_skipped: Interval | None = None
    spent: float = float("nan")
    warnings: tuple[str, ...] = ()
    positive: Any = field(default=None, repr=False)
    stopped: str | None = None
    counts: Counts | None = field(default=None, repr=False)
    ratios: EstimatedRatios | None = field(default=None, repr=False)
    plausible: PlausibleErrors | None = field(default=None, repr=False)
    unexpected: tuple[Unexpected, ...] = field(default=(), repr=False)
    pivot: Pivot | None = field(default=None, repr=False)
    evidence: Evidence | None = field(default=None, repr=False)
    course: Course | None = field(default=None, repr=False)
    generator: Callable[[], np.random.Generator] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        error = ", error not known" if math.isnan(self.std_error) else f" +- {self.std_error:.2g}"
        counts = [label_count(self.n_labels)]
        counts += [f"{n} {what}" for n, what in ((self.n_pending, "pending"), (self.n_skipped, "skipped")) if n]
        return f"{self.measure} of {' minus '.join(self.models)}: {self.value:.4g}{error} ({', '.join(counts)})"

    def interval(
        self, level: float = 0.95, kind: str | None = None, *, generator: np.random.Generator | None = None
    ) -> Interval:
        """Return a confidence interval.

        Parameters
        ----------
        level : float
            Confidence level, in (0, 1).
        kind : str, optional
            ``"auto"``, ``"wald"``, ``"t"``, ``"wilson"``, ``"wilson_effective"``, ``"clopper_pearson"``,
            ``"hypergeometric"``, ``"fieller"``, ``"bootstrap"`` or ``"anytime"``; by default that of the method.
        generator : numpy.random.Generator, optional
            Randomness of the bootstrap; by default it follows from the seed of the draw.

        Returns
        -------
        Interval
            Its ends, in the units of the measure, the level, and the kind that was chosen.

        Raises
        ------
        InputError
            If there is no such interval, or it does not fit the measure or the draw.

        Examples
        --------
        >>> import sondage
        >>> pool = sondage.Pool(probabilities=[0.1, 0.9, 0.4, 0.7] * 25)
        >>> ends = sondage.evaluate(pool, "error_rate", labels=[0, 1, 1, 1] * 25, budget=40).interval(0.95)
        >>> round(ends.low, 2), round(ends.high, 2)
        (0.21, 0.29)
        """
        from sondage.core.catalogue.intervals import named_interval

        return named_interval(self, level, self.interval_kind if kind is None else kind, generator)

    def sequence(self, level: float = 0.95) -> ConfidenceSequence:
        """Return the confidence sequence: an interval after each label, all of which hold at once.

        One may look at any time and stop for any reason. Means and ratios of means (error rate, F, precision, recall,
        cost, Brier, log loss) have one that is exact for any belief; others an asymptotic one, from 30 labels on, of
        the estimate's own intervals at higher levels (docs/statistics.md, section 14).

        Parameters
        ----------
        level : float
            Confidence level, in (0, 1), for all numbers of labels together.

        Returns
        -------
        ConfidenceSequence
            Of kind ``"betting"``, ``"exact"`` or ``"asymptotic"``; up to the first pending or skipped item.

        Raises
        ------
        InputError
            If the draw was with replacement or by strata, the target is a population, or an item that matters could not
            be drawn.

        Examples
        --------
        >>> import sondage
        >>> pool = sondage.Pool(probabilities=[0.1, 0.9, 0.4, 0.7] * 25)
        >>> found = sondage.evaluate(pool, "error_rate", labels=[0, 1, 1, 1] * 25, budget=40).sequence(0.95)
        >>> found.kind, round(found.last.low, 2), round(found.last.high, 2)
        ('betting', 0.17, 0.4)
        """
        require_level("level", level)
        return self.in_order().sequence(level)

    def evalue(self, null: float, alternative: str = "two-sided") -> EValue:
        """Return the evidence against one value, which holds however often one has looked.

        Parameters
        ----------
        null : float
            The value.
        alternative : {"two-sided", "less", "greater"}
            ``"greater"`` is evidence that the measure is above it.

        Returns
        -------
        EValue
            With the logarithm of the e-process after the last label (`log_evalue`) and the p-value that is valid at
            any time (`pvalue`).

        Raises
        ------
        InputError
            As for `sequence`, or if the value is not a finite number or there is no such alternative.

        Examples
        --------
        >>> import sondage
        >>> pool = sondage.Pool(probabilities=[0.1, 0.9, 0.4, 0.7] * 25)
        >>> found = sondage.evaluate(pool, "error_rate", labels=[0, 1, 1, 1] * 25, budget=40).evalue(0.5)
        >>> round(found.log_evalue, 2), round(found.pvalue, 4)
        (6.15, 0.0021)
        """
        require_number("null", null)
        require_alternative(alternative)
        return self.in_order().evalue(float(null), alternative)

    def own_generator(self) -> np.random.Generator | None:
        """Return random numbers that follow from the seed of the draw, the same ones each time; None without a seed."""
        return None if self.generator is None else self.generator()

    @cached_property
    def resampled(self) -> Floats:
        """The bootstrap's estimates, shape (1999,), by its own random numbers: the same ones serve every level."""
        evidence, generator = self.evidence, self.own_generator()
        assert evidence is not None
        assert generator is not None
        return evidence.resampled(generator)

    def in_order(self) -> Course:
        """Return what the labels say in their order, or raise `InputError` where that is not known."""
        if self.course is None:
            raise InputError(
                "the labels were drawn elsewhere, or in several slices: nothing holds at any time, for there is no "
                "one order of them"
            )
        return self.course
