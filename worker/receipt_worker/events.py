"""Result events of a run, made from its cache document. Pure: same document, same events."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

from receipt_contract import older
from receipt_contract.results import (
    AnyRunEvent,
    Artifact,
    Pass,
    PassEvent,
    PassPayload,
    PersistenceMode,
    ResultEvent,
    Run,
    RunEventV2,
    RunPayloadV2,
    TraceContext,
    Worker,
)
from receipt_worker import cache, told
from receipt_worker.cache import Kept
from receipt_worker.cachefile import CacheDocument
from receipt_worker.document import PassRecord

ARTIFACT_KIND = "ocr-cache"
MEDIA_TYPE = "application/json"


class Schema(IntEnum):
    """How much of a run is told."""

    MAIN_FIELDS = 1
    EVERY_FIELD = 2


@dataclass(frozen=True)
class Telling:
    """For whom a run is told, by whom, and how much of it."""

    source_reference: str
    mode: PersistenceMode
    request_id: str | None
    worker: Worker
    trace: TraceContext
    artifact_prefix: str
    schema: Schema


def events(kept: Kept, telling: Telling) -> Iterator[ResultEvent]:
    """Yield the run event, then one for each pass."""
    yield _run_event(kept, telling)
    for record in kept.document.metadata.ocr_passes:
        yield _pass_event(kept.document, record, telling)


def _run_event(kept: Kept, telling: Telling) -> AnyRunEvent:
    event = _full_run_event(kept, telling)
    return older.event(event) if telling.schema is Schema.MAIN_FIELDS else event


def _full_run_event(kept: Kept, telling: Telling) -> RunEventV2:
    metadata = kept.document.metadata
    content = told.tell(kept.document)
    return RunEventV2(
        run_uuid=metadata.run_uuid,
        source_sha256=metadata.source_sha256,
        source_reference=telling.source_reference,
        worker=telling.worker,
        trace_context=telling.trace,
        occurred_at=metadata.processed_at,
        payload=RunPayloadV2(
            receipt=content.receipt,
            pages=content.pages,
            left_out=content.left_out,
            run=Run(
                cache_version=metadata.cache_version,
                processed_at=metadata.processed_at,
                processing_seconds=_seconds(metadata.processing_seconds),
                timings={name: _seconds(value) for name, value in metadata.timings.items()},
            ),
            persistence_mode=telling.mode,
            request_id=telling.request_id,
        ),
        artifacts=(_artifact(kept, telling.artifact_prefix),),
    )


def _artifact(kept: Kept, prefix: str) -> Artifact:
    return Artifact(
        kind=ARTIFACT_KIND,
        uri=f"{prefix.rstrip('/')}/{cache.artifact_name(kept.sha256)}",
        sha256=kept.sha256,
        media_type=MEDIA_TYPE,
        size_bytes=len(kept.data),
    )


def _pass_event(document: CacheDocument, record: PassRecord, telling: Telling) -> PassEvent:
    metadata = document.metadata
    return PassEvent(
        run_uuid=metadata.run_uuid,
        pass_id=record.pass_id,
        source_sha256=metadata.source_sha256,
        source_reference=telling.source_reference,
        worker=telling.worker,
        trace_context=telling.trace,
        occurred_at=metadata.processed_at,
        payload=PassPayload(ocr_pass=_pass(record, metadata.run_uuid)),
    )


def _pass(record: PassRecord, run_uuid: str) -> Pass:
    return Pass(
        run_uuid=run_uuid,
        pass_id=record.pass_id,
        engine=record.engine,
        engine_type=record.engine_type,
        variant=record.variant,
        status=record.status,
        psm=None if record.psm is None else str(record.psm),
        error_type=record.error_type,
        page_number=record.page_number,
        dpi=record.dpi,
        line_count=record.line_count,
        character_count=record.character_count,
        structural_score=None,
        summary_score=None,
        consensus_line_coverage=None,
        seconds=_seconds(record.seconds),
        consensus_coverage_ratio=None,
        valid_timestamp=record.valid_timestamp,
        selected_base=record.selected_base,
        quality={"confident_mass": record.confident_mass},
        engine_options={} if record.languages is None else {"languages": record.languages},
        usage={},
        provenance={},
    )


def _seconds(value: float) -> Decimal:
    return Decimal(str(round(value, 3)))
