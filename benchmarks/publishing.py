"""Confirmed, mandatory publishing by window, against one confirm at a time."""

import time
from collections.abc import Iterator

from benchmarks.table import Figure
from receipt_contract.topology import WORK_SIDE
from receipt_runtime.amqp import preflight
from receipt_runtime.amqp.publisher import Publisher
from tests.support.amqp import visiting, work_message

WINDOWS = (1, 100, 500)


def by_window(url: str, messages: int) -> Iterator[Figure]:
    """Publish the same number of messages through each window."""
    preflight.declare_topology(url)
    for window in WINDOWS:
        rate = _rate(url, window, messages if window > 1 else messages // 10)
        yield Figure("publishing", f"window of {window}", rate, "messages/s")
        with visiting(url) as visitor:
            visitor.channel.queue_purge(WORK_SIDE.work)


def _rate(url: str, window: int, messages: int) -> float:
    publisher = Publisher(url, name="bench", window=window)
    publisher.start()
    try:
        publisher.publish(work_message(0))
        started = time.monotonic()
        futures = [publisher.submit(work_message(number)) for number in range(messages)]
        for future in futures:
            future.result()
        return messages / (time.monotonic() - started)
    finally:
        publisher.close()
