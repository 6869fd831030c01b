"""How the normal reading of a receipt ended, for discovery and for people."""

from enum import StrEnum

from receipt_collector.store.database import Connection


class IngestStatus(StrEnum):
    """Status of a receipt in the normal reading."""

    SUCCEEDED = "succeeded"
    REVIEW_REQUIRED = "review_required"


def discover(connection: Connection, *, sha256: str, reference: str) -> None:
    """Keep the source and where it was last seen."""
    connection.execute(
        """
        INSERT INTO ingest.receipts AS kept (source_sha256, source_reference)
        VALUES (%(sha256)s, %(reference)s)
        ON CONFLICT (source_sha256) DO UPDATE SET source_reference = EXCLUDED.source_reference
        WHERE kept.source_reference <> EXCLUDED.source_reference
        """,
        {"sha256": sha256, "reference": reference},
    )


def complete(connection: Connection, *, sha256: str, status: IngestStatus) -> None:
    """Set the status after a stored extraction, which counts as one more attempt."""
    connection.execute(
        """
        INSERT INTO ingest.receipt_processing_status AS kept
          (source_sha256, status, attempts, first_attempted_at, last_attempted_at, completed_at)
        VALUES (%(sha256)s, %(status)s, 1, now(), now(), now())
        ON CONFLICT (source_sha256) DO UPDATE SET
          status = EXCLUDED.status,
          attempts = kept.attempts + 1,
          last_error = NULL,
          first_attempted_at = coalesce(kept.first_attempted_at, now()),
          last_attempted_at = now(),
          completed_at = now()
        """,
        {"sha256": sha256, "status": status},
    )


def repair(connection: Connection, *, sha256: str, status: IngestStatus) -> None:
    """Set the status where it does not yet know of the extraction that is stored."""
    connection.execute(
        """
        INSERT INTO ingest.receipt_processing_status AS kept
          (source_sha256, status, attempts, first_attempted_at, last_attempted_at, completed_at)
        VALUES (%(sha256)s, %(status)s, 1, now(), now(), now())
        ON CONFLICT (source_sha256) DO UPDATE SET
          status = EXCLUDED.status, last_error = NULL, completed_at = now()
        WHERE kept.status NOT IN ('succeeded', 'review_required')
        """,
        {"sha256": sha256, "status": status},
    )


def fail(connection: Connection, *, sha256: str, attempts: int, sentence: str) -> None:
    """Set the status to failed with at least `attempts`, unless an extraction is stored."""
    connection.execute(
        """
        INSERT INTO ingest.receipt_processing_status AS kept
          (source_sha256, status, attempts, last_error, first_attempted_at, last_attempted_at)
        VALUES (%(sha256)s, 'failed', %(attempts)s, %(sentence)s, now(), now())
        ON CONFLICT (source_sha256) DO UPDATE SET
          status = 'failed',
          attempts = greatest(kept.attempts, EXCLUDED.attempts),
          last_error = EXCLUDED.last_error,
          first_attempted_at = coalesce(kept.first_attempted_at, now()),
          last_attempted_at = now()
        WHERE kept.status NOT IN ('succeeded', 'review_required')
        """,
        {"sha256": sha256, "attempts": attempts, "sentence": sentence},
    )
