"""Result events: what a worker found, told to the collector.

A run event comes first, then one event for each pass. A run is told in schema 1, which knows the
main fields only, or in schema 2, which carries every field with its evidence and the printed lines
with their places; its event id is the same in both, so that told twice it has one effect. Passes
have schema 1 only. Strict in both directions: exactly the keys below, bodies of at most 8 MiB.
"""

import re
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    model_validator,
)

from receipt_contract import wire
from receipt_contract.errors import PermanentError, Reason
from receipt_contract.fields import (
    FROM_WIRE,
    MOST_REASONS,
    Code,
    LeftOut,
    PrintedPage,
    ReceiptFields,
)
from receipt_contract.identity import (
    CanonicalUuid,
    Sha256,
    SourceReference,
    pass_event_id,
    run_event_id,
)
from receipt_contract.wire import (
    Amount,
    Count,
    FilledText,
    IsoDate,
    IsoMoment,
    Number,
    Positive,
    Share,
    Text,
    ZonedMoment,
)
from receipt_contract.work import MAX_ATTEMPTS, Attempt

MAX_BODY_BYTES = 8 * 1024 * 1024

# A Literal lets True pass as 1.
SchemaOne = Annotated[int, Field(strict=True, ge=1, le=1)]
SchemaTwo = Annotated[int, Field(strict=True, ge=2, le=2)]
NEWEST_SCHEMA = 2

_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]")


class EventType(StrEnum):
    """AMQP `type` of a result event."""

    RUN = "ocr.run-completed.v1"
    RUN_V2 = "ocr.run-completed.v2"
    PASS = "ocr.pass-completed.v1"  # noqa: S105 - an OCR pass, no password


class PersistenceMode(StrEnum):
    """What the collector does with a run."""

    NORMAL = "normal"
    REPROCESS = "reprocess"
    CACHE_ONLY = "cache_only"


class ExtractionStatus(StrEnum):
    """How far a result may be trusted without a person."""

    COMPLETE = "complete"
    REVIEW = "review"
    UNREADABLE = "unreadable"


def _check_traceparent(text: str) -> str:
    if not _TRACEPARENT.fullmatch(text):
        raise ValueError("not a version 00 traceparent")
    return text


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Worker(_Part):
    """Which process speaks."""

    service: FilledText
    host: FilledText
    pid: Positive


class TraceContext(_Part):
    """W3C trace context of the run."""

    traceparent: Annotated[Text, AfterValidator(_check_traceparent)]
    tracestate: Text | None = None

    def document(self) -> dict[str, str]:
        """Keys as sent: `tracestate` is absent rather than null."""
        return self.model_dump(exclude_none=True)


class Artifact(_Part):
    """A stored document that belongs to a run; `uri` names it for ever."""

    kind: FilledText
    uri: Annotated[Text, StringConstraints(pattern=r"://")]
    sha256: Sha256
    media_type: Annotated[Text, StringConstraints(pattern=r"/")]
    size_bytes: Count


class Item(_Part):
    """One line a customer paid for."""

    item_name: FilledText
    line_total: Number | None


class Receipt(_Part):
    """The extraction as schema 1 tells it."""

    merchant: Text | None
    receipt_id: Text | None
    payment_method: Text | None
    payer: Text | None
    transaction_date: IsoDate | None
    transaction_datetime: IsoMoment | None
    subtotal: Number | None
    tax: Number | None
    total: Number | None
    card_last4: Annotated[Text, StringConstraints(pattern=r"^[0-9]{4}$")] | None
    items: tuple[Item, ...]
    text: Text
    extraction_confidence: Share | None
    extraction_status: ExtractionStatus
    review_reasons: tuple[Text, ...]


class FullReceipt(ReceiptFields):
    """The extraction as schema 2 tells it: every field with its evidence, and the verdict."""

    extraction_confidence: Share | None
    extraction_status: ExtractionStatus
    review_reasons: Annotated[tuple[Code, ...], Field(max_length=MOST_REASONS)]


class Run(_Part):
    """One OCR of one source."""

    cache_version: Positive
    processed_at: ZonedMoment
    processing_seconds: Amount | None
    timings: dict[str, Amount]


class RunPayload(_Part):
    """What every run event says; each schema adds its own receipt."""

    run: Run
    persistence_mode: PersistenceMode
    request_id: CanonicalUuid | None

    @model_validator(mode="after")
    def _request_belongs_to_mode(self) -> Self:
        if (self.request_id is None) != (self.persistence_mode is PersistenceMode.NORMAL):
            raise ValueError("request_id is given for reprocess and cache_only, and only there")
        return self


class RunPayloadV1(RunPayload):
    """Payload of a run event of schema 1."""

    receipt: Receipt


class RunPayloadV2(RunPayload):
    """Payload of a run event of schema 2; `pages` are those of the selected reading."""

    receipt: FullReceipt
    pages: tuple[PrintedPage, ...]
    left_out: LeftOut


