"""From a session's labels to estimates, comparisons and rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.catalogue.significance import named_test
from sondage.core.comparisons import Contrast, moments
from sondage.core.estimators import ESTIMATORS, Fit, degrees, joint_coefficient, spread, variance
from sondage.core.measures import Functional
from sondage.core.predictions import Floats
from sondage.core.results import Comparison, Estimate, Evidence, Interval, Selection, Significance
from sondage.core.samples import Expansion, Sample
from sondage.core.significance import holm, tukey_test
from sondage.core.variances import averaged_variance, believed_variance
from sondage.errors import InputError
from sondage.studies.drawing import DRAWS
from sondage.studies.labels import Label, guesses, label_array
from sondage.studies.planning import contrasts_of
from sondage.studies.session import Session

__all__ = ["compare_session", "estimate_session", "select_session"]

AGREED = 1e-9
CELLS = 5
LEAST_IN_CELL = 5


@dataclass(frozen=True, eq=False)
class _Labelled:
    """The answered part of a session, ready for estimators."""

    sample: Sample
    exact: bool
    n_pending: int
    skipped: tuple[int, ...]
    warnings: tuple[str, ...]


def estimate_session(session: Session) -> dict[str, Estimate]:
    """Return an estimate of each of the question's measures, by name."""
    labelled = _labelled(session)
    found = {}
    for measure in session.question.measures:
        functional = measure.ready(session.task)
        contrast = contrasts_of(replace(session.question, kind="evaluate"), functional, session.models)[0]
        found[functional.name] = _estimate(session, labelled, contrast)
    return found


def compare_session(session: Session, generator: np.random.Generator | None = None) -> Comparison:
    """Return the comparison of the question's two models by its measure."""
    question = session.question
    functional = question.measures[0].ready(session.task)
    contrast = contrasts_of(question, functional, session.models)[0]
    estimate = _estimate(session, _labelled(session), contrast)
    return _comparison(session, estimate, functional, generator)


def _comparison(
    session: Session, estimate: Estimate, functional: Functional, generator: np.random.Generator | None = None
) -> Comparison:
    question = session.question
    significance = named_test(
        estimate, session.method.test, question.alternative, margin=question.margin, generator=generator
    )
    return Comparison(estimate, significance, question.alpha, functional.higher_is_better)


def select_session(session: Session) -> Selection:
    """Return the ranking of the question's models from the one sample."""
    question = session.question
    functional = question.measures[0].ready(session.task)
    labelled = _labelled(session)
    single = [Contrast(functional, ((session.models.index(name), 1.0),)) for name in question.models]
    fits = _joint_fits(session, labelled, single)
    estimates = {
        name: _common_part_unknown(session, _estimate(session, labelled, contrast, fit))
        for name, contrast, fit in zip(question.models, single, fits, strict=True)
    }
    sign = 1.0 if functional.higher_is_better else -1.0
    ranking = tuple(sorted(estimates, key=lambda name: (-sign * estimates[name].value, question.models.index(name))))
    by_name = dict(zip(question.models, fits, strict=True))
    comparisons = {
        (a, b): _pair(session, labelled, functional, (a, b), (by_name[a], by_name[b]))
        for a, b in combinations(ranking, 2)
    }
    against_best = [comparisons[ranking[0], name].pvalue for name in ranking[1:]]
    adjusted = dict(zip(ranking[1:], holm(against_best).tolist(), strict=True))
    return Selection(estimates, ranking, adjusted, comparisons, _overall(session, ranking, comparisons, estimates))


def _common_part_unknown(session: Session, estimate: Estimate) -> Estimate:
    """Return a model's own estimate without a standard error, where only differences between models were drawn for."""
    if session.stage.known.share > 1 - 1e-12:
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


def _joint_fits(session: Session, labelled: _Labelled, contrasts: list[Contrast]) -> list[Fit]:
    """Return every model's fit with one common coefficient, so that what models share cancels in differences."""
    sample, known = labelled.sample, session.stage.known
    fits = [ESTIMATORS[session.method.estimator](contrast, sample, known) for contrast in contrasts]
    if not session.method.assisted or not any(fit.coefficient for fit in fits):
        return fits
    coefficient = joint_coefficient(contrasts, sample, known)
    assist = ESTIMATORS["assisted"]
    return [assist(contrast, sample, known, coefficient) for contrast in contrasts]


