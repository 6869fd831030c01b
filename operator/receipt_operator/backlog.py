"""What normal discovery does about one found receipt. Pure."""

import uuid
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from receipt_contract.work import MAX_ATTEMPTS

COMPLETED = frozenset({"succeeded", "review_required"})


class Standing(NamedTuple):
    """How far a source came: its row of `ingest.receipt_processing_status`."""

    status: str
    attempts: int
    completed_at: datetime | None


class Decision(Enum):
    """What is to be done with a found receipt."""

    PROCESS = "process"  # v1: never read, or tried fewer than three times
    REPAIR_CACHE = "repair cache"  # v2: read once, but its cache is gone
    EXHAUSTED = "exhausted"  # tried often enough; only a person's request reads it again
    SKIP = "skip"  # read, and its cache is there


def decide(standing: Standing | None, *, cached: bool) -> Decision:
    """Choose; a source without a standing is new."""
    if standing is not None and standing.status in COMPLETED:
        return Decision.SKIP if cached else Decision.REPAIR_CACHE
    if standing is not None and standing.attempts >= MAX_ATTEMPTS:
        return Decision.EXHAUSTED
    return Decision.PROCESS


def repair_request_id(reference: str, *, sha256: str, completed_at: datetime | None) -> str:
    """Name one repair: the same until the source is read again, however often it is found."""
    epoch = int(completed_at.timestamp()) if completed_at else 0
    name = f"ledger:missing-ocr-cache:{sha256}:{reference}:{epoch}"
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def batch_item_request_id(batch_id: str, reference: str) -> str:
    """Name one receipt's rebuild within a batch, so that repeating the batch repeats the ids."""
    return str(uuid.uuid5(uuid.UUID(batch_id), f"cache:{reference}"))
