"""What a broker holds after a delivery was worked on, failed, waited or was cut off."""

import threading

import pytest

from receipt_contract import work
from receipt_contract.errors import AttemptError, OutageError, PermanentError, Reason
from receipt_contract.topology import REASON_HEADER, RESULTS_SIDE, WORK_SIDE
from receipt_runtime.amqp.consumer import Patience
from receipt_runtime.amqp.messages import Message, Outcome
from receipt_runtime.amqp.publisher import Publisher
from tests.integration.amqp.desk import Desk
from tests.support.amqp import Visitor, consuming, eventually, make_work, work_message

WITH_MANY_DELIVERIES = 10


def _send(publisher: Publisher, *messages: Message) -> None:
    for message in messages:
        assert publisher.publish(message) is Outcome.PUBLISHED


def _deliver_often(visitor: Visitor, queue: str) -> None:
    """Deliver the first message of a queue again and again, as processes that die would."""
    for _ in range(WITH_MANY_DELIVERIES):
        method, _properties, _body = visitor.channel.basic_get(queue)
        visitor.channel.basic_reject(method.delivery_tag, requeue=True)


def test_what_is_done_leaves_the_queue(desk: Desk, visitor: Visitor) -> None:
    _send(desk.publisher, *(work_message(number) for number in range(5)))

    with desk.working():
        desk.person.saw(5)

    assert desk.person.seen == [f"some/{number}.png#1" for number in range(5)]
    assert visitor.ready(WORK_SIDE.work) == 0


def test_a_failed_attempt_goes_to_retry_with_the_next_number(desk: Desk, visitor: Visitor) -> None:
    desk.person.failures.append(AttemptError(Reason.TIMEOUT))
    _send(desk.publisher, work_message())

    with desk.working():
        eventually(lambda: visitor.ready(WORK_SIDE.retry) == 1)

    taken = visitor.take(WORK_SIDE.retry)
    assert taken is not None
    assert work.decode(taken.body) == make_work(attempt=2)
    assert taken.message_id == make_work().message_id
    assert taken.headers == {REASON_HEADER: "timeout"}


def test_a_permanent_failure_is_dead_at_once_and_known_to_the_collector(
    desk: Desk, visitor: Visitor
) -> None:
    desk.person.failures.append(PermanentError(Reason.ENCRYPTED))
    _send(desk.publisher, work_message())

    with desk.working():
        eventually(lambda: visitor.ready(WORK_SIDE.failures) == 1)

    for queue in (WORK_SIDE.dead, WORK_SIDE.failures):
        taken = visitor.take(queue)
        assert taken is not None
        assert taken.body == work_message().body
        assert taken.headers == {REASON_HEADER: "encrypted"}


def test_g6_a_malformed_message_is_set_aside_and_what_is_behind_it_is_done(
    desk: Desk, visitor: Visitor
) -> None:
    bad = Message(WORK_SIDE.work, WORK_SIDE.routing_key, b'\xff{"version":9}', "odd", "odd-id")
    _send(desk.publisher, bad, work_message())

    with desk.working():
        desk.person.saw(1)
        eventually(lambda: visitor.ready(WORK_SIDE.dead) == 1)

    taken = visitor.take(WORK_SIDE.dead)
    assert taken is not None
    assert (taken.body, taken.message_id, taken.type) == (bad.body, None, "receipt.process.v1")
    assert taken.headers == {REASON_HEADER: "invalid_message"}


def test_g1_a_delivery_waits_for_the_end_of_an_outage(desk: Desk, visitor: Visitor) -> None:
    desk.person.failures.extend([OutageError(Reason.SOURCE_UNAVAILABLE)] * 12)
    _send(desk.publisher, work_message(1), work_message(2))

    with desk.working():
        desk.person.saw(14)

    assert desk.person.seen == ["some/1.png#1"] * 13 + ["some/2.png#1"]
    assert visitor.ready(WORK_SIDE.work) == 0
    assert visitor.ready(WORK_SIDE.retry) == 0
    assert visitor.ready(WORK_SIDE.dead) == 0


def test_a_consumer_says_which_outage_it_waits_for(desk: Desk) -> None:
    desk.person.failures.extend([OutageError(Reason.NO_SPACE)] * 5)
    consumer = desk.consumer()

    with consuming(consumer):
        _send(desk.publisher, work_message())
        eventually(lambda: consumer.problems == [Reason.NO_SPACE.sentence])
        eventually(lambda: consumer.problems == [])


def test_others_get_what_was_prefetched_as_an_outage_began(desk: Desk, visitor: Visitor) -> None:
    desk.person.failures.extend([None, *[OutageError(Reason.NO_SPACE)] * 1000])
    _send(desk.publisher, *(work_message(number) for number in range(5)))

    with desk.working(prefetch=4):
        eventually(lambda: visitor.ready(WORK_SIDE.work) == 3)

    eventually(lambda: visitor.ready(WORK_SIDE.work) == 4)


def test_a_long_outage_gives_the_delivery_back_with_the_same_attempt(
    desk: Desk, visitor: Visitor
) -> None:
    desk.person.failures.extend([OutageError(Reason.NO_SPACE)] * 1000)
    _send(desk.publisher, work_message(attempt=2))

    with desk.working(patience=Patience(longest_pause=0.1, max_hold=0.5)):
        eventually(lambda: visitor.ready(WORK_SIDE.retry) == 1)

    taken = visitor.take(WORK_SIDE.retry)
    assert taken is not None
    assert taken.body == work_message(attempt=2).body
    assert taken.headers == {REASON_HEADER: "no_space"}
    assert visitor.ready(WORK_SIDE.work) == 0


