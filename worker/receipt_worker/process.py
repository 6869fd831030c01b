"""One delivery, from message to confirmed events. Read this first.

The order is what keeps promises: bytes proven, source locked, an earlier answer looked for, read in
a process of its own, bytes proven again, artifact and cache on the disk, marker, events confirmed -
and only when this returns does the consumer acknowledge. Killed anywhere in between, the next
delivery finds what was done and does the rest.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from receipt_contract.errors import OutageError, Reason
from receipt_contract.results import PersistenceMode, TraceContext, Worker
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from receipt_runtime.amqp import envelopes
from receipt_runtime.amqp.messages import Outcome
from receipt_runtime.amqp.publisher import Publisher
from receipt_worker import cache, cachefile, events, locks, metrics, sources
from receipt_worker.cache import Kept
from receipt_worker.events import Schema, Telling
from receipt_worker.metrics import Origin
from receipt_worker.reader import Reader

AnyWork = ProcessWork | ReprocessWork | CacheRebuildWork

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Places:
    """Where receipts and cache lie, and how long to wait for another reader (seconds)."""

    source_root: Path
    cache_root: Path
    lock_wait: float
    artifact_prefix: str
    max_bytes: int


@dataclass(frozen=True)
class Identities:
    """Who we are, and where fresh ids come from."""

    worker: Worker
    new_run: Callable[[], str]
    new_trace: Callable[[], TraceContext]


@dataclass(frozen=True)
class Processor:
    """Everything one delivery needs."""

    places: Places
    reader: Reader
    publisher: Publisher
    identities: Identities
    schema: Schema

    def work_on(self, work: AnyWork) -> None:
        """Answer one work message; returns when every event is confirmed.

        Raises PermanentError, AttemptError or OutageError.
        """
        places = self.places
        cache.check_mark(places.cache_root)
        data = sources.read(
            places.source_root,
            work.source_reference,
            sha256=work.source_sha256,
            max_bytes=places.max_bytes,
        )
        with locks.source_lock(places.cache_root, work.source_sha256, wait=places.lock_wait):
            kept, origin = self._earlier_answer(work), Origin.KEPT
            if kept is None:
                kept, origin = self._read(work, data), Origin.READ
            self._keep(work, kept)
        self._tell(work, kept)
        metrics.RECEIPTS.labels(
            mode=_mode(work), status=kept.document.receipt.status, origin=origin
        ).inc()
        _log.info("receipt answered", message_id=work.message_id, origin=origin)

    def _earlier_answer(self, work: AnyWork) -> Kept | None:
        """v1 takes any cache of these bytes; a request only what it made itself."""
        root = self.places.cache_root
        if isinstance(work, ProcessWork):
            return cache.current(root, work.source_reference, source_sha256=work.source_sha256)
        return cache.answered(root, source_sha256=work.source_sha256, request_id=work.request_id)

    def _read(self, work: AnyWork, data: bytes) -> Kept:
        """Run OCR, and prove that the file is still the one that was read."""
        started = time.monotonic()
        processed_at = datetime.now(UTC)
        reading = self.reader.read(data, today=processed_at.date())
        seconds = time.monotonic() - started
        sources.check_unchanged(
            self.places.source_root, work.source_reference, sha256=work.source_sha256
        )
        metrics.observe_reading(reading, seconds)
        document = cachefile.build(
            reading,
            run_uuid=self.identities.new_run(),
            source_reference=work.source_reference,
            source_sha256=work.source_sha256,
            processed_at=processed_at,
            processing_seconds=round(seconds, 3),
        )
        return cache.keep(document)

    def _keep(self, work: AnyWork, kept: Kept) -> None:
        """Write artifact and cache, then the marker that makes them the request's answer."""
        cache.save(self.places.cache_root, work.source_reference, kept)
        if not isinstance(work, ProcessWork):
            cache.mark_answered(self.places.cache_root, kept, request_id=work.request_id)

    def _tell(self, work: AnyWork, kept: Kept) -> None:
        """Publish the events and return when all are confirmed."""
        telling = Telling(
            source_reference=work.source_reference,
            mode=_mode(work),
            request_id=None if isinstance(work, ProcessWork) else work.request_id,
            worker=self.identities.worker,
            trace=self.identities.new_trace(),
            artifact_prefix=self.places.artifact_prefix,
            schema=self.schema,
        )
        run, *passes = map(envelopes.of_event, events.events(kept, telling))
        # A pass that overtakes its run costs the collector a retry, so the run goes alone.
        _require_published(self.publisher.publish(run))
        for future in [self.publisher.submit(message) for message in passes]:
            _require_published(future.result())


def _require_published(outcome: Outcome) -> None:
    if outcome is not Outcome.PUBLISHED:
        raise OutageError(Reason.BROKER_UNAVAILABLE)


def _mode(work: AnyWork) -> PersistenceMode:
    match work:
        case ProcessWork():
            return PersistenceMode.NORMAL
        case ReprocessWork():
            return PersistenceMode.REPROCESS
        case CacheRebuildWork():
            return PersistenceMode.CACHE_ONLY
