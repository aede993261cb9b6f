"""From ranked lists and a long table of query and document to checked, coded arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import BOUNDED, LARGEST_NUMBER, listed
from sondage.core.measures import Task
from sondage.core.predictions import Floats, Ranking, Ranks
from sondage.core.rankings import Documents, offsets_of, segment_sums
from sondage.errors import InputError, warn
from sondage.pools.coding import code_probabilities
from sondage.pools.ids import check_ids, whole_numbers
from sondage.pools.missing import is_missing, require_given
from sondage.pools.numeric import as_column, floats, positive_column
from sondage.pools.texts import require_text

__all__ = ["Listed", "code_rankings", "paid", "positions_of"]


@dataclass(frozen=True, eq=False)
class Listed:
    """A ranking pool's columns, coded.

    Attributes
    ----------
    task : Task
        With the grades.
    outputs : tuple of Ranks
        Of every model.
    queries : ndarray, shape (Q,)
        In the order in which they were given.
    costs : ndarray of float, shape (Q,), optional
        Of judging all documents of each query.
    order : ndarray of int, shape (D,), optional
        The row of the long table that each document came from; None where lists were given.
    """

    task: Task
    outputs: tuple[Ranks, ...]
    queries: NDArray[Any]
    costs: Floats | None
    order: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class _Rows:
    """The long table: query codes, documents, one column of ranks a model (NaN: not returned), and the rest."""

    names: NDArray[Any]
    queries: NDArray[np.int64]
    documents: NDArray[Any]
    ranks: dict[str, NDArray[Any]]
    grades: Any
    costs: Any

    def where(self, row: int) -> str:
        """Return how messages name a row."""
        return f"row {row} (query {self.names[self.queries[row]]}, document {self.documents[row]})"


def code_rankings(
    models: Mapping[str, Any],
    classes: Any,
    *,
    grades: Any,
    queries: Any,
    documents: Any,
    ids: Any,
    costs: Any,
) -> Listed:
    """Return the coded columns of a ranking pool.

    Parameters
    ----------
    models : mapping of str to Ranking
        All with lists, or all with ranks.
    classes : sequence of float, optional
        The grades, ascending; by default 0 .. G - 1, as many as a grade model has columns.
    grades : array-like of float, shape (D, G), or mapping, optional
        The grade model: a row for each of the long table's, or query -> document -> probabilities.
    queries, documents : array-like, shape (D,), optional
        The long table.
    ids : array-like, shape (Q,), optional
        The queries, where lists are given.
    costs : array-like of float, shape (D,), mapping or number, optional
        Of judging each document.

    Raises
    ------
    InputError
        If models are of different kinds or lengths, a document stands twice, or a value is not allowed.
    """
    other = [name for name, model in models.items() if not isinstance(model, Ranking)]
    if other:
        raise InputError(f"models must all be Ranking; {other[0]!r} is a {type(models[other[0]]).__name__}")
    long = queries is not None or documents is not None
    if long and ids is not None:
        raise InputError("the ids of a ranking pool are its queries: leave ids= out")
    rows = _from_table(models, queries, documents, grades, costs) if long else _from_lists(models, ids, grades, costs)
    if not len(rows.names):
        raise InputError("the pool is empty: it has no queries")
    order = _canonical(rows)
    probabilities = _grade_model(rows, order)
    task = Task("ranking", grades=_grades(classes, probabilities))
    counts = np.bincount(rows.queries, minlength=len(rows.names))
    of_documents = None if rows.costs is None else _costs(rows)[order]
    table = Documents(
        offsets_of(counts),
        rows.documents[order],
        len(task.grades),
        probabilities,
        costs=of_documents,
    )
    every = np.arange(len(rows.names))
    _tell_zeros(rows)
    outputs = tuple(Ranks(table, _positions(rows, name)[order], every) for name in models)
    costs = None if of_documents is None else paid(segment_sums(of_documents, table.offsets))
    return Listed(task, outputs, rows.names, costs, order if long else None)


def _from_table(models: Mapping[str, Ranking], queries: Any, documents: Any, grades: Any, costs: Any) -> _Rows:
    """Return the rows of a long table."""
    if queries is None or documents is None:
        raise InputError("a long table needs both queries= and documents=")
    column = as_column(queries, "queries", None)
    size = len(column)
    listed = as_column(documents, "documents", size)
    require_given(queries, column, "query", "row {}".format)
    require_given(documents, listed, "document", lambda row: f"row {row} (query {column[row]})")
    missing = next((name for name, model in models.items() if model.ranks is None), None)
    if missing is not None:
        raise InputError(f"model {missing!r}: with queries= and documents=, give Ranking(ranks=...), one for each row")
    names, first, codes = np.unique(_texts(column), return_index=True, return_inverse=True)
    place = np.empty(len(names), dtype=np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(names))
    ranks = {name: as_column(model.ranks, f"ranks of {name!r}", size) for name, model in models.items()}
    return _Rows(column[np.sort(first)], place[codes], _texts(listed), ranks, grades, costs)


def _from_lists(models: Mapping[str, Ranking], ids: Any, grades: Any, costs: Any) -> _Rows:
    """Return the rows that lists of documents make."""
    lists = _lists(models)
    size = len(next(iter(lists.values())))
    names = _names_of_queries(ids, size)
    for what, given in (("grades", grades), ("costs", costs)):
        if given is not None and not isinstance(given, Mapping) and not (what == "costs" and _is_one(given)):
            raise InputError(f"with lists, {what}= is a mapping of query to document to value; arrays go with queries=")
    codes: list[int] = []
    rows: list[tuple[Any, Any]] = []
    ranks: dict[str, list[float]] = {name: [] for name in models}
    for query, name in enumerate(names.tolist()):
        places = {model: _places(own[query], f"model {model!r} returns", name) for model, own in lists.items()}
        more = _places(list(grades.get(name, ())), "grades has", name) if isinstance(grades, Mapping) else {}
        union = list(dict.fromkeys(document for own in (*places.values(), more) for document in own))
        codes += [query] * len(union)
        rows += [(name, document) for document in union]
        for model, own in places.items():
            ranks[model] += [own.get(document, np.nan) for document in union]
    return _Rows(
        names,
        np.array(codes, dtype=np.int64),
        _texts(np.asarray([document for _, document in rows])),
        {name: np.array(column, dtype=np.float64) for name, column in ranks.items()},
        _looked_up(grades, rows, "grades") if isinstance(grades, Mapping) else None,
        _looked_up(costs, rows, "costs") if isinstance(costs, Mapping) else costs,
    )


def _names_of_queries(ids: Any, size: int) -> NDArray[Any]:
    """Return the names of the queries that lists are of: their ids, or their numbers."""
    names = np.arange(size) if ids is None else as_column(ids, "ids", None)
    if len(names) != size:
        raise InputError(f"there are {len(names)} ids; the models have lists for {size} queries")
    if ids is not None:
        require_given(ids, names, "the id", "row {}".format)
    return check_ids(names, size)[0]


def _lists(models: Mapping[str, Ranking]) -> dict[str, list[list[Any]]]:
    """Return each model's list of documents for each query."""
    missing = next((name for name, model in models.items() if model.documents is None), None)
    if missing is not None:
        raise InputError(f"model {missing!r}: give Ranking(documents=...), or ranks= with queries= and documents=")
    lists = {
        name: [listed(f"a query's list of {name!r}", own) for own in listed(f"documents of {name!r}", model.documents)]
        for name, model in models.items()
    }
    sizes = {name: len(found) for name, found in lists.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"models have lists for different numbers of queries: {sizes}")
    return lists


