"""Which conditions hold for a request, in every state it can be in."""

from datetime import timedelta
from typing import Any

import pytest

from receipt_contract.status import (
    Condition,
    ConditionReason,
    ConditionStatus,
    ConditionType,
    State,
)
from receipt_operator import conditions
from receipt_operator.conditions import FINAL_STATES, REFUSALS, SUCCESSES
from receipt_operator.facts import Facts, Obstacle
from receipt_operator.register.rows import Counts, Ending, Knobs, Request
from receipt_operator.status import status_of
from tests.support.facts import (
    OBSTACLES,
    make_facts,
    make_finished,
    make_observed,
    make_planning,
    make_request,
)
from tests.support.requests import NOON

SUSPENDED = Knobs(suspend=True)
SENT: dict[str, Any] = {"started_at": NOON}

UNFINISHED = {
    "being planned": make_planning(),
    "being planned while suspended": make_planning(knobs=SUSPENDED),
    "accepted": make_request(),
    "being published": make_request(counts=Counts(planned=1, published=1), total=2, **SENT),
    "all published": make_request(counts=Counts(published=1, confirmed=1), **SENT),
    "suspended": make_request(knobs=SUSPENDED, **SENT),
    "being cancelled": make_request(
        counts=Counts(planned=1, published=1), total=2, ending=Ending.CANCELLED, **SENT
    ),
    "cancelled while suspended": make_request(knobs=SUSPENDED, ending=Ending.CANCELLED),
    "cancelled while planned": make_planning(ending=Ending.CANCELLED),
    "over its deadline": make_request(ending=Ending.DEADLINE, **SENT),
    "over its threshold": make_request(ending=Ending.THRESHOLD, **SENT),
}
COUNTS_OF = {
    ConditionReason.COMPLETED: Counts(done=2, skipped=1, confirmed=2, publications=3),
    ConditionReason.ALREADY_COMPLETED: Counts(done=2, confirmed=2, publications=2),
    ConditionReason.NOTHING_TO_DO: Counts(skipped=3),
    ConditionReason.DRY_RUN: Counts(skipped=3),
    ConditionReason.PARTIALLY_FAILED: Counts(done=1, failed=2, confirmed=3, publications=3),
    ConditionReason.FAILED: Counts(failed=3, confirmed=3, publications=3),
    ConditionReason.CANCELLED: Counts(done=1, failed=2, confirmed=1, publications=1),
    ConditionReason.DEADLINE_EXCEEDED: Counts(done=1, failed=2, confirmed=2, publications=2),
    ConditionReason.FAILURE_THRESHOLD: Counts(failed=25, confirmed=22, publications=22),
    ConditionReason.EXPIRED: Counts(),
    ConditionReason.INVALID_TARGET: Counts(),
    ConditionReason.SELECTOR_TOO_LARGE: Counts(),
}
every_unfinished = pytest.mark.parametrize("request_", UNFINISHED.values(), ids=UNFINISHED)
every_obstacle = pytest.mark.parametrize("reason", OBSTACLES, ids=str)
every_result = pytest.mark.parametrize("result", FINAL_STATES, ids=str)


def _by_type(facts: Facts, before: tuple[Condition, ...] = ()) -> dict[ConditionType, Condition]:
    return {one.type: one for one in conditions.conditions_of(facts, before)}


def _finished(result: ConditionReason) -> Facts:
    return make_facts(make_finished(result=result, counts=COUNTS_OF[result]))


def _blocked(request: Request, reason: ConditionReason) -> Facts:
    return make_facts(request, obstacle=Obstacle(reason, NOON))


def test_every_way_to_end_is_in_the_tables() -> None:
    assert set(COUNTS_OF) == set(FINAL_STATES)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("being planned", State.PENDING),
        ("being planned while suspended", State.SUSPENDED),
        ("accepted", State.QUEUED),
        ("being published", State.PUBLISHING),
        ("all published", State.RUNNING),
        ("suspended", State.SUSPENDED),
        ("being cancelled", State.RUNNING),
        ("cancelled while suspended", State.RUNNING),
        ("over its deadline", State.RUNNING),
        ("over its threshold", State.RUNNING),
    ],
)
def test_the_state_of_an_unfinished_request(name: str, state: State) -> None:
    assert conditions.state_of(make_facts(UNFINISHED[name])) is state


@every_unfinished
@every_obstacle
def test_an_obstacle_stalls_a_request_whatever_it_does(
    request_: Request, reason: ConditionReason
) -> None:
    facts = _blocked(request_, reason)

    held = _by_type(facts)
    assert conditions.state_of(facts) is State.STALLED
    assert held[ConditionType.STALLED].status is ConditionStatus.TRUE
    assert held[ConditionType.STALLED].reason is reason


