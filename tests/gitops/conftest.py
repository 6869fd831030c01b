"""One pipeline, one Argo CD and one repository for all GitOps tests; each has its application."""

from collections.abc import Iterator

import pytest

from dev.gitops.argocd import ArgoCD
from dev.gitops.repository import Repository
from dev.kubernetes.local import LocalCluster
from dev.stack import Stack
from tests.gitops.desk import Desk
from tests.support.pipeline import install_kinds, making
from tests.support.services import Broker


@pytest.fixture(scope="session")
def desk(
    stack: Stack,
    local_cluster: LocalCluster,
    broker: Broker,
    database_admin_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Desk]:
    """Give everything, running."""
    install_kinds(local_cluster)
    folder = tmp_path_factory.mktemp("pipeline")
    with making(stack, local_cluster, broker, database_admin_url, folder) as pipeline:
        pipeline.start_collector()
        operator = pipeline.start_operator()
        repository = Repository(stack)
        repository.start()
        argocd = ArgoCD(stack, local_cluster)
        argocd.start()
        made = Desk(
            stack, pipeline=pipeline, operator=operator, argocd=argocd, repository=repository
        )
        yield made
        made.close()
