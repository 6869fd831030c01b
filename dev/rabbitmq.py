"""A RabbitMQ node of our own: own name, own epmd, own folders, everything on loopback."""

import os
from pathlib import Path
from urllib.parse import quote

from dev import folders, ports, process, service
from dev.daemon import Command, Daemon
from dev.errors import NotInstalledError
from dev.rabbitmq_api import ManagementApi
from dev.service import Service

USER = "receipts"

# Not the commands in /usr/sbin: those switch to the packaged node's account, folder and log.
_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
_CONTROL = Path("/usr/lib/rabbitmq/bin/rabbitmqctl")
_READY_SECONDS = 120
_EPMD_SECONDS = 10
_CONFIG = """\
listeners.tcp.local = 127.0.0.1:{amqp}
num_acceptors.tcp = 2
management.tcp.ip = 127.0.0.1
management.tcp.port = {api}
default_user = {user}
default_pass = {password}
default_user_tags.administrator = true
collect_statistics_interval = 1000
raft.wal_max_size_bytes = 64000000
log.console.level = info
"""


class RabbitMQ(Service):
    """One node with one administrator and the management API; tests get a virtual host each."""

    title = "RabbitMQ"
    program = "rabbitmq"
    port_names = ("amqp", "api", "distribution", "epmd")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._account = "rabbitmq" if os.getuid() == 0 else None
        self._home = folder / "server"
        self._epmd = Daemon(folder, "epmd")

    def url(self, vhost: str = "/") -> str:
        """Return the AMQP URL of one virtual host, credentials included."""
        port, password = self.settings.ports["amqp"], self.settings.password
        return f"amqp://{USER}:{password}@127.0.0.1:{port}/{quote(vhost, safe='')}"

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.settings.ports['api']}"

    @property
    def api(self) -> ManagementApi:
        return ManagementApi(self.api_url, user=USER, password=self.settings.password)

    def start(self) -> None:
        if self.is_healthy():
            return
        if not _SERVER.exists():
            raise NotInstalledError("RabbitMQ is not installed: run make setup")
        self._write_configuration()
        self._start_epmd()
        self.server.start(
            Command(
                argv=[str(_SERVER)],
                env=self._env(),
                account=self._account,
                stop_seconds=40,
            ),
            is_ready=self.is_healthy,
            ready_seconds=_READY_SECONDS,
        )

    def is_healthy(self) -> bool:
        return (
            self.server.is_alive()
            and ports.accepts(self.settings.ports["amqp"])
            and self.api.answers()
        )

    def stop(self) -> None:
        super().stop()
        self._epmd.stop()

    def wipe(self) -> None:
        """Lose all data at once and come back empty, with the same virtual hosts.

        The broker must be healthy: it is asked for its virtual hosts. Raises ApiError.
        """
        vhosts = self.api.vhosts()
        self.kill()
        service.remove_folder(self._home / "data")
        self.start()
        for vhost in vhosts:
            self.api.create_vhost(vhost)

    def control(self, *arguments: str) -> None:
        """Run rabbitmqctl, for faults that no API makes: alarms and time limits."""
        process.run(
            [str(_CONTROL), *arguments],
            log=self.folder / "control.log",
            env=self._env(),
            account=self._account,
        )

    def _start_epmd(self) -> None:
        """Start the node's name server ourselves: the one Erlang starts outlives its node."""
        if self._epmd.is_alive():
            return
        port = self.settings.ports["epmd"]
        self._epmd.start(
            Command(
                argv=["epmd", "-port", str(port), "-address", "127.0.0.1"],
                env=self._env(),
                account=self._account,
            ),
            is_ready=lambda: ports.accepts(port),
            ready_seconds=_EPMD_SECONDS,
        )

    def _write_configuration(self) -> None:
        chosen = self.settings
        folders.make_passage(self.folder)
        folders.make_private(self._home, account=self._account)
        files = {
            "rabbitmq.conf": _CONFIG.format(user=USER, password=chosen.password, **chosen.ports),
            "enabled_plugins": "[rabbitmq_management].\n",
            "env.conf": "",  # stands in for the packaged node's settings
        }
        for name, text in files.items():
            path = self._home / name
            path.write_text(text, encoding="ascii")
            folders.give(path, account=self._account)

    def _env(self) -> dict[str, str]:
        chosen = self.settings.ports
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(self._home),  # the Erlang cookie is made here
            "ERL_EPMD_PORT": str(chosen["epmd"]),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": "receipts@localhost",
            "RABBITMQ_DIST_PORT": str(chosen["distribution"]),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}"
                # Idle schedulers sleep: what they would wait for runs on the same few processors.
                " +sbwt none +sbwtdcpu none +sbwtdio none"
            ),
            "RABBITMQ_CONF_ENV_FILE": str(self._home / "env.conf"),
            "RABBITMQ_CONFIG_FILE": str(self._home / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(self._home / "advanced.config"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._home / "enabled_plugins"),
            "RABBITMQ_MNESIA_BASE": str(self._home / "data"),
            "RABBITMQ_LOG_BASE": str(self._home / "log"),
            "RABBITMQ_LOGS": "-",
            # Makes the start script become the node; else it stands between us and the node.
            "RUNNING_UNDER_SYSTEMD": "true",
        }
