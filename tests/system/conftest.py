"""What the tests on a Kubernetes API share."""

import pytest

from dev.generate import ROOT
from dev.kubernetes.cluster import Cluster


@pytest.fixture(scope="session")
def kinds(cluster: Cluster) -> Cluster:
    """Return the cluster, with the two kinds known to it."""
    cluster.kubectl("apply", "--filename", str(ROOT / "crds"))
    cluster.kubectl("wait", "--for=condition=Established", "--filename", str(ROOT / "crds"))
    return cluster
