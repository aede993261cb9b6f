"""Label Studio: tasks and labelling interface out, annotations in (JSON and JSON_MIN exports, as of 1.23).

A task's ``data`` has the item's id as text in ``item``, since JSON_MIN overwrites ``id`` with Label Studio's own
number; in ``study`` a key of the study, so that another study's labels are refused; in ``draw`` stage and place of
the draw; and the pool's fields, those whose names Label Studio would not find as ``field_1``, ``field_2``, ....
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from reprlib import repr as brief
from typing import Any, cast
from xml.sax.saxutils import quoteattr

import numpy as np

from sondage.adapters.rows import Answer, Row, as_labeller, counted_labels, set_aside
from sondage.adapters.text_files import parse_json, read_text
from sondage.core.beliefs.columns import class_column
from sondage.core.checks import exactly
from sondage.core.predictions import Classes, Grades, Means
from sondage.errors import InputError, LabelError
from sondage.studies.labels import decode_label
from sondage.studies.session import Session
from sondage.studies.study import Study

__all__ = ["labelling_interface", "make_tasks", "read_annotations", "study_key"]

CONTROL = "label"
SHOWN = "item"
KEPT = ("item", "study", "draw", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
RESERVED = ("id", CONTROL, *KEPT)
FOUND = re.compile(r"[A-Za-z0-9_.]+")
"""What Label Studio finds after the $ of an interface, as far as it is surely the name as a whole."""
_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that no XML has, not even escaped."""


def study_key(study: Study) -> str:
    """Return a text that tells this study from every other."""
    facts = study.facts
    parts = [facts["fingerprint"], facts["created"], study.seed, study.question.to_data()]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]


def make_tasks(study: Study, ids: Sequence[Any], *, answers: bool = False, predictions: bool = False) -> list[Row]:
    """Return Label Studio tasks of these items.

    Parameters
    ----------
    study : Study
        The study.
    ids : sequence
        Items that were asked for.
    answers : bool
        With the labels so far, as annotations.
    predictions : bool
        With what the models say, as predictions. A labeller who sees them is no longer independent of the models.

    Raises
    ------
    InputError
        If the study is of rankings, or a system's name is taken.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sondage import Pool
    >>> pool = Pool(probabilities=[0.1, 0.9], classes=["ham", "spam"], fields={"text": ["see you", "win"]})
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
    ...     [task["data"]["text"] for task in make_tasks(study, study.ask(2))]
    ['see you', 'win']
    """
    _require_items(study)
    session, key = study.snapshot(), study_key(study)
    told, keys = dict[Any, list[Row]](), _field_keys(study)
    for row in counted_labels(study) if answers else ():
        told.setdefault(row["id"], []).append(_annotation(session, row))
    tasks, ends = [], session.firsts[1:]
    for name, position, shown in zip(ids, session.located(ids), study.fields(ids), strict=True):
        draw = {"stage": bisect(ends, position), "position": position}
        fields = {keys[field]: value for field, value in shown.items()}
        task: Row = {"data": {"item": str(name), "study": key, "draw": draw} | fields}
        if predictions:
            task["predictions"] = list(_predictions(session, position))
        if name in told:
            task["annotations"] = told[name]
        tasks.append(task)
    return tasks


def _predictions(session: Session, position: int) -> Iterator[Row]:
    """Yield what each model says of an item; of systems with outcomes the judge's guess of all."""
    items, task = session.rows(np.array([position]))[0], session.task
    if task.kind == "outcomes":
        outputs = [cast(Grades, output) for output in items.models]
        judged = [one.grades[_likeliest(one.judge)] if one.judge is not None else np.nan for one in outputs]
        yield {"model_version": "judge", "result": _result(session, judged)}
        return
    for name, output in zip(session.models, items.models, strict=True):
        if isinstance(output, Classes):
            code = int(output.predictions[0])
            score = None if output.probabilities is None else float(class_column(output.probabilities, code)[0])
            yield {"model_version": name, "result": _result(session, decode_label(code, task)), "score": score}
        elif isinstance(output, Means):
            yield {"model_version": name, "result": _result(session, float(output.means[0]))}


def _likeliest(judge: Any) -> int:
    """Return the place of the most probable grade."""
    return int(judge[0] > 0.5) if judge.ndim == 1 else int(judge[0].argmax())


def _field_keys(study: Study) -> dict[str, str]:
    """Return the name of each field in a task's data.

    Fields named like ours, like a control, or like what JSON_MIN adds, are moved aside.
    """
    names = [name for row in study.fields(study.snapshot().asked_ids[:1]) for name in row]
    aside = set_aside({name: name for name in names}, (*RESERVED, *_controlling(study)))
    return {name: key for key, name in zip(_findable(aside), aside.values(), strict=True)}


def _findable(names: Iterable[str]) -> list[str]:
    """Return names, in place of those that Label Studio would not find ``field_1``, ``field_2``, ....

    Examples
    --------
    >>> _findable(["text", "due date", "größe", "field_1"])
    ['text', 'field_2', 'field_3', 'field_1']
    """
    names = list(names)
    free = (name for name in map("field_{}".format, count(1)) if name not in names)
    return [name if FOUND.fullmatch(name) else next(free) for name in names]


