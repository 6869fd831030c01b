"""What Argo CD shows of a request, at every moment (promise G4)."""

import json
import os
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from dev import folders
from dev.gitops import customizations, programs
from tests.gitops.desk import REPROCESS, Desk, request
from tests.support.answerer import answering

pytestmark = pytest.mark.cluster

LOOKING_SECONDS = 0.7


def test_g4_a_suspended_request_is_suspended_until_it_goes_on(desk: Desk) -> None:
    name = "suspended"
    desk.write_receipts(f"{name}.png")
    before = desk.pipeline.published()
    parked = desk.commit(name, request=request(name, f"{name}.png", suspend=True))
    desk.create_application(name)
    desk.wait_synced(name, parked, health="Suspended")
    sent_while_suspended = desk.pipeline.published() - before

    with answering(desk.pipeline.broker_url):
        resumed = desk.commit(name, request=request(name, f"{name}.png"))
        desk.wait_synced(name, resumed, health="Healthy")
        again = desk.commit(name, request=request(name, f"{name}.png", suspend=True))
        desk.wait_synced(name, again, health="Healthy")
        desk.pipeline.settle()

    words = desk.words(name, name)
    assert sent_while_suspended == 0
    assert desk.pipeline.published() - before == 1
    assert words[-1] == "Healthy"
    assert "Suspended" not in words[words.index("Healthy") :]  # finished, whatever suspend says
    assert "Degraded" not in words
    desk.check(name, name)


def test_g4_a_failed_request_is_degraded_until_a_new_run_succeeds(desk: Desk) -> None:
    name = "failing"
    desk.write_receipts(f"{name}/there.png")
    wanted = (f"{name}/there.png", f"{name}/missing.png")
    with answering(desk.pipeline.broker_url):
        bad = desk.commit(name, request=request(name, *wanted))
        desk.create_application(name)
        desk.wait_synced(name, bad, health="Degraded")
        status = desk.pipeline.wait_finished(REPROCESS, name)
        desk.write_receipts(f"{name}/missing.png")
        good = desk.commit(name, request=request(name, *wanted, runId="mended"))
        desk.wait_synced(name, good, health="Healthy")

    words = desk.words(name, name)
    assert status["state"] == "PartiallyFailed"
    assert words[-1] == "Healthy"
    assert "Suspended" not in words
    assert words.index("Degraded") < words.index("Healthy")
    desk.check(name, name)


def test_g4_a_request_cancelled_in_git_is_degraded(desk: Desk) -> None:
    name = "cancelled"
    references = [f"{name}/{number}.png" for number in range(3)]
    desk.write_receipts(*references)
    before = desk.pipeline.published()
    suspended = desk.commit(name, request=request(name, *references, suspend=True))
    desk.create_application(name)
    desk.wait_synced(name, suspended, health="Suspended")
    cancelled = desk.commit(name, request=request(name, *references, suspend=True, cancel=True))
    desk.wait_synced(name, cancelled, health="Degraded")
    status = desk.pipeline.wait_finished(REPROCESS, name)

    assert status["state"] == "Cancelled"
    assert desk.pipeline.published() == before
    desk.check(name, name)


def test_an_expired_request_keeps_an_application_healthy(desk: Desk) -> None:
    name = "expired"
    before = desk.pipeline.published()
    late = request(name, f"{name}.png", startBefore="2020-01-01T00:00:00Z")
    revision = desk.commit(name, request=late)
    desk.create_application(name)
    desk.wait_synced(name, revision, health="Healthy")
    status = desk.pipeline.status(REPROCESS, name)

    assert status["state"] == "Expired"
    assert desk.pipeline.published() == before
    assert "Degraded" not in desk.words(name, name)
    desk.check(name, name)


def test_g4_an_object_created_again_at_once_is_never_called_invalid(desk: Desk) -> None:
    name = "again-at-once"
    desk.write_receipts(f"{name}.png")
    document = json.dumps(request(name, f"{name}.png", suspend=True))
    desk.pipeline.kubectl("create", "--filename=-", text=document)
    desk.wait_object(name, lambda status: status.get("state") == "Suspended")

    with psycopg.connect(desk.pipeline.database_url) as held:
        held.execute("LOCK TABLE work.requests IN ACCESS EXCLUSIVE MODE")
        desk.pipeline.delete(REPROCESS, name)
        time.sleep(LOOKING_SECONDS)  # the operator sees that it is gone, and waits for its row
        desk.pipeline.kubectl("create", "--filename=-", text=document)
        time.sleep(LOOKING_SECONDS)
    desk.wait_object(name, lambda status: status.get("state") == "Suspended")
    shown = desk.history.true_healths(REPROCESS, name)

    assert {one.health for one in shown} <= {"Missing", "Progressing", "Suspended"}, shown


def test_a_field_that_git_does_not_name_stays_as_an_action_left_it(desk: Desk) -> None:
    name = "acted"
    desk.write_receipts(f"{name}.png")
    revision = desk.commit(name, request=request(name, f"{name}.png"))
    desk.create_application(name)
    desk.wait_synced(name, revision, health="Progressing")

    desk.pipeline.patch(REPROCESS, name, suspend=True)
    desk.wait_synced(name, revision, health="Suspended")
    state = desk.sync(name)
    desk.wait_synced(name, revision, health="Suspended")
    desk.pipeline.patch(REPROCESS, name, suspend=False)
    with answering(desk.pipeline.broker_url):
        desk.wait_synced(name, revision, health="Healthy")

    assert state["phase"] == "Succeeded"
    desk.check(name, name)


def test_argo_cds_own_interpreter_offers_and_runs_the_actions(desk: Desk, tmp_path: Path) -> None:
    name = "acting"
    desk.write_receipts(f"{name}/there.png")
    with answering(desk.pipeline.broker_url):
        desk.pipeline.apply(
            REPROCESS,
            name,
            runId="one",
            target={"references": [f"{name}/there.png", f"{name}/missing.png"]},
        )
        desk.pipeline.wait_finished(REPROCESS, name, run_id="one")
    stored = desk.pipeline.read(REPROCESS, name)
    path = tmp_path / "object.json"
    path.write_text(json.dumps(stored), encoding="utf-8")

    health = _admin(tmp_path, "health", path.name)
    offered = _admin(tmp_path, "list-actions", path.name)
    changed = _admin(tmp_path, "run-action", path.name, "rerun-failed")

    assert "STATUS: Degraded" in health
    assert "rerun-failed" in offered
    assert "suspend" not in offered
    assert "retryFailedOf: one" in changed
    assert "runId: retry-20" in changed


def _admin(folder: Path, command: str, *arguments: str) -> str:
    """Ask Argo CD's own tool, which reads our patch as its settings."""
    settings = folders.CHECKOUT / customizations.PATH
    done = subprocess.run(
        [
            *(str(programs.argocd()), "admin", "settings", "resource-overrides", command),
            *(*arguments, "--argocd-cm-path", str(settings)),
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "ARGOCD_BINARY_NAME": "argocd",
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
