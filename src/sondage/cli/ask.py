"""``sondage ask``: the next items to label, as a file."""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from sondage.cli.answering import next_step
from sondage.cli.options import format_option, output_options, study_argument
from sondage.cli.printing import print_file, print_line, require_folder, require_new, write_file
from sondage.cli.spelling import as_argument

if TYPE_CHECKING:
    from sondage import Study

__all__ = ["command"]

AT_ONCE = 20
"""How many items a labeller gets at once."""


@click.command("ask", short_help="Get the next items to label as a file.")
@study_argument
@click.argument("n", metavar="[N]", type=click.IntRange(min=1), required=False)
@click.option("--who", help="Labeller: nobody else gets these items until the lease is over.")
@output_options
@format_option
@click.option("--predictions", is_flag=True, help="Show the labeller what the models say (Label Studio); it biases.")
def command(
    study: str, n: int | None, who: str | None, output: str | None, form: str | None, predictions: bool, force: bool
) -> None:
    """Ask STUDY for the next N items, pending ones first; without N for all that the budget pays.

    With --who the items are that labeller's for a time (plan --lease); N is then 20 unless given.

    Each row has the id, an empty label to fill in, and what the pool says of the item; of rankings a query and one of
    the documents to be judged for it. A cell of CSV that a spreadsheet would take for a formula begins with an
    apostrophe; leave it. A file that ends in .json is one of tasks for Label Studio, .jsonl has a JSON object on each
    line.

    \b
    sondage ask study.db 20 -o batch.csv
    sondage ask study.db 20 -o tasks.json
    sondage ask study.db 20 --who anna -o anna.csv
    """
    from sondage import Study
    from sondage.adapters.formats import FORMATS, format_of, name_of
    from sondage.adapters.whole_files import require_no_pool

    if output is not None:
        require_new(output, force)
        require_folder(output, "ask again")
    write = partial(format_of(output, form).write_items, predictions=predictions)
    with Study.open(study) as opened:
        if output is not None:
            require_no_pool(output, opened)
        write(opened, [], io.StringIO())  # what can be refused without items is refused before any is given out
        with _items(opened, n, who) as ids:
            text = io.StringIO()
            write(opened, ids, text)
            if output is None:
                print_file(text.getvalue())
            else:
                write_file(output, text.getvalue(), "ask again")
        if ids:
            name = name_of(output, form)
            file = output or f"batch{FORMATS[name].ends[0]}"
            wanted = n or (AT_ONCE if who else None)
            print_line(
                f"{_count(opened, len(ids), wanted)}. {_next(opened, study, file=file, form=name, who=who)}", err=True
            )
        else:
            _tell_why(opened, study, who)


@contextmanager
def _items(study: Study, n: int | None, who: str | None) -> Iterator[list[Any]]:
    """Give ids out; what was claimed is given back if they do not get to the labeller."""
    if who is None:
        yield study.ask(n)
        return
    claims = study.claim(who, n or AT_ONCE)
    try:
        yield [claim.id for claim in claims]
    except BaseException:
        study.release(who, [claim.id for claim in claims if claim.fresh])
        raise


def _tell_why(opened: Study, study: str, who: str | None) -> None:
    """Say why there is nothing to give out."""
    held = {name: done.claimed for name, done in opened.progress().items() if done.claimed}
    place = as_argument(study)
    if who is not None:
        print_line(f"Nothing is left for {who}. Next: sondage team {place}", err=True)
    elif held:
        people = ", ".join(f"{name} ({count})" for name, count in held.items())
        text = f"Nothing is free to label: {sum(held.values())} to label are held, by {people}. "
        print_line(f"{text}Next: sondage team {place}, or sondage release {place} NAME", err=True)
    elif opened.status.complete:
        print_line(f"Nothing is left to label. Next: sondage report {place}", err=True)
    else:
        print_line(f"Nothing is free to label: {next_step(opened, study)}", err=True)


def _count(opened: Study, count: int, wanted: int | None) -> str:
    """Return how many items there are, and why not more: a stage ends before its labels have planned the next."""
    one, more = ("query", "queries") if opened.task.kind == "ranking" else ("item", "items")
    told = f"{count} {one if count == 1 else more} to label"
    if wanted is None or count >= wanted or not opened.status.remaining:
        return told
    return f"{told}, not {wanted}: their labels decide which come next"


def _next(opened: Study, study: str, *, file: str, form: str, who: str | None) -> str:
    """Return what to do with the items, by the format that they are in."""
    from sondage.adapters.formats import name_of

    place = as_argument(study)
    if form == "label-studio":
        text = f"Import them into Label Studio (labelling interface: sondage export {place} --interface), and its "
        return f"{text}export: sondage import {place} EXPORT.json"
    options = f" --format {form}" if name_of(file) != form else ""
    options += f" --who {shlex.quote(who)}" if who else ""
    return f"Fill {_columns(opened)}, then: sondage import {place} {as_argument(file)}{options}"


def _columns(opened: Study) -> str:
    """Return what is to be filled in: of systems with outcomes of their own only those that the question is about."""
    from sondage.reports.wording import enumerated

    models = opened.question.models
    if opened.task.kind != "outcomes" or len(models) == len(opened.models):
        return "the labels in"
    return f"{enumerated([f'{model}.label' for model in models])} in (the others may stay empty)"
