"""Evidence: the saved extraction of a source, one row for each."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import NamedTuple

from receipt_collector.store.database import Connection
from receipt_contract.results import ExtractionStatus


class Extraction(NamedTuple):
    """What both schemas tell of a receipt; `raw_payload` is JSON text with exact numbers."""

    source_sha256: str
    source_reference: str
    result_schema_version: int
    mime_type: str | None
    transaction_date: date | None
    transaction_time: time | None
    transaction_datetime: datetime | None  # as printed, without a zone
    merchant: str | None
    receipt_id: str | None
    subtotal: Decimal | None
    total_tax: Decimal | None
    total: Decimal | None
    payment_method: str | None
    card_last4: str | None
    extraction_status: ExtractionStatus
    extraction_confidence: Decimal | None
    raw_text: str
    raw_payload: str


class Evidence(NamedTuple):
    """The part of a saved extraction that decisions need."""

    id: int
    expense_pk: int | None
    total: Decimal | None
    extraction_status: ExtractionStatus


def find(connection: Connection, sha256: str) -> Evidence | None:
    """Return the evidence of a source, or None."""
    row = connection.execute(
        """
        SELECT id, expense_pk, total, extraction_status FROM budget.receipt_evidence
        WHERE source_sha256 = %(sha256)s
        """,
        {"sha256": sha256},
    ).fetchone()
    return None if row is None else _evidence(*row)


def upsert(connection: Connection, extraction: Extraction) -> Evidence:
    """Save the extraction in place of an earlier one.

    Text that is already there stays when the new text is empty. What only schema 2 tells is left
    alone: `details` writes it.
    """
    row = connection.execute(
        """
        INSERT INTO budget.receipt_evidence AS kept (
          evidence_type, source_sha256, source_reference, result_schema_version, mime_type,
          transaction_date, transaction_time, transaction_datetime, merchant, receipt_id, subtotal,
          total_tax, total, payment_method, card_last4, extraction_status, extraction_confidence,
          raw_text, raw_payload
        ) VALUES (
          'scanned', %(source_sha256)s, %(source_reference)s, %(result_schema_version)s,
          %(mime_type)s, %(transaction_date)s, %(transaction_time)s, %(transaction_datetime)s,
          %(merchant)s, %(receipt_id)s, %(subtotal)s, %(total_tax)s, %(total)s,
          %(payment_method)s, %(card_last4)s, %(extraction_status)s, %(extraction_confidence)s,
          %(raw_text)s, %(raw_payload)s::jsonb
        )
        ON CONFLICT (source_sha256) DO UPDATE SET
          source_reference = EXCLUDED.source_reference,
          result_schema_version = EXCLUDED.result_schema_version,
          mime_type = EXCLUDED.mime_type,
          transaction_date = EXCLUDED.transaction_date,
          transaction_time = EXCLUDED.transaction_time,
          transaction_datetime = EXCLUDED.transaction_datetime,
          merchant = EXCLUDED.merchant,
          receipt_id = EXCLUDED.receipt_id,
          subtotal = EXCLUDED.subtotal,
          total_tax = EXCLUDED.total_tax,
          total = EXCLUDED.total,
          payment_method = EXCLUDED.payment_method,
          card_last4 = EXCLUDED.card_last4,
          extraction_status = EXCLUDED.extraction_status,
          extraction_confidence = EXCLUDED.extraction_confidence,
          raw_text = coalesce(nullif(EXCLUDED.raw_text, ''), kept.raw_text),
          raw_payload = EXCLUDED.raw_payload
        RETURNING id, expense_pk, total, extraction_status
        """,
        extraction._asdict(),
    ).fetchone()
    if row is None:
        raise RuntimeError("an upsert returns its row")
    return _evidence(*row)


def attach(connection: Connection, *, evidence_id: int, expense_pk: int, primary: bool) -> None:
    """Say which expense the evidence belongs to, and whether the expense was made from it."""
    connection.execute(
        """
        UPDATE budget.receipt_evidence
        SET expense_pk = %(expense_pk)s, is_primary_source = %(primary)s
        WHERE id = %(evidence_id)s
        """,
        {"evidence_id": evidence_id, "expense_pk": expense_pk, "primary": primary},
    )


def _evidence(id_: int, expense_pk: int | None, total: Decimal | None, status: str) -> Evidence:
    return Evidence(id_, expense_pk, total, ExtractionStatus(status))
