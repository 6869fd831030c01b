"""What events of schema 2 leave in the database, and what events of schema 1 leave alone."""

from datetime import time
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from receipt_collector import failures, schema
from receipt_collector.gate import Recorded
from receipt_collector.schema import Part
from receipt_contract import results, wire
from receipt_contract.errors import PermanentError, Reason
from receipt_contract.results import PersistenceMode
from tests.integration.collector.books import Books
from tests.support import services
from tests.support.fields import BOX, found, make_full_receipt, make_full_run, make_page
from tests.support.results import make_pass, make_receipt, make_run, request_id
from tests.support.wire import GOLDEN


def test_every_field_has_its_column(books: Books) -> None:
    recorded = books.apply(make_full_run())

    assert recorded is Recorded.STORED
    evidence = books.evidence()
    assert {name: evidence[name] for name in _COLUMNS} == _COLUMNS
    assert evidence["result_schema_version"] == 2
    assert set(evidence["fields"]) == set(make_full_receipt().found)


def test_evidence_is_kept_for_every_field(books: Books) -> None:
    books.apply(make_full_run())

    assert books.evidence()["fields"]["total"] == {
        "value": "30.90",
        "raw_text": "30.90",
        "page": 1,
        "box": BOX.model_dump(),
        "pass_id": 1,
        "confidence": 0.97,
        "evidence": ["i2_parts_sum", "i5_card_slip"],
        "candidates": ["30.90"],
    }


def test_items_taxes_and_payments_are_rows(books: Books) -> None:
    books.apply(make_full_run())

    tea, apples = books.rows("SELECT * FROM budget.receipt_items ORDER BY position")
    [tax] = books.rows("SELECT * FROM budget.receipt_tax_details")
    [payment] = books.rows("SELECT * FROM budget.receipt_payments")
    assert (tea["description"], tea["quantity"], tea["price"], tea["total_price"]) == (
        "Tea",
        Decimal(2),
        Decimal("1.50"),
        Decimal("3.00"),
    )
    assert (tea["product_code"], tea["tax_code"]) == ("4006381333931", "A")
    assert (tea["page_number"], tea["x"], tea["y"], tea["pass_id"]) == (1, BOX.x, BOX.y, 1)
    assert (apples["quantity"], apples["quantity_unit"]) == (Decimal("1.254"), "kg")
    assert (tax["rate"], tax["net_amount"], tax["amount"]) == (
        Decimal(10),
        Decimal("28.09"),
        Decimal("2.81"),
    )
    assert (payment["method"], payment["amount"], payment["card_network"]) == (
        "Card",
        Decimal("30.90"),
        "Visa",
    )
    assert payment["card_last4"] == "4242"


def test_lines_keep_their_places_and_pages_their_text(books: Books) -> None:
    pages = (make_page(), make_page(2, ("THANK YOU",)))

    books.apply(make_full_run(pages=pages, left_out={"lines": 3}))

    lines = books.rows("SELECT * FROM budget.receipt_ocr_lines ORDER BY page_number, line_number")
    assert [(line["page_number"], line["text"]) for line in lines] == [
        (1, "CORNER SHOP"),
        (1, "TOTAL 30.90"),
        (2, "THANK YOU"),
    ]
    second = lines[1]
    assert (second["x"], second["y"], second["width"], second["height"]) == (60, 60, 300, 24)
    assert (second["page_left"], second["page_width"]) == (40, 400)
    assert (second["indent_pixels"], second["indent_ratio"], second["indent_level"]) == (
        20,
        Decimal("0.050000"),
        1,
    )
    evidence = books.evidence()
    assert evidence["page_text"] == ["CORNER SHOP\nTOTAL 30.90", "THANK YOU"]
    assert evidence["raw_text"] == "CORNER SHOP\nTOTAL 30.90\nTHANK YOU"
    assert evidence["lines_left_out"] == 3


def test_the_expense_has_currency_discount_tip_and_quantities(books: Books) -> None:
    books.apply(make_full_run())

    expense = books.row("SELECT * FROM budget.expenses")
    tea, apples = books.rows("SELECT * FROM budget.expense_items ORDER BY line_number")
    assert (expense["currency"], expense["receipt_discount_total"], expense["receipt_tip"]) == (
        "EUR",
        Decimal("1.02"),
        Decimal("1.00"),
    )
    assert (tea["unit_qty"], tea["unit_cost"], tea["line_total"], tea["tax_code"]) == (
        Decimal(2),
        Decimal("1.50"),
        Decimal("3.00"),
        "A",
    )
    assert (apples["unit_qty"], apples["weight_qty"], apples["weight_unit"]) == (
        Decimal(1),
        Decimal("1.254"),
        "kg",
    )


