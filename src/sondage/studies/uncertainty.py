"""How far off a session's estimate may be: what its draw and belief tell, and what people's disagreement adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.core.catalogue.intervals import OWN
from sondage.core.comparisons import Contrast, Sums
from sondage.core.estimators import Fit
from sondage.core.evidence import Evidence
from sondage.core.measures.bases import Confusion, Residuals
from sondage.core.pivots import Pivot, pivot_of
from sondage.core.plausible import PlausibleErrors, errors_with_kinks, joined_errors, plausible_errors, reckoned_with
from sondage.core.predictions import Floats
from sondage.core.raters import rater_variance
from sondage.core.ratios import unknown_variance
from sondage.core.residuals import larger_variance, of_population
from sondage.core.samples import Sample, effective_number
from sondage.core.variances import (
    believed_variance,
    plausible_variance,
    unseen_numbers_variance,
    unseen_variance,
    variance_slope,
)
from sondage.studies.responses import Labelled
from sondage.studies.session import Session

__all__ = [
    "AGREED",
    "FittedContrast",
    "Uncertainty",
    "before_labels",
    "pivot_against",
    "plausible_errors_of",
    "slope_at",
    "slope_of",
    "squared_error",
    "uncertainty_of",
]

AGREED = 1e-9
"""Labels agree whose standard error is less than this share of the value, or of the measure's range."""
SURE = 1e-6
"""As such a share, the least standard error of which a belief may be sure where labels agree: log odds end there."""


@dataclass(frozen=True, eq=False)
class FittedContrast:
    """A contrast's value, with the labels that it comes from.

    Attributes
    ----------
    session : Session
        What was asked, and how.
    labelled : Labelled
        Its labels, ready for estimators.
    contrast : Contrast
        What is estimated.
    fit : Fit
        Its value, pool means and residuals.
    """

    session: Session
    labelled: Labelled
    contrast: Contrast
    fit: Fit

    @property
    def evidence(self) -> Evidence:
        """What an estimate of it follows from."""
        return Evidence(self.contrast, self.labelled.estimation, self.fit)

    @property
    def sample(self) -> Sample:
        """All that is labelled, with the weight that each has in the fit."""
        return self.evidence.sample

    @property
    def sampled_pool(self) -> bool:
        """Whether the pool itself is a sample of what is asked about."""
        return self.session.method.target == "population"


@dataclass(frozen=True)
class Uncertainty:
    """How far off a value may be.

    Attributes
    ----------
    total : float
        Squared standard error, of which
    expected : float
        is what draw and belief tell, and
    doubt : float
        what comes from who labels.
    df : float
        Degrees of freedom.
    agreed : bool
        Whether all labels agree, so that only the belief tells.
    effective, largest : float
        How many labels of equal weight say as much, and the largest share that one item has of all weight.
    """

    total: float
    expected: float
    doubt: float
    df: float
    agreed: bool
    effective: float
    largest: float


def uncertainty_of(fitted: FittedContrast) -> Uncertainty:
    """Return how far off a session's value may be."""
    sample, fit = fitted.sample, fitted.fit
    weights = sample.unit_expanded
    effective = effective_number(weights)
    expected, df, agreed = squared_error(fitted)
    doubt = _doubt_of_raters(fitted)
    total = expected + doubt + fit.bias**2
    if fitted.session.method.interval in OWN and not fitted.labelled.exact:
        total += unknown_variance(fitted.contrast, fitted.sample, fit.sums)
    if fitted.sampled_pool:
        total, df = of_population(total, df, fitted.labelled.known.squared * fit.spread, effective)
    return Uncertainty(total, expected, doubt, df, agreed, effective, float(weights.max() / weights.sum()))


def squared_error(
    fitted: FittedContrast, before: Sums | None = None, *, spread: bool = False
) -> tuple[float, float, bool]:
    """Return variance, degrees of freedom, and whether all labels agree so that only the belief tells; 0 if exact.

    The method's interval decides: ``"auto"`` takes the larger of sampled and believed variance, a named one keeps the
    sampled variance to the letter unless that says nothing. `before` are the pool means that were believed before any
    label, by default the session's own; with `spread` labels are known not to agree, however near to 0 their variance.
    """
    session, found, contrast, fit = fitted.session, fitted.labelled, fitted.contrast, fitted.fit
    if not np.isfinite(fit.value):
        return float("nan"), fit.df, False
    if found.exact:  # what rounding leaves of the residuals has no degrees of freedom
        return 0.0, max(found.estimation.whole.size - 1.0, 1.0), False
    if found.belief is None:
        return fit.variance, fit.df, False
    sample = fitted.sample
    believed = plausible_variance(contrast, sample, fit.sums, found.belief)
    if found.ahead is not None:
        foreseen = found.ahead.merged(fit.shares)
        believed = max(believed, plausible_variance(contrast, foreseen, fit.sums, found.belief, told=sample))
    span = contrast.bounds[1] - contrast.bounds[0]
    scale = max(abs(fit.value), span if np.isfinite(span) else 0.0)
    if not spread and fit.variance <= max(AGREED * believed, (AGREED * scale) ** 2):
        first = session.stages[0].known
        assert first.belief is not None
        before = before_labels(session, contrast) if before is None else dict(before)
        at_first = believed_variance(contrast, sample, before, first.belief)
        unseen = unseen_variance(contrast, sample, fit.sums) if session.method.interval in OWN else 0.0
        total = max(believed, at_first, unseen)
        # Of numbers without variances the belief knows no more than these labels how far off others may be.
        told = total > (SURE * scale) ** 2 and (np.isfinite(span) or max(at_first, unseen) > 0)
        # The residuals are what rounding leaves, and say nothing of how unequal they are.
        return (total if told else float("nan")), max(sample.size - 1.0, 1.0), True
    if session.method.interval not in OWN:
        return fit.variance, fit.df, False
    relied, df = map(float, larger_variance(fit.variance, fit.df, believed))
    if isinstance(contrast.functional.basis, Residuals):
        relied = max(relied, unseen_numbers_variance(contrast, sample, fit.sums))
    return relied, df, False


