"""Requests as waves and hooks: a sync waits for them, and a hook runs once for each release."""

from typing import Any

import pytest

from tests.gitops.desk import REPROCESS, Desk, request
from tests.support.answerer import answering
from tests.support.pipeline import holds

pytestmark = pytest.mark.cluster

WAVE = "argocd.argoproj.io/sync-wave"
HOOK = {
    "argocd.argoproj.io/hook": "PostSync",
    "argocd.argoproj.io/hook-delete-policy": "BeforeHookCreation",
}
BACKGROUND = {"argocd.argoproj.io/ignore-healthcheck": "true"}


def _config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def _created(desk: Desk, name: str) -> int:
    return desk.history.object_versions(REPROCESS, name)[0].revision


def _finished(desk: Desk, name: str) -> int:
    return next(
        version.revision
        for version in desk.history.object_versions(REPROCESS, name)
        if holds(version.document.get("status", {}), "Finished")
    )


def test_a_later_wave_begins_when_the_request_before_has_finished(desk: Desk) -> None:
    name = "waves"
    desk.write_receipts(f"{name}/first.png", f"{name}/second.png")
    before = desk.pipeline.published()
    revision = desk.commit(
        name,
        first=request("wave-first", f"{name}/first.png", annotations={WAVE: "1"}),
        second=request("wave-second", f"{name}/second.png", annotations={WAVE: "2"}),
    )
    desk.create_application(name)
    desk.wait_object("wave-first", lambda status: holds(status, "Published"))
    desk.pipeline.settle()
    sent_by_the_first = desk.pipeline.published() - before
    with answering(desk.pipeline.broker_url):
        desk.wait_synced(name, revision, health="Healthy")

    assert sent_by_the_first == 1
    assert _created(desk, "wave-second") > _finished(desk, "wave-first")
    assert desk.pipeline.published() - before == 2
    desk.check(name, "wave-first")
    desk.check(name, "wave-second")


def test_a_later_wave_does_not_begin_when_the_request_before_has_failed(desk: Desk) -> None:
    name = "bad-waves"
    before = desk.pipeline.published()
    desk.commit(
        name,
        first=request("bad-wave", f"{name}/missing.png", annotations={WAVE: "1"}),
        second=request("never-wave", f"{name}/second.png", annotations={WAVE: "2"}),
    )
    desk.create_application(name)
    status = desk.wait(
        name, lambda status: status.get("operationState", {}).get("phase") == "Failed"
    )

    assert status["health"]["status"] in {"Degraded", "Missing"}
    assert desk.pipeline.kubectl("get", "rrp", "never-wave", "--ignore-not-found") == ""
    assert desk.pipeline.published() == before


def test_g3_a_hook_runs_once_for_each_release(desk: Desk) -> None:
    name = "hook"
    desk.write_receipts(f"{name}.png")
    before = desk.pipeline.published()

    def release(run_id: str) -> str:
        hook = request("hook", f"{name}.png", annotations=HOOK, runId=run_id)
        return desk.commit(name, hook=hook, app=_config_map("hook-app", release=run_id))

    first = release("release-1")
    desk.create_application(name)
    desk.wait_object("hook", lambda status: holds(status, "Published"))
    desk.pipeline.settle()
    waiting = desk.read(name)["status"]["operationState"]["phase"]
    with answering(desk.pipeline.broker_url):
        desk.wait_synced(name, first, health="Healthy")
        sent_once = desk.pipeline.published() - before
        uid = desk.pipeline.read(REPROCESS, "hook")["metadata"]["uid"]
        again = desk.sync(name)
        uid_again = desk.pipeline.read(REPROCESS, "hook")["metadata"]["uid"]
        sent_again = desk.pipeline.published() - before
        second = release("release-2")
        desk.wait_synced(name, second, health="Healthy")
        status = desk.pipeline.wait_finished(REPROCESS, "hook", run_id="release-2")

    assert waiting == "Running"
    assert sent_once == 1
    assert again["phase"] == "Succeeded"
    assert uid_again != uid
    assert sent_again == 1
    assert desk.pipeline.published() - before == 2
    assert status["state"] == "Succeeded"
    assert "finalizers" not in desk.pipeline.read(REPROCESS, "hook")["metadata"]


def test_a_hook_that_fails_fails_the_sync(desk: Desk) -> None:
    name = "bad-hook"
    desk.commit(
        name,
        hook=request("bad-hook", f"{name}/missing.png", annotations=HOOK, runId="r"),
        app=_config_map("bad-hook-app"),
    )
    desk.create_application(name)
    status = desk.wait(
        name, lambda status: status.get("operationState", {}).get("phase") == "Failed"
    )

    assert status["health"]["status"] == "Healthy"  # a hook's health is not the application's


def test_a_background_request_does_not_hold_up_its_application(desk: Desk) -> None:
    name = "background"
    desk.write_receipts(f"{name}.png")
    revision = desk.commit(
        name, request=request(name, f"{name}.png", annotations=BACKGROUND), app=_config_map("fore")
    )
    desk.create_application(name)
    desk.wait_synced(name, revision, health="Healthy")
    unfinished = desk.pipeline.status(REPROCESS, name)
    with answering(desk.pipeline.broker_url):
        desk.pipeline.wait_finished(REPROCESS, name)

    assert not holds(unfinished, "Finished")