def test_readers_of_the_payload_find_the_main_fields_as_before(books: Books) -> None:
    books.apply(make_full_run())

    payload = books.evidence()["raw_payload"]
    assert payload.keys() == make_receipt().model_dump().keys()
    assert (payload["merchant"], payload["total"]) == ("Corner Shop", 30.9)


def test_a_later_reading_replaces_every_field_and_list(books: Books) -> None:
    books.apply(make_full_run())

    books.apply(
        make_full_run(
            run=2,
            request=1,
            receipt=make_full_receipt(
                total=found(Decimal("12.00")), tip=None, currency=None, items=(), payments=()
            ),
            pages=(make_page(texts=("TOTAL 12.00",)),),
        )
    )

    evidence = books.evidence()
    assert (evidence["total"], evidence["tip"], evidence["currency"]) == (
        Decimal("12.00"),
        None,
        None,
    )
    assert "tip" not in evidence["fields"]
    assert books.count("budget.receipt_items") == 0
    assert books.count("budget.receipt_payments") == 0
    assert books.row("SELECT text FROM budget.receipt_ocr_lines")["text"] == "TOTAL 12.00"
    assert books.row("SELECT currency FROM budget.expenses")["currency"] is None


def test_schema_1_leaves_alone_what_it_cannot_tell(books: Books) -> None:
    books.apply(make_full_run())
    before = books.evidence()

    books.apply(make_run(run=2, request=1, receipt=make_receipt(total=Decimal("12.00"), text="")))

    after = books.evidence()
    kept = (
        "currency",
        "tip",
        "merchant_address",
        "merchant_tax_id",
        "country_region",
        "page_text",
        "raw_text",
    )
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert (after["total"], after["result_schema_version"]) == (Decimal("12.00"), 1)
    assert books.count("budget.receipt_ocr_lines") == 2
    assert books.count("budget.receipt_tax_details") == 1
    assert books.count("budget.receipt_payments") == 1
    assert books.row("SELECT currency FROM budget.expenses")["currency"] == "EUR"


def test_schema_1_takes_the_evidence_of_values_it_replaced(books: Books) -> None:
    books.apply(make_full_run())

    books.apply(make_run(run=2, request=1, receipt=make_receipt(total=Decimal("12.00"))))

    fields = books.evidence()["fields"]
    assert fields["currency"]["value"] == "EUR"
    assert not fields.keys() & {"total", "subtotal", "merchant_name", "transaction_date"}
    items = books.rows("SELECT description, quantity FROM budget.receipt_items ORDER BY position")
    assert [(item["description"], item["quantity"]) for item in items] == [
        ("Milk 2L", None),
        ("Coffee", None),
    ]


def test_a_reading_without_lines_keeps_the_layout_of_an_earlier_one(books: Books) -> None:
    books.apply(make_full_run())

    books.apply(make_full_run(run=2, request=1, pages=(make_page(texts=()),)))

    assert books.count("budget.receipt_ocr_lines") == 2
    assert books.evidence()["page_text"] == ["CORNER SHOP\nTOTAL 30.90"]
    assert books.evidence()["raw_text"] == "CORNER SHOP\nTOTAL 30.90"


def test_a_cache_rebuild_touches_no_field_list_or_line(books: Books) -> None:
    books.apply(make_full_run())
    before = _everything(books)

    books.apply(
        make_full_run(
            run=2,
            request=1,
            mode=PersistenceMode.CACHE_ONLY,
            receipt=make_full_receipt(currency=found("USD"), items=()),
            pages=(make_page(texts=("OTHER",)),),
        )
    )

    assert _everything(books) == before


def test_g2_a_run_told_again_in_another_schema_has_no_second_effect(books: Books) -> None:
    books.apply(make_full_run(request=1))
    before = _everything(books)

    assert books.apply(make_run(request=1)) is Recorded.DUPLICATE
    assert books.apply(make_full_run(request=1)) is Recorded.DUPLICATE

    assert _everything(books) == before


def test_passes_belong_to_a_run_of_either_schema(books: Books) -> None:
    books.apply(make_full_run())

    assert books.apply(make_pass(1)) is Recorded.STORED


def test_what_a_worker_sent_before_schema_2_is_stored(books: Books) -> None:
    for name in ("run.v1.json", "pass.v1.json"):
        assert books.apply(results.decode((GOLDEN / name).read_bytes())) is Recorded.STORED

    evidence = books.evidence()
    assert (evidence["merchant"], evidence["total"]) == ("Corner Shop", Decimal("30.90"))
    assert (evidence["currency"], evidence["fields"]) == (None, {})


