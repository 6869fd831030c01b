"""What the reasons in a status mean and what people do about them, for `docs/fields.md`.

Owns these sentences alone. Which reason exists and which condition may carry it is decided by the
contract and the operator; `dev.fields_page` refuses to render where one is missing here.
"""

from collections.abc import Mapping
from typing import NamedTuple

from receipt_contract.errors import Reason
from receipt_contract.status import ConditionReason, ConditionType
from receipt_operator.conditions import FINAL_STATES, REFUSALS, SUCCESSES


class Advice(NamedTuple):
    """What a reason means, and what to do."""

    means: str
    do: str


class About(NamedTuple):
    """What a condition speaks about, and the reasons it may have with each of its statuses."""

    sentence: str
    true: tuple[ConditionReason, ...]
    false: tuple[ConditionReason, ...] = ()
    unknown: tuple[ConditionReason, ...] = ()


NOTHING = "Nothing."

_GOOD_ENDS = tuple(reason for reason in FINAL_STATES if reason in SUCCESSES)
_BAD_ENDS = tuple(reason for reason in FINAL_STATES if reason not in SUCCESSES)
_AWAY = (
    ConditionReason.BROKER_UNAVAILABLE,
    ConditionReason.UNROUTABLE,
    ConditionReason.QUEUE_FULL,
    ConditionReason.SOURCE_UNAVAILABLE,
)
_WAITING = (
    ConditionReason.AWAITING_APPROVAL,
    ConditionReason.SUSPENDED,
    ConditionReason.QUEUED,
)
_STUCK = (
    *_AWAY,
    ConditionReason.CACHE_UNAVAILABLE,
    ConditionReason.DATABASE_UNAVAILABLE,
    ConditionReason.NO_PROGRESS,
    ConditionReason.INTERNAL_ERROR,
)

CONDITIONS: Mapping[ConditionType, About] = {
    ConditionType.ACCEPTED: About(
        "The request was planned whole; from here on every receipt comes to an end.",
        true=(ConditionReason.VALIDATED, ConditionReason.ADOPTED),
        false=(*sorted(REFUSALS), ConditionReason.AWAITING_APPROVAL),
        unknown=(
            ConditionReason.PLANNING,
            ConditionReason.QUEUED,
            ConditionReason.DATABASE_UNAVAILABLE,
            ConditionReason.INTERNAL_ERROR,
        ),
    ),
    ConditionType.PUBLISHED: About(
        "The broker confirmed the work of every receipt.",
        true=(ConditionReason.CONFIRMED,),
        false=(*_AWAY, *_BAD_ENDS),
        unknown=(ConditionReason.PUBLISHING,),
    ),
    ConditionType.SUSPENDED: About(
        "Nothing is sent because somebody wants it so. Absent until that was first true.",
        true=(ConditionReason.USER_REQUESTED, ConditionReason.OPERATOR_PAUSED),
        false=(ConditionReason.RESUMED,),
    ),
    ConditionType.SUCCEEDED: About(
        "The request ended well. Its reason and message are columns of `-o wide`.",
        true=_GOOD_ENDS,
        false=_BAD_ENDS,
        unknown=(ConditionReason.RUNNING, *_WAITING, *_STUCK),
    ),
    ConditionType.FINISHED: About(
        "The request ended, well or not, and its numbers will not change any more.",
        true=tuple(FINAL_STATES),
        false=(
            ConditionReason.RUNNING,
            ConditionReason.DATABASE_UNAVAILABLE,
            ConditionReason.INTERNAL_ERROR,
        ),
    ),
    ConditionType.RECONCILING: About(
        "Work goes on by itself. Absent when it does not.",
        true=(
            *_WAITING,
            ConditionReason.PLANNING,
            ConditionReason.PUBLISHING,
            ConditionReason.WAITING_FOR_RESULTS,
        ),
    ),
    ConditionType.STALLED: About(
        "Somebody should look: something is in the way, or the request ended badly. Absent"
        " otherwise.",
        true=(*_STUCK, *(reason for reason in _BAD_ENDS if reason is not ConditionReason.EXPIRED)),
    ),
}

