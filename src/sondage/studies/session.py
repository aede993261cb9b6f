"""The one state machine: what was drawn, asked for, answered; plain data.

`evaluate`, `compare` and `select` loop over a session in memory, a `Study` stores one, a labelling page leases from
one: same pool, same seed, same items by all three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import islice
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import require_count, require_number, require_whole
from sondage.core.comparisons import Contrast
from sondage.core.contenders import Standing
from sondage.core.measures import Task
from sondage.core.predictions import Items
from sondage.errors import InputError
from sondage.pools import Pool
from sondage.studies.budgets import check_budget, least_in_stage, next_end, one_price
from sondage.studies.drawing import DRAWS, Stratified
from sondage.studies.fitting import classes_decide, fitted_method, immovable
from sondage.studies.judging import as_asked
from sondage.studies.method import Method, Question
from sondage.studies.planning import DrawnStage, Plan, draw_stage, main_contrasts, make_plan, settle
from sondage.studies.requirements import check_method
from sondage.studies.rests import Rests, later_rests, rests_with_dropped
from sondage.studies.sheet import Sheet
from sondage.studies.start import begin, make_start
from sondage.studies.sums import Past

__all__ = ["SIMULTANEOUS", "SINGLE", "Session"]

SIMULTANEOUS, SINGLE = 6, 7
"""Streams of random numbers: of what is said of all models at once, and of intervals and tests of one result."""


class Session(Sheet):
    """A question being answered: a sheet that is drawn in stages.

    Attributes
    ----------
    question, method : Question, Method
        What is asked, and how.
    budget : float
        Labels, or cost.
    seed : int
        Of all draws.
    stages : list of DrawnStage
        The draws, first to last, and what is known of the pool in each.
    rests : dict of int to callable
        For a stage's number what it left undrawn; missing where a study was written without it.
    kept : bool
        Whether a study keeps it, which sums up what each stage left as soon as it is drawn.
    """

    def __init__(
        self,
        question: Question,
        method: Method,
        task: Task,
        models: tuple[str, ...],
        *,
        budget: float,
        seed: int,
        stages: Iterable[DrawnStage] = (),
        columns: Mapping[str, Any] | None = None,
        kept: bool = False,
    ) -> None:
        super().__init__(task, models, columns)
        self.question, self.method = question, method
        self.asked_about = question.models
        self.budget, self.seed, self.stages = budget, seed, list(stages)
        self.rests: dict[int, Callable[[], Rests]] = {}
        self.kept = kept

    @classmethod
    def start(
        cls,
        pool: Pool,
        question: Question,
        method: Method,
        *,
        budget: float,
        seed: int,
        start: Any = None,
        kept: bool = False,
    ) -> Session:
        """Plan and draw the first stage: the pool is read twice, and once more where items cannot matter.

        Labels that there are already (`start`) make the first stages, and by default the budget.

        Raises
        ------
        InputError
            If the budget, the seed, a model, a measure or a part of the method does not fit the pool, or the test the
            measure; or if there are labels already that do not.
        """
        require_whole("seed", seed)
        seed = index(seed)  # of NumPy's numbers, which are of so many bits
        question = settle(pool, question)
        pool = as_asked(pool, question)
        method = fitted_method(pool, question, method, begun=start is not None)
        begun = None if start is None else make_start(pool, start, method, seed)
        budget = check_budget(pool, budget if begun is None else begun.budget(budget))
        session = cls(question, method, pool.task, pool.models, budget=budget, seed=seed, kept=kept)
        if begun is not None:
            begin(session, pool, begun)
        else:
            session.open_stage(pool)
            if immovable(session) and question.kind != "select":
                session._ask_for_one(pool)
        check_method(session, early=kept)
        return session

    def random(self, stream: int) -> Callable[[], np.random.Generator]:
        """Return a source of random numbers that follow from the seed: the same each time, of each stream others."""
        return partial(np.random.default_rng, [self.seed % 2**64, stream])

    def copied(self) -> Session:
        """Return the session as it is now; what is asked and told later does not change it."""
        other = copy(self)
        other.stages, other.rests = list(self.stages), dict(self.rests)
        other.asked, other.answers, other.opinions = list(self.asked), dict(self.answers), dict(self.opinions)
        return other

    def early(self, count: int) -> Session:
        """Return the session as it was when so many items were asked for, with the answers that these have now."""
        other = copy(self)
        other.asked = self.asked[:count]
        other.answers = {p: self.answers[p] for p in other.asked if p in self.answers}
        return other

    @property
    def contrasts(self) -> list[Contrast]:
        """What is asked by each measure: one model, or a difference; of more than two models that of the first pair."""
        return main_contrasts(self.question, self.task, self.models)

    @property
    def stage(self) -> DrawnStage:
        """The last stage."""
        return self.stages[-1]

    @property
    def firsts(self) -> list[int]:
        """The position of each stage's first item, and one past the last."""
        return [0, *np.cumsum([len(stage.drawn) for stage in self.stages]).tolist()]

    @property
    def reach(self) -> float:
        """How many items could be drawn in all; infinite of draws with replacement, which do not count them."""
        reached = zip(self.firsts, self.stages, strict=False)
        return float(max(first + stage.drawn.settings.get("support", np.inf) for first, stage in reached))

    @property
    def has_next_stage(self) -> bool:
        """Whether a further stage is planned once the present one was asked for."""
        return self.stage.drawn.due is not None

    def plan(self, pool: Pool, *, defined: bool = True) -> Plan:
        """Return the plan of the next stage from the labels so far; nothing is drawn."""
        pool = as_asked(pool, self.question)
        return make_plan(pool, self.question, self.method, self.past(pool), defined=defined)

    def draw(self, pool: Pool, plan: Plan, labels: int) -> None:
        """Raise the budget to so many labels beyond those asked for, of one price, and draw them by this plan."""
        price = one_price(as_asked(pool, self.question))
        assert price is not None
        self.budget = price * (len(self.asked) + labels)
        self.open_stage(pool, last=True, plan=plan)

    def open_stage(self, pool: Pool, *, last: bool = False, plan: Plan | None = None) -> None:
        """Plan the next stage from the labels so far, and draw it; what was in reserve is dropped.

        Parameters
        ----------
        pool : Pool
            The pool.
        last : bool
            Let it be the last one, however much of the budget is left.
        plan : Plan, optional
            The stage's plan, where it is made already.
        """
        pool = as_asked(pool, self.question)
        if self.stages:
            self._drop_reserve()
        units, past = self._drawn_units(pool), self.past(pool)
        spent = self._costs_of(len(units))
        least = least_in_stage(pool.task, self.question.kind, len(pool.models))
        end = self.budget if last else next_end(pool, self.method.stages, budget=self.budget, spent=spent, least=least)
        alone = plan is None  # else others plan, whose result these labels serve too: the whole of slices
        if plan is None:
            pool.expect(self.seed, len(self.stages), self.budget - spent)
            plan = make_plan(pool, self.question, self.method, past)
        left, number = self.budget - spent, len(self.stages)
        stage = draw_stage(pool, plan, self.method, budget=left, target=end - spent, seed=self.seed, number=number)
        self.stages.append(stage)
        if alone and self.rest_immovable and self.method.target == "pool" and not self._ended_early:
            # The rest of the budget would be labelled for nothing; what is asked for beyond it is drawn.
            self.stages[-1] = stage = replace(stage, drawn=stage.drawn.head(0))
        self.take_up(pool, np.concatenate([units, stage.drawn.units]), plan, past)

    @property
    def rest_immovable(self) -> bool:
        """Whether a later stage found nothing left that can move the result: of a selection never, gaps are not all."""
        known = self.stage.known
        told = len(self.stages) > 1 and known.immovable and self.question.kind != "select"
        return told and not classes_decide(self, known)

    @property
    def _ended_early(self) -> bool:
        """Whether an earlier stage was cut short since no label can move the result."""
        first, *_ = self.stages
        return (first.known.immovable and len(first.drawn) == 1) or not all(len(one.drawn) for one in self.stages[:-1])

    def _ask_for_one(self, pool: Pool) -> None:
        """Lower the budget to the first item: no label can move the result, but there must be one."""
        drawn = self.stage.drawn.head(1)
        self.stages[-1] = replace(self.stage, drawn=drawn)
        self.take_up(pool, drawn.units)
        self.budget = self._costs_of(1)

    def take_up(
        self, pool: Pool, units: Any, plan: Plan | None = None, past: Past | None = None, method: Method | None = None
    ) -> None:
        """Take what the pool says of all units drawn, and let what the last stage left be summed up.

        In memory that is by another plan, of this method or the session's own: sizes need not be held for it.
        """
        urn, method = plan.urn if plan is not None and self.kept else None, method or self.method
        self.rests[self.stage.number] = later_rests(pool, self.question, method, self.stage, past, urn)
        self._set(vars(pool.taken(units)))

    def _drop_reserve(self) -> None:
        """End the present stage with what was asked for."""
        stage, count = self.stage, len(self.asked) - self.firsts[-2]
        if stage.number in self.rests:
            self.rests[stage.number] = rests_with_dropped(self.copied(), count)
        self.stages[-1] = replace(stage, drawn=stage.drawn.head(count))

    def _go_on(self) -> None:
        """Let the present stage's order go on in place of a next stage: what is in reserve is asked for."""
        if not self.in_reserve:
            raise InputError("the next items are drawn from the pool, which is not at hand")
        self.stages[-1] = replace(self.stage, drawn=self.stage.drawn.until(None))

    def _drawn_units(self, pool: Pool) -> NDArray[np.int64]:
        """Return the units of all drawn items, by their ids: the pool's rows may be in another order than before."""
        if not self.stages:
            return np.empty(0, dtype=np.int64)
        units = np.concatenate([stage.drawn.units for stage in self.stages])
        return pool.units_of(self.ids[: len(units)], units)

    def past(self, pool: Pool) -> Past | None:
        """Return what was drawn and answered so far; None before the first stage."""
        if not self.stages:
            return None
        rest = pool.without(self._drawn_units(pool))
        answered = np.array(self.labelled, dtype=np.int64)
        others = np.setdiff1d(np.array(self.asked, dtype=np.int64), answered)
        labelled, labels, sharing = self.rows(answered)
        return Past(rest, labelled, labels, sharing, self.rows(others)[0], self._standing(labelled, labels))

    def _standing(self, labelled: Items, labels: NDArray[Any]) -> Standing | None:
        """Return what the labels say of several models."""
        if self.question.kind != "select" or not len(labels):
            return None
        from sondage.studies.selecting import current_standing  # here, for it reads sessions

        return current_standing(self, labelled, labels)

    def extend(self, pool: Pool | None, budget: float) -> None:
        """Raise the budget; nothing asked so far changes.

        A single draw goes on in the same order; a staged method plans further stages from the labels.

        Raises
        ------
        InputError
            If the budget is not above the present one, or above the pool.
        """
        require_number("budget", budget)
        if not budget > self.budget:
            raise InputError(f"budget={budget:g} must be above the present one, {self.budget:g}")
        if pool is None:
            raise InputError("to raise the budget, the pool is needed")
        pool = as_asked(pool, self.question)
        self.budget = check_budget(pool, budget)
        if not self.method.staged:
            self._lengthen(pool)
        elif self.stage.drawn.due is None and np.isfinite(self.stage.drawn.tau):
            self.stages[-1] = replace(self.stage, drawn=self.stage.drawn.until(len(self.stage.drawn)))

    def _lengthen(self, pool: Pool) -> None:
        """Draw a longer head of the same order."""
        before, old = [self.ids[p] for p in self.asked], {self.ids[p]: label for p, label in self.answers.items()}
        was, seed, budget = self.stage, self.seed, self.budget
        pool.expect(seed, was.number, budget)
        plan = make_plan(pool, self.question, self.method)
        settings = was.drawn.settings
        stage = draw_stage(pool, plan, self.method, budget=budget, seed=seed, number=was.number, settings=settings)
        self.stages = [stage]
        self.take_up(pool, stage.drawn.units, plan)
        self.asked = [self.positions[name] for name in before]
        self.answers = {self.positions[name]: label for name, label in old.items()}

    @property
    def remaining(self) -> int:
        """Items that can still be asked for within the budget; with costs at least one more while a stage is due."""
        drawn = len(self.ids) - len(self.asked)
        if self.costs is not None:
            return max(drawn, self.room + int(self.has_next_stage))
        if self.has_next_stage:
            drawn = self.room + int(self.stage.drawn.settings["support"]) - (self.stage.drawn.due or 0)
        return min(drawn, int(self.budget) - len(self.asked))

    @property
    def room(self) -> int:
        """Items of the present stage that can still be asked for; 0 when the next stage is due."""
        return self.firsts[-2] + self.stage.drawn.planned - len(self.asked)

    @property
    def in_reserve(self) -> bool:
        """Whether the present stage's order holds more items than its plan, so that it can go on without the pool."""
        return len(self.ids) > len(self.asked) + self.room

    def ask(self, n: int | None = None, pool: Pool | None = None) -> list[Any]:
        """Return ids to label: pending ones first, then the next of the draw.

        Parameters
        ----------
        n : int, optional
            How many; by default all that the budget still pays. Fewer come at the end of a stage, since the next one
            is planned from these labels; a request for all that remains is taken at its word, and then the rest is
            drawn in one stage.
        pool : Pool, optional
            To plan the next stage, when that is due; without it the present order goes on.

        Raises
        ------
        InputError
            If n is not a whole number from 1, or the next item is not drawn yet and there is no pool.
        """
        if n is not None:
            require_count("n", n)
        next_stage, everything = self.needs_next_stage(n), self._everything(n)
        if next_stage and pool is None:
            self._go_on()
        wanted = self.waiting[:n]
        count = self.remaining if n is None else min(n - len(wanted), self.remaining)
        fresh = self._fresh(min(count, self.room))
        if next_stage and pool is not None:
            self.open_stage(pool, last=everything)
            fresh += self._fresh(min(count, self.remaining, self.room))
        return [self.ids[position] for position in (*wanted, *fresh)]

    def needs_next_stage(self, n: int | None = None) -> bool:
        """Return whether asking for n items opens the next stage, for which the pool is needed."""
        beyond_stage = not self.room and (n is None or n > len(self.waiting))
        return self.has_next_stage and (beyond_stage or self._everything(n))

    def _everything(self, n: int | None) -> bool:
        return n is None or n - len(self.waiting) >= self.remaining > 0

    def ask_stage(self, pool: Pool, most: int) -> list[Any]:
        """Return up to so many ids of the present stage, or of the next where it is due."""
        if self.has_next_stage and not self.room and not self.pending:
            self.open_stage(pool)
        room = min(self.room, self.remaining)
        return self.ask(min(most, room)) if room else []

    def _fresh(self, count: int) -> list[int]:
        fresh: list[int] = []
        for position in self._next(count):
            self.asked.append(position)
            fresh.append(position)
        return fresh

    @property
    def online(self) -> bool:
        """Whether the next item depends on the labels so far."""
        draw = DRAWS[self.method.draw]
        return isinstance(draw, Stratified) and draw.online

    def _next(self, count: int) -> Iterator[int]:
        """Yield the next positions; after a stratified draw was extended they lie between those asked for."""
        if self.online:
            from sondage.studies.online import next_position

            yield from (next_position(self) for _ in range(count))
        else:
            asked = set(self.asked)
            yield from islice((position for position in range(len(self.ids)) if position not in asked), count)