def _pair(
    session: Session, labelled: _Labelled, functional: Functional, names: tuple[str, str], fits: tuple[Fit, Fit]
) -> Comparison:
    first, second = fits
    weights = tuple((session.models.index(name), sign) for name, sign in zip(names, (1.0, -1.0), strict=True))
    residuals = first.residuals - second.residuals
    influence = first.influence - second.influence
    contrast, sums = Contrast(functional, weights), first.sums | second.sums
    fit = replace(
        first,
        value=first.value - second.value,
        residuals=residuals,
        variance=variance(labelled.sample, residuals, bessel=session.method.estimator in ("hajek", "assisted")),
        df=degrees(labelled.sample, residuals),
        spread=spread(contrast, labelled.sample, session.stage.known, sums),
        influence=influence,
        sums=sums,
        bias=first.bias + second.bias,
    )
    estimate = _estimate(session, labelled, contrast, fit)
    return _comparison(session, estimate, functional)


def _labelled(session: Session) -> _Labelled:
    """Return the answered items with weights that also stand for pending and skipped ones of equal belief."""
    asked = np.array(session.asked, dtype=np.int64)
    answered = np.array([p for p in session.asked if session.answers.get(p) is not None], dtype=np.int64)
    if not len(answered):
        raise InputError("there are no labels yet: nothing can be estimated")
    skipped = tuple(p for p in session.asked if p in session.answers and session.answers[p] is None)
    n_pending = len(session.pending)
    expansion = DRAWS[session.method.draw].expansion(session.stage.drawn, asked)
    exact = session.stage.covers and not np.any(expansion.spread) and len(answered) == len(asked)
    warnings = []
    if len(answered) < len(asked):
        expansion = _responding(session, expansion, asked, answered)
        counts = [f"{n_pending} pending"] * bool(n_pending) + [f"{len(skipped)} skipped"] * bool(skipped)
        warnings.append(f"{' and '.join(counts)}: taken to be like the answered items of equal belief")
    sample = _sample(session, answered, [session.answers[p] for p in answered.tolist()], expansion)
    return _Labelled(sample, exact, n_pending, skipped, tuple(warnings))


def _sample(session: Session, positions: NDArray[np.int64], labels: Sequence[Any], expansion: Expansion) -> Sample:
    """Return the rows of these positions with their labels."""
    coded = label_array(list(labels), session.task)
    if session.units is None:
        return Sample(session.items.take(positions), coded, expansion)
    place = np.full(len(session.ids), -1, dtype=np.int64)
    place[positions] = np.arange(len(positions))
    rows = np.flatnonzero(place[session.units] >= 0)
    units = place[session.units[rows]]
    return Sample(session.items.take(rows), coded[units], expansion, units)


def _responding(
    session: Session, expansion: Expansion, asked: NDArray[np.int64], answered: NDArray[np.int64]
) -> Expansion:
    """Return the expansion of the answered, enlarged within cells of equal belief to stand for all asked."""
    here = np.isin(asked, answered)
    score = _believed_score(session)[asked]
    cells = _cells(score, here)
    total = np.bincount(cells, weights=expansion.weights)
    ratio = (total / np.bincount(cells, weights=expansion.weights * here, minlength=len(total)))[cells][here]
    weights = expansion.weights[here]
    spread = expansion.spread[here] * ratio**2 + weights * ratio * (ratio - 1.0)
    strata = None if expansion.strata is None else expansion.strata[here]
    return Expansion(weights * ratio, spread, strata)


