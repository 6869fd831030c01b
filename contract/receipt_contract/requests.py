"""What an object of one of the two kinds asks for, and which request that is.

Owns the spec and the canonical wish. `receipt_contract.status` has what is answered,
`receipt_contract.crd` what the API server checks before an object comes here.
"""

import hashlib
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel

from receipt_contract import identity, wire
from receipt_contract.identity import RequestName, check_reference
from receipt_contract.results import ExtractionStatus
from receipt_contract.work import WorkType

GROUP = "receipts.homebudget.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
CATEGORY = "receipts"
# "true" on an object lets its request go on that waits for approval.
APPROVE_ANNOTATION = f"{GROUP}/approve"

# Part of every wish. Another number makes other request ids, so everything would run again.
WISH_FORMAT = 1

MAX_REFERENCE_LENGTH = 400  # characters; keeps 500 of them far below etcd's object limit
MAX_REFERENCES = 500
MAX_IN_FLIGHT = 10_000
MAX_ITEMS = 10_000_000
MAX_INT = 2_147_483_647  # what an integer column holds; bounds every other number
MAX_SUMMARY_LENGTH = 60  # characters of a target in a table


class Kind(StrEnum):
    """The two kinds; they differ only in the work they lead to."""

    RECEIPT_REPROCESS = "ReceiptReprocess"
    CACHE_REBUILD = "CacheRebuild"

    @property
    def plural(self) -> str:
        """Name of the resource, as in URLs and roles."""
        return _PLURALS[self]

    @property
    def short_name(self) -> str:
        """What people type."""
        return _SHORT_NAMES[self]

    @property
    def work_type(self) -> WorkType:
        """Type of the messages that carry this kind's work."""
        return _WORK_TYPES[self]


class Priority(StrEnum):
    """Order among the requests that wait for a place."""

    LOW = "Low"
    NORMAL = "Normal"
    HIGH = "High"


class CacheChoice(StrEnum):
    """Which receipts a selector takes by their OCR cache."""

    ANY = "Any"
    MISSING = "Missing"


class RerunPolicy(StrEnum):
    """What makes the same wish run again."""

    NEW_RUN_ID = "NewRunId"
    ON_RECREATE = "OnRecreate"


class Part(BaseModel):
    """A part of an object: camelCase on the wire, snake_case here, frozen, nothing unknown."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    def document(self) -> dict[str, Any]:
        """Return what was set, as on the wire; nothing is filled in."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)


def _check_prefix(text: str) -> str:
    check_reference(text.removesuffix("/"))
    return text


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:  # year 1 or 9999, and the zone leads out of it
        raise ValueError("a moment within the years 1 to 9999 is wanted") from error


def bounded(low: int, high: int = MAX_INT) -> Any:
    """Return the constraints of an integer field."""
    return Field(strict=True, ge=low, le=high)


PathText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_REFERENCE_LENGTH)]
Reference = Annotated[PathText, AfterValidator(check_reference)]
PathPrefix = Annotated[PathText, AfterValidator(_check_prefix)]
RunId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,63}$", max_length=63)]
# The first request of an object often has no runId, which is the empty one.
RunIdOrNone = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{0,63}$", max_length=63)]
# Two spellings of one moment are one wish.
Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class DateRange(Part):
    """Days of purchase, both ends included; either may be left out."""

    from_date: date | None = Field(default=None, alias="from")
    """First day, as 2026-01-31."""
    to_date: date | None = Field(default=None, alias="to")
    """Last day, as 2026-12-31."""

    @model_validator(mode="after")
    def _has_an_end_in_order(self) -> Self:
        ends = [day for day in (self.from_date, self.to_date) if day is not None]
        if not ends or ends != sorted(ends):
            raise ValueError("a date range has at least one end, and from is not after to")
        return self


class Selector(Part):
    """Chooses receipts; a receipt has to fulfil everything that is given, of which one at least."""

    path_prefix: PathPrefix | None = None
    """References that start with this text; end it with a slash to name a folder."""
    glob: Reference | None = None
    """References that match this pattern as a whole, case-sensitive; ** stands for any folders."""
    cache: CacheChoice | None = None
    """Missing takes only receipts without a valid OCR cache."""
    cache_version_below: Annotated[int, bounded(1)] | None = None
    """Receipts whose OCR cache was written by an older cache version than this."""
    extraction_status: (
        Annotated[
            frozenset[ExtractionStatus],
            Field(min_length=1, max_length=len(ExtractionStatus)),
            PlainSerializer(sorted),
        ]
        | None
    ) = None
    """Receipts whose saved extraction has one of these statuses."""
    processed_before: Moment | None = None
    """Receipts whose last stored run is older than this moment."""
    transaction_date: DateRange | None = None
    """Receipts whose saved purchase date lies in this range."""

    @model_validator(mode="after")
    def _chooses_something(self) -> Self:
        if not _given(self):
            raise ValueError("a selector has at least one field")
        return self


