"""What keeps a request from going on, as its object says it, and that it goes on afterwards.

One operator for all, which is impatient: what takes an hour in life takes seconds here.
"""

import pytest

from receipt_contract import cachefiles
from receipt_contract.requests import Kind
from receipt_contract.topology import WORK_SIDE
from tests.support.amqp import Visitor
from tests.support.answerer import answering
from tests.support.pipeline import SPY, Pipeline, condition_of, count, vhost_of
from tests.support.promises import check_object
from tests.support.receipts import write_small_receipts
from tests.support.services import Broker

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
REBUILD = Kind.CACHE_REBUILD


@pytest.fixture(scope="module")
def impatient(module_pipeline: Pipeline) -> Pipeline:
    """Give a pipeline whose operator waits for a declared topology and gives up soon."""
    module_pipeline.start_collector()
    module_pipeline.start_operator(
        RECEIPTS_TOPOLOGY="check",
        RECEIPTS_REPUBLISH_AFTER_SECONDS="2",
        RECEIPTS_SETTLE_GRACE_SECONDS="1",
    )
    return module_pipeline


def _wait_stalled(pipeline: Pipeline, kind: Kind, name: str, reason: str) -> None:
    """Wait for the obstacle, as the state and as the reason of its condition."""
    status = pipeline.wait(
        kind, name, lambda status: condition_of(status, "Stalled").get("reason") == reason
    )
    assert status["state"] == "Stalled"
    assert not condition_of(status, "Reconciling")


def _check_success(pipeline: Pipeline, kind: Kind, name: str) -> None:
    status = pipeline.wait_finished(kind, name)

    assert status["state"] == "Succeeded"
    assert not condition_of(status, "Stalled")
    check_object(pipeline, kind, name)


def test_no_result_for_a_long_time_is_no_progress(impatient: Pipeline) -> None:
    write_small_receipts(impatient.receipts, "unanswered.png")

    impatient.apply(REPROCESS, "unanswered", target={"reference": "unanswered.png"})
    _wait_stalled(impatient, REPROCESS, "unanswered", "NoProgress")
    with answering(impatient.broker_url):
        _check_success(impatient, REPROCESS, "unanswered")


def test_work_without_a_queue_is_unroutable(impatient: Pipeline) -> None:
    write_small_receipts(impatient.receipts, "unroutable.png", first=10)
    impatient.visit(_unbind)

    impatient.apply(REPROCESS, "unroutable", target={"reference": "unroutable.png"})
    _wait_stalled(impatient, REPROCESS, "unroutable", "Unroutable")
    impatient.declare_topology()
    with answering(impatient.broker_url):
        _check_success(impatient, REPROCESS, "unroutable")


def test_a_full_queue_is_waited_for(impatient: Pipeline, broker: Broker) -> None:
    references = [f"full/{number}.png" for number in range(6)]
    write_small_receipts(impatient.receipts, "refused.png", *references, first=20)
    vhost = vhost_of(impatient.broker_url)
    # A quorum queue refuses from the moment on at which it has noticed that it is full.
    broker.api.limit_queue(vhost, WORK_SIDE.work, messages=2)
    impatient.apply(REPROCESS, "fills", target={"references": references})
    impatient.wait(REPROCESS, "fills", lambda status: count(status, "published") > 2)

    impatient.apply(REPROCESS, "refused", target={"reference": "refused.png"})
    _wait_stalled(impatient, REPROCESS, "refused", "QueueFull")
    broker.api.unlimit_queue(vhost, WORK_SIDE.work)
    with answering(impatient.broker_url):
        _check_success(impatient, REPROCESS, "refused")


def test_a_cache_volume_that_lost_its_mark_is_waited_for(impatient: Pipeline) -> None:
    write_small_receipts(impatient.receipts, "cached/a.png", first=90)
    mark = impatient.cache / cachefiles.ROOT_MARK
    target = {"selector": {"pathPrefix": "cached/", "cache": "Missing"}}
    mark.touch()
    with answering(impatient.broker_url):
        impatient.apply(REPROCESS, "cached", runId="seen", target=target)
        impatient.wait_finished(REPROCESS, "cached", run_id="seen")

    mark.unlink()
    impatient.apply(REBUILD, "cached", target=target)
    _wait_stalled(impatient, REBUILD, "cached", "CacheUnavailable")
    mark.touch()
    with answering(impatient.broker_url):
        _check_success(impatient, REBUILD, "cached")


def test_a_deadline_ends_a_request_and_waits_a_while_for_what_is_being_read(
    impatient: Pipeline,
) -> None:
    references = ["deadline/a.png", "deadline/b.png"]
    write_small_receipts(impatient.receipts, *references, first=100)

    impatient.apply(
        REPROCESS,
        "deadline",
        activeDeadlineSeconds=60,
        maxInFlight=1,
        target={"references": references},
    )
    impatient.wait(REPROCESS, "deadline", lambda status: count(status, "published") == 1)
    impatient.execute("UPDATE work.requests SET active_seconds = 60 WHERE name = 'deadline'")
    status = impatient.wait_finished(REPROCESS, "deadline")

    assert status["state"] == "Failed"
    assert condition_of(status, "Succeeded")["reason"] == "DeadlineExceeded"
    reasons = {one["reason"]: one["count"] for one in status["failures"]["byReason"]}
    assert reasons == {"deadline": 1, "unsettled": 1}
    check_object(impatient, REPROCESS, "deadline")


def _unbind(visitor: Visitor) -> None:
    for queue in (WORK_SIDE.work, SPY):
        visitor.channel.queue_unbind(queue, WORK_SIDE.work, WORK_SIDE.routing_key)
