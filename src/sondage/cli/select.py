"""``sondage select``."""

from __future__ import annotations

import click

from sondage.cli.answering import print_answer
from sondage.cli.options import json_option, level_option, study_argument

__all__ = ["command"]


@click.command("select", short_help="Rank the models.")
@study_argument
@level_option
@json_option
def command(study: str, level: float, as_json: bool) -> None:
    """Rank the models of STUDY, with p-values against the best.

    \b
    sondage select study.db --level 0.9
    """
    print_answer(study, "select", level, as_json)
