"""The operator's desk in a database: requests come in by its own statements, rows are looked at."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from receipt_contract.status import ConditionReason
from receipt_operator.observed import Observed
from receipt_operator.register import items, leases, requests
from receipt_operator.register.database import Database
from receipt_operator.register.requests import Frozen
from receipt_operator.register.rows import Counts, Request
from tests.integration.collector.books import Books, Row
from tests.support.amqp import POLL_SECONDS, WITHIN_SECONDS
from tests.support.facts import CLUSTER, KEY, make_observed, make_wanted

NAMESPACES = (KEY.namespace,)


@asynccontextmanager
async def opened(url: str, *, holder: str = "operator-1") -> AsyncIterator[Database]:
    """Open a database under the lease of a holder."""
    database = Database(url)
    await database.open()
    try:
        fence = await leases.take(
            database, cluster=CLUSTER, namespaces=NAMESPACES, holder=holder, seconds=600
        )
        if fence is not None:
            database.hold(fence)
        yield database
    finally:
        await database.close()


async def eventually(is_true: Callable[[], object]) -> None:
    """Wait until something becomes true while the loop turns; fail when it does not."""
    async with asyncio.timeout(WITHIN_SECONDS):
        while not is_true():  # noqa: ASYNC110 - what is waited for is in other processes
            await asyncio.sleep(POLL_SECONDS)


class Desk:
    """One operator's register, and the books in which everything can be seen."""

    def __init__(self, database: Database, books: Books) -> None:
        self.database = database
        self.books = books

    async def claim(self, observed: Observed | None = None) -> str:
        """Write down the request of an object; return its id."""
        want = make_wanted(observed or make_observed())
        async with self.database.write() as connection:
            await requests.claim(connection, [want.claim])
        return want.request_id

    async def plan(self, *references: str, observed: Observed | None = None) -> str:
        """Write down a request and some items, of which more may come; return its id."""
        request_id = await self.claim(observed)
        async with self.database.write() as connection:
            assert await items.add(connection, request_id, references)
        return request_id

    async def accept(self, *references: str, observed: Observed | None = None) -> str:
        """Write down a request that means these receipts; return its id."""
        request_id = await self.plan(*references, observed=observed)
        async with self.database.write() as connection:
            await requests.accept(connection, request_id, len(references))
        return request_id

    async def finish(
        self, request_id: str, result: ConditionReason = ConditionReason.COMPLETED
    ) -> None:
        """Freeze a request as it stands."""
        async with self.database.write() as connection:
            counts = await items.count(connection, request_id)
            await requests.freeze(connection, request_id, Frozen(result, counts.known, counts, {}))

    async def one(self, request_id: str) -> Request:
        found = await requests.one(self.database, request_id)
        assert found is not None
        return found

    async def active(self) -> list[Request]:
        found, _ = await requests.active(self.database, cluster=CLUSTER, namespaces=NAMESPACES)
        return found

    async def counts(self, request_id: str) -> Counts:
        return (await self.one(request_id)).counts

    def item(self, request_id: str, reference: str) -> Row:
        return self.books.row(
            "SELECT * FROM work.items WHERE request_id = %s AND reference = %s",
            request_id,
            reference,
        )

    def items(self, request_id: str) -> list[Row]:
        return self.books.rows(
            "SELECT * FROM work.items WHERE request_id = %s ORDER BY reference", request_id
        )

    def states(self, request_id: str) -> Mapping[str, str]:
        return {row["reference"]: row["state"] for row in self.items(request_id)}

    def set_item(self, request_id: str, reference: str, **columns: Any) -> None:
        """Put an item into a state; a time is given as SQL text relative to now, as '-2 h'."""
        for name, value in columns.items():
            worth = "now() + %s::interval" if name.endswith("_at") else "%s"
            self.books.looker.execute(
                f"UPDATE work.items SET {name} = {worth}"  # noqa: S608 - a test's own columns
                " WHERE request_id = %s AND reference = %s".encode(),
                (value, request_id, reference),
            )

    def set_request(self, request_id: str, **columns: Any) -> None:
        """Put a request into a state; times as in `set_item`."""
        for name, value in columns.items():
            worth = "now() + %s::interval" if name.endswith(("_at", "_since")) else "%s"
            self.books.looker.execute(
                f"UPDATE work.requests SET {name} = {worth} WHERE request_id = %s".encode(),  # noqa: S608 - a test's own columns
                (value, request_id),
            )

    def waiting_for_locks(self) -> int:
        """Count the connections to this database that wait for a lock."""
        row = self.books.row(
            """
            SELECT count(*) AS found FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        )
        return int(row["found"])
