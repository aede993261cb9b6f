"""From a session's labels to estimates and comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sondage.core.catalogue.significance import named_test
from sondage.core.comparisons import Contrast, Sums
from sondage.core.estimators import Fit
from sondage.core.measures import Functional
from sondage.core.measures.bases import ROUNDING
from sondage.core.possible import outward, unrefuted_limits, within
from sondage.core.results import Comparison, Estimate
from sondage.core.unexpected import unexpected
from sondage.studies.anytime import LabelCourse
from sondage.studies.fitting import counts_of, immovable
from sondage.studies.proven import proven_range
from sondage.studies.remarks import remarks_on
from sondage.studies.responses import Labelled, if_skipped, labelled
from sondage.studies.session import SINGLE, Session
from sondage.studies.uncertainty import (
    FittedContrast,
    before_labels,
    pivot_against,
    plausible_errors_of,
    slope_of,
    uncertainty_of,
)

__all__ = ["compare_session", "comparison_of", "estimate_of", "estimate_session"]


def estimate_session(session: Session) -> dict[str, Estimate]:
    """Return an estimate of each of the question's measures, by name."""
    found = labelled(session)
    return {contrast.functional.name: estimate_of(session, found, contrast) for contrast in session.contrasts}


def compare_session(session: Session, generator: np.random.Generator | None = None) -> Comparison:
    """Return the comparison of the question's two models by its measure."""
    contrast = session.contrasts[0]
    estimate = _alone(session, contrast)
    return comparison_of(session, estimate, contrast.functional, generator)


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
    """Return the result of one contrast with its warnings.

    Parameters
    ----------
    session : Session
        What was asked, and how.
    found : Labelled
        Its labels, ready for estimators.
    contrast : Contrast
        What is estimated.
    fit : Fit, optional
        Its estimate, where it was made together with others; by default made here.
    """
    possible, told = proven_range([(1.0, session, found)], contrast), _told_beforehand(session, contrast)
    fitted = _fitted(session, found, contrast, fit, told=told, proven=possible[1] - possible[0] <= ROUNDING)
    found, fit, method = fitted.labelled, fitted.fit, session.method
    uncertain, value = uncertainty_of(fitted), within(fit.value, *possible)
    return Estimate(
        measure=contrast.functional.name,
        positive=contrast.functional.positive,
        models=tuple(session.models[model] for model in contrast.models),
        value=value,
        std_error=float(np.sqrt(uncertain.total)),
        n_labels=session.n_labels,
        target=method.target,
        exact=found.exact and not uncertain.doubt,
        df=uncertain.df,
        bounds=contrast.bounds,
        proportion=contrast.functional.proportion and not contrast.compares,
        interval_kind=method.interval,
        possible=outward(*possible, contrast.bounds),
        unrefuted=unrefuted_limits(contrast, [(1.0, found.estimation.whole)]),
        slope=slope_of(fitted, uncertain),
        plausible=plausible_errors_of((1.0, fitted), value=value),
        unexpected=unexpected(contrast, [(1.0, fitted.sample, found.belief)], fit.sums, method.target),
        pivot=pivot_against(fitted, uncertain),
        n_effective=uncertain.effective,
        largest_weight=uncertain.largest,
        n_pending=found.n_pending,
        n_skipped=len(found.skipped),
        if_skipped=if_skipped(session, found, contrast, fit, value),
        spent=session.spent,
        warnings=tuple(remarks_on(fitted, uncertain, told=told)),
        counts=counts_of(session, contrast.models) if contrast.compares and not uncertain.doubt else None,
        evidence=fitted.evidence,
        course=LabelCourse(session.copied(), contrast, _alone),
        generator=session.random(SINGLE),
    )


def _told_beforehand(session: Session, contrast: Contrast) -> bool:
    """Return whether the predictions alone tell the value; of a selection only a difference's, which is 0."""
    return immovable(session) and (contrast.compares or session.question.kind == "evaluate")


def _fitted(
    session: Session, found: Labelled, contrast: Contrast, fit: Fit | None, *, told: bool, proven: bool
) -> FittedContrast:
    """Return the contrast's value from the labels, exact where predictions tell it, or labels prove it."""
    known_sums = before_labels(session, contrast) if told else _settled(found, contrast)
    found = replace(found, exact=found.exact or known_sums is not None or proven)
    fit = fit or found.estimation.fit(contrast)
    if known_sums is not None:
        fit = replace(fit, value=contrast.value(known_sums))
    return FittedContrast(session, found, contrast, fit)


def _settled(found: Labelled, contrast: Contrast) -> Sums | None:
    """Return the pool means of which only the rest's part is believed, if that cannot move the contrast.

    That two models are equal but for the labelled may end with a label that is corrected.
    """
    if found.settled is None:
        return None
    sums = found.settled.means_of(contrast)
    return sums if not contrast.compares or contrast.influence(sums).cancels else None


def _alone(session: Session, contrast: Contrast) -> Estimate:
    """Return the estimate of one contrast, as it is at an earlier number of labels."""
    return estimate_of(session, labelled(session), contrast)
