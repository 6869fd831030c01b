"""Consuming: one delivery at a time is worked on, off the connection's thread.

The connection's thread only waits, acknowledges and keeps heartbeats going; a second thread works
and publishes. Acknowledgements of a lost connection are dropped, since their tags mean other
messages on the next one.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from receipt_contract.access import Access
from receipt_contract.errors import Reason
from receipt_runtime import backoff, metrics
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.attending import Attendant, InHand
from receipt_runtime.amqp.intake import Intake
from receipt_runtime.amqp.link import Link
from receipt_runtime.amqp.messages import Delivery
from receipt_runtime.amqp.publisher import Publisher
from receipt_runtime.amqp.settlement import Ack, Dead, GiveBack, Hold, Retry, Settlement

GRACE_SECONDS = 30.0
CHECK_SECONDS = 5.0  # how often an idle consumer asks whether messages wait for it

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Patience:
    """Time limits of a consumer, in seconds."""

    grace: float = GRACE_SECONDS  # for the delivery in hand when the process is asked to end
    max_hold: float = settlement.MAX_HOLD_SECONDS  # before a held delivery goes back
    longest_pause: float = backoff.LONGEST_SECONDS  # between two tries of a held delivery


class Consumer:
    """Consumes queues until it is asked to stop."""

    def __init__(  # noqa: PLR0913 - what a consumer is made of
        self,
        url: str,
        *,
        name: str,
        queues: Sequence[str],
        prefetch: int,
        intake: Intake,
        publisher: Publisher,
        checks: Access | None = None,
        patience: Patience | None = None,
    ) -> None:
        """Prepare; raises ValueError for an unusable URL."""
        self._name = name
        self._queues = tuple(queues)
        self._prefetch = prefetch
        self._patience = patience or Patience()
        self._attendant = Attendant(intake, publisher, max_hold=self._patience.max_hold)
        self._link = Link(url, name=name, tenant=self, checks=checks)
        self._to_work_on: queue.SimpleQueue[InHand | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, name=f"{name}-work", daemon=True)
        self._channel: Any = None
        self._epoch = 0
        self._tags: list[str] = []
        self._wide = False
        self._waiting: deque[InHand] = deque()
        self._in_hand: InHand | None = None
        self._outage: Reason | None = None
        self._checked_at = 0.0
        self._forgotten_at: float | None = None
        self._stopping = False
        self._idle = threading.Event()

    @property
    def problems(self) -> list[str]:
        """Sentences that say why nothing is consumed right now; none means well."""
        outage = self._outage.sentence if self._outage else None
        return [sentence for sentence in (self._link.problem, outage) if sentence]

    def run(self, stop: threading.Event) -> None:
        """Consume until `stop` is set; then finish the delivery in hand and close cleanly."""
        self._worker.start()
        self._link.start()
        stop.wait()
        self._link.call(self._wind_down)
        if not self._idle.wait(self._patience.grace):
            _log.warning("stopped with a delivery in hand", consumer=self._name)
        self._to_work_on.put(None)
        self._link.close()

    def opened(self, channel: Any) -> None:
        """Consume on a fresh channel, one delivery at first (called by the link)."""
        self._channel = channel
        self._epoch += 1
        self._wide = False
        self._forgotten_at = None
        channel.add_on_cancel_callback(lambda _: self._link.reset())
        self._subscribe()

    def lost(self) -> None:
        """Forget deliveries that nobody works on; the broker delivers all of them again."""
        self._channel = None
        self._tags.clear()
        self._waiting.clear()
        if self._in_hand is not None and not self._in_hand.working:
            self._in_hand = None

    def tick(self) -> None:
        """Look after an idle consumer from time to time (called by the link)."""
        now = time.monotonic()
        if self._tags and self._is_idle() and now - self._checked_at >= CHECK_SECONDS:
            self._checked_at = now
            for name in self._queues:
                self._channel.queue_declare(name, passive=True, callback=self._on_count)

    def _on_count(self, frame: Any) -> None:
        """Consume anew when messages wait in a queue and none was brought since the last look.

        A queue that is deleted and made again at once forgets its consumers without a word.
        """
        if frame.method.message_count == 0 or not self._is_idle():
            return
        if self._forgotten_at is None:
            self._forgotten_at = self._checked_at
        elif self._forgotten_at < self._checked_at:
            _log.warning("consumer forgotten by the broker", consumer=self._name)
            self._link.reset()

    def _is_idle(self) -> bool:
        return self._in_hand is None and not self._waiting

    def _subscribe(self) -> None:
        """Ask for deliveries: one until the first is settled, so a crash counts against one."""
        if self._channel is None or self._stopping:
            return
        self._channel.basic_qos(prefetch_count=self._prefetch if self._wide else 1)
        for name in self._queues:
            tag = self._channel.basic_consume(name, partial(self._on_message, name))
            self._tags.append(tag)

    def _unsubscribe(self) -> None:
        """Ask for nothing more and give back what was not begun."""
        self._cancel()
        while self._waiting:
            self._channel.basic_nack(self._waiting.popleft().delivery.tag, requeue=True)

    def _cancel(self) -> None:
        for tag in self._tags:
            self._channel.basic_cancel(tag)
        self._tags.clear()

    def _on_message(
        self, queue_name: str, _channel: Any, method: Any, properties: Any, body: bytes
    ) -> None:
        self._forgotten_at = None
        delivery = _delivery(queue_name, method, properties, body=body, epoch=self._epoch)
        self._waiting.append(InHand(delivery, since=time.monotonic()))
        self._next()

    def _next(self) -> None:
        if self._in_hand is None and self._waiting and not self._stopping:
            self._begin(self._waiting.popleft())

    def _begin(self, in_hand: InHand) -> None:
        self._in_hand = in_hand
        in_hand.working = True
        metrics.IN_HAND.labels(consumer=self._name).set(1)
        self._to_work_on.put(in_hand)

    def _work(self) -> None:
        """Life of the working thread."""
        while (in_hand := self._to_work_on.get()) is not None:
            done = self._attendant.attend(in_hand, self._outage)
            self._link.call(partial(self._finished, in_hand, done))

    def _finished(self, in_hand: InHand, done: Settlement) -> None:
        """Settle what the working thread is done with (on the link's thread)."""
        in_hand.working = False
        metrics.IN_HAND.labels(consumer=self._name).set(0)
        self._remember_outage(done)
        if self._channel is None or in_hand.delivery.epoch != self._epoch:
            self._in_hand = None
            self._record(in_hand.delivery, done, stale=True)
        elif isinstance(done, Hold):
            self._keep(in_hand, done)
        else:
            self._in_hand = None
            self._acknowledge(in_hand, done)
        if self._stopping:
            self._idle.set()
        else:
            self._next()

    def _remember_outage(self, done: Settlement) -> None:
        """Know an outage until something is settled that was not given back for it."""
        self._outage = done.reason if isinstance(done, Hold | GiveBack) else None

    def _keep(self, in_hand: InHand, hold: Hold) -> None:
        """Hold a delivery: stop consuming, and try it again after a pause."""
        if in_hand.tries == 0:
            self._unsubscribe()
            metrics.OUTAGES.labels(consumer=self._name, reason=hold.reason).inc()
            self._record(in_hand.delivery, hold)
        in_hand.tries += 1
        in_hand.hold = hold
        self._link.call_later(self._pause(in_hand), partial(self._again, in_hand))

    def _again(self, in_hand: InHand) -> None:
        if self._in_hand is in_hand and not self._stopping:
            self._begin(in_hand)

    def _acknowledge(self, in_hand: InHand, done: Ack | Retry | Dead | GiveBack) -> None:
        widen = not self._wide and self._prefetch > 1
        if widen:
            self._wide = True
            self._unsubscribe()  # a prefetch counts for later subscriptions only
        self._channel.basic_ack(in_hand.delivery.tag)
        self._record(in_hand.delivery, done)
        if isinstance(done, GiveBack):
            self._link.call_later(self._pause(in_hand), partial(self._resume, self._epoch))
        elif not self._tags:
            self._subscribe()

    def _resume(self, epoch: int) -> None:
        """Consume again during an outage, unless a new connection did so already."""
        if epoch == self._epoch and not self._tags:
            self._subscribe()

    def _pause(self, in_hand: InHand) -> float:
        return backoff.pause(in_hand.tries, longest=self._patience.longest_pause)

    def _record(self, delivery: Delivery, done: Settlement, *, stale: bool = False) -> None:
        kind = "stale" if stale else type(done).__name__.lower()
        metrics.DELIVERIES.labels(queue=delivery.queue, settlement=kind).inc()
        if stale or not isinstance(done, Ack):
            _log.warning(
                "delivery settled",
                queue=delivery.queue,
                settlement=kind,
                reason=None if isinstance(done, Ack) else done.reason,
                message_id=settlement.message_id(done),
                delivery_count=delivery.delivery_count,
            )

    def _wind_down(self) -> None:
        """Take nothing new; what waits goes back to the broker with the connection."""
        self._stopping = True
        self._cancel()
        if self._in_hand is None or not self._in_hand.working:
            self._idle.set()


def _delivery(
    queue_name: str, method: Any, properties: Any, *, body: bytes, epoch: int
) -> Delivery:
    headers = properties.headers or {}
    count = headers.get("x-delivery-count", 0)
    return Delivery(
        queue=queue_name,
        body=body,
        type=properties.type,
        message_id=properties.message_id,
        headers=headers,
        redelivered=method.redelivered,
        delivery_count=int(count) if isinstance(count, int) else 0,
        timestamp=properties.timestamp,
        exchange=method.exchange,
        routing_key=method.routing_key,
        tag=method.delivery_tag,
        epoch=epoch,
    )
