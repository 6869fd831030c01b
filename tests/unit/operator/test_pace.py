"""How fast receipts end."""

import pickle
from dataclasses import replace
from datetime import timedelta

import pytest

from receipt_contract.status import EtaBasis
from receipt_operator.facts import Pace
from receipt_operator.pace import Paces, estimate, from_earlier
from receipt_operator.register.rows import Counts, Knobs, Request
from tests.support.facts import make_finished, make_planning, make_request
from tests.support.requests import NOON


def _after(seconds: float, ended: int) -> tuple[object, int]:
    return (NOON + timedelta(seconds=seconds), ended)


@pytest.mark.parametrize(
    ("samples", "pace"),
    [
        pytest.param([_after(0, 0)], None, id="one sample says nothing"),
        pytest.param([_after(0, 0), _after(2, 9)], None, id="two seconds say too little"),
        pytest.param([_after(0, 0), _after(60, 30)], Pace(30.0, 120.0), id="half a minute's work"),
        pytest.param([_after(0, 30), _after(60, 30)], Pace(0.0, None), id="standing still"),
        pytest.param([_after(0, 30), _after(60, 20)], Pace(0.0, None), id="a count that went back"),
    ],
)
def test_the_pace_and_the_time_left(samples: list[tuple[object, int]], pace: Pace | None) -> None:
    request = make_request(total=90, counts=Counts(published=60, done=30))

    assert estimate(samples, request) == pace  # type: ignore[arg-type]  # NOON is a datetime


def test_what_is_still_planned_has_no_time_left() -> None:
    request = make_planning(counts=Counts(planned=60, done=30))

    pace = estimate([(NOON, 0), (NOON + timedelta(minutes=1), 30)], request)

    assert pace == Pace(30.0, None)


def test_g7_only_the_last_two_minutes_and_the_active_requests_are_remembered() -> None:
    paces = Paces()
    for second in range(600):
        request = make_request(total=6000, counts=Counts(done=second))
        paces.sample([request], NOON + timedelta(seconds=second))
    pace = paces.of(request)

    paces.sample([], NOON + timedelta(seconds=600))

    assert pace is not None
    assert pace.per_minute == pytest.approx(60)
    assert paces.of(request) is None


SENDING = make_request(total=90, counts=Counts(planned=80, published=10))
EARLIER = make_finished(counts=Counts(done=50, failed=10), active_seconds=120.0)
EMPTY = make_finished(counts=Counts(skipped=10), active_seconds=120.0)


@pytest.mark.parametrize(
    ("request_", "history", "pace"),
    [
        pytest.param(
            SENDING, [EMPTY, EARLIER], Pace(0.0, 180.0, EtaBasis.EARLIER_RUNS), id="as before"
        ),
        pytest.param(SENDING, [EMPTY], None, id="nothing was read before"),
        pytest.param(SENDING, [], None, id="the first run"),
        pytest.param(
            replace(SENDING, counts=Counts(published=89, done=1)), [EARLIER], None, id="under way"
        ),
        pytest.param(replace(SENDING, knobs=Knobs(suspend=True)), [EARLIER], None, id="suspended"),
        pytest.param(make_planning(), [EARLIER], None, id="not counted yet"),
    ],
)
def test_the_first_estimate_comes_from_an_earlier_run(
    request_: Request, history: list[Request], pace: Pace | None
) -> None:
    assert from_earlier(request_, history) == pace


def test_g7_a_request_has_few_samples_however_often_it_is_looked_at() -> None:
    paces = Paces()
    request = make_request(total=1000, counts=Counts(published=1000))

    for second in range(600):
        seen = replace(request, counts=Counts(published=1000 - second, done=second))
        paces.sample([seen], NOON + timedelta(seconds=second))

    assert paces.of(seen) == Pace(60.0, 401.0)
    assert len(pickle.dumps(paces)) < 2048
