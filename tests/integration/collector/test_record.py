"""What result events leave in the database."""

from decimal import Decimal

import pytest

from receipt_collector.gate import Recorded
from receipt_contract.errors import AttemptError, PermanentError, Reason
from receipt_contract.results import ExtractionStatus, PersistenceMode, ResultEvent
from tests.integration.collector.books import Books
from tests.support.results import (
    make_artifact,
    make_pass,
    make_receipt,
    make_run,
    reference,
    run_uuid,
)

CACHE_ONLY = PersistenceMode.CACHE_ONLY


def test_a_normal_run_saves_everything_it_says(books: Books) -> None:
    recorded = books.apply(make_run())

    assert recorded is Recorded.STORED
    evidence = books.evidence()
    assert evidence["merchant"] == "Corner Shop"
    assert evidence["total"] == Decimal("30.90")
    assert evidence["transaction_date"].isoformat() == "2026-02-27"
    assert evidence["mime_type"] == "image/png"
    assert evidence["raw_payload"]["items"][0]["item_name"] == "Milk 2L"
    expense = books.row("SELECT * FROM budget.expenses")
    assert expense["order_id"] == f"scan:{evidence['source_sha256']}"
    assert expense["receipt_tax"] == Decimal("2.81")
    assert evidence["expense_pk"] == expense["id"]
    assert evidence["is_primary_source"]
    run = books.row("SELECT * FROM budget.receipt_ocr_runs")
    assert str(run["run_uuid"]) == run_uuid()
    assert run["worker_host"] == "worker-0"
    assert books.count("budget.expense_items") == 2
    assert books.count("budget.receipt_ocr_artifacts") == 1
    assert books.count("budget.ocr_result_events") == 1
    status = books.row("SELECT * FROM budget.receipt_processing_status")
    assert (status["status"], status["attempts"]) == ("succeeded", 1)
    assert status["source_reference"] == reference()


def test_a_pass_is_stored_with_its_run(books: Books) -> None:
    books.apply(make_run())

    recorded = books.apply(make_pass(2))

    assert recorded is Recorded.STORED
    row = books.row("SELECT * FROM budget.receipt_ocr_passes")
    assert (row["pass_id"], row["engine"], row["psm"]) == (2, "tesseract", "6")
    assert row["seconds"] == Decimal("0.731")
    assert row["quality"] == {"mean_confidence": 91.5}


@pytest.mark.parametrize(
    ("status", "changes", "expected"),
    [
        pytest.param(ExtractionStatus.COMPLETE, {}, "succeeded", id="complete succeeds"),
        pytest.param(ExtractionStatus.REVIEW, {}, "review_required", id="review needs a person"),
        pytest.param(
            ExtractionStatus.UNREADABLE,
            {"total": None, "items": ()},
            "review_required",
            id="unreadable needs a person",
        ),
        pytest.param(
            ExtractionStatus.COMPLETE,
            {"total": Decimal("35.90")},
            "review_required",
            id="sums that contradict each other need a person",
        ),
        pytest.param(
            ExtractionStatus.COMPLETE,
            {"subtotal": Decimal("30.90")},
            "succeeded",
            id="a subtotal that includes the tax is no contradiction",
        ),
    ],
)
def test_the_status_of_the_normal_reading(
    books: Books, status: ExtractionStatus, changes: dict[str, object], expected: str
) -> None:
    books.apply(make_run(receipt=make_receipt(extraction_status=status, **changes)))

    assert books.status()["status"] == expected


def test_g2_a_repeated_event_has_no_second_effect(books: Books) -> None:
    events: list[ResultEvent] = [
        make_run(),
        make_pass(1),
        make_run(request=1, run=2),
        make_pass(1, run=2),
    ]
    for event in events:
        assert books.apply(event) is Recorded.STORED
    before = _snapshot(books)

    repeated = [books.apply(event) for event in [*events, *reversed(events)]]

    assert set(repeated) == {Recorded.DUPLICATE}
    assert _snapshot(books) == before


