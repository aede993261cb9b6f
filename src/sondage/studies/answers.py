"""From a session's labels to estimates, comparisons and rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from sondage.core.catalogue.significance import named_test
from sondage.core.comparisons import Contrast, Sums
from sondage.core.estimators import Fit, degrees, variance
from sondage.core.measures import Functional
from sondage.core.results import Comparison, Estimate, Evidence, Selection, Significance
from sondage.core.significance import holm, tukey_test
from sondage.core.variances import believed_variance, larger_variance
from sondage.studies.anytime import LabelCourse
from sondage.studies.planning import contrasts_of
from sondage.studies.responses import Labelled, if_skipped, labelled
from sondage.studies.session import Session

__all__ = ["compare_session", "estimate_session", "select_session", "squared_error", "within"]

AGREED = 1e-9
ROUNDING = 1e-13


def estimate_session(session: Session) -> dict[str, Estimate]:
    """Return an estimate of each of the question's measures, by name."""
    found, estimates = labelled(session), {}
    for measure in session.question.measures:
        functional = measure.ready(session.task)
        contrast = contrasts_of(replace(session.question, kind="evaluate"), functional, session.models)[0]
        estimates[functional.name] = _estimate(session, found, contrast)
    return estimates


def compare_session(session: Session, generator: np.random.Generator | None = None) -> Comparison:
    """Return the comparison of the question's two models by its measure."""
    question = session.question
    functional = question.measures[0].ready(session.task)
    contrast = contrasts_of(question, functional, session.models)[0]
    estimate = _estimate(session, labelled(session), contrast)
    return _comparison(session, estimate, functional, generator)


def _comparison(
    session: Session, estimate: Estimate, functional: Functional, generator: np.random.Generator | None = None
) -> Comparison:
    question = session.question
    significance = named_test(
        estimate, session.method.test, question.alternative, margin=question.margin, generator=generator
    )
    return Comparison(estimate, significance, question.alpha, functional.higher_is_better, question.null)


def select_session(session: Session) -> Selection:
    """Return the ranking of the question's models from the one sample."""
    question = session.question
    functional = question.measures[0].ready(session.task)
    found = labelled(session)
    single = [Contrast(functional, ((session.models.index(name), 1.0),)) for name in question.models]
    fits = found.estimation.joint(single)
    estimates = {
        name: _common_part_unknown(session, _estimate(session, found, contrast, fit))
        for name, contrast, fit in zip(question.models, single, fits, strict=True)
    }
    sign = 1.0 if functional.higher_is_better else -1.0
    ranking = tuple(sorted(estimates, key=lambda name: (-sign * estimates[name].value, question.models.index(name))))
    by_name = dict(zip(question.models, fits, strict=True))
    comparisons = {
        (a, b): _pair(session, found, functional, (a, b), (by_name[a], by_name[b])) for a, b in combinations(ranking, 2)
    }
    against_best = [comparisons[ranking[0], name].pvalue for name in ranking[1:]]
    adjusted = dict(zip(ranking[1:], holm(against_best).tolist(), strict=True))
    return Selection(estimates, ranking, adjusted, comparisons, _overall(session, ranking, comparisons, estimates))


def _common_part_unknown(session: Session, estimate: Estimate) -> Estimate:
    """Return a model's own estimate without a standard error, where only differences between models were drawn for."""
    if session.stages[0].known.share > 1 - 1e-12:
        return estimate
    note = (
        "items on which the models cannot differ were not drawn: differences and ranking hold, but each model's own "
        "value rests on the belief there; use evaluate for it"
    )
    return replace(estimate, exact=False, std_error=float("nan"), warnings=(*estimate.warnings, note))


def _overall(
    session: Session,
    ranking: Sequence[str],
    comparisons: dict[tuple[str, str], Comparison],
    estimates: dict[str, Estimate],
) -> Significance | None:
    """Return Tukey's range test, where all pairs have a variance."""
    k = len(ranking)
    variances = np.zeros((k, k))
    for (a, b), comparison in comparisons.items():
        i, j = ranking.index(a), ranking.index(b)
        variances[i, j] = variances[j, i] = comparison.std_error**2
    n = session.n_labels
    if k < 3 or n < 3 or not np.all(np.isfinite(variances)) or not variances.any():
        return None
    return tukey_test(np.array([estimates[name].value for name in ranking]), variances, n)[0]


