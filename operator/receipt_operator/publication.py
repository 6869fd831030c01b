"""Publishing: keep each request's window full, record what the broker said, send lost work again.

One round at a time, and a round ends with an outcome for every message. So whatever stands as
`publishing` when a round begins is uncertain, and is sent again under the same id.
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import structlog

from receipt_contract import asked
from receipt_contract.errors import PermanentError, Reason
from receipt_contract.requests import Kind
from receipt_contract.status import ConditionReason
from receipt_operator import sources, window
from receipt_operator.board import Board
from receipt_operator.register import evidence, items, outgoing
from receipt_operator.register.database import Database
from receipt_operator.register.items import End
from receipt_operator.register.outgoing import Offer
from receipt_operator.register.rows import ItemState, Request, Sending
from receipt_operator.sources import Hashed
from receipt_runtime import backoff
from receipt_runtime.amqp import envelopes
from receipt_runtime.amqp.messages import Message, Outcome
from receipt_runtime.amqp.publisher import Publisher

BATCH = 500  # one commit before and one after so many sends
SILENT_FAILURES = 3  # a reconnect takes a moment; nobody has to hear of it
LONGEST_PAUSE_SECONDS = 15.0

_PROBLEMS = {
    Outcome.RETURNED: ConditionReason.UNROUTABLE,
    Outcome.NACKED: ConditionReason.QUEUE_FULL,
    Outcome.UNCERTAIN: ConditionReason.BROKER_UNAVAILABLE,
    Outcome.NOT_SENT: ConditionReason.BROKER_UNAVAILABLE,
}
_SENDING_PROBLEMS = frozenset(_PROBLEMS.values())
# The broker surely holds none of these.
_UNSENT = frozenset({Outcome.RETURNED, Outcome.NACKED, Outcome.NOT_SENT})

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Limits:
    """How much may be on its way, and when something counts as lost."""

    max_in_flight: int
    global_in_flight: int
    republish_after_seconds: float
    missing_grace_seconds: float


@dataclass
class _Prepared:
    """What hashing made of a batch."""

    sendings: list[Sending] = field(default_factory=list)
    ends: dict[str, list[End]] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)  # requests whose receipts cannot be read now


class Publication:
    """The only sender of work messages in the operator."""

    def __init__(
        self,
        database: Database,
        publisher: Publisher,
        board: Board,
        *,
        receipts_root: Path,
        limits: Limits,
    ) -> None:
        """Take the edges; nothing is sent yet."""
        self._database = database
        self._publisher = publisher
        self._board = board
        self._root = receipts_root
        self._limits = limits
        self._missing_since: dict[Sending, float] = {}
        self._failures = 0
        self._evidence_due = 0.0

    @property
    def is_evidence_due(self) -> bool:
        """Whether the next round should be offered everything, to look for lost work."""
        return time.monotonic() >= self._evidence_due

    async def round(self, offer: Offer) -> None:
        """Send what may be sent now; after a failure it pauses, whatever news there is."""
        publishable = {one.request_id: one for one in offer.requests if one.publishable}
        self._forget_missing(publishable)
        if not publishable or await self._send_due(publishable, offer):
            self._failures = 0
            self._board.clear_every(_SENDING_PROBLEMS)
        else:
            self._failures += 1
            await asyncio.sleep(backoff.pause(self._failures, longest=LONGEST_PAUSE_SECONDS))

    async def _send_due(self, publishable: Mapping[str, Request], offer: Offer) -> bool:
        """Tell whether nothing kept a message from being sent."""
        if not self._publisher.connected:
            self._note_broker_away(publishable)
            return False
        sent_all = await self._send_uncertain(publishable)
        if sent_all and offer.is_whole and self.is_evidence_due:
            sent_all = await self._send_lost(publishable)
            self._evidence_due = time.monotonic() + self._limits.republish_after_seconds / 20
        return sent_all and await self._top_up(
            publishable, cap=self._limits.global_in_flight - offer.in_flight_elsewhere
        )

    def _forget_missing(self, publishable: Mapping[str, Request]) -> None:
        self._missing_since = {
            one: since
            for one, since in self._missing_since.items()
            if one.request_id in publishable
        }

    def _note_broker_away(self, publishable: Mapping[str, Request]) -> None:
        if self._failures < SILENT_FAILURES:
            return
        for request_id, request in publishable.items():
            if request.counts.unsent:
                self._board.block(request_id, ConditionReason.BROKER_UNAVAILABLE)

    async def _send_uncertain(self, publishable: Mapping[str, Request]) -> bool:
        again = await items.uncertain(self._database, list(publishable), BATCH)
        return not again or await self._send(again, publishable)

    async def _top_up(self, publishable: Mapping[str, Request], *, cap: int) -> bool:
        demands = [
            window.demand_of(one, default_limit=self._limits.max_in_flight)
            for one in publishable.values()
        ]
        slots = window.allocate(demands, cap)
        waiting = await items.planned(self._database, slots) if slots else {}
        queue = [
            Sending(request_id, reference, "")
            for request_id, references in waiting.items()
            for reference in references
        ]
        sent, away = False, False
        for start in range(0, len(queue), BATCH):
            prepared = await self._prepare(queue[start : start + BATCH], publishable)
            await self._end(prepared.ends)
            if prepared.sendings and not await self._send(prepared.sendings, publishable):
                return False
            sent = sent or bool(prepared.sendings)
            away = away or bool(prepared.away)
        return sent or not away

    async def _prepare(
        self, waiting: Sequence[Sending], publishable: Mapping[str, Request]
    ) -> _Prepared:
        """Hash what is about to be sent; what its volume does not give now waits."""
        prepared = _Prepared()
        hashed = await sources.hash_all(self._root, [one.reference for one in waiting])
        never_read = await self._never_read(waiting, hashed, publishable)
        for one, found in zip(waiting, hashed, strict=True):
            if found.reason is Reason.SOURCE_UNAVAILABLE:
                prepared.away.add(one.request_id)
                continue
            end = self._end_of(one, found, never_read=found.sha256 in never_read)
            sending = one._replace(sha256=found.sha256 or "")
            if end is None and found.sha256 and not _fits(sending, publishable):
                end = End(one.reference, ItemState.FAILED, Reason.UNSAFE_REFERENCE)
            if end is not None:
                prepared.ends.setdefault(one.request_id, []).append(end)
            elif found.sha256:
                prepared.sendings.append(sending)
        self._note_away(prepared.away, {one.request_id for one in waiting})
        return prepared

    def _note_away(self, away: Collection[str], looked_at: Collection[str]) -> None:
        for request_id in looked_at:
            if request_id in away:
                self._board.block(request_id, ConditionReason.SOURCE_UNAVAILABLE)
            else:
                self._board.clear_if(request_id, {ConditionReason.SOURCE_UNAVAILABLE})

    async def _never_read(
        self,
        waiting: Sequence[Sending],
        hashed: Sequence[Hashed],
        publishable: Mapping[str, Request],
    ) -> set[str]:
        """Of the receipts whose cache is to be rebuilt, those without a saved extraction."""
        rebuilds = {
            found.sha256
            for one, found in zip(waiting, hashed, strict=True)
            if found.sha256 and publishable[one.request_id].key.kind is Kind.CACHE_REBUILD
        }
        if not rebuilds:
            return set()
        return rebuilds - await items.with_extraction(self._database, sorted(rebuilds))

    def _end_of(self, one: Sending, found: Hashed, *, never_read: bool) -> End | None:
        if never_read:
            return End(one.reference, ItemState.SKIPPED, Reason.NEVER_PROCESSED)
        if found.reason is None:
            self._missing_since.pop(one, None)
            return None
        if found.reason is Reason.SOURCE_MISSING:
            since = self._missing_since.setdefault(one, time.monotonic())
            if time.monotonic() - since < self._limits.missing_grace_seconds:
                return None
            del self._missing_since[one]
        return End(one.reference, ItemState.FAILED, found.reason)

    async def _end(self, ends: Mapping[str, Sequence[End]]) -> None:
        for request_id, some in ends.items():
            async with self._database.write() as connection:
                await items.end(connection, request_id, some)
        if ends:
            self._board.mirror.set()

    async def _send_lost(self, publishable: Mapping[str, Request]) -> bool:
        """Send again what evidence says is lost, and probe where there is none."""
        after = self._limits.republish_after_seconds
        answered = await evidence.latest_answered(self._database)
        if answered is not None:
            sent_before = answered - timedelta(seconds=after)
            again, given_up = await evidence.lost(
                self._database, list(publishable), sent_before=sent_before, limit=BATCH
            )
            await self._give_up(given_up)
            if again:
                _log.warning("lost work is sent again", items=len(again))
                if not await self._send(again, publishable):
                    return False
        probes = await evidence.overdue(self._database, list(publishable), seconds=after)
        if not probes:
            return True
        async with self._database.write() as connection:
            await evidence.mark_probed(connection, probes)
        _log.info("overdue work is probed", items=len(probes))
        outcomes = await self._publish(probes, publishable)
        return all(outcome is Outcome.PUBLISHED for outcome in outcomes)

    async def _give_up(self, given_up: Sequence[Sending]) -> None:
        ends: dict[str, list[End]] = {}
        for one in given_up:
            ends.setdefault(one.request_id, []).append(
                End(one.reference, ItemState.FAILED, Reason.NO_RESULT)
            )
        await self._end(ends)

    async def _send(self, sendings: Sequence[Sending], publishable: Mapping[str, Request]) -> bool:
        """Commit, send, commit what the broker said; tell whether all was published."""
        async with self._database.write() as connection:
            locked = await outgoing.lock_publishable(
                connection, [one.request_id for one in sendings]
            )
            sendings = [one for one in sendings if one.request_id in locked]
            sendings = await items.mark_publishing(connection, sendings)
        outcomes = await self._publish(sendings, publishable)
        await self._record(sendings, outcomes)
        return all(outcome is Outcome.PUBLISHED for outcome in outcomes)

    async def _publish(
        self, sendings: Sequence[Sending], publishable: Mapping[str, Request]
    ) -> list[Outcome]:
        messages = [message_of(one, publishable[one.request_id].key.kind) for one in sendings]
        outcomes = await asyncio.to_thread(_publish_all, self._publisher, messages)
        for one, outcome in zip(sendings, outcomes, strict=True):
            if outcome is Outcome.PUBLISHED:
                self._board.clear_if(one.request_id, _SENDING_PROBLEMS)
            else:
                self._board.block(one.request_id, _PROBLEMS[outcome])
        return outcomes

    async def _record(self, sendings: Sequence[Sending], outcomes: Sequence[Outcome]) -> None:
        pairs = list(zip(sendings, outcomes, strict=True))
        published = [one for one, outcome in pairs if outcome is Outcome.PUBLISHED]
        unsent = [one for one, outcome in pairs if outcome in _UNSENT]
        async with self._database.write() as connection:
            if published:
                await items.mark_published(connection, published)
            if unsent:
                await items.mark_unsent(connection, unsent)
        self._board.mirror.set()


def message_of(sending: Sending, kind: Kind) -> Message:
    """Make the work message of an item; the same item always makes the same one."""
    return envelopes.of_work(
        asked.work_of(
            kind,
            source_sha256=sending.sha256,
            source_reference=sending.reference,
            request_id=sending.request_id,
        )
    )


def _fits(sending: Sending, publishable: Mapping[str, Request]) -> bool:
    """Whether a message can carry the reference: one from a deep tree may be too long."""
    try:
        message_of(sending, publishable[sending.request_id].key.kind)
    except PermanentError:
        return False
    return True


def _publish_all(publisher: Publisher, messages: Sequence[Message]) -> list[Outcome]:
    """Submit all and wait for all; runs on a thread, because a full window blocks."""
    futures = [publisher.submit(message) for message in messages]
    return [future.result() for future in futures]
