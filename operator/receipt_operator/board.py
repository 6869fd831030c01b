"""What the loops tell each other in memory: obstacles of requests, and that there is news.

Lost with the process and found out again; nothing here is a promise.
"""

import asyncio
from collections.abc import Collection
from datetime import UTC, datetime

from receipt_contract.errors import OutageError, Reason
from receipt_contract.status import ConditionReason
from receipt_operator.facts import Obstacle

_OBSTACLES = {
    Reason.BROKER_UNAVAILABLE: ConditionReason.BROKER_UNAVAILABLE,
    Reason.DATABASE_UNAVAILABLE: ConditionReason.DATABASE_UNAVAILABLE,
    Reason.SOURCE_UNAVAILABLE: ConditionReason.SOURCE_UNAVAILABLE,
    Reason.CACHE_UNAVAILABLE: ConditionReason.CACHE_UNAVAILABLE,
}


class Board:
    """Obstacles by request, and the two calls that wake the loops."""

    def __init__(self) -> None:
        """Start with no obstacle and no news."""
        self._obstacles: dict[str, Obstacle] = {}
        self._queued: set[str] = set()
        self.publish = asyncio.Event()  # something may be sent
        self.mirror = asyncio.Event()  # something may be shown
        self.sweep = asyncio.Event()  # what was seen may be wrong

    def obstacle(self, request_id: str) -> Obstacle | None:
        """Return what keeps a request from going on."""
        return self._obstacles.get(request_id)

    def is_queued(self, request_id: str) -> bool:
        """Whether a request waits for another one to end."""
        return request_id in self._queued

    def queue(self, request_id: str) -> None:
        """Note that a request waits for another one to end."""
        self._queued.add(request_id)
        self.mirror.set()

    def block(self, request_id: str, reason: ConditionReason) -> None:
        """Note an obstacle; the same one again keeps its time."""
        known = self._obstacles.get(request_id)
        if known is None or known.reason is not reason:
            self._obstacles[request_id] = Obstacle(reason, datetime.now(UTC))
            self.mirror.set()

    def outage(self, request_id: str, error: OutageError) -> None:
        """Note an outage as an obstacle."""
        reason = _OBSTACLES.get(error.reason, ConditionReason.INTERNAL_ERROR)
        self.block(request_id, reason)

    def clear(self, request_id: str) -> None:
        """Note that a request goes on."""
        self._queued.discard(request_id)
        if self._obstacles.pop(request_id, None) is not None:
            self.mirror.set()

    def clear_if(self, request_id: str, reasons: Collection[ConditionReason]) -> None:
        """Note that a request goes on, if one of these kept it from that."""
        known = self._obstacles.get(request_id)
        if known is not None and known.reason in reasons:
            self.clear(request_id)

    def clear_every(self, reasons: Collection[ConditionReason]) -> None:
        """Note that every request goes on that one of these kept from it."""
        for request_id in list(self._obstacles):
            self.clear_if(request_id, reasons)


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for news, at most so long; then the news is taken."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
    event.clear()
