"""Items and labels as CSV and JSON lines."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any

from sondage.adapters.rows import Answer, Row, answers_of_rows, asked_columns, id_columns, label_columns
from sondage.core.checks import require_column
from sondage.errors import InputError, LabelError
from sondage.pools.csv_files import csv_header, long_cells, not_utf8, open_text
from sondage.pools.missing import finite
from sondage.pools.table import NUMBER
from sondage.studies.study import Study

__all__ = [
    "escaped",
    "parse_json",
    "read_csv",
    "read_jsonl",
    "read_label_rows",
    "read_text",
    "write_csv",
    "write_jsonl",
]

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def write_csv(rows: Sequence[Row], columns: Sequence[str], file: IO[str], *, delimiter: str = ",") -> None:
    """Write rows as CSV; cells that a spreadsheet would take for formulas get an apostrophe.

    Parameters
    ----------
    rows : sequence of dict
        All with the same columns.
    columns : sequence of str
        The header where there are no rows.
    file : text file
        Where to write.
    delimiter : str
        What stands between cells.
    """
    plain = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for cells in (rows[0] if rows else columns, *(row.values() for row in rows)):
        told = [escaped(cell) for cell in cells]
        # Before Python 3.13 a lone carriage return is left bare where lines end with a newline.
        writer = quoted if any(isinstance(cell, str) and "\r" in cell for cell in told) else plain
        writer.writerow(told)


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


def _plain(cell: str) -> str:
    """Return the text that `escaped` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_jsonl(rows: Sequence[Row], columns: Sequence[str], file: IO[str]) -> None:
    """Write rows as JSON, one a line; numbers that JSON does not know are null."""
    for row in rows:
        file.write(json.dumps(finite(row), ensure_ascii=False, default=str) + "\n")


def read_csv(path: str | os.PathLike[str], study: Study, *, partial: bool = False) -> list[Answer]:
    """Read answers from a CSV file with the columns of ids and labels, and perhaps ``who``.

    Raises
    ------
    InputError
        If the file cannot be read, has no such column, or is empty.
    """
    rows = read_label_rows(path, [*id_columns(study), *asked_columns(study)], label_columns(study))
    return _required(answers_of_rows(((f"line {line}", row) for line, row in rows), study, partial=partial), partial)


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
        with open_text(path) as file, long_cells():
            header = csv_header(path)
            names = [_plain(name) for name in header.names]
            for name in wanted:
                require_column(name, names)
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
        (line, {name: _label(cell) if name in labels else _plain(cell) for name, cell in row.items()})
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
    return _plain(cell).strip() or None


def read_jsonl(path: str | os.PathLike[str], study: Study, *, partial: bool = False) -> list[Answer]:
    """Read answers from a file with a JSON object on each line; a label of null or "" is a skip.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, or a line is no such object.
    """
    columns = label_columns(study)
    rows = ((f"line {line}", _without_blanks(row, columns)) for line, row in _objects(path))
    return _required(answers_of_rows(rows, study, partial=partial), partial)


def _required(found: list[Answer], partial: bool) -> list[Answer]:
    """Return answers; none is an error where all are to be there."""
    if not found and not partial:
        raise InputError("the file is empty: it has no rows")
    return found


def _without_blanks(row: Row, columns: Sequence[str]) -> Row:
    """Return a row in which an empty text in a label's place is none."""
    blank = [name for name in columns if isinstance(row.get(name), str) and not row[name].strip()]
    return row | dict.fromkeys(blank)


def _objects(path: str | os.PathLike[str]) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        row = parse_json(line, f"line {number}")
        if not isinstance(row, dict):
            raise LabelError(f"line {number} is not a JSON object with 'id' and 'label'")
        yield number, row


def parse_json(text: str, what: str) -> Any:
    """Return what a text of JSON says.

    Raises
    ------
    LabelError
        If it is none; the message begins with what it is.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, " if "\n" in text else ""
        said = error.msg.removesuffix(" at")  # as some of Python's messages end
        raise LabelError(f"{what} is not JSON: {said} at {place}column {error.colno}") from None
    except ValueError:  # of Python itself, which limits the digits
        raise LabelError(f"{what} has a number of more than {sys.get_int_max_str_digits():,} digits") from None
    except RecursionError:
        raise LabelError(f"{what} is not such JSON: lists or objects stand too deep in each other") from None


def read_text(path: str | os.PathLike[str]) -> str:
    """Return a file's text, which must be UTF-8.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None
    except OSError as error:
        raise InputError(f"{error.strerror}") from None
