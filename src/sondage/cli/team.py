"""``sondage team``: who has labelled what, and how far people agree."""

from __future__ import annotations

import click

from sondage.cli.options import json_option, study_argument
from sondage.cli.printing import print_json, print_line, print_lines
from sondage.cli.spelling import as_argument

__all__ = ["command"]


@click.command("team", short_help="Show who labelled how much, and how far people agree.")
@study_argument
@json_option
def command(study: str, as_json: bool) -> None:
    """Show for each labeller of STUDY the items labelled, skipped and held, and how far labellers agree.

    \b
    sondage team study.db
    """
    from sondage import Study
    from sondage.reports.team import team_data, team_lines

    with Study.open(study) as opened:
        if as_json:
            print_json(team_data(opened))
            return
        print_lines(team_lines(opened))
        disputed = opened.status.disputed
    if disputed:
        print_line(f"Next: sondage disagreements {as_argument(study)}")
