"""What each user of the broker may do and may not, where every process has its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pika
import pytest
from pika.exceptions import ChannelClosedByBroker

from dev.rabbitmq_api import ApiError
from receipt_contract.access import ACCESS, BrokerUser
from receipt_contract.topology import SIDES, WORK_SIDE
from receipt_runtime.amqp import preflight
from receipt_runtime.amqp.connection import RefusedError
from receipt_runtime.amqp.publisher import Publisher
from tests.support.amqp import eventually
from tests.support.logins import BrokerLogins
from tests.support.services import Broker

EXCHANGES = tuple(exchange for side in SIDES for exchange in side.exchanges)
QUEUES = {queue.name: queue for side in SIDES for queue in side.queues}
DEFAULT_EXCHANGE = ""  # carries a message to any queue by its name
REFUSED = 403


@pytest.fixture
def logins(broker: Broker, url: str) -> Iterator[BrokerLogins]:
    """Give a login for each user of this test's virtual host."""
    logins = BrokerLogins(broker, url)
    yield logins
    logins.close()


class Hand:
    """One user's connection; a refusal closes a channel, so each try has its own."""

    def __init__(self, connection: pika.BlockingConnection) -> None:
        self._connection = connection

    def may(self, act: Callable[[Any], object]) -> bool:
        channel = self._connection.channel()
        try:
            act(channel)
        except ChannelClosedByBroker as refusal:
            if refusal.reply_code != REFUSED:
                raise
            return False
        channel.close()
        return True

    def may_publish(self, exchange: str) -> bool:
        def publish(channel: Any) -> None:
            channel.confirm_delivery()
            channel.basic_publish(exchange, WORK_SIDE.work, b"{}")

        return self.may(publish)

    def may_take(self, queue: str) -> bool:
        return self.may(lambda channel: channel.basic_get(queue))

    def may_delete(self, queue: str) -> bool:
        return self.may(lambda channel: channel.queue_delete(queue))

    def may_declare(self, queue: str) -> bool:
        arguments = dict(QUEUES[queue].arguments)
        return self.may(
            lambda channel: channel.queue_declare(queue, durable=True, arguments=arguments)
        )


@contextmanager
def _hand(url: str) -> Iterator[Hand]:
    connection = pika.BlockingConnection(pika.URLParameters(url))
    try:
        yield Hand(connection)
    finally:
        connection.close()


@pytest.mark.parametrize("user", BrokerUser)
def test_g9_a_broker_user_may_publish_consume_and_configure_what_it_needs_and_nothing_else(
    logins: BrokerLogins, user: BrokerUser
) -> None:
    preflight.declare_topology(logins.url(BrokerUser.TOPOLOGY))

    access = ACCESS[user]
    with _hand(logins.url(user)) as hand:
        published = set(filter(hand.may_publish, (*EXCHANGES, DEFAULT_EXCHANGE)))
        taken = set(filter(hand.may_take, QUEUES))
        declared = set(filter(hand.may_declare, QUEUES))
        deleted = set(filter(hand.may_delete, QUEUES))

    assert published == set(EXCHANGES) & set(access.writes)
    assert taken == set(QUEUES) & set(access.reads)
    assert declared == set(QUEUES) & set(access.configures)
    assert deleted == declared


@pytest.mark.parametrize("user", [BrokerUser.OPERATOR, BrokerUser.WORKER, BrokerUser.COLLECTOR])
def test_g9_a_process_that_may_configure_nothing_waits_for_the_topology_and_then_works(
    logins: BrokerLogins, user: BrokerUser
) -> None:
    publisher = Publisher(logins.url(user), name="test-least", checks=ACCESS[user])
    publisher.start()

    try:
        first = (*ACCESS[user].reads, *ACCESS[user].writes)[0]
        eventually(lambda: publisher.problem and publisher.problem.startswith(first))
        preflight.declare_topology(logins.url(BrokerUser.TOPOLOGY))
        eventually(lambda: publisher.connected)
    finally:
        publisher.close()


def test_g9_a_process_that_declares_as_a_user_who_may_not_says_what_is_wrong(
    logins: BrokerLogins,
) -> None:
    preflight.declare_topology(logins.url(BrokerUser.TOPOLOGY))

    with pytest.raises(RefusedError, match="lacks a permission"):
        preflight.declare_topology(logins.url(BrokerUser.OPERATOR))


def test_g9_the_scaler_sees_the_length_of_the_queue_and_can_change_nothing(
    logins: BrokerLogins,
) -> None:
    preflight.declare_topology(logins.url(BrokerUser.TOPOLOGY))
    with _hand(logins.url(BrokerUser.OPERATOR)) as hand:
        assert hand.may(
            lambda channel: channel.basic_publish(WORK_SIDE.work, WORK_SIDE.routing_key, b"{}")
        )
    scaler = logins.api(BrokerUser.SCALER)

    eventually(lambda: scaler.ready(logins.vhost, WORK_SIDE.work) == 1)
    forbidden: list[Callable[[], object]] = [
        lambda: scaler.purge(logins.vhost, WORK_SIDE.work),
        lambda: scaler.create_user("another", "secret"),
        lambda: scaler.permit(logins.vhost, "another", ACCESS[BrokerUser.TOPOLOGY].patterns),
    ]
    for act in forbidden:
        with pytest.raises(ApiError):
            act()
