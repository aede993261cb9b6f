"""From what a user hands over to checked, coded arrays. Nothing is copied that need not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.blocks import row_blocks
from sondage.core.checks import BOUNDED, LARGEST_NUMBER, some_of, those_there
from sondage.core.hashing import hash_ids
from sondage.core.measures import Task
from sondage.core.measures.functionals import spelled
from sondage.core.predictions import Classes, Classifier, Floats, Grades, Means, Outcome, Outputs, Regressor
from sondage.errors import InputError
from sondage.pools.given import require_classifiers
from sondage.pools.missing import as_array, is_missing, require_given
from sondage.pools.numeric import (
    LARGEST_VARIANCE,
    LEAST_VARIANCE,
    Where,
    as_column,
    floats,
    numeric,
    require_each,
)
from sondage.pools.orders import require_class_order
from sondage.pools.texts import HALF, is_text
from sondage.pools.units import RowUnits

__all__ = [
    "SUM_ROUNDING",
    "SUM_TOLERANCE",
    "TWICE",
    "check_ids",
    "class_names",
    "class_texts",
    "code_labels",
    "code_models",
    "code_probabilities",
    "code_type",
    "code_units",
    "whole_numbers",
]

TWICE = "id {} stands in more than one row; ids must be unique"
SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may sum."""
SUM_ROUNDING = 1e-6
"""How far their sums are off by rounding; where one is off by more, all are divided by theirs."""
MOST_NUMBERED = 2**16
"""Predicted whole numbers from 0 below it number the classes; with larger ones they are names."""


