"""Rows that go out to be labelled and come back: the same for every file format and every frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sondage.errors import LabelError
from sondage.studies.study import Study

__all__ = [
    "Answer",
    "answer_of_row",
    "counted_labels",
    "item_rows",
    "label_columns",
    "label_rows",
    "tell_answers",
]

Row = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What somebody says of an item.

    Attributes
    ----------
    id : str or int
        The item.
    label : object
        Its label; None is a skip.
    who : str, optional
        The labeller.
    place : str
        Where it was read, for messages.
    """

    id: Any
    label: Any
    who: str | None = None
    place: str = ""


def label_columns(study: Study) -> list[str]:
    """Return the names of the columns that labels stand in: ``label``, or one for each system with outcomes."""
    return [f"{model}.label" for model in study.models] if study.task.kind == "outcomes" else ["label"]


def item_rows(study: Study, ids: Sequence[Any]) -> list[Row]:
    """Return rows to be filled in: id, empty labels, and what the pool shows of the item."""
    columns: Row = dict.fromkeys(label_columns(study))
    return [{"id": name} | columns | shown for name, shown in zip(ids, study.fields(ids), strict=True)]


def label_rows(study: Study, *, everything: bool = False) -> list[Row]:
    """Return the labels that people gave, who gave them and when.

    Parameters
    ----------
    study : Study
        The study.
    everything : bool
        With the labels that were corrected or taken back later, and what settled a disagreement: all that was written,
        with a column ``kind``.
    """
    columns = label_columns(study)
    told = study.history() if everything else counted_labels(study)
    return [
        {"id": row["id"]}
        | _cells(columns, row["label"])
        | {"who": row["who"], "at": row["at"]}
        | ({"kind": row["kind"]} if everything else {})
        for row in told
    ]


def counted_labels(study: Study) -> list[Row]:
    """Return the rows of a study's history that count as somebody's label."""
    history = study.history()
    replaced = {row["supersedes"] for row in history}
    return [row for row in history if row["number"] not in replaced and row["kind"] == "label"]


def _cells(columns: Sequence[str], label: Any) -> Row:
    """Return a label in its columns: nothing for a skip or an outcome that was not told."""
    labels = [label] if columns == ["label"] else label or [None] * len(columns)
    return {name: None if part != part else part for name, part in zip(columns, labels, strict=True)}


def answer_of_row(row: Mapping[str, Any], columns: Sequence[str], place: str) -> Answer:
    """Return the answer that a row of these label columns is.

    Raises
    ------
    LabelError
        If it has no id, or a column is missing.
    """
    for name in ("id", *columns):
        if name not in row:
            raise LabelError(f"{place} has no {name!r}; it has {list(row)}")
    name, who = row["id"], row.get("who")
    if name is None or not str(name).strip():
        raise LabelError(f"{place} has no id")
    label = row["label"] if columns == ["label"] else _outcomes(row, columns)
    return Answer(name, label, str(who) if who else None, place)


def _outcomes(row: Mapping[str, Any], columns: Sequence[str]) -> Row | None:
    given = {name.removesuffix(".label"): row[name] for name in columns}
    return {model: label for model, label in given.items() if label is not None} or None


def tell_answers(study: Study, answers: Iterable[Answer], *, correct: bool = False, who: str | None = None) -> int:
    """Tell a study answers, all or none; return how many are new.

    Where several people answer the same item, each one's answer is kept as theirs, see `Study.disagreements`.

    Parameters
    ----------
    study : Study
        The study.
    answers : iterable of Answer
        What was read.
    correct : bool
        Let labels replace earlier, different ones.
    who : str, optional
        Name of the labeller, where the answers do not say.

    Raises
    ------
    LabelError
        If one is refused; the message names its place.
    """
    told = list(answers)
    names: Sequence[str | None] = [answer.who or who for answer in told]
    people = {(str(answer.id), name) for answer, name in zip(told, names, strict=True)}
    several = len({name for name, _ in people}) < len(people)
    ids, labels = [one.id for one in told], [one.label for one in told]
    try:
        return study.tell(ids, labels, correct=correct, who=names, further=several)
    except LabelError as error:
        raise LabelError(f"{_place(told, str(error))}{error}") from None


def _place(told: Sequence[Answer], message: str) -> str:
    """Return where the answer stands that a message is about, if it names one."""
    found = [one for one in told if f"id {one.id!r}" in message]
    exact = [one for one in found if repr(one.label) in message] or found
    return f"{exact[-1].place}: " if exact and exact[-1].place else ""
