"""Which requests may send now, read often and locked for each send."""

from collections.abc import Sequence
from typing import NamedTuple

from receipt_operator.register.database import Connection, Database
from receipt_operator.register.rows import Request, request_of
from receipt_operator.register.tallies import WITH_COUNTS

_SENDS = (
    "r.state = 'open' AND NOT r.suspended AND NOT r.parked AND r.ending IS NULL"
    " AND NOT r.wish ? 'dryRun'"
)
_MAY_SEND = f"r.cluster = %(cluster)s AND r.namespace = ANY(%(namespaces)s) AND {_SENDS}"


class Offer(NamedTuple):
    """Requests that may send now, and what of the window others hold."""

    requests: Sequence[Request]
    in_flight_elsewhere: int
    is_whole: bool  # whether nothing was left out, so that lost work can be looked for


async def everything(database: Database, *, cluster: str, namespaces: Sequence[str]) -> Offer:
    """Read every request that may send, with counts of its items."""
    async with database.read() as connection:
        found = await _publishable(connection, "", cluster, namespaces)
    return Offer(found, in_flight_elsewhere=0, is_whole=True)


async def unsent(database: Database, *, cluster: str, namespaces: Sequence[str]) -> Offer:
    """Read those that have something to send: few, however many only wait for their answers."""
    async with database.read() as connection:
        found = await _publishable(
            connection, "AND c.live_planned + c.live_publishing > 0", cluster, namespaces
        )
        in_flight = await _in_flight(connection, cluster, namespaces) if found else 0
    mine = sum(request.counts.in_flight for request in found)
    return Offer(found, in_flight_elsewhere=max(in_flight - mine, 0), is_whole=False)


async def _publishable(
    connection: Connection, only: str, cluster: str, namespaces: Sequence[str]
) -> list[Request]:
    cursor = await connection.execute(
        f"{WITH_COUNTS} WHERE {_MAY_SEND} {only}",
        {"cluster": cluster, "namespaces": list(namespaces)},
    )
    return [request_of(row) for row in await cursor.fetchall()]


async def _in_flight(connection: Connection, cluster: str, namespaces: Sequence[str]) -> int:
    cursor = await connection.execute(
        f"""
        SELECT coalesce(sum(t.publishing + t.published), 0) AS n
          FROM work.requests r JOIN work.tallies t USING (request_id)
         WHERE {_MAY_SEND}
        """,  # noqa: S608 - a constant of ours
        {"cluster": cluster, "namespaces": list(namespaces)},
    )
    [row] = await cursor.fetchall()
    return int(row["n"])


async def lock_publishable(connection: Connection, request_ids: Sequence[str]) -> set[str]:
    """Lock those requests that may send now against being finished, parked or suspended.

    Also records when the first message was about to be sent.
    """
    cursor = await connection.execute(
        f"""
        SELECT request_id::text FROM work.requests r
         WHERE request_id = ANY(%(ids)s::uuid[]) AND {_SENDS}
         ORDER BY request_id
           FOR SHARE
        """,  # noqa: S608 - a constant of ours
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