ON_THE_WAY: Mapping[ConditionReason, Advice] = {
    ConditionReason.VALIDATED: Advice("All its receipts are known.", NOTHING),
    ConditionReason.ADOPTED: Advice(
        "The same request was known before this object; its result is shown and nothing is sent.",
        "Nothing, or a new `runId` to run again.",
    ),
    ConditionReason.PLANNING: Advice("Its receipts are being looked for.", NOTHING),
    ConditionReason.QUEUED: Advice(
        "It waits for a slot, or for the run that `retryFailedOf` names.",
        "Wait; raise `priority` if it matters more than what is ahead.",
    ),
    ConditionReason.AWAITING_APPROVAL: Advice(
        "The database knew no request of this cluster, and more of them came than may start"
        " unasked.",
        "If they shall run, approve: the message says what to type. If not, delete the object.",
    ),
    ConditionReason.PUBLISHING: Advice("Some receipts wait to be sent.", NOTHING),
    ConditionReason.CONFIRMED: Advice("The broker holds or held all of its work.", NOTHING),
    ConditionReason.WAITING_FOR_RESULTS: Advice(
        "All is sent, and workers read.", "Nothing; more workers make it faster."
    ),
    ConditionReason.RUNNING: Advice("It has not ended.", NOTHING),
    ConditionReason.USER_REQUESTED: Advice(
        "`spec.suspend` is true.", "Set `suspend: false` to go on."
    ),
    ConditionReason.OPERATOR_PAUSED: Advice(
        "The operator was started with `RECEIPTS_PAUSED`.", "Start it without to go on."
    ),
    ConditionReason.SUSPENDED: Advice(
        "Nothing is sent; the condition `Suspended` says who wants it so.", "See that condition."
    ),
    ConditionReason.RESUMED: Advice("`spec.suspend` was true once and is not now.", NOTHING),
    ConditionReason.BROKER_UNAVAILABLE: Advice(
        "RabbitMQ does not answer.", "Bring it back; sending goes on by itself."
    ),
    ConditionReason.UNROUTABLE: Advice(
        "RabbitMQ answers, but the work queue is missing.",
        "`ledger topology declare`; `ledger doctor` names what is missing.",
    ),
    ConditionReason.QUEUE_FULL: Advice(
        "The work queue refuses more messages.",
        "Start workers, or find out why they do not read; sending goes on as room appears.",
    ),
    ConditionReason.SOURCE_UNAVAILABLE: Advice(
        "The receipts volume is absent, unreadable or empty.",
        "Mount it; no receipt fails for it, and the request goes on by itself.",
    ),
    ConditionReason.CACHE_UNAVAILABLE: Advice(
        "The cache volume is absent, unreadable or not the one that the workers write to.",
        "Mount it; the request goes on by itself.",
    ),
    ConditionReason.DATABASE_UNAVAILABLE: Advice(
        "PostgreSQL does not answer.", "Bring it back; the request goes on by itself."
    ),
    ConditionReason.NO_PROGRESS: Advice(
        "No result came for an hour, of this request or any other on the same queue.",
        "Look whether workers and the collector run, and at their logs.",
    ),
    ConditionReason.INTERNAL_ERROR: Advice(
        "The operator failed five times in a row on this object.",
        "Its log has the class and the place; report it.",
    ),
}

AT_THE_END: Mapping[ConditionReason, Advice] = {
    ConditionReason.COMPLETED: Advice("Every receipt was read.", NOTHING),
    ConditionReason.ALREADY_COMPLETED: Advice(
        "Every receipt was read before this object came; nothing was sent for it.",
        "Nothing, or a new `runId` to run again.",
    ),
    ConditionReason.NOTHING_TO_DO: Advice(
        "No receipt matched, or all were skipped.",
        "Nothing, or check `target` with `dryRun: true`.",
    ),
    ConditionReason.DRY_RUN: Advice(
        "The receipts were counted and nothing was sent.",
        "Remove `dryRun` and set a new `runId` to run it.",
    ),
    ConditionReason.PARTIALLY_FAILED: Advice(
        "Some receipts failed; `status.failures` says why.",
        "Mend the files, then `retryFailedOf` under a new `runId`.",
    ),
    ConditionReason.FAILED: Advice(
        "Every receipt failed.", "As above; one reason for all of them points at one cause."
    ),
    ConditionReason.DEADLINE_EXCEEDED: Advice(
        "`activeDeadlineSeconds` passed.",
        "`retryFailedOf` under a new `runId` reads the rest, with a longer deadline.",
    ),
    ConditionReason.FAILURE_THRESHOLD: Advice(
        "More than `failureThresholdPercent` failed.",
        "Find the cause in `status.failures`, then `retryFailedOf` under a new `runId`.",
    ),
    ConditionReason.CANCELLED: Advice("`spec.cancel` is true.", "A new `runId` to run again."),
    ConditionReason.EXPIRED: Advice(
        "It was first seen after `startBefore`; nothing was sent.",
        "Nothing, or a later `startBefore` and a new `runId`.",
    ),
    ConditionReason.INVALID_TARGET: Advice(
        "`retryFailedOf` names no request of this object, or the spec is not understood by this"
        " version; nothing was sent.",
        "Correct it and set a new `runId`.",
    ),
    ConditionReason.SELECTOR_TOO_LARGE: Advice(
        "More receipts match than `maxItems`; nothing was sent.",
        "Narrow the selector or raise `maxItems`, with a new `runId`.",
    ),
}

RECEIPTS: Mapping[Reason, str] = {
    Reason.EMPTY_FILE: "Scan it again.",
    Reason.UNSUPPORTED_TYPE: "Save it as PDF, JPEG, PNG, TIFF or HEIC.",
    Reason.CORRUPT: "Scan it again, or restore it from a backup.",
    Reason.ENCRYPTED: "Save it without the password.",
    Reason.TOO_LARGE: "Scan it with less resolution, or split it.",
    Reason.TOO_MANY_PAGES: "Split it.",
    Reason.SOURCE_MISSING: "Check the path; case counts.",
    Reason.SOURCE_CHANGED: "Ask again with a new `runId`.",
    Reason.SOURCE_UNREADABLE: "Let the account of the processes read it.",
    Reason.UNSAFE_REFERENCE: "Remove links that lead out of the receipts root.",
    Reason.TIMEOUT: "Try again once; then scan it with less resolution.",
    Reason.KILLED: "Give workers more memory, or scan it with less resolution.",
    Reason.ENGINE_FAILED: "Try again once; the worker's log names the class.",
    Reason.WORKER_CRASHED: "The worker's log has the last thing it did; try again once.",
    Reason.INTERNAL_ERROR: "Report it, with the class from the log.",
    Reason.NEVER_PROCESSED: "Ask for it with a `ReceiptReprocess`.",
    Reason.NO_RESULT: "Look at the collector and its dead queue, then try again.",
    Reason.CANCELLED: "Nothing, or a new `runId`.",
    Reason.DEADLINE: "`retryFailedOf` with a longer deadline.",
    Reason.THRESHOLD: "Find the cause of the others first.",
    Reason.UNSETTLED: "Nothing: its result is saved when it comes, and not counted.",
    Reason.DRY_RUN: NOTHING,
}
