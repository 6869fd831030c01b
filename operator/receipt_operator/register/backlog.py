"""How normal reading stands for the sources that discovery found."""

from collections.abc import Sequence

from receipt_operator.backlog import Standing
from receipt_operator.register.reading import Reader


def standings(connection: Reader, shas: Sequence[str]) -> dict[str, Standing]:
    """Of these sources, those that were read or tried; a new one is absent."""
    cursor = connection.execute(
        """
        SELECT source_sha256, status, attempts, completed_at
          FROM ingest.receipt_processing_status WHERE source_sha256 = ANY(%(shas)s)
        """,
        {"shas": list(shas)},
    )
    return {
        row["source_sha256"]: Standing(row["status"], row["attempts"], row["completed_at"])
        for row in cursor
    }
