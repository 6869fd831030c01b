"""One plain connection for commands that read, each statement by itself.

It sets nothing for its session, which behind a transaction pooler is another's a moment later.
psycopg's errors end here, as in `database`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from receipt_contract.errors import OutageError, Reason
from receipt_operator.register.database import NOT_SET_UP, NotSetUpError

CONNECT_SECONDS = 5

Reader = Connection[DictRow]


@contextmanager
def reader(dsn: str) -> Iterator[Reader]:
    """Connect for a command's lifetime.

    Raises OutageError(DATABASE_UNAVAILABLE) and NotSetUpError.
    """
    try:
        with psycopg.connect(
            dsn,
            autocommit=True,
            row_factory=dict_row,
            connect_timeout=CONNECT_SECONDS,
            application_name="ledger",
            prepare_threshold=None,  # transaction poolers keep no prepared statement
        ) as connection:
            yield connection
    except NOT_SET_UP as error:
        raise NotSetUpError from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise OutageError(Reason.DATABASE_UNAVAILABLE) from error
