"""A request from `kubectl apply` to its end, and every way in which it comes back.

Work is answered at once by valid events through the real collector: what is tested here is the
request. `test_main_job` has the same path with real receipts and Tesseract.
"""

from typing import Any

import pytest

from receipt_contract.requests import Kind
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline, condition_of, count, holds
from tests.support.promises import check_object
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
REBUILD = Kind.CACHE_REBUILD


def _finish_one(pipeline: Pipeline, name: str, **spec: Any) -> dict[str, Any]:
    """Apply a request for one receipt of its own and see it to its end."""
    write_small_receipts(pipeline.receipts, f"{name}.png")
    with answering(pipeline.broker_url):
        pipeline.apply(REPROCESS, name, target={"reference": f"{name}.png"}, **spec)
        return pipeline.wait_finished(REPROCESS, name, run_id=spec.get("runId", ""))


def test_an_applied_request_finishes_with_true_counts(running: Pipeline) -> None:
    before = running.published()
    write_small_receipts(running.receipts, "first/a.png", "first/b.png")

    with answering(running.broker_url):
        running.apply(REPROCESS, "two", target={"references": ["first/a.png", "first/b.png"]})
        status = running.wait_finished(REPROCESS, "two")

    assert status["state"] == "Succeeded"
    assert status["progress"]["summary"] == "2/2"
    assert status["progress"]["percent"] == 100
    assert holds(status, "Accepted")
    assert holds(status, "Published")
    assert holds(status, "Succeeded")
    assert not condition_of(status, "Stalled")
    assert not condition_of(status, "Reconciling")
    assert running.published() - before == 2
    check_object(running, REPROCESS, "two")


def test_g3_applying_again_sends_nothing(running: Pipeline) -> None:
    first = _finish_one(running, "again")
    before = running.published()

    for _ in range(3):
        running.apply(REPROCESS, "again", target={"reference": "again.png"})
    running.kubectl("label", REPROCESS.plural, "again", "touched=yes")

    running.settle()
    assert running.published() == before
    assert running.status(REPROCESS, "again") == first
    check_object(running, REPROCESS, "again")


def test_g3_a_deleted_and_created_object_shows_its_first_result(running: Pipeline) -> None:
    first = _finish_one(running, "reborn")
    before = running.published()

    running.delete(REPROCESS, "reborn")
    running.apply(REPROCESS, "reborn", target={"reference": "reborn.png"})
    second = running.wait_finished(REPROCESS, "reborn")

    assert running.published() == before
    assert second["run"]["adopted"] is True
    assert condition_of(second, "Accepted")["reason"] == "Adopted"
    assert second["run"]["finishTime"] == first["run"]["finishTime"]
    assert second["progress"] == first["progress"]
    check_object(running, REPROCESS, "reborn")


def test_g4_a_wiped_status_is_written_again(running: Pipeline) -> None:
    first = _finish_one(running, "wiped")
    before = running.published()

    running.kubectl(
        *("patch", REPROCESS.plural, "wiped", "--subresource=status", "--type=merge"),
        '--patch={"status":null}',
    )
    second = running.wait_finished(REPROCESS, "wiped")

    assert running.published() == before
    assert second["progress"] == first["progress"]
    assert second["run"] == first["run"]
    check_object(running, REPROCESS, "wiped")


def test_a_new_run_id_runs_again_and_parks_the_old_request(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "twice.png")
    before = running.published()
    running.apply(REPROCESS, "twice", runId="one", target={"reference": "twice.png"})
    running.wait(REPROCESS, "twice", lambda status: holds(status, "Published"))

    running.apply(REPROCESS, "twice", runId="two", target={"reference": "twice.png"})
    running.wait(
        REPROCESS,
        "twice",
        lambda status: status.get("run", {}).get("id") == "two" and holds(status, "Published"),
    )
    parked = running.rows("SELECT run_id, parked FROM work.requests WHERE name = 'twice'")
    with answering(running.broker_url):
        status = running.wait_finished(REPROCESS, "twice", run_id="two")

    assert {row["run_id"]: row["parked"] for row in parked} == {"one": True, "two": False}
    assert status["state"] == "Succeeded"
    assert running.published() - before == 2
    check_object(running, REPROCESS, "twice")


def test_g3_a_run_id_that_is_taken_back_shows_the_old_result(running: Pipeline) -> None:
    first = _finish_one(running, "revert", runId="one")
    with answering(running.broker_url):
        running.apply(REPROCESS, "revert", runId="two", target={"reference": "revert.png"})
        running.wait_finished(REPROCESS, "revert", run_id="two")
    before = running.published()

    running.apply(REPROCESS, "revert", runId="one", target={"reference": "revert.png"})
    status = running.wait_finished(REPROCESS, "revert", run_id="one")

    assert running.published() == before
    assert status["run"]["requestId"] == first["run"]["requestId"]
    assert [one["runId"] for one in status["history"]] == ["two"]
    check_object(running, REPROCESS, "revert")


