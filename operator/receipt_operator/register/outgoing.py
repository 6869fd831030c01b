"""Which requests may send now, read often and locked for each send."""

from collections.abc import Sequence

from receipt_operator.register.database import Connection, Database
from receipt_operator.register.rows import Request, request_of
from receipt_operator.register.tallies import WITH_COUNTS


async def publishable(
    database: Database, *, cluster: str, namespaces: Sequence[str]
) -> list[Request]:
    """Read every request that may send, with counts of its items."""
    async with database.read() as connection:
        cursor = await connection.execute(
            f"""
            {WITH_COUNTS}
             WHERE r.cluster = %(cluster)s AND r.namespace = ANY(%(namespaces)s)
               AND r.state = 'open'
            """,
            {"cluster": cluster, "namespaces": list(namespaces)},
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
