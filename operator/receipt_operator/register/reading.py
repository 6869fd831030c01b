"""One plain connection for commands that read: read-only, each statement on its own snapshot.

psycopg's errors end here, as in `database`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row

from receipt_contract.errors import OutageError, Reason

CONNECT_SECONDS = 5

Reader = Connection[DictRow]

# Our tables are not there, are another version's, or are not for this user.
_NOT_SET_UP = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.InsufficientPrivilege,
)


class ReadingError(Exception):
    """The database cannot be read for a reason that waiting does not cure; the text says which."""


@contextmanager
def reader(dsn: str) -> Iterator[Reader]:
    """Connect for a command's lifetime.

    Raises OutageError(DATABASE_UNAVAILABLE) and ReadingError.
    """
    try:
        conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as error:
        raise ReadingError("DATABASE_URL is no PostgreSQL connection string.") from error
    try:
        with psycopg.connect(
            dsn,
            autocommit=True,
            row_factory=dict_row,
            connect_timeout=CONNECT_SECONDS,
            application_name="ledger",
            prepare_threshold=None,  # transaction poolers keep no prepared statement
        ) as connection:
            connection.execute("SET default_transaction_read_only = on")
            connection.execute("SET TIME ZONE 'UTC'")
            yield connection
    except _NOT_SET_UP as error:
        sentence = "The database is not set up for this user: run `ledger database setup`."
        raise ReadingError(sentence) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise OutageError(Reason.DATABASE_UNAVAILABLE) from error
