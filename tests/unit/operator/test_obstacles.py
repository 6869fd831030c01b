"""What holds a request up: of what is known, what counts for it."""

from datetime import datetime, timedelta

import pytest

from receipt_contract.status import ConditionReason
from receipt_operator.facts import Obstacle
from receipt_operator.obstacles import obstacle_of, without_progress
from receipt_operator.register.rows import Counts, Knobs, Request
from tests.support.facts import make_finished, make_observed, make_planning, make_request
from tests.support.requests import NOON

AWAY = Obstacle(ConditionReason.BROKER_UNAVAILABLE, NOON)
STUCK = Obstacle(ConditionReason.INTERNAL_ERROR, NOON)
LONG_AGO = NOON - timedelta(hours=3)
JUST_NOW = NOON - timedelta(seconds=30)
ON_THEIR_WAY = Counts(published=2, confirmed=2)


@pytest.mark.parametrize(
    ("request_", "held_up"),
    [
        pytest.param(make_planning(), True, id="one that plans"),
        pytest.param(make_request(), True, id="one that sends"),
        pytest.param(make_request(knobs=Knobs(suspend=True)), False, id="one that is suspended"),
        pytest.param(make_finished(make_observed()), False, id="one that finished"),
    ],
)
def test_an_obstacle_holds_up_what_plans_or_sends(request_: Request, *, held_up: bool) -> None:
    found = obstacle_of(request_, AWAY, is_stuck=False, now=NOON)

    assert found == (AWAY if held_up else None)


def test_what_is_known_is_said_before_what_the_operator_fails_on() -> None:
    assert obstacle_of(make_request(), AWAY, is_stuck=True, now=NOON) == AWAY
    assert obstacle_of(make_request(), None, is_stuck=True, now=NOON) == STUCK
    assert obstacle_of(make_request(), None, is_stuck=False, now=NOON) is None


@pytest.mark.parametrize(
    ("request_", "last_result", "stalled"),
    [
        pytest.param(
            make_request(counts=ON_THEIR_WAY, started_at=LONG_AGO), None, True, id="no result ever"
        ),
        pytest.param(
            make_request(counts=ON_THEIR_WAY, started_at=LONG_AGO),
            JUST_NOW,
            False,
            id="a result of other work just now",
        ),
        pytest.param(
            make_request(counts=ON_THEIR_WAY, started_at=LONG_AGO, last_advance_at=JUST_NOW),
            None,
            False,
            id="a result of its own just now",
        ),
        pytest.param(
            make_request(counts=ON_THEIR_WAY, started_at=JUST_NOW), None, False, id="just begun"
        ),
        pytest.param(
            make_request(counts=Counts(planned=2), started_at=LONG_AGO),
            None,
            False,
            id="nothing on its way",
        ),
        pytest.param(
            make_request(counts=ON_THEIR_WAY, started_at=LONG_AGO, knobs=Knobs(suspend=True)),
            None,
            False,
            id="suspended",
        ),
    ],
)
def test_work_on_its_way_without_any_result_is_no_progress(
    request_: Request, last_result: datetime | None, *, stalled: bool
) -> None:
    found = without_progress(request_, last_result=last_result, after_seconds=3600, now=NOON)

    assert (found is not None) == stalled
