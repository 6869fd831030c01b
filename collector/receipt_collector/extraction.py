"""What a stored run writes: the saved extraction and the run; the expense follows in `purchase`.

Both schemas have the main fields, which one path writes. What only schema 2 tells is written after
them, and stays as it is where schema 1 does not speak of it.
"""

from collections.abc import Iterable
from datetime import time
from decimal import Decimal
from pathlib import PurePosixPath

from receipt_collector import amounts, matching, purchase
from receipt_collector.store import details, ingest, merchants, receipts, runs
from receipt_collector.store.database import Connection
from receipt_collector.store.details import Rows
from receipt_collector.store.ingest import IngestStatus
from receipt_collector.store.receipts import Evidence, Extraction
from receipt_contract import older, wire
from receipt_contract.fields import Item, Payment, ReceiptFields, TaxDetail
from receipt_contract.results import (
    AnyRunEvent,
    ExtractionStatus,
    Receipt,
    RunEventV2,
    RunPayloadV2,
)

_MIME_TYPES = {
    ".pdf": "application/pdf",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".heic": "image/heic",
    ".heif": "image/heif",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
}


def save(connection: Connection, event: AnyRunEvent) -> None:
    """Save the extraction in place of an earlier one, with its run and its expense."""
    receipt = older.main_fields(event)
    extraction = _extraction(event, receipt, merchants.aliases(connection))
    evidence = receipts.upsert(connection, extraction)
    if isinstance(event, RunEventV2):
        _save_every_field(connection, event.payload, evidence_id=evidence.id)
    else:
        _save_main_fields(connection, receipt, evidence_id=evidence.id)
    save_run(connection, event, evidence_id=evidence.id, merchant=extraction.merchant)
    evidence = purchase.settle(connection, event, extraction, evidence=evidence)
    ingest.discover(connection, sha256=event.source_sha256, reference=event.source_reference)
    ingest.complete(connection, sha256=event.source_sha256, status=ingest_status(evidence))


def save_run(
    connection: Connection, event: AnyRunEvent, *, evidence_id: int, merchant: str | None
) -> None:
    """Save the run with its artifacts beside the evidence."""
    runs.add(connection, event, evidence_id=evidence_id, merchant=merchant)
    for artifact in event.artifacts:
        runs.add_artifact(connection, event.run_uuid, artifact)
    runs.add_event(connection, event)


def ingest_status(evidence: Evidence) -> IngestStatus:
    """Say whether a person has to look: at the reading, or at which purchase it is."""
    is_unsettled = evidence.expense_pk is None and evidence.total is not None
    if evidence.extraction_status is ExtractionStatus.COMPLETE and not is_unsettled:
        return IngestStatus.SUCCEEDED
    return IngestStatus.REVIEW_REQUIRED


def _save_every_field(connection: Connection, payload: RunPayloadV2, *, evidence_id: int) -> None:
    """Replace every field and list; layout only by layout, as with text."""
    receipt = payload.receipt
    details.update(connection, receipt, left_out=payload.left_out, evidence_id=evidence_id)
    details.remove(connection, Rows.ITEMS, evidence_id=evidence_id)
    details.add_items(connection, _documents(receipt.items), evidence_id=evidence_id)
    details.remove(connection, Rows.TAX_DETAILS, evidence_id=evidence_id)
    details.add_tax_details(connection, _documents(receipt.tax_details), evidence_id=evidence_id)
    details.remove(connection, Rows.PAYMENTS, evidence_id=evidence_id)
    details.add_payments(connection, _documents(receipt.payments), evidence_id=evidence_id)
    if any(page.lines for page in payload.pages):
        details.remove(connection, Rows.LINES, evidence_id=evidence_id)
        details.add_lines(connection, payload.pages, evidence_id=evidence_id)
        texts = [older.text([page]) for page in payload.pages]
        details.set_page_text(connection, texts, evidence_id=evidence_id)


def _save_main_fields(connection: Connection, receipt: Receipt, *, evidence_id: int) -> None:
    """Replace what schema 1 tells: its items, and values that have no evidence any more."""
    details.forget_main_evidence(connection, evidence_id=evidence_id)
    details.remove(connection, Rows.ITEMS, evidence_id=evidence_id)
    rows = [
        {"description": item.item_name, "total_price": amounts.exact(item.line_total)}
        for item in receipt.items
    ]
    details.add_items(connection, rows, evidence_id=evidence_id)


def _documents(rows: Iterable[Item | TaxDetail | Payment]) -> list[dict[str, object]]:
    return [row.model_dump() for row in rows]


def _extraction(event: AnyRunEvent, receipt: Receipt, aliases: dict[str, str]) -> Extraction:
    moment = receipt.transaction_datetime
    return Extraction(
        source_sha256=event.source_sha256,
        source_reference=event.source_reference,
        result_schema_version=event.schema_version,
        mime_type=_MIME_TYPES.get(PurePosixPath(event.source_reference).suffix.lower()),
        transaction_date=receipt.transaction_date or (moment.date() if moment else None),
        transaction_time=_printed_time(event),
        transaction_datetime=moment.replace(tzinfo=None) if moment else None,
        merchant=matching.resolve_merchant(receipt.merchant, aliases),
        receipt_id=receipt.receipt_id,
        subtotal=amounts.exact(receipt.subtotal),
        total_tax=amounts.exact(receipt.tax),
        total=amounts.exact(receipt.total),
        payment_method=receipt.payment_method,
        card_last4=receipt.card_last4,
        extraction_status=_proven_status(event, receipt),
        extraction_confidence=receipt.extraction_confidence,
        raw_text=receipt.text,
        raw_payload=wire.dumps(receipt.model_dump()).decode("ascii"),
    )


def _printed_time(event: AnyRunEvent) -> time | None:
    if isinstance(event, RunEventV2):
        found = event.payload.receipt.transaction_time
        return found.value if found else None
    moment = event.payload.receipt.transaction_datetime
    return moment.time() if moment else None


def _proven_status(event: AnyRunEvent, receipt: Receipt) -> ExtractionStatus:
    """Send sums that contradict each other to a person, whatever the worker says of them."""
    agree = amounts.add_up(
        subtotal=receipt.subtotal,
        tax=receipt.tax,
        total=receipt.total,
        others=_other_sums(event.payload.receipt) if isinstance(event, RunEventV2) else (),
    )
    if receipt.extraction_status is ExtractionStatus.COMPLETE and not agree:
        return ExtractionStatus.REVIEW
    return receipt.extraction_status


def _other_sums(receipt: ReceiptFields) -> tuple[Decimal, ...]:
    """Return what may stand between subtotal and total."""
    discount = receipt.discount_total
    found = (
        receipt.tip.value if receipt.tip else None,
        receipt.rounding.value if receipt.rounding else None,
        -abs(discount.value) if discount else None,
    )
    return tuple(amount for amount in found if amount)
