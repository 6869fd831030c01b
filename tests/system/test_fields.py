"""Fields beyond the target: what each does to a request on a real API server."""

from datetime import timedelta
from typing import Any

import pytest

from receipt_contract.requests import Kind
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline, condition_of, count
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
REBUILD = Kind.CACHE_REBUILD


def test_only_what_failed_is_run_again(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "retry/there.png", first=500)
    both = ["retry/late.png", "retry/there.png"]
    with answering(running.broker_url):
        running.apply(REPROCESS, "retry", runId="one", target={"references": both})
        first = running.wait_finished(REPROCESS, "retry", run_id="one")
        write_small_receipts(running.receipts, "retry/late.png", first=510)
        before = running.published()

        running.apply(REPROCESS, "retry", runId="two", target={"retryFailedOf": "one"})
        second = running.wait_finished(REPROCESS, "retry", run_id="two")

    assert first["progress"]["failed"] == 1
    assert second["progress"]["summary"] == "1/1"
    assert running.published() - before == 1
    assert [one["runId"] for one in second["history"]] == ["one"]


def test_a_retry_waits_for_the_run_it_looks_back_on(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "back/there.png", first=520)
    references = ["back/gone.png", "back/there.png"]
    running.apply(REPROCESS, "back", runId="one", target={"references": references})
    running.wait(REPROCESS, "back", lambda status: count(status, "published") == 1)

    running.apply(REPROCESS, "back", runId="two", target={"retryFailedOf": "one"})
    waiting = running.wait(REPROCESS, "back", lambda status: status.get("state") == "Queued")
    with answering(running.broker_url):
        status = running.wait_finished(REPROCESS, "back", run_id="two")

    assert condition_of(waiting, "Accepted")["reason"] == "Queued"
    assert status["progress"]["failed"] == 1


def test_too_many_failures_end_a_request_early(running: Pipeline) -> None:
    missing = [f"threshold/missing-{number:02}.png" for number in range(25)]
    there = [f"threshold/there-{number:02}.png" for number in range(10)]
    write_small_receipts(running.receipts, *there, first=530)

    running.apply(
        REPROCESS,
        "threshold",
        failureThresholdPercent=50,
        maxInFlight=1,
        target={"references": missing + there},
    )
    with answering(running.broker_url):
        status = running.wait_finished(REPROCESS, "threshold")

    assert status["state"] == "Failed"
    assert condition_of(status, "Succeeded")["reason"] == "FailureThreshold"
    reasons = {one["reason"]: one["count"] for one in status["failures"]["byReason"]}
    assert reasons["source_missing"] >= 20


def test_a_selector_asks_the_database_too(running: Pipeline) -> None:
    references = ["saved/a.png", "saved/b.png"]
    write_small_receipts(running.receipts, *references, first=560)
    with answering(running.broker_url):
        running.apply(REPROCESS, "saved", target={"reference": references[0]})
        running.wait_finished(REPROCESS, "saved")

        selector = {"pathPrefix": "saved/", "extractionStatus": ["complete"]}
        running.apply(REBUILD, "saved", target={"selector": selector})
        status = running.wait_finished(REBUILD, "saved")

    assert status["progress"]["summary"] == "1/1"


def test_every_field_of_a_selector_chooses(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "chosen/read.png", "chosen/unread.png", first=570)
    with answering(running.broker_url):
        running.apply(REPROCESS, "chosen", target={"reference": "chosen/read.png"})
        running.wait_finished(REPROCESS, "chosen")
    saved = running.rows(
        "SELECT transaction_date FROM budget.receipt_evidence"
        " WHERE source_reference = 'chosen/read.png'"
    )[0]["transaction_date"]
    earlier, later = str(saved - timedelta(days=1)), str(saved + timedelta(days=1))
    wanted: list[tuple[dict[str, Any], int]] = [
        ({"glob": "chosen/r*.png"}, 1),
        ({"cache": "Any"}, 2),
        ({"cache": "Missing"}, 2),
        ({"cacheVersionBelow": 1_000_000}, 1),
        ({"cacheVersionBelow": 1}, 0),
        ({"extractionStatus": ["complete"]}, 1),
        ({"extractionStatus": ["unreadable"]}, 0),
        ({"processedBefore": "2100-01-01T00:00:00Z"}, 1),
        ({"processedBefore": "2000-01-01T00:00:00Z"}, 0),
        ({"transactionDate": {"from": str(saved), "to": str(saved)}}, 1),
        ({"transactionDate": {"from": later}}, 0),
        ({"transactionDate": {"to": earlier}}, 0),
    ]

    for number, (fields, _) in enumerate(wanted):
        selector = {"pathPrefix": "chosen/", **fields}
        running.apply(REPROCESS, f"chosen-{number}", dryRun=True, target={"selector": selector})
    totals = [
        running.wait_finished(REPROCESS, f"chosen-{number}")["progress"]["total"]
        for number in range(len(wanted))
    ]

    assert [(fields, total) for (fields, _), total in zip(wanted, totals, strict=True)] == wanted


def test_an_object_stays_after_its_end_where_deleting_is_off_and_says_so(
    running: Pipeline,
) -> None:
    target = {"reference": "stays.png"}
    running.apply(REPROCESS, "stays", dryRun=True, ttlSecondsAfterFinished=0, target=target)
    effective = running.wait_finished(REPROCESS, "stays")["effective"]

    assert effective["ttlSecondsAfterFinished"] == 0
    assert effective["keptBecause"] == "DeletionOff"
    notes = {one["reason"]: one["message"] for one in running.events(REPROCESS, "stays")}
    assert "operator.deleteFinished" in notes["NotDeleted"]


def test_a_high_priority_gets_its_slots_first(pipeline: Pipeline) -> None:
    low = [f"low/{number}.png" for number in range(6)]
    high = [f"high/{number}.png" for number in range(6)]
    write_small_receipts(pipeline.receipts, *low, *high, first=600)
    pipeline.start_collector()
    pipeline.start_operator(RECEIPTS_GLOBAL_IN_FLIGHT="6")
    pipeline.apply(REPROCESS, "low", priority="Low", suspend=True, target={"references": low})
    pipeline.apply(REPROCESS, "high", priority="High", target={"references": high})
    pipeline.wait(REPROCESS, "high", lambda status: count(status, "published") == 6)

    pipeline.patch(REPROCESS, "low", suspend=False)
    pipeline.wait(REPROCESS, "low", lambda status: count(status, "published") == 1)
    pipeline.settle()

    assert count(pipeline.status(REPROCESS, "low"), "published") == 1
