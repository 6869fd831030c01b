"""The three real processes on real services, for the system tests.

Each process is started as a user would: our entry point and an environment. The operator logs in
with its own Role and nothing more.
"""

import json
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.rows import dict_row

from dev import process, program
from dev.daemon import Daemon
from dev.generate import ROOT
from dev.kubernetes.cluster import Cluster
from dev.program import Probe, Program
from dev.stack import Stack
from receipt_collector import schema
from receipt_contract.requests import API_VERSION, GROUP, Kind
from receipt_contract.topology import WORK_SIDE
from receipt_runtime.amqp import preflight
from tests.support import services
from tests.support.amqp import Visitor, eventually, visiting
from tests.support.objects import Objects
from tests.support.services import Broker

WITHIN_SECONDS = 90.0  # generous: only a test that fails waits this long
POLL_SECONDS = 0.1
SETTLE_SECONDS = 3.0

# Long times are shortened, so that a test sees what takes an hour in life.
FAST = {
    "RECEIPTS_MISSING_GRACE_SECONDS": "0.5",
    "RECEIPTS_LEASE_SECONDS": "3",
}
SPY = "spy"
DEFINITIONS = str(ROOT / "crds")


class Pipeline:
    """One namespace, one virtual host, one database, one volume, and the processes on them."""

    def __init__(  # noqa: PLR0913 - one resource each
        self,
        stack: Stack,
        cluster: Cluster,
        *,
        namespace: str,
        broker_url: str,
        database_url: str,
        folder: Path,
    ) -> None:
        """Make the roots, the schema, the topology and the operator's identity."""
        self.cluster = cluster
        self.namespace = namespace
        self.broker_url = broker_url
        self.database_url = database_url
        self.receipts = folder / "receipts"
        self.cache = folder / "cache"
        self.receipts.mkdir()
        self.cache.mkdir()
        self._stack = stack
        self._daemons: dict[str, Daemon] = {}
        self._programs: dict[str, Program] = {}
        self._objects = Objects(cluster.kubeconfig())
        self._kubeconfig = cluster.operator_kubeconfig(namespace)
        schema.setup(database_url)
        self.declare_topology()

    def declare_topology(self) -> None:
        """Declare the topology, and a queue beside the work queue that keeps a copy of all."""
        preflight.declare_topology(self.broker_url)
        bind_spy(self.broker_url)

    def start_operator(self, name: str = "operator", **settings: str) -> Daemon:
        """Start an operator, ready once the database and the broker answer."""
        return self._start(name, "receipt_operator", self._operator_settings() | settings)

    def start_in_place_of_operator(self, module: str) -> Daemon:
        """End the operator and start another program that is told the same."""
        of_this_checkout = {"PYTHONPATH": str(ROOT)}
        return self._start("operator", module, self._operator_settings() | of_this_checkout)

    def start_waiting_operator(self, name: str) -> Daemon:
        """Start an operator beside another one, which holds the lease."""
        return self._start(name, "receipt_operator", self._operator_settings(), until=Probe.ALIVE)

    def start_worker(self, name: str = "worker", **settings: str) -> Daemon:
        """Start a worker with the real Tesseract."""
        roots = {
            "RECEIPT_SOURCE_ROOT": str(self.receipts),
            "HOME_BUDGET_OCR_CACHE": str(self.cache),
        }
        return self._start(name, "receipt_worker", {**roots, **settings})

    def start_collector(self, name: str = "collector", **settings: str) -> Daemon:
        """Start a collector."""
        return self._start(
            name, "receipt_collector", {"DATABASE_URL": self.database_url, **settings}
        )

    def close(self) -> None:
        """End every process that was started here."""
        for daemon in reversed(self._daemons.values()):
            daemon.stop()
        self._objects.close()

    def log(self, name: str) -> str:
        """Return what a process has logged."""
        return self._daemons[name].log.read_text(encoding="utf-8")

    def is_ready(self, name: str) -> bool:
        """Tell what the readiness probe of a process says now."""
        return self._programs[name].is_ready()

    def metrics(self, name: str) -> dict[str, float]:
        """Read the metrics of a process."""
        return self._programs[name].metrics()

    # Objects

    def apply(self, kind: Kind, name: str, **spec: Any) -> None:
        """Apply an object as `kubectl apply` does."""
        document = {
            "apiVersion": API_VERSION,
            "kind": kind.value,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec,
        }
        self.kubectl("apply", "--filename=-", text=json.dumps(document))

    def patch(self, kind: Kind, name: str, **spec: Any) -> None:
        """Change fields of an object's spec."""
        body = json.dumps({"spec": spec})
        self.kubectl("patch", kind.plural, name, "--type=merge", f"--patch={body}")

    def delete(self, kind: Kind, name: str) -> None:
        """Delete an object and wait until it is gone, as kubectl does."""
        self.kubectl("delete", kind.plural, name, "--timeout=20s")

    def read(self, kind: Kind, name: str) -> dict[str, Any]:
        """Read an object."""
        return self._objects.read(API_VERSION, kind.plural, name, namespace=self.namespace)

    def status(self, kind: Kind, name: str) -> dict[str, Any]:
        """Read an object's status."""
        status: dict[str, Any] = self.read(kind, name).get("status", {})
        return status

    def wait(
        self,
        kind: Kind,
        name: str,
        is_true: Callable[[dict[str, Any]], object],
        *,
        within: float = WITHIN_SECONDS,
    ) -> dict[str, Any]:
        """Wait for a status; fail with the last one seen and the operator's last lines."""
        deadline = time.monotonic() + within
        while True:
            status = self.status(kind, name)
            if is_true(status):
                return status
            if time.monotonic() > deadline:
                logs = [process.last_lines(daemon.log) for daemon in self._daemons.values()]
                seen = json.dumps(status, indent=1)
                raise AssertionError("\n".join([f"last status of {name}: {seen}", *logs]))
            time.sleep(POLL_SECONDS)

    def wait_finished(
        self, kind: Kind, name: str, *, run_id: str = "", within: float = WITHIN_SECONDS
    ) -> dict[str, Any]:
        """Wait until the request under a runId has finished."""
        return self.wait(
            kind,
            name,
            lambda status: holds(status, "Finished") and status["run"]["id"] == run_id,
            within=within,
        )

    def settle(self) -> None:
        """Let the operator look at everything a few times: for what must not happen."""
        time.sleep(SETTLE_SECONDS)

    def look_past(self, kind: Kind) -> None:
        """See a later object of the kind to its end: what came before it has been looked at."""
        name = f"later-{secrets.token_hex(4)}"
        self.apply(kind, name, target={"selector": {"pathPrefix": "no-such-folder/"}})
        self.wait_finished(kind, name)

    def kubectl(self, *args: str, text: str = "") -> str:
        """Run kubectl as administrator in our namespace."""
        return self.cluster.kubectl("--namespace", self.namespace, *args, text=text)

    def status_writes(self, name: str) -> int | None:
        """Count the status patches of an object; None where the cluster shows no audit log."""
        if self.cluster.audit_log is None:
            return None
        return len(self._status_patches(self.cluster.audit_log, name))

    def first_status_sent(self, kind: Kind, name: str) -> dict[str, Any] | None:
        """Return the first status patch of an object; None where no audit log shows one."""
        return next(iter(self._statuses_sent(kind, name)), None)

    def last_status_sent(self, kind: Kind, name: str) -> dict[str, Any] | None:
        """Return the last status patch of an object; None where no audit log shows one."""
        return next(reversed(self._statuses_sent(kind, name)), None)

    def _statuses_sent(self, kind: Kind, name: str) -> list[dict[str, Any]]:
        if self.cluster.audit_log is None:
            return []
        return [
            entry["requestObject"]["status"]
            for entry in self._status_patches(self.cluster.audit_log, name)
            if entry["objectRef"]["resource"] == kind.plural
        ]

    def _status_patches(self, audit_log: Path, name: str) -> list[dict[str, Any]]:
        """Return what the audit log says of the operator's own patches that were carried out."""
        wanted = {"namespace": self.namespace, "name": name, "subresource": "status"}
        lines = audit_log.read_text(encoding="utf-8").splitlines()
        return [
            entry
            for entry in (json.loads(line) for line in lines if self.namespace in line)
            if (entry["verb"], entry["stage"]) == ("patch", "ResponseComplete")
            and wanted.items() <= entry.get("objectRef", {}).items()
            and entry["user"]["username"].startswith("system:serviceaccount:")
            and entry["responseStatus"]["code"] == HTTPStatus.OK
        ]

    def events(self, kind: Kind, name: str) -> list[dict[str, Any]]:
        """Return the events about an object, and about earlier ones of its name."""
        selector = f"involvedObject.kind={kind.value},involvedObject.name={name}"
        listed = self.kubectl("get", "events", "--field-selector", selector, "--output=json")
        items: list[dict[str, Any]] = json.loads(listed)["items"]
        return items

    # Broker and database

    def published(self) -> int:
        """Count the work messages published since the topology was declared."""
        with visiting(self.broker_url) as visitor:
            return visitor.ready(SPY)

    def visit(self, look: Callable[[Visitor], Any]) -> Any:
        """Look at the broker for a moment."""
        with visiting(self.broker_url) as visitor:
            return look(visitor)

    def rows(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Ask the database."""
        with psycopg.connect(self.database_url, row_factory=dict_row) as connection:
            return connection.execute(query, parameters).fetchall()

    def execute(self, statement: str) -> None:
        """Change the database, as a disaster would."""
        with psycopg.connect(self.database_url) as connection:
            connection.execute(statement)

    def _operator_settings(self) -> dict[str, str]:
        return {
            "KUBECONFIG": str(self._kubeconfig),
            "DATABASE_URL": self.database_url,
            "RECEIPT_SOURCE_ROOT": str(self.receipts),
            "HOME_BUDGET_OCR_CACHE": str(self.cache),
            "RECEIPTS_CLUSTER": "test",
            "RECEIPTS_NAMESPACES": self.namespace,
            **FAST,
        }

    def _start(
        self, name: str, module: str, settings: Mapping[str, str], *, until: Probe = Probe.READY
    ) -> Daemon:
        daemon = self._stack.daemon(f"{self.namespace}-{name}")
        self._daemons[name] = daemon
        self._programs[name] = program.start(
            daemon, module, {"RABBITMQ_URL": self.broker_url, **settings}, until=until
        )
        return daemon


def bind_spy(broker_url: str) -> None:
    """Declare a queue beside the work queue that keeps a copy of all."""
    with visiting(broker_url) as visitor:
        visitor.channel.queue_declare(SPY, durable=True)
        visitor.channel.queue_bind(SPY, WORK_SIDE.work, WORK_SIDE.routing_key)


def install_kinds(cluster: Cluster) -> None:
    """Make the two kinds known to a cluster."""
    cluster.kubectl("apply", "--filename", DEFINITIONS)
    cluster.kubectl("wait", "--for=condition=Established", "--filename", DEFINITIONS)


def remove_kinds(cluster: Cluster) -> None:
    """Take the two kinds away from a cluster, and with them every object."""
    cluster.kubectl("delete", "--wait=false", "--filename", DEFINITIONS)
    shown = ("get", "crds", "--output=name")
    eventually(lambda: GROUP not in cluster.kubectl(*shown), within=WITHIN_SECONDS)


@contextmanager
def making(
    stack: Stack, cluster: Cluster, broker: Broker, database_admin_url: str, folder: Path
) -> Iterator[Pipeline]:
    """Make namespace, virtual host, database and volumes, and take them away at the end."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.kubectl("create", "namespace", name)
    with (
        services.fresh_vhost(broker, name) as broker_url,
        services.fresh_database(database_admin_url, name) as database_url,
    ):
        made = Pipeline(
            stack,
            cluster,
            namespace=name,
            broker_url=broker_url,
            database_url=database_url,
            folder=folder,
        )
        try:
            yield made
        finally:
            made.close()
            cluster.kubectl("delete", "namespace", name, "--wait=false")


def holds(status: Mapping[str, Any], condition: str) -> bool:
    """Whether a condition is True."""
    return condition_of(status, condition).get("status") == "True"


def count(status: Mapping[str, Any], name: str) -> int:
    """Return one of the progress counts; 0 before there is any."""
    return int(status.get("progress", {}).get(name, 0))


def condition_of(status: Mapping[str, Any], condition: str) -> dict[str, Any]:
    """Return a condition; empty when it is absent."""
    for one in status.get("conditions", ()):
        if one["type"] == condition:
            return dict(one)
    return {}


def vhost_of(url: str) -> str:
    """Return the virtual host of a broker URL."""
    return urlsplit(url).path.removeprefix("/")


def move_away(folder: Path) -> Path:
    """Take a volume away, as a lost mount does: an empty folder stands in its place."""
    aside = folder.with_name(f"{folder.name}.away")
    shutil.move(folder, aside)
    folder.mkdir()
    return aside


def move_back(aside: Path, folder: Path) -> None:
    """Bring a volume back."""
    folder.rmdir()
    shutil.move(aside, folder)
