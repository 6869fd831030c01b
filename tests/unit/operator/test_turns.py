"""Where requests stand while they wait."""

from datetime import timedelta
from typing import Any

import pytest

from receipt_contract.status import QueuePlace
from receipt_operator.observed import Observed
from receipt_operator.register.rows import Counts, Knobs, Request, RequestState
from receipt_operator.turns import REFRESH_SECONDS, Places, places_of
from tests.support.facts import BEGAN, KEY, make_observed, make_planning, make_request
from tests.support.requests import for_reference, with_field

FULL = 10
LIMIT = 10


def _named(name: str, **fields: Any) -> Observed:
    return make_observed(with_field(**fields), key=KEY._replace(name=name))


def _sending(name: str, *, after: int = 0, **changes: Any) -> Request:
    """Return a request that came so many seconds after the first one."""
    fields = {"created_at": BEGAN + timedelta(seconds=after), "counts": Counts(planned=5)}
    return make_request(_named(name), **(fields | changes))


BUSY = _sending("busy", counts=Counts(planned=90, published=10))


def _places(*active: Request) -> dict[str, QueuePlace]:
    found = places_of(active, cap=FULL, default_limit=LIMIT)
    names = {one.request_id: one.key.name for one in active}
    return {names[request_id]: place for request_id, place in found.items()}


def test_nobody_waits_while_there_is_room() -> None:
    assert _places(_sending("one"), _sending("two")) == {}


def test_who_came_first_is_next_and_what_came_before_is_ahead() -> None:
    places = _places(BUSY, _sending("second", after=2), _sending("first", after=1))

    assert places == {
        "first": QueuePlace(position=1, ahead=100),
        "second": QueuePlace(position=2, ahead=105),
    }


def test_a_high_priority_goes_before_those_that_came_earlier() -> None:
    places = _places(
        BUSY, _sending("normal", after=1), _sending("high", after=2, knobs=Knobs(priority="High"))
    )

    # What is on its way has to end whatever its priority is; what waits behind has not.
    assert places == {
        "high": QueuePlace(position=1, ahead=10),
        "normal": QueuePlace(position=2, ahead=105),
    }


def test_one_that_holds_only_the_slot_each_one_gets_still_waits() -> None:
    places = _places(BUSY, _sending("starved", after=1, counts=Counts(planned=4, published=1)))

    assert places == {"starved": QueuePlace(position=1, ahead=100)}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"knobs": Knobs(suspend=True)}, id="suspended"),
        pytest.param({"parked": True}, id="parked"),
        pytest.param({"counts": Counts(published=1)}, id="all sent"),
        pytest.param(
            {"counts": Counts(planned=9, published=1), "knobs": Knobs(max_in_flight=1)},
            id="at its own limit",
        ),
    ],
)
def test_what_could_not_send_anyway_has_no_place(changes: dict[str, Any]) -> None:
    assert _places(BUSY, _sending("other", after=1, **changes)) == {}


def test_those_that_wait_for_approval_have_an_order_and_nothing_ahead() -> None:
    waiting = [
        make_planning(
            _named(name), awaiting_approval=True, created_at=BEGAN + timedelta(seconds=after)
        )
        for name, after in (("later", 2), ("earlier", 1))
    ]

    assert _places(*waiting) == {
        "earlier": QueuePlace(position=1, ahead=0),
        "later": QueuePlace(position=2, ahead=0),
    }


def test_a_retry_has_the_rest_of_the_run_ahead_that_it_looks_back_on() -> None:
    asked = {"target": {"retryFailedOf": "one"}, "runId": "two"}
    retry = make_planning(make_observed(asked))
    earlier = make_request(
        make_observed(for_reference("a.png") | {"runId": "one"}),
        counts=Counts(planned=2, published=1, done=7),
    )

    found = places_of([retry, earlier], cap=FULL, default_limit=LIMIT)

    assert retry.state is RequestState.PLANNING
    assert found == {retry.request_id: QueuePlace(position=1, ahead=3)}


def test_g7_a_place_is_renewed_seldom_and_given_and_taken_at_once() -> None:
    places = Places(cap=FULL, default_limit=LIMIT)
    waiting = _sending("waiting", after=1)
    less = _sending("busy", counts=Counts(planned=40, published=10))

    places.sample([BUSY, waiting], 0.0)
    first = places.of(waiting.request_id)
    places.sample([less, waiting], REFRESH_SECONDS - 1)
    kept = places.of(waiting.request_id)
    places.sample([less, waiting], REFRESH_SECONDS)
    renewed = places.of(waiting.request_id)
    places.sample([waiting], REFRESH_SECONDS + 1)

    assert first == kept == QueuePlace(position=1, ahead=100)
    assert renewed == QueuePlace(position=1, ahead=50)
    assert places.of(waiting.request_id) is None
