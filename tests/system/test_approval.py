"""Requests that wait for a person, or for an operator that is paused."""

from typing import Any

import pytest

from receipt_contract.requests import Kind
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline, condition_of, count, holds
from tests.support.promises import check_object, sending
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
APPROVE = "receipts.homebudget.dev/approve=true"
NAMES = ["a-first", "b-approved", "c-cleared", "d-cancelled"]


def _waits(status: dict[str, Any]) -> bool:
    return status.get("state") == "AwaitingApproval" and "queue" in status


def _suspended_for(reason: str) -> Any:
    return lambda status: condition_of(status, "Suspended").get("reason") == reason


def test_beyond_the_first_requests_wait_for_a_person_where_the_database_was_new(
    pipeline: Pipeline,
) -> None:
    write_small_receipts(pipeline.receipts, *(f"{name}.png" for name in NAMES))
    for name in NAMES:
        pipeline.apply(REPROCESS, name, target={"reference": f"{name}.png"})
    pipeline.start_collector()

    operator = pipeline.start_operator(RECEIPTS_APPROVE_FIRST="1")
    pipeline.wait(REPROCESS, "a-first", lambda status: count(status, "published") == 1)
    waiting = [pipeline.wait(REPROCESS, name, _waits) for name in NAMES[1:]]
    with sending(pipeline, messages=1):
        pipeline.kubectl("annotate", "rrp", "b-approved", APPROVE)
        pipeline.wait(REPROCESS, "b-approved", lambda status: count(status, "published") == 1)
    pipeline.patch(REPROCESS, "d-cancelled", cancel=True)
    cancelled = pipeline.wait_finished(REPROCESS, "d-cancelled")
    operator.stop()
    operator = pipeline.start_operator(RECEIPTS_PAUSED="true")
    paused = pipeline.wait(REPROCESS, "c-cleared", _suspended_for("OperatorPaused"))
    operator.stop()
    with answering(pipeline.broker_url), sending(pipeline, messages=1):
        pipeline.start_operator()
        ends = [pipeline.wait_finished(REPROCESS, name) for name in NAMES[:3]]

    assert [one["queue"]["ahead"] for one in waiting] == [0, 0, 0]
    for name, one in zip(NAMES[1:], waiting, strict=True):
        accepted = condition_of(one, "Accepted")
        assert (accepted["status"], accepted["reason"]) == ("False", "AwaitingApproval")
        assert accepted["message"].endswith(f"annotate rrp {name} {APPROVE}")
        assert condition_of(one, "Succeeded")["reason"] == "AwaitingApproval"
    assert cancelled["state"] == "Cancelled"
    assert paused["state"] == "Suspended"
    assert [one["state"] for one in ends] == ["Succeeded"] * 3
    told = [one["reason"] for one in pipeline.events(REPROCESS, "b-approved")]
    assert told.count("AwaitingApproval") == 1
    check_object(pipeline, REPROCESS, "b-approved")


def test_g3_an_adopted_request_neither_waits_for_approval_nor_counts(pipeline: Pipeline) -> None:
    write_small_receipts(pipeline.receipts, "old.png", "new.png", "more.png")
    pipeline.start_collector()
    operator = pipeline.start_operator()
    with answering(pipeline.broker_url):
        pipeline.apply(REPROCESS, "old", target={"reference": "old.png"})
        pipeline.wait_finished(REPROCESS, "old")

    operator.kill()
    pipeline.execute("TRUNCATE work.requests, work.items, work.tallies, work.leases, work.inbox")
    with answering(pipeline.broker_url), sending(pipeline, messages=1):
        pipeline.start_operator(RECEIPTS_APPROVE_FIRST="1")
        eventually(lambda: pipeline.rows("SELECT result FROM work.requests"))
        pipeline.apply(REPROCESS, "new", target={"reference": "new.png"})
        pipeline.wait_finished(REPROCESS, "new")
        pipeline.apply(REPROCESS, "more", target={"reference": "more.png"})
        pipeline.wait(REPROCESS, "more", _waits)

    assert holds(pipeline.status(REPROCESS, "old"), "Succeeded")
