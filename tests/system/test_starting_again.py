"""Operators that start in a place that is not as the last one left it.

One pipeline for all: each test starts its operators, and ends them.
"""

import json
from typing import Any

import pytest

from dev import postgres
from dev.kubernetes.kubectl import KubectlError
from receipt_collector import schema
from receipt_contract.requests import API_VERSION, Kind
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import SPY, Pipeline, count
from tests.support.promises import check_object, sending
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS


@pytest.fixture(scope="module")
def pipeline(module_pipeline: Pipeline) -> Pipeline:
    """Give a pipeline of this module with a collector and no operator."""
    module_pipeline.start_collector()
    return module_pipeline


def test_a_cluster_of_another_name_runs_everything_again(pipeline: Pipeline) -> None:
    write_small_receipts(pipeline.receipts, "named.png")
    operator = pipeline.start_operator()
    with answering(pipeline.broker_url), sending(pipeline, messages=2):
        pipeline.apply(REPROCESS, "named", target={"reference": "named.png"})
        first = pipeline.wait_finished(REPROCESS, "named")
        operator.stop()
        operator = pipeline.start_operator(RECEIPTS_CLUSTER="another")
        pipeline.wait(REPROCESS, "named", lambda status: _id(status) != _id(first))
        second = pipeline.wait_finished(REPROCESS, "named")
    operator.stop()

    assert _id(second) != _id(first)
    assert second["run"]["adopted"] is False
    check_object(pipeline, REPROCESS, "named")


def test_g5_a_namespace_goes_while_the_operator_is_down_and_its_requests_wait_for_it(
    pipeline: Pipeline,
) -> None:
    """The controller that empties namespaces does not run here: its calls are made instead."""
    references = [f"emptied/{number}.png" for number in range(4)]
    write_small_receipts(pipeline.receipts, *references, first=10)
    target = {"references": references}
    operator = pipeline.start_operator()
    pipeline.apply(REPROCESS, "emptied", target=target, maxInFlight=2)
    pipeline.wait(REPROCESS, "emptied", lambda status: count(status, "published") == 2)

    operator.kill()
    _delete_namespace(pipeline)
    pipeline.cluster.kubectl("create", "namespace", pipeline.namespace)
    pipeline.cluster.operator_kubeconfig(pipeline.namespace)
    with sending(pipeline, messages=2), answering(pipeline.broker_url):
        operator = pipeline.start_operator()
        parked = "SELECT parked FROM work.requests WHERE name = 'emptied'"
        eventually(lambda: pipeline.rows(parked) == [{"parked": True}])
        pipeline.apply(REPROCESS, "emptied", target=target, maxInFlight=2)
        status = pipeline.wait_finished(REPROCESS, "emptied")
    operator.stop()

    assert status["progress"]["summary"] == "4/4"
    check_object(pipeline, REPROCESS, "emptied")


def test_g2_g3_a_new_database_keeps_what_is_finished_and_begins_anew_what_is_open(
    pipeline: Pipeline, database_admin_url: str
) -> None:
    references = [f"anew/{number}.png" for number in range(4)]
    write_small_receipts(pipeline.receipts, "kept.png", *references, first=20)
    operator = pipeline.start_operator()
    with answering(pipeline.broker_url):
        pipeline.apply(REPROCESS, "kept", target={"reference": "kept.png"})
        first = pipeline.wait_finished(REPROCESS, "kept")
    pipeline.visit(lambda visitor: visitor.take_all(SPY))
    pipeline.apply(REPROCESS, "anew", target={"references": references}, maxInFlight=2)
    pipeline.wait(REPROCESS, "anew", lambda status: count(status, "published") == 2)

    operator.stop()
    postgres.drop_database(database_admin_url, pipeline.namespace)
    postgres.create_database(database_admin_url, pipeline.namespace)
    schema.setup(pipeline.database_url)
    operator = pipeline.start_operator()
    sent_again = "SELECT count(*) AS n FROM work.items WHERE publications > 0"
    eventually(lambda: pipeline.rows(sent_again) == [{"n": 2}])
    with answering(pipeline.broker_url):
        anew = pipeline.wait_finished(REPROCESS, "anew")
        pipeline.look_past(REPROCESS)
    kept = pipeline.status(REPROCESS, "kept")
    sent = [one.message_id for one in pipeline.visit(lambda visitor: visitor.take_all(SPY))]
    operator.stop()

    assert (len(sent), len(set(sent))) == (6, 4)
    assert kept["progress"] == first["progress"]
    assert kept["run"]["finishTime"] == first["run"]["finishTime"]
    adopted = "SELECT result, done FROM work.requests WHERE name = 'kept'"
    assert pipeline.rows(adopted) == [{"result": "Completed", "done": 1}]
    assert anew["progress"]["summary"] == "4/4"
    effects = "SELECT count(*) AS n FROM budget.receipt_reprocess_requests"
    assert pipeline.rows(effects) == [{"n": 4}]
    for name in ("kept", "anew"):
        check_object(pipeline, REPROCESS, name)


def _id(status: dict[str, Any]) -> str:
    request_id: str = status["run"]["requestId"]
    return request_id


def _delete_namespace(pipeline: Pipeline) -> None:
    """Delete the namespace, then do what the controller would do, until it is gone."""
    name = pipeline.namespace
    pipeline.cluster.kubectl("delete", "namespace", name, "--wait=false")
    for kind in Kind:
        pipeline.kubectl("delete", f"--raw=/apis/{API_VERSION}/namespaces/{name}/{kind.plural}")
        left = pipeline.kubectl("get", kind.plural, "--output=name")
        assert left == ""
    finalized = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {}}
    pipeline.cluster.kubectl(
        *("replace", f"--raw=/api/v1/namespaces/{name}/finalize", "--filename=-"),
        text=json.dumps(finalized),
    )
    with pytest.raises(KubectlError, match="NotFound"):
        pipeline.cluster.kubectl("get", "namespace", name)
