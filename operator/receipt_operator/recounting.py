"""Keeps the counts of unfinished requests true and quick to sum."""

import time
from collections.abc import Sequence

from receipt_operator.register import tallies
from receipt_operator.register.database import Database

WORN_EVERY_SECONDS = 10.0
AT_ONCE = 100  # requests counted in one transaction


class Recounting:
    """Counts every request anew once it starts, and later those whose counts have worn."""

    def __init__(self, database: Database) -> None:
        """Count nothing yet."""
        self._database = database
        self._has_begun = False
        self._due = 0.0

    async def keep(self, request_ids: Sequence[str]) -> bool:
        """Count anew what has to be; tell whether anything was."""
        if time.monotonic() < self._due:
            return False
        stale = await tallies.worn(self._database, request_ids) if self._has_begun else request_ids
        for start in range(0, len(stale), AT_ONCE):
            async with self._database.write() as connection:
                await tallies.recount(connection, stale[start : start + AT_ONCE])
        self._has_begun = True
        self._due = time.monotonic() + WORN_EVERY_SECONDS
        return bool(stale)
