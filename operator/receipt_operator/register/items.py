"""Statements on `work.items`: plan, send, confirm, end.

Every statement names the states it moves from, so that repeating it changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from receipt_contract.errors import Reason
from receipt_operator.register.database import Connection, Database
from receipt_operator.register.rows import Counts, ItemState, Sending


class End(NamedTuple):
    """An item that the operator ends without a worker."""

    reference: str
    state: ItemState
    reason: Reason


async def add(connection: Connection, request_id: str, references: Sequence[str]) -> bool:
    """Write a chunk of the plan and move its cursor behind the last reference.

    Both commit together, so a plan that is cut off goes on behind its cursor. False when the
    request stopped meanwhile: what it means is counted, and nothing may come on top.
    """
    cursor = await connection.execute(
        """
        UPDATE work.requests SET plan_cursor = %(last)s
         WHERE request_id = %(request_id)s AND state = 'planning' AND ending IS NULL
        """,
        {"request_id": request_id, "last": references[-1]},
    )
    if not cursor.rowcount:
        return False
    await _copy(connection, [(request_id, reference) for reference in references])
    return True


async def add_whole(connection: Connection, named: Mapping[str, Sequence[str]]) -> None:
    """Write whole plans, each with its references in order, and accept their requests.

    A plan that has begun, or whose request stopped or waits meanwhile, is left as it is.
    """
    cursor = await connection.execute(
        """
        UPDATE work.requests r
           SET state = 'open', plan_cursor = p.last, total = p.total, accepted_at = now()
          FROM unnest(%(ids)s::uuid[], %(lasts)s::text[], %(totals)s::int[])
            AS p (request_id, last, total)
         WHERE r.request_id = p.request_id AND r.state = 'planning' AND r.ending IS NULL
           AND r.plan_cursor IS NULL AND NOT r.awaiting_approval
        RETURNING r.request_id::text
        """,
        {
            "ids": list(named),
            "lasts": [references[-1] for references in named.values()],
            "totals": [len(references) for references in named.values()],
        },
    )
    accepted = [row["request_id"] for row in await cursor.fetchall()]
    await _copy(connection, [(one, reference) for one in accepted for reference in named[one]])


async def count(connection: Connection, request_id: str) -> Counts:
    """Count a request's items by state."""
    cursor = await connection.execute(
        """
        SELECT state, count(*) AS items, count(*) FILTER (WHERE publications > 0) AS confirmed,
               sum(publications) AS publications
          FROM work.items WHERE request_id = %(request_id)s GROUP BY state
        """,
        {"request_id": request_id},
    )
    rows = await cursor.fetchall()
    return Counts(
        **{row["state"]: row["items"] for row in rows},
        confirmed=sum(row["confirmed"] for row in rows),
        publications=sum(row["publications"] for row in rows),
    )


async def planned(database: Database, slots: Mapping[str, int]) -> dict[str, list[str]]:
    """Read references that wait to be sent: so many of each request.

    In the order of the index, which is that of the plan: to sort all that wait, or to pass over
    all that ended, would take longer the larger the request is.
    """
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT w.request_id::text, i.reference
              FROM unnest(%(ids)s::uuid[], %(limits)s::int[]) AS w (request_id, slots)
             CROSS JOIN LATERAL (
                SELECT reference FROM work.items
                 WHERE request_id = w.request_id AND state = 'planned'
                 ORDER BY published_at LIMIT w.slots) i
            """,
            {"ids": list(slots), "limits": list(slots.values())},
        )
        found: dict[str, list[str]] = {request_id: [] for request_id in slots}
        for row in await cursor.fetchall():
            found[row["request_id"]].append(row["reference"])
    return found


async def uncertain(database: Database, request_ids: Sequence[str], limit: int) -> list[Sending]:
    """Read items whose send was never confirmed: after a crash, a cut or a lost confirm."""
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT request_id::text, reference, source_sha256 FROM work.items
             WHERE request_id = ANY(%(ids)s::uuid[]) AND state = 'publishing'
             ORDER BY published_at LIMIT %(limit)s
            """,
            {"ids": list(request_ids), "limit": limit},
        )
        return [Sending(*row.values()) for row in await cursor.fetchall()]


async def mark_publishing(connection: Connection, sendings: Sequence[Sending]) -> list[Sending]:
    """Write hash and time before the send, the first one or a repeated one.

    Returns those that are still to be sent: the others were ended meanwhile.
    """
    cursor = await connection.execute(
        """
        UPDATE work.items i
           SET state = 'publishing', source_sha256 = s.sha, published_at = now()
          FROM unnest(%(ids)s::uuid[], %(references)s::text[], %(shas)s::text[])
            AS s (request_id, reference, sha)
         WHERE i.request_id = s.request_id AND i.reference = s.reference
           AND i.state IN ('planned', 'publishing', 'published')
        RETURNING i.request_id::text, i.reference, i.source_sha256
        """,
        _columns(sendings),
    )
    return [Sending(*row.values()) for row in await cursor.fetchall()]


