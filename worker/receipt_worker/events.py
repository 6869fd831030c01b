"""Result events of a run, made from its cache document. Pure: same document, same events."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from receipt_contract.results import (
    Artifact,
    Item,
    Pass,
    PassEvent,
    PassPayload,
    PersistenceMode,
    Receipt,
    ResultEvent,
    Run,
    RunEvent,
    RunPayload,
    TraceContext,
    Worker,
)
from receipt_worker import cache
from receipt_worker.cache import Kept
from receipt_worker.cachefile import CacheDocument
from receipt_worker.document import PassRecord

ARTIFACT_KIND = "ocr-cache"
MEDIA_TYPE = "application/json"


@dataclass(frozen=True)
class Telling:
    """For whom a run is told, and by whom."""

    source_reference: str
    mode: PersistenceMode
    request_id: str | None
    worker: Worker
    trace: TraceContext
    artifact_prefix: str


def events(kept: Kept, telling: Telling) -> Iterator[ResultEvent]:
    """Yield the run event, then one for each pass."""
    yield _run_event(kept, telling)
    for record in kept.document.metadata.ocr_passes:
        yield _pass_event(kept.document, record, telling)


def _run_event(kept: Kept, telling: Telling) -> RunEvent:
    metadata = kept.document.metadata
    return RunEvent(
        run_uuid=metadata.run_uuid,
        source_sha256=metadata.source_sha256,
        source_reference=telling.source_reference,
        worker=telling.worker,
        trace_context=telling.trace,
        occurred_at=metadata.processed_at,
        payload=RunPayload(
            receipt=_receipt(kept.document),
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


def _receipt(document: CacheDocument) -> Receipt:
    found = document.receipt
    moment = (
        datetime.combine(found.transaction_date, found.transaction_time)  # local, no zone invented
        if found.transaction_date and found.transaction_time
        else None
    )
    return Receipt(
        merchant=found.merchant_name,
        receipt_id=found.receipt_number,
        payment_method=found.payment_method,
        payer=None,
        transaction_date=found.transaction_date,
        transaction_datetime=moment,
        subtotal=found.subtotal,
        tax=found.total_tax,
        total=found.total,
        card_last4=found.card_last4,
        items=tuple(
            Item(item_name=item.description, line_total=item.total) for item in found.items
        ),
        text=document.plain_text,
        extraction_confidence=found.confidence,
        extraction_status=found.status,
        review_reasons=found.review_reasons,
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
