"""A database with the whole schema, for tests that look into its tables."""

from collections.abc import Iterator

import pytest

from receipt_collector import schema
from tests.integration.collector.books import Books


@pytest.fixture(scope="module")
def schema_url(database_url: str) -> str:
    """Set a database up."""
    schema.setup(database_url)
    return database_url


@pytest.fixture
def books(schema_url: str) -> Iterator[Books]:
    """Open the tables as a test reads and fills them; empty at first."""
    opened = Books(schema_url)
    opened.empty()
    yield opened
    opened.close()
