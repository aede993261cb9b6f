"""Every error and warning of sondage.

::

    SondageError
    ├── InputError (ValueError)      an argument, a file or a table that cannot be used
    │   ├── MeasureError             a measure that does not fit the task, or does not exist
    │   └── LabelError               a label that is unknown, in conflict, or was never asked for
    │       └── ConflictError        another one was kept before, for the same item or by the same request
    ├── StudyError                   a study file that is missing, of another pool, or of a newer release
    └── LabelingInterrupted          the labelling function failed; carries the labels already got

    SondageWarning (UserWarning)     a result that holds, but that the reader must know something of
    └── WaitingWarning               another program holds the study: what was called waits for it
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any, Self

__all__ = [
    "ConflictError",
    "InputError",
    "LabelError",
    "LabelingInterrupted",
    "MeasureError",
    "SondageError",
    "SondageWarning",
    "StudyError",
    "WaitingWarning",
    "unsaid",
    "warn",
]

_unsaid: ContextVar[bool] = ContextVar("unsaid", default=False)
_WITHIN = ("sondage", "functools", "contextlib")
"""Packages whose lines are not those of a caller: cached properties and context managers lie between ours."""


class SondageError(Exception):
    """Base of all errors that sondage raises on purpose; anything else is a bug."""


class InputError(SondageError, ValueError):
    """An argument, file or table cannot be used; the message names the value and what is allowed.

    Attributes
    ----------
    labels : dict
        Where labels were asked for before: every label got from the same call that can be used, id -> label.
    """

    def __init__(self, message: str, labels: Mapping[Any, Any] | None = None) -> None:
        super().__init__(message)
        self.labels = dict(labels or {})

    def at(self, place: str) -> Self:
        """Return the same refusal with a message that begins with the place that it is about.

        Examples
        --------
        >>> LabelError("id 7 was never asked for", ids=(7,)).at("labels.csv, line 2")
        LabelError('labels.csv, line 2: id 7 was never asked for')
        """
        found = copy(self)
        found.args = (f"{place}: {self}",)
        return found


class MeasureError(InputError):
    """A measure does not exist, does not fit the task, or is undefined on this pool."""


class LabelError(InputError):
    """A label is not allowed, contradicts an earlier one, or belongs to an item that was never drawn.

    Attributes
    ----------
    ids : tuple
        The items that it is about, as they were named, of rankings queries; none where it is about no single item.
    refused : tuple
        The labels of them that are refused, two where an item has two at once; none where it is not the label.
    """

    def __init__(
        self,
        message: str,
        labels: Mapping[Any, Any] | None = None,
        *,
        ids: tuple[Any, ...] = (),
        refused: tuple[Any, ...] = (),
    ) -> None:
        super().__init__(message, labels)
        self.ids = ids
        self.refused = refused


class ConflictError(LabelError):
    """A label, or a request, is not what was kept before, which stays."""


class StudyError(SondageError):
    """A study cannot be opened, continued or changed; nothing was written."""


class LabelingInterrupted(SondageError):
    """The labelling function raised; nothing that was already labelled is lost.

    Attributes
    ----------
    labels : dict
        Every label got so far, id -> label. Pass it on: ``evaluate(..., labels=...)`` may look there first.
    """

    def __init__(self, message: str, labels: Mapping[Any, Any]) -> None:
        super().__init__(message)
        self.labels = dict(labels)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.labels)


class SondageWarning(UserWarning):
    """The result holds, but rests on something that the reader must know."""


class WaitingWarning(SondageWarning):
    """Another program holds the study, and what was called waits for it."""


@contextmanager
def unsaid() -> Iterator[None]:
    """Say nothing of what is warned of inside, in this thread; `warnings.catch_warnings` would change all of them.

    Examples
    --------
    >>> with unsaid():
    ...     warn("the draw is passive")
    """
    token = _unsaid.set(True)
    try:
        yield
    finally:
        _unsaid.reset(token)


def warn(message: str, category: type[SondageWarning] = SondageWarning) -> None:
    """Warn at the caller's line: the innermost one outside the package.

    Parameters
    ----------
    message : str
        One line: what the reader must know, and what to do.
    category : type of SondageWarning
        Its kind.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn("the draw is passive")
    >>> told[0].message
    SondageWarning('the draw is passive')
    """
    if _unsaid.get():
        return
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _WITHIN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
