"""Reading the register stays with its indexes, however many requests have finished."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial

import pytest

from receipt_operator import finishing
from receipt_operator.register import evidence, items, outgoing, requests, tallies
from receipt_operator.register.database import Database
from receipt_operator.register.outgoing import Offer
from receipt_operator.register.rows import Request
from tests.integration.collector.books import Books
from tests.integration.operator.desk import NAMESPACES, Desk, eventually, opened
from tests.support.facts import CLUSTER, KEY, make_observed
from tests.support.requests import with_field

pytestmark = pytest.mark.services

FINISHED = 10_000
ITEMS_EACH = 10
LARGE = 100_000


@pytest.fixture
def full(desk: Desk) -> Iterator[Desk]:
    """Fill the register with finished requests and their items."""
    desk.books.looker.execute(
        """
        INSERT INTO work.requests (request_id, cluster, namespace, kind, name, run_id, object_uid,
                                   wish, state, total, finished_at, result, done, failed, skipped)
        SELECT gen_random_uuid(), 'home', 'receipts', 'ReceiptReprocess', 'object-' || n / 10,
               'run-' || n %% 10, 'uid', '{}', 'finished', 10, now(), 'Completed', 10, 0, 0
          FROM generate_series(1, %s) AS n
        """,
        (FINISHED,),
    )
    desk.books.looker.execute(
        """
        INSERT INTO work.items (request_id, reference, state, ended_by, published_at, ended_at)
        SELECT request_id, 'r' || n, 'done', 'collector', now(), now()
          FROM work.requests CROSS JOIN generate_series(1, %s) AS n
        """,
        (ITEMS_EACH,),
    )
    desk.books.looker.execute("ANALYZE work.requests, work.items, work.tallies")
    yield desk
    desk.books.looker.execute("TRUNCATE work.items, work.requests, work.tallies")


async def _open_large(desk: Desk) -> Request:
    """Add an open request with many items, of which half are done."""
    request_id = await desk.accept("first", observed=make_observed(with_field(runId="large")))
    desk.books.looker.execute(
        """
        INSERT INTO work.items (request_id, reference, state, ended_by, published_at)
        SELECT %s, 'item-' || n, CASE WHEN n < %s THEN 'done' ELSE 'planned' END,
               CASE WHEN n < %s THEN 'collector' END, CASE WHEN n < %s THEN now() END
          FROM generate_series(1, %s) AS n
        """,
        (request_id, LARGE // 2, LARGE // 2, LARGE // 2, LARGE),
    )
    desk.books.looker.execute("ANALYZE work.items, work.tallies")
    return await desk.one(request_id)


Work = Callable[[Database, Request], Awaitable[object]]


def _scans(books: Books) -> dict[str, tuple[int, int]]:
    """Count scans of each table of the register since the last reset: whole ones, by index."""
    rows = books.rows(
        """
        SELECT relname, seq_scan, coalesce(idx_scan, 0) AS idx_scan FROM pg_stat_user_tables
         WHERE schemaname = 'work' AND relname IN ('requests', 'items', 'tallies')
        """
    )
    return {row["relname"]: (row["seq_scan"], row["idx_scan"]) for row in rows}


async def _reconcile_some(database: Database, request: Request) -> None:
    await requests.of_objects(
        database,
        cluster=CLUSTER,
        keys=[KEY._replace(name=f"object-{number}") for number in range(200)],
        request_ids=[request.request_id],
    )


async def _show_histories(database: Database, _request: Request) -> None:
    keys = [KEY._replace(name=f"object-{number}") for number in range(200)]
    found = await requests.histories(database, cluster=CLUSTER, keys=keys, limit=6)
    assert len(found[keys[5]]) == 6


async def _active(database: Database, request: Request) -> None:
    found, _ = await requests.active(database, cluster=CLUSTER, namespaces=NAMESPACES)
    assert [one.request_id for one in found] == [request.request_id]


async def _planned(database: Database, request: Request) -> None:
    found = await items.planned(database, {request.request_id: 500})
    assert len(found[request.request_id]) == 500


async def _offered(
    read: Callable[..., Awaitable[Offer]], database: Database, request: Request
) -> None:
    [found] = (await read(database, cluster=CLUSTER, namespaces=NAMESPACES)).requests
    assert found.request_id == request.request_id
    assert found.counts.planned == request.counts.planned


READINGS: dict[str, Work] = {
    "active": _active,
    "everything that may be sent": partial(_offered, outgoing.everything),
    "what is unsent": partial(_offered, outgoing.unsent),
    "a batch of objects": _reconcile_some,
    "histories": _show_histories,
    "planned": _planned,
    "uncertain": lambda database, one: items.uncertain(database, [one.request_id], 500),
    "failures": lambda database, one: finishing.failures(database, one.request_id),
    "worn": lambda database, one: tallies.worn(database, [one.request_id]),
    "latest answered": lambda database, _: evidence.latest_answered(database),
    "lost": lambda database, one: evidence.lost(
        database, [one.request_id], sent_before=datetime.now(UTC), limit=500
    ),
    "overdue": lambda database, one: evidence.overdue(database, [one.request_id], seconds=3600),
}


async def test_g7_nothing_reads_the_whole_register(full: Desk) -> None:
    request = await _open_large(full)

    whole = {}
    for name, reading in READINGS.items():
        full.books.looker.execute("SELECT pg_stat_reset()")
        async with opened(full.books.url) as database:
            await reading(database, request)
        # A connection reports its scans when it ends.
        await eventually(lambda: any(sum(scans) for scans in _scans(full.books).values()))
        whole[name] = sum(scans for scans, _ in _scans(full.books).values())

    assert whole == dict.fromkeys(READINGS, 0)
