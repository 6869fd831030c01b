"""Objects that are deleted after their end, and those that stay."""

from typing import Any

import pytest

from receipt_contract.requests import Kind
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline, condition_of
from tests.support.promises import check_object, sending
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
DELETING = {"RECEIPTS_DELETE_FINISHED": "true"}
# Objects with the label by which a tool knows what is its own, and why they are kept.
TRACKED = {
    "in-flux": ("kustomize.toolkit.fluxcd.io/name=receipts", "TrackedByFlux"),
    "in-argo-cd": ("argocd.argoproj.io/instance=receipts", "TrackedByArgoCD"),
}


def _names(pipeline: Pipeline) -> set[str]:
    listed = pipeline.kubectl("get", "rrp", "--output=name")
    return {line.rpartition("/")[2] for line in listed.splitlines()}


def _kept_because(reason: str) -> Any:
    return lambda status: status.get("effective", {}).get("keptBecause") == reason


def _told(pipeline: Pipeline, name: str) -> list[str]:
    """Return what events say about an object that is not deleted."""
    events = pipeline.events(REPROCESS, name)
    return [one["message"] for one in events if one["reason"] == "NotDeleted"]


def _ask(pipeline: Pipeline, name: str, *, ttl: int) -> None:
    pipeline.apply(
        REPROCESS, name, target={"reference": f"{name}.png"}, ttlSecondsAfterFinished=ttl
    )


def test_a_finished_object_is_deleted_where_that_is_allowed_and_not_forgotten(
    pipeline: Pipeline,
) -> None:
    names = ["gone", *TRACKED, "later"]
    write_small_receipts(pipeline.receipts, *(f"{name}.png" for name in names))
    pipeline.start_collector()
    operator = pipeline.start_operator(**DELETING)
    with answering(pipeline.broker_url):
        for name in names:
            _ask(pipeline, name, ttl=3600 if name == "later" else 0)
        for name, (label, reason) in TRACKED.items():
            pipeline.kubectl("label", "rrp", name, label)
            pipeline.wait(REPROCESS, name, _kept_because(reason))
        first = {name: pipeline.wait_finished(REPROCESS, name) for name in names}["gone"]

    # The Role lacks the verb: the object says so once, and nothing is tried again and again.
    pipeline.wait(REPROCESS, "gone", _kept_because("Forbidden"))
    check_object(pipeline, REPROCESS, "gone")
    forbidden = _told(pipeline, "gone")

    pipeline.cluster.allow_deletion(pipeline.namespace)
    operator.stop()
    pipeline.start_operator(**DELETING)
    eventually(lambda: "gone" not in _names(pipeline))
    with sending(pipeline, messages=0):
        _ask(pipeline, "gone", ttl=3600)
        again = pipeline.wait_finished(REPROCESS, "gone")

    assert len(forbidden) == 1
    assert "lacks the verb delete" in forbidden[0]
    assert _names(pipeline) == set(names)
    told = {name: _told(pipeline, name) for name in TRACKED}
    assert [sum("tracks it" in note for note in notes) for notes in told.values()] == [1, 1]
    assert again["run"]["finishTime"] == first["run"]["finishTime"]
    assert condition_of(again, "Succeeded")["reason"] == "AlreadyCompleted"
    for name in TRACKED:
        check_object(pipeline, REPROCESS, name)