def test_tip_rounding_and_discount_are_no_contradiction(books: Books) -> None:
    books.apply(
        make_full_run(
            receipt=make_full_receipt(
                total=found(Decimal("33.00")),
                subtotal=found(Decimal("30.00")),
                total_tax=found(Decimal("3.00")),
                tip=found(Decimal("1.00")),
                discount_total=found(Decimal("1.00")),
                rounding=None,
            )
        )
    )

    assert books.status()["status"] == "succeeded"


def test_g6_an_event_of_a_schema_yet_to_come_ends_its_item_with_a_row(books: Books) -> None:
    books.ask()
    books.want()
    document = wire.loads(results.encode(make_full_run(request=1)))
    body = wire.dumps({**document, "schema_version": 3, "event_type": "ocr.run-completed.v3"})

    books.fail(failures.read_result(body, {}))

    row = books.row("SELECT * FROM budget.receipt_failures")
    assert (row["reason"], row["sentence"]) == ("newer_schema", Reason.NEWER_SCHEMA.sentence)
    assert (str(row["request_id"]), row["body"]) == (request_id(1), None)
    assert (books.item()["state"], books.item()["reason"]) == ("failed", "newer_schema")


def test_discovery_reads_again_what_only_a_later_collector_can_store(books: Books) -> None:
    document = wire.loads(results.encode(make_full_run()))
    body = wire.dumps({**document, "schema_version": 3})

    books.fail(failures.read_result(body, {}))

    assert (books.status()["status"], books.status()["attempts"]) == ("failed", 0)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"pages": (make_page(), make_page())}, id="a page twice"),
        pytest.param(
            {"receipt": make_full_receipt(merchant_address=found("a\x00b"))}, id="a zero byte"
        ),
    ],
)
def test_g6_what_no_table_holds_is_the_events_fault(books: Books, changes: dict[str, Any]) -> None:
    with pytest.raises(PermanentError) as caught:
        books.apply(make_full_run(**changes))

    assert caught.value.reason is Reason.INVALID_EVENT
    assert books.count("budget.receipt_evidence") == 0


def test_an_upgrade_keeps_every_row_of_the_schema_before(database_admin_url: str) -> None:
    with services.fresh_database(database_admin_url, "fields-upgrade") as url:
        schema.setup(url, {Part.BUDGET: "budget_0002"})
        with psycopg.connect(url) as connection:
            connection.execute(_ROWS_BEFORE)
            before = connection.execute(_KEPT).fetchone()

        schema.setup(url)

        with psycopg.connect(url) as connection:
            assert connection.execute(_KEPT).fetchone() == before
        books = Books(url)
        try:
            assert books.apply(make_full_run(request=1)) is Recorded.STORED
            assert books.evidence()["currency"] == "EUR"
        finally:
            books.close()


_COLUMNS = {
    "merchant": "Corner Shop",
    "merchant_address": "1 Some Street, Some Town",
    "merchant_phone_number": "030 1234567",
    "merchant_tax_id": "DE123456789",
    "transaction_time": time(9, 30),
    "receipt_id": "R-1001",
    "receipt_type": "retail",
    "country_region": "DE",
    "currency": "EUR",
    "subtotal": Decimal("28.09"),
    "total_tax": Decimal("2.81"),
    "tip": Decimal("1.00"),
    "rounding": Decimal("0.02"),
    "discount_total": Decimal("1.02"),
    "total": Decimal("30.90"),
    "change": Decimal("0.00"),
    "payment_method": "Card",
    "card_last4": "4242",
}

_ROWS_BEFORE = """
INSERT INTO budget.receipt_evidence
  (evidence_type, source_reference, source_sha256, merchant, total, extraction_status, raw_text,
   page_text, raw_payload)
VALUES ('scanned', '2026/1.png', lpad('1', 64, '0'), 'Before', 7.50, 'complete', 'TOTAL 7.50',
        '["TOTAL 7.50"]', '{"tax": 0.5}');
INSERT INTO budget.receipt_ocr_lines (evidence_id, page_number, line_number, text, x)
SELECT id, 1, 1, 'TOTAL 7.50', 3 FROM budget.receipt_evidence
"""

_KEPT = """
SELECT merchant, total, raw_text, page_text, raw_payload, line.text, line.x
FROM budget.receipt_evidence AS evidence
JOIN budget.receipt_ocr_lines AS line ON line.evidence_id = evidence.id
"""


def _everything(books: Books) -> dict[str, object]:
    tables = {
        "budget.receipt_evidence": "1",
        "budget.receipt_items": "1, 2",
        "budget.receipt_tax_details": "1, 2",
        "budget.receipt_payments": "1, 2",
        "budget.receipt_ocr_lines": "1, 2, 3",
        "budget.expenses": "1",
        "budget.expense_items": "1",
    }
    return {
        table: books.rows(f"SELECT * FROM {table} ORDER BY {order}")  # noqa: S608 - names above
        for table, order in tables.items()
    }
