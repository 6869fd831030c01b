"""How one delivery is read, worked on and judged; two ways for two kinds of queues.

`ByContract` for work and results: a failure goes to retry or dead. `Keeping` for the failures
queues, behind which nothing stands: every failure is held until it passes.
"""

from collections.abc import Callable
from typing import Generic, Protocol

import structlog

from receipt_contract.errors import PermanentError, Reason
from receipt_runtime import logs
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.messages import Delivery
from receipt_runtime.amqp.settlement import Ack, Contract, M, Settlement

_log = structlog.get_logger(__name__)


class Intake(Protocol):
    """Turns a delivery into its settlement; the consumer holds the delivery when it raises."""

    def take(self, delivery: Delivery, outage: Reason | None) -> Settlement:
        """Work on a delivery; `outage` is what the consumer knows to be away."""


class ByContract(Generic[M]):
    """Messages of a contract, handed to `work_on` once they are read.

    `work_on` raises PermanentError, AttemptError or OutageError; whatever else it raises counts
    as an attempt with the reason `internal_error`.
    """

    def __init__(self, contract: Contract[M], work_on: Callable[[M, Delivery], None]) -> None:
        """Keep what to read and whom to give it to."""
        self._contract = contract
        self._work_on = work_on

    def take(self, delivery: Delivery, outage: Reason | None) -> Settlement:
        """Read, work on and judge a delivery."""
        try:
            message = self._contract.decode(delivery.body)
        except PermanentError as failure:
            return settlement.settle_unreadable(self._contract, delivery, failure)
        if settlement.is_cut_off(delivery, outage):
            return settlement.settle_cut_off(self._contract, delivery, message=message)
        return settlement.settle(
            self._contract,
            delivery,
            message=message,
            failure=self._work_on_it(message, delivery),
        )

    def _work_on_it(self, message: M, delivery: Delivery) -> Exception | None:
        try:
            self._work_on(message, delivery)
        except Exception as failure:  # noqa: BLE001 - the consumer loop judges every failure
            _log.warning("delivery failed", queue=delivery.queue, failure=logs.trail(failure))
            return failure
        return None


class Keeping:
    """Deliveries that may not be lost and have nowhere to go: held until `work_on` succeeds."""

    def __init__(self, work_on: Callable[[Delivery], None]) -> None:
        """Keep whom to give deliveries to."""
        self._work_on = work_on

    def take(self, delivery: Delivery, outage: Reason | None) -> Settlement:  # noqa: ARG002 - as ByContract
        """Work on a delivery; every exception passes through."""
        self._work_on(delivery)
        return Ack()
