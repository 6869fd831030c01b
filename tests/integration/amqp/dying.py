"""A program that consumes work and dies by receipt 1: `python -m ... URL PREFETCH MANNER`.

MANNER is `exit` (dies in the middle of it) or `wait` (says so and never ends by itself). Whatever
else it works on it prints.
"""

import os
import sys
import threading

from receipt_contract.topology import WORK_SIDE
from receipt_runtime import logs, shutdown
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.consumer import Consumer
from receipt_runtime.amqp.intake import ByContract
from receipt_runtime.amqp.messages import Delivery
from receipt_runtime.amqp.publisher import Publisher
from receipt_runtime.amqp.settlement import AnyWork

DEADLY = "some/1.png"


def main(url: str, prefetch: int, manner: str) -> None:
    """Consume until a signal comes or the deadly receipt does."""
    logs.configure("dying")

    def work_on(message: AnyWork, delivery: Delivery) -> None:
        print(message.source_reference, delivery.delivery_count, flush=True)
        if message.source_reference == DEADLY:
            if manner == "exit":
                os._exit(1)
            threading.Event().wait()

    publisher = Publisher(url, name="dying-publisher")
    publisher.start()
    Consumer(
        url,
        name="dying",
        queues=[WORK_SIDE.work],
        prefetch=prefetch,
        intake=ByContract(settlement.WORK, work_on),
        publisher=publisher,
    ).run(shutdown.on_signals())
    publisher.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
