"""Event ids that were settled, and how: what makes a repeated event free."""

from receipt_collector.gate import InboxOutcome
from receipt_collector.store.database import Connection
from receipt_contract.results import ResultEvent


def knows(connection: Connection, event_id: str) -> bool:
    """Tell whether this event was settled before."""
    row = connection.execute(
        "SELECT 1 FROM work.inbox WHERE event_id = %(event_id)s", {"event_id": event_id}
    ).fetchone()
    return row is not None


def knows_run(connection: Connection, run_uuid: str) -> bool:
    """Tell whether any event of this run was settled before."""
    row = connection.execute(
        "SELECT 1 FROM work.inbox WHERE run_uuid = %(run_uuid)s LIMIT 1", {"run_uuid": run_uuid}
    ).fetchone()
    return row is not None


def add(connection: Connection, event: ResultEvent, outcome: InboxOutcome) -> bool:
    """Keep the event id; False when it was there, and then its first outcome stays."""
    row = connection.execute(
        """
        INSERT INTO work.inbox (event_id, event_type, run_uuid, outcome)
        VALUES (%(event_id)s, %(event_type)s, %(run_uuid)s, %(outcome)s)
        ON CONFLICT (event_id) DO NOTHING
        RETURNING event_id
        """,
        {
            "event_id": event.message_id,
            "event_type": event.event_type,
            "run_uuid": event.run_uuid,
            "outcome": outcome,
        },
    ).fetchone()
    return row is not None
