"""The tables of a study, and the number of their schema.

A database holds one study. What the study decided when it began (`study`, `stages`, `draws`, `rows`) is written
once and replaced only by an extension; what happens later (`asks`, `labels`) is only ever appended.
"""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Integer, MetaData, Table, Text

__all__ = ["SCHEMA", "asks", "draws", "labels", "metadata", "rows", "stages", "study"]

SCHEMA = 1

metadata = MetaData()


def _drawn_item() -> ForeignKey:
    """Return a reference to a drawn item, checked at the end of the transaction: an extension writes draws anew."""
    return ForeignKey("draws.id", deferrable=True, initially="DEFERRED")


# One row. `revision` counts extensions, so that another process knows when to read the draws again.
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

# Items in the order of asking; `id` is JSON, so that 5 and "5" stay apart.
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

# `label` is JSON, null for a skip; a correction names the row that it supersedes.
labels = Table(
    "labels",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", Text, _drawn_item(), nullable=False),
    Column("label", Text, nullable=False),
    Column("who", Text),
    Column("at", Text, nullable=False),
    Column("supersedes", ForeignKey("labels.number")),
)
