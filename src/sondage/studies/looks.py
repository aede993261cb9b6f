"""A test at a few looks, planned by their shares of the budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from sondage.core.checks import is_listed, is_number, is_whole
from sondage.core.courses import EValue
from sondage.core.intervals.ends import level_at
from sondage.core.predictions import Floats
from sondage.core.results import Comparison, Interval, Significance
from sondage.core.sequences import ConfidenceSequence
from sondage.core.significance import repeated_pvalues, spending_bounds
from sondage.core.significance.repeated import MOST_EXTREME
from sondage.errors import InputError
from sondage.studies.answers import compare_session
from sondage.studies.budgets import labels_for
from sondage.studies.session import Session

__all__ = ["PlannedLooks", "planned_shares"]

LEAST_APART = 0.02
"""Share of the budget between two looks."""
MOST_LOOKS = 50
ROOM = 1.1
"""What is drawn from counts as at least so many times the budget: the information stays finite."""
WITH_INTERVAL = ("t", "wald", "hypergeometric")
"""Tests that have an interval of their name."""


def planned_shares(looks: Any) -> tuple[float, ...]:
    """Return the shares of the budget at which to look, the last of them 1.

    Parameters
    ----------
    looks : int or sequence of float
        Number of equally spaced looks, or shares of the budget.

    Raises
    ------
    InputError
        If the number is not a whole one of 1 to 50, or the shares are not ascending in (0, 1], 0.02 or more apart.

    Examples
    --------
    >>> planned_shares(4), planned_shares([0.5])
    ((0.25, 0.5, 0.75, 1.0), (0.5, 1.0))
    """
    shares: list[float] = []
    if is_whole(looks) and 1 <= looks <= MOST_LOOKS:
        shares = [look / looks for look in range(1, int(looks) + 1)]
    elif is_listed(looks):
        shares = [float(look) if is_number(look) else np.nan for look in looks]
    if shares and shares[-1] < 1:
        shares.append(1.0)
    if not shares or not min(np.diff([0.0, *shares])) >= LEAST_APART * (1 - 1e-9) or shares[-1] > 1:
        raise InputError(
            f"looks={looks!r} must be 1 to {MOST_LOOKS}, or shares of the budget, ascending and {LEAST_APART} or more "
            "apart"
        )
    return tuple(shares)


@dataclass
class PlannedLooks:
    """Stop at the first look whose test passes the critical value that O'Brien and Fleming's spending leaves it.

    Attributes
    ----------
    shares : tuple of float
        Shares of the budget at which to look.
    generator : numpy.random.Generator, optional
        Randomness of the test.
    statistics : list of float
        Of the looks so far: normal quantiles of their p-values, large ones against the null hypothesis.
    """

    shares: tuple[float, ...]
    generator: np.random.Generator | None = None
    statistics: list[float] = field(default_factory=list)

    def most(self, session: Session) -> int:
        """Return how many items are left up to the next look."""
        return max(self._next(session) - len(session.asked), 1)

    def met(self, session: Session) -> str | None:
        """Return "significant" at a look that rejects the null hypothesis."""
        if len(session.asked) < self._next(session):
            return None  # a stage ended in between
        sides = _sides(session)
        pvalue = compare_session(session, self.generator).pvalue
        statistic = -float(special.ndtri(np.clip(pvalue / sides, 0.0, 1.0)))
        self.statistics.append(float(np.clip(statistic, -MOST_EXTREME, MOST_EXTREME)))
        look = len(self.statistics) - 1
        critical = spending_bounds(self._fractions(session), session.question.alpha, sides=sides)[look]
        return "significant" if self.statistics[look] >= critical else None

    def concluded(self, session: Session, found: Comparison) -> Comparison:
        """Return the comparison with a p-value and an interval that hold for all looks together."""
        if found.estimate.exact or not self.statistics:
            return found
        fractions, question = self._fractions(session), session.question
        pvalue = float(repeated_pvalues(self.statistics, fractions, spending_bounds, sides=_sides(session)).min())
        test = session.method.test
        course = Repeated(found, fractions, len(self.statistics) - 1, test if test in WITH_INTERVAL else "auto")
        significance = Significance(self.statistics[-1], pvalue, question.alternative, "looks")
        return replace(found, estimate=replace(found.estimate, course=course), significance=significance)

    def _next(self, session: Session) -> int:
        look = min(len(self.statistics), len(self.shares) - 1)
        return int(np.ceil(self.shares[look] * _most(session) - 1e-9))

    def _fractions(self, session: Session) -> Floats:
        """Return information fractions: with n of N items labelled the information grows as n / (1 - n / N)."""
        most = _most(session)
        n = np.array(self.shares) * most
        size = max(float(session.stages[0].drawn.settings.get("support", np.inf)), ROOM * most)
        information = n / (1.0 - n / size)
        return np.asarray(information / information[-1])


def _most(session: Session) -> float:
    """Return how many labels the budget pays, all of which cost the same."""
    return session.budget if session.costs is None else np.floor(labels_for(session.budget, session.costs[0]))


def _sides(session: Session) -> int:
    return 2 if session.question.alternative == "two-sided" else 1


@dataclass(frozen=True, eq=False)
class Repeated:
    """What one of several planned looks says, by the interval that goes with its test."""

    found: Comparison
    fractions: Floats
    look: int
    kind: str

    def interval(self, level: float) -> Interval:
        """Return the interval that holds together with those of all looks: what the test of one look leaves."""
        critical = float(spending_bounds(self.fractions, 1.0 - level)[self.look])
        found = self.found.estimate.interval(level_at(critical), self.kind)
        return replace(found, level=level, kind="repeated")

    def sequence(self, level: float) -> ConfidenceSequence:
        """Refuse: there is an interval at the looks only."""
        raise InputError("planned looks have no sequence; leave looks= out for one")

    def evalue(self, null: float, alternative: str) -> EValue:
        """Refuse: there is a p-value at the looks only."""
        raise InputError("planned looks have no e-value; leave looks= out for one")
