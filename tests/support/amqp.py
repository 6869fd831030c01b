"""Builders of messages and deliveries, and a visitor that looks at queues from outside."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pika
from pika.exceptions import ChannelClosedByBroker

from receipt_contract.topology import WORK_SIDE
from receipt_contract.work import ProcessWork
from receipt_runtime.amqp import envelopes
from receipt_runtime.amqp.consumer import Consumer
from receipt_runtime.amqp.messages import Delivery, Message

WITHIN_SECONDS = 60.0  # generous: only a test that fails waits this long
POLL_SECONDS = 0.02
LONGEST_STREAM = 1000
STREAM_SECONDS = 2.0


def eventually(is_true: Callable[[], object], *, within: float = WITHIN_SECONDS) -> None:
    """Wait until something becomes true; fail when it does not."""
    deadline = time.monotonic() + within
    while not is_true():
        assert time.monotonic() < deadline, "it did not become true"
        time.sleep(POLL_SECONDS)


def make_work(number: int = 1, *, attempt: int = 1) -> ProcessWork:
    """Return the v1 work for a receipt; another number is another receipt."""
    return ProcessWork(
        source_sha256=f"{number:064x}", source_reference=f"some/{number}.png", attempt=attempt
    )


def work_message(number: int = 1, *, attempt: int = 1) -> Message:
    """Return the message for `make_work`."""
    return envelopes.of_work(make_work(number, attempt=attempt))


def make_delivery(
    body: bytes,
    *,
    delivery_count: int = 0,
    headers: Mapping[str, object] | None = None,
    message_id: str | None = "some-id",
) -> Delivery:
    """Return a delivery of `body` from the work queue."""
    return Delivery(
        queue=WORK_SIDE.work,
        body=body,
        type="receipt.process.v1",
        message_id=message_id,
        headers=headers or {},
        redelivered=delivery_count > 0,
        delivery_count=delivery_count,
        timestamp=1_700_000_000,
        exchange=WORK_SIDE.work,
        routing_key=WORK_SIDE.routing_key,
        tag=1,
        epoch=1,
    )


@dataclass(frozen=True)
class Taken:
    """A message that a visitor took out of a queue."""

    body: bytes
    message_id: str | None
    type: str | None
    headers: Mapping[str, Any] = field(default_factory=dict)


class Visitor:
    """One blocking connection that looks at queues and changes them, as a person would."""

    def __init__(self, url: str) -> None:
        """Connect."""
        parameters = pika.URLParameters(url)
        parameters.heartbeat = 0  # nothing answers one while a test waits for something else
        self._connection = pika.BlockingConnection(parameters)
        self.channel: Any = self._connection.channel()

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()

    def ready(self, queue: str) -> int:
        """Count the messages that wait in a queue; in one that is not there wait none."""
        channel = self._connection.channel()
        try:
            count = int(channel.queue_declare(queue, passive=True).method.message_count)
        except ChannelClosedByBroker:
            return 0
        channel.close()
        return count

    def take(self, queue: str) -> Taken | None:
        """Take one message out of a queue."""
        method, properties, body = self.channel.basic_get(queue, auto_ack=True)
        return None if method is None else _taken(properties, body)

    def take_all(self, queue: str) -> list[Taken]:
        """Take everything that waits in a queue."""
        taken: list[Taken] = []
        while waiting := self.ready(queue):
            taken += self._take_stream(queue, min(waiting, LONGEST_STREAM))
        return [*taken, *iter(lambda: self.take(queue), None)]

    def _take_stream(self, queue: str, count: int) -> Iterator[Taken]:
        """Take so many messages in one go: much faster than one by one, and not one too many."""
        channel = self._connection.channel()
        channel.basic_qos(prefetch_count=count)
        stream = channel.consume(queue, inactivity_timeout=STREAM_SECONDS)
        last = 0
        for method, properties, body in islice(stream, count):
            if method is None:  # somebody else took some
                break
            yield _taken(properties, body)
            last = method.delivery_tag
        if last:  # all at once: each ack before would have let one more come
            channel.basic_ack(last, multiple=True)
        channel.close()

    def put(self, message: Message) -> None:
        """Publish without confirm."""
        self.channel.basic_publish(
            message.exchange,
            message.routing_key,
            message.body,
            pika.BasicProperties(
                message_id=message.message_id,
                type=message.type,
                delivery_mode=2,
                headers=dict(message.headers),
            ),
        )


def _taken(properties: Any, body: bytes) -> Taken:
    headers = dict(properties.headers or {})
    headers.pop("x-delivery-count", None)  # the broker's own, of this delivery only
    return Taken(body, properties.message_id, properties.type, headers=headers)


@contextmanager
def visiting(url: str) -> Iterator[Visitor]:
    """Visit a broker for a moment."""
    visitor = Visitor(url)
    try:
        yield visitor
    finally:
        visitor.close()


@contextmanager
def consuming(consumer: Consumer) -> Iterator[threading.Thread]:
    """Run a consumer on a thread, and stop it cleanly at the end."""
    stop = threading.Event()
    thread = threading.Thread(target=consumer.run, args=(stop,))
    thread.start()
    try:
        yield thread
    finally:
        stop.set()
        thread.join()
