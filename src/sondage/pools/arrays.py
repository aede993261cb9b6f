"""A pool in memory: NumPy arrays, read in blocks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.blocks import row_blocks
from sondage.core.comparisons import Influence, believed_totals
from sondage.core.designs import Design, Term, matters
from sondage.core.measures import Measure, settled
from sondage.core.measures.bases import Basis
from sondage.core.predictions import (
    Classes,
    Classifier,
    Floats,
    Grades,
    Items,
    Means,
    Outcome,
    Outputs,
    Ranking,
    Ranks,
    Regressor,
)
from sondage.core.samples import SumKey, bin_sums
from sondage.core.urns import ArrayUrn, Prices, Urn
from sondage.errors import InputError, SondageWarning
from sondage.pools.coding import (
    as_column,
    check_ids,
    code_models,
    code_units,
    floats,
    positive_column,
)
from sondage.pools.fingerprints import digest_of, row_hashes, side_of
from sondage.pools.listings import document_field
from sondage.pools.parts import Filled, Profile, Taken, Undrawn
from sondage.pools.rankings import Listed, code_rankings
from sondage.pools.side import check_judges, code_features, code_judges

__all__ = ["Pool"]

Result = TypeVar("Result")


class Pool:
    """Unlabelled items with what one or several models say of them.

    Parameters
    ----------
    probabilities : array-like of float, shape (N, k) or (N,), optional
        Class probabilities of the one classifier; (N,) is the probability of the second of two classes.
    predictions : array-like, shape (N,), optional
        Its predicted classes; by default the first most probable class.
    means, variances : array-like of float, shape (N,), optional
        Predictions and predictive variances of the one regressor.
    models : mapping of str to Classifier, Regressor, Outcome or Ranking, optional
        Several models, or one with a name, in place of the above.
    classes : sequence, optional
        The classes in the order of the columns; by default 0 .. k-1, or those predicted. Of rankings the relevance
        grades, ascending.
    judge : array-like, shape (N, k) or (N,), or mapping of str to array-like, optional
        A proxy's class probabilities, or the classes that it names; several by name. Makes the belief, never the
        truth, and labels tell how far to believe it.
    ids : array-like, shape (N,), optional
        Unique names of the items, of any type; by default the row numbers.
    costs : array-like of float, shape (N,), optional
        Cost of each label, positive; a budget is then a cost.
    weights : array-like of float, shape (N,), optional
        Base weights, positive, on any scale: a pool that is itself a weighted sample.
    groups : array-like, shape (N,), optional
        Rows of equal group share one label, asked once and paid once.
    fields : mapping of str to array-like, optional
        Columns to show to the labeller.
    features : array-like of float, shape (N, d), optional
        Numbers that may tell where the models err: embeddings, columns of a table. Labels tell whether they do.
    queries, documents : array-like, shape (D,), optional
        Of rankings, whose items are queries: the long table that `Ranking.ranks` and `grades` have a row for each of.
        `costs` are then those of judging each document, and a query costs what its documents do that a question needs;
        `fields` may be of queries, in their order of appearance, or of the table's rows.
    grades : array-like of float, shape (D, G), or mapping, optional
        Of rankings: a grade model's probabilities; with lists query -> document -> probabilities. Without them the
        grades are named with `classes`, and all are equally likely before labels tell.

    Attributes
    ----------
    judges : tuple of str
        Names of the judges.
    source : str or None
        Absolute path of the file or files it was read from, and `reading`, the options it was read with.

    Raises
    ------
    InputError
        If an array has the wrong shape, a value is not allowed, or an id stands twice; the message names the
        value and its row.

    Examples
    --------
    >>> pool = Pool(probabilities=[0.1, 0.9, 0.4], classes=["ham", "spam"], ids=["a", "b", "c"])
    >>> pool
    <Pool: 3 items, 1 model, classification ['ham', 'spam']>
    """

    def __init__(
        self,
        probabilities: Any = None,
        classes: Any = None,
        predictions: Any = None,
        ids: Any = None,
        costs: Any = None,
        weights: Any = None,
        *,
        means: Any = None,
        variances: Any = None,
        models: Mapping[str, Classifier | Regressor | Outcome | Ranking] | None = None,
        judge: Any = None,
        groups: Any = None,
        fields: Mapping[str, Any] | None = None,
        features: Any = None,
        queries: Any = None,
        documents: Any = None,
        grades: Any = None,
    ) -> None:
        given = _one_kind(probabilities, predictions, means, variances, models)
        self.listed: Listed | None = None
        self.asked_by: tuple[str, ...] | None = None
        if any(isinstance(model, Ranking) for model in given.values()):
            _no_others(judge=judge, groups=groups, features=features)
            table = {"grades": grades, "queries": queries, "documents": documents}
            self.listed = code_rankings(given, classes, ids=ids, costs=costs, **table)
            ids, costs = self.listed.queries, self.listed.costs
        else:
            _no_others(" is for rankings", queries=queries, documents=documents, grades=grades)
        checked = None if ids is None else np.asarray(ids, dtype=object) if isinstance(ids, list) else ids
        where = _namer(checked)
        judges = check_judges(judge, where)
        outputs: tuple[Outputs, ...]
        if self.listed is not None:
            self.task, outputs, size = self.listed.task, self.listed.outputs, len(self.listed.queries)
        else:
            self.task, outputs, size = code_models(given, classes, tuple(judges.values()), where)
        size = self._outcome_size(size, ids, costs, weights)
        self.models, self.judges = tuple(given), tuple(judges)
        self.ids, self.keys = check_ids(ids, size)
        self.items = Items(
            outputs,
            _base_weights(weights, size, where),
            None if costs is None else positive_column(costs, "cost", size, where),
            code_judges(judges, self.task.classes, size, where),
            code_features(features, size, where),
        )
        self.fields = {name: self._field(name, column, size) for name, column in (fields or {}).items()}
        self.source: str | None = None
        self.reading: dict[str, Any] = {}
        self._units: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        if groups is not None:
            self._units = code_units(groups, size, self.keys)

    def _field(self, name: str, values: Any, size: int) -> NDArray[Any]:
        """Return a column to show; of rankings' documents a mapping for each query."""
        listed = self.listed
        if listed is None or listed.order is None or len(values) == size:
            return as_column(values, f"field {name!r}", size)
        return document_field(as_column(values, f"field {name!r}", len(listed.order)), listed)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        count = f"{len(self.models)} model{'s' if len(self.models) > 1 else ''}"
        detail = f" {list(self.task.classes)}" if self.task.classes else ""
        if self.listed is not None:
            detail = f" of {len(self.listed.outputs[0].positions):,} documents"
        return f"<Pool: {len(self):,} items, {count}, {self.task.kind}{detail}>"

    @staticmethod
    def _outcome_size(size: int, *columns: Any) -> int:
        """Return the number of rows where no output tells it: outcomes without judges."""
        if size >= 0:
            return size
        for column in columns:
            if column is not None:
                return len(column)
        raise InputError("outcomes without a judge do not say how many items there are: give ids=")

    def load(self) -> Pool:
        """Return the pool in memory: itself."""
        return self

    @property
    def outline(self) -> Items:
        """Some rows, which tell what the pool says of each: here all."""
        return self.items

    @property
    def all_rows(self) -> Any:
        """The choice of all rows."""
        return np.ones(len(self), dtype=np.bool_)

    @property
    def equal_weights(self) -> bool:
        """Whether all rows have the same base weight."""
        weights = self.items.weights
        return weights.strides[0] == 0 or bool(np.ptp(weights) <= 1e-12 * weights[0])

    @property
    def squared_weights(self) -> float:
        r"""The sum of squares of the base weights, :math:`\sum_i b_i^2`."""
        weights = self.items.weights
        return float(np.sum(np.square(weights))) if weights.strides[0] else 1.0 / len(self)

    @property
    def prices(self) -> Prices | None:
        """What the labels cost: all, the cheapest, the dearest; None where every label costs 1."""
        costs = self.unit_costs
        return None if costs is None else Prices(float(costs.sum()), float(costs.min()), float(costs.max()))

    def only(self, rows: NDArray[np.bool_]) -> Pool:
        """Return a pool of these rows: ids, and with them the numbers of a draw, stay; base weights sum to 1 again."""
        part, weights = copy(self), self.items.weights
        part.ids, part.keys = self.ids[rows], self.keys[rows]
        size, where = len(part), _namer(part.ids)
        given = _base_weights(weights[rows] if weights.strides[0] else None, size, where)
        part.items = replace(self.items.take(rows), weights=given)
        part.fields = {name: column[rows] for name, column in self.fields.items()}
        part.source, part.reading = None, {}
        part._units = None if self._units is None else code_units(self._units[0][rows], size, part.keys)
        return part

    def model(self, name: str) -> int:
        """Return a model's index, or raise `InputError` naming those there are."""
        if name not in self.models:
            raise InputError(f"no model {name!r} in the pool; there are {list(self.models)}")
        return self.models.index(name)

    @property
    def unit_of_row(self) -> NDArray[np.int64] | None:
        """Unit of each row, shape (N,), where rows share labels; None where each row is a unit."""
        return None if self._units is None else self._units[0]

    @property
    def n_units(self) -> int:
        """Number of items that can be labelled: rows, or groups."""
        return len(self) if self._units is None else len(self._units[1])

    @property
    def unit_keys(self) -> NDArray[np.int64]:
        """Hash keys of the units."""
        return self.keys if self._units is None else self.keys[self._units[1]]

    @property
    def unit_costs(self) -> Floats | None:
        """Cost of each unit's label, the largest of its rows'; None where labels cost 1."""
        if self.items.costs is None:
            return None
        if self._units is None:
            return floats(self.items.costs)
        costs = np.zeros(self.n_units)
        np.maximum.at(costs, self._units[0], self.items.costs)
        return costs

    def rows_of(self, units: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return all rows of these units, and for each row the position of its unit; None where they are the rows."""
        if self._units is None:
            return units, None
        position = np.full(self.n_units, -1, dtype=np.int64)
        position[units] = np.arange(len(units))
        rows = np.flatnonzero(position[self._units[0]] >= 0)
        at = position[self._units[0][rows]]
        order = np.argsort(at, kind="stable")
        return rows[order], at[order]

    def without(self, units: NDArray[np.int64]) -> Any:
        """Return the choice of all rows but those of these units."""
        rest = self.all_rows
        rest[self.rows_of(units)[0]] = False
        return rest

    def taken(self, units: NDArray[np.int64]) -> Taken:
        """Return what the pool says of these units."""
        rows, at = self.rows_of(units)
        costs = self.unit_costs
        return Taken(self._ids_of(units), self.items.take(rows), at, None if costs is None else costs[units])

    def shown(self, units: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the fields of these units, for the labeller."""
        rows = units if self._units is None else self._units[1][units]
        return {name: column[rows] for name, column in self.fields.items()}

    def units_of(self, names: list[Any], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the units of these ids; `before` are those they had when rows may have been in another order."""
        if before.max(initial=0) < self.n_units and self._ids_of(before) == names:
            return before
        rows = self.rows_by_id()(names)
        return rows if self._units is None else self._units[0][rows]

    def _ids_of(self, units: NDArray[np.int64]) -> list[Any]:
        names: list[Any] = self.ids[units if self._units is None else self._units[1][units]].tolist()
        return names

    def rows_by_id(self) -> Callable[[Sequence[Any]], NDArray[np.int64]]:
        """Return a function from ids to rows."""
        if self.ids.dtype.kind in "iu":
            order = np.argsort(self.ids)
            return lambda names: order[np.searchsorted(self.ids, np.asarray(names), sorter=order)]
        rows = {name: row for row, name in enumerate(self.ids.tolist())}
        return lambda names: np.array([rows[name] for name in names], dtype=np.int64)

    def blocks(self) -> Iterator[tuple[slice, Items]]:
        """Yield slices of rows and the items in them, as views."""
        features = self.items.features
        width = max([1 if features is None else features.shape[1], *(_width(output) for output in self.items.models)])
        for part in row_blocks(len(self), width):
            yield part, self.items.take(part)

    def believed(
        self, requests: Iterable[tuple[Basis, Sequence[int]]], belief: Belief, rows: NDArray[np.bool_] | None = None
    ) -> dict[SumKey, Floats]:
        """Return believed totals for every (basis, models): the first pass over the pool.

        Parameters
        ----------
        requests : iterable of (Basis, sequence of int)
            Statistics and models wanted.
        belief : Belief
            Distribution of the labels.
        rows : ndarray of bool, shape (N,), optional
            Sum over these rows only.
        """
        wanted = list(requests)
        totals: dict[SumKey, Floats] = {}
        for part, items in self.blocks():
            if rows is not None:
                items = items.take(rows[part])
            for basis, models in wanted:
                for model, total in believed_totals(basis, models, belief, items, items.weights).items():
                    key = (basis.name, model)
                    totals[key] = totals[key] + total if key in totals else np.asarray(total)
        return totals

    def relevant(self, influences: Sequence[Influence], belief: Belief) -> NDArray[np.bool_]:
        """Return whether any allowed label of the row moves any of these influences, bool (N,)."""
        mask = np.zeros(len(self), dtype=np.bool_)
        for part, items in self.blocks():
            for influence in influences:
                mask[part] |= matters(influence, belief, items)
                if mask[part].all():
                    break
        return mask

    def sizes(
        self, design: Design, relevant: NDArray[np.bool_] | None, rest: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return every unit's size, summing to 1: the second pass over the pool.

        Parameters
        ----------
        design : Design
            Terms, shares and floor.
        relevant : ndarray of bool, shape (N,), optional
            Rows over which the floor is spread; None for all.
        rest : ndarray of bool, shape (N,), optional
            Rows that can be drawn at all; None for all.
        """
        total: Floats | None = None
        for share, term in design.terms:
            column = self.column(term)
            if rest is not None:
                column *= rest
            mass = float(column.sum())
            if mass > 0:
                column *= share * (1.0 - design.floor) / mass
                total = column if total is None else np.add(total, column, out=total)
            del column  # before the next one is made
        if total is None and design.floor < 1:
            message = f"design {design.name!r}: by the belief nothing is uncertain; the draw is passive"
            warnings.warn(message, SondageWarning, stacklevel=2)
        if total is None:
            total = np.zeros(len(self))
            self._spread(total, design.ground, 1.0, relevant if relevant is not None and relevant.any() else rest)
        elif design.floor:
            self._spread(total, design.ground, design.floor, relevant)
        return total if self._units is None else bin_sums(self._units[0], total, self.n_units)

    def filled(self, design: Design, relevant: Any, rest: Any = None, *, strict: bool = False) -> Filled:
        """Return the urn of a design, and what it reaches.

        Parameters
        ----------
        design : Design
            Terms, shares and floor.
        relevant : choice of rows
            Those that can matter.
        rest : choice of rows, optional
            Those not asked for yet; None for all.
        strict : bool
            Whether only rows that can matter have a size, if there are any.
        """
        if rest is not None:
            relevant = relevant & rest
        drawn = relevant if strict and relevant.any() else rest
        sizes = self.sizes(
            design, None if relevant.all() else relevant, None if drawn is None or drawn.all() else drawn
        )
        urn = ArrayUrn(sizes, self.unit_keys, self.unit_costs)
        covered = sizes > 0 if self.unit_of_row is None else (sizes > 0)[self.unit_of_row]
        if covered.all():
            return Filled(urn, 1.0, True, None)
        left = ~covered if rest is None else ~covered & rest
        share = float(np.sum(self.items.weights[covered]))
        return Filled(urn, share, bool(covered[relevant].all()), left if left.any() else None)

    def masses(self, terms: Sequence[Term], urn: Urn) -> list[float]:
        """Return the sum of each term over the rows that have a size."""
        assert isinstance(urn, ArrayUrn)
        there = urn.sizes > 0 if self._units is None else (urn.sizes > 0)[self._units[0]]
        return [float(self.column(term)[there].sum()) for term in terms]

    def share_of(self, rows: Any) -> float:
        """Return the base weight of some rows."""
        return float(np.sum(self.items.weights[rows]))

    def profile(self, urn: Urn, term: Term) -> Profile:
        """Return sizes, and with them the sizes that another term gives: what a design's variance depends on."""
        assert isinstance(urn, ArrayUrn)
        others = self.column(term)
        if self._units is not None:
            others = bin_sums(self._units[0], others, self.n_units)
        return Profile(urn.sizes, others, urn.costs)

    def undrawn(
        self, urn: Urn, drawn: NDArray[np.int64], rest: Any, kernel: Callable[[Undrawn], Result]
    ) -> Iterator[Result]:
        """Yield what a function makes of the units left, block by block; grouped rows come all at once.

        Parameters
        ----------
        urn : Urn
            What was drawn from.
        drawn : ndarray of int
            Units drawn from it.
        rest : choice of rows, or None
            Those not asked for before; None for all.
        kernel : callable
            Where the pool is not in memory, it and what it returns travel between processes.
        """
        assert isinstance(urn, ArrayUrn)
        left = np.ones(self.n_units, dtype=np.bool_)
        left[drawn] = False
        if rest is not None:
            left &= rest if self._units is None else rest[self._units[1]]
        if self._units is not None:
            rows, place = left[self._units[0]], np.cumsum(left) - 1
            yield kernel(Undrawn(self.items.take(rows), urn.sizes[left], place[self._units[0][rows]]))
            return
        for part, items in self.blocks():
            kept = left[part]
            whole = bool(kept.all())
            yield kernel(Undrawn(items if whole else items.take(kept), urn.sizes[part][kept], None))

    def cut(self, slices: Any) -> dict[Any, tuple[float, Pool]]:
        """Return each slice's base weight and rows: slices by a field's name, or by the name of each row's slice."""
        from sondage.pools.slicing import slice_rows

        rows = slice_rows(self, slices)
        return {name: (float(np.sort(self.items.weights[mask]).sum()), self.only(mask)) for name, mask in rows.items()}

    def settled(self, measure: Measure, models: tuple[int, ...]) -> Measure:
        """Return the measure with what it needs of the pool, such as bins."""
        return settled(measure, self.task, self.items, models)

    def by_id(self, column: NDArray[Any]) -> Callable[[Sequence[Any]], NDArray[Any]]:
        """Return a function from ids to the values of a column that has one for each row."""
        rows = self.rows_by_id()
        return lambda names: column[rows(names)]

    def column(self, term: Term) -> Floats:
        """Return one term's sizes of every row, shape (N,), not normalised."""
        column = np.empty(len(self))
        for part, items in self.blocks():
            column[part] = term.sizes(items)
        return column

    def _spread(self, total: Floats, term: Term, share: float, rows: NDArray[np.bool_] | None) -> None:
        """Add this share of the mass as a term has it over some rows, or all; no second column is held."""

        def sizes(part: slice, items: Items) -> Floats:
            return term.sizes(items) if rows is None else term.sizes(items) * rows[part]

        mass = sum(float(sizes(part, items).sum()) for part, items in self.blocks())
        for part, items in self.blocks():
            total[part] += sizes(part, items) * (share / mass if mass else 0.0)

    @property
    def fingerprint(self) -> str:
        """A hash of all columns but those shown to the labeller; it does not depend on the order of rows."""
        digest = np.zeros(4, dtype=np.uint64)
        shared = None if self._units is None else self.unit_keys[self._units[0]]
        for part, items in self.blocks():
            extra = [] if shared is None else [shared[part].astype(np.uint64)]
            digest += row_hashes(self.keys[part], items, extra).sum(axis=0, dtype=np.uint64)
        return digest_of(len(self), (self.task, self.models), digest, side_of(self.judges, self.items))


def _one_kind(
    probabilities: Any, predictions: Any, means: Any, variances: Any, models: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return the models by name; a single unnamed one is called "model"."""
    single = [value is not None for value in (probabilities, predictions, means, variances)]
    if models is not None:
        if any(single):
            raise InputError("give models=, or one model's probabilities, predictions, means; not both")
        if not models:
            raise InputError("models= is empty; a pool needs at least one model")
        return dict(models)
    if means is not None:
        if probabilities is not None or predictions is not None:
            raise InputError("give means (regression) or probabilities and predictions (classification), not both")
        return {"model": Regressor(means, variances)}
    if probabilities is None and predictions is None:
        raise InputError("a pool needs probabilities=, predictions=, means= or models=")
    return {"model": Classifier(probabilities, predictions)}


def _no_others(reason: str = " does not go with rankings", **given: Any) -> None:
    """Refuse arguments that belong to another kind of pool."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name}={reason}")


def _namer(ids: Any) -> Any:
    """Return a function that names a row in messages."""

    def where(row: int) -> str:
        if ids is None or row >= len(ids):
            return f"row {row}"
        values = ids.to_numpy() if hasattr(ids, "to_numpy") else ids
        return f"row {row} (id {values[row]})"

    return where


def _base_weights(weights: Any, size: int, where: Any) -> NDArray[Any]:
    """Return base weights that sum to 1; equal ones take no memory."""
    if weights is None:
        return np.broadcast_to(np.float64(1.0 / size), size)
    column = floats(positive_column(weights, "weight", size, where))
    return np.asarray(column / np.sort(column).sum())  # sorted, so that the order of rows does not show


def _width(output: Any) -> int:
    """Return how many numbers one row of this output holds."""
    if isinstance(output, Classes):
        p = output.probabilities
        return 1 if p is None or p.ndim == 1 else p.shape[1]
    if isinstance(output, Grades):
        return len(output.grades)
    if isinstance(output, Ranks):
        return len(output.positions) * output.documents.n_grades // max(len(output), 1)
    return 2 if isinstance(output, Means) else 1
