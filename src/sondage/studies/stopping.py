"""When to stop labelling before the budget is spent: rules that look at a session as labels come in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sondage.core.checks import is_number, is_whole, require_level
from sondage.core.possible import within
from sondage.core.results import Comparison, Estimate
from sondage.errors import InputError
from sondage.pools import Pool
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.anytime import ordered_labels
from sondage.studies.budgets import one_price
from sondage.studies.drawing import DRAWS, KeyOrder
from sondage.studies.judging import as_asked
from sondage.studies.looks import PlannedLooks, planned_shares
from sondage.studies.method import Method, choose_method
from sondage.studies.requirements import check_method, check_sequence, check_width
from sondage.studies.session import Session

__all__ = ["WIDTH_LEVEL", "Rule", "check_rule", "concluded", "make_rule", "stopping_method"]

LOOK_EVERY, LOOK_SHARE = 10, 20
"""Labels between two looks: so many at least, and one in so many of those so far."""
WIDTH_LEVEL = 0.95
"""Level of the interval whose width ends labelling, unless told otherwise."""
STOP_FLOOR = 0.5
"""Of the default method, where a rule looks at every label."""


class Rule(Protocol):
    """When to look, and whether what is seen is enough."""

    def most(self, session: Session) -> int:
        """Return how many items to ask for before the next look, 1 or more."""
        ...

    def met(self, session: Session) -> str | None:
        """Return why labelling can stop; None if it goes on."""
        ...


@dataclass(frozen=True)
class Narrow:
    """Stop when the any-time intervals of all measures, or of the difference, are narrower than a width."""

    width: float
    level: float
    batch: int | None

    def most(self, session: Session) -> int:
        return _batch(self.batch, session)

    def met(self, session: Session) -> str | None:
        kind = session.question.kind
        found = [compare_session(session)] if kind == "compare" else estimate_session(session).values()
        widths = (one.interval(self.level, "anytime").width for one in found)
        return "width" if all(width < self.width for width in widths) else None


@dataclass(frozen=True)
class Significant:
    """Stop when the evidence against the null hypothesis suffices at the level of the question."""

    batch: int | None

    def most(self, session: Session) -> int:
        return _batch(self.batch, session)

    def met(self, session: Session) -> str | None:
        return "significant" if compare_session(session).pvalue <= session.question.alpha else None


def _batch(batch: int | None, session: Session) -> int:
    """Return a given batch, or one that grows with the labels: a look costs time, and late ones change little."""
    return batch or max(LOOK_EVERY, len(session.asked) // LOOK_SHARE)


def make_rule(
    stop: Any, *, looks: Any, level: float, batch: int | None, generator: np.random.Generator | None = None
) -> Rule | None:
    """Return the rule that the arguments of `evaluate` and `compare` mean; None to spend the budget.

    Raises
    ------
    InputError
        If an argument is not allowed.
    """
    if batch is not None and not (is_whole(batch) and batch >= 1):
        raise InputError(f"batch={batch!r} must be a whole number, 1 or more")
    require_level("level", level)
    if level != WIDTH_LEVEL and not is_number(stop):
        raise InputError(f"level={level} is that of a width, stop=; of other intervals it is given to interval()")
    if batch is not None and stop is None:
        raise InputError(f"batch={batch} tells how often stop= looks: it goes with stop=")
    if looks is not None:
        if not _significant(stop):
            raise InputError("looks= goes with stop='significant'")
        return PlannedLooks(planned_shares(looks), generator)
    batch = None if batch is None else int(batch)
    if stop is None:
        return None
    if _significant(stop):
        return Significant(batch)
    if not is_number(stop) or not stop > 0:
        raise InputError(f"stop={stop!r} must be the width of an interval, above 0; for comparisons also 'significant'")
    return Narrow(float(stop), level, batch)


def _significant(stop: Any) -> bool:
    """Return whether labelling ends when a difference is significant."""
    return isinstance(stop, str) and stop == "significant"


def check_rule(rule: Rule | None, session: Session, pool: Pool) -> None:
    """Refuse before a label is asked for a rule without what it looks at: a difference, an interval at any time."""
    if isinstance(rule, PlannedLooks) and one_price(as_asked(pool, session.question)) is None:
        raise InputError("looks are planned in labels; where some cost more than others leave looks= out")
    if isinstance(rule, Significant) and session.question.kind != "compare":
        raise InputError("stop='significant' is for comparisons; give the width of an interval")
    if isinstance(rule, Narrow):
        for functional in session.question.functionals(session.task):
            check_sequence(session, functional)
        for contrast in session.contrasts:
            check_width("stop", rule.width, contrast)
    if rule is not None:
        check_method(session, early=True)


def stopping_method(method: str | Method | None, parts: Mapping[str, Any], rule: Rule | None, pool: Pool) -> Method:
    """Return the method, made fit for a rule that looks at every label.

    Where it is the default one, half of the draw is spread over all items that can matter, unless a floor is named: an
    interval that never takes the belief's word needs it. With costs there is one stage. A test that is not named holds
    at any time too, as the interval does.

    Raises
    ------
    InputError
        If the draw, the target or the test does not fit.
    """
    if rule is None or isinstance(rule, PlannedLooks):
        return choose_method(method, **parts)
    named = dict(parts)
    default = method is None or (isinstance(method, str) and method == "default")
    if default and named.get("floor") is None:
        named["floor"] = STOP_FLOOR
    if pool.prices is not None and named.get("stages") is None:
        named["stages"] = (1.0,)
    if isinstance(rule, Significant):
        test = named.get("test")
        if not (test is None or (isinstance(test, str) and test == "anytime")):
            raise InputError(f"stop='significant' has its own test: leave test={test!r} out, or give looks=")
        named["test"] = "anytime"
    made = choose_method(method, **named)
    if not isinstance(DRAWS[made.draw], KeyOrder) or made.target != "pool":
        raise InputError(
            f"stop= needs a draw without replacement and target='pool', not draw={made.draw!r}, target={made.target!r}"
        )
    return replace(made, test="anytime") if made.test == "auto" else made


def concluded(found: Any, session: Session, rule: Rule | None, stopped: str | None) -> Any:
    """Return an estimate or comparison that says why labelling ended, with the interval that holds nevertheless.

    An estimate that is beyond its any-time interval, of which earlier labels tell too, is moved to the nearest end.
    """
    if rule is None:
        return found
    if not isinstance(found, Comparison):
        return _ended(found, rule, stopped, session)
    if isinstance(rule, PlannedLooks):
        found = rule.concluded(session, found)
    return replace(found, estimate=_ended(found.estimate, rule, stopped, session))


def _ended(estimate: Estimate, rule: Rule, stopped: str | None, session: Session) -> Estimate:
    told = replace(estimate, stopped=stopped, interval_kind="anytime")
    if isinstance(rule, PlannedLooks):
        return told
    note = ordered_labels(session)[1]
    if note is not None:
        told = replace(told, warnings=(*told.warnings, f"{note}, and stop= looks no further"))
    if not math.isfinite(told.value):
        return told
    ends = told.interval(rule.level if isinstance(rule, Narrow) else 1.0 - session.question.alpha)
    return replace(told, value=within(told.value, ends.low, ends.high))
