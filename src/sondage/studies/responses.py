"""The answered part of a session, ready for estimators: pending and skipped items are counted, never dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, is_limit
from sondage.core.catalogue.estimators import ESTIMATORS
from sondage.core.comparisons import Contrast, moments
from sondage.core.designs import extent
from sondage.core.estimators import Fit
from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Floats
from sondage.core.raters import Opinions
from sondage.core.reliability import contradicted
from sondage.core.results import Interval
from sondage.core.samples import Expansion, Known, LabelledStage, Sample
from sondage.core.stages import Estimation
from sondage.errors import InputError
from sondage.studies.drawing import DRAWS, KeyOrder
from sondage.studies.labels import Label, guesses, label_array
from sondage.studies.planning import oriented
from sondage.studies.session import Session
from sondage.studies.start import came_with_labels, notes_of
from sondage.studies.sums import calibrated, carried_totals

__all__ = ["Labelled", "if_skipped", "labelled"]

CELLS, LEAST_IN_CELL = 5, 5
"""Cells of equal belief, at most, and answered items in each, at least."""
DIGITS = 11
"""Of a score: beliefs that differ by less are equal."""

Answers = Mapping[int, Label | None]


@dataclass(frozen=True, eq=False)
class Labelled:
    """The answered part of a session.

    Attributes
    ----------
    estimation : Estimation
        How it becomes estimates.
    exact : bool
        Whether all that can matter is labelled.
    covers : bool
        Whether all that can matter had a chance of being drawn.
    settled : Known, optional
        Where the last stage found nothing left that can move the result: pool sums with what was labelled before it as
        it is, and the rest as believed.
    n_pending : int
        Items asked for and not answered.
    skipped : tuple of int
        Positions of the items skipped.
    warnings : tuple of str
        What was assumed.
    opinions : Opinions, optional
        The labels of units that several people labelled.
    ahead : Estimation, optional
        While a stage is under way, with all that it is to ask for: the first of it are items that it has beyond doubt,
        and the rest tells what these leave in doubt.
    """

    estimation: Estimation
    exact: bool
    covers: bool
    settled: Known | None
    n_pending: int
    skipped: tuple[int, ...]
    warnings: tuple[str, ...]
    opinions: Opinions | None
    ahead: Estimation | None

    @property
    def belief(self) -> Belief | None:
        """What the labels are expected to be, after all labels."""
        return self.estimation.belief

    @property
    def known(self) -> Known:
        """What the last stage knows of the pool."""
        return self.estimation.stages[-1].known


def labelled(session: Session, answers: Answers | None = None) -> Labelled:
    """Return the answered items with weights that also stand for pending and skipped ones of equal belief.

    Parameters
    ----------
    session : Session
        The session.
    answers : mapping of int to label, optional
        Answers in place of the session's own: position -> coded label, None for a skip.

    Raises
    ------
    InputError
        If there is no label yet.
    """
    answers = session.answers if answers is None else answers
    asked = np.array(session.asked, dtype=np.int64)
    here = np.array([answers.get(p) is not None for p in session.asked], dtype=np.bool_)
    if not here.any():
        raise InputError("there are no labels yet: nothing can be estimated")
    belief = _calibrated(session, asked[here], answers)
    skipped = tuple(p for p in session.asked if p in answers and answers[p] is None)
    n_pending = len(asked) - int(here.sum()) - len(skipped)
    firsts, stages, complete = session.firsts, [], False
    for number, stage in enumerate(session.stages):
        inside = (asked >= firsts[number]) & (asked < firsts[number + 1])
        if not here[inside].any():
            continue
        sample, complete = _sample_of(session, number, asked[inside], here[inside], answers)
        known = _carried(session, stage.known, belief, asked[asked < firsts[number]], answers)
        unfinished = int(np.count_nonzero(inside)) < stage.drawn.planned
        stages.append(LabelledStage(sample, known, unfinished, equal=came_with_labels(stage)))
    last = session.stages[-1]
    exact, settled = bool(here.all()) and last.covers and complete, None
    if here.all() and session.rest_immovable:
        settled = _carried(session, last.known, belief, asked[asked < firsts[-2]], answers)
    whole = stages[0].sample if len(stages) == 1 else _whole(session, asked[here], answers, stages)
    estimation = Estimation(whole, tuple(stages), ESTIMATORS[session.method.estimator], belief)
    told = notes_of(session.stages)
    warnings = (*_unanswered(n_pending, len(skipped)), *told, *_against_belief(session, whole))
    opinions = _opinions(session, asked[here].tolist())
    ahead = _ahead(session, estimation, asked, here, answers)
    return Labelled(estimation, exact, last.covers, settled, n_pending, skipped, warnings, opinions, ahead)


def _sample_of(
    session: Session, number: int, asked: NDArray[np.int64], here: NDArray[np.bool_], answers: Answers
) -> tuple[Sample, bool]:
    """Return the answered items of what a stage asked for, and whether that is all which could be drawn."""
    stage = session.stages[number]
    expansion = DRAWS[session.method.draw].expansion(stage.drawn, asked - session.firsts[number])
    complete = stage.drawn.exhausted(len(asked)) and not np.any(expansion.spread)
    if not here.all():
        expansion = _responding(session, stage.known, expansion, asked=asked, here=here)
    items, labels, units = session.rows(asked[here], answers)
    return Sample(items, labels, expansion, units), complete


def _ahead(
    session: Session, estimation: Estimation, asked: NDArray[np.int64], here: NDArray[np.bool_], answers: Answers
) -> Estimation | None:
    """Return the estimation with all that its last stage is to ask for, where more of that is to come."""
    *done, last = estimation.stages
    number = int(np.searchsorted(session.firsts, asked[here].max(), side="right")) - 1
    draw, first, drawn = DRAWS[session.method.draw], session.firsts[number], session.stages[number].drawn
    if not (last.unfinished and isinstance(draw, KeyOrder)):
        return None
    expansion = draw.foreseen(drawn, int(asked.max()) + 1 - first)
    if expansion is None:
        return None
    planned, earlier = np.arange(first, first + drawn.planned), asked[here & (asked < first)]
    items, labels, units = session.rows(planned, answers)
    stage = replace(last, sample=Sample(items, labels, expansion, units))
    whole = _whole(session, np.concatenate([earlier, planned]), answers, (*done, stage)) if done else stage.sample
    return replace(estimation, whole=whole, stages=(*done, stage))


def _unanswered(n_pending: int, n_skipped: int) -> list[str]:
    """Return a warning where items that were asked for have no label."""
    counts = [f"{count} {what}" for count, what in ((n_pending, "pending"), (n_skipped, "skipped")) if count]
    return [f"{' and '.join(counts)}: taken to be like labelled items with similar predictions"] if counts else []


def _against_belief(session: Session, sample: Sample) -> list[str]:
    """Return a warning where the labels are not at all as the probabilities or variances say that the method uses."""
    belief = session.stages[0].known.belief if session.method.believing else None
    found = None if belief is None else contradicted(belief, sample, len(session.task.classes))
    if found is None:
        return []
    expected, seen = found
    if session.task.kind == "regression":
        times = f"{np.sqrt(seen / expected):.2g} times as far from the predictions as the predictive variances say"
        return [f"labels are {times}: with variances that fit, fewer labels would do"]
    labels = f"{seen:.0f} labels are not the most probable class, where the probabilities predict {expected:.3g}"
    if _worse_than_guesses(seen, len(sample.labels), max(len(session.task.classes), 2)):
        return [f"{labels}, worse than guesses: check that labels, classes and rows belong together"]
    return [f"{labels}: with calibrated probabilities fewer labels would do"]


def _worse_than_guesses(wrong: float, count: int, n_classes: int) -> bool:
    """Return whether so many wrong ones are three standard deviations more than of classes named by chance."""
    guesses = 1.0 - 1.0 / n_classes
    return bool(wrong > guesses * count + 3.0 * np.sqrt(guesses * (1.0 - guesses) * count))


def _opinions(session: Session, answered: Sequence[int]) -> Opinions | None:
    """Return the labels of the units that several people labelled."""
    given = {unit: session.opinions[p] for unit, p in enumerate(answered) if p in session.opinions}
    if not given:
        return None
    owner = np.repeat(np.arange(len(given)), [len(labels) for labels in given.values()])
    every = label_array([label for labels in given.values() for label in labels], session.task)
    return Opinions(np.array(list(given), dtype=np.int64), owner, every)


def _whole(session: Session, answered: NDArray[np.int64], answers: Answers, stages: Sequence[LabelledStage]) -> Sample:
    """Return all answered items as one sample; each stage's expansion is its own."""
    items, labels, units = session.rows(answered, answers)
    pieces = [stage.sample.expansion for stage in stages]
    weights, spread = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("weights", "spread"))
    return Sample(items, labels, Expansion(weights, spread), units)


