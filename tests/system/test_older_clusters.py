"""Clusters that forget: one that is new and empty, and one restored from an older copy of etcd.

They have an API server of their own, because every other test's objects would be lost with them.
What is not lost is the database, and with it what was done.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dev import service
from dev.kubernetes.local import LocalCluster
from dev.stack import Stack
from receipt_contract.requests import Kind
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline, count, install_kinds, making, remove_kinds
from tests.support.promises import check_object, sending
from tests.support.receipts import write_small_receipts
from tests.support.services import Broker

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
FOUR = [f"open/{number}.png" for number in range(4)]
LONGEST_SWEEP = "600"  # so that what is seen in time was not seen by a complete list


@pytest.fixture(scope="module")
def own_cluster(stack: Stack, local_cluster: LocalCluster) -> Iterator[LocalCluster]:
    """Give a second cluster, where the tests' own one is an API server of ours too."""
    own = LocalCluster(local_cluster.folder.with_name("forgetful-kubernetes"))
    stack.start(own)
    install_kinds(own)
    yield own
    own.server.kill()
    own.stop()
    service.remove_folder(own.folder)


@pytest.fixture(scope="module")
def pipeline(
    stack: Stack,
    own_cluster: LocalCluster,
    broker: Broker,
    database_admin_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pipeline]:
    """Give a pipeline on the forgetful cluster, with a collector."""
    folder = tmp_path_factory.mktemp("pipeline")
    with making(stack, own_cluster, broker, database_admin_url, folder) as made:
        made.start_collector()
        yield made


def test_g3_a_cluster_restored_from_an_older_copy_sends_nothing_again_and_is_heard(
    pipeline: Pipeline, own_cluster: LocalCluster, tmp_path: Path
) -> None:
    write_small_receipts(pipeline.receipts, "old.png", "lost.png", "later.png", *FOUR)
    operator = pipeline.start_operator(RECEIPTS_SWEEP_SECONDS=LONGEST_SWEEP)
    pipeline.apply(REPROCESS, "open", target={"references": FOUR}, maxInFlight=2)
    pipeline.wait(REPROCESS, "open", lambda status: count(status, "published") == 2)
    # The new runId comes after the copy, so the restored object asks for the old one again.
    pipeline.apply(REPROCESS, "old", runId="one", dryRun=True, target={"reference": "old.png"})
    first = pipeline.wait_finished(REPROCESS, "old", run_id="one")

    own_cluster.save(tmp_path / "copy")
    pipeline.apply(REPROCESS, "old", runId="two", dryRun=True, target={"reference": "old.png"})
    pipeline.wait_finished(REPROCESS, "old", run_id="two")
    pipeline.apply(REPROCESS, "lost", suspend=True, target={"reference": "lost.png"})
    pipeline.wait(REPROCESS, "lost", lambda status: status.get("state") == "Suspended")
    pipeline.patch(REPROCESS, "open", priority="High")
    pipeline.wait(REPROCESS, "open", lambda status: status["observedGeneration"] == 2)
    own_cluster.restore(tmp_path / "copy")

    # The first answer changes a status, and that write meets an object older than it was.
    with sending(pipeline, messages=3), answering(pipeline.broker_url):
        eventually(lambda: not operator.is_alive())
        said = pipeline.log("operator")
        operator = pipeline.start_operator(RECEIPTS_SWEEP_SECONDS=LONGEST_SWEEP)
        again = pipeline.wait_finished(REPROCESS, "old", run_id="one")
        pipeline.wait_finished(REPROCESS, "open")
        pipeline.apply(REPROCESS, "later", target={"reference": "later.png"})
        pipeline.wait_finished(REPROCESS, "later")
        parked = "SELECT parked FROM work.requests WHERE name = 'lost'"
        eventually(lambda: pipeline.rows(parked) == [{"parked": True}])
    operator.stop()

    assert "came back from an older copy" in said
    assert again["run"] == first["run"]
    for name in ("old", "open", "later"):
        check_object(pipeline, REPROCESS, name)


def test_g1_g3_a_new_cluster_finds_what_was_done_in_the_old_one(
    pipeline: Pipeline, own_cluster: LocalCluster
) -> None:
    references = [f"half/{number}.png" for number in range(4)]
    write_small_receipts(pipeline.receipts, "done.png", *references, first=100)
    wishes: dict[str, dict[str, Any]] = {
        "done": {"target": {"reference": "done.png"}},
        "half": {"target": {"references": references}, "maxInFlight": 2},
    }
    operator = pipeline.start_operator()
    with answering(pipeline.broker_url):
        pipeline.apply(REPROCESS, "done", **wishes["done"])
        first = pipeline.wait_finished(REPROCESS, "done")
    pipeline.apply(REPROCESS, "half", **wishes["half"])
    pipeline.wait(REPROCESS, "half", lambda status: count(status, "published") == 2)

    operator.stop()
    own_cluster.wipe()
    _furnish(own_cluster, pipeline.namespace)
    pipeline.start_operator()
    with answering(pipeline.broker_url):
        with sending(pipeline, messages=0):
            eventually(lambda: _parked_with(pipeline, "half", done=2))
        with sending(pipeline, messages=2):
            for name, wish in wishes.items():
                pipeline.apply(REPROCESS, name, **wish)
            again = pipeline.wait_finished(REPROCESS, "done")
            gone_on = pipeline.wait_finished(REPROCESS, "half")

    assert again["run"] == {**first["run"], "adopted": True}
    assert again["progress"] == first["progress"]
    assert gone_on["progress"]["summary"] == "4/4"
    for name in wishes:
        check_object(pipeline, REPROCESS, name)


def test_kinds_may_come_after_the_operator_and_be_taken_away(
    pipeline: Pipeline, own_cluster: LocalCluster
) -> None:
    write_small_receipts(pipeline.receipts, "first.png", "second.png", first=200)
    own_cluster.wipe()
    _let_in(own_cluster, pipeline.namespace)
    operator = pipeline.start_operator()
    eventually(lambda: "are not defined in this cluster" in pipeline.log("operator"))

    with answering(pipeline.broker_url):
        install_kinds(own_cluster)
        pipeline.apply(REPROCESS, "first", target={"reference": "first.png"})
        pipeline.wait_finished(REPROCESS, "first")
        remove_kinds(own_cluster)
        install_kinds(own_cluster)
        pipeline.apply(REPROCESS, "second", target={"reference": "second.png"})
        pipeline.wait_finished(REPROCESS, "second")

    assert operator.is_alive()


def _furnish(cluster: LocalCluster, namespace: str) -> None:
    """Give an empty cluster what the operator needs, and none of the objects."""
    install_kinds(cluster)
    _let_in(cluster, namespace)


def _let_in(cluster: LocalCluster, namespace: str) -> None:
    """Give an empty cluster the namespace and the operator's rights in it."""
    cluster.kubectl("create", "namespace", namespace)
    cluster.operator_kubeconfig(namespace)


def _parked_with(pipeline: Pipeline, name: str, *, done: int) -> bool:
    """Tell whether a request waits for its object, with so many receipts done meanwhile."""
    query = """
        SELECT r.parked, count(*) FILTER (WHERE i.state = 'done') AS done
          FROM work.requests r JOIN work.items i USING (request_id)
         WHERE r.name = %(name)s GROUP BY r.request_id
    """
    return pipeline.rows(query, {"name": name}) == [{"parked": True, "done": done}]
