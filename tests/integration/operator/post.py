"""Where the operator's messages go: its publisher, and the work queue seen from outside."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from receipt_contract.access import ACCESS, Access, BrokerUser
from receipt_contract.topology import WORK_SIDE
from receipt_operator.board import Board
from receipt_operator.publication import Limits, Publication
from receipt_operator.register.outgoing import Offer
from receipt_operator.register.rows import Request
from receipt_runtime.amqp.publisher import Limits as Waits
from receipt_runtime.amqp.publisher import Publisher
from tests.integration.operator.desk import Desk, eventually
from tests.support.amqp import visiting
from tests.support.services import Broker

QUEUE = WORK_SIDE.work
WAITS = Waits(slot=5.0, send=2.0, confirm=5.0, drain=2.0)
LIMITS = Limits(
    max_in_flight=100,
    global_in_flight=1000,
    republish_after_seconds=3600,
    missing_grace_seconds=0,
)


class Post:
    """One virtual host and one publisher on it."""

    def __init__(self, broker: Broker, vhost: str) -> None:
        self.url = broker.url_of(vhost)
        self.board = Board()
        self._broker = broker
        self._vhost = vhost
        self.publisher = self._publisher()
        self.publisher.start()

    def close(self) -> None:
        self.publisher.close()

    def use_passive_publisher(self) -> None:
        """Go on with a publisher that declares nothing, as in production."""
        self.publisher.close()
        self.publisher = self._publisher(ACCESS[BrokerUser.OPERATOR])
        self.publisher.start()

    async def connected(self) -> None:
        await eventually(lambda: self.publisher.connected)

    def publication(self, desk: Desk, root: Path, limits: Limits = LIMITS) -> Publication:
        return Publication(
            desk.database, self.publisher, self.board, receipts_root=root, limits=limits
        )

    def unbind(self) -> None:
        """Take the work queue away from its exchange, so that nothing can be routed."""
        with visiting(self.url) as visitor:
            visitor.channel.queue_unbind(QUEUE, WORK_SIDE.work, WORK_SIDE.routing_key)

    def bind(self) -> None:
        with visiting(self.url) as visitor:
            visitor.channel.queue_bind(QUEUE, WORK_SIDE.work, WORK_SIDE.routing_key)

    def limit(self, messages: int) -> None:
        """Have the work queue refuse what goes beyond a few messages."""
        self._broker.api.limit_queue(self._vhost, QUEUE, messages=messages)

    def unlimit(self) -> None:
        self._broker.api.unlimit_queue(self._vhost, QUEUE)

    def waiting(self) -> int:
        with visiting(self.url) as visitor:
            return visitor.ready(QUEUE)

    def take_all(self) -> list[dict[str, Any]]:
        """Take every work message; return their bodies with the message id beside."""
        with visiting(self.url) as visitor:
            return [
                {**json.loads(one.body), "id": one.message_id, "type": one.type}
                for one in visitor.take_all(QUEUE)
            ]

    def _publisher(self, checks: Access | None = None) -> Publisher:
        return Publisher(self.url, name="operator", window=50, checks=checks, limits=WAITS)


def whole(active: Sequence[Request]) -> Offer:
    """Offer these requests as all there are."""
    return Offer(active, in_flight_elsewhere=0, is_whole=True)


async def send_round(desk: Desk, publication: Publication) -> None:
    """Let a publication send what may be sent now."""
    await publication.round(whole(await desk.active()))


def references_of(messages: list[dict[str, Any]]) -> Counter[str]:
    """Count messages by the receipt they speak of."""
    return Counter(message["source_reference"] for message in messages)


def ids_by_reference(messages: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return under which ids each receipt was sent."""
    found: dict[str, set[str]] = {}
    for message in messages:
        found.setdefault(message["source_reference"], set()).add(message["id"])
    return found
