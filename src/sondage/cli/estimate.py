"""``sondage estimate``."""

from __future__ import annotations

from typing import Any

import click

from sondage.cli.answering import print_answer, print_result
from sondage.cli.options import (
    divided,
    json_option,
    level_option,
    require_positive,
    require_with,
    sequence_option,
    study_argument,
)

__all__ = ["command"]

OF_FILES: dict[str, dict[str, Any]] = {
    "measure": {
        "multiple": True,
        "default": ["error_rate"],
        "show_default": True,
        "help": "Of a file: what to estimate, as for plan; repeatable.",
    },
    "model": {"help": "Of a file: which of several models."},
    "positive": {"help": "Of a file: the positive class; by default the second."},
    "classes": {"metavar": "A,B,...", "help": "Of a file: the classes in their order, where it does not tell."},
    "task": {"type": click.Choice(["classification", "regression"]), "help": "Of a file: where it does not tell."},
    "pool_size": {"type": click.IntRange(min=1), "help": "Of a file: number of items that the labels were drawn from."},
    "estimator": {
        "type": click.Choice(["hajek", "self_normalised", "horvitz_thompson"]),
        "default": "hajek",
        "show_default": True,
        "help": "Of a file.",
    },
    "interval": {
        "type": click.Choice(["auto", "wald", "t", "wilson", "wilson_effective", "clopper_pearson", "fieller"]),
        "default": "auto",
        "show_default": True,
        "help": "Of a file.",
    },
    "target": {
        "type": click.Choice(["pool", "population"]),
        "default": "pool",
        "show_default": True,
        "help": "Of a file: what the labels were drawn from, or what that was drawn from.",
    },
}


def _options_of_files(command: Any) -> Any:
    for name in reversed(OF_FILES):
        command = click.option(f"--{name.replace('_', '-')}", **OF_FILES[name])(command)
    return command


@click.command("estimate", short_help="Estimate the measure from the labels so far, or from labels in a file.")
@study_argument
@level_option
@json_option
@sequence_option
@_options_of_files
def command(study: str, level: float, as_json: bool, sequence: bool, **options: Any) -> None:
    """Estimate what STUDY asks for from the labels so far, with an interval.

    In place of a study, labels that somebody else drew: a CSV or Parquet file with the columns label, inclusion (the
    probability of being drawn; with replacement draw_probability), and prediction or those of probabilities.

    \b
    sondage estimate study.db --level 0.9
    sondage estimate labels.csv --measure recall --positive spam
    """
    from sondage.pools.files import is_table

    from_file = is_table(study)
    require_with(list(OF_FILES), from_file, "a file of labels (.csv, .parquet), not with a study")
    require_with(["sequence"], not from_file, "a study")
    if not from_file:
        print_answer(study, "evaluate", level, as_json, sequence=sequence)
        return
    from sondage.adapters.drawn_labels import estimate_file

    options["classes"] = divided(options["classes"])
    measures = options.pop("measure")
    require_positive(measures)
    found = [estimate_file(study, measure, **options) for measure in measures]
    result = found[0] if len(measures) == 1 else {one.measure: one for one in found}
    print_result(result, level, as_json)
