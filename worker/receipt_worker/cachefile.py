"""The cache document: its fields and its bytes. Pure.

Layout as readers of the cache know it (metadata, plain_text, pages), plus `receipt`: the
extraction, from which a run's events can be made again without reading.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from receipt_worker import layout
from receipt_worker.document import Extraction, PassRecord, Reading
from receipt_worker.layout import CachedPage

CACHE_VERSION = 15  # 13 had no extraction in it, 14 the main fields only


@dataclass(frozen=True)
class Metadata:
    """Which run this is, of which bytes; seconds of wall time."""

    run_uuid: str
    source_reference: str
    source_sha256: str
    processed_at: datetime
    processing_seconds: float
    timings: dict[str, float]
    ocr_passes: tuple[PassRecord, ...]
    cache_version: int = CACHE_VERSION
    schema_version: Literal[1] = 1


@dataclass(frozen=True)
class CacheDocument:
    """One run, whole."""

    metadata: Metadata
    plain_text: str
    pages: tuple[CachedPage, ...]
    receipt: Extraction


_ADAPTER: TypeAdapter[CacheDocument] = TypeAdapter(CacheDocument)


def build(  # noqa: PLR0913 - a run has this many facts
    reading: Reading,
    *,
    run_uuid: str,
    source_reference: str,
    source_sha256: str,
    processed_at: datetime,
    processing_seconds: float,
) -> CacheDocument:
    """Put a reading and the facts of its run together."""
    metadata = Metadata(
        run_uuid=run_uuid,
        source_reference=source_reference,
        source_sha256=source_sha256,
        processed_at=processed_at,
        processing_seconds=processing_seconds,
        timings=reading.timings,
        ocr_passes=reading.passes,
    )
    pages = tuple(map(layout.page, reading.pages))
    return CacheDocument(metadata, reading.text, pages, reading.extraction)


def encode(document: CacheDocument) -> bytes:
    """Write UTF-8 JSON with two spaces of indent and a final newline."""
    return _ADAPTER.dump_json(document, indent=2) + b"\n"


def decode(data: bytes) -> CacheDocument | None:
    """Read a document; None for what we cannot make events from: other layouts, damage."""
    try:
        document = _ADAPTER.validate_json(data)
    except ValidationError:
        return None
    return document if document.metadata.cache_version >= CACHE_VERSION else None
