"""Connections to the register, and the fence that every write passes.

psycopg's errors end here: what is away is an outage, what lost its lease is `LeaseLostError`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg
import psycopg_pool
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row

from receipt_contract.errors import OutageError, Reason

Connection = AsyncConnection[DictRow]

POOL_SIZE = 6
CONNECT_SECONDS = 5
# A server that takes no writes is a standby, or about to become one.
_AWAY = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg_pool.PoolTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
)
# Local to each transaction: behind a pooler a session's settings would leak to other clients.
SETTINGS = """
    SELECT set_config('statement_timeout', '30s', true), set_config('lock_timeout', '5s', true),
           set_config('timezone', 'UTC', true),
           set_config('transaction_read_only',
                      coalesce(%(read_only)s, current_setting('transaction_read_only')), true)
"""
AS_IT_IS = {"read_only": None}  # a server may take no writes, which is found out by the first one
READ_ONLY = {"read_only": "on"}

# Our tables are not there, are another version's, or are not for this user.
NOT_SET_UP = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.InsufficientPrivilege,
)


class NotSetUpError(OutageError):
    """The database answers, but our tables are not there, or not for this user."""

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__(Reason.DATABASE_UNAVAILABLE)
        self.args = ("The database is not set up for this user: run `ledger database setup`.",)


@dataclass(frozen=True)
class Fence:
    """The lease a write is made under: who holds which namespaces since which epoch."""

    cluster: str
    namespaces: Sequence[str]
    holder: str
    epoch: int


class LeaseLostError(Exception):
    """Another operator holds the lease now; nothing was written."""


class Database:
    """A small pool of connections to the register."""

    def __init__(self, dsn: str) -> None:
        """Prepare the pool; nothing connects before `open`."""
        self._pool: psycopg_pool.AsyncConnectionPool[Connection] = psycopg_pool.AsyncConnectionPool(
            dsn,
            connection_class=AsyncConnection[DictRow],
            min_size=1,
            max_size=POOL_SIZE,
            open=False,
            timeout=CONNECT_SECONDS,
            reconnect_timeout=1,
            kwargs={
                "row_factory": dict_row,
                "connect_timeout": CONNECT_SECONDS,
                "application_name": "receipt-operator",
            },
            check=psycopg_pool.AsyncConnectionPool.check_connection,
        )
        self._fence: Fence | None = None

    async def open(self) -> None:
        """Start the pool; it connects in the background for as long as it takes."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    @property
    def fence(self) -> Fence | None:
        """The lease that writes are made under."""
        return self._fence

    def hold(self, fence: Fence) -> None:
        """Make every later write pass this fence."""
        self._fence = fence

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Connection]:
        """Lend a connection that can only read, so that no write slips past the fence.

        Raises OutageError(DATABASE_UNAVAILABLE).
        """
        async with self._transaction(READ_ONLY) as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Connection]:
        """Lend a connection in a transaction behind the fence.

        The lease row stays locked until the commit, so no other operator can take it in between.
        Raises LeaseLostError and OutageError(DATABASE_UNAVAILABLE).
        """
        fence = self._fence
        if fence is None:
            raise LeaseLostError
        async with self._transaction() as connection:
            await _pass(connection, fence)
            yield connection

    @asynccontextmanager
    async def unfenced(self) -> AsyncIterator[Connection]:
        """Lend a connection in a transaction without a fence: for the lease itself."""
        async with self._transaction() as connection:
            yield connection

    @asynccontextmanager
    async def _transaction(
        self, settings: Mapping[str, str | None] = AS_IT_IS
    ) -> AsyncIterator[Connection]:
        async with _translated(), self._pool.connection() as connection:
            await connection.execute(SETTINGS, settings)
            yield connection


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    try:
        yield
    except _AWAY as error:
        raise OutageError(Reason.DATABASE_UNAVAILABLE) from error
    except NOT_SET_UP as error:  # set up later, or restored empty: a person repairs it
        raise NotSetUpError from error


async def _pass(connection: Connection, fence: Fence) -> None:
    cursor = await connection.execute(
        """
        SELECT namespace FROM work.leases
         WHERE cluster = %(cluster)s AND namespace = ANY(%(namespaces)s)
           AND holder = %(holder)s AND epoch = %(epoch)s
         ORDER BY namespace
           FOR SHARE
        """,
        {
            "cluster": fence.cluster,
            "namespaces": list(fence.namespaces),
            "holder": fence.holder,
            "epoch": fence.epoch,
        },
    )
    if len(await cursor.fetchall()) != len(fence.namespaces):
        raise LeaseLostError
