"""From a session's labels to estimates and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sondage.core.catalogue.intervals import OWN
from sondage.core.catalogue.significance import named_test
from sondage.core.comparisons import Contrast, Sums
from sondage.core.estimators import Fit
from sondage.core.evidence import Evidence
from sondage.core.measures import Functional
from sondage.core.measures.bases import ROUNDING
from sondage.core.parts import untold
from sondage.core.pivots import Pivot, pivot_of
from sondage.core.plausible import PlausibleErrors, plausible, plausible_errors
from sondage.core.possible import outward, unrefuted_limits, unrounded
from sondage.core.predictions import Floats
from sondage.core.raters import rater_variance
from sondage.core.residuals import of_population
from sondage.core.results import Comparison, Estimate
from sondage.core.samples import Sample, effective_number
from sondage.core.variances import believed_variance, larger_variance, plausible_variance, variance_slope
from sondage.studies.anytime import LabelCourse
from sondage.studies.fitting import counts_of, immovable, meant_to_count
from sondage.studies.planning import contrasts_of
from sondage.studies.proven import proven_range
from sondage.studies.responses import Labelled, if_skipped, labelled
from sondage.studies.session import Session

__all__ = [
    "before_labels",
    "compare_session",
    "comparison_of",
    "estimate_of",
    "estimate_session",
    "of_undefined",
    "squared_error",
    "within",
]

AGREED = 1e-9
"""Labels agree whose standard error is less than this share of the value, or of the measure's range."""
SURE = 1e-6
"""As such a share, the least standard error of which a belief may be sure where labels agree: log odds end there."""
FEW = 5
"""Names of classes in a warning."""


def estimate_session(session: Session) -> dict[str, Estimate]:
    """Return an estimate of each of the question's measures, by name."""
    found, estimates = labelled(session), {}
    for measure in session.question.measures:
        functional = measure.ready(session.task)
        contrast = contrasts_of(replace(session.question, kind="evaluate"), functional, session.models)[0]
        estimates[functional.name] = estimate_of(session, found, contrast)
    return estimates


def compare_session(session: Session, generator: np.random.Generator | None = None) -> Comparison:
    """Return the comparison of the question's two models by its measure."""
    question = session.question
    functional = question.measures[0].ready(session.task)
    contrast = contrasts_of(question, functional, session.models)[0]
    estimate = estimate_of(session, labelled(session), contrast)
    return comparison_of(session, estimate, functional, generator)


def comparison_of(
    session: Session, estimate: Estimate, functional: Functional, generator: np.random.Generator | None = None
) -> Comparison:
    """Return the comparison that an estimated difference makes."""
    question = session.question
    significance = named_test(
        estimate, session.method.test, question.alternative, margin=question.margin, generator=generator
    )
    return Comparison(estimate, significance, question.alpha, functional.higher_is_better, question.null)


