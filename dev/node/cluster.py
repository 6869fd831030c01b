"""A whole Kubernetes without Docker: API server, controllers, and one real node that runs pods.

All of it runs in a room of its own (see `room`), so it needs root, and leaves nothing behind.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dev import folders, process
from dev.daemon import Command, Daemon
from dev.errors import DevError, StartError
from dev.kubernetes import certificates, programs
from dev.kubernetes.certificates import Login
from dev.kubernetes.cluster import PodCluster
from dev.kubernetes.kubectl import KubectlError
from dev.kubernetes.local import LocalCluster, options
from dev.kubernetes.programs import Program
from dev.node import configuration, images, room
from dev.node import programs as node_programs
from dev.node.configuration import CNI_FOLDER, PODS, SOCKET
from dev.node.programs import Inside
from dev.node.room import Room

NODE = "node"

_CONTROLLERS = Login("controller-manager", "system:kube-controller-manager")
_SCHEDULER = Login("scheduler", "system:kube-scheduler")
_PROXY = Login("proxy", "system:kube-proxy")
_KUBELET = Login("kubelet", f"system:node:{NODE}", "system:nodes")
_AGGREGATOR = Login("aggregator", "front-proxy-client")

_VOLUMES = 24
_READY_SECONDS = 180
_POLL_SECONDS = 0.2
_ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


class NodeCluster(LocalCluster, PodCluster):
    """The local API server, joined by what makes pods run."""

    title = "Kubernetes with a node"
    audit_policy = Path(__file__).with_name("audit.yaml")
    logins = (_CONTROLLERS, _SCHEDULER, _PROXY, _KUBELET, _AGGREGATOR)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._held = Daemon(folder, "room")
        self._first = folder / "room.pid"

    @property
    def address(self) -> str:
        return self._room.node

    @property
    def host(self) -> str:
        return self._room.host

    @property
    def pod_logs(self) -> Path:
        return self.folder / "logs"

    def start(self) -> None:
        if self.is_healthy():
            return
        if os.getuid() != 0:
            raise DevError("A node with pods is made by root: use sudo, or CLUSTER=kind")
        self.stop()
        self._make_room()
        super().start()
        self._start_controllers()
        self._start_runtime()
        self._start_node()
        self._furnish()
        self._wait_ready()

    def stop(self) -> None:
        for name in ("kube-proxy", "kubelet", "containerd", "scheduler", "controller-manager"):
            Daemon(self.folder, name).stop()
        super().stop()
        self._held.stop()

    def is_healthy(self) -> bool:
        return self._held.is_alive() and self.answers() and self._is_ready()

    def load(self, archive: Path) -> None:
        self._images("import", str(archive))

    def tag(self, image: str, another: str) -> None:
        self._images("tag", "--force", image, another)

    def placed(self, argv: list[str]) -> list[str]:
        return [*room.on_its_network(self._first_process), *argv]

    def server_flags(self) -> dict[str, object]:
        paths = certificates.files(self.certificates)
        return {
            **super().server_flags(),
            "endpoint-reconciler-type": "lease",
            "allow-privileged": "true",
            "kubelet-client-certificate": paths.admin_certificate,
            "kubelet-client-key": paths.admin_key,
            "kubelet-preferred-address-types": "InternalIP",
            # For servers that extend this one, such as KEDA's.
            "enable-aggregator-routing": "true",
            "requestheader-client-ca-file": paths.authority,
            "requestheader-allowed-names": _AGGREGATOR.name,
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "proxy-client-cert-file": _AGGREGATOR.certificate(self.certificates),
            "proxy-client-key-file": _AGGREGATOR.key(self.certificates),
        }

    @property
    def _room(self) -> Room:
        return room.numbered(self.settings.ports["https"])

    @property
    def _first_process(self) -> int:
        pid = room.first_process(self._first)
        if pid is None:
            raise StartError("the node's room is gone")
        return pid

    def _make_room(self) -> None:
        self._first.unlink(missing_ok=True)
        number = str(self.settings.ports["https"])
        self._held.start(
            Command(
                argv=[sys.executable, "-m", "dev.node.room", number, str(self._first)],
                env={**_ENV, "PYTHONPATH": str(folders.CHECKOUT)},
            ),
            is_ready=self._first.exists,
            ready_seconds=_READY_SECONDS,
        )

    def _start_controllers(self) -> None:
        paths = certificates.files(self.certificates)
        controllers = {
            "kubeconfig": self.kubeconfig_of(_CONTROLLERS),
            "service-account-private-key-file": paths.service_account_key,
            "root-ca-file": paths.authority,
            "use-service-account-credentials": "true",
            "leader-elect": "false",
        }
        scheduler = {"kubeconfig": self.kubeconfig_of(_SCHEDULER), "leader-elect": "false"}
        for name, program, flags in (
            ("controller-manager", Program.CONTROLLER_MANAGER, controllers),
            ("scheduler", Program.SCHEDULER, scheduler),
        ):
            command = self.placed([str(programs.ensure(program)), *options(flags)])
            self._start(name, Command(argv=command, env=_ENV))

    def _start_runtime(self) -> None:
        settings = self.folder / "containerd.toml"
        settings.write_text(configuration.containerd(self.folder), encoding="utf-8")
        networks = self.folder / CNI_FOLDER
        networks.mkdir(exist_ok=True)
        (networks / "pods.conflist").write_text(configuration.network(), encoding="utf-8")
        self._start_inside("containerd", ["containerd", "--config", str(settings)])
        socket = Path(f"/proc/{self._first_process}/root{SOCKET}")
        _wait(socket.exists, "containerd does not answer")
        for program, image in (
            (Inside.PAUSE, configuration.PAUSE),
            (Inside.COREDNS, configuration.COREDNS),
        ):
            self.load(images.of_program(node_programs.ensure(program), image))

    def _images(self, *arguments: str) -> None:
        client = ["ctr", "--address", SOCKET, "--namespace", "k8s.io", "images"]
        command = [*room.inside(self._first_process), *client, *arguments]
        process.run(command, log=self.folder / "images.log", env=_ENV)

    def _start_node(self) -> None:
        settings = self.folder / "kubelet.json"
        text = configuration.kubelet(
            self.folder,
            address=self._room.node,
            authority=certificates.files(self.certificates).authority,
            control_group=self._room.control_group,
        )
        settings.write_text(text, encoding="utf-8")
        kubelet = {
            "config": settings,
            "kubeconfig": self.kubeconfig_of(_KUBELET),
            "hostname-override": NODE,
            "node-ip": self._room.node,
            "root-dir": self.folder / "kubelet",
        }
        proxy = {
            "kubeconfig": self.kubeconfig_of(_PROXY),
            "hostname-override": NODE,
            "proxy-mode": "iptables",
            "cluster-cidr": PODS,
            # The tables of connections have one size for the whole machine.
            "conntrack-max-per-core": 0,
            "conntrack-tcp-timeout-established": 0,
            "conntrack-tcp-timeout-close-wait": 0,
        }
        self._start_inside("kubelet", [str(programs.ensure(Program.KUBELET)), *options(kubelet)])
        self._start_inside("kube-proxy", [str(programs.ensure(Program.PROXY)), *options(proxy)])

    def _furnish(self) -> None:
        """Make what every cluster has: names of Services, and volumes."""
        disks = self.folder / "volumes"
        for number in range(_VOLUMES):
            disk = disks / str(number)
            disk.mkdir(parents=True, exist_ok=True)
            disk.chmod(0o777)  # whoever claims it, under whatever number
        objects = [*configuration.dns(), *configuration.volumes(disks, count=_VOLUMES)]
        self.kubectl("apply", "--filename=-", text=configuration.document(objects))

    def _wait_ready(self) -> None:
        _wait(self._is_ready, f"the node is not ready, see {self.folder}/kubelet.log")
        waiting = ("rollout", "status", "deployment/coredns", f"--timeout={_READY_SECONDS}s")
        self.kubectl("--namespace", "kube-system", *waiting)

    def _is_ready(self) -> bool:
        ready = '{.status.conditions[?(@.type=="Ready")].status}'
        try:
            return self.kubectl("get", "node", NODE, f"--output=jsonpath={ready}") == "True"
        except KubectlError:
            return False

    def _start_inside(self, name: str, argv: list[str]) -> None:
        # Asked to end, `nsenter` would leave its child alone; the room has nothing to save.
        command = [*room.inside(self._first_process), *argv]
        self._start(name, Command(argv=command, env=_ENV, stop_seconds=0))

    def _start(self, name: str, command: Command) -> None:
        """Start a program that others wait for, so its log tells more than a probe would."""
        Daemon(self.folder, name).start(
            command, is_ready=lambda: True, ready_seconds=_READY_SECONDS
        )


def _wait(is_true: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not is_true():
        if time.monotonic() > deadline:
            raise StartError(complaint)
        time.sleep(_POLL_SECONDS)
