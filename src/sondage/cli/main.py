"""The command group: help by example, errors in one line."""

from __future__ import annotations

import io
import sys
import warnings
from importlib import import_module
from typing import Any

import click

from sondage.cli.printing import print_line, visible
from sondage.cli.spelling import as_options, shortened
from sondage.errors import SondageError, SondageWarning, WaitingWarning
from sondage.version import __version__

__all__ = ["main"]

# Each verb with the module that has it, in the order of use.
VERBS = {
    "demo": "demo",
    "advise": "advise",
    "plan": "plan",
    "ask": "ask",
    "serve": "serve",
    "import": "import_labels",
    "estimate": "estimate",
    "compare": "compare",
    "select": "select",
    "report": "report",
    "extend": "extend",
    "export": "export",
    "team": "team",
    "disagreements": "disagreements",
    "resolve": "resolve",
    "release": "release",
    "audit": "audit",
}

LASTING = {"serve"}
"""Verbs that end when they are stopped, of which notes are printed at once."""

INTERRUPTED = 130
"""Exit status after Ctrl-C, by which shells tell it: 128 and the number of the signal."""


class Verbs(click.Group):
    """Commands that are imported when they are called for, each from its own file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb's command."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"sondage.cli.{VERBS[cmd_name]}").command
        return command

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command and exit; output that cannot be written, to a full disk say, is said in one line."""
        try:
            return super().main(*args, **options)
        except OSError as error:
            if error.filename is not None:  # of a file, not of where the output goes
                raise
            sys.stdout = io.StringIO()  # what is left in the other is not written at the end either
            click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
            sys.exit(1)
        except UnicodeEncodeError as error:
            if error.encoding == "utf-8":  # half of a character, which no output has
                raise
            reason = f"its encoding has no {error.object[error.start]!r}; set PYTHONIOENCODING=utf-8"
            click.echo(f"Error: the output cannot be written: {reason}", err=True)
            sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what went wrong is said in one line, and so is what the reader must know, at its end."""
        notes: dict[str, bool] = {}  # each once, in their order; whether it was printed

        def take(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
            note = f"note: {self._spelled(ctx, message)}"
            if issubclass(category, SondageWarning) and note not in notes:
                notes[note] = ctx.invoked_subcommand in LASTING or issubclass(category, WaitingWarning)
                if notes[note]:
                    print_line(note, err=True)

        with warnings.catch_warnings():
            warnings.simplefilter("always", SondageWarning)
            warnings.showwarning = take
            try:
                result = super().invoke(ctx)
            except SondageError as error:
                raise click.ClickException(self._spelled(ctx, error)) from error
            except KeyboardInterrupt:
                print_line("Aborted!", err=True)
                ctx.exit(INTERRUPTED)
            finally:
                for note in (note for note, printed in notes.items() if not printed):
                    print_line(note, err=True)
        return result

    def _spelled(self, ctx: click.Context, message: Exception | str) -> str:
        """Return what the library says, on one line and with the command's options for its arguments."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        line = shortened(visible(" ".join(str(message).split())))
        return line if command is None else as_options(line, command, self.get_command(ctx, "plan"))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="sondage")
def main() -> None:
    """Tell how good prediction models are, and which is better, from few labels.

    \b
    sondage demo                            a demonstration, on bundled data
    sondage plan pool.parquet study.db --measure f1 --budget 300
    sondage serve study.db                  label in the browser
    sondage ask study.db 20 -o batch.csv    then fill in the column "label"
    sondage import study.db batch.csv
    sondage estimate study.db
    """
