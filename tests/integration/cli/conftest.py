"""What every command needs: a set-up database, queues, a receipts root."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from receipt_contract import work
from receipt_contract.topology import WORK_SIDE
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from tests.support import ledger
from tests.support.amqp import Visitor
from tests.support.ledger import Ran


@dataclass(frozen=True)
class Desk:
    """A person at the command line, with a root, a cache and all addresses in the environment."""

    root: Path
    cache: Path
    env: Mapping[str, str]
    visitor: Visitor

    def run(self, *arguments: object, **changed: str) -> Ran:
        """Run `ledger`; keyword arguments change the environment."""
        return ledger.run(*arguments, env={**self.env, **changed})

    def sent(self) -> list[ProcessWork | ReprocessWork | CacheRebuildWork]:
        """Take all work out of the queue, in its order."""
        return [work.decode(taken.body) for taken in self.visitor.take_all(WORK_SIDE.work)]


@pytest.fixture(scope="module")
def prepared(rabbitmq_url: str, database_url: str) -> dict[str, str]:
    """Set up the module's database and queues, as an installation does."""
    env = {"RABBITMQ_URL": rabbitmq_url, "DATABASE_URL": database_url}
    assert ledger.run("database", "setup", env=env).code == 0
    assert ledger.run("topology", "declare", env=env).code == 0
    return env


@pytest.fixture
def desk(prepared: dict[str, str], tmp_path: Path) -> Iterator[Desk]:
    """Give a person an empty root and cache, and take what the test left behind."""
    root, cache = tmp_path / "root", tmp_path / "cache"
    root.mkdir()
    cache.mkdir()
    places = {"RECEIPT_SOURCE_ROOT": str(root), "HOME_BUDGET_OCR_CACHE": str(cache)}
    visitor = Visitor(prepared["RABBITMQ_URL"])
    try:
        yield Desk(root, cache, {**prepared, **places}, visitor)
        visitor.take_all(WORK_SIDE.work)
    finally:
        visitor.close()
        with psycopg.connect(prepared["DATABASE_URL"]) as connection:
            connection.execute("TRUNCATE ingest.receipts, budget.receipt_evidence CASCADE")
