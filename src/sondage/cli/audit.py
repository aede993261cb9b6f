"""``sondage audit``: everything that happened in a study."""

from __future__ import annotations

import click

from sondage.cli.options import ItemCommand, json_option, study_argument
from sondage.cli.printing import print_json, print_line

__all__ = ["command"]


@click.command("audit", cls=ItemCommand, short_help="Show everything that happened, in order.")
@study_argument
@click.argument("item", metavar="[ID]", required=False)
@json_option
def command(study: str, item: str | None, as_json: bool) -> None:
    """Show why the answer of STUDY is what it is: stages planned, items asked and claimed, labels, corrections.

    With ID what happened to this item.

    \b
    sondage audit study.db item-17
    """
    from sondage import Study
    from sondage.reports.team import audit_line

    with Study.open(study) as opened:
        events = opened.audit(item)
    if as_json:
        print_json(events)
        return
    for event in events:
        print_line(audit_line(event))
