"""Builders of valid result events; another number is another source or another run."""

import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from receipt_contract.results import (
    Artifact,
    ExtractionStatus,
    Item,
    Pass,
    PassEvent,
    PassPayload,
    PersistenceMode,
    Receipt,
    Run,
    RunEventV1,
    RunPayloadV1,
    TraceContext,
    Worker,
)

WORKER = Worker(service="home-budget-receipt-worker", host="worker-0", pid=7)
TRACE = TraceContext(traceparent=f"00-{'a' * 32}-{'b' * 16}-00")
MOMENT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def sha(number: int = 1) -> str:
    return f"{number:064x}"


def reference(number: int = 1) -> str:
    return f"2026/{number}.png"


def run_uuid(number: int = 1) -> str:
    return str(uuid.UUID(int=number))


def request_id(number: int = 1) -> str:
    return str(uuid.UUID(int=2**64 + number))


def make_receipt(**changes: Any) -> Receipt:
    """Return a receipt whose sums agree."""
    receipt = Receipt(
        merchant="Corner Shop",
        receipt_id="R-1001",
        payment_method="Visa",
        payer=None,
        transaction_date=date(2026, 2, 27),
        transaction_datetime=datetime(2026, 2, 27, 9, 30),  # noqa: DTZ001 - printed without a zone
        subtotal=Decimal("28.09"),
        tax=Decimal("2.81"),
        total=Decimal("30.90"),
        card_last4="4242",
        items=(
            Item(item_name="Milk 2L", line_total=Decimal("3.09")),
            Item(item_name="Coffee", line_total=Decimal("25.00")),
        ),
        text="CORNER SHOP\nTOTAL 30.90",
        extraction_confidence=Decimal("0.95"),
        extraction_status=ExtractionStatus.COMPLETE,
        review_reasons=(),
    )
    return Receipt.model_validate({**dict(receipt), **changes})


def make_artifact(run: int = 1) -> Artifact:
    return Artifact(
        kind="ocr-cache",
        uri=f"pvc://receipt-ocr/artifacts/{sha(run)}.json",
        sha256=sha(run),
        media_type="application/json",
        size_bytes=2048,
    )


def make_run(  # noqa: PLR0913 - what tests vary of a run
    *,
    run: int = 1,
    source: int = 1,
    at: str | None = None,
    request: int | None = None,
    mode: PersistenceMode | None = None,
    receipt: Receipt | None = None,
    attempt: int = 1,
) -> RunEventV1:
    """Return a run event: normal without a request, reprocess with one, unless `mode` says more."""
    implied = PersistenceMode.NORMAL if request is None else PersistenceMode.REPROCESS
    return RunEventV1(
        run_uuid=run_uuid(run),
        source_sha256=sha(source),
        source_reference=at or reference(source),
        worker=WORKER,
        trace_context=TRACE,
        occurred_at=MOMENT,
        attempt=attempt,
        payload=RunPayloadV1(
            receipt=receipt or make_receipt(),
            run=Run(
                cache_version=14,
                processed_at=MOMENT,
                processing_seconds=Decimal("1.250"),
                timings={"text_extraction_seconds": Decimal("0.125")},
            ),
            persistence_mode=mode or implied,
            request_id=None if request is None else request_id(request),
        ),
        artifacts=(make_artifact(run),),
    )


def make_pass(
    number: int = 1, *, run: int = 1, source: int = 1, attempt: int = 1, **changes: Any
) -> PassEvent:
    """Return pass `number` of a run."""
    ocr_pass = Pass(
        run_uuid=run_uuid(run),
        pass_id=number,
        engine="tesseract",
        engine_type="traditional_ocr",
        variant="enhanced",
        status="success",
        psm="6",
        error_type=None,
        page_number=1,
        dpi=300,
        line_count=12,
        character_count=240,
        structural_score=700,
        summary_score=300,
        consensus_line_coverage=11,
        seconds=Decimal("0.731"),
        consensus_coverage_ratio=Decimal("0.916667"),
        valid_timestamp=True,
        selected_base=number == 1,
        quality={"mean_confidence": Decimal("91.5")},
        engine_options={},
        usage={},
        provenance={},
    )
    return PassEvent(
        run_uuid=run_uuid(run),
        pass_id=number,
        source_sha256=sha(source),
        source_reference=reference(source),
        worker=WORKER,
        trace_context=TRACE,
        occurred_at=MOMENT,
        attempt=attempt,
        payload=PassPayload(ocr_pass=ocr_pass.model_copy(update=changes)),
    )
