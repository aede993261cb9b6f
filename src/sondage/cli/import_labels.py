"""``sondage import``: labels from a file, all or none."""

from __future__ import annotations

import click

from sondage.cli.answering import next_step
from sondage.cli.options import format_option, study_argument
from sondage.cli.printing import print_line

__all__ = ["command"]


@click.command("import", short_help="Import labels from a file, all or none.")
@study_argument
@click.argument("labels", metavar="LABELS")
@format_option
@click.option("--correct", is_flag=True, help="Let labels replace earlier, different ones, which are kept in the file.")
@click.option("--who", help="Name of the labeller, kept with each label that does not name one.")
@click.option(
    "--further", is_flag=True, help="Take the labels as additional opinions, on items that are labelled already."
)
@click.option("--partial", is_flag=True, help="Take empty labels as not answered yet, not as skips.")
def command(
    study: str, labels: str, form: str | None, correct: bool, who: str | None, further: bool, partial: bool
) -> None:
    """Import into STUDY the labels of a file: columns id and label, or an export of Label Studio.

    Of rankings the columns are query, document and label; a query whose labels are all empty is a skip.

    An empty label is a skip, and so is a cancelled annotation. If one row is refused, nothing is imported.

    \b
    sondage import study.db batch.csv --who anna
    sondage import study.db project-1-at-2026-03-02.json
    """
    from sondage import Study
    from sondage.adapters.formats import name_of, read_answers
    from sondage.adapters.rows import tell_answers, without_blanks
    from sondage.core.display import label_count
    from sondage.errors import InputError, LabelError

    chosen = name_of(labels, form) == "label-studio"  # there a skip is what somebody chose, not an empty cell
    with Study.open(study) as opened:
        try:
            found = read_answers(labels, opened, form, partial=partial)
        except LabelError as error:
            raise LabelError(f"{error}; nothing was imported") from None
        if chosen and not found:
            raise InputError(f"{labels} has no annotations: export the project from Label Studio once it is labelled")
        told = [one for one in found if one.label is not None or not partial]
        try:
            answers = told if chosen else without_blanks(opened, told, who=who, further=further)
            new = tell_answers(opened, answers, correct=correct, who=who, further=further)
        except LabelError as error:
            raise LabelError(f"{labels}: {error}; nothing was imported") from None
        left = next_step(opened, study)
    skips = sum(one.label is None for one in answers)
    print_line(f"{new} new of {label_count(len(answers))}{f', {skips} of them skips' if skips else ''}.")
    if len(answers) < len(told):
        print_line(f"{_empty(len(told) - len(answers))} left out: none replaces a label that is there.")
    if skips and not chosen:
        print_line(
            f"{_empty(skips)} taken for skips (--partial leaves such open); labels imported later replace skips."
        )
    print_line(left)


def _empty(count: int) -> str:
    return f"{count} empty label{' was' if count == 1 else 's were'}"
