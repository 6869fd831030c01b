"""Items of a request: planned in chunks, sent, confirmed, taken back, ended."""

import pytest

from receipt_contract.errors import Reason
from receipt_operator.observed import Observed
from receipt_operator.register import items, outgoing, requests
from receipt_operator.register.items import End
from receipt_operator.register.rows import Ending, ItemState, Knobs, RequestState, Sending
from tests.integration.operator.desk import Desk
from tests.support.facts import make_observed
from tests.support.requests import with_field

pytestmark = pytest.mark.services

STATES = [state.value for state in ItemState]
SHA = "a" * 64
SENDABLE = {"planned", "publishing", "published"}


class _CutOffError(Exception):
    pass


async def _add_and_be_cut_off(desk: Desk, request_id: str) -> None:
    async with desk.database.write() as connection:
        await items.add(connection, request_id, ["b.png"])
        raise _CutOffError


async def _in_every_state(desk: Desk) -> str:
    request_id = await desk.accept(*STATES)
    for state in STATES:
        desk.set_item(request_id, state, state=state)
    return request_id


def _run(run_id: str) -> Observed:
    return make_observed(with_field(runId=run_id))


def _sendings(request_id: str, *references: str) -> list[Sending]:
    return [Sending(request_id, reference, SHA) for reference in references]


async def test_a_plan_goes_on_behind_what_was_committed(desk: Desk) -> None:
    request_id = await desk.plan("a.png", "b.png")

    async with desk.database.write() as connection:
        assert await items.add(connection, request_id, ["c.png"])

    assert (await desk.one(request_id)).plan_cursor == "c.png"
    assert list(desk.states(request_id)) == ["a.png", "b.png", "c.png"]


async def test_a_chunk_that_is_cut_off_leaves_neither_items_nor_cursor(desk: Desk) -> None:
    request_id = await desk.plan("a.png")

    with pytest.raises(_CutOffError):
        await _add_and_be_cut_off(desk, request_id)

    assert (await desk.one(request_id)).plan_cursor == "a.png"
    assert list(desk.states(request_id)) == ["a.png"]


@pytest.mark.parametrize("end", ["finished", "ending", "accepted"])
async def test_g4_a_plan_adds_nothing_to_a_request_that_is_not_planned(
    desk: Desk, end: str
) -> None:
    request_id = await desk.plan("a.png")
    async with desk.database.write() as connection:
        if end == "ending":
            await requests.begin_ending(connection, request_id, Ending.CANCELLED)
        else:
            await requests.accept(connection, request_id, 1)
    if end == "finished":
        await desk.finish(request_id)

    async with desk.database.write() as connection:
        added = await items.add(connection, request_id, ["b.png"])

    assert not added
    assert list(desk.states(request_id)) == ["a.png"]


async def test_whole_plans_are_written_and_accepted_together(desk: Desk) -> None:
    one, other = await desk.claim(), await desk.claim(_run("other"))

    async with desk.database.write() as connection:
        await items.add_whole(connection, {one: ["a.png"], other: ["b.png", "c.png"]})

    found = {request.request_id: request for request in await desk.active()}
    assert {request.state for request in found.values()} == {RequestState.OPEN}
    assert (found[one].total, found[other].total) == (1, 2)
    assert found[one].accepted_at is not None
    assert list(desk.states(other)) == ["b.png", "c.png"]


@pytest.mark.parametrize("has", ["begun", "stopped", "to wait", "finished"])
async def test_g4_a_whole_plan_is_written_only_where_none_has_begun(desk: Desk, has: str) -> None:
    request_id = await desk.claim()
    async with desk.database.write() as connection:
        match has:
            case "begun":
                await items.add(connection, request_id, ["a.png"])
            case "stopped":
                await requests.begin_ending(connection, request_id, Ending.CANCELLED)
    match has:
        case "to wait":
            desk.set_request(request_id, awaiting_approval=True)
        case "finished":
            await desk.finish(request_id)
    before = await desk.one(request_id)

    async with desk.database.write() as connection:
        await items.add_whole(connection, {request_id: ["b.png"]})

    assert await desk.one(request_id) == before
    assert "b.png" not in desk.states(request_id)


async def test_a_strange_reference_comes_back_as_it_was(desk: Desk) -> None:
    strange = 'a\tb\nc "d" \\N 漢😀.png'
    request_id = await desk.accept(strange)

    assert await items.planned(desk.database, {request_id: 5}) == {request_id: [strange]}


async def test_planned_reads_so_many_of_each_request_in_order(desk: Desk) -> None:
    first = await desk.accept("a", "b", "c")
    second = await desk.accept("x", "y", observed=make_observed(with_field(runId="two")))
    desk.set_item(first, "a", state="published")

    found = await items.planned(desk.database, {first: 1, second: 9})

    assert found == {first: ["b"], second: ["x", "y"]}


async def test_what_was_taken_back_is_sent_before_what_was_never_sent(desk: Desk) -> None:
    request_id = await desk.accept("a", "b", "c")
    desk.set_item(request_id, "c", published_at="-1 h")

    assert await items.planned(desk.database, {request_id: 2}) == {request_id: ["c", "a"]}


async def test_hash_and_time_are_written_before_a_send(desk: Desk) -> None:
    request_id = await desk.accept("a.png")

    async with desk.database.write() as connection:
        marked = await items.mark_publishing(connection, _sendings(request_id, "a.png"))

    item = desk.item(request_id, "a.png")
    assert marked == _sendings(request_id, "a.png")
    assert (item["state"], item["source_sha256"]) == ("publishing", SHA)
    assert item["published_at"] is not None
    assert item["publications"] == 0


