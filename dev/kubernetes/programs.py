"""The programs of the local cluster, built from go.mod beside this file."""

import re
from enum import Enum
from pathlib import Path

from dev import gotools
from dev.gotools import Module

_FOLDER = Path(__file__).parent
_KUBERNETES = re.compile(r"^\tk8s\.io/kubernetes v(\S+)", re.MULTILINE)


class Program(Enum):
    """A program and the Go package it is built from."""

    ETCD = ("etcd", "go.etcd.io/etcd/server/v3")
    API_SERVER = ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver")
    KUBECTL = ("kubectl", "k8s.io/kubernetes/cmd/kubectl")
    CONTROLLER_MANAGER = (
        "kube-controller-manager",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
    )
    SCHEDULER = ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler")
    KUBELET = ("kubelet", "k8s.io/kubernetes/cmd/kubelet")
    PROXY = ("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy")

    def __init__(self, file_name: str, package: str) -> None:
        self.file_name = file_name
        self.package = package


def ensure(program: Program) -> Path:
    """Return the program's path; build it when this version never was. Two at once are safe."""
    version = kubernetes_version()
    module = Module("kubernetes", _FOLDER, version, _linker_flags(version))
    return gotools.ensure_program(module, program.file_name, program.package)


def kubernetes_version() -> str:
    """Return the version that go.mod pins, such as "1.36.3"."""
    found = _KUBERNETES.search((_FOLDER / "go.mod").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("go.mod names no version of k8s.io/kubernetes")
    return found[1]


def _linker_flags(version: str) -> str:
    """Stamp the version: without it the server calls itself v0.0.0 and clients cannot parse it."""
    major, minor, _ = version.split(".", maxsplit=2)
    stamps = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    return " ".join(
        ["-s", "-w"] + [f"-X k8s.io/component-base/version.{k}={v}" for k, v in stamps.items()]
    )
