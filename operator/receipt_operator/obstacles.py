"""What holds a request up, of all that is known to be in its way. Pure."""

from datetime import datetime

from receipt_contract.status import ConditionReason
from receipt_operator.facts import Obstacle
from receipt_operator.register.rows import Request, RequestState


def obstacle_of(
    request: Request, known: Obstacle | None, *, is_stuck: bool, now: datetime
) -> Obstacle | None:
    """Return what keeps a request from going on; `is_stuck` when the operator fails on its object.

    A known obstacle holds up only what plans or sends.
    """
    if request.finished:
        return None
    if known is not None and (request.publishable or request.state is RequestState.PLANNING):
        return known
    if is_stuck:
        return Obstacle(ConditionReason.INTERNAL_ERROR, now)
    return None


def without_progress(
    request: Request, *, last_result: datetime | None, after_seconds: float, now: datetime
) -> Obstacle | None:
    """Return an obstacle when receipts are on their way and no result of any came for so long."""
    if not request.publishable or not request.counts.in_flight or request.started_at is None:
        return None
    latest = max(
        moment
        for moment in (request.started_at, request.last_advance_at, last_result)
        if moment is not None
    )
    if (now - latest).total_seconds() <= after_seconds:
        return None
    return Obstacle(ConditionReason.NO_PROGRESS, request.last_advance_at or now)
