"""TREC runs and judgements (qrels): read and written; learning-to-rank files beside them.

A run has six columns, ``query Q0 document rank score tag``, qrels four, ``query 0 document grade``. Text is UTF-8; a
name that ends in .gz is compressed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sondage.adapters.learning_to_rank import LearningToRank, read_learning_to_rank, write_learning_to_rank
from sondage.adapters.lines import Path, as_finite, as_word, read_lines, refused, write_lines
from sondage.core.predictions import Ranking, Ranks
from sondage.errors import InputError, LabelError
from sondage.pools import Pool, one_model
from sondage.pools.given import by_name
from sondage.pools.table import number_or_nan

__all__ = [
    "LearningToRank",
    "pool_from_runs",
    "read_learning_to_rank",
    "read_qrels",
    "read_run",
    "write_learning_to_rank",
    "write_qrels",
    "write_run",
]


def _cells(path: Path, form: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each line, as many as the form names."""
    for number, text in read_lines(path):
        cells = text.split()
        if len(cells) != len(form.split()):
            raise InputError(refused(path, number, f"{len(cells)} columns; a line is '{form}'"))
        yield number, cells


def read_run(path: Path, *, by_rank: bool = False) -> dict[str, list[str]]:
    """Read a TREC run.

    Parameters
    ----------
    path : path
        The file; lines in any order.
    by_rank : bool
        Order documents by the rank column; by default by score, ties by descending document id, as trec_eval does
        whatever the ranks say.

    Returns
    -------
    dict of str to list of str
        Query -> documents, best first.

    Raises
    ------
    InputError
        If a line has not six columns, a number cannot be read, or a document stands twice for a query.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     count = write_run(f"{folder}/a.run", {"q1": ["d7", "d2"], "q2": ["d3"]})
    ...     read_run(f"{folder}/a.run")
    {'q1': ['d7', 'd2'], 'q2': ['d3']}
    """
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for number, cells in _cells(path, "query Q0 document rank score tag"):
        query, _, document, rank, score, _ = cells
        own = found.setdefault(query, {})
        if document in own:
            raise InputError(refused(path, number, f"document {document!r} stands twice for query {query!r}"))
        own[document] = (as_finite(path, number, rank, "rank"), as_finite(path, number, score, "score"))
    if not found:
        raise InputError(f"{os.fspath(path)}: the run is empty")
    if by_rank:
        return {query: sorted(own, key=lambda d: own[d][0]) for query, own in found.items()}
    return {query: sorted(sorted(own, reverse=True), key=lambda d: -own[d][1]) for query, own in found.items()}


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Read TREC judgements.

    Negative grades (spam, by TREC's web tracks) are read as 0, as trec_eval and gdeval treat them.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        Query -> document -> grade: labels as `sondage.evaluate` and `Study.tell` take them.

    Raises
    ------
    InputError
        If a line has not four columns or the grade is not a number.
    LabelError
        If a document has two different grades for a query.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     count = write_qrels(f"{folder}/qrels", {"q1": {"d7": 2, "d2": 0}})
    ...     read_qrels(f"{folder}/qrels")
    {'q1': {'d7': 2.0, 'd2': 0.0}}
    """
    found: dict[str, dict[str, float]] = {}
    for number, (query, _, document, text) in _cells(path, "query 0 document grade"):
        grade = max(as_finite(path, number, text, "grade"), 0.0)
        known = found.setdefault(query, {}).setdefault(document, grade)
        if known != grade:
            raise LabelError(
                refused(path, number, f"document {document!r} of query {query!r} has grades {known:g} and {grade:g}")
            )
    if not found:
        raise InputError(f"{os.fspath(path)}: there are no judgements")
    return found


def pool_from_runs(
    runs: Mapping[str, Path], *, by_rank: bool = False, queries: Sequence[str] | None = None, **options: Any
) -> Pool:
    """Return the pool of the queries of several systems' runs.

    Parameters
    ----------
    runs : mapping of str to path
        Each system's run; a query that a run leaves out has an empty list there.
    by_rank : bool
        As for `read_run`.
    queries : sequence of str, optional
        The queries; by default all that a run has.
    **options
        As for `sondage.Pool`: ``grades``, ``costs``, ``classes``, ``weights``, ``fields``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     count = write_run(f"{folder}/a.run", {"q1": ["d7", "d2"], "q2": ["d3"]}, tag="a")
    ...     pool_from_runs({"a": f"{folder}/a.run"}, classes=[0, 1, 2])
    <Pool: 2 items, 1 model, ranking of 3 documents>
    """
    read = {name: read_run(path, by_rank=by_rank) for name, path in by_name("run", runs).items()}
    names = list(dict.fromkeys(query for run in read.values() for query in run) if queries is None else queries)
    models = {name: Ranking([run.get(query, []) for query in names]) for name, run in read.items()}
    return Pool(models=models, ids=names, **options)


def write_run(path: Path, run: Pool | Mapping[Any, Sequence[Any]], model: str | None = None, *, tag: str = "") -> int:
    """Write a TREC run, scores falling with the rank, so that every reader has the same order.

    Parameters
    ----------
    path : path
        The file.
    run : Pool or mapping
        A pool's system, or query -> documents, best first.
    model : str, optional
        Which of a pool's systems.
    tag : str
        Last column; by default the model's name.

    Returns
    -------
    int
        Number of lines.

    Raises
    ------
    InputError
        If an id is empty or has spaces, which the form cannot hold, or a study has that name.
    """
    if isinstance(run, Pool):
        tag = tag or model or run.models[0]
        run = _lists(run, model)
    last = as_word(tag or "run")
    lines = [
        f"{as_word(query)} Q0 {as_word(document)} {rank} {len(documents) - rank + 1} {last}"
        for query, documents in run.items()
        for rank, document in enumerate(documents, 1)
    ]
    return write_lines(path, lines)


def _lists(pool: Pool, model: str | None) -> dict[Any, list[Any]]:
    """Return query -> documents, best first, of a pool's system."""
    ranks: Any = pool.items.models[one_model(pool, model)]
    if not isinstance(ranks, Ranks):
        raise InputError(f"a run is of rankings; this pool is for {pool.task.kind}")
    found = {}
    table = ranks.documents
    for query, row in zip(pool.ids.tolist(), ranks.rows.tolist(), strict=True):
        part = table.part(row)
        places, names = ranks.positions[part], table.names[part]
        listed = np.flatnonzero(places > 0)
        found[query] = names[listed[np.argsort(places[listed])]].tolist()
    return found


def _mapping(given: Any, name: str, what: str) -> Mapping[Any, Any]:
    """Return it if it is a mapping, and refuse it else."""
    if not isinstance(given, Mapping):
        raise InputError(f"{name} are a {type(given).__name__}; they must be a mapping, {what}")
    return given


def write_qrels(path: Path, labels: Mapping[Any, Mapping[Any, float] | None]) -> int:
    """Write judgements, query -> document -> grade, as TREC qrels; queries without judgements are left out.

    Parameters
    ----------
    path : str or path
        The file.
    labels : mapping
        Query -> document -> grade.

    Returns
    -------
    int
        Number of lines.

    Raises
    ------
    InputError
        If judgements are in no such mapping, an id has spaces, or a grade is not whole, which the form cannot hold, or
        a study has that name.
    """
    lines = []
    for query, judged in _mapping(labels, "labels", "query -> document -> grade").items():
        for document, grade in _mapping(judged or {}, f"labels of query {query!r}", "document -> grade").items():
            value = number_or_nan(grade)
            if not value.is_integer():  # as NaN and infinity are not
                raise InputError(
                    f"grade {grade!r} of document {document!r} of query {query!r}: qrels hold whole grades"
                )
            lines.append(f"{as_word(query)} 0 {as_word(document)} {int(value)}")
    return write_lines(path, lines)
