"""Labels: from what people write to codes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import LARGEST_NUMBER, exactly, listed, some_of, those_there
from sondage.core.measures import Task
from sondage.core.rankings import grade_type
from sondage.core.samples import NOT_YET
from sondage.errors import ConflictError, LabelError
from sondage.pools.missing import in_microseconds, is_missing
from sondage.pools.orders import named_in_another_order, of_one_frame
from sondage.pools.table import as_number, number_or_nan, pointed
from sondage.studies.judging import Judgements, judged, judgements

__all__ = [
    "Label",
    "ambiguity",
    "code_label",
    "contradiction",
    "decode_label",
    "guesses",
    "label_array",
    "paired",
    "require_by_id",
    "said_alike",
]

Label = int | float | tuple[float, ...] | Judgements


def code_label(
    label: Any,
    task: Task,
    models: tuple[str, ...],
    *,
    name: Any,
    documents: Sequence[Any] = (),
    asked: Sequence[str] = (),
    place: str | None = None,
) -> Label | None:
    """Return a label as a class code, a number, a tuple of an outcome for each system, or judgements of documents.

    None stays None; `documents` are those of a query, all of which are to be judged, `asked` the systems of which an
    outcome must be told, and `place` is what messages call the item, by default its id.

    Raises
    ------
    LabelError
        If the label is not a class of the pool, not a finite number, or not an allowed outcome or grade, or if it
        lacks the outcome of a system that was asked about.
    """
    if label is None:
        return None
    place = f"id {name!r}" if place is None else place
    try:
        if task.kind == "ranking":
            return judgements(label, task.grades, documents, name)
        coded = _CODERS[task.kind](label, task, models, place)
        if task.kind == "outcomes":
            _require_outcomes(cast(tuple[float, ...], coded), models, place, asked)
    except LabelError as error:
        error.ids, error.refused = (name,), (label,)
        raise
    return coded


def _class_code(label: Any, task: Task, models: tuple[str, ...], place: str) -> int:
    """Return the code of a class, or refuse what is none."""
    if isinstance(label, np.datetime64 | np.timedelta64):
        label = in_microseconds(np.asarray(label))
    missing = is_missing(label)
    if isinstance(label, np.generic | np.ndarray) and label.size == 1 and not missing:
        label = label.item()
        missing = is_missing(label)
    code = None if isinstance(label, np.ndarray) or missing else task.code(label)
    if code is None:
        meant = None if missing else _meant(label, task.classes)
        others = "None is a skip" if missing else "others are named with classes="
        others = others if meant is None else f"write {meant!r}"
        raise LabelError(
            f"label {label!r} of {place} is not a class; {those_there(label, task.classes, 'classes')}: {others}"
        )
    return code


def _meant(label: Any, classes: Sequence[Any]) -> Any:
    """Return the class that differs from a label in case and white space only, or is a spreadsheet's TRUE or FALSE."""
    text = _bare(label)
    near = {_bare(one): one for one in classes}
    return near.get(text, near.get({"true": "1", "false": "0"}.get(text, text)))


_SAID = dict.fromkeys(("true", "pass", "passed", "yes", "right", "correct"), 1) | dict.fromkeys(
    ("false", "fail", "failed", "no", "wrong", "incorrect"), 0
)
"""What people write for the outcomes 1 and 0."""


def _bare(name: Any) -> str:
    return "".join(str(name).casefold().split())


def _number(label: Any, task: Task, models: tuple[str, ...], place: str) -> float:
    """Return a finite number, or refuse what is none."""
    value = number_or_nan(label)
    if not abs(value) <= LARGEST_NUMBER:
        raise LabelError(
            f"label {label!r} of {place} is not a finite number, at most {LARGEST_NUMBER:g} either way{pointed(label)}"
        )
    return value


def _outcomes(label: Any, task: Task, models: tuple[str, ...], place: str) -> tuple[float, ...]:
    """Return an outcome for each system, by position or by name."""
    if isinstance(label, Mapping):
        unknown = [key for key in label if key not in models]
        if unknown:
            raise LabelError(f"label of {place} names {unknown[0]!r}; {those_there(unknown[0], models, 'systems')}")
        label = [label.get(model, float("nan")) for model in models]
    given = np.atleast_1d(np.asarray(label, dtype=object)).tolist()
    if len(given) != len(models):
        raise LabelError(
            f"label of {place} has {len(given)} outcomes for {len(models)} systems {some_of(models)}; tell it of "
            "each, or by name in a dict"
        )
    return tuple(_outcome(value, task, place) for value in given)


def _outcome(told: Any, task: Task, place: str) -> float:
    """Return one system's outcome, NaN where none is told."""
    try:
        value = float("nan") if told is None else as_number(told)
    except (TypeError, ValueError):
        value = float("inf")
    if not np.isnan(value) and value not in task.grades:
        shown = exactly(value) if np.isfinite(value) else repr(told)
        meant = _SAID.get(_bare(told)) if set(task.grades) == {0.0, 1.0} else None
        hint = "" if meant is None else f": write {meant}"
        raise LabelError(
            f"outcome {shown} of {place} is not allowed; outcomes are {', '.join(map(exactly, task.grades))}{hint}"
        )
    return value


