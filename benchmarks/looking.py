"""The operator's look at the register, which it takes each second, by the size of a request."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator

import psycopg

from benchmarks.table import Figure
from receipt_operator.register import leases, outgoing, requests, tallies
from receipt_operator.register.database import Database

CLUSTER, NAMESPACE = "bench", "receipts"
REQUEST_ID = "00000000-0000-0000-0000-000000000001"
TIMES = 20


def at_open_items(url: str, items: int) -> Iterator[Figure]:
    """Look at one open request of so many items, of which half are done."""
    with psycopg.connect(url, autocommit=True) as connection:
        _fill(connection, items)
    for name, seconds in asyncio.run(_look(url)).items():
        yield Figure("looking", f"{name} at {items} open items", seconds * 1000, "ms", "lower")


def _fill(connection: psycopg.Connection, items: int) -> None:
    connection.execute(
        """
        INSERT INTO work.requests (request_id, cluster, namespace, kind, name, run_id, object_uid,
                                   wish, state, total)
        VALUES (%s, %s, %s, 'ReceiptReprocess', 'large', '', 'uid', '{}', 'open', %s)
        """,
        (REQUEST_ID, CLUSTER, NAMESPACE, items),
    )
    connection.execute(
        """
        INSERT INTO work.items (request_id, reference, state, publications, ended_at)
        SELECT %(id)s, 'receipt-' || n, CASE WHEN n <= %(done)s THEN 'done' ELSE 'planned' END,
               (n <= %(done)s)::int, CASE WHEN n <= %(done)s THEN now() END
          FROM generate_series(1, %(items)s) AS n
        """,
        {"id": REQUEST_ID, "items": items, "done": items // 2},
    )
    # As many rows as come together between two counts.
    connection.execute(
        "INSERT INTO work.tallies SELECT %s, 0, 0, 0, 0, 0, 0, 0, 0 FROM generate_series(1, %s)",
        (REQUEST_ID, max(tallies.MOST_ROWS, items // tallies.ITEMS_A_ROW)),
    )
    connection.execute("ANALYZE work.requests, work.items, work.tallies")


async def _look(url: str) -> dict[str, float]:
    database = Database(url)
    await database.open()
    namespaces = [NAMESPACE]
    try:
        fence = await leases.take(
            database, cluster=CLUSTER, namespaces=namespaces, holder="bench", seconds=3600
        )
        if fence is not None:
            database.hold(fence)
        return {
            "look": await _median(
                lambda: requests.active(database, cluster=CLUSTER, namespaces=namespaces)
            ),
            "what may be sent": await _median(
                lambda: outgoing.unsent(database, cluster=CLUSTER, namespaces=namespaces)
            ),
            "counting anew": await _median(lambda: _recount(database)),
            "look after that": await _median(
                lambda: requests.active(database, cluster=CLUSTER, namespaces=namespaces)
            ),
        }
    finally:
        await database.close()


async def _median(work: Callable[[], Awaitable[object]]) -> float:
    seconds = []
    for _ in range(TIMES):
        started = time.monotonic()
        await work()
        seconds.append(time.monotonic() - started)
    return statistics.median(seconds)


async def _recount(database: Database) -> None:
    async with database.write() as connection:
        await tallies.recount(connection, [REQUEST_ID])
