"""What is answered on an object of one of the two kinds: its status, field by field.

Owns names, shapes and limits. What is true when is decided by the operator.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import (
    AfterValidator,
    Field,
    StrictBool,
    StringConstraints,
    WithJsonSchema,
)

from receipt_contract.errors import Reason
from receipt_contract.requests import (
    MAX_IN_FLIGHT,
    MAX_ITEMS,
    MAX_SUMMARY_LENGTH,
    Moment,
    Part,
    Priority,
    RerunPolicy,
    RunIdOrNone,
    bounded,
)

# The whole status; samples fill what is left below it, history gives way before conditions.
MAX_STATUS_BYTES = 4096

MAX_CONDITION_MESSAGE = 256
MAX_REASON_CLASSES = 10
MAX_SAMPLES = 20
MAX_SAMPLE_MESSAGE = 80
MAX_SAMPLE_REFERENCE = 80
MAX_HISTORY = 5
UNSEEN_GENERATION = -1  # of an object that no operator has looked at yet


class State(StrEnum):
    """One word for the table, derived from the conditions; programs read those."""

    PENDING = "Pending"
    QUEUED = "Queued"
    AWAITING_APPROVAL = "AwaitingApproval"
    PUBLISHING = "Publishing"
    RUNNING = "Running"
    SUSPENDED = "Suspended"
    STALLED = "Stalled"
    SUCCEEDED = "Succeeded"
    PARTIALLY_FAILED = "PartiallyFailed"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    EXPIRED = "Expired"
    INVALID = "Invalid"

    @property
    def is_final(self) -> bool:
        """Whether a request in this state has ended."""
        return self in _FINAL


class ConditionType(StrEnum):
    """What a condition speaks about."""

    ACCEPTED = "Accepted"
    PUBLISHED = "Published"
    SUSPENDED = "Suspended"
    SUCCEEDED = "Succeeded"
    FINISHED = "Finished"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"


class ConditionStatus(StrEnum):
    """Whether a condition holds."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class ConditionReason(StrEnum):
    """Why a condition stands as it does."""

    # Accepted
    VALIDATED = "Validated"
    ADOPTED = "Adopted"
    PLANNING = "Planning"
    QUEUED = "Queued"
    AWAITING_APPROVAL = "AwaitingApproval"
    INVALID_TARGET = "InvalidTarget"
    SELECTOR_TOO_LARGE = "SelectorTooLarge"
    EXPIRED = "Expired"
    # Published
    PUBLISHING = "Publishing"
    CONFIRMED = "Confirmed"
    UNROUTABLE = "Unroutable"
    QUEUE_FULL = "QueueFull"
    # Suspended; the word itself is what the others say meanwhile
    SUSPENDED = "Suspended"
    USER_REQUESTED = "UserRequested"
    OPERATOR_PAUSED = "OperatorPaused"
    RESUMED = "Resumed"
    # Succeeded and Finished
    RUNNING = "Running"
    COMPLETED = "Completed"
    NOTHING_TO_DO = "NothingToDo"
    ALREADY_COMPLETED = "AlreadyCompleted"
    DRY_RUN = "DryRun"
    PARTIALLY_FAILED = "PartiallyFailed"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    FAILURE_THRESHOLD = "FailureThreshold"
    # Reconciling and Stalled
    WAITING_FOR_RESULTS = "WaitingForResults"
    NO_PROGRESS = "NoProgress"
    BROKER_UNAVAILABLE = "BrokerUnavailable"
    DATABASE_UNAVAILABLE = "DatabaseUnavailable"
    SOURCE_UNAVAILABLE = "SourceUnavailable"
    CACHE_UNAVAILABLE = "CacheUnavailable"
    INTERNAL_ERROR = "InternalError"


class Kept(StrEnum):
    """Why an object is not deleted although it asked for that."""

    DELETION_OFF = "DeletionOff"
    TRACKED_BY_ARGO_CD = "TrackedByArgoCD"
    TRACKED_BY_FLUX = "TrackedByFlux"
    FORBIDDEN = "Forbidden"


