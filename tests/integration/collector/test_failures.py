"""What dead letters leave in the database."""

from dataclasses import replace

import pytest

from receipt_collector import collect, failures
from receipt_collector.failures import Failure
from receipt_contract import results, wire, work
from receipt_contract.errors import Reason
from receipt_contract.results import ExtractionStatus
from receipt_contract.topology import REASON_HEADER, RESULTS_SIDE
from receipt_contract.work import ProcessWork
from tests.integration.collector.books import Books
from tests.support.amqp import make_delivery
from tests.support.results import make_receipt, make_run, reference, sha


def dead_v1(reason: Reason, *, attempt: int = 1) -> Failure:
    message = ProcessWork(source_sha256=sha(), source_reference=reference(), attempt=attempt)
    return failures.read_work(work.encode(message), {REASON_HEADER: reason.value})


def test_g8_a_row_holds_the_reason_and_its_fixed_sentence(books: Books) -> None:
    failure = dead_v1(Reason.CORRUPT)

    books.fail(failure)

    row = books.row("SELECT * FROM budget.receipt_failures")
    assert (row["reason"], row["sentence"]) == ("corrupt", Reason.CORRUPT.sentence)
    assert row["body"] == failure.row.body
    assert (row["side"], row["attempts"]) == ("receipts.v1", 1)
    assert (row["source_sha256"], row["source_reference"]) == (sha(), reference())


def test_the_same_message_failing_again_renews_its_row(books: Books) -> None:
    books.fail(dead_v1(Reason.TIMEOUT, attempt=3))

    books.fail(dead_v1(Reason.CORRUPT))

    row = books.row("SELECT * FROM budget.receipt_failures")
    assert (row["reason"], row["attempts"]) == ("corrupt", 1)
    assert row["last_failed_at"] > row["first_failed_at"]


@pytest.mark.parametrize(
    ("reason", "attempts"),
    [
        pytest.param(Reason.CORRUPT, 3, id="the content will not change"),
        pytest.param(Reason.TIMEOUT, 3, id="the tries are used up"),
        pytest.param(Reason.WORKER_CRASHED, 3, id="crashes are tries"),
        pytest.param(Reason.SOURCE_MISSING, 0, id="the file may come back"),
        pytest.param(Reason.SOURCE_CHANGED, 0, id="the next scan finds the new bytes"),
    ],
)
def test_a_failed_normal_reading(books: Books, reason: Reason, attempts: int) -> None:
    books.fail(dead_v1(reason))

    status = books.status()
    assert (status["status"], status["attempts"]) == ("failed", attempts)
    assert status["last_error"] == reason.sentence
    assert status["completed_at"] is None


def test_a_path_failure_leaves_counted_attempts_alone(books: Books) -> None:
    books.fail(dead_v1(Reason.TIMEOUT))

    books.fail(dead_v1(Reason.SOURCE_MISSING))

    assert books.status()["attempts"] == 3


@pytest.mark.parametrize("status", [ExtractionStatus.COMPLETE, ExtractionStatus.REVIEW])
def test_a_failure_never_hides_a_stored_extraction(books: Books, status: ExtractionStatus) -> None:
    books.apply(make_run(receipt=make_receipt(extraction_status=status)))
    before = books.status()

    books.fail(dead_v1(Reason.CORRUPT))

    assert books.status() == before
    assert books.count("budget.receipt_failures") == 1


def test_a_reading_after_a_failure_succeeds(books: Books) -> None:
    books.fail(dead_v1(Reason.TIMEOUT))

    books.apply(make_run())

    status = books.status()
    assert (status["status"], status["last_error"]) == ("succeeded", None)


def test_a_dead_normal_event_fails_the_reading(books: Books) -> None:
    body = results.encode(make_run(attempt=3))

    books.fail(failures.read_result(body, {REASON_HEADER: "invalid_event"}))

    assert (books.status()["status"], books.status()["attempts"]) == ("failed", 3)


@pytest.mark.parametrize(
    "at",
    [
        pytest.param("\ud800.png", id="half a surrogate pair"),
        pytest.param("x" * 100_000, id="a reference longer than any index entry"),
    ],
)
def test_g6_no_dead_letter_can_stop_the_failures_queue(books: Books, at: str) -> None:
    sound = results.encode(make_run(at="here.png", attempt=3))
    body = sound.replace(b'"here.png"', wire.dumps(at))
    delivery = replace(make_delivery(body), queue=RESULTS_SIDE.failures)

    collect.record_failure(books.database, delivery)

    assert books.row("SELECT * FROM budget.receipt_failures")["body_bytes"] == len(body)
