"""What becomes of a delivery. Pure: failures in, settlements out.

An attempt is a try that failed for the message's own sake: it is counted in the body, three at
most. An outage is none: the delivery is kept for as long as the outage lasts. `consumer` carries
settlements out: it publishes first and acknowledges last.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from receipt_contract import results, work
from receipt_contract.errors import OutageError, PermanentError, Reason, ReceiptError
from receipt_contract.results import ResultEvent
from receipt_contract.topology import (
    REASON_HEADER,
    REPUBLISHED_HEADERS,
    RESULTS_SIDE,
    WORK_SIDE,
    Side,
)
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork, WorkType
from receipt_runtime.amqp.messages import Delivery, Message

# From here on the broker is close to dropping the message into the dead queue by itself (20).
MANY_DELIVERIES = 10
MAX_HOLD_SECONDS = 900.0  # half of the broker's default consumer timeout

UNREADABLE_EVENT_TYPE = "ocr.result.invalid"


class Counted(Protocol):
    """A message that carries its attempt."""

    @property
    def message_id(self) -> str:
        """Same over all attempts."""

    def next_attempt(self) -> Self | None:
        """Return the same message as its next attempt, or None after the last."""


M = TypeVar("M", bound=Counted)


@dataclass(frozen=True)
class Contract(Generic[M]):
    """How the messages of one side are read and written, and where their failures go."""

    side: Side
    decode: Callable[[bytes], M]
    encode: Callable[[M], bytes]
    type_of: Callable[[M], str]
    unreadable_type: str


@dataclass(frozen=True)
class Ack:
    """Done: the broker may forget it."""


@dataclass(frozen=True)
class Retry:
    """Publish the next attempt to the retry exchange, then acknowledge."""

    message: Message
    reason: Reason


@dataclass(frozen=True)
class Dead:
    """Publish to the dead exchange, then acknowledge."""

    message: Message
    reason: Reason


@dataclass(frozen=True)
class Hold:
    """Keep the delivery and try again later; `again` is the same attempt for the retry exchange."""

    reason: Reason
    again: Message | None


@dataclass(frozen=True)
class GiveBack:
    """Held long enough: publish the same attempt to the retry exchange, then acknowledge."""

    message: Message
    reason: Reason


Settlement = Ack | Retry | Dead | Hold | GiveBack
AnyWork = ProcessWork | ReprocessWork | CacheRebuildWork


def _work_type(message: AnyWork) -> str:
    return message.type


def _event_type(event: ResultEvent) -> str:
    return event.event_type


WORK: Contract[AnyWork] = Contract(
    side=WORK_SIDE,
    decode=work.decode,
    encode=work.encode,
    type_of=_work_type,
    unreadable_type=WorkType.PROCESS,
)
RESULTS: Contract[ResultEvent] = Contract(
    side=RESULTS_SIDE,
    decode=results.decode,
    encode=results.encode,
    type_of=_event_type,
    unreadable_type=UNREADABLE_EVENT_TYPE,
)


def is_cut_off(delivery: Delivery, outage: Reason | None) -> bool:
    """Whether processes kept dying over this delivery: it came back often and nothing is away."""
    return delivery.delivery_count >= MANY_DELIVERIES and outage is None


def settle(
    contract: Contract[M], delivery: Delivery, *, message: M, failure: Exception | None
) -> Settlement:
    """Choose the settlement of a message that was read; an unknown failure counts as an attempt."""
    match failure:
        case None:
            return Ack()
        case OutageError(reason=reason):
            again = _republication(
                contract, delivery, message=message, exchange=contract.side.retry, reason=reason
            )
            return Hold(reason, again)
        case PermanentError(reason=reason):
            return _dead(contract, delivery, message=message, reason=reason)
        case ReceiptError(reason=reason):
            return _attempt_failed(contract, delivery, message=message, reason=reason)
        case _:
            return _attempt_failed(
                contract, delivery, message=message, reason=Reason.INTERNAL_ERROR
            )


def settle_cut_off(contract: Contract[M], delivery: Delivery, *, message: M) -> Settlement:
    """Count a death of the process as an attempt, before the message is tried again."""
    return _attempt_failed(contract, delivery, message=message, reason=Reason.WORKER_CRASHED)


def settle_unreadable(contract: Contract[M], delivery: Delivery, failure: PermanentError) -> Dead:
    """Set aside a body that is not one of ours, byte for byte and without an id."""
    message = Message(
        exchange=contract.side.dead,
        routing_key=contract.side.routing_key,
        body=delivery.body,
        type=contract.unreadable_type,
        message_id=None,
        headers=_headers(delivery, failure.reason),
    )
    return Dead(message, failure.reason)


def after_hold(
    hold: Hold, *, delivery_count: int, seconds_in_hand: float, max_hold: float
) -> GiveBack | None:
    """Return how a held delivery goes back to the broker, or None while it may be kept.

    Kept longer, the broker would take it away; delivered more often, it would bury it.
    """
    if hold.again is None:
        return None
    if seconds_in_hand >= max_hold or delivery_count >= MANY_DELIVERIES:
        return GiveBack(hold.again, hold.reason)
    return None


def message_id(done: Settlement) -> str | None:
    """Name a message as its contract does, where that is known.

    The property of a delivery may hold anything, so it is not fit for a log line.
    """
    if isinstance(done, Ack):
        return None
    message = done.again if isinstance(done, Hold) else done.message
    return message.message_id if message else None


def _attempt_failed(
    contract: Contract[M], delivery: Delivery, *, message: M, reason: Reason
) -> Settlement:
    following = message.next_attempt()
    if following is None:
        return _dead(contract, delivery, message=message, reason=reason)
    republication = Message(
        exchange=contract.side.retry,
        routing_key=contract.side.routing_key,
        body=contract.encode(following),
        type=contract.type_of(following),
        message_id=following.message_id,
        headers=_headers(delivery, reason),
    )
    return Retry(republication, reason)


def _dead(contract: Contract[M], delivery: Delivery, *, message: M, reason: Reason) -> Dead:
    return Dead(
        _republication(
            contract, delivery, message=message, exchange=contract.side.dead, reason=reason
        ),
        reason,
    )


def _republication(
    contract: Contract[M], delivery: Delivery, *, message: M, exchange: str, reason: Reason
) -> Message:
    """Send the body on as it came."""
    return Message(
        exchange=exchange,
        routing_key=contract.side.routing_key,
        body=delivery.body,
        type=contract.type_of(message),
        message_id=message.message_id,
        headers=_headers(delivery, reason),
    )


def _headers(delivery: Delivery, reason: Reason) -> dict[str, str | int]:
    """Only headers of ours: a copied `x-death` makes quorum queues drop the message."""
    kept: dict[str, str | int] = {
        name: value
        for name, value in delivery.headers.items()
        if name in REPUBLISHED_HEADERS and isinstance(value, str | int)
    }
    return {**kept, REASON_HEADER: reason.value}
