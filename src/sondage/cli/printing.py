"""How commands show results: lines for people, JSON for programs; and the files that they write."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from sondage.adapters.whole_files import require_no_database, whole_file
from sondage.cli.spelling import in_options
from sondage.errors import InputError
from sondage.pools.missing import finite

__all__ = [
    "print_file",
    "print_json",
    "print_line",
    "print_lines",
    "require_folder",
    "require_new",
    "visible",
    "waiting",
    "write_file",
]

_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""Controls of terminals, ends of lines, changes of the direction of writing, and halves of characters."""


def visible(line: str) -> str:
    """Return a line with its control characters spelled: text from files moves no cursor and forges no line.

    Examples
    --------
    >>> print(visible("spam\x1b[31m"))
    spam\\u001b[31m
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def print_line(line: str, *, err: bool = False) -> None:
    """Print a line."""
    click.echo(visible(line), err=err)


def print_json(data: Any) -> None:
    """Print data as JSON; numbers that it does not know are null."""
    click.echo(_visible_lines(json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False, default=str)))


def print_file(text: str) -> None:
    """Print what would be a file: as it is, but where a person reads it without its control characters."""
    if sys.stdout is None:
        raise InputError("the output is closed: name a file with -o")
    click.echo(_visible_lines(text) if sys.stdout.isatty() else text, nl=False, color=True)


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def print_lines(lines: Sequence[str]) -> None:
    """Print lines, the first of them, the answer, in bold; colours only where there is a terminal.

    Notes, which are the library's, name options of the command line.
    """
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for number, line in enumerate(lines):
        style = "bold" if number == 0 else "yellow" if line.startswith("note:") else None
        line = in_options(line) if style == "yellow" else line
        console.print(visible(line), style=style, markup=False)


def waiting(text: str) -> Any:
    """Return a context that shows a person at a terminal that something goes on."""
    from rich.console import Console

    return Console(stderr=True).status(text)


def require_new(path: str, force: bool) -> None:
    """Refuse a file that is there already, unless it is to be written over; a study is never."""
    if not os.path.isfile(path):  # there is none, or it is a device or a pipe, which holds nothing
        return
    require_no_database(path)
    if not force:
        raise InputError(f"{path} is there already and may hold labels (--force writes over it)")


def require_folder(path: str, then: str) -> None:
    """Refuse a file in a folder that is not there or cannot be written, before work is done for it."""
    folder = Path(path).absolute().parent
    if not os.path.isdir(folder):
        raise InputError(f"{path} cannot be written: {os.strerror(errno.ENOENT)}; {then}")
    if not os.path.exists(path) and not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: {os.strerror(errno.EACCES)}; {then}")


def write_file(path: str, text: str, then: str) -> None:
    """Write a file as a whole; if that fails, what stood there stays.

    Parameters
    ----------
    path, text : str
        Where and what.
    then : str
        What to do when it cannot be written.
    """
    try:
        with whole_file(path) as place, open(place, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{path or repr(path)} cannot be written: {error.strerror}; {then}") from None