def _places(own: Sequence[Any], who: str, query: Any) -> dict[Any, int]:
    """Return each document's place in a list."""
    odd = [document for document in own if not isinstance(document, Hashable) or is_missing(document)]
    if odd:
        raise InputError(f"{who} {odd[0]} for query {query!r}; documents are texts or numbers")
    places = {document: place for place, document in enumerate(own, 1)}
    if len(places) < len(own):
        twice = next(document for document in own if own.count(document) > 1)
        raise InputError(f"{who} document {twice!r} twice for query {query!r}")
    return places


def _looked_up(values: Mapping[Any, Any], rows: Sequence[tuple[Any, Any]], what: str) -> NDArray[Any]:
    """Return the value of each row out of query -> document -> value."""
    for query, document in rows:
        if query not in values or document not in values[query]:
            raise InputError(
                f"{what} has nothing for document {document!r} of query {query!r}; every document needs one"
            )
    return np.array([values[query][document] for query, document in rows], dtype=np.float64)


def _texts(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column of ids that can be sorted: of different types as text."""
    column = whole_numbers(column)
    if column.dtype.kind == "O":
        return np.array([str(value) for value in column.tolist()])
    return column


def _canonical(rows: _Rows) -> NDArray[np.int64]:
    """Return the order of rows by query and document, in which the pool keeps them; refuse what stands twice."""
    require_text(rows.documents, "document", lambda row: f"query {str(rows.names[rows.queries[row]])!r}")
    order = np.lexsort((rows.documents, rows.queries))
    queries, documents = rows.queries[order], rows.documents[order]
    twice = (queries[1:] == queries[:-1]) & (documents[1:] == documents[:-1])
    if twice.any():
        row = int(order[1:][np.argmax(twice)])
        raise InputError(f"{rows.where(row)} stands twice; a document is in a query's list once")
    return order


def _grade_model(rows: _Rows, order: NDArray[np.int64]) -> NDArray[Any] | None:
    if rows.grades is None:
        return None
    p = code_probabilities(rows.grades, "grades", rows.where)
    if len(p) != len(order):
        raise InputError(f"grades have {len(p)} rows; the table has {len(order)}")
    p = np.stack([1.0 - p, p], axis=1) if p.ndim == 1 else p
    return p if np.array_equal(order, np.arange(len(order))) else p[order]


def _grades(classes: Any, probabilities: NDArray[Any] | None) -> tuple[float, ...]:
    """Return the grades: as named, or numbered by the columns of the grade model."""
    if classes is None:
        if probabilities is None:
            raise InputError("without a grade model, name the grades: classes=[0, 1, 2]")
        classes = range(probabilities.shape[1])
    try:
        grades = np.asarray(classes, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"grades are numbers; classes={classes!r}") from None
    beyond = grades[~(np.abs(grades) <= LARGEST_NUMBER)]
    if len(beyond):
        raise InputError(f"classes={grades.tolist()}: the grade {beyond[0]:g} must be {BOUNDED}")
    if grades.ndim != 1 or len(grades) < 2 or not np.all(np.diff(grades) > 0):
        raise InputError(f"classes={grades.tolist()} must be two or more grades in ascending order")
    if probabilities is not None and probabilities.shape[1] != len(grades):
        raise InputError(f"there are {len(grades)} grades {grades.tolist()} but {probabilities.shape[1]} columns")
    return tuple(grades.tolist())


def _is_one(costs: Any) -> bool:
    """Return whether it is one number, that of every document."""
    return isinstance(costs, Real) or getattr(costs, "ndim", 1) == 0


def _costs(rows: _Rows) -> Floats:
    """Return the cost of judging each row's document."""
    size = len(rows.queries)
    given = np.broadcast_to(rows.costs, size) if _is_one(rows.costs) else rows.costs
    return floats(positive_column(as_column(given, "costs", size), "cost", size, rows.where))


def _rank_numbers(ranks: NDArray[Any], name: str, rows: _Rows) -> Floats:
    """Return ranks that came as objects or texts as numbers, NaN where one is missing."""
    found = np.empty(len(ranks))
    for row, rank in enumerate(ranks.tolist()):
        try:
            found[row] = np.nan if rank is None else rank
        except (TypeError, ValueError):
            message = f"rank of {name!r} of {rows.where(row)} is {rank!r}; it must be a number, or missing"
            raise InputError(message) from None
    return found


def _positions(rows: _Rows, name: str) -> NDArray[np.int32]:
    """Return each row's position in a model's list, as `positions_of`; refuse ranks that are not allowed."""
    ranks = rows.ranks[name]
    if ranks.dtype.kind not in "fiub":
        ranks = _rank_numbers(ranks, name, rows)
    here = np.isfinite(ranks) & (ranks != 0)
    if np.any(ranks[here] < 0) or np.isinf(ranks).any():
        row = int(np.argmax((ranks < 0) | np.isinf(ranks)))
        raise InputError(f"rank of {name!r} of {rows.where(row)} is {ranks[row]}; it must be 1 or more, or missing")
    positions, same = positions_of(rows.queries, ranks)
    if len(same):
        row = int(same[0])
        raise InputError(f"rank of {name!r} of {rows.where(row)} is {ranks[row]:g}, as that of another document is")
    return positions


def _tell_zeros(rows: _Rows) -> None:
    """Warn of ranks that begin with 0 in all lists: it means not returned, and would take each query's first document.

    Where one document of every query is missing in some of the lists only, that is what is meant.
    """
    queries, size = rows.queries, int(rows.queries.max(initial=-1)) + 1
    for ranks in rows.ranks.values():
        zeros, ones = (np.bincount(queries[ranks == place], minlength=size) for place in (0, 1))
        if size < 2 or not (np.all(zeros == 1) and np.all(ones == 1)):
            return
    rule = "ranks begin with 1, and one that is missing may be empty"
    warn(f"ranks of all lists are 0 for one document of every query, which is taken as not returned: {rule}")


def positions_of(queries: NDArray[np.int64], ranks: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return positions in each query's list, ranks in their order with gaps closed, and rows of a rank seen before.

    Examples
    --------
    >>> positions, same = positions_of(np.array([0, 0, 1, 1, 1]), np.array([7, 3, np.nan, 1, 1]))
    >>> positions.tolist(), same.tolist()
    ([2, 1, 0, 1, 2], [4])
    """
    listed = np.flatnonzero(np.isfinite(ranks) & (ranks != 0))
    order = listed[np.lexsort((ranks[listed], queries[listed]))]
    ordered, own = ranks[order], queries[order]
    same = (own[1:] == own[:-1]) & (ordered[1:] == ordered[:-1])
    begins = np.concatenate([[True], own[1:] != own[:-1]]) if len(order) else np.zeros(0, dtype=np.bool_)
    first = np.flatnonzero(begins)
    positions = np.zeros(len(ranks), dtype=np.int32)
    positions[order] = np.arange(len(order)) - np.repeat(first, np.diff([*first, len(order)])) + 1
    return positions, order[1:][same]


def paid(costs: Floats) -> Floats:
    """Return the costs of queries; one with nothing to judge costs as little as the cheapest, not 0."""
    some = costs > 0
    return np.where(some, costs, costs[some].min() if some.any() else 1.0)
