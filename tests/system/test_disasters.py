"""Requests while something they need is away, killed, or comes back without its data (promise G1).

Each test has a pipeline of its own, because it breaks it.
"""

from functools import partial
from typing import Any

import pytest

from dev.kubernetes.local import LocalCluster
from dev.postgres import Postgres
from dev.rabbitmq import RabbitMQ
from receipt_contract.requests import Kind
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import (
    SPY,
    Pipeline,
    condition_of,
    count,
    holds,
    move_away,
    move_back,
    vhost_of,
)
from tests.support.receipts import write_small_receipts
from tests.support.services import Broker

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
MANY = [f"many/{number}.png" for number in range(40)]


def _stalled(reason: str) -> Any:
    return lambda status: condition_of(status, "Stalled").get("reason") == reason


def _is_done(receipts: int, status: dict[str, Any]) -> bool:
    return count(status, "done") >= receipts


def _is_parked(pipeline: Pipeline, name: str) -> bool:
    query = "SELECT parked FROM work.requests WHERE name = %(name)s"
    return bool(pipeline.rows(query, {"name": name})[0]["parked"])


def _waits_for_the_lease(pipeline: Pipeline, operator: str) -> bool:
    return "waiting for the lease" in pipeline.log(operator)


def _sent_ids(pipeline: Pipeline) -> list[str]:
    """Return the message ids of all work sent so far."""
    taken = pipeline.visit(lambda visitor: visitor.take_all(SPY))
    return [one.message_id for one in taken]


def test_g1_receipts_that_vanish_in_mid_request_are_waited_for(pipeline: Pipeline) -> None:
    write_small_receipts(pipeline.receipts, *MANY)
    pipeline.start_collector()
    pipeline.start_operator()
    pipeline.apply(REPROCESS, "waits", target={"references": MANY}, maxInFlight=5)
    pipeline.wait(REPROCESS, "waits", lambda status: count(status, "published") == 5)

    aside = move_away(pipeline.receipts)
    with answering(pipeline.broker_url):
        stalled = pipeline.wait(REPROCESS, "waits", _stalled("SourceUnavailable"))
        move_back(aside, pipeline.receipts)
        status = pipeline.wait_finished(REPROCESS, "waits")

    assert stalled["state"] == "Stalled"
    assert stalled["progress"]["failed"] == 0
    assert status["progress"]["summary"] == "40/40"


def test_an_empty_root_is_never_nothing_to_do(pipeline: Pipeline) -> None:
    pipeline.start_collector()
    pipeline.start_operator()

    pipeline.apply(REPROCESS, "empty", target={"selector": {"glob": "**/*.png"}})
    stalled = pipeline.wait(REPROCESS, "empty", _stalled("SourceUnavailable"))
    write_small_receipts(pipeline.receipts, "late.png")
    with answering(pipeline.broker_url):
        status = pipeline.wait_finished(REPROCESS, "empty")

    assert stalled["state"] == "Stalled"
    assert status["progress"]["summary"] == "1/1"


def test_g1_work_lost_with_the_broker_is_sent_again(pipeline: Pipeline, broker: Broker) -> None:
    write_small_receipts(pipeline.receipts, *MANY)
    pipeline.start_collector()
    pipeline.start_operator(RECEIPTS_REPUBLISH_AFTER_SECONDS="4")
    pipeline.apply(REPROCESS, "lost", target={"references": MANY}, maxInFlight=15)
    pipeline.wait(REPROCESS, "lost", lambda status: count(status, "published") == 15)

    vhost = vhost_of(pipeline.broker_url)
    broker.api.delete_vhost(vhost)
    broker.api.create_vhost(vhost)
    pipeline.declare_topology()
    with answering(pipeline.broker_url):
        status = pipeline.wait_finished(REPROCESS, "lost")

    assert status["progress"]["summary"] == "40/40"
    effects = pipeline.rows("SELECT count(*) AS n FROM budget.receipt_reprocess_requests")
    assert effects == [{"n": 40}]


def test_g1_g2_an_operator_killed_while_it_sends_loses_nothing(pipeline: Pipeline) -> None:
    references = [f"killed/{number}.png" for number in range(300)]
    write_small_receipts(pipeline.receipts, *references)
    pipeline.start_collector()
    operator = pipeline.start_operator(RECEIPTS_MAX_IN_FLIGHT="20")
    pipeline.apply(REPROCESS, "killed", target={"references": references})

    with answering(pipeline.broker_url):
        for done in (1, 40, 120):
            pipeline.wait(REPROCESS, "killed", partial(_is_done, done))
            operator.kill()
            operator = pipeline.start_operator(RECEIPTS_MAX_IN_FLIGHT="20")
        status = pipeline.wait_finished(REPROCESS, "killed")

    assert status["progress"]["summary"] == "300/300"
    assert len(set(_sent_ids(pipeline))) == 300
    assert pipeline.rows("SELECT count(*) AS n FROM budget.receipt_ocr_runs") == [{"n": 300}]


