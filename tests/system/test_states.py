"""What an object says at each stage of a request's life, and why a receipt failed."""

import json
from functools import partial
from typing import Any

import pytest

from receipt_contract.errors import FailureClass, Reason
from receipt_contract.requests import Kind
from receipt_contract.status import MAX_REASON_CLASSES
from receipt_contract.topology import REASON_HEADER, WORK_SIDE
from receipt_runtime.amqp.messages import Message
from tests.support.amqp import Visitor, eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline, condition_of, count
from tests.support.promises import check_object
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
# Why a worker sends work to the dead exchange.
GIVEN_UP = [
    reason
    for reason in Reason
    if reason.failure_class in {FailureClass.CONTENT, FailureClass.PATH, FailureClass.ATTEMPT}
]


def _words(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {one["type"]: (one["status"], one["reason"]) for one in status["conditions"]}


def test_each_stage_of_a_request_has_its_state_and_conditions(running: Pipeline) -> None:
    references = [f"stages/{number}.png" for number in range(4)]
    write_small_receipts(running.receipts, *references, first=700)

    running.apply(REPROCESS, "stages", maxInFlight=2, target={"references": references})
    half = running.wait(REPROCESS, "stages", lambda status: count(status, "published") == 2)
    running.patch(REPROCESS, "stages", suspend=True)
    suspended = running.wait(
        REPROCESS, "stages", lambda status: condition_of(status, "Suspended").get("status")
    )
    running.patch(REPROCESS, "stages", suspend=False, maxInFlight=4)
    sent = running.wait(REPROCESS, "stages", lambda status: count(status, "published") == 4)
    with answering(running.broker_url):
        end = running.wait_finished(REPROCESS, "stages")

    assert half["state"] == "Publishing"
    assert _words(half) == {
        "Accepted": ("True", "Validated"),
        "Published": ("Unknown", "Publishing"),
        "Succeeded": ("Unknown", "Running"),
        "Finished": ("False", "Running"),
        "Reconciling": ("True", "Publishing"),
    }
    assert suspended["state"] == "Suspended"
    assert _words(suspended)["Suspended"] == ("True", "UserRequested")
    assert sent["state"] == "Running"
    assert _words(sent) == {
        "Accepted": ("True", "Validated"),
        "Published": ("True", "Confirmed"),
        "Suspended": ("False", "Resumed"),
        "Succeeded": ("Unknown", "Running"),
        "Finished": ("False", "Running"),
        "Reconciling": ("True", "WaitingForResults"),
    }
    assert end["state"] == "Succeeded"
    assert _words(end) == {
        "Accepted": ("True", "Validated"),
        "Published": ("True", "Confirmed"),
        "Suspended": ("False", "Resumed"),
        "Succeeded": ("True", "Completed"),
        "Finished": ("True", "Completed"),
    }
    check_object(running, REPROCESS, "stages")


def test_a_request_is_pending_while_its_receipts_are_looked_for(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "pending.png", first=710)

    running.apply(REPROCESS, "pending", dryRun=True, target={"selector": {"glob": "pending.png"}})
    running.wait_finished(REPROCESS, "pending")

    first = running.first_status_sent(REPROCESS, "pending")
    if first is not None:
        assert first["state"] == "Pending"
        assert _words(first)["Accepted"] == ("Unknown", "Planning")
        assert _words(first)["Reconciling"] == ("True", "Planning")


def test_every_reason_for_which_work_is_given_up_is_shown_on_the_object(running: Pipeline) -> None:
    lots = [
        GIVEN_UP[start : start + MAX_REASON_CLASSES]
        for start in range(0, len(GIVEN_UP), MAX_REASON_CLASSES)
    ]
    for number, lot in enumerate(lots):
        references = [f"given-up/{number}/{reason}.png" for reason in lot]
        write_small_receipts(running.receipts, *references, first=720 + 10 * number)
        running.apply(REPROCESS, f"given-up-{number}", target={"references": references})
        running.wait(REPROCESS, f"given-up-{number}", partial(_is_sent, len(lot)))

    given_up: set[str] = set()

    def is_all_given_up() -> bool:
        given_up.update(running.visit(_give_up))
        return given_up.issuperset(GIVEN_UP)

    eventually(is_all_given_up)  # what a queue gave back may be there only a moment later

    for number, lot in enumerate(lots):
        status = running.wait_finished(REPROCESS, f"given-up-{number}")
        assert status["state"] == "Failed"
        by_reason = {one["reason"]: one["count"] for one in status["failures"]["byReason"]}
        assert by_reason == dict.fromkeys(lot, 1)
        samples = {one["reason"]: one["message"] for one in status["failures"]["samples"]}
        assert samples.items() <= {reason.value: reason.sentence for reason in lot}.items()
        check_object(running, REPROCESS, f"given-up-{number}")


def _is_sent(receipts: int, status: dict[str, Any]) -> bool:
    return count(status, "published") == receipts


def _give_up(visitor: Visitor) -> list[str]:
    """Move all work to the dead exchange as a worker does, each for the reason in its name."""
    reasons = []
    for work in visitor.take_all(WORK_SIDE.work):
        reference = json.loads(work.body)["source_reference"]
        reason = reference.rpartition("/")[2].removesuffix(".png")
        visitor.put(
            Message(
                WORK_SIDE.dead,
                WORK_SIDE.routing_key,
                work.body,
                work.type or "",
                work.message_id,
                headers={REASON_HEADER: reason},
            )
        )
        reasons.append(reason)
    return reasons
