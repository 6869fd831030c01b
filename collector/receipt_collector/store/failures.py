"""Failure rows: what ended in a dead queue, for people and for replays."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from receipt_collector.store.database import Connection
from receipt_contract.errors import Reason


class FailureRow(NamedTuple):
    """A failure as stored; what an unreadable body does not tell is None."""

    failure_id: UUID
    side: str
    reason: Reason
    body_sha256: str
    body_bytes: int
    body: bytes | None = None
    message_type: str | None = None
    message_id: str | None = None
    source_reference: str | None = None
    source_sha256: str | None = None
    request_id: str | None = None
    run_uuid: str | None = None
    pass_id: int | None = None
    attempts: int | None = None


def upsert(connection: Connection, row: FailureRow) -> None:
    """Store a failure; the same message failing again renews its row."""
    connection.execute(
        """
        INSERT INTO budget.receipt_failures (
          failure_id, side, message_type, message_id, source_reference, source_sha256, request_id,
          run_uuid, pass_id, attempts, reason, sentence, body, body_sha256, body_bytes
        ) VALUES (
          %(failure_id)s, %(side)s, %(message_type)s, %(message_id)s, %(source_reference)s,
          %(source_sha256)s, %(request_id)s, %(run_uuid)s, %(pass_id)s, %(attempts)s, %(reason)s,
          %(sentence)s, %(body)s, %(body_sha256)s, %(body_bytes)s
        )
        ON CONFLICT (failure_id) DO UPDATE SET
          attempts = EXCLUDED.attempts,
          reason = EXCLUDED.reason,
          sentence = EXCLUDED.sentence,
          body = EXCLUDED.body,
          body_sha256 = EXCLUDED.body_sha256,
          body_bytes = EXCLUDED.body_bytes,
          last_failed_at = now()
        """,
        {**row._asdict(), "sentence": row.reason.sentence},
    )


class DeadLetter(NamedTuple):
    """What a replay needs to know of a failure; `kind` is that of its request, where registered."""

    failure_id: UUID
    side: str
    body: bytes | None
    source_sha256: str | None
    source_reference: str | None
    request_id: str | None
    kind: str | None
    pass_id: int | None
    last_failed_at: datetime


class Choice(NamedTuple):
    """Which failures are meant: these ids, or all; of them those with a reason, and old ones."""

    failure_ids: Sequence[UUID] | None = None
    reason: Reason | None = None
    older_than: timedelta = timedelta()


def page(
    connection: Connection, choice: Choice, *, after: UUID | None, limit: int
) -> list[DeadLetter]:
    """Read failures in the order of their ids, those behind `after`."""
    rows = connection.execute(
        """
        SELECT failure.failure_id, failure.side, failure.body, failure.source_sha256,
               failure.source_reference, failure.request_id::text, request.kind, failure.pass_id,
               failure.last_failed_at
        FROM budget.receipt_failures AS failure
        LEFT JOIN work.requests AS request USING (request_id)
        WHERE (%(failure_ids)s::uuid[] IS NULL OR failure.failure_id = ANY(%(failure_ids)s))
          AND (%(reason)s::text IS NULL OR failure.reason = %(reason)s)
          AND failure.last_failed_at <= now() - %(older_than)s
          AND (%(after)s::uuid IS NULL OR failure.failure_id > %(after)s)
        ORDER BY failure.failure_id
        LIMIT %(limit)s
        """,
        {**_parameters(choice), "after": after, "limit": limit},
    ).fetchall()
    return [DeadLetter(*row) for row in rows]


def remove(connection: Connection, letters: Sequence[DeadLetter]) -> int:
    """Remove failures as they were read; one that has failed again since then stays."""
    return connection.execute(
        """
        DELETE FROM budget.receipt_failures AS kept
        USING unnest(%(ids)s::uuid[], %(times)s::timestamptz[]) AS read (failure_id, last_failed_at)
        WHERE kept.failure_id = read.failure_id AND kept.last_failed_at = read.last_failed_at
        """,
        {
            "ids": [letter.failure_id for letter in letters],
            "times": [letter.last_failed_at for letter in letters],
        },
    ).rowcount


def purge(connection: Connection, choice: Choice, *, limit: int) -> int:
    """Remove at most `limit` failures; returns how many."""
    return connection.execute(
        """
        DELETE FROM budget.receipt_failures WHERE failure_id IN (
          SELECT failure_id FROM budget.receipt_failures
          WHERE (%(failure_ids)s::uuid[] IS NULL OR failure_id = ANY(%(failure_ids)s))
            AND (%(reason)s::text IS NULL OR reason = %(reason)s)
            AND last_failed_at <= now() - %(older_than)s
          LIMIT %(limit)s
        )
        """,
        {**_parameters(choice), "limit": limit},
    ).rowcount


def _parameters(choice: Choice) -> dict[str, object]:
    ids = None if choice.failure_ids is None else list(choice.failure_ids)
    return {**choice._asdict(), "failure_ids": ids}