class Target(Part):
    """Which receipts the request is about: exactly one of the fields."""

    reference: Reference | None = None
    """One receipt: its path below the receipts root."""
    references: (
        Annotated[
            frozenset[Reference],
            Field(min_length=1, max_length=MAX_REFERENCES),
            PlainSerializer(sorted),
        ]
        | None
    ) = None
    """Up to 500 receipts: their paths below the receipts root, each once."""
    selector: Selector | None = None
    """All receipts that match; they are counted once, when the request is planned."""
    retry_failed_of: RunIdOrNone | None = None
    """An earlier runId of this object (empty for the request that had none): the receipts that failed there and were not read since."""  # noqa: E501 - one sentence of the schema

    @model_validator(mode="after")
    def _is_one_choice(self) -> Self:
        if len(_given(self)) != 1:
            raise ValueError("a target has exactly one field")
        return self

    @property
    def summary(self) -> str:
        """The target in at most 60 characters, for a table."""
        if self.reference is not None:
            return shorten(self.reference, MAX_SUMMARY_LENGTH)
        if self.references is not None:
            count = len(self.references)
            return f"{count} reference{'' if count == 1 else 's'}"
        if self.selector is not None:
            fields = " ".join(self.selector.document())
            return shorten(f"selector: {fields}", MAX_SUMMARY_LENGTH)
        return shorten(f"failed of {self.retry_failed_of or '(no runId)'}", MAX_SUMMARY_LENGTH)


class RequestSpec(Part):
    """What is wanted. Absent fields take the operator's values, shown in status.effective."""

    target: Target
    """The receipts this is about: exactly one of the fields. Fixed within a runId."""
    run_id: RunId = ""
    """Names one run of this wish: any date, ticket or revision. A new value is the one way to run again."""  # noqa: E501 - one sentence of the schema
    suspend: StrictBool | None = None
    """Sends nothing more until it is false again; what was sent is still read."""
    cancel: StrictBool | None = None
    """Ends this request; it cannot be taken back, only a new runId starts again."""
    priority: Priority | None = None
    """Order among waiting requests."""
    max_in_flight: Annotated[int, bounded(1, MAX_IN_FLIGHT)] | None = None
    """How many receipts of this request may be on their way through the broker at a time."""
    start_before: Moment | None = None
    """A request first seen after this moment expires instead of starting."""
    active_deadline_seconds: Annotated[int, bounded(60)] | None = None
    """Ends the request after this many seconds; time while it is suspended does not count."""
    failure_threshold_percent: Annotated[int, bounded(0, 100)] | None = None
    """Ends the request early once more than this share of the ended receipts failed, judged from 20 ended receipts on."""  # noqa: E501 - one sentence of the schema
    ttl_seconds_after_finished: Annotated[int, bounded(0)] | None = None
    """Deletes the object this many seconds after its end, where the installation allows it; absent keeps it."""  # noqa: E501 - one sentence of the schema
    dry_run: StrictBool | None = None
    """Finds and counts the receipts and sends nothing. Fixed within a runId."""
    rerun_policy: RerunPolicy | None = None
    """OnRecreate also runs again when the object is deleted and created anew. Fixed within a runId."""  # noqa: E501 - one sentence of the schema
    max_items: Annotated[int, bounded(1, MAX_ITEMS)] | None = None
    """Refuses the request when its target means more receipts than this. Fixed within a runId."""

    @model_validator(mode="after")
    def _retries_another_run(self) -> Self:
        if self.target.retry_failed_of == self.run_id:
            raise ValueError("retryFailedOf names an earlier runId, not this one")
        return self


def canonical_wish(spec: RequestSpec) -> dict[str, Any]:
    """Return what makes a request the one it is, as JSON: the target as given, and a dry run.

    `dryRun: false` and its absence are one wish: both have always meant the same, and no later
    default can change that.
    """
    wish = {"format": WISH_FORMAT, "target": spec.target.document()}
    return {**wish, "dryRun": True} if spec.dry_run else wish


def wish_hash(spec: RequestSpec) -> str:
    """Hash the canonical wish; 64 hexadecimal characters."""
    return hashlib.sha256(wire.dumps(canonical_wish(spec))).hexdigest()


def request_identity(  # noqa: PLR0913 - the parts of an object's name, all of them needed
    spec: RequestSpec, *, cluster: str, namespace: str, kind: Kind, name: str, uid: str
) -> str:
    """Return the request id: the same for every path on which the same wish comes again."""
    return identity.request_id(
        RequestName(cluster, namespace, kind.value, name, spec.run_id),
        wish_hash=wish_hash(spec),
        object_uid=uid if spec.rerun_policy is RerunPolicy.ON_RECREATE else "",
    )


def shorten(text: str, limit: int) -> str:
    """Cut the middle out of a longer text, whose two ends tell most in a path."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def _given(part: Part) -> list[str]:
    return [name for name in type(part).model_fields if getattr(part, name) is not None]


_PLURALS = {
    Kind.RECEIPT_REPROCESS: "receiptreprocesses",
    Kind.CACHE_REBUILD: "cacherebuilds",
}
_SHORT_NAMES = {Kind.RECEIPT_REPROCESS: "rrp", Kind.CACHE_REBUILD: "crb"}
_WORK_TYPES = {
    Kind.RECEIPT_REPROCESS: WorkType.REPROCESS,
    Kind.CACHE_REBUILD: WorkType.CACHE_REBUILD,
}
