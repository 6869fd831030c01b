"""The mirror: what the register says, written onto the objects.

Transitions go out at once, progress seldom, unchanged content never. Every write carries the
version it was computed for; where that is old, the object is read again and computed anew.
"""

import asyncio
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import structlog
from aiolimiter import AsyncLimiter

from receipt_contract.status import ConditionReason
from receipt_operator import finishing, metrics, notices
from receipt_operator.board import Board
from receipt_operator.cleaning import Ended, Retention
from receipt_operator.cluster import (
    Cluster,
    ConflictError,
    GoneError,
    UnavailableError,
)
from receipt_operator.facts import Facts, Failures, Obstacle, Pace, failures_of
from receipt_operator.herald import Herald
from receipt_operator.observed import Objects, Observed
from receipt_operator.obstacles import obstacle_of, without_progress
from receipt_operator.pace import Paces, from_earlier
from receipt_operator.reconcile import Wanted
from receipt_operator.register.database import Database
from receipt_operator.register.rows import ObjectKey, Request
from receipt_operator.settled import Basis, Past, Settled
from receipt_operator.status import status_of
from receipt_operator.turns import Places
from receipt_operator.unready import blocked_status, unreadable_status
from receipt_operator.workqueue import WorkQueue
from receipt_runtime import logs

SMALL_REQUEST = 100  # items
SMALL_INTERVAL_SECONDS = 1.0
INTERVAL_SECONDS = 10.0
TRANSITIONS_PER_SECOND = 600
PROGRESS_PER_SECOND = 20
CONCURRENT_WRITES = 16
PATIENCE_SECONDS = 3.0  # with a new request that is about to be sent
CONFLICT_TRIES = 3

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Shown:
    """What an object is to show: its request as last read, and what goes with it."""

    want: Wanted
    request: Request
    history: Sequence[Request]
    failures: Failures = field(default_factory=Failures)
    since: float = field(default_factory=time.monotonic)

    @property
    def is_new(self) -> bool:
        """Whether it was taken in so lately that a later look has more to say of it."""
        return time.monotonic() - self.since < PATIENCE_SECONDS

    def speaks_of(self, observed: Observed) -> bool:
        """Whether the object still says what this was decided from."""
        said = (self.want.claim.object_uid, self.want.generation)
        return (observed.uid, observed.generation) == said


