"""A pool in memory: NumPy arrays, read in blocks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.blocks import row_blocks
from sondage.core.comparisons import Influence, believed_totals
from sondage.core.designs import Design, Term, matters
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
from sondage.errors import InputError, SondageWarning
from sondage.pools.coding import (
    as_column,
    check_ids,
    code_models,
    code_units,
    floats,
    positive_column,
)
from sondage.pools.listings import document_field, listed_hashes
from sondage.pools.rankings import Listed, code_rankings
from sondage.pools.side import check_judges, code_features, code_judges

__all__ = ["Pool"]


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
    def unit_rows(self) -> NDArray[np.int64] | None:
        """The row that stands for each unit; None where each row is a unit."""
        return None if self._units is None else self._units[1]

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
            digest += _row_hashes(self.keys[part], items, extra).sum(axis=0, dtype=np.uint64)
        text = f"{len(self)}:{self.task}:{self.models}:{digest.tolist()}{self._side}"
        return sha256(text.encode()).hexdigest()[:32]

    @property
    def _side(self) -> str:
        """What sides there are beyond one unnamed judge, for the fingerprint."""
        features = self.items.features
        several = "" if self.judges in ((), ("judge",)) else f":{self.judges}"
        return several if features is None else f"{several}:{features.shape[1]}"


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


def _row_hashes(keys: NDArray[np.int64], items: Items, extra: Sequence[NDArray[np.uint64]] = ()) -> NDArray[np.uint64]:
    """Return four 64-bit numbers a row from its key and all that the pool says of it, wrapping around."""
    numbers = [keys.astype(np.uint64), _bits(items.weights), *extra]
    for values in (items.costs, *items.judges, items.features):
        if values is not None:
            numbers += [_bits(column) for column in np.atleast_2d(values.T)]
    for output in items.models:
        if isinstance(output, Ranks):
            numbers += listed_hashes(output)
            continue
        for value in vars(output).values():
            if isinstance(value, np.ndarray) and len(value) == len(keys):
                numbers += [_bits(column) for column in np.atleast_2d(value.T)]
    total = np.zeros((len(keys), 4), dtype=np.uint64)
    for index, column in enumerate(numbers):
        for lane in range(4):
            factor = np.uint64((0x9E3779B97F4A7C15 * (2 * (4 * index + lane) + 1)) % 2**64)
            total[:, lane] += (column ^ (column >> np.uint64(29))) * factor
    total ^= total >> np.uint64(31)
    total *= np.uint64(0xBF58476D1CE4E5B9)
    return total


def _bits(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a column's values as 64-bit patterns."""
    return np.ascontiguousarray(column, dtype=np.float64).view(np.uint64)
