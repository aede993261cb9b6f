"""How far labellers agree, on the items that several of them labelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures import Task
from sondage.errors import InputError
from sondage.studies.labels import Label, label_array

__all__ = ["Agreement", "agreement_of"]

Given = Mapping[str | None, Label]
"""What each person said of one item."""


@dataclass(frozen=True)
class Agreement:
    """How far labellers agree.

    Attributes
    ----------
    n_items : int
        Items with labels of two people or more.
    same : float
        Share of the pairs of labels of one item that are the same, in [0, 1]; NaN without items.
    alpha : float
        Krippendorff's alpha: 1 is perfect agreement, 0 is what chance gives; of classes nominal, of numbers,
        outcomes and grades by their squared difference. NaN where nothing can be told: no item has two labels, or
        all labels are the same.
    kappas : dict of (str, str) to float
        Cohen's kappa of every two people who labelled the same items; of classes only. None is who gave no name.
    """

    n_items: int
    same: float
    alpha: float
    kappas: dict[tuple[str | None, str | None], float]


def agreement_of(items: Iterable[Given], task: Task) -> Agreement:
    """Return how far people agree.

    Parameters
    ----------
    items : iterable of mapping
        For each item who said what, coded, without skips.
    task : Task
        Of what kind the labels are.

    Raises
    ------
    InputError
        If the packages that compute it are not installed.
    """
    several = [given for given in items if len(given) > 1]
    pairs = [(repr(a), repr(b)) for given in several for a, b in combinations(given.values(), 2)]
    people = sorted({who for given in several for who in given}, key=lambda who: (who is None, who or ""))
    same = float(np.mean([first == second for first, second in pairs])) if pairs else float("nan")
    kappas = {}
    if task.kind == "classification":
        for first, second in combinations(people, 2):
            common = [(given[first], given[second]) for given in several if first in given and second in given]
            if common:
                kappas[first, second] = _kappa(*zip(*common, strict=True))
    return Agreement(len(several), same, _alpha(_table(several, people, task), task), kappas)


def _table(several: list[Given], people: list[Any], task: Task) -> NDArray[np.float64]:
    """Return what each person said of each item, system or document; NaN for nothing."""
    labels = label_array([label for given in several for label in given.values()], task).astype(np.float64)
    if task.kind == "ranking":
        labels[labels < 0] = np.nan  # beyond a query's documents
    table = np.full((len(people), len(several), labels[0].size if len(labels) else 1), np.nan)
    rows = iter(labels)
    for column, given in enumerate(several):
        for who in given:
            table[people.index(who), column] = next(rows)
    return table.reshape(len(people), -1) if several else np.empty((0, 0))


def _alpha(table: NDArray[np.float64], task: Task) -> float:
    if len(np.unique(table[np.isfinite(table)])) < 2:
        return float("nan")
    with _installed():
        from krippendorff import alpha
    nominal = task.kind == "classification"
    return float(alpha(reliability_data=table, level_of_measurement="nominal" if nominal else "interval"))


def _kappa(first: Any, second: Any) -> float:
    if len({*first, *second}) < 2:
        return float("nan")
    with _installed():
        from sklearn.metrics import cohen_kappa_score
    return float(cohen_kappa_score(first, second))


@contextmanager
def _installed() -> Iterator[None]:
    """Say what is missing."""
    try:
        yield
    except ModuleNotFoundError:
        raise InputError("how far people agree needs two packages: pip install 'sondage[agreement]'") from None
