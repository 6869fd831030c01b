"""What tests and the demo ask of a Kubernetes cluster, whichever kind of cluster it is."""

import base64
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from dev import folders
from dev.kubernetes import kubectl

_ROLE = Path(__file__).with_name("role.yaml")
_ROLE_DELETE = Path(__file__).with_name("role-delete.yaml")
_OPERATOR = "receipt-operator"
_DELETE = "receipt-operator-delete"
_TOKEN_LIFE = "8760h"  # noqa: S105  # a duration, no password


class Cluster(ABC):
    """A cluster on which we are administrator."""

    title = "Kubernetes"
    audit_log: Path | None = None  # JSON lines, one a request; None where we cannot set one up

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def start(self) -> None:
        """Bring the cluster up; a healthy one is left alone."""

    @abstractmethod
    def is_healthy(self) -> bool:
        """Tell whether the API server answers now."""

    @abstractmethod
    def remove(self) -> None:
        """Take away what `start` made outside the stack's own folder."""

    @property
    def admin_kubeconfig(self) -> Path:
        return self.folder / "admin.kubeconfig"

    def kubeconfig(self) -> Path:
        """Return the administrator's kubeconfig file; the cluster must have been started."""
        return self.admin_kubeconfig

    def kubectl(self, *args: str, text: str = "") -> str:
        """Run kubectl as administrator with `text` as its input. Raises KubectlError."""
        return kubectl.run(self.kubeconfig(), *args, text=text)

    def operator_kubeconfig(self, namespace: str) -> Path:
        """Return a kubeconfig file with the operator's own rights in one existing namespace."""
        self.kubectl("apply", "--namespace", namespace, "--filename", str(_ROLE))
        self.kubectl("apply", "--namespace", namespace, "--filename", "-", text=_identity())
        token = self.kubectl(
            *("create", "token", _OPERATOR, "--namespace", namespace, "--duration", _TOKEN_LIFE)
        )
        admin = json.loads(
            self.kubectl("config", "view", "--raw", "--flatten", "--minify", "--output=json")
        )
        path = self.folder / f"operator-{namespace}.kubeconfig"
        user = {"token": token.strip()}
        write_kubeconfig(
            path, cluster=admin["clusters"][0]["cluster"], user=user, namespace=namespace
        )
        return path

    def allow_deletion(self, namespace: str) -> None:
        """Add to the operator's rights that it may delete objects of the two kinds."""
        self.kubectl("apply", "--namespace", namespace, "--filename", str(_ROLE_DELETE))
        binding = json.dumps(_binding(_DELETE))
        self.kubectl("apply", "--namespace", namespace, "--filename", "-", text=binding)


class PodCluster(Cluster):
    """A cluster in which pods run."""

    @property
    @abstractmethod
    def host(self) -> str:
        """Return the address at which pods reach this machine."""

    @abstractmethod
    def load(self, archive: Path) -> None:
        """Bring the image of a docker archive to the nodes."""

    @abstractmethod
    def tag(self, image: str, another: str) -> None:
        """Give an image on the nodes another name as well."""


def write_kubeconfig(
    path: Path, *, cluster: dict[str, Any], user: dict[str, str], namespace: str
) -> None:
    """Write a kubeconfig file with one context (JSON, which is YAML too)."""
    context = {"cluster": "receipts", "user": "receipts", "namespace": namespace}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "receipts", "cluster": cluster}],
        "users": [{"name": "receipts", "user": user}],
        "contexts": [{"name": "receipts", "context": context}],
        "current-context": "receipts",
    }
    folders.make_passage(path.parent)
    path.touch(mode=0o600)
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def encoded(file: Path) -> str:
    """Return a file's content the way a kubeconfig holds certificates and keys."""
    return base64.b64encode(file.read_bytes()).decode()


def _identity() -> str:
    """Return the operator's service account, bound to its Role, as one JSON list."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": _OPERATOR}}
    items = [account, _binding(_OPERATOR)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def _binding(role: str) -> dict[str, Any]:
    """Return what gives the operator's service account the rights of a Role."""
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": role},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": _OPERATOR}],
    }
