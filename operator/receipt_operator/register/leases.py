"""The lease rows: one active operator for each (cluster, namespace), on database time.

A lease is taken for all namespaces or for none. Its epoch grows with each new holder and fences
every write of the old one.
"""

from collections.abc import Sequence

from receipt_operator.register.database import Database, Fence


async def take(
    database: Database, *, cluster: str, namespaces: Sequence[str], holder: str, seconds: float
) -> Fence | None:
    """Take or renew the lease of every namespace, or of none and return None.

    `seconds` is how long it lasts without a renewal.
    """
    async with database.unfenced() as connection:
        await connection.execute(
            """
            INSERT INTO work.leases (cluster, namespace, holder, epoch, expires_at)
            SELECT %(cluster)s, namespace, '', 0, '-infinity' FROM unnest(%(namespaces)s::text[])
                AS namespace
            ON CONFLICT DO NOTHING
            """,
            {"cluster": cluster, "namespaces": sorted(namespaces)},
        )
        cursor = await connection.execute(
            """
            SELECT namespace, holder, epoch, expires_at < now() AS expired FROM work.leases
             WHERE cluster = %(cluster)s AND namespace = ANY(%(namespaces)s)
             ORDER BY namespace
               FOR UPDATE
            """,
            {"cluster": cluster, "namespaces": list(namespaces)},
        )
        rows = await cursor.fetchall()
        if any(row["holder"] != holder and not row["expired"] for row in rows):
            return None
        # One epoch over all rows, above every earlier one, so that a fence is one number.
        epoch = max(row["epoch"] for row in rows)
        if any(row["holder"] != holder or row["epoch"] != epoch for row in rows):
            epoch += 1
        await connection.execute(
            """
            UPDATE work.leases
               SET holder = %(holder)s, epoch = %(epoch)s,
                   expires_at = now() + make_interval(secs => %(seconds)s)
             WHERE cluster = %(cluster)s AND namespace = ANY(%(namespaces)s)
            """,
            {
                "holder": holder,
                "epoch": epoch,
                "seconds": seconds,
                "cluster": cluster,
                "namespaces": list(namespaces),
            },
        )
    return Fence(cluster, tuple(namespaces), holder, epoch)


async def release(database: Database, fence: Fence) -> None:
    """Give the lease up, so that the next operator need not wait for it to expire."""
    async with database.unfenced() as connection:
        await connection.execute(
            """
            UPDATE work.leases SET expires_at = '-infinity'
             WHERE cluster = %(cluster)s AND holder = %(holder)s AND epoch = %(epoch)s
            """,
            {"cluster": fence.cluster, "holder": fence.holder, "epoch": fence.epoch},
        )


async def remember_cache(database: Database, fence: Fence) -> None:
    """Record that the worker's mark was seen in the cache root."""
    # Behind the fence, two planners would each hold the row and wait for the other to let it go.
    async with database.unfenced() as connection:
        await connection.execute(
            "UPDATE work.leases SET cache_seen = true"
            " WHERE cluster = %(cluster)s AND NOT cache_seen",
            {"cluster": fence.cluster},
        )


async def cache_was_seen(database: Database, cluster: str) -> bool:
    """Tell whether the worker's mark was ever seen in the cache root."""
    async with database.read() as connection:
        cursor = await connection.execute(
            "SELECT coalesce(bool_or(cache_seen), false) AS seen FROM work.leases"
            " WHERE cluster = %(cluster)s",
            {"cluster": cluster},
        )
        row = await cursor.fetchone()
    return bool(row and row["seen"])
