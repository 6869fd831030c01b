"""The few calls of RabbitMQ's management API that tests and the development stack need."""

import base64
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPMethod
from typing import Any
from urllib.parse import quote

from dev.errors import DevError

_SECONDS = 10
_SETTLED_SECONDS = 6.0  # of a server with some dozens of queues


class ApiError(DevError):
    """The management API refused a call or did not answer."""


class ManagementApi:
    """One broker's virtual hosts, as one administrator."""

    def __init__(self, url: str, *, user: str, password: str) -> None:
        self.url = url
        self._user = user
        self._credentials = base64.b64encode(f"{user}:{password}".encode()).decode()

    def answers(self) -> bool:
        try:
            self._call(HTTPMethod.GET, "whoami")
        except ApiError:
            return False
        return True

    def vhosts(self) -> list[str]:
        return [vhost["name"] for vhost in self._call(HTTPMethod.GET, "vhosts")]

    def create_vhost(self, name: str) -> None:
        """Create a virtual host in which our user may do everything."""
        self._call(HTTPMethod.PUT, f"vhosts/{quote(name, safe='')}", {})
        self._call(
            HTTPMethod.PUT,
            f"permissions/{quote(name, safe='')}/{quote(self._user, safe='')}",
            {"configure": ".*", "write": ".*", "read": ".*"},
        )

    def delete_vhost(self, name: str) -> None:
        """Delete a virtual host with all queues in it; its connections are closed.

        Waits where the server has only just started: 3.10 gives up every dead-lettering queue of
        the node when one is deleted while it is still coming up.
        """
        self._let_settle()
        self._call(HTTPMethod.DELETE, f"vhosts/{quote(name, safe='')}")

    def is_settled(self) -> bool:
        """Tell whether the server has been up long enough to take a virtual host away."""
        return self._unsettled_seconds() == 0.0

    def limit_queue(self, vhost: str, queue: str, *, messages: int) -> None:
        """Have a queue refuse what goes beyond a few messages, as if it were full."""
        self._set_policy(vhost, queue, {"max-length": messages})

    def unlimit_queue(self, vhost: str, queue: str) -> None:
        """Take the limit away again."""
        self._call(HTTPMethod.DELETE, f"policies/{quote(vhost, safe='')}/test-{queue}")

    def hurry_queue(self, vhost: str, queue: str, *, seconds: float) -> None:
        """Have a queue keep messages no longer than this, where its own time is a long one."""
        self._set_policy(vhost, queue, {"message-ttl": round(seconds * 1000)})

    def create_user(self, name: str, password: str, *, tags: str = "") -> None:
        """Create a user, who may do nothing yet."""
        self._call(HTTPMethod.PUT, f"users/{quote(name)}", {"password": password, "tags": tags})

    def permit(self, vhost: str, user: str, patterns: Mapping[str, str]) -> None:
        """Let a user configure, write and read the names that match in one virtual host."""
        self._call(HTTPMethod.PUT, f"permissions/{quote(vhost, safe='')}/{quote(user)}", patterns)

    def delete_user(self, name: str) -> None:
        """Delete a user; its connections are closed."""
        self._call(HTTPMethod.DELETE, f"users/{quote(name)}")

    def ready(self, vhost: str, queue: str) -> int:
        """Count a queue's waiting messages, some seconds late."""
        return int(
            self._call(HTTPMethod.GET, f"queues/{quote(vhost, safe='')}/{queue}").get(
                "messages_ready", 0
            )
        )

    def purge(self, vhost: str, queue: str) -> None:
        """Throw a queue's waiting messages away."""
        self._call(HTTPMethod.DELETE, f"queues/{quote(vhost, safe='')}/{queue}/contents")

    def _set_policy(self, vhost: str, queue: str, definition: Mapping[str, object]) -> None:
        self._call(
            HTTPMethod.PUT,
            f"policies/{quote(vhost, safe='')}/test-{queue}",
            {"pattern": f"^{queue}$", "definition": definition, "apply-to": "queues"},
        )

    def _let_settle(self) -> None:
        time.sleep(self._unsettled_seconds())

    def _unsettled_seconds(self) -> float:
        [node] = self._call(HTTPMethod.GET, "nodes")
        uptime: float = node.get("uptime", 0)  # milliseconds; absent in the first moments
        return max(0.0, _SETTLED_SECONDS - uptime / 1000)

    def _call(self, method: HTTPMethod, path: str, body: Mapping[str, object] | None = None) -> Any:
        request = urllib.request.Request(  # noqa: S310  # the URL is ours, always http on loopback or the tester's own
            f"{self.url}/api/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Basic {self._credentials}",
                "Content-Type": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as response:  # noqa: S310  # as above
                content = response.read()
        except OSError as error:  # URLError and HTTPError are among them
            raise ApiError(f"{method} {path} at {self.url}: {error}") from error
        return json.loads(content) if content else None
