"""A volume, a reading process and a broker for each test of the worker."""

import itertools
import secrets
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from receipt_contract.results import TraceContext, Worker
from receipt_runtime.amqp import preflight
from receipt_runtime.amqp.publisher import Publisher
from receipt_worker.events import Schema
from receipt_worker.process import Identities, Places, Processor
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingLimits, ReadingSettings
from tests.integration.worker.desk import Desk
from tests.integration.worker.volume import Volume, make_volume
from tests.support import services
from tests.support.amqp import visiting
from tests.support.services import Broker

WORKER = Worker(service="some-worker", host="some-host", pid=7)
TRACE = TraceContext(traceparent=f"00-{'a' * 32}-{'b' * 16}-00")


@pytest.fixture
def volume(tmp_path: Path) -> Volume:
    """Give two fresh roots."""
    return make_volume(tmp_path)


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> ReadingSettings:
    """Give reading settings with a work folder of this module alone."""
    folder = tmp_path_factory.mktemp("work")
    return ReadingSettings.model_validate({"RECEIPT_OCR_WORK_FOLDER": folder})


@pytest.fixture(scope="module")
def reader(reading: ReadingSettings) -> Iterator[Reader]:
    """Give a warm reading process."""
    with Reader(reading) as reader:
        yield reader


@pytest.fixture
def url(broker: Broker) -> Iterator[str]:
    """Give a virtual host of this test alone."""
    with services.fresh_vhost(broker, f"test-{secrets.token_hex(4)}") as url:
        yield url


@pytest.fixture
def publisher(url: str) -> Iterator[Publisher]:
    """Give a running publisher."""
    publisher = Publisher(url, name="test-worker")
    publisher.start()
    yield publisher
    publisher.close()


@pytest.fixture
def desk(url: str, volume: Volume, reader: Reader, publisher: Publisher) -> Iterator[Desk]:
    """Give a worker without its consumer, and a look at what it publishes."""
    numbers = itertools.count(1)
    identities = Identities(
        WORKER, new_run=lambda: str(uuid.UUID(int=next(numbers))), new_trace=lambda: TRACE
    )
    places = Places(
        source_root=volume.receipts,
        cache_root=volume.cache,
        lock_wait=0.2,
        artifact_prefix="pvc://some-claim",
        max_bytes=ReadingLimits().max_bytes,
    )
    preflight.declare_topology(url)
    with visiting(url) as visitor:
        yield Desk(Processor(places, reader, publisher, identities, Schema.EVERY_FIELD), visitor)
