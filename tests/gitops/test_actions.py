"""The actions in Argo CD's menu, run by its API server on objects of both kinds."""

import pytest

from receipt_contract.requests import Kind
from tests.gitops.desk import REPROCESS, Desk, request
from tests.support.answerer import answering
from tests.support.pipeline import holds

pytestmark = pytest.mark.cluster


def _read_once(desk: Desk, name: str, *references: str) -> None:
    """Have receipts read, so that there is something for a rebuild to keep."""
    desk.write_receipts(*references)
    with answering(desk.pipeline.broker_url):
        desk.pipeline.apply(REPROCESS, name, target={"references": list(references)})
        desk.pipeline.wait_finished(REPROCESS, name)


@pytest.mark.parametrize("kind", Kind)
def test_suspend_resume_and_rerun_failed_do_what_they_say(desk: Desk, kind: Kind) -> None:
    name = f"acts-{kind.short_name}"
    there, lost = f"{name}/there.png", f"{name}/lost.png"
    _read_once(desk, f"{name}-before", there, lost)
    kept = (desk.pipeline.receipts / lost).read_bytes()
    (desk.pipeline.receipts / lost).unlink()
    before = desk.pipeline.published()
    revision = desk.commit(name, request=request(name, there, lost, kind=kind, runId="one"))
    desk.create_application(name, heals=False)
    desk.wait_synced(name, revision, health="Progressing")
    desk.wait_object(name, lambda status: holds(status, "Published"), kind=kind)
    offered_at_first = desk.offered(name, name, kind=kind)

    desk.act(name, name, "suspend", kind=kind)
    desk.wait_synced(name, revision, health="Suspended")
    offered_while_suspended = desk.offered(name, name, kind=kind)
    desk.act(name, name, "resume", kind=kind)
    with answering(desk.pipeline.broker_url):
        desk.wait_synced(name, revision, health="Degraded")
        offered_at_the_end = desk.offered(name, name, kind=kind)
        desk.check(name, name, kind=kind)
        (desk.pipeline.receipts / lost).write_bytes(kept)
        desk.act(name, name, "rerun-failed", kind=kind)
        desk.wait(name, lambda status: status["health"].get("status") == "Healthy")
    status = desk.pipeline.status(kind, name)

    assert offered_at_first == {"suspend", "cancel"}
    assert offered_while_suspended == {"resume", "cancel"}
    assert offered_at_the_end == {"rerun-failed"}
    assert status["run"]["id"].startswith("retry-20")
    assert status["progress"]["summary"] == "1/1"
    assert [one["runId"] for one in status["history"]] == ["one"]
    assert desk.pipeline.published() - before == 2
    assert desk.read(name)["status"]["sync"]["status"] == "OutOfSync"


@pytest.mark.parametrize("kind", Kind)
def test_cancel_ends_a_request_for_good(desk: Desk, kind: Kind) -> None:
    name = f"stops-{kind.short_name}"
    desk.write_receipts(f"{name}.png")
    before = desk.pipeline.published()
    revision = desk.commit(name, request=request(name, f"{name}.png", kind=kind, suspend=True))
    desk.create_application(name)
    desk.wait_synced(name, revision, health="Suspended")

    desk.act(name, name, "cancel", kind=kind)
    desk.wait_synced(name, revision, health="Degraded")
    offered = desk.offered(name, name, kind=kind)

    assert desk.pipeline.status(kind, name)["state"] == "Cancelled"
    assert offered == {"rerun-failed"}
    assert desk.pipeline.published() == before
    desk.check(name, name, kind=kind)