class Mirror:
    """The only writer of statuses."""

    def __init__(  # noqa: PLR0913 - the edges of one loop
        self,
        database: Database,
        cluster: Cluster,
        objects: Objects,
        queue: WorkQueue,
        board: Board,
        *,
        herald: Herald,
        places: Places,
        retention: Retention,
        default_max_in_flight: int,
        no_progress_after_seconds: float,
    ) -> None:
        """Take the edges; nothing is shown yet."""
        self._database = database
        self._cluster = cluster
        self._objects = objects
        self._queue = queue
        self._board = board
        self._herald = herald
        self._places = places
        self._retention = retention
        self._default_max_in_flight = default_max_in_flight
        self._no_progress_after = no_progress_after_seconds
        self._shown: dict[ObjectKey, Shown] = {}
        self._by_request: dict[str, ObjectKey] = {}
        self._unreadable: dict[ObjectKey, Observed] = {}
        self._written_at: dict[ObjectKey, float] = {}
        self._settled = Settled(board, places)
        self._past: dict[ObjectKey, Past] = {}
        self._paces = Paces()
        self._transitions = AsyncLimiter(TRANSITIONS_PER_SECOND, 1)
        self._progress = AsyncLimiter(PROGRESS_PER_SECOND, 1)
        self._gate = asyncio.Semaphore(CONCURRENT_WRITES)
        self._last_result: datetime | None = None
        self._unavailable = False

    async def show(self, shown: Mapping[ObjectKey, Shown], now: datetime) -> set[ObjectKey]:
        """Tie objects to their requests, write the statuses that differ; return what failed.

        What is about to be sent is shown by a later look, which most often finds it sent: a burst
        of objects then costs one write each and not two.
        """
        for key, one in shown.items():
            self._untie(key)
            failures = Failures()
            if one.request.finished:
                failures = failures_of(one.request)
                self._board.clear(one.request.request_id)
            self._by_request[one.request.request_id] = key
            self._shown[key] = replace(one, failures=failures)
        due = [key for key, one in shown.items() if not one.request.is_about_to_send]
        return await self._refresh_all(due, now)

    async def refuse(self, judged: Sequence[Observed], now: datetime) -> set[ObjectKey]:
        """Say on objects that this program cannot read them; return what failed."""
        for one in judged:
            self._untie(one.key)
            self._unreadable[one.key] = one
        return await self._refresh_all([one.key for one in judged], now)

    def forget(self, key: ObjectKey) -> None:
        """Stop showing on an object that is gone."""
        self._untie(key)
        self._written_at.pop(key, None)
        self._herald.forget(key)

    def _untie(self, key: ObjectKey) -> None:
        """Separate an object from the request it showed, which may still be active."""
        self._unreadable.pop(key, None)
        self._settled.forget(key)
        self._past.pop(key, None)
        shown = self._shown.pop(key, None)
        if shown is not None:
            self._by_request.pop(shown.request.request_id, None)

    async def refresh(
        self, active: Sequence[Request], now: datetime, *, last_result: datetime | None
    ) -> None:
        """Show every active request as it is now; `last_result` came for any work at all."""
        self._paces.sample(list(active), now)
        self._places.sample(active, time.monotonic())
        self._last_result = last_result
        due = []
        for request in active:
            key = self._by_request.get(request.request_id)
            shown = self._shown.get(key) if key is not None else None
            if key is None or shown is None or request.parked:
                continue
            if self._settled.is_settled(key, request) or (
                shown.is_new and request.is_about_to_send
            ):
                continue
            failures = await self._failures(shown, request)
            if self._shown.get(key) is not shown:
                continue  # reconciled meanwhile, from newer facts
            self._shown[key] = replace(shown, request=request, failures=failures)
            due.append(key)
        await self._refresh_all(due, now)
        self._queue.add(self._ended_elsewhere({one.request_id for one in active}))

    def _ended_elsewhere(self, active: Collection[str]) -> list[ObjectKey]:
        """Return objects whose request is shown as unfinished and is not active any more."""
        return [
            key
            for request_id, key in self._by_request.items()
            if request_id not in active and not self._shown[key].request.finished
        ]

    async def refresh_without_database(self, now: datetime) -> None:
        """Show that the database is away on every unfinished request."""
        obstacle = Obstacle(ConditionReason.DATABASE_UNAVAILABLE, now)
        unfinished = [key for key, shown in self._shown.items() if not shown.request.finished]
        blocked = [one.key for one in self._objects if not self._is_shown(one)]
        await self._refresh_all([*unfinished, *blocked], now, obstacle)

    async def show_stuck(self, keys: Sequence[ObjectKey], now: datetime) -> None:
        """Show that the operator fails again and again on objects, where nothing is shown yet."""
        await self._refresh_all([key for key in keys if self._queue.stuck(key)], now)

    def finished(self) -> Iterator[Ended]:
        """Every object that shows the end of its request."""
        for key, past in self._past.items():
            observed = self._objects.get(key)
            if observed is not None and past.speaks_of(observed):
                yield Ended(observed, past.spec, past.finished_at)

    def _is_shown(self, observed: Observed) -> bool:
        shown = self._shown.get(observed.key) or self._past.get(observed.key)
        is_judged = observed.key in self._unreadable
        return is_judged or (shown is not None and shown.speaks_of(observed))

    async def _failures(self, shown: Shown, request: Request) -> Failures:
        if request.counts.failed == shown.request.counts.failed and (
            shown.failures.by_reason or not request.counts.failed
        ):
            return shown.failures
        return await finishing.failures(self._database, request.request_id)

    async def _refresh_all(
        self, keys: Sequence[ObjectKey], now: datetime, obstacle: Obstacle | None = None
    ) -> set[ObjectKey]:
        """Write the statuses that are due; one that fails is queued again and stops no other."""
        self._unavailable = False
        with self._herald.behind_statuses():
            outcomes = await asyncio.gather(
                *(self._refresh(key, now, obstacle) for key in keys), return_exceptions=True
            )
        failures = [
            (key, one)
            for key, one in zip(keys, outcomes, strict=True)
            if isinstance(one, BaseException)
        ]
        for key, failure in failures:
            if isinstance(failure, UnavailableError | ConflictError):
                self._queue.postponed(key)
            elif isinstance(failure, Exception):
                self._queue.failed(key)
            else:
                raise failure
        if failures:
            first = logs.trail(failures[0][1])
            _log.warning("statuses not written", objects=len(failures), first=first)
        return {key for key, _ in failures}

    async def _refresh(self, key: ObjectKey, now: datetime, obstacle: Obstacle | None) -> None:
        async with self._gate:
            if self._unavailable:  # each object would wait as long for nothing
                raise UnavailableError("the API server did not answer just now")
            try:
                await self._write(key, now, obstacle)
            except UnavailableError:
                self._unavailable = True
                raise

    async def _write(self, key: ObjectKey, now: datetime, obstacle: Obstacle | None) -> None:
        for _ in range(CONFLICT_TRIES):
            observed, shown = self._objects.get(key), self._shown.get(key)
            if observed is None:
                return
            basis = self._settled.basis_of(shown.request) if shown and not obstacle else None
            desired = self._desired(observed, shown, now, obstacle)
            if desired is None or desired == observed.status:
                self._note(key, shown, basis)
                return
            if not await self._is_due(observed, shown, desired):
                return
            try:
                written = await self._cluster.patch_status(observed, desired)
            except ConflictError:
                await self._read_again(key)
                continue
            except GoneError:
                return
            metrics.STATUS_WRITES.labels(key.kind).inc()
            self._objects.renew(written)
            self._written_at[key] = time.monotonic()
            self._note(key, shown, basis)
            self._herald.tell(observed.status, written)
            return
        raise ConflictError("the object changes faster than it is written")

    def _note(self, key: ObjectKey, shown: Shown | None, basis: Basis | None) -> None:
        """Note that an object shows what it should; what an outage had it say does not last."""
        if shown is None or basis is None or self._shown.get(key) is not shown:
            self._settled.forget(key)
        elif shown.request.finished_at is None:
            self._settled.note(key, basis)
        else:
            claim, spec = shown.want.claim, shown.want.spec
            self._untie(key)
            self._past[key] = Past(
                claim.object_uid, shown.want.generation, spec, shown.request.finished_at
            )

    def _desired(
        self, observed: Observed, shown: Shown | None, now: datetime, obstacle: Obstacle | None
    ) -> Mapping[str, Any] | None:
        """Compute the status; None while the object's spec waits for its reconciliation."""
        past = self._past.get(observed.key)
        if past is not None and past.speaks_of(observed):
            return None
        judged = self._unreadable.get(observed.key)
        if judged is not None:
            is_same = (judged.uid, judged.generation) == (observed.uid, observed.generation)
            return unreadable_status(observed, now) if is_same else None
        if shown is None or not shown.speaks_of(observed):
            return self._blocked(observed, now, obstacle)
        return status_of(self._facts(observed, shown, now, obstacle))

    def _blocked(
        self, observed: Observed, now: datetime, obstacle: Obstacle | None
    ) -> Mapping[str, Any] | None:
        """Say what keeps us from looking at an object, if anything does."""
        if obstacle is not None:
            return blocked_status(observed, obstacle.reason, now)
        if self._queue.stuck(observed.key):
            return blocked_status(observed, ConditionReason.INTERNAL_ERROR, now)
        return None

    def _facts(
        self, observed: Observed, shown: Shown, now: datetime, obstacle: Obstacle | None
    ) -> Facts:
        request = shown.request
        obstacle = obstacle or self._obstacle(observed.key, request, now)
        return Facts(
            observed=observed,
            spec=shown.want.spec,
            request=request,
            now=now,
            default_max_in_flight=self._default_max_in_flight,
            failures=shown.failures,
            obstacle=obstacle,
            pace=self._pace(shown) if obstacle is None else self._paces.of(request),
            queued=self._board.is_queued(request.request_id),
            place=self._places.of(request.request_id),
            kept=self._retention.keeps(observed, shown.want.spec),
            history=[one for one in shown.history if one.request_id != request.request_id],
        )

    def _pace(self, shown: Shown) -> Pace | None:
        current = self._paces.of(shown.request)
        return from_earlier(shown.request, shown.history) or current

    def _obstacle(self, key: ObjectKey, request: Request, now: datetime) -> Obstacle | None:
        known = self._board.obstacle(request.request_id)
        return obstacle_of(
            request, known, is_stuck=self._queue.stuck(key), now=now
        ) or without_progress(
            request,
            last_result=self._last_result,
            after_seconds=self._no_progress_after,
            now=now,
        )

    async def _is_due(
        self, observed: Observed, shown: Shown | None, desired: Mapping[str, Any]
    ) -> bool:
        """Wait for a transition's turn; let progress pass only now and then."""
        if (
            shown is None
            or shown.request.finished
            or notices.is_transition(observed.status, desired)
        ):
            await self._transitions.acquire()
            return True
        total = shown.request.total
        small = total is not None and total <= SMALL_REQUEST
        interval = SMALL_INTERVAL_SECONDS if small else INTERVAL_SECONDS
        written_at = self._written_at.get(observed.key)
        if written_at is not None and time.monotonic() - written_at < interval:
            return False
        if not self._progress.has_capacity():
            return False
        await self._progress.acquire()
        return True

    async def _read_again(self, key: ObjectKey) -> None:
        observed = await self._cluster.read(key)
        if observed is None:
            self._objects.drop(key)
        else:
            known = self._objects.get(key)
            if known and known.uid == observed.uid and known.version > observed.version:
                self._board.sweep.set()
            self._objects.put(observed)
            if known is None or (known.uid, known.generation) != (
                observed.uid,
                observed.generation,
            ):
                self._queue.add([key])