class EtaBasis(StrEnum):
    """What an estimate was made from."""

    CURRENT_RATE = "CurrentRate"
    EARLIER_RUNS = "EarlierRuns"


def _whole_seconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)


# Kubernetes writes its own times in UTC and whole seconds.
Time = Annotated[Moment, AfterValidator(_whole_seconds)]
Count = Annotated[int, bounded(0)]
RequestId = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", max_length=36),
]

# Open in the schema: a later operator may have reasons that this schema does not list.
_OPEN_WORD = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$", "maxLength": 64}


class Condition(Part):
    """One fact about the request."""

    type: ConditionType
    """What it speaks about."""
    status: ConditionStatus
    """Whether it holds."""
    reason: Annotated[ConditionReason, WithJsonSchema(_OPEN_WORD)]
    """Why, in one word for programs."""
    message: Annotated[str, StringConstraints(max_length=MAX_CONDITION_MESSAGE)]
    """Why, in one sentence for people."""
    last_transition_time: Time
    """When its status last changed."""
    observed_generation: Annotated[int, bounded(0)]
    """Generation of the object this was said about."""


class RequestRun(Part):
    """Which request the status speaks about, and its times."""

    id: RunIdOrNone
    """Its runId; empty when the object names none."""
    request_id: RequestId
    """Its identity in the database and in messages."""
    adopted: StrictBool
    """True when it was already known and not started for this object."""
    accepted_time: Time | None = None
    """When its plan was complete."""
    start_time: Time | None = None
    """When its first work was sent."""
    finish_time: Time | None = None
    """When it ended."""
    active_seconds: Count | None = None
    """How long it has been active, without suspended and parked time."""


class Progress(Part):
    """Counts of receipts, each time recomputed from the database."""

    total: Count
    """How many receipts the request means; still growing until totalIsFinal."""
    total_is_final: StrictBool
    """True once all receipts were found."""
    published: Count
    """Receipts whose work the broker confirmed at least once."""
    done: Count
    """Receipts with a result."""
    failed: Count
    """Receipts that ended with a reason."""
    skipped: Count
    """Receipts that needed nothing."""
    in_flight: Count
    """Receipts sent and not yet ended."""
    percent: Annotated[int, bounded(0, 100)]
    """Share of the receipts that ended, rounded down; 100 only when the request is finished."""
    summary: Annotated[str, StringConstraints(max_length=32)]
    """Done receipts and all of them, as 12/40."""
    last_advance_time: Time | None = None
    """When a receipt last ended."""


class Rate(Part):
    """How fast it goes."""

    per_minute: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,9}([.][0-9])?$", max_length=11)]
    """Receipts that end in a minute, as 12.5."""
    eta: Annotated[str, StringConstraints(max_length=16)]
    """Time left, rounded, as ~14m; a dash when it cannot be told."""
    basis: EtaBasis | None = None
    """What the estimate was made from."""


class Publication(Part):
    """What the broker said."""

    publications: Count
    """Confirmed sends, repeated ones included."""
    last_problem: Annotated[ConditionReason, WithJsonSchema(_OPEN_WORD)] | None = None
    """Why a send was last refused: Unroutable, QueueFull or BrokerUnavailable."""
    last_problem_time: Time | None = None
    """When that was."""


class QueuePlace(Part):
    """Where the request stands while it waits."""

    position: Annotated[int, bounded(1)]
    """Its place among waiting requests; the first one is next."""
    ahead: Count
    """Receipts of other requests that have to end before."""


class ReasonCount(Part):
    """How many receipts failed for one reason."""

    reason: Annotated[Reason, WithJsonSchema(_OPEN_WORD)]
    """Reason class."""
    count: Annotated[int, bounded(1)]
    """Receipts."""


