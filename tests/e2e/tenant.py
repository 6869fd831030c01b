"""A namespace that enforces the restricted profile, what a release needs in it, and the release."""

import io
import json
import re
import subprocess
import tarfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import yaml
from psycopg.rows import dict_row

from dev import folders
from dev.kubernetes import kubectl
from dev.kubernetes.cluster import Cluster
from dev.kubernetes.kubectl import KubectlError
from receipt_contract.requests import API_VERSION, GROUP, Kind
from tests.chart.rendering import CHART, HelmError
from tests.support.amqp import visiting
from tests.support.objects import Objects
from tests.support.pipeline import SPY, bind_spy, holds

RELEASE = "receipts"
RECEIPTS = "receipts"
CACHE = "ocr-cache"
REGISTRY = "localhost/receipts-e2e"
KINDS = tuple(f"{kind.plural}.{GROUP}" for kind in Kind)
OLDER = "0.0.9"  # a version before this one, for upgrades: the same programs
WITHIN_SECONDS = 240.0  # generous: only a test that fails waits this long

_INSTALL = folders.CHECKOUT / "docs" / "install.md"
_DOCUMENTED = re.compile(r"```yaml\n# mine\.yaml\n(.*?)```", re.DOTALL)
_LEVEL = "pod-security.kubernetes.io/enforce"
LOADER = "loader"
_POLL_SECONDS = 0.3
_HELM_SECONDS = 400
# A node of two processors has to hold all of it, and a test says when something is published.
_SMALL: dict[str, Any] = {
    "image": {"registry": REGISTRY, "pullPolicy": "IfNotPresent"},
    "operator": {"resources": {"requests": {"cpu": "10m"}}},
    "worker": {"resources": {"requests": {"cpu": "100m"}}},
    "collector": {"resources": {"requests": {"cpu": "10m"}}},
    "cli": {"resources": {"requests": {"cpu": "10m"}}},
    "publisher": {"suspend": True, "minAgeSeconds": 0},
}


class Places(NamedTuple):
    """Addresses of a broker's virtual host and of a database, as an administrator reaches them."""

    broker: str
    database: str


