"""What an object says that shows no request: unreadable to us, or not looked at yet. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from receipt_contract.status import (
    Condition,
    ConditionReason,
    ConditionStatus,
    ConditionType,
    RequestStatus,
    State,
)
from receipt_operator import sentences
from receipt_operator.conditions import Fact, conditions_before, timed
from receipt_operator.observed import Observed

TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN

_UNREADABLE = "This version of the operator cannot read the spec; nothing was sent for it."
_ENDED = {
    ConditionType.ACCEPTED: FALSE,
    ConditionType.SUCCEEDED: FALSE,
    ConditionType.FINISHED: TRUE,
    ConditionType.STALLED: TRUE,
}
_DETAILS = frozenset({"history", "failures", "queue", "rate"})  # room for what is said instead
_NOT_BEGUN = {
    ConditionType.ACCEPTED: UNKNOWN,
    ConditionType.SUCCEEDED: UNKNOWN,
    ConditionType.FINISHED: FALSE,
    ConditionType.STALLED: TRUE,
}


def unreadable_status(observed: Observed, now: datetime) -> dict[str, Any]:
    """Return the status of an object whose spec this program cannot read."""
    return RequestStatus(
        observed_generation=observed.generation,
        state=State.INVALID,
        conditions=_stated(_ENDED, ConditionReason.INVALID_TARGET, _UNREADABLE, observed, now),
    ).document()


def blocked_status(
    observed: Observed, reason: ConditionReason, now: datetime
) -> dict[str, Any] | None:
    """Return the status of an object that cannot be looked at, and why; None where it has ended.

    What was said about an earlier spec stays, less its details, with the generation it was said
    about.
    """
    before = conditions_before(observed.status)
    if "run" not in observed.status:
        sentence = sentences.FIXED[reason]
        return RequestStatus(
            observed_generation=observed.generation,
            state=State.STALLED,
            conditions=_stated(_NOT_BEGUN, reason, sentence, observed, now),
        ).document()
    ended = any(one.type is ConditionType.FINISHED and one.status is TRUE for one in before)
    if ended and observed.status.get("observedGeneration") == observed.generation:
        return None
    kept = {name: value for name, value in observed.status.items() if name not in _DETAILS}
    stalled = _stalled(before, reason, observed, now)
    return {**kept, "state": State.STALLED.value, "conditions": [one.document() for one in stalled]}


def _stalled(
    before: Sequence[Condition], reason: ConditionReason, observed: Observed, now: datetime
) -> list[Condition]:
    known = {one.type: one for one in before}
    fact = Fact(ConditionType.STALLED, TRUE, reason, sentences.FIXED[reason])
    replaced = (ConditionType.RECONCILING, ConditionType.STALLED)
    stalled = timed(
        fact, known.get(ConditionType.STALLED), changed=now, generation=observed.generation
    )
    return [*(one for one in before if one.type not in replaced), stalled]


def _stated(
    statuses: Mapping[ConditionType, ConditionStatus],
    reason: ConditionReason,
    message: str,
    observed: Observed,
    now: datetime,
) -> tuple[Condition, ...]:
    known = {one.type: one for one in conditions_before(observed.status)}
    return tuple(
        timed(
            Fact(type_, status, reason, message),
            known.get(type_),
            changed=now,
            generation=observed.generation,
        )
        for type_, status in statuses.items()
    )
