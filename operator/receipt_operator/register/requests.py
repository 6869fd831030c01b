"""Statements on `work.requests`: claim, adopt, follow, park, end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from receipt_contract.identity import RequestName
from receipt_contract.status import ConditionReason
from receipt_operator.register.database import Connection, Database
from receipt_operator.register.rows import Counts, Ending, Knobs, ObjectKey, Request, request_of
from receipt_operator.register.tallies import WITH_COUNTS

# `suspended` mirrors knobs.stopped as a column of its own, because the active clock follows it.
_STOP_CLOCK = """
    active_seconds = active_seconds
        + coalesce(extract(epoch FROM now() - active_since)::float8, 0),
    active_since = NULL
"""


class UnknownRunError(Exception):
    """The register does not know, or not any more, what failed under a runId."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A request about to be written down for the first time."""

    request_id: str
    named: RequestName
    object_uid: str
    wish: Mapping[str, Any]
    knobs: Knobs
    awaiting_approval: bool = False


@dataclass(frozen=True)
class Frozen:
    """How a request ended: what is frozen with it."""

    result: ConditionReason
    total: int
    counts: Counts
    summary: Mapping[str, Any]
    accepted_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None  # None is now
    active_seconds: float = 0.0


async def of_objects(
    database: Database, *, cluster: str, keys: Sequence[ObjectKey], request_ids: Sequence[str]
) -> list[Request]:
    """Read the unfinished requests of these objects, and these requests whatever their state."""
    async with database.read() as connection:
        cursor = await connection.execute(
            f"""
            WITH wanted AS (
                SELECT r.request_id FROM work.requests r
                  JOIN unnest(%(kinds)s::text[], %(namespaces)s::text[], %(names)s::text[])
                    AS o (kind, namespace, name) USING (kind, namespace, name)
                 WHERE r.cluster = %(cluster)s AND r.state <> 'finished'
                UNION SELECT unnest(%(ids)s::uuid[]))
            {WITH_COUNTS} WHERE r.request_id IN (SELECT request_id FROM wanted)
            """,  # noqa: S608 - a constant of ours
            {"cluster": cluster, "ids": list(request_ids), **_columns(keys)},
        )
        return [request_of(row) for row in await cursor.fetchall()]


async def one(database: Database, request_id: str) -> Request | None:
    """Read one request with its live counts."""
    async with database.read() as connection:
        cursor = await connection.execute(
            f"{WITH_COUNTS} WHERE r.request_id = %(request_id)s", {"request_id": request_id}
        )
        row = await cursor.fetchone()
    return request_of(row) if row else None


async def active(
    database: Database, *, cluster: str, namespaces: Sequence[str]
) -> tuple[list[Request], datetime]:
    """Read every unfinished request with its live counts, and the database's time."""
    async with database.read() as connection:
        clock = await (await connection.execute("SELECT now() AS now")).fetchone()
        cursor = await connection.execute(
            f"""
            {WITH_COUNTS}
             WHERE r.cluster = %(cluster)s AND r.namespace = ANY(%(namespaces)s)
               AND r.state <> 'finished'
            """,
            {"cluster": cluster, "namespaces": list(namespaces)},
        )
        rows = await cursor.fetchall()
    assert clock is not None  # noqa: S101 - SELECT now() has one row
    return [request_of(row) for row in rows], clock["now"]


