"""``sondage ask``: the next items to label, as a file."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import click

from sondage.cli.printing import format_option, study_argument, write_file

__all__ = ["command"]

AT_ONCE = 20
"""How many items a labeller gets at once."""


@click.command("ask", short_help="Get the next items to label as a file.")
@study_argument
@click.argument("n", metavar="N", type=click.IntRange(min=1), required=False)
@click.option("--who", help="Labeller: nobody else gets these items until the lease is over.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write; by default the terminal.")
@format_option
@click.option("--predictions", is_flag=True, help="Show the labeller what the models say (Label Studio); it biases.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def command(
    study: str, n: int | None, who: str | None, output: str | None, form: str | None, predictions: bool, force: bool
) -> None:
    """Ask STUDY for the next N items, pending ones first; without N for all that the budget pays.

    With --who the items are that labeller's for a time (plan --lease); N is then 20 unless given.

    Each row has the id, an empty label to fill in, and what the pool says of the item; of rankings a query and one of
    the documents to be judged for it. A cell of CSV that a
    spreadsheet would take for a formula begins with an apostrophe; leave it. A file that ends in .json is one of
    tasks for Label Studio, .jsonl has a JSON object on each line.

    \b
    sondage ask study.db 20 -o batch.csv
    sondage ask study.db 20 -o tasks.json
    sondage ask study.db 20 --who anna -o anna.csv
    """
    from sondage import Study
    from sondage.adapters.formats import format_of
    from sondage.errors import InputError

    if output is not None and Path(output).exists() and not force:
        raise InputError(f"{output} is there already and may hold labels (--force writes over it)")
    with Study.open(study) as opened:
        ids = opened.ask(n) if who is None else [claim.id for claim in opened.claim(who, n or AT_ONCE)]
        text = io.StringIO()
        format_of(output, form).write_items(opened, ids, text, predictions=predictions)
        if output is None:
            click.echo(text.getvalue(), nl=False)
        else:
            write_file(output, text.getvalue(), "ask again")
    _tell_next(study, output, len(ids), who)


def _tell_next(study: str, output: str | None, count: int, who: str | None) -> None:
    place = shlex.quote(output or "batch.csv") + (f" --who {shlex.quote(who)}" if who else "")
    if not count and who:
        click.echo(f"Nothing is left for {who}. Next: sondage team {shlex.quote(study)}", err=True)
    elif not count:
        click.echo(f"Nothing is left to label. Next: sondage report {shlex.quote(study)}", err=True)
    elif output is not None and output.endswith(".json"):
        text = f"{count} items to label. Import them into Label Studio (labelling interface: sondage export "
        text += f"{shlex.quote(study)} --interface), and its export: sondage import {shlex.quote(study)} EXPORT.json"
        click.echo(text, err=True)
    else:
        text = f"{count} items to label. Fill the labels in, then: sondage import {shlex.quote(study)} {place}"
        click.echo(text, err=True)
