"""The brake of a register that was found empty: beyond the first few, claims wait for a person.

The mark lies on the lease rows, so that it outlives the operator that set it.
"""

from collections.abc import Sequence

from receipt_operator.register.database import Connection, Database, Fence


async def mark_new(database: Database, fence: Fence) -> None:
    """Mark our namespaces when the register holds no request of this cluster."""
    async with database.write() as connection:
        await connection.execute(
            """
            UPDATE work.leases SET approval_pending = true
             WHERE cluster = %(cluster)s AND namespace = ANY(%(namespaces)s)
               AND NOT EXISTS (SELECT 1 FROM work.requests WHERE cluster = %(cluster)s)
            """,
            _ours(fence),
        )


async def marked(database: Database, fence: Fence) -> frozenset[str]:
    """Return those of our namespaces that are marked."""
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT namespace FROM work.leases
             WHERE cluster = %(cluster)s AND namespace = ANY(%(namespaces)s) AND approval_pending
            """,
            _ours(fence),
        )
        return frozenset([row["namespace"] for row in await cursor.fetchall()])


async def clear(database: Database, fence: Fence) -> None:
    """Take the mark away, and let everything that waits for approval go on."""
    async with database.write() as connection:
        await connection.execute(
            """
            UPDATE work.leases SET approval_pending = false
             WHERE cluster = %(cluster)s AND namespace = ANY(%(namespaces)s) AND approval_pending
            """,
            _ours(fence),
        )
        cursor = await connection.execute(
            """
            SELECT request_id::text FROM work.requests
             WHERE cluster = %(cluster)s AND namespace = ANY(%(namespaces)s)
               AND awaiting_approval AND state <> 'finished'
            """,
            _ours(fence),
        )
        await approve(connection, [row["request_id"] for row in await cursor.fetchall()])


async def approve(connection: Connection, request_ids: Sequence[str]) -> None:
    """Let requests go on; their active clocks start."""
    await connection.execute(
        """
        UPDATE work.requests SET awaiting_approval = false,
               active_since = CASE WHEN suspended OR parked THEN NULL ELSE now() END
         WHERE request_id = ANY(%(ids)s::uuid[]) AND awaiting_approval AND state <> 'finished'
        """,
        {"ids": list(request_ids)},
    )


async def count_begun(connection: Connection, fence: Fence) -> int:
    """Count the requests that went on: neither waiting, nor refused, nor adopted from a status."""
    cursor = await connection.execute(
        """
        SELECT count(*) AS begun FROM work.requests
         WHERE cluster = %(cluster)s AND namespace = ANY(%(namespaces)s)
           AND NOT awaiting_approval
           AND result IS DISTINCT FROM 'Expired' AND NOT coalesce(summary ? 'recovered', false)
        """,
        _ours(fence),
    )
    row = await cursor.fetchone()
    return int(row["begun"]) if row else 0


def _ours(fence: Fence) -> dict[str, object]:
    return {"cluster": fence.cluster, "namespaces": list(fence.namespaces)}
