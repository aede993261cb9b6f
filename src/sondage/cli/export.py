"""``sondage export``: the labels as a file."""

from __future__ import annotations

import io

import click

from sondage.cli.printing import format_option, study_argument, write_file

__all__ = ["command"]

_WHICH = {(False, False): "items", (False, True): "people", (True, False): "everything", (True, True): "everything"}


@click.command("export", short_help="Write the labels to a file.")
@study_argument
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write; by default the terminal.")
@format_option
@click.option("--people", is_flag=True, help="One row for each person's label, not for each item.")
@click.option(
    "--all", "everything", is_flag=True, help="Everything ever told, with what was corrected or undone later."
)
@click.option("--interface", is_flag=True, help="Write the labelling interface for Label Studio instead.")
def command(study: str, output: str | None, form: str | None, people: bool, everything: bool, interface: bool) -> None:
    """Write the labels of STUDY: id, label, who said so and when; a skip has an empty label.

    Of rankings each row has a query, a document and its grade. For Label Studio everything asked for is written as
    tasks, those labelled with their annotations.

    \b
    sondage export study.db -o labels.csv
    sondage export study.db -o tasks.json
    sondage export study.db --interface -o interface.xml
    """
    from sondage import Study
    from sondage.adapters.formats import format_of
    from sondage.adapters.label_studio import labelling_interface

    text = io.StringIO()
    with Study.open(study) as opened:
        if interface:
            text.write(labelling_interface(opened))
        else:
            format_of(output, form).write_labels(opened, text, _WHICH[everything, people])
    if output is None:
        click.echo(text.getvalue(), nl=False)
    else:
        write_file(output, text.getvalue(), "nothing was written")
