"""Builds the programs of the local cluster from go.mod beside this file, once for every checkout.

The folder they land in is named after their versions and a hash of go.mod and go.sum, so a changed
pin never meets an old program.
"""

import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from dev import console, folders, process
from dev.kubernetes import go

_MODULE = Path(__file__).parent
_KUBERNETES = re.compile(r"^\tk8s\.io/kubernetes v(\S+)", re.MULTILINE)


class Program(Enum):
    """A program and the Go package it is built from."""

    ETCD = ("etcd", "go.etcd.io/etcd/server/v3")
    API_SERVER = ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver")
    KUBECTL = ("kubectl", "k8s.io/kubernetes/cmd/kubectl")

    def __init__(self, file_name: str, package: str) -> None:
        self.file_name = file_name
        self.package = package


def ensure(program: Program) -> Path:
    """Return the program's path; build it when this version never was. Two at once are safe."""
    path = _folder() / program.file_name
    if not path.exists():
        with _only_one_builds(path.parent):
            if not path.exists():
                _build(program, path)
    return path


def kubernetes_version() -> str:
    """Return the version that go.mod pins, such as "1.36.3"."""
    found = _KUBERNETES.search((_MODULE / "go.mod").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("go.mod names no version of k8s.io/kubernetes")
    return found[1]


def _folder() -> Path:
    pins = b"".join((_MODULE / name).read_bytes() for name in ("go.mod", "go.sum"))
    key = f"{kubernetes_version()}-{hashlib.sha256(pins).hexdigest()[:8]}"
    return folders.programs() / "kubernetes" / key


@contextmanager
def _only_one_builds(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(program: Program, path: Path) -> None:
    toolchain = go.find()
    doing = f"building {program.file_name} for Kubernetes {kubernetes_version()}, once"
    with console.step(doing), tempfile.TemporaryDirectory(dir=path.parent) as folder:
        built = Path(folder) / program.file_name
        process.run_in_sight(
            [
                str(toolchain),
                "build",
                *("-mod=readonly", "-trimpath", "-buildvcs=false"),
                *("-ldflags", _linker_flags(kubernetes_version())),
                *("-o", str(built), program.package),
            ],
            # Without C: a bare machine has no compiler, and the result runs in any image.
            env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
            folder=_MODULE,
        )
        built.replace(path)


def _linker_flags(version: str) -> str:
    """Stamp the version: without it the server calls itself v0.0.0 and clients cannot parse it."""
    major, minor, _ = version.split(".", maxsplit=2)
    stamps = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    return " ".join(
        ["-s", "-w"] + [f"-X k8s.io/component-base/version.{k}={v}" for k, v in stamps.items()]
    )
