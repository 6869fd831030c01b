"""The operator's own queue of object keys: each key once, failures back off with jitter.

kopf only logs what an event handler raises; here a key stays until its reconciliation succeeded.
"""

import asyncio
from collections.abc import Iterable
from itertools import islice

from receipt_operator.register.rows import ObjectKey
from receipt_runtime import backoff

LONGEST_DELAY_SECONDS = 60.0
POSTPONED_SECONDS = 5.0
STALL_AFTER_FAILURES = 5


class WorkQueue:
    """Keys waiting for reconciliation. One reader."""

    def __init__(self, *, longest_delay: float = LONGEST_DELAY_SECONDS) -> None:
        """Start empty; `longest_delay` is in seconds."""
        self._longest_delay = longest_delay
        self._waiting: dict[ObjectKey, None] = {}
        self._failures: dict[ObjectKey, int] = {}
        self._delayed: set[ObjectKey] = set()
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
        """Wait for keys and take up to `limit` of them, oldest first.

        One that failed before comes alone, so that it cannot fail others with it.
        """
        await self._some.wait()
        first = next(iter(self._waiting))
        sound = (key for key in self._waiting if key not in self._failures)
        taken = [first] if first in self._failures else list(islice(sound, limit))
        for key in taken:
            del self._waiting[key]
        if not self._waiting:
            self._some.clear()
        return taken

    def succeeded(self, key: ObjectKey) -> None:
        """Forget a key's failures."""
        self._failures.pop(key, None)

    def taken_in(self, key: ObjectKey) -> None:
        """Note that the register has taken a key in: what is left is to show it."""
        if self.stuck(key):
            self._failures[key] = STALL_AFTER_FAILURES - 1

    def failed(self, key: ObjectKey) -> None:
        """Queue a key again after a delay that doubles with each failure in a row."""
        if key not in self._delayed:
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            self._delay(key, backoff.pause(failures, longest=self._longest_delay))

    def postponed(self, key: ObjectKey) -> None:
        """Queue a key again after a moment, for an outage that is not its own."""
        if key not in self._delayed:
            self._delay(key, backoff.pause(0, first=POSTPONED_SECONDS, longest=self._longest_delay))

    def stuck(self, key: ObjectKey) -> bool:
        """Whether the same key failed so often in a row that people should know."""
        return self._failures.get(key, 0) >= STALL_AFTER_FAILURES

    def _delay(self, key: ObjectKey, seconds: float) -> None:
        self._delayed.add(key)
        asyncio.get_running_loop().call_later(seconds, self._due, key)

    def _due(self, key: ObjectKey) -> None:
        self._delayed.discard(key)
        self.add([key])
