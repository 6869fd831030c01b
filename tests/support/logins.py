"""A login for each user of broker and database, with the permissions that the project names."""

import secrets
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from dev import folders
from dev.rabbitmq_api import ManagementApi
from receipt_contract.access import ACCESS, BrokerUser
from tests.support.services import Broker

ROLES = folders.CHECKOUT / "examples" / "database" / "roles.sql"
ROLE_NAMES = ("owner", "operator", "collector", "publisher")


class BrokerLogins:
    """The users of one virtual host; they end with `close`."""

    def __init__(self, broker: Broker, url: str) -> None:
        """Make them; `url` is an administrator's, of the virtual host."""
        self._broker = broker
        self._url = url
        self._suffix = secrets.token_hex(4)
        self._password = secrets.token_hex(8)
        self.vhost = urlsplit(url).path[1:]
        for user in BrokerUser:
            tags = "management" if user is BrokerUser.SCALER else ""
            broker.api.create_user(self._name(user), self._password, tags=tags)
            broker.api.permit(self.vhost, self._name(user), ACCESS[user].patterns)

    def url(self, user: BrokerUser) -> str:
        """Return the address with which a user logs in."""
        return _as_user(self._url, self._name(user), self._password)

    def api(self, user: BrokerUser) -> ManagementApi:
        """Return the management API as a user sees it."""
        return ManagementApi(self._broker.api.url, user=self._name(user), password=self._password)

    def close(self) -> None:
        """Delete the users."""
        for user in BrokerUser:
            self._broker.api.delete_user(self._name(user))

    def _name(self, user: BrokerUser) -> str:
        return f"{user}-{self._suffix}"


class DatabaseLogins:
    """The roles of our file in one empty database; they end with `close`."""

    def __init__(self, url: str) -> None:
        """Run the file as the superuser of `url`, then set passwords."""
        self._url = url
        self._password = secrets.token_hex(8)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_text(ROLES))
            for name in ROLE_NAMES:
                connection.execute(
                    sql.SQL("ALTER ROLE {} PASSWORD {}").format(_role(name), self._password)
                )

    def url(self, name: str) -> str:
        """Return the address with which a role logs in."""
        return _as_user(self._url, f"receipts_{name}", self._password)

    def close(self) -> None:
        """Drop the roles with all that they own here: a server keeps roles for every database."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            for name in ROLE_NAMES:
                connection.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(_role(name)))
                connection.execute(sql.SQL("DROP ROLE {}").format(_role(name)))


def _text(path: Path) -> bytes:
    return path.read_bytes()


def _role(name: str) -> sql.Identifier:
    return sql.Identifier(f"receipts_{name}")


def _as_user(url: str, user: str, password: str) -> str:
    parts = urlsplit(url)
    netloc = f"{quote(user)}:{password}@{parts.hostname}:{parts.port}"
    return urlunsplit(parts._replace(netloc=netloc))
