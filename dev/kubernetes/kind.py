"""A kind cluster, where a Docker engine runs. Every stack of this machine shares it."""

import shutil
import subprocess
from pathlib import Path

from dev import folders
from dev.errors import NotInstalledError, StartError
from dev.kubernetes import kubectl
from dev.kubernetes.cluster import PodCluster

_NAME = "receipt-operator-dev"
_NODE = f"{_NAME}-control-plane"
_WAIT = "180s"


class KindCluster(PodCluster):
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

    @property
    def host(self) -> str:
        gateways = "{{range .IPAM.Config}}{{.Gateway}} {{end}}"
        told = _run("docker", "network", "inspect", "kind", "--format", gateways)
        return next(address for address in told.split() if ":" not in address)

    def load(self, archive: Path) -> None:
        _kind("load", "image-archive", str(archive), "--name", _NAME)

    def tag(self, image: str, another: str) -> None:
        inside = ("docker", "exec", _NODE, "ctr", "--namespace", "k8s.io")
        _run(*inside, "images", "tag", "--force", image, another)

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
    return _run(program(), *args)


def _run(*argv: str) -> str:
    done = subprocess.run(argv, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise StartError(f"{' '.join(argv)} ended with {done.returncode}, see above")
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
