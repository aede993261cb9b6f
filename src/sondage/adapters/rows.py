"""Rows that go out to be labelled and come back: the same for every file format and every frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from reprlib import repr as brief
from typing import Any

from sondage.adapters.judgements import judged_queries
from sondage.core.checks import first_of, other_case, some_of
from sondage.errors import InputError, LabelError
from sondage.pools.texts import HALF, is_text
from sondage.studies.names import LONGEST_NAME, is_name
from sondage.studies.study import Study

__all__ = [
    "Answer",
    "Row",
    "answer_columns",
    "answers_of_rows",
    "as_labeller",
    "asked_columns",
    "counted_labels",
    "id_columns",
    "item_rows",
    "label_columns",
    "label_rows",
    "set_aside",
    "tell_answers",
    "without_blanks",
]

Row = dict[str, Any]
MOST_PLACES = 5
"""How many further refusals a message names."""


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

    Raises
    ------
    LabelError
        If id, label or labeller cannot be one, whatever the study.
    """

    id: Any
    label: Any
    who: str | None = None
    place: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.id, Hashable):
            raise LabelError(f"{self.place} has the id {brief(self.id)}; it must be a text or a number")
        if not (self.who is None or is_name(self.who)):
            rule = f"it must be a name of 1 to {LONGEST_NAME} printable characters"
            raise LabelError(f"{self.place} has the labeller {brief(self.who)}; {rule}")
        for name, value in (("id", self.id), ("label", self.label)):
            if not is_text(value):
                raise LabelError(f"{self.place}: its {name} {brief(value)} {HALF}")


def id_columns(study: Study) -> list[str]:
    """Return the names of the columns that tell what is labelled: ``id``, of rankings ``query`` and ``document``."""
    return ["query", "document"] if study.task.kind == "ranking" else ["id"]


def label_columns(study: Study) -> list[str]:
    """Return the names of the columns that labels stand in: ``label``, or one for each system with outcomes."""
    return [f"{model}.label" for model in study.models] if study.task.kind == "outcomes" else ["label"]


def asked_columns(study: Study) -> list[str]:
    """Return the names of those label columns that the question needs; a file of labels may lack the others."""
    return [f"{model}.label" for model in study.question.models] if study.task.kind == "outcomes" else ["label"]


def answer_columns(study: Study) -> list[str]:
    """Return the names of all columns that are read back: what is labelled, and its labels."""
    return [*id_columns(study), *label_columns(study)]


def item_rows(study: Study, ids: Sequence[Any]) -> list[Row]:
    """Return rows to be filled in: id, empty labels, and what the pool shows; of rankings a row for each document.

    Columns of the pool that are named like those that are read back are ``pool_<name>``.

    Parameters
    ----------
    study : Study
        The study.
    ids : sequence
        Items that were asked for.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sondage import Pool
    >>> pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"], fields={"text": ["see you", "win"]})
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
    ...     item_rows(study, study.ask(2))[0]
    {'id': 'a', 'label': None, 'text': 'see you'}
    """
    columns = dict.fromkeys(label_columns(study))
    fields = [set_aside(shown, {*answer_columns(study), "who"}) for shown in study.fields(ids)]
    if study.task.kind != "ranking":
        return [{"id": name} | columns | shown for name, shown in zip(ids, fields, strict=True)]
    return [
        {"query": query, "document": document} | columns | _of_document(shown, document)
        for query, documents, shown in zip(ids, study.documents(ids), fields, strict=True)
        for document in documents
    ]


def set_aside(shown: Mapping[str, Any], names: Collection[str]) -> Row:
    """Return fields, those of these names called ``pool_<name>``; where there is such a field, with one more pool_.

    Examples
    --------
    >>> set_aside({"label": 1, "pool_label": 2}, ["label"])
    {'pool_pool_label': 1, 'pool_label': 2}
    """
    return {_apart(name, {*names, *shown}) if name in names else name: value for name, value in shown.items()}


