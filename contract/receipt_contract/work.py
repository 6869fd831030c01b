"""Work messages v1, v2 and v3: what a worker is asked to read.

Canonical JSON, byte for byte: UTF-8, keys sorted, no white space, non-ASCII escaped, at most
8,192 bytes, exactly the keys of the version.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from receipt_contract import wire
from receipt_contract.errors import PermanentError, Reason
from receipt_contract.identity import CanonicalUuid, Sha256, SourceReference

MAX_BODY_BYTES = 8192
MAX_ATTEMPTS = 3

Attempt = Annotated[int, Field(strict=True, ge=1, le=MAX_ATTEMPTS)]
BatchCount = Annotated[int, Field(strict=True, ge=1)]


class WorkType(StrEnum):
    """AMQP `type` of a work message."""

    PROCESS = "receipt.process.v1"
    REPROCESS = "receipt.reprocess.v2"
    CACHE_REBUILD = "receipt.cache-rebuild.v3"


class _Work(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    source_sha256: Sha256
    source_reference: SourceReference
    attempt: Attempt = 1

    def next_attempt(self) -> Self | None:
        """Return the same work as its next attempt, or None after the last one."""
        if self.attempt >= MAX_ATTEMPTS:
            return None
        return self.model_copy(update={"attempt": self.attempt + 1})


class ProcessWork(_Work):
    """v1: read a newly found receipt."""

    version: Literal[1] = 1

    @property
    def type(self) -> WorkType:
        """AMQP `type`."""
        return WorkType.PROCESS

    @property
    def message_id(self) -> str:
        """Stable over attempts and republications."""
        return f"receipt.v1:{self.source_sha256}"


class ReprocessWork(_Work):
    """v2: read again and replace the saved extraction."""

    version: Literal[2] = 2
    request_id: CanonicalUuid

    @property
    def type(self) -> WorkType:
        """AMQP `type`."""
        return WorkType.REPROCESS

    @property
    def message_id(self) -> str:
        """Stable over attempts and republications."""
        return f"{self.type}:{self.source_sha256}:{self.request_id}"


class CacheRebuildWork(_Work):
    """v3: read again for the cache only; the saved extraction stays."""

    version: Literal[3] = 3
    request_id: CanonicalUuid
    batch_id: CanonicalUuid | None = None
    batch_index: BatchCount | None = None
    batch_total: BatchCount | None = None

    @model_validator(mode="after")
    def _batch_is_whole(self) -> Self:
        batch = (self.batch_id, self.batch_index, self.batch_total)
        if len({value is None for value in batch}) > 1 or (
            self.model_fields_set & {"batch_id", "batch_index", "batch_total"} and None in batch
        ):
            raise ValueError("batch_id, batch_index and batch_total come together")
        if self.batch_index is not None and self.batch_total is not None:  # noqa: SIM102 - one rule
            if self.batch_index > self.batch_total:
                raise ValueError("batch_index is at most batch_total")
        return self

    @property
    def type(self) -> WorkType:
        """AMQP `type`."""
        return WorkType.CACHE_REBUILD

    @property
    def message_id(self) -> str:
        """Stable over attempts and republications."""
        return f"{self.type}:{self.source_sha256}:{self.request_id}"


WorkMessage = Annotated[
    ProcessWork | ReprocessWork | CacheRebuildWork, Field(discriminator="version")
]
_ADAPTER: TypeAdapter[ProcessWork | ReprocessWork | CacheRebuildWork] = TypeAdapter(WorkMessage)


def encode(work: ProcessWork | ReprocessWork | CacheRebuildWork) -> bytes:
    """Write the canonical body.

    Raises PermanentError(UNSAFE_REFERENCE) when the reference makes it longer than a body may be.
    """
    body = wire.dumps(work.model_dump(exclude_none=True))
    if len(body) > MAX_BODY_BYTES:
        raise PermanentError(Reason.UNSAFE_REFERENCE)
    return body


def decode(body: bytes) -> ProcessWork | ReprocessWork | CacheRebuildWork:
    """Read a body strictly; raises PermanentError(INVALID_MESSAGE)."""
    if len(body) > MAX_BODY_BYTES:
        raise PermanentError(Reason.INVALID_MESSAGE)
    try:
        fields = wire.loads(body)
        _require_written(fields)
        return _ADAPTER.validate_python(fields)
    except ValueError as error:
        raise PermanentError(Reason.INVALID_MESSAGE) from error


def _require_written(fields: Any) -> None:
    """`attempt` and `version` have defaults for builders; on the wire they must be there."""
    if not isinstance(fields, dict) or not {"attempt", "version"} <= fields.keys():
        raise ValueError("version and attempt are required")
    if type(fields["version"]) is not int:  # True == 1 would pick the v1 model
        raise ValueError("version is an integer")
