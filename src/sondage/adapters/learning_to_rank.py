"""Learning-to-rank files in SVMlight's form, as LETOR, MSLR and Yahoo's are: read and written.

A line is ``grade qid:query 1:value 2:value ... # comment``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.adapters.lines import Path, as_finite, as_word, read_lines, refused, write_lines
from sondage.core.checks import exactly
from sondage.core.predictions import Floats
from sondage.errors import InputError
from sondage.pools.table import is_int64

__all__ = ["LearningToRank", "read_learning_to_rank", "write_learning_to_rank"]

MOST_FEATURES = 100_000
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


def read_learning_to_rank(path: Path) -> LearningToRank:
    r"""Read a learning-to-rank file in SVMlight's form, as LETOR, MSLR and Yahoo's are.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    InputError
        If a line does not begin with a grade and ``qid:``, or a feature is not ``number:value`` in ascending order.

    Notes
    -----
    Blank lines and lines of comment only are left out. A document is named by ``docid = ...`` in the comment, else by
    its place among its query's rows, from 0.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.txt")
    ...     _ = file.write_text("2 qid:7 1:0.5 3:1.5 #docid = d4\n0 qid:7 2:1\n")
    ...     found = read_learning_to_rank(file)
    >>> found.grades.tolist(), found.features.tolist()
    ([2.0, 0.0], [[0.5, 0.0, 1.5], [0.0, 1.0, 0.0]])
    """
    queries: list[str] = []
    documents: list[str | None] = []
    grades: list[float] = []
    values: list[NDArray[np.float32]] = []
    columns: list[NDArray[np.int64]] = []
    for number, text in read_lines(path):
        body, _, comment = text.partition("#")
        cells = body.split()
        if not cells:
            continue
        if len(cells) < 2 or not cells[1].startswith("qid:") or len(cells[1]) == 4:
            raise InputError(refused(path, number, "a line begins 'grade qid:query'"))
        grades.append(as_finite(path, number, cells[0], "grade"))
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
    """Return numbers and values of a line's features, or refuse the line."""
    try:
        numbers = np.array([float(part) for part in " ".join(cells).replace(":", " ").split()])
        if any(":" not in cell or "_" in cell for cell in cells) or len(numbers) != 2 * len(cells):
            raise ValueError
        if np.any(numbers[::2] != np.floor(numbers[::2])):
            raise ValueError
    except ValueError:
        bad = next((cell for cell in cells if not re.fullmatch(r"[0-9]+:[-+0-9.eE]+", cell)), cells[-1])
        raise InputError(refused(path, number, f"feature {bad!r} is not number:value")) from None
    if len(cells) and (numbers[0] < 1 or np.any(np.diff(numbers[::2]) <= 0) or numbers[-2] > MOST_FEATURES):
        reason = f"features must be numbered from 1 to {MOST_FEATURES} at most, in ascending order"
        raise InputError(refused(path, number, reason))
    with np.errstate(over="ignore"):  # what single precision cannot hold is refused below
        places, found = numbers[::2].astype(np.int64), numbers[1::2].astype(np.float32)
    if not np.all(np.isfinite(found)):
        raise InputError(refused(path, number, f"feature {cells[int(np.argmin(np.isfinite(found)))]!r} is not finite"))
    return places, found


def _ids(names: Sequence[str]) -> NDArray[Any]:
    """Return ids, as numbers if all are whole."""
    return np.array(names, dtype=np.int64) if all(map(is_int64, names)) else np.array(names)


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


def write_learning_to_rank(path: Path, rows: LearningToRank) -> int:
    """Write rows in SVMlight's form, values of 0 left out, documents in comments.

    Parameters
    ----------
    path : str or path
        The file.
    rows : LearningToRank
        What to write.

    Returns
    -------
    int
        Number of lines.
    """
    lines = []
    for query, document, grade, values in zip(rows.queries, rows.documents, rows.grades, rows.features, strict=True):
        features = "".join(f" {place + 1}:{values[place]}" for place in np.flatnonzero(values).tolist())
        lines.append(f"{exactly(grade)} qid:{as_word(query)}{features} #docid = {as_word(document)}")
    return write_lines(path, lines)