@pytest.mark.parametrize("order", ["{gone},{ours}", "{ours},{gone}"])
def test_g6_a_namespace_that_may_not_be_listed_holds_up_no_other(
    pipeline: Pipeline, order: str
) -> None:
    namespaces = order.format(ours=pipeline.namespace, gone=f"{pipeline.namespace}-gone")
    write_small_receipts(pipeline.receipts, "one.png")
    pipeline.start_collector()
    operator = pipeline.start_operator(RECEIPTS_NAMESPACES=namespaces)
    pipeline.apply(REPROCESS, "deleted", target={"reference": "one.png"}, suspend=True)
    pipeline.wait(REPROCESS, "deleted", lambda status: status.get("state") == "Suspended")
    operator.stop()
    pipeline.delete(REPROCESS, "deleted")

    pipeline.start_operator(RECEIPTS_NAMESPACES=namespaces)
    with answering(pipeline.broker_url):
        pipeline.apply(REPROCESS, "one", target={"reference": "one.png"})
        pipeline.wait_finished(REPROCESS, "one")

    eventually(lambda: _is_parked(pipeline, "deleted"))


def test_g3_a_second_operator_waits_and_takes_over(pipeline: Pipeline) -> None:
    write_small_receipts(pipeline.receipts, "one.png", "two.png")
    pipeline.start_collector()
    first = pipeline.start_operator("first")
    second = pipeline.start_waiting_operator("second")
    third = pipeline.start_waiting_operator("third")
    for waiting in ("second", "third"):
        eventually(partial(_waits_for_the_lease, pipeline, waiting))
    third.stop()
    with answering(pipeline.broker_url):
        pipeline.apply(REPROCESS, "one", target={"reference": "one.png"})
        pipeline.wait_finished(REPROCESS, "one")
        sent_by_both = pipeline.published()
        ready = {name: pipeline.is_ready(name) for name in ("first", "second")}

        first.kill()
        pipeline.apply(REPROCESS, "two", target={"reference": "two.png"})
        status = pipeline.wait_finished(REPROCESS, "two")

    assert "ended by a signal" in pipeline.log("third")
    assert second.is_alive()
    assert sent_by_both == 1
    assert ready == {"first": True, "second": False}
    assert status["state"] == "Succeeded"
    assert pipeline.published() == 2


def test_g1_a_request_outlives_its_database(pipeline: Pipeline, postgres_server: Postgres) -> None:
    write_small_receipts(pipeline.receipts, *MANY)
    pipeline.start_collector()
    pipeline.start_operator()
    pipeline.apply(REPROCESS, "database", target={"references": MANY}, maxInFlight=5)
    pipeline.wait(REPROCESS, "database", lambda status: count(status, "published") == 5)

    postgres_server.kill()
    try:
        stalled = pipeline.wait(REPROCESS, "database", _stalled("DatabaseUnavailable"))
        pipeline.apply(REPROCESS, "meanwhile", target={"reference": MANY[0]})
        unseen = pipeline.wait(REPROCESS, "meanwhile", _stalled("DatabaseUnavailable"))
    finally:
        postgres_server.start()
    with answering(pipeline.broker_url):
        status = pipeline.wait_finished(REPROCESS, "database")
        meanwhile = pipeline.wait_finished(REPROCESS, "meanwhile")

    assert stalled["progress"]["published"] == 5
    assert status["progress"]["summary"] == "40/40"
    assert condition_of(unseen, "Accepted")["status"] == "Unknown"
    assert "run" not in unseen
    assert meanwhile["state"] == "Succeeded"


def test_g1_a_request_outlives_its_broker(pipeline: Pipeline, rabbitmq_server: RabbitMQ) -> None:
    write_small_receipts(pipeline.receipts, *MANY)
    pipeline.start_collector()
    pipeline.start_operator()
    pipeline.apply(REPROCESS, "broker", target={"references": MANY}, maxInFlight=5)
    pipeline.wait(REPROCESS, "broker", lambda status: count(status, "published") == 5)

    rabbitmq_server.kill()
    try:
        pipeline.patch(REPROCESS, "broker", maxInFlight=10)
        stalled = pipeline.wait(REPROCESS, "broker", _stalled("BrokerUnavailable"))
    finally:
        rabbitmq_server.start()
    with answering(pipeline.broker_url):
        status = pipeline.wait_finished(REPROCESS, "broker")

    assert condition_of(stalled, "Published")["reason"] == "BrokerUnavailable"
    assert status["progress"]["summary"] == "40/40"


def test_g1_a_request_outlives_the_api_server(
    pipeline: Pipeline, local_cluster: LocalCluster
) -> None:
    write_small_receipts(pipeline.receipts, *MANY)
    pipeline.start_collector()
    pipeline.start_operator(RECEIPTS_SWEEP_SECONDS="2")
    pipeline.apply(REPROCESS, "api", target={"references": MANY}, maxInFlight=5)
    pipeline.wait(REPROCESS, "api", lambda status: count(status, "published") == 5)

    local_cluster.kill()
    try:
        with answering(pipeline.broker_url):
            eventually(lambda: pipeline.rows("SELECT result FROM work.requests")[0]["result"])
    finally:
        local_cluster.start()
    status = pipeline.wait_finished(REPROCESS, "api")

    assert holds(status, "Succeeded")
    assert status["progress"]["summary"] == "40/40"
