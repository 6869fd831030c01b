"""Publishing with confirms: every message gets one outcome, whatever happens to the broker.

Persistent, mandatory, at most `window` messages unanswered. Reconnects by itself; never sends a
message twice.
"""

import threading
import time
from collections import deque
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any

import pika
import structlog
from pika.exceptions import AMQPError
from pika.spec import Basic

from receipt_contract.access import Access
from receipt_runtime import metrics
from receipt_runtime.amqp.confirms import Outstanding, Publication
from receipt_runtime.amqp.link import Link
from receipt_runtime.amqp.messages import Message, Outcome

WINDOW = 200  # about three quarters of the rate that a window of 1,000 gives
MAX_WINDOW = 1000
DRAIN_POLL_SECONDS = 0.02

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Limits:
    """Longest waits of a publisher, in seconds; together they bound every outcome."""

    slot: float = 10.0  # for a place in a full window; then the message is not sent
    send: float = 5.0  # for a usable connection; then it is not sent either
    confirm: float = 30.0  # for the broker's answer; then it is uncertain
    drain: float = 10.0  # for outstanding answers when the publisher is closed


class Publisher:
    """A connection for publishing only, on its own thread; safe to use from many threads."""

    def __init__(
        self,
        url: str,
        *,
        name: str,
        window: int = WINDOW,
        checks: Access | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Prepare; raises ValueError for an unusable URL or window."""
        if not 1 <= window <= MAX_WINDOW:
            raise ValueError(f"a window holds 1 to {MAX_WINDOW} messages")
        self._name = name
        self._limits = limits or Limits()
        self._slots = threading.BoundedSemaphore(window)
        self._link = Link(url, name=name, tenant=self, checks=checks)
        self._channel: Any = None
        self._waiting: deque[Publication] = deque()
        self._outstanding = Outstanding()
        self._poked = False
        self._closed = False
        self._gate = threading.Lock()  # no message slips in behind the closing
        self._confirmed_at: float | None = None

    @property
    def connected(self) -> bool:
        """Whether a message would be written at once."""
        return self._channel is not None and not self._link.blocked

    @property
    def problem(self) -> str | None:
        """Sentence that says why messages do not go out, or None."""
        if self._link.problem is None and self._link.blocked:
            return "The message broker asks publishers to wait: it is short of memory or disk."
        return self._link.problem

    @property
    def last_confirm_age(self) -> float | None:
        """Seconds since the broker last answered a publication; None before the first."""
        return None if self._confirmed_at is None else time.monotonic() - self._confirmed_at

    def start(self) -> None:
        """Begin to connect."""
        self._link.start()

    def close(self) -> None:
        """Wait for outstanding confirms, then close; what is left gets its outcome. Bounded."""
        with self._gate:
            self._closed = True
        deadline = time.monotonic() + self._limits.drain
        while (self._waiting or len(self._outstanding)) and time.monotonic() < deadline:
            time.sleep(DRAIN_POLL_SECONDS)
        self._link.close()
        self.lost()
        self._fail_waiting(before=float("inf"))

    def submit(self, message: Message) -> Future[Outcome]:
        """Hand over a message; its future always gets an outcome and cannot be cancelled.

        Waits up to `Limits.slot` while the window is full: call it neither on an event loop's
        thread with more messages than the window holds, nor from a future's callback.
        """
        publication = Publication(message)
        publication.future.set_running_or_notify_cancel()
        if not self._slots.acquire(timeout=self._limits.slot):
            self._count(Outcome.NOT_SENT)
            publication.future.set_result(Outcome.NOT_SENT)
        elif not self._enqueued(publication):
            self._resolve(publication, Outcome.NOT_SENT)
        return publication.future

    def publish(self, message: Message, timeout: float | None = None) -> Outcome:
        """Publish one message and wait for its outcome, which the limits bound.

        With a shorter `timeout` in seconds, what is still open then is uncertain.
        """
        try:
            return self.submit(message).result(timeout)
        except FutureTimeoutError:
            return Outcome.UNCERTAIN

    def opened(self, channel: Any) -> None:
        """Turn on confirms on a fresh channel (called by the link)."""
        self._outstanding = Outstanding()
        channel.add_on_return_callback(self._on_return)
        channel.confirm_delivery(self._on_confirm, callback=lambda _: self._ready(channel))

    def lost(self) -> None:
        """Resolve what the lost channel left unanswered (called by the link)."""
        self._channel = None
        for publication in self._outstanding.drain():
            self._resolve(publication, Outcome.UNCERTAIN)

    def tick(self) -> None:
        """Enforce both time limits (called by the link)."""
        self._pump()
        now = time.monotonic()
        self._fail_waiting(before=now - self._limits.send)
        overdue = self._outstanding.overdue(now - self._limits.confirm)
        for publication in overdue:
            self._resolve(publication, Outcome.UNCERTAIN)
        if overdue and not self._link.blocked:
            _log.warning("confirms overdue", publisher=self._name, count=len(overdue))
            self._link.reset()

    def _enqueued(self, publication: Publication) -> bool:
        publication.since = time.monotonic()
        with self._gate:
            if self._closed:
                return False
            self._waiting.append(publication)
        if not self._poked:
            self._poked = True
            self._link.call(self._pump)
        return True

    def _ready(self, channel: Any) -> None:
        if channel.is_open:
            self._channel = channel
            self._pump()

    def _pump(self) -> None:
        self._poked = False
        while self.connected and self._waiting:
            self._send(self._waiting.popleft())

    def _send(self, publication: Publication) -> None:
        publication.since = time.monotonic()
        message = publication.message
        self._outstanding.add(publication)
        try:
            self._channel.basic_publish(
                message.exchange,
                message.routing_key,
                message.body,
                _properties(message),
                mandatory=True,
            )
        except AMQPError:
            self._link.reset()  # resolves this one too: part of it may have been written

    def _on_return(self, _channel: Any, method: Any, properties: Any, body: bytes) -> None:
        self._outstanding.mark_returned(
            Message(
                exchange=method.exchange,
                routing_key=method.routing_key,
                body=body,
                type=properties.type,
                message_id=properties.message_id,
            )
        )
        self._link.declare_again()

    def _on_confirm(self, frame: Any) -> None:
        now = time.monotonic()
        self._confirmed_at = now
        acked = isinstance(frame.method, Basic.Ack)
        for publication in self._outstanding.confirm(
            frame.method.delivery_tag, multiple=frame.method.multiple
        ):
            metrics.CONFIRM_SECONDS.labels(publisher=self._name).observe(now - publication.since)
            self._resolve(publication, _outcome(publication, acked=acked))

    def _fail_waiting(self, *, before: float) -> None:
        while self._waiting and self._waiting[0].since < before:
            self._resolve(self._waiting.popleft(), Outcome.NOT_SENT)

    def _resolve(self, publication: Publication, outcome: Outcome) -> None:
        self._count(outcome)
        self._slots.release()
        publication.future.set_result(outcome)

    def _count(self, outcome: Outcome) -> None:
        metrics.PUBLISHED.labels(publisher=self._name, outcome=outcome).inc()


def _outcome(publication: Publication, *, acked: bool) -> Outcome:
    if not acked:
        return Outcome.NACKED
    return Outcome.RETURNED if publication.returned else Outcome.PUBLISHED


def _properties(message: Message) -> Any:
    return pika.BasicProperties(
        content_type="application/json",
        content_encoding="utf-8",
        delivery_mode=pika.DeliveryMode.Persistent.value,
        message_id=message.message_id,
        type=message.type,
        timestamp=int(time.time()),
        headers=dict(message.headers) or None,
    )