async def mark_published(connection: Connection, sendings: Sequence[Sending]) -> None:
    """Record confirms; an item that a result ended meanwhile stays ended."""
    await connection.execute(
        """
        UPDATE work.items i SET state = 'published', publications = publications + 1
          FROM unnest(%(ids)s::uuid[], %(references)s::text[]) AS s (request_id, reference)
         WHERE i.request_id = s.request_id AND i.reference = s.reference
           AND i.state = 'publishing'
        """,
        _columns(sendings),
    )


async def mark_unsent(connection: Connection, sendings: Sequence[Sending]) -> None:
    """Take back sends that the broker surely does not hold."""
    await connection.execute(
        """
        UPDATE work.items i SET state = 'planned'
          FROM unnest(%(ids)s::uuid[], %(references)s::text[]) AS s (request_id, reference)
         WHERE i.request_id = s.request_id AND i.reference = s.reference
           AND i.state = 'publishing'
        """,
        _columns(sendings),
    )


async def end(connection: Connection, request_id: str, ends: Sequence[End]) -> None:
    """End items that are never sent, while their request is unfinished.

    The request row is locked first, as by everything that ends an item, so that a finish and
    this cannot both count it.
    """
    cursor = await connection.execute(
        """
        SELECT 1 FROM work.requests
         WHERE request_id = %(request_id)s AND state <> 'finished' FOR SHARE
        """,
        {"request_id": request_id},
    )
    if await cursor.fetchone() is None:
        return
    await connection.execute(
        """
        UPDATE work.items i
           SET state = e.state, reason = e.reason, ended_at = now(), ended_by = 'operator'
          FROM unnest(%(references)s::text[], %(states)s::text[], %(reasons)s::text[])
            AS e (reference, state, reason)
         WHERE i.request_id = %(request_id)s AND i.reference = e.reference
           AND i.state IN ('planned', 'publishing', 'published')
        """,
        {
            "request_id": request_id,
            "references": [one.reference for one in ends],
            "states": [one.state.value for one in ends],
            "reasons": [one.reason.value for one in ends],
        },
    )


async def end_remaining(
    connection: Connection, request_id: str, reasons: Mapping[ItemState, Reason]
) -> None:
    """End whatever is not through as failed; the caller holds the request row."""
    await connection.execute(
        """
        UPDATE work.items
           SET state = 'failed', ended_at = now(), ended_by = 'operator',
               reason = CASE WHEN state = 'planned' THEN %(planned)s ELSE %(in_flight)s END
         WHERE request_id = %(request_id)s AND state IN ('planned', 'publishing', 'published')
        """,
        {
            "request_id": request_id,
            "planned": reasons[ItemState.PLANNED],
            "in_flight": reasons[ItemState.PUBLISHED],
        },
    )


async def skip_remaining(connection: Connection, request_id: str, reason: Reason) -> None:
    """Skip every item that still waits for its first send; the caller holds the request row."""
    await connection.execute(
        """
        UPDATE work.items SET state = 'skipped', reason = %(reason)s, ended_at = now(),
               ended_by = 'operator'
         WHERE request_id = %(request_id)s AND state = 'planned'
        """,
        {"request_id": request_id, "reason": reason},
    )


async def failures_by_reason(connection: Connection, request_id: str) -> dict[Reason, int]:
    """Count failed items by reason class, most first."""
    cursor = await connection.execute(
        """
        SELECT reason, count(*) AS items FROM work.items
         WHERE request_id = %(request_id)s AND state = 'failed'
         GROUP BY reason ORDER BY items DESC, reason
        """,
        {"request_id": request_id},
    )
    return {Reason.read(row["reason"]): row["items"] for row in await cursor.fetchall()}


async def failure_samples(
    connection: Connection, request_id: str, limit: int
) -> list[tuple[str, Reason]]:
    """Read the first failed items as (reference, reason)."""
    cursor = await connection.execute(
        """
        SELECT reference, reason FROM work.items
         WHERE request_id = %(request_id)s AND state = 'failed'
         ORDER BY ended_at, reference LIMIT %(limit)s
        """,
        {"request_id": request_id, "limit": limit},
    )
    return [(row["reference"], Reason.read(row["reason"])) for row in await cursor.fetchall()]


async def with_extraction(database: Database, shas: Sequence[str]) -> set[str]:
    """Of these sources, those whose extraction is saved."""
    async with database.read() as connection:
        cursor = await connection.execute(
            "SELECT source_sha256 FROM budget.receipt_evidence WHERE source_sha256 = ANY(%(shas)s)",
            {"shas": list(shas)},
        )
        return {row["source_sha256"] for row in await cursor.fetchall()}


async def _copy(connection: Connection, planned: Sequence[tuple[str, str]]) -> None:
    async with (
        connection.cursor() as writer,
        writer.copy("COPY work.items (request_id, reference, state) FROM STDIN") as copy,
    ):
        for request_id, reference in planned:
            await copy.write_row((request_id, reference, ItemState.PLANNED))


def _columns(sendings: Sequence[Sending]) -> dict[str, list[str]]:
    return {
        "ids": [sending.request_id for sending in sendings],
        "references": [sending.reference for sending in sendings],
        "shas": [sending.sha256 for sending in sendings],
    }