def _cells(score: Floats, answered: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return up to five cells by score with at least five answered items each."""
    count = int(np.clip(answered.sum() // LEAST_IN_CELL, 1, CELLS))
    edges = np.quantile(score[answered], np.arange(1, count) / count)
    cells = np.searchsorted(np.unique(edges), score, side="left")
    filled = np.bincount(cells, weights=answered, minlength=int(cells.max()) + 1) > 0
    if filled[cells].all():
        return np.asarray(cells, dtype=np.int64)
    return np.zeros(len(score), dtype=np.int64)


def _believed_score(session: Session) -> Floats:
    """Return the believed mean influence of each drawn item on the first measure."""
    functional = session.question.measures[0].ready(session.task)
    contrast = contrasts_of(session.question, functional, session.models)[0]
    known = session.stage.known
    assert known.belief is not None
    influence = contrast.influence({m: known.expected[functional.basis.name, m] for m in contrast.models})
    mean = np.asarray(moments(influence, known.belief, session.items)[0]) + np.zeros(len(session.items))
    if session.units is None:
        return mean
    return np.bincount(session.units, weights=mean) / np.bincount(session.units)


def _estimate(session: Session, labelled: _Labelled, contrast: Contrast, fit: Fit | None = None) -> Estimate:
    """Return the result of one contrast with its warnings."""
    sample, known, method = labelled.sample, session.stage.known, session.method
    estimator = ESTIMATORS[method.estimator]
    fit = fit or estimator(contrast, sample, known)
    warnings = list(labelled.warnings)
    if not session.stage.covers:
        warnings.append("items whose labels matter have no chance of being drawn: the belief stands for them")
    found, df, agreed = _variance(session, contrast, sample, fit, labelled.exact)
    if not np.isfinite(fit.value):
        warnings.append(f"{contrast.functional.name} is undefined on these labels: its denominator is 0; label more")
    elif agreed:
        warnings.append("all labels agree, so their spread says nothing: the standard error is what the belief expects")
    total = found + fit.bias**2 + (known.squared * fit.spread if method.target == "population" else 0.0)
    weights = sample.unit_sums(np.asarray(sample.row_weights))
    largest = float(weights.max() / weights.sum())
    effective = float(weights.sum() ** 2 / np.sum(weights**2))
    if largest > 0.2 and not labelled.exact and sample.size > 5:
        warnings.append(f"one item carries {largest:.0%} of the weight: the estimate rests on few labels")
    return Estimate(
        measure=contrast.functional.name,
        models=tuple(session.models[model] for model in contrast.models),
        value=float(np.clip(fit.value, *contrast.bounds)),
        std_error=float(np.sqrt(total)),
        n_labels=session.n_labels,
        target=method.target,
        exact=labelled.exact,
        df=df,
        bounds=contrast.bounds,
        proportion=contrast.functional.proportion and session.question.kind != "compare" and len(contrast.weights) == 1,
        interval_kind=method.interval,
        n_effective=effective,
        largest_weight=largest,
        n_pending=labelled.n_pending,
        n_skipped=len(labelled.skipped),
        if_skipped=_if_skipped(session, labelled, contrast, fit),
        spent=session.spent,
        warnings=tuple(warnings),
        evidence=Evidence(contrast, sample, known, estimator, fit),
    )


def _variance(session: Session, contrast: Contrast, sample: Sample, fit: Fit, exact: bool) -> tuple[float, float, bool]:
    """Return variance, degrees of freedom, and whether all labels agree so that only the belief tells; 0 if exact.

    The method's interval decides: ``"auto"`` averages the sampled with the believed variance, a named one keeps the
    sampled variance to the letter unless that says nothing.
    """
    belief = session.stage.known.belief
    if exact:
        return 0.0, fit.df, False
    if not np.isfinite(fit.value):
        return float("nan"), fit.df, False
    if belief is None:
        return fit.variance, fit.df, False
    calibrated = belief.calibrated(sample.items, sample.labels)
    believed = believed_variance(contrast, sample, fit.sums, calibrated)
    agreed = fit.variance <= AGREED * max(believed.variance, fit.value**2 * AGREED)
    if agreed:
        sums = {model: session.stage.known.expected[contrast.functional.basis.name, model] for model in contrast.models}
        total = max(believed.variance, believed_variance(contrast, sample, sums, belief).variance)
        return (total if total > 0 else float("nan")), believed.df, True
    if session.method.interval != "auto":
        return fit.variance, fit.df, False
    return *averaged_variance(fit.variance, fit.df, believed), False


def _if_skipped(session: Session, labelled: _Labelled, contrast: Contrast, fit: Fit) -> Interval | None:
    """Return the estimates with all skipped labels as low, and as high, as they can be."""
    options = guesses(session.task, len(session.models))
    if not labelled.skipped or not options or not np.isfinite(fit.value):
        return None
    skipped = np.array(labelled.skipped, dtype=np.int64)
    items = session.items.take(skipped if session.units is None else np.searchsorted(session.units, skipped))
    influence = contrast.influence(fit.sums)
    psi = np.stack([np.broadcast_to(influence.at(items, option), len(items)) for option in options])
    ends = [
        _with_guesses(session, contrast, skipped, [options[i] for i in pick]) for pick in (psi.argmin(0), psi.argmax(0))
    ]
    return Interval(min(ends), max(ends), 1.0, "skipped as low and as high as can be")


def _with_guesses(session: Session, contrast: Contrast, skipped: NDArray[np.int64], labels: Sequence[Any]) -> float:
    """Return the estimate if the skipped items had these labels."""
    answered = [p for p in session.asked if session.answers.get(p) is not None]
    positions = np.array([*answered, *skipped.tolist()], dtype=np.int64)
    known: list[Label | Any] = [*(session.answers[p] for p in answered), *labels]
    order = np.argsort(positions)
    asked = np.array(session.asked, dtype=np.int64)
    expansion = DRAWS[session.method.draw].expansion(session.stage.drawn, asked)
    kept = np.isin(asked, positions)
    pick = np.argsort(asked[kept])
    strata = None if expansion.strata is None else expansion.strata[kept][pick]
    part = Expansion(expansion.weights[kept][pick], expansion.spread[kept][pick], strata)
    sample = _sample(session, positions[order], [known[i] for i in order], part)
    fit = ESTIMATORS[session.method.estimator](contrast, sample, session.stage.known)
    return float(np.clip(fit.value, *contrast.bounds))
