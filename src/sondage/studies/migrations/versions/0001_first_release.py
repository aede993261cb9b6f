"""The tables of release 0.1."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0001", None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "study",
        sa.Column("number", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("schema",)),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("version", "created", "fingerprint")),
        sa.Column("source", sa.Text),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("reading", "question", "method", "task", "models")),
        sa.Column("several", sa.Integer, nullable=False),
        sa.Column("budget", sa.Double, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
    )
    op.create_table(
        "stages",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("tau", sa.Text, nullable=False),
        sa.Column("covers", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("settings", "known", "layout")),
        sa.Column("grouped", sa.Integer, nullable=False),
    )
    op.create_table(
        "draws",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("stage", sa.Integer, _later("stages.number"), nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("position", "unit")),
        *(sa.Column(name, sa.Double, nullable=False) for name in ("key", "rate", "size")),
        sa.Column("cost", sa.Double),
        sa.Column("fields", sa.Text, nullable=False),
    )
    op.create_table(
        "rows",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.Text, _later("draws.id"), nullable=False),
        sa.Column("weight", sa.Double, nullable=False),
        sa.Column("cost", sa.Double),
        sa.Column("outputs", sa.Text, nullable=False),
        sa.Column("judge", sa.Text),
    )
    op.create_table(
        "asks",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, _later("draws.id"), nullable=False, unique=True),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_table(
        "labels",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, _later("draws.id"), nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("who", sa.Text),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("supersedes", sa.Integer, sa.ForeignKey("labels.number")),
    )


def _later(column: str) -> sa.ForeignKey:
    """Return a reference that is checked at the end of the transaction."""
    return sa.ForeignKey(column, deferrable=True, initially="DEFERRED")
