"""Whose event it is, for an event of a schema yet to come. Pure.

Such an event cannot be read, but its item should end with a reason. What names an event stands in
the envelope, which later schemas keep.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from receipt_contract import wire
from receipt_contract.identity import (
    CanonicalUuid,
    Sha256,
    SourceReference,
    pass_event_id,
    run_event_id,
)
from receipt_contract.wire import Positive
from receipt_contract.work import Attempt

MOST_TYPE_CHARACTERS = 100


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    request_id: CanonicalUuid | None = None


class Envelope(BaseModel):
    """What names an event."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    event_type: Annotated[str, Field(strict=True, max_length=MOST_TYPE_CHARACTERS)]
    run_uuid: CanonicalUuid
    pass_id: Positive | None
    source_sha256: Sha256
    source_reference: SourceReference
    attempt: Attempt
    payload: _Payload = _Payload()

    @property
    def request_id(self) -> str | None:
        """The request that a run answers."""
        return self.payload.request_id

    @property
    def message_id(self) -> str:
        """Event id, as in the schemas we know."""
        if self.pass_id is None:
            return run_event_id(self.run_uuid, self.request_id)
        return pass_event_id(self.run_uuid, self.pass_id)


def envelope(body: bytes) -> Envelope | None:
    """Read what names the event; None where that is not as we know it."""
    try:
        return Envelope.model_validate(wire.loads(body))
    except ValueError:
        return None
