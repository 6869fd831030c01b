"""One operator at a time: leases are taken whole, run out, and fence an old holder's writes."""

import asyncio

import pytest

from receipt_collector import schema
from receipt_contract.errors import OutageError
from receipt_operator.register import leases, requests
from receipt_operator.register.database import Database, Fence, LeaseLostError
from tests.integration.collector.books import Books
from tests.integration.operator.desk import Desk, eventually, opened
from tests.support import services
from tests.support.facts import make_observed, make_wanted

pytestmark = pytest.mark.services


async def _take(
    database: Database, *namespaces: str, holder: str, seconds: float = 600
) -> Fence | None:
    return await leases.take(
        database, cluster="home", namespaces=namespaces, holder=holder, seconds=seconds
    )


def _expire(books: Books) -> None:
    books.looker.execute("UPDATE work.leases SET expires_at = now() - interval '1 s'")


async def test_a_lease_is_taken_renewed_and_refused_to_others(desk: Desk) -> None:
    first = await _take(desk.database, "a", holder="one")
    renewed = await _take(desk.database, "a", holder="one")
    refused = await _take(desk.database, "a", holder="two")

    assert first is not None
    assert renewed == first
    assert refused is None


async def test_a_lease_that_ran_out_goes_to_the_next_with_a_higher_epoch(desk: Desk) -> None:
    first = await _take(desk.database, "a", holder="one")
    _expire(desk.books)
    second = await _take(desk.database, "a", holder="two")

    assert first is not None
    assert second is not None
    assert second.epoch > first.epoch
    assert await _take(desk.database, "a", holder="one") is None


async def test_a_holder_whose_lease_ran_out_may_renew_it_while_nobody_took_it(desk: Desk) -> None:
    first = await _take(desk.database, "a", holder="one")
    _expire(desk.books)

    assert await _take(desk.database, "a", holder="one") == first


async def test_leases_are_taken_for_all_namespaces_or_for_none(desk: Desk) -> None:
    await _take(desk.database, "b", holder="one")

    both = await _take(desk.database, "a", "b", "c", holder="two")

    assert both is None
    held = desk.books.rows(
        "SELECT namespace FROM work.leases WHERE expires_at > now() AND namespace IN ('a','b','c')"
    )
    assert [row["namespace"] for row in held] == ["b"]


async def test_one_epoch_covers_namespaces_that_had_different_ones(desk: Desk) -> None:
    for holder in ("one", "two", "three"):
        await _take(desk.database, "a", holder=holder)
        _expire(desk.books)

    fence = await _take(desk.database, "a", "b", holder="four")

    assert fence is not None
    rows = desk.books.rows("SELECT DISTINCT epoch FROM work.leases WHERE namespace IN ('a', 'b')")
    assert rows == [{"epoch": fence.epoch}]


async def test_clusters_do_not_share_leases(desk: Desk) -> None:
    await _take(desk.database, "a", holder="one")

    other = await leases.take(
        desk.database, cluster="other", namespaces=["a"], holder="two", seconds=600
    )

    assert other is not None


async def test_a_database_without_our_tables_is_waited_for(database_admin_url: str) -> None:
    with services.fresh_database(database_admin_url, "not-set-up") as url:
        empty = Database(url)
        await empty.open()
        try:
            with pytest.raises(OutageError) as failure:
                await _take(empty, "a", holder="one")
            schema.setup(url)
            fence = await _take(empty, "a", holder="one")
        finally:
            await empty.close()

    assert "ledger database setup" in str(failure.value)
    assert fence is not None


async def test_a_released_lease_is_free_at_once(desk: Desk) -> None:
    first = await _take(desk.database, "a", holder="one")
    assert first is not None

    await leases.release(desk.database, first)

    assert await _take(desk.database, "a", holder="two") is not None


async def test_an_old_holder_cannot_release_the_lease_of_the_new_one(desk: Desk) -> None:
    first = await _take(desk.database, "a", holder="one")
    assert first is not None
    _expire(desk.books)
    await _take(desk.database, "a", holder="two")

    await leases.release(desk.database, first)

    assert await _take(desk.database, "a", holder="three") is None


async def test_g2_an_old_holder_writes_nothing(desk: Desk) -> None:
    _expire(desk.books)

    async with opened(desk.books.url, holder="operator-2"):
        with pytest.raises(LeaseLostError):
            await desk.claim()

    assert desk.books.count("work.requests") == 0


async def test_an_old_holder_writes_nothing_after_the_new_one_has_gone(desk: Desk) -> None:
    _expire(desk.books)
    async with opened(desk.books.url, holder="operator-2"):
        pass
    _expire(desk.books)

    with pytest.raises(LeaseLostError):
        await desk.claim()


async def test_losing_one_of_several_namespaces_stops_all_writes(desk: Desk) -> None:
    fence = await _take(desk.database, "receipts", "a", holder="operator-1")
    assert fence is not None
    desk.database.hold(fence)
    desk.books.looker.execute("DELETE FROM work.leases WHERE namespace = 'a'")

    with pytest.raises(LeaseLostError):
        await desk.claim()


async def test_nothing_is_written_before_a_lease_is_held(books: Books) -> None:
    database = Database(books.url)
    await database.open()
    try:
        with pytest.raises(LeaseLostError):
            async with database.write():
                pass
    finally:
        await database.close()


async def test_g2_a_new_holder_waits_for_the_write_that_is_going_on(desk: Desk) -> None:
    _expire(desk.books)
    other = Database(desk.books.url)
    await other.open()
    try:
        async with desk.database.write() as connection:
            taking = asyncio.create_task(_take(other, "receipts", holder="operator-2"))
            await eventually(lambda: desk.waiting_for_locks() == 1)
            await requests.claim(connection, [make_wanted(make_observed()).claim])
        taken = await taking
    finally:
        await other.close()

    assert taken is not None
    assert desk.books.count("work.requests") == 1
    with pytest.raises(LeaseLostError):
        await desk.claim()


async def test_the_workers_mark_is_remembered_for_the_cluster(desk: Desk) -> None:
    fence = desk.database.fence
    assert fence is not None
    before = await leases.cache_was_seen(desk.database, "home")

    await leases.remember_cache(desk.database, fence)

    assert not before
    assert await leases.cache_was_seen(desk.database, "home")
    assert not await leases.cache_was_seen(desk.database, "other")


async def test_a_mark_that_is_known_is_remembered_without_waiting_for_a_write(desk: Desk) -> None:
    fence = desk.database.fence
    assert fence is not None
    await leases.remember_cache(desk.database, fence)

    async with desk.database.write():
        await asyncio.wait_for(leases.remember_cache(desk.database, fence), timeout=2)


async def test_g2_a_namesake_of_the_holder_fences_it_too(desk: Desk) -> None:
    # A container started again in its pod has the same host name and process id.
    _expire(desk.books)
    async with opened(desk.books.url, holder="operator-2"):
        _expire(desk.books)
    async with opened(desk.books.url, holder="operator-1"):
        with pytest.raises(LeaseLostError):
            await desk.claim()
