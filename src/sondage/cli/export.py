"""``sondage export``: the labels as CSV."""

from __future__ import annotations

import csv
from typing import Any

import click

from sondage.cli.printing import study_argument

__all__ = ["command"]


@click.command("export", short_help="Write the labels to a CSV file.")
@study_argument
@click.option("-o", "--output", type=click.File("w", encoding="utf-8", lazy=True), default="-", help="File to write.")
@click.option("--people", is_flag=True, help="One row for each person's label, not for each item.")
@click.option(
    "--all", "everything", is_flag=True, help="Everything ever told, with what was corrected or undone later."
)
def command(study: str, output: Any, people: bool, everything: bool) -> None:
    """Write the labels of STUDY: id, label, who said so and when; a skip has an empty label.

    \b
    sondage export study.db -o labels.csv
    """
    from sondage import Study
    from sondage.pools.files import escaped

    with Study.open(study) as opened:
        history, labels = opened.history(), opened.labels()
        models = opened.models if opened.task.kind == "outcomes" else ()
    replaced = {row["supersedes"] for row in history}
    rows = [row for row in history if row["number"] not in replaced and row["kind"] != "undo"]
    if everything:
        rows = history
    elif not people:
        rows = _verdicts(rows, labels)
    writer = csv.writer(output, lineterminator="\n")
    kind = ["kind"] * everything
    writer.writerow(["id", *([f"{model}.label" for model in models] or ["label"]), "who", "at", *kind])
    for row in rows:
        told = [row["label"]] if not models else row["label"] or [None] * len(models)
        cells = (row["id"], *map(_cell, told), row["who"], row["at"], *(row[name] for name in kind))
        writer.writerow([escaped(cell) for cell in cells])


def _verdicts(rows: list[dict[str, Any]], labels: dict[Any, Any]) -> list[dict[str, Any]]:
    """Return one row for each item that has a label: who has a part in it, and when it was last said."""
    found: dict[Any, dict[str, Any]] = {}
    for row in rows:
        before = found.get(row["id"])
        people = [one["who"] for one in (before, row) if one is not None and one["who"]]
        found[row["id"]] = {"id": row["id"], "label": labels.get(row["id"]), "who": "; ".join(people), "at": row["at"]}
    return [row for name, row in found.items() if name in labels]


def _cell(label: Any) -> Any:
    """Return a label as a cell: nothing for a skip or an outcome that was not told."""
    return None if label != label else label
