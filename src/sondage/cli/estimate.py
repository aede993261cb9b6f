"""``sondage estimate``."""

from __future__ import annotations

import click

from sondage.cli.answering import print_answer
from sondage.cli.printing import level_option, sequence_option, study_argument

__all__ = ["command"]


@click.command("estimate", short_help="Estimate the measure from the labels so far.")
@study_argument
@level_option
@sequence_option
def command(study: str, level: float, as_json: bool, sequence: bool) -> None:
    """Estimate what STUDY asks for from the labels so far, with an interval.

    \b
    sondage estimate study.db --level 0.9
    """
    print_answer(study, "evaluate", level, as_json, sequence=sequence)
