"""What a stored run writes: the saved extraction, the run, and the expense that follows."""

from pathlib import PurePosixPath

from receipt_collector import amounts, matching
from receipt_collector.items import ItemRow, carry_categories
from receipt_collector.matching import Facts, Match
from receipt_collector.store import expenses, ingest, locks, merchants, receipts, runs
from receipt_collector.store.database import Connection
from receipt_collector.store.expenses import ScannedExpense
from receipt_collector.store.ingest import IngestStatus
from receipt_collector.store.receipts import Evidence, Extraction
from receipt_contract import wire
from receipt_contract.results import ExtractionStatus, Receipt, RunEvent

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


def save(connection: Connection, event: RunEvent) -> None:
    """Save the extraction in place of an earlier one, with its run and its expense."""
    extraction = _extraction(event, merchants.aliases(connection))
    evidence = receipts.upsert(connection, extraction)
    save_run(connection, event, evidence_id=evidence.id, merchant=extraction.merchant)
    evidence = _settle_expense(connection, event.payload.receipt, extraction, evidence=evidence)
    ingest.discover(connection, sha256=event.source_sha256, reference=event.source_reference)
    ingest.complete(connection, sha256=event.source_sha256, status=ingest_status(evidence))


def save_run(
    connection: Connection, event: RunEvent, *, evidence_id: int, merchant: str | None
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


def _extraction(event: RunEvent, aliases: dict[str, str]) -> Extraction:
    receipt = event.payload.receipt
    moment = receipt.transaction_datetime
    return Extraction(
        source_sha256=event.source_sha256,
        source_reference=event.source_reference,
        mime_type=_MIME_TYPES.get(PurePosixPath(event.source_reference).suffix.lower()),
        transaction_date=receipt.transaction_date or (moment.date() if moment else None),
        transaction_datetime=moment.replace(tzinfo=None) if moment else None,
        merchant=matching.resolve_merchant(receipt.merchant, aliases),
        receipt_id=receipt.receipt_id,
        total=amounts.exact(receipt.total),
        payment_method=receipt.payment_method,
        card_last4=receipt.card_last4,
        extraction_status=_proven_status(receipt),
        extraction_confidence=receipt.extraction_confidence,
        raw_text=receipt.text,
        raw_payload=wire.dumps(receipt.model_dump()).decode("ascii"),
    )


def _proven_status(receipt: Receipt) -> ExtractionStatus:
    """Send sums that contradict each other to a person, whatever the worker says of them."""
    agree = amounts.add_up(subtotal=receipt.subtotal, tax=receipt.tax, total=receipt.total)
    if receipt.extraction_status is ExtractionStatus.COMPLETE and not agree:
        return ExtractionStatus.REVIEW
    return receipt.extraction_status


def _settle_expense(
    connection: Connection, receipt: Receipt, extraction: Extraction, *, evidence: Evidence
) -> Evidence:
    """Find or write the expense of a receipt; returns the evidence as it then is."""
    own = expenses.own(connection, extraction.source_sha256)
    if evidence.expense_pk not in {None, own}:
        return evidence  # part of another source's purchase, which a new reading does not undo
    if own is None:
        if extraction.total is None:
            return evidence  # no purchase can be told from it
        found = _match(connection, extraction, evidence)
        for link in found.links:
            expenses.link(connection, link)
        if found.unsure:
            return evidence
        if found.expense_pk is not None:
            return _attach(connection, evidence, expense_pk=found.expense_pk, primary=False)
    expense_pk = _write_expense(connection, receipt, extraction)
    return _attach(connection, evidence, expense_pk=expense_pk, primary=True)


def _match(connection: Connection, extraction: Extraction, evidence: Evidence) -> Match:
    locks.matching(connection)
    facts = Facts(
        receipt_id=extraction.receipt_id,
        total=extraction.total,
        merchant=extraction.merchant,
        card_last4=extraction.card_last4,
        day=extraction.transaction_date,
        moment=extraction.transaction_datetime,
    )
    known = expenses.candidates(connection, facts, sha256=extraction.source_sha256)
    return matching.match(facts, known, evidence_id=evidence.id)


def _attach(
    connection: Connection, evidence: Evidence, *, expense_pk: int, primary: bool
) -> Evidence:
    receipts.attach(connection, evidence_id=evidence.id, expense_pk=expense_pk, primary=primary)
    return evidence._replace(expense_pk=expense_pk)


def _write_expense(connection: Connection, receipt: Receipt, extraction: Extraction) -> int:
    expense_pk = expenses.upsert_scanned(
        connection,
        ScannedExpense(
            source_sha256=extraction.source_sha256,
            source_reference=extraction.source_reference,
            order_date=extraction.transaction_date,
            transaction_datetime=extraction.transaction_datetime,
            store_name=extraction.merchant,
            subtotal=amounts.exact(receipt.subtotal),
            tax=amounts.exact(receipt.tax),
            total=extraction.total,
            payment_method=extraction.payment_method,
            card_last4=extraction.card_last4,
            payer=receipt.payer,
            extraction_status=extraction.extraction_status,
            extraction_confidence=extraction.extraction_confidence,
        ),
    )
    old = expenses.items(connection, expense_pk)
    new = [ItemRow(item.item_name, amounts.exact(item.line_total)) for item in receipt.items]
    expenses.remove_items(connection, expense_pk)
    expenses.add_items(connection, expense_pk, carry_categories(old, new))
    return expense_pk