class Tenant:
    """One namespace; everything in it goes with it."""

    def __init__(  # noqa: PLR0913 - one resource each
        self,
        cluster: Cluster,
        helm: Path,
        *,
        namespace: str,
        places: Places,
        receipts: str,
        folder: Path,
    ) -> None:
        """Make the namespace."""
        self._receipts = receipts
        self.cluster = cluster
        self.namespace = namespace
        self.places = places
        self._helm = helm
        self._folder = folder
        self._objects = Objects(cluster.kubeconfig())
        metadata = {"name": namespace, "labels": {_LEVEL: "restricted"}}
        self._create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})

    def remove_release(self) -> None:
        """Take the release away at once, if there is one, and every pod."""
        self._run_helm("uninstall", RELEASE, "--ignore-not-found", "--no-hooks")
        self.kubectl("delete", "pods", "--all", "--grace-period=0", "--force")

    def close(self) -> None:
        """Take the namespace away, with whatever is in it."""
        self.remove_release()
        self._objects.close()
        self.cluster.kubectl("delete", "namespace", self.namespace, "--wait=false")

    # What a release needs

    def make_secret(self, name: str, **values: str) -> None:
        """Make a Secret as the documents tell."""
        literals = [f"--from-literal={key}={value}" for key, value in values.items()]
        self.kubectl("create", "secret", "generic", name, *literals)

    def make_volume(self, name: str) -> None:
        """Claim a volume."""
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
        metadata = {"name": name, "namespace": self.namespace}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}
        self._create({**claim, "spec": spec})

    def put(self, files: Mapping[str, bytes]) -> None:
        """Put receipts onto their volume, by a pod that may write there."""
        if not self.kubectl("get", "pod", LOADER, "--ignore-not-found"):
            self._create(_loader(self.namespace, self._receipts))
            self.kubectl("wait", "--for=condition=Ready", "--timeout=100s", f"pod/{LOADER}")
        command = [str(kubectl.find()), "--kubeconfig", str(self.cluster.kubeconfig())]
        command += ["--namespace", self.namespace, "exec", "--stdin", LOADER, "--"]
        subprocess.run(
            [*command, "tar", "--extract", "--directory=/data"], check=True, input=_tar(files)
        )

    # The release

    def values(self, **more: Any) -> dict[str, Any]:
        """Return the values of the documents, for a small node, with more of them."""
        found = _DOCUMENTED.search(_INSTALL.read_text(encoding="utf-8"))
        assert found is not None
        return _merged(_merged(yaml.safe_load(found[1]), _SMALL), more)

    def install(self, chart: Path = CHART, **more: Any) -> str:
        """Install the release and wait until it runs; return what Helm says. Raises HelmError."""
        self._take_over_kinds()
        return self._change("install", chart, more)

    def start_installing(self, **more: Any) -> None:
        """Install the release and do not wait for pods that may never run. Raises HelmError."""
        self._take_over_kinds()
        self._run_helm("install", RELEASE, str(CHART), *self._given(more), "--timeout=5m")

    def upgrade(self, chart: Path = CHART, **more: Any) -> str:
        """Upgrade the release and wait until it runs; return what Helm says. Raises HelmError."""
        return self._change("upgrade", chart, more)

    def rollback(self) -> None:
        """Go back to the revision before."""
        self._run_helm("rollback", RELEASE, "--wait", "--timeout=4m")

    def uninstall(self) -> None:
        """Take the release away and wait until its pods are gone."""
        self._run_helm("uninstall", RELEASE, "--wait", "--timeout=4m")
        # The pod of `helm test` stays, as Helm has it.
        ours = f"app.kubernetes.io/instance={RELEASE},app.kubernetes.io/component!=doctor"
        self.kubectl("wait", "--for=delete", "pod", "--selector", ours, "--timeout=100s")

    def test(self) -> str:
        """Run `helm test` and return what its pod says. Raises HelmError."""
        return self._run_helm("test", RELEASE, "--logs", "--timeout=2m")

    def watch_messages(self) -> None:
        """Keep a copy of every work message from now on."""
        bind_spy(self.places.broker)

    def published(self) -> int:
        """Count the work messages since `watch_messages`."""
        with visiting(self.places.broker) as visitor:
            return visitor.ready(SPY)

    # What stands in the cluster and in the database

    def kubectl(self, *args: str, text: str = "") -> str:
        """Run kubectl as administrator in the namespace."""
        return self.cluster.kubectl("--namespace", self.namespace, *args, text=text)

    def apply(self, kind: Kind, name: str, **spec: Any) -> None:
        """Apply an object."""
        metadata = {"name": name, "namespace": self.namespace}
        document = {"apiVersion": API_VERSION, "kind": kind.value, "metadata": metadata}
        self.kubectl("apply", "--filename=-", text=json.dumps({**document, "spec": spec}))

    def status(self, kind: Kind, name: str) -> dict[str, Any]:
        """Read an object's status."""
        read = self._objects.read(API_VERSION, kind.plural, name, namespace=self.namespace)
        status: dict[str, Any] = read.get("status", {})
        return status

    def wait_finished(self, kind: Kind, name: str) -> dict[str, Any]:
        """Wait until a request has ended, and return its status."""
        eventually(lambda: holds(self.status(kind, name), "Finished"), f"{name} finishes")
        return self.status(kind, name)

    def pods(self, component: str) -> list[dict[str, Any]]:
        """Return the pods of one component that are not on their way out."""
        selector = f"app.kubernetes.io/component={component}"
        listed = self.kubectl("get", "pods", "--selector", selector, "--output=json")
        items: list[dict[str, Any]] = json.loads(listed)["items"]
        return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]

    def said(self, component: str) -> str:
        """Return what the pods of a component have logged; nothing before they started."""
        logs = []
        for pod in self.pods(component):
            with suppress(KubectlError):
                logs.append(self.kubectl("logs", pod["metadata"]["name"]))
        return "\n".join(logs)

    def run_schedule(self, component: str) -> str:
        """Run what a CronJob runs now, to its end; return what it said."""
        job = f"{component}-now"
        self.kubectl("create", "job", job, f"--from=cronjob/{RELEASE}-{component}")
        try:
            self.kubectl("wait", "--for=condition=Complete", f"job/{job}", "--timeout=100s")
        except KubectlError as error:
            said = self.kubectl("logs", f"job/{job}")
            raise AssertionError(f"{component} did not complete: {error}\n{said}") from error
        return self.kubectl("logs", f"job/{job}")

    def rows(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Ask the database."""
        with psycopg.connect(self.places.database, row_factory=dict_row) as connection:
            return connection.execute(query, parameters).fetchall()

    def keep(self, folder: Path) -> None:
        """Write down how the namespace stands: objects, events, and what every pod says."""
        folder.mkdir(parents=True, exist_ok=True)
        kinds = "all,events,jobs,persistentvolumeclaims,receiptreprocesses,cacherebuilds"
        wanted = {
            "objects.txt": ("get", "all,pvc,rrp,crb", "--output=wide"),
            "objects.yaml": ("get", kinds, "--output=yaml"),
            "pods.txt": ("describe", "pods"),
            "events.txt": ("get", "events", "--sort-by=.lastTimestamp"),
        }
        for pod in self._names_of_pods():
            wanted[f"{pod}.log"] = ("logs", pod, "--all-containers")
            wanted[f"{pod}.before.log"] = ("logs", pod, "--all-containers", "--previous")
        for name, args in wanted.items():
            try:
                said = self.kubectl(*args)
            except KubectlError as error:
                said = f"{error}\n"
            (folder / name).write_text(said, encoding="utf-8")

    def _take_over_kinds(self) -> None:
        """Have our release own the kinds that an earlier one left, as the documents tell."""
        owner = (
            f"meta.helm.sh/release-name={RELEASE}",
            f"meta.helm.sh/release-namespace={self.namespace}",
        )
        if found := self.cluster.kubectl("get", "crd", *KINDS, "--ignore-not-found", "-oname"):
            self.cluster.kubectl("annotate", "--overwrite", *found.split(), *owner)

    def _names_of_pods(self) -> list[str]:
        names = "--output=jsonpath={.items[*].metadata.name}"
        return self.kubectl("get", "pods", names).split()

    def _change(self, verb: str, chart: Path, more: Mapping[str, Any]) -> str:
        return self._run_helm(
            verb, RELEASE, str(chart), *self._given(more), "--wait", "--timeout=5m"
        )

    def _given(self, more: Mapping[str, Any]) -> tuple[str, ...]:
        values = self._folder / "values.yaml"
        values.write_text(yaml.safe_dump(self.values(**more)), encoding="utf-8")
        return ("--values", str(values))

    def _run_helm(self, *args: str) -> str:
        place = ("--kubeconfig", str(self.cluster.kubeconfig()), "--namespace", self.namespace)
        done = subprocess.run(
            [str(self._helm), *args, *place],
            check=False,
            capture_output=True,
            text=True,
            timeout=_HELM_SECONDS,
        )
        if done.returncode != 0:
            raise HelmError(done.stderr + done.stdout)
        return done.stdout

    def _create(self, document: Mapping[str, Any]) -> None:
        self.cluster.kubectl("create", "--filename=-", text=json.dumps(document))


def eventually(is_true: Callable[[], object], what: str) -> None:
    """Wait until something becomes true; fail with what was waited for."""
    deadline = time.monotonic() + WITHIN_SECONDS
    while not is_true():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(_POLL_SECONDS)


def _merged(one: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as Helm merges two files of them."""
    merged = dict(one)
    for key, value in more.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged


def _tar(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _loader(namespace: str, receipts: str) -> dict[str, Any]:
    """Return a pod that waits with the receipts at /data."""
    account = {"runAsNonRoot": True, "runAsUser": 10001, "runAsGroup": 10001, "fsGroup": 10001}
    container = {
        "name": LOADER,
        "image": f"{REGISTRY}/receipt-cli:{version()}",
        "imagePullPolicy": "Never",
        "command": ["sleep", "infinity"],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "receipts", "mountPath": "/data"}],
    }
    claim = {"claimName": receipts}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": LOADER, "namespace": namespace},
        "spec": {
            "securityContext": {**account, "seccompProfile": {"type": "RuntimeDefault"}},
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
            "volumes": [{"name": "receipts", "persistentVolumeClaim": claim}],
        },
    }


def version() -> str:
    """Return the version of the chart and of the images in it."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    version: str = chart["appVersion"]
    return version