def before_labels(session: Session, contrast: Contrast) -> dict[int, Floats]:
    """Return the pool means that were believed before any label."""
    return session.stages[0].known.means_of(contrast)


def _doubt_of_raters(fitted: FittedContrast) -> float:
    """Return the variance that comes from who labels; a population's spread has it already."""
    opinions, fit = fitted.labelled.opinions, fitted.fit
    if opinions is None or fitted.sampled_pool or not np.isfinite(fit.value):
        return 0.0
    averaged = fitted.session.task.kind == "regression"
    return rater_variance(fitted.contrast, fitted.sample, fit.sums, opinions, averaged=averaged)


def slope_of(fitted: FittedContrast, uncertain: Uncertainty) -> float:
    """Return how fast the variance grows with the value; 0 where it is not known, and of most differences.

    It is 0 of proportions and functions of the confusion matrix in a selection, too: its labels are chosen for
    differences.
    """
    contrast, kind, named = fitted.contrast, fitted.session.question.kind, fitted.session.method.interval not in OWN
    if not contrast.has_slope or not _spread_known(fitted, uncertain):
        return 0.0
    if contrast.compares and (named or kind != "compare"):
        return 0.0
    functional = contrast.functional
    if kind == "select" and (functional.proportion or isinstance(functional.basis, Confusion)):
        return 0.0
    return slope_at(fitted, float(np.sqrt(uncertain.total)))


def slope_at(fitted: FittedContrast, std_error: float) -> float:
    """Return how fast the variance grows with the value, of an estimate with this standard error."""
    fit, estimation = fitted.fit, fitted.labelled.estimation
    return variance_slope(
        fitted.contrast,
        fitted.sample,
        fit.sums,
        fit.residuals,
        belief=estimation.belief,
        inclusion=estimation.inclusion,
        std_error=std_error,
    )


def plausible_errors_of(*parts: tuple[float, FittedContrast], value: float) -> PlausibleErrors | None:
    """Return how far off the value is by what an interval reckons with; None of a difference, and of what is exact.

    Parameters
    ----------
    *parts : (float, FittedContrast)
        Each slice of the pool with its share, fitted at the joined pool means; all of it with share 1.
    value : float
        The estimate.
    """
    contrast, sums = parts[0][1].contrast, parts[0][1].fit.sums

    def joined(part: Contrast) -> PlausibleErrors | None:
        return joined_errors([(share, _plausible_errors(fitted, part)) for share, fitted in parts])

    return errors_with_kinks(contrast, sums, value, joined)


def _plausible_errors(fitted: FittedContrast, part: Contrast) -> PlausibleErrors | None:
    """Return the same of the contrast, or of one of its pool means, on one slice."""
    contrast, sample, belief = fitted.contrast, fitted.sample, fitted.labelled.belief
    open_still = np.isfinite(fitted.fit.value) and not fitted.labelled.exact
    if belief is None or not open_still or contrast.compares:
        return None
    return plausible_errors(part, sample, fitted.fit.sums, reckoned_with(contrast, belief, sample))


def pivot_against(fitted: FittedContrast, uncertain: Uncertainty) -> Pivot | None:
    """Return what differences are held against by the package's own interval; None of one model."""
    asked = fitted.session.question.kind == "compare" and fitted.session.method.interval in OWN
    if uncertain.total == 0.0 or not asked or not _spread_known(fitted, uncertain):
        return None
    drawn = fitted.labelled.known.squared if fitted.sampled_pool else 0.0
    return pivot_of(fitted.evidence, uncertain.total, (drawn, uncertain.effective))


def _spread_known(fitted: FittedContrast, uncertain: Uncertainty) -> bool:
    """Return whether labels tell how far they spread."""
    return bool(np.isfinite(uncertain.total)) and not (fitted.labelled.exact or uncertain.agreed)