def _apart(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"pool_{name}"
    return name


def _of_document(shown: Row, document: Any) -> Row:
    """Return the fields of a query and those of one of its documents."""
    return {name: value.get(str(document)) if isinstance(value, dict) else value for name, value in shown.items()}


def label_rows(study: Study, which: str = "items") -> list[Row]:
    """Return labels, who gave them and when; of rankings a row for each document.

    Parameters
    ----------
    study : Study
        The study.
    which : {"items", "people", "everything"}
        Each item's label, with the names of all who had a part in it; each person's label; or all that was ever
        written, with a column ``kind``.

    Raises
    ------
    InputError
        If it is none of the three.
    """
    if which not in _WHICH:
        raise InputError(f"which={which!r} is none of {', '.join(_WHICH)}")
    columns, ids = label_columns(study), id_columns(study)
    rows = _WHICH[which](study)
    return [
        dict(zip(ids, (row["id"], *named), strict=True))
        | cells
        | {"who": row["who"], "at": row["at"]}
        | ({"kind": row["kind"]} if which == "everything" else {})
        for row in rows
        for named, cells in _cells(study.task.kind, columns, row["label"])
    ]


def counted_labels(study: Study) -> list[Row]:
    """Return the rows of a study's history that count as somebody's label."""
    return [row for row in _counted(study) if row["kind"] == "label"]


def _counted(study: Study) -> list[Row]:
    history = study.history()
    replaced = {row["supersedes"] for row in history}
    return [row for row in history if row["number"] not in replaced and row["kind"] != "undo"]


def _verdicts(study: Study) -> list[Row]:
    """Return one row for each item that has a label: who has a part in it, and when it was last said.

    Who skipped an item that others labelled has none.
    """
    labels, found = study.labels(), dict[Any, Row]()
    for row in _counted(study):
        if row["label"] is None and labels.get(row["id"]) is not None:
            continue
        before = found.get(row["id"])
        people = [one["who"] for one in (before, row) if one is not None and one["who"]]
        found[row["id"]] = {
            "id": row["id"],
            "label": labels.get(row["id"]),
            "who": "; ".join(people) or None,
            "at": row["at"],
        }
    return [row for name, row in found.items() if name in labels]


_WHICH: dict[str, Callable[[Study], list[Row]]] = {
    "items": _verdicts,
    "people": _counted,
    "everything": lambda study: study.history(),
}


def _cells(kind: str, columns: Sequence[str], label: Any) -> Iterator[tuple[tuple[Any, ...], Row]]:
    """Yield a label in its columns, of rankings with each document; nothing for a skip or what was not told."""
    if kind == "ranking":
        yield from (((document,), {"label": grade}) for document, grade in (label or {None: None}).items())
        return
    labels = [label] if columns == ["label"] else label or [None] * len(columns)
    yield (), {name: None if part != part else part for name, part in zip(columns, labels, strict=True)}


def answers_of_rows(rows: Iterable[tuple[str, Row]], study: Study, *, partial: bool = False) -> list[Answer]:
    """Return the answers that rows are; a label of None is a skip.

    Parameters
    ----------
    rows : iterable of (str, dict)
        Where a row stands, and its columns.
    study : Study
        The study.
    partial : bool
        Of rankings: leave queries out that are not judged to the end, and warn where they are begun.

    Raises
    ------
    LabelError
        If a row has no id or lacks a column, or a document is judged twice and differently, or was never asked for.
    """
    if study.task.kind != "ranking":
        columns, asked = label_columns(study), asked_columns(study)
        return [_answer_of_row(row, columns, asked, place) for place, row in rows]
    people: dict[str | None, list[tuple[str, Row]]] = {}
    for place, row in rows:
        _require(row, ["query", "document", "label"], place)
        told = Answer(row["query"], row["label"], as_labeller(row.get("who")), place)
        if not isinstance(row["document"], Hashable):
            raise LabelError(f"{place} has the document {brief(row['document'])}; it must be a text or a number")
        people.setdefault(told.who, []).append((place, row))
    queries = study.snapshot().asked_ids
    documents = dict(zip(map(str, queries), study.documents(queries), strict=True))
    return [
        Answer(query, grades, who, place)
        for who, own in people.items()
        for query, (place, grades) in judged_queries(own, documents, partial=partial).items()
    ]


def _require(row: Mapping[str, Any], names: Sequence[str], place: str) -> None:
    """Refuse a row that lacks a column, or has nothing in the first."""
    for name in names:
        if name not in row:
            raise LabelError(f"{place} has no {name!r}; it has {some_of(row)}{other_case(name, row)}")
    if row[names[0]] is None or not str(row[names[0]]).strip():
        raise LabelError(f"{place} has no {names[0]}")


def _answer_of_row(row: Mapping[str, Any], columns: Sequence[str], asked: Sequence[str], place: str) -> Answer:
    """Return the answer that a row of these label columns is; those that are asked for must be there."""
    _require(row, ["id", *asked], place)
    label = row["label"] if columns == ["label"] else _outcomes(row, columns)
    return Answer(row["id"], label, as_labeller(row.get("who")), place)


def as_labeller(who: Any) -> Any:
    """Return a name as files have it: a whole number is its text, and nothing is None."""
    whole = isinstance(who, int) and not isinstance(who, bool)
    return str(who) if whole else None if who == "" else who


def _outcomes(row: Mapping[str, Any], columns: Sequence[str]) -> Row | None:
    given = {name.removesuffix(".label"): row.get(name) for name in columns}
    return {model: label for model, label in given.items() if label is not None} or None


def tell_answers(
    study: Study,
    answers: Iterable[Answer],
    *,
    correct: bool = False,
    who: str | None = None,
    further: bool = False,
) -> int:
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
    further : bool
        Take them as further opinions; so they are where several people answer the same item here.

    Raises
    ------
    LabelError
        If one is refused; the message names its place, and those of others whose item or label cannot be one.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sondage import Pool
    >>> pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"])
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
    ...     ids = study.ask(2)
    ...     tell_answers(study, [Answer("a", 1, who="anna"), Answer("b", None)], who="ben")
    2
    """
    told = list(answers)
    names, several = _people(told, who)
    ids, labels = [one.id for one in told], [one.label for one in told]
    try:
        return study.tell(ids, labels, correct=correct, who=names, further=further or several)
    except LabelError as error:
        raise _with_others(study, told, _placed(told, error)) from None


def without_blanks(
    study: Study, answers: Iterable[Answer], *, who: str | None = None, further: bool = False
) -> list[Answer]:
    """Return answers without the skips that would take the place of a label, as empty cells of a file should not.

    Parameters
    ----------
    study, answers, who, further
        As in `tell_answers`.

    Raises
    ------
    LabelError
        If an item that is skipped was never asked for; the message names its place.
    """
    told = list(answers)
    names, several = _people(told, who)
    blank = [place for place, one in enumerate(told) if one.label is None]
    ids, people = [told[place].id for place in blank], [names[place] for place in blank]
    try:
        labels = study.replaced(ids, people, further=further or several)
    except LabelError as error:
        raise _placed(told, error) from None
    spared = {place for place, label in zip(blank, labels, strict=True) if label is not None}
    return [one for place, one in enumerate(told) if place not in spared]


def _people(told: Sequence[Answer], who: str | None) -> tuple[list[str | None], bool]:
    """Return who gives each answer, and whether several people answer the same item."""
    names = [answer.who or who for answer in told]
    people = {(str(answer.id), name) for answer, name in zip(told, names, strict=True)}
    return names, len({name for name, _ in people}) < len(people)


def _placed(told: Sequence[Answer], error: LabelError) -> LabelError:
    """Return a refusal with the places of the answers that it is about; files have ids and labels as text."""
    names, labels = {str(name) for name in error.ids}, {str(label) for label in error.refused}
    found = [one for one in told if str(one.id) in names]
    exact = [one for one in found if str(one.label) in labels] or found
    places = [one.place for one in (exact if len(error.refused) > 1 else exact[-1:]) if one.place]
    return error.at(" and ".join(places)) if places else error


def _with_others(study: Study, told: Sequence[Answer], error: LabelError) -> LabelError:
    """Return a refusal that also names the places of other answers of items or with labels that cannot be."""
    session = study.snapshot()
    asked = {str(session.ids[position]): position for position in session.asked}
    places = []
    for one in told:
        position = asked.get(str(one.id))
        try:
            if position is not None:
                session.coded(position, one.label, one.id)
                continue
        except LabelError:
            pass
        places.append(one.place)
    others = [place for place in places if place and not str(error).startswith(f"{place}:")]
    found = copy(error)
    found.args = (f"{error}; refused too: {first_of(others, MOST_PLACES)}",)
    return found if others else error
