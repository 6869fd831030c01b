"""The servers that tests talk to: this session's own, or those that the tester names.

TEST_DATABASE_URL is a superuser's DSN. TEST_RABBITMQ_URL is an administrator's URL; its management
API is looked for on port 15672 of the same host, or at TEST_RABBITMQ_API_URL.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from dev import postgres
from dev.rabbitmq_api import ManagementApi

RABBITMQ_URL = "TEST_RABBITMQ_URL"
RABBITMQ_API_URL = "TEST_RABBITMQ_API_URL"
DATABASE_URL = "TEST_DATABASE_URL"

_API_PORT = 15672


@dataclass(frozen=True)
class Broker:
    """A broker on which we may make virtual hosts."""

    url: str  # of any virtual host
    api: ManagementApi
    spent: list[str] = field(default_factory=list)  # virtual hosts that are to go

    def url_of(self, vhost: str) -> str:
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{vhost}"))

    def retire(self, vhost: str) -> None:
        """Take a virtual host away; where the server has only just started, with a later one."""
        self.spent.append(vhost)
        if self.api.is_settled():
            self.clear()

    def clear(self) -> None:
        """Take away all that are to go."""
        while self.spent:
            self.api.delete_vhost(self.spent.pop())


def named_broker(environment: Mapping[str, str]) -> Broker | None:
    """Return the broker that the tester names, or None."""
    url = environment.get(RABBITMQ_URL)
    if not url:
        return None
    parts = urlsplit(url)
    api = ManagementApi(
        environment.get(RABBITMQ_API_URL) or f"http://{parts.hostname}:{_API_PORT}",
        user=unquote(parts.username or "guest"),
        password=unquote(parts.password or "guest"),
    )
    return Broker(url, api)


@contextmanager
def fresh_vhost(broker: Broker, name: str) -> Iterator[str]:
    """Give the URL of a new virtual host, and take it away at the end."""
    broker.api.create_vhost(name)
    try:
        yield broker.url_of(name)
    finally:
        broker.retire(name)


@contextmanager
def fresh_database(admin_url: str, name: str) -> Iterator[str]:
    """Give the DSN of a new, empty database, and take it away at the end."""
    postgres.create_database(admin_url, name)
    try:
        yield urlunsplit(urlsplit(admin_url)._replace(path=f"/{name}"))
    finally:
        postgres.drop_database(admin_url, name)
