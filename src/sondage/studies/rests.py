"""What a stage left undrawn, summed up for inference at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Contrast
from sondage.core.measures import Task
from sondage.core.samples import Known
from sondage.core.sequences import (
    Fraction,
    NeverDrawn,
    Rest,
    Units,
    fraction_of,
    joined,
    nothing_left,
    rest_of,
    units_of,
)
from sondage.core.urns import Urn
from sondage.errors import InputError, unsaid
from sondage.pools import Pool
from sondage.pools.results import Undrawn
from sondage.studies.drawing import DRAWS, HEEDLESS, KeyOrder
from sondage.studies.method import Method, Question
from sondage.studies.planning import DrawnStage, main_contrasts, make_plan
from sondage.studies.sums import Past

if TYPE_CHECKING:
    from sondage.studies.session import Session

__all__ = ["Rests", "drawn_units", "kept_rests", "key_of", "later_rests", "rests_with_dropped"]

Rests = Mapping[str, Rest]


def key_of(contrast: Contrast) -> str:
    """Return under which name the rest for a contrast is kept."""
    return f"{contrast.functional.name} of {' '.join(str(model) for model in contrast.models)}"


def centre_of(contrast: Contrast, fraction: Fraction, known: Known) -> float:
    """Return about the value that a ratio is expected to have; for a mean it does not matter."""
    if fraction.bottom is None:
        return 0.0
    value = contrast.value(known.means_of(contrast))
    return float(np.clip(value, 0.0, 1.0)) if np.isfinite(value) else 0.5


class Later:
    """What a stage left, summed up when it is first asked for; a pickle holds the sums, and neither pool nor urn."""

    def __init__(self, make: Callable[[], Rests]) -> None:
        self._found = cache(make)

    def __call__(self) -> Rests:
        return self._found()

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            return partial, (dict, dict(self()))
        except InputError as error:
            return partial, (_refused, str(error))


def _refused(message: str) -> Rests:
    raise InputError(message)


def later_rests(
    pool: Pool, question: Question, method: Method, stage: DrawnStage, past: Past | None, urn: Urn | None = None
) -> Callable[[], Rests]:
    """Return a function that sums up what a stage left when it is first called: two more passes over the pool.

    With the urn that the stage was drawn from it is one; but a size for each unit is held until then.
    """
    return Later(partial(_rests_of, pool, question, method, stage, past, urn))


def _rests_of(
    pool: Pool, question: Question, method: Method, stage: DrawnStage, past: Past | None, urn: Urn | None = None
) -> dict[str, Rest]:
    """Return the rest after a stage for each contrast that bets can be made on, by `key_of`.

    Parameters
    ----------
    pool, question, method
        What is asked of what, and how.
    stage : DrawnStage
        A stage drawn from this pool.
    past : Past, optional
        What earlier stages asked for, as when it was drawn.
    urn : Urn, optional
        What it was drawn from; by default it is filled again.

    Raises
    ------
    NeverDrawn
        If a label that matters can never be drawn.
    """
    draw = DRAWS[method.draw]
    if not isinstance(draw, KeyOrder) or question.kind == "select" or not stage.covers:
        return {}
    if HEEDLESS in stage.drawn.settings:
        return {}
    fractions = _fractions(question, pool.task, pool.models)
    if not fractions:
        return {}
    if urn is None:
        with unsaid():  # for it was said when the stage was drawn
            urn = make_plan(pool, question, method, past).urn
    belief = stage.known.belief
    assert belief is not None
    centred = [(contrast, fraction, centre_of(contrast, fraction, stage.known)) for contrast, fraction in fractions]
    kernel = partial(_rests_in, draw, float(stage.drawn.settings["factor"]), belief, centred)
    blocks = list(pool.undrawn(urn, stage.drawn.units, None if past is None else past.rest, kernel))
    return {
        key_of(contrast): joined([nothing_left(len(fraction.nodes)), *(block[place] for block in blocks)])
        for place, (contrast, fraction) in enumerate(fractions)
    }


def _rests_in(
    draw: KeyOrder,
    factor: float,
    belief: Belief,
    centred: list[tuple[Contrast, Fraction, float]],
    block: Undrawn,
) -> list[Rest]:
    """Return the rest in one block of rows for each contrast."""
    rates, found = draw.rates(block.sizes, factor), []
    for _, fraction, centre in centred:
        known = units_of(fraction, belief, block.items, rates, centre=centre, units=block.units)
        found.append(rest_of(known, fraction.nodes))
    return found


def rests_with_dropped(session: Session, count: int) -> Callable[[], Rests]:
    """Return a function that gives the rests after the first units of the last stage, whose others are dropped."""
    stage, whole = session.stage, session.rests[session.stage.number]

    def found() -> Rests:
        rests, dropped = dict(whole()), np.arange(count, len(stage.drawn))
        for contrast, fraction in _fractions(session.question, session.task, session.models):
            key = key_of(contrast)
            if key in rests and len(dropped):
                units = drawn_units(session, len(session.stages) - 1, contrast, fraction).take(dropped)
                rests[key] = joined([rests[key], rest_of(units, fraction.nodes)])
        return rests

    return Later(found)


def drawn_units(session: Session, number: int, contrast: Contrast, fraction: Fraction) -> Units:
    """Return what was known of a stage's drawn units when they were drawn."""
    stage, (first, after) = session.stages[number], session.firsts[number : number + 2]
    belief, centre = stage.known.belief, centre_of(contrast, fraction, stage.known)
    assert belief is not None
    items, _, of_rows = session.rows(np.arange(first, after), {})
    return units_of(fraction, belief, items, stage.drawn.rates, centre=centre, units=of_rows)


def _fractions(question: Question, task: Task, models: tuple[str, ...]) -> list[tuple[Contrast, Fraction]]:
    """Return the question's contrasts that are means or ratios."""
    found = ((contrast, fraction_of(contrast, task)) for contrast in main_contrasts(question, task, models))
    return [(contrast, fraction) for contrast, fraction in found if fraction is not None]


def kept_rests(rests: Callable[[], Rests] | None) -> Rests | None:
    """Return what a study keeps: the rests, or none where there can be no bets; None where it was not kept."""
    if rests is None:
        return None
    try:
        return rests()
    except NeverDrawn:
        return {}