def test_an_outage_gives_back_at_once_what_was_delivered_often(
    desk: Desk, visitor: Visitor
) -> None:
    desk.person.failures.extend([OutageError(Reason.NO_SPACE)] * 1000)
    _send(desk.publisher, work_message(1))

    with desk.working(patience=Patience(longest_pause=0.1, max_hold=3.0)):
        desk.person.saw(1)
        _send(desk.publisher, work_message(2))
        _deliver_often(visitor, WORK_SIDE.work)
        eventually(lambda: visitor.ready(WORK_SIDE.retry) == 2)

    assert desk.person.seen.count("some/2.png#1") == 1
    assert {taken.body for taken in visitor.take_all(WORK_SIDE.retry)} == {
        work_message(1).body,
        work_message(2).body,
    }


def test_g1_processes_that_die_over_a_delivery_use_its_attempts_up(
    desk: Desk, visitor: Visitor
) -> None:
    _send(desk.publisher, work_message())
    _deliver_often(visitor, WORK_SIDE.work)

    with desk.working():
        eventually(lambda: visitor.ready(WORK_SIDE.retry) == 1)

    taken = visitor.take(WORK_SIDE.retry)
    assert taken is not None
    assert desk.person.seen == []
    assert work.decode(taken.body) == make_work(attempt=2)
    assert taken.headers == {REASON_HEADER: "worker_crashed"}


def test_the_last_attempt_that_processes_died_over_is_dead(desk: Desk, visitor: Visitor) -> None:
    _send(desk.publisher, work_message(attempt=3))
    _deliver_often(visitor, WORK_SIDE.work)

    with desk.working():
        eventually(lambda: visitor.ready(WORK_SIDE.dead) == 1)

    taken = visitor.take(WORK_SIDE.dead)
    assert taken is not None
    assert taken.headers == {REASON_HEADER: "worker_crashed"}


def test_g1_what_cannot_be_republished_is_kept_and_not_worked_on_again(
    desk: Desk, visitor: Visitor
) -> None:
    desk.person.failures.append(AttemptError(Reason.KILLED))
    desk.person.may_finish.clear()
    _send(desk.publisher, work_message())

    with desk.working():
        desk.person.saw(1)
        visitor.channel.queue_delete(WORK_SIDE.retry)  # the republication will be returned
        desk.person.may_finish.set()
        eventually(lambda: visitor.ready(WORK_SIDE.retry) == 1)

    assert desk.person.seen == ["some/1.png#1"]


def test_g1_a_failures_queue_survives_any_number_of_redeliveries(
    desk: Desk, visitor: Visitor
) -> None:
    for side in (WORK_SIDE, RESULTS_SIDE):
        _send(desk.publisher, Message(side.dead, side.routing_key, b"{}", "odd", side.prefix))
        for _ in range(3):
            _deliver_often(visitor, side.failures)
    desk.person.failures.extend([RuntimeError("a bug"), OutageError(Reason.DATABASE_UNAVAILABLE)])

    with desk.keeping(WORK_SIDE.failures, RESULTS_SIDE.failures):
        desk.person.saw(4)

    assert sorted(set(desk.person.seen)) == [RESULTS_SIDE.prefix, WORK_SIDE.prefix]
    assert visitor.ready(WORK_SIDE.failures) == visitor.ready(RESULTS_SIDE.failures) == 0


def test_stopping_while_idle_is_quick_and_clean(desk: Desk) -> None:
    consumer = desk.consumer()
    with consuming(consumer) as thread:
        eventually(lambda: consumer.problems == [])

    assert not thread.is_alive()


def test_stopping_while_busy_finishes_and_acknowledges_what_is_in_hand(
    desk: Desk, visitor: Visitor
) -> None:
    desk.person.may_finish.clear()
    stop = threading.Event()
    thread = threading.Thread(target=desk.consumer(prefetch=3).run, args=(stop,))
    _send(desk.publisher, *(work_message(number) for number in range(3)))
    thread.start()
    desk.person.saw(1)
    stop.set()
    desk.person.may_finish.set()
    thread.join()

    assert desk.person.seen == ["some/0.png#1"]
    eventually(lambda: visitor.ready(WORK_SIDE.work) == 2)


def test_stopping_does_not_wait_longer_than_its_grace(desk: Desk, visitor: Visitor) -> None:
    desk.person.may_finish.clear()
    _send(desk.publisher, work_message())

    with desk.working(patience=Patience(grace=0.2)):
        desk.person.saw(1)

    eventually(lambda: visitor.ready(WORK_SIDE.work) == 1)
    desk.person.may_finish.set()


def test_stopping_while_a_delivery_is_held_leaves_it_to_others(
    desk: Desk, visitor: Visitor
) -> None:
    desk.person.failures.extend([OutageError(Reason.NO_SPACE)] * 1000)
    _send(desk.publisher, work_message())

    with desk.working():
        desk.person.saw(2)

    eventually(lambda: visitor.ready(WORK_SIDE.work) == 1)


@pytest.mark.parametrize("prefetch", [1, 5])
def test_every_delivery_of_many_is_worked_on_once(
    desk: Desk, visitor: Visitor, prefetch: int
) -> None:
    futures = [desk.publisher.submit(work_message(number)) for number in range(300)]
    assert {future.result() for future in futures} == {Outcome.PUBLISHED}

    with desk.working(prefetch=prefetch):
        desk.person.saw(300)

    assert sorted(desk.person.seen) == sorted(f"some/{number}.png#1" for number in range(300))
    assert visitor.ready(WORK_SIDE.work) == 0
