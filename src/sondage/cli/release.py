"""``sondage release``: give items back that a labeller holds."""

from __future__ import annotations

import click

from sondage.cli.options import ItemCommand, study_argument
from sondage.cli.printing import print_line

__all__ = ["command"]


@click.command("release", cls=ItemCommand, short_help="Give back items that a labeller holds.")
@study_argument
@click.argument("who", metavar="NAME")
@click.argument("items", metavar="[ID]...", nargs=-1)
def command(study: str, who: str, items: tuple[str, ...]) -> None:
    """Let others label items of STUDY that NAME holds, all or those named, before the lease is over.

    \b
    sondage release study.db anna
    """
    from sondage import Study

    with Study.open(study) as opened:
        released = opened.release(who, items or None)
        known = who in opened.progress()
    told = f"{len(released)} item{'' if len(released) == 1 else 's'} released"
    print_line(f"{told}." if released or known else f"{told}: nobody of the name {who!r} holds any.")
