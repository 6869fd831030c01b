"""Schema 2 told as schema 1, for readers that know no other. Pure."""

from collections.abc import Iterable
from datetime import date, datetime, time
from typing import TypeVar

from receipt_contract.fields import Found, PrintedPage
from receipt_contract.results import (
    AnyRunEvent,
    Item,
    Receipt,
    RunEventV1,
    RunEventV2,
    RunPayloadV1,
    RunPayloadV2,
)

Value = TypeVar("Value")


def event(full: RunEventV2) -> RunEventV1:
    """Tell the same run in schema 1, under the same event id."""
    return RunEventV1(
        run_uuid=full.run_uuid,
        source_sha256=full.source_sha256,
        source_reference=full.source_reference,
        worker=full.worker,
        trace_context=full.trace_context,
        occurred_at=full.occurred_at,
        attempt=full.attempt,
        payload=RunPayloadV1(
            receipt=receipt(full.payload),
            run=full.payload.run,
            persistence_mode=full.payload.persistence_mode,
            request_id=full.payload.request_id,
        ),
        artifacts=full.artifacts,
    )


def main_fields(told: AnyRunEvent) -> Receipt:
    """Return what both schemas tell, as schema 1 does."""
    return told.payload.receipt if isinstance(told, RunEventV1) else receipt(told.payload)


def receipt(full: RunPayloadV2) -> Receipt:
    """Tell the main fields and the text; what schema 1 has no word for is left out."""
    found = full.receipt
    return Receipt(
        merchant=_value(found.merchant_name),
        receipt_id=_value(found.receipt_number),
        payment_method=_first(payment.method for payment in found.payments),
        payer=None,
        transaction_date=_value(found.transaction_date),
        transaction_datetime=_moment(found.transaction_date, found.transaction_time),
        subtotal=_value(found.subtotal),
        tax=_value(found.total_tax),
        total=_value(found.total),
        card_last4=_first(payment.card_last4 for payment in found.payments),
        items=tuple(
            Item(item_name=item.description, line_total=item.total_price) for item in found.items
        ),
        text=text(full.pages),
        extraction_confidence=found.extraction_confidence,
        extraction_status=found.extraction_status,
        review_reasons=found.review_reasons,
    )


def text(pages: Iterable[PrintedPage]) -> str:
    """Return the printed text, pages joined."""
    return "\n".join(line.text for page in pages for line in page.lines)


def _moment(day: Found[date] | None, at: Found[time] | None) -> datetime | None:
    return datetime.combine(day.value, at.value) if day and at else None  # local, as printed


def _value(found: Found[Value] | None) -> Value | None:
    return None if found is None else found.value


def _first(texts: Iterable[str | None]) -> str | None:
    return next(filter(None, texts), None)
