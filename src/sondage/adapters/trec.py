"""TREC runs and judgements (qrels), and learning-to-rank files in SVMlight's form: read and written.

A run has six columns, ``query Q0 document rank score tag``, qrels four, ``query 0 document grade``, a learning-to-rank
file lines ``grade qid:query 1:value 2:value ... # comment``. Text is UTF-8; a name that ends in .gz is compressed.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats, Ranking, Ranks
from sondage.errors import InputError, LabelError
from sondage.pools import Pool

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

Path = str | os.PathLike[str]

_DOCUMENT = re.compile(r"docid\s*=\s*(\S+)")


@dataclass(frozen=True, eq=False)
class LearningToRank:
    """A learning-to-rank file's rows.

    Attributes
    ----------
    queries, documents : ndarray, shape (D,)
        Query ids, and the documents that the comments name, else each row's number within its query.
    grades : ndarray of float, shape (D,)
        Judged relevance.
    features : ndarray of float32, shape (D, F)
        Column j is feature j + 1; 0 where a row leaves it out.
    """

    queries: NDArray[Any]
    documents: NDArray[Any]
    grades: Floats
    features: NDArray[np.float32]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that are not empty."""
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if text := str(line).strip():
                    yield number, text
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{os.fspath(path)}: {reason}") from None


def _refused(path: Path, number: int, reason: str) -> str:
    return f"{os.fspath(path)}, line {number}: {reason}"


