"""The collector as a process, between a real broker and a real database."""

import random
import secrets
import time
from collections.abc import Iterator

import psycopg
import pytest

from dev.postgres import Postgres
from dev.rabbitmq import RabbitMQ
from dev.stack import Stack
from receipt_collector import schema
from receipt_contract import results, work
from receipt_contract.errors import Reason
from receipt_contract.identity import source_lock_key
from receipt_contract.results import ResultEvent
from receipt_contract.topology import REASON_HEADER, RESULTS_SIDE, WORK_SIDE, Side
from receipt_contract.work import ReprocessWork
from receipt_runtime.amqp import preflight
from receipt_runtime.amqp.messages import Message
from tests.integration.collector import process
from tests.integration.collector.books import Books
from tests.integration.collector.process import Collector, collecting
from tests.support import services
from tests.support.amqp import Visitor, eventually, visiting
from tests.support.results import make_pass, make_run, reference, request_id, sha
from tests.support.services import Broker

RUNS = 60
KILLS = 6


@pytest.fixture
def broker_url(broker: Broker) -> Iterator[str]:
    """Give a virtual host with our topology, of this test alone."""
    with services.fresh_vhost(broker, f"test-{secrets.token_hex(4)}") as url:
        preflight.declare_topology(url)
        yield url


@pytest.fixture
def visitor(broker_url: str) -> Iterator[Visitor]:
    """Give a look at the queues from outside."""
    with visiting(broker_url) as visitor:
        yield visitor


@pytest.fixture
def collector(stack: Stack, books: Books, broker_url: str) -> Iterator[Collector]:
    """Run a collector that is well."""
    with collecting(stack, broker_url=broker_url, database_url=books.url) as running:
        running.wait_until_well()
        yield running


@pytest.mark.usefixtures("collector")
def test_events_become_rows(books: Books, visitor: Visitor) -> None:
    for event in (make_run(), make_pass(1), make_pass(2)):
        visitor.put(message(event))

    eventually(lambda: books.count("budget.receipt_ocr_passes") == 2)
    assert books.evidence()["merchant"] == "Corner Shop"
    eventually(lambda: visitor.ready(RESULTS_SIDE.work) == 0)


def test_g2_a_commit_without_its_acknowledgement_has_one_effect(
    books: Books, broker_url: str, collector: Collector, rabbitmq_server: RabbitMQ
) -> None:
    with psycopg.connect(books.url) as other:
        other.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (source_lock_key(sha()),)
        )
        with visiting(broker_url) as visitor:
            visitor.put(message(make_run(request=1)))
        eventually(lambda: _waiting(books))
        rabbitmq_server.control("close_all_connections", "--global", "as a test wishes")
        eventually(lambda: collector.counted('receipts_reconnects_total{link="results"}'))

    duplicates = 'receipts_collected_total{event_type="ocr.run-completed.v1",outcome="duplicate"}'
    eventually(lambda: collector.counted(duplicates) == 1)
    assert books.count("budget.receipt_ocr_runs") == 1


def test_g1_g2_a_collector_killed_again_and_again_loses_and_doubles_nothing(
    books: Books, visitor: Visitor, collector: Collector
) -> None:
    chance = random.Random(7)  # noqa: S311 - repeatable
    books.ask()
    for source in range(1, RUNS + 1):
        books.want(at=reference(source))
        for event in (make_run(run=source, source=source, request=1), *_passes(source)):
            visitor.put(message(event))

    for _ in range(KILLS):
        time.sleep(chance.uniform(0.01, 0.15))
        collector.daemon.kill()
        collector.start()

    eventually(lambda: books.count("work.inbox") == RUNS * 3)
    assert books.count("budget.receipt_ocr_runs") == RUNS
    assert books.count("budget.receipt_ocr_passes") == RUNS * 2
    done = books.row("SELECT count(*) AS found FROM work.items WHERE state = 'done'")
    assert done["found"] == RUNS
    assert visitor.ready(RESULTS_SIDE.dead) == 0


def test_g1_a_database_that_is_killed_is_waited_for(
    books: Books, visitor: Visitor, collector: Collector, postgres_server: Postgres
) -> None:
    postgres_server.kill()
    try:
        for source in range(1, RUNS + 1):
            visitor.put(message(make_run(run=source, source=source)))
        eventually(lambda: Reason.DATABASE_UNAVAILABLE.sentence in collector.problems())
    finally:
        postgres_server.start()

    again = Books(books.url)
    try:
        eventually(lambda: again.count("work.inbox") == RUNS)
    finally:
        again.close()
    collector.wait_until_well()
    assert visitor.ready(RESULTS_SIDE.dead) == 0
    assert visitor.ready(RESULTS_SIDE.retry) == 0


@pytest.mark.usefixtures("collector")
def test_g6_a_dead_letter_becomes_a_row_and_ends_its_item(books: Books, visitor: Visitor) -> None:
    books.ask()
    books.want()
    wanted = ReprocessWork(
        version=2, source_sha256=sha(), source_reference=reference(), request_id=request_id()
    )

    visitor.put(dead(WORK_SIDE, work.encode(wanted), Reason.ENCRYPTED))

    eventually(lambda: books.item()["state"] == "failed")
    assert books.item()["reason"] == "encrypted"
    row = books.row("SELECT * FROM budget.receipt_failures")
    assert row["body"] == work.encode(wanted)
    assert visitor.ready(WORK_SIDE.dead) == 1


