"""What a GitOps test works with: a pipeline, Argo CD, a repository, and what was seen of them."""

import json
import time
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import yaml

from dev import process
from dev.daemon import Daemon
from dev.gitops import argocd, customizations
from dev.gitops.argocd import ArgoCD
from dev.gitops.repository import Repository
from dev.stack import Stack
from receipt_contract.requests import API_VERSION, GROUP, VERSION, Kind
from tests.gitops import history
from tests.gitops.history import History
from tests.support.amqp import eventually
from tests.support.objects import Objects
from tests.support.pipeline import Pipeline
from tests.support.receipts import write_small_receipts

REPROCESS = Kind.RECEIPT_REPROCESS
WITHIN_SECONDS = 90.0  # generous: only a test that fails waits this long

_API_VERSION = "argoproj.io/v1alpha1"
_APPLICATION = "applications.argoproj.io"
_EXAMPLE = customizations.SCRIPTS / "application.yaml"
# The other policy, foreground, leaves the end of a deletion to a controller that does not run here.
_CASCADE = "resources-finalizer.argocd.argoproj.io/background"
_PRUNE = "PrunePropagationPolicy=background"
_POLL_SECONDS = 0.3
_REFRESH_SECONDS = 15.0


class Desk:
    """Applications here have the name of their test, and a folder of that name in Git."""

    def __init__(
        self,
        stack: Stack,
        *,
        pipeline: Pipeline,
        operator: Daemon,
        argocd: ArgoCD,
        repository: Repository,
    ) -> None:
        """Take what is running, and start to watch."""
        self.pipeline = pipeline
        self.operator = operator
        self.argocd = argocd
        self.repository = repository
        self.history = History(stack, pipeline.cluster, pipeline.namespace)
        self._objects = Objects(pipeline.cluster.kubeconfig())
        self._stack = stack
        self._receipts = 0

    def close(self) -> None:
        """Disconnect; the programs end with their stack."""
        self._objects.close()

    # What lies there

    def write_receipts(self, *references: str) -> None:
        """Write a receipt at each reference, unlike all others."""
        write_small_receipts(self.pipeline.receipts, *references, first=self._receipts + 1)
        self._receipts += len(references)

    def commit(self, application: str, **documents: dict[str, Any] | None) -> str:
        """Commit objects to an application's folder by name, None removes; return the revision."""
        return self.repository.commit(
            {
                f"{application}/{name}.yaml": None if document is None else yaml.safe_dump(document)
                for name, document in documents.items()
            }
        )

    # Applications

    def create_application(
        self, name: str, *, heals: bool = True, retries: int = 0, **annotations: str
    ) -> None:
        """Create an application from our example; annotations are those of Argo CD itself.

        Argo CD tries a refused sync again as often as `retries` says.
        """
        document = yaml.safe_load(_EXAMPLE.read_text(encoding="utf-8"))
        document["metadata"] = {
            "name": name,
            "annotations": {
                f"argocd.argoproj.io/{key.replace('_', '-')}": text
                for key, text in annotations.items()
            },
            "finalizers": [_CASCADE],
        }
        spec = document["spec"]
        spec["source"] |= {"repoURL": self.repository.url, "path": name}
        spec["syncPolicy"] |= {"syncOptions": [_PRUNE], "retry": _retry(retries)}
        spec["syncPolicy"]["automated"]["selfHeal"] = heals
        spec["destination"] = {"name": argocd.CLUSTER, "namespace": self.pipeline.namespace}
        self.argocd.kubectl("apply", "--filename=-", text=json.dumps(document))

    def delete_application(self, name: str) -> None:
        """Delete an application with all its objects, and wait until it is gone."""
        self.argocd.kubectl("delete", _APPLICATION, name, "--timeout=60s")

    def refresh(self, name: str) -> None:
        """Have Argo CD look into Git now."""
        self.argocd.kubectl(
            *("annotate", _APPLICATION, name, "--overwrite", "argocd.argoproj.io/refresh=normal")
        )

    def sync(self, name: str) -> dict[str, Any]:
        """Sync again, whether or not anything changed; return how that went."""
        before = self.read(name)["status"].get("operationState", {}).get("startedAt")
        time.sleep(1.1)  # the time that tells two operations apart has whole seconds
        how = {"revision": "main", "prune": True, "syncOptions": [_PRUNE]}
        retry = self.read(name)["spec"]["syncPolicy"]["retry"]
        operation = {"operation": {"sync": how, "retry": retry}}
        self.argocd.kubectl(
            *("patch", _APPLICATION, name, "--type=merge", f"--patch={json.dumps(operation)}")
        )
        status = self.wait(
            name,
            lambda status: (
                status["operationState"]["startedAt"] != before
                and status["operationState"]["phase"] not in {"Running", "Terminating"}
            ),
        )
        state: dict[str, Any] = status["operationState"]
        return state

    # Actions, as the menu of an object has them

    def offered(self, application: str, name: str, *, kind: Kind = REPROCESS) -> set[str]:
        """Return the actions that Argo CD offers for an object now."""
        place = urlencode(self._place(name, kind))
        answer = self._call(f"applications/{application}/resource/actions?{place}")
        return {one["name"] for one in answer.get("actions") or () if not one.get("disabled")}

    def act(self, application: str, name: str, action: str, *, kind: Kind = REPROCESS) -> None:
        """Have Argo CD run an action on an object."""
        wanted = {"name": application, "action": action, **self._place(name, kind)}
        self._call(f"applications/{application}/resource/actions/v2", wanted)

    def _place(self, name: str, kind: Kind) -> dict[str, str]:
        return {
            "namespace": self.pipeline.namespace,
            "resourceName": name,
            "group": GROUP,
            "version": VERSION,
            "kind": kind.value,
        }

    def _call(self, path: str, body: dict[str, str] | None = None) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310  # the URL is ours, always http on loopback
            f"{self.argocd.url}/api/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=WITHIN_SECONDS) as response:  # noqa: S310  # as above
            answer: dict[str, Any] = json.load(response)
        return answer

    def read(self, name: str) -> dict[str, Any]:
        """Read an application."""
        return self._objects.read(_API_VERSION, "applications", name, namespace=argocd.NAMESPACE)

    def wait(self, name: str, is_true: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait for an application's status; fail with the last one seen."""
        deadline = time.monotonic() + WITHIN_SECONDS
        while True:
            status: dict[str, Any] = self.read(name).get("status", {})
            if status and is_true(status):
                return status
            if time.monotonic() > deadline:
                log = self._stack.daemon("argocd-application-controller").log
                seen = json.dumps(status, indent=1)
                raise AssertionError(f"last status of {name}: {seen}\n{process.last_lines(log)}")
            time.sleep(_POLL_SECONDS)

    def wait_synced(self, name: str, revision: str, *, health: str) -> dict[str, Any]:
        """Wait until all of a revision is synced and the application has this health.

        Argo CD may lose an order to look that comes while it compares, so it is given again.
        """
        self.refresh(name)
        ordered = time.monotonic()

        def is_synced(status: dict[str, Any]) -> bool:
            nonlocal ordered
            if time.monotonic() - ordered > _REFRESH_SECONDS:
                self.refresh(name)
                ordered = time.monotonic()
            return (
                status["sync"]["status"] == "Synced"
                and status["sync"].get("revision") == revision
                and status["health"].get("status") == health
                and _is_over(status.get("operationState", {}))
            )

        return self.wait(name, is_synced)

    def wait_object(
        self, name: str, is_true: Callable[[dict[str, Any]], object], *, kind: Kind = REPROCESS
    ) -> dict[str, Any]:
        """Wait until an object is there and its status is so."""
        eventually(lambda: self.history.object_versions(kind, name))
        return self.pipeline.wait(kind, name, is_true)

    # What was promised

    def check(self, application: str, name: str, *, kind: Kind = REPROCESS) -> None:
        """Check what holds for every object of ours under Argo CD, at every moment so far."""
        eventually(lambda: self._shows_the_truth(application, name, kind=kind))
        assert self.history.misjudged(kind, name) == []
        shown = self.history.shown_healths(application, kind, name)
        assert history.unexplained(shown, self.history.true_healths(kind, name)) == []
        assert "finalizers" not in self.pipeline.read(kind, name)["metadata"]
        document = self.read(application)
        assert "ignoreDifferences" not in document["spec"]
        assert document["status"]["sync"]["status"] == "Synced"

    def words(self, application: str, name: str, *, kind: Kind = REPROCESS) -> list[str]:
        """Return the healths that Argo CD has shown for an object, in their order."""
        return [one.health for one in self.history.shown_healths(application, kind, name)]

    def _shows_the_truth(self, application: str, name: str, *, kind: Kind) -> bool:
        words = self.words(application, name, kind=kind)
        return words[-1:] == [self.history.true_healths(kind, name)[-1].health]


def request(name: str, *references: str, kind: Kind = REPROCESS, **fields: Any) -> dict[str, Any]:
    """Return an object that asks for these receipts; `annotations` and `labels` are its own."""
    metadata = {key: fields.pop(key) for key in ("annotations", "labels") if key in fields}
    return {
        "apiVersion": API_VERSION,
        "kind": kind.value,
        "metadata": {"name": name, **metadata},
        "spec": {"target": {"references": list(references)}, **fields},
    }


def _is_over(operation: Mapping[str, Any]) -> bool:
    """Say whether a sync succeeded; it fails for what Argo CD prunes once more."""
    pruned_before = operation.get("message", "").endswith("not found")
    return operation.get("phase") == "Succeeded" or (
        operation.get("phase") == "Failed" and pruned_before
    )


def _retry(times: int) -> dict[str, Any]:
    return {"limit": times, "backoff": {"duration": "1s", "factor": 1, "maxDuration": "5s"}}
