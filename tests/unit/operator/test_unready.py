"""What an object says that shows no request."""

from datetime import timedelta
from typing import Any

import pytest

from receipt_contract.status import ConditionReason, RequestStatus
from receipt_operator.status import status_of
from receipt_operator.unready import blocked_status, unreadable_status
from tests.support.facts import make_facts, make_finished, make_observed, make_request
from tests.support.requests import NOON

LATER = NOON + timedelta(days=1)
AWAY = ConditionReason.DATABASE_UNAVAILABLE


def _conditions(status: dict[str, Any] | None) -> dict[str, tuple[str, str]]:
    assert status is not None
    read = RequestStatus.model_validate(status)
    assert read.document() == status
    return {one.type: (one.status, one.reason) for one in read.conditions}


def test_g6_an_object_that_cannot_be_read_is_refused_and_stays_so() -> None:
    first = unreadable_status(make_observed(), NOON)
    again = unreadable_status(make_observed(status=first), LATER)

    assert first["state"] == "Invalid"
    assert _conditions(first) == {
        "Accepted": ("False", "InvalidTarget"),
        "Succeeded": ("False", "InvalidTarget"),
        "Finished": ("True", "InvalidTarget"),
        "Stalled": ("True", "InvalidTarget"),
    }
    assert again == first


@pytest.mark.parametrize("reason", [AWAY, ConditionReason.INTERNAL_ERROR], ids=str)
def test_g4_an_object_that_nobody_could_look_at_says_why_and_promises_nothing(
    reason: ConditionReason,
) -> None:
    first = blocked_status(make_observed(generation=2), reason, NOON)
    again = blocked_status(make_observed(generation=2, status=first), reason, LATER)

    assert first is not None
    assert first["state"] == "Stalled"
    assert first["observedGeneration"] == 2
    assert "run" not in first
    assert _conditions(first) == {
        "Accepted": ("Unknown", reason),
        "Succeeded": ("Unknown", reason),
        "Finished": ("False", reason),
        "Stalled": ("True", reason),
    }
    assert again == first


def test_g4_a_changed_object_keeps_what_was_said_about_its_earlier_spec() -> None:
    before = status_of(make_facts(make_request()))
    changed = make_observed(generation=2, status=before)

    blocked = blocked_status(changed, AWAY, NOON)

    assert blocked is not None
    assert blocked["run"] == before["run"]
    assert blocked["observedGeneration"] == 1
    held = _conditions(blocked)
    assert held["Stalled"] == ("True", AWAY)
    assert held["Accepted"] == ("True", "Validated")
    assert "Reconciling" not in held


def test_g4_what_has_ended_stays_as_it_is_while_nobody_can_look() -> None:
    ended = make_observed(status=status_of(make_facts(make_finished())))

    assert blocked_status(ended, AWAY, NOON) is None
