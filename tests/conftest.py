"""Fixtures by resource. Servers start when a test first asks for them and end with the session."""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from dev import leash
from dev.kubernetes.cluster import Cluster
from dev.kubernetes.local import LocalCluster
from dev.leash import Leash
from dev.postgres import Postgres
from dev.rabbitmq import RabbitMQ
from dev.stack import Stack
from tests.support import services
from tests.support.services import Broker

# A run that others depend on tries the same examples each time; at a desk they are new ones.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis.settings.register_profile("desk", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "desk")

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """Give this session's own services, of which none runs yet."""
    stack = Stack(leash.stack_name(os.getpid()))
    held = Leash(stack)
    try:
        yield stack
    finally:
        held.release()


@pytest.fixture(scope="session")
def rabbitmq_server(stack: Stack) -> RabbitMQ:
    """Give the session's own broker, for tests that kill, pause or wipe it."""
    if os.environ.get(services.RABBITMQ_URL):
        pytest.skip(f"the broker of {services.RABBITMQ_URL} is not ours to kill")
    stack.start(stack.rabbitmq)
    return stack.rabbitmq


@pytest.fixture(scope="session")
def postgres_server(stack: Stack) -> Postgres:
    """Give the session's own PostgreSQL, for tests that kill, pause or wipe it."""
    if os.environ.get(services.DATABASE_URL):
        pytest.skip(f"the server of {services.DATABASE_URL} is not ours to kill")
    stack.start(stack.postgres)
    return stack.postgres


@pytest.fixture(scope="session")
def cluster(stack: Stack) -> Cluster:
    """Give a Kubernetes cluster on which the tests are administrator."""
    stack.start(stack.cluster)
    return stack.cluster


@pytest.fixture(scope="session")
def local_cluster(cluster: Cluster) -> LocalCluster:
    """Give the session's own API server, for tests that kill, pause or wipe it."""
    if not isinstance(cluster, LocalCluster):
        pytest.skip("this cluster's API server is not ours to kill: CLUSTER=local has one that is")
    return cluster


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """Give a broker with its management API, ours or the tester's."""
    named = services.named_broker(os.environ)
    if named is not None:
        yield named
        named.clear()
    else:
        server: RabbitMQ = request.getfixturevalue("rabbitmq_server")
        yield Broker(server.url(), server.api)  # what is left on it goes with it


@pytest.fixture(scope="module")
def rabbitmq_url(broker: Broker) -> Iterator[str]:
    """Give a virtual host of this module alone."""
    with services.fresh_vhost(broker, _unique_name()) as url:
        yield url


@pytest.fixture(scope="session")
def database_admin_url(request: pytest.FixtureRequest) -> str:
    """Give a superuser's DSN, ours or the tester's."""
    named = os.environ.get(services.DATABASE_URL)
    if named:
        return named
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.url()


@pytest.fixture(scope="module")
def database_url(database_admin_url: str) -> Iterator[str]:
    """Give an empty database of this module alone."""
    with services.fresh_database(database_admin_url, _unique_name()) as url:
        yield url


@pytest.fixture(scope="module")
def namespace(cluster: Cluster) -> Iterator[str]:
    """Give a namespace of this module alone."""
    name = _unique_name()
    cluster.kubectl("create", "namespace", name)
    yield name
    # Without waiting: where no controllers run, a namespace keeps terminating.
    cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def receipt_test_data() -> Path:
    """Give the folder of labelled receipts, which are not part of the checkout."""
    folder = Path(os.environ.get("RECEIPT_TEST_DATA") or CHECKOUT / "../shared/data/receipts")
    if not folder.is_dir():
        pytest.skip("no labelled receipts here: RECEIPT_TEST_DATA names their folder")
    return folder.resolve()


def _unique_name() -> str:
    return f"test-{secrets.token_hex(4)}"
