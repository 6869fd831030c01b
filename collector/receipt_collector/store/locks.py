"""Advisory locks of a transaction. Order: the source first, then matching.

A lock is a statement of its own: what is read in the statement that takes it may be older than
the lock.
"""

from receipt_collector.store.database import Connection
from receipt_contract.identity import source_lock_key

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 0))"
_MATCHING_KEY = "receipt-matching"


def source(connection: Connection, sha256: str) -> None:
    """Let events of one source wait for each other."""
    connection.execute(_LOCK, {"key": source_lock_key(sha256)})


def matching(connection: Connection) -> None:
    """Let searches for a matching expense wait for each other, whatever their sources."""
    connection.execute(_LOCK, {"key": _MATCHING_KEY})
