"""Failure rows: what ended in a dead queue, for people and for replays."""

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
