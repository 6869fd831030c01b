"""Saved extractions, as commands show and export them. Read only."""

from collections.abc import Iterator
from typing import Any

from receipt_operator.register.reading import Reader

# Amounts leave as text: a JSON number would be read as a float by most programs.
_COLUMNS = """
SELECT evidence.source_reference, evidence.source_sha256,
       evidence.merchant AS merchant_name,
       evidence.transaction_date::text, evidence.receipt_id AS receipt_number,
       evidence.raw_payload->>'subtotal' AS subtotal, evidence.raw_payload->>'tax' AS tax,
       evidence.total::text, evidence.payment_method, evidence.card_last4,
       evidence.extraction_status, evidence.extraction_confidence::text,
       evidence.raw_payload->'review_reasons' AS review_reasons,
       (SELECT coalesce(jsonb_agg(jsonb_build_object(
                 'item_name', item->>'item_name', 'line_total', item->>'line_total')), '[]')
          FROM jsonb_array_elements(evidence.raw_payload->'items') AS item) AS items,
       standing.status AS reading_status, standing.attempts AS reading_attempts,
       run.processed_at, run.cache_version
  FROM budget.receipt_evidence AS evidence
  LEFT JOIN ingest.receipt_processing_status AS standing USING (source_sha256)
  LEFT JOIN LATERAL (
    SELECT processed_at, cache_version FROM budget.receipt_ocr_runs AS runs
     WHERE runs.evidence_id = evidence.id ORDER BY processed_at DESC LIMIT 1
  ) AS run ON true
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
