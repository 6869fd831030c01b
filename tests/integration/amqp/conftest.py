"""A virtual host for each test, and a publisher on it."""

import secrets
from collections.abc import Iterator

import pytest

from dev.rabbitmq import RabbitMQ
from receipt_runtime.amqp.publisher import Publisher
from tests.integration.amqp.desk import Desk
from tests.support import services
from tests.support.amqp import Visitor, visiting
from tests.support.services import Broker


@pytest.fixture
def url(broker: Broker) -> Iterator[str]:
    """Give a virtual host of this test alone."""
    with services.fresh_vhost(broker, f"test-{secrets.token_hex(4)}") as url:
        yield url


@pytest.fixture
def visitor(url: str) -> Iterator[Visitor]:
    """Give a look at the queues from outside."""
    with visiting(url) as visitor:
        yield visitor


@pytest.fixture
def publisher(url: str) -> Iterator[Publisher]:
    """Give a running publisher."""
    publisher = Publisher(url, name="test-publisher")
    publisher.start()
    yield publisher
    publisher.close()


@pytest.fixture
def desk(url: str, publisher: Publisher) -> Desk:
    """Give consumers with a person behind them."""
    return Desk(url, publisher)


@pytest.fixture
def server(rabbitmq_server: RabbitMQ, url: str) -> Iterator[RabbitMQ]:
    """Give a broker to strike; it runs again before the test's virtual host is taken away."""
    assert rabbitmq_server.url().rpartition("/")[0] == url.rpartition("/")[0]
    yield rabbitmq_server
    rabbitmq_server.resume()
    rabbitmq_server.start()
