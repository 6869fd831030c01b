"""The conditions and the one word of state that are true for a request. Pure.

Each condition has one function here and no other writer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from receipt_contract.status import (
    MAX_CONDITION_MESSAGE,
    Condition,
    ConditionReason,
    ConditionStatus,
    ConditionType,
    State,
)
from receipt_operator.facts import Facts
from receipt_operator.register.rows import Ending, RequestState

TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN

SUCCESSES = frozenset(
    {ConditionReason.COMPLETED, ConditionReason.NOTHING_TO_DO, ConditionReason.DRY_RUN}
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

_SENTENCES = {
    ConditionReason.EXPIRED: "The request was first seen after its startBefore; nothing was sent.",
    ConditionReason.INVALID_TARGET: "No request of this object has the runId in retryFailedOf,"
    " or its receipts are not kept any more; nothing was sent.",
    ConditionReason.SELECTOR_TOO_LARGE: "The target means more receipts than maxItems allows;"
    " nothing was sent.",
    ConditionReason.BROKER_UNAVAILABLE: "The message broker does not answer; sending goes on when"
    " it is back.",
    ConditionReason.DATABASE_UNAVAILABLE: "The database does not answer; the request goes on when"
    " it is back.",
    ConditionReason.SOURCE_UNAVAILABLE: "The receipts or the cache volume is absent, unreadable or"
    " empty; the request goes on when it is back.",
    ConditionReason.UNROUTABLE: "The broker has no queue for the work; sending goes on when its"
    " topology is declared.",
    ConditionReason.QUEUE_FULL: "The work queue is full; sending goes on when there is room.",
    ConditionReason.NO_PROGRESS: "No result came for a long time; look at the workers and the"
    " collector.",
    ConditionReason.INTERNAL_ERROR: "The operator failed several times on this object; its log has"
    " the reason.",
}
_UNREADABLE = "This version of the operator cannot read the spec; nothing was sent for it."
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
    if request.ending is None and request.knobs.suspend:
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
        _timed(fact, known.get(fact.type), changed=changed, generation=facts.observed.generation)
        for fact in stated
        if fact is not None
    )


def of_unreadable(
    before: Sequence[Condition], *, now: datetime, generation: int
) -> tuple[Condition, ...]:
    """State what is true for a spec that this program cannot read."""
    known = {condition.type: condition for condition in before}
    statuses = {
        ConditionType.ACCEPTED: FALSE,
        ConditionType.SUCCEEDED: FALSE,
        ConditionType.FINISHED: TRUE,
        ConditionType.STALLED: TRUE,
    }
    reason = ConditionReason.INVALID_TARGET
    return tuple(
        _timed(
            Fact(type_, status, reason, _UNREADABLE),
            known.get(type_),
            changed=now,
            generation=generation,
        )
        for type_, status in statuses.items()
    )


def _timed(
    fact: Fact, before: Condition | None, *, changed: datetime, generation: int
) -> Condition:
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
        return Fact(ConditionType.ACCEPTED, FALSE, _result(facts), result_sentence(facts))
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


def _planning(facts: Facts) -> tuple[ConditionReason, str]:
    if facts.queued:
        message = "Waits for the requests of the runId it looks back on to end."
        return ConditionReason.QUEUED, message
    found = facts.request.counts.known
    return ConditionReason.PLANNING, f"Looking for the receipts: {found} found so far."


def is_adopted(facts: Facts) -> bool:
    """Whether the request was begun by another object, or was read back from a status."""
    request = facts.request
    return request.object_uid != facts.observed.uid or bool(request.summary.get("recovered"))


def _published(facts: Facts) -> Fact:
    request, counts = facts.request, facts.request.counts
    if request.finished:
        if counts.confirmed >= counts.done + counts.failed or _result(facts) in SUCCESSES:
            return _confirmed(counts.confirmed)
        return Fact(
            ConditionType.PUBLISHED,
            FALSE,
            _result(facts),
            f"{counts.confirmed} receipts were sent before the request ended.",
        )
    if facts.obstacle is not None and facts.obstacle.reason in _SENDING_PROBLEMS:
        reason = facts.obstacle.reason
        return Fact(ConditionType.PUBLISHED, FALSE, reason, _SENTENCES[reason])
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
    if request.knobs.suspend and not request.finished:
        message = f"Nothing is sent; {request.counts.in_flight} receipts are still on their way."
        return Fact(ConditionType.SUSPENDED, TRUE, ConditionReason.USER_REQUESTED, message)
    if not known_before:
        return None
    return Fact(ConditionType.SUSPENDED, FALSE, ConditionReason.RESUMED, "It is not suspended.")


def _succeeded(facts: Facts) -> Fact:
    if not facts.request.finished:
        return Fact(
            ConditionType.SUCCEEDED, UNKNOWN, ConditionReason.RUNNING, _progress_sentence(facts)
        )
    reason = _result(facts)
    status = TRUE if reason in SUCCESSES else FALSE
    return Fact(ConditionType.SUCCEEDED, status, reason, result_sentence(facts))


def _finished(facts: Facts) -> Fact:
    if not facts.request.finished:
        return Fact(
            ConditionType.FINISHED, FALSE, ConditionReason.RUNNING, _progress_sentence(facts)
        )
    return Fact(ConditionType.FINISHED, TRUE, _result(facts), result_sentence(facts))


def _reconciling(facts: Facts) -> Fact | None:
    """State that work goes on; absent when it does not, as kstatus reads it."""
    request = facts.request
    if request.finished or facts.obstacle is not None:
        return None
    counts = request.counts
    if request.ending is not None:
        reason = ConditionReason.WAITING_FOR_RESULTS
        message = f"Ending; {counts.in_flight} receipts are still on their way."
    elif request.state is RequestState.PLANNING:
        reason, message = _planning(facts)
    elif counts.unsent > 0:
        reason = ConditionReason.PUBLISHING if request.started_at else ConditionReason.QUEUED
        message = f"{counts.planned} receipts wait to be sent."
    else:
        reason = ConditionReason.WAITING_FOR_RESULTS
        message = f"{counts.in_flight} receipts are on their way."
    return Fact(ConditionType.RECONCILING, TRUE, reason, message)


def _stalled(facts: Facts) -> Fact | None:
    """State that someone has to look; absent when nobody has."""
    if facts.request.finished:
        reason = _result(facts)
        if reason in SUCCESSES or reason is ConditionReason.EXPIRED:
            return None
        return Fact(ConditionType.STALLED, TRUE, reason, result_sentence(facts))
    if facts.obstacle is None:
        return None
    reason = facts.obstacle.reason
    return Fact(ConditionType.STALLED, TRUE, reason, _SENTENCES[reason])


def _progress_sentence(facts: Facts) -> str:
    counts, total = facts.request.counts, facts.request.total
    of = counts.known if total is None else total
    return f"{counts.done} of {of} receipts done, {counts.failed} failed."


def result_sentence(facts: Facts) -> str:
    """Say how the request ended, with the most frequent reasons of what failed."""
    request = facts.request
    result = _result(facts)
    if result in _SENTENCES:
        return _SENTENCES[result]
    counts = request.counts
    if result is ConditionReason.DRY_RUN:
        return f"A dry run: {request.total} receipts match, nothing was sent."
    if result is ConditionReason.NOTHING_TO_DO and not counts.known:
        return "No receipt matches the target; nothing was sent."
    text = f"{counts.done} of {request.total} receipts done"
    if counts.skipped:
        text += f", {counts.skipped} skipped"
    if counts.failed:
        top = list(facts.failures.by_reason.items())[:3]
        named = ", ".join(f"{reason.value} {items}" for reason, items in top)
        text += f", {counts.failed} failed" + (f" ({named})" if named else "")
    return f"{_PREFACES.get(result, '')}{text}."


_PREFACES = {
    ConditionReason.CANCELLED: "Cancelled: ",
    ConditionReason.DEADLINE_EXCEEDED: "Ended by its deadline: ",
    ConditionReason.FAILURE_THRESHOLD: "Ended early, too many receipts failed: ",
}
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
