"""Broker and database behind TLS, with an authority that only their owner knows."""

import datetime as dt
import os
import random
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from dev import folders, ports
from dev.kubernetes import certificates
from dev.postgres import Postgres
from dev.rabbitmq import RabbitMQ
from receipt_contract.errors import Reason
from tests.support import ledger

pytestmark = pytest.mark.services

OTHER_ADDRESS = "127.0.0.2"  # reaches the same broker, under a name its certificate does not hold
SOURCES = ("ssl", "ssl_cert_file", "ssl_key_file")


class Guarded(NamedTuple):
    """Where the two answer over TLS, and the authority that vouches for them."""

    broker: str
    broker_elsewhere: str
    database: str
    authority: Path

    def env(self, authority: Path, broker: str) -> dict[str, str]:
        """Return what the chart tells a pod."""
        return {
            "RABBITMQ_URL": broker,
            "SSL_CERT_FILE": str(authority),
            "DATABASE_URL": self.database,
            "PGSSLMODE": "verify-full",
            "PGSSLROOTCERT": str(authority),
        }


@pytest.fixture(scope="module")
def guarded(
    rabbitmq_server: RabbitMQ, postgres_server: Postgres, rabbitmq_url: str, database_url: str
) -> Iterator[Guarded]:
    """Have the running servers speak TLS too, and take it back."""
    broker_files = _certify(rabbitmq_server.folder / "tls", "rabbitmq")
    database_files = _certify(postgres_server.folder / "tls", "postgres", like=broker_files)
    port = _listen(rabbitmq_server, broker_files)
    _speak_tls(postgres_server, database_files)
    parts = urlsplit(rabbitmq_url)
    login = f"{parts.username}:{parts.password}"

    def address(host: str) -> str:
        return urlunsplit(parts._replace(scheme="amqps", netloc=f"{login}@{host}:{port}"))

    yield Guarded(
        address("127.0.0.1"), address(OTHER_ADDRESS), database_url, broker_files.authority
    )
    _speak_plainly(postgres_server)
    for host in ("127.0.0.1", OTHER_ADDRESS):
        rabbitmq_server.control(
            "eval", f'rabbit_networking:stop_tcp_listener({{"{host}", {port}}}).'
        )


def _certify(
    folder: Path, account: str, *, like: certificates.Files | None = None
) -> certificates.Files:
    """Make certificates, or copy those of another server, in a folder the account can read."""
    folder.mkdir(mode=0o755, exist_ok=True)
    files = certificates.files(folder)
    if like is None:
        certificates.create(folder, now=dt.datetime.now(dt.UTC))
    else:
        for ours, theirs in zip(files, like, strict=True):
            ours.write_bytes(theirs.read_bytes())
    folders.give(files.server_key, account=account if os.getuid() == 0 else None)
    return files


def _listen(server: RabbitMQ, files: certificates.Files) -> int:
    [port] = ports.choose(1, random=random.SystemRandom())
    options = (
        f'[{{cacertfile, "{files.authority}"}}, {{certfile, "{files.server_certificate}"}},'
        f' {{keyfile, "{files.server_key}"}}]'
    )
    for host in ("127.0.0.1", OTHER_ADDRESS):
        server.control(
            "eval",
            "{ok, _} = application:ensure_all_started(ssl),"
            f' rabbit_networking:start_ssl_listener({{"{host}", {port}}}, {options}, 1).',
        )
    return port


def _speak_tls(server: Postgres, files: certificates.Files) -> None:
    values = ("on", str(files.server_certificate), str(files.server_key))
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for name, value in zip(SOURCES, values, strict=True):
            connection.execute(
                sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), value)
            )
        connection.execute("SELECT pg_reload_conf()")


def _speak_plainly(server: Postgres) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for name in SOURCES:
            connection.execute(sql.SQL("ALTER SYSTEM RESET {}").format(sql.Identifier(name)))
        connection.execute("SELECT pg_reload_conf()")


def _doctor(env: Mapping[str, str]) -> dict[str, dict[str, str]]:
    found = ledger.run("doctor", "--format", "jsonl", env=env).lines
    return {finding["check"]: finding for finding in found}


def test_an_authority_of_ones_own_is_enough_for_broker_and_database(guarded: Guarded) -> None:
    env = guarded.env(guarded.authority, guarded.broker)
    declared = ledger.run("topology", "declare", env=env)
    set_up = ledger.run("database", "setup", env=env)

    findings = _doctor(env)

    assert (declared.code, set_up.code) == (0, 0)
    assert {findings[check]["state"] for check in ("broker", "topology", "schema")} == {"ok"}


def test_g8_a_server_that_another_authority_vouches_for_is_refused(
    guarded: Guarded, tmp_path: Path
) -> None:
    stranger = certificates.create(tmp_path, now=dt.datetime.now(dt.UTC)).authority

    findings = _doctor(guarded.env(stranger, guarded.broker))

    assert findings["broker"]["detail"] == Reason.BROKER_UNAVAILABLE.sentence
    assert findings["database"]["detail"] == Reason.DATABASE_UNAVAILABLE.sentence


def test_g8_a_broker_under_a_name_that_its_certificate_does_not_hold_is_refused(
    guarded: Guarded,
) -> None:
    parts = urlsplit(guarded.broker_elsewhere)
    assert ssl.get_server_certificate((OTHER_ADDRESS, parts.port or 0))  # it can be reached

    findings = _doctor(guarded.env(guarded.authority, guarded.broker_elsewhere))

    assert findings["broker"]["detail"] == Reason.BROKER_UNAVAILABLE.sentence
