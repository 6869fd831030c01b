"""Makes namespaces with virtual host, database, users, Secrets, volumes and receipts."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dev import samples
from dev.daemon import Daemon
from dev.kubernetes.cluster import PodCluster
from dev.node import forward
from receipt_contract.access import BrokerUser
from tests.e2e.tenant import CACHE, RECEIPTS, Places, Tenant
from tests.support import services
from tests.support.logins import BrokerLogins, DatabaseLogins
from tests.support.services import Broker

LOOPBACK = "127.0.0.1"

standing: list[Tenant] = []  # to be looked at when a test fails
closing: list[str] = []  # what a run says at its end

_PROCESSES = (
    BrokerUser.OPERATOR,
    BrokerUser.WORKER,
    BrokerUser.COLLECTOR,
    BrokerUser.TOPOLOGY,
)
_ROLES = ("operator", "collector", "publisher", "owner")


class Road(NamedTuple):
    """The way of pods to a server that listens on loopback; no ports where none is needed."""

    daemon: Daemon
    address: str
    ports: tuple[int, ...]

    def open(self) -> None:
        """Let pods through."""
        if self.ports:
            forward.start(self.daemon, self.address, self.ports)

    def cut(self) -> None:
        """Break every connection and refuse new ones, as a server that is down does."""
        self.daemon.stop()


class Ground(NamedTuple):
    """A cluster with our images, Helm, and servers that pods reach."""

    cluster: PodCluster
    helm: Path
    broker: Broker
    database_admin_url: str
    road: Road  # to the broker

    def reached(self, url: str) -> str:
        """Return the address of one of the servers as a pod has to write it."""
        return url.replace(f"@{LOOPBACK}:", f"@{self.cluster.host}:")

    def reached_api(self) -> str:
        """Return the address of the broker's management API for pods."""
        return self.broker.api.url.replace(f"/{LOOPBACK}:", f"/{self.cluster.host}:")


@contextmanager
def empty(ground: Ground, folder: Path, *, receipts: str = RECEIPTS) -> Iterator[Tenant]:
    """Make a namespace with a virtual host and a database, and take them away at the end.

    `receipts` names the claim of the volume with the receipts, whoever makes it.
    """
    name = f"e2e-{secrets.token_hex(3)}"
    with (
        services.fresh_vhost(ground.broker, name) as broker_url,
        services.fresh_database(ground.database_admin_url, name) as database_url,
    ):
        places = Places(broker_url, database_url)
        made = Tenant(
            ground.cluster,
            ground.helm,
            namespace=name,
            places=places,
            receipts=receipts,
            folder=folder,
        )
        standing.append(made)
        try:
            yield made
        finally:
            standing.remove(made)
            made.close()


@contextmanager
def making(ground: Ground, folder: Path) -> Iterator[Tenant]:
    """Make a namespace with all that the documents ask for before an installation."""
    with empty(ground, folder) as made:
        brokers = BrokerLogins(ground.broker, made.places.broker)
        databases = DatabaseLogins(made.places.database)
        for user in _PROCESSES:
            made.make_secret(f"broker-{user}", url=ground.reached(brokers.url(user)))
        for role in _ROLES:
            made.make_secret(f"database-{role}", url=ground.reached(databases.url(role)))
        for volume in (RECEIPTS, CACHE):
            made.make_volume(volume)
        put_samples(made)
        try:
            yield made
        finally:
            made.remove_release()  # before its users go
            brokers.close()
            databases.close()


def put_samples(made: Tenant) -> None:
    """Put the sample receipts onto the namespace's volume."""
    references = [sample.reference for sample in samples.SAMPLES]
    made.put({name: (samples.FOLDER / name).read_bytes() for name in references})
