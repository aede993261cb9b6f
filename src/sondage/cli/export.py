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
@click.option("--all", "everything", is_flag=True, help="With the labels that were corrected later.")
def command(study: str, output: Any, everything: bool) -> None:
    """Write the labels of STUDY: id, label, who said so and when; a skip has an empty label.

    Of rankings each row has a query, a document and its grade.

    \b
    sondage export study.db -o labels.csv
    """
    from sondage import Study
    from sondage.pools.files import escaped

    with Study.open(study) as opened:
        history = opened.history()
        models, ranking = opened.models if opened.task.kind == "outcomes" else (), opened.task.kind == "ranking"
    replaced = {row["supersedes"] for row in history}
    writer = csv.writer(output, lineterminator="\n")
    told = ["document", "label"] if ranking else [f"{model}.label" for model in models] or ["label"]
    writer.writerow(["query" if ranking else "id", *told, "who", "at"])
    for row in history:
        if everything or row["number"] not in replaced:
            if ranking:
                for document, grade in (row["label"] or {"": None}).items():
                    writer.writerow([escaped(cell) for cell in (row["id"], document, grade, row["who"], row["at"])])
                continue
            labels = [row["label"]] if not models else row["label"] or [None] * len(models)
            writer.writerow([escaped(cell) for cell in (row["id"], *map(_cell, labels), row["who"], row["at"])])


def _cell(label: Any) -> Any:
    """Return a label as a cell: nothing for a skip or an outcome that was not told."""
    return None if label != label else label
