"""What the columns of a table that stays where it is mean, as data that an engine can send to its workers.

Engines read such a table under names of their own, ``c0``, ``c1``, ..., so that no column's name enters a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures import Task
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Classes, Grades, Items, Means, Outputs, Ranks
from sondage.core.rankings import Documents, offsets_of
from sondage.pools.classes import code_type

__all__ = ["NAMES", "NUMBERS", "Column", "Lists", "Probabilities", "Schema", "Source", "Span"]

NUMBERS = ("int", "float", "bool")
NAMES = ("id", "group", "query", "document")
"""Columns of names, which stay what they are."""


@dataclass(frozen=True)
class Column:
    """A column of the source: its place, its name, and what kind of values it has: int, float, text, bool or other.

    `unsigned` tells whole numbers of which some may be 2^63 or more, `type` is what the engine calls its type.
    """

    place: int
    name: str
    kind: str
    unsigned: bool = False
    type: str = ""

    @property
    def described(self) -> str:
        """What messages call its values."""
        return self.kind if self.kind == "text" else self.type

    @property
    def raw(self) -> str:
        """Its name in queries."""
        return f"c{self.place}"


@dataclass(frozen=True)
class Probabilities:
    """Probabilities of k classes: k columns, or one of the second of two, or of the first (`first`).

    Those of a judge that names classes (`named`) all come from one column.
    """

    stem: str
    columns: tuple[Column, ...]
    first: bool = False
    named: bool = False

    @property
    def several(self) -> bool:
        """Whether every class has a column."""
        return len(self.columns) > 1

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names once they are checked and turned into numbers."""
        return tuple(f"{self.stem}_{number}" for number in range(len(self.columns)))

    @property
    def top(self) -> str:
        """Name of the probability of the most probable class."""
        return f"{self.stem}_top"

    @property
    def rest(self) -> str:
        """Name of the sum of the others."""
        return f"{self.stem}_rest"

    def of(self, label: int) -> str:
        """Return the probability of a class as an expression."""
        if len(self.columns) > 1:
            return self.names[label]
        return self.names[0] if label == 1 else f"(1e0 - {self.names[0]})"

    def array(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the probabilities of some rows, shape (n, k) or (n,)."""
        if len(self.columns) == 1:
            return columns[self.names[0]]
        return np.column_stack([columns[name] for name in self.names])


@dataclass(frozen=True)
class Source:
    """One model's columns, or a judge's; a judge that names classes has probabilities made of them."""

    number: int
    prediction: Column | None = None
    variance: Column | None = None
    probabilities: Probabilities | None = None
    grades: tuple[float, ...] = ()

    @property
    def code(self) -> str:
        """Name of the code of the predicted class, or of the mean."""
        return f"f{self.number}"

    @property
    def spread(self) -> str:
        """Name of the variance."""
        return f"v{self.number}"


@dataclass(frozen=True)
class Lists:
    """The columns of ranked lists, whose table has a row for each query and document.

    Attributes
    ----------
    document : Column
        Names of documents.
    ranks : tuple of Column
        Of every system.
    grades : Probabilities, optional
        Of the grade model.
    asked : (tuple of int, tuple of ListLoss), optional
        Models and statistics of a question: what they judge is kept. None keeps all documents.
    """

    document: Column
    ranks: tuple[Column, ...]
    grades: Probabilities | None
    asked: tuple[tuple[int, ...], tuple[ListLoss, ...]] | None = None


class Span(NamedTuple):
    """A query's documents: where they stand in a table of those of many queries."""

    table: NDArray[Any]
    start: int
    stop: int

    def alone(self) -> Span:
        """Return the documents in a table of their own."""
        return Span(self.table[self.start : self.stop].copy(), 0, self.stop - self.start)


@dataclass(frozen=True)
class Schema:
    """What is read of a table, and what it means.

    Attributes
    ----------
    task : Task
        The kind of labels, and the classes.
    id : Column
        Of the ids.
    models, judges : tuple of Source
        Their columns.
    features : tuple of Column
        Of the features, numbers.
    weight, cost : Column, optional
        Base weights and costs.
    fields : tuple of Column
        What is shown to the labeller.
    group : Column, optional
        Rows with the same value in it share a label.
    even : frozenset of str
        Stems of the probabilities that are divided by their sum.
    hashed : bool
        Whether the ids' texts are hashed: ids that are not whole numbers, or not all of them from 0 to 2^63 - 1.
    lists : Lists, optional
        What makes the items queries: `id` and `weight` are then theirs, `cost` that of a document.
    """

    task: Task
    id: Column
    models: tuple[Source, ...]
    judges: tuple[Source, ...]
    features: tuple[Column, ...]
    weight: Column | None
    cost: Column | None
    fields: tuple[Column, ...]
    group: Column | None = None
    even: frozenset[str] = frozenset()
    hashed: bool = False
    lists: Lists | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """All models and judges, and what grades documents."""
        graded = None if self.lists is None else self.lists.grades
        return (*self.models, *self.judges, *([] if graded is None else [Source(0, probabilities=graded)]))

    @property
    def unit(self) -> str:
        """Name of the column that tells units apart."""
        return "id" if self.group is None else "g"

    @property
    def read(self) -> list[str]:
        """Names of the columns that are read of each row of the table: those of an item, or of a document."""
        if self.lists is None:
            return self.columns
        names = ["id", "key", "d", *(f"r{number}" for number in range(len(self.lists.ranks)))]
        names += self.lists.grades.names if self.lists.grades else ()
        return names + ["w"] * (self.weight is not None) + ["c"] * (self.cost is not None)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that make an item, `id` and `key` first."""
        names = ["id", "key"] + ["g"] * (self.group is not None) + ["lists"] * (self.lists is not None)
        for source in self.models:
            names += [source.code] if self.task.kind != "outcomes" else []
            names += [source.spread] if source.variance is not None else []
        for source in (*self.models, *self.judges):
            names += source.probabilities.names if source.probabilities else ()
        names += [f"x{number}" for number in range(len(self.features))]
        return names + ["w"] * (self.weight is not None) + ["c"] * (self.cost is not None)

    def items(self, columns: Mapping[str, NDArray[Any]], weights: NDArray[Any]) -> Items:
        """Return rows as core reads them, from their columns and base weights."""
        features = [columns[f"x{number}"] for number in range(len(self.features))]
        return Items(
            tuple(self._output(source, columns) for source in self.models)
            if self.lists is None
            else self._ranks(columns),
            weights,
            columns["c"] if self.cost is not None else None,
            tuple(judge.probabilities.array(columns) for judge in self.judges if judge.probabilities),
            np.column_stack(features) if features else None,
        )

    def _output(self, source: Source, columns: Mapping[str, NDArray[Any]]) -> Outputs:
        told = None if source.probabilities is None else source.probabilities.array(columns)
        if self.task.kind == "classification":
            return Classes(columns[source.code].astype(code_type(len(self.task.classes))), told)
        if self.task.kind == "outcomes":
            return Grades(np.array(source.grades), told)
        return Means(columns[source.code], None if source.variance is None else columns[source.spread])

    def _ranks(self, columns: Mapping[str, NDArray[Any]]) -> tuple[Ranks, ...]:
        """Return every system's ranks of some queries."""
        assert self.lists is not None
        counts = [own.stop - own.start for own in columns["lists"]]
        every, table = np.arange(len(counts)), self._documents(columns["lists"])
        documents = Documents(
            offsets_of(counts),
            np.ascontiguousarray(table["name"]),
            len(self.task.grades),
            None if self.lists.grades is None else np.ascontiguousarray(table["p"]),
            costs=None if self.cost is None else np.ascontiguousarray(table["cost"]),
        )
        places = table["places"]
        return tuple(Ranks(documents, places[:, at].copy(), every) for at in range(len(self.lists.ranks)))

    def _documents(self, lists: NDArray[Any]) -> NDArray[Any]:
        """Return the documents of queries: without a copy where they are one table from beginning to end."""
        ends = len(lists) and lists[0].start == 0 and lists[-1].stop == len(lists[0].table)
        if ends and all(own.table is after.table and own.stop == after.start for own, after in pairwise(lists)):
            return np.asarray(lists[0].table)
        return np.concatenate([self.no_documents, *(own.table[own.start : own.stop] for own in lists)])

    @property
    def no_documents(self) -> NDArray[Any]:
        """What a query's documents are: names, systems' positions, probabilities of grades, costs; here none."""
        assert self.lists is not None
        name = "U1" if self.lists.document.kind == "text" else "u8" if self.lists.document.unsigned else "i8"
        kinds: list[Any] = [("name", name), ("places", "i4", (len(self.lists.ranks),))]
        kinds += [] if self.lists.grades is None else [("p", "f8", (len(self.task.grades),))]
        return np.empty(0, dtype=kinds + [("cost", "f8")] * (self.cost is not None))
