"""Reads objects of a cluster over one open connection.

A test that waits looks many times a second; a kubectl for each look would take the processor from
what it waits for.
"""

from pathlib import Path
from typing import Any

from kubernetes import client
from kubernetes.config import kube_config


class Objects:
    """Objects of any kind, read as administrator."""

    def __init__(self, kubeconfig: Path) -> None:
        """Connect at the first look."""
        settings = client.Configuration()
        load: Any = kube_config.load_kube_config  # it publishes no types
        load(str(kubeconfig), client_configuration=settings)
        self._client: Any = client.ApiClient(settings)
        self._api: Any = client.CustomObjectsApi(self._client)

    def close(self) -> None:
        """Disconnect."""
        self._client.rest_client.pool_manager.clear()
        self._client.close()

    def read(self, api_version: str, plural: str, name: str, *, namespace: str) -> dict[str, Any]:
        """Read an object; raises ApiException, with status 404 where there is none."""
        group, _, version = api_version.partition("/")
        document: dict[str, Any] = self._api.get_namespaced_custom_object(
            group, version, namespace, plural, name
        )
        return document
