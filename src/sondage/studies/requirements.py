"""What tests and sequences need of measure, draw and generator: what cannot be met is refused before any label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sondage.core.catalogue.intervals import require_interval
from sondage.core.catalogue.significance import UNCOUNTED, require_fit
from sondage.core.measures import Functional
from sondage.core.significance.resampling import all_swaps
from sondage.errors import InputError
from sondage.studies.drawing import DRAWS, KeyOrder
from sondage.studies.fitting import immovable, meant_to_count

if TYPE_CHECKING:
    from sondage.studies.session import Session

__all__ = ["check_generator", "check_interval", "check_sequence", "check_test", "require_order"]


def check_test(session: Session) -> None:
    """Refuse a test that does not fit measure, margin or draw, whatever the labels will be.

    Parameters
    ----------
    session : Session
        Of which nothing was asked for yet.

    Raises
    ------
    InputError
        If the test does not fit; the message says what would.
    """
    question, kind = session.question, session.method.test
    if question.kind == "evaluate" or _needs_no_test(session):
        return
    functional = question.measures[0].ready(session.task)
    require_fit(kind, functional, question.margin)
    if kind == "hypergeometric" and not (meant_to_count(session) and session.method.target == "pool"):
        raise InputError(UNCOUNTED)
    if kind == "anytime":
        check_sequence(session, functional)
    if question.kind == "select" and _draws_random_numbers(session):
        raise InputError(f"test {kind!r} needs a generator, which a selection does not take; use 't'")


def check_interval(session: Session) -> None:
    """Refuse an interval that does not fit measure or draw, whatever the labels will be.

    Parameters
    ----------
    session : Session
        Of which nothing was asked for yet.

    Raises
    ------
    InputError
        If the interval does not fit; the message says what would.
    """
    question, kind = session.question, session.method.interval
    if _needs_no_test(session):
        return
    for measure in question.measures:
        functional = measure.ready(session.task)
        require_interval(kind, functional, compares=question.kind != "evaluate")
        if kind == "anytime":
            check_sequence(session, functional)
    if kind == "hypergeometric" and not (meant_to_count(session) and session.method.target == "pool"):
        raise InputError(UNCOUNTED.replace("test", "interval", 1))


def check_generator(session: Session, generator: np.random.Generator | None) -> None:
    """Refuse a test that draws random numbers without a generator of them."""
    if generator is None and _draws_random_numbers(session) and not _needs_no_test(session):
        kind = session.method.test
        raise InputError(f"test {kind!r} of {session.remaining} labels needs generator=numpy.random.default_rng(...)")


def check_sequence(session: Session, functional: Functional) -> None:
    """Refuse a measure and a draw that will have no sequence once all is labelled."""
    require_order(session, functional)
    if session.costs is not None and session.opens:
        raise InputError("with costs, a stage ends before what does not fit: only stages=1 has sequences")


def require_order(session: Session, functional: Functional) -> None:
    """Refuse a measure and a draw of which nothing holds at any number of labels."""
    if not isinstance(DRAWS[session.method.draw], KeyOrder) or "sequence" in session.stage.drawn.settings:
        raise InputError(
            f"nothing holds at any time for draw={session.method.draw!r}; draw='without_replacement' has sequences"
        )
    if session.method.target != "pool":
        raise InputError("sequences are of the pool's own value; target='population' has none")
    if session.question.kind == "select":
        raise InputError("a selection has no sequences; compare two of its models")
    if functional.corrected is not None:
        raise InputError(f"measure {functional.name!r} has kinks, and no sequence")


def _draws_random_numbers(session: Session) -> bool:
    """Return whether the test may draw random numbers: swaps of few items are all gone through."""
    kind = session.method.test
    return kind == "bootstrap" or (kind == "permutation" and not all_swaps(session.remaining))


def _needs_no_test(session: Session) -> bool:
    """Return whether the result is exact once all that is asked for is labelled."""
    stage = session.stages[0]
    everything = stage.covers and bool(np.isposinf(stage.drawn.tau)) and session.method.target == "pool"
    return everything or immovable(session)
