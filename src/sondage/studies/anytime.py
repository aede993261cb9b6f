"""Inference at any time from a session's labels, in the order in which they were asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy  # scipy.optimize is loaded when it is used
from numpy.typing import NDArray
from scipy import special

from sondage.core.comparisons import Contrast
from sondage.core.courses import EValue
from sondage.core.intervals.ends import level_at
from sondage.core.measures.bases import ROUNDING, Confusion, clean_sum
from sondage.core.possible import all_outward
from sondage.core.predictions import Floats
from sondage.core.results import Estimate, Interval
from sondage.core.sequences import (
    ConfidenceSequence,
    Fraction,
    Stage,
    anytime_pvalues,
    asymptotic_critical,
    asymptotic_log_evalues,
    at_nodes,
    betting_sequence,
    draw_steps,
    fraction_of,
    joined,
    log_evalues,
    parts_of,
    rest_of,
)
from sondage.core.significance import disagreement_log_evalues, disagreement_sequence, refutes
from sondage.core.significance.tails import ratio_to_error
from sondage.errors import InputError, warn
from sondage.studies.requirements import STAGED_COSTS, require_order
from sondage.studies.rests import drawn_units, key_of
from sondage.studies.session import Session

__all__ = ["LabelCourse", "ordered_labels"]

FIRST_LOOK, LOOKS = 30, 40
"""Labels at which an asymptotic sequence begins, and at how many numbers of labels it is computed."""
TIGHTEST = 200.0
"""Labels at which it is tightest, in a large pool."""
OWN_INTERVAL = "auto"
"""The interval of an asymptotic sequence, whatever that of the method is."""
NO_SCORE, MOST_SCORE = 1e-6, 6.8
"""Normal scores of an estimate against a value; the largest is that of a p-value of 1e-11."""


def ordered_labels(session: Session) -> tuple[int, str | None]:
    """Return the number of labels up to the first item that is pending or skipped, and a note where others follow."""
    answers, drawn, labels = session.answers, len(session.asked), session.n_labels
    count = next((position for position in range(drawn) if answers.get(position) is None), drawn)
    if count == labels:
        return count, None
    what = "skipped" if count in answers else "pending"
    return count, f"the sequence ends after {count} of {labels} labels: the next item is {what}"


@dataclass(frozen=True, eq=False)
class LabelCourse:
    """The labels of a session in their order, for one contrast.

    Attributes
    ----------
    session : Session
        As it was when the estimate was made.
    contrast : Contrast
        What is estimated.
    estimate : callable
        From a session and a contrast to an `Estimate`, for measures that have asymptotic sequences only.
    """

    session: Session
    contrast: Contrast
    estimate: Callable[[Session, Contrast], Estimate]

    def interval(self, level: float) -> Interval:
        """Return the interval after the last label; before the first one all values of the measure."""
        if not self.count:
            return Interval(*self.contrast.bounds, level, "undefined")
        if self.fraction is None:
            return self._rounded(self._asymptotic(np.array([self.count]), level)).last
        return self.sequence(level).last

    def sequence(self, level: float) -> ConfidenceSequence:
        """Return the interval after each label."""
        if not self.count:
            raise InputError("the first item asked for has no label: nothing can be said at any time before it has")
        if self.fraction is None:
            return self._rounded(self._asymptotic(self._looks(), level))
        if self.known is not None:
            ends = np.full(self.count, self.known)
            return ConfidenceSequence(ends, ends, level, "exact")
        if self.outcomes is not None:
            found = disagreement_sequence(*self.outcomes, level)
            scale = self.stages[0].bottom[0] * self.outcomes[1]
            return self._rounded(replace(found, low=scale * found.low, high=scale * found.high))
        return self._rounded(betting_sequence(draw_steps(*self._at(self.nodes)), level))

    def _rounded(self, found: ConfidenceSequence) -> ConfidenceSequence:
        """Return the sequence with ends rounded outward: what labels prove is often the truth itself."""
        low, high = all_outward(found.low, found.high, self.contrast.bounds)
        return replace(found, low=low, high=high)

    def evalue(self, null: float, alternative: str) -> EValue:
        """Return the evidence against a value; before the first label there is none."""
        kind = "betting"
        if not self.count:
            return EValue(0.0, 1.0, null, alternative, "undefined")
        if self.fraction is None:
            logs, kind = self._asymptotic_evidence(null, alternative), "asymptotic"
        elif self.known is not None:
            gap = float(clean_sum(np.array([self.known, -null]), axis=0))
            logs, kind = np.array([np.inf if refutes(gap, alternative) else 0.0]), "exact"
        elif self.outcomes is not None:
            outcomes, size = self.outcomes
            share = float(np.clip(null / (self.stages[0].bottom[0] * size), -1.0, 1.0))
            logs, kind = disagreement_log_evalues(outcomes, size, alternative, null=share), "exact"
        else:
            nodes = self.nodes if self.fraction.bottom is not None else np.union1d(self.nodes, [null])
            logs = log_evalues(draw_steps(*self._at(nodes)), null, alternative)
        return EValue(float(logs[-1]), float(anytime_pvalues(logs)[-1]), null, alternative, kind)

    @cached_property
    def fraction(self) -> Fraction | None:
        """The contrast as a mean or ratio; None where there is only an asymptotic sequence."""
        return fraction_of(self.contrast, self.session.task)

    @cached_property
    def count(self) -> int:
        """Number of labels up to the first item that is pending or skipped; refuses labels without an order."""
        require_order(self.session, self.contrast.functional)
        count, note = ordered_labels(self.session)
        if note is not None:
            warn(note)
        return count

    @cached_property
    def stages(self) -> list[Stage]:
        """The stages so far, with ranges at the fraction's own nodes."""
        session, count = self.session, self.count
        drawn = [number for number, first in enumerate(session.firsts[:-1]) if first < count]
        if session.costs is not None and len(drawn) > 1:
            raise InputError(STAGED_COSTS)
        return [self._stage(number) for number in drawn]

    def _stage(self, number: int) -> Stage:
        """Return a stage of the draw, as far as its items are labelled without a gap."""
        session, stage, fraction = self.session, self.session.stages[number], self.fraction
        assert fraction is not None
        if not stage.covers:
            raise InputError("items whose labels matter have no chance of being drawn: nothing holds at any time")
        if stage.number not in session.rests:
            raise InputError("the study was written by a release that did not keep what sequences need")
        rests, key = session.rests[stage.number](), key_of(self.contrast)
        if key not in rests:
            raise InputError(f"a label that matters to {self.contrast.functional.name!r} can never be drawn")
        first, after = session.firsts[number : number + 2]
        end, total = min(after, self.count) - first, after - first
        units = drawn_units(session, number, self.contrast, fraction)
        items, labels, of_rows = session.rows(np.arange(first, first + end))
        top, bottom = parts_of(fraction, items, labels, end, of_rows)
        rest = rests[key]
        if end < total:
            rest = joined([rest, rest_of(units.take(np.arange(end, total)), fraction.nodes)])
        return Stage(units.take(np.arange(end)), top, bottom, rest)

    @cached_property
    def nodes(self) -> Floats:
        """Values at which bounds are kept; the ends are those of what any labels could give."""
        assert self.fraction is not None
        if self.fraction.bottom is not None:
            return self.fraction.nodes
        low, high = self._range
        return np.array([low, max(high, low + 1e-9)])

    @property
    def _range(self) -> tuple[float, float]:
        """The least and the greatest mean that any labels could give."""
        first = self.stages[0]
        low, high = first.units.lowest.sum() + first.rest.lowest[0], first.units.highest.sum() + first.rest.highest[0]
        return float(low), float(high)

    @cached_property
    def known(self) -> float | None:
        """The value of a mean that no label can move, as of a model that says the same of all classes; else None."""
        if self.fraction is None or self.fraction.bottom is not None:
            return None
        low, high = self._range
        return None if high - low > ROUNDING * max(abs(low), abs(high)) else (low + high) / 2

    def _at(self, nodes: Floats) -> tuple[list[Stage], Floats]:
        """Return the stages with ranges at these nodes, and the nodes."""
        assert self.fraction is not None
        if self.fraction.bottom is not None:
            return self.stages, nodes
        moved = [replace(s, units=at_nodes(s.units, nodes), rest=at_nodes(s.rest, nodes)) for s in self.stages]
        return moved, nodes

    @cached_property
    def outcomes(self) -> tuple[NDArray[np.int64], int] | None:
        """Which of two models is right on each label, and the number of disagreements, if drawn equally from these."""
        session, fraction = self.session, self.fraction
        assert fraction is not None
        two_right_or_wrong = len(session.task.classes) == 2 and isinstance(fraction.top.basis, Confusion)
        equal = all(stage.drawn.settings["equal"] for stage in session.stages[: len(self.stages)])
        if not (two_right_or_wrong and equal and len(self.contrast.models) == 2):
            return None
        last, size = self.stages[-1], self.stages[0].bottom[0]
        outcomes = np.concatenate([stage.top for stage in self.stages]) / size
        left = session.stages[len(self.stages) - 1].drawn.settings["support"] - len(last.top)
        ends = np.array([last.rest.highest[0], -last.rest.lowest[0]]) / size
        if not np.allclose(np.abs(outcomes), 1.0, atol=1e-9) or not np.allclose(ends, left, rtol=1e-9, atol=1e-6):
            return None
        return np.rint(outcomes).astype(np.int64), len(outcomes) + int(left)

    def _looks(self) -> NDArray[np.int64]:
        """Return the numbers of labels at which an asymptotic sequence is computed."""
        last = self.count
        return np.unique(np.rint(np.geomspace(min(FIRST_LOOK, last), last, LOOKS)).astype(np.int64))

    def _asymptotic(self, looks: NDArray[np.int64], level: float) -> ConfidenceSequence:
        """Return the asymptotic sequence, computed at some numbers of labels; in between the one before stays.

        At each it is the estimate's own interval at the level of the critical value there: as honest as that is.
        """
        critical = asymptotic_critical(looks, level, tightest=self._tightest, pool_size=self.session.reach)
        ends = [self.contrast.bounds, *map(self._ends, looks.tolist(), critical.tolist())]
        place = np.searchsorted(looks, np.arange(1, self.count + 1), side="right")
        low, high = np.array(ends, dtype=np.float64)[place].T
        return ConfidenceSequence(low, high, level, "asymptotic")

    def _ends(self, look: int, critical: float) -> tuple[float, float]:
        """Return the ends of the interval at a number of labels; too few say nothing, unless they are all."""
        estimate = self._estimate(look)
        if look < FIRST_LOOK and not estimate.exact:
            return self.contrast.bounds
        found = estimate.interval(level_at(critical), OWN_INTERVAL)
        return found.low, found.high

    def _asymptotic_evidence(self, null: float, alternative: str) -> Floats:
        """Return the asymptotic evidence after the last label: that against what the sequence leaves out."""
        estimate = self._estimate(self.count)
        score = _normal_score(estimate, null) if self.count >= FIRST_LOOK or estimate.exact else 0.0
        return asymptotic_log_evalues(
            [score], [1.0], [self.count], 0.0, alternative, tightest=self._tightest, pool_size=self.session.reach
        )

    @property
    def _tightest(self) -> float:
        """Fixed, whatever the budget: a study's may be raised later."""
        return min(TIGHTEST, self.session.reach / 2)

    def _estimate(self, look: int) -> Estimate:
        """Return the estimate of a number of labels."""
        early = self.session.early(look)
        early.method = replace(early.method, interval=OWN_INTERVAL)
        return self.estimate(early, self.contrast)


def _normal_score(estimate: Estimate, null: float) -> float:
    """Return how far an estimate is above a value, by the normal quantile of the interval that ends there.

    It is 0 where no interval leaves the value out, and infinite where labels rule it out.
    """
    gap = float(clean_sum(np.array([estimate.value, -null]), axis=0))
    if not gap or not math.isfinite(gap):
        return 0.0
    least, most = estimate.possible
    if estimate.exact or not least <= null <= most:
        return math.copysign(math.inf, gap)
    if estimate.pivot is not None:  # whose interval is what a test at each value leaves
        variance, df = estimate.pivot.at(null)
        tail = float(special.stdtr(float(df), -abs(ratio_to_error(gap, math.sqrt(variance)))))
        return math.copysign(-float(special.ndtri(tail)), gap)

    def beyond(critical: float) -> float:
        found = estimate.interval(level_at(critical), OWN_INTERVAL)
        return found.low - null if gap > 0 else null - found.high

    if beyond(NO_SCORE) <= 0:
        return 0.0
    largest = MOST_SCORE if beyond(MOST_SCORE) > 0 else scipy.optimize.bisect(beyond, NO_SCORE, MOST_SCORE, xtol=1e-4)
    return math.copysign(largest, gap)
