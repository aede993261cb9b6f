"""``sondage export``: the labels as a file."""

from __future__ import annotations

import io

import click

from sondage.cli.printing import format_option, study_argument, write_file

__all__ = ["command"]


@click.command("export", short_help="Write the labels to a file.")
@study_argument
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write; by default the terminal.")
@format_option
@click.option("--all", "everything", is_flag=True, help="With the labels that were corrected later.")
@click.option("--interface", is_flag=True, help="Write the labelling interface for Label Studio instead.")
def command(study: str, output: str | None, form: str | None, everything: bool, interface: bool) -> None:
    """Write the labels of STUDY: id, label, who said so and when; a skip has an empty label.

    For Label Studio everything asked for is written as tasks, those labelled with their annotation.

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
            format_of(output, form).write_labels(opened, text, everything=everything)
    if output is None:
        click.echo(text.getvalue(), nl=False)
    else:
        write_file(output, text.getvalue(), "nothing was written")
