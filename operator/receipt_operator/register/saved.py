"""Saved extractions, as commands show and export them. Read only."""

from collections.abc import Iterator
from typing import Any

from receipt_operator.register.reading import Reader

# Amounts leave as text: a JSON number would be read as a float by most programs. What was saved
# before its column was made is taken from the payload.
_COLUMNS = """
SELECT evidence.source_reference, evidence.source_sha256, evidence.result_schema_version,
       evidence.merchant AS merchant_name, evidence.merchant_address,
       evidence.merchant_phone_number, evidence.merchant_tax_id,
       evidence.transaction_date::text,
       coalesce(evidence.transaction_time, evidence.transaction_datetime::time)::text
         AS transaction_time,
       evidence.receipt_id AS receipt_number, evidence.receipt_type, evidence.country_region,
       evidence.currency,
       coalesce(evidence.subtotal::text, evidence.raw_payload->>'subtotal') AS subtotal,
       coalesce(evidence.total_tax::text, evidence.raw_payload->>'tax') AS total_tax,
       evidence.tip::text, evidence.rounding::text, evidence.discount_total::text,
       evidence.total::text, evidence.change::text, evidence.payment_method, evidence.card_last4,
       evidence.extraction_status, evidence.extraction_confidence::text,
       evidence.raw_payload->'review_reasons' AS review_reasons,
       evidence.fields, evidence.lines_left_out, evidence.items_left_out,
       coalesce(items.found, before.found, '[]') AS items,
       coalesce(taxes.found, '[]') AS tax_details,
       coalesce(payments.found, '[]') AS payments,
       standing.status AS reading_status, standing.attempts AS reading_attempts,
       run.processed_at, run.cache_version
  FROM budget.receipt_evidence AS evidence
  LEFT JOIN ingest.receipt_processing_status AS standing USING (source_sha256)
  LEFT JOIN LATERAL (
    SELECT processed_at, cache_version FROM budget.receipt_ocr_runs AS runs
     WHERE runs.evidence_id = evidence.id ORDER BY processed_at DESC LIMIT 1
  ) AS run ON true
 CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
             'description', description, 'quantity', quantity::text,
             'quantity_unit', quantity_unit, 'price', price::text,
             'total_price', total_price::text, 'product_code', product_code,
             'tax_code', tax_code) ORDER BY position) AS found
      FROM budget.receipt_items WHERE evidence_id = evidence.id
  ) AS items
 CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
             'description', item->>'item_name', 'total_price', item->>'line_total')) AS found
      FROM jsonb_array_elements(evidence.raw_payload->'items') AS item
  ) AS before
 CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
             'rate', rate::text, 'net_amount', net_amount::text, 'amount', amount::text,
             'description', description) ORDER BY position) AS found
      FROM budget.receipt_tax_details WHERE evidence_id = evidence.id
  ) AS taxes
 CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
             'method', method, 'amount', amount::text, 'card_network', card_network,
             'card_last4', card_last4) ORDER BY position) AS found
      FROM budget.receipt_payments WHERE evidence_id = evidence.id
  ) AS payments
"""


def of_reference(connection: Reader, reference: str) -> list[dict[str, Any]]:
    """Read what is saved for a reference: one row for each content it ever had, newest first."""
    cursor = connection.execute(
        _COLUMNS
        + """
         WHERE evidence.source_reference = %(reference)s
         ORDER BY evidence.updated_at DESC
        """,
        {"reference": reference},
    )
    return cursor.fetchall()


def all_below(connection: Reader, prefix: str) -> Iterator[dict[str, Any]]:
    """Stream what is saved for references that start with a prefix, in their order."""
    with connection.cursor() as cursor:
        yield from cursor.stream(
            _COLUMNS
            + """
             WHERE starts_with(evidence.source_reference, %(prefix)s)
             ORDER BY evidence.source_reference COLLATE "C", evidence.id
            """,
            {"prefix": prefix},
        )
