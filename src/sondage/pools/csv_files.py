"""Files of CSV: opened, and what divides their cells and names their columns."""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import IO, NamedTuple, cast

from sondage.errors import InputError

__all__ = ["Header", "csv_header", "long_cells", "not_utf8", "open_text"]

_KEYS = {"id", "query"}
_DIVIDING = re.compile(r"sep=\S?", re.IGNORECASE)
"""A line by which Excel is told what divides cells."""
_LIMIT = RLock()


class Header(NamedTuple):
    """What divides the cells of a CSV file, the names of its columns, and how many lines without any stand before."""

    delimiter: str
    names: list[str]
    blank: int


def csv_header(path: str | os.PathLike[str]) -> Header:
    """Return the header of a CSV file.

    Of comma, semicolon and tab the most frequent one by which a column is called `id` or `query`, as far as there is
    one: names of columns may hold the others.
    """
    try:
        with open_text(path) as file, long_cells():
            if not file.seekable():
                raise InputError("it is a pipe, which can be read only once: save it as a file")
            blank, start, line = 0, file.tell(), str(file.readline())
            while line and (not line.strip() or _DIVIDING.fullmatch(line.strip())):
                blank, start, line = blank + 1, file.tell(), str(file.readline())
            read: dict[str, list[str]] = {}
            for delimiter in sorted(",;\t", key=line.count, reverse=True):
                file.seek(start)
                read[delimiter] = next(csv.reader(file, delimiter=delimiter), [])
            delimiter = next((one for one in read if not _KEYS.isdisjoint(read[one])), next(iter(read)))
            names = read[delimiter]
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise InputError(f"the header cannot be read: {error}") from None
    if not names:
        raise InputError("the file is empty: it has no header")
    named = next((place for place in range(len(names), 0, -1) if names[place - 1]), 0)
    if 0 < named < len(names):
        behind = f"behind its last column, {names[named - 1]!r}"
        raise InputError(f"the header has empty cells {behind}: delete the columns that follow it, empty ones too")
    twice = next((name for name in names if names.count(name) > 1 or not name), None)
    if twice is not None:
        index = "; of pandas, to_csv(index=False) leaves out the row numbers" if not names[0] else ""
        raise InputError(f"column {twice!r} stands twice or has no name; the header is {names}{index}")
    return Header(delimiter, names, blank)


def open_text(path: str | os.PathLike[str]) -> IO[str]:
    """Open a file of text, plain or compressed."""
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    return cast(IO[str], opened(path, "rt", encoding="utf-8-sig", newline=""))


@contextmanager
def long_cells() -> Iterator[None]:
    """Read cells of any length, as texts of a pool may be; Python's csv otherwise ends at 131,072 characters."""
    with _LIMIT:  # the process has one limit, whoever reads
        limit = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(limit)


def not_utf8(error: UnicodeDecodeError) -> InputError:
    """Return the error that says how a file of another encoding is saved."""
    byte = error.object[error.start]
    return InputError(f"the file is not UTF-8: it has a byte 0x{byte:02x}; save it as UTF-8 (spreadsheets: CSV UTF-8)")
