"""The worker as a process: one consumer, one publisher, one reading process, health and metrics."""

import os
import secrets
import socket
import threading
import time
import uuid

from receipt_contract.access import BrokerUser
from receipt_contract.errors import AttemptError
from receipt_contract.results import TraceContext, Worker
from receipt_contract.topology import WORK_SIDE
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.consumer import Consumer, Patience
from receipt_runtime.amqp.intake import ByContract
from receipt_runtime.amqp.messages import Delivery
from receipt_runtime.amqp.publisher import Publisher
from receipt_runtime.health import HealthServer
from receipt_runtime.settings import SettingsError
from receipt_worker import cache, storage
from receipt_worker.engines import tesseract
from receipt_worker.process import AnyWork, Identities, Places, Processor
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingSettings, WorkerSettings

PREFETCH = 1  # a receipt takes seconds: more would wait here instead of at a free worker
GRACE_SPARE_SECONDS = 60.0  # beyond the reading deadline, to publish what was read
LEFTOVER_SECONDS = 3600.0  # temporary files this old belong to nobody: a write takes moments


def consume(settings: WorkerSettings, reading: ReadingSettings, stop: threading.Event) -> None:
    """Answer work messages until `stop` is set.

    Raises SettingsError for an unusable engine, OutageError when the cache root cannot be
    written, OSError for a taken health port or an unusable work folder.
    """
    check_engine(reading)
    cache.leave_mark(settings.cache_root)
    storage.sweep(settings.cache_root, older_than=LEFTOVER_SECONDS, now=time.time())
    publisher = Publisher(
        settings.rabbitmq_url.get_secret_value(),
        name="worker",
        checks=settings.checks(BrokerUser.WORKER),
    )
    with Reader(reading) as reader:
        processor = Processor(
            _places(settings, reading),
            reader,
            publisher,
            _identities(settings),
            settings.result_schema,
        )
        consumer = _consumer(settings, reading, publisher, processor)
        _serve(settings, consumer, publisher, stop)


def check_engine(reading: ReadingSettings) -> None:
    """Return when Tesseract runs and has the languages asked for; raises SettingsError."""
    try:
        installed = tesseract.installed_languages()
    except AttemptError as error:
        raise SettingsError("Tesseract does not run: is tesseract-ocr installed?") from error
    missing = sorted(set(reading.languages.split("+")) - installed)
    if missing:
        raise SettingsError(f"RECEIPT_OCR_LANGUAGES: Tesseract has no model {', '.join(missing)}")


def _serve(
    settings: WorkerSettings, consumer: Consumer, publisher: Publisher, stop: threading.Event
) -> None:
    def problems() -> list[str]:
        found = [*consumer.problems, *filter(None, [publisher.problem])]
        return list(dict.fromkeys(found))

    health = HealthServer(settings.health_port, live=list, ready=problems)
    health.start()
    publisher.start()
    try:
        consumer.run(stop)
    finally:
        publisher.close()
        health.close()


def _consumer(
    settings: WorkerSettings, reading: ReadingSettings, publisher: Publisher, processor: Processor
) -> Consumer:
    def work_on(work: AnyWork, _delivery: Delivery) -> None:
        processor.work_on(work)

    return Consumer(
        settings.rabbitmq_url.get_secret_value(),
        name="work",
        queues=[WORK_SIDE.work],
        prefetch=PREFETCH,
        intake=ByContract(settlement.WORK, work_on),
        publisher=publisher,
        checks=settings.checks(BrokerUser.WORKER),
        patience=Patience(grace=reading.deadline + GRACE_SPARE_SECONDS),
    )


def _places(settings: WorkerSettings, reading: ReadingSettings) -> Places:
    return Places(
        source_root=settings.source_root,
        cache_root=settings.cache_root,
        lock_wait=settings.lock_wait,
        artifact_prefix=settings.artifact_prefix,
        max_bytes=reading.limits.max_bytes,
    )


def _identities(settings: WorkerSettings) -> Identities:
    worker = Worker(
        service=settings.service, host=settings.host or socket.gethostname(), pid=os.getpid()
    )
    return Identities(worker, new_run=lambda: str(uuid.uuid4()), new_trace=_unsampled_trace)


def _unsampled_trace() -> TraceContext:
    """Events name a trace; without telemetry it is one that nobody recorded."""
    return TraceContext(traceparent=f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00")
