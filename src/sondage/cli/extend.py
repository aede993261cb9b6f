"""``sondage extend``: a larger budget, the same order."""

from __future__ import annotations

import click

from sondage.cli.answering import at_least
from sondage.cli.options import study_argument
from sondage.cli.printing import print_line, waiting
from sondage.cli.spelling import as_argument

__all__ = ["command"]


@click.command("extend", short_help="Raise the budget; nothing asked so far changes.")
@study_argument
@click.argument("budget", metavar="BUDGET", type=float)
@click.option("--pool", "source", metavar="POOL", help="The pool's file, if it has moved; BUDGET may stay as it is.")
def command(study: str, budget: float, source: str | None) -> None:
    """Raise the budget of STUDY to BUDGET. The pool is read again and must be the same.

    \b
    sondage extend study.db 500
    """
    from sondage import Study, read_pool

    with Study.open(study) as opened:
        with waiting("planning"):
            opened.extend(budget, None if source is None else read_pool(source, **opened.reading))
        status = opened.status
        more = f"{at_least(opened, status.remaining)} more item{'' if status.remaining == 1 else 's'}"
    print_line(f"The budget is {status.budget:g}; {more} can be asked for.")
    print_line(f"Next: sondage ask {as_argument(study)} 20 -o batch.csv")
