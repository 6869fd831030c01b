"""What is said of a request that waits: for a person, a place, another run or its operator."""

from dataclasses import replace

import pytest

from receipt_contract.status import (
    Condition,
    ConditionReason,
    ConditionStatus,
    ConditionType,
    QueuePlace,
    State,
)
from receipt_operator import conditions
from receipt_operator.facts import Facts
from receipt_operator.register.rows import Knobs
from tests.support.facts import KEY, make_facts, make_observed, make_planning, make_request

SUSPENDED = Knobs(suspend=True)
AWAITING = make_planning(awaiting_approval=True)
QUEUED_ON = QueuePlace(position=2, ahead=300)


def _by_type(facts: Facts) -> dict[ConditionType, Condition]:
    return {one.type: one for one in conditions.conditions_of(facts, ())}


@pytest.mark.parametrize(
    ("facts", "state", "reason"),
    [
        pytest.param(
            make_facts(AWAITING),
            State.AWAITING_APPROVAL,
            ConditionReason.AWAITING_APPROVAL,
            id="waiting for approval",
        ),
        pytest.param(
            make_facts(replace(AWAITING, knobs=SUSPENDED)),
            State.AWAITING_APPROVAL,
            ConditionReason.AWAITING_APPROVAL,
            id="suspended and waiting for approval",
        ),
        pytest.param(
            make_facts(make_request(knobs=SUSPENDED)),
            State.SUSPENDED,
            ConditionReason.SUSPENDED,
            id="suspended",
        ),
        pytest.param(
            make_facts(make_request(knobs=Knobs(paused=True))),
            State.SUSPENDED,
            ConditionReason.SUSPENDED,
            id="the operator is paused",
        ),
        pytest.param(
            make_facts(make_request(), place=QUEUED_ON),
            State.QUEUED,
            ConditionReason.QUEUED,
            id="waiting for a place",
        ),
        pytest.param(
            make_facts(make_planning(), queued=True),
            State.QUEUED,
            ConditionReason.QUEUED,
            id="waiting for another run",
        ),
    ],
)
def test_what_waits_says_so_in_the_column_of_reasons(
    facts: Facts, state: State, reason: ConditionReason
) -> None:
    held = _by_type(facts)

    assert conditions.state_of(facts) is state
    assert held[ConditionType.SUCCEEDED].reason is reason
    assert held[ConditionType.SUCCEEDED].message == held[ConditionType.RECONCILING].message
    assert held[ConditionType.RECONCILING].reason is reason
    assert held[ConditionType.FINISHED].status is ConditionStatus.FALSE


def test_one_that_waits_for_approval_is_not_accepted_and_says_what_to_type() -> None:
    accepted = _by_type(make_facts(AWAITING))[ConditionType.ACCEPTED]

    assert accepted.status is ConditionStatus.FALSE
    assert accepted.reason is ConditionReason.AWAITING_APPROVAL
    command = "kubectl -n receipts annotate rrp some receipts.homebudget.dev/approve=true"
    assert accepted.message.endswith(command)


def test_the_command_for_approval_fits_whatever_the_name_is() -> None:
    long = make_observed(key=KEY._replace(namespace="n" * 63, name="x" * 253))
    message = _by_type(make_facts(AWAITING, observed=long))[ConditionType.ACCEPTED].message

    assert message.endswith(" annotate rrp NAME receipts.homebudget.dev/approve=true")


def test_a_paused_operator_is_told_from_a_suspended_request() -> None:
    paused = _by_type(make_facts(make_request(knobs=Knobs(paused=True))))
    both = _by_type(make_facts(make_request(knobs=Knobs(paused=True, suspend=True))))

    assert paused[ConditionType.SUSPENDED].reason is ConditionReason.OPERATOR_PAUSED
    assert both[ConditionType.SUSPENDED].reason is ConditionReason.USER_REQUESTED


def test_what_waits_for_a_place_says_how_much_is_ahead() -> None:
    held = _by_type(make_facts(make_request(), place=QUEUED_ON))

    message = held[ConditionType.RECONCILING].message
    assert "number 2 in the queue, 300 receipts of other requests are ahead" in message
