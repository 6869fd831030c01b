"""The real KEDA in a cluster with pods, from its own manifests.

Without its admission webhook: that one judges objects before anything scales, and the chart's are
judged by their schema elsewhere.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from dev import gotools
from dev.gotools import Module
from dev.kubernetes import kubectl
from dev.kubernetes.cluster import PodCluster
from dev.node import images

NAMESPACE = "keda"

_FOLDER = Path(__file__).with_name("keda_programs")
_KEDA = "github.com/kedacore/keda/v2"
_PROGRAMS = {"keda-operator": "operator", "keda-metrics-apiserver": "adapter"}
_WEBHOOKS = "admission"
_ACCOUNT = 1000


def build_all() -> None:
    """Build its programs, once a version."""
    for name in _PROGRAMS.values():
        _program(name)


def install(cluster: PodCluster) -> None:
    """Install it and wait until it answers. Raises DevError."""
    for deployment, name in _PROGRAMS.items():
        cluster.load(images.of_program(_program(name), _image(deployment)))
    document = {"apiVersion": "v1", "kind": "List", "items": _objects()}
    # Server-side, because its kinds are too large for the annotation of a client-side apply.
    cluster.kubectl("apply", "--server-side", "--filename=-", text=json.dumps(document))
    for deployment in _PROGRAMS:
        waiting = ("rollout", "status", f"deployment/{deployment}", "--timeout=110s")
        cluster.kubectl("--namespace", NAMESPACE, *waiting)


def _program(name: str) -> Path:
    return gotools.ensure_program(_module(), name, f"{_KEDA}/cmd/{name}")


def _image(deployment: str) -> str:
    return f"localhost/receipts-dev/{deployment}:1"


def _objects() -> list[dict[str, Any]]:
    """Return the objects of its own default installation, with the images that we built."""
    folder = gotools.source(_module(), _KEDA) / "config" / "default"
    text = subprocess.run(
        [kubectl.find(), "kustomize", folder], check=True, capture_output=True, text=True
    ).stdout
    return [_ours(one) for one in yaml.safe_load_all(text) if not _is_webhook(one)]


def _is_webhook(one: dict[str, Any]) -> bool:
    return "Webhook" in one["kind"] or _WEBHOOKS in one["metadata"]["name"]


def _ours(one: dict[str, Any]) -> dict[str, Any]:
    if one["kind"] != "Deployment":
        return one
    pod = one["spec"]["template"]["spec"]
    pod["securityContext"]["runAsUser"] = _ACCOUNT  # an image of one program names no account
    [container] = pod["containers"]
    name = one["metadata"]["name"]
    container |= {
        "image": _image(name),
        "imagePullPolicy": "Never",
        "command": [f"/{_PROGRAMS[name]}"],
    }
    container["resources"]["requests"] = {"cpu": "10m", "memory": "64Mi"}
    return one


def _module() -> Module:
    found = re.search(
        rf"{re.escape(_KEDA)} v(\S+)", (_FOLDER / "go.mod").read_text(encoding="utf-8")
    )
    if found is None:
        raise ValueError(f"keda_programs/go.mod names no version of {_KEDA}")
    return Module("keda", _FOLDER, found[1], "-s -w")


if __name__ == "__main__":
    build_all()
