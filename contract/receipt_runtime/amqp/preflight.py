"""Short visits to the broker from a command line: declare the topology, or look what differs."""

from dataclasses import dataclass

from pika.exceptions import ChannelClosedByBroker

from receipt_contract.topology import SIDES, Queue
from receipt_runtime.amqp import connection, declare

NAME = "receipts-preflight"


@dataclass(frozen=True)
class TopologyReport:
    """Names that are there after a declaration."""

    exchanges: tuple[str, ...]
    queues: tuple[str, ...]


@dataclass(frozen=True)
class BrokerReport:
    """What can be seen of a broker over AMQP; the consumer timeout cannot."""

    product: str
    version: str
    problems: tuple[str, ...]


def declare_topology(url: str) -> TopologyReport:
    """Make what is missing; raises OutageError, TopologyMismatchError or another RefusedError."""
    with connection.throwaway(url, name=NAME) as opened:
        try:
            declare.declare(opened.channel(), SIDES)
        except ChannelClosedByBroker as error:
            raise declare.refusal(error) from error
    return TopologyReport(
        exchanges=tuple(exchange for side in SIDES for exchange in side.exchanges),
        queues=tuple(queue.name for side in SIDES for queue in side.queues),
    )


def look(url: str) -> BrokerReport:
    """Compare every queue with ours and make none; raises OutageError or RefusedError."""
    with connection.throwaway(url, name=NAME) as opened:
        server = opened._impl.server_properties  # noqa: SLF001 - the only way to the version
        problems = [_queue_problem(opened, queue) for side in SIDES for queue in side.queues]
    return BrokerReport(
        product=str(server.get("product", "")),
        version=str(server.get("version", "")),
        problems=tuple(problem for problem in problems if problem),
    )


def _queue_problem(opened: object, queue: Queue) -> str | None:
    """Say what is wrong with one queue; a refusal closes the channel, so each has its own."""
    try:
        channel = opened.channel()  # type: ignore[attr-defined]
        channel.queue_declare(queue=queue.name, passive=True)
        channel.queue_declare(queue=queue.name, durable=True, arguments=dict(queue.arguments))
        channel.close()
    except ChannelClosedByBroker as error:
        return str(declare.refusal(error))
    return None
