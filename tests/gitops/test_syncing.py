"""Every way in which Argo CD writes an object: the request is sent once (promise G3)."""

import pytest

from tests.gitops.desk import REPROCESS, Desk, request
from tests.support.answerer import answering

pytestmark = pytest.mark.cluster

SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
EXPECTED = {"Missing", "Progressing", "Healthy"}
COMPARE = "ServerSideDiff=true"
RETRIES = 5  # Replace names the version it read: a status written in between has it refused


@pytest.mark.parametrize(
    ("name", "options", "compare"),
    [
        pytest.param("client-side", "", "", id="client-side apply"),
        pytest.param("client-side-diff", "", COMPARE, id="client-side apply, server-side diff"),
        pytest.param("server-side", "ServerSideApply=true", "", id="server-side apply"),
        pytest.param(
            "server-side-diff", "ServerSideApply=true", COMPARE, id="server-side apply and diff"
        ),
        pytest.param("replace", "Replace=true", "", id="replace"),
        pytest.param("force", "Force=true", "", id="force"),
        pytest.param("force-replace", "Force=true,Replace=true", "", id="delete and create"),
    ],
)
def test_g3_syncing_again_sends_nothing(desk: Desk, name: str, options: str, compare: str) -> None:
    references = [f"{name}/a.png", f"{name}/b.png"]
    desk.write_receipts(*references)
    before = desk.pipeline.published()

    def wanted(colour: str) -> str:
        document = request(
            name, *references, annotations={SYNC_OPTIONS: options}, labels={"colour": colour}
        )
        return desk.commit(name, request=document)

    revision = wanted("red")
    desk.create_application(name, retries=RETRIES, compare_options=compare)
    desk.wait_synced(name, revision, health="Progressing")
    with answering(desk.pipeline.broker_url):
        desk.wait_synced(name, revision, health="Healthy")
    first = desk.history.shown_healths(name, REPROCESS, name)
    relabelled = wanted("blue")
    desk.wait_synced(name, relabelled, health="Healthy")
    state = desk.sync(name)
    desk.wait_synced(name, relabelled, health="Healthy")
    desk.pipeline.settle()

    assert desk.pipeline.published() - before == 2
    assert {one.health for one in first} <= EXPECTED, first
    assert first[-1].health == "Healthy"
    assert state["phase"] == "Succeeded"
    assert set(desk.words(name, name)) <= EXPECTED
    assert desk.pipeline.read(REPROCESS, name)["metadata"]["labels"]["colour"] == "blue"
    desk.check(name, name)
