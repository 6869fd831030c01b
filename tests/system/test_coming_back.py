"""Every way in which an object comes back: the same wish is the same request, and goes on as one.

`test_requests` has the everyday ones, `test_disasters`, `test_starting_again` and
`test_older_clusters` those in which something is lost, and `gitops` what Argo CD does.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from receipt_contract.requests import API_VERSION, Kind
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline, count, holds
from tests.support.promises import check_object, sending
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS

Document = Mapping[str, Any]


def _manifest(document: Document, **metadata: Any) -> str:
    """Return an object as a file in Git has it."""
    name = document["metadata"]["name"]
    return json.dumps(
        {
            "apiVersion": API_VERSION,
            "kind": document["kind"],
            "metadata": {"name": name, **metadata},
            "spec": document["spec"],
        }
    )


def _apply(pipeline: Pipeline, document: Document) -> None:
    pipeline.kubectl("apply", "--filename=-", text=_manifest(document))


def _label(pipeline: Pipeline, document: Document) -> None:
    pipeline.kubectl("label", "rrp", document["metadata"]["name"], "colour=blue")


def _replace(pipeline: Pipeline, document: Document) -> None:
    pipeline.kubectl("replace", "--filename=-", text=_manifest(document))
    assert "annotations" not in pipeline.read(REPROCESS, document["metadata"]["name"])["metadata"]


def _replace_by_force(pipeline: Pipeline, document: Document) -> None:
    pipeline.kubectl("replace", "--force", "--filename=-", text=_manifest(document))


def _create_again(pipeline: Pipeline, document: Document) -> None:
    pipeline.delete(REPROCESS, document["metadata"]["name"])
    pipeline.kubectl("create", "--filename=-", text=_manifest(document))


def _restore(pipeline: Pipeline, document: Document) -> None:
    """Do as Velero does: another uid, labels of its own, and no status."""
    pipeline.delete(REPROCESS, document["metadata"]["name"])
    labels = {"velero.io/backup-name": "nightly", "velero.io/restore-name": "nightly-1"}
    pipeline.kubectl("create", "--filename=-", text=_manifest(document, labels=labels))


def _restore_with_status(pipeline: Pipeline, document: Document) -> None:
    _restore(pipeline, document)
    status = json.dumps({"status": document["status"]})
    pipeline.kubectl(
        *("patch", "rrp", document["metadata"]["name"], "--subresource=status", "--type=merge"),
        f"--patch={status}",
    )


WAYS: dict[str, Callable[[Pipeline, Document], None]] = {
    "applied again": _apply,
    "given a label": _label,
    "replaced without its annotations": _replace,
    "replaced by force": _replace_by_force,
    "deleted and created": _create_again,
    "restored without its status": _restore,
    "restored with its status": _restore_with_status,
}


class Returned(NamedTuple):
    """An object before and after it came back."""

    before: dict[str, Any]
    after: dict[str, Any]


def _read_all(pipeline: Pipeline, names: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {way: pipeline.read(REPROCESS, name) for way, name in names.items()}


def _come_back(pipeline: Pipeline, documents: Mapping[str, Document]) -> None:
    """Bring each object back in its way, and wait until the operator has looked at all of them."""
    for way, come_back in WAYS.items():
        come_back(pipeline, documents[way])
    pipeline.look_past(REPROCESS)


@pytest.fixture(scope="module")
def finished(running: Pipeline) -> dict[str, Returned]:
    """Finished requests that came back, by the way in which they did."""
    names = {way: f"finished-{number}" for number, way in enumerate(WAYS)}
    write_small_receipts(running.receipts, *(f"{name}.png" for name in names.values()))
    with answering(running.broker_url):
        for name in names.values():
            running.apply(REPROCESS, name, target={"reference": f"{name}.png"})
        for name in names.values():
            running.wait_finished(REPROCESS, name)
    before = _read_all(running, names)
    with sending(running, messages=0):
        _come_back(running, before)
        for name in names.values():
            running.wait_finished(REPROCESS, name)
    after = _read_all(running, names)
    return {way: Returned(before[way], after[way]) for way in WAYS}


@pytest.mark.parametrize("way", WAYS)
def test_g3_a_finished_request_comes_back_with_its_first_result(
    running: Pipeline, finished: dict[str, Returned], way: str
) -> None:
    before, after = (document["status"] for document in finished[way])

    assert after["run"]["requestId"] == before["run"]["requestId"]
    assert after["run"]["finishTime"] == before["run"]["finishTime"]
    assert after["progress"] == before["progress"]
    assert after["state"] == "Succeeded"
    check_object(running, REPROCESS, finished[way].after["metadata"]["name"])


@pytest.fixture(scope="module")
def gone_on(running: Pipeline) -> dict[str, Returned]:
    """Open requests, half of their receipts on the way, that came back and went on to their end."""
    names = {way: f"open-{number}" for number, way in enumerate(WAYS)}
    for number, name in enumerate(names.values()):
        references = [f"{name}/{receipt}.png" for receipt in range(4)]
        write_small_receipts(running.receipts, *references, first=100 + 10 * number)
        running.apply(REPROCESS, name, maxInFlight=2, target={"references": references})
    for name in names.values():
        running.wait(REPROCESS, name, lambda status: count(status, "published") == 2)
    before = _read_all(running, names)
    with sending(running, messages=2 * len(WAYS)):
        _come_back(running, before)
        with answering(running.broker_url):
            for name in names.values():
                running.wait_finished(REPROCESS, name)
    after = _read_all(running, names)
    return {way: Returned(before[way], after[way]) for way in WAYS}


@pytest.mark.parametrize("way", WAYS)
def test_g1_g3_an_unfinished_request_comes_back_and_goes_on(
    running: Pipeline, gone_on: dict[str, Returned], way: str
) -> None:
    before, after = (document["status"] for document in gone_on[way])
    effects = running.rows(
        "SELECT count(*) AS n FROM budget.receipt_reprocess_requests WHERE request_id = %(id)s",
        {"id": after["run"]["requestId"]},
    )

    assert after["run"]["requestId"] == before["run"]["requestId"]
    assert after["progress"]["summary"] == "4/4"
    assert after["publish"]["publications"] == 4
    assert effects == [{"n": 4}]
    check_object(running, REPROCESS, gone_on[way].after["metadata"]["name"])


def test_g3_a_run_id_taken_back_to_an_unfinished_request_goes_on(running: Pipeline) -> None:
    references = [f"back/{number}.png" for number in range(4)]
    write_small_receipts(running.receipts, *references, first=200)
    target = {"references": references}
    with sending(running, messages=8):
        running.apply(REPROCESS, "back", runId="one", maxInFlight=2, target=target)
        first = running.wait(REPROCESS, "back", lambda status: count(status, "published") == 2)
        running.apply(REPROCESS, "back", runId="two", target=target)
        with answering(running.broker_url):
            running.wait_finished(REPROCESS, "back", run_id="two")
            running.apply(REPROCESS, "back", runId="one", maxInFlight=2, target=target)
            status = running.wait_finished(REPROCESS, "back", run_id="one")

    assert status["run"]["requestId"] == first["run"]["requestId"]
    assert status["progress"]["summary"] == "4/4"
    assert [one["runId"] for one in status["history"]] == ["two"]
    check_object(running, REPROCESS, "back")


def test_on_recreate_runs_again_for_a_new_object_only(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "recreate.png", first=210)
    wish = {"rerunPolicy": "OnRecreate", "target": {"reference": "recreate.png"}}
    with answering(running.broker_url), sending(running, messages=2):
        running.apply(REPROCESS, "recreate", **wish)
        first = running.wait_finished(REPROCESS, "recreate")
        with sending(running, messages=0):
            _label(running, running.read(REPROCESS, "recreate"))
            _replace(running, running.read(REPROCESS, "recreate"))
            running.look_past(REPROCESS)
        again = running.status(REPROCESS, "recreate")
        running.delete(REPROCESS, "recreate")
        running.apply(REPROCESS, "recreate", **wish)
        second = running.wait_finished(REPROCESS, "recreate")

    assert again == first
    assert second["run"]["requestId"] != first["run"]["requestId"]
    assert second["run"]["adopted"] is False
    check_object(running, REPROCESS, "recreate")


def test_another_target_under_the_same_run_id_is_another_request(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "other/a.png", "other/b.png", first=220)
    with answering(running.broker_url), sending(running, messages=2):
        running.apply(REPROCESS, "other", runId="one", target={"reference": "other/a.png"})
        first = running.wait_finished(REPROCESS, "other", run_id="one")
        running.delete(REPROCESS, "other")
        running.apply(REPROCESS, "other", runId="one", target={"reference": "other/b.png"})
        second = running.wait_finished(REPROCESS, "other", run_id="one")

    assert second["run"]["requestId"] != first["run"]["requestId"]
    assert [one["requestId"] for one in second["history"]] == [first["run"]["requestId"]]
    check_object(running, REPROCESS, "other")


def test_the_last_five_requests_of_an_object_are_shown(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "history.png", first=230)
    with answering(running.broker_url), sending(running, messages=7):
        for number in range(7):
            run_id = f"run-{number}"
            running.apply(REPROCESS, "history", runId=run_id, target={"reference": "history.png"})
            status = running.wait_finished(REPROCESS, "history", run_id=run_id)

    assert [one["runId"] for one in status["history"]] == [f"run-{n}" for n in (5, 4, 3, 2, 1)]
    assert {one["result"] for one in status["history"]} == {"Succeeded"}
    assert holds(status, "Succeeded")
    check_object(running, REPROCESS, "history")
