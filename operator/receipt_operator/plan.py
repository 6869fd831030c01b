"""Planning: which receipts a request means, streamed into its items.

Each chunk commits with its cursor, so a plan that is cut off goes on where it was. A root that is
away is an outage and never "nothing to do".
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import structlog

from receipt_contract.errors import OutageError
from receipt_contract.requests import CacheChoice, RequestSpec, Selector
from receipt_contract.status import ConditionReason
from receipt_operator import caches, discovery
from receipt_operator.board import Board
from receipt_operator.register import items, leases, requests, selection, tallies
from receipt_operator.register.database import Database, Fence
from receipt_operator.register.requests import Frozen, UnknownRunError
from receipt_operator.register.rows import Counts, Request
from receipt_runtime import backoff, files, logs

CHUNK = 1000
CONCURRENT_WALKS = 2
CONCURRENT_LISTS = 2  # with the walks, most of the connections to the register
LONGEST_PAUSE_SECONDS = 30.0

_log = structlog.get_logger(__name__)


class NotYetError(Exception):
    """The request this one looks back on has not finished."""


class Planner:
    """Plans requests, a few at a time; each until it is whole or refused."""

    def __init__(
        self, database: Database, board: Board, *, receipts_root: Path, cache_root: Path
    ) -> None:
        """Take the edges; nothing runs yet."""
        self._database = database
        self._board = board
        self._receipts_root = receipts_root
        self._cache_root = cache_root
        self._walks = asyncio.Semaphore(CONCURRENT_WALKS)
        self._lists = asyncio.Semaphore(CONCURRENT_LISTS)
        self._running: dict[str, asyncio.Task[None]] = {}

    def begin(self, request: Request, spec: RequestSpec) -> None:
        """Plan a request in the background, unless that is going on."""
        if request.request_id not in self._running:
            task = asyncio.create_task(self._until_whole(request, spec))
            self._running[request.request_id] = task
            task.add_done_callback(partial(self._ended, request.request_id))

    async def plan_named(self, claimed: Mapping[str, RequestSpec]) -> None:
        """Plan requests that were just claimed and name their receipts, in few transactions.

        The others, and those that name too many, are left to `begin`.
        """
        batch: dict[str, list[str]] = {}
        for request_id, spec in claimed.items():
            named = _named(spec)
            if named and (spec.max_items is None or len(named) <= spec.max_items):
                batch[request_id] = named
            if sum(map(len, batch.values())) >= CHUNK:
                await self._write_whole(batch)
                batch = {}
        await self._write_whole(batch)

    async def _write_whole(self, batch: Mapping[str, Sequence[str]]) -> None:
        if batch:
            async with self._database.write() as connection:
                await items.add_whole(connection, batch)

    async def close(self) -> None:
        """Stop planning; the cursors remember how far it came."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, request_id: str, planning: asyncio.Task[None]) -> None:
        """Show a plan that a fault of ours cut off; the next list of objects begins it again."""
        self._running.pop(request_id, None)
        failure = None if planning.cancelled() else planning.exception()
        if failure is not None:
            _log.error("a plan failed", request=request_id, failure=logs.trail(failure))
            self._board.block(request_id, ConditionReason.INTERNAL_ERROR)

    async def _until_whole(self, request: Request, spec: RequestSpec) -> None:
        failures = 0
        while True:
            try:
                # Only a walk takes long; what is named waits for none of these.
                async with self._walks if spec.target.selector else self._lists:
                    await self._plan(request, spec)
            except NotYetError:
                failures = 1
                self._board.queue(request.request_id)
            except OutageError as error:
                failures += 1
                self._board.outage(request.request_id, error)
            else:
                self._board.clear(request.request_id)
                self._board.mirror.set()
                self._board.publish.set()
                return
            await asyncio.sleep(backoff.pause(failures, longest=LONGEST_PAUSE_SECONDS))

    async def _plan(self, request: Request, spec: RequestSpec) -> None:
        current = await requests.one(self._database, request.request_id)
        if current is None or current.accepted_at or current.finished or current.ending:
            return
        try:
            await self._write_chunks(current, spec)
        except UnknownRunError:
            await self._refuse(current.request_id, ConditionReason.INVALID_TARGET, found=0)

    async def _write_chunks(self, current: Request, spec: RequestSpec) -> None:
        request_id, found = current.request_id, current.counts.known
        async for chunk in self._chunks(current, spec):
            found += len(chunk)
            if spec.max_items is not None and found > spec.max_items:
                await self._refuse(request_id, ConditionReason.SELECTOR_TOO_LARGE, found=found)
                return
            async with self._database.write() as connection:
                goes_on = await items.add(connection, request_id, chunk)
            if not goes_on:
                return
            self._board.clear(request_id)
        async with self._database.write() as connection:
            await requests.accept(connection, request_id, found)

    async def _refuse(self, request_id: str, reason: ConditionReason, *, found: int) -> None:
        frozen = Frozen(reason, found, Counts(), {})
        async with self._database.write() as connection:
            await requests.drop_plan(connection, request_id)
            await requests.freeze(connection, request_id, frozen)
            await tallies.forget(connection, request_id)

    def _chunks(self, current: Request, spec: RequestSpec) -> AsyncIterator[list[str]]:
        target, after = spec.target, current.plan_cursor or ""
        if target.selector is not None:
            return self._selected(target.selector, after)
        if target.retry_failed_of is not None:
            return self._failed_of(current, target.retry_failed_of, after)
        return _in_chunks([one for one in _named(spec) if one > after])

    async def _selected(self, selector: Selector, after: str) -> AsyncIterator[list[str]]:
        """Walk the root and keep what the files and the database say fits."""
        await asyncio.to_thread(files.check_root, self._receipts_root)
        if selector.cache is CacheChoice.MISSING:
            await self._check_cache()
        walk = discovery.walk(self._receipts_root, prefix=selector.path_prefix or "", after=after)
        matching = self._matching(walk, selector)
        while chunk := await asyncio.to_thread(lambda: list(islice(matching, CHUNK))):
            fitting = await selection.fitting(self._database, chunk, selector)
            if fitting:
                yield fitting

    def _matching(self, walk: Iterator[str], selector: Selector) -> Iterator[str]:
        for reference in walk:
            if selector.glob is not None and not discovery.matches_glob(reference, selector.glob):
                continue
            if selector.cache is CacheChoice.MISSING and caches.is_current(
                self._cache_root, reference
            ):
                continue
            yield reference

    async def _check_cache(self) -> None:
        """Refuse to take an unmounted cache for an empty one, once a worker has marked it."""
        fence: Fence | None = self._database.fence
        try:
            await asyncio.to_thread(caches.check_root, self._cache_root)
        except OutageError:
            if fence is None or await leases.cache_was_seen(self._database, fence.cluster):
                raise
        else:
            if fence is not None:
                await leases.remember_cache(self._database, fence)

    async def _failed_of(
        self, current: Request, run_id: str, after: str
    ) -> AsyncIterator[list[str]]:
        failed = await requests.failed_of(self._database, current, run_id)
        if failed is None:
            raise NotYetError
        async for chunk in _in_chunks([one for one in failed if one > after]):
            yield chunk


def _named(spec: RequestSpec) -> list[str]:
    """Return the receipts a target names, in order; none for one that is looked for."""
    target = spec.target
    named = {target.reference} if target.reference is not None else set(target.references or ())
    return sorted(one for one in named if one)


async def _in_chunks(references: Sequence[str]) -> AsyncIterator[list[str]]:
    for start in range(0, len(references), CHUNK):
        yield list(references[start : start + CHUNK])
