"""Argo CD's program and definitions, built from go.mod beside this file."""

import re
from pathlib import Path

from dev import gotools
from dev.gotools import Module

DEFINITIONS = ("application-crd.yaml", "appproject-crd.yaml", "applicationset-crd.yaml")

_FOLDER = Path(__file__).parent
_ARGOCD = "github.com/argoproj/argo-cd/v3"
_VERSION = re.compile(rf"^\t{re.escape(_ARGOCD)} v(\S+)", re.MULTILINE)


def argocd() -> Path:
    """Return Argo CD's one program, which is each of its servers by name; built once a version."""
    module = _module()
    return gotools.ensure_program(module, "argocd", f"{_ARGOCD}/cmd")


def definition(name: str) -> Path:
    """Return the file with one of Argo CD's own kinds."""
    return gotools.ensure_file(_module(), _ARGOCD, f"manifests/crds/{name}")


def git_verifier() -> Path:
    """Return the script `git-verify-wrapper.sh`, which the repo server looks for on its PATH."""
    path = gotools.ensure_file(_module(), _ARGOCD, "hack/git-verify-wrapper.sh")
    path.chmod(0o755)
    return path


def version() -> str:
    """Return the version that go.mod pins, such as "3.6.1"."""
    found = _VERSION.search((_FOLDER / "go.mod").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"go.mod names no version of {_ARGOCD}")
    return found[1]


def _module() -> Module:
    stamp = f"-X {_ARGOCD}/common.version={version()}"
    return Module("gitops", _FOLDER, version(), f"-s -w {stamp}")


if __name__ == "__main__":
    argocd()
    git_verifier()
    for file_name in DEFINITIONS:
        definition(file_name)