def _cells(path: Path, form: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each line, as many as the form names."""
    for number, text in _lines(path):
        cells = text.split()
        if len(cells) != len(form.split()):
            raise InputError(_refused(path, number, f"{len(cells)} columns; a line is '{form}'"))
        yield number, cells


def _finite(path: Path, number: int, text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise InputError(_refused(path, number, f"{name} {text!r} is not a finite number"))
    return value


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
    """
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for number, cells in _cells(path, "query Q0 document rank score tag"):
        query, _, document, rank, score, _ = cells
        own = found.setdefault(query, {})
        if document in own:
            raise InputError(_refused(path, number, f"document {document!r} stands twice for query {query!r}"))
        own[document] = (_finite(path, number, rank, "rank"), _finite(path, number, score, "score"))
    if not found:
        raise InputError(f"{os.fspath(path)}: the run is empty")
    if by_rank:
        return {query: sorted(own, key=lambda d: own[d][0]) for query, own in found.items()}
    return {query: sorted(sorted(own, reverse=True), key=lambda d: -own[d][1]) for query, own in found.items()}


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Read TREC judgements.

    Negative grades (spam, by TREC's web tracks) are read as 0, as trec_eval and gdeval treat them.

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
    """
    found: dict[str, dict[str, float]] = {}
    for number, (query, _, document, text) in _cells(path, "query 0 document grade"):
        grade = max(_finite(path, number, text, "grade"), 0.0)
        known = found.setdefault(query, {}).setdefault(document, grade)
        if known != grade:
            raise LabelError(
                _refused(path, number, f"document {document!r} of query {query!r} has grades {known:g} and {grade:g}")
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
    read = {name: read_run(path, by_rank=by_rank) for name, path in runs.items()}
    names = (
        list(queries) if queries is not None else list(dict.fromkeys(query for run in read.values() for query in run))
    )
    models = {name: Ranking([run.get(query, []) for query in names]) for name, run in read.items()}
    return Pool(models=models, ids=names, **options)


def read_learning_to_rank(path: Path) -> LearningToRank:
    """Read a learning-to-rank file in SVMlight's form, as LETOR, MSLR and Yahoo's are.

    Raises
    ------
    InputError
        If a line does not begin with a grade and ``qid:``, or a feature is not ``number:value`` in ascending order.

    Notes
    -----
    Blank lines and lines of comment only are left out. A document is named by ``docid = ...`` in the comment, else by
    its place among its query's rows, from 0.
    """
    queries: list[str] = []
    documents: list[str | None] = []
    grades: list[float] = []
    values: list[NDArray[np.float32]] = []
    columns: list[NDArray[np.int64]] = []
    for number, text in _lines(path):
        body, _, comment = text.partition("#")
        cells = body.split()
        if not cells:
            continue
        if len(cells) < 2 or not cells[1].startswith("qid:") or len(cells[1]) == 4:
            raise InputError(_refused(path, number, "a line begins 'grade qid:query'"))
        grades.append(_finite(path, number, cells[0], "grade"))
        queries.append(cells[1][4:])
        named = _DOCUMENT.search(comment)
        documents.append(named[1] if named else None)
        places, found = _features(path, number, cells[2:])
        columns.append(places)
        values.append(found)
    if not grades:
        raise InputError(f"{os.fspath(path)}: the file has no rows")
    width = max((int(places[-1]) for places in columns if len(places)), default=0)
    features = np.zeros((len(grades), width), dtype=np.float32)
    for row, (places, found) in enumerate(zip(columns, values, strict=True)):
        features[row, places - 1] = found
    return LearningToRank(_ids(queries), _named(queries, documents), np.array(grades), features)


def _features(path: Path, number: int, cells: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    try:
        pairs = [cell.split(":", 1) for cell in cells]
        places = np.array([int(place) for place, _ in pairs], dtype=np.int64)
        found = np.array([float(value) for _, value in pairs], dtype=np.float32)
    except ValueError:
        bad = next((cell for cell in cells if not re.fullmatch(r"[0-9]+:[-+0-9.eE]+", cell)), cells[-1])
        raise InputError(_refused(path, number, f"feature {bad!r} is not number:value")) from None
    if len(places) and (places[0] < 1 or np.any(np.diff(places) <= 0)):
        raise InputError(_refused(path, number, "features must be numbered from 1 in ascending order"))
    if not np.all(np.isfinite(found)):
        raise InputError(_refused(path, number, f"feature {cells[int(np.argmin(np.isfinite(found)))]!r} is not finite"))
    return places, found


def _ids(names: Sequence[str]) -> NDArray[Any]:
    """Return ids, as numbers if all are whole."""
    whole = all(len(name) < 19 and re.fullmatch(r"0|[1-9]\d*", name) for name in names)
    return np.array(names, dtype=np.int64) if whole else np.array(names)


def _named(queries: Sequence[str], documents: Sequence[str | None]) -> NDArray[Any]:
    """Return the documents' names, where all have one; else each row's place within its query."""
    names = [name for name in documents if name is not None]
    if len(names) == len(documents):
        return _ids(names)
    seen: dict[str, int] = {}
    places = []
    for query in queries:
        places.append(seen.get(query, 0))
        seen[query] = places[-1] + 1
    return np.array(places)


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
        If an id is empty or has spaces, which the form cannot hold.
    """
    if isinstance(run, Pool):
        tag = tag or model or run.models[0]
        run = _lists(run, model)
    lines = []
    for query, documents in run.items():
        for rank, document in enumerate(documents, 1):
            lines.append(
                f"{_word(query)} Q0 {_word(document)} {rank} {len(documents) - rank + 1} {_word(tag or 'run')}"
            )
    return _write(path, lines)


def _lists(pool: Pool, model: str | None) -> dict[Any, list[Any]]:
    """Return query -> documents, best first, of a pool's system."""
    if model is None and len(pool.models) > 1:
        raise InputError(f"the pool has several models {list(pool.models)}: name one")
    ranks: Any = pool.items.models[0 if model is None else pool.model(model)]
    if not isinstance(ranks, Ranks):
        raise InputError(f"a run is of rankings; this pool is for {pool.task.kind}")
    found = {}
    table = ranks.documents
    for query, row in zip(pool.ids.tolist(), ranks.rows.tolist(), strict=True):
        part = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
        places, names = ranks.positions[part], table.names[part]
        listed = np.flatnonzero(places > 0)
        found[query] = names[listed[np.argsort(places[listed])]].tolist()
    return found


def write_qrels(path: Path, labels: Mapping[Any, Mapping[Any, float] | None]) -> int:
    """Write judgements, query -> document -> grade, as TREC qrels; queries without judgements are left out.

    Returns
    -------
    int
        Number of lines.

    Raises
    ------
    InputError
        If an id has spaces, or a grade is not whole, which the form cannot hold.
    """
    lines = []
    for query, judged in labels.items():
        for document, grade in (judged or {}).items():
            if float(grade) != int(float(grade)):
                raise InputError(
                    f"grade {grade!r} of document {document!r} of query {query!r}: qrels hold whole grades"
                )
            lines.append(f"{_word(query)} 0 {_word(document)} {int(float(grade))}")
    return _write(path, lines)


def write_learning_to_rank(path: Path, rows: LearningToRank) -> int:
    """Write rows in SVMlight's form, values of 0 left out, documents in comments.

    Returns
    -------
    int
        Number of lines.
    """
    lines = []
    for query, document, grade, values in zip(rows.queries, rows.documents, rows.grades, rows.features, strict=True):
        features = "".join(f" {place + 1}:{values[place]}" for place in np.flatnonzero(values).tolist())
        lines.append(f"{grade:g} qid:{_word(query)}{features} #docid = {_word(document)}")
    return _write(path, lines)


def _word(name: Any) -> str:
    text = str(name)
    if not text or text.split() != [text]:
        raise InputError(f"id {name!r} is empty or has spaces; this form holds ids of one word")
    return text


def _write(path: Path, lines: Sequence[str]) -> int:
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    try:
        with opened(path, "wt", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise InputError(f"{os.fspath(path)} cannot be written: {error.strerror}") from None
    return len(lines)
