"""The items drawn, in the order of asking: which were asked for, and what was answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures import Task
from sondage.core.predictions import Items
from sondage.errors import LabelError
from sondage.studies.labels import Label, code_label, contradiction, label_array, paired, said_alike

__all__ = ["Sheet"]

NOT_DRAWN = "without a probability of being drawn its label cannot be used; labels from before the study go into start="
EXACT = 2.0**53
"""From here on a float stands for several whole numbers."""


class Sheet:
    """Items and their answers, by position.

    Attributes
    ----------
    task : Task
        Of what kind the labels are.
    models : tuple of str
        All models of the pool.
    asked_about : tuple of str
        Those that every label must tell the outcome of, where labels are the systems' own.
    ids : list
        Ids of the drawn items, stage by stage, in the order of asking.
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
    opinions : dict of int
        Position -> the coded labels of several people, where more than one labelled the item.
    labellers : int
        How many people, by name, have labelled.
    held : set of int
        Positions of pending items that are not to be given out: somebody is at work on them.
    """

    def __init__(self, task: Task, models: tuple[str, ...], columns: Mapping[str, Any] | None = None) -> None:
        self.task, self.models = task, models
        self.asked_about: tuple[str, ...] = ()
        self.asked: list[int] = []
        self.answers: dict[int, Label | None] = {}
        self.opinions: dict[int, tuple[Label, ...]] = {}
        self.labellers = 0
        self.held: set[int] = set()
        self._set(columns or {})

    def _set(self, columns: Mapping[str, Any]) -> None:
        """Take ids, items, units and costs of all drawn items."""
        self.ids: list[Any] = list(columns.get("ids", ()))
        self.items: Items = columns.get("items", Items((), np.empty(0)))
        self.units: NDArray[np.int64] | None = columns.get("units")
        self.costs: NDArray[np.float64] | None = columns.get("costs")
        self.positions = {name: position for position, name in enumerate(self.ids)}

    def _costs_of(self, count: int) -> float:
        return float(count if self.costs is None else self.costs[:count].sum())

    @property
    def pending(self) -> list[int]:
        """Positions asked for and not yet answered."""
        return [position for position in self.asked if position not in self.answers]

    @property
    def asked_ids(self) -> list[Any]:
        """Ids asked for, in order."""
        return [self.ids[position] for position in self.asked]

    @property
    def labelled(self) -> list[int]:
        """Positions asked for and labelled, not skipped, in order."""
        return [position for position in self.asked if self.answers.get(position) is not None]

    @property
    def labelled_ids(self) -> list[Any]:
        """Ids of the labelled items, in order."""
        return [self.ids[position] for position in self.labelled]

    @property
    def waiting(self) -> list[int]:
        """Pending positions that nobody holds."""
        return [position for position in self.pending if position not in self.held]

    @property
    def n_labels(self) -> int:
        """Distinct items labelled."""
        return sum(label is not None for label in self.answers.values())

    @property
    def spent(self) -> float:
        """Cost of the labels, or their number; summed in the order of asking, whatever was told first."""
        labelled = self.labelled
        return float(len(labelled) if self.costs is None else self.costs[labelled].sum())

    def rows(
        self, positions: NDArray[np.int64], answers: Mapping[int, Label | None] | None = None
    ) -> tuple[Items, NDArray[Any], NDArray[np.int64] | None]:
        """Return the rows of these positions, their labels, `NOT_YET` where one is missing, and each row's place."""
        answers = self.answers if answers is None else answers
        coded = label_array([answers.get(position) for position in positions.tolist()], self.task, len(self.models))
        if self.units is None:
            return self.items.take(positions), coded, None
        place = np.full(len(self.ids), -1, dtype=np.int64)
        place[positions] = np.arange(len(positions))
        rows = np.flatnonzero(place[self.units] >= 0)
        units = place[self.units[rows]]
        return self.items.take(rows), coded[units], units

    def documents(self, position: int) -> list[Any]:
        """Return the documents of a drawn query, all of which its label judges; nothing unless these are rankings."""
        if self.task.kind != "ranking":
            return []
        ranks: Any = self.items.models[0]
        found: list[Any] = ranks.documents.names_of(int(ranks.rows[position]))
        return found

    def located(self, names: Iterable[Any], *, labels: bool = False) -> list[int]:
        """Return the positions of items that were asked for, by their ids or the ids' texts.

        Raises
        ------
        LabelError
            If one was never asked for: it has no probability, and where these are ids of labels, that one cannot be
            used; if one is a rounded number.
        """
        asked, found = set(self.asked), []
        texts: dict[str, int] = {}
        for name in names:
            try:
                position = self.positions.get(name) if not isinstance(name, bool) else None  # to Python True is 1
            except TypeError:  # of a list, which is no id
                position = None
            if position is None:
                texts = texts or {str(known): place for known, place in self.positions.items()}
                position = texts.get(str(name))
            if position is None or position not in asked:
                why = f": {NOT_DRAWN}" if labels else ""
                raise LabelError(f"id {name!r} was never asked for{self._with_zeros(name)}{why}", ids=(name,))
            if isinstance(name, float) and abs(name) >= EXACT and not isinstance(self.ids[position], float):
                rule = "is a float, which may stand for other ids too: give whole numbers or texts"
                raise LabelError(f"id {float(name)!r} {rule}", ids=(name,))
            found.append(position)
        return found

    def _with_zeros(self, name: Any) -> str:
        """Return what to add where a spreadsheet took the zeros in front of an id that was asked for."""
        bare = str(name)
        known = (str(one) for one in self.asked_ids) if bare.isdecimal() else ()
        meant = next((one for one in known if one.lstrip("0") == bare.lstrip("0")), None)
        return "" if meant is None else f", {meant!r} was"

    def coded(self, position: int, label: Any, name: Any) -> Label | None:
        """Return the code of a drawn item's label, or raise `LabelError` about the item of this name."""
        documents = self.documents(position)
        return code_label(label, self.task, self.models, name=name, documents=documents, asked=self.asked_about)

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
        ids, labels = paired(ids, labels)
        new: dict[int, Label | None] = {}
        for name, position, label in zip(ids, self.located(ids, labels=True), labels, strict=True):
            coded = self.coded(position, label, name)
            known = new.get(position, self.answers.get(position))
            seen = position in new or position in self.answers
            same = said_alike(known, coded)
            if seen and not same and known is not None and not (correct and position not in new):
                raise contradiction(name, known, coded, self.task)
            if not seen or not same:
                new[position] = coded
        self.answers.update(new)
        return len(new)
