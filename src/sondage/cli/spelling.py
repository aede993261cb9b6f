"""What the library says of its arguments, in the words of a command's options."""

from __future__ import annotations

import re

import click

__all__ = ["as_options", "shortened"]

LONGEST, TAIL = 700, 250
"""Characters of a line that is shown whole, and of the end of a longer one."""

# An argument is named with its value, model='a', or without, model=; parameters of measures follow a colon or a comma.
_ARGUMENT = re.compile(r"(?<![\w:,])(?P<name>[a-z_]+)=(?:(?P<flag>True|False)\b|(?P<value>(?=[^\s,;:)])))?")


def shortened(line: str) -> str:
    """Return a line without the middle of what is too long to be read, as a cell of a megabyte that it quotes.

    Examples
    --------
    >>> line = shortened(f"label {'x' * 1000!r} of id 5 is not a class")
    >>> len(line), line[:9], line[-24:]
    (700, "label 'xx", "' of id 5 is not a class")
    """
    return line if len(line) <= LONGEST else f"{line[: LONGEST - TAIL - 5]} ... {line[-TAIL:]}"


def as_options(message: str, command: click.Command) -> str:
    """Return a message with the options of a command in place of the arguments that they stand for.

    Examples
    --------
    >>> command = click.Command("plan", params=[click.Option(["--model"]), click.Option(["--lazy/--in-memory"])])
    >>> as_options("name one with model=, or read the pool with lazy=False", command)
    'name one with --model, or read the pool with --in-memory'
    >>> as_options("model='b' is not in the pool; targets= is for others", command)
    "--model 'b' is not in the pool; targets= is for others"
    """
    options = {
        name.removeprefix("--").replace("-", "_"): option
        for option in command.params
        if isinstance(option, click.Option)
        for name in option.opts
    }

    def spelled(found: re.Match[str]) -> str:
        option = options.get(found["name"])
        if option is None:
            return found[0]
        if found["flag"] is not None:
            return (option.opts if found["flag"] == "True" else option.secondary_opts or option.opts)[0]
        return option.opts[-1] + (" " if found["value"] is not None else "")

    return _ARGUMENT.sub(spelled, message)
