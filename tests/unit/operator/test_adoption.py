"""What is said of a request that had ended before its object came."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from receipt_contract.status import ConditionReason, ConditionType
from receipt_operator import conditions
from tests.support.facts import make_facts, make_finished, make_observed
from tests.support.requests import NOON


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param(
            {"object_uid": "an earlier object"},
            ConditionReason.ALREADY_COMPLETED,
            id="before the object came",
        ),
        pytest.param({}, ConditionReason.COMPLETED, id="by this object"),
        pytest.param(
            {"object_uid": "an earlier object", "finished_at": NOON + timedelta(hours=2)},
            ConditionReason.COMPLETED,
            id="begun by an earlier object, ended by this one",
        ),
        pytest.param(
            {"object_uid": "an earlier object", "result": ConditionReason.FAILED},
            ConditionReason.FAILED,
            id="before the object came, badly",
        ),
    ],
)
def test_what_was_complete_before_the_object_came_is_told(
    changes: dict[str, Any], reason: ConditionReason
) -> None:
    later = replace(make_observed(), created_at=NOON + timedelta(hours=1))
    facts = make_facts(make_finished(**changes), observed=later)

    held = {one.type: one for one in conditions.conditions_of(facts, ())}
    assert held[ConditionType.SUCCEEDED].reason is reason
    assert held[ConditionType.FINISHED].reason is reason
