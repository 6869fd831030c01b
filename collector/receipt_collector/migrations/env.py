"""Alembic's entry: migrates one part on the connection it is given, inside its transaction."""

from alembic import context

from receipt_collector.schema import VERSION_TABLE

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    version_table=VERSION_TABLE,
    version_table_schema=attributes["part"],
)
context.run_migrations()
