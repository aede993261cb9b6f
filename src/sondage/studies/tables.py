"""The tables of a study, and the number of their schema.

A database holds one study. What the study decided (`study`, `stages`, `draws`, `rows`) is written when it begins, and
anew by a later stage or an extension. What happens is only ever appended: `asks`, `labels`, `events`, and `requests` so
that nothing happens twice. Only `assignments`, who is at work on what, change.

A change here needs a migration beside it (`migrations/versions`) and the next number in `SCHEMA`.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

__all__ = [
    "SCHEMA",
    "alembic_version",
    "asks",
    "assignments",
    "draws",
    "events",
    "labels",
    "metadata",
    "requests",
    "rows",
    "stages",
    "study",
]

SCHEMA = 2

metadata = MetaData()

# The same number for Alembic, which upgrades a study by it.
alembic_version = Table(
    "alembic_version",
    metadata,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def _drawn_item() -> ForeignKey:
    """Return a reference to a drawn item, checked at the end of the transaction: an extension writes draws anew."""
    return ForeignKey("draws.id", deferrable=True, initially="DEFERRED")


# One row. `revision` counts later stages and extensions, so that another process knows when to read the draws again.
# `raters` people label each item of the share `overlap`; `lease`: minutes that a claim holds.
study = Table(
    "study",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("schema", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("source", Text),
    Column("reading", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("models", Text, nullable=False),
    Column("several", Integer, nullable=False),
    Column("budget", Double, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("raters", Integer, nullable=False, server_default="1"),
    Column("overlap", Double, nullable=False, server_default="0"),
    Column("lease", Double, nullable=False, server_default="30"),
)

# `known`: pool sums and belief; `settings`: what the draw must remember; `layout`: types of the outputs in `rows`.
stages = Table(
    "stages",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("seed", Text, nullable=False),
    Column("tau", Text, nullable=False),
    Column("covers", Integer, nullable=False),
    Column("settings", Text, nullable=False),
    Column("known", Text, nullable=False),
    Column("layout", Text, nullable=False),
    Column("grouped", Integer, nullable=False),
)

# Items in the order of asking; `id` is JSON, so that 5 and "5" stay apart; `raters`: how many people label it.
draws = Table(
    "draws",
    metadata,
    Column("id", Text, primary_key=True),
    Column("stage", ForeignKey("stages.number", deferrable=True, initially="DEFERRED"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("unit", Integer, nullable=False),
    Column("key", Double, nullable=False),
    Column("rate", Double, nullable=False),
    Column("size", Double, nullable=False),
    Column("cost", Double),
    Column("fields", Text, nullable=False),
    Column("raters", Integer, nullable=False, server_default="1"),
)

# What the models said of each drawn row; several rows share an item where the pool has groups. `judge`: what the
# judges said, and the row's features.
rows = Table(
    "rows",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, _drawn_item(), nullable=False),
    Column("weight", Double, nullable=False),
    Column("cost", Double),
    Column("outputs", Text, nullable=False),
    Column("judge", Text),
)

asks = Table(
    "asks",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", Text, _drawn_item(), nullable=False, unique=True),
    Column("at", Text, nullable=False),
)

# One row for each label that an item is to get: `who` holds it `until` (ISO 8601, UTC), or gave it (`done`). An item
# has one row for a person at most.
assignments = Table(
    "assignments",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", Text, _drawn_item(), nullable=False),
    Column("who", Text),
    Column("until", Text),
    Column("done", Integer, nullable=False, server_default="0"),
    UniqueConstraint("id", "who", name="assignments_of_a_person"),
)
Index("open_assignments", assignments.c.done, assignments.c.number)

# `label` is JSON, null for a skip, which may have a `reason`. `kind`: "label", "undo" (what it supersedes is taken
# back) or "resolution" (settles the item, whatever its raters say). What is superseded counts no longer.
labels = Table(
    "labels",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", Text, _drawn_item(), nullable=False),
    Column("label", Text, nullable=False),
    Column("who", Text),
    Column("at", Text, nullable=False),
    Column("supersedes", ForeignKey("labels.number")),
    Column("kind", Text, nullable=False, server_default="label"),
    Column("reason", Text),
)
Index("labels_of_an_item", labels.c.id)

# Writes that were answered: the same request again gets the same `answer`. `digest`: of what was asked to be written.
requests = Table(
    "requests",
    metadata,
    Column("request", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("at", Text, nullable=False),
)

# Everything that happened, in order; `label` is the row of `labels` that it wrote.
events = Table(
    "events",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("who", Text),
    Column("id", Text),
    Column("label", ForeignKey("labels.number")),
    Column("details", Text, nullable=False),
)
