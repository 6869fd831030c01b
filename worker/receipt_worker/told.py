"""What is told of a reading: its fields and lines as result schema 2 carries them. Pure.

Bounded whatever was read: texts are clipped, long lists end early, and what was left out is
counted. The artifact has all of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, TypeVar

from receipt_contract import fields, wire
from receipt_contract.fields import LeftOut, PrintedLine, PrintedPage, ReceiptFields
from receipt_contract.results import FullReceipt
from receipt_worker.cachefile import CacheDocument
from receipt_worker.document import (
    Extraction,
    FieldRecord,
    ItemRecord,
    PaymentRecord,
    Place,
    TaxRecord,
)
from receipt_worker.extraction.lines import Box
from receipt_worker.layout import CachedLine, CachedPage

MOST_LINES_BYTES = 3 * 1024 * 1024  # of all lines; all else that an event may hold fits beside them
CLIPPED = "\u2026"  # ends a text that was cut

_FULL_CONFIDENCE = 100  # of an engine
_LISTS = {"tax_details", "payments", "items"}
SINGLE_FIELDS = tuple(name for name in ReceiptFields.model_fields if name not in _LISTS)

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Content:
    """What a run event says of the receipt."""

    receipt: FullReceipt
    pages: tuple[PrintedPage, ...]
    left_out: LeftOut


def tell(document: CacheDocument) -> Content:
    """Say what was read, within the limits of an event."""
    found = document.receipt
    pages = tuple(_pages(document.pages))
    return Content(
        receipt=_receipt(found),
        pages=pages,
        left_out=LeftOut(
            lines=_count(document.pages) - _count(pages),
            items=len(found.items) - len(_first(found.items, fields.MOST_ITEMS)),
        ),
    )


def _receipt(found: Extraction) -> FullReceipt:
    return FullReceipt.model_validate(
        {
            **{name: _field(found, name) for name in SINGLE_FIELDS},
            "tax_details": [_tax(row) for row in _first(found.tax_details, fields.MOST_ROWS)],
            "payments": _payments(found),
            "items": [_item(row) for row in _first(found.items, fields.MOST_ITEMS)],
            "extraction_confidence": found.confidence,
            "extraction_status": found.status,
            "review_reasons": list(_first(found.review_reasons, fields.MOST_REASONS)),
        }
    )


def _field(found: Extraction, name: str) -> dict[str, Any] | None:
    """Give a value with what is recorded of it; a field may be known by its value alone."""
    value = getattr(found, name)
    if value is None:
        return None
    return {"value": _clipped(value), **_record(found.fields.get(name))}


def _record(record: FieldRecord | None) -> dict[str, Any]:
    if record is None:
        return {}
    return {
        "raw_text": _clipped(record.raw_text or None),
        "page": record.page,
        "box": _box(record.box),
        "pass_id": record.pass_id,
        "confidence": record.confidence,
        "evidence": [_short(label) for label in _first(record.evidence, fields.MOST_EVIDENCE)],
        "candidates": [
            _clipped(text) for text in _first(record.candidates, fields.MOST_CANDIDATES)
        ],
    }


def _tax(row: TaxRecord) -> dict[str, Any]:
    return {
        "rate": row.rate,
        "net_amount": row.net_amount,
        "amount": row.amount,
        "description": _clipped(row.description),
        **_place(row.place),
    }


def _payments(found: Extraction) -> list[dict[str, Any]]:
    """Give the payments, and what is known of one that no row of its own was read for."""
    rows = [_payment(row) for row in _first(found.payments, fields.MOST_ROWS - 1)]
    digits, method = found.card_last4, found.payment_method
    told = digits in {None, *(row["card_last4"] for row in rows)} and (rows or method is None)
    if not told:
        rows.append({"method": _short(method), "card_last4": digits})
    return rows


def _payment(row: PaymentRecord) -> dict[str, Any]:
    return {
        "method": _short(row.method),
        "amount": row.amount,
        "card_network": _short(row.card_network),
        "card_last4": row.card_last4,
        **_place(row.place),
    }


def _item(row: ItemRecord) -> dict[str, Any]:
    return {
        "description": _clipped(row.description),
        "quantity": row.quantity,
        "quantity_unit": _short(row.quantity_unit),
        "price": row.unit_price,
        "total_price": row.total,
        "product_code": _short(row.product_code),
        "tax_code": _short(row.tax_code),
        **_place(row.place),
    }


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {}
    return {
        "raw_text": _clipped(place.raw_text or None),
        "page": place.page,
        "box": _box(place.box),
        "pass_id": place.pass_id,
    }


def _box(box: Box | None) -> dict[str, int] | None:
    return None if box is None else box._asdict()


def _pages(pages: Sequence[CachedPage]) -> Iterator[PrintedPage]:
    """Give every page with its lines, until the room for lines is used up."""
    room = MOST_LINES_BYTES
    for page in pages:
        told: list[PrintedLine] = []
        for cached in page.lines:
            line = _line(cached)
            room -= len(wire.dumps(line.model_dump()))
            if room < 0:  # for good: what follows would have a gap before it
                break
            told.append(line)
        area = page.lines[0].layout.page if page.lines else None
        yield PrintedPage(
            page_number=page.page_number,
            width=page.width,
            printed_left=area.left if area else 0,
            printed_width=area.width if area else 0,
            lines=tuple(told),
        )


def _line(line: CachedLine) -> PrintedLine:
    return PrintedLine.model_validate(
        {
            "line_number": line.line_number,
            "text": _clipped(line.text, most=fields.MOST_LINE_CHARACTERS),
            "confidence": round(Decimal(str(line.confidence)) / _FULL_CONFIDENCE, 4),
            "box": asdict(line.layout.bounds),
            "indent_level": line.layout.indent.level,
            "line_type": line.line_type,
        }
    )


def _count(pages: Sequence[CachedPage] | Sequence[PrintedPage]) -> int:
    return sum(len(page.lines) for page in pages)


def _first(entries: Sequence[Entry], most: int) -> Sequence[Entry]:
    return entries[:most]


def _clipped(value: Entry, *, most: int = fields.MOST_CHARACTERS) -> Entry | str:
    """Shorten a text that is too long; whatever is no text stays."""
    if not isinstance(value, str) or len(value) <= most:
        return value
    return value[: most - len(CLIPPED)] + CLIPPED


def _short(label: str | None) -> str | None:
    return _clipped(label, most=fields.MOST_LABEL_CHARACTERS)
