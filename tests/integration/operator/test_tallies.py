"""The counts that the database keeps are those of the items, whatever changed these."""

import threading
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from receipt_collector.store import requests as collected
from receipt_collector.store.database import Connection
from receipt_collector.store.database import Database as CollectorDatabase
from receipt_contract.errors import OutageError, Reason
from receipt_operator.recounting import Recounting
from receipt_operator.register import items, requests, tallies
from receipt_operator.register.items import End
from receipt_operator.register.rows import ItemState, Sending
from tests.integration.operator.desk import Desk
from tests.support.facts import make_observed
from tests.support.requests import with_field

pytestmark = pytest.mark.services

REFERENCES = ("a", "b", "c", "d")

Change = Callable[[Desk, str], Awaitable[None]]


def _sendings(request_id: str, *references: str) -> list[Sending]:
    return [Sending(request_id, reference, "0" * 64) for reference in references]


async def _check(desk: Desk, request_id: str) -> None:
    """Compare what is kept with what is there."""
    kept = await desk.one(request_id)
    async with desk.database.read() as connection:
        there = await items.count(connection, request_id)
    ended_at = [row["ended_at"] for row in desk.items(request_id) if row["ended_at"]]

    assert kept.counts == there
    assert kept.last_advance_at == max(ended_at, default=None)


async def _mark_publishing(desk: Desk, request_id: str) -> None:
    async with desk.database.write() as connection:
        await items.mark_publishing(connection, _sendings(request_id, "a", "b", "c"))


async def _confirm(desk: Desk, request_id: str) -> None:
    async with desk.database.write() as connection:
        await items.mark_published(connection, _sendings(request_id, "a", "b"))


async def _take_back(desk: Desk, request_id: str) -> None:
    async with desk.database.write() as connection:
        await items.mark_unsent(connection, _sendings(request_id, "c"))


async def _skip_one(desk: Desk, request_id: str) -> None:
    async with desk.database.write() as connection:
        await items.end(
            connection, request_id, [End("c", ItemState.SKIPPED, Reason.NEVER_PROCESSED)]
        )


async def _fail_one(desk: Desk, request_id: str) -> None:
    desk.books.database.run(
        partial(collected.end_failed, request_id=request_id, reference="a", reason=Reason.CORRUPT)
    )


async def _do_what_failed(desk: Desk, request_id: str) -> None:
    desk.books.database.run(partial(collected.end_done, request_id=request_id, reference="a"))


async def _send_again(desk: Desk, request_id: str) -> None:
    async with desk.database.write() as connection:
        await items.mark_publishing(connection, _sendings(request_id, "b"))
        await items.mark_published(connection, _sendings(request_id, "b"))


async def _add_a_chunk(desk: Desk, request_id: str) -> None:
    desk.set_request(request_id, state="planning")
    async with desk.database.write() as connection:
        assert await items.add(connection, request_id, ["e", "f"])


async def _drop_the_plan(desk: Desk, request_id: str) -> None:
    async with desk.database.write() as connection:
        await requests.drop_plan(connection, request_id)


async def _count_anew(desk: Desk, request_id: str) -> None:
    async with desk.database.write() as connection:
        await tallies.recount(connection, [request_id])


async def _end_the_rest(desk: Desk, request_id: str) -> None:
    reasons = {ItemState.PLANNED: Reason.CANCELLED, ItemState.PUBLISHED: Reason.UNSETTLED}
    async with desk.database.write() as connection:
        await items.end_remaining(connection, request_id, reasons)


IN_TURN: tuple[Change, ...] = (
    _mark_publishing,
    _confirm,
    _take_back,
    _skip_one,
    _fail_one,
    _do_what_failed,
    _send_again,
    _add_a_chunk,
    _count_anew,
    _drop_the_plan,
    _end_the_rest,
)


async def test_g4_counts_are_those_of_the_items_after_every_change(desk: Desk) -> None:
    request_id = await desk.accept(*REFERENCES)
    other = await desk.accept("a", observed=make_observed(with_field(runId="other")))

    for change in IN_TURN:
        await change(desk, request_id)

        await _check(desk, request_id)
        await _check(desk, other)


async def test_g4_counts_stay_those_of_the_items_while_they_are_counted_anew(desk: Desk) -> None:
    references = [f"{number:03}" for number in range(120)]
    request_id = await desk.accept(*references)
    threads = [
        threading.Thread(target=_end_all, args=(desk.books.url, request_id, references[start::3]))
        for start in range(3)
    ]

    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        await _count_anew(desk, request_id)
        assert (await desk.counts(request_id)).known == len(references)
    for thread in threads:
        thread.join()

    await _check(desk, request_id)
    counts = await desk.counts(request_id)
    assert (counts.done, counts.planned) == (60, 60)


async def test_g4_an_operator_that_starts_counts_everything_anew(desk: Desk) -> None:
    request_id = await desk.accept(*REFERENCES)
    desk.books.looker.execute("UPDATE work.tallies SET planned = 1000")

    assert await Recounting(desk.database).keep([request_id])

    await _check(desk, request_id)


async def test_counts_that_sum_up_many_changes_are_counted_anew(desk: Desk) -> None:
    request_id = await desk.accept(*REFERENCES)
    other = await desk.accept("a", observed=make_observed(with_field(runId="other")))
    desk.books.looker.execute(
        """
        INSERT INTO work.tallies SELECT %s, 0, 0, 0, 0, 0, 0, 0, 0 FROM generate_series(1, %s)
        """,
        (request_id, tallies.MOST_ROWS),
    )

    worn = await tallies.worn(desk.database, [request_id, other])
    await _count_anew(desk, request_id)

    assert worn == [request_id]
    assert desk.books.count("work.tallies") == 2
    await _check(desk, request_id)


def _end_all(url: str, request_id: str, references: list[str]) -> None:
    """End each item in a transaction of its own; every second one is cut off before its commit."""
    database = CollectorDatabase(url)
    try:
        for number, reference in enumerate(references):
            if number % 2:
                with pytest.raises(OutageError):
                    database.run(partial(_end_and_die, request_id=request_id, reference=reference))
            else:
                database.run(
                    partial(collected.end_done, request_id=request_id, reference=reference)
                )
    finally:
        database.close()


def _end_and_die(connection: Connection, *, request_id: str, reference: str) -> None:
    collected.end_done(connection, request_id=request_id, reference=reference)
    connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