def _pair(
    session: Session, found: Labelled, functional: Functional, names: tuple[str, str], fits: tuple[Fit, Fit]
) -> Comparison:
    first, second = fits
    weights = tuple((session.models.index(name), sign) for name, sign in zip(names, (1.0, -1.0), strict=True))
    residuals = first.residuals - second.residuals
    contrast, sample = Contrast(functional, weights), found.estimation.merged(first.shares)
    fit = replace(
        first,
        value=first.value - second.value,
        residuals=residuals,
        variance=variance(
            sample, residuals, bessel=session.method.estimator not in ("self_normalised", "horvitz_thompson")
        ),
        df=degrees(sample, residuals),
        influence=first.influence - second.influence,
        sums=first.sums | second.sums,
        bias=first.bias + second.bias,
    )
    fit = replace(fit, spread=found.estimation.spread(contrast, fit))
    return _comparison(session, _estimate(session, found, contrast, fit), functional)


def _estimate(session: Session, found: Labelled, contrast: Contrast, fit: Fit | None = None) -> Estimate:
    """Return the result of one contrast with its warnings."""
    known, method, estimation = found.known, session.method, found.estimation
    fit = fit or estimation.fit(contrast)
    sample = estimation.merged(fit.shares)
    warnings = list(found.warnings)
    if not found.covers:
        warnings.append("items whose labels matter have no chance of being drawn: the belief stands for them")
    expected, df, agreed = squared_error(session, found, contrast, fit)
    if not np.isfinite(fit.value):
        warnings.append(f"{contrast.functional.name} is undefined on these labels: its denominator is 0; label more")
    elif agreed:
        warnings.append("all labels agree, so their spread says nothing: the standard error is what the belief expects")
    total = expected + fit.bias**2 + (known.squared * fit.spread if method.target == "population" else 0.0)
    weights = sample.unit_sums(np.asarray(sample.row_weights))
    largest = float(weights.max() / weights.sum())
    effective = float(weights.sum() ** 2 / np.sum(weights**2))
    if largest > 0.2 and not found.exact and sample.size > 5:
        warnings.append(f"one item carries {largest:.0%} of the weight: the estimate rests on few labels")
    return Estimate(
        measure=contrast.functional.name,
        models=tuple(session.models[model] for model in contrast.models),
        value=within(fit.value, *contrast.bounds),
        std_error=float(np.sqrt(total)),
        n_labels=session.n_labels,
        target=method.target,
        exact=found.exact,
        df=df,
        bounds=contrast.bounds,
        proportion=contrast.functional.proportion and session.question.kind != "compare" and len(contrast.weights) == 1,
        interval_kind=method.interval,
        n_effective=effective,
        largest_weight=largest,
        n_pending=found.n_pending,
        n_skipped=len(found.skipped),
        if_skipped=if_skipped(session, found, contrast, fit),
        spent=session.spent,
        warnings=tuple(warnings),
        evidence=Evidence(contrast, estimation, fit),
        course=LabelCourse(session.copied(), contrast, _alone),
    )


def _alone(session: Session, contrast: Contrast) -> Estimate:
    """Return the estimate of one contrast, as it is at an earlier number of labels."""
    return _estimate(session, labelled(session), contrast)


def squared_error(
    session: Session, found: Labelled, contrast: Contrast, fit: Fit, before: Sums | None = None
) -> tuple[float, float, bool]:
    """Return variance, degrees of freedom, and whether all labels agree so that only the belief tells; 0 if exact.

    The method's interval decides: ``"auto"`` takes the larger of sampled and believed variance, a named one keeps the
    sampled variance to the letter unless that says nothing. `before` are the pool means that were believed before any
    label, by default the session's own.
    """
    if found.exact:
        return 0.0, fit.df, False
    if not np.isfinite(fit.value):
        return float("nan"), fit.df, False
    if found.belief is None:
        return fit.variance, fit.df, False
    sample = found.estimation.merged(fit.shares)
    believed = believed_variance(contrast, sample, fit.sums, found.belief)
    agreed = fit.variance <= AGREED * max(believed, fit.value**2 * AGREED)
    if agreed:
        first = session.stages[0].known
        assert first.belief is not None
        if before is None:
            before = {model: first.expected[contrast.functional.basis.name, model] for model in contrast.models}
        total = max(believed, believed_variance(contrast, sample, dict(before), first.belief))
        return (total if total > 0 else float("nan")), fit.df, True
    if session.method.interval not in ("auto", "anytime"):
        return fit.variance, fit.df, False
    return *larger_variance(fit.variance, fit.df, believed), False


def within(value: float, low: float, high: float) -> float:
    """Return a value within its bounds, and at a bound where only rounding keeps it off."""
    for end in (low, high):
        if np.isfinite(end) and abs(value - end) <= ROUNDING * max(1.0, abs(end)):
            return end
    return float(np.clip(value, low, high))
