"""A real API server takes all that the chart renders, its pods in a namespace that enforces."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.gitops import argocd
from dev.helm import definitions
from dev.kubernetes.cluster import Cluster
from dev.kubernetes.kubectl import KubectlError
from tests.chart import rendering
from tests.chart.rendering import CHART, EVERYTHING, Object

pytestmark = pytest.mark.cluster

# The definitions of the RabbitMQ topology operator's kinds come with no Go module.
CASES = [path for path in rendering.CASES if path != CHART / "ci" / "broker-resources-values.yaml"]
ACCOUNT = "default"


@pytest.fixture(scope="module")
def restricted(cluster: Cluster) -> Iterator[str]:
    """Give a namespace in which only pods of the restricted profile are taken."""
    name = f"test-{secrets.token_hex(4)}"
    label = "pod-security.kubernetes.io/enforce"
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {label: "restricted"}},
    }
    cluster.kubectl("create", "--filename", "-", text=json.dumps(namespace))
    # Where no controllers run, nobody makes it.
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}}
    cluster.kubectl("apply", "--namespace", name, "--filename", "-", text=json.dumps(account))
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


def _in(namespace: str, one: Object) -> Object:
    return {**one, "metadata": {**one["metadata"], "namespace": namespace}}


def _try(cluster: Cluster, documents: list[Object]) -> None:
    """Have the API server judge objects field by field, and keep none."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    dry = ("--dry-run=server", "--validate=strict", "--filename", "-")
    cluster.kubectl("create", *dry, text=text)


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_a_real_api_server_takes_every_object(
    helm: Path, cluster: Cluster, restricted: str, values: Path
) -> None:
    if values == EVERYTHING:
        if not definitions.present():
            pytest.skip("definitions of other kinds were never fetched here: make chart does it")
        argocd.define(cluster, definitions.files())
    rendered = [
        _in(restricted, one) if "namespace" in one["metadata"] else one
        for one in rendering.objects(helm, values)
        if one["kind"] != "CustomResourceDefinition"  # they are applied by other tests
    ]

    _try(cluster, rendered)


def test_g9_every_pod_is_taken_where_the_restricted_profile_is_enforced(
    helm: Path, cluster: Cluster, restricted: str
) -> None:
    specs = [
        pod
        for values in rendering.CASES
        for _, pod in rendering.pods(rendering.objects(helm, values))
    ]

    _try(cluster, [_alone(pod, restricted, number) for number, pod in enumerate(specs)])


def test_g9_a_pod_with_more_rights_is_refused_there(
    helm: Path, cluster: Cluster, restricted: str
) -> None:
    _, pod = next(rendering.pods(rendering.objects(helm, rendering.DEFAULT)))
    loose = {**pod, "hostNetwork": True}

    with pytest.raises(KubectlError, match="violates PodSecurity"):
        _try(cluster, [_alone(loose, restricted, 0)])


def _alone(pod: Object, namespace: str, number: int) -> Object:
    """Return a pod without what controllers would have made for it: they do not run here."""
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    for mount in pod["containers"][0]["volumeMounts"]:
        volumes.setdefault(mount["name"], {"name": mount["name"], "emptyDir": {}})
    spec = {
        **{key: value for key, value in pod.items() if key != "priorityClassName"},
        "volumes": list(volumes.values()),
        "serviceAccountName": ACCOUNT,
        "restartPolicy": "Never",
    }
    metadata = {"name": f"pod-{number}", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
