"""What the tests on a Kubernetes API share."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dev.generate import ROOT
from dev.kubernetes.cluster import Cluster
from dev.stack import Stack
from tests.support import services
from tests.support.pipeline import Pipeline
from tests.support.services import Broker


@pytest.fixture(scope="session")
def kinds(cluster: Cluster) -> Cluster:
    """Return the cluster, with the two kinds known to it."""
    cluster.kubectl("apply", "--filename", str(ROOT / "crds"))
    cluster.kubectl("wait", "--for=condition=Established", "--filename", str(ROOT / "crds"))
    return cluster


@pytest.fixture
def pipeline(
    stack: Stack, kinds: Cluster, broker: Broker, database_admin_url: str, tmp_path: Path
) -> Iterator[Pipeline]:
    """Give a pipeline of this test alone, in which nothing runs yet."""
    with making(stack, kinds, broker, database_admin_url, tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def running(
    stack: Stack,
    kinds: Cluster,
    broker: Broker,
    database_admin_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pipeline]:
    """Give a pipeline of this module with an operator and a collector."""
    folder = tmp_path_factory.mktemp("pipeline")
    with making(stack, kinds, broker, database_admin_url, folder) as made:
        made.start_collector()
        made.start_operator()
        yield made


@contextmanager
def making(
    stack: Stack, cluster: Cluster, broker: Broker, database_admin_url: str, folder: Path
) -> Iterator[Pipeline]:
    """Make namespace, virtual host, database and volumes, and take them away at the end."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.kubectl("create", "namespace", name)
    with (
        services.fresh_vhost(broker, name) as broker_url,
        services.fresh_database(database_admin_url, name) as database_url,
    ):
        made = Pipeline(
            stack,
            cluster,
            namespace=name,
            broker_url=broker_url,
            database_url=database_url,
            folder=folder,
        )
        try:
            yield made
        finally:
            made.close()
            cluster.kubectl("delete", "namespace", name, "--wait=false")
