"""Ending requests: latch why, end what is left, freeze the result in one transaction."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from receipt_contract.errors import Reason
from receipt_contract.status import MAX_SAMPLES
from receipt_operator import endings
from receipt_operator.facts import Failures
from receipt_operator.register import items, requests, tallies
from receipt_operator.register.database import Connection, Database
from receipt_operator.register.requests import Frozen
from receipt_operator.register.rows import Ending, Request

CONCURRENT_STEPS = 3  # half of the connections: the other loops go on


async def advance(
    database: Database, active: Sequence[Request], now: datetime, *, settle_grace_seconds: float
) -> list[str]:
    """Move every request that is due toward its end; return the ids of those that changed.

    One that fails holds up no other; its failure is raised when all had their turn.
    """
    gate = asyncio.Semaphore(CONCURRENT_STEPS)
    steps = {}
    for request in active:
        ending = endings.begun(request, now)
        if ending is not None:
            steps[request.request_id] = _begin(database, request.request_id, ending, gate)
        elif endings.is_due(request, now, settle_grace_seconds=settle_grace_seconds):
            steps[request.request_id] = _finish(database, request.request_id, gate)
    for outcome in await asyncio.gather(*steps.values(), return_exceptions=True):
        if outcome is not None:
            raise outcome
    return list(steps)


async def failures(database: Database, request_id: str) -> Failures:
    """Read which items of an unfinished request failed so far."""
    async with database.read() as connection:
        return await _failures(connection, request_id)


async def _begin(
    database: Database, request_id: str, ending: Ending, gate: asyncio.Semaphore
) -> None:
    async with gate, database.write() as connection:
        await requests.begin_ending(connection, request_id, ending)


async def _finish(database: Database, request_id: str, gate: asyncio.Semaphore) -> None:
    async with gate, database.write() as connection:
        await _freeze(connection, request_id)


async def _freeze(connection: Connection, request_id: str) -> None:
    """Freeze a request; the row lock keeps results that come now behind the freeze."""
    request = await requests.lock_unfinished(connection, request_id)
    if request is None:
        return
    if request.dry_run:
        await items.skip_remaining(connection, request_id, Reason.DRY_RUN)
    if request.ending is not None:
        reasons = endings.reasons_for_the_rest(request.ending)
        await items.end_remaining(connection, request_id, reasons)
    counts = await items.count(connection, request_id)
    if counts.known != counts.ended:
        return  # an item came back on its way since; the next look decides
    found = await _failures(connection, request_id)
    summary = {
        **found.document(),
        "confirmed": counts.confirmed,
        "publications": counts.publications,
    }
    frozen = Frozen(endings.result_of(request, counts), counts.known, counts, summary)
    await requests.freeze(connection, request_id, frozen)
    await tallies.forget(connection, request_id)


async def _failures(connection: Connection, request_id: str) -> Failures:
    return Failures(
        by_reason=await items.failures_by_reason(connection, request_id),
        samples=await items.failure_samples(connection, request_id, MAX_SAMPLES),
    )
