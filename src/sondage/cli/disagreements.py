"""``sondage disagreements``: items on which labellers disagree."""

from __future__ import annotations

import click

from sondage.cli.options import json_option, study_argument
from sondage.cli.printing import print_json, print_line
from sondage.cli.spelling import as_argument

__all__ = ["command"]


@click.command("disagreements", short_help="Show the items on which labellers disagree.")
@study_argument
@click.option(
    "--all", "everything", is_flag=True, help="Also those that are settled: by majority, as a mean, or resolved."
)
@json_option
def command(study: str, everything: bool, as_json: bool) -> None:
    """Show who says what of each item of STUDY on which labellers disagree without a majority.

    Such an item is pending until it is resolved.

    \b
    sondage disagreements study.db
    """
    from sondage import Study
    from sondage.reports.team import disagreement_data, disagreement_lines

    with Study.open(study) as opened:
        found, systems = opened.disagreements(settled=everything), opened.models
        of_rankings = opened.task.kind == "ranking"
    if as_json:
        print_json([disagreement_data(one) for one in found])
        return
    for one in found:
        for line in disagreement_lines(one, systems):
            print_line(line)
    if any(one.label is None for one in found) and of_rankings:
        print_line("Next, in Python: study.resolve(ID, {document: grade, ...}, NAME)", err=True)
    elif any(one.label is None for one in found):
        print_line(f"Next: sondage resolve {as_argument(study)} ID LABEL --who NAME", err=True)
    elif not found:
        print_line("Nobody disagrees." if everything else "Nothing is to be settled.")
