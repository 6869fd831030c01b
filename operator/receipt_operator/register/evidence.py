"""Evidence that a sent item is lost.

Queues are first in, first out: when an item that was sent `republish_after` later was answered,
an unanswered one was lost on the way. Where nothing later was sent, one item a request is sent
again as a probe, and its answer is the evidence for the others.
"""

from collections.abc import Sequence
from datetime import datetime

from receipt_operator.register.database import Connection, Database
from receipt_operator.register.rows import Sending

MAX_PUBLICATIONS = 3


async def latest_answered(database: Database) -> datetime | None:
    """When the latest send that was answered by the collector had been made."""
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT max(greatest(published_at, probed_at)) AS sent_at FROM work.items
             WHERE ended_by = 'collector'
            """
        )
        row = await cursor.fetchone()
    return row["sent_at"] if row else None


async def latest_result(database: Database) -> datetime | None:
    """When the collector last settled a result, of a request of ours or of any other work."""
    async with database.read() as connection:
        cursor = await connection.execute("SELECT max(recorded_at) AS recorded_at FROM work.inbox")
        row = await cursor.fetchone()
    return row["recorded_at"] if row else None


async def lost(
    database: Database, request_ids: Sequence[str], *, sent_before: datetime, limit: int
) -> tuple[list[Sending], list[Sending]]:
    """Read items with evidence against them: those to send again, and those to give up.

    `sent_before` is `latest_answered` less `republish_after`.
    """
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT request_id::text, reference, source_sha256, publications FROM work.items
             WHERE request_id = ANY(%(ids)s::uuid[]) AND state = 'published'
               AND published_at <= %(sent_before)s
             ORDER BY published_at LIMIT %(limit)s
            """,
            {"ids": list(request_ids), "sent_before": sent_before, "limit": limit},
        )
        rows = await cursor.fetchall()
    again: list[Sending] = []
    given_up: list[Sending] = []
    for row in rows:
        sending = Sending(row["request_id"], row["reference"], row["source_sha256"])
        (given_up if row["publications"] >= MAX_PUBLICATIONS else again).append(sending)
    return again, given_up


async def overdue(
    database: Database, request_ids: Sequence[str], *, seconds: float
) -> list[Sending]:
    """Read the latest overdue item of each request that was not probed lately.

    The latest: its answer speaks for all that were sent before it.
    """
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT DISTINCT ON (request_id) request_id::text, reference, source_sha256
              FROM work.items
             WHERE request_id = ANY(%(ids)s::uuid[]) AND state = 'published'
               AND greatest(published_at, probed_at)
                   <= now() - make_interval(secs => %(seconds)s)
               AND NOT EXISTS (
                   SELECT 1 FROM work.items p
                    WHERE p.request_id = work.items.request_id AND p.state = 'published'
                      AND p.probed_at > now() - make_interval(secs => %(seconds)s))
             ORDER BY request_id, published_at DESC
            """,
            {"ids": list(request_ids), "seconds": seconds},
        )
        return [Sending(*row.values()) for row in await cursor.fetchall()]


async def mark_probed(connection: Connection, sendings: Sequence[Sending]) -> None:
    """Commit the time of a probe before it is sent."""
    await connection.execute(
        """
        UPDATE work.items i SET probed_at = now()
          FROM unnest(%(ids)s::uuid[], %(references)s::text[]) AS s (request_id, reference)
         WHERE i.request_id = s.request_id AND i.reference = s.reference
           AND i.state = 'published'
        """,
        {
            "ids": [sending.request_id for sending in sendings],
            "references": [sending.reference for sending in sendings],
        },
    )
