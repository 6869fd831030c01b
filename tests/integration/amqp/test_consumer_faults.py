"""Deliveries survive what happens to broker, connection, queue and process."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from dev.rabbitmq import RabbitMQ
from receipt_contract import work
from receipt_contract.access import ACCESS, BrokerUser
from receipt_contract.errors import AttemptError, Reason
from receipt_contract.topology import DELIVERY_LIMIT, REASON_HEADER, WORK_SIDE
from receipt_runtime.amqp import preflight
from receipt_runtime.amqp.messages import Message, Outcome
from receipt_runtime.amqp.publisher import Publisher
from tests.integration.amqp import dying
from tests.integration.amqp.desk import CONSUMER, Desk
from tests.support.amqp import Visitor, consuming, eventually, make_work, visiting, work_message
from tests.support.pipeline import vhost_of

CHECKOUT = Path(__file__).resolve().parents[3]
SHORT_HEARTBEAT_SECONDS = 1
RETRY_SECONDS = 15.0  # a quarter of the real pause, and longer than a look at the queue takes
LONG_WORK_SECONDS = 3.5 * SHORT_HEARTBEAT_SECONDS


def _send(publisher: Publisher, *numbers: int) -> None:
    for message in map(work_message, numbers):
        while publisher.publish(message) is not Outcome.PUBLISHED:
            time.sleep(0.1)


def _short_heartbeat(desk: Desk) -> Desk:
    return Desk(f"{desk.url}?heartbeat={SHORT_HEARTBEAT_SECONDS}", desk.publisher, desk.person)


def test_work_longer_than_heartbeats_is_one_delivery(desk: Desk, visitor: Visitor) -> None:
    desk.person.may_finish.clear()
    _send(desk.publisher, 1)

    with _short_heartbeat(desk).working():
        desk.person.saw(1)
        time.sleep(LONG_WORK_SECONDS)
        desk.person.may_finish.set()

    assert desk.person.seen == ["some/1.png#1"]
    assert visitor.ready(WORK_SIDE.work) == 0


def test_g1_a_connection_lost_while_busy_costs_one_repetition(
    server: RabbitMQ, desk: Desk, url: str
) -> None:
    desk.person.may_finish.clear()
    _send(desk.publisher, 1, 2)

    with desk.working():
        desk.person.saw(1)
        before = _lost_connections()
        server.control("close_all_connections", "--global", "test")
        eventually(lambda: desk.publisher.publish(work_message(3)) is Outcome.PUBLISHED)
        desk.person.may_finish.set()
        desk.person.saw(4)
        lost = _lost_connections() - before

    assert lost == 1  # an acknowledgement of the old connection would cost the new one too
    assert sorted(desk.person.seen) == [
        "some/1.png#1",
        "some/1.png#1",
        "some/2.png#1",
        "some/3.png#1",
    ]
    with visiting(url) as visitor:
        assert visitor.ready(WORK_SIDE.work) == 0


def test_a_queue_deleted_and_made_again_is_consumed_again(desk: Desk, visitor: Visitor) -> None:
    with desk.working():
        _send(desk.publisher, 1)
        desk.person.saw(1)
        visitor.channel.queue_delete(WORK_SIDE.work)
        _send(desk.publisher, 2)
        eventually(lambda: "some/2.png#1" in desk.person.seen)


def test_a_consumer_that_the_broker_forgot_comes_back(desk: Desk, visitor: Visitor) -> None:
    """A queue made again at once keeps its consumers registered and brings them nothing."""
    with desk.working():
        _send(desk.publisher, 1)
        desk.person.saw(1)
        visitor.channel.queue_delete(WORK_SIDE.work)
        preflight.declare_topology(desk.url)
        _send(desk.publisher, 2, 3, 4)
        eventually(lambda: {f"some/{n}.png#1" for n in (2, 3, 4)} <= set(desk.person.seen))


def test_a_consumer_timeout_does_not_end_consuming(
    server: RabbitMQ, desk: Desk, visitor: Visitor
) -> None:
    _set_consumer_timeout(server, timeout_ms=1_000, tick_ms=500)
    try:
        desk.person.may_finish.clear()
        _send(desk.publisher, 1)
        with desk.working():
            desk.person.saw(1)
            before = _lost_connections()
            eventually(lambda: _lost_connections() > before)
            desk.person.may_finish.set()
            desk.person.saw(2)
            _send(desk.publisher, 2)
            desk.person.saw(3)
    finally:
        _set_consumer_timeout(server, timeout_ms=1_800_000, tick_ms=60_000)

    assert desk.person.seen == ["some/1.png#1", "some/1.png#1", "some/2.png#1"]
    assert visitor.ready(WORK_SIDE.work) == 0


def test_g1_a_broker_killed_while_busy_costs_one_repetition(
    server: RabbitMQ, desk: Desk, url: str
) -> None:
    desk.person.may_finish.clear()
    _send(desk.publisher, 1)

    with desk.working():
        desk.person.saw(1)
        server.kill()
        server.start()
        desk.person.may_finish.set()
        _send(desk.publisher, 2)
        desk.person.saw(3)

    assert sorted(desk.person.seen) == ["some/1.png#1", "some/1.png#1", "some/2.png#1"]
    with visiting(url) as visitor:
        assert visitor.ready(WORK_SIDE.work) == 0


def test_a_frozen_broker_is_noticed_by_its_silence(server: RabbitMQ, desk: Desk) -> None:
    quick = _short_heartbeat(desk)
    consumer = quick.consumer()

    with consuming(consumer):
        _send(desk.publisher, 1)
        desk.person.saw(1)
        server.pause()
        eventually(lambda: consumer.problems == [Reason.BROKER_UNAVAILABLE.sentence])
        server.resume()
        _send(desk.publisher, 2)
        eventually(lambda: "some/2.png#1" in desk.person.seen)


@pytest.mark.parametrize("struck", ["killed", "frozen"])
def test_stopping_without_a_broker_ends(server: RabbitMQ, desk: Desk, struck: str) -> None:
    consumer = desk.consumer()
    with consuming(consumer) as thread:
        eventually(lambda: consumer.problems == [])
        if struck == "killed":
            server.kill()
            eventually(lambda: consumer.problems != [])
        else:
            server.pause()

    assert not thread.is_alive()


def test_starting_on_a_frozen_broker_can_be_stopped(server: RabbitMQ, desk: Desk) -> None:
    server.pause()

    with desk.working() as thread:
        time.sleep(0.5)

    assert not thread.is_alive()


def test_g1_what_was_dead_and_sent_again_survives_retries_and_a_restart(
    server: RabbitMQ, url: str
) -> None:
    """The broker buries a message, a person sends it again, and it is retried once more.

    A quorum queue drops what seems to go in a circle, so no header of the broker may go along.
    """
    server.api.hurry_queue(vhost_of(url), WORK_SIDE.retry, seconds=RETRY_SECONDS)
    publisher = Publisher(url, name="test-again")
    publisher.start()
    _send(publisher, 1)
    with visiting(url) as visitor:
        _bury(visitor)
        dead = visitor.take(WORK_SIDE.dead)
        assert dead is not None
        assert "x-death" in dead.headers
        again = Message(
            WORK_SIDE.work, WORK_SIDE.routing_key, dead.body, str(dead.type), dead.message_id
        )
    assert publisher.publish(again) is Outcome.PUBLISHED
    desk = Desk(url, publisher)
    desk.person.failures.append(AttemptError(Reason.KILLED))

    with desk.working():
        desk.person.saw(1)
        eventually(lambda: _ready(url, WORK_SIDE.retry) == 1)
        server.kill()
        server.start()
        eventually(lambda: len(desk.person.seen) >= 2, within=120)

    publisher.close()
    assert desk.person.seen == ["some/1.png#1", "some/1.png#2"]
    assert _ready(url, WORK_SIDE.work) == _ready(url, WORK_SIDE.retry) == 0


def test_a_process_that_is_killed_leaves_its_delivery_to_others(
    desk: Desk, visitor: Visitor
) -> None:
    _send(desk.publisher, 1)
    with _dying(desk.url, 1, "wait") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{dying.DEADLY} 0\n"
        process.kill()

    with desk.working():
        desk.person.saw(1)

    assert visitor.ready(WORK_SIDE.work) == 0


def test_a_process_that_is_asked_to_end_while_idle_ends_well(desk: Desk) -> None:
    _send(desk.publisher, 2)
    with _dying(desk.url, 1, "exit") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "some/2.png 0\n"
        process.terminate()

        assert process.wait(30) == 0


def test_g6_a_receipt_that_kills_processes_harms_no_other(desk: Desk, visitor: Visitor) -> None:
    """Each death counts against every delivery in hand, so only one is in hand at first."""
    _send(desk.publisher, 1, 2, 3, 4)
    seen = []

    while visitor.ready(WORK_SIDE.retry) == 0:
        with _dying(desk.url, 3, "exit") as process:
            while process.poll() is None and visitor.ready(WORK_SIDE.retry) == 0:
                time.sleep(0.1)
            process.terminate()
            seen.extend(process.communicate()[0].splitlines())

    others = [line.split()[0] for line in seen if not line.startswith(dying.DEADLY)]
    with desk.working():
        desk.person.saw(3 - len(others))
    (taken,) = visitor.take_all(WORK_SIDE.retry)
    assert work.decode(taken.body) == make_work(1, attempt=2)
    assert taken.headers == {REASON_HEADER: "worker_crashed"}
    done = [*others, *(name.removesuffix("#1") for name in desk.person.seen)]
    assert sorted(done) == ["some/2.png", "some/3.png", "some/4.png"]
    assert [line for line in seen if line.startswith(dying.DEADLY)] == [
        f"{dying.DEADLY} {count}" for count in range(10)
    ]


def test_a_drifted_queue_is_named_and_consumed_once_it_is_right(
    desk: Desk, visitor: Visitor
) -> None:
    visitor.channel.queue_delete(WORK_SIDE.work)
    visitor.channel.queue_declare(
        WORK_SIDE.work, durable=True, arguments={"x-queue-type": "quorum", "x-max-length": 5}
    )
    consumer = desk.consumer()
    with consuming(consumer):
        eventually(lambda: consumer.problems and WORK_SIDE.work in consumer.problems[0])
        (problem,) = consumer.problems
        visitor.channel.queue_delete(WORK_SIDE.work)
        _send(desk.publisher, 1)
        desk.person.saw(1)

    assert problem.startswith(f"{WORK_SIDE.work}: x-")
    assert problem.endswith("Drain and delete it, then run `ledger topology declare`.")


def test_a_checking_process_waits_for_the_topology(url: str) -> None:
    publisher = Publisher(url, name="test-checking", checks=ACCESS[BrokerUser.OPERATOR])
    publisher.start()
    desk = Desk(url, publisher)
    consumer = desk.consumer(checks=ACCESS[BrokerUser.WORKER])

    with consuming(consumer):
        missing = f"{WORK_SIDE.work} is missing on the broker; `ledger topology declare` makes it."
        eventually(lambda: consumer.problems == [missing])
        assert publisher.publish(work_message()) is Outcome.NOT_SENT
        preflight.declare_topology(url)
        _send(publisher, 1)
        desk.person.saw(1)
    publisher.close()


def _ready(url: str, queue: str) -> int:
    with visiting(url) as visitor:
        return visitor.ready(queue)


def _bury(visitor: Visitor) -> None:
    """Deliver the first message of the work queue until the broker has enough of it."""
    for _ in range(DELIVERY_LIMIT + 1):
        method, _properties, _body = visitor.channel.basic_get(WORK_SIDE.work)
        visitor.channel.basic_reject(method.delivery_tag, requeue=True)
    eventually(lambda: visitor.ready(WORK_SIDE.dead) == 1)


def _lost_connections() -> float:
    return REGISTRY.get_sample_value("receipts_reconnects_total", {"link": CONSUMER}) or 0.0


def _set_consumer_timeout(server: RabbitMQ, *, timeout_ms: int, tick_ms: int) -> None:
    server.control(
        "eval",
        f"application:set_env(rabbit, consumer_timeout, {timeout_ms}),"
        f" application:set_env(rabbit, channel_tick_interval, {tick_ms}).",
    )


def _dying(url: str, prefetch: int, manner: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", dying.__name__, url, str(prefetch), manner],
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
    )