def _controlling(study: Study) -> list[str]:
    """Return the names of the controls that are answered."""
    return list(study.models) if study.task.kind == "outcomes" else [CONTROL]


def _annotation(session: Session, row: Mapping[str, Any]) -> Row:
    skipped = row["label"] is None
    return {
        "result": [] if skipped else _result(session, row["label"]),
        "was_cancelled": skipped,
        "created_at": row["at"],
        "created_username": row["who"],
    }


def _result(session: Session, label: Any) -> list[Row]:
    """Return a label as the regions of an annotation."""
    if session.task.kind == "outcomes":
        pairs = [(model, grade) for model, grade in zip(session.models, label, strict=True) if grade == grade]
        return [_region(model, "choices", [exactly(grade)]) for model, grade in pairs]
    if session.task.kind == "regression":
        return [_region(CONTROL, "number", label)]
    return [_region(CONTROL, "choices", [str(label)])]


def _region(name: str, kind: str, value: Any) -> Row:
    return {"from_name": name, "to_name": SHOWN, "type": kind, "value": {kind: value}, "origin": "manual"}


def labelling_interface(study: Study) -> str:
    """Return the labelling interface for a study's tasks: a text for each field, and what to choose from.

    Parameters
    ----------
    study : Study
        The study, of which something was asked already.

    Returns
    -------
    str
        XML, for the settings of a Label Studio project.

    Raises
    ------
    InputError
        As for `make_tasks`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sondage import Pool
    >>> pool = Pool(probabilities=[0.1, 0.9], classes=["ham", "spam"], fields={"text": ["see you", "win"]})
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
    ...     _ = study.ask(1)
    ...     print(labelling_interface(study).splitlines()[2])
      <Text name="item" value="$text"/>
    """
    _require_items(study)
    lines = ["<View>"]
    for place, (name, key) in enumerate((_field_keys(study) or {"item": "item"}).items()):
        own = quoteattr(SHOWN if place == 0 else f"{SHOWN}-{place}")
        title = quoteattr(_NOT_XML.sub("\ufffd", name).replace("$", "$ "))  # "$x" would be the value of a field x
        lines += [f'  <Header value={title} size="5"/>', f'  <Text name={own} value="${key}"/>']
    return "\n".join([*lines, *_controls(study), "</View>\n"])


def _controls(study: Study) -> Iterator[str]:
    """Yield the lines of what is chosen from, or of the number that is asked for."""
    task = study.task
    if task.kind == "regression":
        yield f'  <Number name="{CONTROL}" toName="{SHOWN}" required="true"/>'
        return
    outcomes = task.kind == "outcomes"
    options = [exactly(grade) for grade in task.grades] if outcomes else [str(name) for name in task.classes]
    for name in _controlling(study):
        if outcomes:
            yield f'  <Header value={quoteattr(name)} size="5"/>'
        yield f'  <Choices name={quoteattr(name)} toName="{SHOWN}" choice="single" required="true" showInline="true">'
        yield from (f"    <Choice value={quoteattr(option)}/>" for option in options)
        yield "  </Choices>"


def _require_items(study: Study) -> None:
    """Refuse rankings, whose queries have many documents, and systems named like what every task has."""
    if study.task.kind == "ranking":
        raise InputError("Label Studio tasks are not made of rankings; use CSV or JSON lines (--format csv)")
    odd = next((name for name in map(str, (*study.task.classes, *_controlling(study))) if _NOT_XML.search(name)), None)
    if odd is not None:
        raise InputError(f"{odd!r} has a character that Label Studio's interface, which is XML, cannot have; use CSV")
    taken = next((name for name in _controlling(study) if name in ("id", *KEPT)), None)
    if taken is not None:
        raise InputError(f"a system of the name {taken!r} cannot be a control: tasks have a field {taken!r}; use CSV")


def read_annotations(path: str | os.PathLike[str], study: Study, *, partial: bool = False) -> list[Answer]:
    """Read the answers of an export in the format JSON or JSON_MIN.

    A cancelled annotation is a skip, also where somebody else answered; drafts and empty annotations are not answers.
    Of several annotations of one item by the same person the last counts.

    Parameters
    ----------
    path : path
        The file.
    study : Study
        The study that the tasks were made from.
    partial : bool
        Without effect: what is not annotated is not answered.

    Returns
    -------
    list of Answer
        In the order of the file; `who` is the annotator's e-mail address, or number.

    Raises
    ------
    InputError
        If the file cannot be read or is no such export.
    LabelError
        If a task is of another study, or an annotation has not exactly one choice; the message names both.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sondage import Pool
    >>> pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"], classes=["ham", "spam"])
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
    ...     _ = study.tell(study.ask(2), ["ham", "spam"], who="anna")
    ...     export = json.dumps(make_tasks(study, ["a", "b"], answers=True))
    ...     _ = Path(folder, "export.json").write_text(export)
    ...     [(answer.id, answer.label, answer.who) for answer in read_annotations(f"{folder}/export.json", study)]
    [('a', 'ham', 'anna'), ('b', 'spam', 'anna')]
    """
    _require_items(study)
    found = parse_json(read_text(path), "the file")
    tasks = found if isinstance(found, list) else [found]
    if not tasks:
        raise InputError("the export has no tasks")
    latest: dict[tuple[str, str | None], tuple[str, Answer]] = {}
    for at, answer in _answers(study, tasks):
        if at >= latest.get((answer.id, answer.who), ("", answer))[0]:
            latest[answer.id, answer.who] = (at, answer)
    return [answer for _, answer in latest.values()]


