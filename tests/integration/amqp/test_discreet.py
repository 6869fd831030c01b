"""Log lines of a whole process say what happened and never to what."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from receipt_contract.topology import WORK_SIDE
from receipt_runtime.amqp.messages import Message, Outcome
from receipt_runtime.amqp.publisher import Publisher
from tests.support.amqp import Visitor, eventually, work_message

CHECKOUT = Path(__file__).resolve().parents[3]
SECRET = "TOTAL-30.90-VISA"  # noqa: S105 - stands for the text of a receipt
PROGRAM = f"""
import sys
from receipt_contract.topology import WORK_SIDE
from receipt_runtime import logs, shutdown
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.consumer import Consumer
from receipt_runtime.amqp.intake import ByContract
from receipt_runtime.amqp.publisher import Publisher

url = sys.argv[1]
logs.configure("discreet", level="DEBUG")
stop = shutdown.on_signals()

def work_on(message, delivery):
    raise RuntimeError("{SECRET}") from ValueError(url)

publisher = Publisher(url, name="discreet-publisher")
refused = Publisher(url.replace("@", "{SECRET}@"), name="discreet-refused")
for each in (publisher, refused):
    each.start()
Consumer(url, name="discreet", queues=[WORK_SIDE.work], prefetch=1,
         intake=ByContract(settlement.WORK, work_on), publisher=publisher).run(stop)
for each in (publisher, refused):
    each.close()
"""


def test_g8_neither_urls_nor_bodies_nor_exception_texts_are_logged(
    url: str, publisher: Publisher, visitor: Visitor
) -> None:
    bad = Message(WORK_SIDE.work, WORK_SIDE.routing_key, SECRET.encode(), SECRET, SECRET)
    for message in (bad, work_message()):
        assert publisher.publish(message) is Outcome.PUBLISHED
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url], stderr=subprocess.PIPE, text=True, cwd=CHECKOUT
    )
    with process:
        eventually(lambda: visitor.ready(WORK_SIDE.dead) == visitor.ready(WORK_SIDE.retry) == 1)
        visitor.channel.queue_delete(WORK_SIDE.work)  # the consumer is cancelled and comes back
        eventually(lambda: publisher.publish(work_message(2)) is Outcome.PUBLISHED)
        eventually(lambda: visitor.ready(WORK_SIDE.retry) == 2)
        process.terminate()
        _, written = process.communicate(timeout=60)

    lines = [json.loads(line) for line in written.splitlines()]
    assert {"delivery failed", "delivery settled", "broker connected", "broker not usable"} <= {
        line["message"] for line in lines
    }
    parts = urlsplit(url)
    for secret in (SECRET, parts.password, parts.username, parts.netloc, parts.path.strip("/")):
        assert str(secret) not in written.replace("receipts.v1", "")
