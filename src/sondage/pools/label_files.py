"""Labels in CSV files, and cells as spreadsheets take them."""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, cast

from sondage.errors import InputError, LabelError
from sondage.pools.table import NUMBER

__all__ = [
    "Header",
    "csv_header",
    "escaped",
    "gather_judgements",
    "not_utf8",
    "plain",
    "read_label_rows",
]

_KEYS = {"id", "query"}
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


class Header(NamedTuple):
    """What divides the cells of a CSV file, the names of its columns, and how many empty lines stand before them."""

    delimiter: str
    names: list[str]
    blank: int


def csv_header(path: str | os.PathLike[str]) -> Header:
    """Return the header of a CSV file.

    Of comma, semicolon and tab the most frequent one by which a column is called `id` or `query`, as far as there is
    one: names of columns may hold the others.
    """
    try:
        with _opened(path) as file, _long_cells():
            blank, start, line = 0, file.tell(), str(file.readline())
            while line and not line.strip():
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
    twice = next((name for name in names if names.count(name) > 1 or not name), None)
    if twice is not None:
        raise InputError(f"column {twice!r} stands twice or has no name; the header is {names}")
    return Header(delimiter, names, blank)


def _opened(path: str | os.PathLike[str]) -> IO[str]:
    """Open a file of text, plain or compressed."""
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    return cast(IO[str], opened(path, "rt", encoding="utf-8-sig", newline=""))


@contextmanager
def _long_cells() -> Iterator[None]:
    """Read cells of any length, as texts of a pool may be; Python's csv otherwise ends at 131,072 characters."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def not_utf8(error: UnicodeDecodeError) -> InputError:
    """Return the error that says how a file of another encoding is saved."""
    byte = error.object[error.start]
    return InputError(f"the file is not UTF-8: it has a byte 0x{byte:02x}; save it as UTF-8 (spreadsheets: CSV UTF-8)")


def gather_judgements(rows: Sequence[Mapping[str, Any]], partial: bool = False) -> dict[Any, dict[Any, Any] | None]:
    """Return each query's documents and grades from rows of one document each; None where no document has a grade.

    Parameters
    ----------
    rows : sequence of mapping
        With query, document and label; None is no grade.
    partial : bool
        Leave queries out that are not judged to the end.

    Raises
    ------
    LabelError
        If a document is judged twice and differently.
    """
    found: dict[Any, dict[Any, Any]] = {}
    for row in rows:
        own, document, grade = found.setdefault(row["query"], {}), row["document"], row["label"]
        if own.setdefault(document, grade) != grade:
            raise LabelError(
                f"document {document!r} of query {row['query']!r} has two labels, {own[document]!r} and {grade!r}"
            )
    whole = {query: own for query, own in found.items() if not partial or None not in own.values()}
    return {
        query: {document: grade for document, grade in own.items() if grade is not None} or None
        for query, own in whole.items()
    }


def read_label_rows(
    path: str | os.PathLike[str], wanted: Sequence[str], labels: Sequence[str]
) -> list[tuple[int, dict[str, Any]]]:
    """Return line and columns of every row of a CSV file of labels, which are None where empty.

    Parameters
    ----------
    path : path
        The file.
    wanted : sequence of str
        Columns that must be there; the first is never empty.
    labels : sequence of str
        Those that labels stand in, as far as they are there.

    Raises
    ------
    InputError
        If the file cannot be read or has no such column.
    """
    try:
        with _opened(path) as file, _long_cells():
            header = csv_header(path)
            names = [plain(name) for name in header.names]
            missing = [name for name in wanted if name not in names]
            if missing:
                raise InputError(f"no column {missing[0]!r}; there are {names}")
            reader = csv.reader(file, delimiter=header.delimiter, strict=True)
            for _ in range(header.blank + 1):
                next(reader)
            rows = list(_numbered(reader, names, wanted[0]))
    except UnicodeDecodeError as error:
        raise InputError(f"{os.fspath(path)}: {not_utf8(error)}") from None
    except (OSError, EOFError, zlib.error, InputError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{os.fspath(path)}: {reason}") from None
    return [
        (line, {name: _label(cell) if name in labels else plain(cell) for name, cell in row.items()})
        for line, row in rows
    ]


def _numbered(reader: Any, names: Sequence[str], key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the last line of each row, and the row; rows of empty cells only, as spreadsheets leave them, are none."""
    line = reader.line_num
    try:
        for cells in reader:
            line = reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(names):
                raise LabelError(f"line {line} has more or fewer cells than the header")
            row = dict(zip(names, cells, strict=True))
            if not row[key].strip():
                raise LabelError(f"line {line} has no {key}")
            yield line, row
    except csv.Error as error:
        raise InputError(f"line {line + 1}: its quotation marks do not fit ({error})") from None


def _label(cell: str) -> str | None:
    return plain(cell).strip() or None


def escaped(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe.

    Examples
    --------
    >>> escaped("=1+1"), escaped("-5"), escaped("plain")
    ("'=1+1", '-5', 'plain')
    """
    if isinstance(value, str) and _FORMULA.match(value) and not NUMBER.fullmatch(value):
        return "'" + value
    return value


def plain(cell: str) -> str:
    """Return the text that `escaped` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
