"""How the broker is reached, and what its refusals mean in our words.

Nothing here shows a URL, a user or the text of an exception (promise G8).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pika
from pika.exceptions import (
    AMQPError,
    AuthenticationError,
    ConnectionClosedByBroker,
    ProbableAccessDeniedError,
    ProbableAuthenticationError,
)

from receipt_contract.errors import OutageError, Reason

HEARTBEAT_SECONDS = 30  # a frozen process loses its deliveries after about three of these
SOCKET_TIMEOUT_SECONDS = 5.0
STACK_TIMEOUT_SECONDS = 10.0  # TCP, TLS and the AMQP handshake together
BLOCKED_TIMEOUT_SECONDS = 30.0  # for throwaway connections; a link watches alarms itself

ACCESS_REFUSED = 403
NOT_ALLOWED = 530


class RefusedError(OutageError):
    """The broker answered and said no; the sentence says to what."""

    def __init__(self, sentence: str) -> None:
        """Carry the sentence; for the message in hand it is an outage like any other."""
        super().__init__(Reason.BROKER_UNAVAILABLE)
        self.args = (sentence,)


def parameters(url: str, *, name: str, blocked_timeout: float | None = None) -> pika.URLParameters:
    """Read a URL into connection parameters; raises ValueError without showing it."""
    try:
        wanted = pika.URLParameters(url)
    except (ValueError, TypeError) as error:
        raise ValueError("not an AMQP URL") from error
    if wanted.heartbeat is None:  # the URL may name its own
        wanted.heartbeat = HEARTBEAT_SECONDS
    wanted.socket_timeout = SOCKET_TIMEOUT_SECONDS
    wanted.stack_timeout = STACK_TIMEOUT_SECONDS
    wanted.blocked_connection_timeout = blocked_timeout
    wanted.connection_attempts = 1  # the caller knows when to try again
    wanted.client_properties = {"connection_name": name}
    return wanted


@contextmanager
def throwaway(url: str, *, name: str) -> Iterator[Any]:
    """Open a blocking connection for a few calls; raises OutageError or RefusedError."""
    try:
        connection = pika.BlockingConnection(
            parameters(url, name=name, blocked_timeout=BLOCKED_TIMEOUT_SECONDS)
        )
    except (AMQPError, OSError) as error:
        raise translated(error) from error
    try:
        yield connection
    except (AMQPError, OSError) as error:
        raise translated(error) from error
    finally:
        if connection.is_open:
            connection.close()


def translated(error: BaseException) -> OutageError:
    """Turn a failure of the connection into ours; channel failures belong to `declare`."""
    root = _root(error)
    if isinstance(root, ProbableAuthenticationError | AuthenticationError):
        return RefusedError("The message broker refused the login.")
    if isinstance(root, ProbableAccessDeniedError) or (
        isinstance(root, ConnectionClosedByBroker)
        and root.reply_code in {ACCESS_REFUSED, NOT_ALLOWED}
    ):
        return RefusedError("The message broker refused the virtual host.")
    return OutageError(Reason.BROKER_UNAVAILABLE)


def _root(error: BaseException) -> BaseException:
    """Unwrap what the connection workflow of pika wraps around the failure itself."""
    wrapped = [*getattr(error, "exceptions", ()), getattr(error, "exception", None), *error.args]
    inner = [part for part in wrapped if isinstance(part, BaseException)]
    return _root(inner[-1]) if inner else error
