"""Working on the delivery in hand, on the working thread: judge, republish, say what is done.

Never touches the consuming connection: acknowledging belongs to `consumer`.
"""

import time
from dataclasses import dataclass

import structlog

from receipt_contract.errors import OutageError, Reason
from receipt_runtime import logs
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.intake import Intake
from receipt_runtime.amqp.messages import Delivery, Outcome
from receipt_runtime.amqp.publisher import Publisher
from receipt_runtime.amqp.settlement import Ack, Dead, GiveBack, Hold, Retry, Settlement

_log = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class InHand:
    """The delivery that is worked on or held."""

    delivery: Delivery
    since: float  # monotonic seconds of its delivery
    working: bool = False  # belongs to the working thread until that is done
    tries: int = 0
    hold: Hold | None = None  # how the last try ended, if it was held
    unsent: Retry | Dead | GiveBack | None = None  # decided, but not republished yet


class Attendant:
    """Brings one delivery at a time to its settlement."""

    def __init__(self, intake: Intake, publisher: Publisher, *, max_hold: float) -> None:
        """Keep who works on deliveries and who republishes them."""
        self._intake = intake
        self._publisher = publisher
        self._max_hold = max_hold

    def attend(self, in_hand: InHand, outage: Reason | None) -> Settlement:
        """Work on a delivery and publish what its settlement asks for; return what is done.

        Never raises: whatever goes wrong here holds the delivery.
        """
        try:
            return self._carry_out(in_hand, self._judge(in_hand, outage))
        except OutageError as failure:
            _log.warning("delivery held", failure=logs.trail(failure))
            return Hold(failure.reason, again=None)
        except Exception as failure:  # noqa: BLE001 - the consumer loop outlives every failure
            _log.error("delivery held", failure=logs.trail(failure))
            return Hold(Reason.INTERNAL_ERROR, again=None)

    def _judge(self, in_hand: InHand, outage: Reason | None) -> Settlement:
        decided = in_hand.unsent or self._given_back(in_hand, in_hand.hold)
        if decided is not None:
            return decided
        settled = self._intake.take(in_hand.delivery, outage)
        held = settled if isinstance(settled, Hold) else None
        return self._given_back(in_hand, held) or settled

    def _given_back(self, in_hand: InHand, hold: Hold | None) -> GiveBack | None:
        if hold is None:
            return None
        return settlement.after_hold(
            hold,
            delivery_count=in_hand.delivery.delivery_count,
            seconds_in_hand=time.monotonic() - in_hand.since,
            max_hold=self._max_hold,
        )

    def _carry_out(self, in_hand: InHand, wanted: Settlement) -> Settlement:
        """Republish before anything is acknowledged; what cannot be republished is kept."""
        if isinstance(wanted, Ack | Hold):
            return wanted
        if self._publisher.publish(wanted.message) is Outcome.PUBLISHED:
            return wanted
        in_hand.unsent = wanted
        return Hold(Reason.BROKER_UNAVAILABLE, again=None)
