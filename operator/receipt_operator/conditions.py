"""The conditions and the one word of state that are true for a request. Pure.

Each condition has one function here and no other writer.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import ValidationError

from receipt_contract.status import (
    MAX_CONDITION_MESSAGE,
    Condition,
    ConditionReason,
    ConditionStatus,
    ConditionType,
    State,
)
from receipt_operator import sentences
from receipt_operator.facts import Facts, Obstacle
from receipt_operator.register.rows import Ending, RequestState

Why = tuple[ConditionReason, str]  # a reason and its message

TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN

SUCCESSES = frozenset(
    {
        ConditionReason.COMPLETED,
        ConditionReason.ALREADY_COMPLETED,
        ConditionReason.NOTHING_TO_DO,
        ConditionReason.DRY_RUN,
    }
)
REFUSALS = frozenset(
    {
        ConditionReason.EXPIRED,
        ConditionReason.INVALID_TARGET,
        ConditionReason.SELECTOR_TOO_LARGE,
    }
)

FINAL_STATES = {
    ConditionReason.COMPLETED: State.SUCCEEDED,
    ConditionReason.ALREADY_COMPLETED: State.SUCCEEDED,
    ConditionReason.NOTHING_TO_DO: State.SUCCEEDED,
    ConditionReason.DRY_RUN: State.SUCCEEDED,
    ConditionReason.PARTIALLY_FAILED: State.PARTIALLY_FAILED,
    ConditionReason.FAILED: State.FAILED,
    ConditionReason.DEADLINE_EXCEEDED: State.FAILED,
    ConditionReason.FAILURE_THRESHOLD: State.FAILED,
    ConditionReason.CANCELLED: State.CANCELLED,
    ConditionReason.EXPIRED: State.EXPIRED,
    ConditionReason.INVALID_TARGET: State.INVALID,
    ConditionReason.SELECTOR_TOO_LARGE: State.INVALID,
}

_SENDING_PROBLEMS = frozenset(
    {
        ConditionReason.BROKER_UNAVAILABLE,
        ConditionReason.UNROUTABLE,
        ConditionReason.QUEUE_FULL,
        ConditionReason.SOURCE_UNAVAILABLE,
    }
)


class Fact(NamedTuple):
    """A condition before it has its times."""

    type: ConditionType
    status: ConditionStatus
    reason: ConditionReason
    message: str


def state_of(facts: Facts) -> State:
    """Derive the word for the table."""
    request = facts.request
    if request.finished:
        return FINAL_STATES[_result(facts)]
    if facts.obstacle is not None:
        return State.STALLED
    if request.ending is None and request.awaiting_approval:
        return State.AWAITING_APPROVAL
    if request.ending is None and request.knobs.stopped:
        return State.SUSPENDED
    return _working_state(facts)


def _working_state(facts: Facts) -> State:
    request = facts.request
    if request.state is RequestState.PLANNING:
        return State.QUEUED if facts.queued else State.PENDING
    if request.ending is not None or request.counts.unsent == 0:
        return State.RUNNING
    return State.PUBLISHING if request.started_at else State.QUEUED


def conditions_of(facts: Facts, before: Sequence[Condition]) -> tuple[Condition, ...]:
    """State every condition; a transition time moves only with the status it belongs to."""
    known = {condition.type: condition for condition in before}
    request = facts.request
    changed = request.finished_at or facts.now
    stated = [
        _accepted(facts),
        _published(facts),
        _suspended(facts, known_before=ConditionType.SUSPENDED in known),
        _succeeded(facts),
        _finished(facts),
        _reconciling(facts),
        _stalled(facts),
    ]
    return tuple(
        timed(fact, known.get(fact.type), changed=changed, generation=facts.observed.generation)
        for fact in stated
        if fact is not None
    )


def conditions_before(status: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Read the conditions an object has; what cannot be read counts as absent."""
    read = []
    for one in status.get("conditions") or ():
        try:
            read.append(Condition.model_validate(one))
        except ValidationError:
            continue
    return tuple(read)


