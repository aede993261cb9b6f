"""``sondage advise``: what labels will buy, from the pool alone."""

from __future__ import annotations

from typing import Any

import click

from sondage.cli.options import belief_option, divided, json_option, pool_options, require_positive, require_with
from sondage.cli.printing import print_json, print_lines, waiting
from sondage.cli.reading import read
from sondage.cli.spelling import in_options
from sondage.errors import InputError

__all__ = ["command"]


@click.command("advise", short_help="Tell how precise an estimate will be, before anybody labels.")
@click.argument("pool", metavar="POOL")
@click.option(
    "--measure", "measures", multiple=True, default=["error_rate"], show_default=True, help="The measure, as for plan."
)
@click.option("--model", help="Which of several models.")
@click.option("--compare", metavar="A,B", help="The difference of these two models.")
@click.option("--positive", help="The positive class; by default the second.")
@click.option("--budget", "budgets", type=float, multiple=True, help="Budget to look at; repeatable.")
@click.option("--width", type=float, help="Wanted width of the interval, whose level is 1 - alpha.")
@click.option(
    "--simulations",
    type=int,
    default=0,
    help="With --width: look for its budgets by so many evaluations of labels that the belief supposes.",
)
@click.option("--difference", type=float, help="With --compare: a difference worth finding.")
@click.option(
    "--power",
    "wanted_power",
    type=float,
    default=0.8,
    show_default=True,
    help="With --difference: wanted power to find it.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of test and interval.")
@belief_option
@pool_options
@json_option
def command(
    pool: str,
    measures: tuple[str, ...],
    compare: str | None,
    budgets: tuple[float, ...],
    classes: str | None,
    task: str | None,
    lazy: bool | None,
    memory: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Tell from POOL alone how precise each method will be, and whether active evaluation will pay.

    \b
    sondage advise pool.parquet --measure f1 --budget 100 --budget 300
    sondage advise pool.parquet --compare champion,challenger --difference 0.01
    """
    from sondage import advise
    from sondage.reports.advice import advice_data, describe_advice

    if len(measures) > 1:
        raise InputError(f"--measure takes one here, not {', '.join(measures)}: of several the first decides the draw")
    pair = divided(compare)
    if pair is not None and len(pair) != 2:
        raise InputError(f"--compare takes two models, A,B; it has {len(pair)}: {compare}")
    require_with(["simulations"], options["width"] is not None, "--width")
    require_with(["difference", "wanted_power"], pair is not None, "--compare")
    require_with(["wanted_power"], options["difference"] is not None, "--difference")
    require_positive(measures)
    with waiting(f"reading {pool}") as shown:
        found = read(pool, shown, classes=classes, task=task, lazy=lazy, memory=memory)
        shown.update(f"looking at {len(found):,} items")
        advice = advise(found, measures[0], compare=pair, budgets=budgets or None, **options)
    if as_json:
        print_json(advice_data(advice))
    else:
        print_lines([in_options(line) for line in describe_advice(advice)])
