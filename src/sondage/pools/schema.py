"""What the columns of a table that stays where it is mean, as data that an engine can send to its workers.

Engines read such a table under names of their own, ``c0``, ``c1``, ..., so that no column's name enters a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures import Task
from sondage.core.predictions import Classes, Grades, Items, Means, Outputs

__all__ = ["Column", "Probabilities", "Schema", "Source"]

KINDS = ("int", "float", "text", "bool", "other")
NUMBERS = ("int", "float", "bool")


@dataclass(frozen=True)
class Column:
    """A column of the source: its place, its name, and what kind of values it has, one of `KINDS`."""

    place: int
    name: str
    kind: str

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
        Whether the ids' texts are hashed: ids that are not whole numbers, or not all of them positive.
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

    @property
    def unit(self) -> str:
        """Name of the column that tells units apart."""
        return "id" if self.group is None else "g"

    @property
    def columns(self) -> list[str]:
        """Names of the columns that make an item, `id` and `key` first."""
        names = ["id", "key"] + ["g"] * (self.group is not None)
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
            tuple(self._output(source, columns) for source in self.models),
            weights,
            columns["c"] if self.cost is not None else None,
            tuple(judge.probabilities.array(columns) for judge in self.judges if judge.probabilities),
            np.column_stack(features) if features else None,
        )

    def _output(self, source: Source, columns: Mapping[str, NDArray[Any]]) -> Outputs:
        told = None if source.probabilities is None else source.probabilities.array(columns)
        if self.task.kind == "classification":
            kind = np.uint8 if len(self.task.classes) <= 256 else np.int32
            return Classes(columns[source.code].astype(kind), told)
        if self.task.kind == "outcomes":
            return Grades(np.array(source.grades), told)
        return Means(columns[source.code], None if source.variance is None else columns[source.spread])