async def test_only_what_has_not_ended_is_marked_for_sending(desk: Desk) -> None:
    request_id = await _in_every_state(desk)

    async with desk.database.write() as connection:
        marked = await items.mark_publishing(connection, _sendings(request_id, *STATES))

    assert {one.reference for one in marked} == SENDABLE
    assert {name for name, state in desk.states(request_id).items() if state == "publishing"} == (
        SENDABLE
    )


async def test_g1_a_confirm_counts_only_for_what_is_being_published(desk: Desk) -> None:
    request_id = await _in_every_state(desk)

    async with desk.database.write() as connection:
        await items.mark_published(connection, _sendings(request_id, *STATES))
        await items.mark_published(connection, _sendings(request_id, *STATES))

    expected = {state: state for state in STATES} | {"publishing": "published"}
    assert desk.states(request_id) == expected
    publications = {row["reference"]: row["publications"] for row in desk.items(request_id)}
    assert publications == dict.fromkeys(STATES, 0) | {"publishing": 1}


async def test_a_send_is_taken_back_only_from_what_is_being_published(desk: Desk) -> None:
    request_id = await _in_every_state(desk)

    async with desk.database.write() as connection:
        await items.mark_unsent(connection, _sendings(request_id, *STATES))

    expected = {state: state for state in STATES} | {"publishing": "planned"}
    assert desk.states(request_id) == expected


async def test_uncertain_ones_are_those_whose_confirm_never_came(desk: Desk) -> None:
    request_id = await _in_every_state(desk)
    desk.set_item(request_id, "publishing", source_sha256=SHA)

    found = await items.uncertain(desk.database, [request_id], 10)

    assert found == _sendings(request_id, "publishing")


async def test_the_operator_ends_only_what_has_not_ended(desk: Desk) -> None:
    request_id = await _in_every_state(desk)
    ends = [End(state, ItemState.FAILED, Reason.SOURCE_MISSING) for state in STATES]

    async with desk.database.write() as connection:
        await items.end(connection, request_id, ends)

    expected = {state: state for state in STATES} | dict.fromkeys(SENDABLE, "failed")
    assert desk.states(request_id) == expected
    assert desk.item(request_id, "planned")["ended_by"] == "operator"
    assert desk.item(request_id, "planned")["reason"] == "source_missing"
    assert desk.item(request_id, "done")["ended_by"] is None


async def test_g4_the_operator_ends_nothing_of_a_finished_request(desk: Desk) -> None:
    request_id = await desk.accept("a.png")
    await desk.finish(request_id)

    async with desk.database.write() as connection:
        await items.end(
            connection, request_id, [End("a.png", ItemState.FAILED, Reason.SOURCE_MISSING)]
        )

    assert desk.states(request_id) == {"a.png": "planned"}


async def test_what_is_left_fails_for_the_ending_or_as_unsettled(desk: Desk) -> None:
    request_id = await _in_every_state(desk)
    reasons = {ItemState.PLANNED: Reason.CANCELLED, ItemState.PUBLISHED: Reason.UNSETTLED}

    async with desk.database.write() as connection:
        await items.end_remaining(connection, request_id, reasons)

    ended = {row["reference"]: (row["state"], row["reason"]) for row in desk.items(request_id)}
    assert ended == {
        "planned": ("failed", "cancelled"),
        "publishing": ("failed", "unsettled"),
        "published": ("failed", "unsettled"),
        "done": ("done", None),
        "failed": ("failed", None),
        "skipped": ("skipped", None),
    }


async def test_failures_are_counted_by_reason_and_sampled_in_their_order(desk: Desk) -> None:
    request_id = await desk.accept("a", "b", "c", "d")
    for name, reason, ended in (
        ("a", "encrypted", "-1 h"),
        ("b", "corrupt", "-3 h"),
        ("c", "corrupt", "-2 h"),
    ):
        desk.set_item(request_id, name, state="failed", reason=reason, ended_at=ended)

    async with desk.database.read() as connection:
        by_reason = await items.failures_by_reason(connection, request_id)
        samples = await items.failure_samples(connection, request_id, 2)

    assert list(by_reason.items()) == [(Reason.CORRUPT, 2), (Reason.ENCRYPTED, 1)]
    assert samples == [("b", Reason.CORRUPT), ("c", Reason.CORRUPT)]


@pytest.mark.parametrize(
    "stop",
    ["suspended", "parked", "ending", "finished", "planning", "dry run"],
)
async def test_only_a_request_that_may_send_is_locked_for_it(desk: Desk, stop: str) -> None:
    observed = make_observed(with_field(dryRun=True)) if stop == "dry run" else None
    request_id = await desk.plan("a.png", observed=observed)
    async with desk.database.write() as connection:
        if stop != "planning":
            await requests.accept(connection, request_id, 1)
        if stop == "suspended":
            await requests.follow(connection, request_id, Knobs(suspend=True))
        if stop == "parked":
            await requests.park(connection, [request_id])
        if stop == "ending":
            await requests.begin_ending(connection, request_id, Ending.CANCELLED)
    if stop == "finished":
        await desk.finish(request_id)

    async with desk.database.write() as connection:
        locked = await outgoing.lock_publishable(connection, [request_id])

    assert locked == set()
    assert (await desk.one(request_id)).started_at is None


async def test_the_first_send_starts_a_request(desk: Desk) -> None:
    request_id = await desk.accept("a.png")

    async with desk.database.write() as connection:
        locked = await outgoing.lock_publishable(connection, [request_id])
    first = (await desk.one(request_id)).started_at
    async with desk.database.write() as connection:
        await outgoing.lock_publishable(connection, [request_id])

    assert locked == {request_id}
    assert first is not None
    assert (await desk.one(request_id)).started_at == first
