"""No publication loses its outcome, and no confirmed message is lost, whatever the broker does."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from dev.rabbitmq import RabbitMQ
from receipt_contract.errors import Reason
from receipt_contract.topology import WORK_SIDE
from receipt_runtime.amqp.messages import Outcome
from receipt_runtime.amqp.publisher import Limits, Publisher
from tests.integration.amqp.desk import Desk
from tests.support.amqp import Visitor, eventually, visiting, work_message

QUICK = Limits(slot=1.0, send=1.0, confirm=3.0, drain=1.0)
AT_ONCE = Limits(slot=0.2, send=0.2, confirm=3.0)
NOT_ACCEPTED = {Outcome.NOT_SENT, Outcome.UNCERTAIN}
TOO_LITTLE_MEMORY = "0.0000001"
ENOUGH_MEMORY = "0.4"


@pytest.fixture
def quick(server: RabbitMQ, url: str) -> Iterator[Publisher]:
    """Give a publisher that gives up early, on a broker to strike."""
    assert server.is_healthy()
    publisher = Publisher(url, name="test-quick", limits=QUICK)
    publisher.start()
    yield publisher
    publisher.close()


@contextmanager
def _alarm(server: RabbitMQ) -> Iterator[None]:
    """Make the broker short of memory for a while."""
    server.control("set_vm_memory_high_watermark", TOO_LITTLE_MEMORY)
    try:
        yield
    finally:
        server.control("set_vm_memory_high_watermark", ENOUGH_MEMORY)


def test_g1_no_confirmed_message_is_missing_after_the_broker_was_killed(
    server: RabbitMQ, url: str
) -> None:
    publisher = Publisher(url, name="test-killed", window=500, limits=AT_ONCE)
    publisher.start()
    futures: dict[str, Future[Outcome]] = {}
    enough = threading.Event()

    def send() -> None:
        for number in range(10_000):
            message = work_message(number)
            futures[str(message.message_id)] = publisher.submit(message)
            if number == 3_000:
                enough.set()

    sender = threading.Thread(target=send)
    sender.start()
    assert enough.wait(60)
    server.kill()
    sender.join()
    outcomes = {message_id: future.result(30) for message_id, future in futures.items()}
    server.start()
    eventually(lambda: publisher.publish(work_message(0)) is Outcome.PUBLISHED)
    publisher.close()
    with visiting(url) as visitor:
        present = {taken.message_id for taken in visitor.take_all(WORK_SIDE.work)}

    confirmed = {name for name, outcome in outcomes.items() if outcome is Outcome.PUBLISHED}
    assert confirmed
    assert confirmed <= present
    assert Outcome.UNCERTAIN in outcomes.values()
    assert Outcome.NOT_SENT in outcomes.values()
    never_sent = {name for name, outcome in outcomes.items() if outcome is Outcome.NOT_SENT}
    assert not never_sent & present - {work_message(0).message_id}


def test_without_a_broker_nothing_is_sent_and_the_reason_is_known(
    server: RabbitMQ, quick: Publisher
) -> None:
    eventually(lambda: quick.connected)
    server.kill()

    eventually(lambda: quick.publish(work_message()) is Outcome.NOT_SENT)
    assert not quick.connected
    assert quick.problem == Reason.BROKER_UNAVAILABLE.sentence

    server.start()
    eventually(lambda: quick.publish(work_message()) is Outcome.PUBLISHED)
    assert quick.problem is None


def test_g1_a_broker_that_comes_back_empty_has_its_topology_again(
    server: RabbitMQ, quick: Publisher
) -> None:
    assert quick.publish(work_message()) is Outcome.PUBLISHED

    server.wipe()

    eventually(lambda: quick.publish(work_message()) is Outcome.PUBLISHED)


def test_an_alarm_bounds_every_outcome_and_stores_nothing_unsent(
    server: RabbitMQ, quick: Publisher, desk: Desk, visitor: Visitor
) -> None:
    assert quick.publish(work_message(0)) is Outcome.PUBLISHED
    desk.person.may_finish.clear()

    with desk.working(), _alarm(server):
        desk.person.saw(1)
        outcomes = {number: quick.publish(work_message(number)) for number in range(1, 5)}
        problem = quick.problem
        desk.person.may_finish.set()  # consuming and acknowledging go on

    assert set(outcomes.values()) <= NOT_ACCEPTED
    assert outcomes[4] is Outcome.NOT_SENT
    assert problem == "The message broker asks publishers to wait: it is short of memory or disk."
    eventually(lambda: quick.publish(work_message(9)) is Outcome.PUBLISHED)
    unsent = {n for n, outcome in outcomes.items() if outcome is Outcome.NOT_SENT}
    stored = {taken.body for taken in visitor.take_all(WORK_SIDE.work)}
    assert not stored & {work_message(number).body for number in unsent}


def test_closing_during_an_alarm_ends(server: RabbitMQ, url: str) -> None:
    publisher = Publisher(url, name="test-alarm", limits=QUICK)
    publisher.start()
    assert publisher.publish(work_message()) is Outcome.PUBLISHED

    with _alarm(server):
        future = publisher.submit(work_message())
        publisher.close()

    assert future.result(0) in NOT_ACCEPTED


def test_a_frozen_broker_bounds_every_outcome(server: RabbitMQ, quick: Publisher) -> None:
    assert quick.publish(work_message()) is Outcome.PUBLISHED
    server.pause()

    outcomes = [quick.publish(work_message(number)) for number in range(3)]

    assert outcomes[0] is Outcome.UNCERTAIN
    assert set(outcomes) <= NOT_ACCEPTED
    server.resume()
    eventually(lambda: quick.publish(work_message()) is Outcome.PUBLISHED)


def test_closing_on_a_frozen_broker_ends(server: RabbitMQ, url: str) -> None:
    publisher = Publisher(url, name="test-frozen", limits=QUICK)
    publisher.start()
    assert publisher.publish(work_message()) is Outcome.PUBLISHED
    server.pause()
    future = publisher.submit(work_message())

    publisher.close()

    assert future.result(0) in NOT_ACCEPTED


def test_a_publisher_that_starts_on_a_frozen_broker_can_be_closed(
    server: RabbitMQ, url: str
) -> None:
    server.pause()
    publisher = Publisher(url, name="test-frozen-start", limits=QUICK)
    publisher.start()

    assert publisher.publish(work_message()) is Outcome.NOT_SENT

    publisher.close()


def test_a_full_window_does_not_block_for_ever(server: RabbitMQ, url: str) -> None:
    publisher = Publisher(url, name="test-window", window=2, limits=QUICK)
    publisher.start()
    server.pause()

    futures = [publisher.submit(work_message(number)) for number in range(5)]

    assert {future.result(30) for future in futures} <= NOT_ACCEPTED
    publisher.close()
