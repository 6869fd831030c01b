"""Messages as our processes see them: what is published, what is delivered, what became of it.

No type of the client library leaves this package.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Message:
    """One message to publish; its other properties are the same for all of ours."""

    exchange: str
    routing_key: str
    body: bytes
    type: str
    message_id: str | None
    headers: Mapping[str, str | int] = field(default_factory=dict)


class Outcome(StrEnum):
    """What became of a publication."""

    PUBLISHED = "published"  # confirmed by the broker and routed to a queue
    RETURNED = "returned"  # confirmed, but no queue took it
    NACKED = "nacked"  # refused: the queue is full
    UNCERTAIN = "uncertain"  # written, never answered: send it again with the same id
    NOT_SENT = "not_sent"  # never written to a socket


@dataclass(frozen=True, slots=True)
class Delivery:
    """One handing over of a message; `tag` and `epoch` mean something to its consumer only."""

    queue: str
    body: bytes
    type: str | None
    message_id: str | None
    headers: Mapping[str, object]
    redelivered: bool
    delivery_count: int  # earlier deliveries of this message since it entered the queue
    timestamp: int | None  # Unix seconds of its publication
    exchange: str
    routing_key: str
    tag: int
    epoch: int