def test_g2_a_second_run_for_a_completed_request_is_refused(books: Books) -> None:
    books.apply(make_run(run=1, request=1, receipt=make_receipt(merchant="First")))

    second = books.apply(make_run(run=2, request=1, receipt=make_receipt(merchant="Second")))
    of_second = books.apply(make_pass(1, run=2))

    assert second is Recorded.REFUSED
    assert of_second is Recorded.RUN_NOT_STORED
    assert books.evidence()["merchant"] == "First"
    assert books.count("budget.receipt_ocr_runs") == 1
    assert books.count("budget.receipt_ocr_passes") == 0


def test_another_request_reads_the_same_source_again(books: Books) -> None:
    books.apply(make_run(run=1, request=1, receipt=make_receipt(merchant="First")))

    second = books.apply(make_run(run=2, request=2, receipt=make_receipt(merchant="Second")))

    assert second is Recorded.STORED
    assert books.evidence()["merchant"] == "Second"
    assert books.count("budget.receipt_ocr_runs") == 2
    assert books.count("budget.receipt_reprocess_requests") == 2
    assert books.count("budget.expenses") == 1


def test_a_v1_run_after_a_request_changes_nothing_but_a_lost_status(books: Books) -> None:
    books.apply(make_run(run=1, request=1, receipt=make_receipt(merchant="Wanted")))
    books.looker.execute("TRUNCATE ingest.receipts CASCADE")

    late = books.apply(make_run(run=2, receipt=make_receipt(merchant="Late")))

    assert late is Recorded.REFUSED
    assert books.evidence()["merchant"] == "Wanted"
    assert books.count("budget.receipt_ocr_runs") == 1
    assert books.status()["status"] == "succeeded"


def test_a_known_v1_event_repairs_a_lost_status(books: Books) -> None:
    event = make_run(receipt=make_receipt(extraction_status=ExtractionStatus.REVIEW))
    books.apply(event)
    books.looker.execute("TRUNCATE ingest.receipts CASCADE")

    again = books.apply(event)

    assert again is Recorded.DUPLICATE
    assert books.status()["status"] == "review_required"


def test_a_reading_after_the_evidence_was_deleted_saves_it_again(books: Books) -> None:
    books.apply(make_run())
    books.apply(make_pass())
    books.looker.execute("DELETE FROM budget.expenses")

    books.apply(make_run())
    books.apply(make_pass())

    assert books.evidence()["merchant"] == "Corner Shop"
    assert books.count("budget.receipt_ocr_passes") == 1


def test_one_run_that_answers_a_v1_and_a_request_is_stored_once_for_each(books: Books) -> None:
    books.apply(make_run(receipt=make_receipt(merchant="As v1")))

    asked = books.apply(make_run(request=1, receipt=make_receipt(merchant="As asked")))

    assert asked is Recorded.STORED
    assert books.evidence()["merchant"] == "As asked"
    assert books.count("budget.receipt_ocr_runs") == 1
    assert books.row("SELECT * FROM budget.receipt_reprocess_requests")["completed_at"]


def test_a_pass_before_its_run_is_an_attempt_and_succeeds_after_it(books: Books) -> None:
    with pytest.raises(AttemptError) as caught:
        books.apply(make_pass())

    assert caught.value.reason is Reason.RUN_UNKNOWN
    assert books.count("work.inbox") == 0
    books.apply(make_run())
    assert books.apply(make_pass()) is Recorded.STORED


def test_a_cache_rebuild_keeps_the_extraction_and_adds_its_run(books: Books) -> None:
    books.apply(make_run(run=1, receipt=make_receipt(merchant="Kept")))
    before = books.status()

    rebuilt = books.apply(
        make_run(run=2, request=1, mode=CACHE_ONLY, receipt=make_receipt(merchant="Other"))
    )

    assert rebuilt is Recorded.STORED
    assert books.evidence()["merchant"] == "Kept"
    assert books.status() == before
    assert books.count("budget.receipt_ocr_runs") == 2
    assert books.row("SELECT * FROM budget.receipt_cache_requests")["completed_at"]
    assert books.apply(make_pass(run=2)) is Recorded.STORED


