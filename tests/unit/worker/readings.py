"""Builders of cache documents."""

from datetime import UTC, date, datetime, time
from decimal import Decimal

from receipt_contract.results import ExtractionStatus
from receipt_worker import cachefile
from receipt_worker.cachefile import CacheDocument
from receipt_worker.document import (
    Extraction,
    FieldRecord,
    ItemRecord,
    LineRecord,
    PageRecord,
    PassRecord,
    PassStatus,
    Reading,
)
from receipt_worker.extraction.lines import Box

REFERENCE = "2024/some.png"
SHA = "5" * 64
RUN_UUID = "00000000-0000-0000-0000-000000000007"
MOMENT = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
BOX = Box(1, 2, 30, 4)


def make_pass(pass_id: int = 1, *, text: str = "TOTAL 30.90") -> PassRecord:
    """Return the record of a pass that went well."""
    return PassRecord(
        pass_id=pass_id,
        engine="tesseract",
        engine_type="traditional_ocr",
        variant="grey",
        status=PassStatus.SUCCESS,
        psm=6,
        page_number=1,
        dpi=300,
        line_count=1,
        character_count=len(text),
        confident_mass=900.0,
        valid_timestamp=False,
        selected_base=pass_id == 1,
        seconds=0.4,
        text=text,
        languages="eng",
    )


def _record(total: str) -> FieldRecord:
    return FieldRecord(
        total, total, 1, BOX, 1, ("parts_sum",), (total,), confidence=Decimal("0.97")
    )


def make_reading(*, total: str = "30.90") -> Reading:
    """Return a reading with every kind of value in it."""
    extraction = Extraction(
        status=ExtractionStatus.COMPLETE,
        review_reasons=(),
        confidence=Decimal("0.9"),
        merchant_name="Corner Shop",
        transaction_date=date(2026, 2, 27),
        transaction_time=time(9, 30),
        total=Decimal(total),
        currency="EUR",
        subtotal=Decimal("28.09"),
        total_tax=Decimal("2.81"),
        card_last4="4242",
        payment_method="Visa",
        receipt_number="R-1001",
        items=(ItemRecord("Tea", Decimal(2), Decimal("15.45"), Decimal(total)),),
        fields={"total": _record(total)},
    )
    line = LineRecord(1, f"TOTAL {total}", 95.125, BOX, "summary")
    return Reading(
        extraction=extraction,
        pages=(PageRecord(1, 400, (line,)),),
        passes=(make_pass(1), make_pass(2)),
        timings={"text_extraction_seconds": 0.1},
    )


def make_document(*, run_uuid: str = RUN_UUID, total: str = "30.90") -> CacheDocument:
    """Return the cache document of `make_reading`."""
    return cachefile.build(
        make_reading(total=total),
        run_uuid=run_uuid,
        source_reference=REFERENCE,
        source_sha256=SHA,
        processed_at=MOMENT,
        processing_seconds=1.25,
    )