def _answers(study: Study, tasks: Sequence[Any]) -> Iterator[tuple[str, Answer]]:
    """Yield each annotation's time and answer; empty ones are no answers."""
    outcomes, key, controls = study.task.kind == "outcomes", study_key(study), _controlling(study)
    fields = {"id", *KEPT, *_field_keys(study).values()}
    for number, task in enumerate(tasks, 1):
        for name, told, at, who, place in _annotations(task, f"task {number}", key, fields):
            if told is None:
                yield at, Answer(name, None, who, place)
            elif label := _label(told, controls, place):
                yield at, Answer(name, label if outcomes else next(iter(label.values())), who, place)


def _annotations(task: Any, place: str, key: str, fields: set[str]) -> Iterator[tuple[str, Row | None, str, Any, str]]:
    """Yield of each annotation the item, what each control says (None if skipped), when, who, and where it stands."""
    if not isinstance(task, dict):
        raise InputError(f"{place} is no JSON object; export as JSON or JSON_MIN")
    whole = isinstance(task.get("data"), dict)
    data = task["data"] if whole else task
    if "item" not in data or "study" not in data:
        raise LabelError(
            f"{place} has no 'item' and 'study': only tasks that sondage wrote have a probability of being drawn"
        )
    name, place = str(data["item"]), f"{place} (item {str(data['item'])!r})"
    if data["study"] != key:
        raise LabelError(f"{place} is of another study, {data['study']!r}; this one is {key!r}")
    if not whole:
        if data.get("annotation_id") is not None:
            told = {control: value for control, value in data.items() if control not in fields}
            yield name, told, str(data.get("updated_at") or ""), _who(data.get("annotator")), place
        return
    for annotation in _objects(task, "annotations", place):
        where = f"{place}, annotation {annotation.get('id', '?')}"
        skipped = annotation.get("was_cancelled") or False
        if not isinstance(skipped, bool):
            raise LabelError(f"{where}: 'was_cancelled' is {skipped!r}; it must be true or false")
        regions = None if skipped else _controlled(_objects(annotation, "result", where), where)
        at = str(annotation.get("updated_at") or annotation.get("created_at") or "")
        yield name, regions, at, _who(annotation.get("completed_by") or annotation.get("created_username")), where


def _objects(parent: Mapping[str, Any], name: str, place: str) -> list[Row]:
    """Return the objects of a list, which may be missing."""
    found = parent.get(name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise LabelError(f"{place}: {name!r} is {brief(found)}; it must be a list of objects")
    return found


def _controlled(regions: Sequence[Row], place: str) -> Row:
    """Return what each control of an annotation says, in a list."""
    told: Row = {}
    for region in regions:
        name = region.get("from_name")
        if not isinstance(name, str | None):
            raise LabelError(f"{place}: 'from_name' is {brief(name)}; it must be the name of a control")
        if name is not None:
            told.setdefault(name, []).append(region.get("value"))
    return told


def _who(annotator: Any) -> Any:
    """Return an annotator's e-mail address, or the number that the export has in its place."""
    if isinstance(annotator, dict):
        annotator = annotator.get("email") or annotator.get("id")
    who = as_labeller(annotator)
    return who if who is annotator or who is None else f"annotator {who}"


def _label(told: Mapping[str, Any], controls: Sequence[str], place: str) -> Row:
    """Return the value of each of these controls that is answered; nothing for an empty annotation."""
    if told and not any(name in told for name in controls):
        raise LabelError(f"{place} answers none of {list(controls)}; it has {list(told)}")
    found = {name: _value(told[name], f"{place}: {name!r}") for name in controls if name in told}
    return {name: value for name, value in found.items() if value is not None}


def _value(value: Any, place: str) -> Any:
    """Return the one choice or number of a control; an export has it bare, as an object, or in a list."""
    if isinstance(value, list):
        if len(value) > 1:
            raise LabelError(f"{place} has {len(value)} answers, {value}; exactly one is allowed")
        return _value(value[0], place) if value else None
    if isinstance(value, dict):
        kinds = [kind for kind in ("choices", "number", "rating", "text") if kind in value]
        if not kinds:
            raise LabelError(f"{place} is of a kind that is no label; allowed are choices, number, rating and text")
        return _value(value[kinds[0]], place)
    return value