class Pass(_Part):
    """One engine on one image variant of one page; its text stays in the artifact."""

    schema_version: SchemaOne = 1
    run_uuid: CanonicalUuid
    pass_id: Positive
    engine: FilledText
    engine_type: FilledText
    variant: FilledText
    status: FilledText
    psm: Text | None
    error_type: Text | None
    page_number: Count | None
    dpi: Count | None
    line_count: Count | None
    character_count: Count | None
    structural_score: Count | None
    summary_score: Count | None
    consensus_line_coverage: Count | None
    seconds: Amount | None
    consensus_coverage_ratio: Share | None
    valid_timestamp: bool | None = Field(strict=True)
    selected_base: bool = Field(strict=True)
    quality: dict[str, Any]
    engine_options: dict[str, Any]
    usage: dict[str, Any]
    provenance: dict[str, Any]


class PassPayload(_Part):
    """Payload of a pass event; on the wire its one key is `pass`."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True)

    ocr_pass: Pass = Field(alias="pass")


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int
    run_uuid: CanonicalUuid
    source_sha256: Sha256
    source_reference: SourceReference
    worker: Worker
    trace_context: TraceContext
    occurred_at: ZonedMoment
    attempt: Attempt = 1

    def next_attempt(self) -> Self | None:
        """Return the same event as its next attempt, or None after the last one."""
        if self.attempt >= MAX_ATTEMPTS:
            return None
        return self.model_copy(update={"attempt": self.attempt + 1})


class RunEvent(_Event):
    """A run completed; told in one of the schemas below."""

    event_type: EventType
    pass_id: None = None
    payload: RunPayload
    artifacts: tuple[Artifact, ...]

    @property
    def message_id(self) -> str:
        """Event id: one for each run and request."""
        return run_event_id(self.run_uuid, self.payload.request_id)


class RunEventV1(RunEvent):
    """A run with the main fields of its receipt."""

    schema_version: SchemaOne = 1
    event_type: Literal[EventType.RUN] = EventType.RUN
    payload: RunPayloadV1


class RunEventV2(RunEvent):
    """A run with every field of its receipt and the printed lines."""

    schema_version: SchemaTwo = 2
    event_type: Literal[EventType.RUN_V2] = EventType.RUN_V2
    payload: RunPayloadV2


class PassEvent(_Event):
    """A pass of a run completed."""

    schema_version: SchemaOne = 1
    event_type: Literal[EventType.PASS] = EventType.PASS
    pass_id: Positive
    payload: PassPayload
    artifacts: tuple[Artifact, ...] = Field(default=(), max_length=0)

    @model_validator(mode="after")
    def _pass_is_its_own(self) -> Self:
        inner = self.payload.ocr_pass
        if (inner.run_uuid, inner.pass_id) != (self.run_uuid, self.pass_id):
            raise ValueError("the pass names another run or another pass than its envelope")
        return self

    @property
    def message_id(self) -> str:
        """Event id: one for each pass."""
        return pass_event_id(self.run_uuid, self.pass_id)


AnyRunEvent = RunEventV1 | RunEventV2
ResultEvent = AnyRunEvent | PassEvent
_ADAPTER: TypeAdapter[ResultEvent] = TypeAdapter(
    Annotated[ResultEvent, Field(discriminator="event_type")]
)
_ENVELOPE_KEYS = frozenset(RunEventV1.model_fields)


def encode(event: ResultEvent) -> bytes:
    """Write the canonical body; raises PermanentError(INVALID_EVENT) over the size limit."""
    document = event.model_dump(by_alias=True)
    document["trace_context"] = event.trace_context.document()
    body = wire.dumps(document)
    if len(body) > MAX_BODY_BYTES:
        raise PermanentError(Reason.INVALID_EVENT)
    return body


def decode(body: bytes) -> ResultEvent:
    """Read a body strictly.

    Raises PermanentError: NEWER_SCHEMA for an event of a version yet to come, else INVALID_EVENT.
    """
    if len(body) > MAX_BODY_BYTES:
        raise PermanentError(Reason.INVALID_EVENT)
    try:
        document = wire.loads(body)
        _refuse_newer(document)
        if not isinstance(document, dict) or document.keys() != _ENVELOPE_KEYS:
            raise ValueError("not exactly the envelope's keys")  # noqa: TRY301 - one exit
        event = _ADAPTER.validate_python(document, by_alias=True, by_name=False, context=FROM_WIRE)
        _require_written(event)
    except ValueError as error:
        raise PermanentError(Reason.INVALID_EVENT) from error
    return event


def _refuse_newer(document: object) -> None:
    schema = document.get("schema_version") if isinstance(document, dict) else None
    if isinstance(schema, int) and schema > NEWEST_SCHEMA:
        raise PermanentError(Reason.NEWER_SCHEMA)


def _require_written(event: ResultEvent) -> None:
    """`schema_version` has a default for builders; on the wire a pass has it."""
    if isinstance(event, PassEvent):
        written = event.payload.ocr_pass.model_fields_set
        if "schema_version" not in written:
            raise ValueError("schema_version is required")
