"""What the tests on a Kubernetes API share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.kubernetes.cluster import Cluster
from dev.stack import Stack
from tests.support.pipeline import Pipeline, install_kinds, making
from tests.support.services import Broker


@pytest.fixture(scope="session")
def kinds(cluster: Cluster) -> Cluster:
    """Return the cluster, with the two kinds known to it."""
    install_kinds(cluster)
    return cluster


@pytest.fixture
def pipeline(
    stack: Stack, kinds: Cluster, broker: Broker, database_admin_url: str, tmp_path: Path
) -> Iterator[Pipeline]:
    """Give a pipeline of this test alone, in which nothing runs yet."""
    with making(stack, kinds, broker, database_admin_url, tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def module_pipeline(
    stack: Stack,
    kinds: Cluster,
    broker: Broker,
    database_admin_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pipeline]:
    """Give a pipeline of this module, in which nothing runs yet."""
    folder = tmp_path_factory.mktemp("pipeline")
    with making(stack, kinds, broker, database_admin_url, folder) as made:
        yield made


@pytest.fixture(scope="module")
def running(module_pipeline: Pipeline) -> Pipeline:
    """Give a pipeline of this module with an operator and a collector."""
    module_pipeline.start_collector()
    module_pipeline.start_operator()
    return module_pipeline
