"""The operator's own queue of object keys: each key once, failures back off with jitter.

kopf only logs what an event handler raises; here a key stays until its reconciliation succeeded.
"""

import asyncio
from collections.abc import Iterable

from receipt_operator.register.rows import ObjectKey
from receipt_runtime import backoff

LONGEST_DELAY_SECONDS = 60.0
STALL_AFTER_FAILURES = 5


class WorkQueue:
    """Keys waiting for reconciliation. One reader."""

    def __init__(self) -> None:
        """Start empty."""
        self._waiting: dict[ObjectKey, None] = {}
        self._failures: dict[ObjectKey, int] = {}
        self._some = asyncio.Event()

    def __len__(self) -> int:
        """How many keys wait."""
        return len(self._waiting)

    def add(self, keys: Iterable[ObjectKey]) -> None:
        """Queue keys; one that waits already is not queued twice."""
        self._waiting.update(dict.fromkeys(keys))
        if self._waiting:
            self._some.set()

    async def take(self, limit: int) -> list[ObjectKey]:
        """Wait for keys and take up to `limit` of them, oldest first."""
        await self._some.wait()
        taken = list(self._waiting)[:limit]
        for key in taken:
            del self._waiting[key]
        if not self._waiting:
            self._some.clear()
        return taken

    def succeeded(self, key: ObjectKey) -> None:
        """Forget a key's failures."""
        self._failures.pop(key, None)

    def failed(self, key: ObjectKey) -> None:
        """Queue a key again after a delay that doubles with each failure in a row."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = backoff.pause(failures, longest=LONGEST_DELAY_SECONDS)
        asyncio.get_running_loop().call_later(delay, self.add, [key])

    def stuck(self, key: ObjectKey) -> bool:
        """Whether the same key failed so often in a row that people should know."""
        return self._failures.get(key, 0) >= STALL_AFTER_FAILURES
