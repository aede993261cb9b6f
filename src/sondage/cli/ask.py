"""``sondage ask``: the next items to label, as CSV."""

from __future__ import annotations

import csv
import shlex
import sys
from pathlib import Path
from typing import IO, Any

import click

from sondage.cli.printing import study_argument

__all__ = ["command"]

AT_ONCE = 20
"""How many items a labeller gets at once."""


@click.command("ask", short_help="Get the next items to label as CSV.")
@study_argument
@click.argument("n", metavar="N", type=click.IntRange(min=1), required=False)
@click.option("--who", help="Labeller: nobody else gets these items until the lease is over.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write; by default the terminal.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def command(study: str, n: int | None, who: str | None, output: str | None, force: bool) -> None:
    """Ask STUDY for the next N items, pending ones first; without N for all that the budget pays.

    With --who the items are that labeller's for a time (plan --lease); N is then 20 unless given.

    Each row has the id, an empty label to fill in, and what the pool says of the item; of rankings a query and one of
    the documents to be judged for it. A cell that a spreadsheet would take for a formula begins with an apostrophe;
    leave it.

    \b
    sondage ask study.db 20 -o batch.csv
    sondage ask study.db 20 --who anna -o anna.csv
    """
    from sondage import Study
    from sondage.errors import InputError

    if output is not None and Path(output).exists() and not force:
        raise InputError(f"{output} is there already and may hold labels (--force writes over it)")
    with Study.open(study) as opened:
        ids = opened.ask(n) if who is None else [claim.id for claim in opened.claim(who, n or AT_ONCE)]
        if output is None:
            _write(sys.stdout, opened, ids)
        else:
            try:
                with open(output, "w", encoding="utf-8", newline="") as file:
                    _write(file, opened, ids)
            except OSError as error:
                raise InputError(f"{output} cannot be written: {error.strerror}; ask again") from None
    _tell_next(study, output, len(ids), who)


def _write(file: IO[Any], study: Any, ids: list[Any]) -> None:
    """Write the rows: id, empty label or labels, fields."""
    from sondage.pools.files import escaped

    if study.task.kind == "ranking":
        _write_documents(file, study, ids)
        return
    outcomes = study.task.kind == "outcomes"
    empty = [f"{model}.label" for model in study.models] if outcomes else ["label"]
    fields = study.fields(ids)
    names = list(fields[0]) if fields else []
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["id", *empty, *(escaped(name) for name in names)])
    for name, shown in zip(ids, fields, strict=True):
        writer.writerow([escaped(name), *([""] * len(empty)), *(escaped(shown[field]) for field in names)])


def _write_documents(file: IO[Any], study: Any, ids: list[Any]) -> None:
    """Write a row for each document to be judged: query, document, empty label, fields of either."""
    from sondage.pools.files import escaped

    fields = study.fields(ids)
    names = list(fields[0]) if fields else []
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["query", "document", "label", *(escaped(name) for name in names)])
    for query, documents, shown in zip(ids, study.documents(ids), fields, strict=True):
        for document in documents:
            own = [value.get(str(document)) if isinstance(value, dict) else value for value in shown.values()]
            writer.writerow([escaped(query), escaped(document), "", *map(escaped, own)])


def _tell_next(study: str, output: str | None, count: int, who: str | None) -> None:
    place = shlex.quote(output or "batch.csv") + (f" --who {shlex.quote(who)}" if who else "")
    if not count and who:
        click.echo(f"Nothing is left for {who}. Next: sondage team {shlex.quote(study)}", err=True)
    elif not count:
        click.echo(f"Nothing is left to label. Next: sondage report {shlex.quote(study)}", err=True)
    else:
        text = f"{count} items to label. Fill the labels in, then: sondage import {shlex.quote(study)} {place}"
        click.echo(text, err=True)
