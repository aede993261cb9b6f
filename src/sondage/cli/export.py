"""``sondage export``: the labels, or what was drawn, as a file."""

from __future__ import annotations

import io

import click

from sondage.cli.options import format_option, output_options, study_argument
from sondage.cli.printing import print_file, require_new, write_file
from sondage.errors import InputError

__all__ = ["command"]

_WHICH = {(False, False): "items", (False, True): "people", (True, False): "everything", (True, True): "everything"}


@click.command("export", short_help="Write the labels to a file.")
@study_argument
@output_options
@format_option
@click.option("--people", is_flag=True, help="One row for each person's label, not for each item.")
@click.option(
    "--all", "everything", is_flag=True, help="Everything ever told, with what was corrected or undone later."
)
@click.option(
    "--draws",
    is_flag=True,
    help="The items and their probabilities instead; also as .parquet; --all: also those next.",
)
@click.option("--interface", is_flag=True, help="Write the labelling interface for Label Studio instead.")
def command(
    study: str,
    output: str | None,
    force: bool,
    form: str | None,
    people: bool,
    everything: bool,
    draws: bool,
    interface: bool,
) -> None:
    """Write the labels of STUDY: id, label, who said so and when; a skip has an empty label.

    Of rankings each row has a query, a document and its grade. For Label Studio everything asked for is written as
    tasks, those labelled with their annotations.

    \b
    sondage export study.db -o labels.csv
    sondage export study.db -o tasks.json
    sondage export study.db --interface -o interface.xml
    sondage export study.db --draws -o drawn.parquet
    """
    from sondage import Study
    from sondage.adapters.draws import draws_table, plain_rows, write_draws
    from sondage.adapters.formats import format_of, table_writer
    from sondage.adapters.label_studio import labelling_interface
    from sondage.adapters.whole_files import require_no_pool

    if draws and (people or interface):
        raise InputError("--draws goes with -o, --format and --all only")
    if output is not None:
        require_new(output, force)
    text = io.StringIO()
    with Study.open(study) as opened:
        if output is not None:
            require_no_pool(output, opened)
        if draws and output is not None:
            write_draws(opened, output, everything=everything, form=form)
            return
        if draws:
            table = draws_table(opened, everything=everything)
            table_writer(None, form)(plain_rows(table), list(table), text)
        elif interface:
            text.write(labelling_interface(opened))
        else:
            format_of(output, form).write_labels(opened, text, _WHICH[everything, people])
    if output is None:
        print_file(text.getvalue())
    else:
        write_file(output, text.getvalue(), "nothing was written")
