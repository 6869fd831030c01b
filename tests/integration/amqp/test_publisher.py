"""Each publication has one outcome, and it is the true one."""

import threading
from collections import Counter
from concurrent.futures import Future

import pytest

from receipt_contract.topology import RESULTS_SIDE, WORK_SIDE
from receipt_runtime.amqp.messages import Message, Outcome
from receipt_runtime.amqp.publisher import Publisher
from tests.support.amqp import Visitor, eventually, work_message

ANYTHING = Message("", "", b"{}", "some.type", "some-id")
SMALL_LIMIT = 5


def _to(exchange: str, routing_key: str, message_id: str = "some-id") -> Message:
    return Message(exchange, routing_key, b"{}", "some.type", message_id)


def test_a_message_is_published_with_the_properties_of_the_contract(
    publisher: Publisher, visitor: Visitor
) -> None:
    message = work_message()

    assert publisher.publish(message) is Outcome.PUBLISHED

    method, properties, body = visitor.channel.basic_get(WORK_SIDE.work, auto_ack=True)
    assert (method.exchange, method.routing_key) == (WORK_SIDE.work, WORK_SIDE.routing_key)
    assert body == message.body
    assert properties.message_id == message.message_id
    assert properties.type == "receipt.process.v1"
    assert properties.content_type == "application/json"
    assert properties.content_encoding == "utf-8"
    assert properties.delivery_mode == 2
    assert properties.timestamp > 1_700_000_000


def test_both_sides_are_declared_before_use(publisher: Publisher, visitor: Visitor) -> None:
    assert publisher.publish(work_message()) is Outcome.PUBLISHED

    for side in (WORK_SIDE, RESULTS_SIDE):
        for queue in side.queues:
            assert visitor.ready(queue.name) in {0, 1}


def test_what_goes_to_dead_reaches_the_failures_queue_too(
    publisher: Publisher, visitor: Visitor
) -> None:
    assert publisher.publish(_to(WORK_SIDE.dead, WORK_SIDE.routing_key)) is Outcome.PUBLISHED

    eventually(lambda: visitor.ready(WORK_SIDE.dead) == 1)
    eventually(lambda: visitor.ready(WORK_SIDE.failures) == 1)


def test_an_unroutable_message_is_returned_and_others_are_not(publisher: Publisher) -> None:
    lost = [publisher.submit(_to(WORK_SIDE.work, "nowhere", f"lost-{n}")) for n in range(20)]
    fine = [publisher.submit(work_message(number)) for number in range(20)]

    assert {future.result() for future in lost} == {Outcome.RETURNED}
    assert {future.result() for future in fine} == {Outcome.PUBLISHED}


def test_a_returned_message_has_the_topology_declared_again(
    publisher: Publisher, visitor: Visitor
) -> None:
    assert publisher.publish(work_message()) is Outcome.PUBLISHED
    visitor.channel.queue_delete(WORK_SIDE.work)

    assert publisher.publish(work_message()) is Outcome.RETURNED

    eventually(lambda: publisher.publish(work_message()) is Outcome.PUBLISHED)


def test_a_full_queue_refuses(publisher: Publisher, visitor: Visitor) -> None:
    visitor.channel.queue_declare(
        "small",
        durable=True,
        arguments={
            "x-queue-type": "quorum",
            "x-max-length": SMALL_LIMIT,
            "x-overflow": "reject-publish",
        },
    )

    outcomes = Counter(publisher.publish(_to("", "small")) for _ in range(SMALL_LIMIT * 10))

    assert outcomes[Outcome.PUBLISHED] == visitor.ready("small")
    assert outcomes[Outcome.NACKED] == SMALL_LIMIT * 10 - outcomes[Outcome.PUBLISHED]
    assert outcomes[Outcome.NACKED] > SMALL_LIMIT


def test_a_missing_exchange_costs_the_window_and_no_more(publisher: Publisher) -> None:
    assert publisher.publish(_to("no.such.exchange", "key")) is Outcome.UNCERTAIN

    assert publisher.publish(work_message()) is Outcome.PUBLISHED


@pytest.mark.parametrize("window", [1, 10, 200])
def test_many_threads_share_a_window(url: str, visitor: Visitor, window: int) -> None:
    publisher = Publisher(url, name="test-threads", window=window)
    publisher.start()
    futures: list[Future[Outcome]] = []

    def send(first: int) -> None:
        futures.extend(publisher.submit(work_message(first + n)) for n in range(100))

    threads = [threading.Thread(target=send, args=(100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    publisher.close()

    assert Counter(future.result(0) for future in futures) == {Outcome.PUBLISHED: 400}
    assert visitor.ready(WORK_SIDE.work) == 400


def test_g1_closing_waits_for_every_confirm(url: str, visitor: Visitor) -> None:
    publisher = Publisher(url, name="test-closing", window=1000)
    publisher.start()
    futures = [publisher.submit(work_message(number)) for number in range(1000)]
    publisher.close()

    assert Counter(future.result(0) for future in futures) == {Outcome.PUBLISHED: 1000}
    assert visitor.ready(WORK_SIDE.work) == 1000


def test_a_closed_publisher_sends_nothing(url: str) -> None:
    publisher = Publisher(url, name="test-closed")
    publisher.start()
    publisher.close()

    assert publisher.publish(work_message()) is Outcome.NOT_SENT


def test_a_future_cannot_be_cancelled(publisher: Publisher) -> None:
    future = publisher.submit(work_message())

    assert not future.cancel()
    assert future.result() is Outcome.PUBLISHED


def test_age_of_the_last_confirm_is_known(publisher: Publisher) -> None:
    assert publisher.last_confirm_age is None

    publisher.publish(work_message())

    assert publisher.connected
    assert publisher.problem is None
    assert publisher.last_confirm_age is not None
