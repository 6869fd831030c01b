"""When a request stops, and how it ended. Pure."""

from datetime import datetime

from receipt_contract.errors import Reason
from receipt_contract.status import ConditionReason
from receipt_operator.conditions import ENDINGS
from receipt_operator.register.rows import Counts, Ending, ItemState, Request, RequestState

# A share of a few receipts says little.
THRESHOLD_FROM_ENDED = 20

_REASONS = {
    Ending.CANCELLED: Reason.CANCELLED,
    Ending.DEADLINE: Reason.DEADLINE,
    Ending.THRESHOLD: Reason.THRESHOLD,
}


def begun(request: Request, now: datetime) -> Ending | None:
    """Return why an unfinished request has to stop early, once that is so."""
    if request.ending is not None:
        return None
    knobs, counts = request.knobs, request.counts
    if knobs.cancel:
        return Ending.CANCELLED
    deadline = knobs.active_deadline_seconds
    if deadline is not None and request.active_for(now) >= deadline:
        return Ending.DEADLINE
    threshold = knobs.failure_threshold_percent
    if (
        threshold is not None
        and counts.ended >= THRESHOLD_FROM_ENDED
        and counts.failed * 100 > threshold * counts.ended
    ):
        return Ending.THRESHOLD
    return None


def is_due(request: Request, now: datetime, *, settle_grace_seconds: float) -> bool:
    """Tell whether an unfinished request can be finished now."""
    if request.ending is not None:
        if request.counts.in_flight == 0 or request.ending_since is None:
            return True
        return (now - request.ending_since).total_seconds() >= settle_grace_seconds
    if request.state is not RequestState.OPEN:
        return False
    return request.dry_run or request.counts.unsent + request.counts.published == 0


def reasons_for_the_rest(ending: Ending) -> dict[ItemState, Reason]:
    """Return why what is left of an ended request fails: unsent, and still on its way."""
    return {ItemState.PLANNED: _REASONS[ending], ItemState.PUBLISHED: Reason.UNSETTLED}


def result_of(request: Request, counts: Counts) -> ConditionReason:
    """Judge a request by its final counts."""
    if request.ending is not None and (counts.failed or request.accepted_at is None):
        return ENDINGS[request.ending]
    if request.dry_run and counts.known:
        return ConditionReason.DRY_RUN
    if counts.failed:
        return ConditionReason.PARTIALLY_FAILED if counts.done else ConditionReason.FAILED
    return ConditionReason.COMPLETED if counts.done else ConditionReason.NOTHING_TO_DO
