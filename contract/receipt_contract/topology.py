"""Exchanges, queues and bindings of both sides, as frozen data.

The arguments are constants: a queue that has others must be drained and declared again by a
person, and `receipt_runtime.amqp.declare` says so with the names and values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

WORK_PREFIX = "receipts.v1"
RESULTS_PREFIX = "ocr.results.v1"
WORK_ROUTING_KEY = "receipt"
RESULTS_ROUTING_KEY = "ocr-result"

MAX_LENGTH = 100_000
DELIVERY_LIMIT = 20
RETRY_TTL_MS = 60_000

# Failures must outlive any number of redeliveries. -1 drops on 3.10 at the first one, absence
# means 20 on 4.x; the largest integer keeps them on both.
UNLIMITED_DELIVERIES = 2_147_483_647

# Headers of ours that survive a republication. Copied `x-death` makes a quorum queue see a cycle
# and drop the message.
REASON_HEADER = "x-receipt-reason"
REPUBLISHED_HEADERS = frozenset({REASON_HEADER})


@dataclass(frozen=True)
class Queue:
    """One durable quorum queue and the exchange that feeds it."""

    name: str
    exchange: str
    routing_key: str
    arguments: Mapping[str, str | int]


@dataclass(frozen=True)
class Side:
    """The work side or the result side: three direct exchanges, four queues."""

    prefix: str
    routing_key: str

    @property
    def work(self) -> str:
        """Name of the work exchange and queue."""
        return f"{self.prefix}.work"

    @property
    def retry(self) -> str:
        """Name of the retry exchange and queue."""
        return f"{self.prefix}.retry"

    @property
    def dead(self) -> str:
        """Name of the dead exchange and queue."""
        return f"{self.prefix}.dead"

    @property
    def failures(self) -> str:
        """Name of the failures queue, bound to the dead exchange beside the dead queue."""
        return f"{self.prefix}.failures"

    @property
    def exchanges(self) -> tuple[str, ...]:
        """All exchanges, each direct and durable."""
        return (self.work, self.retry, self.dead)

    @property
    def queues(self) -> tuple[Queue, ...]:
        """All queues in the order of declaration: targets of dead letters first."""
        return (
            self._queue(
                self.dead, self.dead, {"x-max-length": MAX_LENGTH, "x-overflow": "drop-head"}
            ),
            self._queue(self.failures, self.dead, {"x-delivery-limit": UNLIMITED_DELIVERIES}),
            self._queue(
                self.work,
                self.work,
                {**self._bounded(self.dead), "x-delivery-limit": DELIVERY_LIMIT},
            ),
            self._queue(
                self.retry,
                self.retry,
                {**self._bounded(self.work), "x-message-ttl": RETRY_TTL_MS},
            ),
        )

    def _queue(self, name: str, exchange: str, arguments: dict[str, str | int]) -> Queue:
        every = {"x-queue-type": "quorum", **arguments}
        return Queue(name, exchange, self.routing_key, MappingProxyType(every))

    def _bounded(self, dead_letter_exchange: str) -> dict[str, str | int]:
        return {
            "x-overflow": "reject-publish",
            "x-max-length": MAX_LENGTH,
            "x-dead-letter-exchange": dead_letter_exchange,
            "x-dead-letter-routing-key": self.routing_key,
            "x-dead-letter-strategy": "at-least-once",
        }


WORK_SIDE = Side(WORK_PREFIX, WORK_ROUTING_KEY)
RESULTS_SIDE = Side(RESULTS_PREFIX, RESULTS_ROUTING_KEY)
SIDES = (WORK_SIDE, RESULTS_SIDE)
