"""Names of labellers: one rule wherever a name enters, from a file, a command, a call or the page."""

from __future__ import annotations

import unicodedata
from reprlib import repr as brief
from typing import Any

from sondage.errors import InputError

__all__ = ["LONGEST_NAME", "is_name", "require_name"]

LONGEST_NAME = 80
"""Characters."""


def is_name(who: Any) -> bool:
    r"""Return whether this can be a labeller's name: text that can be shown in one line.

    Examples
    --------
    >>> [is_name(who) for who in ("Anna Łaska", "", "two\nlines", ["anna"], "x" * 81)]
    [True, False, False, False, False]
    """
    if not isinstance(who, str) or not who.strip() or len(who) > LONGEST_NAME:
        return False
    return all(letter.isprintable() or unicodedata.category(letter) == "Zs" for letter in who)


def require_name(who: Any) -> None:
    """Raise `InputError` unless this can be a labeller's name."""
    if not is_name(who):
        raise InputError(f"labeller {brief(who)} must be a name: 1 to {LONGEST_NAME} printable characters")
