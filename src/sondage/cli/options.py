"""Arguments and options that commands have in common, and what their values must be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any

import click
from click.core import ParameterSource

from sondage.core.catalogue.beliefs import BELIEFS
from sondage.core.measures import NAMES, parse_measure
from sondage.errors import InputError

__all__ = [
    "ItemCommand",
    "belief_option",
    "divided",
    "format_option",
    "json_option",
    "level_option",
    "output_options",
    "pool_options",
    "require_positive",
    "require_with",
    "sequence_option",
    "study_argument",
]


class ItemCommand(click.Command):
    """A command that takes ids or labels: what begins with one dash, as -1.5, is one; its options begin with two."""

    ignore_unknown_options = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and refuse options that there are not."""
        known = {name: one for one in self.get_params(ctx) if isinstance(one, click.Option) for name in one.opts}
        tokens = iter(args)
        for token in takewhile("--".__ne__, tokens):
            name, value, _ = token.partition("=")
            if name in known and not value and not known[name].is_flag:
                next(tokens, None)
            elif name not in known and name.startswith("--"):
                raise click.NoSuchOption(name, possibilities=get_close_matches(name, known), ctx=ctx)
        return super().parse_args(ctx, args)


def study_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument STUDY: a file or a database URL."""
    return click.argument("study", metavar="STUDY")(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")(command)


def level_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --level."""
    return click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Confidence level of the interval.",
    )(command)


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format."""
    names = click.Choice(["csv", "jsonl", "label-studio"])
    text = "Format of the file; by default as its name ends (.csv, .jsonl, .json), else CSV."
    return click.option("--format", "form", type=names, help=text)(command)


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --output and --force."""
    output = click.option(
        "-o", "--output", type=click.Path(dir_okay=False), help="File to write; by default the terminal."
    )
    return output(click.option("--force", is_flag=True, help="Overwrite an existing file.")(command))


def sequence_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --sequence."""
    text = "Add what is valid however often you look, and whenever you stop."
    return click.option("--sequence", is_flag=True, help=text)(command)


def belief_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --belief."""
    text = f"How labels are predicted before they are known: {', '.join(BELIEFS)}, or shares of the classes (0.9,0.1)."
    return click.option("--belief", help=text, callback=_belief)(command)


def _belief(context: click.Context, option: click.Parameter, text: str | None) -> Any:
    """Return a belief's name, or the numbers of a class prior."""
    if text is None or "," not in text:
        return text
    try:
        return tuple(float(share) for share in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither a name nor probabilities, as in 0.9,0.1") from None


def pool_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --classes, --task, --lazy, --in-memory and --memory."""
    options = [
        click.option(
            "--classes",
            metavar="A,B,...",
            help="The classes in their order, or the grades, where the file does not tell.",
        ),
        click.option("--task", help="classification, regression, outcomes or ranking, where the file does not tell."),
        click.option(
            "--lazy/--in-memory",
            default=None,
            help="Leave the rows in their Parquet files, or read them; by default large files are left.",
        ),
        click.option(
            "--memory", metavar="SIZE", help="Memory for rows left in their files, such as 2GB.", callback=_memory
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _memory(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """Refuse what is no size of memory, as DuckDB reads it."""
    if text is not None:
        from sondage.pools.duckdb import connected

        try:
            connected({"memory_limit": text}).close()
        except InputError:
            raise click.BadParameter(f"{text!r} is not a number with a unit, such as 500MB or 2GB") from None
    return text


def require_with(names: Sequence[str], condition: bool, others: str) -> None:
    """Refuse parameters of the present command that are given where they say nothing.

    Parameters
    ----------
    names : sequence of str
        The parameters.
    condition : bool
        Whether they say something.
    others : str
        The options that they go with.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name in names and not condition and _is_given(context, parameter):
            raise InputError(f"{parameter.opts[-1]} goes with {others}")


def require_positive(measures: Sequence[str]) -> None:
    """Refuse --positive where no measure has a positive class."""
    used = any(hasattr(parse_measure(name), "positive") for name in measures)
    having = ", ".join(name for name, kind in NAMES.items() if hasattr(kind, "positive"))
    require_with(["positive"], used, f"a measure that has a positive class: {having}")


def _is_given(context: click.Context, parameter: click.Parameter) -> bool:
    return context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE


def divided(text: str | None) -> list[str] | None:
    """Return names that are divided by commas."""
    return None if text is None else [name.strip() for name in text.split(",")]
