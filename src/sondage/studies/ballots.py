"""What people said of each item, and what follows: its label, or none yet.

A label counts until another one supersedes it: a correction, or taking it back. An item's label is what settled it, or
else the majority of those who did not skip it; for numbers their mean, for rankings each document's majority. Where no
answer has most votes the item is disputed, and pending until it is resolved.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sondage.core.measures import Task
from sondage.studies.labels import Label

__all__ = ["PENDING", "Ballots", "coded", "verdict"]

Row = Mapping[str, Any]

PENDING: Any = object()
"""In place of a label: there is none yet."""


def coded(label: Any, task: Task) -> Label | None:
    """Return a stored label as a session has it."""
    if label is None:
        return None
    if task.kind == "classification":
        return task.classes.index(label)
    if task.kind == "ranking":
        return tuple((document, task.grades.index(grade)) for document, grade in label.items())
    return tuple(label) if isinstance(label, list) else label


def verdict(labels: Sequence[Label | None], task: Task) -> Any:
    """Return the label that several people's labels make; None if all skipped, `PENDING` if there is no majority.

    Parameters
    ----------
    labels : sequence
        One coded label, or None for a skip, of each person.
    task : Task
        Of what kind they are.

    Examples
    --------
    >>> task = Task("classification", ("ham", "spam"))
    >>> verdict([1, 1, 0], task), verdict([1, None], task), verdict([1, 0], task) is PENDING
    (1, 1, True)
    """
    given = [label for label in labels if label is not None]
    if len(given) < 2:
        return PENDING if not labels else given[0] if given else None
    return _VERDICTS[task.kind](given)


def _majority(labels: Sequence[Any]) -> Any:
    (first, votes), *others = Counter(labels).most_common(2)
    return PENDING if others and others[0][1] == votes else first


def _mean(labels: Sequence[Any]) -> float:
    return float(np.mean(labels))


def _majorities(labels: Sequence[Any]) -> Any:
    """Return each system's majority among those who judged it."""
    votes = [[outcome for outcome in column if np.isfinite(outcome)] for column in zip(*labels, strict=True)]
    found = tuple(_majority(column) if column else float("nan") for column in votes)
    return PENDING if any(outcome is PENDING for outcome in found) else found


def _grades(labels: Sequence[Any]) -> Any:
    """Return each document's majority."""
    documents, votes = [document for document, _ in labels[0]], zip(*labels, strict=True)
    found = [_majority([code for _, code in column]) for column in votes]
    return PENDING if any(code is PENDING for code in found) else tuple(zip(documents, found, strict=True))


_VERDICTS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "classification": _majority,
    "regression": _mean,
    "outcomes": _majorities,
    "ranking": _grades,
}


class Ballots:
    """The labels of a study that count, by item.

    Parameters
    ----------
    task : Task
        Of what kind they are.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._items: dict[str, dict[int, Row]] = {}
        self.last = 0
        """Number of the last label read."""
        self.people: set[str] = set()
        """Everybody who gave a name."""

    def add(self, row: Row) -> None:
        """Take the next row of the table of labels."""
        self.last = row["number"]
        counted = self._items.setdefault(row["id"], {})
        counted.pop(row["supersedes"], None)
        if row["who"] is not None and row["kind"] == "label":
            self.people.add(row["who"])
        if row["kind"] != "undo":
            counted[row["number"]] = {**row, "label": coded(json.loads(row["label"]), self._task)}

    def of(self, item: str) -> list[Row]:
        """Return what people said of an item, as far as it counts, first to last."""
        return [row for row in self._items.get(item, {}).values() if row["kind"] == "label"]

    def resolution(self, item: str) -> Row | None:
        """Return what settled an item."""
        found = [row for row in self._items.get(item, {}).values() if row["kind"] == "resolution"]
        return found[-1] if found else None

    def label(self, item: str) -> Any:
        """Return an item's label, None for a skip, `PENDING` if there is none."""
        settled = self.resolution(item)
        return verdict([row["label"] for row in self.of(item)], self._task) if settled is None else settled["label"]

    def opinions(self, item: str) -> tuple[Label, ...]:
        """Return the labels that people gave an item, without skips."""
        return tuple(row["label"] for row in self.of(item) if row["label"] is not None)

    def items(self) -> list[str]:
        """Return the items that anybody said something of."""
        return list(self._items)

    def last_of(self, who: str) -> Row | None:
        """Return what a person said last, as far as it counts."""
        told = (row for counted in self._items.values() for row in counted.values())
        return max(
            (row for row in told if row["who"] == who and row["kind"] == "label"),
            key=lambda row: row["number"],
            default=None,
        )