async def histories(
    database: Database, *, cluster: str, keys: Sequence[ObjectKey], limit: int
) -> dict[ObjectKey, list[Request]]:
    """Read the latest finished requests of objects, newest first."""
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT r.* FROM unnest(%(kinds)s::text[], %(namespaces)s::text[], %(names)s::text[])
                AS o (kind, namespace, name)
             CROSS JOIN LATERAL (
                SELECT * FROM work.requests
                 WHERE cluster = %(cluster)s AND kind = o.kind AND namespace = o.namespace
                   AND name = o.name AND state = 'finished'
                 ORDER BY finished_at DESC LIMIT %(limit)s) r
            """,
            {"cluster": cluster, "limit": limit, **_columns(keys)},
        )
        found: dict[ObjectKey, list[Request]] = {key: [] for key in keys}
        for row in await cursor.fetchall():
            request = request_of(row)
            found[request.key].append(request)
    return found


async def failed_of(database: Database, current: Request, run_id: str) -> list[str] | None:
    """Read what failed under an earlier runId of the same object and was not done since.

    None while a request of that runId is unfinished. Raises UnknownRunError when there was none,
    or when its items are no longer kept.
    """
    object_of = {
        "cluster": current.cluster,
        "kind": current.key.kind.value,
        "namespace": current.key.namespace,
        "name": current.key.name,
        "run_id": run_id,
    }
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT request_id, state, failed, EXISTS (
                     SELECT 1 FROM work.items i WHERE i.request_id = r.request_id) AS kept
              FROM work.requests r
             WHERE cluster = %(cluster)s AND kind = %(kind)s AND namespace = %(namespace)s
               AND name = %(name)s AND run_id = %(run_id)s
            """,
            object_of,
        )
        rows = await cursor.fetchall()
        if any(row["state"] != "finished" for row in rows):
            return None
        if not rows or any(row["failed"] and not row["kept"] for row in rows):
            raise UnknownRunError
        cursor = await connection.execute(
            """
            SELECT DISTINCT i.reference FROM work.items i
             WHERE i.request_id = ANY(%(ids)s) AND i.state = 'failed' AND NOT i.late
               AND NOT EXISTS (
                   SELECT 1 FROM work.items later JOIN work.requests r USING (request_id)
                    WHERE r.cluster = %(cluster)s AND r.kind = %(kind)s
                      AND r.namespace = %(namespace)s AND r.name = %(name)s
                      AND later.reference = i.reference AND later.state = 'done'
                      AND later.ended_at > i.ended_at)
            """,
            {**object_of, "ids": [row["request_id"] for row in rows]},
        )
        return sorted(row["reference"] for row in await cursor.fetchall())


