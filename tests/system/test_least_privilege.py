"""The pipeline as production runs it: each process with logins of its own that may do little."""

import secrets
from collections.abc import Iterator
from typing import NamedTuple

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from dev.kubernetes.cluster import Cluster
from dev.stack import Stack
from receipt_contract.access import BrokerUser
from receipt_contract.requests import Kind
from tests.support import ledger, services
from tests.support.logins import BrokerLogins, DatabaseLogins
from tests.support.pipeline import Pipeline, making
from tests.support.receipts import write_small_receipts
from tests.support.services import Broker

pytestmark = pytest.mark.cluster

CHECKS = {"RECEIPTS_TOPOLOGY": "check"}

# What would harm others if a login fell into wrong hands.
FORBIDDEN = [
    pytest.param("operator", "UPDATE budget.receipt_evidence SET id = id", id="saved results"),
    pytest.param("operator", "DELETE FROM budget.receipt_failures", id="failures"),
    pytest.param("operator", "CREATE TABLE work.other (a int)", id="tables of the register"),
    pytest.param("collector", "DROP TABLE work.items", id="the register"),
    pytest.param("collector", "DELETE FROM work.requests", id="requests"),
    pytest.param("collector", "CREATE SCHEMA other", id="schemas"),
    pytest.param("publisher", "DELETE FROM ingest.receipts", id="discovered receipts"),
    pytest.param("publisher", "SELECT FROM work.requests", id="requests, also to look at"),
]


class Logins(NamedTuple):
    """Logins to broker and database."""

    broker: BrokerLogins
    database: DatabaseLogins

    def env(self, user: BrokerUser, role: str | None = None) -> dict[str, str]:
        """Return what a process is told; a worker has no role."""
        addresses = {"RABBITMQ_URL": self.broker.url(user), **CHECKS}
        return addresses if role is None else {**addresses, "DATABASE_URL": self.database.url(role)}


@pytest.fixture(scope="module")
def still(
    stack: Stack,
    kinds: Cluster,
    broker: Broker,
    database_admin_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pipeline]:
    """Give a pipeline in which nothing runs yet."""
    folder = tmp_path_factory.mktemp("pipeline")
    with making(stack, kinds, broker, database_admin_url, folder) as made:
        yield made


@pytest.fixture(scope="module")
def logins(still: Pipeline, broker: Broker, database_admin_url: str) -> Iterator[Logins]:
    """Give logins to the pipeline's virtual host and to a database that their owner set up."""
    name = f"test-{secrets.token_hex(4)}"
    with services.fresh_database(database_admin_url, name) as database_url:
        given = Logins(BrokerLogins(broker, still.broker_url), DatabaseLogins(database_url))
        owner = {"DATABASE_URL": given.database.url("owner")}
        topology = {"RABBITMQ_URL": given.broker.url(BrokerUser.TOPOLOGY)}
        assert ledger.run("database", "setup", env=owner).code == 0
        assert ledger.run("topology", "declare", env=topology).code == 0
        yield given
        still.close()
        given.broker.close()
        given.database.close()


@pytest.mark.parametrize(("role", "statement"), FORBIDDEN)
def test_g9_a_login_to_the_database_cannot_touch_what_is_not_its_own(
    logins: Logins, role: str, statement: str
) -> None:
    with (
        psycopg.connect(logins.database.url(role)) as connection,
        pytest.raises(InsufficientPrivilege),
    ):
        connection.execute(statement)


def test_g9_work_of_every_kind_is_done_with_the_least_that_each_process_may(
    still: Pipeline, logins: Logins
) -> None:
    pipeline = still
    write_small_receipts(pipeline.receipts, "a.png", "b.png", first=700)
    (pipeline.receipts / "damaged.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing behind it")
    pipeline.start_collector(**logins.env(BrokerUser.COLLECTOR, "collector"))
    pipeline.start_worker(**logins.env(BrokerUser.WORKER))
    pipeline.start_operator(**logins.env(BrokerUser.OPERATOR, "operator"))

    pipeline.apply(
        Kind.RECEIPT_REPROCESS, "read", target={"references": ["a.png", "b.png", "damaged.png"]}
    )
    read = pipeline.wait_finished(Kind.RECEIPT_REPROCESS, "read")
    pipeline.apply(Kind.CACHE_REBUILD, "rebuilt", target={"references": ["a.png", "b.png"]})
    rebuilt = pipeline.wait_finished(Kind.CACHE_REBUILD, "rebuilt")
    published = ledger.run(
        *("receipts", "publish", pipeline.receipts, "--ocr-cache", pipeline.cache),
        *("--min-age", "0"),
        env=logins.env(BrokerUser.OPERATOR, "publisher"),
    )

    assert (read["state"], rebuilt["state"]) == ("PartiallyFailed", "Succeeded")
    assert (read["progress"]["done"], read["progress"]["failed"]) == (2, 1)
    assert published.code == 0, published.stderr
    assert published.lines[0]["discovered"] == 3
