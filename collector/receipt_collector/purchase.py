"""The purchase that a saved receipt tells of: its own expense, another source's, or unsettled."""

from receipt_collector import items, matching
from receipt_collector.items import ItemRow
from receipt_collector.matching import Facts, Match
from receipt_collector.store import expenses, locks, receipts
from receipt_collector.store.database import Connection
from receipt_collector.store.expenses import ScannedExpense
from receipt_collector.store.receipts import Evidence, Extraction
from receipt_contract import older
from receipt_contract.results import AnyRunEvent, RunEventV2


def settle(
    connection: Connection, event: AnyRunEvent, extraction: Extraction, *, evidence: Evidence
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
    expense_pk = _write_expense(connection, event, extraction)
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


def _write_expense(connection: Connection, event: AnyRunEvent, extraction: Extraction) -> int:
    expense_pk = expenses.upsert_scanned(
        connection,
        ScannedExpense(
            source_sha256=extraction.source_sha256,
            source_reference=extraction.source_reference,
            order_date=extraction.transaction_date,
            transaction_datetime=extraction.transaction_datetime,
            store_name=extraction.merchant,
            subtotal=extraction.subtotal,
            tax=extraction.total_tax,
            total=extraction.total,
            payment_method=extraction.payment_method,
            card_last4=extraction.card_last4,
            payer=older.main_fields(event).payer,
            extraction_status=extraction.extraction_status,
            extraction_confidence=extraction.extraction_confidence,
        ),
    )
    if isinstance(event, RunEventV2):
        receipt = event.payload.receipt
        expenses.add_details(
            connection,
            expense_pk,
            currency=receipt.currency.value if receipt.currency else None,
            discount_total=receipt.discount_total.value if receipt.discount_total else None,
            tip=receipt.tip.value if receipt.tip else None,
        )
    old = expenses.items(connection, expense_pk)
    expenses.remove_items(connection, expense_pk)
    expenses.add_items(connection, expense_pk, items.carry_categories(old, _item_rows(event)))
    return expense_pk


def _item_rows(event: AnyRunEvent) -> list[ItemRow]:
    if isinstance(event, RunEventV2):
        return items.of_every_field(event.payload.receipt.items)
    return items.of_main_fields(event.payload.receipt.items)
