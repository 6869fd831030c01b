"""A kind cluster, where a Docker engine runs. Every stack of this machine shares it."""

import shutil
import subprocess

from dev import folders
from dev.errors import NotInstalledError, StartError
from dev.kubernetes import kubectl
from dev.kubernetes.cluster import Cluster

_NAME = "receipt-operator-dev"
_WAIT = "180s"


class KindCluster(Cluster):
    """Made by the first start, kept until `remove`."""

    def start(self) -> None:
        if self.is_healthy():
            return
        with folders.locked(folders.services() / "kind.lock"):
            if _NAME not in _kind("get", "clusters").split():
                _kind("create", "cluster", "--name", _NAME, "--wait", _WAIT)
        _kind("export", "kubeconfig", "--name", _NAME, "--kubeconfig", str(self.admin_kubeconfig))

    def is_healthy(self) -> bool:
        return kubectl.answers(self.admin_kubeconfig)

    def remove(self) -> None:
        if shutil.which("kind") is not None:
            _kind("delete", "cluster", "--name", _NAME)


def docker_answers() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    try:
        done = subprocess.run([docker, "info"], check=False, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _kind(*args: str) -> str:
    done = subprocess.run([program(), *args], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise StartError(f"kind {' '.join(args)} ended with {done.returncode}, see above")
    return done.stdout


def program() -> str:
    """Return the machine's kind. Raises NotInstalledError."""
    kind = shutil.which("kind")
    if kind is None:
        raise NotInstalledError(
            "kind is not installed. Get it from https://kind.sigs.k8s.io, or use the cluster that"
            " needs neither it nor Docker: CLUSTER=local"
        )
    return kind