def code_probabilities(values: Any, name: str, where: Where) -> NDArray[Any]:
    """Return probabilities (N, k) or (N,), in [0, 1], rows summing to 1 within 1e-3 (then renormalised).

    One column is the probability of the second of two classes.
    """
    array = as_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise InputError(f"{name} has shape {array.shape}; it must be (N, k), or (N,) for two classes")
    array = numeric(array, name, where)
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    blocks = row_blocks(len(array), array.size // max(len(array), 1))
    worst = max((_sum_error(array[part], part.start, name, where) for part in blocks), default=0.0)
    if worst > SUM_ROUNDING:
        array = array / array.sum(axis=1, dtype=np.float64)[:, None]
    return array


def _sum_error(block: NDArray[Any], start: int, name: str, where: Where) -> float:
    """Return how far rows, which begin at this one, are from a sum of 1; refuse those too far, and no probabilities."""
    if block.min(initial=0) < 0 or block.max(initial=1) > 1:
        outside = (block < 0) | (block > 1)
        row = int(np.argmax(outside.any(axis=1) if outside.ndim == 2 else outside))
        raise InputError(f"{name} of {where(start + row)} is {block[row].tolist()}; it must be in [0, 1]")
    if block.ndim == 1:
        return 0.0
    sums = np.einsum("ij->i", block, dtype=np.float64)
    off = np.abs(sums - 1)
    if off.max() > SUM_TOLERANCE:
        row = int(np.argmax(off > SUM_TOLERANCE))
        wanted = f"they must sum to 1 within {SUM_TOLERANCE} over the {block.shape[1]} classes"
        if not sums[row]:  # as scikit-learn's OneVsRestClassifier has where no class is likely
            wanted += f"; where nothing is known give each 1/{block.shape[1]}"
        raise InputError(f"{name} of {where(start + row)} sum to {sums[row]:.6g}; {wanted}")
    return float(off.max())


def check_ids(values: Any, size: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the ids, all different, by default the row numbers, and their keys in the hash."""
    if values is None:
        numbers = np.arange(size)
        return numbers, numbers
    kinds = {type(value) for value in values} if isinstance(values, Sequence) else set()
    if len(kinds) > 1 or (kinds == {int} and np.asarray(values).dtype.kind == "f"):  # NumPy would change these
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
    else:
        array = as_array(values, "the id")
    if array.ndim != 1:
        raise InputError(f"ids have shape {array.shape}; they must be one column (join the columns to one text)")
    array = whole_numbers(array)
    if len(array) != size:
        raise InputError(f"there are {len(array)} ids; the pool has {size} rows")
    if array.dtype.kind == "f":
        numeric(array, "the id", "row {}".format)
    require_given(array, array, "the id", "row {}".format)
    _require_names(array)
    try:
        keys = hash_ids(array)
    except UnicodeEncodeError as error:
        raise InputError(f"id {error.object!r} {HALF}") from None
    ordered = np.sort(keys)
    if (ordered[1:] == ordered[:-1]).any():
        _require_different(array)
    return array, keys


def whole_numbers(ids: NDArray[Any]) -> NDArray[Any]:
    """Return objects that are all whole numbers as an array of these, as files of them are read."""
    names = ids.tolist() if ids.dtype.kind == "O" else []
    if not names or not all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in names):
        return ids
    whole = np.array([int(name) for name in names])
    return whole if whole.dtype.kind in "iu" else ids


def _require_names(ids: NDArray[Any]) -> None:
    """Refuse ids of spaces only, which no label file can name, lists, and numbers that are equal in two types."""
    if ids.dtype.kind == "U":
        blank = np.char.isspace(ids) | (ids == "")
    elif ids.dtype.kind == "O":
        blank = np.fromiter((isinstance(name, str) and not name.strip() for name in ids), np.bool_, len(ids))
    else:
        return
    if blank.any():
        row = int(np.argmax(blank))
        raise InputError(f"the id of row {row} is {str(ids[row])!r}; it must be more than spaces")
    if ids.dtype.kind == "O":
        odd = next((row for row, name in enumerate(ids) if not isinstance(name, Hashable)), None)
        if odd is not None:
            raise InputError(f"the id of row {odd} is {ids[odd]!r}; it must be a text or a number")
        numbers = Counter(name for name in ids if isinstance(name, int | float))
        twice = next((name for name, count in numbers.items() if count > 1), None)
        if twice is not None:
            raise InputError(TWICE.format(twice))


def _require_different(ids: NDArray[Any]) -> None:
    """Refuse ids of the same text; those of equal keys only are rare, and allowed."""
    texts = sorted(str(name) for name in ids.tolist())
    for name, following in pairwise(texts):
        if name == following:
            raise InputError(TWICE.format(name))


def code_units(groups: Any, size: int, keys: NDArray[np.int64], where: Where) -> RowUnits:
    """Return which rows share a label, first rows being those of the smallest key; refuse a row without a group."""
    names = as_column(groups, "groups", size)
    require_given(groups, names, "group", where)
    if names.dtype.kind == "O":
        names = np.array([str(name) for name in names.tolist()])
    _, units = np.unique(names, return_inverse=True)
    order = np.lexsort((keys, units))
    first = order[np.concatenate([[True], np.diff(units[order]) > 0])]
    return RowUnits(units.astype(np.int64), first.astype(np.int64))


def code_models(
    models: Mapping[str, Any], classes: Any, judges: Judges, where: Where
) -> tuple[Task, tuple[Outputs, ...], int]:
    """Return the task, the coded outputs of every model and the number of rows.

    Raises
    ------
    InputError
        If the models are of different kinds or lengths, or an output is not allowed.
    """
    kinds = {type(model) for model in models.values()}
    if len(kinds) != 1 or not kinds <= set(_CODERS):
        names = ", ".join(f"{name}: {type(model).__name__}" for name, model in models.items())
        wanted = "models must be all Classifier(probabilities), all Regressor(means) or all Outcome()"
        raise InputError(f"{wanted}; they are {names or 'none'}")
    require_classifiers(models, classes, judges or None)
    task, outputs, sizes = _CODERS[kinds.pop()](models, classes, judges, where)
    if len(set(sizes.values())) > 1:
        raise InputError(f"models have different numbers of rows: {sizes}")
    size = next(iter(sizes.values()))
    if not size:
        raise InputError("the pool is empty: it has no rows")
    return task, outputs, size


Judges = Sequence[NDArray[Any]]
Coded = tuple[Task, tuple[Outputs, ...], dict[str, int]]


def _code_classifiers(models: Mapping[str, Classifier], classes: Any, judges: Judges, where: Where) -> Coded:
    """Return task, outputs and numbers of rows of classifiers."""
    probabilities: dict[str, NDArray[Any] | None] = {}
    predicted: dict[str, NDArray[Any] | None] = {}
    for name, model in models.items():
        if model.probabilities is None and model.predictions is None:
            raise InputError(f"model {name!r} has neither probabilities nor predictions")
        given = model.probabilities
        probabilities[name] = None if given is None else code_probabilities(given, f"probabilities of {name!r}", where)
        hard = model.predictions
        if hard is not None:
            hard = _named(as_column(hard, f"predictions of {name!r}", None))
            require_given(model.predictions, hard, f"prediction of {name!r}", where)
        predicted[name] = hard
    columns = [p.shape[1] if p.ndim == 2 else 2 for p in probabilities.values() if p is not None]
    columns += [p.shape[1] if p.ndim == 2 else 2 for p in judges if p.dtype.kind == "f"]
    names = _classes(classes, columns, [p for p in predicted.values() if p is not None])
    outputs = []
    for name in models:
        p, hard = probabilities[name], predicted[name]
        if p is not None and hard is not None and len(p) != len(hard):
            raise InputError(f"model {name!r} has {len(p)} probabilities and {len(hard)} predictions")
        require_class_order(models[name].probabilities, names, f"probabilities of {name!r}")
        if hard is not None:
            codes = code_labels(hard, names, f"prediction of {name!r}", where)
        else:
            assert p is not None
            codes = _argmax(p, len(names))
        outputs.append(Classes(codes, p))
    sizes = {name: len(output.predictions) for name, output in zip(models, outputs, strict=True)}
    return Task("classification", names), tuple(outputs), sizes


def _named(predicted: NDArray[Any]) -> NDArray[Any]:
    """Return predicted classes without nanoseconds of times, of which NumPy makes numbers."""
    kind = predicted.dtype.kind
    if kind not in "mM" or np.datetime_data(predicted.dtype)[0] != "ns":
        return predicted
    return predicted.astype(f"{kind}8[us]")


def _classes(given: Any, columns: list[int], predicted: list[NDArray[Any]]) -> tuple[Any, ...]:
    """Return the classes: as given, or numbered by the columns, or those that are predicted."""
    if len(set(columns)) > 1:
        raise InputError(f"probabilities have {columns} columns; all must have one for each class")
    if given is not None:
        names = class_names(given)
        if columns and columns[0] != len(names):
            raise InputError(f"there are {len(names)} classes {list(names)} but {columns[0]} columns of probabilities")
        return names
    seen = _predicted(predicted)
    broken = [value for value in seen if isinstance(value, float) and not value.is_integer()]
    if broken:
        raise InputError(
            f"a prediction is {broken[0]:g}, and classes are whole numbers or text: give probabilities as "
            "probabilities=, means as means=, or name the classes with classes="
        )
    numbered = all(isinstance(value, int) and 0 <= value < MOST_NUMBERED for value in seen)
    count = columns[0] if columns else max([2, *(value + 1 for value in seen)]) if numbered else len(seen)
    if numbered and all(value < count for value in seen):
        return tuple(range(count))
    if len(seen) != count or count < 2:
        raise InputError(f"predictions have the classes {seen}; name them all with classes=, in the columns' order")
    return _told_apart(seen)


def _predicted(columns: list[NDArray[Any]]) -> list[Any]:
    """Return the classes that are predicted, in their order, which names of several kinds do not have."""
    try:
        return sorted({value for column in columns for value in np.unique(column).tolist()})
    except TypeError:
        kinds = sorted({type(value).__name__ for column in columns for value in column.tolist()})
        told = f"predictions are of several kinds, {', '.join(kinds)}"
        raise InputError(f"{told}: name the classes with classes=") from None


def class_names(given: Any) -> tuple[Any, ...]:
    """Return the names of classes: two or more, all different, in files too (`_told_apart`)."""
    try:
        array = np.asarray(given)
        names = tuple(array.tolist()) if array.ndim == 1 else ()
        different = len(set(names)) == len(names) and not any(map(is_missing, names))
    except (TypeError, ValueError):  # lists in place of names
        different, names = False, ()
    if not different or len(names) < 2:
        raise InputError(f"classes={given!r} must be two or more different names")
    return _told_apart(names)


def _told_apart(names: Sequence[Any]) -> tuple[Any, ...]:
    """Return names of classes, or refuse those that no file can tell apart: in a cell spaces at the ends are nothing.

    An empty cell is a skip, and what comes back from a browser or a spreadsheet has other ends of lines.
    """
    found: dict[str, Any] = {}
    for name in names:
        text = " ".join(str(name).split())
        if not text:
            raise InputError(f"class {name!r} has no name; an empty label is a skip: name it, as in 'none'")
        if not is_text(text):
            raise InputError(f"class {name!r} {HALF}")
        if text in found:
            raise InputError(f"classes {found[text]!r} and {name!r} must differ in more than white space")
        found[text] = name
    return tuple(names)


def code_type(n_classes: int) -> type[np.uint8 | np.int32]:
    """Return the type of the codes of so many classes: a byte where it holds them.

    Examples
    --------
    >>> code_type(256).__name__, code_type(257).__name__
    ('uint8', 'int32')
    """
    return np.uint8 if n_classes <= 256 else np.int32


def _argmax(probabilities: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return the first most probable class of every row, as small integers."""
    kind = code_type(n_classes)
    if probabilities.ndim == 1:
        return (probabilities > 0.5).astype(kind)
    if n_classes == 2:
        return (probabilities[:, 1] > probabilities[:, 0]).astype(kind)
    codes = np.empty(len(probabilities), dtype=kind)
    for part in row_blocks(len(codes), n_classes):
        codes[part] = probabilities[part].argmax(axis=1)
    return codes


def code_labels(values: NDArray[Any], classes: tuple[Any, ...], name: str, where: Where) -> NDArray[Any]:
    """Return class codes; values are matched as they are, else by their text."""
    kind = code_type(len(classes))
    if values.dtype.kind == "O" and all(isinstance(value, bool | np.bool_) for value in values):
        values = values.astype(np.bool_)  # so that they are 0 and 1 too, as in an array of their own type
    if values.dtype.kind in "iub" and classes == tuple(range(len(classes))):
        if len(values) and not (values.min() >= 0 and values.max() < len(classes)):
            row = int(np.argmax((values < 0) | (values >= len(classes))))
            raise InputError(f"{name} of {where(row)} is {values[row]}; classes are {some_of(classes)}")
        return values.astype(kind, copy=False)
    try:
        names = values.astype(str) if values.dtype.kind == "O" else values
    except ValueError:  # of NumPy, which does not say where
        raise InputError(f"{name} of {_no_name(values, where)}; classes are {some_of(classes)}") from None
    found, inverse = np.unique(names, return_inverse=True)
    exact = {value: code for code, value in enumerate(classes)}
    texts = class_texts(classes)
    codes = np.full(len(found), -1, dtype=np.int64)
    for index, value in enumerate(found.tolist()):
        codes[index] = exact.get(value, texts.get(_text(value), texts.get(spelled(value), -1)))
    if (codes < 0).any():
        row = int(np.argmax(codes[inverse] < 0))
        value = values[row : row + 1].tolist()[0]
        raise InputError(f"{name} of {where(row)} is {value!r}; {those_there(value, classes, 'classes')}")
    return codes[inverse].astype(kind)


def _no_name(values: NDArray[Any], where: Where) -> str:
    """Return where the first list or array stands, and what it is."""
    told = enumerate(values.tolist())
    row, value = next((row, value) for row, value in told if hasattr(value, "__len__") and not isinstance(value, str))
    return f"{where(row)} is {value!r}"


def class_texts(classes: Sequence[Any]) -> dict[str, int]:
    """Return the codes of classes by the texts that may stand for them: their names, and these as `spelled`.

    Examples
    --------
    >>> class_texts(["0.0", "1.0"])
    {'1': 1, '0': 0, '1.0': 1, '0.0': 0}
    """
    return {form(name): code for form in (spelled, str) for code, name in reversed([*enumerate(classes)])}


def _text(value: Any) -> str:
    """Return the text of a class, whole floats as integers (a column of 0.0 and 1.0 is a column of 0 and 1)."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _code_regressors(models: Mapping[str, Regressor], classes: Any, judges: Judges, where: Where) -> Coded:
    """Return the same of regressors."""
    outputs = []
    for name, model in models.items():
        means = numeric(as_column(model.means, f"means of {name!r}", None), f"mean of {name!r}", where)
        if means.dtype.kind != "f":
            means = means.astype(np.float64)
        require_each(
            means, lambda part: np.abs(part) <= LARGEST_NUMBER, name=f"mean of {name!r}", where=where, allowed=BOUNDED
        )
        variances = model.variances
        if variances is not None:
            label = f"variance of {name!r}"
            variances = numeric(as_column(variances, label, len(means)), label, where)
            if variances.min(initial=0) < 0:
                row = int(np.argmax(variances < 0))
                raise InputError(f"{label} of {where(row)} is {variances[row]}; it must not be negative")
            require_each(
                variances,
                lambda part: floats(part) <= LARGEST_VARIANCE,
                name=label,
                where=where,
                allowed=f"at most {LARGEST_VARIANCE:g}",
            )
            tiny = (variances > 0) & (variances < LEAST_VARIANCE)
            variances = np.where(tiny, LEAST_VARIANCE, variances) if tiny.any() else variances
        outputs.append(Means(means, variances))
    sizes = {name: len(output.means) for name, output in zip(models, outputs, strict=True)}
    return Task("regression"), tuple(outputs), sizes


def _code_outcomes(models: Mapping[str, Outcome], classes: Any, judges: Judges, where: Where) -> Coded:
    """Return the same of systems whose own outcome is the label."""
    outputs = []
    for name, model in models.items():
        p = None if model.judge is None else code_probabilities(model.judge, f"judge of {name!r}", where)
        width = 2 if p is None or p.ndim == 1 else p.shape[1]
        grades = np.arange(width, dtype=np.float64) if model.grades is None else _grades(model.grades, name)
        if p is not None and len(grades) != width:
            raise InputError(f"judge of {name!r} has {width} columns for {len(grades)} grades")
        judged = f"probabilities of the judge of {name!r}"
        require_class_order(model.judge, [spelled(grade) for grade in grades.tolist()], judged, "grades")
        outputs.append(Grades(grades, p))
    sizes = {name: len(o.judge) for name, o in zip(models, outputs, strict=True) if o.judge is not None}
    values = sorted({float(grade) for output in outputs for grade in output.grades})
    return Task("outcomes", grades=tuple(values)), tuple(outputs), sizes or {"": -1}


def _grades(given: Any, name: str) -> Floats:
    """Return the grades of a system's outcome; refuse what is no number, by the judge's column of which it is."""
    what, where = f"grade of {name!r}", "column {}".format
    grades = floats(numeric(as_column(given, f"grades of {name!r}", None), what, where))
    if not len(grades):
        raise InputError(f"grades of {name!r} are []; an outcome has one or more that it can be")
    require_each(grades, lambda part: np.abs(part) <= LARGEST_NUMBER, name=what, where=where, allowed=BOUNDED)
    return grades


_CODERS: dict[type, Callable[[Mapping[str, Any], Any, Judges, Where], Coded]] = {
    Classifier: _code_classifiers,
    Regressor: _code_regressors,
    Outcome: _code_outcomes,
}