@pytest.mark.usefixtures("collector")
def test_g1_work_that_kills_its_workers_ends_its_item(books: Books, visitor: Visitor) -> None:
    books.ask()
    books.want()
    wanted = ReprocessWork(
        version=2, source_sha256=sha(), source_reference=reference(), request_id=request_id()
    )
    visitor.put(
        Message(WORK_SIDE.work, WORK_SIDE.routing_key, work.encode(wanted), wanted.type, "some-id")
    )

    eventually(lambda: _crash(visitor))

    eventually(lambda: books.item()["state"] == "failed")
    assert books.item()["reason"] == "worker_crashed"


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"no json, but 4111 1111 1111 1111", id="a body that is not ours"),
        pytest.param(b"x" * (results.MAX_BODY_BYTES + 1), id="a body that is too large"),
        pytest.param(
            results.encode(make_run()).replace(b'"total":30.90', b'"total":NaN'),
            id="a total that is no number",
        ),
        pytest.param(
            results.encode(make_run()).replace(b'"Corner Shop"', b'"\\u0000"'),
            id="a text that the database cannot hold",
        ),
    ],
)
def test_g6_g8_a_bad_event_goes_to_dead_and_stops_nothing(
    books: Books, visitor: Visitor, body: bytes
) -> None:
    visitor.put(Message(RESULTS_SIDE.work, RESULTS_SIDE.routing_key, body, "some-type", "some-id"))
    visitor.put(message(make_run(run=2, source=2)))

    eventually(lambda: books.count("budget.receipt_failures") == 1)
    eventually(lambda: books.count("budget.receipt_evidence") == 1)
    row = books.row("SELECT * FROM budget.receipt_failures")
    assert (row["reason"], row["body"]) == ("invalid_event", None)
    assert row["body_bytes"] == len(body)
    assert "4111" not in str(row)
    taken = visitor.take(RESULTS_SIDE.dead)
    assert taken is not None
    assert taken.headers[REASON_HEADER] == "invalid_event"
    assert taken.body == body


def test_a_collector_that_is_asked_to_end_ends_well(collector: Collector) -> None:
    collector.daemon.stop()

    assert "Traceback" not in collector.log()


def test_it_waits_for_a_database_that_is_not_there(
    stack: Stack, books: Books, broker_url: str
) -> None:
    nowhere = "postgresql://someone:hidden@127.0.0.1:9/none"

    with collecting(stack, broker_url=broker_url, database_url=nowhere) as collector:
        eventually(lambda: Reason.DATABASE_UNAVAILABLE.sentence in collector.problems())

        assert "hidden" not in collector.log() + collector.problems()
    assert books.count("work.inbox") == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param({"DATABASE_URL": ""}, "DATABASE_URL", id="no database"),
        pytest.param({"RABBITMQ_URL": "http://hidden"}, "RABBITMQ_URL", id="no broker's address"),
        pytest.param({"DATABASE_URL": "hidden hidden"}, "DATABASE_URL", id="no connection string"),
    ],
)
def test_settings_that_cannot_be_used_are_named_and_never_shown(
    changes: dict[str, str], sentence: str
) -> None:
    given = process.environment(broker_url="amqp://there/", database_url="postgresql://there/x")
    settings = {name: value for name, value in {**given, **changes}.items() if value}

    ended = process.run_to_its_end(settings)

    assert ended.returncode == 1
    assert sentence in ended.stderr
    assert "hidden" not in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_database_that_was_never_set_up_is_named(database_admin_url: str) -> None:
    with services.fresh_database(database_admin_url, "never-set-up") as url:
        settings = process.environment(broker_url="amqp://127.0.0.1:9/", database_url=url)

        ended = process.run_to_its_end({**settings, "HEALTH_PORT": "0"})

        assert ended.returncode == 1
        assert "run `ledger database setup`" in ended.stderr
        schema.setup(url)


def message(event: ResultEvent) -> Message:
    return Message(
        exchange=RESULTS_SIDE.work,
        routing_key=RESULTS_SIDE.routing_key,
        body=results.encode(event),
        type=event.event_type,
        message_id=event.message_id,
    )


def dead(side: Side, body: bytes, reason: Reason) -> Message:
    return Message(
        exchange=side.dead,
        routing_key=side.routing_key,
        body=body,
        type="some-type",
        message_id="some-id",
        headers={REASON_HEADER: reason.value},
    )


def _passes(source: int) -> list[ResultEvent]:
    return [make_pass(number, run=source, source=source) for number in (1, 2)]


def _crash(visitor: Visitor) -> bool:
    """Take the work message and let it fall, as a worker that dies; True once it is dead."""
    method, _, _ = visitor.channel.basic_get(WORK_SIDE.work)
    if method is not None:
        visitor.channel.basic_reject(method.delivery_tag, requeue=True)
    return visitor.ready(WORK_SIDE.dead) == 1


def _waiting(books: Books) -> bool:
    row = books.row(
        """
        SELECT count(*) AS found FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
    )
    return bool(row["found"])
