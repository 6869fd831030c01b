"""Requests as the collector sees them: completed for a source, and the end of an item.

The register of requests is the operator's. Here it is only asked whether a request is open, with a
lock that keeps the answer true until commit, and one item is ended.
"""

from enum import StrEnum

from psycopg import sql

from receipt_collector.store.database import Connection
from receipt_contract.errors import Reason


class RequestKind(StrEnum):
    """Which table remembers that a request is completed for a source."""

    REPROCESS = "receipt_reprocess_requests"
    CACHE = "receipt_cache_requests"


class RegisterState(StrEnum):
    """What the register says of a request."""

    OPEN = "open"  # being planned, or planned whole
    FINISHED = "finished"
    ABSENT = "absent"  # asked for without Kubernetes


def completed(connection: Connection, *, kind: RequestKind, sha256: str, request_id: str) -> bool:
    """Tell whether a run for this request and source was settled before."""
    row = connection.execute(
        sql.SQL(
            """
            SELECT 1 FROM budget.{}
            WHERE source_sha256 = %(sha256)s AND request_id = %(request_id)s
              AND completed_at IS NOT NULL
            """
        ).format(sql.Identifier(kind)),
        {"sha256": sha256, "request_id": request_id},
    ).fetchone()
    return row is not None


def complete(connection: Connection, *, kind: RequestKind, sha256: str, request_id: str) -> None:
    """Remember that the request is completed for the source; the first time stays."""
    connection.execute(
        sql.SQL(
            """
            INSERT INTO budget.{} AS kept (source_sha256, request_id, attempts, completed_at)
            VALUES (%(sha256)s, %(request_id)s, 1, now())
            ON CONFLICT (source_sha256, request_id) DO UPDATE SET completed_at = now()
            WHERE kept.completed_at IS NULL
            """
        ).format(sql.Identifier(kind)),
        {"sha256": sha256, "request_id": request_id},
    )


def hold(connection: Connection, request_id: str) -> RegisterState:
    """Return the request's state and keep it from finishing until this transaction ends."""
    row = connection.execute(
        "SELECT state FROM work.requests WHERE request_id = %(request_id)s FOR SHARE",
        {"request_id": request_id},
    ).fetchone()
    if row is None:
        return RegisterState.ABSENT
    return RegisterState.FINISHED if row[0] == "finished" else RegisterState.OPEN


def end_done(connection: Connection, *, request_id: str, reference: str) -> None:
    """End an item as done; what the operator skipped stays skipped.

    A result proves that the work was published, also where it came before the broker's confirm was
    recorded; without that, more receipts would be shown as done than as sent.
    """
    connection.execute(
        """
        UPDATE work.items
        SET state = 'done', reason = NULL, ended_at = now(), ended_by = 'collector',
            publications = greatest(publications, 1)
        WHERE request_id = %(request_id)s AND reference = %(reference)s
          AND state IN ('planned', 'publishing', 'published', 'failed')
        """,
        {"request_id": request_id, "reference": reference},
    )


def end_failed(connection: Connection, *, request_id: str, reference: str, reason: Reason) -> None:
    """End an item as failed, unless it has ended; its dead letter proves that it was published."""
    connection.execute(
        """
        UPDATE work.items
        SET state = 'failed', reason = %(reason)s, ended_at = now(), ended_by = 'collector',
            publications = greatest(publications, 1)
        WHERE request_id = %(request_id)s AND reference = %(reference)s
          AND state IN ('planned', 'publishing', 'published')
        """,
        {"request_id": request_id, "reference": reference, "reason": reason},
    )


def mark_late(connection: Connection, *, request_id: str, reference: str) -> None:
    """Note that a result came after the request had finished; counts stay frozen."""
    connection.execute(
        """
        UPDATE work.items SET late = true
        WHERE request_id = %(request_id)s AND reference = %(reference)s AND state <> 'done'
        """,
        {"request_id": request_id, "reference": reference},
    )
