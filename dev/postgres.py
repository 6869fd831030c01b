"""A PostgreSQL server of our own: fsync on, TCP on loopback only, no socket file."""

import os
import shutil
import signal
from pathlib import Path

import psycopg
from psycopg import sql

from dev import folders, process, service
from dev.daemon import Command
from dev.errors import NotInstalledError
from dev.service import Service

SUPERUSER = "receipts"

_VERSIONS = Path("/usr/lib/postgresql")  # Debian and Ubuntu keep one folder a major version here
_READY_SECONDS = 60
_CONNECT_SECONDS = 3
_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "timezone": "UTC",
    "log_line_prefix": "%m [%p] %d ",
}


class Postgres(Service):
    """One server with one superuser; tests get a database each."""

    title = "PostgreSQL"
    program = "postgres"
    port_names = ("sql",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._account = "postgres" if os.getuid() == 0 else None  # the server refuses root
        self._home = folder / "server"
        self._data = self._home / "data"

    def url(self, database: str = "postgres") -> str:
        """Return a DSN with which the superuser reaches a database."""
        port, password = self.settings.ports["sql"], self.settings.password
        return f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{port}/{database}"

    def start(self) -> None:
        if self.is_healthy():
            return
        options = {**_OPTIONS, "port": str(self.settings.ports["sql"])}
        if not self._data.exists():
            self._create()
        self.server.start(
            Command(
                argv=[
                    str(_binaries() / "postgres"),
                    *("-D", str(self._data)),
                    *(f"--{name}={value}" for name, value in options.items()),
                ],
                env=self._env(),
                account=self._account,
                stop_signal=signal.SIGINT,  # SIGTERM would wait for every client to leave
            ),
            is_ready=self.is_healthy,
            ready_seconds=_READY_SECONDS,
        )

    def is_healthy(self) -> bool:
        if not self.server.is_alive():
            return False
        try:
            with psycopg.connect(self.url(), connect_timeout=_CONNECT_SECONDS):
                return True
        except psycopg.OperationalError:
            return False

    def wipe(self) -> None:
        self.kill()
        service.remove_folder(self._data)
        self.start()

    def create_database(self, name: str) -> None:
        create_database(self.url(), name)

    def _create(self) -> None:
        """Make an empty cluster; half of one, left by an interrupt, is thrown away first."""
        service.remove_folder(self._home)
        folders.make_passage(self.folder)
        folders.make_private(self._home, account=self._account)
        password = self._home / "password"
        password.write_text(self.settings.password, encoding="ascii")
        folders.give(password, account=self._account)
        unfinished = self._home / "unfinished"
        process.run(
            [
                str(_binaries() / "initdb"),
                *("-D", str(unfinished), "--username", SUPERUSER),
                *("--auth", "scram-sha-256", "--pwfile", str(password)),
                *("--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"),
            ],
            log=self.server.log,
            env=self._env(),
            account=self._account,
        )
        unfinished.rename(self._data)

    def _env(self) -> dict[str, str]:
        return {"PATH": os.defpath, "HOME": str(self._home), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def create_database(admin_url: str, name: str) -> None:
    _administer(admin_url, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def ensure_database(admin_url: str, name: str) -> None:
    """Create a database unless it is there."""
    with psycopg.connect(admin_url) as connection:
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone()
    if found is None:
        create_database(admin_url, name)


def drop_database(admin_url: str, name: str) -> None:
    """Drop a database together with whoever is still connected to it."""
    _administer(
        admin_url, sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    )


def _administer(admin_url: str, statement: sql.Composed) -> None:
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(statement)


def _binaries() -> Path:
    """Return the folder of the newest installed server."""
    found = [path.parent for path in _VERSIONS.glob("*/bin/postgres")]
    if found:
        return max(found, key=lambda folder: int(folder.parent.name))
    on_path = shutil.which("postgres")
    if on_path is None:
        raise NotInstalledError("PostgreSQL is not installed: run make setup")
    return Path(on_path).parent
