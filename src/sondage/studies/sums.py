"""What of the pool is summed up before a draw: the asked as they were labelled, the rest as it is believed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Contrast, Sums, believed_totals
from sondage.core.contenders import Standing
from sondage.core.measures import Functional
from sondage.core.measures.bases import Basis, Confusion
from sondage.core.predictions import Floats, Items
from sondage.core.samples import SumKey
from sondage.pools import Pool
from sondage.pools.results import RowChoice

__all__ = ["Past", "PoolSums", "calibrated", "carried_totals"]


@dataclass(frozen=True, eq=False)
class Past:
    """What earlier stages asked for.

    Attributes
    ----------
    rest : choice of rows
        Those that were not asked for.
    answered : Items
        Labelled rows.
    labels : ndarray, shape (n,) or (n, M)
        Their labels.
    units : ndarray of int, shape (n,), or None
        Which of them share a label.
    unanswered : Items
        Rows asked for and pending or skipped.
    standing : Standing, optional
        Of several models: what these labels say of them.
    """

    rest: RowChoice
    answered: Items
    labels: NDArray[Any]
    units: NDArray[np.int64] | None
    unanswered: Items
    standing: Standing | None = None

    @property
    def n_labels(self) -> int:
        """How many labels there are; rows that share one count once."""
        return len(self.labels) if self.units is None else len(np.unique(self.units))


def calibrated(belief: Belief, items: Items, labels: NDArray[Any], units: NDArray[np.int64] | None) -> Belief:
    """Return the belief calibrated on labelled rows; of rows that share a label on the first."""
    if units is not None:
        first = np.unique(units, return_index=True)[1]
        items, labels = items.take(first), labels[first]
    return belief.calibrated(items, labels)


class PoolSums:
    """Believed pool sums, each computed once; those of the uninformed belief without a pass where that can be."""

    def __init__(
        self,
        pool: Pool,
        models: tuple[int, ...],
        functionals: tuple[Functional, ...],
        belief: Belief,
        uninformed: Belief,
        past: Past | None,
    ) -> None:
        self.pool, self.models, self.belief, self.uninformed, self.past = pool, models, belief, uninformed, past
        self.bases = {functional.basis.name: functional.basis for functional in functionals}
        self._sums: dict[Belief, dict[SumKey, Floats]] = {}
        self._whole: dict[Belief, dict[SumKey, Floats]] = {}

    def rest(self, belief: Belief) -> dict[SumKey, Floats]:
        """Return the sums over what was not asked for yet."""
        if belief not in self._sums:
            rows = None if self.past is None else self.past.rest
            requests = [(basis, self.models) for basis in self.bases.values()]
            self._sums[belief] = self.pool.believed(requests, belief, rows)
        return self._sums[belief]

    def of(self, belief: Belief) -> dict[SumKey, Floats]:
        """Return the sums over the whole pool, labelled items as they are."""
        rest, past = self.rest(belief), self.past
        if past is None:
            return rest
        if belief not in self._whole:
            self._whole[belief] = {key: rest[key] + total for key, total in self._asked(past, belief).items()}
        return self._whole[belief]

    def _asked(self, past: Past, belief: Belief) -> dict[SumKey, Floats]:
        return carried_totals(self.bases.values(), self.models, belief, past.answered, past.labels, past.unanswered)

    def expect(self, contrast: Contrast, belief: Belief) -> Sums:
        """Return the believed pool means of a contrast; the first of another statistic takes a pass of its own."""
        basis = contrast.functional.basis
        if basis.name not in self.bases:
            self.bases[basis.name] = basis
            self._sums.clear()
            self._whole.clear()
        if belief is self.uninformed and isinstance(basis, Confusion):
            sums = self.of(self.belief)
            return {model: basis.evened(sums[basis.name, model]) for model in contrast.models}
        sums = self.of(belief)
        return {model: sums[basis.name, model] for model in contrast.models}


def carried_totals(
    bases: Iterable[Basis],
    models: Iterable[int],
    belief: Belief | None,
    answered: Items,
    labels: NDArray[Any],
    unanswered: Items,
) -> dict[SumKey, Floats]:
    """Return the pool totals of rows asked for: the labelled as they are, the others as they are believed.

    Parameters
    ----------
    bases, models : iterable
        Of which item statistics, and of which models.
    belief : Belief, optional
        Without one the others are left out.
    answered : Items
        Labelled rows.
    labels : ndarray, shape (n,) or (n, M)
        Their labels.
    unanswered : Items
        Rows that are pending or were skipped.
    """
    totals: dict[SumKey, Floats] = {}
    models = tuple(models)
    for basis in bases:
        for model in models:
            totals[basis.name, model] = np.asarray(basis.totals(answered, model, labels, answered.weights))
        if len(unanswered) and belief is not None:
            for model, total in believed_totals(basis, models, belief, unanswered, unanswered.weights).items():
                totals[basis.name, model] = totals[basis.name, model] + total
    return totals
