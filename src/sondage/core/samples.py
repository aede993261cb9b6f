"""What was labelled, with what probability, and what is known of the pool without labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.beliefs.columns import LEAST_TOLD
from sondage.core.comparisons import Contrast
from sondage.core.predictions import Classes, Floats, Items
from sondage.core.rankings import Ranks

__all__ = [
    "NOT_YET",
    "Expansion",
    "Known",
    "LabelledStage",
    "Sample",
    "SumKey",
    "bin_sums",
    "effective_number",
    "from_counts",
    "from_inclusion",
]


def bin_sums(bins: NDArray[np.int64], values: NDArray[Any], count: int) -> Floats:
    """Return the sum of the values in each of `count` bins."""
    return np.bincount(bins, weights=values, minlength=count).astype(np.float64, copy=False)


def effective_number(weights: Floats) -> float:
    r"""Return :math:`(\sum w)^2 / \sum w^2`, how many equal weights are worth as much (Kish 1965); 0 without any.

    Examples
    --------
    >>> effective_number(np.ones(4)), round(effective_number(np.array([3.0, 1.0])), 3)
    (4.0, 1.6)
    """
    square = float(np.sum(weights**2))
    return float(np.sum(weights)) ** 2 / square if square > 0 else 0.0


SumKey = tuple[str, int]
"""A statistic's name and a model's index, under which pool totals are kept."""

NOT_YET = -1
"""In place of the code of a label that is still to come; of numbers and outcomes that is NaN."""
CERTAIN = 1.0 - 1e-14
"""The probability from which on a unit is sure to be drawn."""


@dataclass(frozen=True, eq=False)
class Expansion:
    r"""How a sum over labelled units expands to the pool.

    Attributes
    ----------
    weights : ndarray of float, shape (n,)
        A pool total is estimated by :math:`\sum_u w_u t_u`: :math:`1/\pi_u`, or draws / (n q_u).
    spread : ndarray of float, shape (n,)
        The variance of that sum is estimated by :math:`\sum_u k_u t_u^2`: :math:`(1 - \pi_u)/\pi_u^2`, or
        draws / (n q_u)^2.
    strata : ndarray of int, shape (n,), optional
        Stratum of each unit; residuals are then centred within strata.
    left : ndarray of float, shape (K, n), optional
        Of K stages: the total over the units that none of them drew is :math:`\sum_u l_{ku} t_u` as stage k has it.
    fixed : bool
        Whether the number of draws was fixed, and with it, as far as sizes tell them, the sum: only `deviations` vary.
    """

    weights: Floats
    spread: Floats
    strata: NDArray[np.int64] | None = None
    left: Floats | None = None
    fixed: bool = False

    def deviations(self, totals: Floats) -> Floats:
        r"""Return the units' totals, shape (n,), by whose squares their expanded sum varies.

        Of independent draws these are the totals. Of a fixed number of draws each expects the same sum, so that
        (Hansen and Hurwitz 1943), with :math:`q_u \propto w_u / k_u`, it is :math:`t_u - q_u \sum_v w_v t_v`.

        References
        ----------
        M. H. Hansen and W. N. Hurwitz, On the theory of sampling from finite populations, Annals of Mathematical
        Statistics, 1943, 333-362.

        Examples
        --------
        >>> from_counts(np.array([1, 3]), np.array([0.25, 0.5])).deviations(np.array([1.0, 2.0])).tolist()
        [0.0, 0.0]
        """
        uncertain = self.spread > 0
        if not (self.fixed and uncertain.any()):
            return totals
        sizes = np.divide(self.weights, self.spread, out=np.zeros_like(self.spread), where=uncertain)
        return np.asarray(totals - sizes * np.sum(self.weights * totals) / np.sum(self.weights * sizes))

    def rest(self, totals: Floats) -> Floats:
        r"""Return totals over the units that no stage drew, shape (...), from those of drawn ones, shape (..., n).

        Stage k tells of :math:`R_k = \sum_u l_{ku} t_u`, with the variance :math:`\sum_u l_{ku} (l_{ku} + 1) t_u^2`. It
        is weighed by the square of what it saw of the total over this variance and one unit's, the largest: a stage
        that drew nothing of the total knows nothing of the rest.

        Examples
        --------
        >>> left = np.array([[3.0, -1.0], [0.0, 1.0]])  # of four units the first stage drew one, of the rest the second
        >>> Expansion(np.ones(2), np.zeros(2), left=left).rest(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
        [3.0, 1.0]
        """
        if self.left is None:
            return np.zeros(totals.shape[:-1])
        _, unit = np.frexp(np.max(np.abs(totals), initial=0.0))  # without which squares of squares leave the range
        totals = np.ldexp(totals, -unit)
        noise = np.square(totals) @ (self.left * (self.left + 1.0)).T + np.max(totals, axis=-1, keepdims=True) ** 2
        weights = np.square(totals @ (self.left > 0).T) / np.where(noise > 0, noise, 1.0)
        total = weights.sum(axis=-1)
        found = np.sum(weights * (totals @ self.left.T), axis=-1) / np.where(total > 0, total, 1.0)
        return np.asarray(np.ldexp(np.maximum(found, 0.0), unit))

    @property
    def inclusion(self) -> Floats:
        r"""The probability of each unit, :math:`\pi_u`, that has this spread, shape (n,)."""
        return np.asarray(2.0 / (1.0 + np.sqrt(1.0 + 4.0 * self.spread)))


def from_inclusion(inclusion: Floats) -> Expansion:
    r"""Return the expansion of units taken with these probabilities, independently given :math:`\tau`.

    What keeps a probability from 1 by less than 1e-14 is rounding: such a unit is certain.

    Examples
    --------
    >>> from_inclusion(np.array([0.5, 1.0, 1.0 - 1e-15])).spread.tolist()
    [2.0, 0.0, 0.0]
    """
    chance = np.where(inclusion > CERTAIN, 1.0, inclusion)
    return Expansion(1.0 / chance, (1.0 - chance) / chance**2)


def from_counts(counts: NDArray[Any], probability: Floats) -> Expansion:
    """Return the expansion of units drawn with replacement this often, with these draw probabilities q.

    Examples
    --------
    >>> from_counts(np.array([1, 3]), np.array([0.25, 0.5])).weights.tolist()
    [1.0, 1.5]
    """
    draws = counts.sum()
    return Expansion(counts / (draws * probability), counts / (draws * probability) ** 2, fixed=True)


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled rows.

    Attributes
    ----------
    items : Items
        What the models say of them.
    labels : ndarray, shape (n,) or (n, M)
        Class codes, numbers, or one outcome for each system; `NOT_YET` or NaN where a label is still to come.
    expansion : Expansion
        Of the units.
    units : ndarray of int, shape (n,), optional
        Unit of each row, where rows share a label; None where each row is its own unit.
    """

    items: Items
    labels: NDArray[Any]
    expansion: Expansion
    units: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """Number of labelled units."""
        return len(self.expansion.weights)

    @property
    def row_weights(self) -> Floats:
        """Base weight times expansion, for every row."""
        return np.asarray(self.items.weights * self.of_rows(self.expansion.weights))

    @property
    def unit_expanded(self) -> Floats:
        """Base weight times expansion, for every unit, shape (U,)."""
        return self.unit_sums(self.row_weights)

    @property
    def together(self) -> float:
        """How many times its variance the sum of a constant over the pool has, since rows of a unit come together."""
        if self.units is None:
            return 1.0
        weights = self.row_weights
        return float(np.sum(self.unit_sums(np.sqrt(weights)) ** 2) / np.sum(weights))

    @cached_property
    def to_come(self) -> NDArray[np.bool_]:
        """Which rows have no label yet, shape (n,); of a query without documents nothing is to come."""
        missing = np.isnan(self.labels) if self.labels.dtype.kind == "f" else self.labels == NOT_YET
        found = missing if missing.ndim == 1 else missing.all(axis=1)
        lists = self.items.models[0] if self.items.models else None
        return np.asarray(found & (lists.counts > 0) if isinstance(lists, Ranks) else found)

    @cached_property
    def answered(self) -> tuple[NDArray[np.int64], Items]:
        """The places of the rows that have a label, and these rows."""
        there = np.flatnonzero(~self.to_come)
        return there, self.items if len(there) == len(self.items) else self.items.take(there)

    @cached_property
    def unit_base(self) -> Floats:
        """Base weight of each unit, the sum of its rows', shape (U,)."""
        return self.unit_sums(np.asarray(self.items.weights, dtype=np.float64))

    def of_rows(self, of_units: NDArray[Any]) -> NDArray[Any]:
        """Return a unit's value for each of its rows."""
        return of_units if self.units is None else of_units[self.units]

    def unit_sums(self, of_rows: Floats) -> Floats:
        """Return the sums over each unit's rows, shape (..., U) of shape (..., n)."""
        units, count = self.units, self.size
        if units is None:
            return of_rows
        return np.asarray(np.apply_along_axis(lambda row: bin_sums(units, row, count), -1, of_rows))

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """The first row of each unit, shape (n,)."""
        return np.arange(self.size) if self.units is None else np.unique(self.units, return_index=True)[1]

    @property
    def unit_labels(self) -> NDArray[Any]:
        """The label of each unit, shape (U,) or (U, M)."""
        return self.labels[self.first_rows]

    @cached_property
    def unit_items(self) -> Items:
        r"""What is said of the label of each unit: its rows' class probabilities pooled, and else its first row.

        Pooled as judges are, by the mean of the rows' log odds: rows that agree are as sure as they are, and what more
        several say than one is for a calibration to tell.
        """
        if self.units is None:
            return self.items
        items, models = self.items.take(self.first_rows), list(self.items.models)
        for place, (whole, own) in enumerate(zip(self.items.models, items.models, strict=True)):
            models[place] = own
            if isinstance(whole, Classes) and isinstance(own, Classes) and whole.probabilities is not None:
                models[place] = replace(own, probabilities=_pooled(whole.probabilities, self.units, self.size))
        judges = tuple(_pooled(judge, self.units, self.size) for judge in self.items.judges)
        return replace(items, models=tuple(models), judges=judges)


def _pooled(probabilities: NDArray[Any], units: NDArray[np.int64], count: int) -> Floats:
    """Return each unit's class probabilities, the mean of its rows' logarithms over its sum: (n, k) or (n,)."""
    columns = probabilities.T if probabilities.ndim == 2 else np.stack([1.0 - probabilities, probabilities])
    logs = [bin_sums(units, np.log(np.maximum(column, LEAST_TOLD)), count) for column in columns.astype(np.float64)]
    mean = np.exp(np.stack(logs, axis=1) / np.bincount(units, minlength=count)[:, None])
    mean /= mean.sum(axis=1, keepdims=True)
    return np.asarray(mean if probabilities.ndim == 2 else mean[:, 1])


@dataclass(frozen=True, eq=False)
class Known:
    r"""What is known of the whole pool without a label.

    Attributes
    ----------
    share : float
        Base weight of the items that could be drawn, in (0, 1].
    belief : Belief
        The belief under which the sums were taken.
    expected : mapping (statistic's name, model) -> ndarray
        Believed pool totals of an item statistic for a model; empty where unknown.
    outside : mapping (statistic's name, model) -> ndarray
        The same over the items that could not be drawn; empty where all could.
    squared : float
        :math:`\sum_i b_i^2`, for a population as the target.
    immovable : bool
        Whether no label still to come can move what was asked for: an estimator that knows these sums needs none.
    """

    share: float
    belief: Belief | None
    expected: Mapping[SumKey, Floats]
    outside: Mapping[SumKey, Floats]
    squared: float
    immovable: bool = False

    @property
    def all_drawable(self) -> bool:
        """Whether every item could be drawn, but for rounding."""
        return self.share > 1.0 - 1e-9

    def means_of(self, contrast: Contrast) -> dict[int, Floats]:
        """Return the believed pool means that a contrast is made of, model -> mean."""
        name = contrast.functional.basis.name
        return {model: self.expected[name, model] for model in contrast.models}


@dataclass(frozen=True, eq=False)
class LabelledStage:
    """One stage of a draw: its labelled sample, and what was known of the pool.

    Attributes
    ----------
    sample : Sample
        The stage's labelled rows.
    known : Known
        Pool sums, those labelled in earlier stages as they are.
    unfinished : bool
        Whether more of the stage is to come. The surest of its items come first.
    equal : bool
        Whether its items were drawn with equal chances, whatever was believed of them.
    """

    sample: Sample
    known: Known
    unfinished: bool = False
    equal: bool = False

    @property
    def n_labels(self) -> float:
        r"""How many labels the stage is weighed by.

        Items that a stage was to have beyond doubt come first, and tell nothing of others. So an unfinished one counts
        in proportion to the share of the pool that its labels stand for, and to :math:`\sum_u (1 - \pi_u)`, the
        number of them that might have been others, up to 1 each.
        """
        sample, share = self.sample, self.known.share
        if not (self.unfinished and share > 0):
            return float(sample.size)
        standing, others = float(np.sum(sample.row_weights)) / share, float(np.sum(1.0 - sample.expansion.inclusion))
        return sample.size * min(standing, 1.0) * min(others, 1.0)
