"""What the errors of several models' estimates from one sample have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, OutcomeBelief, is_limit
from sondage.core.catalogue.intervals import OWN
from sondage.core.comparisons import Contrast, moments
from sondage.core.contenders import best_first
from sondage.core.estimators import Fit
from sondage.core.measures.bases import ROUNDING, Confusion
from sondage.core.predictions import Classes, Floats
from sondage.core.raters import rater_roots
from sondage.core.residuals import pool_roots
from sondage.core.samples import Sample
from sondage.core.significance import JointErrors
from sondage.core.stages import Joint
from sondage.core.surprises import Linearised, borne_out
from sondage.studies.fitting import immovable
from sondage.studies.responses import Labelled
from sondage.studies.session import Session

__all__ = ["joint_errors"]

SAME = 1e-10
"""Errors whose difference has a smaller share of their variances are the same: no labelled item tells models apart."""
UNSEEN = 1.88
"""How many labelled items may have differed, in standard errors, if none did: -log(.025), over 1.96."""


def joint_errors(session: Session, found: Labelled, single: Sequence[Contrast], fits: Joint) -> JointErrors:
    """Return the models' joint errors: as sampled, as believed, and of a population as the target.

    Parameters
    ----------
    session : Session
        Of a selection.
    found : Labelled
        Its labels.
    single : sequence of Contrast
        Of one model each.
    fits : Joint
        Their estimates.
    """
    sample = found.estimation.merged(fits.apart[0].shares)
    if (found.exact and session.method.target == "pool") or immovable(session):
        of_raters = np.hstack([np.zeros((len(single), 1)), *_of_raters(session, found, single, fits.own, sample)])
        return JointErrors(of_raters, np.zeros((len(single), 0)))
    roots = np.stack([fit.residuals for fit in fits.own]) * found.estimation.roots(fits.own[0])
    expected, least = _believed(session, found, single, fits, sample, roots)
    beside = [
        *_beside_the_draw(session, found, fits.own, sample),
        *_of_raters(session, found, single, fits.own, sample),
    ]
    return JointErrors(np.hstack([roots, *beside]), np.hstack([expected, *beside]), least)


def _believed(
    session: Session,
    found: Labelled,
    single: Sequence[Contrast],
    fits: Joint,
    sample: Sample,
    roots: Floats,
) -> tuple[Floats, Floats | None]:
    """Return the errors as the belief expects them, and the least variances of differences; empty, or None, without."""
    belief, spread, nothing = found.belief, sample.expansion.spread, np.zeros((len(single), 0))
    unknown = np.where(np.eye(len(single)) > 0, 0.0, np.inf)
    if belief is None or session.method.interval not in OWN:
        return nothing, unknown if np.count_nonzero(spread) < 2 else None  # nothing tells how far one label is off
    expected, doubts = nothing, None
    if isinstance(belief, OutcomeBelief):
        expected = _independent_errors(single, fits.apart, sample, belief)
        if sample.size < 2:  # it does not say whether the judges are right
            return expected, unknown
    elif not is_limit(belief):
        doubts, of_own = _doubts(single, fits.apart, sample, belief), found.estimation.merged(fits.own[0].shares)
        apart, own = (np.sqrt(sample.of_rows(one)) for one in (spread, of_own.expansion.spread))
        expected = (apart * doubts + (own - apart) * doubts[fits.best]).reshape(len(single), -1)
    return expected, _least(roots, expected, doubts, sample=sample, alike=_alike(single, sample))


def _beside_the_draw(session: Session, found: Labelled, fits: Sequence[Fit], sample: Sample) -> list[Floats]:
    """Return errors that no draw makes: each model's own bias, and that the pool is a sample of a population."""
    errors: list[Floats] = []
    if any(fit.bias for fit in fits):  # as in its standard error
        errors.append(np.diag([fit.bias for fit in fits]))
    if session.method.target == "population":
        influences = np.stack([fit.influence for fit in fits])
        errors.append(pool_roots(influences, sample) * np.sqrt(found.known.squared))
    return errors


def _of_raters(
    session: Session, found: Labelled, single: Sequence[Contrast], fits: Sequence[Fit], sample: Sample
) -> list[Floats]:
    """Return errors that come from who labels; a population's spread has them already."""
    opinions, averaged = found.opinions, session.task.kind == "regression"
    if opinions is None or session.method.target == "population":
        return []
    pairs = zip(single, fits, strict=True)
    return [np.stack([rater_roots(one, sample, fit.sums, opinions, averaged=averaged) for one, fit in pairs])]