class FailureSample(Part):
    """One receipt that failed."""

    reference: Annotated[str, StringConstraints(max_length=MAX_SAMPLE_REFERENCE)]
    """Its path, a long one shortened in the middle."""
    reason: Annotated[Reason, WithJsonSchema(_OPEN_WORD)]
    """Reason class."""
    message: Annotated[str, StringConstraints(max_length=MAX_SAMPLE_MESSAGE)]
    """The reason's sentence."""


class Failures(Part):
    """Which receipts failed; all of them are in the database."""

    by_reason: Annotated[tuple[ReasonCount, ...], Field(max_length=MAX_REASON_CLASSES)]
    """Counts by reason class, the most frequent first."""
    samples: Annotated[tuple[FailureSample, ...], Field(max_length=MAX_SAMPLES)]
    """Some of them, as many as fit."""
    query: Annotated[str, StringConstraints(max_length=200)]
    """How to see all of them."""


class PastRequest(Part):
    """An earlier request of this object."""

    run_id: RunIdOrNone
    """Its runId."""
    request_id: RequestId
    """Its identity."""
    result: State
    """State it ended in."""
    total: Count
    """Receipts it meant."""
    done: Count
    """Receipts with a result."""
    failed: Count
    """Receipts that ended with a reason."""
    skipped: Count
    """Receipts that needed nothing."""
    finish_time: Time
    """When it ended."""


class Effective(Part):
    """Values in force: the spec's, and the operator's where the spec has none."""

    target: Annotated[str, StringConstraints(max_length=MAX_SUMMARY_LENGTH)]
    """The target in short."""
    priority: Priority
    """Order among waiting requests."""
    max_in_flight: Annotated[int, bounded(1, MAX_IN_FLIGHT)]
    """How many receipts may be on their way at a time."""
    dry_run: StrictBool
    """Whether nothing is sent."""
    rerun_policy: RerunPolicy
    """What makes the same wish run again."""
    max_items: Annotated[int, bounded(1, MAX_ITEMS)] | None = None
    """Largest number of receipts the target may mean."""
    active_deadline_seconds: Annotated[int, bounded(60)] | None = None
    """Active seconds after which the request ends."""
    failure_threshold_percent: Annotated[int, bounded(0, 100)] | None = None
    """Share of failed receipts above which it ends early."""
    ttl_seconds_after_finished: Count | None = None
    """Seconds after its end at which the object is deleted."""
    kept_because: Annotated[Kept, WithJsonSchema(_OPEN_WORD)] | None = None
    """Why it is not deleted all the same: DeletionOff, TrackedByArgoCD, TrackedByFlux or Forbidden."""  # noqa: E501 - one sentence of the schema


class RequestStatus(Part):
    """What became of the request. Counts come from the database, details are there."""

    observed_generation: Annotated[int, Field(strict=True, ge=UNSEEN_GENERATION, le=2**53)]
    """Generation of the object this status speaks about; -1 before anyone looked."""
    state: State | None = None
    """One word for the table; conditions are for programs."""
    conditions: Annotated[tuple[Condition, ...], Field(max_length=len(ConditionType))] = ()
    """Facts: Accepted, Published, Suspended, Succeeded, Finished, Reconciling, Stalled."""
    run: RequestRun | None = None
    """Which request this is about, and its times."""
    progress: Progress | None = None
    """Counts of receipts."""
    rate: Rate | None = None
    """How fast it goes."""
    publish: Publication | None = None
    """What the broker said."""
    queue: QueuePlace | None = None
    """Where it stands while it waits."""
    failures: Failures | None = None
    """Which receipts failed."""
    history: Annotated[tuple[PastRequest, ...], Field(max_length=MAX_HISTORY)] = ()
    """Earlier requests of this object, the latest first."""
    effective: Effective | None = None
    """Values in force."""


_FINAL = frozenset(
    {
        State.SUCCEEDED,
        State.PARTIALLY_FAILED,
        State.FAILED,
        State.CANCELLED,
        State.EXPIRED,
        State.INVALID,
    }
)
