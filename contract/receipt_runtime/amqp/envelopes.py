"""Work as it is put into a message, by whoever sends it first."""

from receipt_contract import work
from receipt_contract.topology import WORK_SIDE
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
