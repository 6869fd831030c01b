"""What is told of a reading, within the limits of an event."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from receipt_contract import fields, results, wire
from receipt_contract.results import FullReceipt
from receipt_worker import cachefile, told
from receipt_worker.document import (
    Extraction,
    FieldRecord,
    ItemRecord,
    LineRecord,
    PageRecord,
    PaymentRecord,
    Place,
    ReviewReason,
    TaxRecord,
)
from receipt_worker.extraction.lines import Box
from receipt_worker.told import Content
from tests.support.fields import make_full_run
from tests.unit.worker.readings import MOMENT, REFERENCE, RUN_UUID, SHA, make_reading

WIDE = "\U0001f9fe"  # takes twelve bytes in JSON, as many as a character can
BOX = Box(123_456, 123_456, 123_456, 123_456)
PLACE = Place(WIDE * 5000, 10, BOX, 99)


def tell(extraction: Extraction | None = None, *pages: PageRecord) -> Content:
    reading = make_reading()
    document = cachefile.build(
        replace(
            reading,
            extraction=extraction or reading.extraction,
            pages=pages or reading.pages,
        ),
        run_uuid=RUN_UUID,
        source_reference=REFERENCE,
        source_sha256=SHA,
        processed_at=MOMENT,
        processing_seconds=1.0,
    )
    return told.tell(document)


def receipt_of(**changes: Any) -> FullReceipt:
    return tell(replace(make_reading().extraction, **changes)).receipt


def line(number: int, text: str) -> LineRecord:
    return LineRecord(number, text, 91.5, BOX, "text")


def the_largest() -> Extraction:
    """Return more of everything than an event takes, in the widest characters."""
    text, amount = WIDE * 5000, Decimal("-9999999999.9999")
    record = FieldRecord(text, text, 10, BOX, 99, (text,) * 50, (text,) * 50, Decimal("0.9999"))
    sums = FieldRecord(
        str(amount), text, 10, BOX, 99, (text,) * 50, (str(amount),) * 50, Decimal("0.9999")
    )
    texts = (
        "merchant_name",
        "merchant_address",
        "merchant_phone_number",
        "merchant_tax_id",
        "receipt_number",
    )
    amounts = ("subtotal", "total_tax", "tip", "rounding", "discount_total", "total", "change")
    values: dict[str, Any] = {**dict.fromkeys(texts, text), **dict.fromkeys(amounts, amount)}
    return replace(
        make_reading().extraction,
        **values,
        fields={**dict.fromkeys(texts, record), **dict.fromkeys(amounts, sums)},
        review_reasons=tuple(ReviewReason) * 9,
        items=(ItemRecord(text, Decimal(1), amount, amount, text, text, text, PLACE),) * 5000,
        tax_details=(TaxRecord(Decimal("99.99"), amount, amount, text, PLACE),) * 50,
        payments=(PaymentRecord(text, amount, text, "4242", PLACE),) * 50,
    )


def test_g7_the_largest_reading_still_makes_an_event() -> None:
    pages = [
        PageRecord(number, 10_000, tuple(line(place, WIDE * 5000) for place in range(1, 900)))
        for number in range(1, 11)
    ]

    content = tell(the_largest(), *pages)

    event = make_full_run(receipt=content.receipt, pages=content.pages)
    body = results.encode(event)
    assert results.decode(body) == event
    assert results.MAX_BODY_BYTES * 3 // 4 < len(body) < results.MAX_BODY_BYTES


def test_g7_lines_beyond_the_room_are_left_out_and_counted() -> None:
    many = tuple(line(number, "x" * 900) for number in range(1, 6001))

    content = tell(None, PageRecord(1, 800, many), PageRecord(2, 800, many[:3]))

    told_lines = [each for page in content.pages for each in page.lines]
    assert 0 < len(told_lines) < 6000
    assert content.left_out.lines == 6003 - len(told_lines)
    assert [each.line_number for each in told_lines] == list(range(1, len(told_lines) + 1))
    assert content.pages[1].lines == ()
    told_bytes = sum(len(wire.dumps(each.model_dump())) for each in told_lines)
    assert told.MOST_LINES_BYTES - 2000 < told_bytes <= told.MOST_LINES_BYTES


def test_g7_items_beyond_the_limit_are_left_out_and_counted() -> None:
    item = make_reading().extraction.items[0]

    content = tell(replace(make_reading().extraction, items=(item,) * 507))

    assert len(content.receipt.items) == fields.MOST_ITEMS
    assert content.left_out.items == 7


def test_nothing_is_left_out_of_a_usual_receipt() -> None:
    assert tell().left_out == fields.LeftOut()


def test_a_text_that_is_too_long_ends_in_a_mark() -> None:
    name = receipt_of(merchant_name="y" * 400).merchant_name

    assert name is not None
    assert name.value == "y" * 199 + "\u2026"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(
            {"payments": (), "payment_method": "Cash", "card_last4": None},
            [("Cash", None)],
            id="a method without a row",
        ),
        pytest.param(
            {"payments": (), "payment_method": None, "card_last4": "4242"},
            [(None, "4242")],
            id="digits without a row",
        ),
        pytest.param(
            {"payments": (), "payment_method": None, "card_last4": None}, [], id="nothing is known"
        ),
        pytest.param(
            {"payments": (PaymentRecord("Visa", Decimal(1), "Visa", "4242"),)},
            [("Visa", "4242")],
            id="a row that says it all",
        ),
        pytest.param(
            {"payments": (PaymentRecord("Cash", Decimal(1)),), "card_last4": "4242"},
            [("Cash", None), ("Visa", "4242")],
            id="digits of another row than those read",
        ),
    ],
)
def test_every_payment_is_told_once(
    changes: dict[str, object], expected: list[tuple[str | None, str | None]]
) -> None:
    payments = receipt_of(**changes).payments

    assert [(paid.method, paid.card_last4) for paid in payments] == expected


def test_rows_of_a_receipt_are_told_with_their_places() -> None:
    place = Place("7 % 2,62 0,18 2,80", 2, Box(1, 2, 3, 4), 5)
    row = TaxRecord(Decimal(7), Decimal("2.62"), Decimal("0.18"), "B", place)

    [told_row] = receipt_of(tax_details=(row,)).tax_details

    assert (told_row.rate, told_row.net_amount, told_row.amount, told_row.description) == (
        Decimal(7),
        Decimal("2.62"),
        Decimal("0.18"),
        "B",
    )
    assert (told_row.raw_text, told_row.page, told_row.pass_id) == (place.raw_text, 2, 5)
    assert told_row.box == fields.Box(x=1, y=2, width=3, height=4)
