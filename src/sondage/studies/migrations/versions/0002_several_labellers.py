"""Several labellers: assignments, requests and a log; labels that are undone or resolved, and reasons of skips."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0002", "0001"


def upgrade() -> None:
    """Add the columns and tables, then write what they would have held."""
    for column in (
        sa.Column("raters", sa.Integer, nullable=False, server_default="1"),
        sa.Column("overlap", sa.Double, nullable=False, server_default="0"),
        sa.Column("lease", sa.Double, nullable=False, server_default="30"),
    ):
        op.add_column("study", column)
    op.add_column("draws", sa.Column("raters", sa.Integer, nullable=False, server_default="1"))
    op.add_column("labels", sa.Column("kind", sa.Text, nullable=False, server_default="label"))
    op.add_column("labels", sa.Column("reason", sa.Text))
    op.create_index("labels_of_an_item", "labels", ["id"])
    assignments = op.create_table(
        "assignments",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, sa.ForeignKey("draws.id", deferrable=True, initially="DEFERRED"), nullable=False),
        sa.Column("who", sa.Text),
        sa.Column("until", sa.Text),
        sa.Column("done", sa.Integer, nullable=False, server_default="0"),
        sa.UniqueConstraint("id", "who", name="assignments_of_a_person"),
    )
    op.create_index("open_assignments", "assignments", ["done", "number"])
    op.create_table(
        "requests",
        sa.Column("request", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("digest", "answer", "at")),
    )
    events = op.create_table(
        "events",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("who", sa.Text),
        sa.Column("id", sa.Text),
        sa.Column("label", sa.Integer, sa.ForeignKey("labels.number")),
        sa.Column("details", sa.Text, nullable=False),
    )
    study, asks, labels = (
        _all(f"SELECT * FROM {name}") for name in ("study", "asks ORDER BY number", "labels ORDER BY number")
    )
    answered = {label["id"]: label["who"] for label in labels}
    _add(
        assignments,
        [{"id": ask["id"], "who": answered.get(ask["id"]), "done": int(ask["id"] in answered)} for ask in asks],
    )
    _add(events, _log(study, asks, labels))
    op.execute("UPDATE study SET schema = 2")


def _log(study: list[dict[str, Any]], asks: list[dict[str, Any]], labels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what happened, as far as the tables tell."""
    empty = {"who": None, "id": None, "label": None, "details": "{}"}
    start = [
        empty
        | {
            "at": row["created"],
            "kind": "created",
            "details": json.dumps({"version": row["version"], "budget": row["budget"]}),
        }
        for row in study
    ]
    asked = [empty | {"at": row["at"], "kind": "asked", "id": row["id"]} for row in asks]
    told = [
        empty
        | {
            "at": row["at"],
            "kind": "corrected" if row["supersedes"] else "skipped" if row["label"] == "null" else "labelled",
            "who": row["who"],
            "id": row["id"],
            "label": row["number"],
        }
        for row in labels
    ]
    return [*start, *sorted([*asked, *told], key=lambda event: event["at"])]


def _all(query: str) -> list[dict[str, Any]]:
    return [dict(row) for row in op.get_bind().execute(sa.text(query)).mappings()]


def _add(table: sa.Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        op.bulk_insert(table, rows)
