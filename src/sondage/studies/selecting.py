"""From a session's labels to a ranking of several models, and to who still contends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.comparisons import Contrast
from sondage.core.contenders import Focus, Standing, best_first, nearness_shares, standing_of, vote_shares
from sondage.core.estimators import Fit
from sondage.core.measures import Functional
from sondage.core.measures.bases import ROUNDING, clean_sum
from sondage.core.predictions import Items
from sondage.core.residuals import degrees
from sondage.core.results import Comparison, Estimate, Significance
from sondage.core.selections import Pairs, Selection
from sondage.core.significance import JointErrors, holm, range_test
from sondage.core.stages import Joint
from sondage.studies.answers import comparison_of, estimate_of
from sondage.studies.joint import joint_errors
from sondage.studies.responses import Labelled, labelled
from sondage.studies.session import SIMULTANEOUS, Session
from sondage.studies.start import left_out

__all__ = ["current_standing", "select_session"]

TELLING_LABELS = 25.0
"""Labels below which it cannot be said who contends: all models then count alike when stages are weighed."""


def select_session(session: Session) -> Selection:
    """Return the ranking of the question's models from the one sample."""
    question = session.question
    functional = question.measures[0].ready(session.task)
    found = labelled(session)
    single = _singles(session, functional)
    fits = _joint(found, single)
    estimates = {
        name: _common_part_unknown(session, estimate_of(session, found, contrast, own))
        for name, contrast, own in zip(question.models, single, fits.own, strict=True)
    }
    values = np.array([estimates[name].value for name in question.models])
    ranking = tuple(question.models[at] for at in best_first(values, bool(functional.higher_is_better)))
    errors, apart = joint_errors(session, found, single, fits), dict(zip(question.models, fits.apart, strict=True))
    comparisons = Pairs(ranking, partial(_pair, session, found, functional, apart, errors))
    against_best = [comparisons[ranking[0], name].pvalue for name in ranking[1:]]
    return Selection(
        estimates=estimates,
        ranking=ranking,
        pvalues=dict(zip(ranking[1:], holm(against_best, len(comparisons)).tolist(), strict=True)),
        comparisons=comparisons,
        overall=_overall(session, estimates, errors),
        alpha=question.alpha,
        errors=errors,
        generator=session.random(SIMULTANEOUS),
        higher_is_better=bool(functional.higher_is_better),
    )


def current_standing(session: Session, answered: Items, labels: NDArray[Any]) -> Standing:
    """Return what the labels so far say of the models.

    Parameters
    ----------
    session : Session
        With labels.
    answered : Items
        The labelled rows.
    labels : ndarray
        Their labels.
    """
    functional, found = session.question.measures[0].ready(session.task), labelled(session)
    single = _singles(session, functional)
    models = [contrast.models[0] for contrast in single]
    leader, weights = _standing(found, single, _joint(found, single).apart)
    shares: Mapping[int, float] = weights
    if session.task.kind == "classification":
        shares = vote_shares(answered, labels, models, len(session.task.classes))
    if session.task.kind == "regression":
        shares = nearness_shares(answered, labels, models)
    return Standing(leader, weights, shares)


def _joint(found: Labelled, single: Sequence[Contrast]) -> Joint:
    """Return the models' fits; differences weigh several stages by what they tell of the contenders."""

    def focus(fits: Sequence[Fit]) -> Focus:
        leader, weights = _standing(found, single, fits)
        place = next(i for i, contrast in enumerate(single) if contrast.models[0] == leader)
        # Some of the weight goes to all: a model that is far behind must not lead by the noise of its own estimate.
        alike = min(1.0, TELLING_LABELS / found.estimation.whole.size) ** 2
        return Focus(place, tuple((1.0 - alike) * weight + alike / len(weights) for weight in weights.values()))

    return found.estimation.joint(single, focus if single[0].functional.corrected is None else None)


def _standing(found: Labelled, single: Sequence[Contrast], fits: Sequence[Fit]) -> tuple[int, dict[int, float]]:
    """Return the leader, and how much each model contends."""
    values, residuals = np.array([fit.value for fit in fits]), np.stack([fit.residuals for fit in fits])
    spread = found.estimation.merged(fits[0].shares).expansion.spread
    models = [contrast.models[0] for contrast in single]
    return standing_of(models, values, residuals, spread, higher_is_better=bool(single[0].functional.higher_is_better))


def _singles(session: Session, functional: Functional) -> list[Contrast]:
    return [Contrast(functional, ((session.models.index(name), 1.0),)) for name in session.question.models]


def _common_part_unknown(session: Session, estimate: Estimate) -> Estimate:
    """Return a model's own estimate without a standard error, where only differences between models were drawn for."""
    if not left_out(session.stages):
        return estimate
    note = (
        "items on which the models cannot differ were not drawn: differences and ranking hold, but each model's own "
        "value rests on predicted labels there; use evaluate for it"
    )
    return replace(estimate, exact=False, std_error=float("nan"), warnings=(*estimate.warnings, note))


def _overall(session: Session, estimates: Mapping[str, Estimate], errors: JointErrors) -> Significance | None:
    """Return Tukey's range test, where all pairs have a variance."""
    k, n = len(estimates), session.n_labels
    values = np.array([estimate.value for estimate in estimates.values()])
    variances = errors.variances()
    if k < 3 or n < 3 or not np.all(np.isfinite(variances)) or not np.all(np.isfinite(values)) or not variances.any():
        return None
    return range_test(values, float(variances.sum()) / (k * (k - 1)), n)


def _pair(
    session: Session,
    found: Labelled,
    functional: Functional,
    fits: Mapping[str, Fit],
    errors: JointErrors,
    *names: str,
) -> Comparison:
    """Return the comparison of two models from their own fits, whose shares of the stages are the same."""
    first, second = (fits[name] for name in names)
    weights = tuple((session.models.index(name), sign) for name, sign in zip(names, (1.0, -1.0), strict=True))
    at = tuple(session.question.models.index(name) for name in names)
    least = 0.0 if errors.least is None else float(errors.least[at])
    residuals = clean_sum(np.stack([first.residuals, -second.residuals]), axis=0)
    contrast, sample = Contrast(functional, weights), found.estimation.merged(first.shares)
    fit = replace(
        first,
        value=_apart(first.value, second.value),
        residuals=residuals,
        variance=max(found.estimation.variance(first, residuals), least),
        df=degrees(contrast, sample, residuals),
        influence=first.influence - second.influence,
        sums=first.sums | second.sums,
        bias=first.bias + second.bias,
    )
    fit = replace(fit, spread=found.estimation.spread(fit.influence, fit.shares))
    return comparison_of(session, estimate_of(session, found, contrast, fit), functional)


def _apart(first: float, second: float) -> float:
    """Return the difference of two values, 0 where nothing but rounding is left of it."""
    apart = first - second
    return 0.0 if abs(apart) <= ROUNDING * (abs(first) + abs(second)) else apart