def timed(fact: Fact, before: Condition | None, *, changed: datetime, generation: int) -> Condition:
    """Make a condition of a fact; its time stays while its status does."""
    same = before is not None and before.status is fact.status
    return Condition(
        type=fact.type,
        status=fact.status,
        reason=fact.reason,
        message=fact.message[:MAX_CONDITION_MESSAGE],
        last_transition_time=before.last_transition_time if before and same else changed,
        observed_generation=generation,
    )


def _accepted(facts: Facts) -> Fact:
    request = facts.request
    if request.finished and (request.accepted_at is None or _result(facts) in REFUSALS):
        return Fact(ConditionType.ACCEPTED, FALSE, *_end(facts))
    if request.awaiting_approval:
        return Fact(ConditionType.ACCEPTED, FALSE, *_awaiting(facts))
    if request.state is RequestState.PLANNING:
        return Fact(ConditionType.ACCEPTED, UNKNOWN, *_planning(facts))
    if is_adopted(facts):
        return Fact(
            ConditionType.ACCEPTED,
            TRUE,
            ConditionReason.ADOPTED,
            "This request was known before this object; it is not run again.",
        )
    return Fact(
        ConditionType.ACCEPTED,
        TRUE,
        ConditionReason.VALIDATED,
        f"The request means {request.total} receipts, and each will come to an end.",
    )


def _awaiting(facts: Facts) -> Why:
    return ConditionReason.AWAITING_APPROVAL, sentences.of_approval(facts.observed.key)


def _planning(facts: Facts) -> Why:
    if facts.queued:
        return ConditionReason.QUEUED, sentences.of_look_back(facts)
    found = facts.request.counts.known
    return ConditionReason.PLANNING, f"Looking for the receipts: {found} found so far."


def is_adopted(facts: Facts) -> bool:
    """Whether the request was begun by another object, or was read back from a status."""
    request = facts.request
    return request.object_uid != facts.observed.uid or bool(request.summary.get("recovered"))


def _published(facts: Facts) -> Fact:
    request, counts = facts.request, facts.request.counts
    if request.finished:
        was_all_sent = counts.confirmed >= counts.done + counts.failed
        if _result(facts) in SUCCESSES or (was_all_sent and _result(facts) not in REFUSALS):
            return _confirmed(counts.confirmed)
        return Fact(
            ConditionType.PUBLISHED,
            FALSE,
            _result(facts),
            f"{counts.confirmed} receipts were sent before the request ended.",
        )
    if facts.obstacle is not None and facts.obstacle.reason in _SENDING_PROBLEMS:
        return Fact(ConditionType.PUBLISHED, FALSE, *_stuck(facts.obstacle))
    if request.state is RequestState.OPEN and counts.unsent == 0:
        return _confirmed(counts.confirmed)
    return Fact(
        ConditionType.PUBLISHED,
        UNKNOWN,
        ConditionReason.PUBLISHING,
        f"{counts.confirmed} receipts confirmed by the broker, {counts.planned} wait.",
    )


def _confirmed(confirmed: int) -> Fact:
    return Fact(
        ConditionType.PUBLISHED,
        TRUE,
        ConditionReason.CONFIRMED,
        f"The broker confirmed the work of {confirmed} receipts.",
    )


def _suspended(facts: Facts, *, known_before: bool) -> Fact | None:
    request = facts.request
    if request.knobs.stopped and not request.finished:
        by_user = request.knobs.suspend
        reason = ConditionReason.USER_REQUESTED if by_user else ConditionReason.OPERATOR_PAUSED
        return Fact(ConditionType.SUSPENDED, TRUE, reason, sentences.of_stop(facts))
    if not known_before:
        return None
    return Fact(ConditionType.SUSPENDED, FALSE, ConditionReason.RESUMED, "It is not suspended.")