def _calibrated(session: Session, answered: NDArray[np.int64], answers: Answers) -> Belief | None:
    """Return the last stage's belief, calibrated on all labels."""
    belief = session.stage.known.belief
    if belief is None:
        return None
    return calibrated(belief, *session.rows(answered, answers))


def _carried(
    session: Session, known: Known, belief: Belief | None, earlier: NDArray[np.int64], answers: Answers
) -> Known:
    """Return pool sums with those of the items that earlier stages asked for, as far as they are labelled."""
    if not len(earlier):
        return known
    given = np.array([answers.get(p) is not None for p in earlier.tolist()], dtype=np.bool_)
    answered, labels, _ = session.rows(earlier[given], answers)
    bases = {functional.basis for functional in session.question.functionals(session.task)}
    models = {model for _, model in known.expected}
    others = session.rows(earlier[~given], answers)[0]
    totals = carried_totals(bases, sorted(models), belief, answered, labels, others)
    return replace(
        known,
        expected={key: known.expected[key] + total for key, total in totals.items()},
        outside={key: known.outside.get(key, 0.0) + total for key, total in totals.items()},
    )


def _responding(
    session: Session, known: Known, expansion: Expansion, *, asked: NDArray[np.int64], here: NDArray[np.bool_]
) -> Expansion:
    """Return the expansion of the answered, enlarged within cells of equal belief to stand for all asked."""
    cells = _cells(_believed_score(session, known, asked), here)
    total = np.bincount(cells, weights=expansion.weights)
    answered = np.bincount(cells, weights=expansion.weights * here, minlength=len(total))
    ratio = total[cells[here]] / answered[cells[here]]
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


