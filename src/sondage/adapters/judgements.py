"""Rows of one document each: what somebody says of a query, and where that stands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sondage.core.checks import first_of
from sondage.errors import LabelError, warn

__all__ = ["judged_queries"]

Row = dict[str, Any]
Grades = dict[Any, Any]


def judged_queries(
    rows: Iterable[tuple[str, Row]], asked: Mapping[str, Sequence[Any]], *, partial: bool = False
) -> dict[Any, tuple[str, Grades | None]]:
    """Return of each query where it stands first, and document -> grade; None where no document has a grade.

    Parameters
    ----------
    rows : iterable of (str, dict)
        Where a row stands, and its query, document and label.
    asked : mapping of str to sequence
        The documents of the queries that were asked for, by the texts of these.
    partial : bool
        Leave queries out that are not judged to the end, and warn where they are begun.

    Raises
    ------
    LabelError
        If a document is judged that was never asked for, or one twice and differently.

    Examples
    --------
    >>> told = [("line 2", "a", 2), ("line 3", "b", 0)]
    >>> rows = [(place, {"query": 1, "document": name, "label": grade}) for place, name, grade in told]
    >>> judged_queries(rows, {"1": ["a", "b"]})
    {1: ('line 2', {'a': 2, 'b': 0})}
    """
    queries: dict[Any, list[tuple[str, Row]]] = {}
    for place, row in rows:
        queries.setdefault(row["query"], []).append((place, row))
    told = {query: _grades(query, own, asked.get(str(query))) for query, own in queries.items()}
    judged = {query: {name: grade for name, grade in own.items() if grade is not None} for query, own in told.items()}
    open_ones = [query for query, own in told.items() if partial and None in own.values()]
    begun = [query for query in open_ones if judged[query] and str(query) in asked]
    _tell_begun(begun)
    # One that is begun and was never asked for is refused where it is told.
    left = {query for query in open_ones if not judged[query]} | set(begun)
    return {query: (own[0][0], judged[query] or None) for query, own in queries.items() if query not in left}


def _grades(query: Any, rows: Iterable[tuple[str, Row]], asked: Collection[Any] | None) -> Grades:
    """Return the grade of each document of a query, None where it has none."""
    grades, places = Grades(), dict[Any, str]()
    known = None if asked is None else set(map(str, asked))
    for place, row in rows:
        document, grade = row["document"], row["label"]
        if grade is not None and known is not None and str(document) not in known:
            raise LabelError(f"{place}: document {document!r} of query {query!r} was never asked for", ids=(query,))
        if grades.setdefault(document, grade) != grade:
            both = f"two labels, {grades[document]!r} and {grade!r}"
            where = f"{places[document]} and {place}"
            raise LabelError(f"{where}: document {document!r} of query {query!r} has {both}", ids=(query,))
        places.setdefault(document, place)
    return grades


def _tell_begun(queries: Sequence[Any]) -> None:
    """Warn of queries that are left out though some of their documents have a grade."""
    if queries:
        which, rest = ("query", "it is") if len(queries) == 1 else ("queries", "they are")
        message = f"not all documents of {which} {first_of(map(repr, queries))} have a grade: {rest} left out"
        warn(message)
