"""What a stage left undrawn, summed up for inference at any time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sondage.core.comparisons import Contrast
from sondage.core.measures import Task
from sondage.core.predictions import Floats, Items
from sondage.core.samples import Known
from sondage.core.sequences import Fraction, Rest, Units, fraction_of, joined, rest_of, units_of
from sondage.errors import InputError, SondageWarning
from sondage.pools import Pool
from sondage.studies.drawing import DRAWS, KeyOrder
from sondage.studies.method import Method, Question
from sondage.studies.planning import Past, Stage, contrasts_of, make_plan

if TYPE_CHECKING:
    from sondage.studies.session import Session

__all__ = ["Rests", "drawn_units", "kept_rests", "key_of", "later_rests", "rests_of", "rests_with_dropped"]

Rests = Mapping[str, Rest]


def key_of(contrast: Contrast) -> str:
    """Return under which name the rest for a contrast is kept."""
    return f"{contrast.functional.name} of {' '.join(str(model) for model in contrast.models)}"


def centre_of(contrast: Contrast, fraction: Fraction, known: Known) -> float:
    """Return about the value that a ratio is expected to have; for a mean it does not matter."""
    if fraction.bottom is None:
        return 0.0
    value = contrast.value({model: known.expected[contrast.functional.basis.name, model] for model in contrast.models})
    return float(np.clip(value, 0.0, 1.0)) if np.isfinite(value) else 0.5


def later_rests(pool: Pool, question: Question, method: Method, stage: Stage, past: Past | None) -> Callable[[], Rests]:
    """Return a function that sums up what a stage left when it is first called: two more passes over the pool."""
    return cache(lambda: rests_of(pool, question, method, stage, past))


def rests_of(pool: Pool, question: Question, method: Method, stage: Stage, past: Past | None) -> dict[str, Rest]:
    """Return the rest after a stage for each contrast that bets can be made on, by `key_of`.

    Parameters
    ----------
    pool, question, method
        What is asked of what, and how.
    stage : Stage
        A stage drawn from this pool.
    past : Past, optional
        What earlier stages asked for, as when it was drawn.

    Raises
    ------
    InputError
        If a label that matters can never be drawn.
    """
    draw = DRAWS[method.draw]
    if not isinstance(draw, KeyOrder) or question.kind == "select" or not stage.covers:
        return {}
    fractions = _fractions(question, pool.task, pool.models)
    if not fractions:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SondageWarning)  # said when the stage was drawn
        sizes = make_plan(pool, question, method, past).sizes
    rates = draw.rates(sizes, float(stage.drawn.settings["factor"]))
    undrawn = np.ones(pool.n_units, dtype=np.bool_)
    undrawn[stage.drawn.units] = False
    if past is not None:
        undrawn &= past.rest if pool.unit_rows is None else past.rest[pool.unit_rows]
    belief = stage.known.belief
    assert belief is not None
    found: dict[str, list[Rest]] = {}
    for items, of_units, units in _blocks(pool, undrawn, rates):
        for contrast, fraction in fractions:
            centre = centre_of(contrast, fraction, stage.known)
            known = units_of(fraction, belief, items, of_units, centre=centre, units=units)
            found.setdefault(key_of(contrast), []).append(rest_of(known, fraction.nodes))
    return {key: joined(parts) for key, parts in found.items()}


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

    return cache(found)


def drawn_units(session: Session, number: int, contrast: Contrast, fraction: Fraction) -> Units:
    """Return what was known of a stage's drawn units when they were drawn."""
    stage, (first, after) = session.stages[number], session.firsts[number : number + 2]
    belief, centre = stage.known.belief, centre_of(contrast, fraction, stage.known)
    assert belief is not None
    items, _, of_rows = session.rows(np.arange(first, after), {})
    return units_of(fraction, belief, items, stage.drawn.rates, centre=centre, units=of_rows)


def _fractions(question: Question, task: Task, models: tuple[str, ...]) -> list[tuple[Contrast, Fraction]]:
    """Return the question's contrasts that are means or ratios."""
    functionals = (measure.ready(task) for measure in question.measures)
    contrasts = (contrasts_of(question, functional, models)[0] for functional in functionals)
    found = ((contrast, fraction_of(contrast, task)) for contrast in contrasts)
    return [(contrast, fraction) for contrast, fraction in found if fraction is not None]


def kept_rests(rests: Callable[[], Rests] | None) -> Rests | None:
    """Return what a study keeps: the rests, or none where there can be no bets; None where it was not kept."""
    if rests is None:
        return None
    try:
        return rests()
    except InputError:
        return {}


def _blocks(
    pool: Pool, undrawn: NDArray[np.bool_], rates: Floats
) -> Iterator[tuple[Items, Floats, NDArray[np.int64] | None]]:
    """Yield rows of undrawn units, the units' rates, and each row's unit; grouped rows all at once."""
    if pool.unit_of_row is not None:
        rows = undrawn[pool.unit_of_row]
        place = np.cumsum(undrawn) - 1
        yield pool.items.take(rows), rates[undrawn], place[pool.unit_of_row[rows]]
        return
    for part, items in pool.blocks():
        kept = undrawn[part]
        yield (items, rates[part], None) if kept.all() else (items.take(kept), rates[part][kept], None)
