"""The herald: posts events about objects, behind the statuses that say the same.

Statuses are what people wait for, so events take a slow lane of their own, and a slower one while
statuses are written: in a burst of objects they come some seconds later. What waits is lost with
the process; an event is a convenience.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import structlog
from aiolimiter import AsyncLimiter

from receipt_operator import notices
from receipt_operator.cluster import Cluster, ClusterError
from receipt_operator.notices import Notice, Told
from receipt_operator.observed import Observed
from receipt_operator.register.rows import ObjectKey

EVENTS_PER_SECOND = 50
LONGEST_PATIENCE_SECONDS = 0.2  # of each event, with statuses that are being written
MOST_WAITING = 20_000

_log = structlog.get_logger(__name__)


class _Waiting(NamedTuple):
    key: ObjectKey
    uid: str
    notice: Notice


class Herald:
    """The only poster of events."""

    def __init__(self, cluster: Cluster) -> None:
        """Start with nothing told."""
        self._cluster = cluster
        self._told = Told()
        self._waiting: asyncio.Queue[_Waiting] = asyncio.Queue(MOST_WAITING)
        # A burst of one: so many at once would hold up statuses for as long.
        self._lane = AsyncLimiter(1, 1 / EVENTS_PER_SECOND)
        self._rounds = 0  # of statuses that are being written
        self._quiet = asyncio.Event()
        self._quiet.set()

    @contextmanager
    def behind_statuses(self) -> Iterator[None]:
        """Let events wait while a round of statuses is written."""
        self._rounds += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._rounds -= 1
            if not self._rounds:
                self._quiet.set()

    def tell(self, before: Mapping[str, Any], written: Observed) -> None:
        """Take in what a write of a status has changed."""
        news = notices.between(before, written.status)
        for notice in self._told.ration(written.key, written.status, news):
            try:
                self._waiting.put_nowait(_Waiting(written.key, written.uid, notice))
            except asyncio.QueueFull:
                _log.warning("event dropped, too many wait", reason=notice.reason)

    def forget(self, key: ObjectKey) -> None:
        """Forget an object that is gone."""
        self._told.forget(key)

    async def post_one(self) -> None:
        """Post the event that waits for the longest, once there is one."""
        key, uid, notice = await self._waiting.get()
        await self._lane.acquire()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), LONGEST_PATIENCE_SECONDS)
        try:
            await self._cluster.post_event(
                key, uid, type_=notice.type, reason=notice.reason, note=notice.note
            )
        except ClusterError as error:
            _log.warning("event not posted", error=type(error).__name__)
