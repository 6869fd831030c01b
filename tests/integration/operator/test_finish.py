"""The end of a request: what was counted is frozen, and nothing that comes just then is lost."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from receipt_collector.gate import Recorded
from receipt_collector.record import record
from receipt_collector.store.database import Connection
from receipt_contract.errors import Reason
from receipt_contract.results import RunEventV1
from receipt_contract.status import ConditionReason
from receipt_operator import finishing
from receipt_operator.register import items, requests
from receipt_operator.register.items import End
from receipt_operator.register.rows import Counts, ItemState, Knobs
from tests.integration.collector.books import Books
from tests.integration.operator.desk import Desk, eventually
from tests.support.amqp import WITHIN_SECONDS
from tests.support.facts import make_observed
from tests.support.requests import with_field
from tests.support.results import make_run

pytestmark = pytest.mark.services

GRACE = 600.0


async def _advance(desk: Desk) -> list[str]:
    found, now = await requests.active(desk.database, cluster="home", namespaces=["receipts"])
    return await finishing.advance(desk.database, found, now, settle_grace_seconds=GRACE)


def _result_for(request_id: str, reference: str) -> RunEventV1:
    event = make_run(request=1, at=reference)
    payload = event.payload.model_copy(update={"request_id": request_id})
    return event.model_copy(update={"payload": payload})


def _check_frozen(desk: Desk, request_id: str) -> Counts:
    """Compare what was frozen with the items; return the counts."""
    row = desk.books.row("SELECT * FROM work.requests WHERE request_id = %s", request_id)
    states = list(desk.states(request_id).values())
    counted = {name: states.count(name) for name in ("done", "failed", "skipped")}
    assert row["state"] == "finished"
    assert {name: row[name] for name in counted} == counted
    assert row["total"] == len(states) == sum(counted.values())
    return Counts(**counted)


async def test_a_request_whose_items_all_ended_is_frozen_with_its_failures(desk: Desk) -> None:
    request_id = await desk.accept("a", "b", "c")
    desk.set_item(request_id, "a", state="done", publications=1)
    desk.set_item(request_id, "b", state="failed", reason="corrupt", publications=2)
    desk.set_item(request_id, "c", state="skipped")

    changed = await _advance(desk)

    request = await desk.one(request_id)
    assert changed == [request_id]
    assert request.result is ConditionReason.PARTIALLY_FAILED
    assert request.summary == {
        "by_reason": {"corrupt": 1},
        "samples": [["b", "corrupt"]],
        "confirmed": 2,
        "publications": 3,
    }
    assert request.active_since is None
    _check_frozen(desk, request_id)


@pytest.mark.parametrize("state", ["planned", "publishing", "published"])
async def test_a_request_with_something_left_is_not_frozen(desk: Desk, state: str) -> None:
    request_id = await desk.accept("a", "b")
    desk.set_item(request_id, "a", state="done")
    desk.set_item(request_id, "b", state=state)

    assert await _advance(desk) == []
    assert not (await desk.one(request_id)).finished


async def test_a_cancelled_request_ends_what_was_left_and_waits_for_the_rest(desk: Desk) -> None:
    request_id = await desk.accept("waits", "sent")
    desk.set_item(request_id, "sent", state="published")
    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs(cancel=True))

    await _advance(desk)
    latched = await desk.one(request_id)
    within_grace = await _advance(desk)
    desk.set_request(request_id, ending_since="-601 s")
    await _advance(desk)

    assert latched.ending is not None
    assert within_grace == []
    reasons = {row["reference"]: row["reason"] for row in desk.items(request_id)}
    assert reasons == {"waits": "cancelled", "sent": "unsettled"}
    assert (await desk.one(request_id)).result is ConditionReason.CANCELLED
    _check_frozen(desk, request_id)


async def test_a_result_within_the_grace_still_counts(desk: Desk) -> None:
    request_id = await desk.accept("waits", "sent")
    desk.set_item(request_id, "sent", state="published")
    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs(cancel=True))
    await _advance(desk)

    desk.books.apply(_result_for(request_id, "sent"))
    await _advance(desk)

    assert _check_frozen(desk, request_id) == Counts(done=1, failed=1)


async def test_a_dry_run_skips_everything(desk: Desk) -> None:
    dry = make_observed(with_field(dryRun=True))
    request_id = await desk.accept("a", "b", observed=dry)

    await _advance(desk)

    assert (await desk.one(request_id)).result is ConditionReason.DRY_RUN
    assert _check_frozen(desk, request_id) == Counts(skipped=2)


async def test_a_plan_that_is_cancelled_ends_with_what_was_found(desk: Desk) -> None:
    cancelled = make_observed(with_field(cancel=True))
    request_id = await desk.plan("a", "b", observed=cancelled)

    await _advance(desk)
    await _advance(desk)
    async with desk.database.write() as connection:
        goes_on = await items.add(connection, request_id, ["c"])

    assert not goes_on
    assert (await desk.one(request_id)).result is ConditionReason.CANCELLED
    assert _check_frozen(desk, request_id) == Counts(failed=2)


async def test_g4_a_failure_that_became_done_is_counted_as_done(desk: Desk) -> None:
    request_id = await desk.accept("a")
    desk.set_item(request_id, "a", state="failed", reason="no_result")

    desk.books.apply(_result_for(request_id, "a"))
    await _advance(desk)

    assert _check_frozen(desk, request_id) == Counts(done=1)


async def test_g4_a_result_after_the_freeze_changes_no_count(desk: Desk) -> None:
    request_id = await desk.accept("a")
    desk.set_item(request_id, "a", state="failed", reason="no_result")
    await _advance(desk)

    desk.books.apply(_result_for(request_id, "a"))

    assert _check_frozen(desk, request_id) == Counts(failed=1)
    assert desk.item(request_id, "a")["late"]


async def test_g4_a_freeze_waits_for_a_result_that_is_being_recorded(desk: Desk) -> None:
    request_id = await desk.accept("a", "b")
    desk.set_item(request_id, "b", state="published")
    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs(cancel=True))
    await _advance(desk)
    desk.set_request(request_id, ending_since="-601 s")
    recorder = Books(desk.books.url)
    recorded, may_commit = threading.Event(), threading.Event()

    def record_slowly(connection: Connection) -> Recorded:
        outcome = record(connection, _result_for(request_id, "b"))
        recorded.set()
        assert may_commit.wait(WITHIN_SECONDS)
        return outcome

    recording = asyncio.create_task(asyncio.to_thread(recorder.database.run, record_slowly))
    await eventually(recorded.is_set)
    freezing = asyncio.create_task(_advance(desk))
    await eventually(lambda: desk.waiting_for_locks() == 1)
    may_commit.set()
    await asyncio.gather(recording, freezing)
    recorder.close()

    assert _check_frozen(desk, request_id) == Counts(done=1, failed=1)
    assert not desk.item(request_id, "b")["late"]


async def test_g4_a_result_waits_for_a_freeze_and_comes_too_late(desk: Desk) -> None:
    request_id = await desk.accept("a")
    desk.set_item(request_id, "a", state="published")
    recorder = Books(desk.books.url)
    reasons = {ItemState.PLANNED: Reason.CANCELLED, ItemState.PUBLISHED: Reason.UNSETTLED}

    async with desk.database.write() as connection:
        await requests.lock_unfinished(connection, request_id)
        await items.end_remaining(connection, request_id, reasons)
        event = _result_for(request_id, "a")
        recording = asyncio.create_task(asyncio.to_thread(recorder.apply, event))
        await eventually(lambda: desk.waiting_for_locks() == 1)
        counts = await items.count(connection, request_id)
        frozen = requests.Frozen(ConditionReason.CANCELLED, counts.known, counts, {})
        await requests.freeze(connection, request_id, frozen)
    await recording
    recorder.close()

    assert _check_frozen(desk, request_id) == Counts(failed=1)
    assert desk.item(request_id, "a")["late"]
    assert desk.books.count("budget.receipt_evidence") == 1


async def test_g4_the_operators_own_ends_wait_for_a_freeze_and_do_nothing(desk: Desk) -> None:
    request_id = await desk.accept("a")
    ends = [End("a", ItemState.FAILED, Reason.SOURCE_MISSING)]

    async with desk.database.write() as connection:
        await requests.lock_unfinished(connection, request_id)
        ending = asyncio.create_task(_end(desk, request_id, ends))
        await eventually(lambda: desk.waiting_for_locks() == 1)
        await items.skip_remaining(connection, request_id, Reason.DRY_RUN)
        counts = await items.count(connection, request_id)
        frozen = requests.Frozen(ConditionReason.DRY_RUN, counts.known, counts, {})
        await requests.freeze(connection, request_id, frozen)
    await ending

    assert _check_frozen(desk, request_id) == Counts(skipped=1)


async def _end(desk: Desk, request_id: str, ends: Sequence[End]) -> None:
    async with desk.database.write() as connection:
        await items.end(connection, request_id, ends)


async def test_g4_many_results_and_freezes_at_once_leave_true_counts(desk: Desk) -> None:
    names = [f"{number:02}" for number in range(40)]
    request_id = await desk.accept(*names)
    for name in names:
        desk.set_item(request_id, name, state="published")
    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs(cancel=True))
    await _advance(desk)
    desk.set_request(request_id, ending_since="-601 s")
    recorders = [Books(desk.books.url) for _ in range(4)]

    def work(recorder: Books, mine: Sequence[str]) -> None:
        for name in mine:
            event = _result_for(request_id, name)
            recorder.apply(event.model_copy(update={"run_uuid": _uuid_of(name)}))

    works = [
        asyncio.to_thread(work, recorder, names[number::4])
        for number, recorder in enumerate(recorders)
    ]
    await asyncio.gather(*works, _advance(desk))
    for recorder in recorders:
        recorder.close()

    counts = _check_frozen(desk, request_id)
    late = [row for row in desk.items(request_id) if row["late"]]
    assert counts.failed == len(late)
    assert {row["reason"] for row in late} <= {"unsettled"}


def _uuid_of(name: str) -> str:
    return f"00000000-0000-0000-0000-0000000000{name}"
