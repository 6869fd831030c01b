"""The collector as a process: two consumers, each with its own thread and database connection.

Result events and dead letters do not wait for each other, so a backlog of results never hides
that receipts fail.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import structlog

from receipt_collector import failures, metrics, schema
from receipt_collector.failures import Failure
from receipt_collector.gate import Recorded
from receipt_collector.record import record
from receipt_collector.settings import CollectorSettings
from receipt_collector.store import database
from receipt_collector.store.database import Database
from receipt_contract.access import BrokerUser
from receipt_contract.errors import AttemptError, OutageError, PermanentError, Reason
from receipt_contract.results import ResultEvent
from receipt_contract.topology import RESULTS_SIDE, WORK_SIDE
from receipt_runtime import backoff, logs
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.consumer import Consumer
from receipt_runtime.amqp.intake import ByContract, Keeping
from receipt_runtime.amqp.messages import Delivery
from receipt_runtime.amqp.publisher import Publisher
from receipt_runtime.health import HealthServer

RUN_PAUSES_SECONDS = (0.05, 0.1, 0.2)
FAILURES_PREFETCH = 1  # dead letters are rare, and a crash must count against one only

_log = structlog.get_logger(__name__)

_READERS: dict[str, Callable[[bytes, Mapping[str, object]], Failure]] = {
    WORK_SIDE.failures: failures.read_work,
    RESULTS_SIDE.failures: failures.read_result,
}


def collect(settings: CollectorSettings, stop: threading.Event) -> None:
    """Collect until `stop` is set; raises SchemaError, and OSError for a taken health port."""
    dsn = settings.database_url.get_secret_value()
    databases = [Database(dsn, prepares=settings.prepares_statements) for _ in range(2)]
    publisher = Publisher(
        settings.rabbitmq_url.get_secret_value(),
        name="collector",
        checks=settings.checks(BrokerUser.COLLECTOR),
    )
    consumers = (
        _results_consumer(settings, publisher, databases[0]),
        _failures_consumer(settings, publisher, databases[1]),
    )
    threads = [threading.Thread(target=each.run, args=(stop,)) for each in consumers]
    health = HealthServer(
        settings.health_port,
        live=partial(_ended, threads),
        ready=partial(_problems, publisher, consumers, dsn=dsn),
    )
    health.start()
    try:
        if _await_schema(databases[0], stop):
            _run(publisher, threads)
    finally:
        for each in databases:
            each.close()
        health.close()


def record_event(database_: Database, event: ResultEvent, delivery: Delivery) -> None:
    """Apply a result event and return after its commit."""
    started = time.monotonic()
    recorded = record_after_its_run(database_, event, pause=time.sleep)
    kind = event.event_type
    metrics.COMMIT_SECONDS.labels(event_type=kind).observe(time.monotonic() - started)
    metrics.EVENTS.labels(event_type=kind, outcome=recorded).inc()
    if delivery.timestamp is not None:
        metrics.LAG_SECONDS.labels(event_type=kind).observe(time.time() - delivery.timestamp)


def record_after_its_run(
    database_: Database, event: ResultEvent, *, pause: Callable[[float], None]
) -> Recorded:
    """Give the collector that holds a pass's run a moment: the retry queue takes a minute.

    Raises AttemptError(RUN_UNKNOWN) when that does not help.
    """
    for seconds in RUN_PAUSES_SECONDS:
        try:
            return database_.run(partial(record, event=event))
        except AttemptError:
            pause(seconds)
    return database_.run(partial(record, event=event))


def record_failure(database_: Database, delivery: Delivery) -> None:
    """Keep a dead letter as a row and return after its commit; nothing in it can prevent that."""
    read = _READERS[delivery.queue]
    failure = read(delivery.body, delivery.headers)
    try:
        database_.run(partial(failures.record, failure=failure))
    except PermanentError:  # a text that PostgreSQL cannot hold, in a letter nobody can refuse
        failure = failures.without_texts(failure)
        database_.run(partial(failures.record, failure=failure))
    metrics.FAILURES.labels(side=failure.row.side, reason=failure.row.reason).inc()


def _results_consumer(
    settings: CollectorSettings, publisher: Publisher, database_: Database
) -> Consumer:
    return Consumer(
        settings.rabbitmq_url.get_secret_value(),
        name="results",
        queues=[RESULTS_SIDE.work],
        prefetch=settings.prefetch,
        intake=ByContract(settlement.RESULTS, partial(record_event, database_)),
        publisher=publisher,
        checks=settings.checks(BrokerUser.COLLECTOR),
    )


def _failures_consumer(
    settings: CollectorSettings, publisher: Publisher, database_: Database
) -> Consumer:
    return Consumer(
        settings.rabbitmq_url.get_secret_value(),
        name="failures",
        queues=[WORK_SIDE.failures, RESULTS_SIDE.failures],
        prefetch=FAILURES_PREFETCH,
        intake=Keeping(partial(record_failure, database_)),
        publisher=publisher,
        checks=settings.checks(BrokerUser.COLLECTOR),
    )


def _await_schema(database_: Database, stop: threading.Event) -> bool:
    """Wait for the database and check its schema; False when asked to end before it answers."""
    tries = 0
    while not stop.is_set():
        try:
            database_.run(schema.check)
        except OutageError as outage:
            _log.warning("database awaited", failure=logs.trail(outage))
            stop.wait(backoff.pause(tries))
            tries += 1
        else:
            return True
    return False


def _run(publisher: Publisher, threads: Sequence[threading.Thread]) -> None:
    publisher.start()
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        publisher.close()


def _ended(threads: Sequence[threading.Thread]) -> list[str]:
    """Say which thread began and ended: only a new process can help."""
    return [
        "A consumer ended."
        for thread in threads
        if thread.ident is not None and not thread.is_alive()
    ]


def _problems(publisher: Publisher, consumers: Sequence[Consumer], *, dsn: str) -> list[str]:
    found = [sentence for each in consumers for sentence in each.problems]
    if publisher.problem is not None:
        found.append(publisher.problem)
    if not database.answers(dsn):
        found.append(Reason.DATABASE_UNAVAILABLE.sentence)
    return list(dict.fromkeys(found))
