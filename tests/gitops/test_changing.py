"""What people and Argo CD do to objects kept in Git: nothing of it sends a message twice."""

from typing import Any

import pytest

from receipt_contract.requests import Kind
from tests.gitops.desk import REPROCESS, Desk, request
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import count

pytestmark = pytest.mark.cluster

REBUILD = Kind.CACHE_REBUILD


def _finish(desk: Desk, name: str, **fields: Any) -> str:
    """See an application with one request of one receipt to its end; return the revision."""
    desk.write_receipts(f"{name}.png")
    revision = desk.commit(name, request=request(name, f"{name}.png", **fields))
    desk.create_application(name)
    with answering(desk.pipeline.broker_url):
        desk.wait_synced(name, revision, health="Healthy")
    return revision


def _uid(desk: Desk, name: str) -> str:
    uid: str = desk.pipeline.read(REPROCESS, name)["metadata"]["uid"]
    return uid


def test_g3_a_deleted_object_comes_back_with_its_first_result(desk: Desk) -> None:
    name = "deleted"
    before = desk.pipeline.published()
    revision = _finish(desk, name)
    first = desk.pipeline.read(REPROCESS, name)

    desk.pipeline.delete(REPROCESS, name)
    eventually(lambda: name in desk.pipeline.kubectl("get", "rrp", "--output=name"))
    desk.wait_synced(name, revision, health="Healthy")
    again = desk.pipeline.wait_finished(REPROCESS, name)

    assert _uid(desk, name) != first["metadata"]["uid"]
    assert again["run"]["requestId"] == first["status"]["run"]["requestId"]
    assert again["run"]["finishTime"] == first["status"]["run"]["finishTime"]
    assert desk.pipeline.published() - before == 1
    assert "Degraded" not in desk.words(name, name)
    desk.check(name, name)


def test_g3_an_object_deleted_while_it_runs_goes_on(desk: Desk) -> None:
    name = "deleted-running"
    references = [f"{name}/{number}.png" for number in range(4)]
    desk.write_receipts(*references)
    before = desk.pipeline.published()
    revision = desk.commit(name, request=request(name, *references, maxInFlight=2))
    desk.create_application(name)
    desk.wait_synced(name, revision, health="Progressing")
    desk.pipeline.wait(REPROCESS, name, lambda status: count(status, "published") == 2)
    first = _uid(desk, name)

    desk.pipeline.delete(REPROCESS, name)
    eventually(lambda: name in desk.pipeline.kubectl("get", "rrp", "--output=name"))
    with answering(desk.pipeline.broker_url):
        desk.wait_synced(name, revision, health="Healthy")

    assert _uid(desk, name) != first
    assert desk.pipeline.published() - before == 4
    assert "Degraded" not in desk.words(name, name)
    desk.check(name, name)


def test_g3_edits_beside_git_are_undone_and_send_nothing(desk: Desk) -> None:
    name = "edited"
    before = desk.pipeline.published()
    revision = _finish(desk, name, labels={"colour": "red"}, priority="Low")

    desk.pipeline.kubectl("label", "rrp", name, "--overwrite", "colour=blue")
    desk.pipeline.patch(REPROCESS, name, priority="High")

    def is_undone() -> bool:
        document = desk.pipeline.read(REPROCESS, name)
        priority = document["spec"]["priority"]
        return (document["metadata"]["labels"]["colour"], priority) == ("red", "Low")

    eventually(is_undone)
    desk.wait_synced(name, revision, health="Healthy")
    desk.pipeline.settle()

    assert desk.pipeline.published() - before == 1
    assert set(desk.words(name, name)) <= {"Missing", "Progressing", "Healthy"}
    desk.check(name, name)


def test_a_status_alone_never_makes_an_application_out_of_sync(desk: Desk) -> None:
    name = "in-sync"
    revision = _finish(desk, name)
    desk.pipeline.settle()

    seen = [
        version.document["status"]["sync"]
        for version in desk.history.application_versions(name)
        if version.document.get("status", {}).get("sync", {}).get("revision") == revision
    ]
    since = next(i for i, sync in enumerate(seen) if sync["status"] == "Synced")

    assert {sync["status"] for sync in seen[since:]} == {"Synced"}
    desk.check(name, name)


def test_g3_g5_pruned_at_once_and_back_with_the_first_result(desk: Desk) -> None:
    name = "pruned"
    before = desk.pipeline.published()
    _finish(desk, name)
    first = desk.pipeline.status(REPROCESS, name)

    keeper = desk.commit(name, request=None, other=_config_map("stays"))
    desk.wait_synced(name, keeper, health="Healthy")
    pruned = desk.pipeline.kubectl("get", "rrp", name, "--ignore-not-found")
    back = desk.commit(name, request=request(name, f"{name}.png"))
    desk.wait_synced(name, back, health="Healthy")
    again = desk.pipeline.wait_finished(REPROCESS, name)

    assert pruned == ""
    assert again["run"]["requestId"] == first["run"]["requestId"]
    assert again["progress"] == first["progress"]
    assert desk.pipeline.published() - before == 1
    desk.check(name, name)


def test_g3_only_a_new_run_id_runs_again_and_a_reverted_one_does_not(desk: Desk) -> None:
    name = "reverted"
    before = desk.pipeline.published()
    first = _finish(desk, name, runId="one")
    result = desk.pipeline.status(REPROCESS, name)

    second = desk.commit(name, request=request(name, f"{name}.png", runId="two"))
    desk.wait_synced(name, second, health="Progressing")
    with answering(desk.pipeline.broker_url):
        desk.wait_synced(name, second, health="Healthy")
        sent_by_both = desk.pipeline.published() - before
        third = desk.repository.revert()
        desk.wait_synced(name, third, health="Healthy")
        again = desk.pipeline.wait_finished(REPROCESS, name, run_id="one")
        desk.pipeline.settle()

    assert first != third
    assert sent_by_both == 2
    assert desk.pipeline.published() - before == 2
    assert again["run"]["requestId"] == result["run"]["requestId"]
    assert again["progress"] == result["progress"]
    assert [one["runId"] for one in again["history"]] == ["two"]
    assert "Degraded" not in desk.words(name, name)
    desk.check(name, name)


def test_g3_g5_an_application_deleted_and_created_again_sends_nothing(desk: Desk) -> None:
    name = "recreated"
    before = desk.pipeline.published()
    revision = _finish(desk, name)
    first = desk.pipeline.status(REPROCESS, name)

    desk.delete_application(name)
    gone = desk.pipeline.kubectl("get", "rrp", name, "--ignore-not-found")
    desk.create_application(name)
    desk.wait_synced(name, revision, health="Healthy")
    again = desk.pipeline.wait_finished(REPROCESS, name)

    assert gone == ""
    assert again["run"]["requestId"] == first["run"]["requestId"]
    assert desk.pipeline.published() - before == 1
    desk.check(name, name)


def test_g5_an_application_is_deleted_while_its_request_runs_and_the_operator_is_down(
    desk: Desk,
) -> None:
    name = "down"
    desk.write_receipts(f"{name}.png")
    revision = desk.commit(name, request=request(name, f"{name}.png", kind=REBUILD, suspend=True))
    desk.create_application(name)
    desk.wait_synced(name, revision, health="Suspended")
    desk.check(name, name, kind=REBUILD)

    desk.operator.stop()
    try:
        desk.delete_application(name)
        gone = desk.pipeline.kubectl("get", "crb", name, "--ignore-not-found")
    finally:
        desk.pipeline.start_operator()

    assert gone == ""


def _config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {}}
