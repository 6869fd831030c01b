"""The topology: pinned, because a changed argument means queues to drain by hand."""

import pytest

from receipt_contract import topology
from receipt_contract.topology import RESULTS_SIDE, SIDES, WORK_SIDE, Side


def arguments(side: Side) -> dict[str, dict[str, str | int]]:
    return {queue.name: dict(queue.arguments) for queue in side.queues}


def test_the_work_side_is_this() -> None:
    assert arguments(WORK_SIDE) == {
        "receipts.v1.work": {
            "x-queue-type": "quorum",
            "x-overflow": "reject-publish",
            "x-max-length": 100_000,
            "x-dead-letter-exchange": "receipts.v1.dead",
            "x-dead-letter-routing-key": "receipt",
            "x-dead-letter-strategy": "at-least-once",
            "x-delivery-limit": 20,
        },
        "receipts.v1.retry": {
            "x-queue-type": "quorum",
            "x-overflow": "reject-publish",
            "x-max-length": 100_000,
            "x-dead-letter-exchange": "receipts.v1.work",
            "x-dead-letter-routing-key": "receipt",
            "x-dead-letter-strategy": "at-least-once",
            "x-message-ttl": 60_000,
        },
        "receipts.v1.dead": {
            "x-queue-type": "quorum",
            "x-max-length": 100_000,
            "x-overflow": "drop-head",
        },
        "receipts.v1.failures": {
            "x-queue-type": "quorum",
            "x-delivery-limit": 2_147_483_647,
        },
    }


def test_the_result_side_differs_in_names_only() -> None:
    renamed = {
        name.replace("receipts.v1", "ocr.results.v1"): {
            key: value.replace("receipts.v1", "ocr.results.v1").replace("receipt", "ocr-result")
            if isinstance(value, str)
            else value
            for key, value in of.items()
        }
        for name, of in arguments(WORK_SIDE).items()
    }

    assert arguments(RESULTS_SIDE) == renamed


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.prefix)
def test_where_dead_letters_go_is_declared_first(side: Side) -> None:
    names = [queue.name for queue in side.queues]

    assert names == [side.dead, side.failures, side.work, side.retry]


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.prefix)
def test_g1_every_dead_letter_reaches_the_dead_queue_and_the_failures_queue(side: Side) -> None:
    fed = [queue.name for queue in side.queues if queue.exchange == side.dead]

    assert fed == [side.dead, side.failures]


def test_every_queue_hangs_on_an_exchange_of_its_side() -> None:
    for side in SIDES:
        assert {queue.exchange for queue in side.queues} == set(side.exchanges)
        assert {queue.routing_key for queue in side.queues} == {side.routing_key}


def test_only_our_reason_survives_a_republication() -> None:
    assert frozenset({"x-receipt-reason"}) == topology.REPUBLISHED_HEADERS
