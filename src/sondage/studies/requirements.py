"""What intervals, tests and sequences need of measure and draw: refused before any label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sondage.core.catalogue.intervals import require_interval
from sondage.core.catalogue.significance import UNCOUNTED, require_fit
from sondage.core.checks import require
from sondage.core.comparisons import Contrast
from sondage.core.measures import Functional
from sondage.core.significance.resampling import all_swaps
from sondage.errors import InputError
from sondage.studies.drawing import DRAWS, HEEDLESS, KeyOrder
from sondage.studies.fitting import immovable, meant_to_count

if TYPE_CHECKING:
    from sondage.studies.session import Session

__all__ = ["STAGED_COSTS", "check_method", "check_sequence", "check_width", "require_order"]

STAGED_COSTS = "with costs, a stage ends before what does not fit: only stages=1 has sequences"


def check_method(session: Session, *, early: bool) -> None:
    """Refuse an interval or a test that does not fit measure, margin or draw, whatever the labels will be.

    Parameters
    ----------
    session : Session
        Of which nothing was asked for yet.
    early : bool
        Whether the answer is looked at before all is labelled: then it does not help that it will be exact.

    Raises
    ------
    InputError
        If one does not fit; the message says what would.
    """
    if immovable(session) or (_draws_everything(session) and not early):
        return
    question, method, compares = session.question, session.method, session.question.kind != "evaluate"
    counted = meant_to_count(session) and method.target == "pool"
    functionals = question.functionals(session.task)
    for functional in functionals:
        require_interval(method.interval, functional, compares=compares)
        if method.interval == "anytime" or (compares and method.test == "anytime"):
            check_sequence(session, functional)
    if method.interval == "hypergeometric" and not counted:
        raise InputError(UNCOUNTED.format("interval"))
    if not compares:
        return
    require_fit(method.test, functionals[0], question.margin)
    if method.test == "hypergeometric" and not counted:
        raise InputError(UNCOUNTED.format("test"))
    if question.kind == "select" and _draws_random_numbers(session):
        raise InputError(f"test {method.test!r} draws random numbers, too few for the pairs of a selection; use 't'")


def check_sequence(session: Session, functional: Functional) -> None:
    """Refuse a measure and a draw that will have no sequence once all is labelled."""
    require_order(session, functional)
    if session.costs is not None and session.has_next_stage:
        raise InputError(STAGED_COSTS)


def require_order(session: Session, functional: Functional) -> None:
    """Refuse a measure and a draw of which nothing holds at any number of labels."""
    if not isinstance(DRAWS[session.method.draw], KeyOrder) or "sequence" in session.stage.drawn.settings:
        raise InputError(
            f"nothing holds at any time for draw={session.method.draw!r}; draw='without_replacement' has sequences"
        )
    if any(HEEDLESS in stage.drawn.settings for stage in session.stages):
        raise InputError("nothing holds at any time for labels of start= where the pool has weights")
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


def _draws_everything(session: Session) -> bool:
    """Return whether the result is exact once all that is asked for is labelled."""
    stage = session.stages[0]
    return stage.covers and bool(np.isposinf(stage.drawn.tau)) and session.method.target == "pool"


def check_width(name: str, width: float, contrast: Contrast) -> None:
    """Refuse an interval's width that all possible values together are within: a hundredth was meant, say.

    Parameters
    ----------
    name : str
        The argument.
    width : float
        Its value.
    contrast : Contrast
        What is estimated.

    Raises
    ------
    InputError
        If every interval is that narrow.
    """
    low, high = contrast.bounds
    what = f"{'a difference in ' if len(contrast.models) > 1 else ''}{contrast.functional.name}"
    rule = f"must be below {high - low:g}: {what} is between {low:g} and {high:g}"
    require(width < high - low, f"{name}={width:g} {rule}")