def _believed_score(session: Session, known: Known, positions: NDArray[np.int64]) -> Floats:
    """Return the believed mean influence of these drawn items on the first measure, on any scale; 0 of a limit."""
    contrast = oriented(session.contrasts[0], session.models)
    assert known.belief is not None
    sums = known.means_of(contrast)
    if is_limit(known.belief):
        return np.zeros(len(positions))
    items, _, units = session.rows(positions, {})
    # Of a difference nothing may be left, and of influences that are sure to be 0 only rounding.
    single = [Contrast(contrast.functional, (one,)).influence(sums) for one in contrast.weights]
    squares = [moments(one, known.belief, items)[1] for one in single]
    mean = moments(contrast.influence(sums), known.belief, items)[0] + np.zeros(len(items))
    score = mean if units is None else np.bincount(units, weights=mean) / np.bincount(units)
    scale = float(np.sqrt(np.max(squares, initial=0.0)))
    return np.round(score / scale, DIGITS) if scale > ROUNDING * extent(single) else np.zeros_like(score)


def if_skipped(session: Session, found: Labelled, contrast: Contrast, fit: Fit, value: float) -> Interval | None:
    """Return the estimates with all skipped labels as low, and as high, as they can be, around the present value.

    Where these leave the measure undefined, its bound stands for it. Supposed labels teach the belief too, so that few
    of them may leave both estimates on one side of the value.
    """
    if not found.skipped or not np.isfinite(fit.value):
        return None
    options = guesses(session.task, len(session.models), contrast.models)
    if not options:
        return None
    skipped = np.array(found.skipped, dtype=np.int64)
    items, _, units = session.rows(skipped)
    influence = contrast.influence(fit.sums)
    psi = np.stack([np.broadcast_to(influence.at(items, option), len(items)) for option in options])
    if units is not None:
        psi = np.stack([np.bincount(units, weights=items.weights * row) for row in psi])
    supposed = (
        _with_guesses(session, contrast, found.skipped, [options[i] for i in pick])
        for pick in (psi.argmin(0), psi.argmax(0))
    )
    ends = [bound if np.isnan(end) else end for end, bound in zip(supposed, contrast.bounds, strict=True)]
    return Interval(min(*ends, value), max(*ends, value), 1.0, "skipped as low and as high as can be")


def _with_guesses(session: Session, contrast: Contrast, skipped: Sequence[int], labels: Sequence[Any]) -> float:
    """Return the estimate if the skipped items had these labels."""
    answers = dict(session.answers) | dict(zip(skipped, labels, strict=True))
    value = labelled(session, answers).estimation.fit(contrast).value
    return float(np.clip(value, *contrast.bounds))
