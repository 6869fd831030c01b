"""Requests in the register: claimed, adopted, followed, parked, and what is read of them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from receipt_contract.errors import OutageError
from receipt_contract.requests import Kind
from receipt_contract.status import ConditionReason
from receipt_operator.register import leases, outgoing, requests
from receipt_operator.register.database import Database
from receipt_operator.register.requests import Frozen, UnknownRunError
from receipt_operator.register.rows import Counts, Ending, Knobs, ObjectKey, RequestState
from tests.integration.operator.desk import NAMESPACES, Desk
from tests.support.facts import CLUSTER, KEY, make_observed, make_wanted
from tests.support.requests import NOON, with_field

pytestmark = pytest.mark.services

FROZEN = Frozen(
    result=ConditionReason.PARTIALLY_FAILED,
    total=3,
    counts=Counts(done=1, failed=1, skipped=1),
    summary={"confirmed": 2, "publications": 3, "by_reason": {"corrupt": 1}},
    accepted_at=NOON,
    started_at=NOON,
    finished_at=NOON,
    active_seconds=60.0,
)


def _run(run_id: str, **fields: Any) -> Any:
    return make_observed(with_field(runId=run_id, **fields))


async def test_a_claimed_request_is_being_planned(desk: Desk) -> None:
    request_id = await desk.claim()

    request = await desk.one(request_id)
    assert request.state is RequestState.PLANNING
    assert request.counts == Counts()
    assert request.active_since is not None
    assert (request.key, request.cluster) == (KEY, CLUSTER)


async def test_g3_claiming_again_changes_nothing(desk: Desk) -> None:
    request_id = await desk.accept("a.png")
    before = desk.books.row("SELECT * FROM work.requests")

    await desk.claim(make_observed(uid="uid-2"))

    assert desk.books.row("SELECT * FROM work.requests") == before
    assert (await desk.one(request_id)).object_uid == "uid-1"


async def test_a_request_claimed_as_suspended_has_no_running_clock(desk: Desk) -> None:
    request_id = await desk.claim(make_observed(with_field(suspend=True)))

    request = await desk.one(request_id)
    assert request.active_since is None
    assert request.knobs.suspend


async def test_g3_an_adopted_request_is_frozen_as_it_was(desk: Desk) -> None:
    want = make_wanted(make_observed())

    async with desk.database.write() as connection:
        await requests.adopt(connection, want.claim, FROZEN)

    request = await desk.one(want.request_id)
    assert request.finished
    assert request.result is ConditionReason.PARTIALLY_FAILED
    assert request.finished_at == NOON
    assert request.counts == Counts(done=1, failed=1, skipped=1, confirmed=2, publications=3)
    assert await desk.active() == []


async def test_g4_adopting_does_not_touch_a_request_that_is_known(desk: Desk) -> None:
    request_id = await desk.accept("a.png")
    want = make_wanted(make_observed())

    async with desk.database.write() as connection:
        await requests.adopt(connection, want.claim, FROZEN)

    assert (await desk.one(request_id)).state is RequestState.OPEN


async def test_mutable_fields_are_followed_and_stop_the_clock(desk: Desk) -> None:
    request_id = await desk.accept("a.png")
    desk.set_request(request_id, active_since="-60 s")

    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs(suspend=True, max_in_flight=3))

    request = await desk.one(request_id)
    assert request.knobs == Knobs(suspend=True, max_in_flight=3)
    assert request.active_since is None
    assert 60 <= request.active_seconds < 600
    assert not request.publishable


async def test_suspending_twice_counts_the_time_once(desk: Desk) -> None:
    request_id = await desk.accept("a.png")
    desk.set_request(request_id, active_since="-60 s")

    for percent in (1, 2):
        knobs = Knobs(suspend=True, failure_threshold_percent=percent)
        async with desk.database.write() as connection:
            await requests.follow(connection, request_id, knobs)

    assert 60 <= (await desk.one(request_id)).active_seconds < 119


async def test_resuming_starts_the_clock_and_following_does_not_restart_it(desk: Desk) -> None:
    request_id = await desk.claim(make_observed(with_field(suspend=True)))

    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs())
    resumed = await desk.one(request_id)
    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs(max_in_flight=5))

    assert resumed.active_since is not None
    assert (await desk.one(request_id)).active_since == resumed.active_since


async def test_parked_time_does_not_count(desk: Desk) -> None:
    request_id = await desk.accept("a.png")
    desk.set_request(request_id, active_since="-60 s")

    async with desk.database.write() as connection:
        await requests.park(connection, [request_id])
    parked = await desk.one(request_id)
    async with desk.database.write() as connection:
        await requests.park(connection, [request_id])
        await requests.unpark(connection, [request_id])

    unparked = await desk.one(request_id)
    assert parked.parked
    assert parked.active_since is None
    assert not parked.publishable
    assert not unparked.parked
    assert unparked.active_since is not None
    assert unparked.active_seconds == parked.active_seconds


@pytest.mark.parametrize("parked_first", [True, False], ids=["parked first", "suspended first"])
async def test_suspended_and_parked_wait_for_both(desk: Desk, *, parked_first: bool) -> None:
    request_id = await desk.accept("a.png")
    async with desk.database.write() as connection:
        if parked_first:
            await requests.park(connection, [request_id])
        await requests.follow(connection, request_id, Knobs(suspend=True))
        await requests.park(connection, [request_id])

        await requests.unpark(connection, [request_id])
    still_suspended = await desk.one(request_id)
    async with desk.database.write() as connection:
        await requests.park(connection, [request_id])
        await requests.follow(connection, request_id, Knobs())
    still_parked = await desk.one(request_id)

    assert still_suspended.active_since is None
    assert still_parked.active_since is None


async def test_g4_nothing_moves_a_finished_request(desk: Desk) -> None:
    request_id = await desk.accept("a.png")
    await desk.finish(request_id)
    before = desk.books.row("SELECT * FROM work.requests")

    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs(suspend=True))
        await requests.park(connection, [request_id])
        await requests.unpark(connection, [request_id])
        await requests.begin_ending(connection, request_id, Ending.CANCELLED)
        await requests.accept(connection, request_id, 99)
        await requests.freeze(connection, request_id, FROZEN)
        locked = await requests.lock_unfinished(connection, request_id)

    assert desk.books.row("SELECT * FROM work.requests") == before
    assert locked is None


async def test_the_first_reason_to_end_stands(desk: Desk) -> None:
    request_id = await desk.accept("a.png")

    async with desk.database.write() as connection:
        await requests.begin_ending(connection, request_id, Ending.DEADLINE)
    first = await desk.one(request_id)
    async with desk.database.write() as connection:
        await requests.begin_ending(connection, request_id, Ending.CANCELLED)

    again = await desk.one(request_id)
    assert again.ending is Ending.DEADLINE
    assert again.ending_since == first.ending_since


async def test_active_reads_unfinished_requests_of_its_own_namespaces(desk: Desk) -> None:
    elsewhere = ObjectKey(KEY.kind, "elsewhere", KEY.name)
    mine = await desk.accept("a.png")
    await desk.finish(await desk.accept("a.png", observed=_run("old")))
    await desk.claim(make_observed(key=elsewhere))

    found, now = await requests.active(desk.database, cluster=CLUSTER, namespaces=NAMESPACES)
    others, _ = await requests.active(desk.database, cluster="other", namespaces=NAMESPACES)

    assert [one.request_id for one in found] == [mine]
    assert others == []
    assert now.tzinfo is not None
    assert abs((now - datetime.now(UTC)).total_seconds()) < 3600


async def test_live_counts_are_those_of_the_items(desk: Desk) -> None:
    states = ("planned", "publishing", "published", "done", "failed", "skipped")
    request_id = await desk.accept(*states)
    for state in states:
        desk.set_item(request_id, state, state=state, publications=2 if state == "done" else 0)
    desk.set_item(request_id, "done", ended_at="-5 s")

    [request] = await desk.active()

    assert request.counts == Counts(1, 1, 1, 1, 1, 1, confirmed=1, publications=2)
    assert request.last_advance_at is not None


async def test_everything_is_what_may_send_with_its_window(desk: Desk) -> None:
    states = ("planned", "publishing", "published", "done", "failed", "skipped")
    mine = await desk.accept(*states)
    for state in states:
        desk.set_item(mine, state, state=state)
    suspended = await desk.accept("a.png", observed=_run("suspended"))
    parked = await desk.accept("a.png", observed=_run("parked"))
    await desk.accept("a.png", observed=_run("dry", dryRun=True))
    await desk.claim(_run("planning"))
    await desk.finish(await desk.accept("a.png", observed=_run("finished")))
    async with desk.database.write() as connection:
        await requests.follow(connection, suspended, Knobs(suspend=True))
        await requests.park(connection, [parked])

    offer = await outgoing.everything(desk.database, cluster=CLUSTER, namespaces=NAMESPACES)

    [found] = offer.requests
    assert found.request_id == mine
    assert found.counts == Counts(1, 1, 1, 1, 1, 1)
    assert (offer.in_flight_elsewhere, offer.is_whole) == (0, True)


async def test_unsent_leaves_out_what_only_waits_for_answers_and_counts_its_places(
    desk: Desk,
) -> None:
    mine = await desk.accept("a.png", "b.png", observed=_run("mine"))
    desk.set_item(mine, "a.png", state="published")
    waiting = await desk.accept("c.png", "d.png", observed=_run("waiting"))
    for receipt in ("c.png", "d.png"):
        desk.set_item(waiting, receipt, state="published")
    suspended = await desk.accept("e.png", observed=_run("suspended"))
    desk.set_item(suspended, "e.png", state="published")
    async with desk.database.write() as connection:
        await requests.follow(connection, suspended, Knobs(suspend=True))

    offer = await outgoing.unsent(desk.database, cluster=CLUSTER, namespaces=NAMESPACES)

    assert [one.request_id for one in offer.requests] == [mine]
    assert (offer.in_flight_elsewhere, offer.is_whole) == (2, False)


async def test_of_objects_reads_unfinished_ones_of_the_objects_and_those_named(desk: Desk) -> None:
    open_ = await desk.accept("a.png")
    finished = await desk.accept("a.png", observed=_run("old"))
    await desk.finish(finished)
    of_another_kind = ObjectKey(Kind.CACHE_REBUILD, KEY.namespace, KEY.name)
    await desk.claim(make_observed(key=of_another_kind))

    by_key = await requests.of_objects(desk.database, cluster=CLUSTER, keys=[KEY], request_ids=[])
    named = await requests.of_objects(
        desk.database, cluster=CLUSTER, keys=[], request_ids=[finished]
    )
    both = await requests.of_objects(
        desk.database, cluster=CLUSTER, keys=[KEY], request_ids=[open_, finished]
    )

    assert [one.request_id for one in by_key] == [open_]
    assert [one.request_id for one in named] == [finished]
    assert {one.request_id for one in both} == {open_, finished}


async def test_the_history_of_an_object_has_its_latest_ends_first(desk: Desk) -> None:
    for number in range(4):
        request_id = await desk.accept("a.png", observed=_run(f"run-{number}"))
        await desk.finish(request_id)
        desk.set_request(request_id, finished_at=f"-{10 - number} h")
    await desk.accept("a.png", observed=_run("open"))
    nobody = KEY._replace(name="nobody")

    found = await requests.histories(desk.database, cluster=CLUSTER, keys=[KEY, nobody], limit=3)

    assert [one.run_id for one in found[KEY]] == ["run-3", "run-2", "run-1"]
    assert found[nobody] == []


async def _failed_of(desk: Desk, run_id: str) -> list[str] | None:
    retry = await desk.one(await desk.claim(_retry_of(run_id)))
    return await requests.failed_of(desk.database, retry, run_id)


def _retry_of(run_id: str) -> Any:
    return make_observed({"target": {"retryFailedOf": run_id}, "runId": "retry"})


async def test_a_retry_means_what_failed_and_was_not_done_since(desk: Desk) -> None:
    names = ("failed", "done", "skipped", "late", "done-since", "failed-since")
    first = await desk.accept(*names, observed=_run("one"))
    for name in names:
        state = name if name in {"done", "skipped"} else "failed"
        desk.set_item(first, name, state=state, ended_at="-2 h", late=name == "late")
    await desk.finish(first)
    second = await desk.accept("done-since", "failed-since", observed=_run("two"))
    desk.set_item(second, "done-since", state="done", ended_at="-1 h")
    desk.set_item(second, "failed-since", state="failed", ended_at="-1 h")

    assert await _failed_of(desk, "one") == ["failed", "failed-since"]


async def test_a_retry_waits_until_all_requests_of_the_run_are_finished(desk: Desk) -> None:
    await desk.finish(await desk.accept("a.png", observed=_run("one")))
    await desk.accept("b.png", observed=make_observed(with_field(runId="one", dryRun=True)))

    assert await _failed_of(desk, "one") is None


async def test_a_retry_of_an_unknown_run_is_told(desk: Desk) -> None:
    with pytest.raises(UnknownRunError):
        await _failed_of(desk, "never")


async def test_a_retry_of_a_run_whose_items_are_not_kept_is_told(desk: Desk) -> None:
    first = await desk.accept("a.png", observed=_run("one"))
    desk.set_item(first, "a.png", state="failed")
    await desk.finish(first)
    desk.books.looker.execute("DELETE FROM work.items")

    with pytest.raises(UnknownRunError):
        await _failed_of(desk, "one")


async def test_a_retry_of_a_run_in_which_nothing_failed_means_nothing(desk: Desk) -> None:
    first = await desk.accept("a.png", observed=_run("one"))
    desk.set_item(first, "a.png", state="done")
    await desk.finish(first)

    assert await _failed_of(desk, "one") == []


async def test_a_database_that_takes_no_writes_is_away(desk: Desk) -> None:
    name = desk.books.looker.info.dbname
    set_default = f'ALTER DATABASE "{name}" SET default_transaction_read_only ='
    database = Database(desk.books.url)
    desk.books.looker.execute(f"{set_default} on".encode())
    try:
        await database.open()
        with pytest.raises(OutageError):
            await leases.take(
                database, cluster=CLUSTER, namespaces=NAMESPACES, holder="other", seconds=60
            )
    finally:
        desk.books.looker.execute(f"{set_default} off".encode())
        await database.close()


async def test_one_that_is_not_there_is_none(desk: Desk) -> None:
    assert await requests.one(desk.database, make_wanted(make_observed()).request_id) is None
