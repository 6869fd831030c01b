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
from dev.kubernetes.cluster import Cluster, encoded, write_kubeconfig
from dev.kubernetes.programs import Program
from dev.service import Service

_AUDIT_POLICY = Path(__file__).with_name("audit.yaml")
_READY_SECONDS = 90
_ANSWER_SECONDS = 3
_ENV = {"PATH": os.defpath, "LANG": "C.UTF-8"}


class LocalCluster(Service, Cluster):
    """Faults strike the API server; `wipe` loses what etcd holds, as a new cluster would."""

    program = "kube-apiserver"
    port_names = ("https", "etcd", "etcd_peer")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.audit_log = folder / "audit.jsonl"
        self._etcd_data = folder / "etcd"
        self._certificates = folder / "certificates"
        self._etcd = Daemon(folder, "etcd")

    def start(self) -> None:
        if self.is_healthy():
            return
        etcd, api_server = (programs.ensure(p) for p in (Program.ETCD, Program.API_SERVER))
        self._prepare()
        if not self._etcd_answers():
            self._start_etcd(etcd)
        self.server.start(
            Command(argv=[str(api_server), *self._server_flags()], env=_ENV),
            is_ready=self.is_healthy,
            ready_seconds=_READY_SECONDS,
        )

    def is_healthy(self) -> bool:
        if not (self._etcd.is_alive() and self.server.is_alive()):
            return False
        paths = certificates.files(self._certificates)
        tls = ssl.create_default_context(cafile=str(paths.authority))
        tls.load_cert_chain(paths.admin_certificate, paths.admin_key)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.settings.ports["https"], timeout=_ANSWER_SECONDS, context=tls
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
        folders.make_private(self._certificates)
        written = certificates.create(self._certificates, now=dt.datetime.now(dt.UTC))
        write_kubeconfig(
            self.admin_kubeconfig,
            cluster={
                "server": f"https://127.0.0.1:{self.settings.ports['https']}",
                "certificate-authority-data": encoded(written.authority),
            },
            user={
                "client-certificate-data": encoded(written.admin_certificate),
                "client-key-data": encoded(written.admin_key),
            },
            namespace="default",
        )

    def _start_etcd(self, program: Path) -> None:
        client = f"http://127.0.0.1:{self.settings.ports['etcd']}"
        peer = f"http://127.0.0.1:{self.settings.ports['etcd_peer']}"
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
                argv=[str(program), *_options(flags), "--unsafe-no-fsync"],
                env=_ENV,
            ),
            is_ready=self._etcd_answers,
            ready_seconds=_READY_SECONDS,
        )

    def _etcd_answers(self) -> bool:
        port = self.settings.ports["etcd"]
        return self._etcd.is_alive() and _answers(
            http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_SECONDS), "/health"
        )

    def _server_flags(self) -> list[str]:
        paths = certificates.files(self._certificates)
        return _options(
            {
                "etcd-servers": f"http://127.0.0.1:{self.settings.ports['etcd']}",
                "bind-address": "127.0.0.1",
                "advertise-address": "127.0.0.1",
                "endpoint-reconciler-type": "none",  # a loopback address is no valid endpoint
                "secure-port": self.settings.ports["https"],
                "service-cluster-ip-range": "10.96.0.0/16",
                "authorization-mode": "Node,RBAC",
                "client-ca-file": paths.authority,
                "tls-cert-file": paths.server_certificate,
                "tls-private-key-file": paths.server_key,
                "service-account-issuer": "https://kubernetes.default.svc",
                "service-account-key-file": paths.service_account_public,
                "service-account-signing-key-file": paths.service_account_key,
                "audit-policy-file": _AUDIT_POLICY,
                "audit-log-path": self.audit_log,
            }
        )


def _options(flags: dict[str, object]) -> list[str]:
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
