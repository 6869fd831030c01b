"""The brake of a register that was found empty, and requests that wait for a person."""

from dataclasses import replace
from typing import Any

import psycopg
import pytest

from receipt_contract.status import ConditionReason
from receipt_operator.observed import Observed
from receipt_operator.register import approvals, requests
from receipt_operator.register.database import Fence
from receipt_operator.register.requests import Frozen
from receipt_operator.register.rows import Counts, Knobs
from tests.integration.operator.desk import Desk
from tests.support.facts import KEY, make_observed, make_wanted
from tests.support.requests import with_field

pytestmark = pytest.mark.services


def _fence(desk: Desk) -> Fence:
    assert desk.database.fence is not None
    return desk.database.fence


def _run(run_id: str, **fields: Any) -> Observed:
    return make_observed(with_field(runId=run_id, **fields))


async def _claim_waiting(desk: Desk, observed: Observed) -> str:
    claim = replace(make_wanted(observed).claim, awaiting_approval=True)
    async with desk.database.write() as connection:
        await requests.claim(connection, [claim])
    return claim.request_id


async def _adopt(
    desk: Desk, observed: Observed, result: ConditionReason, **summary: object
) -> None:
    frozen = Frozen(result, 1, Counts(done=1), summary)
    async with desk.database.write() as connection:
        await requests.adopt(connection, make_wanted(observed).claim, frozen)


async def test_a_register_without_requests_is_marked(desk: Desk) -> None:
    before = await approvals.marked(desk.database, _fence(desk))

    await approvals.mark_new(desk.database, _fence(desk))

    assert before == frozenset()
    assert await approvals.marked(desk.database, _fence(desk)) == {KEY.namespace}


async def test_a_register_that_knows_the_cluster_is_not_marked(desk: Desk) -> None:
    await desk.claim()

    await approvals.mark_new(desk.database, _fence(desk))

    assert await approvals.marked(desk.database, _fence(desk)) == frozenset()


async def test_a_mark_outlives_the_first_requests(desk: Desk) -> None:
    await approvals.mark_new(desk.database, _fence(desk))
    await desk.claim()

    await approvals.mark_new(desk.database, _fence(desk))

    assert await approvals.marked(desk.database, _fence(desk)) == {KEY.namespace}


async def test_only_what_began_here_is_counted(desk: Desk) -> None:
    await desk.claim(_run("begun"))
    await desk.accept("a.png", observed=_run("accepted"))
    await _claim_waiting(desk, _run("waiting"))
    await _adopt(desk, _run("adopted"), ConditionReason.COMPLETED, recovered=True)
    await _adopt(desk, _run("expired"), ConditionReason.EXPIRED)

    async with desk.database.read() as connection:
        assert await approvals.count_begun(connection, _fence(desk)) == 2


async def test_the_clock_of_a_request_starts_with_its_approval(desk: Desk) -> None:
    request_id = await _claim_waiting(desk, _run("waiting"))
    async with desk.database.write() as connection:
        await requests.follow(connection, request_id, Knobs(priority="High"))
        await requests.park(connection, [request_id])
        await requests.unpark(connection, [request_id])
    waiting = await desk.one(request_id)

    async with desk.database.write() as connection:
        await approvals.approve(connection, [request_id])
    approved = await desk.one(request_id)

    assert waiting.awaiting_approval
    assert waiting.active_since is None
    assert not approved.awaiting_approval
    assert approved.active_since is not None


async def test_an_approval_starts_no_clock_of_a_suspended_request(desk: Desk) -> None:
    request_id = await _claim_waiting(desk, _run("waiting", suspend=True))

    async with desk.database.write() as connection:
        await approvals.approve(connection, [request_id])

    assert (await desk.one(request_id)).active_since is None


async def test_clearing_the_mark_lets_everything_go_on(desk: Desk) -> None:
    await approvals.mark_new(desk.database, _fence(desk))
    waiting = [await _claim_waiting(desk, _run(name)) for name in ("one", "two")]

    await approvals.clear(desk.database, _fence(desk))

    assert await approvals.marked(desk.database, _fence(desk)) == frozenset()
    approved = [await desk.one(request_id) for request_id in waiting]
    assert [one.awaiting_approval for one in approved] == [False, False]


async def test_a_connection_for_reading_cannot_write(desk: Desk) -> None:
    request_id = await _claim_waiting(desk, _run("waiting"))

    async with desk.database.read() as connection:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            await approvals.approve(connection, [request_id])
