"""The examples for Argo CD and Flux are taken by a real API server that knows all their kinds."""

from pathlib import Path

import pytest

from dev import folders
from dev.gitops import argocd
from dev.gitops.flux import definitions
from tests.gitops.desk import Desk

pytestmark = pytest.mark.cluster

EXAMPLES = folders.CHECKOUT / "examples"
SETTINGS = "argocd-cm.yaml"  # no object: a patch, applied for all tests here
ARGOCD = sorted(path for path in (EXAMPLES / "argocd").glob("*.yaml") if path.name != SETTINGS)
FLUX = sorted((EXAMPLES / "flux").glob("*.yaml"))


def _try(desk: Desk, path: Path, namespace: str) -> None:
    desk.pipeline.cluster.kubectl(
        *("apply", "--dry-run=server", "--validate=strict"),
        *("--namespace", namespace, "--filename", str(path)),
    )


@pytest.mark.parametrize("path", ARGOCD, ids=[path.name for path in ARGOCD])
def test_an_example_for_argo_cd_is_accepted(desk: Desk, path: Path) -> None:
    own = "argocd" if path.name == "application.yaml" else desk.pipeline.namespace
    _try(desk, path, own)


@pytest.mark.parametrize("path", FLUX, ids=[path.name for path in FLUX])
def test_an_example_for_flux_is_accepted(desk: Desk, path: Path) -> None:
    argocd.define(desk.pipeline.cluster, definitions.files())
    desk.pipeline.cluster.kubectl("create", "namespace", "flux-system")

    _try(desk, path, "flux-system")
