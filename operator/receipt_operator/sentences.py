"""What conditions say to people, one sentence for each reason. Pure.

Never the text of an exception and never what stands on a receipt (promise G8).
"""

from receipt_contract.requests import APPROVE_ANNOTATION
from receipt_contract.status import ConditionReason, Kept
from receipt_operator.facts import Facts
from receipt_operator.register.rows import ObjectKey

TOP_REASONS = 3
LONGEST_NAME = 63  # a longer one leaves no room for the sentence around it

FIXED = {
    ConditionReason.EXPIRED: "The request was first seen after its startBefore; nothing was sent.",
    ConditionReason.INVALID_TARGET: "No request of this object has the runId in retryFailedOf,"
    " or its receipts are not kept any more; nothing was sent.",
    ConditionReason.SELECTOR_TOO_LARGE: "The target means more receipts than maxItems allows;"
    " nothing was sent.",
    ConditionReason.BROKER_UNAVAILABLE: "The message broker does not answer; sending goes on when"
    " it is back.",
    ConditionReason.DATABASE_UNAVAILABLE: "The database does not answer; the request goes on when"
    " it is back.",
    ConditionReason.SOURCE_UNAVAILABLE: "The receipts volume is absent, unreadable or empty; the"
    " request goes on when it is back.",
    ConditionReason.CACHE_UNAVAILABLE: "The cache volume is absent, unreadable or not the one the"
    " workers write to; the request goes on when it is back.",
    ConditionReason.UNROUTABLE: "The broker has no queue for the work; sending goes on when its"
    " topology is declared.",
    ConditionReason.QUEUE_FULL: "The work queue is full; sending goes on when there is room.",
    ConditionReason.NO_PROGRESS: "No result came for a long time; look at the workers and the"
    " collector.",
    ConditionReason.INTERNAL_ERROR: "The operator failed several times on this object; its log has"
    " the reason.",
}
_IN_VAIN = "ttlSecondsAfterFinished does not delete this object: "
KEPT = {
    Kept.DELETION_OFF: f"{_IN_VAIN}deleting is switched off. The chart's operator.deleteFinished"
    " switches it on, which is RECEIPTS_DELETE_FINISHED=true and the verb delete in the Role.",
    Kept.TRACKED_BY_ARGO_CD: f"{_IN_VAIN}Argo CD tracks it and would create it again. Delete it in"
    " Git, or remove the field.",
    Kept.TRACKED_BY_FLUX: f"{_IN_VAIN}Flux tracks it and would create it again. Delete it in Git,"
    " or remove the field.",
    Kept.FORBIDDEN: f"{_IN_VAIN}the operator's Role lacks the verb delete. The chart's"
    " operator.deleteFinished adds it.",
}
_PREFACES = {
    ConditionReason.ALREADY_COMPLETED: "Done before this object came, and not run again: ",
    ConditionReason.CANCELLED: "Cancelled: ",
    ConditionReason.DEADLINE_EXCEEDED: "Ended by its deadline: ",
    ConditionReason.FAILURE_THRESHOLD: "Ended early, too many receipts failed: ",
}


def of_result(facts: Facts, result: ConditionReason) -> str:
    """Say how the request ended, with the most frequent reasons of what failed."""
    if result in FIXED:
        return FIXED[result]
    request, counts = facts.request, facts.request.counts
    if result is ConditionReason.DRY_RUN:
        return f"A dry run: {request.total} receipts match, nothing was sent."
    if result is ConditionReason.NOTHING_TO_DO and not counts.known:
        return "No receipt matches the target; nothing was sent."
    text = f"{counts.done} of {request.total} receipts done"
    if counts.skipped:
        text += f", {counts.skipped} skipped"
    if counts.failed:
        top = list(facts.failures.by_reason.items())[:TOP_REASONS]
        named = ", ".join(f"{reason.value} {items}" for reason, items in top)
        text += f", {counts.failed} failed" + (f" ({named})" if named else "")
    return f"{_PREFACES.get(result, '')}{text}."


def of_progress(facts: Facts) -> str:
    """Say how far the request is."""
    counts, total = facts.request.counts, facts.request.total
    of = counts.known if total is None else total
    return f"{counts.done} of {of} receipts done, {counts.failed} failed."


def of_approval(key: ObjectKey) -> str:
    """Say what lets a request go on that waits for a person."""
    name = key.name if len(key.name) <= LONGEST_NAME else "NAME"
    return (
        "The database was new, so it waits for you: "
        f"kubectl -n {key.namespace} annotate {key.kind.short_name} {name}"
        f" {APPROVE_ANNOTATION}=true"
    )


def of_look_back(facts: Facts) -> str:
    """Say which requests a retry waits for."""
    run_id = facts.spec.target.retry_failed_of
    named = f"runId {run_id}" if run_id else "this object without a runId"
    left = f": {facts.place.ahead} receipts left" if facts.place else ""
    return f"Waits for the request of {named} to end{left}."


def of_stop(facts: Facts) -> str:
    """Say why nothing is sent, and what cannot be recalled."""
    who = "" if facts.request.knobs.suspend else "The operator is paused. "
    left = facts.request.counts.in_flight
    return f"{who}Nothing is sent; {left} receipts are still on their way."


def of_waiting_receipts(facts: Facts) -> str:
    """Say what is not sent yet, and what is sent before it."""
    waiting = f"{facts.request.counts.planned} receipts wait to be sent"
    place = facts.place
    if place is None:
        return f"{waiting}."
    return (
        f"{waiting} for a place among all that are on their way: number {place.position} in the"
        f" queue, {place.ahead} receipts of other requests are ahead."
    )
