"""However much is stored, taking in what comes next looks up rows and reads no table through."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from receipt_collector import failures
from receipt_collector.record import record
from receipt_collector.store.database import Connection
from receipt_contract import work
from receipt_contract.errors import Reason
from receipt_contract.results import PersistenceMode, Receipt
from receipt_contract.topology import REASON_HEADER
from receipt_contract.work import ProcessWork
from tests.integration.collector.books import Books
from tests.support.fields import make_full_run
from tests.support.results import MOMENT, make_pass, make_receipt, make_run, reference, sha

STORED = 400  # enough for an index to be the shorter way
FEW = 150  # rows: the candidates for one purchase, and tables that stay small

Step = Callable[[Connection], object]


def purchase(number: int) -> Receipt:
    """Return a purchase like no other."""
    moment = MOMENT.replace(tzinfo=None) + timedelta(days=number)
    return make_receipt(
        receipt_id=f"R-{number}", transaction_date=moment.date(), transaction_datetime=moment
    )


def fill(connection: Connection) -> None:
    """Store sources, each read and looked at by a pass, and as many that failed."""
    for number in range(1, STORED + 1):
        record(connection, make_run(run=number, source=number, receipt=purchase(number)))
        record(connection, make_pass(1, run=number, source=number))
        _fail(connection, source=STORED + number)


def _fail(connection: Connection, *, source: int) -> None:
    message = ProcessWork(source_sha256=sha(source), source_reference=reference(source))
    headers = {REASON_HEADER: Reason.CORRUPT.value}
    failures.record(connection, failures.read_work(work.encode(message), headers))


@pytest.fixture
def full_books(books: Books) -> Books:
    """Give books with much in them, which the database has taken stock of."""
    books.database.run(fill)
    books.looker.execute("ANALYZE")
    return books


NEW, OLD = 5 * STORED, STORED // 2


def test_what_comes_next_reads_no_table_through(full_books: Books) -> None:
    cache_only = PersistenceMode.CACHE_ONLY
    steps: dict[str, Step] = {
        "a new receipt": partial(
            record, event=make_run(run=NEW, source=NEW, receipt=purchase(NEW))
        ),
        "a new receipt without a day": partial(
            record,
            event=make_run(
                run=NEW + 1,
                source=NEW + 1,
                receipt=make_receipt(transaction_date=None, transaction_datetime=None),
            ),
        ),
        "a receipt with every field": partial(record, event=make_full_run()),
        "a known one again": partial(
            record, event=make_run(run=OLD, source=OLD, receipt=purchase(OLD))
        ),
        "a known one for a request": partial(
            record, event=make_run(run=NEW + 2, source=OLD, request=7, receipt=purchase(OLD))
        ),
        "a cache": partial(
            record, event=make_run(run=NEW + 3, source=OLD, request=8, mode=cache_only)
        ),
        "a pass": partial(record, event=make_pass(2, run=OLD, source=OLD)),
        "a new failure": partial(_fail, source=NEW + 4),
        "a known failure": partial(_fail, source=STORED + OLD),
    }

    read = {
        name: full_books.database.run(partial(_rows_read, step=step))
        for name, step in steps.items()
    }

    assert read == {name: {} for name in steps}


def _rows_read(connection: Connection, *, step: Step) -> dict[str, tuple[int, int]]:
    """Return by table how many rows a step read, by going through it and by an index, if many."""
    # As of a statement that was run often: planned for any value, not for this one.
    connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    before = _read_so_far(connection)
    step(connection)
    after = _read_so_far(connection)
    read = {
        table: tuple(now - then for now, then in zip(after[table], before[table], strict=True))
        for table in after
    }
    return {
        table: (numbers[0], numbers[1]) for table, numbers in read.items() if max(numbers) > FEW
    }


def _read_so_far(connection: Connection) -> dict[str, tuple[int, int]]:
    """Return the numbers of this session that are not yet added to those of all."""
    found = connection.execute(
        """
        SELECT schemaname || '.' || relname, seq_tup_read, idx_tup_fetch
        FROM pg_stat_xact_user_tables WHERE idx_tup_fetch IS NOT NULL
        """
    )
    return {table: (through, by_index) for table, through, by_index in found.fetchall()}