def estimate_of(session: Session, found: Labelled, contrast: Contrast, fit: Fit | None = None) -> Estimate:
    """Return the result of one contrast with its warnings."""
    known, method, estimation = found.known, session.method, found.estimation
    possible = proven_range([(1.0, session, found)], contrast)
    # In a selection that no label can move models have the same values, whatever these are.
    told = immovable(session) and (contrast.compares or session.question.kind == "evaluate")
    known_sums = before_labels(session, contrast) if told else _settled(found, contrast)
    proven = possible[1] - possible[0] <= ROUNDING
    found = replace(found, exact=found.exact or known_sums is not None or proven)
    fit = fit or estimation.fit(contrast)
    if known_sums is not None:
        fit = replace(fit, value=contrast.value(known_sums))
    sample = estimation.merged(fit.shares)
    warnings = list(found.warnings)
    if told:
        warnings.append(f"no label can move {contrast.functional.name} here: it follows from the predictions alone")
    if found.settled is not None and not len(session.stage.drawn) and not found.exact:
        warnings.append("a label was corrected since no other one could change the result: raise the budget for more")
    if not found.covers:
        warnings.append("items whose labels matter have no chance of being drawn: the belief stands for them")
    expected, df, agreed = squared_error(session, found, contrast, fit, sample)
    warnings += of_undefined(contrast, fit.value, exact=found.exact)
    if agreed and np.isfinite(expected):
        warnings.append("all labels agree, so their spread says nothing: the standard error is what the belief expects")
    elif agreed and sample.expansion.spread.any():
        warnings.append("all labels agree and the belief is sure of every one: nothing tells how far off they may be")
    elif agreed:
        warnings.append(
            "only items that were sure to be drawn are labelled: nothing is known of the others; label more"
        )
    if method.assisted and not method.floor and method.design != "passive" and not found.exact:
        warnings.append("floor=0 and the belief assists: where it is sure, hardly a label checks it; floor=0.2 would")
    doubt = _doubt_of_raters(session, found, contrast, fit, sample)
    counts = counts_of(session, contrast.models) if contrast.compares and not doubt else None
    warnings += () if found.exact else of_untold(contrast, estimation.whole)
    warnings += [*_of_people(session, found, doubt), *_of_counts(session, found, contrast, doubt)]
    weights = sample.unit_sums(np.asarray(sample.row_weights))
    effective = effective_number(weights)
    total = expected + doubt + fit.bias**2
    if method.target == "population":
        total, df = of_population(total, df, known.squared * fit.spread, effective)
    slope, errors, pivot = 0.0, None, None
    if np.isfinite(total) and not (found.exact or agreed) and session.question.kind == "evaluate":
        slope = variance_slope(contrast, sample, fit.sums, found.belief, estimation.inclusion, np.sqrt(total))
        errors = _plausible_errors(found, contrast, fit, sample)
    if total > 0 and not (found.exact or agreed) and session.question.kind == "compare":
        pivot = _pivot(session, found, contrast, fit, sample, total, effective)
    largest = float(weights.max() / weights.sum())
    if largest > 0.2 and not found.exact and sample.size > 5:
        warnings.append(f"one item carries {largest:.0%} of the weight: the estimate rests on few labels")
    return Estimate(
        measure=contrast.functional.name,
        models=tuple(session.models[model] for model in contrast.models),
        value=within(fit.value, *possible),
        std_error=float(np.sqrt(total)),
        n_labels=session.n_labels,
        target=method.target,
        exact=found.exact and not doubt,
        df=df,
        bounds=contrast.bounds,
        proportion=contrast.functional.proportion and session.question.kind != "compare" and not contrast.compares,
        interval_kind=method.interval,
        possible=outward(*possible, contrast.bounds),
        unrefuted=unrefuted_limits(contrast, [(1.0, estimation.whole)]),
        slope=slope,
        plausible=errors,
        pivot=pivot,
        n_effective=effective,
        largest_weight=largest,
        n_pending=found.n_pending,
        n_skipped=len(found.skipped),
        if_skipped=if_skipped(session, found, contrast, fit),
        spent=session.spent,
        warnings=tuple(warnings),
        counts=counts,
        evidence=Evidence(contrast, estimation, fit),
        course=LabelCourse(session.copied(), contrast, _alone),
    )


def _pivot(
    session: Session, found: Labelled, contrast: Contrast, fit: Fit, sample: Sample, total: float, labels: float
) -> Pivot | None:
    """Return what differences are held against by the package's own interval."""
    if found.belief is None or session.method.interval not in OWN:
        return None
    drawn = found.known.squared if session.method.target == "population" else 0.0
    return pivot_of(contrast, found.estimation, fit, sample, found.belief, total, (drawn, labels))


def _plausible_errors(found: Labelled, contrast: Contrast, fit: Fit, sample: Sample) -> PlausibleErrors | None:
    """Return how far off the estimate is by what the labels leave possible."""
    if found.belief is None or not np.isfinite(fit.value):
        return None
    return plausible_errors(contrast, sample, fit.sums, plausible(contrast, found.belief, sample))


def _settled(found: Labelled, contrast: Contrast) -> Sums | None:
    """Return the pool means of which only the rest's part is believed, if that cannot move the contrast.

    That two models are equal but for the labelled may end with a label that is corrected.
    """
    if found.settled is None:
        return None
    expected, basis = found.settled.expected, contrast.functional.basis
    sums = {model: expected[basis.name, model] for model in contrast.models}
    return sums if not contrast.compares or contrast.influence(sums).cancels else None


def of_undefined(contrast: Contrast, value: float, *, exact: bool) -> Iterator[str]:
    """Yield that these labels leave a value undefined."""
    if not np.isfinite(value):
        more = "" if exact else "; label more"
        yield f"{contrast.functional.name} is undefined on these labels: its denominator is 0{more}"


