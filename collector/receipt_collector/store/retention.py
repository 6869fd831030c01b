"""Rows whose time is over, removed a step at a time; and what rows still name of the cache.

Requests stay for ever: by them a re-applied object finds its first result.
"""

from collections.abc import Sequence
from datetime import timedelta

from receipt_collector.store.database import Connection


def remove_items(connection: Connection, *, finished_before: timedelta, limit: int) -> int:
    """Remove items of requests that finished so long ago; returns how many."""
    return connection.execute(
        """
        DELETE FROM work.items WHERE (request_id, reference) IN (
          SELECT item.request_id, item.reference
          FROM work.requests AS request JOIN work.items AS item USING (request_id)
          WHERE request.state = 'finished' AND request.finished_at < now() - %(age)s
          LIMIT %(limit)s
        )
        """,
        {"age": finished_before, "limit": limit},
    ).rowcount


def remove_inbox(connection: Connection, *, recorded_before: timedelta, limit: int) -> int:
    """Remove ids of events that were settled so long ago; returns how many."""
    return connection.execute(
        """
        DELETE FROM work.inbox WHERE event_id IN (
          SELECT event_id FROM work.inbox WHERE recorded_at < now() - %(age)s LIMIT %(limit)s
        )
        """,
        {"age": recorded_before, "limit": limit},
    ).rowcount


def named_artifacts(connection: Connection, hashes: Sequence[str]) -> set[str]:
    """Return those of the hashes that a run names."""
    rows = connection.execute(
        "SELECT sha256 FROM budget.receipt_ocr_artifacts WHERE sha256 = ANY(%(hashes)s)",
        {"hashes": list(hashes)},
    ).fetchall()
    return {row[0] for row in rows}


def knows_artifacts(connection: Connection) -> bool:
    """Tell whether any artifact is named: none is where a database is new, or lost."""
    return (
        connection.execute("SELECT 1 FROM budget.receipt_ocr_artifacts LIMIT 1").fetchone()
        is not None
    )
