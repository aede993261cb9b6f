"""The formats in which items go out and labels come back, by name and by the ends of file names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from sondage.adapters import label_studio
from sondage.adapters.rows import Answer, answer_columns, item_rows, label_rows
from sondage.adapters.text_files import read_csv, read_jsonl, write_csv, write_jsonl
from sondage.core.checks import refusals_of, require_known
from sondage.errors import InputError
from sondage.pools.files import PARQUET_ENDS
from sondage.pools.missing import finite
from sondage.studies.study import Study

__all__ = ["FORMATS", "Format", "format_of", "name_of", "read_answers", "table_writer"]


@dataclass(frozen=True)
class Format:
    """How items and labels stand in a file.

    Attributes
    ----------
    ends : tuple of str
        How names of such files end.
    write_items : callable
        From a study, ids, file and ``predictions=`` to a file with room for labels.
    write_labels : callable
        From a study, file and which labels (see `label_rows`) to a file of the labels so far.
    read : callable
        From a path, a study and ``partial=`` to answers.
    """

    ends: tuple[str, ...]
    write_items: Callable[..., None]
    write_labels: Callable[..., None]
    read: Callable[..., list[Answer]]


Write = Callable[[Sequence[Any], Sequence[str], IO[str]], None]


def _write_items(write: Write, study: Study, ids: Sequence[Any], file: IO[str], *, predictions: bool = False) -> None:
    if predictions:
        raise InputError("predictions are written for Label Studio only: --format label-studio")
    write(item_rows(study, ids), answer_columns(study), file)


def _write_labels(write: Write, study: Study, file: IO[str], which: str = "items") -> None:
    kind = ["kind"] if which == "everything" else []
    write(label_rows(study, which), [*answer_columns(study), "who", "at", *kind], file)


def _write_tasks(study: Study, ids: Sequence[Any], file: IO[str], *, predictions: bool = False) -> None:
    _dump(label_studio.make_tasks(study, ids, predictions=predictions), file)


def _write_annotated(study: Study, file: IO[str], which: str = "items") -> None:
    if which == "everything":
        raise InputError("a Label Studio task holds the labels that count only: leave --all out")
    _dump(label_studio.make_tasks(study, study.snapshot().asked_ids, answers=True), file)


def _dump(tasks: list[Any], file: IO[str]) -> None:
    json.dump(finite(tasks), file, ensure_ascii=False, indent=2, default=str)
    file.write("\n")


def _separated(delimiter: str) -> Format:
    write = partial(write_csv, delimiter=delimiter)
    return Format((".csv", ".tsv"), partial(_write_items, write), partial(_write_labels, write), read_csv)


FORMATS: dict[str, Format] = {
    "csv": _separated(","),
    "jsonl": Format(
        (".jsonl", ".ndjson"),
        partial(_write_items, write_jsonl),
        partial(_write_labels, write_jsonl),
        read_jsonl,
    ),
    "label-studio": Format((".json",), _write_tasks, _write_annotated, label_studio.read_annotations),
}


ENDS = tuple(end for form in FORMATS.values() for end in form.ends)
"""Ends of names of files of labels."""
NO_TEXTS = (*PARQUET_ENDS, ".feather", ".arrow", ".xlsx", ".xlsm", ".xls", ".ods", ".numbers", ".zip")
"""Ends of names of files in which no format puts labels."""
OF_TABLES = (*FORMATS["csv"].ends, *FORMATS["jsonl"].ends, ".parquet")
"""Ends of names of files of tables that are not of labels."""

_BY_TABS = _separated("\t")


def name_of(path: str | os.PathLike[str] | None, name: str | None = None, allowed: Sequence[str] = ENDS) -> str:
    """Return this name of a format, else that of the one that a file's name ends like, else CSV's.

    `allowed` are the ends of names that messages list.

    Raises
    ------
    InputError
        If there is no format of this name, or none is named and the file's name is that of a file that is no text.
    """
    if name is not None:
        require_known("format", name, FORMATS)
    text = "" if path is None else os.fspath(path).lower()
    if name is None and text.endswith(NO_TEXTS):
        raise InputError(f"{path} has the name of a file of another kind; allowed are {', '.join(allowed)}")
    return name or next((one for one, form in FORMATS.items() if text.endswith(form.ends)), "csv")


def format_of(path: str | os.PathLike[str] | None, name: str | None = None) -> Format:
    """Return the format of this name, else the one that a file's name ends like, else CSV; .tsv is CSV with tabs."""
    found = name_of(path, name)
    return _BY_TABS if found == "csv" and _delimiter(path) == "\t" else FORMATS[found]


def table_writer(path: str | os.PathLike[str] | None, name: str | None = None) -> Write:
    """Return what writes any table in the format of this name, else the one that the file's name ends like, else CSV.

    Raises
    ------
    InputError
        If that is Label Studio's, which is for labels, or there is no format of this name.
    """
    found = name_of(path, name, OF_TABLES)
    if found == "label-studio":
        ends = ", ".join(OF_TABLES)
        raise InputError(f"a table that is not of labels is not for Label Studio (.json); allowed are {ends}")
    return write_jsonl if found == "jsonl" else partial(write_csv, delimiter=_delimiter(path))


def _delimiter(path: str | os.PathLike[str] | None) -> str:
    return "\t" if path is not None and os.fspath(path).lower().endswith(".tsv") else ","


def read_answers(
    path: str | os.PathLike[str], study: Study, name: str | None = None, *, partial: bool = False
) -> list[Answer]:
    r"""Read answers to a study's questions from a file.

    Parameters
    ----------
    path : path
        The file.
    study : Study
        The study.
    name : {"csv", "jsonl", "label-studio"}, optional
        The format; by default as the file's name ends.
    partial : bool
        Of rankings: leave queries out that are not judged to the end.

    Raises
    ------
    InputError
        If there is no such format, or the file cannot be read or is not of it; the message names file and place.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sondage import Pool
    >>> pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"])
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
    ...     _ = Path(folder, "batch.csv").write_text("id,label\na,1\nb,\n")
    ...     [(answer.id, answer.label) for answer in read_answers(f"{folder}/batch.csv", study)]  # b is a skip
    [('a', '1'), ('b', None)]
    """
    with refusals_of(os.fspath(path)):
        return format_of(path, name).read(os.fspath(path), study, partial=partial)