async def claim(connection: Connection, claims: Sequence[Claim]) -> None:
    """Write requests down; a second claim of the same request changes nothing."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            """
            INSERT INTO work.requests (request_id, cluster, namespace, kind, name, run_id,
                                       object_uid, wish, state, knobs, suspended,
                                       awaiting_approval, active_since)
            VALUES (%(request_id)s, %(cluster)s, %(namespace)s, %(kind)s, %(name)s, %(run_id)s,
                    %(object_uid)s, %(wish)s, 'planning', %(knobs)s, %(stopped)s, %(awaiting)s,
                    CASE WHEN %(stopped)s OR %(awaiting)s THEN NULL ELSE now() END)
            ON CONFLICT (request_id) DO NOTHING
            """,
            [
                _identity(one) | {"stopped": one.knobs.stopped, "awaiting": one.awaiting_approval}
                for one in claims
            ],
        )


async def adopt(connection: Connection, claim: Claim, frozen: Frozen) -> None:
    """Write a request down as finished: one that was refused, or one the register had lost."""
    await connection.execute(
        """
        INSERT INTO work.requests (request_id, cluster, namespace, kind, name, run_id, object_uid,
                                   wish, state, knobs, total, accepted_at, started_at,
                                   finished_at, active_seconds, result, done, failed, skipped,
                                   summary)
        VALUES (%(request_id)s, %(cluster)s, %(namespace)s, %(kind)s, %(name)s, %(run_id)s,
                %(object_uid)s, %(wish)s, 'finished', %(knobs)s, %(total)s, %(accepted_at)s,
                %(started_at)s, coalesce(%(finished_at)s, now()), %(active_seconds)s, %(result)s,
                %(done)s, %(failed)s, %(skipped)s, %(summary)s)
        ON CONFLICT (request_id) DO NOTHING
        """,
        _identity(claim)
        | _frozen(frozen)
        | {
            "accepted_at": frozen.accepted_at,
            "started_at": frozen.started_at,
            "finished_at": frozen.finished_at,
            "active_seconds": frozen.active_seconds,
        },
    )


async def follow(connection: Connection, request_id: str, knobs: Knobs) -> None:
    """Take over the mutable fields; suspending stops the active clock, resuming starts it."""
    await connection.execute(
        f"""
        UPDATE work.requests SET knobs = %(knobs)s, suspended = true, {_STOP_CLOCK}
         WHERE request_id = %(request_id)s AND state <> 'finished'
        """  # noqa: S608 - a constant of this file
        if knobs.stopped
        else """
        UPDATE work.requests SET knobs = %(knobs)s, suspended = false,
               active_since = CASE WHEN parked OR awaiting_approval THEN NULL
                                   ELSE coalesce(active_since, now()) END
         WHERE request_id = %(request_id)s AND state <> 'finished'
        """,
        {"request_id": request_id, "knobs": Jsonb(knobs.document())},
    )


async def park(connection: Connection, request_ids: Sequence[str]) -> None:
    """Stop publishing for requests that no object asks for now; their clocks stop."""
    await connection.execute(
        f"""
        UPDATE work.requests SET parked = true, {_STOP_CLOCK}
         WHERE request_id = ANY(%(ids)s::uuid[]) AND state <> 'finished' AND NOT parked
        """,  # noqa: S608 - a constant of this file
        {"ids": list(request_ids)},
    )


async def unpark(connection: Connection, request_ids: Sequence[str]) -> None:
    """Go on with requests that are asked for again."""
    await connection.execute(
        """
        UPDATE work.requests SET parked = false,
               active_since = CASE WHEN suspended OR awaiting_approval THEN NULL ELSE now() END
         WHERE request_id = ANY(%(ids)s::uuid[]) AND state <> 'finished' AND parked
        """,
        {"ids": list(request_ids)},
    )


async def drop_plan(connection: Connection, request_id: str) -> None:
    """Forget the items of a plan that is refused; none of them was ever sent."""
    await connection.execute(
        "DELETE FROM work.items WHERE request_id = %(request_id)s AND state = 'planned'",
        {"request_id": request_id},
    )


async def accept(connection: Connection, request_id: str, total: int) -> None:
    """Mark the plan as whole: from here on every item will come to an end."""
    await connection.execute(
        """
        UPDATE work.requests SET state = 'open', total = %(total)s, accepted_at = now()
         WHERE request_id = %(request_id)s AND state = 'planning'
        """,
        {"request_id": request_id, "total": total},
    )


async def begin_ending(connection: Connection, request_id: str, ending: Ending) -> None:
    """Latch why the request stops early; the first reason stands."""
    await connection.execute(
        """
        UPDATE work.requests SET ending = %(ending)s, ending_since = now()
         WHERE request_id = %(request_id)s AND state <> 'finished' AND ending IS NULL
        """,
        {"request_id": request_id, "ending": ending},
    )


async def lock_unfinished(connection: Connection, request_id: str) -> Request | None:
    """Lock a request against whatever ends its items; None when it is finished already."""
    cursor = await connection.execute(
        """
        SELECT * FROM work.requests
         WHERE request_id = %(request_id)s AND state <> 'finished' FOR UPDATE
        """,
        {"request_id": request_id},
    )
    row = await cursor.fetchone()
    return request_of(row) if row else None


async def freeze(connection: Connection, request_id: str, frozen: Frozen) -> None:
    """Write the result for good."""
    await connection.execute(
        f"""
        UPDATE work.requests
           SET state = 'finished', finished_at = now(), result = %(result)s, total = %(total)s,
               done = %(done)s, failed = %(failed)s, skipped = %(skipped)s,
               summary = %(summary)s, {_STOP_CLOCK}
         WHERE request_id = %(request_id)s AND state <> 'finished'
        """,  # noqa: S608 - a constant of this file
        _frozen(frozen) | {"request_id": request_id},
    )


def _columns(keys: Sequence[ObjectKey]) -> dict[str, list[str]]:
    return {
        "kinds": [key.kind.value for key in keys],
        "namespaces": [key.namespace for key in keys],
        "names": [key.name for key in keys],
    }


def _identity(claim: Claim) -> dict[str, Any]:
    return {
        "request_id": claim.request_id,
        **claim.named._asdict(),
        "object_uid": claim.object_uid,
        "wish": Jsonb(claim.wish),
        "knobs": Jsonb(claim.knobs.document()),
    }


def _frozen(frozen: Frozen) -> dict[str, Any]:
    return {
        "result": frozen.result,
        "total": frozen.total,
        "done": frozen.counts.done,
        "failed": frozen.counts.failed,
        "skipped": frozen.counts.skipped,
        "summary": Jsonb(frozen.summary),
    }
