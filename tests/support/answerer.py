"""A consumer of work that answers with valid events at once, where OCR is not what is tested."""

import hashlib
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from receipt_contract import topology
from receipt_contract.results import PersistenceMode, RunEventV1
from receipt_contract.work import ProcessWork
from receipt_runtime.amqp import envelopes, settlement
from receipt_runtime.amqp.consumer import Consumer
from receipt_runtime.amqp.intake import ByContract
from receipt_runtime.amqp.messages import Delivery
from receipt_runtime.amqp.publisher import Publisher
from receipt_runtime.amqp.settlement import AnyWork
from tests.support.results import make_receipt, make_run

FIRST_PURCHASE = datetime(2025, 1, 1)  # noqa: DTZ001 - printed without a zone
PURCHASES = 600_000  # one a minute, for more than a year

_MODES = {
    1: PersistenceMode.NORMAL,
    2: PersistenceMode.REPROCESS,
    3: PersistenceMode.CACHE_ONLY,
}


@contextmanager
def answering(url: str, *, prefetch: int = 50) -> Iterator[None]:
    """Answer every work message with a run event, confirmed, until the block ends."""
    publisher = Publisher(url, name="answerer")
    publisher.start()

    def answer(wanted: AnyWork, _delivery: Delivery) -> None:
        publisher.publish(envelopes.of_event(event_for(wanted)))

    consumer = Consumer(
        url,
        name="answerer",
        queues=[topology.WORK_SIDE.work],
        prefetch=prefetch,
        intake=ByContract(settlement.WORK, answer),
        publisher=publisher,
    )
    stop = threading.Event()
    thread = threading.Thread(target=consumer.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        publisher.close()


def event_for(wanted: AnyWork) -> RunEventV1:
    """Return the run event a worker would send; the same work always has the same run."""
    request_id = None if isinstance(wanted, ProcessWork) else wanted.request_id
    seed = hashlib.sha256(f"{wanted.source_sha256}:{request_id}".encode()).digest()
    receipt = make_receipt(**_bought(wanted.source_sha256))
    event = make_run(request=1, mode=PersistenceMode.REPROCESS, receipt=receipt)
    payload = event.payload.model_copy(
        update={"request_id": request_id, "persistence_mode": _MODES[wanted.version]}
    )
    return event.model_copy(
        update={
            "run_uuid": str(uuid.UUID(bytes=seed[:16])),
            "source_sha256": wanted.source_sha256,
            "source_reference": wanted.source_reference,
            "occurred_at": datetime.now(UTC),
            "payload": payload,
            "artifacts": (),
        }
    )


def _bought(sha256: str) -> dict[str, Any]:
    """Let each source be a purchase of its own: thousands of the same one are no archive."""
    number = int(sha256[:8], 16) % PURCHASES
    moment = FIRST_PURCHASE + timedelta(minutes=number)
    return {
        "receipt_id": f"R-{number}",
        "transaction_date": moment.date(),
        "transaction_datetime": moment,
    }
