"""What Alembic runs: the revisions, on the connection that it is given."""

from alembic import context

from sondage.studies.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
