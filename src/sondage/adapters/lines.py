"""Files of lines: read with numbers for messages, plain or compressed."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sondage.adapters.whole_files import whole_file
from sondage.errors import InputError
from sondage.pools.csv_files import not_utf8, open_text
from sondage.pools.table import number_or_nan
from sondage.pools.texts import HALF, is_text

__all__ = ["Path", "as_finite", "as_word", "read_lines", "refused", "write_lines"]

Path = str | os.PathLike[str]


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that are not empty."""
    try:
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                if text := line.strip():
                    yield number, text
    except UnicodeDecodeError as error:
        raise InputError(f"{os.fspath(path)}: {not_utf8(error)}") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:  # of a name, too
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{os.fspath(path)}: {reason}") from None


def refused(path: Path, number: int, reason: str) -> str:
    """Return a message that names file and line."""
    return f"{os.fspath(path)}, line {number}: {reason}"


def as_finite(path: Path, number: int, text: str, name: str) -> float:
    """Return a finite number, or refuse the line."""
    value = number_or_nan(text)
    if not np.isfinite(value):
        raise InputError(refused(path, number, f"{name} {text!r} is not a finite number"))
    return value


def as_word(name: Any) -> str:
    """Return an id as text, if it is one word."""
    text = str(name)
    if not text or text.split() != [text]:
        raise InputError(f"id {name!r} is empty or has spaces; this form holds ids of one word")
    if not is_text(text):
        raise InputError(f"id {name!r} {HALF}")
    return text


def write_lines(path: Path, lines: Sequence[str]) -> int:
    """Write lines as a whole, compressed if the name ends in .gz, and return their number."""
    text = "".join(f"{line}\n" for line in lines).encode()
    try:
        with whole_file(path, compressing=True) as place:
            place.write_bytes(gzip.compress(text) if os.fspath(path).endswith(".gz") else text)
    except OSError as error:
        raise InputError(f"{os.fspath(path)} cannot be written: {error.strerror}") from None
    return len(lines)
