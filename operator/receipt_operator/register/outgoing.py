"""Which requests may send now, read often and locked for each send."""

from collections.abc import Sequence

from receipt_contract.requests import MAX_IN_FLIGHT
from receipt_operator.register.database import Connection, Database
from receipt_operator.register.rows import Request, request_of


async def publishable(
    database: Database, *, cluster: str, namespaces: Sequence[str]
) -> list[Request]:
    """Read every request that may send, with counts of what has not ended.

    Asked several times a second: what waits is counted up to the largest window, so that a large
    request costs no more than a small one.
    """
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT r.*, waiting.live_planned, sent.live_publishing, sent.live_published
              FROM work.requests r
             CROSS JOIN LATERAL (
                SELECT count(*) AS live_planned FROM (
                    SELECT 1 FROM work.items
                     WHERE request_id = r.request_id AND state = 'planned' LIMIT %(most)s) w
                ) waiting
             CROSS JOIN LATERAL (
                SELECT count(*) FILTER (WHERE state = 'publishing') AS live_publishing,
                       count(*) FILTER (WHERE state = 'published') AS live_published
                  FROM work.items
                 WHERE request_id = r.request_id AND state IN ('publishing', 'published')) sent
             WHERE r.cluster = %(cluster)s AND r.namespace = ANY(%(namespaces)s)
               AND r.state = 'open'
            """,
            {"cluster": cluster, "namespaces": list(namespaces), "most": MAX_IN_FLIGHT},
        )
        found = [request_of(row) for row in await cursor.fetchall()]
    return [request for request in found if request.publishable]


async def lock_publishable(connection: Connection, request_ids: Sequence[str]) -> set[str]:
    """Lock those requests that may send now against being finished, parked or suspended.

    Also records when the first message was about to be sent.
    """
    cursor = await connection.execute(
        """
        SELECT request_id::text FROM work.requests
         WHERE request_id = ANY(%(ids)s::uuid[]) AND state = 'open' AND NOT suspended
           AND NOT parked AND ending IS NULL AND NOT wish ? 'dryRun'
         ORDER BY request_id
           FOR SHARE
        """,
        {"ids": list(set(request_ids))},
    )
    locked = {row["request_id"] for row in await cursor.fetchall()}
    await connection.execute(
        """
        UPDATE work.requests SET started_at = now()
         WHERE request_id = ANY(%(ids)s::uuid[]) AND started_at IS NULL
        """,
        {"ids": list(locked)},
    )
    return locked
