"""An operator's desk in a database, and a broker to send to."""

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.integration.collector.books import Books
from tests.integration.operator.desk import Desk, opened
from tests.integration.operator.post import Post
from tests.support import services
from tests.support.services import Broker


@pytest.fixture
async def desk(books: Books) -> AsyncIterator[Desk]:
    """Give an operator that holds the lease."""
    async with opened(books.url) as database:
        yield Desk(database, books)


@pytest.fixture
def vhost(broker: Broker) -> Iterator[str]:
    """Give a virtual host of this test alone."""
    name = f"test-{secrets.token_hex(4)}"
    with services.fresh_vhost(broker, name):
        yield name


@pytest.fixture
def post(broker: Broker, vhost: str) -> Iterator[Post]:
    """Give a publisher on a virtual host of its own, and a look at the queues there."""
    opened_post = Post(broker, vhost)
    yield opened_post
    opened_post.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give an empty receipts root."""
    folder = tmp_path / "receipts"
    folder.mkdir()
    return folder
