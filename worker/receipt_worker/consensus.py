"""One result out of several readings, and the gate to `complete`. Pure.

A reading is one engine on one variant of every page. `choosing` takes values, `gate` judges them,
`records` keeps them with their evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time
from decimal import Decimal

from receipt_contract.results import ExtractionStatus
from receipt_worker import choosing, gate, records
from receipt_worker.choosing import Choice
from receipt_worker.document import Extraction, FieldRecord, PaymentRecord, ReviewReason
from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.lines import Found
from receipt_worker.extraction.merchant import MerchantFound
from receipt_worker.extraction.totals import TotalFound
from receipt_worker.rounds import RoundReading

# Fields that nothing is judged by, in the order they are told.
OTHERS = (
    "merchant_address",
    "merchant_phone_number",
    "merchant_tax_id",
    "transaction_time",
    "receipt_number",
    "receipt_type",
    "country_region",
    "currency",
)
# Amounts that go with one total and are taken from the reading that gave it.
SUMS = ("subtotal", "total_tax", "tip", "rounding", "discount_total", "change")

# What a result cannot be complete without; its confidence is that of the weakest.
NEEDED = ("total", "transaction_date", "merchant_name", "currency")

_METHOD_NAMES = {"cash": "Cash", "debit_card": "Debit", "credit_card": "Credit", "card": "Card"}


@dataclass(frozen=True)
class Decision:
    """The result and the reading to show with it."""

    extraction: Extraction
    selected: int  # place among the readings


@dataclass(frozen=True)
class _Chosen:
    """The value of every field."""

    total: Choice[TotalFound] | None
    day: Choice[DateFound] | None
    merchant: Choice[MerchantFound] | None
    others: dict[str, Choice[Found] | None]
    base: RoundReading


def decide(readings: Sequence[RoundReading], *, signs: frozenset[ReviewReason]) -> Decision:
    """Vote and judge; `signs` are reasons for review seen outside of the fields."""
    if ReviewReason.UNREADABLE in signs:
        return Decision(
            Extraction(ExtractionStatus.UNREADABLE, (ReviewReason.UNREADABLE,), Decimal(0)), 0
        )
    chosen = _choose(readings)
    reasons = (
        signs
        | gate.total_reasons(readings, chosen.total)
        | gate.date_reasons(readings, chosen.day)
        | gate.other_reasons(chosen.merchant, chosen.others["currency"])
    )
    extraction = _extraction(readings, chosen, tuple(sorted(reasons)))
    return Decision(extraction, list(readings).index(chosen.base))


def _choose(readings: Sequence[RoundReading]) -> _Chosen:
    total = choosing.total(readings)
    base = choosing.base(readings, total)
    agreeing = [
        reading
        for reading in readings
        if total is None
        or reading is base
        or (
            reading.findings.totals.best is not None
            and reading.findings.totals.best.value == total.value.value
        )
    ]
    others = {name: choosing.other(readings, name) for name in OTHERS}
    others |= {name: choosing.other(agreeing, name) for name in SUMS}
    return _Chosen(total, choosing.day(readings), choosing.merchant(readings), others, base)


def _extraction(
    readings: Sequence[RoundReading], chosen: _Chosen, reasons: tuple[ReviewReason, ...]
) -> Extraction:
    fields = _fields(chosen)
    worth = chosen.total.value.value if chosen.total else None
    last4 = _only([reading.findings.card_last4 for reading in readings])
    payments = records.payments(chosen.base, last4)
    return Extraction(
        status=ExtractionStatus.REVIEW if reasons else ExtractionStatus.COMPLETE,
        review_reasons=reasons,
        confidence=_confidence(fields),
        merchant_name=chosen.merchant.value.name if chosen.merchant else None,
        merchant_address=_text(fields, "merchant_address"),
        merchant_phone_number=_text(fields, "merchant_phone_number"),
        merchant_tax_id=_text(fields, "merchant_tax_id"),
        transaction_date=chosen.day.value.value if chosen.day else None,
        transaction_time=_time(fields),
        receipt_number=_text(fields, "receipt_number"),
        currency=_text(fields, "currency"),
        total=worth,
        subtotal=_amount(fields, "subtotal"),
        total_tax=_amount(fields, "total_tax"),
        tip=_amount(fields, "tip"),
        rounding=_amount(fields, "rounding"),
        discount_total=_amount(fields, "discount_total"),
        change=_amount(fields, "change"),
        card_last4=last4,
        payment_method=_method(payments),
        receipt_type=_text(fields, "receipt_type"),
        country_region=_text(fields, "country_region"),
        tax_details=records.taxes(chosen.base),
        payments=payments,
        items=records.items(choosing.items(readings, worth)),
        fields=fields,
    )


def _fields(chosen: _Chosen) -> dict[str, FieldRecord]:
    fields = records.named(chosen.others)
    if chosen.total is not None:
        fields["total"] = records.total(chosen.total)
    if chosen.day is not None:
        fields["transaction_date"] = records.day(chosen.day)
    if chosen.merchant is not None:
        fields["merchant_name"] = records.merchant(chosen.merchant)
    return fields


def _confidence(fields: dict[str, FieldRecord]) -> Decimal:
    """Return the confidence of the weakest field that is needed; 0 when one is missing."""
    held = [fields[name].confidence for name in NEEDED if name in fields]
    return min(held) if len(held) == len(NEEDED) else Decimal(0)


def _text(fields: dict[str, FieldRecord], name: str) -> str | None:
    return fields[name].value if name in fields else None


def _amount(fields: dict[str, FieldRecord], name: str) -> Decimal | None:
    return Decimal(fields[name].value) if name in fields else None


def _time(fields: dict[str, FieldRecord]) -> time | None:
    text = _text(fields, "transaction_time")
    return time.fromisoformat(text) if text else None


def _method(payments: Sequence[PaymentRecord]) -> str | None:
    """Name how most was paid, by the card's network where it is known."""
    if not payments:
        return None
    first = max(payments, key=lambda payment: payment.amount or Decimal(0))
    return first.card_network or _METHOD_NAMES.get(first.method, first.method.capitalize())


def _only(values: Sequence[str | None]) -> str | None:
    """Return the value of all readings; None when they differ: no digit beats a wrong one."""
    found = {value for value in values if value is not None}
    return found.pop() if len(found) == 1 else None
