"""Builders of schema 2: a receipt with every field, and the event that tells it."""

from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any

from receipt_contract.fields import Box, Item, LeftOut, Payment, PrintedPage, TaxDetail
from receipt_contract.results import (
    ExtractionStatus,
    FullReceipt,
    RunEventV2,
    RunPayloadV2,
)
from tests.support.results import make_run

BOX = Box(x=40, y=120, width=200, height=24)


def found(value: Any, **origin: Any) -> dict[str, Any]:
    """Return a field as an object, with a place and a proof."""
    return {
        "value": value,
        "raw_text": str(value),
        "page": 1,
        "box": BOX,
        "pass_id": 1,
        "confidence": Decimal("0.97"),
        "evidence": ("labelled",),
        "candidates": (value,),
        **origin,
    }


def make_full_receipt(**changes: Any) -> FullReceipt:
    """Return a receipt with every field there is, whose sums agree."""
    origin = {"raw_text": "TEA 2 x 1,50 3,00 A", "page": 1, "box": BOX, "pass_id": 1}
    fields: dict[str, Any] = {
        "merchant_name": found("Corner Shop"),
        "merchant_address": found("1 Some Street, Some Town"),
        "merchant_phone_number": found("030 1234567"),
        "merchant_tax_id": found("DE123456789"),
        "transaction_date": found(date(2026, 2, 27)),
        "transaction_time": found(time(9, 30)),
        "receipt_number": found("R-1001"),
        "receipt_type": found("retail"),
        "country_region": found("DE"),
        "currency": found("EUR", raw_text="\u20ac"),
        "subtotal": found(Decimal("28.09")),
        "total_tax": found(Decimal("2.81")),
        "tip": found(Decimal("1.00")),
        "rounding": found(Decimal("0.02")),
        "discount_total": found(Decimal("1.02")),
        "total": found(Decimal("30.90"), evidence=("i2_parts_sum", "i5_card_slip")),
        "change": found(Decimal("0.00")),
        "tax_details": (
            TaxDetail(
                rate=Decimal(10),
                net_amount=Decimal("28.09"),
                amount=Decimal("2.81"),
                description="A",
                **origin,
            ),
        ),
        "payments": (
            Payment(
                method="Card",
                amount=Decimal("30.90"),
                card_network="Visa",
                card_last4="4242",
                **origin,
            ),
        ),
        "items": (
            Item(
                description="Tea",
                quantity=Decimal(2),
                price=Decimal("1.50"),
                total_price=Decimal("3.00"),
                product_code="4006381333931",
                tax_code="A",
                **origin,
            ),
            Item(
                description="Apples",
                quantity=Decimal("1.254"),
                quantity_unit="kg",
                price=Decimal("1.99"),
                total_price=Decimal("2.50"),
            ),
        ),
        "extraction_confidence": Decimal("0.95"),
        "extraction_status": ExtractionStatus.COMPLETE,
        "review_reasons": (),
    }
    return FullReceipt.model_validate(fields | changes)


def make_page(number: int = 1, texts: tuple[str, ...] = ("CORNER SHOP", "TOTAL 30.90")) -> Any:
    """Return a page with these lines, the second further in."""
    return PrintedPage.model_validate(
        {
            "page_number": number,
            "width": 800,
            "printed_left": 40,
            "printed_width": 400,
            "lines": [
                {
                    "line_number": place,
                    "text": text,
                    "confidence": Decimal("0.95"),
                    "box": {"x": 20 + 20 * place, "y": 30 * place, "width": 300, "height": 24},
                    "indent_level": place - 1,
                    "line_type": "text",
                }
                for place, text in enumerate(texts, start=1)
            ],
        }
    )


def make_full_run(
    *,
    receipt: FullReceipt | None = None,
    pages: tuple[PrintedPage, ...] | None = None,
    left_out: Mapping[str, int] | None = None,
    **named: Any,
) -> RunEventV2:
    """Return a run event of schema 2; `named` is what `make_run` takes."""
    told = make_run(**named)
    return RunEventV2(
        run_uuid=told.run_uuid,
        source_sha256=told.source_sha256,
        source_reference=told.source_reference,
        worker=told.worker,
        trace_context=told.trace_context,
        occurred_at=told.occurred_at,
        attempt=told.attempt,
        payload=RunPayloadV2(
            receipt=receipt or make_full_receipt(),
            pages=(make_page(),) if pages is None else pages,
            left_out=LeftOut(**(left_out or {})),
            run=told.payload.run,
            persistence_mode=told.payload.persistence_mode,
            request_id=told.payload.request_id,
        ),
        artifacts=told.artifacts,
    )
