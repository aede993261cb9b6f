"""Studies of earlier releases become studies of this one: Alembic's revisions, run when a study is opened.

A revision has the number of the schema that it makes, with four digits. It is written by hand, never changed once it is
released, and reads and writes tables by their names, not by `sondage.studies.tables`, which goes on.
"""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect

__all__ = ["upgrade"]


def upgrade(connection: Connection) -> None:
    """Bring the tables of a study up to this release, within the caller's transaction.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction that holds the study's lock.
    """
    settings = Config()
    settings.set_main_option("script_location", "sondage.studies:migrations")
    settings.set_main_option("path_separator", "os")
    settings.attributes["connection"] = connection
    if not inspect(connection).has_table("alembic_version"):  # the first release did not write its number so
        command.stamp(settings, "0001")
    command.upgrade(settings, "head")
