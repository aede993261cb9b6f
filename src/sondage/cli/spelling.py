"""What the library says of its arguments, in the words of a command's options."""

from __future__ import annotations

import re
import shlex
from ast import literal_eval

import click

__all__ = ["as_argument", "as_options", "in_options", "shortened"]

LONGEST, TAIL = 700, 250
"""Characters of a line that is shown whole, and of the end of a longer one."""

# An argument is named with its value, model='a', or without, model=; parameters of measures follow a colon or a comma.
_ARGUMENT = re.compile(r"(?<![\w:,])(?P<name>[a-z_]+)=(?:(?P<flag>True|False)\b|(?P<value>(?=[^\s,;:)])))?")
_MEMORY = re.compile(r"settings=\{'memory_limit': '(\w+)'\}")
_LIST = re.compile(r"(?P<option>--[a-z-]+) (?P<list>\[[^\[\]]*\])")


def as_argument(name: str) -> str:
    """Return the name of a file as a command line has it, also one that would be taken for an option.

    Examples
    --------
    >>> as_argument("study.db"), as_argument("my study.db"), as_argument("-x.db")
    ('study.db', "'my study.db'", './-x.db')
    """
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


def shortened(line: str) -> str:
    """Return a line without the middle of what is too long to be read, as a cell of a megabyte that it quotes.

    Examples
    --------
    >>> line = shortened(f"label {'x' * 1000!r} of id 5 is not a class")
    >>> len(line), line[:9], line[-24:]
    (700, "label 'xx", "' of id 5 is not a class")
    """
    return line if len(line) <= LONGEST else f"{line[: LONGEST - TAIL - 5]} ... {line[-TAIL:]}"


def as_options(message: str, command: click.Command, plan: click.Command | None = None) -> str:
    """Return a message with the options of a command in place of the arguments that they stand for.

    What only planning a study can set is named with the verb, ``plan --classes``.

    Examples
    --------
    >>> command = click.Command("plan", params=[click.Option(["--model"]), click.Option(["--lazy/--in-memory"])])
    >>> as_options("name one with model=, or read the pool with lazy=False", command)
    'name one with --model, or read the pool with --in-memory'
    >>> as_options("model='b' is not in the pool; targets= is for others", command)
    "--model 'b' is not in the pool; targets= is for others"
    >>> as_options("others are named with model=", click.Command("import"), plan=command)
    'others are named with plan --model'
    >>> command = click.Command("plan", params=[click.Option(["--classes"])])
    >>> as_options("name the grades: classes=[0, 1, 2]", command)
    'name the grades: --classes 0,1,2'
    >>> command = click.Command("plan", params=[click.Option(["--memory"])])
    >>> as_options("allow more: settings={'memory_limit': '2GB'}", command)
    'allow more: --memory 2GB'
    """
    own, planned = _parameters(command), {} if plan is None else _parameters(plan)
    if "memory" in own or "memory" in planned:
        message = _MEMORY.sub(r"memory=\1", message)

    def spelled(found: re.Match[str]) -> str:
        name = found["name"]
        parameter, verb = (own[name], "") if name in own else (planned.get(name), "plan ")
        if parameter is None:
            return found[0]
        if isinstance(parameter, click.Argument):
            text = (parameter.metavar or "").strip("[].")
        elif found["flag"] is not None:
            text = (parameter.opts if found["flag"] == "True" else parameter.secondary_opts or parameter.opts)[0]
        else:
            text = parameter.opts[-1]
        return verb + text + (" " if found["value"] is not None else "")

    return _LIST.sub(_divided, _ARGUMENT.sub(spelled, message))


def _divided(found: re.Match[str]) -> str:
    """Return an option with a list as one writes it, divided by commas."""
    try:
        values = literal_eval(found["list"])
    except (SyntaxError, ValueError):
        return found[0]
    return f"{found['option']} {shlex.quote(','.join(map(str, values)))}" if values else found[0]


def in_options(line: str) -> str:
    """Return a line with options of the present command, or of planning, in place of arguments."""
    from sondage.cli.plan import command as plan  # here, for it shows lines itself

    return as_options(line, click.get_current_context().command, plan)


def _parameters(command: click.Command) -> dict[str, click.Parameter]:
    """Return a command's options and arguments by their names here and in the library."""
    found = {one.name: one for one in command.params if one.name is not None}
    spelled = {
        name.removeprefix("--").replace("-", "_"): one
        for one in command.params
        if isinstance(one, click.Option)
        for name in one.opts
    }
    return found | spelled
