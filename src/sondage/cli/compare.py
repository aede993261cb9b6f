"""``sondage compare``."""

from __future__ import annotations

import click

from sondage.cli.answering import print_answer
from sondage.cli.options import json_option, level_option, sequence_option, study_argument

__all__ = ["command"]


@click.command("compare", short_help="Say which of two models is better, if that can be told.")
@study_argument
@level_option
@json_option
@sequence_option
def command(study: str, level: float, as_json: bool, sequence: bool) -> None:
    """Say which of the two models of STUDY is better, with the difference, its interval and a p-value.

    \b
    sondage compare study.db --level 0.9
    """
    print_answer(study, "compare", level, as_json, sequence=sequence)
