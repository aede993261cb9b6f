"""``sondage report``: where a study stands, and its answer."""

from __future__ import annotations

import click

from sondage.cli.printing import level_option, print_json, print_lines, study_argument

__all__ = ["command"]


@click.command("report", short_help="Report everything: answer, counts, question and method.")
@study_argument
@level_option
def command(study: str, level: float, as_json: bool) -> None:
    """Report the answer of STUDY, where it stands, what it asks and how.

    \b
    sondage report study.db --json
    """
    from sondage import Study
    from sondage.reports.data import study_data
    from sondage.reports.text import describe_study

    with Study.open(study) as opened:
        if as_json:
            print_json(study_data(opened, level))
        else:
            print_lines(describe_study(opened, level))