def test_a_suspended_request_sends_nothing_more_and_goes_on(running: Pipeline) -> None:
    references = [f"suspend/{number}.png" for number in range(6)]
    write_small_receipts(running.receipts, *references, first=100)
    before = running.published()
    target = {"references": references}
    running.apply(REPROCESS, "suspended", target=target, maxInFlight=2)
    running.wait(REPROCESS, "suspended", lambda status: count(status, "published") == 2)

    running.patch(REPROCESS, "suspended", suspend=True)
    status = running.wait(REPROCESS, "suspended", lambda status: holds(status, "Suspended"))
    with answering(running.broker_url):
        running.wait(REPROCESS, "suspended", lambda status: count(status, "done") == 2)
        running.settle()
        sent_while_suspended = running.published() - before
        running.patch(REPROCESS, "suspended", suspend=False)
        end = running.wait_finished(REPROCESS, "suspended")

    assert status["state"] == "Suspended"
    assert status["progress"]["inFlight"] == 2
    assert sent_while_suspended == 2
    assert end["progress"]["summary"] == "6/6"
    assert condition_of(end, "Suspended")["reason"] == "Resumed"
    assert running.published() - before == 6
    check_object(running, REPROCESS, "suspended")


def test_a_cancelled_request_ends_with_what_was_done(running: Pipeline) -> None:
    references = [f"cancel/{number}.png" for number in range(5)]
    write_small_receipts(running.receipts, *references, first=200)
    running.apply(REPROCESS, "cancelled", target={"references": references}, maxInFlight=2)
    running.wait(REPROCESS, "cancelled", lambda status: count(status, "published") == 2)

    running.patch(REPROCESS, "cancelled", cancel=True)
    generation = running.read(REPROCESS, "cancelled")["metadata"]["generation"]
    running.wait(REPROCESS, "cancelled", lambda status: status["observedGeneration"] == generation)
    with answering(running.broker_url):
        status = running.wait_finished(REPROCESS, "cancelled")

    assert status["state"] == "Cancelled"
    assert status["progress"]["summary"] == "2/5"
    assert status["failures"]["byReason"] == [{"reason": "cancelled", "count": 3}]
    assert condition_of(status, "Succeeded")["status"] == "False"
    assert condition_of(status, "Stalled")["reason"] == "Cancelled"
    check_object(running, REPROCESS, "cancelled")


def test_g6_a_missing_receipt_fails_alone_and_is_named(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "there.png", first=300)

    with answering(running.broker_url):
        running.apply(REPROCESS, "missing", target={"references": ["there.png", "not-there.png"]})
        status = running.wait_finished(REPROCESS, "missing")

    assert status["state"] == "PartiallyFailed"
    assert holds(status, "Accepted")
    [sample] = status["failures"]["samples"]
    assert sample["reference"] == "not-there.png"
    assert sample["reason"] == "source_missing"
    check_object(running, REPROCESS, "missing")


def test_a_selector_that_matches_nothing_has_nothing_to_do(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "something.png", first=310)
    before = running.published()

    running.apply(REBUILD, "nothing", target={"selector": {"glob": "no-such-folder/**"}})
    status = running.wait_finished(REBUILD, "nothing")

    assert condition_of(status, "Succeeded")["reason"] == "NothingToDo"
    assert holds(status, "Succeeded")
    assert running.published() == before
    check_object(running, REBUILD, "nothing")


def test_a_cache_rebuild_skips_what_was_never_read(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "skip/new.png", first=320)
    before = running.published()

    running.apply(REBUILD, "skips", target={"selector": {"pathPrefix": "skip/"}})
    status = running.wait_finished(REBUILD, "skips")

    assert status["state"] == "Succeeded"
    assert status["progress"]["skipped"] == 1
    assert condition_of(status, "Succeeded")["reason"] == "NothingToDo"
    assert running.published() == before


def test_a_cache_rebuild_keeps_the_extraction(running: Pipeline) -> None:
    _finish_one(running, "kept")
    extraction = (
        "SELECT updated_at FROM budget.receipt_evidence WHERE source_reference = 'kept.png'"
    )
    before = running.rows(extraction)

    with answering(running.broker_url):
        running.apply(REBUILD, "keeps", target={"selector": {"glob": "kept.png"}})
        status = running.wait_finished(REBUILD, "keeps")

    assert status["progress"]["summary"] == "1/1"
    assert running.rows(extraction) == before


def test_a_dry_run_counts_and_sends_nothing(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "dry/a.png", "dry/b.png", first=330)
    before = running.published()

    running.apply(REPROCESS, "dry", dryRun=True, target={"selector": {"pathPrefix": "dry/"}})
    status = running.wait_finished(REPROCESS, "dry")

    assert status["progress"]["total"] == 2
    assert condition_of(status, "Succeeded")["reason"] == "DryRun"
    assert running.published() == before
    check_object(running, REPROCESS, "dry")


def test_g7_the_broker_never_holds_more_than_the_window(running: Pipeline) -> None:
    references = [f"window/{number}.png" for number in range(20)]
    write_small_receipts(running.receipts, *references, first=400)
    before = running.published()

    running.apply(REPROCESS, "window", target={"references": references}, maxInFlight=7)
    running.wait(REPROCESS, "window", lambda status: count(status, "inFlight") == 7)
    running.settle()
    held = running.published() - before
    with answering(running.broker_url):
        status = running.wait_finished(REPROCESS, "window")

    assert held == 7
    assert status["progress"]["summary"] == "20/20"
    assert running.published() - before == 20
    check_object(running, REPROCESS, "window")


def test_g5_a_delete_does_not_wait_for_the_operator(pipeline: Pipeline) -> None:
    write_small_receipts(pipeline.receipts, "gone.png")
    operator = pipeline.start_operator()
    pipeline.apply(REPROCESS, "gone", target={"reference": "gone.png"})
    pipeline.wait(REPROCESS, "gone", lambda status: holds(status, "Published"))

    operator.kill()
    pipeline.delete(REPROCESS, "gone")
    pipeline.start_operator()

    eventually(lambda: pipeline.rows("SELECT parked FROM work.requests") == [{"parked": True}])
