from random import Random

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from dev import ports
from receipt_contract.errors import Reason
from receipt_runtime.amqp.publisher import Publisher
from tests.support.amqp import eventually

NAME = "test-unreachable"


def test_a_broker_that_never_answered_is_logged_once() -> None:
    (port,) = ports.choose(1, random=Random(2))  # noqa: S311  # a seed, no secret
    publisher = Publisher(f"amqp://guest:guest@127.0.0.1:{port}/", name=NAME)

    with capture_logs() as lines:
        publisher.start()
        eventually(lambda: _reconnects() >= 2)
        publisher.close()

    problems = [line["problem"] for line in lines if line["event"] == "broker not usable"]
    assert problems == [Reason.BROKER_UNAVAILABLE.sentence]


def _reconnects() -> float:
    return REGISTRY.get_sample_value("receipts_reconnects_total", {"link": NAME}) or 0.0
