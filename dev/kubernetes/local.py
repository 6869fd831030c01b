"""A Kubernetes API without Docker: etcd and the real API server with RBAC, on loopback.

There are no nodes and no controllers: objects are stored, validated, authorised and watched, but
no pod runs and a deleted namespace keeps terminating.
"""

import datetime as dt
import http.client
import os
import shutil
import ssl
from pathlib import Path

from dev import folders, service
from dev.daemon import Command, Daemon
from dev.kubernetes import certificates, programs
from dev.kubernetes.certificates import ADMIN, Login
from dev.kubernetes.cluster import Cluster, encoded, write_kubeconfig
from dev.kubernetes.programs import Program
from dev.service import Service

ENV = {"PATH": os.defpath, "LANG": "C.UTF-8"}
SERVICES = "10.96.0.0/16"  # addresses of Kubernetes' Services

_FIRST_SERVICE = "10.96.0.1"  # the API server's own
_LOOPBACK = "127.0.0.1"
_READY_SECONDS = 90
_ANSWER_SECONDS = 3


class LocalCluster(Service, Cluster):
    """Faults strike the API server; `wipe` loses what etcd holds, as a new cluster would."""

    program = "kube-apiserver"
    port_names = ("https", "etcd", "etcd_peer")
    audit_policy = Path(__file__).with_name("audit.yaml")
    logins: tuple[Login, ...] = ()  # of further clients

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.audit_log = folder / "audit.jsonl"
        self._etcd_data = folder / "etcd"
        self.certificates = folder / "certificates"
        self._etcd = Daemon(folder, "etcd")

    def start(self) -> None:
        if self.is_healthy():
            return
        etcd, api_server = (programs.ensure(p) for p in (Program.ETCD, Program.API_SERVER))
        self._prepare()
        if not self._etcd_answers():
            self._start_etcd(etcd)
        self.server.start(
            Command(argv=self.placed([str(api_server), *options(self.server_flags())]), env=ENV),
            is_ready=self.answers,
            ready_seconds=_READY_SECONDS,
        )

    def is_healthy(self) -> bool:
        return self.answers()

    @property
    def address(self) -> str:
        """Where etcd and the API server listen."""
        return _LOOPBACK

    def placed(self, argv: list[str]) -> list[str]:
        """Return the command that runs one of our programs at `address`."""
        return argv

    def answers(self) -> bool:
        """Tell whether the API server answers and takes changes."""
        if not (self._etcd.is_alive() and self.server.is_alive()):
            return False
        paths = certificates.files(self.certificates)
        tls = ssl.create_default_context(cafile=str(paths.authority))
        tls.load_cert_chain(paths.admin_certificate, paths.admin_key)
        connection = http.client.HTTPSConnection(
            self.address, self.settings.ports["https"], timeout=_ANSWER_SECONDS, context=tls
        )
        # The namespace comes last: it is made only once the server can be written to.
        return _answers(connection, "/readyz") and _answers(
            connection, "/api/v1/namespaces/default"
        )

    def stop(self) -> None:
        super().stop()
        self._etcd.stop()

    def wipe(self) -> None:
        self.server.kill()
        self._etcd.kill()
        service.remove_folder(self._etcd_data)
        self.start()

    def save(self, folder: Path) -> None:
        """Copy what etcd holds to a new folder, as a backup does; nothing answers meanwhile."""
        self.server.kill()
        self._etcd.stop()
        shutil.copytree(self._etcd_data, folder)
        self.start()

    def restore(self, folder: Path) -> None:
        """Put back what `save` copied: all later changes are lost, and revisions count anew."""
        self.server.kill()
        self._etcd.kill()
        service.remove_folder(self._etcd_data)
        shutil.copytree(folder, self._etcd_data)
        self.start()

    def remove(self) -> None:
        """Nothing of ours lies outside the stack's folder."""

    def _prepare(self) -> None:
        if self.admin_kubeconfig.exists():
            return
        folders.make_private(self.certificates)
        certificates.create(
            self.certificates,
            now=dt.datetime.now(dt.UTC),
            addresses={_LOOPBACK, self.address, _FIRST_SERVICE},
            logins=self.logins,
        )
        for login in (*self.logins, ADMIN):
            self._write_kubeconfig(login)

    def kubeconfig_of(self, login: Login) -> Path:
        return self.folder / f"{login.file}.kubeconfig"

    def _write_kubeconfig(self, login: Login) -> None:
        write_kubeconfig(
            self.kubeconfig_of(login),
            cluster={
                "server": f"https://{self.address}:{self.settings.ports['https']}",
                "certificate-authority-data": encoded(
                    certificates.files(self.certificates).authority
                ),
            },
            user={
                "client-certificate-data": encoded(login.certificate(self.certificates)),
                "client-key-data": encoded(login.key(self.certificates)),
            },
            namespace="default",
        )

    def _start_etcd(self, program: Path) -> None:
        client = f"http://{self.address}:{self.settings.ports['etcd']}"
        peer = f"http://{self.address}:{self.settings.ports['etcd_peer']}"
        flags = {
            "data-dir": self._etcd_data,
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
        }
        self._etcd.start(
            Command(
                # What is stored here need not survive a lost machine, only a killed process.
                argv=self.placed([str(program), *options(flags), "--unsafe-no-fsync"]),
                env=ENV,
            ),
            is_ready=self._etcd_answers,
            ready_seconds=_READY_SECONDS,
        )

    def _etcd_answers(self) -> bool:
        port = self.settings.ports["etcd"]
        return self._etcd.is_alive() and _answers(
            http.client.HTTPConnection(self.address, port, timeout=_ANSWER_SECONDS), "/health"
        )

    def server_flags(self) -> dict[str, object]:
        """Return the API server's flags."""
        paths = certificates.files(self.certificates)
        return {
            "etcd-servers": f"http://{self.address}:{self.settings.ports['etcd']}",
            "bind-address": self.address,
            "advertise-address": self.address,
            "endpoint-reconciler-type": "none",  # a loopback address is no valid endpoint
            "secure-port": self.settings.ports["https"],
            "service-cluster-ip-range": SERVICES,
            "authorization-mode": "Node,RBAC",
            "client-ca-file": paths.authority,
            "tls-cert-file": paths.server_certificate,
            "tls-private-key-file": paths.server_key,
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": paths.service_account_public,
            "service-account-signing-key-file": paths.service_account_key,
            "audit-policy-file": self.audit_policy,
            "audit-log-path": self.audit_log,
        }


def options(flags: dict[str, object]) -> list[str]:
    return [f"--{name}={value}" for name, value in flags.items()]


def _answers(connection: http.client.HTTPConnection, path: str) -> bool:
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return response.status == http.HTTPStatus.OK