@every_unfinished
@pytest.mark.parametrize("reason", [None, *OBSTACLES], ids=str)
def test_an_unfinished_request_is_either_reconciling_or_stalled(
    request_: Request, reason: ConditionReason | None
) -> None:
    facts = make_facts(request_) if reason is None else _blocked(request_, reason)

    held = _by_type(facts)
    assert (ConditionType.RECONCILING in held) is (reason is None)
    assert (ConditionType.STALLED in held) is (reason is not None)
    assert held[ConditionType.FINISHED].status is ConditionStatus.FALSE
    assert held[ConditionType.SUCCEEDED].status is ConditionStatus.UNKNOWN


@every_result
def test_a_finished_request_has_its_state_and_its_result_everywhere(
    result: ConditionReason,
) -> None:
    facts = _finished(result)

    held = _by_type(facts)
    assert conditions.state_of(facts) is FINAL_STATES[result]
    assert held[ConditionType.FINISHED].status is ConditionStatus.TRUE
    assert held[ConditionType.FINISHED].reason is result
    assert held[ConditionType.SUCCEEDED].reason is result
    succeeded = held[ConditionType.SUCCEEDED].status is ConditionStatus.TRUE
    assert succeeded is (result in SUCCESSES)
    assert ConditionType.RECONCILING not in held


@every_result
def test_only_what_someone_has_to_look_at_stays_stalled(result: ConditionReason) -> None:
    held = _by_type(_finished(result))

    # kstatus calls an object current that neither reconciles nor is stalled.
    is_current = result in SUCCESSES or result is ConditionReason.EXPIRED
    assert (ConditionType.STALLED in held) is not is_current


@every_result
def test_a_refused_request_was_never_accepted(result: ConditionReason) -> None:
    accepted = _by_type(_finished(result))[ConditionType.ACCEPTED]

    assert (accepted.status is ConditionStatus.FALSE) is (result in REFUSALS)


@every_result
@every_obstacle
def test_an_obstacle_says_nothing_about_a_finished_request(
    result: ConditionReason, reason: ConditionReason
) -> None:
    request = make_finished(result=result, counts=COUNTS_OF[result])

    assert conditions.conditions_of(_blocked(request, reason), ()) == conditions.conditions_of(
        make_facts(request), ()
    )


@every_result
def test_g4_a_finished_status_is_the_same_at_any_later_time(result: ConditionReason) -> None:
    facts = _finished(result)
    first = status_of(facts)

    later = make_facts(
        facts.request, observed=make_observed(status=first), now=NOON + timedelta(days=400)
    )
    assert status_of(later) == first
    assert status_of(make_facts(facts.request, now=NOON + timedelta(days=400))) == first


@pytest.mark.parametrize(
    ("request_", "status", "reason"),
    [
        pytest.param(make_planning(), "Unknown", "Planning", id="its plan is not whole yet"),
        pytest.param(make_request(), "True", "Validated", id="its plan is whole"),
        pytest.param(
            make_request(object_uid="uid-0"), "True", "Adopted", id="another object asked first"
        ),
        pytest.param(
            make_finished(summary={"recovered": True}), "True", "Adopted", id="read from a status"
        ),
        pytest.param(
            make_finished(object_uid="uid-0"), "True", "Adopted", id="finished for another object"
        ),
        pytest.param(
            make_finished(result=ConditionReason.EXPIRED, counts=Counts(), object_uid="uid-0"),
            "False",
            "Expired",
            id="refused to another object",
        ),
    ],
)
def test_accepted(request_: Request, status: str, reason: str) -> None:
    accepted = _by_type(make_facts(request_))[ConditionType.ACCEPTED]

    assert (accepted.status, accepted.reason) == (status, reason)


def test_g4_a_plan_that_was_cancelled_was_not_accepted() -> None:
    cut_off = make_finished(
        result=ConditionReason.CANCELLED, counts=Counts(failed=3), accepted_at=None
    )

    accepted = _by_type(make_facts(cut_off))[ConditionType.ACCEPTED]
    assert (accepted.status, accepted.reason) == ("False", "Cancelled")


