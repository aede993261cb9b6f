"""Texts that can be written: Python and JSON know halves of characters (lone surrogates), files do not."""

from __future__ import annotations

import json
from typing import Any

from numpy.typing import NDArray

from sondage.core.blocks import row_blocks
from sondage.errors import InputError
from sondage.pools.numeric import Where

__all__ = ["HALF", "is_text", "require_text", "require_texts"]

HALF = "has half a character, which is no text"
"""What is said of it."""


def is_text(value: Any) -> bool:
    r"""Return whether all texts of a value can be written.

    Examples
    --------
    >>> [is_text(value) for value in ("whole", "ha\ud800lf", ["ha\ud800lf"], 2)]
    [True, False, False, True]
    """
    try:
        json.dumps(value, ensure_ascii=False, default=str, skipkeys=True).encode()
    except UnicodeEncodeError:
        return False
    return True


def require_text(column: NDArray[Any], name: str, where: Where) -> None:
    """Refuse a column in which a text cannot be written, and name the first such row; within lists it may be."""
    if column.dtype.kind not in "OU":
        return
    for part in row_blocks(len(column)):
        values = column[part].tolist()
        try:
            "".join([value for value in values if isinstance(value, str)]).encode()
        except UnicodeEncodeError:
            row = next(row for row, value in enumerate(values) if isinstance(value, str) and not is_text(value))
            raise InputError(f"{name} of {where(part.start + row)} {HALF}") from None


def require_texts(**given: Any) -> None:
    """Refuse an argument that is given and no text, or cannot be written."""
    for name, value in given.items():
        if not (value is None or isinstance(value, str)):
            raise InputError(f"{name}={value!r} must be a text")
        if not is_text(value):
            raise InputError(f"{name}={value!r} {HALF}")
