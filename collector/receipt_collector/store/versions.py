"""Which version of the schema a database holds, and the lock under which it changes."""

from psycopg import sql

from receipt_collector.store.database import Connection

_WAIT_FOR_ANOTHER_SETUP = "SET LOCAL statement_timeout = '10min'"

# A migration that waits for a table makes everyone behind it wait as well; better to fail early.
_TIMEOUTS = "SELECT set_config('lock_timeout', '10s', true)"


def prepare(connection: Connection) -> None:
    """Wait until no other setup runs; the end of the transaction lets the next one in."""
    connection.execute(_WAIT_FOR_ANOTHER_SETUP)
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('receipt-schema', 0))")
    connection.execute(_TIMEOUTS)


def create_schema(connection: Connection, schema: str) -> None:
    """Make room for a part and its version."""
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))


def current(connection: Connection, *, schema: str, table: str) -> str | None:
    """Return the revision a part is at, or None when it was never set up."""
    found = connection.execute(
        "SELECT to_regclass(format('%%I.%%I', %(schema)s::text, %(table)s::text)) IS NOT NULL",
        {"schema": schema, "table": table},
    ).fetchone()
    if found is None or not found[0]:
        return None
    row = connection.execute(
        sql.SQL("SELECT version_num FROM {}").format(sql.Identifier(schema, table))
    ).fetchone()
    return None if row is None else str(row[0])


def collides(connection: Connection, *, schema: str, names: list[str]) -> bool:
    """Tell whether tables of these names stand in the schema."""
    row = connection.execute(
        """
        SELECT 1 FROM pg_tables
        WHERE schemaname = %(schema)s AND tablename = ANY(%(names)s) LIMIT 1
        """,
        {"schema": schema, "names": names},
    ).fetchone()
    return row is not None
