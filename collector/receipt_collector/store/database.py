"""The connection to PostgreSQL and what its errors mean; nobody else knows either.

Every statement runs inside a transaction of `Database.run`, so a lost connection, a lock that is
not given and a commit of unknown outcome all end the same way: nothing is acknowledged, and the
same work is done again on a new connection.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from receipt_contract.errors import OutageError, PermanentError, Reason

Connection = psycopg.Connection[TupleRow]
Result = TypeVar("Result")

PROBE_SECONDS = 3
PREPARE_THRESHOLD = 5  # uses of a statement before the server keeps it
CONFLICT_TRIES = 5  # a deadlock or a serialization failure is nobody's fault and passes quickly

# Values in the DSN win. A peer that vanished without a word is noticed within half a minute.
_DEFAULTS = {
    "application_name": "receipt-collector",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}

# One journey to the server. Local to the transaction, because behind a pooler the next one may run
# on another session.
_BEGIN = """
BEGIN;
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '30s';
SET LOCAL idle_in_transaction_session_timeout = '60s'
"""

# What an event can be blamed for: values out of range, broken constraints, texts over an index's
# limit. All else is the database's.
_CLASSES_OF_DATA = ("22", "23", "54")

# A database that was restored empty, or a role without its grants: waiting is right, because a
# person repairs it and the events are good.
_NOT_SET_UP = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.InsufficientPrivilege,
)


class Database:
    """One connection of one thread, made again whenever it was lost."""

    def __init__(self, dsn: str, *, prepares: bool = False) -> None:
        """Connect later, at the first transaction; `prepares` keeps statements prepared."""
        self._dsn = dsn
        self._prepare_threshold = PREPARE_THRESHOLD if prepares else None
        self._connection: Connection | None = None

    def run(self, work: Callable[[Connection], Result]) -> Result:
        """Do `work` in one transaction and return after its commit.

        Raises PermanentError(INVALID_EVENT) for values PostgreSQL refuses and
        OutageError(DATABASE_UNAVAILABLE) for all that waiting may cure; then the commit may have
        happened or not.
        """
        for _ in range(CONFLICT_TRIES):
            try:
                return self._once(work)
            except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
                continue
        raise OutageError(Reason.DATABASE_UNAVAILABLE)

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, work: Callable[[Connection], Result]) -> Result:
        if self._connection is None:
            self._connection = connect(self._dsn)
            self._connection.prepare_threshold = self._prepare_threshold
        try:
            return _in_transaction(self._connection, work)
        except OutageError:
            self.close()
            raise


def _in_transaction(connection: Connection, work: Callable[[Connection], Result]) -> Result:
    with translated():
        connection.execute(_BEGIN)
        try:
            result = work(connection)
        except BaseException:
            if not connection.closed:
                connection.rollback()
            raise
        connection.commit()
        return result


def connect(dsn: str) -> Connection:
    """Open a connection that prepares nothing; raises OutageError(DATABASE_UNAVAILABLE)."""
    given = conninfo_to_dict(dsn)
    defaults = {name: value for name, value in _DEFAULTS.items() if name not in given}
    with translated():
        return psycopg.connect(make_conninfo(dsn, **defaults), prepare_threshold=None)


def answers(dsn: str) -> bool:
    """Tell whether the database can be reached right now; for probes, so it waits briefly."""
    try:
        with translated():
            psycopg.connect(make_conninfo(dsn, connect_timeout=PROBE_SECONDS)).close()
    except OutageError:
        return False
    return True


def check_dsn(dsn: str) -> None:
    """Refuse what libpq cannot read; raises ValueError, which never holds the text itself."""
    try:
        conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        raise ValueError("not a PostgreSQL connection string") from None


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into ours; conflicts and our own mistakes pass unchanged."""
    try:
        yield
    except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
        raise
    except UnicodeEncodeError as error:  # half a surrogate pair: JSON may carry it, UTF-8 may not
        raise PermanentError(Reason.INVALID_EVENT) from error
    except psycopg.Error as error:
        reason = _meaning(error)
        if reason is None:
            raise
        raise reason from error


def _meaning(error: psycopg.Error) -> PermanentError | OutageError | None:
    if isinstance(error, psycopg.DataError | psycopg.IntegrityError) or (
        error.sqlstate or ""
    ).startswith(_CLASSES_OF_DATA):
        return PermanentError(Reason.INVALID_EVENT)
    if isinstance(error, psycopg.ProgrammingError) and not isinstance(error, _NOT_SET_UP):
        return None
    if isinstance(error, psycopg.NotSupportedError):
        return None
    return OutageError(Reason.DATABASE_UNAVAILABLE)
