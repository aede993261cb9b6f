"""``sondage resolve``: settle what an item's label is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sondage.cli.options import ItemCommand, study_argument
from sondage.cli.printing import print_line
from sondage.errors import LabelError

if TYPE_CHECKING:
    from sondage import Study

__all__ = ["command"]


@click.command("resolve", cls=ItemCommand, short_help="Settle the label of an item on which labellers disagree.")
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
        opened.resolve(item, _of_systems(opened, label) if outcomes else label, who, reason=reason)
        left = opened.status.disputed
    print_line(f"Resolved. {left} to go." if left else "Resolved. Nothing else is in dispute.")


def _of_systems(study: Study, label: str) -> dict[str, str]:
    """Return the outcome of each system: of those that the study asks about, or of all."""
    numbers = label.split(",")
    asked = [name for name in study.models if name in study.question.models]
    for names in (asked, study.models):
        if len(numbers) == len(names):
            return dict(zip(names, numbers, strict=True))
    raise LabelError(f"{label} has {len(numbers)} of the {len(asked)} numbers asked for, those of {', '.join(asked)}")
