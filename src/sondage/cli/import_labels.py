"""``sondage import``: labels from a CSV file, all or none."""

from __future__ import annotations

import shlex

import click

from sondage.cli.printing import study_argument

__all__ = ["command"]


@click.command("import", short_help="Import labels from a CSV file, all or none.")
@study_argument
@click.argument("labels", metavar="LABELS.CSV")
@click.option("--correct", is_flag=True, help="Let labels replace earlier, different ones, which are kept in the file.")
@click.option("--who", help="Name of the labeller, kept with each label.")
@click.option(
    "--further", is_flag=True, help="Take the labels as further opinions, on items that are labelled already."
)
@click.option("--partial", is_flag=True, help="Take empty labels as not answered yet, not as skips.")
def command(study: str, labels: str, correct: bool, who: str | None, further: bool, partial: bool) -> None:
    """Import into STUDY the columns id and label of LABELS.CSV; an empty label is a skip.

    Of rankings the columns are query, document and label; a query whose labels are all empty is a skip.

    If one row is refused, nothing is imported.

    \b
    sondage import study.db batch.csv --who anna
    """
    from sondage import Study
    from sondage.errors import LabelError
    from sondage.pools.files import read_judgements, read_labels

    with Study.open(study) as opened:
        models = opened.models if opened.task.kind == "outcomes" else ()
        if opened.task.kind == "ranking":
            ids, values = read_judgements(labels, partial=partial)
        else:
            ids, values = read_labels(labels, models)
        pairs = [pair for pair in zip(ids, values, strict=True) if pair[1] is not None or not partial]
        try:
            told = [name for name, _ in pairs], [label for _, label in pairs]
            new = opened.tell(*told, correct=correct, who=who, further=further)
        except LabelError as error:
            reason = str(error).replace("pass correct=True to replace it", "to replace it, use --correct")
            raise LabelError(f"{labels}: {reason}; nothing was imported") from None
        status, kind = opened.status, opened.question.kind
    skips = sum(label is None for _, label in pairs)
    click.echo(f"{new} new of {len(pairs)} labels{f', {skips} of them skips' if skips else ''}.")
    verb = "estimate" if kind == "evaluate" else kind
    answer = f"sondage {verb} {shlex.quote(study)}"
    if status.complete:
        click.echo(f"All is labelled. Next: {answer}")
    else:
        left = status.pending + status.remaining
        click.echo(f"{left} to go. Next: sondage ask {shlex.quote(study)} N, or what is known so far: {answer}")
