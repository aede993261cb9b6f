"""``sondage export``: the labels as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
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

    Of rankings each row has a query, a document and its grade.

    \b
    sondage export study.db -o labels.csv
    """
    from sondage import Study
    from sondage.pools.files import escaped

    with Study.open(study) as opened:
        history, labels = opened.history(), opened.labels()
        task, models = opened.task.kind, opened.models
    replaced = {row["supersedes"] for row in history}
    rows = [row for row in history if row["number"] not in replaced and row["kind"] != "undo"]
    if everything:
        rows = history
    elif not people:
        rows = _verdicts(rows, labels)
    writer = csv.writer(output, lineterminator="\n")
    columns = {"outcomes": ["id", *(f"{model}.label" for model in models)], "ranking": ["query", "document", "label"]}
    writer.writerow([*columns.get(task, ["id", "label"]), "who", "at", *["kind"] * everything])
    for row in rows:
        for told in _told(row["label"], task, models):
            cells = (row["id"], *map(_cell, told), row["who"], row["at"], *([row["kind"]] if everything else []))
            writer.writerow([escaped(cell) for cell in cells])


def _told(label: Any, task: str, models: Sequence[str]) -> list[list[Any]]:
    """Return a label's cells, in a row for each document of a ranking."""
    if task == "ranking":
        return [[document, grade] for document, grade in (label or {None: None}).items()]
    return [label or [None] * len(models)] if task == "outcomes" else [[label]]


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