def _succeeded(facts: Facts) -> Fact:
    """State the result; before there is one, what a table shows as the reason it is not there."""
    if facts.request.finished:
        status = TRUE if _result(facts) in SUCCESSES else FALSE
        return Fact(ConditionType.SUCCEEDED, status, *_end(facts))
    if facts.obstacle is not None:
        return Fact(ConditionType.SUCCEEDED, UNKNOWN, *_stuck(facts.obstacle))
    reason, message = _holding_up(facts) or (
        ConditionReason.RUNNING,
        sentences.of_progress(facts),
    )
    return Fact(ConditionType.SUCCEEDED, UNKNOWN, reason, message)


def _finished(facts: Facts) -> Fact:
    if facts.request.finished:
        return Fact(ConditionType.FINISHED, TRUE, *_end(facts))
    message = sentences.of_progress(facts)
    return Fact(ConditionType.FINISHED, FALSE, ConditionReason.RUNNING, message)


def _reconciling(facts: Facts) -> Fact | None:
    """State that work goes on; absent when it does not, as kstatus reads it."""
    if facts.request.finished or facts.obstacle is not None:
        return None
    reason, message = _holding_up(facts) or _going_on(facts)
    return Fact(ConditionType.RECONCILING, TRUE, reason, message)


def _holding_up(facts: Facts) -> Why | None:
    """Return what an unfinished request waits for before it goes on, if it does."""
    request = facts.request
    if request.ending is not None:
        return None
    if request.awaiting_approval:
        return _awaiting(facts)
    if request.knobs.stopped:
        return ConditionReason.SUSPENDED, sentences.of_stop(facts)
    if facts.queued:
        return _planning(facts)
    is_open = request.state is RequestState.OPEN
    if is_open and request.started_at is None and request.counts.unsent:
        return ConditionReason.QUEUED, sentences.of_waiting_receipts(facts)
    return None


def _going_on(facts: Facts) -> Why:
    request, counts = facts.request, facts.request.counts
    if request.ending is not None:
        left = f"Ending; {counts.in_flight} receipts are still on their way."
        return ConditionReason.WAITING_FOR_RESULTS, left
    if request.state is RequestState.PLANNING:
        return _planning(facts)
    if counts.unsent > 0:
        return ConditionReason.PUBLISHING, sentences.of_waiting_receipts(facts)
    message = f"{counts.in_flight} receipts are on their way."
    return ConditionReason.WAITING_FOR_RESULTS, message


def _stalled(facts: Facts) -> Fact | None:
    """State that someone has to look; absent when nobody has."""
    if facts.request.finished:
        result = _result(facts)
        if result in SUCCESSES or result is ConditionReason.EXPIRED:
            return None
        return Fact(ConditionType.STALLED, TRUE, *_end(facts))
    if facts.obstacle is None:
        return None
    return Fact(ConditionType.STALLED, TRUE, *_stuck(facts.obstacle))


def _stuck(obstacle: Obstacle) -> Why:
    return obstacle.reason, sentences.FIXED[obstacle.reason]


def _end(facts: Facts) -> Why:
    """Return the result as shown: what was complete before the object came is told apart."""
    result, request = _result(facts), facts.request
    is_older = request.finished_at is not None and request.finished_at < facts.observed.created_at
    if result is ConditionReason.COMPLETED and is_adopted(facts) and is_older:
        result = ConditionReason.ALREADY_COMPLETED
    return result, sentences.of_result(facts, result)


ENDINGS = {
    Ending.CANCELLED: ConditionReason.CANCELLED,
    Ending.DEADLINE: ConditionReason.DEADLINE_EXCEEDED,
    Ending.THRESHOLD: ConditionReason.FAILURE_THRESHOLD,
}


def _result(facts: Facts) -> ConditionReason:
    result = facts.request.result
    if result is None:
        raise ValueError("a request without a result has not finished")
    return result