def _doubts(single: Sequence[Contrast], fits: Sequence[Fit], sample: Sample, belief: Belief) -> Floats:
    """Return how far each label would move each model's value, by the root of its chance: models, labels, rows."""
    items, influences = sample.items, [one.influence(fit.sums) for one, fit in zip(single, fits, strict=True)]
    models = [contrast.models[0] for contrast in single]
    nodes = 2 * influences[0].basis.nodes
    supposed = [(np.broadcast_to(w, len(items)), label) for label, w in belief.supposed(items, models, nodes=nodes)]
    psi = np.stack([[np.broadcast_to(i.at(items, label), len(items)) for _, label in supposed] for i in influences])
    weights = np.stack([weight for weight, _ in supposed])
    centred = psi - np.sum(weights * psi, axis=1, keepdims=True)
    return np.asarray(centred * (np.sqrt(weights) * items.weights))


def _least(
    roots: Floats, expected: Floats, doubts: Floats | None, *, sample: Sample, alike: NDArray[np.bool_]
) -> Floats:
    """Return the least variances of the models' differences: what is believed to vary of units that no stage drew.

    Stages that serve other differences may draw none of the few items on which two models differ: they show no error
    of that difference, and leave these items as much in doubt as before. Where two models are alike on all labelled
    items, by their predictions or since no label of these moves their difference, they may differ on as many as a
    sample without any leaves possible.
    """
    squares = np.maximum(np.sum(roots**2, axis=1), np.sum(expected**2, axis=1))
    same = JointErrors(roots, expected).variances() <= SAME * (squares[:, None] + squares)
    alike = alike | (same & ~np.eye(len(roots), dtype=np.bool_))
    least = np.zeros(alike.shape)
    if doubts is not None:
        for place, one in enumerate(doubts):
            least[place] = sample.expansion.rest(sample.unit_sums(np.sum(np.square(doubts - one), axis=1)))
    heavy = _heavy(roots, doubts, sample)
    unseen = UNSEEN**2 * float(np.mean(heavy)) if len(heavy) else 0.0
    return np.where(alike, np.maximum(least, unseen), least)


def _heavy(roots: Floats, doubts: Floats | None, sample: Sample) -> Floats:
    """Return squared errors such as an item may have on which two models differ unseen.

    Those of the items that tell some models apart; if none does, of all items for a model by itself, as labelled or,
    if that is more, as believed.
    """
    drawn: Floats = np.max(roots**2, axis=0)
    if doubts is None:
        return drawn
    own: Floats = np.max(np.sum(np.square(doubts), axis=1), axis=0)
    apart: Floats = np.sum(np.square(np.ptp(doubts, axis=0)), axis=0)
    telling = apart > ROUNDING * np.max(own, initial=0.0)
    squares: Floats = sample.of_rows(sample.expansion.weights) ** 2
    if telling.any():
        return np.asarray((squares * apart)[telling])
    believed: Floats = squares * own
    return believed if np.mean(believed) > np.mean(drawn) else drawn


def _alike(single: Sequence[Contrast], sample: Sample) -> NDArray[np.bool_]:
    """Return which different models predict all labelled items alike; probabilities and means never quite are."""
    if not isinstance(single[0].functional.basis, Confusion):
        return np.zeros((len(single), len(single)), dtype=np.bool_)
    predicted = np.stack([cast(Classes, sample.items.models[one.models[0]]).predictions for one in single])
    alike = np.stack([np.all(predicted == one, axis=1) for one in predicted])
    return alike & ~np.eye(len(single), dtype=np.bool_)


def _independent_errors(
    single: Sequence[Contrast], fits: Sequence[Fit], sample: Sample, belief: OutcomeBelief
) -> Floats:
    """Return such rows for systems, which are believed to be independent, as far as labels bear it out."""
    influences = [one.influence(fit.sums) for one, fit in zip(single, fits, strict=True)]
    pairs = [moments(influence, belief, sample.items) for influence in influences]
    moved = sample.items.weights**2 * sample.of_rows(sample.expansion.spread)
    own = [float(np.sqrt(np.sum(moved * np.maximum(second - mean**2, 0.0)))) for mean, second in pairs]
    in_pool = np.argsort([contrast.models[0] for contrast in single])  # multipliers follow it, not the order of names
    return np.diag(own)[:, in_pool] * float(np.sqrt(_borne_out(single, fits, sample, belief)))


def _borne_out(single: Sequence[Contrast], fits: Sequence[Fit], sample: Sample, belief: Belief) -> float:
    """Return the share of systems' independent variances that labels bear out, on average of differences from the best.

    Of equally good ones it is the first of the pool, in whichever order models were named.
    """
    functional, models = single[0].functional, np.array([contrast.models[0] for contrast in single])
    in_pool = np.argsort(models)
    values = np.array([fit.value for fit in fits])[in_pool]
    first, *others = models[in_pool][best_first(values, bool(functional.higher_is_better))].tolist()
    sums = {model: total for fit in fits for model, total in fit.sums.items()}
    pairs = [Contrast(functional, ((other, 1.0), (first, -1.0))) for other in others]
    return float(np.mean([borne_out(Linearised(pair, sample, sums), belief) for pair in pairs])) if pairs else 1.0
