"""``sondage resolve``: settle what an item's label is."""

from __future__ import annotations

import click

from sondage.cli.printing import print_line, study_argument

__all__ = ["command"]


@click.command("resolve", short_help="Settle the label of an item of which labellers disagree.")
@study_argument
@click.argument("item", metavar="ID")
@click.argument("label", metavar="LABEL")
@click.option("--who", help="Who settles it.")
@click.option("--reason", help="Why so.")
def command(study: str, item: str, label: str, who: str | None, reason: str | None) -> None:
    """Settle that the item ID of STUDY has the label LABEL; what the labellers said is kept.

    For systems with outcomes LABEL is one number for each system, divided by commas, in the order of
    sondage disagreements.

    \b
    sondage resolve study.db item-17 spam --who dora
    """
    from sondage import Study

    with Study.open(study) as opened:
        outcomes = opened.task.kind == "outcomes"
        opened.resolve(item, label.split(",") if outcomes else label, who, reason=reason)
        left = opened.status.disputed
    print_line(f"Resolved. {left} to go." if left else "Resolved. Nothing else is in dispute.")
