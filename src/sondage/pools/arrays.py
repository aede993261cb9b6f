"""A pool in memory: NumPy arrays, read in blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import some_of, those_there
from sondage.core.measures.binned import ItemValues, Values
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Classifier, Items, Outcome, Outputs, Ranking, Regressor
from sondage.errors import InputError
from sondage.pools.coding import code_models
from sondage.pools.fingerprints import digest_of, row_hashes, side_text
from sondage.pools.given import base_weights, by_name, namer, no_others, one_kind, require_classifiers, shares_of
from sondage.pools.ids import check_ids, require_found
from sondage.pools.listings import document_field, with_judged
from sondage.pools.missing import require_listed
from sondage.pools.numeric import Where, as_column, positive_column
from sondage.pools.orders import by_part, require_class_order, require_pool_order
from sondage.pools.rankings import Listed, code_rankings
from sondage.pools.results import Taken
from sondage.pools.rows import ArrayRows
from sondage.pools.side import check_judges, code_features, code_judges
from sondage.pools.texts import require_text
from sondage.pools.units import code_units

__all__ = ["Pool", "one_model", "require_pool"]

SHOWN = 10
"""Classes that a pool shows of itself."""


class Pool(ArrayRows):
    """Unlabelled items with what one or several models say of them.

    Arrays are not copied: do not change them while the pool is used.

    Parameters
    ----------
    probabilities : array-like of float, shape (N, k) or (N,), optional
        Class probabilities of the one classifier; (N,) is the probability of the second of two classes.
    classes : sequence, optional
        The classes in the order of the columns; by default 0 .. k-1. Without columns those predicted; if these are
        whole numbers with 0 among them, all from 0 to the largest. Of rankings the relevance grades, ascending, at
        most 1e35; `DCG` says which of them gains bear.
    predictions : array-like, shape (N,), optional
        Predicted classes of the one classifier; by default the first most probable class.
    ids : array-like, shape (N,), optional
        Unique names of the items, of any type; by default the row numbers.
    costs : array-like of float, shape (N,), optional
        Cost of each label, from 1e-100 to 1e100; a budget is then a cost.
    weights : array-like of float, shape (N,), optional
        Base weights, from 1e-100 to 1e100, on any scale: a pool that is itself a weighted sample.
    means, variances : array-like of float, shape (N,), optional
        Predictions and predictive variances of the one regressor.
    models : mapping of str to Classifier, Regressor, Outcome or Ranking, optional
        Several models, or one with a name, in place of the above.
    judge : array-like, shape (N, k) or (N,), or mapping of str to array-like, optional
        A proxy's class probabilities, or the classes that it names; several by name. Makes the belief, never the
        truth, and labels tell how far to believe it.
    groups : array-like, shape (N,), optional
        Rows of equal group share one label, asked once and paid once.
    fields : mapping of str to array-like, optional
        Columns to show to the labeller.
    features : array-like of float, shape (N, d), optional
        Numbers that may tell where the models err: embeddings, columns of a table. Labels tell whether they do.
    queries, documents : array-like, shape (D,), optional
        For rankings, whose items are queries: the query and the document of each row of a long table, in whose order
        `Ranking.ranks` and `grades` are. `costs` are then the costs of judging each document, and a query costs the sum
        over the documents that a question needs. `fields` have a value for each query, in their order of appearance, or
        for each row of the table.
    grades : array-like of float, shape (D, G), or mapping, optional
        For rankings: a grade model's probabilities; where systems give lists, query -> document -> probabilities.
        Without them the grades are named with `classes`, and all are equally likely before any label.

    Attributes
    ----------
    judges : tuple of str
        Names of the judges.
    groups : ndarray or None
        The group of each row, where rows share labels; None too for a pool that is not in memory.
    row_names : ndarray or None
        The index, not that of row numbers, which outputs or other columns came with where `ids` was not given.
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
        given = one_kind(
            probabilities=probabilities, predictions=predictions, means=means, variances=variances, models=models
        )
        self.row_names: NDArray[Any] | None = None
        self.listed: Listed | None = None
        self.asked_by: tuple[str, ...] | None = None
        if any(isinstance(model, Ranking) for model in given.values()):
            no_others(judge=judge, groups=groups, features=features)
            table = {"grades": grades, "queries": queries, "documents": documents}
            self.listed = code_rankings(given, classes, ids=ids, costs=costs, **table)
            ids, costs = self.listed.queries, self.listed.costs
        else:
            no_others(" is for rankings", queries=queries, documents=documents)
            no_others(" is for rankings; systems with outcomes have theirs each, Outcome(grades=...)", grades=grades)
            require_classifiers(given, classes, judge)
        if ids is not None:
            require_listed(ids, "ids")
        checked = None if ids is None else np.asarray(ids, dtype=object) if isinstance(ids, list) else ids
        where = namer(checked)
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
            base_weights(weights, size, where),
            None if costs is None else positive_column(costs, "cost", size, where),
            code_judges(judges, self.task.classes, size, where),
            code_features(features, size, where),
        )
        for name, one in by_part("judge", judge):
            require_class_order(one, self.task.classes, f"probabilities of {name}")
        shown = {} if fields is None else by_name("field", fields)
        self.fields = {name: self._field(name, column, size, where) for name, column in shown.items()}
        self.source: str | None = None
        self.reading: dict[str, Any] = {}
        self.groups = None if groups is None else as_column(groups, "groups", size)
        self._units = None if groups is None else code_units(groups, size, self.keys, where)
        columns = {"costs": costs, "weights": weights, "judge": judge, "groups": groups, "features": features}
        if self.listed is None:
            named = None if ids is None else self.ids
            self.row_names = require_pool_order(named, given, columns | {"field": fields})

    def _field(self, name: str, values: Any, size: int, where: Where) -> NDArray[Any]:
        """Return a column to show; of rankings' documents a mapping for each query."""
        listed, what = self.listed, f"field {name!r}"
        require_listed(values, what)
        order = None if listed is None or len(values) == size else listed.order
        column = as_column(values, what, size if order is None else len(order))
        require_text(column, what, where if order is None else "row {}".format)
        return column if listed is None or order is None else document_field(column, listed)

    def __repr__(self) -> str:
        count = f"{len(self.models)} model{'s' if len(self.models) > 1 else ''}"
        classes = list(self.task.classes)
        detail = f" {classes}" if len(classes) <= SHOWN else f", {len(classes):,} classes {classes[:3]} ..."
        detail = detail if classes else ""
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
        """Return the pool in memory: itself.

        Returns
        -------
        Pool
            Of rows that stay in their files, all of them read.

        Examples
        --------
        >>> pool = Pool(probabilities=[0.1, 0.9])
        >>> pool.load() is pool
        True
        """
        return self

    @property
    def outline(self) -> Items:
        """Some rows, which tell what the pool says of each: here all."""
        return self.items

    def only(self, rows: NDArray[np.bool_]) -> Pool:
        """Return a pool of these rows: ids, and with them the numbers of a draw, stay; base weights sum to 1 again."""
        part, weights = copy(self), self.items.weights
        part.ids, part.keys = self.ids[rows], self.keys[rows]
        size, where = len(part.ids), namer(part.ids)
        given = shares_of(weights[rows]) if weights.strides[0] else base_weights(None, size, where)
        part.items = replace(self.items.take(rows), weights=given)
        part.fields = {name: column[rows] for name, column in self.fields.items()}
        part.source, part.reading = None, {}
        part.row_names = None
        part.groups = None if self.groups is None else self.groups[rows]
        shared = self.unit_of_row
        part._units = None if shared is None else code_units(shared[rows], size, part.keys, where)
        return part

    def model(self, name: str) -> int:
        """Return a model's index, or raise `InputError` naming those there are."""
        if not isinstance(name, str) or name not in self.models:
            raise InputError(f"no model {name!r} in the pool; {those_there(name, self.models)}")
        return self.models.index(name)

    def taken(self, units: NDArray[np.int64]) -> Taken:
        """Return what the pool says of these units."""
        rows, at = self.rows_of(units)
        costs = self.unit_costs
        return Taken(self._ids_of(units), self.items.take(rows), at, None if costs is None else costs[units])

    @property
    def field_names(self) -> tuple[str, ...]:
        """Names of the fields that a labeller is shown."""
        return tuple(self.fields)

    def shown(self, units: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the fields of these units, for the labeller."""
        rows = units if self._units is None else self._units.first[units]
        return {name: column[rows] for name, column in self.fields.items()}

    def units_of(self, names: list[Any], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the units of these ids; `before` are those they had when rows may have been in another order."""
        if before.max(initial=0) < self.n_units and self._ids_of(before) == names:
            return before
        rows = self.rows_by_id()(names)
        return rows if self.unit_of_row is None else self.unit_of_row[rows]

    def _ids_of(self, units: NDArray[np.int64]) -> list[Any]:
        names: list[Any] = self.ids[units if self._units is None else self._units.first[units]].tolist()
        return names

    def located(self, names: Sequence[Any]) -> NDArray[np.int64]:
        """Return the rows of these ids, or of their texts; each is a unit in a pool without groups.

        Raises
        ------
        LabelError
            If one is not in the pool, or comes twice.
        """
        rows = {name: row for row, name in enumerate(self.ids.tolist())}
        texts: dict[str, int] = {}
        if not all(name in rows for name in names):
            texts = {str(name): row for name, row in rows.items()}
        return require_found(names, [rows.get(name, texts.get(str(name))) for name in names])

    def rows_by_id(self) -> Callable[[Sequence[Any]], NDArray[np.int64]]:
        """Return a function from ids to rows."""
        if self.ids.dtype.kind in "iu":
            order = np.argsort(self.ids)
            return lambda names: order[np.searchsorted(self.ids, np.asarray(names, dtype=self.ids.dtype), sorter=order)]
        rows = {name: row for row, name in enumerate(self.ids.tolist())}
        return lambda names: np.array([rows[name] for name in names], dtype=np.int64)

    def cut(self, slices: Any) -> dict[Any, tuple[float, Pool]]:
        """Return each slice's base weight and rows: slices by a field's name, or by the name of each row's slice."""
        from sondage.pools.slicing import slice_rows

        rows = slice_rows(self, slices)
        return {name: (float(np.sort(self.items.weights[mask]).sum()), self.only(mask)) for name, mask in rows.items()}

    @property
    def values(self) -> Values:
        """What measures take from the pool before they are ready, such as bins."""
        return ItemValues(self.items)

    def judged(self, models: Sequence[int], statistics: Sequence[ListLoss]) -> Pool:
        """Return the pool of rankings as a question sees it: with the documents that it needs judged."""
        found = copy(self)
        found.items = with_judged(self.items, models, statistics)
        return found

    def by_id(self, column: NDArray[Any]) -> Callable[[Sequence[Any]], NDArray[Any]]:
        """Return a function from ids to the values of a column that has one for each row."""
        rows = self.rows_by_id()
        return lambda names: column[rows(names)]

    @property
    def fingerprint(self) -> str:
        """A hash of all columns but those shown to the labeller; it does not depend on the order of rows.

        Examples
        --------
        >>> pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"])
        >>> pool.fingerprint == Pool(probabilities=[0.9, 0.1], ids=["b", "a"]).fingerprint
        True
        """
        digest = np.zeros(4, dtype=np.uint64)
        shared = None if self.unit_of_row is None else self.unit_keys[self.unit_of_row]
        for part, items in self.blocks():
            extra = [] if shared is None else [shared[part].astype(np.uint64)]
            digest += row_hashes(self.keys[part], items, extra).sum(axis=0, dtype=np.uint64)
        return digest_of(len(self), (self.task, self.models), digest, side_text(self.judges, self.items))


def require_pool(pool: Any) -> None:
    """Raise `InputError` unless this is a pool."""
    if not isinstance(pool, Pool):
        raise InputError(
            f"pool is a {type(pool).__name__}, not a sondage.Pool: make one, Pool(probabilities=...), or read_pool(...)"
        )


def one_model(pool: Pool, name: str | None, others: str = "") -> int:
    """Return the index of a model or, without a name, of the only one.

    Parameters
    ----------
    pool : Pool
        Whose model.
    name : str or None
        Which.
    others : str
        What else may be named where there are several, for the message.

    Raises
    ------
    InputError
        If there is none of this name, or none is named and there are several.
    """
    if name is not None:
        return pool.model(name)
    if len(pool.models) > 1:
        raise InputError(f"the pool has several models {some_of(pool.models)}: name one with model={others}")
    return 0
