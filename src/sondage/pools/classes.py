"""The classes of a pool: their names, and the codes that labels and predictions have of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import some_of, those_there
from sondage.core.measures.functionals import spelled
from sondage.errors import InputError
from sondage.pools.missing import is_missing
from sondage.pools.numeric import Where
from sondage.pools.texts import HALF, is_text

__all__ = ["class_names", "class_texts", "classes_of", "code_labels", "code_type"]

MOST_NUMBERED = 2**16
"""Predicted whole numbers from 0 below it may number the classes; with larger ones they are names."""


def classes_of(given: Any, columns: list[int], predicted: list[NDArray[Any]]) -> tuple[Any, ...]:
    """Return the classes: as given, or numbered by the columns, or those that are predicted.

    Whole numbers with 0 among them number the classes, 0 to the largest; so do 1 and 0 alone. Others are names.

    Examples
    --------
    >>> classes_of(None, [], [np.array([0, 3])]), classes_of(None, [], [np.array([1, 5]), np.array([3, 1])])
    ((0, 1, 2, 3), (1, 3, 5))
    """
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
    numbered = numbered and (bool(columns) or not seen or min(seen) == 0 or max(seen) == 1)
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
