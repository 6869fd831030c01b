"""Declaring and checking the topology, and saying what stands in the way.

Works on channels of both kinds: on a blocking one a refusal is raised, on a callback one it
closes the channel with the same exception.
"""

import re
from collections.abc import Iterable
from typing import Any

from pika.exceptions import ChannelClosedByBroker

from receipt_contract.access import Access
from receipt_contract.errors import OutageError, Reason
from receipt_contract.topology import Side
from receipt_runtime.amqp.connection import ACCESS_REFUSED, RefusedError

NOT_FOUND = 404
PRECONDITION_FAILED = 406

_INEQUIVALENT = re.compile(
    r"inequivalent arg '(?P<argument>[^']+)' for (?P<kind>queue|exchange) '(?P<name>[^']+)'"
    r".*: received (?P<wanted>.+?) but current is (?P<present>.+)",
    re.DOTALL,
)
_VALUE = re.compile(r"the value '(?P<value>[^']*)'")
_MISSING = re.compile(r"no (?P<kind>queue|exchange) '(?P<name>[^']+)'")


class TopologyMismatchError(RefusedError):
    """A queue or exchange stands there with another argument than ours."""

    def __init__(self, name: str, *, argument: str, wanted: str, present: str) -> None:
        """Name the thing, the argument and both values; all of them are constants of ours."""
        super().__init__(
            f"{name}: {argument} is {present} on the broker, wanted is {wanted}."
            " Drain and delete it, then run `ledger topology declare`."
        )
        self.name = name
        self.argument = argument
        self.wanted = wanted
        self.present = present


class TopologyMissingError(RefusedError):
    """A queue or exchange is not there, and this process may only check."""

    def __init__(self, name: str) -> None:
        """Name what is missing and who makes it."""
        super().__init__(f"{name} is missing on the broker; `ledger topology declare` makes it.")
        self.name = name


def declare(channel: Any, sides: Iterable[Side]) -> None:
    """Make every exchange, queue and binding that is not there yet."""
    for side in sides:
        for exchange in side.exchanges:
            channel.exchange_declare(exchange=exchange, exchange_type="direct", durable=True)
        for queue in side.queues:
            channel.queue_declare(queue=queue.name, durable=True, arguments=dict(queue.arguments))
            channel.queue_bind(
                queue=queue.name, exchange=queue.exchange, routing_key=queue.routing_key
            )


def check(channel: Any, access: Access) -> None:
    """Ask for what a user reads and writes without making any; arguments are not compared.

    Nothing else is asked for: since 4.3 a broker answers only who has a permission on the name.
    """
    for queue in access.reads:
        channel.queue_declare(queue=queue, passive=True)
    for exchange in access.writes:
        channel.exchange_declare(exchange=exchange, passive=True)


def refusal(error: ChannelClosedByBroker) -> OutageError:
    """Say why the broker closed a channel."""
    text = error.reply_text
    if error.reply_code == PRECONDITION_FAILED and (found := _INEQUIVALENT.search(text)):
        return TopologyMismatchError(
            found["name"],
            argument=found["argument"],
            wanted=_plain(found["wanted"]),
            present=_plain(found["present"]),
        )
    if error.reply_code == NOT_FOUND and (found := _MISSING.search(text)):
        return TopologyMissingError(found["name"])
    if error.reply_code == ACCESS_REFUSED:
        return RefusedError("The broker user lacks a permission that the topology needs.")
    return OutageError(Reason.BROKER_UNAVAILABLE)


def _plain(value: str) -> str:
    """Strip the broker's words: `the value '5' of type 'signedint'` is `5`."""
    found = _VALUE.match(value)
    return found["value"] if found else value.strip("'")