@pytest.mark.parametrize(
    ("request_", "status", "reason"),
    [
        pytest.param(make_planning(), "Unknown", "Publishing", id="nothing yet"),
        pytest.param(
            make_request(counts=Counts(publishing=1, published=1)),
            "Unknown",
            "Publishing",
            id="one is uncertain",
        ),
        pytest.param(
            make_request(counts=Counts(published=1, confirmed=1)), "True", "Confirmed", id="all"
        ),
        pytest.param(
            make_finished(counts=Counts(done=1, confirmed=1)), "True", "Confirmed", id="finished"
        ),
        pytest.param(
            make_finished(
                result=ConditionReason.CANCELLED, counts=Counts(done=1, failed=1, confirmed=1)
            ),
            "False",
            "Cancelled",
            id="ended before all was sent",
        ),
        pytest.param(
            make_finished(
                result=ConditionReason.PARTIALLY_FAILED,
                counts=Counts(done=1, failed=1, confirmed=1),
            ),
            "False",
            "PartiallyFailed",
            id="a missing receipt was never sent",
        ),
        pytest.param(
            make_finished(result=ConditionReason.DRY_RUN, counts=Counts(skipped=3)),
            "True",
            "Confirmed",
            id="a dry run has nothing to send",
        ),
        pytest.param(
            make_finished(result=ConditionReason.EXPIRED, counts=Counts()),
            "False",
            "Expired",
            id="a refused request sent nothing",
        ),
    ],
)
def test_published(request_: Request, status: str, reason: str) -> None:
    published = _by_type(make_facts(request_))[ConditionType.PUBLISHED]

    assert (published.status, published.reason) == (status, reason)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (ConditionReason.BROKER_UNAVAILABLE, True),
        (ConditionReason.UNROUTABLE, True),
        (ConditionReason.QUEUE_FULL, True),
        (ConditionReason.SOURCE_UNAVAILABLE, True),
        (ConditionReason.DATABASE_UNAVAILABLE, False),
        (ConditionReason.NO_PROGRESS, False),
        (ConditionReason.INTERNAL_ERROR, False),
    ],
)
def test_published_is_false_while_sending_has_a_problem(
    reason: ConditionReason, *, told: bool
) -> None:
    published = _by_type(_blocked(make_request(), reason))[ConditionType.PUBLISHED]

    assert (published.status is ConditionStatus.FALSE) is told


def test_suspended_is_told_from_the_first_time_on() -> None:
    never = _by_type(make_facts())
    suspended = _by_type(make_facts(make_request(knobs=SUSPENDED)))
    resumed = _by_type(make_facts(), tuple(suspended.values()))
    finished = _by_type(make_facts(make_finished(knobs=SUSPENDED)), tuple(suspended.values()))

    assert ConditionType.SUSPENDED not in never
    assert suspended[ConditionType.SUSPENDED].status is ConditionStatus.TRUE
    assert resumed[ConditionType.SUSPENDED].status is ConditionStatus.FALSE
    assert finished[ConditionType.SUSPENDED].status is ConditionStatus.FALSE


def test_a_transition_time_moves_only_with_the_status() -> None:
    planning = _by_type(make_facts(make_planning()))
    later = NOON + timedelta(minutes=5)

    same = _by_type(
        make_facts(make_planning(counts=Counts(planned=7)), now=later), tuple(planning.values())
    )
    accepted = _by_type(make_facts(make_request(), now=later), tuple(planning.values()))

    assert same[ConditionType.ACCEPTED].message != planning[ConditionType.ACCEPTED].message
    assert same[ConditionType.ACCEPTED].last_transition_time == NOON
    assert accepted[ConditionType.ACCEPTED].last_transition_time == later
    assert accepted[ConditionType.FINISHED].last_transition_time == NOON


@every_unfinished
def test_every_condition_speaks_about_the_object_as_it_was_read(request_: Request) -> None:
    held = _by_type(make_facts(request_, observed=make_observed(generation=9)))

    assert {one.observed_generation for one in held.values()} == {9}


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        pytest.param(
            make_facts(make_finished(counts=Counts(done=3))), "3 of 3 receipts done.", id="all done"
        ),
        pytest.param(
            make_facts(make_finished(counts=Counts(done=2, skipped=1))),
            "2 of 3 receipts done, 1 skipped.",
            id="one skipped",
        ),
        pytest.param(
            make_facts(
                make_finished(
                    result=ConditionReason.PARTIALLY_FAILED,
                    counts=Counts(done=1, failed=3),
                    summary={"by_reason": {"corrupt": 2, "encrypted": 1}},
                )
            ),
            "1 of 4 receipts done, 3 failed (corrupt 2, encrypted 1).",
            id="reasons of what failed",
        ),
        pytest.param(
            make_facts(
                make_finished(
                    result=ConditionReason.CANCELLED,
                    counts=Counts(done=1, failed=3),
                    summary={"by_reason": {"cancelled": 3}},
                )
            ),
            "Cancelled: 1 of 4 receipts done, 3 failed (cancelled 3).",
            id="cancelled",
        ),
        pytest.param(
            make_facts(make_finished(result=ConditionReason.NOTHING_TO_DO, counts=Counts())),
            "No receipt matches the target; nothing was sent.",
            id="nothing matches",
        ),
        pytest.param(
            make_facts(
                make_finished(result=ConditionReason.NOTHING_TO_DO, counts=Counts(skipped=3))
            ),
            "0 of 3 receipts done, 3 skipped.",
            id="all that matches is skipped",
        ),
        pytest.param(
            make_facts(make_finished(result=ConditionReason.DRY_RUN, counts=Counts(skipped=7))),
            "A dry run: 7 receipts match, nothing was sent.",
            id="a dry run",
        ),
    ],
)
def test_the_result_is_one_sentence(facts: Facts, sentence: str) -> None:
    assert _by_type(facts)[ConditionType.FINISHED].message == sentence
