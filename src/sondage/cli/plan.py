"""``sondage plan``: from a pool and a question to a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from sondage.cli.answering import next_step
from sondage.cli.options import belief_option, divided, pool_options, require_positive, require_with
from sondage.cli.printing import print_line, print_lines, waiting
from sondage.cli.reading import read
from sondage.cli.spelling import as_argument

if TYPE_CHECKING:
    from sondage.core.measures import Measure

__all__ = ["command"]

PARTS = {
    "design": "Which items are preferred: adaptive (the default for one model), absolute, optimal, passive, cost_only, "
    "active_risk, contenders, ...",
    "draw": "How they are drawn: without_replacement, successive, with_replacement, ...",
    "estimator": "anchored (the default), assisted, difference, hajek, horvitz_thompson or self_normalised.",
    "interval": "auto, wald, t, wilson, wilson_effective, clopper_pearson, hypergeometric, fieller, bootstrap or "
    "anytime.",
    "test": "Of a comparison: auto, t, wald, hypergeometric, mcnemar, permutation, bootstrap or anytime.",
    "target": "pool (this finite pool) or population (what it was drawn from).",
}


def _parts(command: Any) -> Any:
    """Add the options that name parts of the method."""
    for name in reversed(PARTS):
        command = click.option(f"--{name}", help=PARTS[name])(command)
    return command


@click.command("plan", short_help="Plan a study: choose the items to label.")
@click.argument("pool", metavar="POOL")
@click.argument("study", metavar="STUDY")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    default=["error_rate"],
    show_default=True,
    help="What to estimate: accuracy, f1, recall, auc, log_loss, mse, mean_outcome, ndcg@10, ...; repeatable.",
)
@click.option("--budget", type=float, help="Number of labels, or their cost where the pool has costs.")
@click.option("--start", metavar="FILE", help="Labels that there are already, of items drawn at random; see below.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Same seed, same items.")
@click.option("--model", help="Which of several models.")
@click.option("--compare", metavar="A,B", help="Compare these two models.")
@click.option("--select", is_flag=True, help="Rank all models.")
@click.option("--models", metavar="A,B,...", help="Rank these models.")
@click.option("--positive", help="The positive class; by default the second.")
@click.option("--method", help="default, passive, or thesis (its algorithms to the letter).")
@_parts
@belief_option
@click.option("--floor", type=float, help="Share of the draw spread over all items that can matter.")
@click.option("--stages", metavar="S,S,...", help="Each stage's share of the budget, 1 together; 1 is a single stage.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of tests.")
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "less", "greater"]),
    default="two-sided",
    show_default=True,
    help="Of a comparison: is the first model's measure different from, less or greater than the second's?",
)
@click.option("--margin", type=float, default=0.0, show_default=True, help="Of a one-sided test (non-inferiority).")
@click.option("--raters", type=click.IntRange(min=1), help="How many people label an item; by default 1.")
@click.option(
    "--overlap", type=click.FloatRange(0, 1), help="Share of the items that several people label (agreement)."
)
@click.option(
    "--lease",
    type=float,
    default=30.0,
    show_default=True,
    help="Minutes that a labeller may keep an item.",
)
@pool_options
def command(
    pool: str,
    study: str,
    measures: tuple[str, ...],
    compare: str | None,
    models: str | None,
    stages: str | None,
    start: str | None,
    budget: float | None,
    classes: str | None,
    task: str | None,
    lazy: bool | None,
    memory: str | None,
    **options: Any,
) -> None:
    """Plan STUDY, a file to be made, from POOL, a CSV or Parquet file or a glob.

    \b
    sondage plan pool.parquet study.db --measure f1 --budget 300
    sondage plan "pool/*.parquet" study.db --compare old,new --budget 500

    --start takes a CSV or Parquet file with the columns id and label, of items that were drawn from the pool with equal
    chances. They are part of the budget, and without --budget all of it.
    """
    from sondage import Study
    from sondage.adapters.rows import label_columns
    from sondage.adapters.starts import read_start
    from sondage.core.display import label_count
    from sondage.errors import LabelError
    from sondage.studies.start import notes_of

    if budget is None and start is None:
        raise click.UsageError("Missing option '--budget'.")
    require_with(["margin", "alternative"], bool(compare), "--compare")
    require_with(["test"], bool(compare or models or options["select"]), "--compare, --select or --models")
    require_positive(measures)
    measure = measures[0] if len(measures) == 1 else list(measures)
    options |= {"compare": divided(compare), "models": divided(models), "stages": divided(stages)}
    with waiting(f"reading {pool}") as shown:
        found = read(pool, shown, classes=classes, task=task, lazy=lazy, memory=memory)
        shown.update(f"planning: {len(found):,} items")
        begun = None if start is None else read_start(start, found)
        try:
            made = Study.create(study, found, measure, budget or 0, start=begun, **options)
        except LabelError as error:  # no others are told yet
            raise error.at(str(start)) from None
        with made:
            status, question = made.status, made.question
            after = [f"Next: sondage ask {as_argument(study)} 20 -o batch.csv"]
            told = notes_of(made.snapshot().stages)
            if status.asked:
                had = f"{label_count(status.asked)} {'was' if status.asked == 1 else 'were'} there already."
                after = [had, next_step(made, study)]
            shown_labels = [name for name in label_columns(made) if name in found.field_names]
    names = ", ".join(measure.name for measure in question.measures)
    goal = {
        "evaluate": f"estimate {names} of {question.models[0]}",
        "compare": f"compare {names} of {' and '.join(question.models)}",
        "select": f"rank {len(question.models):,} models by {names}",
    }[question.kind]
    count = "" if found.prices is not None else f"{min(status.asked + status.remaining, int(status.budget)):,} of "
    units = f"{found.n_units:,} {'groups' if found.grouped else 'items'}"
    print_lines(
        [
            f"Planned: {goal}, from {count}{units}.",
            f"{str(found).strip('<>')}; budget {status.budget:g}{' (cost)' * (not count)}, seed {options['seed']}.",
            *_positive_by_default(question.measures, found.task.classes),
            *after,
        ]
    )
    for note in told:
        print_line(f"note: {note}", err=True)
    for name in shown_labels:
        text = f"note: the pool's column {name!r} is shown to labellers, and not used as labels"
        print_line(f"{text}: leave it out if it tells the answer", err=True)


def _positive_by_default(measures: Sequence[Measure], classes: Sequence[Any]) -> list[str]:
    """Return a line that tells the positive class of two, where a measure has one that was not named."""
    unnamed = any(getattr(measure, "positive", "") is None for measure in measures)
    if not unnamed or len(classes) != 2:
        return []
    return [f"Positive: {classes[1]}, the second class; --positive names another."]
