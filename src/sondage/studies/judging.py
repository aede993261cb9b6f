"""Rankings: which documents of a query a question needs judged, and judgements as labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from sondage.core.checks import exactly
from sondage.core.measures.lists import ListLoss
from sondage.core.predictions import Ranks
from sondage.errors import InputError, LabelError
from sondage.pools import Pool
from sondage.pools.listings import grades_by_query
from sondage.pools.missing import is_missing
from sondage.pools.orders import column_names
from sondage.pools.table import number_or_nan
from sondage.studies.method import Question

__all__ = ["Judgements", "as_asked", "judged", "judgements", "pool_judgements"]

Judgements = tuple[tuple[str, int], ...]
"""A coded label: each document's text and grade code."""


def as_asked(pool: Pool, question: Question) -> Pool:
    """Return the pool as a question sees it; of rankings, a query costs what is judged of it for this question."""
    if pool.task.kind != "ranking" or pool.asked_by == question.models:
        return pool
    statistics = [cast(ListLoss, functional.basis) for functional in question.functionals(pool.task)]
    found = pool.judged([pool.model(name) for name in question.models], statistics)
    found.asked_by = question.models
    return found


def judgements(label: Any, grades: Sequence[float], documents: Sequence[Any], name: Any) -> Judgements:
    """Return the text and the grade code of each of a query's documents, in their order.

    Judgements of other documents are left out, so that they change no result.

    Raises
    ------
    LabelError
        If the label is not a mapping of document to grade, a grade is not allowed, or a document is left out.
    """
    if not isinstance(label, Mapping):
        raise LabelError(f"label {label!r} of query {name!r} must be a mapping of document to grade")
    codes = {grade: code for code, grade in enumerate(grades)}
    given = label if all(document in label for document in documents) else _by_text(label, documents)
    found = []
    for document in documents:
        grade = given.get(document)
        if grade is None:
            raise LabelError(
                f"document {document!r} of query {name!r} has no grade: all {len(documents)} documents of it that are "
                "asked for must be judged"
            )
        code = codes.get(number_or_nan(grade), -1)
        if code < 0:
            allowed = ", ".join(map(exactly, grades))
            raise LabelError(
                f"grade {grade!r} of document {document!r} of query {name!r} is not allowed; grades are {allowed}"
            )
        found.append((str(document), code))
    return tuple(found)


def judged(label: Judgements, grades: Sequence[float]) -> dict[str, float]:
    """Return document -> grade, whole grades as integers."""
    plain = [int(grade) if grade == int(grade) else grade for grade in grades]
    return {document: plain[code] for document, code in label}


def _by_text(label: Mapping[Any, Any], documents: Sequence[Any]) -> dict[Any, Any]:
    """Return the label with the pool's own names of documents, matched as they are, else by their text."""
    texts = {str(document): grade for document, grade in label.items()}
    return {document: label.get(document, texts.get(str(document))) for document in documents}


def _judgements_from_table(labels: Any) -> Any:
    """Return a long table with columns query, document and label as query -> document -> grade; others as they are.

    A row without a grade is as none: nobody has judged that document.

    Examples
    --------
    >>> _judgements_from_table({"query": [1, 1], "document": ["a", "b"], "label": [2, 0]})
    {1: {'a': 2, 'b': 0}}
    """
    names = ("query", "document", "label")
    columns = list(labels) if isinstance(labels, Mapping) else column_names(labels)
    if not all(name in columns for name in names) or any(isinstance(labels[name], Mapping) for name in names):
        return labels
    found: dict[Any, dict[Any, Any]] = {}
    rows = (np.asarray(labels[name]).tolist() for name in names)
    for query, document, grade in zip(*rows, strict=True):
        if is_missing(grade):
            continue
        known = found.setdefault(query, {}).setdefault(document, grade)
        if known != grade:
            raise LabelError(
                f"document {document!r} of query {query!r} is graded {known!r} and {grade!r}", ids=(query,)
            )
    return found


def pool_judgements(pool: Pool, labels: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function from queries to judgements, out of a mapping, a long table, or an array over the pool's own."""
    labels = _judgements_from_table(labels)
    if isinstance(labels, Mapping):
        return lambda ids: labels
    if pool.listed is None:
        raise InputError("rows that are not in memory have no order: give labels as a mapping or a function of queries")
    ranks, look, rows = cast(Ranks, pool.items.models[0]), grades_by_query(labels, pool.listed), pool.rows_by_id()
    return lambda ids: [look(int(ranks.rows[row])) for row in rows(ids)]
