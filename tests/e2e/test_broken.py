"""Installations that lack something, and the one sentence with which each says what."""

import json

import pytest

from tests.chart.rendering import HelmError
from tests.e2e.tenant import KINDS, RELEASE, Tenant, eventually


def _messages(tenant: Tenant, component: str) -> str:
    """Return why the containers of a component wait."""
    found = [
        status["state"]["waiting"].get("message", "")
        for pod in tenant.pods(component)
        for status in pod["status"].get("containerStatuses", ())
        if "waiting" in status["state"]
    ]
    return "\n".join(found)


def test_a_wrong_value_is_named_by_helm(tenant: Tenant) -> None:
    with pytest.raises(HelmError, match="cluster is not set: name this cluster"):
        tenant.install(cluster="")
    with pytest.raises(HelmError, match=r"worker\.ocrDeadlineSeconds is too long for the broker"):
        tenant.install(worker={"ocrDeadlineSeconds": 3000})


def test_missing_kinds_are_named_by_the_operator(tenant: Tenant) -> None:
    if tenant.cluster.kubectl("get", "crd", *KINDS, "--ignore-not-found"):
        pytest.skip("the kinds are there already, and taking them away would take objects along")
    tenant.start_installing(crds={"install": False})

    eventually(lambda: "crds" in tenant.said("operator").lower(), "the operator names the kinds")
    tenant.uninstall()


def test_a_missing_secret_is_named_by_its_pod(tenant: Tenant) -> None:
    tenant.start_installing(rabbitmq={"secrets": {"worker": {"name": "no-such-secret"}}})

    eventually(
        lambda: 'secret "no-such-secret" not found' in _messages(tenant, "worker"),
        "the worker's pod names the Secret",
    )
    tenant.uninstall()


def test_an_image_that_is_nowhere_is_named_by_its_pod(tenant: Tenant) -> None:
    tenant.start_installing(worker={"image": {"name": "no-such-image"}})

    eventually(
        lambda: "localhost/receipts-e2e/no-such-image" in _messages(tenant, "worker"),
        "the worker's pod names the image",
    )
    ready = json.loads(tenant.kubectl("get", "deployments", "--output=json"))["items"]
    tenant.uninstall()

    assert {one["metadata"]["name"] for one in ready} >= {f"{RELEASE}-worker"}
