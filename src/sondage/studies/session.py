"""The one state machine: what was drawn, asked for, answered; plain data.

`evaluate`, `compare` and `select` loop over a session in memory, a `Study` stores one, a labelling page leases from
one: same pool, same seed, same items by all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures import Task
from sondage.core.predictions import Items
from sondage.errors import InputError, LabelError
from sondage.pools import Pool
from sondage.studies.drawing import DRAWS, Stratified
from sondage.studies.labels import Label, code_label, decode_label
from sondage.studies.method import Method, Question
from sondage.studies.planning import Stage, check_budget, make_plan, open_stage, settle

__all__ = ["Session"]


class Session:
    """A question being answered.

    Attributes
    ----------
    question, method, task : Question, Method, Task
        What is asked, how, and of what kind of labels.
    models : tuple of str
        All models of the pool.
    stage : Stage
        The draw and what is known of the pool.
    ids : list
        Ids of the drawn items, in the order of asking.
    items : Items
        What the models say of the rows of the drawn items.
    units : ndarray of int or None
        For each row of `items` the position of its drawn item, where rows share labels.
    costs : ndarray of float or None
        Cost of each drawn item.
    asked : list of int
        Positions of the items asked for, in order.
    answers : dict of int
        Position -> coded label, or None for a skip.
    budget : float
        Labels, or cost.
    """

    def __init__(
        self,
        question: Question,
        method: Method,
        task: Task,
        models: tuple[str, ...],
        stage: Stage,
        *,
        ids: Sequence[Any],
        items: Items,
        units: NDArray[np.int64] | None,
        costs: NDArray[np.float64] | None,
        budget: float,
    ) -> None:
        self.question, self.method, self.task, self.models = question, method, task, models
        self.stage, self.budget = stage, budget
        self.ids, self.items, self.units, self.costs = list(ids), items, units, costs
        self.positions = {name: position for position, name in enumerate(self.ids)}
        self.asked: list[int] = []
        self.answers: dict[int, Label | None] = {}

    @classmethod
    def start(cls, pool: Pool, question: Question, method: Method, *, budget: float, seed: int) -> Session:
        """Plan and draw: the pool is read twice, and once more where items cannot matter.

        Raises
        ------
        InputError
            If the budget, a model, a measure or a part of the method does not fit the pool.
        """
        budget, question = check_budget(pool, budget), settle(pool, question)
        plan = make_plan(pool, question, method)
        stage = open_stage(pool, plan, method, budget=budget, seed=seed)
        return cls(
            question, method, pool.task, pool.models, stage, budget=budget, **drawn_columns(pool, stage.drawn.units)
        )

    def extend(self, pool: Pool, budget: float) -> None:
        """Raise the budget: the same order goes on, nothing asked so far changes.

        Raises
        ------
        InputError
            If the budget is not above the present one, or above the pool.
        """
        if not budget > self.budget:
            raise InputError(f"budget={budget:g} must be above the present one, {self.budget:g}")
        budget = check_budget(pool, budget)
        before, old = [self.ids[p] for p in self.asked], {self.ids[p]: label for p, label in self.answers.items()}
        plan = make_plan(pool, self.question, self.method)
        self.stage = open_stage(
            pool,
            plan,
            self.method,
            budget=budget,
            seed=self.stage.seed,
            number=self.stage.number,
            settings=self.stage.drawn.settings,
        )
        columns = drawn_columns(pool, self.stage.drawn.units)
        self.ids, self.items, self.units, self.costs = (columns[name] for name in ("ids", "items", "units", "costs"))
        self.positions = {name: position for position, name in enumerate(self.ids)}
        self.asked = [self.positions[name] for name in before]
        self.answers = {self.positions[name]: label for name, label in old.items()}
        self.budget = budget

    @property
    def pending(self) -> list[int]:
        """Positions asked for and not yet answered."""
        return [position for position in self.asked if position not in self.answers]

    @property
    def n_labels(self) -> int:
        """Distinct items labelled."""
        return sum(label is not None for label in self.answers.values())

    @property
    def spent(self) -> float:
        """Cost of the labels, or their number."""
        labelled = [position for position, label in self.answers.items() if label is not None]
        return float(len(labelled) if self.costs is None else self.costs[labelled].sum())

    @property
    def remaining(self) -> int:
        """Items that can still be asked for within the budget."""
        room = len(self.ids) - len(self.asked)
        return room if self.costs is not None else min(room, int(self.budget) - len(self.asked))

    @property
    def complete(self) -> bool:
        """Whether everything in the budget was asked for and answered."""
        return not self.remaining and not self.pending

    def ask(self, n: int | None = None) -> list[Any]:
        """Return ids to label: pending ones first, then the next of the draw.

        Parameters
        ----------
        n : int, optional
            How many; by default all that the budget still pays.
        """
        if n is not None and n < 1:
            raise InputError(f"ask for {n} items: the number must be positive")
        wanted = self.pending if n is None else self.pending[:n]
        count = self.remaining if n is None else min(n - len(wanted), self.remaining)
        fresh: list[int] = []
        for position in self._next(count):
            self.asked.append(position)
            fresh.append(position)
        return [self.ids[position] for position in (*wanted, *fresh)]

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

    def position(self, name: Any) -> int:
        """Return the position of a drawn item, by its id or the id's text.

        Raises
        ------
        LabelError
            If the item was never drawn: it has no probability, and its label cannot be used.
        """
        found = self.positions.get(name)
        if found is None:
            found = next((p for key, p in self.positions.items() if str(key) == str(name)), None)
        if found is None or found not in set(self.asked):
            raise LabelError(
                f"id {name!r} was never asked for: without a probability of being drawn its label cannot be used"
            )
        return found

    def tell(self, ids: Iterable[Any], labels: Iterable[Any], *, correct: bool = False) -> int:
        """Take labels; all of them or, if one is refused, none.

        Parameters
        ----------
        ids : iterable
            Ids that were asked for.
        labels : iterable
            Their labels; None is a skip.
        correct : bool
            Let a label replace an earlier, different one.

        Returns
        -------
        int
            Number of answers that are new or changed.

        Raises
        ------
        LabelError
            If an id was never asked for, a label is not allowed, or it contradicts an earlier one.
        """
        new = self.check(ids, labels, correct=correct)
        self.answers.update(new)
        return len(new)

    def check(self, ids: Iterable[Any], labels: Iterable[Any], *, correct: bool = False) -> dict[int, Label | None]:
        """Return what `tell` would take, position -> coded label, without taking it."""
        ids, labels = list(ids), list(labels)
        if len(ids) != len(labels):
            raise LabelError(f"there are {len(ids)} ids and {len(labels)} labels")
        lookup = {str(self.ids[p]): p for p in self.asked}
        new: dict[int, Label | None] = {}
        for name, label in zip(ids, labels, strict=True):
            position = lookup.get(str(name), -1)
            if position < 0:
                position = self.position(name)
            coded = code_label(label, self.task, self.models, name)
            known = new.get(position, self.answers.get(position))
            seen = position in new or position in self.answers
            same = repr(known) == repr(coded)  # by text: outcomes may hold NaN
            if seen and not same and known is not None and not (correct and position not in new):
                was, now = decode_label(known, self.task), decode_label(coded, self.task)
                raise LabelError(
                    f"id {name!r} is already labelled {was!r}, now {now!r}: pass correct=True to replace it"
                )
            if not seen or not same:
                new[position] = coded
        return new


def drawn_columns(pool: Pool, units: NDArray[np.int64]) -> dict[str, Any]:
    """Return the columns of a session for these units of a pool."""
    rows, at = pool.rows_of(units)
    first = units if pool.unit_rows is None else pool.unit_rows[units]
    costs = pool.unit_costs
    items = pool.items.take(rows)
    return {
        "ids": pool.ids[first].tolist(),
        "items": items,
        "units": at,
        "costs": None if costs is None else costs[units],
    }