def of_untold(contrast: Contrast, sample: Sample) -> Iterator[str]:
    """Yield that a mean over classes knows nothing of some."""
    names = untold(contrast, sample)
    if names:
        shown = ", ".join(map(str, names[:FEW])) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
        many = "classes" if len(names) > 1 else "class"
        yield f"no labelled item tells of {many} {shown}: their part of {contrast.functional.name} is not known"


def _of_people(session: Session, found: Labelled, doubt: float) -> Iterator[str]:
    """Yield what a reader must know of the people who label."""
    if found.exact and doubt:
        yield "everything that matters is labelled: what is uncertain is only who labels"
    if doubt and session.method.interval == "anytime":
        yield "people disagree: what holds at any time holds for the labels as they were given"
    if session.labellers > 1 and found.opinions is None:
        people = f"{session.labellers} people label and no item was labelled by two"
        yield f"{people}: the interval does not know how far they differ"


def _of_counts(session: Session, found: Labelled, contrast: Contrast, doubt: float) -> Iterator[str]:
    """Yield why answers that were meant to be counted are not."""
    if contrast.compares and doubt and counts_of(session, contrast.models) is not None:
        yield "the exact test and interval count labels as certain; people disagree, so they are Student's"
    elif contrast.compares and meant_to_count(session) and (found.n_pending or found.skipped):
        yield "the exact test and interval need all answers: until then they are Student's"


def _doubt_of_raters(session: Session, found: Labelled, contrast: Contrast, fit: Fit, sample: Sample) -> float:
    """Return the variance that comes from who labels; a population's spread has it already."""
    if found.opinions is None or session.method.target == "population" or not np.isfinite(fit.value):
        return 0.0
    averaged = session.task.kind == "regression"
    return rater_variance(contrast, sample, fit.sums, found.opinions, averaged=averaged)


def _alone(session: Session, contrast: Contrast) -> Estimate:
    """Return the estimate of one contrast, as it is at an earlier number of labels."""
    return estimate_of(session, labelled(session), contrast)


def squared_error(
    session: Session, found: Labelled, contrast: Contrast, fit: Fit, sample: Sample, before: Sums | None = None
) -> tuple[float, float, bool]:
    """Return variance, degrees of freedom, and whether all labels agree so that only the belief tells; 0 if exact.

    The method's interval decides: ``"auto"`` takes the larger of sampled and believed variance, a named one keeps the
    sampled variance to the letter unless that says nothing. The sample is all that is labelled, with the weight that
    each has in the fit; `before` are the pool means that were believed before any
    label, by default the session's own.
    """
    if found.exact:  # what rounding leaves of the residuals has no degrees of freedom
        return 0.0, max(found.estimation.whole.size - 1.0, 1.0), False
    if not np.isfinite(fit.value):
        return float("nan"), fit.df, False
    if found.belief is None:
        return fit.variance, fit.df, False
    believed = plausible_variance(contrast, sample, fit.sums, found.belief)
    span = contrast.bounds[1] - contrast.bounds[0]
    scale = max(abs(fit.value), span if np.isfinite(span) else 0.0)
    least = (AGREED * scale) ** 2
    agreed = fit.variance <= max(AGREED * believed, least)
    if agreed:
        first = session.stages[0].known
        assert first.belief is not None
        before = before_labels(session, contrast) if before is None else dict(before)
        total = max(believed, believed_variance(contrast, sample, before, first.belief))
        # The residuals are what rounding leaves, and say nothing of how unequal they are.
        return (total if total > (SURE * scale) ** 2 else float("nan")), max(sample.size - 1.0, 1.0), True
    if session.method.interval not in OWN:
        return fit.variance, fit.df, False
    relied, df = larger_variance(fit.variance, fit.df, believed)
    return float(relied), float(df), False


def before_labels(session: Session, contrast: Contrast) -> dict[int, Floats]:
    """Return the pool means that were believed before any label."""
    basis, expected = contrast.functional.basis, session.stages[0].known.expected
    return {model: expected[basis.name, model] for model in contrast.models}


def within(value: float, low: float, high: float) -> float:
    """Return a value within its bounds, and at a bound where only rounding keeps it off."""
    return float(np.clip(unrounded(value, low, high), low, high))