def _require_outcomes(values: tuple[float, ...], models: tuple[str, ...], place: str, asked: Sequence[str]) -> None:
    """Refuse a label without the outcome of a system that was asked about: nothing could be estimated."""
    missing = [model for model, value in zip(models, values, strict=True) if model in asked and np.isnan(value)]
    if missing:
        raise LabelError(
            f"label of {place} lacks the outcome of {missing[0]!r}; tell it of each of {list(asked)}, or None in "
            "place of all for a skip"
        )


_CODERS: dict[str, Callable[[Any, Task, tuple[str, ...], str], Label]] = {
    "classification": _class_code,
    "regression": _number,
    "outcomes": _outcomes,
}


def decode_label(label: Label | None, task: Task) -> Any:
    """Return a coded label as the user knows it."""
    if label is not None and task.kind == "ranking":
        return judged(cast(Judgements, label), task.grades)
    if label is None or task.kind != "classification":
        return label
    return task.classes[cast(int, label)]


def said_alike(one: Label | None, other: Label | None) -> bool:
    """Return whether two coded labels are the same; outcomes may hold NaN, which is no other NaN."""
    return repr(one) == repr(other)


def paired(ids: Any, labels: Any) -> tuple[list[Any], list[Any]]:
    """Return ids and labels as lists of the same length, or raise `LabelError`; a mapping alone has both."""
    if labels is None and isinstance(ids, Mapping):
        ids, labels = list(ids), list(ids.values())
    names, told = listed("ids", ids), listed("labels", labels)
    if len(names) != len(told):
        raise LabelError(f"there are {len(names)} ids and {len(told)} labels")
    if named_in_another_order(labels, names) and not of_one_frame(ids, labels):
        raise LabelError("labels have the ids as their index, in another order: give labels.loc[ids]")
    return names, told


def contradiction(
    name: Any, was: Label | None, now: Label | None, task: Task, *, by: tuple[str | None, str | None] = (None, None)
) -> ConflictError:
    """Return the refusal of a label that differs from an earlier one; `by` says whose the two are."""
    before, after = "skipped" if was is None else f"labelled {decode_label(was, task)!r}", _said(now, task)
    remedy = "pass correct=True to replace it"
    if None not in by and by[0] != by[1]:
        before, after = f"{before} by {by[0]!r}", f"{after} by {by[1]!r}"
        remedy = "pass further=True to take it as another opinion, correct=True to replace the first"
    return ConflictError(
        f"id {name!r} is already {before}, now {after}: {remedy}",
        ids=(name,),
        refused=(decode_label(now, task),),
    )


def ambiguity(name: Any, first: Label | None, second: Label | None, task: Task) -> LabelError:
    """Return the refusal of two labels that are told of an item at once."""
    return LabelError(
        f"id {name!r} has different labels here, {_said(first, task)} and {_said(second, task)}",
        ids=(name,),
        refused=(decode_label(first, task), decode_label(second, task)),
    )


def _said(label: Label | None, task: Task) -> str:
    return "a skip" if label is None else repr(decode_label(label, task))


def label_array(labels: Sequence[Label | None], task: Task, models: int = 1) -> NDArray[Any]:
    """Return coded labels as one array, `NOT_YET` or NaN where there is none.

    Codes (n,), numbers (n,), outcomes (n, M), or grade codes (n, W), -1 beyond a query's documents.
    """
    if task.kind == "ranking":
        rows: list[Any] = [label or () for label in labels]
        table = np.full((len(rows), max(map(len, rows), default=0)), NOT_YET, dtype=grade_type(len(task.grades)))
        for row, codes in enumerate(rows):
            table[row, : len(codes)] = [code for _, code in codes]
        return table
    if task.kind == "classification":
        return np.array([NOT_YET if label is None else label for label in labels], dtype=np.int64)
    unknown = (np.nan,) * models if task.kind == "outcomes" else np.nan
    found = np.array([unknown if label is None else label for label in labels], dtype=np.float64)
    return found if len(found) or task.kind != "outcomes" else np.empty((0, models))


def guesses(task: Task, models: int, concerned: Sequence[int]) -> list[Any]:
    """Return the labels that a skipped item could have: classes, or outcomes of those concerned, or none."""
    if task.kind == "classification":
        return list(range(len(task.classes)))
    if task.kind == "outcomes":
        low, high = min(task.grades), max(task.grades)
        found = np.full((2 ** len(concerned), models), low)
        found[:, sorted(concerned)] = list(product((low, high), repeat=len(concerned)))
        return list(found)
    return []


def require_by_id(labels: Mapping[Any, Any], models: Sequence[str], task: Task, name: str) -> None:
    """Refuse labels of systems, a column by each one's name, where they are to be by id.

    Raises
    ------
    LabelError
        If all names are those of systems.
    """
    if task.kind == "outcomes" and labels and all(one in models for one in labels):
        rule = f"give id -> label, or an array with a column for each of {list(models)}"
        raise LabelError(f"{name}= has the systems' names in place of ids: {rule}")
