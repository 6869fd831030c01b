"""Every version of the objects and applications of a test session, in their true order.

Resource versions of one API server count up over all kinds. So what Argo CD said of an object can
be held against what the object was until then.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dev.daemon import Command, Daemon
from dev.gitops import argocd, customizations
from dev.kubernetes import kubectl
from dev.kubernetes.cluster import Cluster
from dev.stack import Stack
from receipt_contract.requests import Kind
from tests.support import lua

_READY_SECONDS = 30
_APPLICATIONS = "applications.argoproj.io"


class Version(NamedTuple):
    """One state of an object; `gone` tells that it was deleted."""

    revision: int
    document: dict[str, Any]
    gone: bool


class Shown(NamedTuple):
    """A health, the revision from which on it was shown, and the words beside it."""

    revision: int
    health: str
    message: str = ""


class History:
    """Watches the two kinds in one namespace, and Argo CD's applications."""

    def __init__(self, stack: Stack, cluster: Cluster, namespace: str) -> None:
        """Start watching."""
        places = {kind.plural: namespace for kind in Kind} | {_APPLICATIONS: argocd.NAMESPACE}
        self._logs = {
            resource: _watch(stack.daemon(f"watch-{resource}"), cluster, resource, place)
            for resource, place in places.items()
        }

    def object_versions(self, kind: Kind, name: str) -> list[Version]:
        """Return what an object of ours has been."""
        return _versions(self._logs[kind.plural], name)

    def application_versions(self, name: str) -> list[Version]:
        """Return what an application has been."""
        return _versions(self._logs[_APPLICATIONS], name)

    def true_healths(self, kind: Kind, name: str) -> list[Shown]:
        """Return the healths an object has had, by our script."""
        return _changes(
            Shown(one.revision, "Missing") if one.gone else _judged(one)
            for one in self.object_versions(kind, name)
        )

    def misjudged(self, kind: Kind, name: str) -> list[tuple[str, Shown]]:
        """Return the healths, by our script, that do not fit the state the object was in."""
        return [
            (one.document["status"]["state"], judged)
            for one in self.object_versions(kind, name)
            if not one.gone
            for judged in [_judged(one)]
            if judged.health != lua.expected_health(one.document)
        ]

    def shown_healths(self, application: str, kind: Kind, name: str) -> list[Shown]:
        """Return the healths that Argo CD has shown for an object."""
        return _changes(
            Shown(version.revision, health["status"], health.get("message", ""))
            for version in self.application_versions(application)
            for resource in version.document.get("status", {}).get("resources", ())
            if (resource["kind"], resource["name"]) == (kind.value, name)
            for health in [resource.get("health")]
            if health
        )


def unexplained(shown: list[Shown], true: list[Shown]) -> list[Shown]:
    """Return the healths shown that the object did not have by then, in the order it had them."""
    wrong, reached = [], 0
    for one in shown:
        explained = [
            place
            for place, was in enumerate(true[reached:], start=reached)
            if was.health == one.health and was.revision <= one.revision
        ]
        if explained:
            reached = explained[0]
        elif one.health != "Missing":  # shown before the object is there for the first time, too
            wrong.append(one)
    return wrong


def _watch(daemon: Daemon, cluster: Cluster, resource: str, namespace: str) -> Path:
    daemon.start(
        Command(
            argv=[
                *(str(kubectl.find()), "--kubeconfig", str(cluster.kubeconfig())),
                *("get", resource, "--namespace", namespace),
                *("--watch", "--output-watch-events", "--output=json"),
            ],
            env={},
        ),
        is_ready=daemon.is_alive,
        ready_seconds=_READY_SECONDS,
    )
    return daemon.log


def _versions(log: Path, name: str) -> list[Version]:
    return [
        Version(int(document["metadata"]["resourceVersion"]), document, event["type"] == "DELETED")
        for event in _events(log)
        for document in [event["object"]]
        if document["metadata"]["name"] == name
    ]


def _events(log: Path) -> Iterator[dict[str, Any]]:
    """Read the events written so far, one a line; the last line may not be whole yet."""
    for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("{") and line.endswith("\n"):
            yield json.loads(line)


def _judged(version: Version) -> Shown:
    answer = lua.health(customizations.HEALTH, version.document)
    return Shown(version.revision, answer["status"], answer["message"])


def _changes(seen: Iterator[Shown]) -> list[Shown]:
    """Keep each health once, where it begins."""
    kept: list[Shown] = []
    for one in seen:
        if not kept or kept[-1].health != one.health:
            kept.append(one)
    return kept
