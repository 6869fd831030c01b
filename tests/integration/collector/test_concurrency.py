"""Several collectors on one database, and what a lost connection means."""

import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest

from receipt_collector import collect
from receipt_collector.gate import Recorded
from receipt_collector.record import record
from receipt_collector.store import requests
from receipt_collector.store.database import Connection, Database
from receipt_contract.errors import AttemptError, OutageError, Reason
from receipt_contract.results import ResultEvent
from tests.integration.collector.books import Books
from tests.support.amqp import eventually
from tests.support.results import make_pass, make_receipt, make_run, request_id

COLLECTORS = 4


def test_g2_runs_for_one_request_at_the_same_time_have_one_effect(books: Books) -> None:
    events = [make_run(run=number, request=1) for number in range(1, COLLECTORS + 1)]

    recorded = _together(books.url, [[event] for event in events])

    assert sorted(recorded) == [*[Recorded.REFUSED] * (COLLECTORS - 1), Recorded.STORED]
    assert books.count("budget.receipt_ocr_runs") == 1


def test_g2_one_event_at_several_collectors_has_one_effect(books: Books) -> None:
    recorded = _together(books.url, [[make_run(request=1)] for _ in range(COLLECTORS)])

    assert sorted(recorded) == [*[Recorded.DUPLICATE] * (COLLECTORS - 1), Recorded.STORED]


def test_scans_of_one_purchase_at_the_same_time_make_one_expense(books: Books) -> None:
    scans = [
        [make_run(run=number, source=number, receipt=make_receipt())]
        for number in range(1, COLLECTORS + 1)
    ]

    _together(books.url, scans)

    assert books.count("budget.receipt_evidence") == COLLECTORS
    assert books.count("budget.expenses") == 1


def test_events_in_any_order_deadlock_nowhere(books: Books) -> None:
    shuffle = random.Random(1)  # noqa: S311 - a repeatable order
    books.ask()
    events: list[ResultEvent] = []
    for source in range(1, 13):
        books.want(at=f"2026/{source}.png")
        events.append(make_run(run=source, source=source, request=1))
        events.extend(make_pass(number, run=source, source=source) for number in (1, 2))
    orders = [shuffle.sample(events, len(events)) for _ in range(COLLECTORS)]

    _together(books.url, orders, tries=len(events))

    assert books.count("budget.receipt_ocr_runs") == 12
    assert books.count("budget.receipt_ocr_passes") == 24
    assert books.count("work.inbox") == 36
    done = books.row("SELECT count(*) AS found FROM work.items WHERE state = 'done'")
    assert done["found"] == 12


def test_a_pass_waits_a_moment_for_the_collector_that_has_its_run(books: Books) -> None:
    def meanwhile(_seconds: float) -> None:
        books.apply(make_run())

    recorded = collect.record_after_its_run(books.database, make_pass(), pause=meanwhile)

    assert recorded is Recorded.STORED


def test_a_pass_whose_run_does_not_come_is_an_attempt(books: Books) -> None:
    pauses: list[float] = []

    with pytest.raises(AttemptError):
        collect.record_after_its_run(books.database, make_pass(), pause=pauses.append)

    assert 0 < sum(pauses) < 1


def test_g4_an_item_never_ends_behind_the_finish(books: Books) -> None:
    books.ask()
    books.want()
    with psycopg.connect(books.url) as operator, ThreadPoolExecutor(1) as pool:
        operator.execute("SELECT 1 FROM work.requests FOR UPDATE")
        applied = pool.submit(books.apply, make_run(request=1))
        eventually(lambda: _waits_for_a_lock(books))
        operator.execute(
            """
            UPDATE work.items SET state = 'failed', reason = 'cancelled';
            UPDATE work.requests SET state = 'finished', finished_at = now(), result = 'Cancelled'
            """
        )
        operator.commit()
        applied.result()

    assert books.item()["state"] == "failed"
    assert books.item()["late"]


def test_the_finish_waits_for_an_item_that_is_ending(books: Books) -> None:
    books.ask()

    def hold_and_look(connection: Connection) -> None:
        requests.hold(connection, request_id())
        with pytest.raises(psycopg.errors.LockNotAvailable):
            books.looker.execute("SELECT 1 FROM work.requests FOR UPDATE NOWAIT")

    books.database.run(hold_and_look)


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param(lambda connection: connection.close(), id="closed on our side"),
        pytest.param(
            lambda connection: connection.execute("SELECT pg_terminate_backend(pg_backend_pid())"),
            id="ended by the server",
        ),
    ],
)
def test_a_lost_connection_is_an_outage_and_the_next_try_connects(
    books: Books, cut: Callable[[Connection], object]
) -> None:
    with pytest.raises(OutageError) as caught:
        books.database.run(cut)

    assert caught.value.reason is Reason.DATABASE_UNAVAILABLE
    assert books.apply(make_run()) is Recorded.STORED


def test_a_commit_of_unknown_outcome_is_applied_again_without_a_second_effect(
    books: Books,
) -> None:
    event = make_run(request=1)

    def commit_and_lose_the_answer(connection: Connection) -> None:
        record(connection, event)
        connection.execute("COMMIT")
        connection.close()

    with pytest.raises(OutageError):
        books.database.run(commit_and_lose_the_answer)

    assert books.apply(event) is Recorded.DUPLICATE
    assert books.count("budget.receipt_ocr_runs") == 1


def test_a_database_that_lost_its_tables_is_waited_for(books: Books) -> None:
    books.looker.execute("ALTER TABLE work.inbox RENAME TO moved")
    try:
        with pytest.raises(OutageError):
            books.apply(make_run())
    finally:
        books.looker.execute("ALTER TABLE work.moved RENAME TO inbox")

    assert books.apply(make_run()) is Recorded.STORED


def test_a_mistake_of_ours_is_no_outage(books: Books) -> None:
    with pytest.raises(psycopg.errors.SyntaxError):
        books.database.run(lambda connection: connection.execute("SELEC 1"))

    assert books.apply(make_run()) is Recorded.STORED


def _together(
    url: str, orders: Sequence[Sequence[ResultEvent]], *, tries: int = 1
) -> list[Recorded]:
    """Apply each order of events on its own connection, all at the same time."""
    start = threading.Barrier(len(orders))

    def apply(order: Sequence[ResultEvent]) -> list[Recorded]:
        database = Database(url)
        start.wait()
        try:
            return list(_apply_until_known(database, order, tries))
        finally:
            database.close()

    with ThreadPoolExecutor(len(orders)) as pool:
        return [recorded for each in pool.map(apply, orders) for recorded in each]


def _apply_until_known(
    database: Database, order: Sequence[ResultEvent], tries: int
) -> list[Recorded]:
    """Apply events; a pass before its run comes again at the end, as from the retry queue."""
    recorded, left = [], list(order)
    for _ in range(tries):
        early: list[ResultEvent] = []
        for event in left:
            try:
                recorded.append(database.run(partial(record, event=event)))
            except AttemptError:
                early.append(event)
        left = early
    assert not left
    return recorded


def _waits_for_a_lock(books: Books) -> bool:
    row = books.row(
        """
        SELECT count(*) AS found FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
    )
    return bool(row["found"])
