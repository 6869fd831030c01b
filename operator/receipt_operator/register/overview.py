"""Requests and dead letters, as commands list them. Read only."""

from collections.abc import Iterator
from typing import Any

from receipt_operator.register.reading import Reader

_REQUESTS = """
SELECT request_id::text, cluster, namespace, kind, name, run_id, state, result, total, parked,
       awaiting_approval, ending, created_at, accepted_at, started_at, finished_at,
       coalesce(request.done, live.done) AS done,
       coalesce(request.failed, live.failed) AS failed,
       coalesce(request.skipped, live.skipped) AS skipped
  FROM work.requests AS request
 CROSS JOIN LATERAL (
    SELECT coalesce(sum(done), 0) AS done, coalesce(sum(failed), 0) AS failed,
           coalesce(sum(skipped), 0) AS skipped
      FROM work.tallies
     WHERE request_id = request.request_id AND request.state <> 'finished'
) AS live
"""


def requests(connection: Reader, *, limit: int) -> Iterator[dict[str, Any]]:
    """Stream requests, the newest first."""
    with connection.cursor() as cursor:
        yield from cursor.stream(
            _REQUESTS + " ORDER BY created_at DESC, request_id LIMIT %(limit)s", {"limit": limit}
        )


def request(connection: Reader, request_id: str) -> dict[str, Any] | None:
    """Read one request."""
    cursor = connection.execute(
        _REQUESTS + " WHERE request_id = %(request_id)s", {"request_id": request_id}
    )
    return cursor.fetchone()


def wish(connection: Reader, request_id: str) -> Any:
    """Read what a request asked for."""
    cursor = connection.execute(
        "SELECT wish FROM work.requests WHERE request_id = %(request_id)s",
        {"request_id": request_id},
    )
    row = cursor.fetchone()
    return row and row["wish"]


def items(connection: Reader, request_id: str, *, state: str | None) -> Iterator[dict[str, Any]]:
    """Stream a request's items in the order of their references; `state` keeps one state's."""
    with connection.cursor() as cursor:
        yield from cursor.stream(
            """
            SELECT reference, source_sha256, state, reason, publications, published_at, ended_at,
                   ended_by, late
              FROM work.items
             WHERE request_id = %(request_id)s AND (%(state)s::text IS NULL OR state = %(state)s)
             ORDER BY reference COLLATE "C"
            """,
            {"request_id": request_id, "state": state},
        )


def dead(connection: Reader, *, limit: int) -> Iterator[dict[str, Any]]:
    """Stream dead letters, the latest first."""
    with connection.cursor() as cursor:
        yield from cursor.stream(
            """
            SELECT failure_id::text, side, message_type, source_reference, request_id::text,
                   attempts, reason, sentence, first_failed_at, last_failed_at
              FROM budget.receipt_failures
             ORDER BY last_failed_at DESC, failure_id LIMIT %(limit)s
            """,
            {"limit": limit},
        )


def dead_letter(connection: Reader, failure_id: str) -> dict[str, Any] | None:
    """Read one dead letter whole; its body, where it was kept, is what a replay sends."""
    cursor = connection.execute(
        """
        SELECT failure_id::text, side, message_type, message_id, source_reference, source_sha256,
               request_id::text, run_uuid::text, pass_id, attempts, reason, sentence,
               convert_from(body, 'UTF8') AS body, body_sha256, body_bytes, first_failed_at,
               last_failed_at
          FROM budget.receipt_failures WHERE failure_id = %(failure_id)s
        """,
        {"failure_id": failure_id},
    )
    return cursor.fetchone()