def test_a_cache_rebuild_without_evidence_completes_and_says_so(books: Books) -> None:
    books.ask()
    books.want()

    recorded = books.apply(make_run(request=1, mode=CACHE_ONLY))

    assert recorded is Recorded.NO_EVIDENCE
    assert books.row("SELECT outcome FROM work.inbox")["outcome"] == "no_evidence"
    assert books.row("SELECT * FROM budget.receipt_cache_requests")["completed_at"]
    assert books.item()["state"] == "done"
    assert books.count("budget.receipt_evidence") == 0
    assert books.apply(make_pass()) is Recorded.RUN_NOT_STORED


def test_layout_and_text_outlive_an_event_that_lacks_them(books: Books) -> None:
    books.apply(make_run(receipt=make_receipt(text="all of it")))
    books.looker.execute("UPDATE budget.receipt_evidence SET page_text = '[\"page\"]'")
    books.looker.execute(
        """
        INSERT INTO budget.receipt_ocr_lines (evidence_id, page_number, line_number, text)
        SELECT id, 1, 1, 'line' FROM budget.receipt_evidence
        """
    )

    books.apply(make_run(run=2, request=1, receipt=make_receipt(text="")))

    assert books.evidence()["raw_text"] == "all of it"
    assert books.evidence()["page_text"] == ["page"]
    assert books.count("budget.receipt_ocr_lines") == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        pytest.param({"total": Decimal("1e30")}, "no sum of money", id="an absurd total"),
        pytest.param({"total": Decimal(10_000_000_000)}, "over the limit", id="a huge total"),
        pytest.param({"text": "a\x00b"}, "no text", id="a text with a zero byte"),
        pytest.param({"merchant": "\ud800"}, "no character", id="half a surrogate pair"),
    ],
)
def test_g6_what_the_database_cannot_hold_is_the_events_fault(
    books: Books, changes: dict[str, object], why: str
) -> None:
    with pytest.raises(PermanentError) as caught:
        books.apply(make_run(receipt=make_receipt(**changes)))

    assert caught.value.reason is Reason.INVALID_EVENT, why
    assert books.count("budget.receipt_evidence") == 0
    assert books.apply(make_run()) is Recorded.STORED


def test_g6_an_address_longer_than_an_index_entry_is_the_events_fault(books: Books) -> None:
    digits = "".join(f"{number:x}" for number in range(10_000))  # what cannot be compressed away
    artifact = make_artifact().model_copy(update={"uri": f"pvc://{digits}"})

    with pytest.raises(PermanentError):
        books.apply(make_run().model_copy(update={"artifacts": (artifact,)}))

    assert books.apply(make_run()) is Recorded.STORED


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        pytest.param("0.1", "0.10", id="a tenth"),
        pytest.param("9999999999.99", "9999999999.99", id="the largest sum"),
        pytest.param("-4.05", "-4.05", id="a refund"),
        pytest.param("1.255", "1.255", id="a currency with three decimals"),
        pytest.param("30.900000000000002", "30.90", id="noise of a float"),
    ],
)
def test_money_is_stored_exactly(books: Books, given: str, stored: str) -> None:
    receipt = make_receipt(total=Decimal(given), subtotal=None, tax=None)

    books.apply(make_run(receipt=receipt))

    assert str(books.evidence()["total"]) == stored
    assert str(books.row("SELECT expense_total FROM budget.expenses")["expense_total"]) == stored


def _snapshot(books: Books) -> dict[str, object]:
    tables = (
        "budget.receipt_evidence",
        "budget.receipt_ocr_runs",
        "budget.receipt_ocr_passes",
        "budget.expenses",
        "budget.expense_items",
        "budget.receipt_reprocess_requests",
        "ingest.receipt_processing_status",
        "work.inbox",
    )
    return {table: books.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables}  # noqa: S608
