"""Which events a write of a status leads to."""

from typing import Any

import pytest

from receipt_contract.status import ConditionReason, Kept
from receipt_operator import notices
from receipt_operator.facts import Obstacle
from receipt_operator.notices import MAX_NOTICES, NORMAL, WARNING, Notice, Told
from receipt_operator.register.rows import Counts, Request
from receipt_operator.status import status_of
from receipt_operator.unready import blocked_status, unreadable_status
from tests.support.facts import (
    KEY,
    make_facts,
    make_finished,
    make_observed,
    make_planning,
    make_request,
)
from tests.support.requests import NOON, with_field

NEW: dict[str, Any] = {"observedGeneration": -1}


def _shown(request: Request, obstacle: ConditionReason | None = None) -> dict[str, Any]:
    stands = None if obstacle is None else Obstacle(obstacle, NOON)
    return status_of(make_facts(request, obstacle=stands))


def _waiting(spec: dict[str, Any]) -> dict[str, Any]:
    return _shown(make_planning(make_observed(spec), awaiting_approval=True))


def _blocked(reason: ConditionReason) -> dict[str, Any]:
    status = blocked_status(make_observed(), reason, NOON)
    assert status is not None
    return status


def _failed(result: ConditionReason) -> dict[str, Any]:
    return _shown(make_finished(result=result, counts=Counts(failed=1)))


PLANNING = _shown(make_planning())
ACCEPTED = _shown(make_request())
STALLED = _shown(make_request(), ConditionReason.QUEUE_FULL)
DONE = _shown(make_finished())
KEPT = status_of(make_facts(make_planning(), kept=Kept.DELETION_OFF))
WAITING = _waiting(with_field())
SECOND_RUN = _shown(make_request(make_observed(with_field(runId="two"))))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param(NEW, PLANNING, [], id="being planned: nothing yet"),
        pytest.param(PLANNING, ACCEPTED, [(NORMAL, "Accepted")], id="accepted"),
        pytest.param(ACCEPTED, ACCEPTED, [], id="nothing new"),
        pytest.param(ACCEPTED, STALLED, [(WARNING, "QueueFull")], id="a stall begins"),
        pytest.param(STALLED, STALLED, [], id="a stall lasts"),
        pytest.param(STALLED, ACCEPTED, [], id="a stall ends"),
        pytest.param(ACCEPTED, DONE, [(NORMAL, "Completed")], id="a good end"),
        pytest.param(PLANNING, DONE, [(NORMAL, "Completed")], id="an end at once"),
        pytest.param(
            ACCEPTED,
            _failed(ConditionReason.PARTIALLY_FAILED),
            [(WARNING, "PartiallyFailed")],
            id="a bad end",
        ),
        pytest.param(NEW, _shown(make_finished()), [(NORMAL, "Completed")], id="an adopted end"),
        pytest.param(DONE, DONE, [], id="an end lasts"),
        pytest.param(
            DONE, SECOND_RUN, [(NORMAL, "Accepted")], id="the second run begins like the first"
        ),
        pytest.param(NEW, WAITING, [(WARNING, "AwaitingApproval")], id="waiting for a person"),
        pytest.param(WAITING, WAITING, [], id="still waiting"),
        pytest.param(WAITING, ACCEPTED, [(NORMAL, "Accepted")], id="approved"),
        pytest.param(
            WAITING,
            _waiting(with_field(runId="two")),
            [(WARNING, "AwaitingApproval")],
            id="another run waits for a person",
        ),
        pytest.param(
            NEW,
            _blocked(ConditionReason.DATABASE_UNAVAILABLE),
            [(WARNING, "DatabaseUnavailable")],
            id="nobody could look at it",
        ),
        pytest.param(
            _blocked(ConditionReason.QUEUE_FULL),
            STALLED,
            [(NORMAL, "Accepted")],
            id="accepted and still stalled",
        ),
        pytest.param(NEW, KEPT, [(WARNING, "NotDeleted")], id="kept after its end"),
        pytest.param(KEPT, KEPT, [], id="still kept"),
        pytest.param(
            KEPT,
            KEPT | {"effective": KEPT["effective"] | {"keptBecause": "TrackedByFlux"}},
            [(WARNING, "NotDeleted")],
            id="kept for another reason",
        ),
        pytest.param(
            NEW,
            unreadable_status(make_observed(), NOON),
            [(WARNING, "InvalidTarget")],
            id="a spec nobody can read",
        ),
    ],
)
def test_events_tell_what_began(
    before: dict[str, Any], after: dict[str, Any], told: list[tuple[str, str]]
) -> None:
    assert [(one.type, one.reason) for one in notices.between(before, after)] == told


@pytest.mark.parametrize(
    ("before", "after", "transition"),
    [
        pytest.param(ACCEPTED, STALLED, True, id="a condition came"),
        pytest.param(ACCEPTED, DONE, True, id="an end"),
        pytest.param(NEW, PLANNING, True, id="the first status"),
        pytest.param(
            ACCEPTED, ACCEPTED | {"observedGeneration": 2}, True, id="a new generation was read"
        ),
        pytest.param(
            _shown(make_request(counts=Counts(planned=1))),
            _shown(make_request(counts=Counts(planned=1, done=1))),
            False,
            id="only numbers changed",
        ),
        pytest.param(
            PLANNING,
            _shown(make_planning(counts=Counts(planned=9))),
            False,
            id="a plan grew",
        ),
        pytest.param(
            ACCEPTED, ACCEPTED | {"queue": {"position": 9, "ahead": 900}}, True, id="it has to wait"
        ),
        pytest.param(
            ACCEPTED | {"queue": {"position": 9, "ahead": 900}},
            ACCEPTED | {"queue": {"position": 8, "ahead": 800}},
            False,
            id="it came forward",
        ),
    ],
)
def test_a_transition_is_a_change_of_what_is_true(
    before: dict[str, Any], after: dict[str, Any], *, transition: bool
) -> None:
    assert notices.is_transition(before, after) is transition


def test_g7_a_flapping_request_is_told_eight_times_and_its_end_always() -> None:
    told = Told()
    posted: list[Notice] = []

    for before, after in [(PLANNING, ACCEPTED), *[(ACCEPTED, STALLED)] * 20, (ACCEPTED, DONE)]:
        posted += told.ration(KEY, after, notices.between(before, after))

    assert len(posted) == MAX_NOTICES == 8
    assert [posted[0].reason, posted[-1].reason] == ["Accepted", "Completed"]


def test_the_next_request_has_its_own_eight() -> None:
    told = Told()
    for _ in range(20):
        told.ration(KEY, STALLED, notices.between(ACCEPTED, STALLED))

    assert told.ration(KEY, SECOND_RUN, notices.between(DONE, SECOND_RUN))
