"""What proves that sent work is lost, and what does not."""

from datetime import timedelta
from typing import Any

import pytest

from receipt_operator.register import evidence
from receipt_operator.register.rows import Sending
from tests.integration.operator.desk import Desk
from tests.support.facts import make_observed
from tests.support.requests import with_field

pytestmark = pytest.mark.services

AFTER = 3600.0
SHA = "a" * 64


async def _sent(desk: Desk, request_id: str, reference: str, ago: str, **columns: Any) -> None:
    desk.set_item(
        request_id,
        reference,
        state="published",
        source_sha256=SHA,
        published_at=f"-{ago}",
        publications=1,
    )
    desk.set_item(request_id, reference, **columns)


async def _lost(desk: Desk, *request_ids: str) -> tuple[list[Sending], list[Sending]]:
    answered = await evidence.latest_answered(desk.database)
    if answered is None:
        return [], []
    return await evidence.lost(
        desk.database,
        request_ids,
        sent_before=answered - timedelta(seconds=AFTER),
        limit=100,
    )


async def _overdue(desk: Desk, *request_ids: str) -> list[str]:
    found = await evidence.overdue(desk.database, request_ids, seconds=AFTER)
    return [one.reference for one in found]


async def test_g1_a_later_one_that_was_answered_proves_the_loss(desk: Desk) -> None:
    request_id = await desk.accept("lost", "answered")
    await _sent(desk, request_id, "lost", "3 h")
    await _sent(desk, request_id, "answered", "1 h", state="done", ended_by="collector")

    again, given_up = await _lost(desk, request_id)

    assert again == [Sending(request_id, "lost", SHA)]
    assert given_up == []


@pytest.mark.parametrize(
    ("ago", "answer"),
    [
        pytest.param("1.9 h", {"state": "done", "ended_by": "collector"}, id="sent soon after"),
        pytest.param("1 h", {"state": "failed", "ended_by": "operator"}, id="ended by ourselves"),
        pytest.param("1 h", {}, id="not answered either"),
    ],
)
async def test_this_proves_nothing(desk: Desk, ago: str, answer: dict[str, str]) -> None:
    request_id = await desk.accept("waits", "other")
    await _sent(desk, request_id, "waits", "2.5 h")
    await _sent(desk, request_id, "other", ago, **answer)

    assert await _lost(desk, request_id) == ([], [])


async def test_without_any_answer_there_is_no_evidence(desk: Desk) -> None:
    assert await evidence.latest_answered(desk.database) is None


async def test_the_answer_of_another_request_is_evidence_too(desk: Desk) -> None:
    mine = await desk.accept("lost")
    other = await desk.accept("answered", observed=make_observed(with_field(runId="two")))
    await _sent(desk, mine, "lost", "3 h")
    await _sent(desk, other, "answered", "1 h", state="failed", ended_by="collector")

    again, _ = await _lost(desk, mine)

    assert [one.reference for one in again] == ["lost"]


async def test_requests_that_may_not_send_are_left_alone(desk: Desk) -> None:
    suspended = await desk.accept("lost")
    other = await desk.accept("answered", observed=make_observed(with_field(runId="two")))
    await _sent(desk, suspended, "lost", "3 h")
    await _sent(desk, other, "answered", "1 h", state="done", ended_by="collector")

    assert await _lost(desk, other) == ([], [])


async def test_evidence_after_the_third_send_gives_up(desk: Desk) -> None:
    request_id = await desk.accept("twice", "thrice", "answered")
    await _sent(desk, request_id, "twice", "3 h", publications=2)
    await _sent(desk, request_id, "thrice", "3 h", publications=3)
    await _sent(desk, request_id, "answered", "1 h", state="done", ended_by="collector")

    again, given_up = await _lost(desk, request_id)

    assert [one.reference for one in again] == ["twice"]
    assert [one.reference for one in given_up] == ["thrice"]


async def test_the_latest_overdue_one_of_a_request_is_probed(desk: Desk) -> None:
    first = await desk.accept("oldest", "latest", "young")
    second = await desk.accept("other", observed=make_observed(with_field(runId="two")))
    await _sent(desk, first, "oldest", "5 h")
    await _sent(desk, first, "latest", "2 h")
    await _sent(desk, first, "young", "0.5 h")
    await _sent(desk, second, "other", "2 h")

    assert sorted(await _overdue(desk, first, second)) == ["latest", "other"]


async def test_a_request_is_probed_once_in_that_time(desk: Desk) -> None:
    request_id = await desk.accept("a", "b")
    await _sent(desk, request_id, "a", "3 h")
    await _sent(desk, request_id, "b", "2 h")
    [probe] = await evidence.overdue(desk.database, [request_id], seconds=AFTER)

    async with desk.database.write() as connection:
        await evidence.mark_probed(connection, [probe])

    assert await _overdue(desk, request_id) == []
    desk.set_item(request_id, "b", probed_at="-1.1 h")
    assert await _overdue(desk, request_id) == ["b"]


async def test_g1_an_answered_probe_proves_that_what_was_sent_before_is_lost(desk: Desk) -> None:
    request_id = await desk.accept("a", "b", "probe")
    await _sent(desk, request_id, "a", "3 h")
    await _sent(desk, request_id, "b", "2 h")
    await _sent(desk, request_id, "probe", "2 h")
    desk.set_item(request_id, "probe", probed_at="-0.1 h", state="done", ended_by="collector")

    again, _ = await _lost(desk, request_id)

    assert [one.reference for one in again] == ["a", "b"]


async def test_a_probe_is_no_publication(desk: Desk) -> None:
    request_id = await desk.accept("a")
    await _sent(desk, request_id, "a", "2 h")

    async with desk.database.write() as connection:
        await evidence.mark_probed(connection, [Sending(request_id, "a", SHA)])

    item = desk.item(request_id, "a")
    assert (item["state"], item["publications"]) == ("published", 1)


async def test_a_result_after_giving_up_still_counts_while_the_request_is_open(
    desk: Desk,
) -> None:
    # `test_finish` shows the collector's part; here, that nothing probes or resends it meanwhile.
    request_id = await desk.accept("gone", "open")
    await _sent(desk, request_id, "gone", "3 h", state="failed", reason="no_result")

    assert await _overdue(desk, request_id) == []
    assert await _lost(desk, request_id) == ([], [])
