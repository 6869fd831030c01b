"""Work and results as they are put into a message, by whoever sends them first."""

from receipt_contract import results, work
from receipt_contract.results import ResultEvent
from receipt_contract.topology import RESULTS_SIDE, WORK_SIDE
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from receipt_runtime.amqp.messages import Message


def of_work(wanted: ProcessWork | ReprocessWork | CacheRebuildWork) -> Message:
    """Make the message of some work: the same work always makes the same one.

    Raises PermanentError(UNSAFE_REFERENCE) when its reference makes the body too long.
    """
    return Message(
        exchange=WORK_SIDE.work,
        routing_key=WORK_SIDE.routing_key,
        body=work.encode(wanted),
        type=wanted.type,
        message_id=wanted.message_id,
    )


def of_event(event: ResultEvent) -> Message:
    """Make the message of a result event; raises PermanentError(INVALID_EVENT) over the limit."""
    return Message(
        exchange=RESULTS_SIDE.work,
        routing_key=RESULTS_SIDE.routing_key,
        body=results.encode(event),
        type=event.event_type,
        message_id=event.message_id,
    )
