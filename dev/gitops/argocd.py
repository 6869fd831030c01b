"""The real Argo CD beside a cluster: Redis, repo server, application controller and API server.

They run as programs of a stack and end with it. The cluster is registered like any remote one,
because these programs run outside of it.
"""

import json
import os
import random
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dev import folders, ports
from dev.daemon import Command
from dev.errors import NotInstalledError, StartError
from dev.gitops import customizations, programs
from dev.kubernetes.cluster import Cluster
from dev.stack import Stack

NAMESPACE = "argocd"
CLUSTER = "receipts"

_READY_SECONDS = 90
_POLL_SECONDS = 0.2
_PART_OF = {"app.kubernetes.io/part-of": "argocd"}


class _Ports(NamedTuple):
    redis: int
    repo_server: int
    repo_server_metrics: int
    controller_metrics: int
    server: int
    server_metrics: int


class ArgoCD:
    """Argo CD with our health and actions installed as the documents say."""

    def __init__(self, stack: Stack, cluster: Cluster) -> None:
        """Start nothing yet."""
        self._stack = stack
        self._cluster = cluster
        self._folder = stack.folder / "argocd"
        self._ports = _Ports(*ports.choose(len(_Ports._fields), random=random.SystemRandom()))

    def start(self) -> None:
        """Install the definitions and settings, and start the programs. Raises DevError."""
        folders.make_private(self._folder)
        self._install()
        self._start_redis()
        self._start_repo_server()
        self._start_controller()
        self._start_server()

    @property
    def url(self) -> str:
        """Address of the API server, which lets everybody do everything."""
        return f"http://127.0.0.1:{self._ports.server}"

    def kubectl(self, *args: str, text: str = "") -> str:
        """Run kubectl as administrator in Argo CD's namespace."""
        return self._cluster.kubectl("--namespace", NAMESPACE, *args, text=text)

    def _install(self) -> None:
        define(self._cluster, [programs.definition(name) for name in programs.DEFINITIONS])
        self._cluster.kubectl("create", "namespace", NAMESPACE)
        objects = [*_settings(), _project(), self._registration()]
        document = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "--filename=-", text=json.dumps(document))
        patch = folders.CHECKOUT / customizations.PATH
        self.kubectl("patch", "configmap", "argocd-cm", f"--patch-file={patch}")

    def _start_redis(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise NotInstalledError("Redis is not installed: run make gitops")
        port = self._ports.redis
        nothing_on_disk = ("--save", "", "--appendonly", "no")
        self._start(
            "redis",
            [program, "--bind", "127.0.0.1", "--port", str(port), *nothing_on_disk],
            port=port,
        )

    def _start_repo_server(self) -> None:
        port = self._ports.repo_server
        flags = [
            f"--redis=127.0.0.1:{self._ports.redis}",
            "--address=127.0.0.1",
            f"--port={port}",
            "--metrics-address=127.0.0.1",
            f"--metrics-port={self._ports.repo_server_metrics}",
            "--disable-tls",
            "--client-ca-path=",
        ]
        self._start_argocd("argocd-repo-server", flags, port=port)

    def _start_controller(self) -> None:
        port = self._ports.controller_metrics
        flags = [
            *self._flags_of_clients(),
            f"--metrics-port={port}",
            "--persist-resource-health",  # so that the health of each object can be read
            "--self-heal-backoff-factor=1",  # a test heals often, and should not wait ever longer
        ]
        self._start_argocd("argocd-application-controller", flags, port=port)

    def _start_server(self) -> None:
        port = self._ports.server
        flags = [
            *self._flags_of_clients(),
            "--address=127.0.0.1",
            f"--port={port}",
            "--metrics-address=127.0.0.1",
            f"--metrics-port={self._ports.server_metrics}",
            "--insecure",
            "--disable-auth",
        ]
        self._start_argocd("argocd-server", flags, port=port)

    def _flags_of_clients(self) -> list[str]:
        return [
            f"--kubeconfig={self._cluster.kubeconfig()}",
            f"--namespace={NAMESPACE}",
            f"--redis=127.0.0.1:{self._ports.redis}",
            f"--repo-server=127.0.0.1:{self._ports.repo_server}",
            "--repo-server-plaintext",
        ]

    def _start_argocd(self, name: str, flags: list[str], *, port: int) -> None:
        environment = {"ARGOCD_BINARY_NAME": name, "ARGOCD_GPG_ENABLED": "false"}
        self._start(name, [str(programs.argocd()), *flags], port=port, environment=environment)

    def _start(
        self,
        name: str,
        argv: list[str],
        *,
        port: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        path = f"{programs.git_verifier().parent}:{os.environ['PATH']}"
        own = {"PATH": path, "HOME": str(self._folder), "TMPDIR": str(self._folder)}
        self._stack.daemon(name).start(
            Command(argv=argv, env={**own, **(environment or {})}),
            is_ready=lambda: ports.accepts(port),
            ready_seconds=_READY_SECONDS,
        )

    def _registration(self) -> dict[str, Any]:
        """Return the Secret that tells Argo CD of the cluster, with our administrator's rights."""
        shown = self._cluster.kubectl(
            *("config", "view", "--raw", "--flatten", "--minify", "--output=json")
        )
        config = json.loads(shown)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        tls = {
            "caData": cluster["certificate-authority-data"],
            "certData": user["client-certificate-data"],
            "keyData": user["client-key-data"],
        }
        labels = {"argocd.argoproj.io/secret-type": "cluster"}
        data = {
            "name": CLUSTER,
            "server": cluster["server"],
            "config": json.dumps({"tlsClientConfig": tls}),
        }
        return _object("Secret", f"cluster-{CLUSTER}", labels=labels, stringData=data)


def define(cluster: Cluster, definitions: Iterable[Path]) -> None:
    """Make kinds known to a cluster, and wait until it serves them."""
    files = [f"--filename={path}" for path in definitions]
    # Server-side, because some are too large for the annotation of a client-side apply.
    cluster.kubectl("apply", "--server-side", *files)
    deadline = time.monotonic() + _READY_SECONDS
    # Not by `kubectl wait`, which fails on a definition that has no conditions yet.
    while not _are_served(cluster.kubectl("get", "--output=json", *files)):
        if time.monotonic() > deadline:
            raise StartError(f"not served after {_READY_SECONDS} s: {' '.join(files)}")
        time.sleep(_POLL_SECONDS)


def _are_served(listed: str) -> bool:
    return all(
        any(
            (condition["type"], condition["status"]) == ("Established", "True")
            for condition in definition["status"].get("conditions") or ()
        )
        for definition in json.loads(listed)["items"]
    )


def _settings() -> list[dict[str, Any]]:
    """Return the objects that every installation of Argo CD has."""
    secret = {"server.secretkey": "not-a-secret-nobody-logs-in-here"}
    # As Argo CD ships it: a status that changes no health is no reason to compare again.
    ignored = {"resource.customizations.ignoreResourceUpdates.all": "jsonPointers: [/status]\n"}
    return [
        _object("ConfigMap", "argocd-cm", labels=_PART_OF, data=ignored),
        _object("ConfigMap", "argocd-rbac-cm", labels=_PART_OF, data={}),
        _object("Secret", "argocd-secret", labels=_PART_OF, stringData=secret),
    ]


def _project() -> dict[str, Any]:
    everything = {"group": "*", "kind": "*"}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AppProject",
        "metadata": {"name": "default"},
        "spec": {
            "sourceRepos": ["*"],
            "destinations": [{"namespace": "*", "server": "*"}],
            "clusterResourceWhitelist": [everything],
        },
    }


def _object(kind: str, name: str, *, labels: dict[str, str], **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}
